// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include <rpcrdma/bytes.hh>

#include "support/hex.hh"

using rpcrdma::Writer;

static Writer over(Bytes &bytes)
{
	return Writer(bytes.data(), bytes.size());
}

TEST(Writer, WritesInOrder)
{
	Bytes bytes(13);
	Writer writer = over(bytes);

	writer.write_u8(1);
	writer.write_u32(0x02030405);
	writer.write_u64(0x060708090a0b0c0d);
	EXPECT_FALSE(writer.failed());
	EXPECT_EQ(writer.position(), 13u);
	EXPECT_EQ(bytes, hex("01 02030405 060708090a0b0c0d"));
}

/* Over-filled in every way: nothing is written, then or later */
TEST(Writer, FailureStays)
{
	Bytes bytes = hex("eeeeeeeeeeeeee");

	for (int what = 0; what < 2; what++) {
		Writer writer = over(bytes);

		writer.write_u32(0xeeeeeeee);
		if (what == 0)
			writer.write_u32(1);
		else
			writer.write_u64(1);
		EXPECT_TRUE(writer.failed());
		writer.write_u8(1);
		EXPECT_TRUE(writer.failed());
		EXPECT_EQ(bytes, hex("eeeeeeeeeeeeee"));
	}
}

TEST(Writer, ToNothing)
{
	Writer writer(nullptr, 0);

	writer.write_u8(1);
	EXPECT_TRUE(writer.failed());
}
