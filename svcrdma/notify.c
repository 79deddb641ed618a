// SPDX-License-Identifier: GPL-2.0
/*
 * What all other files tell a connection: that there is something to receive, that it has to end,
 * and why. What happens then is in recvfrom.c and in connection.c.
 */
#include "svcrdma.h"
#include "trace.h"

/**
 * svcrdma_transport_data - tell nfsd that there is something to receive
 * @t: transport
 *
 * A message that comes before ESTABLISHED is not shown here, and by transport_established()
 * then: it was added with a full barrier, before the state is looked at.
 *
 * Context: any.
 * Return: true: nfsd is told. false: the connection is not established yet, or not any more.
 */
bool svcrdma_transport_data(struct svcrdma_transport *t)
{
	if (READ_ONCE(t->st_state) != RPCRDMA_CONN_ESTABLISHED)
		return false;
	/* Whoever clears XPT_DATA after that sees what there is: pairs with recv_next(). */
	smp_mb__before_atomic();
	set_bit(XPT_DATA, &t->st_xprt.xpt_flags);
	svc_xprt_enqueue(&t->st_xprt);
	return true;
}

/**
 * svcrdma_connection_note_end - why does a connection end?
 * @t: transport
 * @why: what somebody has seen; the first one counts
 *
 * Context: any.
 */
void svcrdma_connection_note_end(struct svcrdma_transport *t, enum rpcrdma_end why)
{
	cmpxchg(&t->st_end, RPCRDMA_END_UNKNOWN, why);
}

/**
 * svcrdma_transport_close - the connection is lost or has to end
 * @t: transport
 * @why: if nobody has closed it before
 *
 * Context: completion and CM handlers, and threads that hold a reference.
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
 * svcrdma_wc_error - a completion that failed ends its connection
 * @t: transport
 * @what: was posted, for the trace; a flush is none of its own
 * @why: if nothing has failed before
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
