// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include <rpcrdma/bytes.hh>

using namespace rpcrdma;

static const u8 bytes[] = {
	0xff, 0x01, 0x82, 0x03, 0x84, 0x05, 0x86, 0x07, 0x88
};

/* Requirement 17: RFC 4506 section 4.1, big-endian, at any address */
TEST(Endian, LoadsFromOddAddresses)
{
	EXPECT_EQ(load_be<u32>(bytes + 1), 0x01820384u);
	EXPECT_EQ(load_be<u64>(bytes + 1), 0x0182038405860788u);
}

TEST(Endian, StoresWhatItLoads)
{
	u8 out[9] = { 0xff };

	store_be<u64>(out + 1, load_be<u64>(bytes + 1));
	EXPECT_EQ(0, __builtin_memcmp(out, bytes, sizeof(out)));
	store_be<u32>(out + 1, 0xdeadbeef);
	EXPECT_EQ(load_be<u32>(out + 1), 0xdeadbeefu);
	EXPECT_EQ(out[5], 0x84 + 1 - 0x80);
}
