/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * Where the Read chunks of a message belong: RFC 8166 section 3.4.5.
 *
 * A Position counts bytes of the RPC message before its items were taken out. The message is put
 * together from its base and its Read chunks. The base is the inline part of an RDMA_MSG, or the
 * Position Zero Read chunk of an RDMA_NOMSG. A walk visits the pieces in the order of the message:
 * base up to the first Position, Read chunk, XDR padding, base up to the next Position, and so on.
 */
#ifndef RPCRDMA_PIECES_H
#define RPCRDMA_PIECES_H

#include "chunk_list.h"

enum rpcrdma_piece_source {
	RPCRDMA_PIECE_INLINE,	/* the inline part of the message */
	RPCRDMA_PIECE_CHUNK,	/* a Read chunk */
	RPCRDMA_PIECE_PAD,	/* zeros, which were not sent */
};

/**
 * struct rpcrdma_piece - a part of the message that comes from one place
 * @source: kind of that place
 * @chunk: the Read chunk, for %RPCRDMA_PIECE_CHUNK only
 * @from: offset of the piece in its source, in bytes
 * @length: size of the piece in bytes
 * @to: offset of the piece in the message, in bytes
 */
struct rpcrdma_piece {
	enum rpcrdma_piece_source source;
	const struct rpcrdma_chunk *chunk;
	u32 from;
	u32 length;
	u32 to;
};

/**
 * struct rpcrdma_pieces - a walk over the pieces; only the functions below use its members
 * @lists: chunk lists of the message
 * @base: the Position Zero Read chunk, or NULL when the inline part is the base
 * @base_size: size of the base in bytes
 * @base_used: bytes of the base that the walk has passed
 * @next: index of the Read chunk that comes next
 * @pad: bytes of padding that come next
 * @limit: largest size of the message in bytes
 * @size: bytes of the message that the walk has passed
 */
struct rpcrdma_pieces {
	const struct rpcrdma_chunk_lists *lists;
	const struct rpcrdma_chunk *base;
	u32 base_size;
	u32 base_used;
	u32 next;
	u32 pad;
	u32 limit;
	u32 size;
};

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_pieces_start - begin a walk
 * @walk: the walk
 * @lists: chunk lists of the message, which stay the caller's until the walk ends
 * @inline_length: bytes behind the transport header; ignored with a Position Zero Read chunk
 * @limit: largest size that the message may have, in bytes
 */
void rpcrdma_pieces_start(struct rpcrdma_pieces *walk,
			  const struct rpcrdma_chunk_lists *lists, u32 inline_length,
			  u32 limit);

/**
 * rpcrdma_pieces_next - the next piece
 * @walk: the walk
 * @piece: gets the piece
 *
 * Return: 1 with a piece, 0 at the end of the message, or -1 when a Position lies outside of the
 * base or inside of another piece, or when the message becomes larger than the limit.
 */
int rpcrdma_pieces_next(struct rpcrdma_pieces *walk, struct rpcrdma_piece *piece);

/**
 * rpcrdma_pieces_measure - size of the whole message
 * @lists: its chunk lists
 * @inline_length: see rpcrdma_pieces_start()
 * @limit: see rpcrdma_pieces_start()
 * @size: gets the size in bytes, or 0
 *
 * Return: false when a walk over the message would fail.
 */
bool rpcrdma_pieces_measure(const struct rpcrdma_chunk_lists *lists, u32 inline_length,
			    u32 limit, u32 *size);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_PIECES_H */
