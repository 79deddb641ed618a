// SPDX-License-Identifier: GPL-2.0-only
/* What may be reduced in a call: RFC 8166 section 6.1, RFC 8267 */
#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

#include "support/hex.hh"
#include "rpcrdma/rpc_message.h"

static Bytes call(u32 program, u32 version, u32 procedure)
{
	Bytes bytes;

	for (u32 word :
	     { 7u, 0u, 2u, program, version, procedure, 0u, 0u, 0u, 0u })
		add_word(bytes, word);
	return bytes;
}

static u32 reducible_from(const Bytes &bytes, bool &known)
{
	return rpcrdma_call_reducible_from(bytes.data(), u32(bytes.size()),
					   &known);
}

static bool may_reduce(const Bytes &bytes, bool &known)
{
	return reducible_from(bytes, known) != 0;
}

/* A WRITE of NFSv3 with such a credential and verifier, and a word of arguments */
static Bytes authenticated(u32 flavor, const std::vector<u32> &credential,
			   u32 verifier_length)
{
	Bytes bytes;

	for (u32 word : { 7u, 0u, 2u, 100003u, 3u, 7u, flavor,
			  u32(4 * credential.size()) })
		add_word(bytes, word);
	for (u32 word : credential)
		add_word(bytes, word);
	add_word(bytes, flavor);
	add_word(bytes, verifier_length);
	bytes.resize(bytes.size() + (verifier_length + 3) / 4 * 4 + 4);
	return bytes;
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

/* The header has to be there: it is never reduced. */
TEST(Eligible, CallsThatEndTooSoon)
{
	for (u32 program : { 100003u, 4711u }) {
		Bytes whole = call(program, 3, 7);
		bool known;

		EXPECT_EQ(reducible_from(whole, known), 40u);
		for (size_t size = 0; size < 40; size++) {
			Bytes bytes(whole.begin(), whole.begin() + long(size));

			EXPECT_EQ(reducible_from(bytes, known), 0u);
		}
	}
}

TEST(Eligible, NothingOfTheHeader)
{
	bool known;

	EXPECT_EQ(reducible_from(authenticated(0, {}, 0), known), 40u);
	EXPECT_EQ(reducible_from(authenticated(1, { 1, 0, 0, 0, 0 }, 0), known),
		  60u);
	EXPECT_EQ(reducible_from(authenticated(6, { 1, 0, 5, 1, 4, 9 }, 37),
				 known),
		  24u + 8 + 24 + 8 + 40);
	/* A length that goes round */
	Bytes bytes = authenticated(1, { 1, 0, 0, 0, 0 }, 0);

	for (u32 at : { 28u, 56u }) {
		Bytes wrong = bytes;

		for (u32 i = 0; i < 4; i++)
			wrong[at + i] = 0xff;
		EXPECT_EQ(reducible_from(wrong, known), 0u);
	}
}

/* RFC 8166 section 8.2.2 */
TEST(Eligible, NothingUnderProtection)
{
	bool known;

	for (u32 service : { 0u, 1u, 2u, 3u, 4u })
		EXPECT_EQ(may_reduce(authenticated(6, { 1, 0, 5, service, 0 },
						   37),
				     known),
			  service == 1)
			<< service;
	/* No service in the credential: what follows it is none, whatever it says. */
	Bytes bytes = authenticated(6, { 1, 0, 5 }, 0);

	EXPECT_FALSE(may_reduce(bytes, known));
	bytes[47] = 1;
	EXPECT_FALSE(may_reduce(bytes, known));
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
