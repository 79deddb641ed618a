/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * The RPC-over-RDMA version 1 header: RFC 8166 section 4. All integers in the structs are in
 * host byte order.
 */
#ifndef RPCRDMA_HEADER_H
#define RPCRDMA_HEADER_H

#include "chunk_list.h"

/**
 * enum rpcrdma_status - result of the codec
 * @RPCRDMA_OK: success
 * @RPCRDMA_RUNT: the message is shorter than any message of its kind, and is dropped silently
 *	(RFC 8166 section 4.5)
 * @RPCRDMA_BAD_VERSION: rdma_vers is not 1 (ERR_VERS, section 4.5.1); the
 *	fixed header is filled in
 * @RPCRDMA_BAD_PROC: rdma_proc has an unknown value, or is that of an RDMA_MSGP that is not taken
 * @RPCRDMA_TRUNCATED: a list runs beyond the end of the message
 * @RPCRDMA_BAD_DISCRIMINATOR: an optional-data word is neither 0 nor 1
 * @RPCRDMA_BAD_POSITION: a Position is not a multiple of four
 * @RPCRDMA_OVERFLOW: the lengths of a chunk do not add up in 32 bits, or a
 *	segment wraps around its address space
 * @RPCRDMA_NO_LISTS: RDMA_NOMSG without any chunk (section 4.2.4)
 * @RPCRDMA_XID_MISMATCH: payload of RDMA_MSG missing, or with another XID
 *	(section 4.5.2)
 * @RPCRDMA_TOO_MANY: more segments or chunks than the caller has storage for
 * @RPCRDMA_BAD_ERROR: an RDMA_ERROR that cannot be decoded, and is dropped
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

/**
 * struct rpcrdma_header - a header without its chunk lists
 * @xid: rdma_xid
 * @vers: rdma_vers
 * @credits: rdma_credit
 * @proc: rdma_proc, an enum rpcrdma_proc
 * @size: bytes that the header has on the wire. The RPC message of an RDMA_MSG follows them.
 * @error: rdma_err of an RDMA_ERROR, an enum rpcrdma_errcode
 * @vers_low: lowest version that an ERR_VERS names
 * @vers_high: highest version that an ERR_VERS names
 * @direction: %RPCRDMA_RPC_CALL or %RPCRDMA_RPC_REPLY, as the RPC message of a decoded RDMA_MSG
 *	says (RFC 8167 section 4.1); -1 if it says neither, and for all other messages. The encoder
 *	ignores this member.
 */
struct rpcrdma_header {
	u32 xid;
	u32 vers;
	u32 credits;
	u32 proc;
	u32 size;
	u32 error;
	u32 vers_low;
	u32 vers_high;
	int direction;
};
static_assert(sizeof(struct rpcrdma_header) == 36);

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_header_decode - decode a received transport header
 * @message: the received message
 * @length: its size in bytes
 * @header: gets what the message has; xid, vers, credits and proc are valid for each result but
 *	%RPCRDMA_RUNT
 * @lists: lists over the caller's storage; filled in for %RPCRDMA_OK, else emptied
 * @take_msgp: decode an RDMA_MSGP as an RDMA_MSG, if it has a call to which no padding applies.
 *	@header->proc becomes %RPCRDMA_MSG; @header->size is the size on the wire. header.cc has the
 *	rule, and the reason for it. Any other RDMA_MSGP is %RPCRDMA_BAD_PROC (RFC 8166 section
 *	4.6.1).
 *
 * The RPC message of an RDMA_MSG has at least an XID, which is equal to rdma_xid. The caller
 * decides what to do with an RDMA_DONE (section 4.6.2). An ERR_VERS is decoded whatever its
 * rdma_vers is (section 4.5).
 *
 * Return: %RPCRDMA_OK or what is wrong.
 */
enum rpcrdma_status rpcrdma_header_decode(const void *message, u32 length,
					  struct rpcrdma_header *header,
					  struct rpcrdma_chunk_lists *lists, bool take_msgp);

/**
 * rpcrdma_header_size - bytes that the header of an RDMA_MSG or RDMA_NOMSG takes on the wire
 * @lists: its chunk lists
 *
 * Return: number of bytes; U32_MAX for a header that is too large.
 */
u32 rpcrdma_header_size(const struct rpcrdma_chunk_lists *lists);

/**
 * rpcrdma_header_encode - encode a transport header
 * @header: the header; @header->size is set
 * @lists: the chunk lists, or NULL for none
 * @buffer: gets the header
 * @capacity: size of @buffer in bytes
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
 * @credits: the grant
 * @error: %RPCRDMA_ERR_VERS (the range sent is 1 to 1) or %RPCRDMA_ERR_CHUNK
 * @buffer: at least %RPCRDMA_ERR_VERS_SIZE bytes
 *
 * Return: bytes written.
 */
u32 rpcrdma_error_encode(u32 xid, u32 vers, u32 credits, enum rpcrdma_errcode error, void *buffer);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_HEADER_H */
