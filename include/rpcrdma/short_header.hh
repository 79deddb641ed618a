// SPDX-License-Identifier: GPL-2.0
/*
 * The headers that most messages have, encoded without a walk: an RDMA_MSG of version 1 with no
 * chunk, or with one chunk of one segment. What these functions refuse is anything else, or wrong:
 * header.hh encodes all there is, and says what is wrong. For what they take both do the same, and
 * unit tests compare them.
 */
#ifndef RPCRDMA_SHORT_HEADER_HH
#define RPCRDMA_SHORT_HEADER_HH

#include "chunk_list.hh"

namespace rpcrdma
{

/* Of the same size, whether the segment is in the Read list or in the Write list */
constexpr u32 one_segment_size =
	u32(RPCRDMA_MIN_HEADER_SIZE) + u32(RPCRDMA_READ_SEGMENT_SIZE);

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
