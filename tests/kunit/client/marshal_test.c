// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of all shapes. In the message and behind its R_keys the server has to find the RPC call
 * that was encoded, and the memory that the call offers has to be that of the reply.
 */
#include "client.h"

struct call_case {
	const char		*desc;
	struct client_shape	shape;
	enum rpcrdma_proc	proc;
	u32			read, position;	/* chunks; of the first one */
	u32			write, write_length;
	u32			reply, reply_length;
};

#define GETATTR		.head = 136, .reply_head = 112
#define WRITES(n)	.head = 160, .pages = (n), .write = true, .reply_head = 112
#define READS(n)		.head = 136, .reply_head = 128, .reply_pages = (n), \
			.reply_tail = 16, .read = true

static const struct call_case call_cases[] = {
	{ "inline", { GETATTR }, RPCRDMA_MSG },
	{ "inline, smallest", { .head = 8, .reply_head = 8 }, RPCRDMA_MSG },
	{ "inline pages", { WRITES(1000) }, RPCRDMA_MSG },
	{ "inline pages at an odd offset", { WRITES(1001), .base = 4095 }, RPCRDMA_MSG },
	{ "inline pages and tail", { WRITES(1002), .tail = 20 }, RPCRDMA_MSG },
	{ "just inline", { .head = 4096 - 28, .reply_head = 8 }, RPCRDMA_MSG },
	{ "just not inline", { .head = 4096 - 24, .reply_head = 8 }, RPCRDMA_NOMSG, 1, 0 },
	{ "Read chunk, length % 4 == 0", { WRITES(8192) }, RPCRDMA_MSG, 1, 160 },
	{ "Read chunk, length % 4 == 1", { WRITES(8193) }, RPCRDMA_MSG, 1, 160 },
	{ "Read chunk, length % 4 == 2", { WRITES(8194) }, RPCRDMA_MSG, 1, 160 },
	{ "Read chunk, length % 4 == 3", { WRITES(8195) }, RPCRDMA_MSG, 1, 160 },
	{ "Read chunk at an odd offset", { WRITES(5000), .base = 333 }, RPCRDMA_MSG, 1, 160 },
	{ "Read chunk and tail, 0", { WRITES(8192), .tail = 24 }, RPCRDMA_MSG, 1, 160 },
	{ "Read chunk and tail, 1", { WRITES(8193), .tail = 24 }, RPCRDMA_MSG, 1, 160 },
	{ "Read chunk and tail, 2", { WRITES(8194), .tail = 24 }, RPCRDMA_MSG, 1, 160 },
	{ "Read chunk and tail, 3", { WRITES(8195), .tail = 24 }, RPCRDMA_MSG, 1, 160 },
	{ "Read chunk, 1 MiB", { WRITES(1 << 20) }, RPCRDMA_MSG, 1, 160 },
	{ "Position Zero: not reducible", { .head = 160, .pages = 8193, .tail = 8,
	  .reply_head = 64 }, RPCRDMA_NOMSG, 1, 0 },
	{ "Position Zero: Position is no multiple of four", { .head = 161, .pages = 8192,
	  .write = true, .reply_head = 64 }, RPCRDMA_NOMSG, 1, 0 },
	{ "Position Zero: large head", { .head = 5000, .reply_head = 64 }, RPCRDMA_NOMSG,
	  1, 0 },
	{ "Position Zero: rest too large", { .head = 4096, .pages = 8192, .write = true,
	  .reply_head = 64 }, RPCRDMA_NOMSG, 1, 0 },
	{ "reply fits inline", { READS(1000) }, RPCRDMA_MSG },
	{ "reply just inline", { .head = 64, .reply_head = 4096 - 28 }, RPCRDMA_MSG },
	{ "reply just not inline", { .head = 64, .reply_head = 4096 - 24 }, RPCRDMA_MSG,
	  0, 0, 0, 0, 1, 4096 - 24 },
	{ "Write chunk", { READS(8192) }, RPCRDMA_MSG, 0, 0, 1, 8192 },
	{ "Write chunk, odd length", { READS(8191) }, RPCRDMA_MSG, 0, 0, 1, 8191 },
	{ "Write chunk at an odd offset", { READS(8191), .reply_base = 77 }, RPCRDMA_MSG,
	  0, 0, 1, 8191 },
	{ "Reply chunk: not reducible", { .head = 64, .reply_head = 64, .reply_pages = 8192,
	  .reply_tail = 8 }, RPCRDMA_MSG, 0, 0, 0, 0, 1, 64 + 8192 + 8 },
	{ "Reply chunk: large head", { .head = 64, .reply_head = 6000 }, RPCRDMA_MSG,
	  0, 0, 0, 0, 1, 6000 },
	{ "Write and Reply chunk", { .head = 64, .reply_head = 4096, .reply_pages = 8192,
	  .reply_tail = 64, .read = true }, RPCRDMA_MSG, 0, 0, 1, 8192, 1, 4096 + 64 },
	{ "Read and Reply chunk", { .head = 160, .pages = 9001, .write = true,
	  .reply_head = 5000 }, RPCRDMA_MSG, 1, 160, 0, 0, 1, 5000 },
	{ "Position Zero and Write chunk", { .head = 5000, .reply_head = 64,
	  .reply_pages = 8192, .reply_tail = 8, .read = true }, RPCRDMA_NOMSG, 1, 0, 1, 8192 },
	{ "Position Zero and Reply chunk", { .head = 5000, .reply_head = 5000 },
	  RPCRDMA_NOMSG, 1, 0, 0, 0, 1, 5000 },
};

KUNIT_ARRAY_PARAM_DESC(call, call_cases, desc);

static void expect_chunks(struct client_call *call, const struct call_case *c)
{
	struct kunit *test = call->client->test;
	struct rpcrdma_chunk_lists *lists = &call->lists;

	KUNIT_EXPECT_EQ(test, c->proc, call->header.proc);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(call->rqst.rq_xid), call->header.xid);
	KUNIT_EXPECT_EQ(test, call->client->conn->xc_window.requested,
			call->header.credits);
	KUNIT_ASSERT_EQ(test, c->read, lists->nr_read);
	KUNIT_ASSERT_EQ(test, c->write, lists->nr_write);
	KUNIT_ASSERT_EQ(test, c->reply, lists->nr_reply);
	if (c->read)
		KUNIT_EXPECT_EQ(test, c->position, lists->chunks[0].position);
	/* RFC 8166 section 3.4.5.2: an item without its padding */
	if (c->read && c->position)
		KUNIT_EXPECT_EQ(test, c->shape.pages, lists->chunks[0].length);
	if (c->write)
		KUNIT_EXPECT_EQ(test, c->write_length,
				rpcrdma_write_chunk(lists, 0)->length);
	if (c->reply)
		KUNIT_EXPECT_EQ(test, c->reply_length, rpcrdma_reply_chunk(lists)->length);
}

static void marshal_server_sees_the_call(struct kunit *test)
{
	const struct call_case *c = test->param_value;
	struct client *client = client_of(test);
	struct client_call *call = client_call_create(client, &c->shape);

	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	KUNIT_EXPECT_LE(test, fake_last_wr(client->qp)->sge[0].length, 4096U);
	client_call_decode(call);
	expect_chunks(call, c);
	client_call_expect_message(call);

	/* One registration for each segment, and no other memory is exposed. */
	KUNIT_EXPECT_EQ(test, call->lists.nr_segments + 1, fake_posted(client->qp));
	KUNIT_EXPECT_EQ(test, call->lists.nr_segments, fake_valid_rkeys(client->fake));
}

/* It was sent before, on a connection with smaller messages, where it needed memory. */
static void marshal_inline_call_has_nothing_of_the_last_one(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { GETATTR };
	struct client_call *call = client_call_create(client, &shape);
	struct xprtrdma_request *request = xprtrdma_request_of(&call->rqst);

	request->rq_by_history = true;
	request->rq_left_open = true;
	request->rq_write_capacity = 8192;
	request->rq_reply_capacity = 8192;
	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	KUNIT_EXPECT_FALSE(test, request->rq_by_history);
	KUNIT_EXPECT_FALSE(test, request->rq_left_open);
	KUNIT_EXPECT_EQ(test, 0, request->rq_write_capacity);
	KUNIT_EXPECT_EQ(test, 0, request->rq_reply_capacity);
}

/* RFC 8166 section 8.2.2.3 */
static void marshal_gss_integrity_suppresses_reduction(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape write = { WRITES(8192) }, read = { READS(8192) };
	struct client_call *call;

	set_bit(RPCAUTH_AUTH_DATATOUCH, &client->auth.au_flags);

	call = client_call_create(client, &write);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	client_call_decode(call);
	KUNIT_EXPECT_EQ(test, RPCRDMA_NOMSG, call->header.proc);
	KUNIT_EXPECT_NOT_NULL(test, rpcrdma_position_zero_chunk(&call->lists));
	client_call_expect_message(call);

	call = client_call_create(client, &read);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	client_call_decode(call);
	KUNIT_EXPECT_EQ(test, 0, call->lists.nr_write);
	KUNIT_ASSERT_EQ(test, 1, call->lists.nr_reply);
	KUNIT_EXPECT_EQ(test, 128 + 8192 + 16, rpcrdma_reply_chunk(&call->lists)->length);
}

static void marshal_fills_sparse_pages(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { .head = 64, .reply_head = 64, .reply_base = 100,
				      .reply_pages = 3 * PAGE_SIZE, .reply_tail = 8,
				      .sparse = true };
	struct client_call *call = client_call_create(client, &shape);
	int i;

	/* Arrange: one is there already */
	call->reply_pages[1] = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_NOT_NULL(test, call->reply_pages[i]);
	KUNIT_EXPECT_NULL(test, call->reply_pages[4]);
	client_call_decode(call);
	KUNIT_ASSERT_EQ(test, 1, call->lists.nr_reply);
	KUNIT_EXPECT_EQ(test, 64 + 3 * PAGE_SIZE + 8,
			rpcrdma_reply_chunk(&call->lists)->length);
}

struct refused_case {
	const char		*desc;
	struct client_shape	shape;
	bool			refused;
};

/* Regions of one page each, so 16 of them carry 64 KiB. */
static const struct refused_case refused_cases[] = {
	{ "reducible call", { WRITES(17 * PAGE_SIZE) }, true },
	{ "call", { .head = 64, .pages = 17 * PAGE_SIZE, .reply_head = 64 }, true },
	{ "shifted call", { .head = 64, .base = 1, .pages = 16 * PAGE_SIZE,
	  .reply_head = 64 }, true },
	{ "reducible reply", { READS(17 * PAGE_SIZE) }, true },
	{ "reply", { .head = 64, .reply_head = 64, .reply_pages = 16 * PAGE_SIZE,
	  .reply_tail = 8 }, true },
	{ "largest reducible call", { WRITES(16 * PAGE_SIZE) } },
	{ "largest reducible reply", { READS(16 * PAGE_SIZE) } },
};

KUNIT_ARRAY_PARAM_DESC(refused, refused_cases, desc);

static void marshal_too_many_segments(struct kunit *test)
{
	const struct refused_case *c = test->param_value;
	struct client *client = client_of(test);
	struct client_call *call;

	/* Arrange: another connection */
	client_disconnect(client);
	client->fake->ib.attrs.max_fast_reg_page_list_len = 1;
	client_connect(client);
	client_open_window(client, 16);
	call = client_call_create(client, &c->shape);

	KUNIT_EXPECT_EQ(test, 0, client_call_send(call));
	if (!c->refused)
		return;
	KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
	KUNIT_EXPECT_EQ(test, 1, client->transport->xt_stats.failed_marshal_count);
	KUNIT_EXPECT_EQ(test, 0, client->conn->xc_window.in_flight);
	KUNIT_EXPECT_EQ(test, client->conn->xc_queues.send_slots, client_free_sends(client));
	client_expect_at_rest(client);
	client_call_expect_error(call, -EIO);
}

/* The worker allocates, and SUNRPC sends again. */
static void marshal_waits_for_regions(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { READS(8192) };
	struct client_call *call = client_call_create(client, &shape);
	LIST_HEAD(taken);

	/* Arrange: an empty pool */
	spin_lock(&client->conn->xc_lock);
	list_splice_init(&client->conn->xc_mr.free, &taken);
	spin_unlock(&client->conn->xc_lock);

	KUNIT_EXPECT_EQ(test, -EAGAIN, client_call_send(call));
	KUNIT_EXPECT_EQ(test, 0, client->conn->xc_window.in_flight);
	KUNIT_EXPECT_EQ(test, client->conn->xc_queues.send_slots, client_free_sends(client));

	flush_work(&client->conn->xc_mr.worker);
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
	KUNIT_EXPECT_EQ(test, 0, client_call_send(call));
	spin_lock(&client->conn->xc_lock);
	list_splice_init(&taken, &client->conn->xc_mr.free);
	spin_unlock(&client->conn->xc_lock);
}

static void marshal_device_refuses_the_mapping(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { READS(8192) };
	struct client_call *call = client_call_create(client, &shape);

	client->fake->map_accept = 0;
	KUNIT_EXPECT_EQ(test, 0, client_call_send(call));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
	KUNIT_EXPECT_EQ(test, 0, client->conn->xc_window.in_flight);
	client_expect_at_rest(client);
	client_call_expect_error(call, -EIO);
}

static void marshal_respects_the_servers_threshold(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { .head = 1024 - 28, .reply_head = 1024 - 28 };
	struct client_call *call;

	/* Arrange: RFC 8166 section 3.3.3, nothing is known of the server */
	client_disconnect(client);
	fake_cm.heard.length = 0;
	client_connect(client);
	client_open_window(client, 16);

	call = client_call_create(client, &shape);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	client_call_decode(call);
	KUNIT_EXPECT_EQ(test, 1024, fake_last_wr(client->qp)->sge[0].length);
	KUNIT_EXPECT_EQ(test, 0, call->lists.nr_segments);

	shape.head += 4;
	shape.reply_head += 4;
	call = client_call_create(client, &shape);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	client_call_decode(call);
	KUNIT_EXPECT_EQ(test, RPCRDMA_NOMSG, call->header.proc);
	KUNIT_EXPECT_EQ(test, 1, call->lists.nr_reply);
	client_call_expect_message(call);
}

/* A server that exposes replies, and takes @reads RDMA Reads at a time */
static void connect_to_a_provider(struct client *client, u8 reads)
{
	struct rpcrdma_cm_private server = {
		.send_size = 4096, .recv_size = 4096,
		.extensions = RPCRDMA_EXT_PROVIDES_READ_CHUNKS,
	};

	client_disconnect(client);
	client_server_takes(reads);
	fake_cm.heard.length = rpcrdma_cm_private_encode(&server, fake_cm.heard.private);
	client_connect(client);
	client_open_window(client, 16);
	KUNIT_ASSERT_TRUE(client->test, client->conn->xc_inline.read_chunk_replies);
}

/* What cannot be read later is given a place now. */
static void marshal_replies_that_cannot_be_read(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { .head = 64, .reply_head = 6000 };
	struct client_call *call;
	int reads;

	for (reads = 0; reads < 2; reads++) {
		connect_to_a_provider(client, reads);
		call = client_call_create(client, &shape);
		KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
		client_call_decode(call);
		KUNIT_EXPECT_EQ(test, !reads, call->lists.nr_reply);
	}
}

/* And one that is exposed all the same is refused, without a Read. */
static void marshal_nothing_is_read_at_depth_0(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { .head = 64, .reply_head = 64 };
	struct rpcrdma_segment segment = { .handle = 1, .length = 40 }, segments[1];
	struct rpcrdma_header header = { .vers = 1, .credits = 16, .proc = RPCRDMA_NOMSG };
	struct rpcrdma_chunk chunks[1];
	struct rpcrdma_chunk_lists lists;
	struct client_call *call;
	u8 message[128];

	connect_to_a_provider(client, 0);
	call = client_sent(client, &shape);
	rpcrdma_lists_init(&lists, segments, 1, chunks, 1);
	rpcrdma_lists_begin_read(&lists, 0);
	rpcrdma_lists_add_segment(&lists, segment);
	header.xid = be32_to_cpu(call->rqst.rq_xid);
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK,
			rpcrdma_header_encode(&header, &lists, message, sizeof(message)));
	fake_mark(client->qp);
	KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message, header.size));
	flush_delayed_work(&client->conn->xc_pull.worker);
	client_call_expect_error(call, -EIO);
	KUNIT_ASSERT_EQ(test, 1, fake_posted(client->qp));
	client_call_decode(call);
	KUNIT_EXPECT_EQ(test, RPCRDMA_DONE, call->header.proc);
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(client->conn));
}

static struct kunit_case marshal_cases[] = {
	KUNIT_CASE_PARAM(marshal_server_sees_the_call, call_gen_params),
	KUNIT_CASE(marshal_inline_call_has_nothing_of_the_last_one),
	KUNIT_CASE(marshal_gss_integrity_suppresses_reduction),
	KUNIT_CASE(marshal_fills_sparse_pages),
	KUNIT_CASE_PARAM(marshal_too_many_segments, refused_gen_params),
	KUNIT_CASE(marshal_waits_for_regions),
	KUNIT_CASE(marshal_device_refuses_the_mapping),
	KUNIT_CASE(marshal_respects_the_servers_threshold),
	KUNIT_CASE(marshal_replies_that_cannot_be_read),
	KUNIT_CASE(marshal_nothing_is_read_at_depth_0),
	{}
};

static struct kunit_suite marshal_suite = {
	.name = "xprtrdma_marshal",
	.init = client_open_init,
	.test_cases = marshal_cases,
};

kunit_test_suite(marshal_suite);
