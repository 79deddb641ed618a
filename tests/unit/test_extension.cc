// SPDX-License-Identifier: GPL-2.0-only
/* Documentation/reliable-reply.rst: the extension block */
#include <gtest/gtest.h>

#include <rpcrdma/cm_private.h>
#include <rpcrdma/protocol.h>

#include "support/hex.hh"

static const char *const rfc8797 = "f6ab0e18 01 01 03 0f";

static rpcrdma_cm_private decode(const Bytes &bytes)
{
	rpcrdma_cm_private peer;

	rpcrdma_cm_private_decode(bytes.data(), u32(bytes.size()), &peer);
	return peer;
}

static u16 capabilities(const char *block)
{
	Bytes bytes = hex(rfc8797), more = hex(block);

	bytes.insert(bytes.end(), more.begin(), more.end());
	EXPECT_EQ(decode(bytes).recv_size, 16384u);
	return decode(bytes).extensions;
}

TEST(Extension, Layout)
{
	rpcrdma_cm_private local = { 4096, 16384, true, true, 0x8003 };
	Bytes out(RPCRDMA_CM_MAX_SIZE);

	EXPECT_EQ(rpcrdma_cm_private_encode(&local, out.data()), 16u);
	EXPECT_EQ(out, hex("f6ab0e18 01 01 03 0f 7a3c91e5 01 08 8003"));
	EXPECT_EQ(decode(out).extensions, 0x8003);
}

/* Peers of the in-tree kind get what they always got. */
TEST(Extension, NoneIsNotSent)
{
	rpcrdma_cm_private local = { 4096, 16384, true, true, 0 };
	Bytes out(RPCRDMA_CM_MAX_SIZE, 0xee);

	EXPECT_EQ(rpcrdma_cm_private_encode(&local, out.data()), 8u);
	EXPECT_EQ(out[8], 0xee);
	EXPECT_EQ(capabilities(""), 0);
}

TEST(Extension, WhatIsNotUnderstoodIsNotThere)
{
	EXPECT_EQ(capabilities("7a3c91e5 01 08 0003"), 3);
	EXPECT_EQ(capabilities("7a3c91e4 01 08 0003"), 0);
	EXPECT_EQ(capabilities("7a3c91e5 00 08 0003"), 0);
	EXPECT_EQ(capabilities("7a3c91e5 02 08 0003"), 0);
	EXPECT_EQ(capabilities("7a3c91e5 01 07 0003"), 0);
	/* beyond the end of the private data */
	EXPECT_EQ(capabilities("7a3c91e5 01 09 0003"), 0);
	EXPECT_EQ(capabilities("7a3c91e5 01 ff 0003"), 0);
	/* only right behind the other block */
	EXPECT_EQ(capabilities("00 7a3c91e5 01 08 0003"), 0);
}

/* A later version of the block may be longer, and unknown bits mean nothing. */
TEST(Extension, LongerBlocksAndOtherBits)
{
	EXPECT_EQ(capabilities("7a3c91e5 01 0a fffd 1234"), 0xfffd);
	EXPECT_EQ(capabilities("7a3c91e5 01 08 0002 1234"), 2);
}

TEST(Extension, EachTruncation)
{
	Bytes whole = hex("f6ab0e18 01 01 03 0f 7a3c91e5 01 08 0003");

	for (size_t length = 8; length < whole.size(); length++) {
		Bytes cut(whole.begin(), whole.begin() + long(length));

		EXPECT_EQ(decode(cut).extensions, 0) << length;
		EXPECT_TRUE(decode(cut).present) << length;
	}
}

/* Wherever the RFC 8797 block is found */
TEST(Extension, AtEachOffset)
{
	for (size_t offset = 0; offset < 60; offset++) {
		Bytes bytes(offset, 0x5a);
		Bytes block = hex("f6ab0e18 01 01 03 0f 7a3c91e5 01 08 0001");

		bytes.insert(bytes.end(), block.begin(), block.end());
		EXPECT_EQ(decode(bytes).extensions, 1) << offset;
	}
}

static bool agreed(u16 local, u16 peer)
{
	rpcrdma_cm_private a = { 4096, 4096, true, true, local };
	rpcrdma_cm_private b = { 4096, 4096, true, true, peer };
	rpcrdma_negotiated result, other;

	rpcrdma_cm_negotiate(&a, &b, &result);
	rpcrdma_cm_negotiate(&b, &a, &other);
	EXPECT_EQ(result.read_chunk_replies, other.read_chunk_replies);
	return result.read_chunk_replies;
}

/* One takes, the other provides; both see it alike. */
TEST(Extension, Agreement)
{
	const u16 takes = RPCRDMA_EXT_TAKES_READ_CHUNKS;
	const u16 provides = RPCRDMA_EXT_PROVIDES_READ_CHUNKS;

	EXPECT_TRUE(agreed(takes, provides));
	EXPECT_TRUE(agreed(takes | provides, takes | provides));
	EXPECT_TRUE(agreed(takes | 0x10, provides | 0x8000));
	EXPECT_FALSE(agreed(takes, takes));
	EXPECT_FALSE(agreed(provides, provides));
	EXPECT_FALSE(agreed(takes, 0));
	EXPECT_FALSE(agreed(takes, 0xfffc));
}

TEST(Extension, Answer)
{
	EXPECT_EQ(rpcrdma_extensions_answer(0), 0);
	EXPECT_EQ(rpcrdma_extensions_answer(1), 2);
	EXPECT_EQ(rpcrdma_extensions_answer(4), 4);
	EXPECT_EQ(rpcrdma_extensions_answer(0xffff), 6);
	EXPECT_EQ(rpcrdma_extensions_answer(0xfffa), 0);
}

/* Both, or not at all; and apart from replies. */
TEST(Extension, AgreementOnReverseChunks)
{
	const u16 reverse = RPCRDMA_EXT_REVERSE_CHUNKS;

	for (u16 local : { u16(0), u16(3), reverse, u16(0xffff) })
		for (u16 peer : { u16(0), u16(3), reverse, u16(0xffff) }) {
			rpcrdma_cm_private a = { 4096, 4096, true, true,
						 local };
			rpcrdma_cm_private b = { 4096, 4096, true, true, peer };
			rpcrdma_negotiated result;

			rpcrdma_cm_negotiate(&a, &b, &result);
			EXPECT_EQ(result.reverse_chunks,
				  (local & reverse) && (peer & reverse));
		}
	EXPECT_FALSE(agreed(reverse, reverse));
}
