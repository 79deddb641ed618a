/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a connection of the server consists of, room by room. No other file than those that
 * are named looks into it (scripts/check).
 */
#ifndef SVCRDMA_ROOMS_H
#define SVCRDMA_ROOMS_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rpcrdma/logic.h>

/**
 * struct svcrdma_receiver - recv_ctxt.c, recvfrom.c: under st_recv_lock
 * @all: all receive contexts; constant after accept
 * @spare: ready to be posted
 * @ready: received and not looked at
 * @posted: Receives that are posted
 * @used: that are neither posted nor spare: of calls that are not answered
 * @highest: of @used, ever
 */
struct svcrdma_receiver {
	struct list_head	all;
	struct list_head	spare;
	struct list_head	ready;
	u32			posted;
	u32			used;
	u32			highest;
};

/**
 * struct svcrdma_reader - reads.c: calls with Read chunks, under st_recv_lock
 * @ready: all Reads done
 * @wait: Reads could not be built for want of memory regions or of pages
 * @retry: there may be regions and pages for the first of @wait
 * @attempts: number of the last attempt to build Reads; not 0 then
 * @built: calls whose Reads are built and not done
 * @pulls: calls with pages for their Reads, until a thread has seen them done; at
 *	most st_credits
 * @pages: their pages, at most those of SVCRDMA_MAX_PULLS; those that could not have
 *	theirs are in @wait
 */
struct svcrdma_reader {
	struct list_head	ready;
	struct list_head	wait;
	bool			retry;
	u32			attempts;
	u32			built;
	u32			pulls;
	u32			pages;
};

/**
 * struct svcrdma_send_queue - sq.c: Send Queue entries
 * @lock: guards the members below, and st_closing. Taken in any context
 * @free: entries that nobody holds
 * @depth: all of them; constant
 * @waiters: in order of arrival
 * @nr_waiters: their number; read without the lock as a hint
 * @held: of those that are out, for LOCAL_INVs that are not posted yet
 * @puts: how often entries have come back
 * @mark: @puts when @worker was set
 * @watched: @worker is set
 * @worker: closes when the Send Queue stands still; set under @lock
 */
struct svcrdma_send_queue {
	spinlock_t		lock;	/* see above */
	u32			free;
	u32			depth;
	struct list_head	waiters;
	u32			nr_waiters;
	u32			held;
	u32			puts;
	u32			mark;
	bool			watched;
	struct delayed_work	worker;
};

/**
 * struct svcrdma_sender - send_ctxt.c: send contexts
 * @lock: guards the members up to @nr_free
 * @all: all of them
 * @free: those not in use
 * @nr_free: their number
 * @cache: that are kept when free; constant
 * @release: those whose Writes are complete
 * @release_work: frees what they hold
 */
struct svcrdma_sender {
	spinlock_t		lock;	/* see above */
	struct list_head	all;
	struct list_head	free;
	u32			nr_free;
	u32			cache;
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
 * struct svcrdma_exposer - expose.c: replies that the client reads, under st_expose_lock
 * @table: all struct svcrdma_exposed, as owners; without slots where the client
 *	does not take any
 * @dones_unknown: RDMA_DONEs that fitted none
 * @expired: exposures that ended by time
 * @work: ends replies whose time is over, and a connection whose LOCAL_INVs are
 *	not done in theirs
 */
struct svcrdma_exposer {
	struct rpcrdma_exposures table;
	u64			dones_unknown;
	u64			expired;
	struct delayed_work	work;
};

/**
 * struct svcrdma_long_caller - long_call.c: callbacks with chunks, under st_expose_lock
 * @calls: all struct svcrdma_long_call
 * @count: their number
 */
struct svcrdma_long_caller {
	struct list_head	calls;
	u32			count;
};

#endif /* SVCRDMA_ROOMS_H */
