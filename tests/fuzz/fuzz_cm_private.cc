// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decodes any bytes as private data, and compares the result with a search of its own; then encodes
 * and negotiates it.
 */
#include <vector>

#include <rpcrdma/cm_private.h>
#include <rpcrdma/protocol.h>

#include "input.hh"

static const u8 *find_block(const u8 *data, size_t size)
{
	static const u8 wanted[] = { 0xf6, 0xab, 0x0e, 0x18, 1 };

	for (size_t at = 0; at + 8 <= size; at++) {
		size_t same = 0;

		while (same < 5 && data[at + same] == wanted[same])
			same++;
		if (same == 5)
			return data + at;
	}
	return nullptr;
}

static const char *check_decode(const u8 *data, size_t size,
				const rpcrdma_cm_private &peer)
{
	const u8 *block = find_block(data, size);
	u32 send = block ? (block[6] + 1u) * 1024 : 1024;
	u32 recv = block ? (block[7] + 1u) * 1024 : 1024;

	if (peer.present != (block != nullptr))
		return "found where there is none, or the other way round";
	if (peer.send_size != send || peer.recv_size != recv)
		return "sizes";
	if (peer.remote_invalidation != (block && (block[5] & 1)))
		return "remote invalidation";
	return nullptr;
}

static const char *check_encode(const rpcrdma_cm_private &peer)
{
	rpcrdma_cm_private again;
	u8 bytes[RPCRDMA_CM_MAX_SIZE];
	u32 length = rpcrdma_cm_private_encode(&peer, bytes);

	rpcrdma_cm_private_decode(bytes, length, &again);
	if (!again.present || again.send_size != peer.send_size ||
	    again.recv_size != peer.recv_size ||
	    again.remote_invalidation != peer.remote_invalidation ||
	    again.extensions != peer.extensions)
		return "second decode is another than the first";
	return nullptr;
}

static const char *check_negotiation(Input input,
				     const rpcrdma_cm_private &peer)
{
	rpcrdma_cm_private local = { input.read_u32(), input.read_u32(), true,
				     true, 0 };
	rpcrdma_negotiated result;

	rpcrdma_cm_negotiate(&local, &peer, &result);
	if (result.inline_send < 1024 || result.inline_send > peer.recv_size ||
	    result.inline_recv < 1024 || result.inline_recv > peer.send_size)
		return "threshold out of range";
	if (result.remote_invalidation != peer.remote_invalidation)
		return "negotiated remote invalidation";
	return nullptr;
}

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	std::vector<u8> exact(data, data + size);
	rpcrdma_cm_private peer;

	rpcrdma_cm_private_decode(exact.data(), u32(size), &peer);
	report(check_decode(data, size, peer));
	report(check_encode(peer));
	report(check_negotiation(input_of(data, size), peer));
	return 0;
}
