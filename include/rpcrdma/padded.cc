// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA_MSGP, RFC 5666 sections 3.9 and 4.3: an RDMA_MSG with two more words, rdma_align
 * and rdma_thresh, before its chunk lists. Nobody knows for sure how such a message is
 * padded (RFC 8166 section 4.6.1); this tells those that cannot be padded at all.
 */
#include "header.hh"
#include "rpc_message.h"

using namespace rpcrdma;

/* Where an item may begin in a message of whole XDR units, it is aligned already. */
static constexpr bool pads_nothing(u32 align)
{
	return !align || RPCRDMA_XDR_UNIT % align == 0;
}

/* Bytes of the RPC message before it was reduced */
static u64 unreduced_size(u64 payload, const rpcrdma_chunk_lists &lists)
{
	for (u32 i = 0; i < lists.nr_read; i++)
		payload += lists.chunks[i].length;
	return payload;
}

/*
 * No padding applies if
 * - rdma_align is 0, so no alignment is asked for, or 1, 2 or 4: all items of an XDR
 *   stream begin at a multiple of four, in the RPC message and in the Send; or
 * - the whole message, with what its Read chunks bring, is not longer than rdma_thresh.
 *   Padding goes to opaque items of at least (section 3.9, first), or of more than
 *   (there, last) rdma_thresh bytes. Each item is shorter than the message, which
 *   begins with its XID, so this holds whichever of the two the sender believes.
 */
static bool no_padding_applies(u32 align, u32 thresh, u64 size)
{
	return pads_nothing(align) || size <= thresh;
}

static Status read_unpadded(Reader &reader, rpcrdma_header &header,
			    rpcrdma_chunk_lists &lists)
{
	u32 align = reader.read_u32();
	u32 thresh = reader.read_u32();
	Status status;

	header.proc = RPCRDMA_MSG;
	status = read_lists(reader, header, lists);
	if (!status.ok())
		return status;
	Span<const u8> payload = reader.take(reader.remaining());
	if (rpcrdma_message_direction(payload.data(), u32(payload.size())) !=
		    RPCRDMA_RPC_CALL ||
	    !no_padding_applies(align, thresh,
				unreduced_size(payload.size(), lists)))
		return RPCRDMA_BAD_PROC;
	return {};
}

/* @header stays what it was unless the message is fit to be served. */
enum rpcrdma_status rpcrdma_unpadded_decode(const void *message, u32 length,
					    struct rpcrdma_header *header,
					    struct rpcrdma_chunk_lists *lists)
{
	rpcrdma_header found = {};
	Reader reader(message, length);
	Status status = RPCRDMA_BAD_PROC;

	clear_lists(*lists);
	read_fixed_header(reader, found);
	if (!reader.failed() && found.vers == RPCRDMA_VERSION &&
	    found.proc == RPCRDMA_MSGP)
		status = read_unpadded(reader, found, *lists);
	if (status.ok())
		*header = found;
	else
		clear_lists(*lists);
	return status.code();
}
