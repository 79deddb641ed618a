// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* The bodies of the tracepoints, and the functions that trace messages, Reads and Writes. */
#include "connection.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/**
 * xprtrdma_trace_message - trace a message
 * @conn: the connection
 * @message: the message, which the CPU may read
 * @length: bytes of the message
 * @wc: completion of a received message, or NULL for a message that is going to be posted
 *
 * Context: any.
 */
void xprtrdma_trace_message(const struct xprtrdma_conn *conn, const void *message, u32 length,
			    const struct ib_wc *wc)
{
	const struct xprtrdma_transport *transport = conn->xc_transport;
	bool invalidates = wc && wc->wc_flags & IB_WC_WITH_INVALIDATE;

	trace_xprtrdma_message(transport->xt_connection.cn_number,
			       XPRTRDMA_PEER(&transport->xt_xprt), !wc, message, length,
			       invalidates, invalidates ? wc->ex.invalidate_rkey : 0);
}

/**
 * xprtrdma_trace_transfers - trace the RDMA Reads and Writes of a chain
 * @conn: the connection
 * @wr: the chain that is going to be posted
 *
 * Context: any.
 */
void xprtrdma_trace_transfers(const struct xprtrdma_conn *conn, const struct ib_send_wr *wr)
{
	const struct xprtrdma_transport *transport = conn->xc_transport;

	for (; wr; wr = wr->next)
		if (rpcrdma_wr_is_transfer(wr))
			trace_xprtrdma_transfer(transport->xt_connection.cn_number,
						XPRTRDMA_PEER(&transport->xt_xprt), wr);
}
