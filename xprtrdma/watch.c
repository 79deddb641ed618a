// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * A timer that finds out whether the server is still alive.
 *
 * Does the server still answer? RDMA connections have no keep-alive. SUNRPC's timers see calls that
 * wait for a reply, but neither calls that wait for a credit, nor calls whose tasks were killed,
 * nor messages that wait for the HCA (RFC 8267 section 6.7.2). If one of these waits for too long,
 * the connection is failed.
 *
 * Is the server's machine still up? Our HCA notices that it is not when the peer's HCA does not
 * acknowledge a Send. If the machine fails after its HCA has acknowledged all calls, these calls
 * would wait for SUNRPC's timer, a minute by default. So while calls wait and no reply comes, a
 * probe is posted every few seconds. The HCA of a server that is only slow acknowledges the probe.
 *
 * A connection that is only idle is neither probed nor failed, and no timer runs for it.
 */
#include "connection.h"
#include "trace.h"

static void patience_begin(struct xprtrdma_patience *patience, unsigned int timeout)
{
	if (!patience->waiting++) {
		patience->seconds = 0;
		patience->timeout = 0;
	}
	patience->timeout = max(patience->timeout, timeout);
}

/* Counts a second. Returns true if the wait has lasted for too long. */
static bool patience_ends(struct xprtrdma_patience *patience)
{
	return patience->waiting && ++patience->seconds > patience->timeout;
}

/* Longest time that the task of a call waits for the reply, seconds */
static unsigned int timeout_of(const struct rpc_rqst *rqst)
{
	return rqst->rq_timeout ? DIV_ROUND_UP(rqst->rq_timeout, HZ) : XPRTRDMA_STALL_TIMEOUT;
}

/**
 * xprtrdma_watch_start - start the timer, since a call has been sent, or a message waits
 * @conn: the connection
 *
 * Context: any; the caller holds xc_lock.
 */
void xprtrdma_watch_start(struct xprtrdma_conn *conn)
{
	lockdep_assert_held(&conn->xc_lock);
	if (likely(conn->xc_watch.running))
		return;
	conn->xc_watch.running = true;
	queue_delayed_work(xprtrdma_wq, &conn->xc_watch.worker, HZ);
}

/**
 * xprtrdma_watch_stalled - watch for replies, since a call has to wait until it can be sent
 * @conn: the connection
 * @rqst: the call
 *
 * If no reply comes for as long as this call would wait for one, and the window stays closed, the
 * connection is failed. SUNRPC's timers do not see this, since its tasks wait to send, and the task
 * of a call that has a credit may have been killed. If several calls wait, the longest of their
 * times counts: the time after which SUNRPC asks for a new connection (timeo), but at most two
 * thirds of the lease. A call that renews the lease is sent when two thirds of it are over, and
 * then needs a connection on which it is answered.
 *
 * Context: process, the transport's write lock is held.
 */
void xprtrdma_watch_stalled(struct xprtrdma_conn *conn, const struct rpc_rqst *rqst)
{
	unsigned long lease = READ_ONCE(conn->xc_transport->xt_lease) / HZ;
	unsigned int timeout = timeout_of(rqst);

	if (lease)
		timeout = min_t(unsigned long, timeout, lease * 2 / 3);
	spin_lock(&conn->xc_lock);
	patience_begin(&conn->xc_watch.closed, timeout);
	spin_unlock(&conn->xc_lock);
}

/**
 * xprtrdma_watch_hca_begin - watch a message that waits until the HCA has done Reads or LOCAL_INVs
 * @conn: the connection
 *
 * The RPC of the message is pinned, so no other timer ends the wait, nor does a signal. If none of
 * the messages that wait is done within XPRTRDMA_HCA_TIMEOUT, the connection is failed.
 *
 * Context: any; the caller holds xc_lock. xprtrdma_watch_hca_end() follows, unless the
 * connection ends.
 */
void xprtrdma_watch_hca_begin(struct xprtrdma_conn *conn)
{
	patience_begin(&conn->xc_watch.hca, XPRTRDMA_HCA_TIMEOUT);
	xprtrdma_watch_start(conn);
}

/**
 * xprtrdma_watch_hca_end - stop watching a message that does not wait for the HCA any more
 * @conn: the connection
 * @read: the message waited for RDMA Reads, and not only for LOCAL_INVs
 *
 * Context: any; the caller holds xc_lock.
 */
void xprtrdma_watch_hca_end(struct xprtrdma_conn *conn, bool read)
{
	lockdep_assert_held(&conn->xc_lock);
	conn->xc_watch.hca.waiting--;
	/*
	 * LOCAL_INVs complete even while a message cannot be read for want of a Send buffer,
	 * regions or entries: their completions do not show that the message will be read.
	 */
	if (read || list_empty(&conn->xc_pull.waiting))
		conn->xc_watch.hca.seconds = 0;
}

/**
 * xprtrdma_watch_lost - watch the credit of a call that has ended without a reply
 * @conn: the connection on which the call was sent
 * @rqst: the call
 *
 * The credit comes back with the reply: xprtrdma_watch_found(). It never does if the server has
 * dropped the call. The connection is given up after the time that the task would have waited, as
 * the task would have done; the next connection has all of its credits.
 *
 * Context: any; the caller holds transport_lock.
 */
void xprtrdma_watch_lost(struct xprtrdma_conn *conn, const struct rpc_rqst *rqst)
{
	lockdep_assert_held(&conn->xc_transport->xt_xprt.transport_lock);
	patience_begin(&conn->xc_watch.lost, timeout_of(rqst));
}

/**
 * xprtrdma_watch_found - a message has come for which no task waits
 * @conn: the connection
 *
 * Context: the Receive CQ handler.
 * Return: true if a call has ended without a reply, upon which the message counts as its reply.
 */
bool xprtrdma_watch_found(struct xprtrdma_conn *conn)
{
	struct rpc_xprt *xprt = &conn->xc_transport->xt_xprt;
	struct xprtrdma_patience *lost = &conn->xc_watch.lost;
	bool found;

	spin_lock(&xprt->transport_lock);
	found = lost->waiting;
	if (found) {
		lost->waiting--;
		lost->seconds = 0;
	}
	spin_unlock(&xprt->transport_lock);
	return found;
}

/* Counts a second, under xc_lock. Returns true if a call or a message has waited for too long. */
static bool watch_second(struct xprtrdma_conn *conn)
{
	struct rpc_xprt *xprt = &conn->xc_transport->xt_xprt;
	const struct rpcrdma_window *window = &conn->xc_window;
	struct xprtrdma_watch *watch = &conn->xc_watch;
	bool lost;

	watch->quiet++;
	if (watch->replies != conn->xc_replies || !window->in_flight) {
		watch->replies = conn->xc_replies;
		watch->quiet = 0;
		watch->closed.seconds = 0;
	}
	/* The window is open, so the calls that waited for it are tried again, and wait no more. */
	if (window->in_flight < rpcrdma_window_size(window))
		watch->closed.waiting = 0;
	spin_lock(&xprt->transport_lock);
	lost = patience_ends(&watch->lost);
	spin_unlock(&xprt->transport_lock);
	return patience_ends(&watch->closed) || patience_ends(&watch->hca) || lost;
}

static void watch_worker(struct work_struct *work)
{
	struct xprtrdma_conn *conn = container_of(work, struct xprtrdma_conn, xc_watch.worker.work);
	struct rpc_xprt *xprt = &conn->xc_transport->xt_xprt;
	struct xprtrdma_watch *watch = &conn->xc_watch;
	bool stalled = false, probe = false;
	unsigned int waiting;

	spin_lock(&conn->xc_lock);
	waiting = max(conn->xc_window.in_flight, watch->hca.waiting);
	watch->running = waiting && conn->xc_state == RPCRDMA_CONN_ESTABLISHED;
	if (watch->running) {
		stalled = watch_second(conn);
		probe = watch->quiet && watch->quiet % XPRTRDMA_PROBE_INTERVAL == 0;
		queue_delayed_work(xprtrdma_wq, &watch->worker, HZ);
	}
	spin_unlock(&conn->xc_lock);
	if (stalled) {
		trace_xprtrdma_stalled(xprt, waiting);
		xprtrdma_conn_fail(conn, RPCRDMA_END_STALLED);
	} else if (probe) {
		trace_xprtrdma_probe(xprt, READ_ONCE(conn->xc_window.in_flight));
		xprtrdma_send_probe(conn);
	}
}

/**
 * xprtrdma_watch_init - set the timer of a connection up
 * @conn: connection whose xc_watch is all zeros
 *
 * Context: any.
 */
void xprtrdma_watch_init(struct xprtrdma_conn *conn)
{
	INIT_DELAYED_WORK(&conn->xc_watch.worker, watch_worker);
}

/**
 * xprtrdma_watch_stop - stop the timer of a connection that has ended
 * @conn: a connection whose queue pair is drained
 *
 * Context: process; not a work item of xprtrdma_wq.
 */
void xprtrdma_watch_stop(struct xprtrdma_conn *conn)
{
	cancel_delayed_work_sync(&conn->xc_watch.worker);
}
