// SPDX-License-Identifier: GPL-2.0
/* CM private data and what two peers make of it: RFC 8797 */
#ifndef RPCRDMA_CM_PRIVATE_HH
#define RPCRDMA_CM_PRIVATE_HH

#include "extension.hh"
#include "logic.h"
#include "math.hh"
#include "reader.hh"
#include "writer.hh"

namespace rpcrdma
{

constexpr u32 cm_size_unit = 1024; /* section 4.2 */

/* A size that the eight bits can say, not above @size if that is possible */
constexpr u32 usable_size(u32 size)
{
	return clamp<u32>(size / cm_size_unit * cm_size_unit,
			  RPCRDMA_INLINE_MIN, RPCRDMA_INLINE_MAX);
}

/* Section 4.2: (size / 1024) - 1 */
constexpr u8 encoded_size(u32 size)
{
	return u8(usable_size(size) / cm_size_unit - 1);
}

constexpr u32 decoded_size(u8 value)
{
	return (u32(value) + 1) * cm_size_unit;
}

inline void write_cm_private(Writer &writer, const rpcrdma_cm_private &local)
{
	writer.write_u32(u32(RPCRDMA_CM_FORMAT_ID));
	writer.write_u8(RPCRDMA_CM_VERSION);
	/* Section 4: reserved bits are zero. */
	writer.write_u8(local.remote_invalidation ? RPCRDMA_CM_FLAG_R : 0);
	writer.write_u8(encoded_size(local.send_size));
	writer.write_u8(encoded_size(local.recv_size));
}

/* True, with @peer set, if a block that we understand is next. */
inline bool read_cm_private(Reader reader, rpcrdma_cm_private &peer)
{
	u32 format = reader.read_u32();
	u8 version = reader.read_u8();
	u8 flags = reader.read_u8();
	u32 send_size = decoded_size(reader.read_u8());
	u32 recv_size = decoded_size(reader.read_u8());

	/* Section 5.2: version known, and all of it inside the buffer. */
	if (reader.failed() || format != u32(RPCRDMA_CM_FORMAT_ID) ||
	    version != RPCRDMA_CM_VERSION)
		return false;
	/* Section 4: receivers ignore the reserved bits. */
	peer = { send_size, recv_size, (flags & RPCRDMA_CM_FLAG_R) != 0, true,
		 read_extension(reader) };
	return true;
}

/*
 * Section 5.2: at any offset. An identifier without a valid block behind it is
 * taken for a chance match of some other layer's bytes, and the search goes on.
 */
inline void decode_cm_private(Span<const u8> buffer, rpcrdma_cm_private &peer)
{
	Reader reader(buffer);

	while (reader.remaining() >= RPCRDMA_CM_SIZE) {
		if (read_cm_private(reader, peer))
			return;
		reader.skip(1);
	}
	/* Section 5.1 */
	peer = { RPCRDMA_INLINE_DEFAULT, RPCRDMA_INLINE_DEFAULT, false, false,
		 0 };
}

/*
 * RFC 8166 section 3.3.2: the smaller of what one sends and the other receives.
 * Sizes are taken as the peer reads them in our private data.
 */
inline void negotiate(const rpcrdma_cm_private &local,
		      const rpcrdma_cm_private &peer,
		      rpcrdma_negotiated &result)
{
	result.inline_send =
		min(usable_size(local.send_size), usable_size(peer.recv_size));
	result.inline_recv =
		min(usable_size(local.recv_size), usable_size(peer.send_size));
	/* RFC 8797 section 4.1 */
	result.remote_invalidation = local.remote_invalidation &&
				     peer.remote_invalidation;
	result.read_chunk_replies =
		read_chunk_replies(local.extensions, peer.extensions);
	result.reverse_chunks =
		reverse_chunks(local.extensions, peer.extensions);
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_CM_PRIVATE_HH */
