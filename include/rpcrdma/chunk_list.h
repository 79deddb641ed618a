/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Read list, Write list and Reply chunk of a message: RFC 8166 section 3.4 */
#ifndef RPCRDMA_CHUNK_LIST_H
#define RPCRDMA_CHUNK_LIST_H

#include "protocol.h"

/**
 * struct rpcrdma_segment - one registered piece of memory, RFC 8166 section 3.4.3
 * @handle: R_key or STag
 * @length: size in bytes
 * @offset: address of the first byte
 */
struct rpcrdma_segment {
	u32 handle;
	u32 length;
	u64 offset;
};
static_assert(sizeof(struct rpcrdma_segment) == 16);

/**
 * struct rpcrdma_chunk - one chunk
 * @position: Position of a Read chunk; 0 for a Write chunk and a Reply chunk
 * @first: index of its first segment among the segments of the message
 * @count: number of its segments
 * @length: sum of the lengths of its segments in bytes. The codec refuses a sum above U32_MAX.
 */
struct rpcrdma_chunk {
	u32 position;
	u32 first;
	u32 count;
	u32 length;
};
static_assert(sizeof(struct rpcrdma_chunk) == 16);

/**
 * struct rpcrdma_chunk_lists - the Read list, the Write list and the Reply chunk of a message
 * @segments: the caller's storage for segments
 * @chunks: the caller's storage for chunks: Read chunks by ascending Position, so that a Position
 *	Zero Read chunk is the first one; then Write chunks in the order of the list; then the Reply
 *	chunk
 * @max_segments: number of elements of @segments
 * @max_chunks: number of elements of @chunks
 * @nr_segments: segments in use
 * @nr_read: Read chunks. Segments with the same Position are one Read chunk (section 3.4.5).
 * @nr_write: Write chunks. One without segments counts, too.
 * @nr_reply: Reply chunks, 0 or 1. One without segments counts, too.
 */
struct rpcrdma_chunk_lists {
	struct rpcrdma_segment *segments;
	struct rpcrdma_chunk *chunks;
	u32 max_segments;
	u32 max_chunks;
	u32 nr_segments;
	u32 nr_read;
	u32 nr_write;
	u32 nr_reply;
};

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_lists_init - make empty lists over the caller's storage
 * @lists: the lists
 * @segments: storage for segments, which has to stay as long as @lists
 * @max_segments: number of its elements
 * @chunks: storage for chunks, which has to stay as long as @lists
 * @max_chunks: number of its elements
 */
void rpcrdma_lists_init(struct rpcrdma_chunk_lists *lists,
			struct rpcrdma_segment *segments, u32 max_segments,
			struct rpcrdma_chunk *chunks, u32 max_chunks);

/*
 * The next four functions build lists for rpcrdma_header_encode(). Chunks are begun in the order of
 * the message: Read chunks by ascending Position, Write chunks, the Reply chunk. A segment belongs
 * to the chunk that was begun last. Each function returns false, and changes nothing, when the
 * storage is full, a sum of lengths overflows, a segment goes beyond its address space, or the
 * order or a Position is wrong.
 */
bool rpcrdma_lists_begin_read(struct rpcrdma_chunk_lists *lists, u32 position);
bool rpcrdma_lists_begin_write(struct rpcrdma_chunk_lists *lists);
bool rpcrdma_lists_begin_reply(struct rpcrdma_chunk_lists *lists);
bool rpcrdma_lists_add_segment(struct rpcrdma_chunk_lists *lists, struct rpcrdma_segment segment);

/**
 * rpcrdma_chunk_set_written - set the lengths that a responder returns
 * @lists: lists that hold @chunk
 * @chunk: a Write chunk or the Reply chunk
 * @bytes: number of bytes that the responder wrote, from the start of the chunk
 *
 * A segment that was filled keeps its length, the next one gets what is left, and the others get
 * length 0. Handles and offsets stay (RFC 8166 section 3.4.6).
 *
 * Return: false, with nothing changed, when @bytes is more than the chunk holds.
 */
bool rpcrdma_chunk_set_written(struct rpcrdma_chunk_lists *lists,
			       struct rpcrdma_chunk *chunk, u32 bytes);

/*
 * ---- pieces.cc: where the Read chunks of a message belong, RFC 8166 section 3.4.5 ----
 *
 * A Position counts bytes of the RPC message before its items were taken out. The message is put
 * together from its base and its Read chunks. The base is the inline part of an RDMA_MSG, or the
 * Position Zero Read chunk of an RDMA_NOMSG. A walk visits the pieces in the order of the message:
 * base up to the first Position, Read chunk, XDR padding, base up to the next Position, and so on.
 */

enum rpcrdma_piece_source {
	RPCRDMA_PIECE_INLINE,	/* the inline part of the message */
	RPCRDMA_PIECE_CHUNK,	/* a Read chunk */
	RPCRDMA_PIECE_PAD,	/* XDR padding, zeros that were not sent */
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

/* The Position Zero Read chunk, or NULL */
static inline const struct rpcrdma_chunk *
rpcrdma_position_zero_chunk(const struct rpcrdma_chunk_lists *lists)
{
	return lists->nr_read && lists->chunks[0].position == 0 ?
		&lists->chunks[0] : NULL;
}

/* The Write chunk with index @n, or NULL */
static inline struct rpcrdma_chunk *
rpcrdma_write_chunk(const struct rpcrdma_chunk_lists *lists, u32 n)
{
	return n < lists->nr_write ? &lists->chunks[lists->nr_read + n] : NULL;
}

/* The Reply chunk, or NULL */
static inline struct rpcrdma_chunk *
rpcrdma_reply_chunk(const struct rpcrdma_chunk_lists *lists)
{
	return lists->nr_reply ?
		&lists->chunks[lists->nr_read + lists->nr_write] : NULL;
}

#endif /* RPCRDMA_CHUNK_LIST_H */
