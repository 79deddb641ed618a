// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transport headers. Received headers go through the codec. Headers to send are written word by
 * word, since the codec refuses to make half of them.
 */
#ifndef PEER_MESSAGE_HH
#define PEER_MESSAGE_HH

#include <optional>
#include <utility>

#include "wire/bytes.hh"
#include "rpcrdma/header.h"

namespace peer
{

using Chunk = std::vector<rpcrdma_segment>;

struct ReadSegment {
	u32 position;
	rpcrdma_segment segment;
};

struct Header {
	u32 xid = 0;
	u32 vers = RPCRDMA_VERSION;
	u32 credits = 32;
	u32 proc = RPCRDMA_MSG;
	std::vector<ReadSegment> read = {};
	std::vector<Chunk> write = {};
	std::optional<Chunk> reply = {};

	/* With @payload behind it */
	Bytes encode(View payload = {}) const;
	Header &add_read(u32 position, const rpcrdma_segment &segment);
	/* The first four words only */
	Bytes encode_fixed() const;
};

/* RDMA_ERROR; ERR_CHUNK is 20 bytes, ERR_VERS 28. */
Bytes encode_error(u32 xid, u32 error, u32 vers = 1, u32 credits = 32);

struct Decoded {
	rpcrdma_status status = RPCRDMA_RUNT;
	rpcrdma_header header = {};
	std::vector<std::pair<u32, Chunk>> read;
	std::vector<Chunk> write;
	std::optional<Chunk> reply;
	Bytes payload; /* of an RDMA_MSG */
};

Decoded decode(View bytes);

u64 chunk_length(const Chunk &chunk);
/* The same chunk with the lengths that a responder returns for @bytes */
Chunk written(const Chunk &chunk, u32 bytes);

} /* namespace peer */

#endif /* PEER_MESSAGE_HH */
