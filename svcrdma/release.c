// SPDX-License-Identifier: GPL-2.0
/*
 * The contexts of both directions, and giving back what they hold.
 *
 * Receive contexts are all made at accept. A posted one that completes is replaced
 * from the spare ones at once, see svcrdma_recv_fill().
 *
 * Send contexts are made when they are needed. One whose Send had no Writes goes
 * straight back to the free list. One with Writes holds mappings and pages, which
 * are freed by a work item of the connection; the completion handler only puts
 * it on a list.
 *
 * Bounds: a context in flight, or on its way to be released, holds Send Queue
 * entries, so that there are not more of these than the queue has entries; what is
 * under construction belongs to an nfsd thread each; with SVCRDMA_MAX_SQ_WAITERS that
 * wait for entries, no further calls are taken; free ones beyond st_send_cache are freed.
 */
#include <linux/slab.h>

#include "svcrdma.h"
#include "trace.h"

/*
 * Releases may be what memory reclaim waits for, when client and server are one
 * machine. Closing waits for others' work queues, which give no such promise.
 */
static struct workqueue_struct *release_wq;
static struct workqueue_struct *close_wq;

/**
 * svcrdma_release_init - create the module's work queues
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int svcrdma_release_init(void)
{
	release_wq = alloc_workqueue("svcrdma_release", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!release_wq)
		return -ENOMEM;
	close_wq = alloc_workqueue("svcrdma_close", WQ_UNBOUND, 0);
	if (!close_wq) {
		destroy_workqueue(release_wq);
		return -ENOMEM;
	}
	return 0;
}

/**
 * svcrdma_release_exit - wait for all work items, and destroy the queues
 *
 * Context: process; there are no transports left.
 */
void svcrdma_release_exit(void)
{
	destroy_workqueue(close_wq);
	destroy_workqueue(release_wq);
}

/**
 * svcrdma_work_queue - run something that may not run in a CM handler
 * @work: work item
 *
 * Context: any.
 * Return: false when it was queued already.
 */
bool svcrdma_work_queue(struct work_struct *work)
{
	return queue_work(close_wq, work);
}

/**
 * svcrdma_work_delay - run something after a while, counted from now
 * @work: work item; if it waits already, it waits anew
 * @delay: how long
 *
 * Context: any.
 */
void svcrdma_work_delay(struct delayed_work *work, unsigned long delay)
{
	mod_delayed_work(close_wq, work, delay);
}

/**
 * svcrdma_expose_watch - have exposed replies looked at when their time is over
 * @t: transport
 *
 * Context: any.
 */
void svcrdma_expose_watch(struct svcrdma_transport *t)
{
	unsigned long period = READ_ONCE(svcrdma_expose_timeout) * HZ / 4 + 1;

	/* Soon, whatever the knob: it may be lowered meanwhile. */
	queue_delayed_work(release_wq, &t->st_expose_work, min_t(unsigned long, period, HZ));
}

/* ---- Receive contexts ---- */

static void recv_ctxt_free(struct svcrdma_recv_ctxt *rc)
{
	rpcrdma_buffer_exit(&rc->rc_buffer);
	kfree(rc->rc_payloads);
	kfree(rc->rc_chunks);
	kfree(rc->rc_segments);
	kfree(rc);
}

static struct svcrdma_recv_ctxt *recv_ctxt_alloc(struct svcrdma_transport *t)
{
	int node = ibdev_to_node(svcrdma_transport_device(t));
	u32 segments = t->st_recv_size / RPCRDMA_SEGMENT_SIZE;
	struct svcrdma_recv_ctxt *rc;

	rc = kzalloc_node(sizeof(*rc), GFP_KERNEL, node);
	if (!rc)
		return NULL;
	rc->rc_segments = kmalloc_array_node(segments, sizeof(*rc->rc_segments),
					     GFP_KERNEL, node);
	rc->rc_chunks = kmalloc_array_node(t->st_max_chunks, sizeof(*rc->rc_chunks),
					   GFP_KERNEL, node);
	rc->rc_payloads = kmalloc_array_node(t->st_max_chunks,
					     sizeof(*rc->rc_payloads),
					     GFP_KERNEL, node);
	if (!rc->rc_segments || !rc->rc_chunks || !rc->rc_payloads ||
	    rpcrdma_buffer_init(&rc->rc_buffer, t->st_pd, t->st_recv_size,
				DMA_FROM_DEVICE, GFP_KERNEL)) {
		recv_ctxt_free(rc);
		return NULL;
	}

	rc->rc_transport = t;
	rc->rc_cqe.done = svcrdma_recv_wc;
	rc->rc_read_cqe.done = svcrdma_read_wc;
	INIT_LIST_HEAD(&rc->rc_reads);
	INIT_LIST_HEAD(&rc->rc_sq.sw_list);
	rc->rc_sq.sw_granted = svcrdma_read_granted;
	rpcrdma_lists_init(&rc->rc_lists, rc->rc_segments, segments,
			   rc->rc_chunks, t->st_max_chunks);
	return rc;
}

/**
 * svcrdma_recv_ctxts_create - allocate the Receive contexts of a connection
 * @t: transport with its verbs objects
 *
 * There are contexts for all Receives that are kept posted, and for each call that
 * the client may have outstanding.
 *
 * Context: process.
 * Return: 0 or -ENOMEM; svcrdma_recv_ctxts_destroy() frees what is there.
 */
int svcrdma_recv_ctxts_create(struct svcrdma_transport *t)
{
	u32 count = t->st_recv_target + t->st_credits;
	struct svcrdma_recv_ctxt *rc;

	while (count--) {
		rc = recv_ctxt_alloc(t);
		if (!rc)
			return -ENOMEM;
		list_add(&rc->rc_all, &t->st_recv_all);
		list_add(&rc->rc_list, &t->st_recv_spare);
	}
	return 0;
}

/**
 * svcrdma_recv_ctxt_drop_pages - drop what a call has pulled
 * @rc: context
 *
 * Context: any.
 */
void svcrdma_recv_ctxt_drop_pages(struct svcrdma_recv_ctxt *rc)
{
	while (rc->rc_nr_pages)
		put_page(rc->rc_pages[--rc->rc_nr_pages]);
}

/**
 * svcrdma_recv_ctxts_destroy - free all Receive contexts, in whatever state
 * @t: transport that nobody uses, its queue pair drained
 *
 * Context: process.
 */
void svcrdma_recv_ctxts_destroy(struct svcrdma_transport *t)
{
	struct svcrdma_recv_ctxt *rc, *next;

	list_for_each_entry_safe(rc, next, &t->st_recv_all, rc_all) {
		svcrdma_rw_list_free(t, &rc->rc_reads, DMA_FROM_DEVICE);
		svcrdma_recv_ctxt_drop_pages(rc);
		recv_ctxt_free(rc);
	}
}

static int recv_post(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	struct ib_recv_wr wr = {
		.wr_cqe		= &rc->rc_cqe,
		.sg_list	= &rc->rc_buffer.bf_sge,
		.num_sge	= 1,
	};

	rpcrdma_buffer_to_device(&rc->rc_buffer, rc->rc_buffer.bf_size);
	return ib_post_recv(t->st_qp, &wr, NULL);
}

/**
 * svcrdma_recv_fill - post spare Receives until the target is reached
 * @t: transport
 *
 * A client that sends more calls than its credits allow uses the spare ones up;
 * it is the one that runs into a Receive Queue that is empty. With Read chunks it is
 * disconnected before, see recvfrom.c.
 *
 * Context: process or completion handler.
 * Return: 0, or a negative errno when a post failed; then the rest is not
 * posted, and the connection is to be ended.
 */
int svcrdma_recv_fill(struct svcrdma_transport *t)
{
	struct svcrdma_recv_ctxt *rc;
	int ret = 0;

	spin_lock(&t->st_recv_lock);
	while (t->st_recv_posted < t->st_recv_target && !svcrdma_transport_closing(t)) {
		rc = list_first_entry_or_null(&t->st_recv_spare,
					      struct svcrdma_recv_ctxt, rc_list);
		if (!rc)
			break;
		/* Posted first, the completion could find it on the list. */
		list_del_init(&rc->rc_list);
		ret = recv_post(t, rc);
		if (ret)
			break;
		t->st_recv_posted++;
	}
	spin_unlock(&t->st_recv_lock);
	if (ret)
		trace_svcrdma_post_recv_err(t, ret);
	return ret;
}

/**
 * svcrdma_recv_ctxt_put - the call in a context is done with
 * @t: transport
 * @rc: context; not the caller's any more
 *
 * Context: process.
 */
void svcrdma_recv_ctxt_put(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	svcrdma_recv_ctxt_drop_pages(rc);
	rc->rc_nr_payloads = 0;
	spin_lock(&t->st_recv_lock);
	list_add(&rc->rc_list, &t->st_recv_spare);
	spin_unlock(&t->st_recv_lock);

	if (svcrdma_recv_fill(t))
		svcrdma_transport_close(t);
}

/**
 * svcrdma_release_ctxt - xpo_release_ctxt: nfsd is done with a call
 * @xprt: the connection
 * @ctxt: its Receive context, or NULL
 *
 * Context: process.
 */
void svcrdma_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
	if (ctxt)
		svcrdma_recv_ctxt_put(svcrdma_transport_of(xprt), ctxt);
}

/* ---- Send contexts ---- */

static void send_ctxt_free(struct svcrdma_send_ctxt *sc)
{
	rpcrdma_buffer_exit(&sc->sc_buffer);
	kfree(sc);
}

/* A Send that failed, or was flushed, is as complete as one that did not. */
static void send_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_send_ctxt *sc =
		container_of(wc->wr_cqe, struct svcrdma_send_ctxt, sc_cqe);
	struct svcrdma_transport *t = sc->sc_transport;

	svcrdma_wc_failed(t, "send", wc);
	if (list_empty(&sc->sc_writes) && !sc->sc_nr_pages) {
		svcrdma_send_ctxt_put(t, sc);
		return;
	}
	if (llist_add(&sc->sc_release, &t->st_release))
		queue_work(release_wq, &t->st_release_work);
}

static struct svcrdma_send_ctxt *send_ctxt_alloc(struct svcrdma_transport *t, gfp_t gfp)
{
	struct svcrdma_send_ctxt *sc;

	sc = kzalloc_node(sizeof(*sc), gfp, ibdev_to_node(svcrdma_transport_device(t)));
	if (!sc)
		return NULL;
	if (rpcrdma_buffer_init(&sc->sc_buffer, t->st_pd, t->st_agreed.inline_send,
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
	INIT_LIST_HEAD(&sc->sc_writes);
	INIT_LIST_HEAD(&sc->sc_sq.sw_list);
	sc->sc_sq.sw_granted = svcrdma_send_granted;

	spin_lock(&t->st_send_lock);
	list_add(&sc->sc_all, &t->st_send_all);
	spin_unlock(&t->st_send_lock);
	return sc;
}

/**
 * svcrdma_send_ctxt_get - a Send context that holds nothing
 * @t: transport
 * @gfp: how to allocate one
 *
 * Context: as @gfp says.
 * Return: a context, or NULL.
 */
struct svcrdma_send_ctxt *svcrdma_send_ctxt_get(struct svcrdma_transport *t, gfp_t gfp)
{
	struct svcrdma_send_ctxt *sc;

	spin_lock(&t->st_send_lock);
	sc = list_first_entry_or_null(&t->st_send_free, struct svcrdma_send_ctxt,
				      sc_list);
	if (sc) {
		list_del(&sc->sc_list);
		t->st_send_nr_free--;
	}
	spin_unlock(&t->st_send_lock);

	if (!sc)
		sc = send_ctxt_alloc(t, gfp);
	if (!sc)
		trace_svcrdma_send_alloc_err(t, -ENOMEM);
	return sc;
}

/**
 * svcrdma_send_ctxt_clear - free what a context holds, but for queue entries
 * @t: transport
 * @sc: context that the HCA is done with
 *
 * Context: process.
 */
void svcrdma_send_ctxt_clear(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	svcrdma_rw_list_free(t, &sc->sc_writes, DMA_TO_DEVICE);
	sc->sc_write_wrs = 0;
	if (sc->sc_exposed)
		svcrdma_exposed_drop(sc->sc_exposed);
	sc->sc_exposed = NULL;
	while (sc->sc_nr_pages)
		put_page(sc->sc_pages[--sc->sc_nr_pages]);
}

/**
 * svcrdma_send_ctxt_put - the context is not needed any more
 * @t: transport
 * @sc: context that the HCA is done with; not the caller's any more
 *
 * Context: process or completion handler on a work queue.
 */
void svcrdma_send_ctxt_put(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	u32 held = sc->sc_sq_held;

	svcrdma_send_ctxt_clear(t, sc);
	sc->sc_sq_held = 0;

	spin_lock(&t->st_send_lock);
	if (t->st_send_nr_free < t->st_send_cache) {
		list_add(&sc->sc_list, &t->st_send_free);
		t->st_send_nr_free++;
		sc = NULL;
	} else {
		list_del(&sc->sc_all);
	}
	spin_unlock(&t->st_send_lock);

	if (sc)
		send_ctxt_free(sc);
	if (held)
		svcrdma_sq_put(t, held);
}

/**
 * svcrdma_send_ctxts_destroy - free all Send contexts, in whatever state
 * @t: transport that nobody uses, its queue pair drained
 *
 * Context: process.
 */
void svcrdma_send_ctxts_destroy(struct svcrdma_transport *t)
{
	struct svcrdma_send_ctxt *sc, *next;

	list_for_each_entry_safe(sc, next, &t->st_send_all, sc_all) {
		svcrdma_send_ctxt_clear(t, sc);
		send_ctxt_free(sc);
	}
}

/**
 * svcrdma_release_work - release contexts whose Writes and Send are complete
 * @work: st_release_work
 *
 * Context: process.
 */
void svcrdma_release_work(struct work_struct *work)
{
	struct svcrdma_transport *t =
		container_of(work, struct svcrdma_transport, st_release_work);
	struct svcrdma_send_ctxt *sc, *next;
	struct llist_node *list;

	list = llist_del_all(&t->st_release);
	llist_for_each_entry_safe(sc, next, list, sc_release)
		svcrdma_send_ctxt_put(t, sc);
}
