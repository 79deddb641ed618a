// SPDX-License-Identifier: GPL-2.0
/*
 * Does the server still do anything? RDMA connections have no keep-alive, and SUNRPC's timers
 * see calls that wait for a reply, but neither those that wait for a credit nor what waits for
 * the HCA. RFC 8267 section 6.7.2.
 *
 * And is its machine still there? Our HCA finds out when the peer's HCA does not acknowledge what
 * was sent. If that has acknowledged all calls before the machine dies, they would wait for
 * SUNRPC's timer, a minute by default. So while calls wait and no reply comes, a probe goes out
 * every few seconds. The HCA of a server that is only slow acknowledges it.
 *
 * A connection that is only idle is not touched.
 */
#include "connection.h"
#include "trace.h"

/*
 * Calls wait for a credit, and the window stays closed: whoever holds the credits has got
 * no answer. SUNRPC's timers do not see this, since its tasks wait to send; and the task
 * that the lost reply was for may have been killed. Nor do they try again before the window
 * opens, so this goes on while it is closed.
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
	if (stalled) {
		trace_xprtrdma_stalled(&conn->xc_transport->xt_xprt, in_flight);
		xprtrdma_conn_fail(conn, RPCRDMA_END_STALLED);
	}
}

/*
 * How long a reply may take, jiffies: as long as SUNRPC waits for one before it asks for a new
 * connection (timeo). But a call that renews a lease has to get through, and does on a new
 * connection; it is sent when two thirds of the lease are over.
 */
static unsigned long stall_timeout_of(const struct xprtrdma_conn *conn, const struct rpc_rqst *rqst)
{
	unsigned long lease = READ_ONCE(conn->xc_transport->xt_lease);
	unsigned long stall_timeout = rqst->rq_timeout ?: XPRTRDMA_STALL_TIMEOUT;

	return lease ? min(stall_timeout, lease * 2 / 3) : stall_timeout;
}

/**
 * xprtrdma_watch_stalled - a call cannot be sent now
 * @conn: the connection
 * @rqst: the call
 *
 * If no reply comes from now on for as long as this call could wait for one, the connection
 * is failed. Of the calls that wait the most patient one counts.
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
	if (stalled) {
		trace_xprtrdma_stalled(&conn->xc_transport->xt_xprt, count);
		xprtrdma_conn_fail(conn, RPCRDMA_END_STALLED);
	}
}

/**
 * xprtrdma_watch_hca_begin - a message that came waits for the HCA, for RDMA Reads or LOCAL_INVs
 * @conn: the connection
 *
 * Its RPC is pinned: nobody else would give up, not even when it is killed. If of those that
 * wait none comes to its end for XPRTRDMA_HCA_TIMEOUT, the connection is failed.
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
 * xprtrdma_watch_hca_end - a message need not wait for the HCA any more
 * @conn: the connection
 * @read: it waited for RDMA Reads
 *
 * Context: any; the caller holds xc_lock.
 */
void xprtrdma_watch_hca_end(struct xprtrdma_conn *conn, bool read)
{
	lockdep_assert_held(&conn->xc_lock);
	conn->xc_watch.hca_pending--;
	/*
	 * LOCAL_INVs complete also while a reply waits for a Send buffer, regions or entries:
	 * they are no sign that it will be read.
	 */
	if (read || !xprtrdma_pulls_wait(conn))
		conn->xc_watch.hca_since = jiffies;
}

/*
 * The credit of a call that was killed comes back with its reply. If the server has dropped the
 * call there is none. After as long as its task would have waited the connection is given up, as
 * the task would have done; the next one has all of its credits.
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

/* Runs on while any call has a credit. */
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
		trace_xprtrdma_stalled(&conn->xc_transport->xt_xprt, in_flight);
		xprtrdma_conn_fail(conn, RPCRDMA_END_STALLED);
		return;
	}
	if (!quiet)
		return;
	trace_xprtrdma_probe(&conn->xc_transport->xt_xprt, in_flight);
	xprtrdma_send_probe(conn);
}

/**
 * xprtrdma_watch_call - a call has been sent
 * @conn: the connection, established
 *
 * While calls wait, and no reply comes, the peer's HCA is asked for a sign of life each
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
 * xprtrdma_watch_init - no call has been sent yet
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
 * xprtrdma_watch_stop - the connection is over: stop all timers
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
