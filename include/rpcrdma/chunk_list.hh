// SPDX-License-Identifier: GPL-2.0
/*
 * Read list, Write list and Reply chunk: RFC 8166 sections 3.4, 4.1.2 and 4.3.
 *
 * Decoding stores segments as it checks them. Those of a Read list whose Positions are out of
 * order are stored once more, each in its chunk, by place_read_segments(). Loops are bounded
 * by the bytes that are there, never by a count that the peer sent.
 */
#ifndef RPCRDMA_CHUNK_LIST_HH
#define RPCRDMA_CHUNK_LIST_HH

#include "chunk_list.h"
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

/* From RPCRDMA_SEGMENT_SIZE bytes */
inline rpcrdma_segment load_segment(const u8 *from)
{
	return { load_be32(from), load_be32(from + 4), load_be64(from + 8) };
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

/* ---- decoding ---- */

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
	lists.chunks[at] = { position, lists.nr_segments, 0, 0 };
	lists.nr_read++;
	return &lists.chunks[at];
}

/* What is behind the discriminator, section 4.1.2: a Position and a segment */
constexpr size_t read_segment_rest =
	size_t(RPCRDMA_READ_SEGMENT_SIZE) - RPCRDMA_XDR_UNIT;

/*
 * Section 3.4.5: Positions are multiples of four, in any order here. @ordered becomes false when
 * the segment does not belong to the last chunk.
 */
inline Status read_read_segment(Reader &reader, rpcrdma_chunk_lists &lists,
				bool &ordered)
{
	const u8 *at = reader.take(read_segment_rest).data();
	rpcrdma_segment segment;
	rpcrdma_chunk *chunk;
	u32 position;

	if (!at)
		return RPCRDMA_TRUNCATED;
	position = load_be32(at);
	if (position % RPCRDMA_XDR_UNIT)
		return RPCRDMA_BAD_POSITION;
	if (lists.nr_segments >= lists.max_segments)
		return RPCRDMA_TOO_MANY;
	chunk = obtain_read_chunk(lists, position);
	if (!chunk)
		return RPCRDMA_TOO_MANY;
	if (chunk != &lists.chunks[lists.nr_read - 1])
		ordered = false;
	segment = load_segment(at + RPCRDMA_XDR_UNIT);
	lists.segments[lists.nr_segments++] = segment;
	return count_segment(*chunk, segment);
}

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

/*
 * Section 3.4.5: segments of one Position make one chunk, in list order. @reader is at the
 * start of a list that was found good.
 */
inline void place_read_segments(Reader reader, rpcrdma_chunk_lists &lists)
{
	place_read_chunks(lists);
	while (reader.read_u32()) {
		const u8 *at = reader.take(read_segment_rest).data();
		rpcrdma_chunk &chunk =
			lists.chunks[find_read_chunk(lists, load_be32(at))];

		lists.segments[chunk.first + chunk.count++] =
			load_segment(at + RPCRDMA_XDR_UNIT);
	}
}

/* Section 4.1.2: a linked list, hence a discriminator before each segment. */
inline Status read_read_list(Reader &reader, rpcrdma_chunk_lists &lists)
{
	const Reader start = reader;
	bool ordered = true;

	for (;;) {
		bool present = false;
		Status status = read_discriminator(reader, present);

		if (!status.ok())
			return status;
		if (!present)
			break;
		status = read_read_segment(reader, lists, ordered);
		if (!status.ok())
			return status;
	}
	if (!ordered)
		place_read_segments(start, lists);
	return {};
}

/* Section 4.1.2: a counted array of segments, as in Write and Reply chunks. */
inline Status read_counted_chunk(Reader &reader, rpcrdma_chunk_lists &lists)
{
	u32 count = reader.read_u32();
	rpcrdma_segment *to;
	rpcrdma_chunk *chunk;

	if (reader.failed() ||
	    count > reader.remaining() / RPCRDMA_SEGMENT_SIZE)
		return RPCRDMA_TRUNCATED;
	chunk = append_chunk(lists, 0);
	if (!chunk || count > lists.max_segments - lists.nr_segments)
		return RPCRDMA_TOO_MANY;
	to = lists.segments + lists.nr_segments;
	Span<const u8> bytes =
		reader.take(size_t(count) * RPCRDMA_SEGMENT_SIZE);
	for (const u8 *at = bytes.begin(); at != bytes.end();
	     at += RPCRDMA_SEGMENT_SIZE) {
		*to = load_segment(at);
		Status status = count_segment(*chunk, *to++);

		if (!status.ok())
			return status;
	}
	lists.nr_segments += count;
	return {};
}

/* Section 4.1.2: a linked list of counted arrays. */
inline Status read_write_list(Reader &reader, rpcrdma_chunk_lists &lists)
{
	for (;;) {
		bool present = false;
		Status status = read_discriminator(reader, present);

		if (!status.ok() || !present)
			return status;
		status = read_counted_chunk(reader, lists);
		if (!status.ok())
			return status;
		lists.nr_write++;
	}
}

inline Status read_reply_chunk(Reader &reader, rpcrdma_chunk_lists &lists)
{
	bool present = false;
	Status status = read_discriminator(reader, present);

	if (!status.ok() || !present)
		return status;
	status = read_counted_chunk(reader, lists);
	if (status.ok())
		lists.nr_reply = 1;
	return status;
}

/* ---- encoding ---- */

/* RFC 8267 section 6.4.2; a chunk without segments carries nothing. */
constexpr bool sendable_chunk(u32 segments)
{
	return segments && segments <= RPCRDMA_MAX_SEGMENTS_SENT;
}

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

	for (u32 i = 0; i < chunk_count(lists); i++) {
		u32 segments = lists.chunks[i].count;

		if (i < lists.nr_read)
			size += read_chunk_size(segments);
		else if (i < lists.nr_read + lists.nr_write)
			size += write_chunk_size(segments);
		else
			size += reply_chunk_size(segments);
	}
	return size;
}

/* Section 4.1.2: a linked list, whose end write_lists() writes */
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

/* A Write chunk, or the Reply chunk */
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

/* Section 4.7: Read list, Write list, Reply chunk, each with its end. */
inline void write_lists(Writer &writer, const rpcrdma_chunk_lists &lists)
{
	const rpcrdma_chunk *chunk = lists.chunks;

	for (u32 i = 0; i < lists.nr_read; i++)
		write_read_chunk(writer, lists, *chunk++);
	writer.write_u32(0);
	for (u32 i = 0; i < lists.nr_write; i++)
		write_counted_chunk(writer, lists, *chunk++);
	writer.write_u32(0);
	if (lists.nr_reply)
		write_counted_chunk(writer, lists, *chunk);
	else
		writer.write_u32(0);
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_CHUNK_LIST_HH */
