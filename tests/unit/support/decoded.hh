// SPDX-License-Identifier: GPL-2.0-only
/* Lists with storage of their own, and what the codec made of a message */
#ifndef UNIT_DECODED_HH
#define UNIT_DECODED_HH

#include <rpcrdma/header.h>

#include "hex.hh"

inline bool operator==(const rpcrdma_segment &a, const rpcrdma_segment &b)
{
	return a.handle == b.handle && a.length == b.length &&
	       a.offset == b.offset;
}

inline bool operator==(const rpcrdma_chunk &a, const rpcrdma_chunk &b)
{
	return a.position == b.position && a.first == b.first &&
	       a.count == b.count && a.length == b.length;
}

inline bool operator==(const rpcrdma_header &a, const rpcrdma_header &b)
{
	return a.xid == b.xid && a.vers == b.vers && a.credits == b.credits &&
	       a.proc == b.proc && a.size == b.size && a.error == b.error &&
	       a.vers_low == b.vers_low && a.vers_high == b.vers_high;
}

/* Not to be copied: lists point into the vectors. */
struct Lists {
	explicit Lists(u32 max_segments = 64, u32 max_chunks = 64)
		: segment_storage(max_segments)
		, chunk_storage(max_chunks)
	{
		rpcrdma_lists_init(&lists, segment_storage.data(), max_segments,
				   chunk_storage.data(), max_chunks);
	}
	Lists(const Lists &) = delete;

	std::vector<rpcrdma_segment> segments() const
	{
		return { segment_storage.begin(),
			 segment_storage.begin() + lists.nr_segments };
	}

	u32 nr_chunks() const
	{
		return lists.nr_read + lists.nr_write + lists.nr_reply;
	}

	std::vector<rpcrdma_chunk> chunks() const
	{
		return { chunk_storage.begin(),
			 chunk_storage.begin() + nr_chunks() };
	}

	bool same(const Lists &other) const
	{
		return segments() == other.segments() &&
		       chunks() == other.chunks() &&
		       lists.nr_read == other.lists.nr_read &&
		       lists.nr_write == other.lists.nr_write &&
		       lists.nr_reply == other.lists.nr_reply;
	}

	std::vector<rpcrdma_segment> segment_storage;
	std::vector<rpcrdma_chunk> chunk_storage;
	rpcrdma_chunk_lists lists;
};

struct Decoded : Lists {
	explicit Decoded(const Bytes &message, u32 max_segments = 64,
			 u32 max_chunks = 64, bool take_msgp = false)
		: Lists(max_segments, max_chunks)
	{
		/* Exactly as long as the message, for the sanitizer */
		status = rpcrdma_header_decode(message.data(),
					       u32(message.size()), &header,
					       &lists, take_msgp);
	}

	rpcrdma_header header;
	rpcrdma_status status;
};

/* What the codec writes for @header and @lists; empty on failure */
inline Bytes encoded(rpcrdma_header header, const rpcrdma_chunk_lists *lists)
{
	Bytes bytes(lists ? rpcrdma_header_size(lists) :
			    u32(RPCRDMA_MIN_HEADER_SIZE));
	bool has_lists = header.proc == RPCRDMA_MSG ||
			 header.proc == RPCRDMA_NOMSG;

	if (rpcrdma_header_encode(&header, lists, bytes.data(),
				  u32(bytes.size())) != RPCRDMA_OK ||
	    (has_lists && header.size != bytes.size()))
		return {};
	bytes.resize(header.size);
	return bytes;
}

#endif /* UNIT_DECODED_HH */
