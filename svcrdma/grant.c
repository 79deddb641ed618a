// SPDX-License-Identifier: GPL-2.0
/*
 * A connection's grant: RFC 8166 section 3.3.1.
 *
 * The grant begins small, and follows use: when the client asks for more credits than it has, and
 * keeps sending as many calls as it has credits, a work item allocates contexts for twice as many
 * credits and posts their Receives, and then the replies grant these credits. The number of calls
 * within a second counts, and not whether all credits are in use at one moment: where the round
 * trip is longer than the server needs for a call, most credits are always on the network.
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
#include "svcrdma.h"
#include "trace.h"

enum {
	/* A client uses its grant if it sends this many times the grant within the pause. */
	ROUNDS = 2,
	DONE_RECEIVES = 8,	/* Receives for RDMA_DONEs that are added at once */
};

/* The states that may follow each state. Only the work item changes the state from GROWING. */
static const u8 next_states[] = {
	[SVCRDMA_GRANT_NONE]		= BIT(SVCRDMA_GRANT_COUNTING),
	[SVCRDMA_GRANT_COUNTING]	= BIT(SVCRDMA_GRANT_GROWING),
	[SVCRDMA_GRANT_GROWING]		= BIT(SVCRDMA_GRANT_COUNTING),
};

static void set_state(struct svcrdma_transport *t, enum svcrdma_grant_state state)
{
	lockdep_assert_held(&t->st_recv_lock);
	WARN_ON_ONCE(!(next_states[t->st_credit.state] & BIT(state)));
	t->st_credit.state = state;
}

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
 * Add contexts, and post Receives for a grant and for RDMA_DONEs. Return: 0, or -EIO: a post
 * failed. A provider's -ENOMEM becomes -EIO, too, since some Receives may have been posted.
 */
static int add_contexts(struct svcrdma_transport *t, struct list_head *contexts, u32 grant)
{
	lockdep_assert_held(&t->st_recv_lock);
	svcrdma_recv_ctxts_add(t, contexts, receives_for(grant) + t->st_credit.dones);
	return svcrdma_recv_post_missing(t) ? -EIO : 0;
}

/* Count calls from @when on, beginning with 0. */
static void count_from(struct svcrdma_transport *t, unsigned long when)
{
	t->st_credit.since = when;
	t->st_credit.calls = 0;
}

/**
 * svcrdma_grant_grow - make the grant larger, after the contexts for it
 * @t: transport with its verbs objects; its grant is 0 before the first call
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

	ret = svcrdma_recv_ctxts_alloc(t, contexts_for(grant) - contexts_for(t->st_grant), gfp,
				       &contexts);
	if (ret)
		return ret;
	spin_lock(&t->st_recv_lock);
	ret = add_contexts(t, &contexts, grant);
	/* RFC 8166 section 3.3.1: grant credits only after their Receives are posted. */
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
	ret = svcrdma_recv_ctxts_alloc(t, dones - old, GFP_KERNEL, &contexts);
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
	/* On failure the client keeps its grant. */
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

	if (svcrdma_transport_closing(t))
		return;
	ret = try_to_grow(t);
	/* If the grant did not grow, svcrdma_grant_update() counts again after the pause. */
	spin_lock(&t->st_recv_lock);
	set_state(t, SVCRDMA_GRANT_COUNTING);
	spin_unlock(&t->st_recv_lock);
	if (ret && ret != -ENOMEM)
		svcrdma_transport_close(t, RPCRDMA_END_RECEIVE_FAILED);
}

/**
 * svcrdma_grant_update - count a batch of messages, and start the work item if the grant is in use
 * @t: transport
 *
 * Context: completion handler; st_recv_lock is held.
 */
void svcrdma_grant_update(struct svcrdma_transport *t)
{
	unsigned long now = jiffies;

	lockdep_assert_held(&t->st_recv_lock);
	if (t->st_credit.state != SVCRDMA_GRANT_COUNTING || t->st_grant >= wanted_grant(t) ||
	    time_before(now, t->st_credit.since))
		return;
	if (time_after(now, t->st_credit.since + SVCRDMA_GRANT_PAUSE))
		count_from(t, now);
	t->st_credit.calls += RPCRDMA_RECEIVE_BATCH;
	if (t->st_credit.calls < ROUNDS * t->st_grant)
		return;
	/* This holds if the grant does not grow now; svcrdma_grant_grow() changes it. */
	count_from(t, now + SVCRDMA_GRANT_PAUSE);
	set_state(t, SVCRDMA_GRANT_GROWING);
	queue_work(svcrdma_wq, &t->st_credit.work);
}

/**
 * svcrdma_grant_note_highest - note that more messages are under way than ever on this connection
 * @t: transport
 * @used: number of these messages
 *
 * If @used is larger than the number of Receives for the grant, the client has sent calls without a
 * credit (or many threads are late to put the contexts of calls that are answered). The calls are
 * served as long as there are contexts, since some clients do not count credits, and only the
 * connection's own memory is used.
 *
 * Context: completion handler.
 */
void svcrdma_grant_note_highest(struct svcrdma_transport *t, u32 used)
{
	WRITE_ONCE(t->st_credit.highest, used);
	if (used <= receives_for(READ_ONCE(t->st_grant)) + READ_ONCE(t->st_credit.dones))
		return;
	trace_svcrdma_overrun(t, used);
	svcrdma_grant_note_request(&t->st_credit, used);
}

/**
 * svcrdma_grant_setup - initialize the members for the grant, which is 0
 * @t: new transport, in which these members are zero
 *
 * Context: any.
 */
void svcrdma_grant_setup(struct svcrdma_transport *t)
{
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
	spin_lock(&t->st_recv_lock);
	set_state(t, SVCRDMA_GRANT_COUNTING);
	spin_unlock(&t->st_recv_lock);
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
	rpcrdma_show_number(seq, "credits_in_use", svcrdma_recv_used(t));
	rpcrdma_show_number(seq, "credits_highest", READ_ONCE(t->st_credit.highest));
}
