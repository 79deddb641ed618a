// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The state, the end and the references of a connection. Every other file may call this one, which
 * calls no other file of the client.
 */
#include "connection.h"
#include "trace.h"

/* Changes xc_state; no other function does. Returns the old state. */
static enum rpcrdma_conn_state conn_advance(struct xprtrdma_conn *conn,
					    enum rpcrdma_conn_event event)
{
	enum rpcrdma_conn_state old;

	lockdep_assert_held(&conn->xc_lock);
	old = conn->xc_state;
	/* xprtrdma_conn_established() reads the state without the lock, as a hint. */
	WRITE_ONCE(conn->xc_state, rpcrdma_conn_next(old, event));
	return old;
}

/**
 * xprtrdma_conn_event - change the state of a connection as an event requires
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
	if (!conn->xc_end)
		WRITE_ONCE(conn->xc_end, why);
	spin_unlock(&conn->xc_lock);
}

/**
 * xprtrdma_conn_fail - fail a connection that is of no more use
 * @conn: the connection
 * @why: reason for the end, which is noted if the connection was established until now
 *
 * Context: any; the caller knows that @conn exists.
 */
void xprtrdma_conn_fail(struct xprtrdma_conn *conn, enum rpcrdma_end why)
{
	enum rpcrdma_conn_state old;

	spin_lock(&conn->xc_lock);
	old = conn_advance(conn, RPCRDMA_EVENT_FAILED);
	/*
	 * The close is requested under the lock. Otherwise xprtrdma_conn_destroy() could overtake
	 * the request, which would then close the next connection.
	 */
	if (old == RPCRDMA_CONN_ESTABLISHED) {
		if (!conn->xc_end)
			WRITE_ONCE(conn->xc_end, why);
		xprt_force_disconnect(&conn->xc_transport->xt_xprt);
		complete(&conn->xc_wake);
	}
	spin_unlock(&conn->xc_lock);
}

/**
 * xprtrdma_conn_fail_wc - fail a connection on which a work request has failed
 * @conn: the connection
 * @what: kind of work request, for the trace event
 * @wc: completion of the work request
 * @why: reason for the end, unless the request was only flushed: see rpcrdma_end_of()
 *
 * Context: CQ handlers.
 */
void xprtrdma_conn_fail_wc(struct xprtrdma_conn *conn, const char *what, const struct ib_wc *wc,
			   enum rpcrdma_end why)
{
	trace_xprtrdma_wc(&conn->xc_transport->xt_xprt, what, wc);
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
 * The last reference frees only memory; xprtrdma_conn_destroy() has freed all other resources.
 *
 * Context: any.
 */
void xprtrdma_conn_put(struct xprtrdma_conn *conn)
{
	kref_put(&conn->xc_kref, conn_release);
}
