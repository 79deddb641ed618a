/* SPDX-License-Identifier: GPL-2.0 */
/*
 * C interface of the protocol's decisions. Pure functions over plain values: the
 * caller passes storage, limits and (where it matters) time, holds whatever lock
 * protects the storage, and does what the answer says. Any context.
 */
#ifndef RPCRDMA_LOGIC_H
#define RPCRDMA_LOGIC_H

#include "codec.h"

/* ---- CM private data and negotiation, RFC 8797 (cm_private.hh) ---- */

/* What a peer says of itself. Sizes in bytes, multiples of 1024. */
struct rpcrdma_cm_private {
	u32 send_size;
	u32 recv_size;
	bool remote_invalidation;
	bool present;		/* decode: a valid block was found */
	u16 extensions;		/* RPCRDMA_EXT_*; 0: no extension block */
};

/* What holds for one connection. Sizes in bytes, header included. */
struct rpcrdma_negotiated {
	u32 inline_send;	/* largest message that we may send */
	u32 inline_recv;	/* largest message that the peer may send */
	bool remote_invalidation;	/* both peers set R */
	bool read_chunk_replies;	/* replies may come as Read chunks */
	bool reverse_chunks;	/* calls of the server may have chunks */
};

RPCRDMA_BEGIN_C_ABI

/*
 * @buffer has RPCRDMA_CM_MAX_SIZE bytes. Returns how many were written: RPCRDMA_CM_SIZE
 * without extensions. Sizes outside the range are clamped.
 */
u32 rpcrdma_cm_private_encode(const struct rpcrdma_cm_private *local, void *buffer);

/*
 * Searches @buffer for the Format Identifier at each byte offset (RFC 8797
 * section 5.2). Without a valid block: 1024, 1024, no remote invalidation. The extension
 * block is looked for right behind it.
 */
void rpcrdma_cm_private_decode(const void *buffer, u32 length,
			       struct rpcrdma_cm_private *peer);

/* What a responder of the forward direction answers to @peer, if it can do all of it. */
u16 rpcrdma_extensions_answer(u16 peer);

void rpcrdma_cm_negotiate(const struct rpcrdma_cm_private *local,
			  const struct rpcrdma_cm_private *peer,
			  struct rpcrdma_negotiated *result);

RPCRDMA_END_C_ABI

/* ---- Connection Configuration Protocol, RFC 5666 section 6 (ccp.hh) ---- */

/* The client's question. Sizes in bytes. */
struct rpcrdma_config_request {
	u32 max_call;		/* largest that it sends inline */
	u32 max_reply;		/* largest that it takes inline */
	u32 max_reads;		/* RDMA Reads that it takes at a time */
};

/* The server's answer. */
struct rpcrdma_config_reply {
	u32 max_call;		/* largest that it takes inline */
	u32 align;
	u32 max_reads;		/* RDMA Reads that it does at a time */
};

/* A call as the server has it. @request is set if there is one, and it is right. */
struct rpcrdma_config_call {
	u32 xid;
	u32 procedure;
	enum rpcrdma_accept_stat status;	/* to be answered */
	struct rpcrdma_config_request request;
};

RPCRDMA_BEGIN_C_ABI

/* @buffer has RPCRDMA_CONFIG_CALL_SIZE bytes. Returns how many were written: all. */
u32 rpcrdma_config_call_encode(u32 xid, const struct rpcrdma_config_request *request,
			       void *buffer);

/*
 * @message: an RPC call. Returns false, and @call is of no meaning, when the call is not
 * for the transport to answer.
 */
bool rpcrdma_config_call_decode(const void *message, u32 length,
				struct rpcrdma_config_call *call);

/*
 * @inline_recv: largest message that the client may send, by private data
 * @read_depth: RDMA Reads that the server does at a time
 * @buffer has RPCRDMA_CONFIG_REPLY_SIZE bytes. Returns how many were written.
 */
u32 rpcrdma_config_reply_encode(const struct rpcrdma_config_call *call, u32 inline_recv,
				u32 read_depth, void *buffer);

/* @message: an RPC reply. Returns true when it answers the question, with @reply set. */
bool rpcrdma_config_reply_decode(const void *message, u32 length, u32 xid,
				 struct rpcrdma_config_reply *reply);

/* A size that both have agreed on, after the peer has @said another. */
u32 rpcrdma_config_lower(u32 agreed, u32 said);

RPCRDMA_END_C_ABI

/* ---- Credits of one direction, RFC 8166 section 3.3.1 (credits.hh) ---- */

/*
 * The requester's window on one connection. One call until the first grant
 * (section 3.3.3), then min(requested, granted). A grant of 0 counts as 1. A call is
 * in flight from its Send until all is done that its reply asks for.
 */
struct rpcrdma_window {
	u32 requested;
	u32 granted;
	u32 in_flight;
	u32 highest;	/* of in_flight, ever */
};

RPCRDMA_BEGIN_C_ABI

void rpcrdma_window_reset(struct rpcrdma_window *window, u32 requested);
/* A reply came: applies its grant, in the order of arrival; returns the window size. */
u32 rpcrdma_window_grant(struct rpcrdma_window *window, u32 granted);

RPCRDMA_END_C_ABI

/*
 * The responder's grants, where many connections share a budget. Each host may have an equal
 * part of it, and one part is left for a host that is yet to come; a host's connections share
 * its part. A grant never goes down. So hosts that have come early may have more than their
 * part is now, and the others what is left of the budget.
 */
struct rpcrdma_budget {
	u32 credits;		/* of all grants together; what the administrator wants */
	u32 granted;		/* of all grants together; what they are */
	u32 hosts;		/* that have connections, with the one that asks */
	u32 host_granted;	/* of all grants to this host */
	u32 host_connections;	/* this host's, with the one that asks */
};

enum {
	RPCRDMA_GRANT_FLOOR = 4,	/* that each connection has, whatever the budget is */
};

RPCRDMA_BEGIN_C_ABI

/*
 * @grant: the connection's now, part of granted and host_granted
 * Returns the grant that it may have at most: @grant, or more; at least RPCRDMA_GRANT_FLOOR.
 */
u32 rpcrdma_budget_limit(const struct rpcrdma_budget *budget, u32 grant);

RPCRDMA_END_C_ABI

/* What each call passes is in line. */

static inline u32 rpcrdma_window_size(const struct rpcrdma_window *window)
{
	return window->requested < window->granted ? window->requested : window->granted;
}

/* In one piece: others look at it without the lock, whose holder alone changes it. */
static inline void rpcrdma_window_set_in_flight(struct rpcrdma_window *window, u32 calls)
{
	__atomic_store_n(&window->in_flight, calls, __ATOMIC_RELAXED);
}

/* False: closed */
static inline bool rpcrdma_window_take(struct rpcrdma_window *window)
{
	u32 calls = window->in_flight + 1;

	if (calls > rpcrdma_window_size(window))
		return false;
	rpcrdma_window_set_in_flight(window, calls);
	if (calls > window->highest)
		window->highest = calls;
	return true;
}

/* The Send failed, or all is done that the reply asks for. */
static inline void rpcrdma_window_untake(struct rpcrdma_window *window)
{
	if (window->in_flight)
		rpcrdma_window_set_in_flight(window, window->in_flight - 1);
}

/* ---- Read chunks between the parts of a message, RFC 8166 section 3.4.5 (pieces.hh) ---- */

enum rpcrdma_piece_source {
	RPCRDMA_PIECE_INLINE,
	RPCRDMA_PIECE_CHUNK,
	RPCRDMA_PIECE_PAD,
};

/* A part of the unreduced message that comes from one place. */
struct rpcrdma_piece {
	enum rpcrdma_piece_source source;
	const struct rpcrdma_chunk *chunk;	/* for RPCRDMA_PIECE_CHUNK */
	u32 from;		/* where it begins in the source */
	u32 length;		/* bytes */
	u32 to;			/* where it begins in the message */
};

/* A walk over all of them, in order. */
struct rpcrdma_pieces {
	const struct rpcrdma_chunk_lists *lists;
	const struct rpcrdma_chunk *base;	/* at Position Zero; NULL: the inline part */
	u32 base_size;
	u32 base_used;		/* bytes of it that are behind */
	u32 next;		/* Read chunk that comes next */
	u32 pad;		/* bytes of padding that come next */
	u32 limit;		/* bytes that the message may have */
	u32 size;		/* bytes so far */
};

RPCRDMA_BEGIN_C_ABI

/* @inline_length: bytes behind the header; not looked at with a Position Zero chunk */
void rpcrdma_pieces_start(struct rpcrdma_pieces *walk,
			  const struct rpcrdma_chunk_lists *lists, u32 inline_length,
			  u32 limit);

/* Returns 1; 0 at the end; -1: the pieces do not fit together, or not in the limit. */
int rpcrdma_pieces_next(struct rpcrdma_pieces *walk, struct rpcrdma_piece *piece);

/* How long is the message? False: it does not fit together, or not in @limit. */
bool rpcrdma_pieces_measure(const struct rpcrdma_chunk_lists *lists, u32 inline_length,
			    u32 limit, u32 *size);

RPCRDMA_END_C_ABI

/* ---- How the client sends a call and wants its reply (call_plan.hh) ---- */

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

/* ---- Calls in the reverse direction, RFC 8167 (reverse.hh) ---- */

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

/* ---- How large replies have been (reply_history.hh) ---- */

enum { RPCRDMA_HISTORY_SIZE = 256 };

/*
 * For each procedure, how much speaks for a large reply. All zero at first: then small
 * ones are expected.
 */
struct rpcrdma_reply_history {
	u8 levels[RPCRDMA_HISTORY_SIZE];
};

RPCRDMA_BEGIN_C_ABI

/* @procedure: any number; those that are equal modulo the size share what is learned */
bool rpcrdma_expect_large(const struct rpcrdma_reply_history *history, u32 procedure);

/* A reply has come, that did not fit inline (@large) or would have. */
void rpcrdma_note_reply(struct rpcrdma_reply_history *history, u32 procedure,
			bool large);

RPCRDMA_END_C_ABI

/* ---- How the server sends a reply (reply_plan.hh) ---- */

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

/* ---- Replies that a responder exposes (exposures.hh) ---- */

/*
 * One exposed reply. Known by its XID from arming on, until @expires, in whatever unit
 * of time the caller counts.
 */
struct rpcrdma_exposure {
	u32 xid;
	u32 bytes;
	u64 expires;
	u8 state;		/* free, claimed or taken, armed */
	void *owner;		/* the caller's; NULL when claimed, and when released */
};

/*
 * The exposed replies of one connection, over the caller's storage of @size elements,
 * which are zero at first. Bounded by it, and by @max_bytes.
 */
struct rpcrdma_exposures {
	struct rpcrdma_exposure *slots;
	u32 size;
	u32 used;
	u64 bytes;
	u64 max_bytes;
};

RPCRDMA_BEGIN_C_ABI

/* Claims a slot for a reply of @bytes. Returns its index, or -1 at a bound. */
int rpcrdma_exposures_claim(struct rpcrdma_exposures *table, u32 xid, u32 bytes);

/* The reply in @slot is about to be sent: from now on it can be found. */
void rpcrdma_exposures_arm(struct rpcrdma_exposures *table, int slot, u64 expires);

/*
 * Takes the oldest armed one with this XID, or returns -1. What was taken is not found
 * again, and keeps its slot until it is released. A client that repeats a call on one
 * connection gets its reply exposed twice, and says so twice.
 */
int rpcrdma_exposures_take(struct rpcrdma_exposures *table, u32 xid);

/* Takes one whose time is over at @now, or returns -1. */
int rpcrdma_exposures_take_expired(struct rpcrdma_exposures *table, u64 now);

/* Frees a slot that was claimed. */
void rpcrdma_exposures_release(struct rpcrdma_exposures *table, int slot);

RPCRDMA_END_C_ABI

/* ---- Queue sizes from device limits (sizing.hh) ---- */

struct rpcrdma_device_limits {
	u32 max_qp_wr;
	u32 max_cqe;
	u32 max_send_sge;
	u32 max_fast_reg_pages;	/* max_fast_reg_page_list_len; client only */
};

/* Receives that are posted in one post. Both queues have room for so many beyond the credits. */
enum { RPCRDMA_RECEIVE_BATCH = 14 };

/* Unsignalled Sends of the server that are not known to be complete, at most */
enum { RPCRDMA_UNSIGNALLED_SENDS = 16 };

struct rpcrdma_client_queues {
	u32 credits;		/* largest number of calls in flight */
	u32 mr_pages;		/* pages in one memory region */
	u32 mrs_per_call;	/* upper bound for one call */
	u32 payload_pages;	/* of the largest call or reply: it fits one chunk */
	u32 regions;		/* memory regions of the connection, at most */
	u32 reg_wrs;		/* registrations of calls on the Send Queue, at most */
	u32 send_slots;		/* entries of the send ring */
	u32 signal_every;	/* one signalled Send in so many */
	u32 send_wrs;		/* Send Queue depth, one entry for the drain included */
	u32 recv_wrs;		/* Receive Queue depth, one for the drain included */
};

struct rpcrdma_server_queues {
	u32 credits;		/* the grant */
	u32 recv_wrs;		/* receives posted; drain not included */
	u32 send_wrs;		/* without what rdma_rw adds for its contexts */
	u32 rw_contexts;	/* number of rdma_rw contexts to ask for */
	u32 exposures;		/* replies exposed at a time; each has a receive */
};

RPCRDMA_BEGIN_C_ABI

/*
 * @slots: calls that the administrator wants in flight
 * @reverse: receives and Sends of the reverse direction
 * @max_pages: pages of the largest payload, alignment included
 * Returns false when the device cannot carry a single call.
 */
bool rpcrdma_size_client(const struct rpcrdma_device_limits *limits, u32 slots,
			 u32 reverse, u32 max_pages,
			 struct rpcrdma_client_queues *queues);

/*
 * @spare: replies to be exposed beyond one for each credit; 0: none at all. The
 * RDMA_DONE that ends one has a receive of its own: reliable-reply draft, section 5.2.3
 * @mr_factor: rdma_rw_mr_factor() of the largest payload; each context may take
 * up to rdma_rw_mr_factor work requests triples
 */
bool rpcrdma_size_server(const struct rpcrdma_device_limits *limits, u32 credits,
			 u32 reverse, u32 spare, u32 mr_factor,
			 struct rpcrdma_server_queues *queues);

/*
 * Receives that are posted for @credits. What a grant promises has to be posted before the client
 * hears of it: RFC 8166 section 3.3.1. The RDMA_DONEs of replies that are exposed have more of
 * them, and all together are at most those of rpcrdma_size_server().
 */
u32 rpcrdma_server_receives(u32 credits, u32 reverse);

RPCRDMA_END_C_ABI

/* ---- Connection states (conn_state.hh) ---- */

enum rpcrdma_conn_state {
	RPCRDMA_CONN_IDLE,		/* no cm_id */
	RPCRDMA_CONN_RESOLVING_ADDR,
	RPCRDMA_CONN_RESOLVING_ROUTE,
	RPCRDMA_CONN_CONNECTING,	/* REQ sent, or accepted and not established */
	RPCRDMA_CONN_ESTABLISHED,
	RPCRDMA_CONN_BROKEN,		/* to be torn down; no new posts */
	RPCRDMA_CONN_CLOSED,		/* queue pair drained */
};

enum rpcrdma_conn_event {
	RPCRDMA_EVENT_START,		/* rdma_resolve_addr was called */
	RPCRDMA_EVENT_ADDR_RESOLVED,
	RPCRDMA_EVENT_ROUTE_RESOLVED,
	RPCRDMA_EVENT_ACCEPT,		/* server: rdma_accept was called */
	RPCRDMA_EVENT_ESTABLISHED,
	RPCRDMA_EVENT_FAILED,		/* any error, rejection, loss or removal */
	RPCRDMA_EVENT_DRAINED,
};

RPCRDMA_BEGIN_C_ABI

/*
 * The one place that says which event leads where. An event that does not
 * belong to @state leaves it as it is.
 */
enum rpcrdma_conn_state rpcrdma_conn_next(enum rpcrdma_conn_state state,
					  enum rpcrdma_conn_event event);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_LOGIC_H */
