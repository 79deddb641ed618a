// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Read list, Write list and Reply chunk as a container, and their sizes: RFC 8166 section 3.4 */
#ifndef RPCRDMA_CHUNK_LIST_HH
#define RPCRDMA_CHUNK_LIST_HH

#include "bytes.hh"
#include "chunk_list.h"
#include "math.hh"

namespace rpcrdma
{

inline u32 chunk_count(const rpcrdma_chunk_lists &lists)
{
	return lists.nr_read + lists.nr_write + lists.nr_reply;
}

inline Span<rpcrdma_chunk> read_chunks(const rpcrdma_chunk_lists &lists)
{
	return { lists.chunks, lists.nr_read };
}

inline Span<rpcrdma_chunk> write_chunks(const rpcrdma_chunk_lists &lists)
{
	return { lists.chunks + lists.nr_read, lists.nr_write };
}

inline Span<rpcrdma_chunk> reply_chunks(const rpcrdma_chunk_lists &lists)
{
	return { lists.chunks + lists.nr_read + lists.nr_write, lists.nr_reply };
}

/* The segments of a chunk; an empty span if the chunk does not belong to @lists */
inline Span<rpcrdma_segment> chunk_segments(const rpcrdma_chunk_lists &lists,
					    const rpcrdma_chunk &chunk)
{
	Span<rpcrdma_segment> all(lists.segments, lists.nr_segments);

	return all.subspan(chunk.first, chunk.count);
}

/*
 * Appends a chunk without segments. Returns null if there is no room. The caller counts the chunk
 * in nr_read, nr_write or nr_reply.
 */
inline rpcrdma_chunk *append_chunk(rpcrdma_chunk_lists &lists, u32 position)
{
	u32 at = chunk_count(lists);

	if (at >= lists.max_chunks)
		return nullptr;
	lists.chunks[at] = { position, lists.nr_segments, 0, 0 };
	return &lists.chunks[at];
}

/* Does a segment go beyond the end of the address space? It may end at that end. */
inline bool segment_wraps(const rpcrdma_segment &segment)
{
	return segment.length && segment.offset > u64_max - (segment.length - 1);
}

/* Counts a segment in its chunk. Returns false if the segment wraps, or the length overflows. */
[[nodiscard]] inline bool count_segment(rpcrdma_chunk &chunk, const rpcrdma_segment &segment)
{
	if (segment_wraps(segment) || segment.length > u32_max - chunk.length)
		return false;
	chunk.length += segment.length;
	chunk.count++;
	return true;
}

/* ---- what goes on the wire ---- */

/* May we send a chunk of so many segments? RFC 8267 section 6.4.2. An empty chunk has no use. */
constexpr bool sendable_chunk(u32 segments)
{
	return segments && segments <= RPCRDMA_MAX_SEGMENTS_SENT;
}

/* The next three functions return the bytes that a chunk adds to the three empty lists. */
constexpr u64 read_chunk_size(u32 segments)
{
	return u64(segments) * RPCRDMA_READ_SEGMENT_SIZE;
}

/* A discriminator, the number of segments, and the segments */
constexpr u64 write_chunk_size(u32 segments)
{
	return 2 * RPCRDMA_XDR_UNIT + u64(segments) * RPCRDMA_SEGMENT_SIZE;
}

/* The number of segments, and the segments; the discriminator is there without the chunk, too */
constexpr u64 reply_chunk_size(u32 segments)
{
	return RPCRDMA_XDR_UNIT + u64(segments) * RPCRDMA_SEGMENT_SIZE;
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_CHUNK_LIST_HH */
