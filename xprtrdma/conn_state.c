// SPDX-License-Identifier: GPL-2.0
/*
 * What every other file may do to a connection: end it, and keep it in memory. This file calls no
 * other one of the client.
 */
#include "connection.h"
#include "trace.h"

/* The single writer of xc_state. */
static enum rpcrdma_conn_state conn_advance(struct xprtrdma_conn *conn,
					    enum rpcrdma_conn_event event)
{
	enum rpcrdma_conn_state old;

	lockdep_assert_held(&conn->xc_lock);
	old = conn->xc_state;
	/* Read without the lock, as a hint: xprtrdma_conn_established() */
	WRITE_ONCE(conn->xc_state, rpcrdma_conn_next(old, event));
	return old;
}

/**
 * xprtrdma_conn_event - something has happened that may change the state
 * @conn: the connection
 * @event: the event
 *
 * Context: process, or the CM handler.
 */
void xprtrdma_conn_event(struct xprtrdma_conn *conn, enum rpcrdma_conn_event event)
{
	spin_lock(&conn->xc_lock);
	conn_advance(conn, event);
	spin_unlock(&conn->xc_lock);
}

/* The first reason that is noted stays. */
static void note_end(struct xprtrdma_conn *conn, enum rpcrdma_end why)
{
	lockdep_assert_held(&conn->xc_lock);
	if (!conn->xc_end)
		WRITE_ONCE(conn->xc_end, why);
}

/**
 * xprtrdma_conn_note_end - note why a connection has ended, if no reason is noted
 * @conn: the connection
 * @why: the reason
 *
 * Context: any.
 */
void xprtrdma_conn_note_end(struct xprtrdma_conn *conn, enum rpcrdma_end why)
{
	spin_lock(&conn->xc_lock);
	note_end(conn, why);
	spin_unlock(&conn->xc_lock);
}

/**
 * xprtrdma_conn_fail - the connection is of no more use
 * @conn: the connection
 * @why: if it was established until now
 *
 * Context: any; the caller knows that @conn exists.
 */
void xprtrdma_conn_fail(struct xprtrdma_conn *conn, enum rpcrdma_end why)
{
	enum rpcrdma_conn_state old;

	spin_lock(&conn->xc_lock);
	old = conn_advance(conn, RPCRDMA_EVENT_FAILED);
	/*
	 * Under the lock, so that xprtrdma_conn_destroy() cannot overtake the request for a
	 * close, which would then hit the next connection.
	 */
	if (old == RPCRDMA_CONN_ESTABLISHED) {
		note_end(conn, why);
		xprt_force_disconnect(&conn->xc_transport->xt_xprt);
		xprtrdma_ccp_done(&conn->xc_ccp);
	}
	spin_unlock(&conn->xc_lock);
}

/**
 * xprtrdma_conn_fail_wc - a work request has failed, and the connection with it
 * @conn: the connection
 * @what: kind of work request, for the trace event
 * @wc: its completion
 * @why: unless @wc knows better: see rpcrdma_end_of()
 *
 * Context: CQ handlers.
 */
void xprtrdma_conn_fail_wc(struct xprtrdma_conn *conn, const char *what, const struct ib_wc *wc,
			   enum rpcrdma_end why)
{
	trace_xprtrdma_wc(&conn->xc_transport->xt_xprt, what, wc->status, wc->vendor_err);
	xprtrdma_conn_fail(conn, rpcrdma_end_of(wc, why));
}

/**
 * xprtrdma_conn_get - take a reference
 * @conn: the connection
 */
void xprtrdma_conn_get(struct xprtrdma_conn *conn)
{
	kref_get(&conn->xc_kref);
}

static void conn_release(struct kref *kref)
{
	kfree(container_of(kref, struct xprtrdma_conn, xc_kref));
}

/**
 * xprtrdma_conn_put - drop a reference
 * @conn: the connection
 *
 * Frees memory only: all resources went in xprtrdma_conn_destroy().
 *
 * Context: any.
 */
void xprtrdma_conn_put(struct xprtrdma_conn *conn)
{
	kref_put(&conn->xc_kref, conn_release);
}
