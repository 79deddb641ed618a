/* SPDX-License-Identifier: GPL-2.0 */
/* Read list, Write list and Reply chunk of a message: RFC 8166 section 3.4 */
#ifndef RPCRDMA_CHUNK_LIST_H
#define RPCRDMA_CHUNK_LIST_H

#include "protocol.h"

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

RPCRDMA_BEGIN_C_ABI

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

#endif /* RPCRDMA_CHUNK_LIST_H */
