// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA Reads and Writes, and who hears of their errors.
 *
 * Of a chain only the last request is signalled. One before it that fails is reported, too,
 * but only to a completion of its own; the last one is merely flushed. So every request of a
 * chain has one.
 */
#include "verbs.h"

/**
 * rpcrdma_chain_hear - somebody is to hear of errors in a chain
 * @first: of the chain
 * @end: the first one that is not of it, or NULL
 * @cqe: completion of those that have none; for errors only
 *
 * Context: any.
 */
void rpcrdma_chain_hear(struct ib_send_wr *first, const struct ib_send_wr *end,
			struct ib_cqe *cqe)
{
	for (; first != end; first = first->next)
		if (!first->wr_cqe)
			first->wr_cqe = cqe;
}

/**
 * rpcrdma_transfer_init - one RDMA Read or Write
 * @transfer: the request
 * @opcode: IB_WR_RDMA_READ or IB_WR_RDMA_WRITE
 * @local: bytes here
 * @segment: the peer's memory
 * @from: where in it they begin; there is room for them
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
 * rpcrdma_transfers_chain - RDMA Reads or Writes, of which the last is signalled
 * @transfers: the requests
 * @count: their number, not 0
 * @part: completion of the others; for errors only
 * @last: completion of the last one
 *
 * Context: any.
 * Return: what to post.
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
 * rpcrdma_probe_init - something that the peer's HCA has to acknowledge
 * @probe: an RDMA Write of no bytes, for which the peer's HCA looks at neither R_key nor address
 *	(InfiniBand C9-88, RFC 5040 section 5.1); signalled. Nobody else there hears of it
 * @cqe: its completion
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
