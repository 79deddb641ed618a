// SPDX-License-Identifier: GPL-2.0
/*
 * Receive contexts: a buffer, and the state of the call in it.
 *
 * When a batch of Receives is complete, spare contexts are posted in their place, in one post.
 * Until then the Receives that are still posted are enough for all that the client may send (RFC
 * 8166 section 3.3.1). While the client keeps to its credits, there are spare contexts for a whole
 * batch. A client that exceeds its credits uses up the spare contexts; from then on a context that
 * svcrdma_recv_ctxt_put() makes spare is posted at once.
 *
 * The number of contexts, and the number of Receives to be posted, follow from the grant; see
 * grant.c.
 *
 * A context has room to decode the chunks of most calls. A call with more chunks gets more room,
 * which is allocated when the call comes and freed with the call.
 */
#include <linux/slab.h>

#include "recv_ctxt.h"
#include "svcrdma.h"
#include "trace.h"

static void recv_ctxt_free(struct svcrdma_recv_ctxt *rc)
{
	svcrdma_sink_free(rc);
	rpcrdma_buffer_exit(&rc->rc_buffer);
	kvfree(rc->rc_many);
	kfree(rc);
}

/* Free all contexts on @list, by rc_list. The list head is invalid afterwards. */
static void ctxts_free(struct list_head *list)
{
	struct svcrdma_recv_ctxt *rc, *next;

	list_for_each_entry_safe(rc, next, list, rc_list)
		recv_ctxt_free(rc);
}

static void use_few_chunks(struct svcrdma_recv_ctxt *rc)
{
	struct svcrdma_few_chunks *few = &rc->rc_few;

	rpcrdma_lists_init(&rc->rc_lists, few->segments, ARRAY_SIZE(few->segments),
			   few->chunks, ARRAY_SIZE(few->chunks));
	rc->rc_payloads = few->payloads;
}

/**
 * svcrdma_recv_ctxt_many_chunks - give a context room for the chunks of any call
 * @t: transport
 * @rc: context that has too little room for its call
 *
 * Context: process.
 * Return: 0; -ENOMEM; or -EALREADY: the context has that room already.
 */
int svcrdma_recv_ctxt_many_chunks(const struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	u32 nr_segments = t->st_recv_size / RPCRDMA_SEGMENT_SIZE;
	struct rpcrdma_segment *segments;
	u32 nr_chunks = t->st_max_chunks;
	struct rpcrdma_chunk *chunks;

	if (rc->rc_many)
		return -EALREADY;
	rc->rc_many = kvmalloc_node(nr_segments * sizeof(*segments) +
				    nr_chunks * (sizeof(*chunks) + sizeof(*rc->rc_payloads)),
				    GFP_KERNEL, ibdev_to_node(svcrdma_transport_device(t)));
	if (!rc->rc_many)
		return -ENOMEM;
	segments = rc->rc_many;
	chunks = (void *)(segments + nr_segments);
	rc->rc_payloads = (void *)(chunks + nr_chunks);
	rpcrdma_lists_init(&rc->rc_lists, segments, nr_segments, chunks, nr_chunks);
	return 0;
}

static void free_many_chunks(struct svcrdma_recv_ctxt *rc)
{
	kvfree(rc->rc_many);
	rc->rc_many = NULL;
	use_few_chunks(rc);
}

static struct svcrdma_recv_ctxt *recv_ctxt_alloc(struct svcrdma_transport *t, gfp_t gfp)
{
	int node = ibdev_to_node(svcrdma_transport_device(t));
	struct svcrdma_recv_ctxt *rc;

	rc = kzalloc_node(sizeof(*rc), gfp, node);
	if (!rc)
		return NULL;
	if (rpcrdma_buffer_init(&rc->rc_buffer, t->st_pd, t->st_recv_size,
				DMA_FROM_DEVICE, gfp)) {
		recv_ctxt_free(rc);
		return NULL;
	}

	rc->rc_transport = t;
	rc->rc_cqe.done = svcrdma_recv_wc;
	rc->rc_recv_wr.wr_cqe = &rc->rc_cqe;
	rc->rc_recv_wr.sg_list = &rc->rc_buffer.bf_sge;
	rc->rc_recv_wr.num_sge = 1;
	INIT_LIST_HEAD(&rc->rc_reads.list);
	use_few_chunks(rc);
	return rc;
}

/**
 * svcrdma_recv_ctxts_alloc - allocate new Receive contexts
 * @t: transport with its verbs objects
 * @count: number of new contexts
 * @gfp: flags for the allocations, which may sleep
 * @list: empty list that gets the contexts, by rc_list; invalid on failure
 *
 * Context: process.
 * Return: 0 or -ENOMEM. After 0, svcrdma_recv_ctxts_add() takes the contexts.
 */
int svcrdma_recv_ctxts_alloc(struct svcrdma_transport *t, u32 count, gfp_t gfp,
			     struct list_head *list)
{
	struct svcrdma_recv_ctxt *rc;

	while (count--) {
		rc = recv_ctxt_alloc(t, gfp);
		if (!rc) {
			ctxts_free(list);
			return -ENOMEM;
		}
		list_add(&rc->rc_list, list);
	}
	return 0;
}

/**
 * svcrdma_recv_ctxts_add - add new Receive contexts to the spare ones
 * @t: transport
 * @list: contexts from svcrdma_recv_ctxts_alloc()
 * @target: number of Receives that are to be posted, no less than before
 *
 * Context: st_recv_lock is held. svcrdma_recv_post_missing() posts them.
 */
void svcrdma_recv_ctxts_add(struct svcrdma_transport *t, struct list_head *list, u32 target)
{
	struct svcrdma_recv_ctxt *rc;

	lockdep_assert_held(&t->st_recv_lock);
	list_for_each_entry(rc, list, rc_list) {
		list_add(&rc->rc_all, &t->st_recv.all);
		llist_add(&rc->rc_node, &t->st_recv.spare);
		t->st_recv.count++;
	}
	t->st_recv.target = target;
}

/**
 * svcrdma_recv_used - number of messages that have come and are not done with
 * @t: transport
 *
 * Context: any.
 */
u32 svcrdma_recv_used(const struct svcrdma_transport *t)
{
	return atomic_read(&t->st_recv.used);
}

/**
 * svcrdma_recv_setup - initialize the members for Receive contexts
 * @t: new transport, in which these members are zero
 *
 * Context: any.
 */
void svcrdma_recv_setup(struct svcrdma_transport *t)
{
	INIT_LIST_HEAD(&t->st_recv.all);
	init_llist_head(&t->st_recv.spare);
	init_llist_head(&t->st_recv.ready);
}

/**
 * svcrdma_recv_ctxts_destroy - free all Receive contexts, in whatever state they are
 * @t: transport that nobody uses, and whose queue pair is drained
 *
 * Context: process.
 */
void svcrdma_recv_ctxts_destroy(struct svcrdma_transport *t)
{
	struct svcrdma_recv_ctxt *rc, *next;

	list_for_each_entry_safe(rc, next, &t->st_recv.all, rc_all) {
		svcrdma_rws_free(t, &rc->rc_reads, DMA_FROM_DEVICE);
		recv_ctxt_free(rc);
	}
}

/*
 * Return: a context that is ready to be posted, or NULL. After NULL, svcrdma_recv_ctxt_put() posts
 * each context that it makes spare, until there are enough.
 */
static struct svcrdma_recv_ctxt *spare_take(struct svcrdma_transport *t)
{
	struct llist_node *node = llist_del_first(&t->st_recv.spare);

	if (!node) {
		/* Either this function finds a context that is put, or the thread that puts it
		 * finds st_recv.starved set: pairs with
		 * llist_add() of svcrdma_recv_ctxt_put().
		 */
		smp_store_mb(t->st_recv.starved, true);
		node = llist_del_first(&t->st_recv.spare);
	}
	return node ? llist_entry(node, struct svcrdma_recv_ctxt, rc_node) : NULL;
}

/**
 * svcrdma_recv_post_missing - post all Receives that are missing, at once
 * @t: transport
 *
 * Context: st_recv_lock is held.
 * Return: 0, or a negative errno: the connection is to be ended.
 */
int svcrdma_recv_post_missing(struct svcrdma_transport *t)
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

/* Post the missing Receives, after @gone more are complete, or end the connection. */
static void post_missing(struct svcrdma_transport *t, u32 gone)
{
	int ret;

	spin_lock(&t->st_recv_lock);
	t->st_recv.posted -= gone;
	ret = svcrdma_recv_post_missing(t);
	if (gone)
		svcrdma_grant_update(t);
	spin_unlock(&t->st_recv_lock);
	if (unlikely(ret)) {
		trace_svcrdma_post_recv_err(t, ret);
		svcrdma_transport_close(t, RPCRDMA_END_RECEIVE_FAILED);
	}
}

/**
 * svcrdma_recv_ready - queue a context for nfsd
 * @t: transport
 * @rc: context; not the caller's any more
 *
 * The caller calls svcrdma_transport_data() afterwards; llist_add() is a full barrier.
 *
 * Context: any.
 */
void svcrdma_recv_ready(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	llist_add(&rc->rc_node, &t->st_recv.ready);
}

/**
 * svcrdma_recv_taken - count a Receive that is complete, and replace a batch of them
 * @t: transport
 * @rc: context of the Receive
 * @ready: whether @rc is queued for nfsd; otherwise it stays the caller's
 *
 * A client that sends more calls than its credits allow uses up the spare contexts, and it is this
 * client whose messages then find the Receive Queue empty. If its calls have Read chunks, it is
 * disconnected before that; see read_chunks.c.
 *
 * Context: completion handler.
 */
void svcrdma_recv_taken(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc, bool ready)
{
	u32 used = atomic_inc_return(&t->st_recv.used);

	if (unlikely(svcrdma_grant_is_highest(&t->st_credit, used)))
		svcrdma_grant_note_highest(t, used);
	if (ready)
		llist_add(&rc->rc_node, &t->st_recv.ready);
	if (++t->st_recv.gone < RPCRDMA_RECEIVE_BATCH)
		return;
	t->st_recv.gone = 0;
	post_missing(t, RPCRDMA_RECEIVE_BATCH);
}

/**
 * svcrdma_recv_ctxt_put - make a context spare, since the message in it is done with
 * @t: transport
 * @rc: context; not the caller's any more
 *
 * Context: process.
 */
void svcrdma_recv_ctxt_put(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	if (unlikely(rc->rc_nr_pages || rc->rc_many_pages))
		svcrdma_sink_release(rc);
	if (unlikely(rc->rc_many))
		free_many_chunks(rc);
	atomic_dec(&t->st_recv.used);
	/* A full barrier: pairs with spare_take(). */
	llist_add(&rc->rc_node, &t->st_recv.spare);
	if (unlikely(READ_ONCE(t->st_recv.starved)))
		post_missing(t, 0);
}

/**
 * svcrdma_release_ctxt - xpo_release_ctxt: put the context of a call that nfsd is done with
 * @xprt: the connection
 * @ctxt: its Receive context, or NULL
 *
 * Context: process.
 */
void svcrdma_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
	struct svcrdma_recv_ctxt *rc = ctxt;

	if (rc)
		svcrdma_recv_ctxt_put(rc->rc_transport, rc);
}
