/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Timers that find out whether the server is still alive. watch.c */
#ifndef XPRTRDMA_WATCH_H
#define XPRTRDMA_WATCH_H

#include <linux/jiffies.h>
#include <linux/workqueue.h>

struct rpc_rqst;
struct xprtrdma_conn;

/* Longest wait for a reply where the call has no timeout of its own, jiffies */
#define XPRTRDMA_STALL_TIMEOUT		(60U * HZ)
/*
 * While messages wait for the HCA, one of them has to be complete within this time, jiffies. The
 * HCA may retry for longer. A new connection costs no operation, and no task that is killed has to
 * wait for the HCA any more.
 */
#define XPRTRDMA_HCA_TIMEOUT		(30U * HZ)
/* After calls have waited for this time the peer's HCA is asked for an acknowledgment. */
#define XPRTRDMA_PROBE_INTERVAL		(5U * HZ)

/**
 * struct xprtrdma_watch - signs of life of the server, under xc_lock where nothing else is said
 * @stalled_at: value of xc_replies when @stall_worker looked last, or was queued
 * @probed_at: value of xc_replies when @probe_worker looked last, or was queued
 * @probing: @probe_worker is queued, or runs
 * @stall_timeout: longest time without a reply while the window is closed, jiffies; written
 *	under the transport's write lock, and read without xc_lock
 * @hca_pending: number of messages that wait for the HCA; see xprtrdma_watch_hca_begin()
 * @hca_since: time at which the first of these messages came, or the last one was done, jiffies
 * @stall_worker: timer that looks whether replies still come; see xprtrdma_watch_stalled()
 * @hca_worker: timer that fails the connection when the HCA does nothing for these messages
 * @probe_worker: timer that runs while calls wait for replies; see xprtrdma_watch_call()
 */
struct xprtrdma_watch {
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

void xprtrdma_watch_init(struct xprtrdma_conn *conn);
void xprtrdma_watch_stop(struct xprtrdma_conn *conn);
void xprtrdma_watch_call(struct xprtrdma_conn *conn);
void xprtrdma_watch_stalled(struct xprtrdma_conn *conn, const struct rpc_rqst *rqst);
void xprtrdma_watch_hca_begin(struct xprtrdma_conn *conn);
void xprtrdma_watch_hca_end(struct xprtrdma_conn *conn, bool read);

#endif /* XPRTRDMA_WATCH_H */
