/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * Calls in the reverse direction, RFC 8167: the NFS server is the requester, and the NFS client is
 * the responder.
 */
#ifndef RPCRDMA_REVERSE_H
#define RPCRDMA_REVERSE_H

#include "call_plan.h"
#include "chunk_list.h"

/**
 * struct rpcrdma_reverse_bounds - what the responder supports on a connection
 * @max_call: largest RPC call, in bytes
 * @may_read: Read chunks
 * @may_write: a Reply chunk
 */
struct rpcrdma_reverse_bounds {
	u32 max_call;
	bool may_read;
	bool may_write;
};

enum rpcrdma_reverse_call {
	RPCRDMA_REVERSE_SHORT,	/* the Send has brought the whole call */
	RPCRDMA_REVERSE_READ,	/* the Read chunks have to be read first */
	RPCRDMA_REVERSE_REFUSE,	/* answered by ERR_CHUNK: RFC 8166 section 4.5.3 */
};

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_plan_reverse_call - how the responder takes a call with a valid header
 * @lists: chunk lists of the call
 * @inline_length: bytes of the RPC message behind the header
 * @bounds: what the responder supports
 * @length: gets the size of the whole RPC call in bytes, or 0 for a call that is refused
 *
 * The responder takes a call without chunks, one with a single Position Zero Read chunk and no
 * inline part, and one with Read chunks at other Positions, none of them empty. The call may have a
 * Reply chunk of up to %RPCRDMA_MAX_SEGMENTS_SENT segments, and no Write chunk.
 */
enum rpcrdma_reverse_call
rpcrdma_plan_reverse_call(const struct rpcrdma_chunk_lists *lists, u32 inline_length,
			  const struct rpcrdma_reverse_bounds *bounds, u32 *length);

/**
 * rpcrdma_plan_callback - how the requester sends a call
 * @shape: what the choice depends on. No argument or result may be moved. If the peers have not
 *	announced chunks in the reverse direction, both lengths are those of messages without
 *	chunks: call_segments and reply_length are 0
 * @replies_are_pulled: both peers announced replies in Read chunks, so that an RDMA_NOMSG of the
 *	server may be one
 * @plan: gets the choice; read_chunk, write_chunk and left_open are never set
 *
 * Return: false when the call cannot be sent on this connection.
 */
bool rpcrdma_plan_callback(const struct rpcrdma_call_shape *shape, bool replies_are_pulled,
			   struct rpcrdma_call_plan *plan);

/**
 * rpcrdma_is_pulled_reply - is an RDMA_NOMSG from a server a reply in a Read chunk?
 * @lists: its chunk lists
 *
 * For connections on which both peers announced such replies. A Long call always has a Reply chunk
 * that is not empty there, and such a reply never has one.
 */
bool rpcrdma_is_pulled_reply(const struct rpcrdma_chunk_lists *lists);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_REVERSE_H */
