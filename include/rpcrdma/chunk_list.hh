// SPDX-License-Identifier: GPL-2.0
/*
 * Read list, Write list and Reply chunk: RFC 8166 sections 3.4, 4.1.2 and 4.3.
 *
 * Decoding goes over the bytes twice. measure_lists() checks everything and counts
 * the chunks, in the caller's chunk storage; fill_lists() then stores segments
 * whose number, place and sums are known. Loops are bounded by the bytes that
 * are there, never by a count that the peer sent.
 */
#ifndef RPCRDMA_CHUNK_LIST_HH
#define RPCRDMA_CHUNK_LIST_HH

#include "codec.h"
#include "math.hh"
#include "reader.hh"
#include "result.hh"
#include "writer.hh"

namespace rpcrdma
{

/* ---- the lists as a container ---- */

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
	return { lists.chunks + lists.nr_read + lists.nr_write,
		 lists.nr_reply };
}

inline Span<rpcrdma_segment> all_segments(const rpcrdma_chunk_lists &lists)
{
	return { lists.segments, lists.nr_segments };
}

inline bool owns_segments(const rpcrdma_chunk_lists &lists,
			  const rpcrdma_chunk &chunk)
{
	return all_segments(lists).contains(chunk.first, chunk.count);
}

inline Span<rpcrdma_segment> chunk_segments(const rpcrdma_chunk_lists &lists,
					    const rpcrdma_chunk &chunk)
{
	return all_segments(lists).subspan(chunk.first, chunk.count);
}

inline void clear_lists(rpcrdma_chunk_lists &lists)
{
	lists.nr_segments = 0;
	lists.nr_read = 0;
	lists.nr_write = 0;
	lists.nr_reply = 0;
}

/* A chunk without segments at the end; the caller counts it to its list. */
inline rpcrdma_chunk *append_chunk(rpcrdma_chunk_lists &lists, u32 position)
{
	u32 at = chunk_count(lists);

	if (at >= lists.max_chunks)
		return nullptr;
	lists.chunks[at] = { position, lists.nr_segments, 0, 0 };
	return &lists.chunks[at];
}

/* ---- one segment, section 3.4.3 ---- */

inline rpcrdma_segment read_segment(Reader &reader)
{
	rpcrdma_segment segment;

	segment.handle = reader.read_u32();
	segment.length = reader.read_u32();
	segment.offset = reader.read_u64();
	return segment;
}

inline void write_segment(Writer &writer, const rpcrdma_segment &segment)
{
	writer.write_u32(segment.handle);
	writer.write_u32(segment.length);
	writer.write_u64(segment.offset);
}

/* The last byte has an address. A segment may end where the address space does. */
inline bool segment_wraps(const rpcrdma_segment &segment)
{
	return segment.length &&
	       segment.offset > u64_max - (segment.length - 1);
}

/* Counts a segment to its chunk; the chunk stays as it is on failure. */
inline Status count_segment(rpcrdma_chunk &chunk,
			    const rpcrdma_segment &segment)
{
	if (segment_wraps(segment) || !add_to(chunk.length, segment.length))
		return RPCRDMA_OVERFLOW;
	chunk.count++;
	return {};
}

/* ---- decoding, first pass ---- */

/* Optional data starts with 0 or 1, RFC 4506 section 4.19. */
inline Status read_discriminator(Reader &reader, bool &present)
{
	u32 word = reader.read_u32();

	if (reader.failed())
		return RPCRDMA_TRUNCATED;
	if (word > 1)
		return RPCRDMA_BAD_DISCRIMINATOR;
	present = word != 0;
	return {};
}

/* Index of the first Read chunk that does not lie before @position. */
inline u32 find_read_chunk(const rpcrdma_chunk_lists &lists, u32 position)
{
	u32 low = 0, high = lists.nr_read;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (lists.chunks[middle].position < position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * The Read chunk at @position, made in its place among the others when it is the
 * first segment with this Position. Only while there is no Write chunk.
 */
inline rpcrdma_chunk *obtain_read_chunk(rpcrdma_chunk_lists &lists,
					u32 position)
{
	u32 at = find_read_chunk(lists, position);

	if (at < lists.nr_read && lists.chunks[at].position == position)
		return &lists.chunks[at];
	if (lists.nr_read >= lists.max_chunks)
		return nullptr;
	for (u32 i = lists.nr_read; i > at; i--)
		lists.chunks[i] = lists.chunks[i - 1];
	lists.chunks[at] = { position, 0, 0, 0 };
	lists.nr_read++;
	return &lists.chunks[at];
}

/* Section 3.4.5: Positions are multiples of four, in any order here. */
inline Status measure_read_segment(Reader &reader, rpcrdma_chunk_lists &lists)
{
	u32 position = reader.read_u32();
	rpcrdma_segment segment = read_segment(reader);
	rpcrdma_chunk *chunk;

	if (reader.failed())
		return RPCRDMA_TRUNCATED;
	if (position % RPCRDMA_XDR_UNIT)
		return RPCRDMA_BAD_POSITION;
	if (lists.nr_segments >= lists.max_segments)
		return RPCRDMA_TOO_MANY;
	chunk = obtain_read_chunk(lists, position);
	if (!chunk)
		return RPCRDMA_TOO_MANY;
	lists.nr_segments++;
	return count_segment(*chunk, segment);
}

/* Section 4.1.2: a linked list, hence a discriminator before each segment. */
inline Status measure_read_list(Reader &reader, rpcrdma_chunk_lists &lists)
{
	for (;;) {
		bool present = false;
		Status status = read_discriminator(reader, present);

		if (!status.ok() || !present)
			return status;
		status = measure_read_segment(reader, lists);
		if (!status.ok())
			return status;
	}
}

/* Section 4.1.2: a counted array of segments, as in Write and Reply chunks. */
inline Status measure_counted_chunk(Reader &reader, rpcrdma_chunk_lists &lists)
{
	u32 count = reader.read_u32();
	rpcrdma_chunk *chunk;

	if (reader.failed() ||
	    count > reader.remaining() / RPCRDMA_SEGMENT_SIZE)
		return RPCRDMA_TRUNCATED;
	chunk = append_chunk(lists, 0);
	if (!chunk || count > lists.max_segments - lists.nr_segments)
		return RPCRDMA_TOO_MANY;
	for (u32 i = 0; i < count; i++) {
		Status status = count_segment(*chunk, read_segment(reader));

		if (!status.ok())
			return status;
	}
	lists.nr_segments += count;
	return {};
}

/* Section 4.1.2: a linked list of counted arrays. */
inline Status measure_write_list(Reader &reader, rpcrdma_chunk_lists &lists)
{
	for (;;) {
		bool present = false;
		Status status = read_discriminator(reader, present);

		if (!status.ok() || !present)
			return status;
		status = measure_counted_chunk(reader, lists);
		if (!status.ok())
			return status;
		lists.nr_write++;
	}
}

inline Status measure_reply_chunk(Reader &reader, rpcrdma_chunk_lists &lists)
{
	bool present = false;
	Status status = read_discriminator(reader, present);

	if (!status.ok() || !present)
		return status;
	status = measure_counted_chunk(reader, lists);
	if (status.ok())
		lists.nr_reply = 1;
	return status;
}

/* On failure @lists is in no useful state. */
inline Status measure_lists(Reader &reader, rpcrdma_chunk_lists &lists)
{
	Status status = measure_read_list(reader, lists);

	if (status.ok())
		status = measure_write_list(reader, lists);
	if (status.ok())
		status = measure_reply_chunk(reader, lists);
	return status;
}

/* ---- decoding, second pass: over bytes that were found good ---- */

/* Gives each Read chunk its place. count becomes the number of stored segments. */
inline void place_read_chunks(rpcrdma_chunk_lists &lists)
{
	u32 first = 0;

	for (rpcrdma_chunk &chunk : read_chunks(lists)) {
		chunk.first = first;
		first += chunk.count;
		chunk.count = 0;
	}
}

/* Section 3.4.5: segments of one Position make one chunk, in list order. */
inline void fill_read_list(Reader &reader, rpcrdma_chunk_lists &lists)
{
	place_read_chunks(lists);
	while (reader.read_u32()) {
		u32 position = reader.read_u32();
		rpcrdma_chunk &chunk =
			lists.chunks[find_read_chunk(lists, position)];

		lists.segments[chunk.first + chunk.count++] =
			read_segment(reader);
	}
}

inline void fill_counted_chunk(Reader &reader, const rpcrdma_chunk_lists &lists,
			       const rpcrdma_chunk &chunk)
{
	reader.skip(2 * RPCRDMA_XDR_UNIT); /* discriminator and count */
	for (rpcrdma_segment &segment : chunk_segments(lists, chunk))
		segment = read_segment(reader);
}

inline void fill_lists(Reader &reader, rpcrdma_chunk_lists &lists)
{
	fill_read_list(reader, lists);
	for (const rpcrdma_chunk &chunk : write_chunks(lists))
		fill_counted_chunk(reader, lists, chunk);
	reader.skip(RPCRDMA_XDR_UNIT); /* end of the Write list */
	for (const rpcrdma_chunk &chunk : reply_chunks(lists))
		fill_counted_chunk(reader, lists, chunk);
}

/* ---- encoding ---- */

/* Bytes of one chunk that come on top of the three empty lists */
constexpr u64 read_chunk_size(u32 segments)
{
	return u64(segments) * RPCRDMA_READ_SEGMENT_SIZE;
}

/* Discriminator, count, segments */
constexpr u64 write_chunk_size(u32 segments)
{
	return 2 * RPCRDMA_XDR_UNIT + u64(segments) * RPCRDMA_SEGMENT_SIZE;
}

/* Count and segments: the discriminator is there without the chunk, too. */
constexpr u64 reply_chunk_size(u32 segments)
{
	return RPCRDMA_XDR_UNIT + u64(segments) * RPCRDMA_SEGMENT_SIZE;
}

/* Bytes of all lists that come on top of three empty ones */
inline u64 lists_size(const rpcrdma_chunk_lists &lists)
{
	u64 size = 0;

	for (const rpcrdma_chunk &chunk : read_chunks(lists))
		size += read_chunk_size(chunk.count);
	for (const rpcrdma_chunk &chunk : write_chunks(lists))
		size += write_chunk_size(chunk.count);
	for (const rpcrdma_chunk &chunk : reply_chunks(lists))
		size += reply_chunk_size(chunk.count);
	return size;
}

inline void write_read_chunk(Writer &writer, const rpcrdma_chunk_lists &lists,
			     const rpcrdma_chunk &chunk)
{
	if (!owns_segments(lists, chunk))
		return writer.fail();
	for (const rpcrdma_segment &segment : chunk_segments(lists, chunk)) {
		writer.write_u32(1);
		writer.write_u32(chunk.position);
		write_segment(writer, segment);
	}
}

inline void write_counted_chunk(Writer &writer,
				const rpcrdma_chunk_lists &lists,
				const rpcrdma_chunk &chunk)
{
	if (!owns_segments(lists, chunk))
		return writer.fail();
	writer.write_u32(1);
	writer.write_u32(chunk.count);
	for (const rpcrdma_segment &segment : chunk_segments(lists, chunk))
		write_segment(writer, segment);
}

/* Section 4.7: Read list, Write list, Reply chunk. */
inline void write_lists(Writer &writer, const rpcrdma_chunk_lists &lists)
{
	for (const rpcrdma_chunk &chunk : read_chunks(lists))
		write_read_chunk(writer, lists, chunk);
	writer.write_u32(0);
	for (const rpcrdma_chunk &chunk : write_chunks(lists))
		write_counted_chunk(writer, lists, chunk);
	writer.write_u32(0);
	for (const rpcrdma_chunk &chunk : reply_chunks(lists))
		write_counted_chunk(writer, lists, chunk);
	if (!lists.nr_reply)
		writer.write_u32(0);
}

/* ---- building ---- */

inline bool begin_read_chunk(rpcrdma_chunk_lists &lists, u32 position)
{
	u32 n = lists.nr_read;

	/* Section 3.4.5: multiples of four; a chunk is one Position. */
	if (lists.nr_write || lists.nr_reply || position % RPCRDMA_XDR_UNIT ||
	    (n && position <= lists.chunks[n - 1].position))
		return false;
	if (!append_chunk(lists, position))
		return false;
	lists.nr_read++;
	return true;
}

inline bool begin_write_chunk(rpcrdma_chunk_lists &lists)
{
	if (lists.nr_reply || !append_chunk(lists, 0))
		return false;
	lists.nr_write++;
	return true;
}

inline bool begin_reply_chunk(rpcrdma_chunk_lists &lists)
{
	if (lists.nr_reply || !append_chunk(lists, 0))
		return false;
	lists.nr_reply = 1;
	return true;
}

/* To the chunk that was begun last */
inline bool add_segment(rpcrdma_chunk_lists &lists,
			const rpcrdma_segment &segment)
{
	u32 n = chunk_count(lists);

	if (!n || lists.nr_segments >= lists.max_segments ||
	    !count_segment(lists.chunks[n - 1], segment).ok())
		return false;
	lists.segments[lists.nr_segments++] = segment;
	return true;
}

/* Section 3.4.6: filled contiguously, lengths become the bytes written. */
inline bool set_written(rpcrdma_chunk_lists &lists, rpcrdma_chunk &chunk,
			u32 bytes)
{
	u32 left = bytes;

	if (bytes > chunk.length || !owns_segments(lists, chunk))
		return false;
	for (rpcrdma_segment &segment : chunk_segments(lists, chunk)) {
		segment.length = min(segment.length, left);
		left -= segment.length;
	}
	chunk.length = bytes;
	return true;
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_CHUNK_LIST_HH */
