// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Send Queue entries.
 *
 * Entries are counted. A context that finds too few of them waits in st_sq.waiters. The thread or
 * handler that gives entries back posts the contexts that wait, in the order of their arrival. No
 * context overtakes one that waits, even if it needs fewer entries. A context waits with all that
 * it needs, and no thread waits for it. When the transport closes, a context that waits stays as it
 * is until the transport is freed.
 *
 * While no context waits, entries are taken and given back without the lock, by sq_take() and
 * svcrdma_sq_put(). st_sq.slow says that the lock is needed. Each party of the following two pairs
 * first changes its own state, and then reads the other party's behind a full barrier, so that at
 * least one of the two sees the change of the other:
 *
 * the context that takes entries	and the worker, which ends the watch
 * the context that begins to wait	and the context that gives entries back
 *
 * If the queue stands still, the peer is dead or misbehaves. The work requests that were posted
 * hold memory, whether a context waits for their entries or not. So the queue is watched while a
 * context waits, and while entries are out. Entries that are held back for the end of an exposure
 * do not count, since exposures have a deadline of their own.
 *
 * The HCA finds out that a peer does not answer: it sends again, as often as the client has asked
 * for when it connected, and then fails the queue pair. The watch is for two cases that the HCA
 * does not end: a peer that answers RNR NAK for ever, and an HCA that does nothing. The watch takes
 * longer than the HCA's attempts, so that a peer that comes back in time keeps its connection. With
 * the CM's values the HCA makes at most eight attempts, of 2.1 s each on InfiniBand and 0.5 or
 * 1.1 s on RoCE, and may take four times as long (InfiniBand, section 9.7.6.1.3): 69 s.
 *
 * Unsignalled Sends have entries of their own (send_ctxt.c), which are in use only while the queue
 * is watched. If no other entries are out when the worker runs, it posts a probe, which is
 * signalled, behind the unsignalled Sends, and the watch goes on.
 *
 * If the peer dies while no work request is posted, no completion tells of it. So when the watch
 * has been over for SVCRDMA_IDLE_TIMEOUT, the worker posts a probe, which the peer's HCA has to
 * acknowledge, and the queue is watched again.
 */
#include "svcrdma.h"
#include "sysctl.h"
#include "trace.h"

static u32 sq_given(const struct svcrdma_transport *t)
{
	return atomic_read(&t->st_sq.given);
}

/* Number of entries that are out: taken, and not given back yet */
static u32 sq_out(const struct svcrdma_transport *t)
{
	return (u32)atomic_read(&t->st_sq.taken) - sq_given(t);
}

/* Take @need entries if so many are free. Return: true: taken; this was a full barrier. */
static bool sq_take(struct svcrdma_transport *t, u32 need)
{
	int taken = atomic_read(&t->st_sq.taken);

	do {
		if (need > t->st_sq_depth - ((u32)taken - sq_given(t)))
			return false;
	} while (!atomic_try_cmpxchg(&t->st_sq.taken, &taken, taken + need));
	return true;
}

static void sq_set_slow(struct svcrdma_transport *t)
{
	lockdep_assert_held(&t->st_sq.lock);
	WRITE_ONCE(t->st_sq.slow,
		   t->st_closing || t->st_sq.nr_waiters || !t->st_sq.watched);
}

static void sq_set_waiters(struct svcrdma_transport *t, u32 count)
{
	WRITE_ONCE(t->st_sq.nr_waiters, count);
	WRITE_ONCE(t->st_sq.congested, count >= SVCRDMA_MAX_SQ_WAITERS);
	sq_set_slow(t);
}

static void sq_set_watched(struct svcrdma_transport *t, bool watched)
{
	t->st_sq.watched = watched;
	sq_set_slow(t);
}

/* Begin the watch of the queue, unless it is watched already. */
static void sq_watch(struct svcrdma_transport *t)
{
	lockdep_assert_held(&t->st_sq.lock);

	if (t->st_sq.watched)
		return;
	sq_set_watched(t, true);
	t->st_sq.mark = sq_given(t);
	mod_delayed_work(svcrdma_wq, &t->st_sq.worker, SVCRDMA_SQ_LOOK);
}

/* Begin the watch again, since the worker ended it while entries were being taken. */
static void sq_watch_again(struct svcrdma_transport *t)
{
	unsigned long flags;

	spin_lock_irqsave(&t->st_sq.lock, flags);
	if (!t->st_closing)
		sq_watch(t);
	spin_unlock_irqrestore(&t->st_sq.lock, flags);
}

/* Move waiters from the front of st_sq.waiters to @granted while there are entries for them. */
static void sq_grant(struct svcrdma_transport *t, struct list_head *granted)
{
	struct svcrdma_sq_waiter *waiter;

	lockdep_assert_held(&t->st_sq.lock);

	while ((waiter = list_first_entry_or_null(&t->st_sq.waiters,
						  struct svcrdma_sq_waiter, sw_list))) {
		if (!sq_take(t, waiter->sw_need))
			break;
		sq_watch(t);
		sq_set_waiters(t, t->st_sq.nr_waiters - 1);
		list_move_tail(&waiter->sw_list, granted);
	}
}

/* Has no entry come back for SVCRDMA_SQ_TIMEOUT, while entries that are not held were out? */
static bool sq_stalled(struct svcrdma_transport *t)
{
	lockdep_assert_held(&t->st_sq.lock);
	if (sq_out(t) <= t->st_sq.held || t->st_sq.mark != sq_given(t))
		t->st_sq.still = 0;
	else
		t->st_sq.still++;
	return t->st_sq.still == SVCRDMA_SQ_TIMEOUT / SVCRDMA_SQ_LOOK;
}

/*
 * End the connection if the queue stands still, or go on with the watch, or end it. When the watch
 * has been over for some time, probe the idle peer.
 */
static void sq_worker(struct work_struct *work)
{
	struct svcrdma_transport *t =
		container_of(work, struct svcrdma_transport, st_sq.worker.work);
	bool was_watched, stalled, probe = false;
	unsigned long flags;

	spin_lock_irqsave(&t->st_sq.lock, flags);
	/*
	 * While this run waited for the lock, a watch has begun, and has queued the worker for its
	 * first look.
	 */
	if (delayed_work_pending(&t->st_sq.worker)) {
		spin_unlock_irqrestore(&t->st_sq.lock, flags);
		return;
	}
	was_watched = t->st_sq.watched;
	sq_set_watched(t, false);
	/*
	 * A context that takes entries from now on sees st_sq.slow set: pairs with sq_take(), and
	 * for unsignalled Sends with svcrdma_sq_reserve_unsignalled().
	 */
	smp_mb();
	stalled = !t->st_closing && sq_stalled(t);
	if (t->st_closing || stalled) {
		/* There is nothing to watch. */
	} else if (sq_out(t) > t->st_sq.held || !list_empty(&t->st_sq.waiters)) {
		sq_watch(t);
	} else if (!was_watched || atomic_read(&t->st_sq.unsignalled)) {
		probe = sq_take(t, 1);
		sq_watch(t);
	} else {
		mod_delayed_work(svcrdma_wq, &t->st_sq.worker, SVCRDMA_IDLE_TIMEOUT);
	}
	spin_unlock_irqrestore(&t->st_sq.lock, flags);

	if (stalled) {
		trace_svcrdma_sq_timeout(t, -ETIMEDOUT);
		svcrdma_transport_close(t, RPCRDMA_END_STALLED);
	}
	if (probe)
		svcrdma_send_probe(t);
}

/* Post the waiting contexts for which there are entries. The caller holds st_sq.lock; drops it. */
static void sq_serve(struct svcrdma_transport *t, unsigned long flags)
	__releases(&t->st_sq.lock)
{
	struct svcrdma_sq_waiter *waiter, *next;
	LIST_HEAD(granted);
	bool was_congested;

	was_congested = t->st_sq.congested;
	sq_grant(t, &granted);
	was_congested = was_congested && !t->st_sq.congested;
	spin_unlock_irqrestore(&t->st_sq.lock, flags);

	/* As soon as sw_granted() has posted the context, its waiter may be used again. */
	list_for_each_entry_safe(waiter, next, &granted, sw_list) {
		list_del_init(&waiter->sw_list);
		waiter->sw_granted(t, waiter);
	}
	/* nfsd may have left calls while the queue was congested. */
	if (was_congested)
		svcrdma_transport_data(t);
}

/**
 * svcrdma_sq_put - give Send Queue entries back
 * @t: transport
 * @count: number of entries
 *
 * Context: process, or a completion handler on a work queue. Posts contexts that have waited for
 * the entries.
 */
void svcrdma_sq_put(struct svcrdma_transport *t, u32 count)
{
	unsigned long flags;

	atomic_add(count, &t->st_sq.given);
	/* A context that waits from now on sees these entries: pairs with sq_wait(). */
	smp_mb__after_atomic();
	if (likely(!READ_ONCE(t->st_sq.nr_waiters)))
		return;
	spin_lock_irqsave(&t->st_sq.lock, flags);
	sq_serve(t, flags);
}

/**
 * svcrdma_sq_hold - count entries as held, for LOCAL_INVs that will be posted later
 * @t: transport
 * @count: number of entries, which the caller has taken
 *
 * Context: any.
 */
void svcrdma_sq_hold(struct svcrdma_transport *t, u32 count)
{
	unsigned long flags;

	spin_lock_irqsave(&t->st_sq.lock, flags);
	t->st_sq.held += count;
	spin_unlock_irqrestore(&t->st_sq.lock, flags);
}

/**
 * svcrdma_sq_put_held - give entries back that svcrdma_sq_hold() has counted
 * @t: transport
 * @count: number of entries
 *
 * Context: as svcrdma_sq_put().
 */
void svcrdma_sq_put_held(struct svcrdma_transport *t, u32 count)
{
	unsigned long flags;

	/* The lock lets the worker see both changes, or neither. */
	spin_lock_irqsave(&t->st_sq.lock, flags);
	t->st_sq.held -= count;
	atomic_add(count, &t->st_sq.given);
	sq_serve(t, flags);
}

/*
 * Take entries, or wait for them, under the lock: svcrdma_sq_reserve() calls this when other
 * contexts wait, when there are too few entries, or when the watch has to begin.
 */
static int sq_wait(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&t->st_sq.lock, flags);
	if (t->st_closing) {
		ret = -ENOTCONN;
	} else if (list_empty(&t->st_sq.waiters) && sq_take(t, waiter->sw_need)) {
		sq_watch(t);
	} else {
		list_add_tail(&waiter->sw_list, &t->st_sq.waiters);
		sq_set_waiters(t, t->st_sq.nr_waiters + 1);
		sq_watch(t);
		ret = -EINPROGRESS;
	}
	if (ret != -EINPROGRESS) {
		spin_unlock_irqrestore(&t->st_sq.lock, flags);
		return ret;
	}
	/* A context that gives entries back now sees the waiter: pairs with svcrdma_sq_put(). */
	smp_mb();
	sq_serve(t, flags);

	this_cpu_inc(svcrdma_stats.sq_starve);
	this_cpu_inc(t->st_counters->send_queue_waits);
	trace_svcrdma_sq_full(t, 0);
	return ret;
}

/**
 * svcrdma_sq_reserve - take Send Queue entries, or wait for them in st_sq.waiters
 * @t: transport
 * @waiter: waiter whose sw_need and sw_granted are set
 *
 * Context: process, or a completion handler on a work queue.
 * Return: 0: the caller has the entries. -EINPROGRESS: @waiter was queued, and is not the caller's
 * any more; sw_granted() is called, perhaps before this function returns, when @waiter has the
 * entries, unless the transport closes before. -ENOTCONN: the transport closes. -E2BIG: the queue
 * is not that deep.
 */
int svcrdma_sq_reserve(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter)
{
	if (unlikely(waiter->sw_need > t->st_sq_depth)) {
		trace_svcrdma_sq_too_small(t, -E2BIG);
		return -E2BIG;
	}
	if (READ_ONCE(t->st_sq.slow) || !sq_take(t, waiter->sw_need))
		return sq_wait(t, waiter);
	/* sq_take() is a full barrier before this test: pairs with sq_worker(). */
	if (unlikely(READ_ONCE(t->st_sq.slow)))
		sq_watch_again(t);
	return 0;
}

/**
 * svcrdma_sq_reserve_unsignalled - take an entry for a Send that asks for no completion
 * @t: transport
 *
 * There are RPCRDMA_UNSIGNALLED_SENDS of these entries, which only unsignalled Sends get. They need
 * no watch of their own, as they are in use only while the queue is watched.
 *
 * Context: any.
 * Return: true: the caller has an entry, which svcrdma_sq_put_unsignalled() gives back. false: no
 * such entry can be had now, and the caller calls svcrdma_sq_reserve() instead.
 */
bool svcrdma_sq_reserve_unsignalled(struct svcrdma_transport *t)
{
	if (READ_ONCE(t->st_sq.slow) ||
	    !atomic_add_unless(&t->st_sq.unsignalled, 1, RPCRDMA_UNSIGNALLED_SENDS))
		return false;
	/* The addition is a full barrier before this test: pairs with sq_worker(). */
	if (unlikely(READ_ONCE(t->st_sq.slow)))
		sq_watch_again(t);
	return true;
}

/**
 * svcrdma_sq_put_unsignalled - give back the entries of unsignalled Sends that are complete
 * @t: transport
 * @count: number of these Sends
 *
 * Context: any.
 */
void svcrdma_sq_put_unsignalled(struct svcrdma_transport *t, u32 count)
{
	/*
	 * A context that sees the new count sees that the queue's entries are free: pairs with
	 * svcrdma_sq_reserve_unsignalled().
	 */
	smp_mb__before_atomic();
	atomic_sub(count, &t->st_sq.unsignalled);
}

/**
 * svcrdma_sq_close - set st_closing, after which no more entries are given out
 * @t: transport
 *
 * Context: any.
 * Return: true for the first caller.
 */
bool svcrdma_sq_close(struct svcrdma_transport *t)
{
	struct svcrdma_sq_waiter *waiter, *next;
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&t->st_sq.lock, flags);
	first = !t->st_closing;
	WRITE_ONCE(t->st_closing, true);
	list_for_each_entry_safe(waiter, next, &t->st_sq.waiters, sw_list)
		list_del_init(&waiter->sw_list);
	sq_set_waiters(t, 0);
	spin_unlock_irqrestore(&t->st_sq.lock, flags);
	return first;
}

/**
 * svcrdma_sq_setup - initialize the members for Send Queue entries
 * @t: new transport, in which these members are zero
 *
 * Context: any.
 */
void svcrdma_sq_setup(struct svcrdma_transport *t)
{
	spin_lock_init(&t->st_sq.lock);
	INIT_LIST_HEAD(&t->st_sq.waiters);
	t->st_sq.slow = true;
	INIT_DELAYED_WORK(&t->st_sq.worker, sq_worker);
}

/**
 * svcrdma_sq_stop - end the worker that watches the queue
 * @t: transport that is closing; nobody queues the worker any more
 *
 * Context: process.
 */
void svcrdma_sq_stop(struct svcrdma_transport *t)
{
	cancel_delayed_work_sync(&t->st_sq.worker);
}

/**
 * svcrdma_sq_show - show the number of waiters for Send Queue entries, for debugfs.c
 * @seq: file that is written
 * @t: transport
 */
void svcrdma_sq_show(struct seq_file *seq, const struct svcrdma_transport *t)
{
	rpcrdma_show_number(seq, "waiting_for_send_queue", READ_ONCE(t->st_sq.nr_waiters));
}
