// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Chunk lists as a requester and a responder build them: RFC 8166 sections 3.4 and 4.3 */
#include "chunk_list.hh"

using namespace rpcrdma;

void rpcrdma_lists_init(struct rpcrdma_chunk_lists *lists, struct rpcrdma_segment *segments,
			u32 max_segments, struct rpcrdma_chunk *chunks, u32 max_chunks)
{
	*lists = { segments, chunks, max_segments, max_chunks, 0, 0, 0, 0 };
}

bool rpcrdma_lists_begin_read(struct rpcrdma_chunk_lists *lists, u32 position)
{
	u32 n = lists->nr_read;

	/* Section 3.4.5: Positions are multiples of four, and each chunk has its own. */
	if (lists->nr_write || lists->nr_reply || position % RPCRDMA_XDR_UNIT ||
	    (n && position <= lists->chunks[n - 1].position))
		return false;
	if (!append_chunk(*lists, position))
		return false;
	lists->nr_read++;
	return true;
}

bool rpcrdma_lists_begin_write(struct rpcrdma_chunk_lists *lists)
{
	if (lists->nr_reply || !append_chunk(*lists, 0))
		return false;
	lists->nr_write++;
	return true;
}

bool rpcrdma_lists_begin_reply(struct rpcrdma_chunk_lists *lists)
{
	if (lists->nr_reply || !append_chunk(*lists, 0))
		return false;
	lists->nr_reply = 1;
	return true;
}

/* Adds a segment to the chunk that was begun last. */
bool rpcrdma_lists_add_segment(struct rpcrdma_chunk_lists *lists, struct rpcrdma_segment segment)
{
	u32 n = chunk_count(*lists);

	if (!n || lists->nr_segments >= lists->max_segments ||
	    !count_segment(lists->chunks[n - 1], segment))
		return false;
	lists->segments[lists->nr_segments++] = segment;
	return true;
}

/* Section 3.4.6: segments are filled in order, and their lengths become the bytes written. */
bool rpcrdma_chunk_set_written(struct rpcrdma_chunk_lists *lists, struct rpcrdma_chunk *chunk,
			       u32 bytes)
{
	u32 left = bytes;

	if (bytes > chunk->length)
		return false;
	for (rpcrdma_segment &segment : chunk_segments(*lists, *chunk)) {
		segment.length = min(segment.length, left);
		left -= segment.length;
	}
	chunk->length = bytes;
	return true;
}
