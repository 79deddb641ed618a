// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * RDMA Reads and Writes of the client, the completions that report their errors, and the probe of
 * both sides. The server has its Reads and Writes from rdma_rw.
 *
 * Only the last work request of a chain is signalled. When an earlier request fails, the device
 * reports the error by the completion of that request, and flushes the last one. So each request of
 * a chain has a wr_cqe.
 */
#include "verbs.h"

/**
 * rpcrdma_transfer_init - prepare one RDMA Read or Write
 * @transfer: the transfer
 * @opcode: IB_WR_RDMA_READ or IB_WR_RDMA_WRITE
 * @local: the local memory
 * @segment: the memory of the peer
 * @from: offset in @segment in bytes; the rest of @segment is at least as long as @local
 *
 * Context: any.
 */
void rpcrdma_transfer_init(struct rpcrdma_transfer *transfer, enum ib_wr_opcode opcode,
			   const struct ib_sge *local,
			   const struct rpcrdma_segment *segment, u32 from)
{
	*transfer = (struct rpcrdma_transfer) {
		.tr_sge			= *local,
		.tr_wr.wr.opcode	= opcode,
		.tr_wr.wr.sg_list	= &transfer->tr_sge,
		.tr_wr.wr.num_sge	= 1,
		.tr_wr.remote_addr	= segment->offset + from,
		.tr_wr.rkey		= segment->handle,
	};
}

/**
 * rpcrdma_transfers_chain - chain RDMA Reads or Writes, of which the last is signalled
 * @transfers: array of transfers
 * @count: number of its elements, at least one
 * @part: completion of each transfer but the last; it comes only when such a transfer fails
 * @last: completion of the last transfer
 *
 * Context: any.
 * Return: first work request to post.
 */
struct ib_send_wr *rpcrdma_transfers_chain(struct rpcrdma_transfer *transfers, u32 count,
					   struct ib_cqe *part, struct ib_cqe *last)
{
	struct ib_send_wr *next = NULL;

	while (count--) {
		transfers[count].tr_wr.wr.next = next;
		transfers[count].tr_wr.wr.wr_cqe = next ? part : last;
		transfers[count].tr_wr.wr.send_flags = next ? 0 : IB_SEND_SIGNALED;
		next = &transfers[count].tr_wr.wr;
	}
	return next;
}

/**
 * rpcrdma_probe_init - prepare a work request that shows whether the peer's device is reachable
 * @probe: becomes a signalled RDMA Write of no bytes. The peer's device acknowledges it, checks
 *	neither R_key nor address (InfiniBand C9-88, RFC 5040 section 5.1), and reports nothing to
 *	the peer's software.
 * @cqe: completion of @probe
 *
 * Context: any.
 */
void rpcrdma_probe_init(struct ib_rdma_wr *probe, struct ib_cqe *cqe)
{
	*probe = (struct ib_rdma_wr) {
		.wr.opcode	= IB_WR_RDMA_WRITE,
		.wr.send_flags	= IB_SEND_SIGNALED,
		.wr.wr_cqe	= cqe,
	};
}
