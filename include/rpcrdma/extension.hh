// SPDX-License-Identifier: GPL-2.0
/*
 * Our extension of the CM private data, behind the block of RFC 8797: who takes and who
 * provides replies in Read chunks, and who knows chunks in the reverse direction.
 * Documentation/reliable-reply.rst is its specification.
 *
 *	octets 0-3	Format Identifier
 *	octet 4		version, 1
 *	octet 5		length of the block in octets, 8 or more
 *	octets 6-7	capabilities
 */
#ifndef RPCRDMA_EXTENSION_HH
#define RPCRDMA_EXTENSION_HH

#include "protocol.h"
#include "reader.hh"
#include "writer.hh"

namespace rpcrdma
{

inline void write_extension(Writer &writer, u16 capabilities)
{
	if (!capabilities)
		return;
	writer.write_u32(u32(RPCRDMA_EXT_FORMAT_ID));
	writer.write_u8(RPCRDMA_EXT_VERSION);
	writer.write_u8(RPCRDMA_EXT_SIZE);
	writer.write_u8(u8(capabilities >> 8));
	writer.write_u8(u8(capabilities));
}

/* What a peer announces; 0 for a block that is absent, cut off or of another version. */
inline u16 read_extension(Reader reader)
{
	size_t room = reader.remaining();
	u32 format = reader.read_u32();
	u8 version = reader.read_u8();
	u8 length = reader.read_u8();
	u8 high = reader.read_u8();
	u8 low = reader.read_u8();

	if (reader.failed() || format != u32(RPCRDMA_EXT_FORMAT_ID) ||
	    version != RPCRDMA_EXT_VERSION || length < RPCRDMA_EXT_SIZE ||
	    length > room)
		return 0;
	return u16(high << 8 | low);
}

/* Of one connection, on which one peer is the requester of the forward direction. */
constexpr bool read_chunk_replies(u16 local, u16 peer)
{
	return ((local & RPCRDMA_EXT_TAKES_READ_CHUNKS) &&
		(peer & RPCRDMA_EXT_PROVIDES_READ_CHUNKS)) ||
	       ((local & RPCRDMA_EXT_PROVIDES_READ_CHUNKS) &&
		(peer & RPCRDMA_EXT_TAKES_READ_CHUNKS));
}

/* Nothing that the peer did not ask for. */
constexpr u16 extensions_answer(u16 peer)
{
	u16 answer = peer & RPCRDMA_EXT_REVERSE_CHUNKS;

	if (peer & RPCRDMA_EXT_TAKES_READ_CHUNKS)
		answer |= RPCRDMA_EXT_PROVIDES_READ_CHUNKS;
	return answer;
}

/* The server makes such calls, the client takes them; one bit for both. */
constexpr bool reverse_chunks(u16 local, u16 peer)
{
	return local & peer & RPCRDMA_EXT_REVERSE_CHUNKS;
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_EXTENSION_HH */
