// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Functions by which all other files tell a connection that there is a message to receive, or that
 * it has to end, and for which reason. recvfrom.c and connection.c act on that.
 */
#include "svcrdma.h"
#include "trace.h"

/**
 * svcrdma_transport_data - tell nfsd that there is something to receive
 * @t: transport
 *
 * nfsd is told of a message that comes before the connection is ESTABLISHED when
 * transport_established() calls this function. That message waits in the completion queue; or the
 * worker has polled it, and added it to st_recv.ready with a full barrier before this function read
 * the state.
 *
 * Context: any.
 * Return: true: nfsd is told. false: the connection is not ESTABLISHED yet, or not any more.
 */
bool svcrdma_transport_data(struct svcrdma_transport *t)
{
	if (READ_ONCE(t->st_state) != RPCRDMA_CONN_ESTABLISHED)
		return false;
	/* A thread that clears XPT_DATA after this sees the new work: pairs with recv_next(). */
	smp_mb__before_atomic();
	set_bit(XPT_DATA, &t->st_xprt.xpt_flags);
	svc_xprt_enqueue(&t->st_xprt);
	return true;
}

/**
 * svcrdma_connection_note_end - note the reason why a connection ends
 * @t: transport
 * @why: reason, which is ignored if another reason was noted before
 *
 * Context: any.
 */
void svcrdma_connection_note_end(struct svcrdma_transport *t, enum rpcrdma_end why)
{
	cmpxchg(&t->st_end, RPCRDMA_END_UNKNOWN, why);
}

/**
 * svcrdma_transport_close - close a connection that is lost or has to end
 * @t: transport
 * @why: reason, which is ignored if the connection was closed before
 *
 * Context: completion and CM handlers, work items that the teardown waits for, and threads that
 * hold a reference.
 */
void svcrdma_transport_close(struct svcrdma_transport *t, enum rpcrdma_end why)
{
	if (!svcrdma_sq_close(t))
		return;
	svcrdma_connection_note_end(t, why);
	trace_svcrdma_closing(t, 0);
	svc_xprt_deferred_close(&t->st_xprt);
}

/**
 * svcrdma_wc_error - end the connection of a completion that has failed
 * @t: transport
 * @what: kind of the work request, for the trace; a flush is not traced
 * @why: reason of the end, which is ignored for a flush, and if the connection was closed before
 * @wc: completion
 *
 * Context: completion handlers.
 */
void svcrdma_wc_error(struct svcrdma_transport *t, const char *what, enum rpcrdma_end why,
		      const struct ib_wc *wc)
{
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		trace_svcrdma_wc_err(t, what, wc);
	svcrdma_transport_close(t, rpcrdma_end_of(wc, why));
}
