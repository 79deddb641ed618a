// SPDX-License-Identifier: GPL-2.0-only
/* RFC 8167 section 5.3, RFC 8166 sections 3.4.5 and 3.5 */
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include <rpcrdma/plan.h>

#include "support/decoded.hh"

/* ---- the responder ---- */

struct Read {
	u32 position;
	u32 length;
};

class ReverseCall : public testing::Test {
    protected:
	void read(u32 position, u32 length)
	{
		ASSERT_TRUE(rpcrdma_lists_begin_read(&given.lists, position));
		ASSERT_TRUE(rpcrdma_lists_add_segment(&given.lists,
						      { 1, length, 0 }));
	}

	void reply(u32 segments, u32 each)
	{
		ASSERT_TRUE(rpcrdma_lists_begin_reply(&given.lists));
		while (segments--)
			ASSERT_TRUE(rpcrdma_lists_add_segment(&given.lists,
							      { 2, each, 0 }));
	}

	rpcrdma_reverse_call plan(u32 inline_length)
	{
		return rpcrdma_plan_reverse_call(&given.lists, inline_length,
						 &bounds, &length);
	}

	Lists given;
	rpcrdma_reverse_bounds bounds = { 10000, true, true };
	u32 length = 0;
};

TEST_F(ReverseCall, Short)
{
	EXPECT_EQ(plan(200), RPCRDMA_REVERSE_SHORT);
	EXPECT_EQ(length, 200u);
	EXPECT_EQ(plan(10000), RPCRDMA_REVERSE_SHORT);
	EXPECT_EQ(plan(10001), RPCRDMA_REVERSE_REFUSE);
	EXPECT_EQ(plan(8), RPCRDMA_REVERSE_SHORT);
	EXPECT_EQ(plan(7), RPCRDMA_REVERSE_REFUSE);
	EXPECT_EQ(length, 0u);
}

TEST_F(ReverseCall, Long)
{
	read(0, 9000);
	EXPECT_EQ(plan(0), RPCRDMA_REVERSE_READ);
	EXPECT_EQ(length, 9000u);
	/* It is the whole call: nothing can be inline beside it. */
	EXPECT_EQ(plan(4), RPCRDMA_REVERSE_REFUSE);
}

TEST_F(ReverseCall, LongAtTheBound)
{
	bounds.max_call = 9000;
	read(0, 9000);
	EXPECT_EQ(plan(0), RPCRDMA_REVERSE_READ);
	bounds.max_call--;
	EXPECT_EQ(plan(0), RPCRDMA_REVERSE_REFUSE);
}

TEST_F(ReverseCall, LongAndEmpty)
{
	read(0, 0);
	EXPECT_EQ(plan(0), RPCRDMA_REVERSE_REFUSE);
}

TEST_F(ReverseCall, EmptyChunk)
{
	read(64, 0);
	EXPECT_EQ(plan(100), RPCRDMA_REVERSE_REFUSE);
}

TEST_F(ReverseCall, LongWithAnItem)
{
	read(0, 200);
	read(200, 100);
	EXPECT_EQ(plan(0), RPCRDMA_REVERSE_REFUSE);
}

TEST_F(ReverseCall, ChunkAtAPosition)
{
	read(64, 4097);
	EXPECT_EQ(plan(64), RPCRDMA_REVERSE_READ);
	EXPECT_EQ(length, 64u + 4100);
	EXPECT_EQ(plan(80), RPCRDMA_REVERSE_READ);
	EXPECT_EQ(length, 64u + 4100 + 16);
	/* The part before it is not there. */
	EXPECT_EQ(plan(60), RPCRDMA_REVERSE_REFUSE);
}

TEST_F(ReverseCall, SeveralChunks)
{
	read(64, 10);
	read(76, 5);
	read(104, 1);
	EXPECT_EQ(plan(64 + 20 + 8), RPCRDMA_REVERSE_READ);
	EXPECT_EQ(length, 64u + 12 + 8 + 20 + 4 + 8);
	EXPECT_EQ(plan(64 + 19), RPCRDMA_REVERSE_REFUSE);
}

TEST_F(ReverseCall, ChunksThatOverlap)
{
	read(64, 100);
	read(160, 4);
	EXPECT_EQ(plan(1000), RPCRDMA_REVERSE_REFUSE);
}

TEST_F(ReverseCall, LengthsThatAreHostile)
{
	read(4, 0xfffffffc);
	EXPECT_EQ(plan(4), RPCRDMA_REVERSE_REFUSE);
	bounds.max_call = 0xffffffff;
	EXPECT_EQ(plan(4), RPCRDMA_REVERSE_REFUSE);
	EXPECT_EQ(plan(0xffffffff), RPCRDMA_REVERSE_REFUSE);
}

TEST_F(ReverseCall, PositionsThatAreHostile)
{
	read(0xfffffffc, 4);
	bounds.max_call = 0xffffffff;
	EXPECT_EQ(plan(4), RPCRDMA_REVERSE_REFUSE);
	EXPECT_EQ(plan(0xfffffffc), RPCRDMA_REVERSE_REFUSE);
}

TEST_F(ReverseCall, NoReadsOnThisConnection)
{
	bounds.may_read = false;
	EXPECT_EQ(plan(64), RPCRDMA_REVERSE_SHORT);
	read(64, 100);
	EXPECT_EQ(plan(64), RPCRDMA_REVERSE_REFUSE);
}

TEST_F(ReverseCall, ReplyChunk)
{
	reply(16, 100);
	EXPECT_EQ(plan(64), RPCRDMA_REVERSE_SHORT);
	bounds.may_write = false;
	EXPECT_EQ(plan(64), RPCRDMA_REVERSE_REFUSE);
}

TEST_F(ReverseCall, ReplyChunkInTooManyPieces)
{
	reply(17, 100);
	EXPECT_EQ(plan(64), RPCRDMA_REVERSE_REFUSE);
}

TEST_F(ReverseCall, LongWithAReplyChunk)
{
	read(0, 9000);
	reply(1, 100);
	EXPECT_EQ(plan(0), RPCRDMA_REVERSE_READ);
}

TEST_F(ReverseCall, WriteChunks)
{
	ASSERT_TRUE(rpcrdma_lists_begin_write(&given.lists));
	EXPECT_EQ(plan(64), RPCRDMA_REVERSE_REFUSE);
}

/* Puts the message together, byte for byte. Returns -1 if that cannot be done. */
static long assembled(const std::vector<Read> &reads, u32 inline_length)
{
	std::vector<char> message;
	u32 used = 0;

	for (const Read &read : reads) {
		while (message.size() < read.position) {
			if (used++ == inline_length)
				return -1;
			message.push_back('i');
		}
		if (message.size() != read.position)
			return -1;
		for (u32 i = 0; i < read.length || i % 4; i++)
			message.push_back('c');
	}
	return long(message.size() + inline_length - used);
}

TEST(ReverseCallTwin, AsPutTogetherByBytes)
{
	std::mt19937 random(1);
	int accepted = 0;

	for (int round = 0; round < 20000; round++) {
		rpcrdma_reverse_bounds bounds = { 200, true, true };
		u32 inline_length = random() % 100, position = 0, length;
		std::vector<Read> reads;
		Lists given;

		for (u32 n = 1 + random() % 3; n; n--) {
			position += 4 + 4 * (random() % 10);
			reads.push_back({ position, u32(1 + random() % 40) });
			ASSERT_TRUE(rpcrdma_lists_begin_read(&given.lists,
							     position));
			ASSERT_TRUE(rpcrdma_lists_add_segment(
				&given.lists, { 1, reads.back().length, 0 }));
			position += (reads.back().length + 3) / 4 * 4;
			/* Now and then the next one begins too early. */
			if (random() % 8 == 0 && reads.back().length > 4)
				position -= 8;
		}
		long expected = assembled(reads, inline_length);
		bool fits = expected >= 8 && expected <= 200;

		accepted += fits;
		ASSERT_EQ(rpcrdma_plan_reverse_call(&given.lists, inline_length,
						    &bounds, &length),
			  fits ? RPCRDMA_REVERSE_READ : RPCRDMA_REVERSE_REFUSE);
		ASSERT_EQ(long(length), fits ? expected : 0);
	}
	EXPECT_GT(accepted, 2000);
}

/* ---- which is which ---- */

static bool pulled(std::vector<u32> reads, int reply)
{
	Lists given;

	for (u32 position : reads) {
		EXPECT_TRUE(rpcrdma_lists_begin_read(&given.lists, position));
		EXPECT_TRUE(rpcrdma_lists_add_segment(&given.lists,
						      { 1, 5000, 0 }));
	}
	if (reply >= 0) {
		EXPECT_TRUE(rpcrdma_lists_begin_reply(&given.lists));
		EXPECT_TRUE(rpcrdma_lists_add_segment(&given.lists,
						      { 1, u32(reply), 0 }));
	}
	return rpcrdma_is_pulled_reply(&given.lists);
}

TEST(PulledReply, HasNoReplyChunkInUse)
{
	EXPECT_TRUE(pulled({ 0 }, -1));
	EXPECT_TRUE(pulled({ 0 }, 0));
	EXPECT_FALSE(pulled({ 0 }, 1));
	EXPECT_FALSE(pulled({ 4 }, -1));
	EXPECT_FALSE(pulled({ 0, 100 }, -1));
	EXPECT_FALSE(pulled({}, -1));
}

/* ---- the requester ---- */

class Callback : public testing::Test {
    protected:
	Callback()
	{
		shape.call_length = 200;
		shape.call_segments = 1;
		shape.reply_length = 200;
		shape.reply_segments = 1;
		shape.inline_send = 4096;
		shape.inline_recv = 4096;
	}

	bool plan()
	{
		return rpcrdma_plan_callback(&shape, pulled, &result);
	}

	rpcrdma_call_shape shape = {};
	bool pulled = true;
	rpcrdma_call_plan result;
};

TEST_F(Callback, Short)
{
	EXPECT_TRUE(plan());
	EXPECT_FALSE(result.position_zero);
	EXPECT_FALSE(result.reply_chunk);
	EXPECT_EQ(result.header_size, 28u);
	EXPECT_EQ(result.inline_length, 200u);
}

TEST_F(Callback, AtTheThreshold)
{
	shape.call_length = 4096 - 28;
	EXPECT_TRUE(plan());
	EXPECT_FALSE(result.position_zero);
	shape.call_length += 4;
	EXPECT_TRUE(plan());
	EXPECT_TRUE(result.position_zero);
	EXPECT_EQ(result.inline_length, 0u);
}

/* Requirement 48 */
TEST_F(Callback, LargeReply)
{
	shape.reply_length = 4096 - 28;
	EXPECT_TRUE(plan());
	EXPECT_FALSE(result.reply_chunk);
	shape.reply_length += 4;
	EXPECT_TRUE(plan());
	EXPECT_TRUE(result.reply_chunk);
	EXPECT_FALSE(result.position_zero);
	EXPECT_EQ(result.header_size, 28u + 4 + 16);
}

/* It must not be taken for a reply. */
TEST_F(Callback, LongHasAReplyChunkWhereRepliesArePulled)
{
	shape.call_length = 8192;
	shape.call_segments = 2;
	EXPECT_TRUE(plan());
	EXPECT_TRUE(result.position_zero);
	EXPECT_TRUE(result.reply_chunk);
	EXPECT_EQ(result.header_size, 28u + 2 * 24 + 4 + 16);
	pulled = false;
	EXPECT_TRUE(plan());
	EXPECT_TRUE(result.position_zero);
	EXPECT_FALSE(result.reply_chunk);
	EXPECT_EQ(result.header_size, 28u + 2 * 24);
}

TEST_F(Callback, PeerHasSaidNothing)
{
	shape.call_segments = 0;
	/* Nobody knows how large the reply will be; most are small. */
	shape.reply_length = 0;
	shape.reply_segments = 0;
	EXPECT_TRUE(plan());
	EXPECT_FALSE(result.reply_chunk);
	shape.call_length = 4096 - 28;
	EXPECT_TRUE(plan());
	EXPECT_FALSE(result.position_zero);
	shape.call_length += 4;
	EXPECT_FALSE(plan());
}

TEST_F(Callback, TooManySegments)
{
	shape.call_length = 8192;
	shape.call_segments = 17;
	EXPECT_FALSE(plan());
	shape.call_segments = 16;
	EXPECT_TRUE(plan());
	shape.reply_segments = 17;
	EXPECT_FALSE(plan());
	shape.reply_segments = 0;
	EXPECT_FALSE(plan());
}

TEST_F(Callback, HeaderBeyondTheThreshold)
{
	shape.inline_send = 28 + 16 * 24 + 4 + 16 * 16;
	shape.inline_recv = shape.inline_send;
	shape.call_length = 8192;
	shape.call_segments = 16;
	shape.reply_segments = 16;
	EXPECT_TRUE(plan());
	shape.inline_send--;
	EXPECT_FALSE(plan());
}
