// SPDX-License-Identifier: GPL-2.0
/*
 * The credit window, and memory that follows use.
 *
 * The window is the smaller one of the server's grant and of the calls that have buffers: a
 * Receive for each reply has to be posted before its call goes out (RFC 8166 section 3.3.1). A
 * connection begins with few buffers. A work item makes more:
 * - for twice as many calls, when one waits for a credit, and the server has granted more. Then
 *   SUNRPC keeps as many slots, too;
 * - twice as many Sends, when none is left;
 * - for the server's calls, when the first one has come; then we grant more credits for them (RFC
 *   8167 section 4.1).
 *
 * A call asks for as many credits as there are. When one had to wait for want of them, the next
 * one asks for twice as many, and so do others while the window is full: a server that answers each
 * call at once does not see that others wait.
 */
#include "connection.h"
#include "trace.h"

/*
 * SUNRPC sends no more calls at a time. Under both locks. When there are more it may have said that
 * all calls wait until one of those under way is over (XPRT_CWND_WAIT). They wait for our caller
 * instead, who calls xprt_write_space() without the locks.
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
 * xprtrdma_window_begin - SUNRPC is going to hear of a connection
 * @conn: the connection; a message may have come already
 *
 * One call until the server's first grant: RFC 8166 section 3.3.3.
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

/* After a change of xc_window, under xc_lock: what SUNRPC sends, and what calls ask for. */
static void set_window(struct xprtrdma_conn *conn)
{
	WRITE_ONCE(conn->xc_growth.ask, rpcrdma_window_size(&conn->xc_window));
	set_cwnd(conn);
}

/**
 * xprtrdma_window_grant - a message says how many credits there are
 * @conn: where it has come
 * @header: its header
 *
 * Replies are finished in any order, but the last grant is the one that came last (RFC 8166
 * section 3.3.1).
 *
 * Context: the Receive CQ handler.
 */
void xprtrdma_window_grant(struct xprtrdma_conn *conn, const struct rpcrdma_header *header)
{
	struct rpc_xprt *xprt = &conn->xc_transport->xt_xprt;

	/* RFC 8166 section 4.5: an error says nothing of credits that we could trust. */
	if (header->proc == RPCRDMA_ERROR)
		return;
	/*
	 * Nearly always the last grant once more, and only this handler changes it. The worker,
	 * which may make buffers at the same time, sets the window itself.
	 */
	if (header->credits == conn->xc_window.granted &&
	    READ_ONCE(xprt->cwnd) >> RPC_CWNDSHIFT == rpcrdma_window_size(&conn->xc_window))
		return;
	spin_lock(&conn->xc_lock);
	rpcrdma_window_grant(&conn->xc_window, header->credits);
	set_window(conn);
	spin_unlock(&conn->xc_lock);
	/* set_cwnd() may have made calls wait for this, also in a smaller window. */
	xprt_write_space(xprt);
}

/* ---- buffers ---- */

/*
 * Send buffers for @credits calls: one for each, those beside the calls, and those whose completion
 * is not known, as long as one Send in half as many as there are calls asks for it.
 */
static unsigned int sends_for(const struct rpcrdma_client_queues *queues, u32 credits)
{
	unsigned int unsignalled = min(max(credits / 2, 1U), queues->signal_every);
	unsigned int beside = queues->send_slots - queues->signal_every - queues->credits;

	return credits + beside + unsignalled;
}

/* A Receive for each message that may come, and those that wait to be posted in a batch */
static unsigned int receives_for(u32 credits, u32 reverse)
{
	return credits + reverse + RPCRDMA_RECEIVE_BATCH;
}

static int make_buffers(struct xprtrdma_conn *conn, u32 credits, u32 reverse, unsigned int sends)
{
	const struct rpcrdma_client_queues *queues = &conn->xc_queues;
	int ret;

	ret = xprtrdma_sends_create(conn, min(sends, sends_for(queues, credits)));
	if (!ret)
		ret = xprtrdma_receives_create(conn, receives_for(credits, reverse));
	return ret;
}

/* The buffers exist now, and the Receives are posted. */
static void set_numbers(struct xprtrdma_conn *conn, u32 reverse, unsigned int sends)
{
	WRITE_ONCE(conn->xc_growth.reverse, reverse);
	WRITE_ONCE(conn->xc_growth.sends, sends);
}

/**
 * xprtrdma_window_create - buffers for the first calls of a connection
 * @conn: with its queues; nothing has been sent
 *
 * Context: process.
 * Return: 0 or -ENOMEM; either way xprtrdma_receives_destroy() and xprtrdma_sends_destroy() free
 * what is there.
 */
int xprtrdma_window_create(struct xprtrdma_conn *conn)
{
	u32 credits = min_t(u32, XPRTRDMA_FIRST_CREDITS, conn->xc_queues.credits);

	rpcrdma_window_reset(&conn->xc_window, credits);
	/* Also of the first call, although it is alone */
	conn->xc_growth.ask = credits;
	set_numbers(conn, XPRTRDMA_BC_FIRST_SLOTS, XPRTRDMA_FIRST_SENDS);
	return make_buffers(conn, credits, XPRTRDMA_BC_FIRST_SLOTS, XPRTRDMA_FIRST_SENDS);
}

/**
 * xprtrdma_window_grow - more buffers
 * @conn: an established connection
 * @credits: calls, at most those that the queues are for
 * @reverse: calls of the server's, at most XPRTRDMA_BC_SLOTS
 * @sends: Send buffers, if the calls need as many
 *
 * None of these is less than it was.
 *
 * Context: process; nobody else makes buffers.
 * Return: 0; -ENOMEM: the window is as before; -ENOTCONN: the connection is not, or was failed.
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
	/* SUNRPC is to keep slots for as many calls; it makes the others for a call each. */
	spin_lock(&xprt->reserve_lock);
	xprt->min_reqs = max(xprt->min_reqs, credits);
	spin_unlock(&xprt->reserve_lock);
	spin_lock(&conn->xc_lock);
	set_numbers(conn, reverse, sends);
	/* Unchanged, calls that wait for a credit keep asking for more: growth.ask stays 0. */
	if (conn->xc_window.requested != credits) {
		WRITE_ONCE(conn->xc_window.requested, credits);
		set_window(conn);
	}
	spin_unlock(&conn->xc_lock);
	return 0;
}

/* If memory is short, the next one that finds too few buffers requests them again. */
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
 * Context: any. Without xc_lock the answer may be old at once; then xprtrdma_send_call() notices.
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
		return credits < min(queues->credits, READ_ONCE(conn->xc_window.granted));
	case XPRTRDMA_WANTS_SENDS:
		return xprtrdma_sends_count(conn) < sends_for(queues, credits);
	default:
		return true;	/* xprtrdma_bc_receive() has looked */
	}
}

/**
 * xprtrdma_window_request_buffers - there may be too few buffers
 * @conn: the connection
 * @want: for what
 *
 * Context: any; the caller holds xc_lock.
 */
void xprtrdma_window_request_buffers(struct xprtrdma_conn *conn, enum xprtrdma_want want)
{
	lockdep_assert_held(&conn->xc_lock);
	/* After BROKEN xprtrdma_window_stop() may have been called. */
	if (conn->xc_state != RPCRDMA_CONN_ESTABLISHED || !can_have_more(conn, want))
		return;
	__set_bit(want, &conn->xc_growth.wants);
	queue_work(xprtrdma_wq, &conn->xc_growth.worker);
}

/**
 * xprtrdma_window_request_credits - a call waits for a credit
 * @conn: the connection
 *
 * Context: process.
 */
void xprtrdma_window_request_credits(struct xprtrdma_conn *conn)
{
	const struct rpcrdma_window *window = &conn->xc_window;

	spin_lock(&conn->xc_lock);
	xprtrdma_window_request_buffers(conn, XPRTRDMA_WANTS_CREDITS);
	/* It is the grant that calls wait for, and not buffers. */
	if (window->granted <= window->requested && window->granted < conn->xc_queues.credits)
		WRITE_ONCE(conn->xc_growth.ask, 0);
	spin_unlock(&conn->xc_lock);
}

/**
 * xprtrdma_window_ask - how many credits does a message ask for?
 * @conn: the connection
 *
 * RFC 8166 section 3.3.1. Twice as many as there are, when a call had to wait.
 *
 * Context: any; the caller of a message that is a call has not taken its credit yet.
 * Return: credits, at least 1
 */
u32 xprtrdma_window_ask(struct xprtrdma_conn *conn)
{
	u32 size = READ_ONCE(conn->xc_growth.ask);

	if (likely(size))
		return size;
	spin_lock(&conn->xc_lock);
	size = rpcrdma_window_size(&conn->xc_window);
	/* Many replies may have come at once since then: the first call asks in any case. */
	if (conn->xc_window.in_flight + 1 < size)
		WRITE_ONCE(conn->xc_growth.ask, size);
	spin_unlock(&conn->xc_lock);
	return min(2 * size, conn->xc_queues.credits);
}

/**
 * xprtrdma_window_init - no buffers yet
 * @conn: all zeros
 *
 * Context: any.
 */
void xprtrdma_window_init(struct xprtrdma_conn *conn)
{
	INIT_WORK(&conn->xc_growth.worker, window_worker);
}

/**
 * xprtrdma_window_stop - the window stays as it is
 * @conn: a connection that is not established any more
 *
 * Context: process.
 */
void xprtrdma_window_stop(struct xprtrdma_conn *conn)
{
	cancel_work_sync(&conn->xc_growth.worker);
}
