// SPDX-License-Identifier: GPL-2.0-only
/* RFC 8166 section 3.3 */
#include <gtest/gtest.h>

#include <random>

#include <rpcrdma/credits.h>

#include "support/window_twin.hh"

class Window : public testing::Test {
    protected:
	/* Takes until the window is closed */
	u32 take_all()
	{
		u32 taken = 0;

		while (rpcrdma_window_take(&window))
			taken++;
		return taken;
	}

	void open(u32 requested, u32 granted)
	{
		rpcrdma_window_reset(&window, requested);
		rpcrdma_window_take(&window);
		window_reply(&window, granted);
	}

	rpcrdma_window window;
};

/* Requirement 9 */
TEST_F(Window, OneCallUntilTheFirstGrant)
{
	rpcrdma_window_reset(&window, 128);
	EXPECT_EQ(rpcrdma_window_size(&window), 1u);
	EXPECT_EQ(take_all(), 1u);
	EXPECT_EQ(window_reply(&window, 32), 32u);
	EXPECT_EQ(take_all(), 32u);
}

/* Requirements 1 and 2 */
TEST_F(Window, SmallerOfRequestAndGrant)
{
	open(16, 64);
	EXPECT_EQ(take_all(), 16u);
	open(64, 16);
	EXPECT_EQ(take_all(), 16u);
}

/* Requirement 3 */
TEST_F(Window, GrantOfZeroIsOne)
{
	open(16, 0);
	EXPECT_EQ(take_all(), 1u);
	EXPECT_EQ(window_reply(&window, 0), 1u);
	EXPECT_EQ(take_all(), 1u);
}

TEST_F(Window, RequestOfZeroIsOne)
{
	open(0, 16);
	EXPECT_EQ(take_all(), 1u);
}

/* Requirement 4: 128, 1, 64 with calls in flight */
TEST_F(Window, GrantMovesUpAndDown)
{
	open(128, 128);
	EXPECT_EQ(take_all(), 128u);
	EXPECT_EQ(window_reply(&window, 1), 1u);
	EXPECT_EQ(take_all(), 0u);
	for (int i = 0; i < 126; i++)
		window_reply(&window, 1);
	EXPECT_EQ(take_all(), 0u);
	window_reply(&window, 64);
	EXPECT_EQ(take_all(), 64u);
}

TEST_F(Window, FailedSendGivesItsCreditBack)
{
	open(4, 4);
	EXPECT_EQ(take_all(), 4u);
	rpcrdma_window_release(&window);
	EXPECT_EQ(take_all(), 1u);
}

/* Replies that nobody waits for do not wrap the count. */
TEST_F(Window, NeverBelowZero)
{
	open(4, 4);
	for (int i = 0; i < 3; i++) {
		rpcrdma_window_release(&window);
		window_reply(&window, 2);
	}
	EXPECT_EQ(take_all(), 2u);
}

/* Requirement 9 again: after a reconnect */
TEST_F(Window, ResetForgets)
{
	open(64, 64);
	take_all();
	rpcrdma_window_reset(&window, 64);
	EXPECT_EQ(take_all(), 1u);
}

/* Requirement 82: the directions have a window each. */
TEST_F(Window, DirectionsAreSeparate)
{
	rpcrdma_window reverse;

	open(64, 64);
	rpcrdma_window_reset(&reverse, 8);
	rpcrdma_window_take(&reverse);
	window_reply(&reverse, 1);
	EXPECT_EQ(rpcrdma_window_size(&window), 64u);
}

TEST(WindowTwins, AgreeOnRandomCalls)
{
	std::mt19937 random(8166);
	const u32 grants[] = { 0, 1, 2, 3, 16, 127, 128, 129, 0xffffffff };

	for (u32 requested : { 0u, 1u, 2u, 16u, 128u, 0xffffffffu }) {
		WindowPair pair(requested);

		for (int i = 0; i < 20000; i++) {
			/* more takes than the rest, so that the window gets full */
			u32 what = random() % 8 < 5 ? 0 : random() % 3;

			ASSERT_STREQ(pair.step(what, grants[random() % 9]),
				     nullptr)
				<< requested << " " << i;
		}
	}
}

/* Each sequence of eight steps out of a small set */
TEST(WindowTwins, AgreeOnAllShortCalls)
{
	for (u32 sequence = 0; sequence < 1u << 16; sequence++) {
		WindowPair pair(3);

		for (int i = 0; i < 8; i++) {
			u32 step = sequence >> (2 * i) & 3;

			ASSERT_STREQ(pair.step(step < 3 ? step : 2,
					       step == 3 ? 1 : 4),
				     nullptr)
				<< sequence;
		}
	}
}
