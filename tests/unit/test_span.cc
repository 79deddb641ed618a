// SPDX-License-Identifier: GPL-2.0-only
#include <gtest/gtest.h>

#include <rpcrdma/bytes.hh>

using rpcrdma::Span;

TEST(Span, IsEmptyByDefault)
{
	Span<u8> span;

	EXPECT_EQ(span.size(), 0u);
	EXPECT_EQ(span.begin(), span.end());
}

TEST(Span, GoesOverItsElements)
{
	int numbers[] = { 1, 2, 3 };
	int sum = 0;

	for (int number : Span<int>(numbers, 3))
		sum += number;
	EXPECT_EQ(sum, 6);
}

TEST(Span, SubspanDoesNotWrap)
{
	int numbers[4] = {};
	Span<int> span(numbers, 4);

	EXPECT_EQ(span.subspan(0, 4).end(), numbers + 4);
	EXPECT_EQ(span.subspan(4, 0).data(), numbers + 4);
	EXPECT_EQ(span.subspan(1, 3).end(), numbers + 4);
	EXPECT_EQ(span.subspan(1, 4).data(), nullptr);
	EXPECT_EQ(span.subspan(5, 0).data(), nullptr);
	EXPECT_EQ(span.subspan(2, SIZE_MAX).data(), nullptr);
	EXPECT_EQ(span.subspan(SIZE_MAX, 2).data(), nullptr);
}

TEST(Span, SubspanOutsideIsEmpty)
{
	int numbers[4] = {};
	Span<int> span(numbers, 4);

	EXPECT_EQ(span.subspan(1, 2).data(), numbers + 1);
	EXPECT_EQ(span.subspan(1, 2).size(), 2u);
	EXPECT_EQ(span.subspan(3, 2).size(), 0u);
}
