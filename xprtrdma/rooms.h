/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a connection of the client consists of, room by room. No other file than the one that is
 * named looks into it (scripts/check).
 */
#ifndef XPRTRDMA_ROOMS_H
#define XPRTRDMA_ROOMS_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "rpcrdma/logic.h"

struct xprtrdma_send;

/**
 * enum xprtrdma_want - what there may be too few of
 * @XPRTRDMA_WANTS_CREDITS: Receives for the replies to calls
 * @XPRTRDMA_WANTS_SENDS: Send buffers
 * @XPRTRDMA_WANTS_REVERSE: Receives for the server's calls
 */
enum xprtrdma_want {
	XPRTRDMA_WANTS_CREDITS,
	XPRTRDMA_WANTS_SENDS,
	XPRTRDMA_WANTS_REVERSE,
};

/**
 * struct xprtrdma_growth - window.c: buffers, as they are used
 * @reverse: calls of the server's that have a Receive: credits that we grant
 * @sends: Send buffers, if the calls of both directions need as many
 * @wants: by enum xprtrdma_want; under xc_lock
 * @ask: what calls ask for: as many credits as the window has; 0: one had to wait, and they ask
 *	for more. Changed under xc_lock
 * @worker: makes them; changes what is above, and the window. Others read without a lock
 */
struct xprtrdma_growth {
	u32			reverse;
	unsigned int		sends;
	unsigned long		wants;
	u32			ask;
	struct work_struct	worker;
};

/**
 * struct xprtrdma_send_pool - send.c: Send buffers, under xc_lock where nothing else is said
 * @free: unused; a stack, by sd_next
 * @posted: in posting order; a queue, by sd_next
 * @end: where the next one that is posted is put
 * @next: for the next call, or NULL; for the holder of the transport's write lock
 * @probe: of what xprtrdma_send_probe() has posted last, until that is complete, or NULL
 * @count: all of them; changed by who makes them, others read without a lock
 * @unsignalled: Sends posted since the last signalled one
 * @reg_wrs: entries of the Send Queue that are free for registrations of calls; the holder of the
 *	write lock reads it without xc_lock, as nobody else takes any
 * @regs_posted: registrations of calls, so far; wraps around
 * @regs_done: of these, those whose entries are free again
 */
struct xprtrdma_send_pool {
	struct xprtrdma_send	*free;
	struct xprtrdma_send	*posted;
	struct xprtrdma_send	**end;
	struct xprtrdma_send	*next;
	struct xprtrdma_send	*probe;
	unsigned int		count;
	unsigned int		unsignalled;
	u32			reg_wrs;
	u32			regs_posted;
	u32			regs_done;
};

/**
 * struct xprtrdma_recv_pool - receive.c: Receive buffers
 * @all: every one; under xc_lock
 * @count: their number; for who makes them
 * @idle: to be posted, and in a chain for that; under xc_lock
 * @nr_idle: their number; under xc_lock
 */
struct xprtrdma_recv_pool {
	struct list_head	all;
	unsigned int		count;
	struct ib_recv_wr	*idle;
	unsigned int		nr_idle;
};

/**
 * struct xprtrdma_mr_pool - frwr.c: memory regions; the lists under xc_lock
 * @type: plain or with gaps; constant
 * @free: not lent out
 * @all: every one
 * @count: their number
 * @taking: a task that ends without a reply unmaps its regions, or the teardown all
 * @worker: allocates more
 */
struct xprtrdma_mr_pool {
	enum ib_mr_type		type;
	struct list_head	free;
	struct list_head	all;
	unsigned int		count;
	struct mutex		taking;	/* see above */
	struct work_struct	worker;
};

/**
 * struct xprtrdma_puller - pull.c: what is read from the server, all under xc_lock
 * @waiting: replies and calls that are to be read
 * @active: number of those that are being read
 * @wrs: work requests that Reads may still take
 * @worker: starts to read those that wait
 */
struct xprtrdma_puller {
	struct list_head	waiting;
	unsigned int		active;
	unsigned int		wrs;
	struct work_struct	worker;
};

/**
 * struct xprtrdma_bc_conn - bc_receive.c
 * @orphaned: calls whose reading was broken off, with regions that may be valid still; under
 *	xc_lock
 */
struct xprtrdma_bc_conn {
	struct list_head	orphaned;
};

/**
 * struct xprtrdma_bc_writer - bc_write.c, all under xc_lock
 * @posted: replies on their way into Reply chunks
 * @wrs: work requests that these may still take
 */
struct xprtrdma_bc_writer {
	struct list_head	posted;
	unsigned int		wrs;
};

/**
 * struct xprtrdma_watch - watch.c: does the server still do anything? Under xc_lock
 * @replies: so far
 * @stalled_at: @replies when the window was found closed
 * @stall_timeout: how long replies are waited for since then, jiffies; under the write lock
 * @hca_pending: messages that wait for the HCA; see xprtrdma_watch_hca_begin()
 * @hca_since: when the last of these came to an end, or the first one came; jiffies
 * @probed_at: @replies when @probe_worker has looked last, or was queued
 * @probing: @probe_worker is queued, or runs
 * @stall_worker: looks whether replies still come; see xprtrdma_watch_stalled()
 * @hca_worker: fails the connection when nothing of @hca_pending comes to its end
 * @probe_worker: while calls wait for replies; see xprtrdma_watch_call()
 */
struct xprtrdma_watch {
	u64			replies;
	u64			stalled_at;
	u64			probed_at;
	bool			probing;
	unsigned long		stall_timeout;
	unsigned int		hca_pending;
	unsigned long		hca_since;
	struct delayed_work	stall_worker;
	struct delayed_work	hca_worker;
	struct delayed_work	probe_worker;
};

/**
 * struct xprtrdma_ccp - ccp.c: the server's configuration
 * @done: the connect worker waits on it for an answer
 * @xid: of the question; set before @asked
 * @asked: a question is out, and not answered; under xc_lock
 * @answered: there was an answer, and @reply is what it says; under xc_lock
 * @reply: the server's limits; under xc_lock
 */
struct xprtrdma_ccp {
	struct completion		done;
	u32				xid;
	bool				asked;
	bool				answered;
	struct rpcrdma_config_reply	reply;
};

#endif /* XPRTRDMA_ROOMS_H */
