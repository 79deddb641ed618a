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
 * @length: sum of the lengths of its segments in bytes. The codec makes sure that it fits.
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
 * @chunks: the caller's storage for chunks: Read chunks by ascending Position, then Write chunks in
 *	the order of the list, then the Reply chunk
 * @max_segments: number of elements of @segments
 * @max_chunks: number of elements of @chunks
 * @nr_segments: segments in use
 * @nr_read: Read chunks. Segments with the same Position are one Read chunk (section 3.4.5), so a
 *	Position Zero Read chunk comes first.
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
 * storage is full, a sum of lengths overflows, or the order is wrong.
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
