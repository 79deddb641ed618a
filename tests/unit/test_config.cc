// SPDX-License-Identifier: GPL-2.0-only
/* Connection Configuration Protocol: RFC 5666 section 6 */
#include <gtest/gtest.h>

#include <rpcrdma/ccp.h>
#include <rpcrdma/protocol.h>

#include "support/config_check.hh"

static const u32 huge = 0xffffffff;

/* RFC 5666 section 6.2 in an RPC call, RFC 5531 section 9 */
static const char *const call_text = R"(
	c0ffee01	# xid
	00000000	# CALL
	00000002	# RPC version
	00018841	# program 100417
	00000001	# version
	00000001	# CONF_RDMA
	00000000 00000000	# credential: AUTH_NONE
	00000000 00000000	# verifier: AUTH_NONE
	00001000	# maxcall_sendsize 4096
	00002000	# maxreply_sendsize 8192
	00000010	# maxrdmaread 16
	)";

static const char *const reply_text = R"(
	c0ffee01	# xid
	00000001	# REPLY
	00000000	# MSG_ACCEPTED
	00000000 00000000	# verifier: AUTH_NONE
	00000000	# SUCCESS
	00000800	# maxcall_sendsize 2048
	00000004	# align
	00000008	# maxrdmaread 8
	)";

enum {
	PROGRAM = 12,
	VERSION = 16,
	PROCEDURE = 20,
	CREDENTIAL = 24,
	VERIFIER = 32
};

static bool decode(const Bytes &message, rpcrdma_config_call &call)
{
	return rpcrdma_config_call_decode(message.data(), u32(message.size()),
					  &call);
}

static bool is_ours(const Bytes &message)
{
	rpcrdma_config_call call;

	return decode(message, call);
}

static rpcrdma_accept_stat status_of(const Bytes &message)
{
	rpcrdma_config_call call;

	EXPECT_TRUE(decode(message, call));
	return call.status;
}

static Bytes changed(const char *text, size_t at, u32 word)
{
	Bytes message = hex(text);

	set_word(message, at, word);
	return message;
}

static Bytes answer(const Bytes &message, u32 inline_recv, u32 read_depth)
{
	Bytes reply(RPCRDMA_CONFIG_REPLY_SIZE);
	rpcrdma_config_call call;

	EXPECT_TRUE(decode(message, call));
	reply.resize(rpcrdma_config_reply_encode(&call, inline_recv, read_depth,
						 reply.data()));
	return reply;
}

TEST(Config, Call)
{
	rpcrdma_config_request request = { 4096, 8192, 16 };
	Bytes out(RPCRDMA_CONFIG_CALL_SIZE);
	rpcrdma_config_call call;

	EXPECT_EQ(rpcrdma_config_call_encode(0xc0ffee01, &request, out.data()),
		  out.size());
	EXPECT_EQ(out, hex(call_text));
	ASSERT_TRUE(decode(out, call));
	EXPECT_EQ(call.xid, 0xc0ffee01);
	EXPECT_EQ(call.procedure, u32(RPCRDMA_CONFIG_RDMA));
	EXPECT_EQ(call.status, RPCRDMA_SUCCESS);
	EXPECT_EQ(call.request.max_call, 4096u);
	EXPECT_EQ(call.request.max_reply, 8192u);
	EXPECT_EQ(call.request.max_reads, 16u);
}

TEST(Config, Reply)
{
	Bytes message = hex(reply_text);
	u32 max_call;

	EXPECT_EQ(answer(hex(call_text), 2048, 8), message);
	ASSERT_TRUE(rpcrdma_config_reply_decode(
		message.data(), u32(message.size()), 0xc0ffee01, &max_call));
	EXPECT_EQ(max_call, 2048u);
}

/* RFC 5531 section 9: accept_stat, and in which order these are found out */
TEST(Config, RefusedCalls)
{
	Bytes longer = hex(call_text), null = hex(call_text);

	add_word(longer, 0);
	null.resize(40);
	set_word(null, PROCEDURE, 0);
	EXPECT_EQ(status_of(changed(call_text, VERSION, 0)),
		  RPCRDMA_PROG_MISMATCH);
	EXPECT_EQ(status_of(changed(call_text, VERSION, 2)),
		  RPCRDMA_PROG_MISMATCH);
	EXPECT_EQ(status_of(changed(call_text, PROCEDURE, 2)),
		  RPCRDMA_PROC_UNAVAIL);
	EXPECT_EQ(status_of(changed(call_text, PROCEDURE, huge)),
		  RPCRDMA_PROC_UNAVAIL);
	EXPECT_EQ(status_of(longer), RPCRDMA_GARBAGE_ARGS);
	EXPECT_EQ(status_of(prefix(hex(call_text), 48)), RPCRDMA_GARBAGE_ARGS);
	EXPECT_EQ(status_of(null), RPCRDMA_SUCCESS);
	EXPECT_EQ(status_of(changed(call_text, PROCEDURE, 0)),
		  RPCRDMA_GARBAGE_ARGS);
	set_word(longer, PROCEDURE, 9);
	EXPECT_EQ(status_of(longer), RPCRDMA_PROC_UNAVAIL);
	set_word(longer, VERSION, 9);
	EXPECT_EQ(status_of(longer), RPCRDMA_PROG_MISMATCH);
}

TEST(Config, Refusals)
{
	Bytes null = hex(call_text);

	null.resize(40);
	set_word(null, PROCEDURE, 0);
	EXPECT_EQ(answer(null, 4096, 1),
		  hex("c0ffee01 00000001 00000000 00000000 00000000 00000000"));
	EXPECT_EQ(answer(changed(call_text, VERSION, 7), 4096, 1),
		  hex("c0ffee01 00000001 00000000 00000000 00000000 00000002"
		      "00000001 00000001"));
	EXPECT_EQ(answer(changed(call_text, PROCEDURE, 7), 4096, 1),
		  hex("c0ffee01 00000001 00000000 00000000 00000000 00000003"));
	EXPECT_EQ(answer(prefix(hex(call_text), 44), 4096, 1),
		  hex("c0ffee01 00000001 00000000 00000000 00000000 00000004"));
}

/* Other programs, replies, and what SUNRPC has an answer of its own for */
TEST(Config, CallsOfOthers)
{
	EXPECT_FALSE(is_ours(changed(call_text, PROGRAM, 100003)));
	EXPECT_FALSE(is_ours(changed(call_text, 4, 1)));
	EXPECT_FALSE(is_ours(changed(call_text, 4, 2)));
	EXPECT_FALSE(is_ours(changed(call_text, 8, 3)));
	EXPECT_FALSE(is_ours(changed(call_text, CREDENTIAL, 6))); /* GSS */
	EXPECT_FALSE(is_ours(changed(call_text, CREDENTIAL, huge)));
	EXPECT_FALSE(is_ours({}));
}

/* AUTH_SYS with a body of each length, and what cannot be a length */
TEST(Config, Credentials)
{
	for (u32 length = 0; length <= 404; length++) {
		Bytes message = prefix(hex(call_text), CREDENTIAL);
		Bytes rest = hex(call_text);

		add_word(message, RPCRDMA_RPC_AUTH_SYS);
		add_word(message, length);
		message.resize(message.size() + (length + 3) / 4 * 4);
		message.insert(message.end(), rest.begin() + VERIFIER,
			       rest.end());
		EXPECT_EQ(is_ours(message), length <= 400) << length;
		EXPECT_STREQ(check_config(message), nullptr) << length;
	}
	for (u32 length : { 401u, 0x7fffffffu, 0xfffffffcu, huge }) {
		EXPECT_FALSE(
			is_ours(changed(call_text, CREDENTIAL + 4, length)));
		EXPECT_FALSE(is_ours(changed(call_text, VERIFIER + 4, length)));
	}
}

/* What private data allows is never exceeded, and 1024 is always there. */
TEST(Config, Values)
{
	for (u32 agreed : { 1024u, 4096u, 65536u, 262144u })
		for (u32 said : { 0u, 1u, 1023u, 1024u, 3000u, 4096u, 262144u,
				  0x80000000u, huge }) {
			u32 lowered = rpcrdma_config_lower(agreed, said);

			EXPECT_LE(lowered, agreed) << said;
			EXPECT_GE(lowered, 1024u) << said;
			EXPECT_EQ(lowered, said < 1024	 ? 1024 :
					   said > agreed ? agreed :
							   said);
			Bytes message = changed(call_text, 40, said);

			EXPECT_EQ(get_word(answer(message, agreed, 5), 24),
				  lowered);
		}
	/* Reads: 16 are asked for. */
	for (u32 depth : { 0u, 1u, 16u, 17u, 255u })
		EXPECT_EQ(get_word(answer(hex(call_text), 4096, depth), 32),
			  depth < 16 ? depth : 16);
	EXPECT_EQ(get_word(answer(changed(call_text, 48, 0), 4096, 5), 32), 0u);
	EXPECT_EQ(get_word(answer(changed(call_text, 48, huge), 4096, 5), 32),
		  5u);
}

/* Each prefix in an allocation of its own length; each byte changed, each word */
TEST(Config, EachTruncation)
{
	for (const char *text : { call_text, reply_text }) {
		Bytes whole = hex(text);

		for (size_t length = 0; length <= whole.size(); length++)
			EXPECT_STREQ(check_config(prefix(whole, length)),
				     nullptr)
				<< length;
	}
	/* Without its arguments, it is still a call. */
	for (size_t length = 0; length < 52; length++)
		EXPECT_EQ(is_ours(prefix(hex(call_text), length)),
			  length >= 40);
}

TEST(Config, EachCorruptedWord)
{
	for (const char *text : { call_text, reply_text }) {
		Bytes whole = hex(text);

		for (size_t at = 0; at + 4 <= whole.size(); at += 4) {
			for (u32 value : { 0u, 1u, 2u, 3u, 4u, 400u, 401u,
					   0x7fffffffu, 0xfffffffcu, huge })
				EXPECT_STREQ(
					check_config(changed(text, at, value)),
					nullptr)
					<< at << " " << value;
			for (int bit = 0; bit < 32; bit++) {
				Bytes message = hex(text);

				set_word(message, at,
					 get_word(message, at) ^ 1u << bit);
				EXPECT_STREQ(check_config(message), nullptr)
					<< at << " " << bit;
			}
		}
	}
}

static bool answers(const Bytes &message)
{
	u32 max_call = 7;
	bool ok = rpcrdma_config_reply_decode(
		message.data(), u32(message.size()), 0xc0ffee01, &max_call);

	/* What is no answer changes nothing. */
	EXPECT_EQ(max_call != 7, ok);
	return ok;
}

TEST(Config, RepliesThatAnswerNothing)
{
	Bytes whole = hex(reply_text), longer = whole;

	for (size_t length = 0; length < whole.size(); length++)
		EXPECT_FALSE(answers(prefix(whole, length))) << length;
	add_word(longer, 0);
	EXPECT_FALSE(answers(longer));
	EXPECT_FALSE(answers(changed(reply_text, 0, 1))); /* xid */
	EXPECT_FALSE(answers(changed(reply_text, 4, 0))); /* CALL */
	EXPECT_FALSE(answers(changed(reply_text, 8, 1))); /* MSG_DENIED */
	EXPECT_FALSE(answers(changed(reply_text, 16, 4))); /* verifier */
	for (u32 status : { 1u, 2u, 3u, 4u, 5u, huge })
		EXPECT_FALSE(answers(changed(reply_text, 20, status)));
	EXPECT_TRUE(answers(changed(reply_text, 12, 6))); /* any verifier */
	EXPECT_TRUE(answers(changed(reply_text, 24, 1)));
	EXPECT_TRUE(answers(changed(reply_text, 24, huge)));
}
