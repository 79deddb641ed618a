// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* CM private data and what two peers make of it: RFC 8797, and our extension of it */
#include "cm_private.h"
#include "bytes.hh"
#include "math.hh"

using namespace rpcrdma;

/*
 * Our extension of the CM private data follows the block of RFC 8797. It says whether a peer takes
 * or provides replies in Read chunks, and whether it knows chunks in the reverse direction.
 * Documentation/reliable-reply.rst is its specification.
 *
 *	octets 0-3	Format Identifier
 *	octet 4		version, 1
 *	octet 5		length of the block in octets, 8 or more
 *	octets 6-7	capabilities
 */

static void write_extension(Writer &writer, u16 capabilities)
{
	if (!capabilities)
		return;
	writer.write_u32(u32(RPCRDMA_EXT_FORMAT_ID));
	writer.write_u8(RPCRDMA_EXT_VERSION);
	writer.write_u8(RPCRDMA_EXT_SIZE);
	writer.write_u8(u8(capabilities >> 8));
	writer.write_u8(u8(capabilities));
}

/* The bits that a peer announces; 0 if the block is absent, cut off or of another version */
static u16 read_extension(Reader reader)
{
	size_t room = reader.remaining();
	u32 format = reader.read_u32();
	u8 version = reader.read_u8();
	u8 length = reader.read_u8();
	u8 high = reader.read_u8();
	u8 low = reader.read_u8();

	if (reader.failed() || format != u32(RPCRDMA_EXT_FORMAT_ID) ||
	    version != RPCRDMA_EXT_VERSION || length < RPCRDMA_EXT_SIZE || length > room)
		return 0;
	return u16(high << 8 | low);
}

/* Does one peer take replies in Read chunks, and the other provide them? @local may be either. */
static constexpr bool read_chunk_replies(u16 local, u16 peer)
{
	return ((local & RPCRDMA_EXT_TAKES_READ_CHUNKS) &&
		(peer & RPCRDMA_EXT_PROVIDES_READ_CHUNKS)) ||
	       ((local & RPCRDMA_EXT_PROVIDES_READ_CHUNKS) &&
		(peer & RPCRDMA_EXT_TAKES_READ_CHUNKS));
}

/* A responder announces only what the requester has announced that it takes. */
u16 rpcrdma_extensions_answer(u16 peer)
{
	u16 answer = peer & RPCRDMA_EXT_REVERSE_CHUNKS;

	if (peer & RPCRDMA_EXT_TAKES_READ_CHUNKS)
		answer |= RPCRDMA_EXT_PROVIDES_READ_CHUNKS;
	return answer;
}

/* ---- the block of RFC 8797 ---- */

constexpr u32 cm_size_unit = 1024; /* section 4.2 */

/* A size that eight bits can encode, not above @size if that is possible */
static constexpr u32 usable_size(u32 size)
{
	return clamp<u32>(size / cm_size_unit * cm_size_unit, RPCRDMA_INLINE_MIN,
			  RPCRDMA_INLINE_MAX);
}

/* Section 4.2: (size / 1024) - 1 */
static constexpr u8 encoded_size(u32 size)
{
	return u8(usable_size(size) / cm_size_unit - 1);
}

static constexpr u32 decoded_size(u8 value)
{
	return (u32(value) + 1) * cm_size_unit;
}

u32 rpcrdma_cm_private_encode(const struct rpcrdma_cm_private *local, void *buffer)
{
	Writer writer(buffer, RPCRDMA_CM_MAX_SIZE);

	writer.write_u32(u32(RPCRDMA_CM_FORMAT_ID));
	writer.write_u8(RPCRDMA_CM_VERSION);
	/* Section 4: reserved bits are zero. */
	writer.write_u8(local->remote_invalidation ? RPCRDMA_CM_FLAG_R : 0);
	writer.write_u8(encoded_size(local->send_size));
	writer.write_u8(encoded_size(local->recv_size));
	write_extension(writer, local->extensions);
	return u32(writer.position());
}

/* Returns true, with @peer set, if the next bytes are a block that we understand. */
static bool read_cm_private(Reader reader, rpcrdma_cm_private &peer)
{
	u32 format = reader.read_u32();
	u8 version = reader.read_u8();
	u8 flags = reader.read_u8();
	u32 send_size = decoded_size(reader.read_u8());
	u32 recv_size = decoded_size(reader.read_u8());

	/* Section 5.2: the version has to be known, and the whole block inside the buffer. */
	if (reader.failed() || format != u32(RPCRDMA_CM_FORMAT_ID) || version != RPCRDMA_CM_VERSION)
		return false;
	/* Section 4: receivers ignore the reserved bits. */
	peer = { send_size, recv_size, (flags & RPCRDMA_CM_FLAG_R) != 0, true,
		 read_extension(reader) };
	return true;
}

/*
 * Section 5.2: the block is at any offset. If no valid block follows an identifier, the identifier
 * is taken for bytes of another layer that are the same by chance, and the search goes on.
 */
void rpcrdma_cm_private_decode(const void *buffer, u32 length, struct rpcrdma_cm_private *peer)
{
	Reader reader(buffer, length);

	while (reader.remaining() >= RPCRDMA_CM_SIZE) {
		if (read_cm_private(reader, *peer))
			return;
		reader.skip(1);
	}
	/* Section 5.1 */
	*peer = { RPCRDMA_INLINE_DEFAULT, RPCRDMA_INLINE_DEFAULT, false, false, 0 };
}

/*
 * RFC 8166 section 3.3.2: the threshold is the smaller of the size that one peer sends and the size
 * that the other receives. Sizes are taken as the peer reads them in our private data.
 */
void rpcrdma_cm_negotiate(const struct rpcrdma_cm_private *local,
			  const struct rpcrdma_cm_private *peer, struct rpcrdma_negotiated *result)
{
	result->inline_send = min(usable_size(local->send_size), usable_size(peer->recv_size));
	result->inline_recv = min(usable_size(local->recv_size), usable_size(peer->send_size));
	/* RFC 8797 section 4.1 */
	result->remote_invalidation = local->remote_invalidation && peer->remote_invalidation;
	result->read_chunk_replies = read_chunk_replies(local->extensions, peer->extensions);
	/* The server makes such calls, and the client takes them. The same bit announces both. */
	result->reverse_chunks = local->extensions & peer->extensions & RPCRDMA_EXT_REVERSE_CHUNKS;
}
