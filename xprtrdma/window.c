// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The credit window, and the buffers of a connection, whose number grows as they are used.
 *
 * The window is the smaller of two numbers: the credits that the server has granted, and the calls
 * that have buffers. A Receive for each reply has to be posted before its call is sent (RFC 8166
 * section 3.3.1). A connection begins with few buffers. A work item makes more of them:
 * - buffers for twice as many calls, when a call waits for a credit, and the server has granted
 *   what it was asked for. SUNRPC then keeps as many slots, too;
 * - twice as many Send buffers, when none is left;
 * - Receives for all of the server's calls, when the first such call has come; then we grant the
 *   server more credits (RFC 8167 section 4.1).
 *
 * Each message asks for as many credits as there are buffers for. When the server has granted all
 * of them and a call still has to wait, more buffers are made, and later messages ask for more.
 */
#include "connection.h"
#include "trace.h"

/*
 * Sets SUNRPC's congestion window to the size of the credit window, under xc_lock and
 * transport_lock. If SUNRPC holds calls back until a call in flight is over (XPRT_CWND_WAIT), and
 * the new window has room, this function makes the calls wait for xprt_write_space() instead, which
 * the caller has to call when it has released its locks.
 */
static void set_cwnd(struct xprtrdma_conn *conn)
{
	struct rpc_xprt *xprt = &conn->xc_transport->xt_xprt;
	unsigned long cwnd = rpcrdma_window_size(&conn->xc_window) << RPC_CWNDSHIFT;

	lockdep_assert_held(&conn->xc_lock);
	if (READ_ONCE(xprt->cwnd) == cwnd)
		return;
	spin_lock(&xprt->transport_lock);
	xprt->cwnd = cwnd;
	if (xprt->cong < cwnd && test_and_clear_bit(XPRT_CWND_WAIT, &xprt->state))
		xprt_wait_for_buffer_space(xprt);
	spin_unlock(&xprt->transport_lock);
}

/**
 * xprtrdma_window_begin - set SUNRPC's window for a new connection, before SUNRPC is told of it
 * @conn: the connection; a message may have come already
 *
 * The window is one call until the server's first grant: RFC 8166 section 3.3.3.
 *
 * Context: process.
 */
void xprtrdma_window_begin(struct xprtrdma_conn *conn)
{
	spin_lock(&conn->xc_lock);
	set_cwnd(conn);
	spin_unlock(&conn->xc_lock);
	xprt_write_space(&conn->xc_transport->xt_xprt);
}

/**
 * xprtrdma_window_grant - take over the grant of a message
 * @conn: connection on which the message has come
 * @header: header of the message
 *
 * Replies may be finished in another order than they came in. So a grant is taken over when its
 * message comes, as the last grant that came is valid (RFC 8166 section 3.3.1).
 *
 * Context: the Receive CQ handler.
 */
void xprtrdma_window_grant(struct xprtrdma_conn *conn, const struct rpcrdma_header *header)
{
	struct rpc_xprt *xprt = &conn->xc_transport->xt_xprt;

	/* RFC 8166 section 4.5: the credits of an RDMA_ERROR cannot be relied on. */
	if (header->proc == RPCRDMA_ERROR)
		return;
	/*
	 * Nearly always the message repeats the last grant. Only this handler changes the grant,
	 * and reads it without the lock. The worker, if it runs now, sets the window itself.
	 */
	if (header->credits == conn->xc_window.granted &&
	    READ_ONCE(xprt->cwnd) >> RPC_CWNDSHIFT == rpcrdma_window_size(&conn->xc_window))
		return;
	spin_lock(&conn->xc_lock);
	rpcrdma_window_grant(&conn->xc_window, header->credits);
	set_cwnd(conn);
	spin_unlock(&conn->xc_lock);
	/* set_cwnd() may have made calls wait for this, even when the window became smaller. */
	xprt_write_space(xprt);
}

/* ---- buffers ---- */

/*
 * Number of Send buffers for @credits calls: one for each call, those for messages that are not
 * calls, and those of Sends that are complete, but wait for the completion of a signalled Send.
 */
static unsigned int sends_for(const struct rpcrdma_client_queues *queues, u32 credits)
{
	unsigned int unsignalled = min(max(credits / 2, 1U), queues->signal_every);
	unsigned int beside = queues->send_slots - queues->signal_every - queues->credits;

	return credits + beside + unsignalled;
}

static int make_buffers(struct xprtrdma_conn *conn, u32 credits, u32 reverse, unsigned int sends)
{
	const struct rpcrdma_client_queues *queues = &conn->xc_queues;
	int ret;

	ret = xprtrdma_sends_create(conn, min(sends, sends_for(queues, credits)));
	if (ret)
		return ret;
	/* A Receive for each message that may come, and a batch that waits to be posted */
	return xprtrdma_receives_create(conn, credits + reverse + RPCRDMA_RECEIVE_BATCH);
}

/**
 * xprtrdma_window_create - make buffers for the first calls of a connection
 * @conn: connection that has its queues, and on which nothing has been sent
 *
 * Context: process.
 * Return: 0 or -ENOMEM; either way xprtrdma_receives_destroy() and xprtrdma_sends_destroy() free
 * the buffers that were made.
 */
int xprtrdma_window_create(struct xprtrdma_conn *conn)
{
	u32 credits = min_t(u32, XPRTRDMA_FIRST_CREDITS, conn->xc_queues.credits);

	rpcrdma_window_reset(&conn->xc_window, credits);
	conn->xc_growth.reverse = XPRTRDMA_BC_FIRST_SLOTS;
	conn->xc_growth.sends = XPRTRDMA_FIRST_SENDS;
	return make_buffers(conn, credits, XPRTRDMA_BC_FIRST_SLOTS, XPRTRDMA_FIRST_SENDS);
}

/**
 * xprtrdma_window_grow - make more buffers
 * @conn: an established connection
 * @credits: number of calls that have buffers afterwards, at most that of the queues
 * @reverse: number of the server's calls that have Receives afterwards, at most XPRTRDMA_BC_SLOTS
 * @sends: number of Send buffers afterwards, unless the calls need fewer
 *
 * None of these numbers may be smaller than it was.
 *
 * Context: process; only one caller at a time makes buffers.
 * Return: 0; -ENOMEM when the window is as before; or -ENOTCONN when the connection has failed.
 */
int xprtrdma_window_grow(struct xprtrdma_conn *conn, u32 credits, u32 reverse, unsigned int sends)
{
	struct rpc_xprt *xprt = &conn->xc_transport->xt_xprt;
	int ret = make_buffers(conn, credits, reverse, sends);

	if (ret)
		return ret;
	ret = xprtrdma_receives_post(conn);
	if (ret) {
		xprtrdma_conn_fail(conn, RPCRDMA_END_RECEIVE_FAILED);
		return -ENOTCONN;
	}
	/* SUNRPC keeps as many slots from now on. It frees slots beyond min_reqs after use. */
	spin_lock(&xprt->reserve_lock);
	xprt->min_reqs = max(xprt->min_reqs, credits);
	spin_unlock(&xprt->reserve_lock);
	spin_lock(&conn->xc_lock);
	/* The new Receives have been posted, so credits for them may be granted and asked for. */
	WRITE_ONCE(conn->xc_growth.reverse, reverse);
	WRITE_ONCE(conn->xc_growth.sends, sends);
	WRITE_ONCE(conn->xc_window.requested, credits);
	set_cwnd(conn);
	spin_unlock(&conn->xc_lock);
	return 0;
}

/* Makes the buffers that were requested. If memory is short, a later call requests them again. */
static void window_worker(struct work_struct *work)
{
	struct xprtrdma_conn *conn = container_of(work, struct xprtrdma_conn, xc_growth.worker);
	struct rpc_xprt *xprt = &conn->xc_transport->xt_xprt;
	unsigned int flags = xprtrdma_memalloc_save(xprt);
	u32 before = conn->xc_window.requested, credits = before;
	u32 reverse = conn->xc_growth.reverse;
	unsigned int sends = conn->xc_growth.sends;
	unsigned long wants;
	int ret;

	spin_lock(&conn->xc_lock);
	wants = conn->xc_growth.wants;
	conn->xc_growth.wants = 0;
	spin_unlock(&conn->xc_lock);
	if (wants & BIT(XPRTRDMA_WANTS_CREDITS))
		credits = min(2 * credits, conn->xc_queues.credits);
	if (wants & BIT(XPRTRDMA_WANTS_REVERSE))
		reverse = XPRTRDMA_BC_SLOTS;
	if (wants & BIT(XPRTRDMA_WANTS_SENDS))
		sends = min(2 * sends, conn->xc_queues.send_slots);
	ret = xprtrdma_window_grow(conn, credits, reverse, sends);
	xprtrdma_memalloc_restore(flags);
	if (ret || credits != before)
		trace_xprtrdma_window(xprt, ret ? ret : (int)credits);
	if (!ret)
		xprt_write_space(xprt);
}

/**
 * xprtrdma_window_is_open - may a call be sent?
 * @conn: an established connection
 *
 * Context: any. Without xc_lock the answer may be outdated at once, which xprtrdma_send_call()
 * notices.
 */
bool xprtrdma_window_is_open(const struct xprtrdma_conn *conn)
{
	const struct rpcrdma_window *window = &conn->xc_window;

	return READ_ONCE(window->in_flight) <
	       min(READ_ONCE(window->requested), READ_ONCE(window->granted));
}

static bool can_have_more(const struct xprtrdma_conn *conn, enum xprtrdma_want want)
{
	const struct rpcrdma_client_queues *queues = &conn->xc_queues;
	u32 credits = READ_ONCE(conn->xc_window.requested);

	switch (want) {
	case XPRTRDMA_WANTS_CREDITS:
		return credits < queues->credits &&
		       credits <= READ_ONCE(conn->xc_window.granted);
	case XPRTRDMA_WANTS_SENDS:
		return conn->xc_growth.sends < sends_for(queues, credits);
	default:
		return true;	/* xprtrdma_bc_receive() asks only while there are fewer */
	}
}

/**
 * xprtrdma_window_request_buffers - have more buffers made, if the connection can have more
 * @conn: the connection
 * @want: kind of buffers
 *
 * Context: any; the caller holds xc_lock.
 */
void xprtrdma_window_request_buffers(struct xprtrdma_conn *conn, enum xprtrdma_want want)
{
	lockdep_assert_held(&conn->xc_lock);
	/* In the state BROKEN xprtrdma_window_stop() may have stopped the worker already. */
	if (conn->xc_state != RPCRDMA_CONN_ESTABLISHED || !can_have_more(conn, want))
		return;
	__set_bit(want, &conn->xc_growth.wants);
	queue_work(xprtrdma_wq, &conn->xc_growth.worker);
}

/**
 * xprtrdma_window_request_credits - have buffers made for more calls, since a call waits
 * @conn: the connection
 *
 * Context: process.
 */
void xprtrdma_window_request_credits(struct xprtrdma_conn *conn)
{
	spin_lock(&conn->xc_lock);
	xprtrdma_window_request_buffers(conn, XPRTRDMA_WANTS_CREDITS);
	spin_unlock(&conn->xc_lock);
}

/**
 * xprtrdma_window_init - set up the work item that makes buffers
 * @conn: connection whose xc_growth is all zeros
 *
 * Context: any.
 */
void xprtrdma_window_init(struct xprtrdma_conn *conn)
{
	INIT_WORK(&conn->xc_growth.worker, window_worker);
}

/**
 * xprtrdma_window_stop - stop the worker, so that no more buffers are made
 * @conn: a connection that is not established any more
 *
 * Context: process.
 */
void xprtrdma_window_stop(struct xprtrdma_conn *conn)
{
	cancel_work_sync(&conn->xc_growth.worker);
}
