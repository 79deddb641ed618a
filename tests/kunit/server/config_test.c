// SPDX-License-Identifier: GPL-2.0-only
/* The server answers the Connection Configuration Protocol: RFC 5666 section 6. */
#include <linux/unaligned.h>

#include <rqst_pages.h>

#include "server.h"

enum { XID = 0x33000001, CREDENTIAL = 24, ARGUMENTS = 40, READS = 7 };

static int config_init(struct kunit *test)
{
	struct server *server = server_create(test);

	server->client.send_size = 4096;
	server->client.recv_size = 4096;
	server->read_depth = READS;
	/* With the connection, and not for later ones. */
	svcrdma_answer_config = 1;
	server_connect(server);
	svcrdma_answer_config = 0;
	return 0;
}

struct config_case {
	const char	*desc;
	u32		at;		/* a word of the call, */
	u32		value;		/* and what is there instead */
	u32		length;		/* of the call, if not as it should be */
	bool		passed;		/* to nfsd */
	u32		words;		/* of the reply behind its verifier */
	u32		reply[4];
};

static const struct config_case config_cases[] = {
	{ "what private data says", 40, 4096, 0, false, 4, { 0, 4096, 4, READS } },
	{ "larger", 40, 4097, 0, false, 4, { 0, 4096, 4, READS } },
	{ "huge", 40, U32_MAX, 0, false, 4, { 0, 4096, 4, READS } },
	{ "smaller", 40, 2000, 0, false, 4, { 0, 2000, 4, READS } },
	{ "zero", 40, 0, 0, false, 4, { 0, 1024, 4, READS } },
	{ "fewer Reads", 48, 3, 0, false, 4, { 0, 4096, 4, 3 } },
	{ "more Reads", 48, U32_MAX, 0, false, 4, { 0, 4096, 4, READS } },
	{ "no Reads", 48, 0, 0, false, 4, { 0, 4096, 4, 0 } },
	{ "NULL procedure", 20, 0, 40, false, 1, { 0 } },
	{ "NULL procedure with arguments", 20, 0, 0, false, 1, { 4 } },
	{ "version 0", 16, 0, 0, false, 3, { 2, 1, 1 } },
	{ "version 2", 16, 2, 0, false, 3, { 2, 1, 1 } },
	{ "procedure 2", 20, 2, 0, false, 1, { 3 } },
	{ "no arguments", 20, 1, 40, false, 1, { 4 } },
	{ "two arguments", 20, 1, 48, false, 1, { 4 } },
	{ "four arguments", 20, 1, 56, false, 1, { 4 } },
	{ "another program", 12, 100003, .passed = true },
	{ "RPC version 3", 8, 3, .passed = true },
	{ "GSS", CREDENTIAL, 6, .passed = true },
	{ "credential too long", CREDENTIAL + 4, 404, .passed = true },
	{ "credential beyond the end", CREDENTIAL + 4, 100, .passed = true },
	{ "verifier beyond the end", CREDENTIAL + 12, 400, .passed = true },
};

KUNIT_ARRAY_PARAM_DESC(config, config_cases, desc);

/* What the client says: 4096 bytes each way, and 16 Reads. */
static u32 put_call(u8 *to)
{
	static const struct rpcrdma_config_request request = { 4096, 4096, 16 };

	return rpcrdma_config_call_encode(XID, &request, to);
}

static void deliver(struct server *server, const void *rpc, u32 length)
{
	struct rpcrdma_header header = { .xid = XID, .vers = 1, .credits = 32 };
	u8 message[128] = {};

	rpcrdma_header_encode(&header, NULL, message, sizeof(message));
	memcpy(message + header.size, rpc, length);
	KUNIT_ASSERT_TRUE(server->test, fake_deliver(server->qp, message,
						     header.size + length));
}

static void deliver_case(struct server *server, const struct config_case *c)
{
	u8 call[64] = {};
	u32 length = put_call(call);

	put_unaligned_be32(c->value, call + c->at);
	deliver(server, call, c->length ?: length);
}

static void expect_words(struct server *server, u32 size, const u32 *words, u32 count)
{
	const u8 *reply = fake_message(fake_last_wr(server->qp)) + size;
	struct kunit *test = server->test;
	u32 i;

	/* The sixth is the status. */
	static const u32 accepted[5] = { XID, RPCRDMA_RPC_REPLY };

	KUNIT_ASSERT_EQ(test, size + sizeof(accepted) + 4 * count,
			fake_last_wr(server->qp)->sge[0].length);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, accepted[i], get_unaligned_be32(reply + 4 * i));
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_EQ_MSG(test, words[i], get_unaligned_be32(reply + 20 + 4 * i),
				    "word %u", i);
}

static void config_call_is_answered(struct kunit *test)
{
	const struct config_case *c = test->param_value;
	struct server *server = server_of(test);
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_header header;

	deliver_case(server, c);
	if (c->passed) {
		KUNIT_EXPECT_EQ(test, RPCRDMA_CONFIG_CALL_SIZE, server_receive_all(server));
		KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
		server_done(server);
	} else {
		KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));
		KUNIT_ASSERT_EQ(test, 1, fake_posted(server->qp));
		rpcrdma_lists_init(&lists, NULL, 0, NULL, 0);
		server_decode_reply(server, &header, &lists);
		KUNIT_EXPECT_EQ(test, RPCRDMA_MSG, header.proc);
		KUNIT_EXPECT_EQ(test, server->transport->st_credits, header.credits);
		expect_words(server, header.size, c->reply, c->words);
		KUNIT_EXPECT_PTR_EQ(test, NULL, server->rqst->rq_xprt_ctxt);
		KUNIT_EXPECT_TRUE(test, compat_rqst_released(server->rqst));
		/* SUNRPC would say that it is more than was reserved. */
		KUNIT_EXPECT_EQ(test, 0, server->rqst->rq_res.len);
	}
	server_expect_at_rest(server);
}

/* nfsd says PROG_UNAVAIL. */
static void config_is_off(struct kunit *test)
{
	struct server *server = server_of(test);

	server_disconnect(server);
	server_connect(server);
	deliver_case(server, &config_cases[0]);
	KUNIT_EXPECT_EQ(test, RPCRDMA_CONFIG_CALL_SIZE, server_receive_all(server));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	server_done(server);
	server_expect_at_rest(server);
}

/* Chunks come back unused, also where the call itself was in one. */
static void config_call_with_chunks(struct kunit *test)
{
	struct rpcrdma_segment segment = { 0x77, 1024, 0x1000 }, segments[4];
	struct rpcrdma_header header = { .xid = XID, .vers = 1, .credits = 32,
					 .proc = RPCRDMA_NOMSG };
	struct server *server = server_of(test);
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_chunk chunks[4];
	static u8 call[64];
	u8 message[256];

	/* Arrange */
	fake_remote_add(server->fake, 0x55, 0, call, put_call(call));
	rpcrdma_lists_init(&lists, segments, 4, chunks, 4);
	rpcrdma_lists_begin_read(&lists, 0);
	rpcrdma_lists_add_segment(&lists, (struct rpcrdma_segment) { 0x55, 52, 0 });
	rpcrdma_lists_begin_write(&lists);
	rpcrdma_lists_add_segment(&lists, segment);
	rpcrdma_lists_begin_reply(&lists);
	rpcrdma_lists_add_segment(&lists, segment);
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK, rpcrdma_header_encode(&header, &lists, message,
								sizeof(message)));
	/* Act */
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, message, header.size));
	KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));

	/* Assert: a Read, and the reply */
	KUNIT_EXPECT_EQ(test, 2, fake_posted(server->qp));
	server_decode_reply(server, &header, &lists);
	KUNIT_EXPECT_EQ(test, RPCRDMA_MSG, header.proc);
	KUNIT_EXPECT_EQ(test, 1, lists.nr_write);
	KUNIT_EXPECT_EQ(test, 0, rpcrdma_write_chunk(&lists, 0)->length);
	KUNIT_EXPECT_EQ(test, 1, lists.nr_reply);
	KUNIT_EXPECT_EQ(test, 0, rpcrdma_reply_chunk(&lists)->length);
	expect_words(server, header.size, config_cases[0].reply, 4);
	server_expect_at_rest(server);
}

/* nfsd answers a call with so many bytes. */
static enum rpcrdma_proc answer_of(struct server *server, u32 length)
{
	struct rpcrdma_header header = { .xid = XID, .vers = 1, .credits = 32 };
	struct rpcrdma_segment segment = { 0x99, 8192, 0 }, segments[2];
	struct svc_rqst *rqst = server->rqst;
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_chunk chunks[2];
	struct kunit *test = server->test;
	static u8 memory[8192];
	u8 message[256] = {};

	server->fake->nr_remotes = 0;
	fake_remote_add(server->fake, 0x99, 0, memory, sizeof(memory));
	rpcrdma_lists_init(&lists, segments, 2, chunks, 2);
	rpcrdma_lists_begin_reply(&lists);
	rpcrdma_lists_add_segment(&lists, segment);
	rpcrdma_header_encode(&header, &lists, message, sizeof(message));
	put_unaligned_be32(XID, message + header.size);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, message, header.size + 60));
	KUNIT_ASSERT_EQ(test, 60, server_receive_all(server));

	rqst->rq_next_page = rqst->rq_respages + 1;
	rqst->rq_res = (struct xdr_buf) {
		.head[0] = { page_address(rqst->rq_respages[0]), length },
		.len = length,
	};
	fake_fill(rqst->rq_res.head[0].iov_base, length);
	put_unaligned_be32(XID, rqst->rq_res.head[0].iov_base);
	KUNIT_EXPECT_EQ(test, 0, svcrdma_sendto(rqst));
	server_done(server);
	server_settle(server);
	server_decode_reply(server, &header, &lists);
	return header.proc;
}

/* maxreply_sendsize: a header with a Reply chunk of one segment has 48 bytes. */
static void config_lowers_replies(struct kunit *test)
{
	static const struct {
		u32 said, size;
	} sizes[] = {
		{ 2048, 2048 }, { 1500, 1500 }, { 0, 1024 }, { 100, 1024 }, { 4096, 4096 },
		{ U32_MAX, 4096 },
	};
	struct server *server = server_of(test);
	struct config_case c = { .at = 44 };
	int i;

	KUNIT_EXPECT_EQ(test, RPCRDMA_MSG, answer_of(server, 4096 - 48));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		c.value = sizes[i].said;
		deliver_case(server, &c);
		KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));
		server_settle(server);
		KUNIT_EXPECT_EQ(test, RPCRDMA_MSG, answer_of(server, sizes[i].size - 48));
		if (sizes[i].size < 4096)
			KUNIT_EXPECT_EQ(test, RPCRDMA_NOMSG,
					answer_of(server, sizes[i].size - 44));
	}
	/* What is refused changes nothing. */
	c = (struct config_case) { .at = 44, .value = 1024, .length = 48 };
	deliver_case(server, &c);
	KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));
	KUNIT_EXPECT_EQ(test, 4096, server->transport->st_inline_send);
	server_expect_at_rest(server);
}

static void config_answer_cannot_be_sent(struct kunit *test)
{
	struct server *server = server_of(test);

	server->qp->accept = 0;
	deliver_case(server, &config_cases[0]);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	KUNIT_EXPECT_PTR_EQ(test, NULL, server->rqst->rq_xprt_ctxt);
	server->qp->accept = -1;
}

static struct kunit_case config_kunit_cases[] = {
	KUNIT_CASE_PARAM(config_call_is_answered, config_gen_params),
	KUNIT_CASE(config_is_off),
	KUNIT_CASE(config_call_with_chunks),
	KUNIT_CASE(config_lowers_replies),
	KUNIT_CASE(config_answer_cannot_be_sent),
	{}
};

static struct kunit_suite config_suite = {
	.name = "svcrdma_config",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = config_init,
	.test_cases = config_kunit_cases,
};

kunit_test_suite(config_suite);
