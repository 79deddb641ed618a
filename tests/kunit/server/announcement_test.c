// SPDX-License-Identifier: GPL-2.0-only
/* What the server announces beside RFC 8797: Documentation/reliable-reply.rst. */
#include <linux/module.h>

#include "server.h"

/**
 * struct announcement_case - a connection, and what is said on it
 * @desc: name
 * @asked: by the client
 * @answer: of the server
 * @invalidates: the server's device has memory management extensions
 * @reads: the client's initiator depth
 * @knob: the administrator's
 * @granted: Reads that the server lets it have; the device does FEW at a time
 */
struct announcement_case {
	const char	*desc;
	u16		asked;
	u16		answer;
	bool		invalidates;
	u8		reads;
	unsigned int	knob;
	u8		granted;
};

enum {
	FEW		= 12,
	ALL_ASKED	= RPCRDMA_EXT_TAKES_READ_CHUNKS | RPCRDMA_EXT_REVERSE_CHUNKS,
	ALL_ANSWERED	= RPCRDMA_EXT_PROVIDES_READ_CHUNKS | RPCRDMA_EXT_REVERSE_CHUNKS,
};

static const struct announcement_case announcement_cases[] = {
	{ "all", ALL_ASKED, ALL_ANSWERED, true, 16, 1, FEW },
	{ "replies", RPCRDMA_EXT_TAKES_READ_CHUNKS, RPCRDMA_EXT_PROVIDES_READ_CHUNKS,
	  true, 1, 1, 1 },
	{ "reverse calls", RPCRDMA_EXT_REVERSE_CHUNKS, RPCRDMA_EXT_REVERSE_CHUNKS,
	  true, 16, 1, FEW },
	{ "nobody has asked", 0, 0, true, 16, 1, 0 },
	{ "what a server says", RPCRDMA_EXT_PROVIDES_READ_CHUNKS, 0, true, 16, 1, 0 },
	{ "the device cannot invalidate", ALL_ASKED, 0, false, 16, 1, 0 },
	{ "a client that does no Reads", ALL_ASKED, 0, true, 0, 1, 0 },
	{ "switched off", ALL_ASKED, 0, true, 16, 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(announcement, announcement_cases, desc);

static void announcement_is_an_answer(struct kunit *test)
{
	const struct announcement_case *c = test->param_value;
	struct server *server = server_create(test);
	const struct rpcrdma_negotiated *agreed;
	struct rpcrdma_cm_private sent;

	/* Arrange */
	server->client.extensions = c->asked;
	server->pull_depth = c->reads;
	if (!c->invalidates)
		server->fake->ib.attrs.device_cap_flags = 0;
	server->fake->ib.attrs.max_qp_rd_atom = FEW;
	svcrdma_reliable_reply = c->knob;

	/* Act */
	server_connect(server);
	svcrdma_reliable_reply = 1;

	/* Assert */
	rpcrdma_cm_private_decode(fake_cm.said.private, fake_cm.said.length, &sent);
	KUNIT_EXPECT_TRUE(test, sent.present);
	KUNIT_EXPECT_EQ(test, c->answer, sent.extensions);
	/* Who is not to read anything cannot. */
	KUNIT_EXPECT_EQ(test, c->granted, fake_cm.said.reads_taken);
	agreed = &server->transport->st_agreed;
	KUNIT_EXPECT_EQ(test, !!(c->answer & RPCRDMA_EXT_PROVIDES_READ_CHUNKS),
			agreed->read_chunk_replies);
	KUNIT_EXPECT_EQ(test, !!(c->answer & RPCRDMA_EXT_REVERSE_CHUNKS),
			agreed->reverse_chunks);
}

static struct kunit_case announcement_test_cases[] = {
	KUNIT_CASE_PARAM(announcement_is_an_answer, announcement_gen_params),
	{}
};

static struct kunit_suite announcement_suite = {
	.name = "svcrdma_announcement",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.test_cases = announcement_test_cases,
};

kunit_test_suite(announcement_suite);
