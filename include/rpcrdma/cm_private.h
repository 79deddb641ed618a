/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * CM private data: what each peer announces while a connection is made, and what the two of them
 * agree on. RFC 8797, and our extension of it (Documentation/reliable-reply.rst).
 */
#ifndef RPCRDMA_CM_PRIVATE_H
#define RPCRDMA_CM_PRIVATE_H

#include "protocol.h"

/**
 * struct rpcrdma_cm_private - what one peer announces
 * @send_size: largest message that the peer sends, in bytes, a multiple of 1024
 * @recv_size: largest message that the peer receives, in bytes, a multiple of 1024
 * @remote_invalidation: the peer supports remote invalidation (flag R)
 * @present: the decoder found a valid block; the encoder ignores this member
 * @extensions: RPCRDMA_EXT_* bits, or 0 for a peer that sends no extension block
 */
struct rpcrdma_cm_private {
	u32 send_size;
	u32 recv_size;
	bool remote_invalidation;
	bool present;
	u16 extensions;
};

/**
 * struct rpcrdma_negotiated - what holds for one connection, seen from this end
 * @inline_send: largest message that we may send, in bytes, with its transport header
 * @inline_recv: largest message that the peer may send, in bytes, with its transport header
 * @remote_invalidation: both peers support remote invalidation
 * @read_chunk_replies: a reply may come as a Position Zero Read chunk
 * @reverse_chunks: a call in the reverse direction may have chunks
 */
struct rpcrdma_negotiated {
	u32 inline_send;
	u32 inline_recv;
	bool remote_invalidation;
	bool read_chunk_replies;
	bool reverse_chunks;
};

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_cm_private_encode - write our announcement
 * @local: what we announce; sizes outside of 1 KiB to 256 KiB are clamped to that range
 * @buffer: room for %RPCRDMA_CM_MAX_SIZE bytes
 *
 * Return: number of bytes written, which is %RPCRDMA_CM_SIZE without extensions.
 */
u32 rpcrdma_cm_private_encode(const struct rpcrdma_cm_private *local, void *buffer);

/**
 * rpcrdma_cm_private_decode - find the peer's announcement
 * @buffer: the private data as the CM delivered it
 * @length: its size in bytes
 * @peer: gets what the peer announces; for a peer that sent no valid block, 1024 bytes each way,
 *	no remote invalidation and no extension (RFC 8797 section 5.1)
 *
 * The block may begin at any byte offset (section 5.2). Our extension block follows it directly.
 */
void rpcrdma_cm_private_decode(const void *buffer, u32 length, struct rpcrdma_cm_private *peer);

/**
 * rpcrdma_extensions_answer - the extensions that a responder answers a requester with
 * @peer: RPCRDMA_EXT_* bits of the requester
 *
 * Return: RPCRDMA_EXT_* bits of a responder that supports all that @peer has asked for.
 */
u16 rpcrdma_extensions_answer(u16 peer);

/**
 * rpcrdma_cm_negotiate - combine the announcements of both peers
 * @local: what we announced
 * @peer: what the peer announced
 * @result: gets what both can do
 */
void rpcrdma_cm_negotiate(const struct rpcrdma_cm_private *local,
			  const struct rpcrdma_cm_private *peer,
			  struct rpcrdma_negotiated *result);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_CM_PRIVATE_H */
