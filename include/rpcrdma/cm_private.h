/* SPDX-License-Identifier: GPL-2.0 */
/* CM private data and what two peers make of it: RFC 8797 */
#ifndef RPCRDMA_CM_PRIVATE_H
#define RPCRDMA_CM_PRIVATE_H

#include "protocol.h"

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

#endif /* RPCRDMA_CM_PRIVATE_H */
