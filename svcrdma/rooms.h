/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a connection of the server consists of, room by room. No other file than those that
 * are named looks into it (scripts/check).
 */
#ifndef SVCRDMA_ROOMS_H
#define SVCRDMA_ROOMS_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/ktime.h>
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rpcrdma/logic.h>

/**
 * struct svcrdma_receiver - recv_ctxt.c, recvfrom.c: receive contexts
 *
 * A message takes no lock of its own: st_recv_lock is taken once for a batch.
 *
 * Of the completion handlers, of which one runs at a time, but where something else is said:
 * @ready: for nfsd, the last one first: received and not looked at, or all of it read; any context
 *	adds, who has XPT_BUSY takes
 * @gone: of @posted, that are complete; less than a batch
 * @used: contexts that are neither posted nor spare: of calls that are not answered. Any context
 *
 * Of the thread that has XPT_BUSY:
 * @taken: from @ready, the first one first
 * @retried: the last piece of work was a call that had waited for its Reads
 *
 * Any context adds, who has st_recv_lock takes:
 * @spare: ready to be posted
 * @starved: there were too few: who adds one has to post it. See spare_take()
 *
 * Under st_recv_lock:
 * @all: all of them
 * @count: their number
 * @posted: Receives that are posted, and @gone
 * @target: that are to be posted; never a batch less
 */
struct svcrdma_receiver {
	struct llist_head	ready;
	u32			gone;
	atomic_t		used;
	struct llist_node	*taken;
	bool			retried;

	struct llist_head	spare;
	bool			starved;

	struct list_head	all;
	u32			count;
	u32			posted;
	u32			target;
};

/**
 * struct svcrdma_tally - what each reply counts; each processor has one, and counts in its own
 * @calls: as in struct rpcrdma_counters, as are the others
 * @bytes_sent_inline: of messages
 * @latency: of @calls
 */
struct svcrdma_tally {
	u64			calls[RPCRDMA_SHAPES];
	u64			bytes_sent_inline;
	u64			latency[RPCRDMA_LATENCIES];
};

/**
 * struct svcrdma_poller - recvfrom.c: who looks at completions of Receives
 * @by_worker: @work, not nfsd: from the teardown on, until the queue is destroyed
 * @work: looks at what is complete
 */
struct svcrdma_poller {
	bool			by_worker;
	struct work_struct	work;
};

/**
 * struct svcrdma_granter - grant.c: credits
 * @asked: the most credits that a call has asked for. Any context
 * @highest: messages that were under way at the same time, ever. Of the completion handlers
 * @dones: Receives for the RDMA_DONEs of exposed replies. Changed under both @dones_lock and
 *	st_recv_lock
 * @dones_lock: of whoever makes these more
 * @calls: that have come since @since; in batches. Under st_recv_lock
 * @since: jiffies; in the future: until then nothing is counted. Under st_recv_lock
 * @work: makes the grant larger
 */
struct svcrdma_granter {
	u32			asked;
	u32			highest;
	u32			dones;
	struct mutex		dones_lock;	/* guards growth of dones */
	u32			calls;
	unsigned long		since;
	struct work_struct	work;
};

/**
 * struct svcrdma_reader - read_chunks.c: calls with Read chunks, under st_recv_lock
 * @wait: Reads could not be built for want of memory regions or of pages
 * @retry: there may be regions and pages for the first of @wait
 * @pending: there is something in @wait, and @retry. Read without the lock
 * @attempts: number of the last attempt to build Reads; not 0 then
 * @retries: attempts under way of calls that have waited
 * @built: calls whose Reads are built and not done
 * @pulls: calls with pages for their Reads, or in @wait, until a thread has seen them done; at
 *	most st_credits
 * @pages: their pages, at most those of SVCRDMA_MAX_PULLS; those that could not have
 *	theirs are in @wait
 */
struct svcrdma_reader {
	struct list_head	wait;
	bool			retry;
	bool			pending;
	u32			attempts;
	u32			retries;
	u32			built;
	u32			pulls;
	u32			pages;
};

/**
 * struct svcrdma_send_queue - sq.c: Send Queue entries
 *
 * Without the lock, but for @slow, which is changed under it:
 * @depth: all entries but the drain's and those of unsignalled Sends; constant
 * @taken: that were ever taken
 * @given: that have ever come back. What is out is the difference
 * @slow: who takes entries has to take @lock: somebody waits, @worker is not set, or the
 *	transport closes
 *
 * Under @lock, as is st_closing:
 * @lock: taken in any context
 * @waiters: in order of arrival
 * @nr_waiters: their number; read without the lock as well
 * @held: of those that are out, for LOCAL_INVs that are not posted yet
 * @mark: @given when @worker was set
 * @still: how often in a row @worker has found that the queue stands still
 * @watched: @worker is set
 * @worker: closes when the Send Queue stands still; set under @lock
 * @idle_worker: asks whether the peer is there when nothing has been out for long; set under @lock
 */
struct svcrdma_send_queue {
	u32			depth;
	atomic_t		taken;
	atomic_t		given;
	bool			slow;
	u32			nr_waiters;

	spinlock_t		lock;	/* see above */
	struct list_head	waiters;
	u32			held;
	u32			mark;
	u32			still;
	bool			watched;
	struct delayed_work	worker;
	struct delayed_work	idle_worker;
};

/**
 * struct svcrdma_sender - send_ctxt.c: send contexts
 * @free: those not in use; any context adds, who has @lock takes
 * @lock: guards the members up to @nr_kept
 * @all: all of them
 * @nr_kept: of these, that are kept when free: not sc_extra
 * @cache: of these, at most; constant
 * @unsignalled: posted, and free when what is signalled behind them is complete. A reply, or a
 *	probe, takes them all before its post; any context adds
 * @row: of these, roughly: threads that change it at the same time may miss each other. At most
 *	SVCRDMA_UNSIGNALLED_ROW
 * @nr_unsignalled: of these, of those that were taken, and of those about to be posted; at most
 *	RPCRDMA_UNSIGNALLED_SENDS
 * @release: those whose Writes are complete
 * @release_work: frees what they hold
 */
struct svcrdma_sender {
	struct llist_head	free;
	spinlock_t		lock;	/* see above */
	struct list_head	all;
	u32			nr_kept;
	u32			cache;
	struct llist_head	unsignalled;
	u32			row;
	atomic_t		nr_unsignalled;
	struct llist_head	release;
	struct work_struct	release_work;
};

/**
 * struct svcrdma_region_pool - region.c: memory regions
 * @type: constant
 * @depth: pages in one of them; constant
 * @reg_cqe: completion of a registration that failed. Not of what was registered: a
 *	flush may come when that is gone
 * @free: those that are not in use; under st_expose_lock
 */
struct svcrdma_region_pool {
	enum ib_mr_type		type;
	u32			depth;
	struct ib_cqe		reg_cqe;
	struct list_head	free;
};

/**
 * struct svcrdma_exposer - exposed_reply.c: replies that the client reads, under st_expose_lock
 * @table: all struct svcrdma_exposed, as owners; without slots where the client
 *	does not take any
 * @limit: how many there may be now. Each has a Receive for its RDMA_DONE: st_credit.dones
 * @dones_unknown: RDMA_DONEs that fitted none
 * @expired: exposures that ended by time
 * @work: ends replies whose time is over, and a connection whose LOCAL_INVs are
 *	not done in theirs
 */
struct svcrdma_exposer {
	struct rpcrdma_exposures table;
	u32			limit;
	u64			dones_unknown;
	u64			expired;
	struct delayed_work	work;
};

/**
 * struct svcrdma_long_caller - bc_chunks.c: callbacks with chunks, under st_expose_lock
 * @calls: all struct svcrdma_long_call
 * @count: their number
 */
struct svcrdma_long_caller {
	struct list_head	calls;
	u32			count;
};

#endif /* SVCRDMA_ROOMS_H */
