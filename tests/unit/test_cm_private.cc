// SPDX-License-Identifier: GPL-2.0-only
/* RFC 8797 */
#include <gtest/gtest.h>

#include <rpcrdma/cm_private.h>
#include <rpcrdma/protocol.h>

#include "support/hex.hh"

static const char block[] = R"(
	f6ab0e18	# Format Identifier
	01		# Version
	01		# R
	03		# Send size: 4096
	0f		# Receive size: 16384
)";

static rpcrdma_cm_private decode(const Bytes &bytes)
{
	rpcrdma_cm_private peer;

	rpcrdma_cm_private_decode(bytes.data(), u32(bytes.size()), &peer);
	return peer;
}

/* Requirements 14 and 115 */
static void expect_default(const rpcrdma_cm_private &peer)
{
	EXPECT_FALSE(peer.present);
	EXPECT_EQ(peer.send_size, 1024u);
	EXPECT_EQ(peer.recv_size, 1024u);
	EXPECT_FALSE(peer.remote_invalidation);
}

TEST(CmPrivate, BothWays)
{
	rpcrdma_cm_private peer = decode(hex(block));
	Bytes back(RPCRDMA_CM_MAX_SIZE);

	EXPECT_TRUE(peer.present);
	EXPECT_TRUE(peer.remote_invalidation);
	EXPECT_EQ(peer.send_size, 4096u);
	EXPECT_EQ(peer.recv_size, 16384u);
	back.resize(rpcrdma_cm_private_encode(&peer, back.data()));
	EXPECT_EQ(back, hex(block));
}

/* Requirement 116: at each offset, with whatever before and behind */
TEST(CmPrivate, IsFoundAtEachOffset)
{
	for (size_t offset = 0; offset <= 200; offset++)
		for (size_t behind : { size_t(0), size_t(1), size_t(7) }) {
			Bytes bytes(offset, 0xf6), found = hex(block);

			bytes.insert(bytes.end(), found.begin(), found.end());
			bytes.insert(bytes.end(), behind, 0);
			EXPECT_EQ(decode(bytes).recv_size, 16384u) << offset;
		}
}

/* Requirement 116: a block that runs over the end is none. */
TEST(CmPrivate, EachTruncation)
{
	Bytes whole = hex(block);

	for (size_t offset = 0; offset < 12; offset++)
		for (size_t length = 0; length < whole.size(); length++) {
			Bytes bytes(offset, 0), part = prefix(whole, length);

			bytes.insert(bytes.end(), part.begin(), part.end());
			expect_default(decode(bytes));
		}
}

struct NoBlock {
	const char *name;
	const char *text;
};

class CmWithoutBlock : public testing::TestWithParam<NoBlock> {};

INSTANTIATE_TEST_SUITE_P(
	CmPrivate, CmWithoutBlock,
	testing::Values(NoBlock{ "empty", "" },
			NoBlock{ "zeros", "0000000000000000 0000000000000000" },
			NoBlock{ "version_0", "f6ab0e18 00 01 ff ff" },
			NoBlock{ "version_2", "f6ab0e18 02 01 ff ff" },
			NoBlock{ "little_endian", "180eabf6 01 01 ff ff" },
			NoBlock{ "near_miss", "f6ab0e19 01 01 ff ff f6ab0e" }),
	[](const auto &info) { return std::string(info.param.name); });

TEST_P(CmWithoutBlock, GivesDefaults)
{
	expect_default(decode(hex(GetParam().text)));
}

/* A chance match, or a later version, before a block that we know */
TEST(CmPrivate, SearchGoesOn)
{
	EXPECT_EQ(decode(hex("f6ab0e18 02 00 00 00 f6ab0e18 01 00 07 08"))
			  .send_size,
		  8192u);
	EXPECT_EQ(decode(hex("f6ab f6ab0e18 01 00 07 08")).send_size, 8192u);
	EXPECT_EQ(decode(hex("f6ab0e18 f6ab0e18 01 00 07 08")).send_size,
		  8192u);
}

/* Requirement 111: reserved bits are ignored, and never sent. */
TEST(CmPrivate, ReservedBits)
{
	EXPECT_TRUE(decode(hex("f6ab0e18 01 ff 00 00")).remote_invalidation);
	EXPECT_FALSE(decode(hex("f6ab0e18 01 fe 00 00")).remote_invalidation);

	rpcrdma_cm_private local = { 1024, 1024, true, true, 0 };
	Bytes out(RPCRDMA_CM_MAX_SIZE);

	rpcrdma_cm_private_encode(&local, out.data());
	EXPECT_EQ(out[5], 1);
	local.remote_invalidation = false;
	rpcrdma_cm_private_encode(&local, out.data());
	EXPECT_EQ(out[5], 0);
}

/* Requirement 114: each of the 256 values there and back */
TEST(CmPrivate, EachSize)
{
	for (u32 value = 0; value < 256; value++) {
		Bytes bytes = hex(block), back(RPCRDMA_CM_MAX_SIZE);

		bytes[6] = u8(value);
		bytes[7] = u8(255 - value);

		rpcrdma_cm_private peer = decode(bytes);

		EXPECT_EQ(peer.send_size, (value + 1) * 1024);
		back.resize(rpcrdma_cm_private_encode(&peer, back.data()));
		EXPECT_EQ(back, bytes);
	}
}

TEST(CmPrivate, SizesOutsideTheRangeAreClamped)
{
	rpcrdma_cm_private local = { 0, 0xffffffff, false, true, 0 };
	Bytes out(RPCRDMA_CM_MAX_SIZE);

	rpcrdma_cm_private_encode(&local, out.data());
	EXPECT_EQ(out[6], 0);
	EXPECT_EQ(out[7], 255);
	local = { 4095, 4097, false, true, 0 };
	rpcrdma_cm_private_encode(&local, out.data());
	EXPECT_EQ(out[6], 2);
	EXPECT_EQ(out[7], 3);
}

/* Requirements 12, 13 and 114 */
TEST(Negotiate, SmallerOfSendAndReceive)
{
	rpcrdma_cm_private local = { 4096, 8192, true, true, 0 };
	rpcrdma_cm_private peer = { 2048, 16384, true, true, 0 };
	rpcrdma_negotiated result;

	rpcrdma_cm_negotiate(&local, &peer, &result);
	EXPECT_EQ(result.inline_send, 4096u);
	EXPECT_EQ(result.inline_recv, 2048u);
	EXPECT_TRUE(result.remote_invalidation);
}

/* Requirement 114: no threshold that private data cannot say, whatever was asked for */
TEST(Negotiate, StaysInsideTheRange)
{
	rpcrdma_cm_private none = { 0, 1023, false, true, 0 };
	rpcrdma_cm_private all = { ~0u, 300000, false, true, 0 };
	rpcrdma_negotiated result;

	rpcrdma_cm_negotiate(&all, &all, &result);
	EXPECT_EQ(result.inline_send, 262144u);
	EXPECT_EQ(result.inline_recv, 262144u);
	rpcrdma_cm_negotiate(&none, &none, &result);
	EXPECT_EQ(result.inline_send, 1024u);
	EXPECT_EQ(result.inline_recv, 1024u);
}

/* Requirement 113 */
TEST(Negotiate, RemoteInvalidationTakesTwo)
{
	for (int bits = 0; bits < 4; bits++) {
		rpcrdma_cm_private local = { 1024, 1024, (bits & 1) != 0, true,
					     0 };
		rpcrdma_cm_private peer = { 1024, 1024, (bits & 2) != 0, true,
					    0 };
		rpcrdma_negotiated result;

		rpcrdma_cm_negotiate(&local, &peer, &result);
		EXPECT_EQ(result.remote_invalidation, bits == 3);
	}
}

/* Both ends come to the same thresholds, whatever they were told to use. */
TEST(Negotiate, BothEndsAgree)
{
	for (u32 size = 0; size < 300000; size += 777) {
		rpcrdma_cm_private a = { size, 300000 - size, true, true, 0 };
		rpcrdma_cm_private b = { 5000, size + 100, true, true, 0 };
		rpcrdma_negotiated at_a, at_b;
		Bytes from_a(RPCRDMA_CM_MAX_SIZE), from_b(RPCRDMA_CM_MAX_SIZE);

		rpcrdma_cm_private_encode(&a, from_a.data());
		rpcrdma_cm_private_encode(&b, from_b.data());

		rpcrdma_cm_private seen_a = decode(from_a),
				   seen_b = decode(from_b);

		rpcrdma_cm_negotiate(&a, &seen_b, &at_a);
		rpcrdma_cm_negotiate(&b, &seen_a, &at_b);
		EXPECT_EQ(at_a.inline_send, at_b.inline_recv) << size;
		EXPECT_EQ(at_a.inline_recv, at_b.inline_send) << size;
		EXPECT_GE(at_a.inline_send, 1024u);
	}
}

/* Requirements 14 and 115: a peer that says nothing */
TEST(Negotiate, WithASilentPeer)
{
	rpcrdma_cm_private local = { 4096, 4096, true, true, 0 };
	rpcrdma_cm_private peer = decode({});
	rpcrdma_negotiated result;

	rpcrdma_cm_negotiate(&local, &peer, &result);
	EXPECT_EQ(result.inline_send, 1024u);
	EXPECT_EQ(result.inline_recv, 1024u);
	EXPECT_FALSE(result.remote_invalidation);
}
