// SPDX-License-Identifier: GPL-2.0-only
/*
 * What holds for the decoder whatever the bytes are. No gtest in here: the fuzz
 * targets use it, too. Each check returns null or says what is wrong.
 */
#ifndef UNIT_HEADER_CHECK_HH
#define UNIT_HEADER_CHECK_HH

#include <rpcrdma/header.h>
#include <rpcrdma/rpc_message.h>

#include "decoded.hh"
#include "naive_decode.hh"

/* Chunks divide the segments among them, in order; sums are right. */
inline const char *check_lists(const Lists &decoded)
{
	u32 next = 0, index = 0, before = 0;

	for (const rpcrdma_chunk &chunk : decoded.chunks()) {
		u64 sum = 0;

		if (chunk.first != next)
			return "segments of a chunk are not where they should be";
		for (u32 i = 0; i < chunk.count; i++)
			sum += decoded.segments().at(next++).length;
		if (sum != chunk.length)
			return "length of a chunk is not the sum";
		if (index < decoded.lists.nr_read) {
			if (chunk.position % 4 ||
			    (index && chunk.position <= before))
				return "Read chunks are not sorted";
			before = chunk.position;
		} else if (chunk.position) {
			return "Write or Reply chunk with a Position";
		}
		index++;
	}
	return next == decoded.lists.nr_segments ? nullptr :
						   "segments without a chunk";
}

inline bool same_chunk(const Lists &decoded, const rpcrdma_chunk &chunk,
		       const std::vector<rpcrdma_segment> &naive)
{
	auto from = decoded.segment_storage.begin() + chunk.first;

	return std::vector<rpcrdma_segment>(from, from + chunk.count) == naive;
}

inline const char *compare_with_naive(const Lists &decoded,
				      const NaiveLists &naive)
{
	u32 index = 0;

	if (decoded.lists.nr_read != naive.read.size() ||
	    decoded.lists.nr_write != naive.write.size() ||
	    decoded.lists.nr_reply != naive.reply.size())
		return "other number of chunks than the naive decoder";
	for (const auto &[position, segments] : naive.read) {
		const rpcrdma_chunk &chunk = decoded.chunk_storage.at(index++);

		if (chunk.position != position ||
		    !same_chunk(decoded, chunk, segments))
			return "other Read chunk than the naive decoder";
	}
	for (const auto &segments : naive.write)
		if (!same_chunk(decoded, decoded.chunk_storage.at(index++),
				segments))
			return "other Write chunk than the naive decoder";
	for (const auto &segments : naive.reply)
		if (!same_chunk(decoded, decoded.chunk_storage.at(index++),
				segments))
			return "other Reply chunk than the naive decoder";
	return nullptr;
}

/* Decode, encode, decode: the same again. */
inline const char *check_round_trip(const Decoded &first)
{
	Bytes bytes = encoded(first.header, &first.lists);

	if (bytes.empty())
		return "decoded, but cannot be encoded";
	if (bytes.size() != first.header.size)
		return "encoded size is another than the decoded one";
	if (first.header.proc == RPCRDMA_MSG)
		add_word(bytes, first.header.xid);

	Decoded second(bytes, first.lists.max_segments, first.lists.max_chunks);

	if (second.status != RPCRDMA_OK || !(second.header == first.header) ||
	    !second.same(first))
		return "second decode is another than the first";
	return nullptr;
}

inline int direction_of(const Bytes &message, const rpcrdma_header &header)
{
	if (header.proc != RPCRDMA_MSG)
		return -1;
	return rpcrdma_message_direction(message.data() + header.size,
					 u32(message.size() - header.size));
}

/* With storage for all that @message can hold. */
inline const char *check_message(const Bytes &message)
{
	u32 room = u32(message.size() / 4) + 1;
	Decoded decoded(message, room, room);
	auto naive = NaiveDecoder(message).decode();
	bool lists = decoded.status == RPCRDMA_OK &&
		     decoded.header.proc <= RPCRDMA_NOMSG;
	const char *wrong;

	if (decoded.status == RPCRDMA_TOO_MANY ||
	    decoded.status == RPCRDMA_NO_SPACE)
		return "there was storage enough";
	if (lists != naive.has_value())
		return "naive decoder is of another opinion";
	if (!lists && decoded.nr_chunks() + decoded.lists.nr_segments)
		return "lists are not empty";
	if (decoded.status != RPCRDMA_OK)
		return nullptr;
	if (decoded.header.size > message.size())
		return "header is larger than the message";
	if (decoded.header.direction != direction_of(message, decoded.header))
		return "direction is not that of the RPC message";
	wrong = check_lists(decoded);
	if (!wrong && lists)
		wrong = compare_with_naive(decoded, *naive);
	return wrong ? wrong : check_round_trip(decoded);
}

/* With little storage: the same, or TOO_MANY, or found bad later on. */
inline const char *check_small_storage(const Bytes &message, u32 segments,
				       u32 chunks)
{
	u32 room = u32(message.size() / 4) + 1;
	Decoded large(message, room, room);
	Decoded small(message, segments, chunks);
	bool fits = large.lists.nr_segments <= segments &&
		    large.nr_chunks() <= chunks;

	if (small.status == RPCRDMA_TOO_MANY)
		return large.status == RPCRDMA_OK && fits ? "there was room" :
							    nullptr;
	if (small.status != large.status)
		return "storage changes the status";
	if (small.status == RPCRDMA_OK && !small.same(large))
		return "storage changes the lists";
	return nullptr;
}

/* The RDMA_MSG that @message would be, were it no RDMA_MSGP. */
inline Bytes without_padding_words(const Bytes &message)
{
	Bytes plain = message;

	plain.erase(plain.begin() + 16, plain.begin() + 24);
	set_word(plain, 12, RPCRDMA_MSG);
	return plain;
}

/* An RDMA_MSGP is served as the codec has the same RDMA_MSG, or not at all. */
inline const char *check_unpadded(const Bytes &message)
{
	u32 room = u32(message.size() / 4) + 1;
	Decoded always(message, room, room);
	Decoded taken(message, room, room, true);

	if (always.status != RPCRDMA_BAD_PROC ||
	    always.header.proc != RPCRDMA_MSGP)
		return taken.status == always.status && taken.same(always) &&
				       taken.header == always.header ?
			       nullptr :
			       "no RDMA_MSGP, but decoded in another way";
	if (taken.status != RPCRDMA_OK)
		return taken.nr_chunks() + taken.lists.nr_segments ?
			       "refused, and something left" :
			       nullptr;

	Decoded plain(without_padding_words(message), room, room);

	plain.header.size += 8;
	if (plain.status != RPCRDMA_OK || !(taken.header == plain.header) ||
	    taken.header.direction != RPCRDMA_RPC_CALL || !taken.same(plain))
		return "RDMA_MSGP is another call than the RDMA_MSG";
	return nullptr;
}

#endif /* UNIT_HEADER_CHECK_HH */
