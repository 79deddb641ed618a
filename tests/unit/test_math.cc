// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include <rpcrdma/math.hh>

using namespace rpcrdma;

TEST(Math, DividesUpWithoutWrapping)
{
	EXPECT_EQ(divide_up(0, 4), 0u);
	EXPECT_EQ(divide_up(1, 4), 1u);
	EXPECT_EQ(divide_up(4, 4), 1u);
	EXPECT_EQ(divide_up(u64_max, 2), u64(1) << 63);
}

/* RFC 4506 section 3 */
TEST(Math, PadsToWords)
{
	EXPECT_EQ(xdr_padded(0), 0u);
	EXPECT_EQ(xdr_padded(1), 4u);
	EXPECT_EQ(xdr_padded(4), 4u);
	EXPECT_EQ(xdr_padded(u32_max), u64(1) << 32);
}

TEST(Math, Limits)
{
	EXPECT_EQ(saturate_u32(u64(1) << 32), u32_max);
	EXPECT_EQ(saturate_u32(17), 17u);
	EXPECT_EQ(clamp(5, 1, 3), 3);
	EXPECT_EQ(clamp(0, 1, 3), 1);
	EXPECT_EQ(clamp(2, 1, 3), 2);
}
