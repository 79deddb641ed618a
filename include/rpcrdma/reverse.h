/* SPDX-License-Identifier: GPL-2.0 */
/* Calls in the reverse direction: RFC 8167 */
#ifndef RPCRDMA_REVERSE_H
#define RPCRDMA_REVERSE_H

#include "call_plan.h"
#include "chunk_list.h"

/* What the responder can do on this connection. */
struct rpcrdma_reverse_bounds {
	u32 max_call;		/* bytes of an RPC call */
	bool may_read;		/* RDMA Reads are possible */
	bool may_write;		/* RDMA Writes are */
};

enum rpcrdma_reverse_call {
	RPCRDMA_REVERSE_SHORT,	/* all of it is here */
	RPCRDMA_REVERSE_READ,	/* the Read chunks have to be read first */
	RPCRDMA_REVERSE_REFUSE,	/* ERR_CHUNK: RFC 8166 section 4.5.3 */
};

struct rpcrdma_callback_shape {
	u32 call_length;	/* whole RPC call, bytes */
	u32 call_segments;	/* segments of a chunk of it */
	u32 reply_length;	/* upper bound, bytes */
	u32 reply_segments;	/* segments of a Reply chunk */
	u32 inline_send;	/* thresholds of this connection, bytes */
	u32 inline_recv;
	bool may_have_chunks;	/* both have said so */
	bool replies_are_pulled;	/* an RDMA_NOMSG may be a reply to be read */
};

RPCRDMA_BEGIN_C_ABI

/*
 * How the responder takes a call with a valid header. Accepted are: no chunk; one Position
 * Zero Read chunk without an inline part; Read chunks at other Positions, none of them empty;
 * a Reply chunk of RPCRDMA_MAX_SEGMENTS_SENT segments or less; no Write chunks.
 * @inline_length: bytes of RPC message behind the header
 * @length: gets the bytes of the whole call; not for RPCRDMA_REVERSE_REFUSE
 */
enum rpcrdma_reverse_call
rpcrdma_plan_reverse_call(const struct rpcrdma_chunk_lists *lists, u32 inline_length,
			  const struct rpcrdma_reverse_bounds *bounds, u32 *length);

/*
 * How the requester sends a call; of @plan position_zero, reply_chunk, header_size and
 * inline_length are for it. Returns false when the call cannot be sent at all on this
 * connection.
 */
bool rpcrdma_plan_callback(const struct rpcrdma_callback_shape *shape,
			   struct rpcrdma_call_plan *plan);

/*
 * Is an RDMA_NOMSG from a server, on a connection where both have agreed that replies may
 * come as Position Zero Read chunks, such a reply? Otherwise it is a Long call: these have
 * a Reply chunk there that is not empty, and a reply has none.
 */
bool rpcrdma_is_pulled_reply(const struct rpcrdma_chunk_lists *lists);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_REVERSE_H */
