// SPDX-License-Identifier: GPL-2.0
/* The bodies of the tracepoints, and the arguments of those about messages and chains. */
#include "recv_ctxt.h"
#include "send_ctxt.h"
#include "svcrdma.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/**
 * svcrdma_trace_received - tell of a message, as it came and when
 * @t: transport
 * @rc: with the message
 *
 * Context: the Receive's completion handler.
 */
void svcrdma_trace_received(const struct svcrdma_transport *t, const struct svcrdma_recv_ctxt *rc)
{
	rpcrdma_buffer_to_cpu(&rc->rc_buffer, rc->rc_byte_len);
	trace_svcrdma_message(t->st_connection.cn_number, t->st_xprt.xpt_remotebuf, false,
			      rc->rc_buffer.bf_data, rc->rc_byte_len, false, 0);
}

/**
 * svcrdma_trace_sent - tell of a message that is going to be posted
 * @t: transport
 * @sc: with the message
 *
 * Context: any.
 */
void svcrdma_trace_sent(const struct svcrdma_transport *t, const struct svcrdma_send_ctxt *sc)
{
	bool invalidates = sc->sc_wr.opcode == IB_WR_SEND_WITH_INV;

	trace_svcrdma_message(t->st_connection.cn_number, t->st_xprt.xpt_remotebuf, true,
			      sc->sc_buffer.bf_data, sc->sc_buffer.bf_sge.length, invalidates,
			      invalidates ? sc->sc_wr.ex.invalidate_rkey : 0);
}

/**
 * svcrdma_trace_transfers - tell of RDMA Reads and Writes
 * @t: transport
 * @wr: the chain that is going to be posted
 * @end: the first of it that is not to be told of, or NULL
 *
 * Context: any.
 */
void svcrdma_trace_transfers(const struct svcrdma_transport *t, const struct ib_send_wr *wr,
			     const struct ib_send_wr *end)
{
	for (; wr != end; wr = wr->next)
		if (rpcrdma_wr_is_transfer(wr))
			trace_svcrdma_transfer(t->st_connection.cn_number,
					       t->st_xprt.xpt_remotebuf,
					       wr->opcode == IB_WR_RDMA_WRITE, rdma_wr(wr)->rkey,
					       rdma_wr(wr)->remote_addr, rpcrdma_wr_length(wr));
}
