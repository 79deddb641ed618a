// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of random shape, most of which have one item in one region. The message has to be the one
 * that rpcrdma_plan_call() has planned, and the memory has to be that of the call.
 */
#include <linux/prandom.h>

#include "client.h"

enum { ROUNDS = 400, DEPTH = 4, INLINE = CLIENT_MESSAGE };

/* At most @most, near what fits in a message, or near what fits in a region */
static u32 random_length(struct rnd_state *random, u32 most)
{
	static const u32 near[] = { 0, INLINE - 200, INLINE - 60, INLINE / 2, DEPTH * PAGE_SIZE };
	u32 length = near[prandom_u32_state(random) % ARRAY_SIZE(near)] +
		     prandom_u32_state(random) % (prandom_u32_state(random) % 2 ? 300 : 40);

	if (prandom_u32_state(random) % 4)
		length &= ~3U;
	return min(length, most);
}

static void random_shape(struct rnd_state *random, struct client_shape *shape)
{
	bool write = prandom_u32_state(random) % 2, read = prandom_u32_state(random) % 2;

	*shape = (struct client_shape) {
		.head		= 8 + random_length(random, write ? 400 : 6000),
		.base		= prandom_u32_state(random) % 2 ? random_length(random, 8000) : 0,
		.pages		= write ? random_length(random, U32_MAX) : 0,
		.tail		= prandom_u32_state(random) % 2 ? 40 : 0,
		.write		= write && prandom_u32_state(random) % 8,
		.reply_head	= 64 + (random_length(random, read ? 400 : 6000) & ~3U),
		.reply_base	= prandom_u32_state(random) % 2 ? random_length(random, 8000) : 0,
		.reply_pages	= read ? random_length(random, U32_MAX) : 0,
		.reply_tail	= 4 + (random_length(random, 300) & ~3U),
		.read		= read && prandom_u32_state(random) % 8,
	};
}

static u32 regions_for(u32 base, u32 length)
{
	return length ? DIV_ROUND_UP(PFN_UP(offset_in_page(base) + length), DEPTH) : 0;
}

/* Of the heads and tails, which lie together; none is longer than a region. */
static u32 kvec_regions(const struct xdr_buf *buf)
{
	return !!buf->head[0].iov_len + !!buf->tail[0].iov_len;
}

static void plan(struct client_call *call, const struct client_shape *shape, bool reducible,
		 bool pullable, bool large, struct rpcrdma_call_plan *plan)
{
	const struct xdr_buf *snd = &call->rqst.rq_snd_buf, *rcv = &call->rqst.rq_rcv_buf;
	struct rpcrdma_call_shape known = {
		.call_length		= snd->len,
		.call_segments		= regions_for(shape->base, shape->pages) +
					  kvec_regions(snd),
		.reply_length		= rcv->buflen,
		.reply_segments		= regions_for(shape->reply_base, shape->reply_pages) +
					  kvec_regions(rcv),
		.inline_send		= INLINE,
		.inline_recv		= INLINE,
		.may_reduce		= reducible,
		.reply_pullable		= pullable,
		.expect_large		= large,
	};

	if (shape->write && shape->pages) {
		known.call_position = shape->head;
		known.call_item_length = shape->pages;
		known.call_item_segments = regions_for(shape->base, shape->pages);
	}
	if (shape->read && shape->reply_pages) {
		known.reply_item_length = shape->reply_pages;
		known.reply_item_segments = regions_for(shape->reply_base, shape->reply_pages);
	}
	KUNIT_ASSERT_TRUE(call->client->test, rpcrdma_plan_call(&known, plan));
}

static u32 chunk_count(const struct rpcrdma_chunk_lists *lists)
{
	return lists->nr_read + lists->nr_write + lists->nr_reply;
}

/* No element is empty, and no page is there twice. */
static void expect_elements(struct client_call *call, u32 count)
{
	struct xprtrdma_mr_list *mrs = &xprtrdma_request_of(&call->rqst)->rq_registered;
	struct rpcrdma_region *region;
	u32 seen = 0;

	list_for_each_entry(region, &mrs->ml_mrs, rg_list)
		seen += region->rg_nents;
	KUNIT_EXPECT_EQ(call->client->test, count, seen);
}

static void expect_planned(struct client_call *call, const struct client_shape *shape,
			   const struct rpcrdma_call_plan *plan)
{
	const struct xprtrdma_request *request = xprtrdma_request_of(&call->rqst);
	const struct rpcrdma_chunk_lists *lists = &call->lists;
	struct kunit *test = call->client->test;

	KUNIT_ASSERT_EQ(test, plan->position_zero ? RPCRDMA_NOMSG : RPCRDMA_MSG,
			call->header.proc);
	KUNIT_ASSERT_EQ(test, plan->position_zero || plan->read_chunk, lists->nr_read);
	KUNIT_ASSERT_EQ(test, plan->write_chunk, lists->nr_write);
	KUNIT_ASSERT_EQ(test, plan->reply_chunk, lists->nr_reply);
	KUNIT_EXPECT_EQ(test, plan->header_size, call->header.size);
	KUNIT_EXPECT_EQ(test, plan->inline_length, call->payload_length);
	KUNIT_EXPECT_EQ(test, plan->by_history, request->rq_by_history);
	KUNIT_EXPECT_EQ(test, plan->left_open, request->rq_left_open);
	if (lists->nr_read)
		KUNIT_EXPECT_EQ(test, plan->position_zero ? 0 : shape->head,
				lists->chunks[0].position);
	if (plan->read_chunk)
		KUNIT_EXPECT_EQ(test, shape->pages, lists->chunks[0].length);
	if (plan->read_chunk && chunk_count(lists) == 1)
		expect_elements(call, PFN_UP(offset_in_page(shape->base) + shape->pages));
	if (plan->write_chunk && chunk_count(lists) == 1)
		expect_elements(call, PFN_UP(offset_in_page(shape->reply_base) +
					     shape->reply_pages));
	KUNIT_EXPECT_EQ(test, plan->write_chunk ? shape->reply_pages : 0,
			request->rq_write_capacity);
	if (plan->write_chunk)
		KUNIT_EXPECT_EQ(test, shape->reply_pages, rpcrdma_write_chunk(lists, 0)->length);
	KUNIT_EXPECT_EQ(test, plan->reply_chunk ? rpcrdma_reply_chunk(lists)->length : 0,
			request->rq_reply_capacity);
	client_call_expect_message(call);
}

/* The server answers; with all of the item, which is where the consumer looks for it. */
static void expect_answer(struct client_call *call, const struct client_shape *shape)
{
	struct client_reply reply = { .proc = RPCRDMA_MSG, .length = 24 };

	if (call->lists.nr_write && !call->lists.nr_reply)
		reply = (struct client_reply) { .proc = RPCRDMA_MSG, .item = shape->reply_pages,
						.length = shape->reply_head };
	KUNIT_ASSERT_TRUE(call->client->test, client_reply_send(call, &reply));
	fake_run_all(call->client->qp);
	client_call_expect_reply(call, reply.length, reply.item, 0);
}

static void connect_with_small_regions(struct client *client, u16 extensions)
{
	struct rpcrdma_cm_private server = {
		.send_size = INLINE, .recv_size = INLINE, .extensions = extensions,
	};

	client_disconnect(client);
	client->fake->ib.attrs.max_fast_reg_page_list_len = DEPTH;
	fake_cm.heard.length = rpcrdma_cm_private_encode(&server, fake_cm.heard.private);
	client_connect(client);
	client_open_window(client, 16);
	KUNIT_ASSERT_EQ(client->test, DEPTH, client->conn->xc_queues.mr_pages);
	KUNIT_ASSERT_EQ(client->test, INLINE, client->conn->xc_inline.inline_send);
}

static void send_any(struct client *client, bool reducible, bool pullable)
{
	u32 i, arguments = 0, results = 0, others = 0;
	struct rpcrdma_call_plan planned;
	struct xprtrdma_request *request;
	struct kunit *test = client->test;
	struct client_shape shape;
	struct client_call *call;
	struct rnd_state random;
	bool large;

	prandom_seed_state(&random, 8166);
	for (i = 0; i < ROUNDS; i++) {
		random_shape(&random, &shape);
		call = client_call_create(client, &shape);
		large = prandom_u32_state(&random) % 2;
		/* All that is known of earlier replies */
		memset(&client->transport->xt_history, 0, sizeof(client->transport->xt_history));
		request = xprtrdma_request_of(&call->rqst);
		request->rq_again = large;
		/* Of an earlier connection */
		request->rq_by_history = true;
		request->rq_left_open = true;
		request->rq_write_capacity = 77;
		request->rq_reply_capacity = 77;
		plan(call, &shape, reducible, pullable, large, &planned);
		fake_mark(client->qp);
		KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
		client_call_decode(call);
		expect_planned(call, &shape, &planned);
		arguments += planned.read_chunk && !planned.reply_chunk;
		results += planned.write_chunk && !planned.reply_chunk &&
			   !planned.position_zero;
		others += planned.position_zero || planned.reply_chunk;
		expect_answer(call, &shape);
		client_call_destroy(call);
	}
	KUNIT_EXPECT_EQ(test, arguments > 20, reducible);
	KUNIT_EXPECT_EQ(test, results > 20, reducible);
	KUNIT_EXPECT_GT(test, others, 20);
}

static void item_any_call_is_as_planned(struct kunit *test)
{
	struct client *client = client_of(test);

	connect_with_small_regions(client, 0);
	send_any(client, true, false);
}

static void item_any_call_where_replies_are_exposed(struct kunit *test)
{
	struct client *client = client_of(test);

	client_server_takes(16);
	connect_with_small_regions(client, RPCRDMA_EXT_PROVIDES_READ_CHUNKS);
	send_any(client, true, true);
}

static void item_any_call_under_gss_integrity(struct kunit *test)
{
	struct client *client = client_of(test);

	set_bit(RPCAUTH_AUTH_DATATOUCH, &client->auth.au_flags);
	connect_with_small_regions(client, 0);
	send_any(client, false, false);
}

/* One region was thought to be enough. */
static void item_device_takes_fewer_pages(struct kunit *test)
{
	static const struct client_shape shapes[] = {
		{ .head = 160, .pages = 3 * PAGE_SIZE, .write = true, .reply_head = 112 },
		{ .head = 136, .reply_head = 128, .reply_pages = 3 * PAGE_SIZE, .read = true },
	};
	struct client *client = client_of(test);
	struct client_call *call;
	u32 i;

	connect_with_small_regions(client, 0);
	client->fake->map_takes = 2;
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		call = client_call_create(client, &shapes[i]);
		KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
		client_call_decode(call);
		KUNIT_EXPECT_EQ(test, 2, call->lists.nr_segments);
		KUNIT_EXPECT_EQ(test, 2, call->lists.chunks[0].count);
		KUNIT_EXPECT_EQ(test, 2, fake_valid_rkeys(client->fake));
		KUNIT_EXPECT_EQ(test, 3 * PAGE_SIZE, call->lists.chunks[0].length);
		client_call_expect_message(call);
		expect_answer(call, &shapes[i]);
	}
}

/* It would leave with the padding that is not there. */
static void item_argument_without_padding(struct kunit *test)
{
	static const struct client_shape shape = {
		.head = 160, .pages = 8193, .write = true, .reply_head = 112,
	};
	struct client *client = client_of(test);
	struct client_call *call = client_call_create(client, &shape);
	struct xdr_buf *buf = &call->rqst.rq_snd_buf;

	buf->len -= buf->tail[0].iov_len;
	buf->tail[0].iov_len = 0;
	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	client_call_decode(call);
	KUNIT_EXPECT_EQ(test, RPCRDMA_NOMSG, call->header.proc);
	KUNIT_ASSERT_EQ(test, 1, call->lists.nr_read);
	KUNIT_EXPECT_EQ(test, 0, call->lists.chunks[0].position);
	KUNIT_EXPECT_EQ(test, 160 + 8193, call->lists.chunks[0].length);
}

static struct kunit_case item_cases[] = {
	KUNIT_CASE(item_any_call_is_as_planned),
	KUNIT_CASE(item_any_call_where_replies_are_exposed),
	KUNIT_CASE(item_any_call_under_gss_integrity),
	KUNIT_CASE(item_device_takes_fewer_pages),
	KUNIT_CASE(item_argument_without_padding),
	{}
};

static struct kunit_suite item_suite = {
	.name = "xprtrdma_marshal_item",
	.init = client_open_init,
	.test_cases = item_cases,
};

kunit_test_suite(item_suite);
