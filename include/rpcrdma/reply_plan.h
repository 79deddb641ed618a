/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* How a responder sends a reply, and which R_key it invalidates */
#ifndef RPCRDMA_REPLY_PLAN_H
#define RPCRDMA_REPLY_PLAN_H

#include "chunk_list.h"

enum rpcrdma_reply_path {
	RPCRDMA_REPLY_INLINE,		/* RDMA_MSG */
	RPCRDMA_REPLY_CHUNK,		/* RDMA_NOMSG with the Reply chunk */
	RPCRDMA_REPLY_TOO_LARGE,	/* exposed, or ERR_CHUNK: RFC 8166 section 4.5.3 */
};

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_plan_reply - choose how a reply is sent
 * @header_size: bytes of its transport header, with the chunk lists that are returned
 * @length: bytes of the RPC reply without the items that Write chunks carry
 * @inline_send: largest message that the responder may send, in bytes
 * @reply_chunk: the call's Reply chunk, or NULL; used only for a reply that is not sent inline
 */
enum rpcrdma_reply_path rpcrdma_plan_reply(u32 header_size, u32 length,
					   u32 inline_send,
					   const struct rpcrdma_chunk *reply_chunk);

/**
 * rpcrdma_choose_rkey - choose the R_key for Send With Invalidate
 * @lists: chunk lists of the call
 * @negotiated: both peers support remote invalidation (RFC 8797 section 4.1)
 * @rkey: gets the handle of the first segment of the Reply chunk, else of the first Write chunk
 *	that has one, else of the first Read chunk that has one
 *
 * Return: false when no R_key may be invalidated.
 */
bool rpcrdma_choose_rkey(const struct rpcrdma_chunk_lists *lists, bool negotiated, u32 *rkey);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_REPLY_PLAN_H */
