/* SPDX-License-Identifier: GPL-2.0 */
/* Read chunks between the parts of a message: RFC 8166 section 3.4.5 */
#ifndef RPCRDMA_PIECES_H
#define RPCRDMA_PIECES_H

#include "chunk_list.h"

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

#endif /* RPCRDMA_PIECES_H */
