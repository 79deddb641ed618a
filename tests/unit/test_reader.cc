// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include <rpcrdma/bytes.hh>

#include "support/hex.hh"

using rpcrdma::Reader;

static Reader over(const Bytes &bytes)
{
	return Reader(bytes.data(), bytes.size());
}

TEST(Reader, ReadsInOrder)
{
	Bytes bytes = hex("01 02030405 060708090a0b0c0d ffff 0e");
	Reader reader = over(bytes);

	EXPECT_EQ(reader.read_u8(), 1);
	EXPECT_EQ(reader.read_u32(), 0x02030405u);
	EXPECT_EQ(reader.read_u32(), 0x06070809u);
	EXPECT_EQ(reader.read_u32(), 0x0a0b0c0du);
	reader.skip(2);
	EXPECT_EQ(reader.position(), 15u);
	EXPECT_EQ(reader.remaining(), 1u);
	EXPECT_EQ(reader.read_u8(), 14);
	EXPECT_FALSE(reader.failed());
	EXPECT_EQ(reader.remaining(), 0u);
}

TEST(Reader, FailureStays)
{
	Bytes bytes = hex("010203");
	Reader reader = over(bytes);

	EXPECT_EQ(reader.read_u32(), 0u);
	EXPECT_TRUE(reader.failed());
	EXPECT_EQ(reader.read_u8(), 0);
	EXPECT_TRUE(reader.failed());
	EXPECT_EQ(reader.remaining(), 0u);
}

TEST(Reader, EachReadStopsAtTheEnd)
{
	Bytes bytes = hex("01020304050607");

	for (size_t skip = 0; skip <= bytes.size(); skip++) {
		size_t left = bytes.size() - skip;
		Reader words = over(bytes), single = over(bytes);

		words.skip(skip);
		words.read_u32();
		EXPECT_EQ(words.failed(), left < 4) << skip;
		single.skip(skip);
		single.read_u8();
		EXPECT_EQ(single.failed(), left < 1) << skip;
	}
}

TEST(Reader, SkipCannotWrap)
{
	Bytes bytes = hex("0102030405060708");
	Reader reader = over(bytes);

	reader.read_u32();
	reader.skip(SIZE_MAX);
	EXPECT_TRUE(reader.failed());
}

TEST(Reader, BooleansAreZeroOrOne)
{
	Bytes bytes = hex("00000001 00000000 00000002 00000001");
	Reader reader = over(bytes);

	EXPECT_TRUE(reader.read_bool());
	EXPECT_FALSE(reader.read_bool());
	EXPECT_FALSE(reader.failed());
	EXPECT_FALSE(reader.read_bool());
	EXPECT_TRUE(reader.failed());
	EXPECT_TRUE(reader.bad_bool());
	EXPECT_EQ(reader.remaining(), 0u);
	EXPECT_FALSE(reader.read_bool());
}

TEST(Reader, NoBooleanIsNotABadOne)
{
	Bytes bytes = hex("000001");
	Reader reader = over(bytes);

	EXPECT_FALSE(reader.read_bool());
	EXPECT_TRUE(reader.failed());
	EXPECT_FALSE(reader.bad_bool());
}

TEST(Reader, OfNothing)
{
	Reader reader(nullptr, 0);

	EXPECT_EQ(reader.read_u32(), 0u);
	EXPECT_TRUE(reader.failed());
}
