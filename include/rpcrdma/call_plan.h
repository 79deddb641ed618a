/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * How a requester sends a call, and which memory it offers for the reply: RFC 8166 sections 3.5 and
 * 4.3. An item is an argument or a result that may be moved out of the message (DDP-eligible).
 */
#ifndef RPCRDMA_CALL_PLAN_H
#define RPCRDMA_CALL_PLAN_H

#include "protocol.h"

/**
 * struct rpcrdma_call_shape - what a plan depends on
 * @call_length: size of the whole RPC call in bytes, with padding
 * @call_position: offset of the argument item in the call, in bytes; 0 for a call without one
 * @call_item_length: size of the argument item in bytes, without padding; 0 for none
 * @call_item_segments: segments of a Read chunk for the argument item
 * @call_segments: segments of a Position Zero Read chunk for the whole call
 * @reply_length: largest size that the whole RPC reply may have, in bytes
 * @reply_item_length: largest size that the result item may have, in bytes; 0 for none
 * @reply_item_segments: segments of a Write chunk for the result item
 * @reply_segments: segments of a Reply chunk for the whole reply
 * @inline_send: largest message that may be sent on this connection, in bytes
 * @inline_recv: largest message that may come on this connection, in bytes
 * @may_reduce: items may be moved; false under RPCSEC_GSS integrity and privacy
 * @reply_pullable: a reply for which no memory was offered may come as a Read chunk
 * @expect_large: what rpcrdma_expect_large() says about the reply
 */
struct rpcrdma_call_shape {
	u32 call_length;
	u32 call_position;
	u32 call_item_length;
	u32 call_item_segments;
	u32 call_segments;
	u32 reply_length;
	u32 reply_item_length;
	u32 reply_item_segments;
	u32 reply_segments;
	u32 inline_send;
	u32 inline_recv;
	bool may_reduce;
	bool reply_pullable;
	bool expect_large;
};

/**
 * struct rpcrdma_call_plan - how the call is sent
 * @position_zero: as RDMA_NOMSG, with the whole call in a Position Zero Read chunk
 * @read_chunk: as RDMA_MSG, with the argument item in a Read chunk
 * @write_chunk: with a Write chunk for the result item
 * @reply_chunk: with a Reply chunk
 * @by_history: rpcrdma_expect_large() has decided whether memory is offered
 * @left_open: no memory is offered, although the reply may be too large to go inline
 * @header_size: largest size that the transport header may have, in bytes
 * @inline_length: bytes of the RPC call in the Send
 */
struct rpcrdma_call_plan {
	bool position_zero;
	bool read_chunk;
	bool write_chunk;
	bool reply_chunk;
	bool by_history;
	bool left_open;
	u32 header_size;
	u32 inline_length;
};

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_plan_short - can call and reply both go in Short Messages? RFC 8166 section 3.5.1
 * @shape: what the choice depends on; only the lengths of call and reply, and the largest messages
 *	of the connection, are looked at
 * @plan: gets the choice of rpcrdma_plan_call() if the result is true
 */
bool rpcrdma_plan_short(const struct rpcrdma_call_shape *shape, struct rpcrdma_call_plan *plan);

/**
 * rpcrdma_plan_call - choose how a call is sent
 * @shape: what the choice depends on
 * @plan: gets the choice: a Short message if it fits, else a reduced one, else a Long one
 *
 * Return: false when the call cannot be sent on this connection, because a chunk would have more
 * than %RPCRDMA_MAX_SEGMENTS_SENT segments or because the header alone is too large.
 */
bool rpcrdma_plan_call(const struct rpcrdma_call_shape *shape, struct rpcrdma_call_plan *plan);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_CALL_PLAN_H */
