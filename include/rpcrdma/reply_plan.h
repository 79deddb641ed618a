/* SPDX-License-Identifier: GPL-2.0 */
/* How a responder sends a reply, and which R_key it invalidates */
#ifndef RPCRDMA_REPLY_PLAN_H
#define RPCRDMA_REPLY_PLAN_H

#include "chunk_list.h"

enum rpcrdma_reply_path {
	RPCRDMA_REPLY_INLINE,	/* RDMA_MSG */
	RPCRDMA_REPLY_CHUNK,	/* RDMA_NOMSG through the Reply chunk */
	RPCRDMA_REPLY_TOO_LARGE,	/* Read chunk, or ERR_CHUNK: RFC 8166 section 4.5.3 */
};

RPCRDMA_BEGIN_C_ABI

/*
 * @header_size: of the reply's header with the returned lists
 * @length: what is left of the RPC reply after the Write chunks took theirs
 * The Reply chunk is used only when the reply does not fit inline.
 */
enum rpcrdma_reply_path rpcrdma_plan_reply(u32 header_size, u32 length,
					   u32 inline_send,
					   const struct rpcrdma_chunk *reply_chunk);

/*
 * Picks the R_key for Send With Invalidate: of the Reply chunk, else the first
 * Write chunk, else the first Read chunk with a segment; only when @negotiated.
 * Returns false for none.
 */
bool rpcrdma_choose_rkey(const struct rpcrdma_chunk_lists *lists, bool negotiated,
			 u32 *rkey);

/* True if @rkey is the handle of a segment in @lists. */
bool rpcrdma_lists_have_rkey(const struct rpcrdma_chunk_lists *lists, u32 rkey);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_REPLY_PLAN_H */
