// SPDX-License-Identifier: GPL-2.0
/*
 * Send Queue entries.
 *
 * They are counted. A context that finds too few waits in st_sq.waiters, and is posted in the order
 * of arrival by whoever gives entries back; nothing passes those that wait, not even with
 * a smaller need. What waits is a context with all that it needs, never a thread. When the
 * transport closes, it stays as it is until the transport is freed.
 *
 * While nobody waits, entries are taken and given back without the lock, by sq_take() and
 * svcrdma_sq_put(). st_sq.slow says when that is not so. Whoever has changed one side looks at the
 * other one behind a full barrier, so that of two who meet at least one sees the other:
 *
 * who takes entries		and the worker, which ends the watch
 * who waits for entries	and who gives some back
 *
 * A peer that lets the queue stand still is dead, or misbehaves: the work requests that were posted
 * hold memory, whether anybody waits for the entries or not. So the queue is watched while
 * somebody waits, and while entries are out, but for those that are held back to end an
 * exposure, which has a time of its own: while no others are out, whoever waits does so for that.
 *
 * A peer that does not answer is found out by the HCA: it sends again, as often as the client has
 * asked for when it connected, and then fails the queue pair. The watch is for what that does not
 * end: a peer that asks for patience without end (RNR NAK), and an HCA that does nothing. It
 * takes longer than an HCA's own attempts, so that a peer that comes back in time keeps its
 * connection. With the CM's values these are at most eight, with 2.1 s each on InfiniBand and 0.5
 * or 1.1 s on RoCE, and an HCA may take four times as long (InfiniBand, section 9.7.6.1.3): 69 s.
 *
 * Unsignalled Sends have entries of their own (send_ctxt.c). There are none in use unless the queue
 * is watched. If nothing else is out when the worker comes, it posts something that is
 * signalled behind them, and watches that.
 *
 * Nothing else tells of a peer that dies while nothing is out for it. So when the watch has been
 * over for a while, something is posted that the peer's HCA has to acknowledge, and watched.
 */
#include "svcrdma.h"
#include "sysctl.h"
#include "trace.h"

static u32 sq_given(const struct svcrdma_transport *t)
{
	return atomic_read(&t->st_sq.given);
}

/* Entries that are not free */
static u32 sq_out(const struct svcrdma_transport *t)
{
	return (u32)atomic_read(&t->st_sq.taken) - sq_given(t);
}

/* If there are so many. A full barrier then. */
static bool sq_take(struct svcrdma_transport *t, u32 need)
{
	int taken = atomic_read(&t->st_sq.taken);

	do {
		if (need > t->st_sq.depth - ((u32)taken - sq_given(t)))
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
	sq_set_slow(t);
}

static void sq_set_watched(struct svcrdma_transport *t, bool watched)
{
	t->st_sq.watched = watched;
	sq_set_slow(t);
}

/* The queue has to move, from now on if it had not to. */
static void sq_watch(struct svcrdma_transport *t)
{
	lockdep_assert_held(&t->st_sq.lock);

	if (t->st_sq.watched)
		return;
	sq_set_watched(t, true);
	t->st_sq.mark = sq_given(t);
	mod_delayed_work(svcrdma_wq, &t->st_sq.worker, SVCRDMA_SQ_LOOK);
}

/* The worker has ended the watch while entries were taken. */
static void sq_watch_again(struct svcrdma_transport *t)
{
	unsigned long flags;

	spin_lock_irqsave(&t->st_sq.lock, flags);
	if (!t->st_closing)
		sq_watch(t);
	spin_unlock_irqrestore(&t->st_sq.lock, flags);
}

/* Entries for those in front, as many as there are entries for. */
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

/* Has no entry come back for too long, of those that are not for later? */
static bool sq_stalled(struct svcrdma_transport *t)
{
	lockdep_assert_held(&t->st_sq.lock);
	if (sq_out(t) <= t->st_sq.held || t->st_sq.mark != sq_given(t))
		t->st_sq.still = 0;
	else
		t->st_sq.still++;
	return t->st_sq.still == SVCRDMA_SQ_TIMEOUT / SVCRDMA_SQ_LOOK;
}

/* Ends the connection if the queue stands still. */
static void sq_worker(struct work_struct *work)
{
	struct svcrdma_transport *t =
		container_of(work, struct svcrdma_transport, st_sq.worker.work);
	unsigned long flags;
	bool stalled, probe = false;

	spin_lock_irqsave(&t->st_sq.lock, flags);
	sq_set_watched(t, false);
	/*
	 * Who takes entries from now on sees that: pairs with sq_take(), and for unsignalled Sends
	 * with svcrdma_sq_reserve_unsignalled().
	 */
	smp_mb();
	stalled = !t->st_closing && sq_stalled(t);
	if (t->st_closing || stalled) {
		/* Nothing to watch */
	} else if (sq_out(t) > t->st_sq.held || !list_empty(&t->st_sq.waiters)) {
		sq_watch(t);
	} else if (atomic_read(&t->st_sq.unsignalled)) {
		probe = sq_take(t, 1);
		sq_watch(t);
	} else {
		queue_delayed_work(svcrdma_wq, &t->st_sq.idle_worker, SVCRDMA_IDLE_TIMEOUT);
	}
	spin_unlock_irqrestore(&t->st_sq.lock, flags);

	if (stalled) {
		trace_svcrdma_sq_timeout(t, -ETIMEDOUT);
		svcrdma_transport_close(t, RPCRDMA_END_STALLED);
	}
	if (probe)
		svcrdma_send_probe(t);
}

/* Asks whether the peer is there, unless the watch is about to find out. */
static void sq_idle_worker(struct work_struct *work)
{
	struct svcrdma_transport *t =
		container_of(work, struct svcrdma_transport, st_sq.idle_worker.work);
	unsigned long flags;
	bool probe = false;

	spin_lock_irqsave(&t->st_sq.lock, flags);
	/* The end of a watch sets this worker again. */
	if (!t->st_closing && !t->st_sq.watched) {
		probe = sq_take(t, 1);
		sq_watch(t);
	}
	spin_unlock_irqrestore(&t->st_sq.lock, flags);

	if (probe)
		svcrdma_send_probe(t);
}

/* Under the lock: there may be entries, and somebody who waits for them. Drops the lock. */
static void sq_serve(struct svcrdma_transport *t, unsigned long flags)
	__releases(&t->st_sq.lock)
{
	struct svcrdma_sq_waiter *waiter, *next;
	LIST_HEAD(granted);
	bool was_congested;

	was_congested = svcrdma_sq_congested(t);
	sq_grant(t, &granted);
	was_congested = was_congested && !svcrdma_sq_congested(t);
	spin_unlock_irqrestore(&t->st_sq.lock, flags);

	/* Its context may be gone as soon as it is posted. */
	list_for_each_entry_safe(waiter, next, &granted, sw_list) {
		list_del_init(&waiter->sw_list);
		waiter->sw_granted(t, waiter);
	}
	/* There may be calls that were left. */
	if (was_congested)
		svcrdma_transport_data(t);
}

static void sq_put_waited(struct svcrdma_transport *t)
{
	unsigned long flags;

	spin_lock_irqsave(&t->st_sq.lock, flags);
	sq_serve(t, flags);
}

/**
 * svcrdma_sq_put - give Send Queue entries back
 * @t: transport
 * @count: entries
 *
 * Context: any. Posts contexts that have waited for the entries.
 */
void svcrdma_sq_put(struct svcrdma_transport *t, u32 count)
{
	atomic_add(count, &t->st_sq.given);
	/* A context that waits from now on sees these entries: pairs with sq_wait(). */
	smp_mb__after_atomic();
	if (unlikely(READ_ONCE(t->st_sq.nr_waiters)))
		sq_put_waited(t);
}

/**
 * svcrdma_sq_hold - these entries are for later
 * @t: transport
 * @count: entries, of those that the caller has
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
 * svcrdma_sq_put_held - as svcrdma_sq_put(), after svcrdma_sq_hold()
 * @t: transport
 * @count: entries
 */
void svcrdma_sq_put_held(struct svcrdma_transport *t, u32 count)
{
	unsigned long flags;

	/* The worker sees both, or neither. */
	spin_lock_irqsave(&t->st_sq.lock, flags);
	t->st_sq.held -= count;
	atomic_add(count, &t->st_sq.given);
	sq_serve(t, flags);
}

/* As svcrdma_sq_reserve(). Somebody may wait, or the watch is to be set. */
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
	/* A context that gives entries back from now on sees it: pairs with svcrdma_sq_put(). */
	smp_mb();
	sq_serve(t, flags);

	percpu_counter_inc(&svcrdma_stat_sq_starve);
	rpcrdma_count_shared(&t->st_counters.send_queue_waits, 1);
	trace_svcrdma_sq_full(t, 0);
	return ret;
}

/**
 * svcrdma_sq_reserve - take Send Queue entries, or queue for them
 * @t: transport
 * @waiter: sw_need and sw_granted are set
 *
 * Context: any.
 * Return: 0: the caller has the entries. -EINPROGRESS: @waiter is queued, and is not the
 * caller's any more; sw_granted() is called with the entries, unless the transport closes
 * before. -ENOTCONN: the transport closes. -E2BIG: the queue is not that deep.
 */
int svcrdma_sq_reserve(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter)
{
	if (unlikely(waiter->sw_need > t->st_sq.depth)) {
		trace_svcrdma_sq_too_small(t, -E2BIG);
		return -E2BIG;
	}
	if (READ_ONCE(t->st_sq.slow) || !sq_take(t, waiter->sw_need))
		return sq_wait(t, waiter);
	/* Behind sq_take(): pairs with sq_worker(). */
	if (unlikely(READ_ONCE(t->st_sq.slow)))
		sq_watch_again(t);
	return 0;
}

/**
 * svcrdma_sq_reserve_unsignalled - an entry for a Send that asks for no completion
 * @t: transport
 *
 * There are RPCRDMA_UNSIGNALLED_SENDS of these entries, which nothing else is given. They are not
 * watched for themselves: there are none in use unless the queue is watched anyway.
 *
 * Context: any.
 * Return: true: svcrdma_sq_put_unsignalled() gives it back. false: svcrdma_sq_reserve().
 */
bool svcrdma_sq_reserve_unsignalled(struct svcrdma_transport *t)
{
	if (READ_ONCE(t->st_sq.slow) ||
	    !atomic_add_unless(&t->st_sq.unsignalled, 1, RPCRDMA_UNSIGNALLED_SENDS))
		return false;
	/* Behind the count, which is a full barrier: pairs with sq_worker(). */
	if (unlikely(READ_ONCE(t->st_sq.slow)))
		sq_watch_again(t);
	return true;
}

/**
 * svcrdma_sq_put_unsignalled - unsignalled Sends are complete
 * @t: transport
 * @count: their number
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
 * svcrdma_sq_close - no more entries for anybody
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
 * svcrdma_sq_setup - no queue yet
 * @t: all zeros
 *
 * Context: any.
 */
void svcrdma_sq_setup(struct svcrdma_transport *t)
{
	spin_lock_init(&t->st_sq.lock);
	INIT_LIST_HEAD(&t->st_sq.waiters);
	t->st_sq.slow = true;
	INIT_DELAYED_WORK(&t->st_sq.worker, sq_worker);
	INIT_DELAYED_WORK(&t->st_sq.idle_worker, sq_idle_worker);
}

/**
 * svcrdma_sq_open - there is a queue
 * @t: transport that nobody uses yet
 * @depth: its entries, without the drain's and those of unsignalled Sends
 *
 * Context: process.
 */
void svcrdma_sq_open(struct svcrdma_transport *t, u32 depth)
{
	t->st_sq.depth = depth;
}

/**
 * svcrdma_sq_stop - nobody needs to watch the queue any more
 * @t: transport that is closing
 *
 * Context: process.
 */
void svcrdma_sq_stop(struct svcrdma_transport *t)
{
	/* Each sets the other one under the lock, and not when it sees st_closing: in any order. */
	cancel_delayed_work_sync(&t->st_sq.worker);
	cancel_delayed_work_sync(&t->st_sq.idle_worker);
}

/**
 * svcrdma_sq_depth - entries of the queue that are counted, free or not
 * @t: transport
 *
 * Context: any.
 */
u32 svcrdma_sq_depth(const struct svcrdma_transport *t)
{
	return t->st_sq.depth;
}

/**
 * svcrdma_sq_congested - do so many wait that no new calls are to be taken?
 * @t: transport
 *
 * Context: any. A hint. When that is over, svcrdma_transport_data() is called.
 */
bool svcrdma_sq_congested(const struct svcrdma_transport *t)
{
	return READ_ONCE(t->st_sq.nr_waiters) >= SVCRDMA_MAX_SQ_WAITERS;
}

/**
 * svcrdma_sq_show - what waits for Send Queue entries, for debugfs.c
 * @seq: where to
 * @t: transport
 */
void svcrdma_sq_show(struct seq_file *seq, const struct svcrdma_transport *t)
{
	rpcrdma_show_number(seq, "waiting_for_send_queue", t->st_sq.nr_waiters);
}
