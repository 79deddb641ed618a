// SPDX-License-Identifier: GPL-2.0
/*
 * Receive contexts: a buffer, and what a call in it needs.
 *
 * Posted ones that complete are replaced from the spare ones, a batch at a time, in one post:
 * until then those still posted are enough for all that the client may send (RFC 8166 section
 * 3.3.1). Within its credits there are spare ones for a whole batch. A client that sends more
 * uses them up; then whoever puts one posts it.
 *
 * A connection begins with a small grant, and with contexts for it. When the client has used all
 * of the grant, a work item makes contexts for twice as many calls and posts them; after that the
 * next reply grants them.
 *
 * A context has room to decode the chunks of most calls. Room for those of any call is allocated
 * when one comes that needs it, and freed with that call.
 */
#include <linux/slab.h>

#include "svcrdma.h"
#include "trace.h"

static void recv_ctxt_free(struct svcrdma_recv_ctxt *rc)
{
	rpcrdma_buffer_exit(&rc->rc_buffer);
	kvfree(rc->rc_pages);
	kvfree(rc->rc_many);
	kfree(rc);
}

static void take_storage(struct svcrdma_recv_ctxt *rc, u32 segments, u32 chunks)
{
	rpcrdma_lists_init(&rc->rc_lists, rc->rc_segments, segments, rc->rc_chunks, chunks);
}

static void few_chunks(struct svcrdma_recv_ctxt *rc)
{
	struct svcrdma_few_chunks *few = &rc->rc_few;

	rc->rc_segments = few->segments;
	rc->rc_chunks = few->chunks;
	rc->rc_payloads = few->payloads;
	take_storage(rc, ARRAY_SIZE(few->segments), ARRAY_SIZE(few->chunks));
}

/**
 * svcrdma_recv_ctxt_many_chunks - room for the chunks of any call
 * @t: transport
 * @rc: context of a call that did not find enough
 *
 * Context: process.
 * Return: 0; -ENOMEM; or -EALREADY: there is no more.
 */
int svcrdma_recv_ctxt_many_chunks(const struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	u32 segments = t->st_recv_size / RPCRDMA_SEGMENT_SIZE;
	u32 chunks = t->st_max_chunks;

	if (rc->rc_many)
		return -EALREADY;
	rc->rc_many = kvmalloc_node(segments * sizeof(*rc->rc_segments) +
				    chunks * (sizeof(*rc->rc_chunks) + sizeof(*rc->rc_payloads)),
				    GFP_KERNEL, ibdev_to_node(svcrdma_transport_device(t)));
	if (!rc->rc_many)
		return -ENOMEM;
	rc->rc_segments = rc->rc_many;
	rc->rc_chunks = (void *)(rc->rc_segments + segments);
	rc->rc_payloads = (void *)(rc->rc_chunks + chunks);
	take_storage(rc, segments, chunks);
	return 0;
}

static noinline void drop_many_chunks(struct svcrdma_recv_ctxt *rc)
{
	kvfree(rc->rc_many);
	rc->rc_many = NULL;
	few_chunks(rc);
}

static struct svcrdma_recv_ctxt *recv_ctxt_alloc(struct svcrdma_transport *t)
{
	int node = ibdev_to_node(svcrdma_transport_device(t));
	struct svcrdma_recv_ctxt *rc;

	rc = kzalloc_node(sizeof(*rc), GFP_KERNEL, node);
	if (!rc)
		return NULL;
	if (rpcrdma_buffer_init(&rc->rc_buffer, t->st_pd, t->st_recv_size,
				DMA_FROM_DEVICE, GFP_KERNEL)) {
		recv_ctxt_free(rc);
		return NULL;
	}

	rc->rc_transport = t;
	rc->rc_cqe.done = svcrdma_recv_wc;
	rc->rc_recv_wr.wr_cqe = &rc->rc_cqe;
	rc->rc_recv_wr.sg_list = &rc->rc_buffer.bf_sge;
	rc->rc_recv_wr.num_sge = 1;
	rc->rc_read_cqe.done = svcrdma_read_wc;
	INIT_LIST_HEAD(&rc->rc_reads);
	INIT_LIST_HEAD(&rc->rc_sq.sw_list);
	rc->rc_sq.sw_granted = svcrdma_read_granted;
	few_chunks(rc);
	return rc;
}

/* ---- as many as the grant needs ---- */

static u32 receives_for(const struct svcrdma_transport *t, u32 grant)
{
	return rpcrdma_server_receives(grant, SVCRDMA_REVERSE_CREDITS, t->st_spare_exposures);
}

/* For Receives that are posted, and for each call that the client may have outstanding. */
static u32 contexts_for(const struct svcrdma_transport *t, u32 grant)
{
	return grant ? receives_for(t, grant) + grant : 0;
}

/* In rc_list of @list; all or none. */
static int contexts_alloc(struct svcrdma_transport *t, u32 count, struct list_head *list)
{
	struct svcrdma_recv_ctxt *rc, *next;

	while (count--) {
		rc = recv_ctxt_alloc(t);
		if (!rc)
			goto out_free;
		list_add(&rc->rc_list, list);
	}
	return 0;

out_free:
	list_for_each_entry_safe(rc, next, list, rc_list)
		recv_ctxt_free(rc);
	return -ENOMEM;
}

/* The next number of @used that is of interest */
static void set_mark(struct svcrdma_transport *t)
{
	u32 mark = t->st_recv.highest + 1;

	if (t->st_grant < t->st_credits)
		mark = min(mark, t->st_grant);
	WRITE_ONCE(t->st_recv.mark, mark);
}

static int post_missing(struct svcrdma_transport *t);

static int set_grant(struct svcrdma_transport *t, u32 grant, struct list_head *contexts)
{
	struct svcrdma_recv_ctxt *rc;
	int ret;

	svcrdma_expose_limit(t, t->st_spare_exposures ? grant + t->st_spare_exposures : 0);
	spin_lock(&t->st_recv_lock);
	list_for_each_entry(rc, contexts, rc_list) {
		list_add(&rc->rc_all, &t->st_recv.all);
		llist_add(&rc->rc_node, &t->st_recv.spare);
	}
	t->st_recv.target = receives_for(t, grant);
	ret = post_missing(t);
	/* Not before: RFC 8166 section 3.3.1. */
	WRITE_ONCE(t->st_grant, grant);
	set_mark(t);
	spin_unlock(&t->st_recv_lock);
	return ret;
}

/**
 * svcrdma_recv_grow - receive contexts for a larger grant, and that
 * @t: transport with its verbs objects; the grant is 0 until this was called
 * @grant: credits, more than there are, at most st_credits
 *
 * Context: process; nobody else makes them.
 * Return: 0; -ENOMEM: all is as before; or another errno when a post failed, then the connection
 * is to be ended. svcrdma_recv_ctxts_destroy() frees the contexts.
 */
int svcrdma_recv_grow(struct svcrdma_transport *t, u32 grant)
{
	u32 count = contexts_for(t, grant) - contexts_for(t, t->st_grant);
	LIST_HEAD(contexts);

	if (contexts_alloc(t, count, &contexts))
		return -ENOMEM;
	return set_grant(t, grant, &contexts);
}

static void grow_work(struct work_struct *work)
{
	struct svcrdma_transport *t =
		container_of(work, struct svcrdma_transport, st_recv.grow_work);
	int ret;

	if (svcrdma_transport_closing(t) || t->st_grant >= t->st_credits)
		return;
	ret = svcrdma_recv_grow(t, min(2 * t->st_grant, t->st_credits));
	/* Without memory the client has what it had. */
	trace_svcrdma_grant(t, ret ? ret : (int)t->st_grant);
	if (ret && ret != -ENOMEM)
		svcrdma_transport_close(t, RPCRDMA_END_RECEIVE_FAILED);
}

/* Of calls, @used reaches the mark. */
static noinline void at_mark(struct svcrdma_transport *t, u32 used)
{
	spin_lock(&t->st_recv_lock);
	t->st_recv.highest = max(t->st_recv.highest, used);
	if (t->st_grant < t->st_credits && used >= t->st_grant)
		svcrdma_work_queue(&t->st_recv.grow_work);
	set_mark(t);
	spin_unlock(&t->st_recv_lock);
}

/**
 * svcrdma_recv_setup - no contexts yet
 * @t: all zeros
 *
 * Context: any.
 */
void svcrdma_recv_setup(struct svcrdma_transport *t)
{
	INIT_LIST_HEAD(&t->st_recv.all);
	init_llist_head(&t->st_recv.spare);
	init_llist_head(&t->st_recv.ready);
	INIT_WORK(&t->st_recv.grow_work, grow_work);
}

/**
 * svcrdma_recv_stop - the grant stays as it is
 * @t: transport whose queue pair is drained
 *
 * Context: process.
 */
void svcrdma_recv_stop(struct svcrdma_transport *t)
{
	cancel_work_sync(&t->st_recv.grow_work);
}

/**
 * svcrdma_recv_show - credits in use, for connections.c
 * @seq: where to
 * @t: transport
 */
void svcrdma_recv_show(struct seq_file *seq, const struct svcrdma_transport *t)
{
	rpcrdma_show_number(seq, "credits_in_use", atomic_read(&t->st_recv.used));
	rpcrdma_show_number(seq, "credits_highest", t->st_recv.highest);
}

/**
 * svcrdma_recv_ctxt_make_room - a call with Read chunks is going to have pages
 * @t: transport
 * @rc: context
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int svcrdma_recv_ctxt_make_room(const struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	if (!rc->rc_pages)
		rc->rc_pages = kvcalloc(t->st_max_pages, sizeof(*rc->rc_pages), GFP_KERNEL);
	return rc->rc_pages ? 0 : -ENOMEM;
}

/**
 * svcrdma_recv_ctxt_drop_pages - drop what a call has pulled
 * @rc: context
 *
 * Context: any.
 */
void svcrdma_recv_ctxt_drop_pages(struct svcrdma_recv_ctxt *rc)
{
	if (rc->rc_nr_pages)
		release_pages(rc->rc_pages, rc->rc_nr_pages);
	rc->rc_nr_pages = 0;
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

	list_for_each_entry_safe(rc, next, &t->st_recv.all, rc_all) {
		svcrdma_rw_list_free(t, &rc->rc_reads, DMA_FROM_DEVICE);
		svcrdma_recv_ctxt_drop_pages(rc);
		recv_ctxt_free(rc);
	}
}

/*
 * One that is ready to be posted, or NULL: from then on, and until there are enough, whoever puts
 * one posts it.
 */
static struct svcrdma_recv_ctxt *spare_take(struct svcrdma_transport *t)
{
	struct llist_node *node = llist_del_first(&t->st_recv.spare);

	if (!node) {
		/* Either this sees what is put, or who puts it st_recv.starved: pairs with
		 * llist_add() of svcrdma_recv_ctxt_put().
		 */
		smp_store_mb(t->st_recv.starved, true);
		node = llist_del_first(&t->st_recv.spare);
	}
	return node ? llist_entry(node, struct svcrdma_recv_ctxt, rc_node) : NULL;
}

/* All that are missing, in one post. */
static noinline int post_missing(struct svcrdma_transport *t)
{
	struct ib_recv_wr *first = NULL;
	struct svcrdma_recv_ctxt *rc;

	lockdep_assert_held(&t->st_recv_lock);
	if (svcrdma_transport_closing(t))
		return 0;
	WRITE_ONCE(t->st_recv.starved, false);
	while (t->st_recv.posted < t->st_recv.target) {
		rc = spare_take(t);
		if (!rc)
			break;
		rpcrdma_buffer_to_device(&rc->rc_buffer, rc->rc_buffer.bf_size);
		rc->rc_recv_wr.next = first;
		first = &rc->rc_recv_wr;
		t->st_recv.posted++;
	}
	return first ? ib_post_recv(t->st_qp, first, NULL) : 0;
}

/* In place of @gone Receives that are complete. If that fails, the connection ends. */
static noinline void fill(struct svcrdma_transport *t, u32 gone)
{
	int ret;

	spin_lock(&t->st_recv_lock);
	t->st_recv.posted -= gone;
	ret = post_missing(t);
	spin_unlock(&t->st_recv_lock);
	if (!ret)
		return;
	trace_svcrdma_post_recv_err(t, ret);
	svcrdma_transport_close(t, RPCRDMA_END_RECEIVE_FAILED);
}

/**
 * svcrdma_recv_taken - a Receive is complete; others are posted in its place
 * @t: transport
 * @rc: its context: the caller's, or nfsd's to find
 * @ready: it is nfsd's
 *
 * A client that sends more calls than its credits allow uses the spare ones up;
 * it is the one that runs into a Receive Queue that is empty. With Read chunks it is
 * disconnected before, see reads.c.
 *
 * Context: completion handler.
 */
void svcrdma_recv_taken(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc, bool ready)
{
	u32 used = atomic_inc_return(&t->st_recv.used);

	if (used >= READ_ONCE(t->st_recv.mark))
		at_mark(t, used);
	if (ready)
		llist_add(&rc->rc_node, &t->st_recv.ready);
	if (++t->st_recv.gone < SVCRDMA_RECEIVE_BATCH)
		return;
	t->st_recv.gone = 0;
	fill(t, SVCRDMA_RECEIVE_BATCH);
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
	if (unlikely(rc->rc_nr_pages))
		svcrdma_recv_ctxt_drop_pages(rc);
	if (unlikely(rc->rc_many))
		drop_many_chunks(rc);
	atomic_dec(&t->st_recv.used);
	/* A full barrier: pairs with spare_take(). */
	llist_add(&rc->rc_node, &t->st_recv.spare);
	if (unlikely(READ_ONCE(t->st_recv.starved)))
		fill(t, 0);
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
