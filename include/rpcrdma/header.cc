// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Whole transport headers: RFC 8166 section 4.
 *
 * Decoding stores segments as it checks them. Those of a Read list whose Positions are out of
 * order are stored once more, each in its chunk, by place_read_segments(). Loops are bounded
 * by the bytes that are there, never by a count that the peer sent.
 */
#include "bytes.hh"
#include "chunk_list.hh"
#include "header.h"

using namespace rpcrdma;

/* ---- decoding: the Read list, sections 3.4.5 and 4.1.2 ---- */

/* Section 3.4.3: a segment, from RPCRDMA_SEGMENT_SIZE bytes */
static rpcrdma_segment load_segment(const u8 *from)
{
	return { load_be<u32>(from), load_be<u32>(from + 4), load_be<u64>(from + 8) };
}

/* Index of the first Read chunk that does not lie before @position. */
static u32 find_read_chunk(const rpcrdma_chunk_lists &lists, u32 position)
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
 * Returns the Read chunk at @position, or null if there is no room for it. The first segment with a
 * Position makes the chunk, in its place among the others. Called only while there is no Write
 * chunk.
 */
static rpcrdma_chunk *obtain_read_chunk(rpcrdma_chunk_lists &lists, u32 position)
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

/* Bytes of a Read segment behind its discriminator: a Position and a segment */
constexpr size_t read_segment_rest = size_t(RPCRDMA_READ_SEGMENT_SIZE) - RPCRDMA_XDR_UNIT;

/*
 * Positions are multiples of four, and may come in any order. @ordered becomes false when the
 * segment does not belong to the last chunk.
 */
[[nodiscard]] static rpcrdma_status read_read_segment(Reader &reader, rpcrdma_chunk_lists &lists,
						      bool &ordered)
{
	const u8 *at = reader.take(read_segment_rest).data();
	rpcrdma_segment segment;
	rpcrdma_chunk *chunk;
	u32 position;

	if (!at)
		return RPCRDMA_TRUNCATED;
	position = load_be<u32>(at);
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
	return count_segment(*chunk, segment) ? RPCRDMA_OK : RPCRDMA_OVERFLOW;
}

/*
 * Stores the segments once more, those with the same Position together, in the order of the list.
 * @reader is at the start of a Read list that was decoded without an error.
 */
static void place_read_segments(Reader reader, rpcrdma_chunk_lists &lists)
{
	u32 first = 0;

	/* From here on, the count of a chunk is the number of its segments that are in place. */
	for (rpcrdma_chunk &chunk : read_chunks(lists)) {
		chunk.first = first;
		first += chunk.count;
		chunk.count = 0;
	}
	while (reader.read_bool()) {
		const u8 *at = reader.take(read_segment_rest).data();
		rpcrdma_chunk &chunk = lists.chunks[find_read_chunk(lists, load_be<u32>(at))];

		lists.segments[chunk.first + chunk.count++] = load_segment(at + RPCRDMA_XDR_UNIT);
	}
}

/* ---- decoding: all lists ---- */

/* A Write chunk or the Reply chunk: a counted array of segments. @number: nr_write or nr_reply */
[[nodiscard]] static rpcrdma_status read_counted_chunk(Reader &reader, rpcrdma_chunk_lists &lists,
						       u32 &number)
{
	u32 count = reader.read_u32();
	rpcrdma_segment *to;
	rpcrdma_chunk *chunk;

	if (reader.failed() || count > reader.remaining() / RPCRDMA_SEGMENT_SIZE)
		return RPCRDMA_TRUNCATED;
	chunk = append_chunk(lists, 0);
	if (!chunk || count > lists.max_segments - lists.nr_segments)
		return RPCRDMA_TOO_MANY;
	to = lists.segments + lists.nr_segments;
	Span<const u8> bytes = reader.take(size_t(count) * RPCRDMA_SEGMENT_SIZE);
	for (const u8 *at = bytes.begin(); at != bytes.end(); at += RPCRDMA_SEGMENT_SIZE) {
		*to = load_segment(at);
		if (!count_segment(*chunk, *to++))
			return RPCRDMA_OVERFLOW;
	}
	lists.nr_segments += count;
	number++;
	return RPCRDMA_OK;
}

/*
 * The rest of an RDMA_MSG or RDMA_NOMSG, section 4.1.2. The Read list and the Write list are linked
 * lists, hence a discriminator before each Read segment and each Write chunk; the Reply chunk is
 * optional. On failure @lists is in no useful state.
 */
[[nodiscard]] static rpcrdma_status read_lists(Reader &reader, rpcrdma_header &header,
					       rpcrdma_chunk_lists &lists)
{
	const Reader start = reader;
	rpcrdma_status status = RPCRDMA_OK;
	bool ordered = true;

	while (status == RPCRDMA_OK && reader.read_bool())
		status = read_read_segment(reader, lists, ordered);
	if (!ordered && status == RPCRDMA_OK && !reader.failed())
		place_read_segments(start, lists);
	while (status == RPCRDMA_OK && reader.read_bool())
		status = read_counted_chunk(reader, lists, lists.nr_write);
	if (status == RPCRDMA_OK && reader.read_bool())
		status = read_counted_chunk(reader, lists, lists.nr_reply);
	if (status != RPCRDMA_OK)
		return status;
	if (reader.failed())
		return reader.bad_bool() ? RPCRDMA_BAD_DISCRIMINATOR : RPCRDMA_TRUNCATED;
	header.size = u32(reader.position());
	if (header.proc == RPCRDMA_NOMSG) /* section 4.2.4 */
		return chunk_count(lists) ? RPCRDMA_OK : RPCRDMA_NO_LISTS;

	/* Section 4.2.1: the XID of the RPC message is the one of the header. */
	Reader payload = reader;
	u32 xid = payload.read_u32();

	if (payload.failed() || xid != header.xid)
		return RPCRDMA_XID_MISMATCH;
	/* RFC 5531 section 9: msg_type follows the XID. */
	u32 type = payload.read_u32();

	if (!payload.failed() && (type == RPCRDMA_RPC_CALL || type == RPCRDMA_RPC_REPLY))
		header.direction = int(type);
	return RPCRDMA_OK;
}

/* ---- decoding: RDMA_MSGP ---- */

/*
 * RFC 5666 sections 3.9 and 4.3: an RDMA_MSG with two more words, rdma_align and rdma_thresh,
 * before its chunk lists. Nobody knows for sure how such a message is padded (RFC 8166 section
 * 4.6.1). So only a message that cannot be padded at all is taken.
 */

/* Bytes of the RPC message before it was reduced */
static u64 unreduced_size(u64 payload, const rpcrdma_chunk_lists &lists)
{
	for (const rpcrdma_chunk &chunk : read_chunks(lists))
		payload += chunk.length;
	return payload;
}

/*
 * No padding applies if
 * - rdma_align is 0, so no alignment is asked for, or 1, 2 or 4: all items of an XDR stream begin
 *   at a multiple of four, in the RPC message and in the Send; or
 * - the whole message, with what its Read chunks bring, is not longer than rdma_thresh. Padding
 *   goes to opaque items of at least (section 3.9, first), or of more than (there, last)
 *   rdma_thresh bytes. Each item is shorter than the message, which begins with its XID, so no
 *   padding applies by either reading.
 */
static bool no_padding_applies(u32 align, u32 thresh, u64 size)
{
	return !align || RPCRDMA_XDR_UNIT % align == 0 || size <= thresh;
}

/* Makes an RDMA_MSG of a call to which no padding applies. A reply in an RDMA_MSGP is refused. */
[[nodiscard]] static rpcrdma_status read_unpadded(Reader &reader, rpcrdma_header &header,
						  rpcrdma_chunk_lists &lists)
{
	u32 rdma_align = reader.read_u32();
	u32 rdma_thresh = reader.read_u32();
	rpcrdma_status status = read_lists(reader, header, lists);

	if (status != RPCRDMA_OK)
		return status;
	if (header.direction != RPCRDMA_RPC_CALL ||
	    !no_padding_applies(rdma_align, rdma_thresh, unreduced_size(reader.remaining(), lists)))
		return RPCRDMA_BAD_PROC;
	header.proc = RPCRDMA_MSG;
	return RPCRDMA_OK;
}

/* ---- the body of RDMA_ERROR, sections 4.1.2 and 4.5 ---- */

/*
 * Section 4.5: an RDMA_ERROR that cannot be decoded is dropped, so one status stands for all that
 * can be wrong. ERR_VERS has the same layout in every version (section 7), and its rdma_vers is the
 * version that the peer did not accept. ERR_CHUNK belongs to version 1.
 */
[[nodiscard]] static rpcrdma_status read_error(Reader &reader, rpcrdma_header &header)
{
	header.error = reader.read_u32();
	switch (header.error) {
	case RPCRDMA_ERR_VERS:
		header.vers_low = reader.read_u32();
		header.vers_high = reader.read_u32();
		break;
	case RPCRDMA_ERR_CHUNK:
		if (header.vers != RPCRDMA_VERSION)
			return RPCRDMA_BAD_ERROR;
		break;
	default:
		return RPCRDMA_BAD_ERROR;
	}
	if (reader.failed())
		return RPCRDMA_BAD_ERROR;
	header.size = u32(reader.position());
	return RPCRDMA_OK;
}

/* ---- decoding: the header ---- */

static void clear_lists(rpcrdma_chunk_lists &lists)
{
	lists.nr_segments = 0;
	lists.nr_read = 0;
	lists.nr_write = 0;
	lists.nr_reply = 0;
}

static bool is_done(const rpcrdma_header &header)
{
	return header.proc == RPCRDMA_DONE && header.vers == RPCRDMA_VERSION;
}

/*
 * Section 4.5 wants messages below 28 bytes dropped unparsed; but an ERR_CHUNK has 20 bytes, and an
 * RDMA_DONE 16. So rdma_proc is looked at first, if the message has one.
 */
[[nodiscard]] static rpcrdma_status read_header(Reader &reader, rpcrdma_header &header,
						rpcrdma_chunk_lists &lists, bool take_msgp)
{
	size_t length = reader.remaining();
	const u8 *at = reader.take(RPCRDMA_FIXED_HEADER_SIZE).data();

	if (!at)
		return RPCRDMA_RUNT;
	/* The four words that never change between versions: section 7 */
	header.xid = load_be<u32>(at);
	header.vers = load_be<u32>(at + 4);
	header.credits = load_be<u32>(at + 8);
	header.proc = load_be<u32>(at + 12);
	if (header.proc == RPCRDMA_ERROR)
		return read_error(reader, header);
	if (length < RPCRDMA_MIN_HEADER_SIZE && !is_done(header))
		return RPCRDMA_RUNT;
	if (header.vers != RPCRDMA_VERSION) /* section 4.5.1 */
		return RPCRDMA_BAD_VERSION;
	switch (header.proc) {
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		return read_lists(reader, header, lists);
	case RPCRDMA_MSGP:
		return take_msgp ? read_unpadded(reader, header, lists) : RPCRDMA_BAD_PROC;
	case RPCRDMA_DONE: /* section 4.6: the caller knows whether both peers announced it */
		header.size = u32(reader.position());
		return RPCRDMA_OK;
	default:
		return RPCRDMA_BAD_PROC;
	}
}

enum rpcrdma_status rpcrdma_header_decode(const void *message, u32 length,
					  struct rpcrdma_header *header,
					  struct rpcrdma_chunk_lists *lists, bool take_msgp)
{
	Reader reader(message, length);
	rpcrdma_status status;

	*header = {};
	header->direction = -1;
	clear_lists(*lists);
	status = read_header(reader, *header, *lists, take_msgp);
	if (status != RPCRDMA_OK)
		clear_lists(*lists);
	return status;
}

/* ---- encoding ---- */

u32 rpcrdma_header_size(const struct rpcrdma_chunk_lists *lists)
{
	u64 size = RPCRDMA_MIN_HEADER_SIZE;

	for (const rpcrdma_chunk &chunk : read_chunks(*lists))
		size += read_chunk_size(chunk.count);
	for (const rpcrdma_chunk &chunk : write_chunks(*lists))
		size += write_chunk_size(chunk.count);
	for (const rpcrdma_chunk &chunk : reply_chunks(*lists))
		size += reply_chunk_size(chunk.count);
	return saturate_u32(size);
}

static void write_segment(Writer &writer, const rpcrdma_segment &segment)
{
	writer.write_u32(segment.handle);
	writer.write_u32(segment.length);
	writer.write_u64(segment.offset);
}

/* Section 4.1.2: the Read list is a linked list, whose end write_lists() writes. */
static void write_read_chunk(Writer &writer, const rpcrdma_chunk_lists &lists,
			     const rpcrdma_chunk &chunk)
{
	for (const rpcrdma_segment &segment : chunk_segments(lists, chunk)) {
		writer.write_u32(1);
		writer.write_u32(chunk.position);
		write_segment(writer, segment);
	}
}

/* A Write chunk, or the Reply chunk */
static void write_counted_chunk(Writer &writer, const rpcrdma_chunk_lists &lists,
				const rpcrdma_chunk &chunk)
{
	writer.write_u32(1);
	writer.write_u32(chunk.count);
	for (const rpcrdma_segment &segment : chunk_segments(lists, chunk))
		write_segment(writer, segment);
}

/* Section 4.7: zero ends the Read list and the Write list, and stands for no Reply chunk. */
static void write_lists(Writer &writer, const rpcrdma_chunk_lists &lists)
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

static void write_error(Writer &writer, const rpcrdma_header &header)
{
	writer.write_u32(header.error);
	if (header.error == RPCRDMA_ERR_VERS) {
		writer.write_u32(header.vers_low);
		writer.write_u32(header.vers_high);
	}
}

enum rpcrdma_status rpcrdma_header_encode(struct rpcrdma_header *header,
					  const struct rpcrdma_chunk_lists *lists, void *buffer,
					  u32 capacity)
{
	static constexpr rpcrdma_chunk_lists no_lists = {};
	Writer writer(buffer, capacity);

	writer.write_u32(header->xid);
	writer.write_u32(header->vers);
	writer.write_u32(header->credits);
	writer.write_u32(header->proc);
	switch (header->proc) {
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		write_lists(writer, lists ? *lists : no_lists);
		break;
	case RPCRDMA_DONE:
		break;
	case RPCRDMA_ERROR:
		if (header->error != RPCRDMA_ERR_VERS && header->error != RPCRDMA_ERR_CHUNK)
			return RPCRDMA_BAD_ERROR;
		write_error(writer, *header);
		break;
	default: /* section 4.6.1: RDMA_MSGP is not sent */
		return RPCRDMA_BAD_PROC;
	}
	if (writer.failed())
		return RPCRDMA_NO_SPACE;
	header->size = u32(writer.position());
	return RPCRDMA_OK;
}

/*
 * Section 4.5: an RDMA_ERROR has the XID and the version of the call. Section 4.5.1: an ERR_VERS
 * has the lowest and the highest version that the responder supports; here there is only one.
 */
u32 rpcrdma_error_encode(u32 xid, u32 vers, u32 credits, enum rpcrdma_errcode error, void *buffer)
{
	rpcrdma_header header = {};

	header.xid = xid;
	header.vers = vers;
	header.credits = credits;
	header.proc = RPCRDMA_ERROR;
	header.error = error;
	header.vers_low = RPCRDMA_VERSION;
	header.vers_high = RPCRDMA_VERSION;
	/* If the encoding fails, the size stays 0. */
	rpcrdma_header_encode(&header, nullptr, buffer, RPCRDMA_ERR_VERS_SIZE);
	return header.size;
}
