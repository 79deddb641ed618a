/* SPDX-License-Identifier: GPL-2.0 */
/* How a requester sends a call and wants its reply */
#ifndef RPCRDMA_CALL_PLAN_H
#define RPCRDMA_CALL_PLAN_H

#include "protocol.h"

struct rpcrdma_call_shape {
	u32 call_length;	/* whole RPC call, bytes, padding included */
	u32 call_position;	/* where the argument item starts; 0: none */
	u32 call_item_length;	/* bytes of it, without padding; 0: none */
	u32 call_item_segments;	/* segments that it needs when reduced */
	u32 call_segments;	/* segments of a whole-message chunk */
	u32 reply_length;	/* upper bound of the whole reply, bytes */
	u32 reply_item_length;	/* upper bound of the result item; 0: none */
	u32 reply_item_segments;
	u32 reply_segments;	/* segments of a Reply chunk */
	u32 inline_send;	/* thresholds of this connection, bytes */
	u32 inline_recv;
	bool may_reduce;	/* false under RPCSEC_GSS integrity and privacy */
	bool reply_pullable;	/* a large reply may come as a Read chunk */
	bool expect_large;	/* what earlier replies say; see rpcrdma_expect_large() */
};

struct rpcrdma_call_plan {
	bool position_zero;	/* RDMA_NOMSG; whole call in a Position Zero chunk */
	bool read_chunk;	/* the argument item goes in a Read chunk */
	bool write_chunk;	/* a Write chunk for the result item */
	bool reply_chunk;
	bool by_history;	/* what earlier replies say has decided on @left_open */
	bool left_open;		/* no memory for a reply that may be large */
	u32 header_size;	/* upper bound, bytes */
	u32 inline_length;	/* bytes of RPC message in the Send */
};

RPCRDMA_BEGIN_C_ABI

/*
 * Prefers, in this order: everything inline; item reduced; whole message.
 * Returns false when the call cannot be sent at all on this connection (more than
 * RPCRDMA_MAX_SEGMENTS_SENT segments in a list, or the header alone is too large).
 */
bool rpcrdma_plan_call(const struct rpcrdma_call_shape *shape,
		       struct rpcrdma_call_plan *plan);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_CALL_PLAN_H */
