// SPDX-License-Identifier: GPL-2.0-only
/* RFC 8166 sections 3.5 and 4.3 */
#include <gtest/gtest.h>

#include <rpcrdma/plan.h>
#include <rpcrdma/protocol.h>

#include "support/plan_check.hh"

static rpcrdma_call_shape small_shape()
{
	rpcrdma_call_shape shape = {};

	shape.call_length = 100;
	shape.call_segments = 2;
	shape.reply_length = 100;
	shape.reply_segments = 2;
	shape.inline_send = 4096;
	shape.inline_recv = 4096;
	shape.may_reduce = true;
	return shape;
}

/* An NFS WRITE of @length bytes with 40 bytes behind it */
static rpcrdma_call_shape write_shape(u32 length)
{
	rpcrdma_call_shape shape = small_shape();

	shape.call_position = 160;
	shape.call_item_length = length;
	shape.call_item_segments = 1;
	shape.call_length = u32(160 + padded(length) + 40);
	return shape;
}

/* An NFS READ of up to @length bytes */
static rpcrdma_call_shape read_shape(u32 length)
{
	rpcrdma_call_shape shape = small_shape();

	shape.reply_item_length = length;
	shape.reply_item_segments = 1;
	shape.reply_length = u32(120 + padded(length));
	return shape;
}

static rpcrdma_call_plan planned(const rpcrdma_call_shape &shape)
{
	rpcrdma_call_plan plan;

	EXPECT_TRUE(rpcrdma_plan_call(&shape, &plan));
	EXPECT_STREQ(check_plan(shape), nullptr);
	return plan;
}

static bool refused(const rpcrdma_call_shape &shape)
{
	rpcrdma_call_plan plan;

	EXPECT_STREQ(check_plan(shape), nullptr);
	return !rpcrdma_plan_call(&shape, &plan);
}

/* Chunks in use: Position zero, Read, Write, Reply */
static std::string chunks(const rpcrdma_call_shape &shape)
{
	rpcrdma_call_plan plan = planned(shape);
	std::string used;

	if (plan.position_zero)
		used += 'P';
	if (plan.read_chunk)
		used += 'R';
	if (plan.write_chunk)
		used += 'W';
	if (plan.reply_chunk)
		used += 'L';
	return used;
}

TEST(CallPlan, SmallIsInline)
{
	rpcrdma_call_plan plan = planned(small_shape());

	EXPECT_EQ(chunks(small_shape()), "");
	EXPECT_EQ(plan.header_size, 28u);
	EXPECT_EQ(plan.inline_length, 100u);
}

/* Requirement 15: threshold - 4, threshold, threshold + 4 */
TEST(CallPlan, CallAtTheThreshold)
{
	rpcrdma_call_shape shape = small_shape();

	for (u32 total : { 4092u, 4096u, 4100u }) {
		shape.call_length = total - 28;
		EXPECT_EQ(chunks(shape), total <= 4096 ? "" : "P") << total;
	}
}

/* Requirements 53 and 54 */
TEST(CallPlan, LongCallSendsNoPayload)
{
	rpcrdma_call_shape shape = small_shape();

	shape.call_length = 10000;
	shape.call_segments = 3;
	EXPECT_EQ(planned(shape).inline_length, 0u);
	EXPECT_EQ(planned(shape).header_size, 28u + 3 * 24);
}

/* Requirement 34: the padding leaves with the item. */
TEST(CallPlan, ReducesTheArgumentWithItsPadding)
{
	for (u32 length : { 8192u, 8193u, 8194u, 8195u }) {
		EXPECT_EQ(chunks(write_shape(length)), "R");
		EXPECT_EQ(planned(write_shape(length)).inline_length, 200u)
			<< length;
		EXPECT_EQ(planned(write_shape(length)).header_size, 28u + 24);
	}
}

TEST(CallPlan, SmallArgumentStaysInline)
{
	EXPECT_EQ(chunks(write_shape(1000)), "");
}

/* Requirement 35: RPCSEC_GSS integrity and privacy */
TEST(CallPlan, NothingReducedUnderProtection)
{
	rpcrdma_call_shape call = write_shape(8192), reply = read_shape(8192);

	call.may_reduce = reply.may_reduce = false;
	EXPECT_EQ(chunks(call), "P");
	EXPECT_EQ(chunks(reply), "L");
}

/* What cannot be a Read chunk goes with the whole message (requirement 39). */
TEST(CallPlan, ItemThatCannotBeReduced)
{
	rpcrdma_call_shape shape = write_shape(8192);

	shape.call_position = 162;
	EXPECT_EQ(chunks(shape), "P");
	shape = write_shape(8192);
	shape.call_item_segments = 0;
	EXPECT_EQ(chunks(shape), "P");
	shape.call_item_segments = 17;
	EXPECT_EQ(chunks(shape), "P");
	shape = write_shape(8192);
	shape.call_length = 160 + 8191;
	EXPECT_EQ(chunks(shape), "P");
	shape.call_item_length = 0xffffffff;
	EXPECT_EQ(chunks(shape), "P");
}

/* Long all the same when the rest is too large */
TEST(CallPlan, LargeRestIsLong)
{
	rpcrdma_call_shape shape = write_shape(8192);

	shape.call_length += 5000;
	EXPECT_EQ(chunks(shape), "P");
}

/* Requirement 55: threshold - 4, threshold, threshold + 4 */
TEST(CallPlan, ReplyAtTheThreshold)
{
	rpcrdma_call_shape shape = small_shape();

	for (u32 total : { 4092u, 4096u, 4100u }) {
		shape.reply_length = total - 28;
		EXPECT_EQ(chunks(shape), total <= 4096 ? "" : "L") << total;
	}
}

/* Requirement 45 */
TEST(CallPlan, ResultGetsAWriteChunk)
{
	EXPECT_EQ(chunks(read_shape(8192)), "W");
	EXPECT_EQ(planned(read_shape(8192)).header_size, 28u + 8 + 16);
	EXPECT_EQ(chunks(read_shape(1024)), "");
}

/* Requirements 55 and 56: what is left of the reply is too large as well. */
TEST(CallPlan, WriteAndReplyChunk)
{
	rpcrdma_call_shape shape = read_shape(8193);
	u32 rest = 4096 - (28 + 8 + 16);

	for (u32 length : { rest - 4, rest, rest + 4 }) {
		shape.reply_length = 8196 + length;
		EXPECT_EQ(chunks(shape), length <= rest ? "W" : "WL") << length;
	}
	EXPECT_EQ(planned(shape).header_size, 28u + 24 + 4 + 2 * 16);
}

TEST(CallPlan, ResultWithTooManySegmentsGoesInTheReplyChunk)
{
	rpcrdma_call_shape shape = read_shape(8192);

	shape.reply_item_segments = 17;
	EXPECT_EQ(chunks(shape), "L");
	shape.reply_item_segments = 0;
	EXPECT_EQ(chunks(shape), "L");
}

/* The chunks for the reply can make a call Long. */
TEST(CallPlan, HeaderCountsAgainstTheCall)
{
	rpcrdma_call_shape shape = read_shape(8192);

	shape.reply_item_segments = 16;
	for (u32 length : { 4096u - 292, 4096u - 288 }) {
		shape.call_length = length;
		EXPECT_EQ(chunks(shape), length == 4096 - 292 ? "W" : "PW");
	}
}

/* Requirement 105: at most 16 segments in a chunk */
TEST(CallPlan, RefusesWhatCannotBeSent)
{
	rpcrdma_call_shape shape = small_shape();

	shape.call_length = 10000;
	shape.call_segments = 16;
	EXPECT_FALSE(refused(shape));
	shape.call_segments = 17;
	EXPECT_TRUE(refused(shape));
	shape.call_segments = 0;
	EXPECT_TRUE(refused(shape));

	shape = small_shape();
	shape.reply_length = 10000;
	shape.reply_segments = 17;
	EXPECT_TRUE(refused(shape));
	shape.reply_segments = 0;
	EXPECT_TRUE(refused(shape));
	shape.reply_segments = 16;
	EXPECT_FALSE(refused(shape));
}

TEST(CallPlan, RefusesWhenTheHeaderAloneIsTooLarge)
{
	rpcrdma_call_shape shape = small_shape();

	shape.inline_send = 100;
	shape.call_segments = 3;
	EXPECT_FALSE(refused(shape));
	shape.call_segments = 4;
	EXPECT_TRUE(refused(shape));
	shape.inline_send = 27;
	EXPECT_TRUE(refused(shape));

	shape = small_shape();
	shape.inline_recv = 63;
	EXPECT_TRUE(refused(shape));
	shape.inline_recv = 64;
	EXPECT_FALSE(refused(shape));
}

/* Sums near the end of 32 bits */
TEST(CallPlan, LargestNumbers)
{
	rpcrdma_call_shape shape = read_shape(8192);

	shape.call_length = shape.reply_length = shape.reply_item_length = ~0u;
	EXPECT_STREQ(check_plan(shape), nullptr);
	shape.inline_send = shape.inline_recv = ~0u;
	EXPECT_STREQ(check_plan(shape), nullptr);
	shape.call_position = ~3u;
	shape.call_item_length = ~0u;
	shape.call_item_segments = 1;
	EXPECT_STREQ(check_plan(shape), nullptr);
	shape.call_length = 0;
	shape.reply_length = 0;
	EXPECT_STREQ(check_plan(shape), nullptr);
}

static rpcrdma_call_shape shape_around(u32 threshold, u32 segments, bool reduce)
{
	rpcrdma_call_shape shape = {};

	shape.inline_send = threshold;
	shape.inline_recv = threshold;
	shape.may_reduce = reduce;
	shape.call_position = 100;
	shape.call_item_length = 301;
	shape.call_item_segments = segments;
	shape.call_segments = segments;
	shape.reply_item_length = 203;
	shape.reply_item_segments = segments;
	shape.reply_segments = segments;
	return shape;
}

/* Lengths from below a threshold less all lists, to above it */
static void sweep(rpcrdma_call_shape shape)
{
	for (int call = -800; call <= 24; call += 4)
		for (int reply = -620; reply <= 24; reply += 4) {
			shape.call_length = shape.inline_send + call;
			shape.reply_length = shape.inline_recv + reply;
			ASSERT_STREQ(check_plan(shape), nullptr)
				<< call << " " << reply;
		}
}

/* Requirements 15, 16, 53, 55: sizes around each threshold, all with all */
TEST(CallPlan, FitsForAllSizesAroundTheThresholds)
{
	for (u32 threshold : { 1024u, 4096u, 262144u })
		for (u32 segments : { 1u, 16u })
			for (bool reduce : { false, true })
				sweep(shape_around(threshold, segments,
						   reduce));
}

/* Reliable-reply draft, section 5.3.1 */
class OpenReply : public testing::Test {
    protected:
	OpenReply()
	{
		shape = small_shape();
		shape.reply_length = 60000;
		shape.reply_pullable = true;
	}

	rpcrdma_call_shape shape;
};

TEST_F(OpenReply, NothingIsOffered)
{
	rpcrdma_call_plan plan = planned(shape);

	EXPECT_TRUE(plan.left_open);
	EXPECT_FALSE(plan.reply_chunk);
}

TEST_F(OpenReply, ChunkWhenALargeOneIsExpected)
{
	shape.expect_large = true;
	EXPECT_FALSE(planned(shape).left_open);
	EXPECT_TRUE(planned(shape).reply_chunk);
}

TEST_F(OpenReply, ChunkWhenThePeerDoesNotProvide)
{
	shape.reply_pullable = false;
	EXPECT_FALSE(planned(shape).left_open);
	EXPECT_TRUE(planned(shape).reply_chunk);
}

TEST_F(OpenReply, NotForReadsOfSeveralMessagesSize)
{
	shape = read_shape(8191);
	shape.reply_pullable = true;
	EXPECT_TRUE(planned(shape).left_open);
	EXPECT_FALSE(planned(shape).write_chunk);
	shape = read_shape(8192);
	shape.reply_pullable = true;
	EXPECT_FALSE(planned(shape).left_open);
	EXPECT_TRUE(planned(shape).write_chunk);
	/* GSS integrity or privacy: a Reply chunk */
	shape.may_reduce = false;
	EXPECT_FALSE(planned(shape).left_open);
	EXPECT_TRUE(planned(shape).reply_chunk);
}

TEST_F(OpenReply, SendOnlyWhereTheLargestFits)
{
	shape.reply_length = 4096 - RPCRDMA_MIN_HEADER_SIZE;
	EXPECT_FALSE(planned(shape).left_open);
}

/* It is no reason to refuse a call whose Reply chunk would be too complex. */
TEST_F(OpenReply, AnyNumberOfSegments)
{
	shape.reply_segments = 200;
	EXPECT_TRUE(planned(shape).left_open);
}
