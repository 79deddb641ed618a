// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls as a server receives them: for each mix of chunks rq_arg has to hold the RPC call that the
 * client has taken apart, and the server has to refuse a message that is no call.
 */
#include <linux/unaligned.h>

#include "call.h"

static const struct call_case call_cases[] = {
	{ "inline", 200 },
	{ "inline, smallest", 40 },
	{ "inline, a page", PAGE_SIZE },
	{ "inline, a word more than a page", PAGE_SIZE + 4 },
	{ "inline, largest", SERVER_MESSAGE - 28 },
	{ "item at the end, 0", 160 + 8192, 0, { { 160, 8192, 1 } } },
	{ "item at the end, 1", 160 + 8196, 0, { { 160, 8193, 1 } } },
	{ "item at the end, 2", 160 + 8196, 0, { { 160, 8194, 1 } } },
	{ "item at the end, 3", 160 + 8196, 0, { { 160, 8195, 1 } } },
	{ "item and tail, 0", 160 + 8192 + 40, 0, { { 160, 8192, 1 } } },
	{ "item and tail, 1", 160 + 8196 + 40, 0, { { 160, 8193, 1 } } },
	{ "item and tail, 2", 160 + 8196 + 40, 0, { { 160, 8194, 1 } } },
	{ "item and tail, 3", 160 + 8196 + 40, 0, { { 160, 8195, 1 } } },
	{ "item of one byte", 160 + 4 + 40, 0, { { 160, 1, 1 } } },
	{ "item of no byte", 160 + 40, 0, { { 160, 0, 1 } } },
	{ "item with its padding in the segment", 160 + 8196 + 40, 0, { { 160, 8196, 1 } } },
	/* Six bytes, and two */
	{ "item with its padding in a segment of its own", 160 + 8 + 40, 0, { { 160, 8, 2 } } },
	{ "item in five pieces", 160 + 20000 + 40, 0, { { 160, 19999, 5 } } },
	{ "item of 1 MiB", 160 + (1 << 20), 0, { { 160, 1 << 20, 16 } } },
	{ "item of 1 MiB and tail", 160 + (1 << 20) + 3000, 0, { { 160, 1 << 20, 16 } } },
	{ "item that ends in a page, tail in two", 160 + 8000 + 2000, 0,
	  { { 160, 7999, 1 } } },
	{ "item of four bytes, long tail", 160 + 4 + 2996, 0, { { 160, 4, 1 } } },
	{ "item of no byte, long tail", 160 + 3000, 0, { { 160, 0, 1 } } },
	{ "item right behind the RPC header", 40 + 1000, 0, { { 40, 1000, 1 } } },
	{ "item behind a page", 4096 + 8196 + 40, 0, { { 4096, 8193, 1 } } },
	{ "item behind more than a page", 4100 + 8196 + 40, 0, { { 4100, 8193, 1 } } },
	{ "two items", 160 + 5000 + 40 + 6000 + 80, 0,
	  { { 160, 4998, 2 }, { 160 + 5000 + 40, 5997, 1 } } },
	{ "two items side by side", 160 + 5000 + 6000, 0,
	  { { 160, 5000, 1 }, { 5160, 6000, 2 } } },
	{ "three items", 100 + 4 + 8 + 4 + 8 + 4, 0,
	  { { 100, 1, 1 }, { 112, 2, 1 }, { 124, 3, 1 } } },
	{ "Position Zero", 5000, 1 },
	{ "Position Zero, short", 40, 1 },
	{ "Position Zero in seven pieces", 30000, 7 },
	{ "Position Zero of three pages exactly", 12288, 1 },
	{ "Position Zero and an item", 3000 + 9000 + 500, 2, { { 3000, 8999, 3 } } },
	{ "16 segments in each Read chunk", 3000 + 20000 + 500, 16, { { 3000, 19999, 16 } } },
	{ "Position Zero and two items", 3000 + 4 + 100 + 9000, 1,
	  { { 3000, 2, 1 }, { 3104, 8997, 3 } } },
};

KUNIT_ARRAY_PARAM_DESC(call, call_cases, desc);

static void call_is_seen_by_nfsd(struct kunit *test)
{
	const struct call_case *c = test->param_value;
	struct server *server = server_of(test);
	struct call call = {};

	/* Act */
	call_build(server, &call, c);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));
	KUNIT_ASSERT_EQ(test, c->length, server_receive_all(server));

	/* Assert */
	call_expect_arg(server, call.stream, c->length);
	KUNIT_EXPECT_NOT_NULL(test, server->rqst->rq_xprt_ctxt);
	KUNIT_EXPECT_TRUE(test, test_bit(RQ_SECURE, &server->rqst->rq_flags));
	KUNIT_EXPECT_GT(test, server->rqst->rq_page_end - server->rqst->rq_respages, 1);
	KUNIT_EXPECT_PTR_EQ(test, server->rqst->rq_respages + 1,
			    server->rqst->rq_next_page);
	server_done(server);
	server_expect_at_rest(server);
}

/* Nobody waits for the client: the thread is free while the Reads are under way. */
static void call_does_not_wait_for_reads(struct kunit *test)
{
	static const struct call_case c = { "", 160 + 8192, 0, { { 160, 8192, 2 } } };
	struct server *server = server_of(test);
	struct call call = {}, other = {};
	static const struct call_case short_call = { "", 100 };

	call_build(server, &call, &c);
	call_build(server, &other, &short_call);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_EQ(test, 2, fake_pending(server->qp));
	KUNIT_EXPECT_FALSE(test, fake_last_wr(server->qp)->flags == 0);

	/* Another one is served meanwhile. */
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, other.message, other.size));
	KUNIT_ASSERT_EQ(test, 100, server_recvfrom(server));
	server_done(server);

	fake_run_all(server->qp);
	KUNIT_ASSERT_EQ(test, c.length, server_receive_all(server));
	call_expect_arg(server, call.stream, c.length);
	server_done(server);
	server_expect_at_rest(server);
}

enum wrong {
	POSITION_BEYOND, TOO_LONG, NOMSG_WITHOUT_ZERO, MSG_WITH_ZERO, XID_IN_ZERO, NO_READS,
	MSGP, OVERLAP, ZERO_TOO_LONG, TAIL_TOO_LONG, SHORT, SHORT_HEAD, SHORT_ZERO,
};

struct wrong_case {
	const char	*desc;
	enum wrong	wrong;
};

static const struct wrong_case wrong_cases[] = {
	{ "Position beyond the message", POSITION_BEYOND },
	{ "longer than nfsd takes", TOO_LONG },
	{ "RDMA_NOMSG without a Position Zero chunk", NOMSG_WITHOUT_ZERO },
	{ "RDMA_MSG with a Position Zero chunk", MSG_WITH_ZERO },
	{ "another XID in the Position Zero chunk", XID_IN_ZERO },
	{ "a client that takes no Reads", NO_READS },
	{ "RDMA_MSGP", MSGP },
	{ "items that overlap", OVERLAP },
	{ "Position Zero chunk longer than nfsd takes", ZERO_TOO_LONG },
	{ "tail for which there is no page", TAIL_TOO_LONG },
	{ "shorter than the header of an RPC call", SHORT },
	{ "item in the header of an RPC call", SHORT_HEAD },
	{ "Position Zero chunk shorter than the header of an RPC call", SHORT_ZERO },
};

KUNIT_ARRAY_PARAM_DESC(wrong, wrong_cases, desc);

static void wrong_segment(struct server *server, struct rpcrdma_chunk_lists *lists,
			  u32 position, u32 length)
{
	static u8 memory[64];
	struct rpcrdma_segment segment = { .handle = 0x55, .length = length };

	rpcrdma_lists_begin_read(lists, position);
	rpcrdma_lists_add_segment(lists, segment);
	put_unaligned_be32(CALL_XID, memory);
	fake_remote_add(server->fake, 0x55, 0, memory, sizeof(memory));
}

static void build_wrong_lists(struct server *server, enum wrong wrong,
			      struct rpcrdma_chunk_lists *lists)
{
	switch (wrong) {
	case POSITION_BEYOND:
		return wrong_segment(server, lists, 68, 8);
	case TOO_LONG:
		return wrong_segment(server, lists, 64, 2 << 20);
	case MSG_WITH_ZERO:
		return wrong_segment(server, lists, 0, 64);
	case XID_IN_ZERO:
		wrong_segment(server, lists, 0, 64);
		put_unaligned_be32(CALL_XID + 1, server->fake->remotes[0].memory);
		break;
	case NO_READS:
		server->transport->st_read_depth = 0;
		return wrong_segment(server, lists, 64, 8);
	case OVERLAP:
		wrong_segment(server, lists, 16, 40);
		return wrong_segment(server, lists, 32, 8);
	case ZERO_TOO_LONG:
		return wrong_segment(server, lists, 0, 2 << 20);
	case TAIL_TOO_LONG:
		return wrong_segment(server, lists, 60,
				     compat_rqst_call_pages(server->rqst) << PAGE_SHIFT);
	case SHORT_HEAD:
		return wrong_segment(server, lists, 36, 60);
	case SHORT_ZERO:
		return wrong_segment(server, lists, 0, 36);
	case NOMSG_WITHOUT_ZERO:
		rpcrdma_lists_begin_write(lists);
		break;
	case MSGP:
	case SHORT:
		break;
	}
}

/* RFC 8166 section 4.5.3 */
static void call_that_is_wrong_gets_err_chunk(struct kunit *test)
{
	const struct wrong_case *c = test->param_value;
	struct server *server = server_of(test);
	bool nomsg = c->wrong == XID_IN_ZERO || c->wrong == NOMSG_WITHOUT_ZERO ||
		     c->wrong == ZERO_TOO_LONG || c->wrong == SHORT_ZERO;
	u32 size = c->wrong == SHORT ? 36 : 64;
	u32 reads = c->wrong == XID_IN_ZERO;
	struct rpcrdma_header header = {
		.xid = CALL_XID, .vers = 1, .credits = 32,
		.proc = nomsg ? RPCRDMA_NOMSG : RPCRDMA_MSG,
	};
	struct rpcrdma_segment segments[4];
	struct rpcrdma_chunk chunks[4];
	struct rpcrdma_chunk_lists lists;
	u8 message[256] = {};

	/* Arrange */
	rpcrdma_lists_init(&lists, segments, 4, chunks, 4);
	build_wrong_lists(server, c->wrong, &lists);
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK, rpcrdma_header_encode(&header, &lists, message,
								sizeof(message)));
	if (c->wrong == MSGP)
		put_unaligned_be32(RPCRDMA_MSGP, message + 12);
	put_unaligned_be32(CALL_XID, message + header.size);

	/* Act */
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, message, header.size + size));
	KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));

	/* Assert: found out before anything is read, but for the wrong XID */
	KUNIT_EXPECT_EQ(test, reads + 1, fake_posted(server->qp));
	server_expect_error(server, CALL_XID, RPCRDMA_ERR_CHUNK);
	server_expect_at_rest(server);
}

/* max_req_size may be larger than nfsd's max_block_size. */
static void call_inline_that_is_longer_than_nfsd_takes(struct kunit *test)
{
	static const struct call_case c = { "", SERVER_MESSAGE - 28 };
	struct server *server = server_of(test);

	server->transport->st_max_pages = 0;
	call_deliver(server, &c);
	KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));
	KUNIT_EXPECT_EQ(test, 1, fake_posted(server->qp));
	server_expect_error(server, CALL_XID, RPCRDMA_ERR_CHUNK);
	server_expect_at_rest(server);
}

/* RFC 8166 section 8.2.2: nothing is reduced of the credential, nor under protection. */
static void call_under_rpcsec_gss(struct kunit *test)
{
	static const struct { u32 position, service; bool served; } cases[] = {
		{ 52, 1, false }, { 160, 0, false }, { 160, 1, true },
		{ 160, 2, false }, { 160, 3, false },
	};
	struct server *server = server_of(test);
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		/* Credential, handle of 8 bytes; it may be what is in the chunk */
		u32 words[] = { 6, 28, 1, 0, 1, cases[i].service, 8 };
		struct call_case c = { "", 200, 0, { { cases[i].position, 8, 1 } } };
		struct call call = {};
		u8 *rpc;

		call_build(server, &call, &c);
		rpc = call.message + call.size - call.base_length;
		for (k = 0; k < ARRAY_SIZE(words); k++)
			put_unaligned_be32(words[k], rpc + 24 + 4 * k);
		memset(rpc + 60, 0, 8);
		KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
		KUNIT_EXPECT_EQ(test, cases[i].served ? 200 : 0, server_receive_all(server));
		if (!cases[i].served)
			server_expect_error(server, CALL_XID, RPCRDMA_ERR_CHUNK);
		server_done(server);
		server_expect_at_rest(server);
	}
}

/**
 * struct item_case - a call with one item of 100 bytes in a chunk
 * @desc: what is said of it
 * @program: RPC program
 * @procedure: of version 3
 * @count: the word in front of the item
 * @served: nfsd sees the call
 */
struct item_case {
	const char	*desc;
	u32		program;
	u32		procedure;
	u32		count;
	bool		served;
};

static const struct item_case item_cases[] = {
	{ "WRITE, as long as the chunk", 100003, 7, 100, true },
	{ "WRITE, the chunk has the padding", 100003, 7, 97, true },
	{ "WRITE, longer than the chunk", 100003, 7, 101, false },
	{ "WRITE, the chunk has more than the padding", 100003, 7, 96, false },
	{ "WRITE, 2^32 - 1", 100003, 7, U32_MAX, false },
	{ "SYMLINK, as long as the chunk", 100003, 10, 100, true },
	{ "GETATTR, which has no item", 100003, 1, 100, false },
	{ "NFS_ACL, which has none", 100227, 2, 100, false },
	{ "a program that is not known", 100099, 7, 101, true },
};

KUNIT_ARRAY_PARAM_DESC(item, item_cases, desc);

/* RFC 8267 sections 4.1 and 4.3 say which items; the word in front of one says how long. */
static void call_with_an_item_of_a_known_program(struct kunit *test)
{
	static const struct call_case reduced = { "", 260, 0, { { 160, 100, 1 } } };
	const struct item_case *c = test->param_value;
	struct server *server = server_of(test);
	struct call call = {};
	u8 *rpc;

	call_build(server, &call, &reduced);
	rpc = call.message + call.size - call.base_length;
	put_unaligned_be32(c->program, rpc + 12);
	put_unaligned_be32(3, rpc + 16);
	put_unaligned_be32(c->procedure, rpc + 20);
	put_unaligned_be32(c->count, rpc + 156);

	/* Act */
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	KUNIT_EXPECT_EQ(test, c->served ? 260 : 0, server_receive_all(server));

	/* Assert */
	if (!c->served)
		server_expect_error(server, CALL_XID, RPCRDMA_ERR_CHUNK);
	server_done(server);
	server_expect_at_rest(server);
}

struct dropped_case {
	const char	*desc;
	u32		words[8];
	u32		length;
};

/* RFC 8166 sections 4.5 and 4.6 */
static const struct dropped_case dropped_cases[] = {
	{ "nothing", {}, 0 },
	{ "a runt", { CALL_XID, 1, 32, RPCRDMA_MSG, 0, 0 }, 24 },
	{ "27 bytes", { CALL_XID, 1, 32, RPCRDMA_MSG, 0, 0, 0 }, 27 },
	{ "27 bytes of another version", { CALL_XID, 2, 32, RPCRDMA_MSG, 0, 0, 0 }, 27 },
	{ "RDMA_ERROR of no kind", { CALL_XID, 1, 32, RPCRDMA_ERROR, 3, 0, 0 }, 28 },
	{ "RDMA_DONE", { CALL_XID, 1, 32, RPCRDMA_DONE, 0, 0, 0 }, 28 },
	{ "RDMA_ERROR of nothing",
	  { CALL_XID, 1, 32, RPCRDMA_ERROR, RPCRDMA_ERR_CHUNK, 0, 0 }, 28 },
	{ "a reply to no callback", { CALL_XID, 1, 32, RPCRDMA_MSG, 0, 0, 0, CALL_XID }, 32 },
};

KUNIT_ARRAY_PARAM_DESC(dropped, dropped_cases, desc);

static void call_that_is_none_is_dropped(struct kunit *test)
{
	const struct dropped_case *c = test->param_value;
	struct server *server = server_of(test);
	u8 message[64] = {};
	u32 i, length = c->length;

	for (i = 0; i < ARRAY_SIZE(c->words); i++)
		put_unaligned_be32(c->words[i], message + 4 * i);
	if (length == 32) {
		put_unaligned_be32(RPCRDMA_RPC_REPLY, message + 32);
		length = 64;
	}
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, message, length));
	KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	server_expect_at_rest(server);
}

/* The R_key is wrong: the queue pair is dead, and so is the connection. */
static void call_whose_read_fails(struct kunit *test)
{
	static const struct call_case c = { "", 160 + 8192, 0, { { 160, 8192, 2 } } };
	struct server *server = server_of(test);
	struct call call = {};

	call_build(server, &call, &c);
	memset(server->fake->remotes, 0, sizeof(server->fake->remotes));
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_CLOSE, &server->transport->st_xprt.xpt_flags));
}

static void call_whose_read_cannot_be_posted(struct kunit *test)
{
	static const struct call_case c = { "", 160 + 8192, 0, { { 160, 8192, 3 } } };
	struct server *server = server_of(test);
	struct call call = {};

	call_build(server, &call, &c);
	server->qp->accept = 1;
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	server->qp->accept = -1;
}

/* The call was read for a thread that had room for it; the next one has not. */
static void call_whose_next_thread_has_too_few_pages(struct kunit *test)
{
	static const struct call_case c = { "", 160 + 32768, 0, { { 160, 32768, 1 } } };
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;

	/* Arrange */
	call_deliver(server, &c);
	KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));
	fake_run_all(server->qp);
	fake_thread_free(server->rqst);
	server->serv.sv_max_payload = PAGE_SIZE;
	server->serv.sv_max_mesg = PAGE_SIZE;
	server->rqst = fake_thread_create(&server->serv);
	KUNIT_ASSERT_NOT_NULL(test, server->rqst);
	fake_mark(server->qp);

	/* Act */
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));

	/* Assert: the connection ends, and neither the buffer is lost nor what it has read. */
	KUNIT_EXPECT_TRUE(test, READ_ONCE(t->st_closing));
	KUNIT_EXPECT_NULL(test, server->rqst->rq_xprt_ctxt);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&t->st_recv.used));
	KUNIT_EXPECT_EQ(test, t->st_recv.target + t->st_credits,
			server_spare(server) + t->st_recv.posted - t->st_recv.gone);
}

/* Another connection, with few credits. */
static void connect_with_credits(struct server *server, unsigned int credits)
{
	unsigned int before = svcrdma_max_requests;

	server_disconnect(server);
	svcrdma_max_requests = credits;
	server_connect(server);
	svcrdma_max_requests = before;
	KUNIT_ASSERT_EQ(server->test, credits, server->transport->st_credits);
}

/* RFC 8166 section 3.3.1: calls whose Reads are not done are not answered yet. */
static void call_with_reads_needs_a_credit(struct kunit *test)
{
	static const struct call_case c = { "", 160 + 8192, 0, { { 160, 8192, 1 } } };
	struct server *server = server_of(test);
	u32 i;

	/* All credits are used. */
	connect_with_credits(server, SVCRDMA_MIN_REQUESTS);
	for (i = 0; i < SVCRDMA_MIN_REQUESTS; i++) {
		call_deliver(server, &c);
		KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));
	}
	KUNIT_EXPECT_FALSE(test, READ_ONCE(server->transport->st_closing));

	/* The client has the reply, and sends again before the buffer is released. */
	for (i = 0; i < 2 * SVCRDMA_MIN_REQUESTS; i++) {
		fake_run(server->qp, 1);
		KUNIT_ASSERT_EQ(test, c.length, server_recvfrom(server));
		call_deliver(server, &c);
		server_done(server);
		KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));
		KUNIT_ASSERT_FALSE(test, READ_ONCE(server->transport->st_closing));
	}

	/* One too many; it gets no page. */
	fake_mark(server->qp);
	call_deliver(server, &c);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	KUNIT_EXPECT_NOT_NULL(test, server->rqst->rq_pages[0]);
}

/* Calls come faster than they are answered: as many as the credits allow, and more. */
static void call_burst_uses_up_the_spare_buffers(struct kunit *test)
{
	static const struct call_case c = { "", 100 };
	struct server *server = server_of(test);
	u32 all = server->transport->st_recv.target + server->transport->st_credits, i;
	struct call call = {};

	call_build(server, &call, &c);
	for (i = 0; i < all; i++) {
		KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
		/* A batch at a time: never a whole one less than there shall be. */
		if (i < server->transport->st_credits)
			KUNIT_EXPECT_EQ(test, server->transport->st_recv.target -
					(i + 1) % RPCRDMA_RECEIVE_BATCH,
					fake_recvs(server->qp));
	}
	KUNIT_EXPECT_FALSE(test, fake_deliver(server->qp, call.message, call.size));
	for (i = 0; i < all; i++) {
		KUNIT_ASSERT_EQ(test, 100, server_recvfrom(server));
		server_done(server);
	}
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	server_expect_at_rest(server);
}

/* What nfsd gives back is to be posted, and the queue does not take it. */
static void call_burst_into_a_queue_that_refuses(struct kunit *test)
{
	static const struct call_case c = { "", 100 };
	struct server *server = server_of(test);
	struct call call = {};

	call_build(server, &call, &c);
	while (fake_recvs(server->qp))
		KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	KUNIT_ASSERT_EQ(test, 100, server_recvfrom(server));
	server->qp->recv_accept = 0;
	server_done(server);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	server->qp->recv_accept = -1;
}

/* Its Reads may have ended with the connection, whatever the device says of them. */
static void call_of_a_connection_that_has_ended(struct kunit *test)
{
	static const struct call_case c = { "", 160 + 8192, 0, { { 160, 8192, 1 } } };
	struct server *server = server_of(test);
	unsigned int spare;

	call_deliver(server, &c);
	KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));
	fake_run_all(server->qp);
	svcrdma_transport_close(server->transport, RPCRDMA_END_OTHER);
	spare = server_spare(server);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_NULL(test, server->rqst->rq_xprt_ctxt);
	KUNIT_EXPECT_EQ(test, spare + 1, server_spare(server));
}

static struct kunit_case call_kunit_cases[] = {
	KUNIT_CASE_PARAM(call_is_seen_by_nfsd, call_gen_params),
	KUNIT_CASE(call_does_not_wait_for_reads),
	KUNIT_CASE_PARAM(call_that_is_wrong_gets_err_chunk, wrong_gen_params),
	KUNIT_CASE_PARAM(call_that_is_none_is_dropped, dropped_gen_params),
	KUNIT_CASE(call_whose_read_fails),
	KUNIT_CASE(call_whose_read_cannot_be_posted),
	KUNIT_CASE(call_whose_next_thread_has_too_few_pages),
	KUNIT_CASE(call_inline_that_is_longer_than_nfsd_takes),
	KUNIT_CASE(call_under_rpcsec_gss),
	KUNIT_CASE_PARAM(call_with_an_item_of_a_known_program, item_gen_params),
	KUNIT_CASE(call_with_reads_needs_a_credit),
	KUNIT_CASE(call_burst_uses_up_the_spare_buffers),
	KUNIT_CASE(call_burst_into_a_queue_that_refuses),
	KUNIT_CASE(call_of_a_connection_that_has_ended),
	{}
};

static struct kunit_suite call_suite = {
	.name = "svcrdma_call",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = call_init,
	.test_cases = call_kunit_cases,
};

kunit_test_suite(call_suite);
