// SPDX-License-Identifier: GPL-2.0-only
/* RFC 8166 sections 3.5.3 and 4.3.3, RFC 8797 section 4.1 */
#include <gtest/gtest.h>

#include <rpcrdma/plan.h>

#include "support/decoded.hh"

static rpcrdma_reply_path plan(u32 header, u32 length, u32 threshold,
			       int chunk_length)
{
	rpcrdma_chunk chunk = { 0, 0, 1, u32(chunk_length) };

	return rpcrdma_plan_reply(header, length, threshold,
				  chunk_length < 0 ? nullptr : &chunk);
}

/* Requirements 15 and 56: a reply that fits is Short, Reply chunk or not. */
TEST(ReplyPlan, AtTheThreshold)
{
	for (u32 header : { 28u, 52u, 552u })
		for (u32 threshold : { 1024u, 4096u })
			for (int delta : { -4, 0, 4 }) {
				u32 length = threshold - header + u32(delta);
				bool fits = delta <= 0;

				EXPECT_EQ(plan(header, length, threshold, 8192),
					  fits ? RPCRDMA_REPLY_INLINE :
						 RPCRDMA_REPLY_CHUNK);
				EXPECT_EQ(plan(header, length, threshold, -1),
					  fits ? RPCRDMA_REPLY_INLINE :
						 RPCRDMA_REPLY_TOO_LARGE);
			}
}

/* Requirements 66 and 97: a Reply chunk that is too small is found beforehand. */
TEST(ReplyPlan, AtTheSizeOfTheReplyChunk)
{
	EXPECT_EQ(plan(28, 4996, 1024, 5000), RPCRDMA_REPLY_CHUNK);
	EXPECT_EQ(plan(28, 5000, 1024, 5000), RPCRDMA_REPLY_CHUNK);
	EXPECT_EQ(plan(28, 5004, 1024, 5000), RPCRDMA_REPLY_TOO_LARGE);
	EXPECT_EQ(plan(28, 5000, 1024, 0), RPCRDMA_REPLY_TOO_LARGE);
}

TEST(ReplyPlan, HeaderAloneTooLarge)
{
	EXPECT_EQ(plan(1028, 2000, 1024, 5000), RPCRDMA_REPLY_TOO_LARGE);
	EXPECT_EQ(plan(1024, 2000, 1024, 5000), RPCRDMA_REPLY_CHUNK);
}

TEST(ReplyPlan, SumDoesNotWrap)
{
	EXPECT_EQ(plan(28, ~0u - 20, 1024, -1), RPCRDMA_REPLY_TOO_LARGE);
	EXPECT_EQ(plan(~0u, ~0u, 1024, 5000), RPCRDMA_REPLY_TOO_LARGE);
}

/* Handles 1 in the Read chunk, 2 in the second Write chunk, 4 in the Reply chunk */
class Rkey : public testing::Test {
    protected:
	void read()
	{
		add(rpcrdma_lists_begin_read(&lists.lists, 100), 1);
	}
	void write()
	{
		rpcrdma_lists_begin_write(&lists.lists); /* an empty one */
		add(rpcrdma_lists_begin_write(&lists.lists), 2);
		add(true, 3);
	}
	void reply()
	{
		add(rpcrdma_lists_begin_reply(&lists.lists), 4);
	}

	void add(bool begun, u32 handle)
	{
		EXPECT_TRUE(begun);
		EXPECT_TRUE(rpcrdma_lists_add_segment(&lists.lists,
						      { handle, 8, 0 }));
	}

	/* 0 for none */
	u32 chosen(bool negotiated = true)
	{
		u32 rkey = 0;

		return rpcrdma_choose_rkey(&lists.lists, negotiated, &rkey) ?
			       rkey :
			       0;
	}

	Lists lists;
};

TEST_F(Rkey, NoneWithoutSegments)
{
	EXPECT_EQ(chosen(), 0u);
	rpcrdma_lists_begin_write(&lists.lists);
	rpcrdma_lists_begin_reply(&lists.lists);
	EXPECT_EQ(chosen(), 0u);
}

/* Requirement 113 */
TEST_F(Rkey, NoneUnlessNegotiated)
{
	reply();
	EXPECT_EQ(chosen(false), 0u);
	EXPECT_EQ(chosen(true), 4u);
}

TEST_F(Rkey, ReplyChunkFirst)
{
	read();
	write();
	reply();
	EXPECT_EQ(chosen(), 4u);
}

TEST_F(Rkey, ThenTheFirstWriteChunkWithASegment)
{
	read();
	write();
	EXPECT_EQ(chosen(), 2u);
	rpcrdma_lists_begin_reply(&lists.lists); /* without a segment */
	EXPECT_EQ(chosen(), 2u);
}

TEST_F(Rkey, ThenTheReadChunk)
{
	read();
	EXPECT_EQ(chosen(), 1u);
}
