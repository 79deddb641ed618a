// SPDX-License-Identifier: GPL-2.0
/*
 * A connection's grant: RFC 8166 section 3.3.1.
 *
 * It begins small, with contexts for it. When the client has used all of it, or asks for more, a
 * work item asks for twice as much (budget.c), makes contexts and posts them; after that the next
 * reply grants them. Some clients always ask for all that they could ever use. That says nothing,
 * so a client is listened to only if it was modest at first, as xprtrdma.ko is.
 *
 * It goes down, as calls come in, when its host has more than its part of the credits. A thread
 * may have read the old grant, st_credit.promised, and not have sent it yet. So Receives are posted
 * for the old grant until all calls are done with that had come before. From then on each reply has
 * the new grant, and Receives are posted for that one. What is posted by then stays. The client may
 * still use the old grant, until it takes one of these replies. It has a Receive for each call that
 * it may send until then: it has no more outstanding than the old grant, and for all of these that
 * had not come a Receive was posted. Contexts beyond what the new grant needs are freed as they
 * come back.
 *
 * The RDMA_DONE of a reply that is exposed comes beside the calls. It has a Receive before its
 * reply goes out; a connection that exposes none has none for them.
 */
#include "svcrdma.h"
#include "trace.h"

static u32 receives_for(const struct svcrdma_transport *t, u32 grant)
{
	return rpcrdma_server_receives(grant, SVCRDMA_REVERSE_CREDITS) + t->st_credit.dones;
}

/* For Receives that are posted, and for each call that the client may have outstanding. */
static u32 contexts_for(const struct svcrdma_transport *t, u32 grant)
{
	return grant ? receives_for(t, grant) + grant : 0;
}

/* May a reply still be sent with a larger grant? */
static bool is_lowering(const struct svcrdma_transport *t)
{
	return t->st_credit.promised > t->st_grant;
}

static bool may_grow(const struct svcrdma_transport *t)
{
	return !t->st_credit.asked && t->st_grant < t->st_credits;
}

/* A call that asks for more is looked at: the first one, and those of a modest client. */
static u32 heed(const struct svcrdma_transport *t)
{
	if (!t->st_credit.first_ask)
		return 0;
	return may_grow(t) && t->st_credit.first_ask <= SVCRDMA_FIRST_CREDITS ? t->st_grant :
										U32_MAX;
}

/* The next number of @used that is of interest */
static void set_mark(struct svcrdma_transport *t)
{
	u32 mark = t->st_credit.highest + 1;

	if (may_grow(t))
		mark = min(mark, t->st_grant);
	svcrdma_recv_set_mark(t, mark);
	WRITE_ONCE(t->st_credit.heed, heed(t));
}

static void ask_to_grow(struct svcrdma_transport *t)
{
	t->st_credit.asked = true;
	t->st_credit.look_at = jiffies + SVCRDMA_GRANT_PAUSE;
	svcrdma_work_queue(&t->st_credit.work);
}

/* What replies grant from now on needs Receives and contexts. */
static void set_promise(struct svcrdma_transport *t, u32 grant)
{
	t->st_credit.promised = grant;
	svcrdma_recv_keep(t, receives_for(t, grant), contexts_for(t, grant));
}

/*
 * Receives for a promise, and for RDMA_DONEs. -EIO: a post failed; a provider's -ENOMEM does not
 * mean that all is as before.
 */
static int add_contexts(struct svcrdma_transport *t, struct list_head *contexts, u32 grant)
{
	lockdep_assert_held(&t->st_recv_lock);
	svcrdma_recv_ctxts_add(t, contexts);
	set_promise(t, grant);
	return svcrdma_recv_post_missing(t) ? -EIO : 0;
}

/**
 * svcrdma_grant_grow - receive contexts for a larger grant, and that
 * @t: transport with its verbs objects; the grant is 0 until this was called
 * @grant: credits, more than there are, at most st_credits
 *
 * Context: process; nobody else changes the grant.
 * Return: 0; -ENOMEM: all is as before; -EIO: a post failed, and the connection is to be
 * ended. svcrdma_recv_ctxts_destroy() frees the contexts.
 */
int svcrdma_grant_grow(struct svcrdma_transport *t, u32 grant)
{
	LIST_HEAD(contexts);
	int ret;

	/* Those for RDMA_DONEs are in both. */
	ret = svcrdma_recv_ctxts_alloc(t, contexts_for(t, grant) - contexts_for(t, t->st_grant),
				       &contexts);
	if (ret)
		return ret;
	svcrdma_expose_limit(t, grant + t->st_spare_exposures);
	spin_lock(&t->st_recv_lock);
	ret = add_contexts(t, &contexts, grant);
	/* Not before: RFC 8166 section 3.3.1. */
	WRITE_ONCE(t->st_grant, grant);
	set_mark(t);
	spin_unlock(&t->st_recv_lock);
	return ret;
}

/**
 * svcrdma_grant_dones - Receives for the RDMA_DONEs of exposed replies
 * @t: transport
 * @exposed: replies, with the one that is to be
 *
 * Most connections expose none, and the others few at a time. What is posted stays, until the grant
 * goes down.
 *
 * Context: process.
 * Return: 0; -ENOMEM; -EIO: a post failed, and the connection ends.
 */
int svcrdma_grant_dones(struct svcrdma_transport *t, u32 exposed)
{
	u32 old = READ_ONCE(t->st_credit.dones), dones;
	LIST_HEAD(contexts);
	int ret;

	if (likely(exposed <= old))
		return 0;
	dones = min_t(u32, round_up(exposed, SVCRDMA_DONE_RECEIVES),
		      t->st_credits + t->st_spare_exposures);
	ret = svcrdma_recv_ctxts_alloc(t, dones - old, &contexts);
	if (ret)
		return ret;
	spin_lock(&t->st_recv_lock);
	/* If somebody else was here, too, there are some more now than are kept. */
	WRITE_ONCE(t->st_credit.dones, max(t->st_credit.dones, dones));
	ret = add_contexts(t, &contexts, t->st_credit.promised);
	spin_unlock(&t->st_recv_lock);
	if (ret)
		svcrdma_transport_close(t, RPCRDMA_END_RECEIVE_FAILED);
	return ret;
}

static void grant_lower(struct svcrdma_transport *t, u32 grant)
{
	svcrdma_expose_limit(t, grant + t->st_spare_exposures);
	spin_lock(&t->st_recv_lock);
	WRITE_ONCE(t->st_grant, grant);
	/* A call that comes later is answered with this one: pairs with atomic_inc_return() of
	 * svcrdma_recv_taken(), between rc_since and whoever reads st_grant.
	 */
	smp_mb();
	t->st_credit.lowered_at = ktime_get();
	spin_unlock(&t->st_recv_lock);
}

/* Growth was asked for, or the host has too much: what does the budget say? */
static void grant_work(struct work_struct *work)
{
	struct svcrdma_transport *t =
		container_of(work, struct svcrdma_transport, st_credit.work);
	u32 old = t->st_grant, want = old, grant;
	int ret = 0;
	bool grows;

	if (svcrdma_transport_closing(t))
		return;
	spin_lock(&t->st_recv_lock);
	grows = t->st_credit.asked && !is_lowering(t);
	spin_unlock(&t->st_recv_lock);

	if (grows)
		want = min(2 * old, t->st_credits);
	grant = svcrdma_budget_ask(t, want);
	if (grant < old)
		grant_lower(t, grant);
	else if (grant > old)
		ret = svcrdma_grant_grow(t, grant);
	/* Without memory the client has what it had. */
	if (ret)
		svcrdma_budget_stay(t, old);
	if (ret || grant != old)
		trace_svcrdma_grant(t, ret ?: (int)grant);
	if (ret && ret != -ENOMEM)
		svcrdma_transport_close(t, RPCRDMA_END_RECEIVE_FAILED);

	if (ret || grant <= old)
		return;
	/* Else it may be asked again when svcrdma_grant_look() says so. */
	spin_lock(&t->st_recv_lock);
	t->st_credit.asked = false;
	set_mark(t);
	spin_unlock(&t->st_recv_lock);
}

/**
 * svcrdma_grant_at_mark - many calls are under way
 * @t: transport
 * @used: their number, at least the mark of svcrdma_recv_set_mark()
 *
 * Context: completion handler.
 */
void svcrdma_grant_at_mark(struct svcrdma_transport *t, u32 used)
{
	spin_lock(&t->st_recv_lock);
	t->st_credit.highest = max(t->st_credit.highest, used);
	if (may_grow(t) && used >= t->st_grant)
		ask_to_grow(t);
	set_mark(t);
	spin_unlock(&t->st_recv_lock);
}

/**
 * svcrdma_grant_asked_for - a call asks for many credits
 * @t: transport
 * @credits: what its header asks for (RFC 8166 section 3.3.1), more than st_credit.heed. Any
 *	number: the budget and st_credits bound what it is given
 *
 * Context: process.
 */
void svcrdma_grant_asked_for(struct svcrdma_transport *t, u32 credits)
{
	spin_lock(&t->st_recv_lock);
	if (!t->st_credit.first_ask)
		t->st_credit.first_ask = credits;
	if (credits > heed(t))
		ask_to_grow(t);
	set_mark(t);
	spin_unlock(&t->st_recv_lock);
}

static noinline void look(struct svcrdma_transport *t)
{
	if (time_before(jiffies, t->st_credit.look_at))
		return;
	t->st_credit.look_at = jiffies + SVCRDMA_GRANT_PAUSE;
	/* The RDMA_DONE of each exposed reply has a Receive, too. */
	if (is_lowering(t) && !svcrdma_recv_is_older(t, t->st_credit.lowered_at) &&
	    svcrdma_expose_in_limit(t)) {
		WRITE_ONCE(t->st_credit.dones,
			   min(t->st_credit.dones, t->st_grant + t->st_spare_exposures));
		set_promise(t, t->st_grant);
	}
	if (svcrdma_budget_is_over(t)) {
		svcrdma_work_queue(&t->st_credit.work);
		return;
	}
	/* What was refused may be asked for again. */
	t->st_credit.asked = false;
	set_mark(t);
}

/**
 * svcrdma_grant_look - calls have come in
 * @t: transport
 *
 * Context: st_recv_lock is held.
 */
void svcrdma_grant_look(struct svcrdma_transport *t)
{
	lockdep_assert_held(&t->st_recv_lock);
	if (unlikely(t->st_credit.asked || is_lowering(t) || svcrdma_budget_is_over(t)))
		look(t);
}

/**
 * svcrdma_grant_setup - nothing is granted yet
 * @t: all zeros
 *
 * Context: any.
 */
void svcrdma_grant_setup(struct svcrdma_transport *t)
{
	INIT_WORK(&t->st_credit.work, grant_work);
	t->st_credit.look_at = jiffies;
}

/**
 * svcrdma_grant_begin - the first grant of a connection
 * @t: transport with its verbs objects and addresses
 *
 * Context: process.
 * Return: 0 or a negative errno; svcrdma_budget_leave() and svcrdma_recv_ctxts_destroy() undo it.
 */
int svcrdma_grant_begin(struct svcrdma_transport *t)
{
	int ret = svcrdma_budget_join(t);

	if (ret)
		return ret;
	return svcrdma_grant_grow(t, svcrdma_budget_ask(t, min_t(u32, SVCRDMA_FIRST_CREDITS,
								 t->st_credits)));
}

/**
 * svcrdma_grant_stop - the grant stays as it is
 * @t: transport whose queue pair is drained
 *
 * Context: process.
 */
void svcrdma_grant_stop(struct svcrdma_transport *t)
{
	cancel_work_sync(&t->st_credit.work);
}

/**
 * svcrdma_grant_show - credits, for connections.c
 * @seq: where to
 * @t: transport
 */
void svcrdma_grant_show(struct seq_file *seq, const struct svcrdma_transport *t)
{
	rpcrdma_show_number(seq, "credits_granted", READ_ONCE(t->st_grant));
	rpcrdma_show_number(seq, "credits_in_use", svcrdma_recv_used(t));
	rpcrdma_show_number(seq, "credits_highest", t->st_credit.highest);
}
