/* SPDX-License-Identifier: GPL-2.0 */
/* Does the server still do anything? watch.c */
#ifndef XPRTRDMA_WATCH_H
#define XPRTRDMA_WATCH_H

#include <linux/jiffies.h>
#include <linux/workqueue.h>

struct rpc_rqst;
struct xprtrdma_conn;

/* Where a call does not say how long it waits for a reply */
#define XPRTRDMA_STALL_TIMEOUT		(60U * HZ)
/* Of several replies that wait for the HCA, one is complete within that time. */
#define XPRTRDMA_HCA_TIMEOUT		(30U * HZ)
/* Calls wait that long, then the peer's HCA is asked to acknowledge something. */
#define XPRTRDMA_PROBE_INTERVAL		(5U * HZ)

/**
 * struct xprtrdma_watch - signs of life of the server. Under xc_lock
 * @stalled_at: xc_replies when the window was found closed
 * @probed_at: xc_replies when @probe_worker has looked last, or was queued
 * @probing: @probe_worker is queued, or runs
 * @stall_timeout: how long replies are waited for since @stalled_at, jiffies; under the write lock
 * @hca_pending: messages that wait for the HCA; see xprtrdma_watch_hca_begin()
 * @hca_since: when the last of these came to an end, or the first one came; jiffies
 * @stall_worker: looks whether replies still come; see xprtrdma_watch_stalled()
 * @hca_worker: fails the connection when nothing of @hca_pending comes to its end
 * @probe_worker: while calls wait for replies; see xprtrdma_watch_call()
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
