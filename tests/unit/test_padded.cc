// SPDX-License-Identifier: GPL-2.0-only
/* RDMA_MSGP: RFC 5666 sections 3.9 and 4.3, RFC 8166 section 4.6.1 */
#include <gtest/gtest.h>

#include <rpcrdma/header.h>

#include "support/header_check.hh"

static const u32 huge = 0xffffffff;

/* Four words, the lists, and a NULL call of 40 bytes */
static const char *const call_tail = R"(
	5ca1ab1e	# payload: xid
	00000000	# CALL
	00000002 000186a3 00000003 00000000
	00000000 00000000 00000000 00000000
	)";

static Bytes msgp(u32 align, u32 thresh,
		  const char *lists = "00000000 00000000 00000000",
		  const char *payload = call_tail)
{
	Bytes bytes = hex("5ca1ab1e 00000001 00000020 00000002");

	add_word(bytes, align);
	add_word(bytes, thresh);
	for (const char *part : { lists, payload }) {
		Bytes more = hex(part);

		bytes.insert(bytes.end(), more.begin(), more.end());
	}
	return bytes;
}

struct Unpadded : Decoded {
	explicit Unpadded(const Bytes &message, u32 max_segments = 16,
			  u32 max_chunks = 16)
		: Decoded(message, max_segments, max_chunks, true)
	{
	}
};

static bool served(const Bytes &message)
{
	return Unpadded(message).status == RPCRDMA_OK;
}

TEST(Padded, NothingIsPaddedForTheseAlignments)
{
	for (u32 align : { 0u, 1u, 2u, 4u })
		for (u32 thresh : { 0u, 1u, huge })
			EXPECT_TRUE(served(msgp(align, thresh))) << align;
	for (u32 align : { 3u, 5u, 8u, 64u, 4096u, 0x80000000u, huge })
		EXPECT_FALSE(served(msgp(align, 0))) << align;
}

/* The call has 40 bytes: an item of it can have 39 at the most. */
TEST(Padded, NothingIsPaddedInShortMessages)
{
	for (u32 thresh : { 40u, 41u, 4096u, 0x80000000u, huge })
		EXPECT_TRUE(served(msgp(4096, thresh))) << thresh;
	for (u32 thresh : { 0u, 1u, 39u })
		EXPECT_FALSE(served(msgp(4096, thresh))) << thresh;
}

static const char *const with_lists = R"(
	00000001 00000028 00001234 00000064 0000000100002000	# Position 40, 100 bytes
	00000001 00000028 00001235 00000001 0000000100003000	# and one
	00000000
	00000001 00000001 00000077 00000400 0000000000001000	# Write chunk, 1024 bytes
	00000000
	00000001 00000001 00000078 00000800 0000000000002000	# Reply chunk
	)";

/* What the Read chunks bring counts, the other chunks do not: 40 + 101. */
TEST(Padded, ReadChunksArePartOfTheMessage)
{
	EXPECT_FALSE(served(msgp(64, 140, with_lists)));
	EXPECT_TRUE(served(msgp(64, 141, with_lists)));
	EXPECT_TRUE(served(msgp(4, 0, with_lists)));
}

/* Read chunks of more than 4 GiB together: no sum wraps around. */
TEST(Padded, LengthsDoNotWrap)
{
	Bytes message = msgp(64, 1000, R"(
		00000001 00000028 00000001 ffffffff 0000000000000000
		00000001 0000002c 00000002 00000010 0000000000000000
		00000000 00000000 00000000)");

	EXPECT_FALSE(served(message));
	set_word(message, 20, huge);
	EXPECT_FALSE(served(message));
	set_word(message, 16, 4);
	EXPECT_TRUE(served(message));
}

/* The header that is left is that of the RDMA_MSG, with 8 bytes more. */
TEST(Padded, MeansWhatTheMessageWouldMean)
{
	Bytes message = msgp(4, 0, with_lists);
	Unpadded unpadded(message);

	ASSERT_EQ(unpadded.status, RPCRDMA_OK);
	EXPECT_EQ(unpadded.header.proc, u32(RPCRDMA_MSG));
	EXPECT_EQ(unpadded.header.size, message.size() - 40);
	EXPECT_EQ(unpadded.nr_chunks(), 3u);
	EXPECT_STREQ(check_unpadded(message), nullptr);
}

/* Replies are the requester's to drop; and other messages are decoded as always. */
TEST(Padded, OnlyCallsInMsgp)
{
	Bytes message = msgp(0, 0);

	set_word(message, 36 + 4, RPCRDMA_RPC_REPLY);
	EXPECT_EQ(Unpadded(message).status, RPCRDMA_BAD_PROC);
	set_word(message, 36 + 4, 2);
	EXPECT_EQ(Unpadded(message).status, RPCRDMA_BAD_PROC);
	for (u32 proc : { 0u, 1u, 3u, 4u, 5u, huge }) {
		message = msgp(0, 0);
		set_word(message, 12, proc);
		EXPECT_EQ(Unpadded(message).status, Decoded(message).status)
			<< proc;
	}
	message = msgp(0, 0);
	set_word(message, 4, 2);
	EXPECT_EQ(Unpadded(message).status, RPCRDMA_BAD_VERSION);
	message = msgp(0, 0);
	set_word(message, 36, 1);
	EXPECT_EQ(Unpadded(message).status, RPCRDMA_XID_MISMATCH);
}

static void expect_refused(const Bytes &message)
{
	Unpadded unpadded(message);

	EXPECT_NE(unpadded.status, RPCRDMA_OK);
	EXPECT_EQ(unpadded.nr_chunks() + unpadded.lists.nr_segments, 0u);
}

/* An allocation of its own length for each; behind the lists only XID and direction matter. */
TEST(Padded, EachTruncation)
{
	Bytes whole = msgp(4, 0, with_lists);
	size_t needed = whole.size() - 40 + 8;

	for (size_t length = 0; length < whole.size(); length++) {
		if (length < needed)
			expect_refused(prefix(whole, length));
		else
			EXPECT_TRUE(served(prefix(whole, length))) << length;
	}
}

/* Never more than the codec would take if it were an RDMA_MSG, nor other lists. */
TEST(Padded, EachCorruptedWord)
{
	Bytes whole = msgp(64, 200, with_lists);
	u32 refused = 0;

	ASSERT_TRUE(served(whole));
	for (size_t at = 0; at + 4 <= whole.size(); at += 4)
		for (u32 value : { 0u, 1u, 2u, 3u, 0x7fffffffu, huge }) {
			Bytes message = whole;

			set_word(message, at, value);
			EXPECT_STREQ(check_unpadded(message), nullptr) << at;
			refused += !served(message);
		}
	EXPECT_GT(refused, 20u);
}

TEST(Padded, LittleStorage)
{
	Bytes message = msgp(0, 0, with_lists);

	EXPECT_EQ(Unpadded(message, 3, 3).status, RPCRDMA_TOO_MANY);
	EXPECT_EQ(Unpadded(message, 4, 2).status, RPCRDMA_TOO_MANY);
	EXPECT_EQ(Unpadded(message, 4, 3).status, RPCRDMA_OK);
}
