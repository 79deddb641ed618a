// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Receive contexts, each a buffer and the state of the call in it; and the grant of a connection,
 * from which the number of contexts and of posted Receives follows (RFC 8166 section 3.3.1).
 *
 * When a batch of Receives is complete, spare contexts are posted in their place, in one post.
 * Until then the Receives that are still posted are enough for all that the client may send. While
 * the client keeps to its credits, there are spare contexts for a whole batch. A client that
 * exceeds its credits uses up the spare contexts; from then on a context that
 * svcrdma_recv_ctxt_put() makes spare is posted at once.
 *
 * A context has room to decode the chunks of most calls. A call with more chunks gets more room,
 * which is allocated when the call comes and freed with the call.
 *
 * The grant begins small, and follows use: when the client asks for more credits than it has, and
 * uses those that it has, a work item allocates contexts for twice as many credits and posts their
 * Receives, and then the replies grant these credits. A client uses its credits in either of two
 * cases. It sends twice as many calls within a second as it has credits: where the round trip is
 * longer than the server needs for a call, most credits are always on the network. Or the server
 * has had as many of its calls at one moment as it has credits: where the server needs long for a
 * call, there are few calls in a second.
 *
 * A grant never becomes smaller. It does not grow where the budget (budget.c) or memory is short;
 * a connection that is refused asks again after a pause.
 *
 * A client that sends no private data (RFC 8797) is granted all credits at once, as far as the
 * budget allows. Such a client may not count credits, so the Receives for the largest grant are
 * posted before its first message.
 *
 * The RDMA_DONE of an exposed reply needs a Receive beyond those for calls, which is posted before
 * the reply is sent. A connection that exposes no reply has no Receives for RDMA_DONEs.
 */
#include <linux/slab.h>

#include "recv_ctxt.h"
#include "svcrdma.h"
#include "trace.h"

enum {
	/* A client uses its grant if it sends ROUNDS calls per credit in SVCRDMA_GRANT_PAUSE. */
	ROUNDS = 2,
	DONE_RECEIVES = 8,	/* Receives for RDMA_DONEs that are added at once */
};

/* ---- contexts ---- */

static void recv_ctxt_free(struct svcrdma_recv_ctxt *rc)
{
	svcrdma_sink_free(rc);
	rpcrdma_buffer_exit(&rc->rc_buffer);
	kvfree(rc->rc_many);
	kfree(rc);
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
 * @rc: context of a message that has just come, and that has too little room for its call
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int svcrdma_recv_ctxt_many_chunks(const struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	u32 nr_segments = t->st_recv_size / RPCRDMA_SEGMENT_SIZE;
	struct rpcrdma_segment *segments;
	u32 nr_chunks = t->st_max_chunks;
	struct rpcrdma_chunk *chunks;

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

/* Allocate @count contexts, and put them on the empty @list. Return: 0; -ENOMEM: none is left. */
static int contexts_alloc(struct svcrdma_transport *t, u32 count, gfp_t gfp,
			  struct list_head *list)
{
	struct svcrdma_recv_ctxt *rc, *next;

	while (count--) {
		rc = recv_ctxt_alloc(t, gfp);
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
		/*
		 * Either this function finds a context that is put, or the thread that puts it
		 * finds st_recv.starved set: pairs with llist_add() of svcrdma_recv_ctxt_put().
		 */
		smp_store_mb(t->st_recv.starved, true);
		node = llist_del_first(&t->st_recv.spare);
	}
	return node ? llist_entry(node, struct svcrdma_recv_ctxt, rc_node) : NULL;
}

/*
 * Post all Receives that are missing, at once. Return: 0, or a negative errno: the connection is to
 * be ended.
 */
static int post_receives(struct svcrdma_transport *t)
{
	struct ib_recv_wr *first = NULL;
	struct svcrdma_recv_ctxt *rc;

	lockdep_assert_held(&t->st_recv_lock);
	if (READ_ONCE(t->st_closing))
		return 0;
	WRITE_ONCE(t->st_recv.starved, false);
	while (t->st_recv.posted < t->st_recv.target) {
		rc = spare_take(t);
		if (!rc)
			break;
		ib_dma_sync_single_for_device(t->st_id->device, rc->rc_buffer.bf_sge.addr,
					      rc->rc_buffer.bf_size, DMA_FROM_DEVICE);
		rc->rc_recv_wr.next = first;
		first = &rc->rc_recv_wr;
		t->st_recv.posted++;
	}
	return first ? ib_post_recv(t->st_qp, first, NULL) : 0;
}

/* ---- the grant ---- */

static u32 receives_for(u32 grant)
{
	return rpcrdma_server_receives(grant, SVCRDMA_REVERSE_CREDITS);
}

/* Contexts for the Receives that are posted, and for each call that may be outstanding. */
static u32 contexts_for(u32 grant)
{
	return grant ? receives_for(grant) + grant : 0;
}

/*
 * Make new contexts spare, and post Receives for a grant and for RDMA_DONEs. Return: 0, or -EIO: a
 * post failed. A provider's -ENOMEM becomes -EIO, too, since some Receives may have been posted.
 */
static int add_contexts(struct svcrdma_transport *t, struct list_head *contexts, u32 grant)
{
	struct svcrdma_recv_ctxt *rc;

	lockdep_assert_held(&t->st_recv_lock);
	list_for_each_entry(rc, contexts, rc_list) {
		list_add(&rc->rc_all, &t->st_recv.all);
		llist_add(&rc->rc_node, &t->st_recv.spare);
	}
	t->st_recv.target = receives_for(grant) + t->st_credit.dones;
	return post_receives(t) ? -EIO : 0;
}

/* Count calls from @when on, beginning with 0. */
static void count_from(struct svcrdma_transport *t, unsigned long when)
{
	t->st_credit.since = when;
	t->st_credit.calls = 0;
	t->st_credit.full = false;
}

/**
 * svcrdma_grant_grow - add contexts, and then make the grant larger
 * @t: transport with its verbs objects; its grant is 0 when this function is first called
 * @grant: new grant, larger than the old one, and at most st_credits
 * @gfp: flags for the allocation of the contexts
 *
 * Context: process; no other thread changes the grant at the same time.
 * Return: 0; -ENOMEM: all is as before; -EIO: a post failed, and the connection is to be ended.
 * svcrdma_recv_ctxts_destroy() frees the contexts.
 */
int svcrdma_grant_grow(struct svcrdma_transport *t, u32 grant, gfp_t gfp)
{
	LIST_HEAD(contexts);
	int ret;

	ret = contexts_alloc(t, contexts_for(grant) - contexts_for(t->st_grant), gfp, &contexts);
	if (ret)
		return ret;
	spin_lock(&t->st_recv_lock);
	ret = add_contexts(t, &contexts, grant);
	/* RFC 8166 section 3.3.1: grant credits only after their Receives are posted. */
	if (!ret)
		WRITE_ONCE(t->st_grant, grant);
	count_from(t, jiffies);
	spin_unlock(&t->st_recv_lock);
	return ret;
}

/* dones_lock is held, so that two threads do not both add the contexts that one of them needs. */
static int more_dones(struct svcrdma_transport *t, u32 exposed)
{
	u32 old = t->st_credit.dones, dones;
	LIST_HEAD(contexts);
	int ret;

	if (exposed <= old)
		return 0;
	dones = min_t(u32, round_up(exposed, DONE_RECEIVES),
		      t->st_credits + t->st_spare_exposures);
	ret = contexts_alloc(t, dones - old, GFP_KERNEL, &contexts);
	if (ret)
		return ret;
	spin_lock(&t->st_recv_lock);
	WRITE_ONCE(t->st_credit.dones, dones);
	ret = add_contexts(t, &contexts, t->st_grant);
	spin_unlock(&t->st_recv_lock);
	return ret;
}

/**
 * svcrdma_grant_dones - have Receives for the RDMA_DONEs of exposed replies
 * @t: transport
 * @exposed: number of exposed replies, including the one that is about to be exposed
 *
 * Most connections expose no reply, and others a few at a time. The number of these Receives never
 * becomes smaller.
 *
 * Context: process.
 * Return: 0; -ENOMEM; -EIO: a post failed, and the connection ends.
 */
int svcrdma_grant_dones(struct svcrdma_transport *t, u32 exposed)
{
	int ret;

	if (likely(exposed <= READ_ONCE(t->st_credit.dones)))
		return 0;
	mutex_lock(&t->st_credit.dones_lock);
	ret = more_dones(t, exposed);
	mutex_unlock(&t->st_credit.dones_lock);
	if (ret && ret != -ENOMEM)
		svcrdma_transport_close(t, RPCRDMA_END_RECEIVE_FAILED);
	return ret;
}

/* The largest grant for which the client has a use */
static u32 wanted_grant(const struct svcrdma_transport *t)
{
	return min(READ_ONCE(t->st_credit.asked), t->st_credits);
}

/* Make the grant larger. The allocations give up early where memory is short. */
static int try_to_grow(struct svcrdma_transport *t)
{
	u32 old = t->st_grant, grant;
	int ret;

	grant = svcrdma_budget_ask(t, max(old, min(2 * old, wanted_grant(t))));
	if (grant <= old)
		return 0;
	ret = svcrdma_grant_grow(t, grant, GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
	/* Without memory the client keeps its grant. If a post has failed, the connection ends. */
	if (ret)
		svcrdma_budget_stay(t, old);
	trace_svcrdma_grant(t, ret ?: (int)grant);
	return ret;
}

static void grant_work(struct work_struct *work)
{
	struct svcrdma_transport *t =
		container_of(work, struct svcrdma_transport, st_credit.work);
	int ret;

	if (READ_ONCE(t->st_closing))
		return;
	ret = try_to_grow(t);
	if (ret && ret != -ENOMEM)
		svcrdma_transport_close(t, RPCRDMA_END_RECEIVE_FAILED);
}

/* Count a batch of messages, and start the work item if the grant is in use. */
static void grant_update(struct svcrdma_transport *t)
{
	unsigned long now = jiffies;

	lockdep_assert_held(&t->st_recv_lock);
	if (t->st_grant >= wanted_grant(t) || time_before(now, t->st_credit.since))
		return;
	if (!t->st_credit.full) {
		if (time_after(now, t->st_credit.since + SVCRDMA_GRANT_PAUSE))
			count_from(t, now);
		t->st_credit.calls += RPCRDMA_RECEIVE_BATCH;
		if (t->st_credit.calls < ROUNDS * t->st_grant)
			return;
	}
	/*
	 * The work item may take longer than the pause. If calls that come meanwhile queued it
	 * again, the grant would double twice for one use.
	 */
	if (work_busy(&t->st_credit.work))
		return;
	/* Wait if the grant does not grow now. If it does, svcrdma_grant_grow() ends the wait. */
	count_from(t, now + SVCRDMA_GRANT_PAUSE);
	queue_work(svcrdma_wq, &t->st_credit.work);
}

/*
 * More messages are under way than ever before on this connection. If there are more than Receives
 * for the grant, the client has sent calls without a credit (or many threads are late to put the
 * contexts of calls that are answered). The calls are served as long as there are contexts, since
 * some clients do not count credits, and only the connection's own memory is used.
 */
static void note_highest(struct svcrdma_transport *t, u32 used)
{
	WRITE_ONCE(t->st_credit.highest, used);
	if (used <= receives_for(READ_ONCE(t->st_grant)) + READ_ONCE(t->st_credit.dones))
		return;
	trace_svcrdma_overrun(t, used);
	WRITE_ONCE(t->st_credit.asked, max(used, READ_ONCE(t->st_credit.asked)));
}

/**
 * svcrdma_recv_setup - initialize the members for Receive contexts and the grant, which is 0
 * @t: new transport, in which these members are zero
 *
 * Context: any.
 */
void svcrdma_recv_setup(struct svcrdma_transport *t)
{
	INIT_LIST_HEAD(&t->st_recv.all);
	init_llist_head(&t->st_recv.spare);
	init_llist_head(&t->st_recv.ready);
	mutex_init(&t->st_credit.dones_lock);
	INIT_WORK(&t->st_credit.work, grant_work);
}

/**
 * svcrdma_grant_begin - give a connection its first grant
 * @t: transport with its verbs objects and addresses
 *
 * Context: process.
 * Return: 0 or a negative errno; svcrdma_budget_leave() and svcrdma_recv_ctxts_destroy() undo it.
 */
int svcrdma_grant_begin(struct svcrdma_transport *t)
{
	u32 first = t->st_credits;
	int ret = svcrdma_budget_join(t);

	if (ret)
		return ret;
	if (t->st_peer.present)
		first = min_t(u32, first, SVCRDMA_FIRST_CREDITS);
	return svcrdma_grant_grow(t, svcrdma_budget_ask(t, first), GFP_KERNEL);
}

/**
 * svcrdma_grant_stop - cancel the work item that makes the grant larger
 * @t: transport whose queue pair is drained
 *
 * The work item is not queued again, since only messages queue it, and no more messages come.
 *
 * Context: process.
 */
void svcrdma_grant_stop(struct svcrdma_transport *t)
{
	cancel_work_sync(&t->st_credit.work);
}

/**
 * svcrdma_grant_show - show the credits of a connection, for debugfs.c
 * @seq: file that is written
 * @t: transport
 */
void svcrdma_grant_show(struct seq_file *seq, const struct svcrdma_transport *t)
{
	rpcrdma_show_number(seq, "credits_granted", READ_ONCE(t->st_grant));
	rpcrdma_show_number(seq, "credits_in_use", atomic_read(&t->st_recv.used));
	rpcrdma_show_number(seq, "credits_highest", READ_ONCE(t->st_credit.highest));
}

/* ---- a message comes, and is done with ---- */

/* Post the missing Receives, after @gone more are complete, or end the connection. */
static void post_missing(struct svcrdma_transport *t, u32 gone)
{
	int ret;

	spin_lock(&t->st_recv_lock);
	t->st_recv.posted -= gone;
	ret = post_receives(t);
	if (gone)
		grant_update(t);
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
 * A client that sends more calls than its credits allow uses up the spare contexts of its own
 * connection, so only its own messages then find the Receive Queue empty. If its calls have Read
 * chunks, the client is disconnected before that; see read_chunks.c.
 *
 * Context: completion handler.
 */
void svcrdma_recv_taken(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc, bool ready)
{
	u32 used = atomic_inc_return(&t->st_recv.used);

	if (unlikely(used > t->st_credit.highest))
		note_highest(t, used);
	if (used >= READ_ONCE(t->st_grant))
		t->st_credit.full = true;
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
	if (unlikely(rc->rc_pages))
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
