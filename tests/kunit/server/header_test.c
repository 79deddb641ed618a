// SPDX-License-Identifier: GPL-2.0-only
/* Messages whose header is wrong, or from another version, or obsolete. */
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "server.h"

enum { XID = 0x30000001 };

static int header_init(struct kunit *test)
{
	server_connect(server_create(test));
	return 0;
}

/**
 * struct header_case - a message whose header is wrong
 * @desc: how
 * @words: of the header, and the first ones of what follows
 */
struct header_case {
	const char	*desc;
	u32		words[16];
};

#define SEGMENT		0x1000, 4096, 0, 0

/* RFC 8166 section 4.5.2 */
static const struct header_case bad_header_cases[] = {
	{ "procedure 5", { XID, 1, 32, 5, 0, 0, 0, XID } },
	{ "procedure 2^32 - 1", { XID, 1, 32, 0xffffffff, 0, 0, 0, XID } },
	{ "RDMA_NOMSG without lists", { XID, 1, 32, RPCRDMA_NOMSG, 0, 0, 0, XID } },
	{ "XID of the payload", { XID, 1, 32, RPCRDMA_MSG, 0, 0, 0, XID + 1 } },
	{ "Read list discriminator 2", { XID, 1, 32, RPCRDMA_MSG, 2, 0, 0, XID } },
	{ "Write list discriminator 2", { XID, 1, 32, RPCRDMA_MSG, 0, 2, 0, XID } },
	{ "Reply chunk discriminator 2", { XID, 1, 32, RPCRDMA_MSG, 0, 0, 2, XID } },
	{ "Position 6", { XID, 1, 32, RPCRDMA_MSG, 1, 6, SEGMENT, 0, 0, 0, XID } },
	{ "Read list without an end", { XID, 1, 32, RPCRDMA_NOMSG, 1, 0, SEGMENT,
					1, 0, SEGMENT } },
	{ "segment count 2^32 - 1", { XID, 1, 32, RPCRDMA_MSG, 0, 1, 0xffffffff, SEGMENT } },
	{ "lengths that add up to 2^32", { XID, 1, 32, RPCRDMA_NOMSG, 0, 0, 1, 2, 1,
					   0xffffffff, 0, 0, 1, 1, 0, 0 } },
	{ "segment beyond the address space", { XID, 1, 32, RPCRDMA_NOMSG, 0, 0, 1, 1, 1, 2,
						0xffffffff, 0xffffffff } },
};

KUNIT_ARRAY_PARAM_DESC(bad_header, bad_header_cases, desc);

/* A header, and zeros to make up for the shortest of calls. */
static void deliver_words(struct server *server, const struct header_case *c)
{
	u8 message[ARRAY_SIZE(c->words) * 4];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(c->words); i++)
		put_unaligned_be32(c->words[i], message + 4 * i);
	KUNIT_ASSERT_TRUE(server->test, fake_deliver(server->qp, message, sizeof(message)));
}

static void header_that_is_bad_gets_err_chunk(struct kunit *test)
{
	struct server *server = server_of(test);

	deliver_words(server, test->param_value);
	KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));
	KUNIT_EXPECT_EQ(test, 1, fake_posted(server->qp));
	server_expect_error(server, XID, RPCRDMA_ERR_CHUNK);
	server_expect_at_rest(server);
}

/* More than there is room for, though each is good: RFC 8267 section 6.4.2 */
static void header_with_too_many_chunks(struct kunit *test)
{
	struct server *server = server_of(test);
	u32 chunks = server->transport->st_max_chunks + 1, at = 20, i;
	u8 *message = kunit_kzalloc(test, SERVER_MESSAGE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, message);
	put_unaligned_be32(XID, message);
	put_unaligned_be32(1, message + 4);
	put_unaligned_be32(32, message + 8);
	for (i = 0; i < chunks; i++, at += 8)
		put_unaligned_be32(1, message + at);
	put_unaligned_be32(XID, message + at + 8);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, message, at + 8 + 40));
	KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));
	server_expect_error(server, XID, RPCRDMA_ERR_CHUNK);
	server_expect_at_rest(server);
}

/* RFC 8166 section 4.5.4 */
static void header_whose_error_cannot_be_sent(struct kunit *test)
{
	struct server *server = server_of(test);

	server->qp->accept = 0;
	deliver_words(server, &bad_header_cases[0]);
	KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	server->qp->accept = -1;
}

static const struct header_case version_cases[] = {
	{ "version 0", { XID, 0, 32, RPCRDMA_MSG, 0, 0, 0, XID } },
	{ "version 2", { XID, 2, 32, RPCRDMA_MSG, 0, 0, 0, XID } },
	{ "version 2 and what it has for lists", { XID, 2, 32, 7, 99, 99, 99, 99 } },
	{ "version 2^32 - 1", { XID, 0xffffffff, 32, RPCRDMA_MSG, 0, 0, 0, XID } },
};

KUNIT_ARRAY_PARAM_DESC(version, version_cases, desc);

/* RFC 8166 sections 4.5 and 4.5.1: the call's version, and the range of ours */
static void header_of_another_version_gets_err_vers(struct kunit *test)
{
	const struct header_case *c = test->param_value;
	struct server *server = server_of(test);
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_header header;

	deliver_words(server, c);
	KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));
	server_expect_error(server, XID, RPCRDMA_ERR_VERS);
	rpcrdma_lists_init(&lists, NULL, 0, NULL, 0);
	server_decode_reply(server, &header, &lists);
	KUNIT_EXPECT_EQ(test, c->words[1], header.vers);
	KUNIT_EXPECT_EQ(test, 1, header.vers_low);
	KUNIT_EXPECT_EQ(test, 1, header.vers_high);
	server_expect_at_rest(server);
}

/* RFC 8166 section 4.6.2: more of them than there are Receives, and none is lost. */
static void header_flood_of_dones(struct kunit *test)
{
	static const struct header_case done = { "", { XID, 1, 32, RPCRDMA_DONE } };
	struct server *server = server_of(test);
	int i;

	for (i = 0; i < 1000; i++) {
		deliver_words(server, &done);
		KUNIT_ASSERT_EQ(test, 0, server_receive_all(server));
	}
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	server_expect_at_rest(server);
}

/* Nor does it go on for ever, unless there are calls. Each of these is answered, or not. */
static void header_noise_ends_the_connection(struct kunit *test)
{
	static const struct header_case noise[] = {
		{ "", { XID, 1, 32, RPCRDMA_DONE } },
		{ "", { XID, 1, 32, RPCRDMA_ERROR, RPCRDMA_ERR_CHUNK } },
		{ "", { XID, 1, 32, RPCRDMA_MSG, 0, 0, 0, XID, RPCRDMA_RPC_REPLY } },
		{ "", { XID, 1, 32, 5, 0, 0, 0, XID } },
		{ "", { XID, 2, 32, RPCRDMA_MSG, 0, 0, 0, XID } },
	};
	struct server *server = server_of(test);
	int i, n;

	server->qp->automatic = true;
	for (n = 0; n < 2; n++) {
		for (i = 1; i < SVCRDMA_MAX_UNEXPECTED; i++) {
			deliver_words(server, &noise[i % ARRAY_SIZE(noise)]);
			KUNIT_ASSERT_EQ(test, 0, server_receive_all(server));
		}
		KUNIT_ASSERT_FALSE(test, READ_ONCE(server->transport->st_closing));
		if (n)
			break;
		server_deliver(server, CALL_PLAIN);
		KUNIT_ASSERT_LT(test, 0, server_recvfrom(server));
		server_done(server);
	}
	deliver_words(server, &noise[0]);
	KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
}

static struct kunit_case header_kunit_cases[] = {
	KUNIT_CASE_PARAM(header_that_is_bad_gets_err_chunk, bad_header_gen_params),
	KUNIT_CASE(header_with_too_many_chunks),
	KUNIT_CASE(header_whose_error_cannot_be_sent),
	KUNIT_CASE_PARAM(header_of_another_version_gets_err_vers, version_gen_params),
	KUNIT_CASE(header_flood_of_dones),
	KUNIT_CASE(header_noise_ends_the_connection),
	{}
};

static struct kunit_suite header_suite = {
	.name = "svcrdma_header",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = header_init,
	.test_cases = header_kunit_cases,
};

kunit_test_suite(header_suite);
