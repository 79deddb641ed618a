/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* A timer that finds out whether the server is still alive. watch.c */
#ifndef XPRTRDMA_WATCH_H
#define XPRTRDMA_WATCH_H

#include <linux/workqueue.h>

struct rpc_rqst;
struct xprtrdma_conn;

/* Times in seconds. Each of them may take a second longer. */
enum {
	/* Longest wait for a reply where the call has no timeout of its own */
	XPRTRDMA_STALL_TIMEOUT	= 60,
	/*
	 * While messages wait for the HCA, one of them has to be done within this time, or else the
	 * connection is failed, although the HCA may retry for longer. No operation is lost, since
	 * calls are sent again, and a task that was killed need not wait for the HCA any longer.
	 */
	XPRTRDMA_HCA_TIMEOUT	= 30,
	/* Time after which, without a reply, the peer's HCA is asked for an acknowledgment */
	XPRTRDMA_PROBE_INTERVAL	= 5,
};

/**
 * struct xprtrdma_patience - calls or messages that must not wait for too long
 * @waiting: number of calls or messages that wait; 0: the other members have no meaning
 * @seconds: seconds since the first of them began to wait, or since there was progress
 * @timeout: number of seconds after which the connection is failed: the longest of the times that
 *	the calls or messages may wait
 */
struct xprtrdma_patience {
	unsigned int		waiting;
	unsigned int		seconds;
	unsigned int		timeout;
};

/**
 * struct xprtrdma_watch - signs of life of the server, under xc_lock where nothing else is said
 * @running: @worker is queued, or runs
 * @replies: value of xc_replies when @worker looked last
 * @quiet: seconds without a reply while calls wait for one
 * @closed: calls that wait to be sent while the window is closed; see xprtrdma_watch_stalled()
 * @hca: messages that wait for the HCA; see xprtrdma_watch_hca_begin()
 * @lost: calls that have ended without a reply; see xprtrdma_watch_lost(); under transport_lock
 * @worker: timer that looks once a second while calls or messages wait
 */
struct xprtrdma_watch {
	bool			running;
	u64			replies;
	unsigned int		quiet;
	struct xprtrdma_patience closed;
	struct xprtrdma_patience hca;
	struct xprtrdma_patience lost;
	struct delayed_work	worker;
};

void xprtrdma_watch_init(struct xprtrdma_conn *conn);
void xprtrdma_watch_stop(struct xprtrdma_conn *conn);
void xprtrdma_watch_start(struct xprtrdma_conn *conn);
void xprtrdma_watch_stalled(struct xprtrdma_conn *conn, const struct rpc_rqst *rqst);
void xprtrdma_watch_hca_begin(struct xprtrdma_conn *conn);
void xprtrdma_watch_hca_end(struct xprtrdma_conn *conn, bool read);
void xprtrdma_watch_lost(struct xprtrdma_conn *conn, const struct rpc_rqst *rqst);
bool xprtrdma_watch_found(struct xprtrdma_conn *conn);

#endif /* XPRTRDMA_WATCH_H */
