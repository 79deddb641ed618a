// SPDX-License-Identifier: GPL-2.0-only
/* RFC 8166 section 3.4.5 */
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include <rpcrdma/chunk_list.h>

#include "support/decoded.hh"

/* A byte of the message: 'i' inline, 'p' padding, or chunk number n; and which of it */
struct Byte {
	int source;
	u32 index;

	bool operator==(const Byte &other) const
	{
		return source == other.source && index == other.index;
	}
};

using Message = std::vector<Byte>;

class Pieces : public testing::Test {
    protected:
	void read(u32 position, u32 length)
	{
		ASSERT_TRUE(rpcrdma_lists_begin_read(&given.lists, position));
		ASSERT_TRUE(rpcrdma_lists_add_segment(&given.lists,
						      { 1, length, 0 }));
	}

	/* False: it does not go together. */
	bool walk(u32 inline_length, u32 limit = 10000)
	{
		rpcrdma_pieces pieces;
		rpcrdma_piece piece;
		int found;

		message.clear();
		rpcrdma_pieces_start(&pieces, &given.lists, inline_length,
				     limit);
		while ((found = rpcrdma_pieces_next(&pieces, &piece)) > 0)
			take(piece);
		EXPECT_EQ(rpcrdma_pieces_measure(&given.lists, inline_length,
						 limit, &length),
			  !found);
		EXPECT_EQ(length, found ? 0 : message.size());
		return !found;
	}

	void take(const rpcrdma_piece &piece)
	{
		int source = 'p';

		if (piece.source == RPCRDMA_PIECE_INLINE)
			source = 'i';
		if (piece.source == RPCRDMA_PIECE_CHUNK)
			source = int(piece.chunk - given.lists.chunks);
		EXPECT_EQ(piece.chunk != nullptr,
			  piece.source == RPCRDMA_PIECE_CHUNK);
		EXPECT_EQ(piece.to, message.size());
		for (u32 i = 0; i < piece.length; i++)
			message.push_back({ source, piece.from + i });
	}

	/* The same, byte for byte. */
	bool assemble(u32 inline_length, u32 limit)
	{
		const rpcrdma_chunk_lists &lists = given.lists;
		const rpcrdma_chunk *zero = rpcrdma_position_zero_chunk(&lists);
		u32 base_size = zero ? zero->length : inline_length;
		u32 used = 0;

		expected.clear();
		for (u32 n = zero ? 1 : 0; n < lists.nr_read; n++) {
			while (expected.size() < lists.chunks[n].position &&
			       used < base_size)
				expected.push_back({ zero ? 0 : 'i', used++ });
			if (expected.size() != lists.chunks[n].position)
				return false;
			for (u32 i = 0; i < lists.chunks[n].length; i++)
				expected.push_back({ int(n), i });
			for (u32 i = 0; expected.size() % 4; i++)
				expected.push_back({ 'p', i });
		}
		while (used < base_size)
			expected.push_back({ zero ? 0 : 'i', used++ });
		return expected.size() <= limit;
	}

	Lists given;
	Message message, expected;
	u32 length = 0;
};

TEST_F(Pieces, NothingButInline)
{
	EXPECT_TRUE(walk(5));
	EXPECT_EQ(message, (Message{ { 'i', 0 },
				     { 'i', 1 },
				     { 'i', 2 },
				     { 'i', 3 },
				     { 'i', 4 } }));
	EXPECT_TRUE(walk(0));
	EXPECT_EQ(length, 0u);
}

TEST_F(Pieces, ChunkAndPaddingBetweenInlineParts)
{
	read(4, 3);
	EXPECT_TRUE(walk(5));
	EXPECT_EQ(message, (Message{ { 'i', 0 },
				     { 'i', 1 },
				     { 'i', 2 },
				     { 'i', 3 },
				     { 0, 0 },
				     { 0, 1 },
				     { 0, 2 },
				     { 'p', 0 },
				     { 'i', 4 } }));
}

TEST_F(Pieces, ItemOutOfAPositionZeroChunk)
{
	read(0, 8);
	read(4, 4);
	EXPECT_TRUE(walk(100));
	EXPECT_EQ(length, 12u);
	EXPECT_EQ(message[3], (Byte{ 0, 3 }));
	EXPECT_EQ(message[4], (Byte{ 1, 0 }));
	EXPECT_EQ(message[8], (Byte{ 0, 4 }));
}

TEST_F(Pieces, PositionZeroChunkIsNotPadded)
{
	read(0, 9);
	EXPECT_TRUE(walk(0));
	EXPECT_EQ(length, 9u);
}

TEST_F(Pieces, EmptyChunkAddsNothing)
{
	read(4, 0);
	EXPECT_TRUE(walk(8));
	EXPECT_EQ(length, 8u);
}

TEST_F(Pieces, AtTheLimit)
{
	read(4, 3);
	EXPECT_TRUE(walk(8, 12));
	EXPECT_FALSE(walk(8, 11));
	EXPECT_FALSE(walk(4, 7));
}

TEST_F(Pieces, BaseThatEndsBeforeAPosition)
{
	read(8, 4);
	EXPECT_TRUE(walk(8));
	EXPECT_FALSE(walk(7));
}

TEST_F(Pieces, ChunksThatOverlap)
{
	read(4, 9);
	read(12, 4);
	EXPECT_FALSE(walk(100));
}

TEST_F(Pieces, LengthsThatAreHostile)
{
	read(4, 0xffffffff);
	EXPECT_FALSE(walk(4, 0xffffffff));
	EXPECT_FALSE(walk(0xffffffff, 0xffffffff));
}

TEST_F(Pieces, PositionsThatAreHostile)
{
	read(0xfffffffc, 4);
	/* Not walk(): it would take all of the bytes. */
	EXPECT_FALSE(rpcrdma_pieces_measure(&given.lists, 0xfffffffc,
					    0xffffffff, &length));
	EXPECT_FALSE(
		rpcrdma_pieces_measure(&given.lists, 4, 0xffffffff, &length));
}

class PiecesTwin : public Pieces {
    protected:
	void chunks(std::mt19937 &random)
	{
		u32 position = random() % 3 ? 4 + 4 * (random() % 8) : 0;

		given.lists.nr_segments = given.lists.nr_read = 0;
		for (u32 n = 1 + random() % 3; n; n--) {
			u32 size = random() % 40, end = position;

			read(position, size);
			end += position ? (size + 3) / 4 * 4 : 0;
			/* Now and then the next one begins too early. */
			if (random() % 8)
				end += 4 * (random() % 6);
			else
				end -= std::min(end, 4u);
			position = std::max(end, position + 4);
		}
	}
};

TEST_F(PiecesTwin, AsPutTogetherByBytes)
{
	std::mt19937 random(1);
	int accepted = 0;

	for (int round = 0; round < 20000; round++) {
		u32 inline_length = random() % 80;

		chunks(random);
		bool fits = assemble(inline_length, 120);

		ASSERT_EQ(walk(inline_length, 120), fits);
		ASSERT_TRUE(!fits || message == expected);
		accepted += fits;
	}
	EXPECT_GT(accepted, 2000);
	EXPECT_LT(accepted, 18000);
}
