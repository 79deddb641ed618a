// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Send contexts, each a buffer for a message and the memory that is in use until the Send of the
 * message is complete; and the posting of their work requests.
 *
 * Registrations, RDMA Writes and Send of a context are one chain, in this order, which is posted
 * when there are Send Queue entries for the whole chain.
 *
 * Contexts are allocated when they are needed. The completion handler of a Send frees the mappings
 * and pages of its Writes, and puts the context on the free list.
 *
 * Unsignalled Sends. The buffer of a reply without Writes can stay in use until a later Send is
 * complete, since the queue works in order. So up to SVCRDMA_MAX_UNSIGNALLED_ROW such replies in a
 * row ask for no completion, and at most RPCRDMA_UNSIGNALLED_SENDS of them are incomplete at a
 * time. An unsignalled Send is put on st_send.unsignalled after its post. The next signalled Send
 * that exposes nothing takes all of them before its own post, so that they are ahead of it in the
 * queue. If no such Send follows, sq.c posts a probe. The Send Queue has entries that only
 * unsignalled Sends get, so that no context waits for an entry of an unsignalled Send.
 *
 * Bounds. A context that is posted holds Send Queue entries, or is one of the
 * RPCRDMA_UNSIGNALLED_SENDS, so the size of the queue limits the number of such contexts.
 * The threads of nfsd limit the number of contexts under construction. While SVCRDMA_MAX_SQ_WAITERS
 * contexts wait for entries, no further calls are received.
 *
 * No context is freed before the teardown. A thread that posts a Send in rxe or siw may still read
 * sc_wr.next, which is always NULL, when the completion of the Send is handled.
 */
#include <linux/slab.h>

#include "send_ctxt.h"
#include "svcrdma.h"
#include "trace.h"

static void send_ctxt_free(struct svcrdma_send_ctxt *sc)
{
	rpcrdma_buffer_exit(&sc->sc_buffer);
	kvfree(sc->sc_pages);
	kfree(sc);
}

/* Give back the Send Queue entries of a context, which holds nothing else, and make it free. */
static void send_ctxt_keep(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	if (sc->sc_sq_held)
		svcrdma_sq_put(t, sc->sc_sq_held);
	sc->sc_sq_held = 0;
	llist_add(&sc->sc_node, &t->st_send.free);
}

/*
 * Make the contexts on @list free, whose unsignalled Sends are complete since a later signalled one
 * is. Return: number of these Sends, whose Send Queue entries the caller gives back.
 */
static u32 prior_sends_keep(struct svcrdma_transport *t, struct llist_node *list)
{
	struct svcrdma_send_ctxt *sc, *next;
	u32 count = 0;

	llist_for_each_entry_safe(sc, next, list, sc_node) {
		sc->sc_wr.send_flags = IB_SEND_SIGNALED;
		send_ctxt_keep(t, sc);
		count++;
	}
	return count;
}

/*
 * Completion of a Send or a probe. When it has failed, the connection ends, and the context and its
 * entries are not given back: a provider need not flush in order, and the context may be among the
 * prior sends of another one. The teardown frees all contexts.
 */
static void send_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_send_ctxt *sc =
		container_of(wc->wr_cqe, struct svcrdma_send_ctxt, sc_cqe);
	struct svcrdma_transport *t = sc->sc_transport;
	u32 unsignalled;

	if (wc->status != IB_WC_SUCCESS) {
		svcrdma_wc_error(t, "send", RPCRDMA_END_SEND_FAILED, wc);
		return;
	}
	unsignalled = prior_sends_keep(t, sc->sc_prior_sends);
	sc->sc_prior_sends = NULL;
	svcrdma_send_ctxt_put(t, sc);
	if (unsignalled)
		svcrdma_sq_put_unsignalled(t, unsignalled);
}

static void send_granted(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter);

static struct svcrdma_send_ctxt *send_ctxt_alloc(struct svcrdma_transport *t, gfp_t gfp)
{
	struct svcrdma_send_ctxt *sc;

	sc = kzalloc_node(sizeof(*sc), gfp, ibdev_to_node(svcrdma_transport_device(t)));
	if (!sc)
		return NULL;
	if (rpcrdma_buffer_init(&sc->sc_buffer, t->st_pd,
				max(t->st_agreed.inline_send, t->st_inline_most),
				DMA_TO_DEVICE, gfp)) {
		kfree(sc);
		return NULL;
	}

	sc->sc_transport = t;
	sc->sc_cqe.done = send_wc;
	sc->sc_wr.wr_cqe = &sc->sc_cqe;
	sc->sc_wr.sg_list = &sc->sc_buffer.bf_sge;
	sc->sc_wr.num_sge = 1;
	sc->sc_wr.send_flags = IB_SEND_SIGNALED;
	INIT_LIST_HEAD(&sc->sc_writes.list);
	sc->sc_sq.sw_granted = send_granted;

	spin_lock(&t->st_send.lock);
	list_add(&sc->sc_all, &t->st_send.all);
	spin_unlock(&t->st_send.lock);
	return sc;
}

/**
 * svcrdma_send_ctxt_get - get a Send context that holds nothing
 * @t: transport
 * @gfp: flags for the allocation of a new context, if none is free
 *
 * Context: as @gfp says.
 * Return: a context, or NULL.
 */
struct svcrdma_send_ctxt *svcrdma_send_ctxt_get(struct svcrdma_transport *t, gfp_t gfp)
{
	struct svcrdma_send_ctxt *sc;
	struct llist_node *node;

	spin_lock(&t->st_send.lock);
	node = llist_del_first(&t->st_send.free);
	spin_unlock(&t->st_send.lock);
	if (likely(node))
		return llist_entry(node, struct svcrdma_send_ctxt, sc_node);

	sc = send_ctxt_alloc(t, gfp);
	if (!sc)
		trace_svcrdma_send_alloc_err(t, -ENOMEM);
	return sc;
}

/**
 * svcrdma_send_ctxt_clear - free all that a context holds, except for Send Queue entries
 * @t: transport
 * @sc: context that was not posted, or that the HCA is done with
 *
 * Context: process or completion handler on a work queue.
 */
void svcrdma_send_ctxt_clear(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	svcrdma_rws_free(t, &sc->sc_writes, DMA_TO_DEVICE);
	sc->sc_write_wrs = 0;
	sc->sc_written = 0;
	if (sc->sc_exposure)
		svcrdma_exposure_free(sc->sc_exposure);
	sc->sc_exposure = NULL;
	if (sc->sc_nr_pages)
		release_pages(sc->sc_pages, sc->sc_nr_pages);
	sc->sc_nr_pages = 0;
}

/**
 * svcrdma_send_ctxt_put - free all that a context holds, and make the context free
 * @t: transport
 * @sc: context that was not posted, or that the HCA is done with; not the caller's any more
 *
 * Context: process or completion handler on a work queue.
 */
void svcrdma_send_ctxt_put(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	svcrdma_send_ctxt_clear(t, sc);
	send_ctxt_keep(t, sc);
}

/**
 * svcrdma_send_ctxts_destroy - free all Send contexts, in whatever state they are
 * @t: transport that nobody uses, and whose queue pair is drained
 *
 * Context: process.
 */
void svcrdma_send_ctxts_destroy(struct svcrdma_transport *t)
{
	struct svcrdma_send_ctxt *sc, *next;

	list_for_each_entry_safe(sc, next, &t->st_send.all, sc_all) {
		svcrdma_send_ctxt_clear(t, sc);
		send_ctxt_free(sc);
	}
}

/**
 * svcrdma_send_setup - initialize the members for Send contexts
 * @t: new transport, in which these members are zero
 *
 * Context: any.
 */
void svcrdma_send_setup(struct svcrdma_transport *t)
{
	spin_lock_init(&t->st_send.lock);
	INIT_LIST_HEAD(&t->st_send.all);
	init_llist_head(&t->st_send.free);
	init_llist_head(&t->st_send.unsignalled);
}

/* ---- to the Send Queue: reserve and post ---- */

/* Let the completion of @sc, whose post follows, stand for the unsignalled Sends ahead, too. */
static void send_take_ahead(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	if (llist_empty(&t->st_send.unsignalled))
		return;
	sc->sc_prior_sends = llist_del_all(&t->st_send.unsignalled);
	WRITE_ONCE(t->st_send.nr_since_signal, 0);
}

/* Post a context's chain behind the registrations of its exposure, which leaves the context. */
static int send_post_exposing(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc,
			      struct ib_send_wr *first)
{
	struct svcrdma_exposure *xs = sc->sc_exposure;
	int ret;

	sc->sc_exposure = NULL;
	ret = svcrdma_exposure_post(xs, first);
	if (ret != -ECANCELED)
		return ret;
	/* The callback was given up while it waited for entries, so it is not sent. */
	svcrdma_exposure_free(xs);
	svcrdma_send_ctxt_put(t, sc);
	return 0;
}

/*
 * Post a context's registrations, Writes and Send, for which it has Send Queue entries. Afterwards
 * the completion of this Send, or of a later one, puts @sc. Context: process, or a completion
 * handler on a work queue. Return: 0, or a negative errno: a part may have been posted, @sc is left
 * for the teardown, and the connection is to be ended.
 */
static int send_post(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	const struct ib_sge *message = &sc->sc_buffer.bf_sge;
	struct ib_send_wr *first = &sc->sc_wr;
	bool signalled = first->send_flags & IB_SEND_SIGNALED;
	int ret;

	this_cpu_add(t->st_counters->bytes_sent_inline, message->length);
	ib_dma_sync_single_for_device(t->st_id->device, message->addr, message->length,
				      DMA_TO_DEVICE);
	if (!list_empty(&sc->sc_writes.list))
		first = svcrdma_rws_chain(t, &sc->sc_writes, NULL, first);
	if (trace_svcrdma_message_enabled())
		svcrdma_trace_sent(t, sc);
	if (unlikely(sc->sc_exposure)) {
		ret = send_post_exposing(t, sc, first);
	} else {
		if (signalled)
			send_take_ahead(t, sc);
		ret = ib_post_send(t->st_qp, first, NULL);
		if (!ret && !signalled)
			llist_add(&sc->sc_node, &t->st_send.unsignalled);
	}
	if (unlikely(ret))
		trace_svcrdma_post_send_err(t, ret);
	return ret;
}

/* Post a context that has waited for its entries and has got them. Context: as send_post(). */
static void send_granted(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter)
{
	struct svcrdma_send_ctxt *sc =
		container_of(waiter, struct svcrdma_send_ctxt, sc_sq);

	sc->sc_sq_held = waiter->sw_need - svcrdma_send_regions(sc);
	if (send_post(t, sc))
		svcrdma_transport_close(t, RPCRDMA_END_SEND_FAILED);
}

/**
 * svcrdma_send_message - post the chain of a context, now or when there are Send Queue entries
 * @t: transport
 * @sc: context with all that it needs; not the caller's any more
 *
 * If there are too few entries, the context waits for them in the order of arrival, and the caller
 * does not wait.
 *
 * Context: process, or a completion handler on a work queue.
 * Return: 0; -E2BIG: the Send Queue never has so many entries; or another negative errno: the
 * connection is to be ended.
 */
int svcrdma_send_message(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	int ret;

	sc->sc_sq.sw_need = svcrdma_send_entries(sc);
	ret = svcrdma_sq_reserve(t, &sc->sc_sq);
	if (ret == -EINPROGRESS)
		return 0;
	if (ret) {
		svcrdma_send_ctxt_put(t, sc);
		return ret;
	}
	/* One entry for each region stays reserved, for the LOCAL_INV that ends the exposure. */
	sc->sc_sq_held = sc->sc_sq.sw_need - svcrdma_send_regions(sc);
	return send_post(t, sc);
}

/**
 * svcrdma_send_reply - post a reply as svcrdma_send_message() does, or unsignalled
 * @t: transport
 * @sc: context of the reply with all that it needs; not the caller's any more
 *
 * A reply that has no Writes, and is not exposed, may be unsignalled.
 *
 * Context: process; the caller has a reference to @t.
 * Return: as svcrdma_send_message().
 */
int svcrdma_send_reply(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	u32 row = READ_ONCE(t->st_send.nr_since_signal);

	if (sc->sc_write_wrs || sc->sc_exposure || row == SVCRDMA_MAX_UNSIGNALLED_ROW ||
	    !svcrdma_sq_reserve_unsignalled(t))
		return svcrdma_send_message(t, sc);
	WRITE_ONCE(t->st_send.nr_since_signal, row + 1);
	sc->sc_wr.send_flags = 0;
	return send_post(t, sc);
}

/**
 * svcrdma_send_probe - post a probe, which the peer's HCA has to acknowledge
 * @t: transport of which the caller has taken a Send Queue entry; the probe takes that entry over
 *
 * The completion of the probe says that all unsignalled Sends ahead of it are complete, too.
 *
 * Context: process.
 */
void svcrdma_send_probe(struct svcrdma_transport *t)
{
	struct svcrdma_send_ctxt *sc = svcrdma_send_ctxt_get(t, GFP_KERNEL);
	const struct ib_send_wr *bad;
	struct ib_rdma_wr probe;
	int ret;

	if (!sc) {
		/* The watch of the queue goes on, and leads to another probe. */
		svcrdma_sq_put(t, 1);
		return;
	}
	sc->sc_sq_held = 1;
	rpcrdma_probe_init(&probe, &sc->sc_cqe);
	send_take_ahead(t, sc);
	trace_svcrdma_probe(t, 0);
	ret = ib_post_send(t->st_qp, &probe.wr, &bad);
	if (ret) {
		trace_svcrdma_post_send_err(t, ret);
		svcrdma_transport_close(t, RPCRDMA_END_SEND_FAILED);
	}
}
