// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reverse direction with chunks, RFC 8167 section 5.3: the agreement of both sides, and calls
 * that the client has to read from the server.
 */
#include <linux/unaligned.h>

#include "bc_call.h"

/* ---- calls ---- */

struct call_case {
	const char	*desc;
	u32		length;
	u32		segment;
	u32		reads[3][2];
};

static const struct call_case call_cases[] = {
	{ "3 KiB", 3072, 0, { { 0, 3072 } } },
	{ "8 KiB", 8192, 0, { { 0, 8192 } } },
	{ "a page and a word", 4100, 0, { { 0, 4100 } } },
	{ "64 KiB of arguments", 65536 + 120, 0, { { 0, 65536 + 120 } } },
	{ "as large as possible", 68 << 10, 0, { { 0, 68 << 10 } } },
	{ "odd segments", 20000, 3333, { { 0, 20000 } } },
	{ "shortest of all", 8, 0, { { 0, 8 } } },
	{ "at a Position", 8192 + 64, 0, { { 64, 8192 } } },
	{ "between inline parts", 8192 + 80, 0, { { 64, 8192 } } },
	{ "odd length", 5004 + 64 + 16, 0, { { 64, 5001 } } },
	{ "behind the first page", 6000, 0, { { 8, 4096 }, { 4200, 700 } } },
	{ "three chunks", 10000, 1000, { { 40, 3001 }, { 3044, 1 }, { 4096, 5000 } } },
	{ "far behind one another", 24000, 0, { { 64, 8100 }, { 9000, 7000 }, { 16384, 7000 } } },
};

KUNIT_ARRAY_PARAM_DESC(call, call_cases, desc);

static struct bc_call *case_create(struct client *client, const struct call_case *c)
{
	struct bc_call *cb = bc_call_create(client, c->length);
	u32 i, j, end;

	cb->segment = c->segment;
	for (i = 0; i < ARRAY_SIZE(c->reads) && c->reads[i][1]; i++) {
		cb->reads[i].position = c->reads[i][0];
		cb->reads[i].length = c->reads[i][1];
		end = c->reads[i][0] + c->reads[i][1];
		for (j = end; j < min(c->length, xdr_align_size(end)); j++)
			cb->message[j] = 0;
	}
	return cb;
}

static void expect_read(struct client *client, const struct call_case *c)
{
	struct kunit *test = client->test;
	struct bc_call *cb = case_create(client, c);
	int i;

	for (i = 0; i < 3; i++) {
		bc_call_deliver(cb);
		KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
		bc_run(client);
		xprtrdma_bc_free_rqst(bc_call_expect(cb));
		bc_expect_nothing_left(client);
	}
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_SLOTS, client->transport->xt_bc_count);
}

static void call_is_read(struct kunit *test)
{
	expect_read(client_of(test), test->param_value);
}

/* A device whose regions take two pages: chunks begin in the second one, and behind it. */
static void call_is_read_into_small_regions(struct kunit *test)
{
	struct client *client = client_of(test);

	client_disconnect(client);
	client->fake->ib.attrs.max_fast_reg_page_list_len = 2;
	client_connect(client);
	expect_read(client, test->param_value);
}

/* As many as we granted, all at once; a few are read at a time. */
static void many_calls_are_read(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create_long(client, 9000);
	struct rpc_rqst *rqsts[XPRTRDMA_BC_SLOTS];
	int i;

	for (i = 0; i < XPRTRDMA_BC_SLOTS; i++)
		bc_call_deliver(cb);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_PULLS, client->conn->xc_pull.active);
	bc_run(client);
	for (i = 0; i < XPRTRDMA_BC_SLOTS; i++)
		rqsts[i] = bc_call_expect(cb);
	for (i = 0; i < XPRTRDMA_BC_SLOTS; i++)
		xprtrdma_bc_free_rqst(rqsts[i]);
	bc_expect_nothing_left(client);
}

/* One more than that ends the connection, whatever the others wait for. */
static void one_call_too_many(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create_long(client, 9000);
	int i;

	for (i = 0; i <= 2 * XPRTRDMA_BC_SLOTS; i++)
		bc_call_deliver(cb);
	client_expect_failed(client);
	client_disconnect(client);
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
}

static void expect_refused(struct bc_call *cb)
{
	struct client *client = cb->client;

	bc_call_deliver(cb);
	client_bc_expect_err_chunk(client, BC_XID);
	bc_expect_nothing_left(client);
}

/* RFC 8166 section 4.5.3; nothing is read. */
static void call_is_too_long(struct kunit *test)
{
	struct client *client = client_of(test);

	expect_refused(bc_call_create_long(client, XPRTRDMA_BC_MAX_CALL + 4));
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_SLOTS, client->transport->xt_bc_count);
}

static void server_takes_no_reads(struct kunit *test)
{
	struct client *client = client_of(test);

	client_disconnect(client);
	client_server_takes(0);
	client_connect(client);
	expect_refused(bc_call_create_long(client, 9000));
}

static void switched_off(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create(client, 64);

	client_disconnect(client);
	client_bc_connect_without_chunks(client);
	KUNIT_EXPECT_EQ(test, RPCRDMA_CM_SIZE, fake_cm.said.length);
	cb->reply[0] = 4096;
	bc_call_deliver(cb);
	client_bc_expect_err_chunk(client, BC_XID);
	fake_mark(client->qp);
	cb->reply[0] = 0;
	cb->reads[0].length = cb->length;
	bc_call_deliver(cb);
	client_bc_expect_err_chunk(client, BC_XID);
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
	client_expect_at_rest(client);
}

/* RFC 8166 section 4.5.2: that was not to be seen before. */
static void what_is_read_is_no_call(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create_long(client, 9000);
	struct fake_wr *wr;
	int i;

	for (i = 0; i < 2; i++) {
		put_unaligned_be32(BC_XID + !i, cb->message);
		put_unaligned_be32(i ? RPCRDMA_RPC_REPLY : RPCRDMA_RPC_CALL,
				   cb->message + 4);
		bc_call_deliver(cb);
		bc_run(client);
		wr = fake_last_wr(client->qp);
		KUNIT_EXPECT_EQ(test, IB_WR_SEND, wr->opcode);
		KUNIT_EXPECT_EQ(test, RPCRDMA_ERR_CHUNK_SIZE, wr->sge[0].length);
		bc_expect_nothing_left(client);
	}
}

/* It takes more Reads than there may be: refused, and nothing is read. */
static void call_in_too_many_pieces(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb;

	client_disconnect(client);
	client->fake->ib.attrs.max_fast_reg_page_list_len = 8;
	client_connect(client);
	cb = bc_call_create_long(client, 64 * 1001);
	cb->segment = 1001;
	expect_refused(cb);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_SLOTS, client->transport->xt_bc_count);
}

/* A handle that is not good: the connection goes, and all that it holds. */
static void read_fails(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create_long(client, 9000);

	/* The first of several. */
	cb->segment = 2000;
	bc_call_deliver(cb);
	client->fake->remotes[0].rkey = 1;
	client_bc_expect_failed_by(client, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
	KUNIT_EXPECT_EQ(test, 0, client->conn->xc_pull.active);
	client_disconnect(client);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_SLOTS, list_count_nodes(&client->xprt->bc_pa_list));
}

static void connection_is_lost_while_reading(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create_long(client, 9000);
	int i;

	/* Some are read, the others wait. */
	for (i = 0; i < XPRTRDMA_PULLS + 2; i++)
		bc_call_deliver(cb);
	client_disconnect(client);
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_SLOTS, list_count_nodes(&client->xprt->bc_pa_list));
}

/* The post of the Reads fails, at the first or later. */
static void post_of_reads_fails(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create_long(client, 9000);
	int accept;

	cb->segment = 2000;
	for (accept = 0; accept < 5; accept++) {
		client->qp->accept = accept;
		bc_call_deliver(cb);
		client_expect_failed(client);
		client->qp->accept = -1;
		client_disconnect(client);
		KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
		client_connect(client);
	}
	bc_call_deliver(cb);
	bc_run(client);
	xprtrdma_bc_free_rqst(bc_call_expect(cb));
}

/* The consumer stops in between. */
static void service_stops_while_reading(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create_long(client, 9000);

	bc_call_deliver(cb);
	xprtrdma_bc_destroy(client->xprt, 1);
	bc_run(client);
	bc_expect_nothing_left(client);
	KUNIT_EXPECT_EQ(test, 1, client->transport->xt_bc_count);
}

static void memory_is_short(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create(client, 100);
	struct rpc_rqst *rqsts[XPRTRDMA_BC_SLOTS];
	int i;

	/* As many as there are credits: that takes no memory. */
	fake_alloc_fail(0);
	for (i = 0; i < XPRTRDMA_BC_SLOTS; i++) {
		bc_call_deliver(cb);
		rqsts[i] = fake_callbacks_take(client->xprt);
		KUNIT_ASSERT_NOT_NULL(test, rqsts[i]);
	}
	/* One more, which the server may send when it has the answer of another. */
	bc_call_deliver(cb);
	KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
	client_expect_failed(client);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_SLOTS, client->transport->xt_bc_count);
	for (i = 0; i < XPRTRDMA_BC_SLOTS; i++)
		xprtrdma_bc_free_rqst(rqsts[i]);
}

/* ---- what both have agreed on ---- */

static void agree(struct client *client, u16 extensions)
{
	struct rpcrdma_cm_private server = {
		.send_size = 4096, .recv_size = 4096, .remote_invalidation = true,
		.extensions = extensions,
	};

	client_disconnect(client);
	fake_cm.heard.length = rpcrdma_cm_private_encode(&server, fake_cm.heard.private);
	client_connect(client);
}

static void announcement(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpcrdma_cm_private sent;

	agree(client, RPCRDMA_EXT_REVERSE_CHUNKS);
	rpcrdma_cm_private_decode(fake_cm.said.private, fake_cm.said.length, &sent);
	KUNIT_EXPECT_TRUE(test, sent.extensions & RPCRDMA_EXT_REVERSE_CHUNKS);
	KUNIT_EXPECT_TRUE(test, client->conn->xc_inline.reverse_chunks);
	KUNIT_EXPECT_FALSE(test, client->conn->xc_inline.read_chunk_replies);
}

/* RFC 8267 section 6.5.2 */
static void payload_where_chunks_are_used(struct kunit *test)
{
	struct client *client = client_of(test);

	xprtrdma_bc_connected(client->conn);
	KUNIT_EXPECT_EQ(test, 4096 - 28, xprtrdma_bc_max_payload(client->xprt));
	agree(client, RPCRDMA_EXT_REVERSE_CHUNKS);
	xprtrdma_bc_connected(client->conn);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_MAX_CALL, xprtrdma_bc_max_payload(client->xprt));
	client_server_takes(0);
	agree(client, RPCRDMA_EXT_REVERSE_CHUNKS);
	xprtrdma_bc_connected(client->conn);
	KUNIT_EXPECT_EQ(test, 4096 - 28, xprtrdma_bc_max_payload(client->xprt));
}

/* Where replies are pulled, too, a Long call is told by the reply that it wants. */
static void long_call_is_no_pulled_reply(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create_long(client, 9000);
	struct fake_wr *wr;

	agree(client, RPCRDMA_EXT_REVERSE_CHUNKS | RPCRDMA_EXT_PROVIDES_READ_CHUNKS);
	KUNIT_ASSERT_TRUE(test, client->conn->xc_inline.read_chunk_replies);
	/* To a reply that nobody waits for, RDMA_DONE is the answer. */
	bc_call_deliver(cb);
	bc_run(client);
	wr = fake_last_wr(client->qp);
	KUNIT_EXPECT_EQ(test, RPCRDMA_DONE, be32_to_cpup(fake_message(wr) + 12));
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));

	cb->reply[0] = 100;
	bc_call_deliver(cb);
	bc_run(client);
	xprtrdma_bc_free_rqst(bc_call_expect(cb));
	bc_expect_nothing_left(client);
}

static struct kunit_case chunk_test_cases[] = {
	KUNIT_CASE_PARAM(call_is_read, call_gen_params),
	KUNIT_CASE_PARAM(call_is_read_into_small_regions, call_gen_params),
	KUNIT_CASE(many_calls_are_read),
	KUNIT_CASE(one_call_too_many),
	KUNIT_CASE(call_is_too_long),
	KUNIT_CASE(server_takes_no_reads),
	KUNIT_CASE(switched_off),
	KUNIT_CASE(what_is_read_is_no_call),
	KUNIT_CASE(call_in_too_many_pieces),
	KUNIT_CASE(read_fails),
	KUNIT_CASE(connection_is_lost_while_reading),
	KUNIT_CASE(post_of_reads_fails),
	KUNIT_CASE(service_stops_while_reading),
	KUNIT_CASE(memory_is_short),
	KUNIT_CASE(announcement),
	KUNIT_CASE(payload_where_chunks_are_used),
	KUNIT_CASE(long_call_is_no_pulled_reply),
	{}
};

static struct kunit_suite chunk_suite = {
	.name = "xprtrdma_bc_chunk",
	.init = client_bc_init,
	.test_cases = chunk_test_cases,
};

kunit_test_suite(chunk_suite);
