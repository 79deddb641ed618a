// SPDX-License-Identifier: GPL-2.0-only
/* Whole headers: RFC 8166 sections 4.1 to 4.7 */

#include <gtest/gtest.h>

#include <rpcrdma/rpc_message.h>
#include <rpcrdma/header.h>

#include "support/header_check.hh"
#include "support/messages.hh"

static std::string message_name(const testing::TestParamInfo<Message> &info)
{
	return info.param.name;
}

void PrintTo(const Message &message, std::ostream *out)
{
	*out << message.name;
}

class GoodMessage : public testing::TestWithParam<Message> {
    protected:
	Bytes bytes = GetParam().bytes();
};

INSTANTIATE_TEST_SUITE_P(Header, GoodMessage,
			 testing::ValuesIn(good_messages()), message_name);

TEST_P(GoodMessage, DecodesToWhatItMeans)
{
	Decoded decoded(bytes);

	ASSERT_EQ(decoded.status, RPCRDMA_OK);
	EXPECT_TRUE(decoded.header == GetParam().header);
	EXPECT_EQ(decoded.header.direction, GetParam().header.direction);
	EXPECT_EQ(decoded.lists.nr_read, GetParam().nr_read);
	EXPECT_EQ(decoded.lists.nr_write, GetParam().nr_write);
	EXPECT_EQ(decoded.lists.nr_reply, GetParam().nr_reply);
	EXPECT_TRUE(decoded.chunks() == GetParam().chunks);
	EXPECT_TRUE(decoded.segments() == GetParam().segments);
	EXPECT_STREQ(check_message(bytes), nullptr);
}

TEST_P(GoodMessage, EncodesToTheSameBytes)
{
	Decoded decoded(bytes);

	if (!GetParam().canonical)
		return;
	EXPECT_EQ(encoded(decoded.header, &decoded.lists),
		  prefix(bytes, GetParam().header.size));
}

/* No capacity below the size is enough, and none is overrun. */
TEST_P(GoodMessage, EncoderKeepsToItsBuffer)
{
	Decoded decoded(bytes);
	u32 size = decoded.header.size;

	for (u32 capacity = 0; capacity < size; capacity++) {
		Bytes out(capacity);

		EXPECT_EQ(rpcrdma_header_encode(&decoded.header, &decoded.lists,
						out.data(), capacity),
			  RPCRDMA_NO_SPACE);
	}
}

/* Requirements 59, 63, 65: each prefix, in an allocation of its own length */
TEST_P(GoodMessage, SurvivesEachTruncation)
{
	u32 needed = GetParam().header.size;

	if (GetParam().header.proc == RPCRDMA_MSG)
		needed += 4; /* the payload's XID */
	for (size_t length = 0; length < bytes.size(); length++) {
		Bytes cut = prefix(bytes, length);

		EXPECT_STREQ(check_message(cut), nullptr) << length;
		EXPECT_EQ(Decoded(cut).status == RPCRDMA_OK, length >= needed)
			<< length;
	}
}

/* Requirement 63: each word replaced */
TEST_P(GoodMessage, SurvivesEachCorruptedWord)
{
	std::vector<u32> values = { 0, 1, 2, 0x7fffffff, 0xffffffff };

	for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
		Bytes changed = bytes;

		for (u32 value : values) {
			set_word(changed, at, value);
			EXPECT_STREQ(check_message(changed), nullptr)
				<< at << " " << value;
		}
		for (int bit = 0; bit < 32; bit++) {
			set_word(changed, at, get_word(bytes, at) ^ 1u << bit);
			EXPECT_STREQ(check_message(changed), nullptr)
				<< at << " " << bit;
		}
	}
}

/* Two words replaced at once, over little storage */
TEST_P(GoodMessage, SurvivesPairsOfCorruptedWords)
{
	std::vector<u32> values = { 0, 1, 2, 0xffffffff };

	for (size_t a = 0; a + 4 <= bytes.size(); a += 4)
		for (size_t b = a + 4; b + 4 <= bytes.size(); b += 4)
			for (u32 value : values) {
				Bytes changed = bytes;

				set_word(changed, a, value);
				set_word(changed, b, values[(a + b) / 4 % 4]);
				ASSERT_STREQ(check_message(changed), nullptr);
				ASSERT_STREQ(check_small_storage(changed, 2, 1),
					     nullptr);
			}
}

TEST_P(GoodMessage, EachStorageSize)
{
	for (u32 segments = 0; segments <= 6; segments++)
		for (u32 chunks = 0; chunks <= 5; chunks++)
			EXPECT_STREQ(check_small_storage(bytes, segments,
							 chunks),
				     nullptr)
				<< segments << " " << chunks;
}

struct BadMessage {
	const char *name;
	const char *text;
	rpcrdma_status status;
};

void PrintTo(const BadMessage &message, std::ostream *out)
{
	*out << message.name;
}

#define FIXED(proc) "00000001 00000001 00000010 " proc
#define MSG FIXED("00000000")
#define NOMSG FIXED("00000001")
#define SEGMENT "00000001 00000004 0000000000000000 "

static const BadMessage bad_messages[] = {
	/* Requirement 59 */
	{ "empty", "", RPCRDMA_RUNT },
	{ "27_bytes", MSG "00000000 00000000 000000", RPCRDMA_RUNT },
	{ "27_bytes_of_another_version",
	  "00000001 00000002 00000010 00000000 00000000 00000000 000000",
	  RPCRDMA_RUNT },
	{ "done_of_16_bytes_of_another_version",
	  "00000001 00000002 00000010 00000003", RPCRDMA_RUNT },
	{ "msgp_of_16_bytes", FIXED("00000002"), RPCRDMA_RUNT },
	/* Requirement 24: RDMA_MSGP, with rdma_align and rdma_thresh */
	{ "msgp",
	  FIXED("00000002 00000040 00000400 00000000 00000000 00000000"),
	  RPCRDMA_BAD_PROC },
	/* Requirements 19 and 62 */
	{ "version_0",
	  "00000001 00000000 00000010 00000000 00000000 00000000 00000000",
	  RPCRDMA_BAD_VERSION },
	{ "version_2",
	  "00000001 00000002 00000010 00000000 00000000 00000000 00000000",
	  RPCRDMA_BAD_VERSION },
	{ "version_max",
	  "00000001 ffffffff 00000010 00000009 00000000 00000000 00000000",
	  RPCRDMA_BAD_VERSION },
	/* Requirement 63 */
	{ "proc_5", FIXED("00000005") "00000000 00000000 00000000",
	  RPCRDMA_BAD_PROC },
	{ "proc_max", FIXED("ffffffff") "00000000 00000000 00000000",
	  RPCRDMA_BAD_PROC },
	{ "nomsg_without_lists", NOMSG "00000000 00000000 00000000",
	  RPCRDMA_NO_LISTS },
	{ "nomsg_without_lists_but_payload",
	  NOMSG "00000000 00000000 00000000 00000001", RPCRDMA_NO_LISTS },
	{ "no_payload", MSG "00000000 00000000 00000000",
	  RPCRDMA_XID_MISMATCH },
	{ "no_payload_and_xid_0",
	  "00000000 00000001 00000010 00000000 00000000 00000000 00000000",
	  RPCRDMA_XID_MISMATCH },
	{ "payload_of_3_bytes", MSG "00000000 00000000 00000000 000000",
	  RPCRDMA_XID_MISMATCH },
	{ "payload_with_another_xid", MSG "00000000 00000000 00000000 00000002",
	  RPCRDMA_XID_MISMATCH },
	{ "read_discriminator_2", MSG "00000002 00000000 00000000 00000001",
	  RPCRDMA_BAD_DISCRIMINATOR },
	{ "write_discriminator_2", MSG "00000000 00000002 00000000 00000001",
	  RPCRDMA_BAD_DISCRIMINATOR },
	{ "reply_discriminator_max", MSG "00000000 00000000 ffffffff 00000001",
	  RPCRDMA_BAD_DISCRIMINATOR },
	{ "second_read_discriminator",
	  MSG "00000001 00000004 " SEGMENT
	      "80000000 00000000 00000000 00000001",
	  RPCRDMA_BAD_DISCRIMINATOR },
	{ "read_list_without_end", MSG "00000001 00000004 " SEGMENT,
	  RPCRDMA_TRUNCATED },
	{ "write_count_max", MSG "00000000 00000001 ffffffff " SEGMENT,
	  RPCRDMA_TRUNCATED },
	{ "write_count_one_too_many",
	  NOMSG "00000000 00000001 00000002 " SEGMENT
		"00000000 00000000 000000",
	  RPCRDMA_TRUNCATED },
	{ "reply_count_max",
	  NOMSG "00000000 00000000 00000001 ffffffff " SEGMENT,
	  RPCRDMA_TRUNCATED },
	{ "reply_count_that_wraps",
	  NOMSG "00000000 00000000 00000001 10000001 " SEGMENT,
	  RPCRDMA_TRUNCATED },
	/* Which words are missing is not known, so nothing is said of those before. */
	{ "read_segment_cut_behind_position_6",
	  MSG "00000001 00000006 00000001 00000004 00000000",
	  RPCRDMA_TRUNCATED },
	/* Requirement 39 */
	{ "position_6",
	  MSG "00000001 00000006 " SEGMENT
	      "00000000 00000000 00000000 00000001",
	  RPCRDMA_BAD_POSITION },
	{ "position_max",
	  MSG "00000001 ffffffff " SEGMENT
	      "00000000 00000000 00000000 00000001",
	  RPCRDMA_BAD_POSITION },
	/* Sums and addresses */
	{ "read_length_sum",
	  NOMSG
	  "00000001 00000000 00000001 ffffffff 0000000000000000"
	  "00000001 00000000 00000002 00000001 0000000000000000 00000000 00000000 00000000",
	  RPCRDMA_OVERFLOW },
	{ "write_length_sum",
	  NOMSG "00000000 00000001 00000002 00000001 80000000 0000000000000000"
		"00000002 80000000 0000000000000000 00000000 00000000",
	  RPCRDMA_OVERFLOW },
	{ "reply_length_sum",
	  NOMSG
	  "00000000 00000000 00000001 00000002 00000001 ffffffff 0000000000000000"
	  "00000002 00000001 0000000000000000",
	  RPCRDMA_OVERFLOW },
	{ "segment_wraps",
	  NOMSG
	  "00000000 00000000 00000001 00000001 00000001 00000002 ffffffffffffffff",
	  RPCRDMA_OVERFLOW },
};

class RefusedMessage : public testing::TestWithParam<BadMessage> {};

INSTANTIATE_TEST_SUITE_P(Header, RefusedMessage,
			 testing::ValuesIn(bad_messages), [](const auto &info) {
				 return std::string(info.param.name);
			 });

TEST_P(RefusedMessage, SaysWhy)
{
	Bytes bytes = hex(GetParam().text);
	Decoded decoded(bytes);

	EXPECT_EQ(decoded.status, GetParam().status);
	EXPECT_EQ(decoded.nr_chunks(), 0u);
	EXPECT_EQ(decoded.lists.nr_segments, 0u);
	EXPECT_STREQ(check_message(bytes), nullptr);
}

/* What ERR_VERS and ERR_CHUNK have to echo is there (requirement 61). */
TEST_P(RefusedMessage, FixedHeaderIsFilledIn)
{
	Bytes bytes = hex(GetParam().text);
	Decoded decoded(bytes);

	if (GetParam().status == RPCRDMA_RUNT)
		return;
	EXPECT_EQ(decoded.header.xid, get_word(bytes, 0));
	EXPECT_EQ(decoded.header.vers, get_word(bytes, 4));
	EXPECT_EQ(decoded.header.credits, get_word(bytes, 8));
	EXPECT_EQ(decoded.header.proc, get_word(bytes, 12));
}

/* A segment may end at 2^64, and one of length 0 is anywhere. */
TEST(Header, SegmentsAtTheEndOfTheAddressSpace)
{
	Decoded decoded(hex(NOMSG "00000000 00000000 00000001 00000002"
				  "00000001 00000001 ffffffffffffffff"
				  "00000001 00000000 ffffffffffffffff"));

	EXPECT_EQ(decoded.status, RPCRDMA_OK);
	EXPECT_EQ(decoded.chunk_storage[0].length, 1u);
}

/* The sum is that of one chunk: two chunks at other Positions may be larger. */
TEST(Header, SumIsPerChunk)
{
	Decoded decoded(
		hex(NOMSG "00000001 00000000 00000001 ffffffff 0000000000000000"
			  "00000001 00000004 00000002 ffffffff 0000000000000000"
			  "00000000 00000000 00000000"));

	EXPECT_EQ(decoded.status, RPCRDMA_OK);
	EXPECT_EQ(decoded.lists.nr_read, 2u);
}

/* Requirement 105: 16 segments in each of four chunks at once */
TEST(Header, SixteenSegmentsInEachChunk)
{
	Lists lists(64, 4);
	rpcrdma_header header = { 5, 1, 1, RPCRDMA_NOMSG, 0, 0, 0, 0, 0 };
	auto fill = [&] {
		for (u32 i = 0; i < 16; i++)
			EXPECT_TRUE(rpcrdma_lists_add_segment(&lists.lists,
							      { i, 4096, i }));
	};

	EXPECT_TRUE(rpcrdma_lists_begin_read(&lists.lists, 0));
	fill();
	EXPECT_TRUE(rpcrdma_lists_begin_read(&lists.lists, 400));
	fill();
	EXPECT_TRUE(rpcrdma_lists_begin_write(&lists.lists));
	fill();
	EXPECT_TRUE(rpcrdma_lists_begin_reply(&lists.lists));
	fill();

	Bytes bytes = encoded(header, &lists.lists);
	Decoded decoded(bytes, 64, 4);

	EXPECT_EQ(bytes.size(), 28 + 32 * 24 + (8 + 16 * 16) + (4 + 16 * 16));
	EXPECT_EQ(decoded.status, RPCRDMA_OK);
	EXPECT_TRUE(decoded.same(lists));
	EXPECT_EQ(Decoded(bytes, 63, 4).status, RPCRDMA_TOO_MANY);
	EXPECT_EQ(Decoded(bytes, 64, 3).status, RPCRDMA_TOO_MANY);
}

TEST(Header, WithoutListsIsWithEmptyLists)
{
	rpcrdma_header header = { 5, 1, 1, RPCRDMA_MSG, 0, 0, 0, 0, 0 };
	Lists none;

	EXPECT_EQ(encoded(header, nullptr), encoded(header, &none.lists));
	EXPECT_EQ(encoded(header, nullptr).size(),
		  size_t(RPCRDMA_MIN_HEADER_SIZE));
}

/* Requirement 24 */
TEST(Header, ObsoleteProcsAreNotEncoded)
{
	u8 out[64];

	for (u32 proc : { u32(RPCRDMA_MSGP), 5u, ~0u }) {
		rpcrdma_header header = { 5, 1, 1, proc, 0, 0, 0, 0, 0 };

		EXPECT_EQ(rpcrdma_header_encode(&header, nullptr, out,
						sizeof(out)),
			  RPCRDMA_BAD_PROC);
	}
}

/* Chunks that do not belong to their lists are not followed. */
TEST(Header, EncoderFindsNoSegmentsOutsideTheLists)
{
	rpcrdma_header header = { 5, 1, 1, RPCRDMA_MSG, 0, 0, 0, 0, 0 };
	u8 out[256];

	for (auto begin :
	     { rpcrdma_lists_begin_write, rpcrdma_lists_begin_reply }) {
		Lists lists;
		u32 empty;

		begin(&lists.lists);
		empty = rpcrdma_header_size(&lists.lists);
		lists.chunk_storage[0].count = 2;
		EXPECT_EQ(rpcrdma_header_encode(&header, &lists.lists, out,
						sizeof(out)),
			  RPCRDMA_OK);
		EXPECT_EQ(header.size, empty);
	}

	Lists read;

	rpcrdma_lists_begin_read(&read.lists, 4);
	rpcrdma_lists_add_segment(&read.lists, { 1, 1, 1 });
	read.chunk_storage[0].first = ~0u;
	EXPECT_EQ(rpcrdma_header_encode(&header, &read.lists, out, sizeof(out)),
		  RPCRDMA_OK);
	EXPECT_EQ(header.size, u32(RPCRDMA_MIN_HEADER_SIZE));
}

/* Requirements 81 and 83 */
TEST(Direction, IsTheSecondWord)
{
	auto direction = [](const char *text) {
		Bytes payload = hex(text);

		return rpcrdma_message_direction(payload.data(),
						 u32(payload.size()));
	};

	EXPECT_EQ(direction("00000001 00000000"), RPCRDMA_RPC_CALL);
	EXPECT_EQ(direction("00000000 00000001 ff"), RPCRDMA_RPC_REPLY);
	EXPECT_EQ(direction("00000000 00000002"), -1);
	EXPECT_EQ(direction("00000000 ffffffff"), -1);
	EXPECT_EQ(direction("00000000 000000"), -1);
	EXPECT_EQ(direction("00000000"), -1);
	EXPECT_EQ(direction(""), -1);
}

TEST(Direction, IsInTheDecodedHeader)
{
	auto direction = [](const char *proc, const char *payload) {
		Bytes message = hex(std::string("00000009 00000001 00000001 ") +
				    proc + "00000000 00000000" + payload);

		return Decoded(message).header.direction;
	};

	EXPECT_EQ(direction("00000000", "00000000 00000009 00000000"),
		  RPCRDMA_RPC_CALL);
	EXPECT_EQ(direction("00000000", "00000000 00000009 00000001"),
		  RPCRDMA_RPC_REPLY);
	EXPECT_EQ(direction("00000000", "00000000 00000009 00000002"), -1);
	EXPECT_EQ(direction("00000000", "00000000 00000009 000000"), -1);
	EXPECT_EQ(direction("00000000", "00000000 00000008 00000001"), -1);
	/* RDMA_NOMSG with a Reply chunk, and RDMA_ERROR with ERR_CHUNK */
	EXPECT_EQ(direction("00000001", "00000001 00000000 00000001"), -1);
	EXPECT_EQ(direction("00000004", ""), -1);
}

/* Requirement 29: what is longer than the rest may be the verifier. */
TEST(Verifier, IsWhatTheReplySays)
{
	auto verifier = [](const char *text) {
		Bytes reply = hex(text);

		return rpcrdma_reply_verifier(reply.data(), u32(reply.size()));
	};

	EXPECT_EQ(verifier("00000009 00000001 00000000 00000000 00000000"), 8u);
	EXPECT_EQ(verifier("00000009 00000001 00000000 00000006 00000011"),
		  28u);
	EXPECT_EQ(verifier("00000009 00000001 00000000 00000006 00000190"),
		  408u);
	/* No longer one than that */
	EXPECT_EQ(verifier("00000009 00000001 00000000 00000006 00000191"),
		  408u);
	EXPECT_EQ(verifier("00000009 00000001 00000000 00000006 ffffffff"),
		  408u);
	/* Denied, or cut short */
	EXPECT_EQ(verifier("00000009 00000001 00000001 00000000 00000011"), 0u);
	EXPECT_EQ(verifier("00000009 00000001 00000000 00000006 000000"), 0u);
	EXPECT_EQ(verifier(""), 0u);
}
