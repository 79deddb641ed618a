// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * How a message and its Read chunks go together: RFC 8166 section 3.4.5.
 *
 * chunk_list.h explains the base of a message and the order of a walk over its pieces.
 */
#include "chunk_list.h"
#include "math.hh"

using namespace rpcrdma;

void rpcrdma_pieces_start(struct rpcrdma_pieces *walk, const struct rpcrdma_chunk_lists *lists,
			  u32 inline_length, u32 limit)
{
	const rpcrdma_chunk *zero = rpcrdma_position_zero_chunk(lists);

	*walk = {};
	walk->lists = lists;
	walk->base = zero;
	walk->base_size = zero ? zero->length : inline_length;
	walk->next = zero ? 1 : 0;
	walk->limit = limit;
}

static rpcrdma_piece base_piece(rpcrdma_pieces &walk, u32 length)
{
	u32 from = walk.base_used;

	walk.base_used += length;
	return { walk.base ? RPCRDMA_PIECE_CHUNK : RPCRDMA_PIECE_INLINE, walk.base, from, length,
		 walk.size };
}

static rpcrdma_piece chunk_piece(rpcrdma_pieces &walk, const rpcrdma_chunk &chunk)
{
	walk.pad = u32(xdr_padded(chunk.length) - chunk.length);
	walk.next++;
	return { RPCRDMA_PIECE_CHUNK, &chunk, 0, chunk.length, walk.size };
}

/* Finds the next piece. Returns 1, or 0 at the end of the message, or -1 if no piece fits. */
static int choose_piece(rpcrdma_pieces &walk, rpcrdma_piece &piece)
{
	u32 base_left = walk.base_size - walk.base_used;

	if (walk.pad) {
		piece = { RPCRDMA_PIECE_PAD, nullptr, 0, walk.pad, walk.size };
		walk.pad = 0;
		return 1;
	}
	if (walk.next >= walk.lists->nr_read) {
		piece = base_piece(walk, base_left);
		return base_left ? 1 : 0;
	}

	const rpcrdma_chunk &chunk = walk.lists->chunks[walk.next];

	if (chunk.position < walk.size || chunk.position - walk.size > base_left)
		return -1;
	if (chunk.position > walk.size)
		piece = base_piece(walk, chunk.position - walk.size);
	else
		piece = chunk_piece(walk, chunk);
	return 1;
}

int rpcrdma_pieces_next(struct rpcrdma_pieces *walk, struct rpcrdma_piece *piece)
{
	int found = choose_piece(*walk, *piece);

	if (found <= 0)
		return found;
	if (piece->length > walk->limit - walk->size)
		return -1;
	walk->size += piece->length;
	return 1;
}

bool rpcrdma_pieces_measure(const struct rpcrdma_chunk_lists *lists, u32 inline_length, u32 limit,
			    u32 *size)
{
	rpcrdma_pieces walk;
	rpcrdma_piece piece;
	int found;

	rpcrdma_pieces_start(&walk, lists, inline_length, limit);
	do {
		found = rpcrdma_pieces_next(&walk, &piece);
	} while (found > 0);
	*size = found ? 0 : walk.size;
	return !found;
}
