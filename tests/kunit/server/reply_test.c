// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replies: what travels inline, in Write chunks and in the Reply chunk, with which header, and who
 * owns the pages meanwhile.
 */
#include "exchange.h"

#define PAGES_AT(at, n)		.payloads = { { (at), (n) } }

static const struct reply_case reply_cases[] = {
	{ "inline", .head = 100 },
	{ "inline, smallest", .head = 24 },
	{ "inline, largest", .head = 2048, .pages = SERVER_MESSAGE - 28 - 2048 },
	{ "inline with pages and tail", .head = 128, .pages = 1001, .tail = 20 },
	{ "Write chunk, 0", { { 1, { 8192 } } }, 1, .head = 128, .pages = 8192,
	  PAGES_AT(128, 8192), .written = { 8192 } },
	{ "Write chunk, 1", { { 1, { 8193 } } }, 1, .head = 128, .pages = 8193,
	  PAGES_AT(128, 8193), .written = { 8193 } },
	{ "Write chunk, 2", { { 1, { 9000 } } }, 1, .head = 128, .pages = 8194,
	  PAGES_AT(128, 8194), .written = { 8194 } },
	{ "Write chunk, 3", { { 1, { 9000 } } }, 1, .head = 128, .pages = 8195,
	  PAGES_AT(128, 8195), .written = { 8195 } },
	{ "Write chunk and tail", { { 1, { 9000 } } }, 1, .head = 128, .pages = 8195,
	  .tail = 24, PAGES_AT(128, 8195), .written = { 8195 } },
	{ "Write chunk of three segments", { { 3, { 4000, 100, 5000 } } }, 1, .head = 128,
	  .pages = 8195, .tail = 24, PAGES_AT(128, 8195), .written = { 8195 } },
	{ "Write chunk, a segment of nothing", { { 3, { 4000, 0, 5000 } } }, 1, .head = 128,
	  .pages = 8195, PAGES_AT(128, 8195), .written = { 8195 } },
	{ "short payload", { { 2, { 4000, 5000 } } }, 1, .head = 128, .pages = 10,
	  PAGES_AT(128, 10), .written = { 10 } },
	{ "READLINK of NFSv4", { { 1, { 9000 } } }, 1, .head = 128, .pages = 1001, .tail = 20,
	  PAGES_AT(128, 1001), .at_length = true, .written = { 1001 } },
	{ "unused Write chunk", { { 2, { 4000, 5000 } } }, 1, .head = 100 },
	{ "empty Write chunk asks for inline", { { 0 } }, 1, .head = 128, .pages = 1000,
	  PAGES_AT(128, 1000) },
	{ "two Write chunks, one payload", { { 1, { 4096 } }, { 1, { 4096 } } }, 2, .head = 128,
	  .pages = 4000, PAGES_AT(128, 4000), .written = { 4000, 0 } },
	{ "two Write chunks, two payloads", { { 1, { 4096 } }, { 2, { 500, 4096 } } }, 2,
	  .head = 128, .pages = 4000, .payloads = { { 128, 1001 }, { 1132, 2000 } },
	  .written = { 1001, 2000 } },
	{ "two Write chunks, the first is empty", { { 0 }, { 1, { 4096 } } }, 2, .head = 128,
	  .pages = 2000, .payloads = { { 128, 100 }, { 228, 1000 } }, .written = { 0, 1000 } },
	{ "more payloads than Write chunks", { { 1, { 4096 } } }, 1, .head = 128,
	  .pages = 2000, .payloads = { { 128, 100 }, { 228, 1000 } }, .written = { 100 } },
	{ "a payload that nfsd gave up", { { 1, { 4096 } } }, 1, .head = 128,
	  PAGES_AT(128, 4000) },
	{ "Reply chunk", .reply = { 1, { 20000 } }, .head = 2048, .pages = 8190,
	  .proc = RPCRDMA_NOMSG, .reply_written = 2048 + 8192 },
	{ "Reply chunk of three segments", .reply = { 3, { 1000, 7, 20000 } }, .head = 128,
	  .pages = 8190, .tail = 100, .proc = RPCRDMA_NOMSG, .reply_written = 128 + 8192 + 100 },
	{ "Reply chunk, just filled", .reply = { 1, { 2048 + 8192 } }, .head = 2048,
	  .pages = 8192, .proc = RPCRDMA_NOMSG, .reply_written = 2048 + 8192 },
	{ "Reply chunk is not used when the reply fits", .reply = { 1, { 20000 } },
	  .head = 1000 },
	{ "Write and Reply chunk", { { 1, { 9000 } } }, 1, { 1, { 8000 } }, .head = 3040,
	  .pages = 8191, .tail = 1000, PAGES_AT(3040, 5000), .proc = RPCRDMA_NOMSG,
	  .written = { 5000 }, .reply_written = 3040 + 3192 + 1000 },
	{ "Write chunk, Reply chunk unused", { { 1, { 9000 } } }, 1, { 1, { 6000 } },
	  .head = 300, .pages = 8191, PAGES_AT(300, 8191), .written = { 8191 } },
	{ "1 MiB", { { 2, { 600000, 600000 } } }, 1, .head = 128, .pages = 1 << 20, .tail = 8,
	  PAGES_AT(128, 1 << 20), .written = { 1 << 20 } },
};

KUNIT_ARRAY_PARAM_DESC(reply, reply_cases, desc);

/* RFC 8166 section 4.5.3 */
static const struct reply_case large_cases[] = {
	{ "a byte too large for inline", .head = 2048, .pages = SERVER_MESSAGE - 28 - 2047 },
	{ "Write chunk too small", { { 1, { 4096 } } }, 1, .head = 128, .pages = 4097,
	  PAGES_AT(128, 4097) },
	{ "Reply chunk too small", .reply = { 2, { 5000, 999 } }, .head = 2000, .pages = 4000 },
	{ "empty Reply chunk", .reply = { 1, { 0 } }, .head = 2000, .pages = 4000 },
	{ "empty Write chunk and too large for inline", { { 0 } }, 1, .head = 128,
	  .pages = 5000, PAGES_AT(128, 5000) },
};

KUNIT_ARRAY_PARAM_DESC(large, large_cases, desc);

static int reply_init(struct kunit *test)
{
	server_connect(server_create(test));
	return 0;
}

static void reply_is_seen_by_the_client(struct kunit *test)
{
	struct server *server = server_of(test);
	struct exchange *x = exchange_start(server, test->param_value);

	exchange_answer(x);
	server_expect_at_rest(server);
}

/* RFC 8267 section 6.4.1: a READ at the end of the file has its chunk all the same. */
static void reply_payload_of_no_byte_takes_its_chunk(struct kunit *test)
{
	static const struct reply_case c = {
		"", { { 1, { 4096 } }, { 2, { 500, 4096 } } }, 2, .head = 128, .pages = 2000,
	};
	struct server *server = server_of(test);
	struct exchange *x = exchange_start(server, &c);

	/* Act */
	svcrdma_result_payload(server->rqst, 128, 0);
	svcrdma_result_payload(server->rqst, 128, 1000);
	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);
	exchange_decode(x);
	server_settle(server);

	/* Assert */
	KUNIT_ASSERT_EQ(test, 2, x->lists.nr_write);
	exchange_expect_chunk(x, rpcrdma_write_chunk(&x->lists, 0), &c.write[0], 0);
	exchange_expect_chunk(x, rpcrdma_write_chunk(&x->lists, 1), &c.write[1], 1000);
	KUNIT_EXPECT_EQ(test, 0, memcmp(x->memory + x->chunk_at[1], x->stream + 128, 1000));
	server_expect_at_rest(server);
}

struct flavor_case {
	const char	*desc;
	u32		flavor;
	u32		written;
};

static const struct flavor_case flavor_cases[] = {
	{ "sys", RPC_AUTH_UNIX, 1000 },
	{ "krb5", RPC_AUTH_GSS_KRB5, 1000 },
	{ "krb5i", RPC_AUTH_GSS_KRB5I, 0 },
	{ "krb5p", RPC_AUTH_GSS_KRB5P, 0 },
};

KUNIT_ARRAY_PARAM_DESC(flavor, flavor_cases, desc);

/* RFC 8166 section 8.2.2.3, whatever the client offers */
static void reply_under_protection_is_not_reduced(struct kunit *test)
{
	static const struct reply_case c = {
		"", { { 1, { 4096 } } }, 1, .head = 128, .pages = 1000,
	};
	const struct flavor_case *flavor = test->param_value;
	struct server *server = server_of(test);
	struct exchange *x = exchange_start(server, &c);
	u32 inline_length = 1128 - flavor->written;

	/* Act */
	server->rqst->rq_cred.cr_flavor = flavor->flavor;
	svcrdma_result_payload(server->rqst, 128, 1000);
	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);
	exchange_decode(x);
	server_settle(server);

	/* Assert */
	exchange_expect_chunk(x, rpcrdma_write_chunk(&x->lists, 0), &c.write[0], flavor->written);
	KUNIT_EXPECT_EQ(test, x->header.size + inline_length,
			fake_last_wr(server->qp)->sge[0].length);
	server->rqst->rq_cred.cr_flavor = RPC_AUTH_UNIX;
	server_expect_at_rest(server);
}

static void expect_err_chunk(struct server *server, const struct reply_case *c)
{
	exchange_start(server, c);
	KUNIT_EXPECT_EQ(server->test, 0, svcrdma_sendto(server->rqst));
	server_done(server);
	server_expect_error(server, EXCHANGE_XID, RPCRDMA_ERR_CHUNK);
	server_expect_at_rest(server);
}

static void reply_that_is_too_large_gets_err_chunk(struct kunit *test)
{
	const struct reply_case *c = test->param_value;
	struct server *server = server_of(test);

	exchange_start(server, c);
	KUNIT_EXPECT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);
	KUNIT_EXPECT_EQ(test, 1, fake_posted(server->qp));
	server_expect_error(server, EXCHANGE_XID, RPCRDMA_ERR_CHUNK);
	server_expect_at_rest(server);
}

struct inv_case {
	const char	*desc;
	bool		client;
	bool		device;
	struct offer	write;
	struct offer	reply;
	int		key;	/* segment whose R_key it is; -1 none */
};

static const struct inv_case inv_cases[] = {
	{ "both agree", true, true, { 1, { 8192 } }, {}, 0 },
	{ "the client does not", false, true, { 1, { 8192 } }, {}, -1 },
	{ "the device cannot", true, false, { 1, { 8192 } }, {}, -1 },
	{ "nothing to invalidate", true, true, {}, {}, -1 },
	{ "Reply chunk first", true, true, { 1, { 8192 } }, { 1, { 8192 } }, 1 },
};

KUNIT_ARRAY_PARAM_DESC(inv, inv_cases, desc);

static void reply_invalidates_one_rkey(struct kunit *test)
{
	const struct inv_case *c = test->param_value;
	struct server *server = server_of(test);
	struct reply_case exchange = {
		.nr_write = !!c->write.segments, .write = { c->write }, .reply = c->reply,
		.head = 100,
	};
	struct fake_wr *wr;

	/* Arrange: another connection */
	server_disconnect(server);
	server->client.remote_invalidation = c->client;
	if (!c->device)
		server->fake->ib.attrs.device_cap_flags = 0;
	server_connect(server);

	/* Act */
	exchange_start(server, &exchange);
	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);

	/* Assert */
	wr = fake_last_wr(server->qp);
	if (c->key < 0) {
		KUNIT_EXPECT_EQ(test, IB_WR_SEND, wr->opcode);
	} else {
		KUNIT_EXPECT_EQ(test, IB_WR_SEND_WITH_INV, wr->opcode);
		KUNIT_EXPECT_EQ(test, 0x200 + c->key, wr->rkey);
	}
	server_expect_at_rest(server);
}

/* RFC 8166 section 4.4.2: of all of the call's chunks; the reply has none. */
static void reply_invalidates_the_read_chunk(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svc_rqst *rqst = server->rqst;

	server_deliver(server, CALL_READ);
	KUNIT_ASSERT_EQ(test, 64 + sizeof(server_peer_memory), server_receive_all(server));
	rqst->rq_next_page = rqst->rq_respages + 1;
	rqst->rq_res = (struct xdr_buf) {
		.head[0] = { page_address(rqst->rq_respages[0]), 100 }, .len = 100,
	};
	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);
	KUNIT_EXPECT_EQ(test, IB_WR_SEND_WITH_INV, fake_last_wr(server->qp)->opcode);
	KUNIT_EXPECT_EQ(test, 0x77, fake_last_wr(server->qp)->rkey);
	server_expect_at_rest(server);
}

/* RFC 8797: never more than the client's Receive buffer holds. */
static void reply_respects_the_clients_threshold(struct kunit *test)
{
	struct reply_case c = { .head = 1024 - 28 };
	struct server *server = server_of(test);

	server_disconnect(server);
	server->client.recv_size = 1024;
	server_connect(server);

	exchange_start(server, &c);
	KUNIT_EXPECT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);
	KUNIT_EXPECT_EQ(test, 1024, fake_last_wr(server->qp)->sge[0].length);
	server_settle(server);

	c.head += 4;
	expect_err_chunk(server, &c);
}

static void without_private_data(struct server *server)
{
	server_disconnect(server);
	server->client.present = false;
	server_connect(server);
}

/* It may have larger Receives than we may assume; what else there is to say ends the RPC. */
static void reply_is_large_and_the_client_does_not_say_what_it_takes(struct kunit *test)
{
	struct reply_case c = { .head = 2048, .pages = SZ_8K - 28 - 2048 };
	struct server *server = server_of(test);

	without_private_data(server);
	exchange_answer(exchange_start(server, &c));
	c.pages++;
	expect_err_chunk(server, &c);
}

/* With a Reply chunk it has said how large a reply it expects. */
static void reply_is_too_large_for_the_chunk_of_a_client_without_private_data(struct kunit *test)
{
	static const struct reply_case c = {
		"", .reply = { 1, { 2000 } }, .head = 1000, .pages = 1001,
	};
	struct server *server = server_of(test);

	without_private_data(server);
	expect_err_chunk(server, &c);
}

/* The HCA reads from the pages until the completion; nfsd must not have them. */
static void reply_pages_belong_to_the_send(struct kunit *test)
{
	static const struct reply_case c = {
		"", { { 1, { 8192 } } }, 1, .head = 128, .pages = 8192, PAGES_AT(128, 8192),
	};
	struct server *server = server_of(test);
	struct page **respages;
	struct page *first;

	exchange_start(server, &c);
	respages = server->rqst->rq_respages;
	first = respages[1];
	get_page(first);
	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);

	KUNIT_EXPECT_NULL(test, respages[0]);
	KUNIT_EXPECT_NULL(test, respages[1]);
	KUNIT_EXPECT_NULL(test, respages[2]);
	KUNIT_EXPECT_EQ(test, 2, page_count(first));
	server_settle(server);
	KUNIT_EXPECT_EQ(test, 1, page_count(first));
	put_page(first);
	server_expect_at_rest(server);
}

/* Each number of work requests that the provider takes before it refuses one. */
static void reply_post_failure_ends_the_connection(struct kunit *test)
{
	static const struct reply_case c = {
		"", { { 2, { 4096, 4096 } } }, 1, .head = 128, .pages = 8192,
		PAGES_AT(128, 8192),
	};
	struct server *server = server_of(test);
	int accept;

	for (accept = 0; accept < 3; accept++) {
		if (!server->transport)
			server_connect(server);
		exchange_start(server, &c);
		server->qp->accept = accept;
		KUNIT_EXPECT_EQ(test, -ENOTCONN, svcrdma_sendto(server->rqst));
		server_done(server);
		KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
		server->qp->accept = -1;
		server_disconnect(server);
	}
}

/* Send context, its buffer, the second Write, and the array for the pages: each in its turn. */
static void reply_without_memory(struct kunit *test)
{
	static const struct reply_case c = {
		"", { { 2, { 4096, 4096 } } }, 1, .head = 128, .pages = 8192, PAGES_AT(128, 8192),
	};
	struct server *server = server_of(test);
	int n, ret;

	for (n = 0;; n++) {
		if (!server->transport)
			server_connect(server);
		exchange_start(server, &c);
		fake_alloc_fail(n);
		ret = svcrdma_sendto(server->rqst);
		if (!fake_alloc_failed())
			break;
		KUNIT_EXPECT_EQ(test, -ENOTCONN, ret);
		KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
		server_done(server);
		KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
		server_disconnect(server);
	}
	KUNIT_EXPECT_EQ(test, 4, n);
	KUNIT_EXPECT_EQ(test, 0, ret);
	server_done(server);
	server_settle(server);
	server_expect_at_rest(server);
}

static void reply_on_a_closed_connection(struct kunit *test)
{
	static const struct reply_case c = { .head = 100 };
	struct server *server = server_of(test);

	exchange_start(server, &c);
	svcrdma_transport_close(server->transport, RPCRDMA_END_OTHER);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, svcrdma_sendto(server->rqst));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	server_done(server);
}

/* The client took its memory away: the Write fails, and the connection with it. */
static void reply_whose_write_fails(struct kunit *test)
{
	static const struct reply_case c = {
		"", { { 1, { 8192 } } }, 1, .head = 128, .pages = 8192, PAGES_AT(128, 8192),
	};
	struct server *server = server_of(test);

	exchange_start(server, &c);
	memset(server->fake->remotes, 0, sizeof(server->fake->remotes));
	KUNIT_EXPECT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);
	server_settle(server);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
}

static struct kunit_case reply_kunit_cases[] = {
	KUNIT_CASE_PARAM(reply_is_seen_by_the_client, reply_gen_params),
	KUNIT_CASE(reply_payload_of_no_byte_takes_its_chunk),
	KUNIT_CASE_PARAM(reply_under_protection_is_not_reduced, flavor_gen_params),
	KUNIT_CASE_PARAM(reply_that_is_too_large_gets_err_chunk, large_gen_params),
	KUNIT_CASE_PARAM(reply_invalidates_one_rkey, inv_gen_params),
	KUNIT_CASE(reply_invalidates_the_read_chunk),
	KUNIT_CASE(reply_respects_the_clients_threshold),
	KUNIT_CASE(reply_is_large_and_the_client_does_not_say_what_it_takes),
	KUNIT_CASE(reply_is_too_large_for_the_chunk_of_a_client_without_private_data),
	KUNIT_CASE(reply_pages_belong_to_the_send),
	KUNIT_CASE(reply_post_failure_ends_the_connection),
	KUNIT_CASE(reply_without_memory),
	KUNIT_CASE(reply_on_a_closed_connection),
	KUNIT_CASE(reply_whose_write_fails),
	{}
};

static struct kunit_suite reply_suite = {
	.name = "svcrdma_reply",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = reply_init,
	.test_cases = reply_kunit_cases,
};

kunit_test_suite(reply_suite);
