// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Timers that find out whether the server is still alive.
 *
 * Does the server still answer? RDMA connections have no keep-alive. SUNRPC's timers see calls that
 * wait for a reply, but neither calls that wait for a credit nor messages that wait for the HCA
 * (RFC 8267 section 6.7.2).
 *
 * Is the server's machine still up? Our HCA notices that it is not when the peer's HCA does not
 * acknowledge a Send. If the machine fails after its HCA has acknowledged all calls, these calls
 * would wait for SUNRPC's timer, a minute by default. So while calls wait and no reply comes, a
 * probe is posted every few seconds. The HCA of a server that is only slow acknowledges the probe.
 *
 * A connection that is only idle is neither probed nor failed.
 */
#include "connection.h"
#include "trace.h"

/* Fails a connection on which @waiting calls or messages wait in vain. */
static void fail_stalled(struct xprtrdma_conn *conn, unsigned int waiting)
{
	trace_xprtrdma_stalled(&conn->xc_transport->xt_xprt, waiting);
	xprtrdma_conn_fail(conn, RPCRDMA_END_STALLED);
}

/*
 * Fails a connection whose window stays closed without any reply, so that calls wait for a credit
 * in vain. SUNRPC's timers do not see this, since its tasks wait to send, and the task of a call
 * that has a credit may have been killed. The waiting tasks do not try again before the window
 * opens, so this work item runs again while the window is closed.
 */
static void stall_worker(struct work_struct *work)
{
	struct xprtrdma_conn *conn = container_of(work, struct xprtrdma_conn,
						  xc_watch.stall_worker.work);
	struct rpcrdma_window *window = &conn->xc_window;
	bool closed, stalled;
	u32 in_flight;

	spin_lock(&conn->xc_lock);
	in_flight = window->in_flight;
	closed = conn->xc_state == RPCRDMA_CONN_ESTABLISHED &&
		 in_flight >= rpcrdma_window_size(window);
	stalled = closed && conn->xc_replies == conn->xc_watch.stalled_at;
	conn->xc_watch.stalled_at = conn->xc_replies;
	spin_unlock(&conn->xc_lock);
	if (closed && !stalled)
		queue_delayed_work(xprtrdma_wq, &conn->xc_watch.stall_worker,
				   READ_ONCE(conn->xc_watch.stall_timeout));
	if (stalled)
		fail_stalled(conn, in_flight);
}

/*
 * Longest time without a reply while a call waits, in jiffies: the time after which SUNRPC asks for
 * a new connection (timeo), but at most two thirds of the lease. A call that renews the lease is
 * sent when two thirds of it are over, and then needs a connection on which it is answered.
 */
static unsigned long stall_timeout_of(const struct xprtrdma_conn *conn, const struct rpc_rqst *rqst)
{
	unsigned long lease = READ_ONCE(conn->xc_transport->xt_lease);
	unsigned long stall_timeout = rqst->rq_timeout ?: XPRTRDMA_STALL_TIMEOUT;

	return lease ? min(stall_timeout, lease * 2 / 3) : stall_timeout;
}

/**
 * xprtrdma_watch_stalled - start the timer that watches for replies, since a call has to wait
 * @conn: the connection
 * @rqst: the call
 *
 * If no reply comes for as long as this call would wait for one, and the window stays closed, the
 * connection is failed. If several calls wait, the longest of their times counts.
 *
 * Context: process, the transport's write lock is held.
 */
void xprtrdma_watch_stalled(struct xprtrdma_conn *conn, const struct rpc_rqst *rqst)
{
	unsigned long stall_timeout = stall_timeout_of(conn, rqst);
	bool watched = delayed_work_pending(&conn->xc_watch.stall_worker);

	if (watched && stall_timeout <= conn->xc_watch.stall_timeout)
		return;
	WRITE_ONCE(conn->xc_watch.stall_timeout, stall_timeout);
	if (!watched) {
		spin_lock(&conn->xc_lock);
		conn->xc_watch.stalled_at = conn->xc_replies;
		spin_unlock(&conn->xc_lock);
	}
	mod_delayed_work(xprtrdma_wq, &conn->xc_watch.stall_worker, stall_timeout);
}

static void hca_worker(struct work_struct *work)
{
	struct xprtrdma_conn *conn = container_of(work, struct xprtrdma_conn,
						  xc_watch.hca_worker.work);
	unsigned long deadline;
	bool held, stalled;
	unsigned int count;

	spin_lock(&conn->xc_lock);
	count = conn->xc_watch.hca_pending;
	held = count && conn->xc_state == RPCRDMA_CONN_ESTABLISHED;
	deadline = conn->xc_watch.hca_since + XPRTRDMA_HCA_TIMEOUT;
	stalled = held && time_after_eq(jiffies, deadline);
	if (held && !stalled)
		queue_delayed_work(xprtrdma_wq, &conn->xc_watch.hca_worker, deadline - jiffies);
	spin_unlock(&conn->xc_lock);
	if (stalled)
		fail_stalled(conn, count);
}

/**
 * xprtrdma_watch_hca_begin - watch a message that waits for the HCA, for RDMA Reads or LOCAL_INVs
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
	lockdep_assert_held(&conn->xc_lock);
	if (conn->xc_watch.hca_pending++)
		return;
	conn->xc_watch.hca_since = jiffies;
	queue_delayed_work(xprtrdma_wq, &conn->xc_watch.hca_worker, XPRTRDMA_HCA_TIMEOUT);
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
	conn->xc_watch.hca_pending--;
	/*
	 * LOCAL_INVs complete even while a message cannot be read for want of a Send buffer,
	 * regions or entries: their completions do not show that the message will be read.
	 */
	if (read || list_empty(&conn->xc_pull.waiting))
		conn->xc_watch.hca_since = jiffies;
}

/*
 * The credit of a call whose task was killed comes back with its reply, which never comes if the
 * server has dropped the call. The connection is given up after the time that the task would have
 * waited, as the task would have done; the next connection has all of its credits.
 */
static bool lost_call_is_overdue(const struct xprtrdma_conn *conn)
{
	struct xprtrdma_transport *transport = conn->xc_transport;
	struct rpc_xprt *xprt = &transport->xt_xprt;
	bool overdue;

	spin_lock(&xprt->transport_lock);
	overdue = transport->xt_lost_on == conn->xc_serial && transport->xt_lost &&
		  time_after_eq(jiffies, transport->xt_lost_since + transport->xt_lost_timeout);
	spin_unlock(&xprt->transport_lock);
	return overdue;
}

/* Probes the peer's HCA if no reply has come since the last run. Repeats while calls wait. */
static void probe_worker(struct work_struct *work)
{
	struct xprtrdma_conn *conn = container_of(work, struct xprtrdma_conn,
						  xc_watch.probe_worker.work);
	struct xprtrdma_watch *watch = &conn->xc_watch;
	u32 in_flight;
	bool quiet;

	spin_lock(&conn->xc_lock);
	quiet = conn->xc_replies == watch->probed_at;
	watch->probed_at = conn->xc_replies;
	in_flight = conn->xc_window.in_flight;
	watch->probing = conn->xc_state == RPCRDMA_CONN_ESTABLISHED && in_flight;
	quiet = quiet && watch->probing;
	if (watch->probing)
		queue_delayed_work(xprtrdma_wq, &watch->probe_worker, XPRTRDMA_PROBE_INTERVAL);
	spin_unlock(&conn->xc_lock);
	if (lost_call_is_overdue(conn)) {
		fail_stalled(conn, in_flight);
	} else if (quiet) {
		trace_xprtrdma_probe(&conn->xc_transport->xt_xprt, in_flight);
		xprtrdma_send_probe(conn);
	}
}

/**
 * xprtrdma_watch_call - start the timer that probes the peer's HCA, since a call has been sent
 * @conn: the connection, established
 *
 * While calls wait, and no reply comes, the peer's HCA has to acknowledge a probe in each
 * XPRTRDMA_PROBE_INTERVAL.
 *
 * Context: any; the caller holds xc_lock.
 */
void xprtrdma_watch_call(struct xprtrdma_conn *conn)
{
	struct xprtrdma_watch *watch = &conn->xc_watch;

	lockdep_assert_held(&conn->xc_lock);
	if (likely(watch->probing))
		return;
	watch->probing = true;
	watch->probed_at = conn->xc_replies;
	queue_delayed_work(xprtrdma_wq, &watch->probe_worker, XPRTRDMA_PROBE_INTERVAL);
}

/**
 * xprtrdma_watch_init - set the timers of a connection up
 * @conn: all zeros
 *
 * Context: any.
 */
void xprtrdma_watch_init(struct xprtrdma_conn *conn)
{
	INIT_DELAYED_WORK(&conn->xc_watch.stall_worker, stall_worker);
	INIT_DELAYED_WORK(&conn->xc_watch.hca_worker, hca_worker);
	INIT_DELAYED_WORK(&conn->xc_watch.probe_worker, probe_worker);
}

/**
 * xprtrdma_watch_stop - stop all timers of a connection that has ended
 * @conn: a connection whose queue pair is drained
 *
 * Context: process; not a work item of xprtrdma_wq.
 */
void xprtrdma_watch_stop(struct xprtrdma_conn *conn)
{
	cancel_delayed_work_sync(&conn->xc_watch.stall_worker);
	cancel_delayed_work_sync(&conn->xc_watch.hca_worker);
	cancel_delayed_work_sync(&conn->xc_watch.probe_worker);
}
