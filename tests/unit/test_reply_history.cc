// SPDX-License-Identifier: GPL-2.0-only
/* Reliable-reply draft, section 5.3.1 */
#include <gtest/gtest.h>

#include <random>

#include <rpcrdma/plan.h>

#include "support/history_twin.hh"

class ReplyHistory : public testing::Test {
    protected:
	void note(bool large, u32 times = 1)
	{
		while (times--)
			rpcrdma_note_reply(&history, 5, large);
	}

	bool expects()
	{
		return rpcrdma_expect_large(&history, 5);
	}

	rpcrdma_reply_history history = {};
};

TEST_F(ReplyHistory, NothingIsExpectedAtFirst)
{
	for (u32 procedure = 0; procedure < 1000; procedure++)
		EXPECT_FALSE(rpcrdma_expect_large(&history, procedure));
}

TEST_F(ReplyHistory, OneLargeReplyIsEnough)
{
	note(true);
	EXPECT_TRUE(expects());
	EXPECT_FALSE(rpcrdma_expect_large(&history, 6));
	EXPECT_TRUE(rpcrdma_expect_large(&history, 5 + RPCRDMA_HISTORY_SIZE));
}

/* As many levels as there are, and no more: both calls fold the number in the same way. */
TEST(ReplyHistoryOfMany, EachHasALevelOfItsOwn)
{
	for (u32 procedure : { 0u, 1u, RPCRDMA_HISTORY_SIZE - 1u,
			       RPCRDMA_HISTORY_SIZE + 2u, ~0u }) {
		rpcrdma_reply_history history = {};

		rpcrdma_note_reply(&history, procedure, true);
		for (u32 other = 0; other < RPCRDMA_HISTORY_SIZE; other++)
			EXPECT_EQ(rpcrdma_expect_large(&history, other),
				  other == procedure % RPCRDMA_HISTORY_SIZE)
				<< procedure << " " << other;
	}
}

TEST_F(ReplyHistory, SmallOnesChangeItBack)
{
	note(true, 100);
	note(false, 2);
	EXPECT_TRUE(expects());
	note(false);
	EXPECT_FALSE(expects());
	note(false, 100);
	note(true);
	EXPECT_TRUE(expects());
}

/* The bounds that reply_history.cc states, for any sequence */
TEST(ReplyHistoryPair, BoundsHold)
{
	for (u32 seed = 0; seed < 500; seed++) {
		std::mt19937 random(seed);
		u32 share = random() % 100;
		HistoryPair pair;

		for (u32 i = 0; i < 500; i++)
			ASSERT_EQ(pair.reply(random() % 3,
					     random() % 100 < share),
				  nullptr)
				<< seed << " " << i;
	}
}
