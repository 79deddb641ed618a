// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* How a responder sends a reply, and which R_key it invalidates */
#include "plan.h"
#include "chunk_list.hh"

using namespace rpcrdma;

/*
 * RFC 8166 sections 3.5.3 and 4.3.3: a reply that fits may go Short although there is a Reply
 * chunk; otherwise it goes into the Reply chunk, if that is large enough.
 */
enum rpcrdma_reply_path rpcrdma_plan_reply(u32 header_size, u32 length, u32 inline_send,
					   const struct rpcrdma_chunk *reply_chunk)
{
	if (u64(header_size) + length <= inline_send)
		return RPCRDMA_REPLY_INLINE;
	if (reply_chunk && length <= reply_chunk->length && header_size <= inline_send)
		return RPCRDMA_REPLY_CHUNK;
	return RPCRDMA_REPLY_TOO_LARGE; /* section 4.5.3 */
}

/*
 * Finds the handle of the first segment in the first chunk that has a segment. The last segment
 * would be wrong: the in-tree client ends a Write chunk with a segment for padding, whose R_key all
 * of its RPCs share.
 */
static bool first_handle(const rpcrdma_chunk_lists &lists, Span<rpcrdma_chunk> chunks, u32 &handle)
{
	for (const rpcrdma_chunk &chunk : chunks)
		for (const rpcrdma_segment &segment : chunk_segments(lists, chunk)) {
			handle = segment.handle;
			return true;
		}
	return false;
}

/*
 * RFC 8797 section 4.1: an R_key is invalidated only if both peers support that, and only a handle
 * that came with this call.
 */
bool rpcrdma_choose_rkey(const struct rpcrdma_chunk_lists *lists, bool negotiated, u32 *rkey)
{
	return negotiated && (first_handle(*lists, reply_chunks(*lists), *rkey) ||
			      first_handle(*lists, write_chunks(*lists), *rkey) ||
			      first_handle(*lists, read_chunks(*lists), *rkey));
}
