// SPDX-License-Identifier: GPL-2.0-only
/* Building lists, and the lengths that a responder returns */
#include <gtest/gtest.h>

#include <rpcrdma/chunk_list.hh>

#include "support/decoded.hh"
#include "support/header_check.hh"
#include "support/written_twin.hh"

/* What did not change: for builders that return false */
static bool unchanged(const Lists &lists, const Lists &before)
{
	return lists.same(before) &&
	       lists.chunk_storage == before.chunk_storage;
}

static void build_all(Lists &lists)
{
	rpcrdma_lists_begin_read(&lists.lists, 0);
	rpcrdma_lists_add_segment(&lists.lists, { 1, 100, 0 });
	rpcrdma_lists_begin_read(&lists.lists, 40);
	rpcrdma_lists_add_segment(&lists.lists, { 2, 200, 0 });
	rpcrdma_lists_add_segment(&lists.lists, { 3, 300, 0 });
	rpcrdma_lists_begin_write(&lists.lists);
	rpcrdma_lists_add_segment(&lists.lists, { 4, 400, 0 });
	rpcrdma_lists_begin_write(&lists.lists);
	rpcrdma_lists_begin_reply(&lists.lists);
	rpcrdma_lists_add_segment(&lists.lists, { 5, 500, 0 });
}

TEST(BuildLists, KeepsChunksInOrder)
{
	Lists lists(5, 5);
	std::vector<rpcrdma_chunk> expected = { { 0, 0, 1, 100 },
						{ 40, 1, 2, 500 },
						{ 0, 3, 1, 400 },
						{ 0, 4, 0, 0 },
						{ 0, 4, 1, 500 } };

	build_all(lists);
	EXPECT_TRUE(lists.chunks() == expected);
	EXPECT_STREQ(check_lists(lists), nullptr);
	EXPECT_EQ(rpcrdma_position_zero_chunk(&lists.lists),
		  &lists.chunk_storage[0]);
	EXPECT_EQ(rpcrdma_write_chunk(&lists.lists, 1),
		  &lists.chunk_storage[3]);
	EXPECT_EQ(rpcrdma_write_chunk(&lists.lists, 2), nullptr);
	EXPECT_EQ(rpcrdma_reply_chunk(&lists.lists), &lists.chunk_storage[4]);
}

TEST(BuildLists, EmptyHasNoChunks)
{
	Lists lists;

	EXPECT_EQ(rpcrdma_position_zero_chunk(&lists.lists), nullptr);
	EXPECT_EQ(rpcrdma_write_chunk(&lists.lists, 0), nullptr);
	EXPECT_EQ(rpcrdma_reply_chunk(&lists.lists), nullptr);
	EXPECT_FALSE(rpcrdma_lists_add_segment(&lists.lists, { 1, 1, 1 }));
}

TEST(BuildLists, StorageIsTheLimit)
{
	Lists lists(5, 5), before(5, 5);

	build_all(lists);
	build_all(before);
	EXPECT_FALSE(rpcrdma_lists_add_segment(&lists.lists, { 6, 1, 0 }));
	EXPECT_TRUE(unchanged(lists, before));

	Lists none(1, 0);

	EXPECT_FALSE(rpcrdma_lists_begin_read(&none.lists, 0));
	EXPECT_FALSE(rpcrdma_lists_begin_write(&none.lists));
	EXPECT_FALSE(rpcrdma_lists_begin_reply(&none.lists));
	EXPECT_EQ(none.nr_chunks(), 0u);
}

/* Requirements 38 and 39: Positions ascend and are multiples of four. */
TEST(BuildLists, OrderIsKept)
{
	Lists lists;

	EXPECT_FALSE(rpcrdma_lists_begin_read(&lists.lists, 6));
	EXPECT_TRUE(rpcrdma_lists_begin_read(&lists.lists, 8));
	EXPECT_FALSE(rpcrdma_lists_begin_read(&lists.lists, 8));
	EXPECT_FALSE(rpcrdma_lists_begin_read(&lists.lists, 4));
	EXPECT_TRUE(rpcrdma_lists_begin_write(&lists.lists));
	EXPECT_FALSE(rpcrdma_lists_begin_read(&lists.lists, 12));
	EXPECT_TRUE(rpcrdma_lists_begin_reply(&lists.lists));
	EXPECT_FALSE(rpcrdma_lists_begin_reply(&lists.lists));
	EXPECT_FALSE(rpcrdma_lists_begin_write(&lists.lists));
	EXPECT_FALSE(rpcrdma_lists_begin_read(&lists.lists, 16));
	EXPECT_EQ(lists.nr_chunks(), 3u);
}

TEST(BuildLists, SumsDoNotWrap)
{
	Lists lists, before;

	for (Lists *each : { &lists, &before }) {
		rpcrdma_lists_begin_write(&each->lists);
		rpcrdma_lists_add_segment(&each->lists, { 1, 0xffffffff, 0 });
	}
	EXPECT_FALSE(rpcrdma_lists_add_segment(&lists.lists, { 2, 1, 0 }));
	EXPECT_FALSE(
		rpcrdma_lists_add_segment(&lists.lists, { 2, 2, ~u64(0) }));
	EXPECT_TRUE(unchanged(lists, before));
	EXPECT_TRUE(rpcrdma_lists_add_segment(&lists.lists, { 2, 0, ~u64(0) }));
}

TEST(Segment, MayEndWithTheAddressSpace)
{
	EXPECT_FALSE(rpcrdma::segment_wraps({ 0, 1, ~u64(0) }));
	EXPECT_TRUE(rpcrdma::segment_wraps({ 0, 2, ~u64(0) }));
	EXPECT_FALSE(rpcrdma::segment_wraps({ 0, 0, ~u64(0) }));
	EXPECT_FALSE(rpcrdma::segment_wraps({ 0, ~0u, ~u64(0) - ~0u + 1 }));
	EXPECT_TRUE(rpcrdma::segment_wraps({ 0, ~0u, ~u64(0) - ~0u + 2 }));
}

struct Written {
	const char *name;
	std::vector<u32> lengths;
};

class SetWritten : public testing::TestWithParam<Written> {};

INSTANTIATE_TEST_SUITE_P(
	ChunkList, SetWritten,
	testing::Values(Written{ "no_segments", {} }, Written{ "one", { 10 } },
			Written{ "several", { 4, 1, 7, 3 } },
			Written{ "with_empty_ones", { 0, 5, 0, 0, 5, 0 } },
			Written{ "sixteen",
				 { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
				   14, 15, 16 } }),
	[](const auto &info) { return std::string(info.param.name); });

/* Requirements 46 to 48, 50 and 57: each number of bytes, against the twin */
TEST_P(SetWritten, IsWhatBytesInOrderGive)
{
	u32 room = 0;

	for (u32 length : GetParam().lengths)
		room += length;
	for (u32 bytes = 0; bytes <= room + 2; bytes++) {
		Lists lists;

		rpcrdma_lists_begin_write(&lists.lists);
		rpcrdma_lists_add_segment(&lists.lists, { 99, 1234, 0 });
		rpcrdma_lists_begin_write(&lists.lists);
		for (u32 length : GetParam().lengths)
			rpcrdma_lists_add_segment(&lists.lists,
						  { length, length, 77 });

		rpcrdma_chunk *chunk = rpcrdma_write_chunk(&lists.lists, 1);
		bool ok = rpcrdma_chunk_set_written(&lists.lists, chunk, bytes);
		auto expected = write_bytes(GetParam().lengths,
					    bytes <= room ? bytes : room);

		EXPECT_EQ(ok, bytes <= room) << bytes;
		EXPECT_EQ(chunk->length, ok ? bytes : room);
		EXPECT_EQ(chunk->count, GetParam().lengths.size());
		EXPECT_EQ(lists.segment_storage[0].length, 1234u);
		for (u32 i = 0; i < chunk->count; i++) {
			const rpcrdma_segment &segment =
				lists.segment_storage[1 + i];

			EXPECT_EQ(segment.length, expected[i])
				<< bytes << " " << i;
			EXPECT_EQ(segment.handle, GetParam().lengths[i]);
			EXPECT_EQ(segment.offset, 77u);
		}
	}
}

TEST(SetWrittenBounds, ChunkOutsideTheSegments)
{
	Lists lists;
	rpcrdma_chunk chunk = { 0, ~0u, 2, 100 };

	EXPECT_TRUE(rpcrdma_chunk_set_written(&lists.lists, &chunk, 0));
	EXPECT_EQ(chunk.length, 0u);
}
