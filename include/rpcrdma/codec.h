/* SPDX-License-Identifier: GPL-2.0 */
/*
 * C interface of the RPC-over-RDMA version 1 header codec.
 *
 * Pure functions over bytes: no allocation, no locks, no clock. They may be
 * called in any context. Storage is the caller's, and nothing is kept after
 * the return. All integers in the structs are in host byte order.
 */
#ifndef RPCRDMA_CODEC_H
#define RPCRDMA_CODEC_H

#include "protocol.h"

/**
 * enum rpcrdma_status - what the codec found
 * @RPCRDMA_OK: all is well
 * @RPCRDMA_RUNT: shorter than the smallest message of its kind: to be dropped
 *	in silence (RFC 8166 section 4.5)
 * @RPCRDMA_BAD_VERSION: rdma_vers is not 1 (ERR_VERS, section 4.5.1); the
 *	fixed header is filled in
 * @RPCRDMA_BAD_PROC: rdma_proc is not known
 * @RPCRDMA_TRUNCATED: a list runs beyond the end of the message
 * @RPCRDMA_BAD_DISCRIMINATOR: an optional-data word is neither 0 nor 1
 * @RPCRDMA_BAD_POSITION: a Position is not a multiple of four
 * @RPCRDMA_OVERFLOW: the lengths of a chunk do not add up in 32 bits, or a
 *	segment wraps around its address space
 * @RPCRDMA_NO_LISTS: RDMA_NOMSG without any chunk (section 4.2.4)
 * @RPCRDMA_XID_MISMATCH: payload of RDMA_MSG missing, or with another XID
 *	(section 4.5.2)
 * @RPCRDMA_TOO_MANY: more segments or chunks than the caller has storage for
 * @RPCRDMA_BAD_ERROR: an RDMA_ERROR that cannot be decoded: to be dropped
 * @RPCRDMA_NO_SPACE: the encoder's buffer is too small
 */
enum rpcrdma_status {
	RPCRDMA_OK,
	RPCRDMA_RUNT,
	RPCRDMA_BAD_VERSION,
	RPCRDMA_BAD_PROC,
	RPCRDMA_TRUNCATED,
	RPCRDMA_BAD_DISCRIMINATOR,
	RPCRDMA_BAD_POSITION,
	RPCRDMA_OVERFLOW,
	RPCRDMA_NO_LISTS,
	RPCRDMA_XID_MISMATCH,
	RPCRDMA_TOO_MANY,
	RPCRDMA_BAD_ERROR,
	RPCRDMA_NO_SPACE,
};

/* One registered piece of memory, RFC 8166 section 3.4.3. */
struct rpcrdma_segment {
	u32 handle;		/* R_key or STag */
	u32 length;		/* bytes */
	u64 offset;
};
RPCRDMA_ASSERT_SIZE(struct rpcrdma_segment, 16);

/*
 * One chunk: @count segments from index @first of the segment array.
 * @position is 0 in Write and Reply chunks. @length is the sum of the
 * segments' lengths, in bytes; the codec guarantees that it fits.
 */
struct rpcrdma_chunk {
	u32 position;
	u32 first;
	u32 count;
	u32 length;
};
RPCRDMA_ASSERT_SIZE(struct rpcrdma_chunk, 16);

/*
 * The three chunk lists of a message. chunks[] holds @nr_read Read chunks by
 * ascending Position, then @nr_write Write chunks in list order, then @nr_reply
 * (0 or 1) Reply chunks. Segments with the same Position are one Read chunk, in
 * list order (RFC 8166 section 3.4.5); a Position Zero Read chunk comes first.
 * Write and Reply chunks without segments are kept, with count 0.
 */
struct rpcrdma_chunk_lists {
	struct rpcrdma_segment *segments;	/* the caller's storage */
	struct rpcrdma_chunk *chunks;		/* the caller's storage */
	u32 max_segments;
	u32 max_chunks;
	u32 nr_segments;
	u32 nr_read;
	u32 nr_write;
	u32 nr_reply;
};

/*
 * Header without its lists. @size is the number of bytes that the header takes
 * on the wire: the RPC message of an RDMA_MSG starts there. @error, @vers_low and
 * @vers_high are for RDMA_ERROR only.
 */
struct rpcrdma_header {
	u32 xid;
	u32 vers;
	u32 credits;
	u32 proc;		/* enum rpcrdma_proc */
	u32 size;
	u32 error;		/* enum rpcrdma_errcode */
	u32 vers_low;
	u32 vers_high;
};
RPCRDMA_ASSERT_SIZE(struct rpcrdma_header, 32);

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_header_decode - decode a received transport header
 * @message: the received message
 * @length: its size in bytes
 * @header: filled in as far as the message allows; xid, vers, credits and proc
 *	are valid for each status but %RPCRDMA_RUNT
 * @lists: storage set by the caller; filled in for %RPCRDMA_OK, else emptied
 *
 * Fills @lists as it validates them; they are good if all of the header is. For
 * RDMA_MSG the payload has at least an XID, equal to rdma_xid. RDMA_MSGP and
 * RDMA_DONE decode their fixed header only, and give %RPCRDMA_OK; what to do with
 * them is the caller's decision (RFC 8166 section 4.6). RDMA_ERROR: see
 * section 4.5; an ERR_VERS is decoded whatever its rdma_vers is.
 *
 * Return: %RPCRDMA_OK or what is wrong.
 */
enum rpcrdma_status rpcrdma_header_decode(const void *message, u32 length,
					  struct rpcrdma_header *header,
					  struct rpcrdma_chunk_lists *lists);

/**
 * rpcrdma_unpadded_decode - decode an RDMA_MSGP to which no padding applies
 * @message: the received message
 * @length: its size in bytes
 * @header: that of the RDMA_MSG that has the same lists and payload, but for
 *	@header->size; unchanged on failure
 * @lists: storage set by the caller; filled in for %RPCRDMA_OK, else emptied
 *
 * The rule, and the reason for it: padded.hh. Only calls are taken: a requester drops
 * each RDMA_MSGP (RFC 8166 section 4.6.1).
 *
 * Return: %RPCRDMA_OK, %RPCRDMA_BAD_PROC when padding may apply or it is no RDMA_MSGP
 * with a call, or what is wrong with its lists or XID.
 */
enum rpcrdma_status rpcrdma_unpadded_decode(const void *message, u32 length,
					    struct rpcrdma_header *header,
					    struct rpcrdma_chunk_lists *lists);

/**
 * rpcrdma_header_size - bytes that a header takes on the wire
 * @header: proc and error are looked at
 * @lists: the chunk lists, or NULL for none
 */
u32 rpcrdma_header_size(const struct rpcrdma_header *header,
			const struct rpcrdma_chunk_lists *lists);

/**
 * rpcrdma_header_encode - encode a transport header
 * @header: what to encode; @header->size is set
 * @lists: the chunk lists, or NULL for none; Read chunks are encoded in order
 * @buffer: where to
 * @capacity: its size in bytes
 *
 * Return: %RPCRDMA_OK, %RPCRDMA_NO_SPACE, %RPCRDMA_BAD_PROC or
 * %RPCRDMA_BAD_ERROR. On failure the contents of @buffer are undefined.
 */
enum rpcrdma_status rpcrdma_header_encode(struct rpcrdma_header *header,
					  const struct rpcrdma_chunk_lists *lists,
					  void *buffer, u32 capacity);

/**
 * rpcrdma_error_encode - encode an RDMA_ERROR for a call that could not be served
 * @xid: rdma_xid of the call
 * @vers: rdma_vers of the call (RFC 8166 section 4.5 wants it echoed)
 * @credits: grant
 * @error: %RPCRDMA_ERR_VERS (the range sent is 1 to 1) or %RPCRDMA_ERR_CHUNK
 * @buffer: at least %RPCRDMA_ERR_VERS_SIZE bytes
 *
 * Return: bytes written.
 */
u32 rpcrdma_error_encode(u32 xid, u32 vers, u32 credits,
			 enum rpcrdma_errcode error, void *buffer);

/**
 * rpcrdma_call_reducible_from - from where on may an RPC call be reduced?
 * @call: the RPC message
 * @length: bytes of it that lie together; its header has to be among them
 * @known: set if the binding of its program is known: RFC 8267
 *
 * Return: the lowest Position, in bytes, that a Read chunk may have, but for 0; or 0 if none
 * may: RFC 8166 sections 6.1 and 8.2.2.
 */
u32 rpcrdma_call_reducible_from(const void *call, u32 length, bool *known);

/**
 * rpcrdma_chunk_is_item - is a Read chunk one argument of a known binding?
 * @count: the word in front of its Position
 * @chunk_length: bytes, with or without the padding of the item
 */
bool rpcrdma_chunk_is_item(u32 count, u32 chunk_length);

/**
 * rpcrdma_message_direction - is an RDMA_MSG payload a call or a reply?
 * @payload: the RPC message
 * @length: its size in bytes
 *
 * Return: %RPCRDMA_RPC_CALL, %RPCRDMA_RPC_REPLY, or -1 where it cannot be told
 * (RFC 8167 section 4.1).
 */
int rpcrdma_message_direction(const void *payload, u32 length);

/**
 * rpcrdma_reply_verifier - how much of an RPC reply is its verifier?
 * @reply: the RPC message, or the beginning of it
 * @length: its size in bytes
 *
 * Return: bytes with flavor and length, at most what RFC 5531 section 8.2 allows; 0 for a reply
 * that was not accepted, or one that is too short to tell.
 */
u32 rpcrdma_reply_verifier(const void *reply, u32 length);

/**
 * rpcrdma_lists_init - empty lists over the caller's storage
 * @lists: to be set up
 * @segments: storage for @max_segments
 * @max_segments: its number of elements
 * @chunks: storage for @max_chunks
 * @max_chunks: its number of elements
 */
void rpcrdma_lists_init(struct rpcrdma_chunk_lists *lists,
			struct rpcrdma_segment *segments, u32 max_segments,
			struct rpcrdma_chunk *chunks, u32 max_chunks);

/*
 * Building lists for an encode. The calls have to come in this order: all Read
 * chunks by ascending Position, all Write chunks, the Reply chunk; after each, its
 * segments. Each returns false, and changes nothing, when storage or a sum
 * overflows, or the order is wrong.
 */
bool rpcrdma_lists_begin_read(struct rpcrdma_chunk_lists *lists, u32 position);
bool rpcrdma_lists_begin_write(struct rpcrdma_chunk_lists *lists);
bool rpcrdma_lists_begin_reply(struct rpcrdma_chunk_lists *lists);
bool rpcrdma_lists_add_segment(struct rpcrdma_chunk_lists *lists,
			       struct rpcrdma_segment segment);

/**
 * rpcrdma_chunk_set_written - lengths as a responder returns them
 * @lists: lists that hold @chunk
 * @chunk: a Write chunk or the Reply chunk
 * @bytes: bytes that were written, from the chunk's start
 *
 * Fills segments in order: full ones keep their length, the last gets what is
 * left, the rest become 0. Handles and offsets stay (RFC 8166 section 3.4.6).
 *
 * Return: false, with nothing changed, when @bytes exceeds the chunk.
 */
bool rpcrdma_chunk_set_written(struct rpcrdma_chunk_lists *lists,
			       struct rpcrdma_chunk *chunk, u32 bytes);

RPCRDMA_END_C_ABI

/**
 * rpcrdma_may_have_reads - does a message begin with a Read list that is not empty?
 * @message: the received message, of which nothing else is known
 * @length: its size in bytes
 *
 * Return: false: what rpcrdma_header_decode() finds right there has no Read list (RFC 8166 section
 * 4.1.1). true: it may have one, or is wrong.
 */
static inline bool rpcrdma_may_have_reads(const void *message, u32 length)
{
	u32 first; /* 0 in any byte order */

	if (length < RPCRDMA_MIN_HEADER_SIZE)
		return false;
	__builtin_memcpy(&first, (const u8 *)message + RPCRDMA_FIXED_HEADER_SIZE, sizeof(first));
	return first;
}

/*
 * RFC 8166 section 3.5: an RPC message of @length bytes goes in one transport message of at most
 * @threshold bytes, without any chunk.
 */
static inline bool rpcrdma_fits_plain(u32 length, u32 threshold)
{
	return (u64)length + RPCRDMA_MIN_HEADER_SIZE <= threshold;
}

static inline const struct rpcrdma_chunk *
rpcrdma_position_zero_chunk(const struct rpcrdma_chunk_lists *lists)
{
	return lists->nr_read && lists->chunks[0].position == 0 ?
		&lists->chunks[0] : NULL;
}

static inline struct rpcrdma_chunk *
rpcrdma_write_chunk(const struct rpcrdma_chunk_lists *lists, u32 n)
{
	return n < lists->nr_write ? &lists->chunks[lists->nr_read + n] : NULL;
}

static inline struct rpcrdma_chunk *
rpcrdma_reply_chunk(const struct rpcrdma_chunk_lists *lists)
{
	return lists->nr_reply ?
		&lists->chunks[lists->nr_read + lists->nr_write] : NULL;
}

#endif /* RPCRDMA_CODEC_H */
