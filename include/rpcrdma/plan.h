/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * How each message is sent, and which memory is offered or used for it: calls and their replies,
 * RFC 8166 sections 3.5 and 4.3, and calls in the reverse direction, RFC 8167. Each section below
 * has a C++ file. An item is an argument or a result that may be moved out of the message
 * (DDP-eligible).
 */
#ifndef RPCRDMA_PLAN_H
#define RPCRDMA_PLAN_H

#include "chunk_list.h"

RPCRDMA_BEGIN_C_ABI

/* ---- reply_history.cc: what earlier replies of a procedure say about the next one's size ---- */

enum { RPCRDMA_HISTORY_SIZE = 256 };

/**
 * struct rpcrdma_reply_history - the history of all procedures of one transport
 * @levels: for each procedure, how many large replies it had lately; all zero at first, so that
 *	small replies are expected. The caller needs no lock for the functions below.
 */
struct rpcrdma_reply_history {
	u8 levels[RPCRDMA_HISTORY_SIZE];
};

/**
 * rpcrdma_expect_large - will the next reply of a procedure be a large one?
 * @history: the history
 * @procedure: the procedure; numbers that are equal modulo %RPCRDMA_HISTORY_SIZE share a level
 */
bool rpcrdma_expect_large(const struct rpcrdma_reply_history *history, u32 procedure);

/**
 * rpcrdma_note_reply - note the size of a reply
 * @history: the history
 * @procedure: the procedure
 * @large: the reply was larger than what goes inline
 */
void rpcrdma_note_reply(struct rpcrdma_reply_history *history, u32 procedure, bool large);

/* ---- call_plan.cc: how a requester sends a call, and which memory it offers for the reply ---- */

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

/* ---- reply_plan.cc: how a responder sends a reply, and which R_key it invalidates ---- */

enum rpcrdma_reply_path {
	RPCRDMA_REPLY_INLINE,		/* RDMA_MSG */
	RPCRDMA_REPLY_CHUNK,		/* RDMA_NOMSG with the Reply chunk */
	RPCRDMA_REPLY_TOO_LARGE,	/* the caller exposes it, or sends ERR_CHUNK (4.5.3) */
};

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

/*
 * ---- reverse.cc: calls in the reverse direction ----
 *
 * The NFS server is the requester, and the NFS client is the responder.
 */

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
 *	announced chunks in the reverse direction, call_segments and reply_length are 0, so that no
 *	chunk is planned.
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
 * This is for connections on which both peers announced such replies. There, a Long call always has
 * a Reply chunk that is not empty, and a reply in a Read chunk has none, or an empty one.
 */
bool rpcrdma_is_pulled_reply(const struct rpcrdma_chunk_lists *lists);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_PLAN_H */
