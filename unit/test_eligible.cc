// SPDX-License-Identifier: GPL-2.0
/* What may be reduced in a call: RFC 8166 section 6.1, RFC 8267 */
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "support/hex.hh"
#include "rpcrdma/codec.h"

static Bytes call(u32 program, u32 version, u32 procedure)
{
	Bytes bytes;

	for (u32 word :
	     { 7u, 0u, 2u, program, version, procedure, 0u, 0u, 0u, 0u })
		add_word(bytes, word);
	return bytes;
}

static bool may_reduce(const Bytes &bytes, bool &known)
{
	return rpcrdma_call_may_reduce(bytes.data(), u32(bytes.size()), &known);
}

/* The whole list, once more: WRITE and SYMLINK, and what COMPOUNDs are made of */
TEST(Eligible, ProceduresOfNfs)
{
	const std::set<std::tuple<u32, u32>> eligible = {
		{ 2, 8 }, { 2, 13 }, { 3, 7 }, { 3, 10 }, { 4, 1 },
	};

	for (u32 version = 0; version < 6; version++)
		for (u32 procedure = 0; procedure < 24; procedure++) {
			bool known = false;

			EXPECT_EQ(may_reduce(call(100003, version, procedure),
					     known),
				  eligible.count({ version, procedure }) == 1)
				<< version << " " << procedure;
			EXPECT_TRUE(known);
		}
}

TEST(Eligible, NothingOfNfsAcl)
{
	bool known = false;

	for (u32 procedure = 0; procedure < 6; procedure++)
		EXPECT_FALSE(may_reduce(call(100227, 3, procedure), known));
	EXPECT_TRUE(known);
}

TEST(Eligible, OtherProgramsAreTheirOwnBusiness)
{
	bool known = true;

	EXPECT_TRUE(may_reduce(call(100005, 3, 1), known));
	EXPECT_FALSE(known);
}

TEST(Eligible, CallsThatEndTooSoon)
{
	Bytes whole = call(100003, 3, 1);

	for (size_t size = 0; size < 24; size++) {
		Bytes bytes(whole.begin(), whole.begin() + long(size));
		bool known = true;

		EXPECT_TRUE(may_reduce(bytes, known));
		EXPECT_FALSE(known);
	}
}

TEST(Eligible, ChunkWithOrWithoutItsPadding)
{
	EXPECT_TRUE(rpcrdma_chunk_is_item(0, 0));
	EXPECT_TRUE(rpcrdma_chunk_is_item(5, 5));
	EXPECT_TRUE(rpcrdma_chunk_is_item(5, 7));
	EXPECT_TRUE(rpcrdma_chunk_is_item(5, 8));
	EXPECT_TRUE(rpcrdma_chunk_is_item(8, 8));
	EXPECT_FALSE(rpcrdma_chunk_is_item(5, 4));
	EXPECT_FALSE(rpcrdma_chunk_is_item(5, 9));
	EXPECT_FALSE(rpcrdma_chunk_is_item(8, 9));
	EXPECT_FALSE(rpcrdma_chunk_is_item(0, 1));
	EXPECT_TRUE(rpcrdma_chunk_is_item(0xffffffff, 0xffffffff));
	EXPECT_FALSE(rpcrdma_chunk_is_item(0xffffffff, 0));
}
