/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RPC-over-RDMA version 1 header: RFC 8166 section 4. All integers in the structs are in
 * host byte order.
 */
#ifndef RPCRDMA_HEADER_H
#define RPCRDMA_HEADER_H

#include "chunk_list.h"

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

#endif /* RPCRDMA_HEADER_H */
