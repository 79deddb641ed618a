// SPDX-License-Identifier: GPL-2.0
/*
 * The headers that most messages have, without a walk: an RDMA_MSG of version 1 with no chunk, or
 * with one chunk of one segment. What these functions refuse is anything else, or wrong: header.hh
 * decodes and encodes all there is, and says what is wrong. For what they take both do the same,
 * and unit tests compare them.
 */
#ifndef RPCRDMA_SHORT_HEADER_HH
#define RPCRDMA_SHORT_HEADER_HH

#include "chunk_list.hh"

namespace rpcrdma
{

/* Of the same size, whether the segment is in the Read list or in the Write list */
constexpr u32 one_segment_size =
	u32(RPCRDMA_MIN_HEADER_SIZE) + u32(RPCRDMA_READ_SEGMENT_SIZE);

/* ---- decoding ---- */

/* @size bytes of header, and the XID of the RPC message behind them: section 4.2.1 */
inline bool begins_message(Span<const u8> message, u32 size)
{
	const u8 *at = message.data();

	return message.size() >= size + RPCRDMA_XDR_UNIT &&
	       load_be32(at + 4) == RPCRDMA_VERSION &&
	       load_be32(at + 12) == RPCRDMA_MSG &&
	       load_be32(at + size) == load_be32(at);
}

inline void fill_header(const u8 *at, u32 size, rpcrdma_header &header)
{
	header = { load_be32(at),
		   RPCRDMA_VERSION,
		   load_be32(at + 8),
		   RPCRDMA_MSG,
		   size,
		   0,
		   0,
		   0 };
}

inline bool decode_plain(Span<const u8> message, rpcrdma_header &header,
			 rpcrdma_chunk_lists &lists)
{
	const u8 *at = message.data();

	if (!begins_message(message, RPCRDMA_MIN_HEADER_SIZE) ||
	    load_be64(at + 16) || load_be32(at + 24))
		return false;
	fill_header(at, RPCRDMA_MIN_HEADER_SIZE, header);
	clear_lists(lists);
	return true;
}

/* Section 4.1.2: 1, Position, segment; end of Read list, no Write list, no Reply chunk */
inline bool is_one_read(const u8 *lists)
{
	return load_be32(lists) == 1 &&
	       load_be32(lists + 4) % RPCRDMA_XDR_UNIT == 0 &&
	       !load_be64(lists + 24) && !load_be32(lists + 32);
}

/* No Read list; 1, one segment, segment; end of Write list, no Reply chunk */
inline bool is_one_write(const u8 *lists)
{
	return load_be64(lists) == 1 && load_be32(lists + 8) == 1 &&
	       load_be64(lists + 28) == 0;
}

inline bool decode_one_segment(Span<const u8> message, rpcrdma_header &header,
			       rpcrdma_chunk_lists &lists)
{
	u32 position = 0, writes;

	if (!lists.max_chunks || !lists.max_segments ||
	    !begins_message(message, one_segment_size))
		return false;
	const u8 *list = message.data() + RPCRDMA_FIXED_HEADER_SIZE;

	writes = is_one_write(list);
	if (!writes) {
		if (!is_one_read(list))
			return false;
		position = load_be32(list + 4);
	}
	lists.segments[0] = load_segment(list + (writes ? 12 : 8));
	if (segment_wraps(lists.segments[0]))
		return false;
	lists.chunks[0] = { position, 0, 1, lists.segments[0].length };
	lists.nr_segments = 1;
	lists.nr_read = 1 - writes;
	lists.nr_write = writes;
	lists.nr_reply = 0;
	fill_header(message.data(), one_segment_size, header);
	return true;
}

/* Behind @size bytes of header, @least bytes of an RPC message that goes this way */
inline bool has_payload(Span<const u8> message, u32 size, u32 least,
			u32 direction)
{
	return message.size() >= size + least &&
	       load_be32(message.data() + size + RPCRDMA_XDR_UNIT) == direction;
}

inline bool decode_short(Span<const u8> message, u32 least, u32 direction,
			 rpcrdma_header &header, rpcrdma_chunk_lists &lists)
{
	return (has_payload(message, RPCRDMA_MIN_HEADER_SIZE, least,
			    direction) &&
		decode_plain(message, header, lists)) ||
	       (has_payload(message, one_segment_size, least, direction) &&
		decode_one_segment(message, header, lists));
}

/* What most messages to a server are: a call with a short header */
inline bool decode_short_call(Span<const u8> message, rpcrdma_header &header,
			      rpcrdma_chunk_lists &lists)
{
	return decode_short(message, RPCRDMA_RPC_MIN_CALL, RPCRDMA_RPC_CALL,
			    header, lists);
}

/* And to a client: a reply, of which there are XID and direction */
inline bool decode_short_reply(Span<const u8> message, rpcrdma_header &header,
			       rpcrdma_chunk_lists &lists)
{
	return decode_short(message, 2 * RPCRDMA_XDR_UNIT, RPCRDMA_RPC_REPLY,
			    header, lists);
}

/* ---- encoding ---- */

inline void store_fixed(u8 *at, const rpcrdma_header &header)
{
	store_be32(at, header.xid);
	store_be32(at + 4, header.vers);
	store_be32(at + 8, header.credits);
	store_be32(at + 12, RPCRDMA_MSG);
}

/* RPCRDMA_MIN_HEADER_SIZE bytes */
inline void store_plain(u8 *at, const rpcrdma_header &header)
{
	store_fixed(at, header);
	store_be64(at + 16, 0);
	store_be32(at + 24, 0);
}

/* one_segment_size bytes, with a Write chunk of one segment */
inline void store_one_write(u8 *at, const rpcrdma_header &header,
			    const rpcrdma_segment &segment)
{
	u8 *list = at + RPCRDMA_FIXED_HEADER_SIZE;

	store_fixed(at, header);
	store_be64(list, 1);
	store_be32(list + 8, 1);
	store_segment(list + 12, segment);
	store_be64(list + 28, 0);
}

/* The same, with a Read chunk of one segment */
inline void store_one_read(u8 *at, const rpcrdma_header &header, u32 position,
			   const rpcrdma_segment &segment)
{
	u8 *list = at + RPCRDMA_FIXED_HEADER_SIZE;

	store_fixed(at, header);
	store_be32(list, 1);
	store_be32(list + 4, position);
	store_segment(list + 8, segment);
	store_be32(list + 24, 0);
	store_be64(list + 28, 0);
}

inline bool encode_plain(rpcrdma_header &header,
			 const rpcrdma_chunk_lists *lists, Span<u8> buffer)
{
	u8 *at = buffer.data();

	if (header.proc != RPCRDMA_MSG || (lists && chunk_count(*lists)) ||
	    buffer.size() < RPCRDMA_MIN_HEADER_SIZE)
		return false;
	store_plain(at, header);
	header.size = RPCRDMA_MIN_HEADER_SIZE;
	return true;
}

/* A Read chunk or a Write chunk, and its segment is among those of @lists */
inline bool has_one_segment(const rpcrdma_chunk_lists &lists)
{
	return lists.nr_read + lists.nr_write == 1 && !lists.nr_reply &&
	       lists.chunks[0].count == 1 &&
	       lists.chunks[0].first < lists.nr_segments;
}

inline bool encode_one_segment(rpcrdma_header &header,
			       const rpcrdma_chunk_lists *lists,
			       Span<u8> buffer)
{
	if (header.proc != RPCRDMA_MSG || !lists || !has_one_segment(*lists) ||
	    buffer.size() < one_segment_size)
		return false;
	const rpcrdma_chunk &chunk = lists->chunks[0];
	const rpcrdma_segment &segment = lists->segments[chunk.first];

	header.size = one_segment_size;
	if (lists->nr_write)
		store_one_write(buffer.data(), header, segment);
	else
		store_one_read(buffer.data(), header, chunk.position, segment);
	return true;
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_SHORT_HEADER_HH */
