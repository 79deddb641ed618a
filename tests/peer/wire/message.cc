// SPDX-License-Identifier: GPL-2.0-only
/* See message.hh. */
#include "wire/message.hh"

#include <array>

namespace peer
{

Header &Header::add_read(u32 position, const rpcrdma_segment &segment)
{
	read.push_back({ position, segment });
	return *this;
}

Bytes Header::encode_fixed() const
{
	return Bytes().word(xid).word(vers).word(credits).word(proc);
}

static void put_segment(Bytes &to, const rpcrdma_segment &segment)
{
	to.word(segment.handle).word(segment.length).hyper(segment.offset);
}

static void put_chunk(Bytes &to, const Chunk &chunk)
{
	to.word(1).word(u32(chunk.size()));
	for (const rpcrdma_segment &segment : chunk)
		put_segment(to, segment);
}

/* RFC 8166 section 4.7 */
Bytes Header::encode(View payload) const
{
	Bytes bytes = encode_fixed();

	for (const ReadSegment &item : read) {
		bytes.word(1).word(item.position);
		put_segment(bytes, item.segment);
	}
	bytes.word(0);
	for (const Chunk &chunk : write)
		put_chunk(bytes, chunk);
	bytes.word(0);
	if (reply)
		put_chunk(bytes, *reply);
	else
		bytes.word(0);
	return bytes.raw(payload);
}

Bytes encode_error(u32 xid, u32 error, u32 vers, u32 credits)
{
	Bytes bytes;

	bytes.word(xid).word(vers).word(credits).word(RPCRDMA_ERROR);
	bytes.word(error);
	if (error == RPCRDMA_ERR_VERS)
		bytes.word(RPCRDMA_VERSION).word(RPCRDMA_VERSION);
	return bytes;
}

static Chunk segments_of(const rpcrdma_chunk_lists &lists,
			 const rpcrdma_chunk &chunk)
{
	const rpcrdma_segment *first = lists.segments + chunk.first;

	return Chunk(first, first + chunk.count);
}

static void take_lists(const rpcrdma_chunk_lists &lists, Decoded &message)
{
	const rpcrdma_chunk *chunk = lists.chunks;

	for (u32 i = 0; i < lists.nr_read; i++, chunk++)
		message.read.emplace_back(chunk->position,
					  segments_of(lists, *chunk));
	for (u32 i = 0; i < lists.nr_write; i++, chunk++)
		message.write.push_back(segments_of(lists, *chunk));
	if (lists.nr_reply)
		message.reply = segments_of(lists, *chunk);
}

Decoded decode(View bytes)
{
	std::array<rpcrdma_segment, 512> segments;
	std::array<rpcrdma_chunk, 512> chunks;
	rpcrdma_chunk_lists lists;
	Decoded message;

	rpcrdma_lists_init(&lists, segments.data(), segments.size(),
			   chunks.data(), chunks.size());
	message.status = rpcrdma_header_decode(bytes.data(), u32(bytes.size()),
					       &message.header, &lists, false);
	if (message.status != RPCRDMA_OK)
		return message;
	take_lists(lists, message);
	if (message.header.proc == RPCRDMA_MSG)
		message.payload = Bytes(
			bytes.subspan(message.header.size,
				      bytes.size() - message.header.size));
	return message;
}

u64 chunk_length(const Chunk &chunk)
{
	u64 sum = 0;

	for (const rpcrdma_segment &segment : chunk)
		sum += segment.length;
	return sum;
}

/* RFC 8166 section 3.4.6: all segments, filled in order */
Chunk written(const Chunk &chunk, u32 bytes)
{
	Chunk result = chunk;

	for (rpcrdma_segment &segment : result) {
		segment.length = rpcrdma::min(segment.length, bytes);
		bytes -= segment.length;
	}
	return result;
}

} /* namespace peer */
