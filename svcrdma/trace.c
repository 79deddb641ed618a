// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Bodies of the tracepoints, and functions that call those for messages and chains. */
#include "recv_ctxt.h"
#include "send_ctxt.h"
#include "svcrdma.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/**
 * svcrdma_trace_received - trace a message that has come, before it is handled
 * @t: transport
 * @rc: context with the message
 *
 * Context: the Receive's completion handler.
 */
void svcrdma_trace_received(const struct svcrdma_transport *t, const struct svcrdma_recv_ctxt *rc)
{
	trace_svcrdma_message(t->st_connection.cn_number, SVCRDMA_PEER(t), false,
			      rc->rc_buffer.bf_data, rc->rc_byte_len, false, 0);
}

/**
 * svcrdma_trace_sent - trace a message that is about to be posted
 * @t: transport
 * @sc: context with the message
 *
 * Context: any.
 */
void svcrdma_trace_sent(const struct svcrdma_transport *t, const struct svcrdma_send_ctxt *sc)
{
	bool invalidates = sc->sc_wr.opcode == IB_WR_SEND_WITH_INV;

	trace_svcrdma_message(t->st_connection.cn_number, SVCRDMA_PEER(t), true,
			      sc->sc_buffer.bf_data, sc->sc_buffer.bf_sge.length, invalidates,
			      invalidates ? sc->sc_wr.ex.invalidate_rkey : 0);
}

/**
 * svcrdma_trace_transfers - trace the RDMA Reads and Writes of a chain
 * @t: transport
 * @wr: first work request of the chain, which is about to be posted
 * @end: first work request of the chain that is not to be traced, or NULL
 *
 * Context: any.
 */
void svcrdma_trace_transfers(const struct svcrdma_transport *t, const struct ib_send_wr *wr,
			     const struct ib_send_wr *end)
{
	for (; wr != end; wr = wr->next)
		if (rpcrdma_wr_is_transfer(wr))
			trace_svcrdma_transfer(t->st_connection.cn_number, SVCRDMA_PEER(t), wr);
}
