// SPDX-License-Identifier: GPL-2.0-only
/*
 * Client and server over the provider in memory, with the queues, regions and depths of real
 * devices. All that is announced has to be usable at once, and the modules must not ask a device
 * for what it cannot do. A complaint of the provider fails the case.
 */
#include "pull.h"
#include "reverse.h"
#include "transfer.h"

static struct pair *connected(struct kunit *test)
{
	struct pair *pair = pair_create_as(test, test->param_value);

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	return pair;
}

static void exchange_transfers(struct pair *pair)
{
	int i;

	for (i = 0; i < TRANSFERS; i++) {
		client_call_destroy(transfer_exchange(pair, &transfer_cases[i]));
		pair_expect_at_rest(pair);
	}
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

static void shape_transfers(struct kunit *test)
{
	exchange_transfers(connected(test));
}

static void exchange_exposed_replies(struct pair *pair)
{
	static const struct pull_case cases[] = {
		PULL_8K, PULL_60K,
		{ "", { PLAIN(PAIR_PAYLOAD), .reply_base = 77 }, { 128, PAIR_PAYLOAD } },
	};
	unsigned long before = xprtrdma_replies_pulled;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		pull_forget(pair);
		pull_exchange(pair, &cases[i]);
		pull_expect_nothing_exposed(pair);
	}
	KUNIT_EXPECT_EQ(pair->test, before + ARRAY_SIZE(cases), xprtrdma_replies_pulled);
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

static void shape_exposed_replies(struct kunit *test)
{
	exchange_exposed_replies(connected(test));
}

/* RFC 5040 section 5.5, 9: on either side, nobody looks at what a Read brings before it is there. */
static void shape_late_reads(struct kunit *test)
{
	struct pair *pair = pair_create_as(test, test->param_value);

	pair->client_device->late_reads = true;
	pair->server_device->late_reads = true;
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	exchange_transfers(pair);
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	exchange_exposed_replies(pair);
}

static void shape_callbacks(struct kunit *test)
{
	struct reverse *reverse = reverse_create_as(test, test->param_value);
	static const u32 words[] = { 20, 768, 16384,
				     (SVCRDMA_MAX_CALLBACK - CB_CALL_HEADER) / 4 };
	int i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		reverse_exchange(reverse, words[i], 1, CB_LONG_CALL);
		reverse_expect_at_rest(reverse);
	}
	reverse_exchange(reverse, 20, (PAGE_SIZE - CB_REPLY_HEADER) / 4, CB_LONG_REPLY);
	reverse_expect_at_rest(reverse);
}

/* What is announced as the largest call or reply can be sent, however it lies in its pages. */
static void shape_largest_payload(struct kunit *test)
{
	struct pair *pair = connected(test);
	u32 pages = min(pair->client.conn->xc_queues.payload_pages, PAIR_PAYLOAD / PAGE_SIZE);
	u32 most = pages * PAGE_SIZE;
	struct transfer_case both[] = {
		{ "", { .head = 160, .pages = most, .tail = 40, .base = 77, .write = true,
		  .reply_head = 200 }, { 200 } },
		{ "", { READS(most), .reply_base = 77 }, { 128, most } },
	};
	int i;

	/* Who serves less is of no use to NFS. */
	KUNIT_EXPECT_GE(test, most, (u32)SZ_64K);
	for (i = 0; i < ARRAY_SIZE(both); i++) {
		client_call_destroy(transfer_exchange(pair, &both[i]));
		pair_expect_at_rest(pair);
	}
}

/* Each credit is worth a call with chunks, at the same time as all others. */
static void shape_all_credits(struct kunit *test)
{
	static const struct client_shape shape = {
		.head = 160, .pages = 5000, .base = 77, .tail = 40, .write = true,
		.reply_head = 128, .reply_pages = 20000, .reply_tail = 64, .read = true,
	};
	struct pair *pair = connected(test);
	struct client_call **calls;
	u32 i, count;

	client_call_destroy(transfer_exchange(pair, &transfer_cases[0]));
	pair_grow(pair);
	client_call_destroy(transfer_exchange(pair, &transfer_cases[0]));
	count = min(pair->client.conn->xc_queues.credits, pair->server->st_credits);
	calls = kunit_kcalloc(test, count, sizeof(*calls), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, calls);
	pair->answer = (struct pair_answer) { 128, 19999, 20 };
	for (i = 0; i < count; i++) {
		calls[i] = client_call_create(&pair->client, &shape);
		KUNIT_ASSERT_EQ_MSG(test, 0, pair_send(pair, calls[i]), "call %u", i);
	}
	pair_pump(pair);
	for (i = 0; i < count; i++)
		client_call_expect_reply(calls[i], 128, 19999, 20);
	pair_expect_at_rest(pair);
}

static void restore(void *data)
{
	svcrdma_max_requests = (unsigned long)data;
}

/* Grants of as many credits at most, until the test is over */
static void set_max_requests(struct kunit *test, unsigned int requests)
{
	void *before = (void *)(unsigned long)svcrdma_max_requests;

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, restore, before));
	svcrdma_max_requests = requests;
}

/* More slots, or more requests, never give fewer credits, and none gives more than it says. */
static void shape_credits_grow(struct kunit *test)
{
	struct pair *pair = pair_create_as(test, test->param_value);
	static const u32 slots[] = { 1, 2, 3, 16, 17, 64, 128, 256 };
	u32 client = 1, server = 1;
	int i;

	set_max_requests(test, slots[0]);
	for (i = 0; i < ARRAY_SIZE(slots); i++) {
		pair->client.xprt->max_reqs = slots[i];
		svcrdma_max_requests = slots[i];
		KUNIT_ASSERT_EQ_MSG(test, 0, pair_connect(pair), "%u slots", slots[i]);
		KUNIT_EXPECT_GE(test, pair->client.conn->xc_queues.credits, client);
		KUNIT_EXPECT_GE(test, pair->server->st_credits, server);
		client = pair->client.conn->xc_queues.credits;
		server = pair->server->st_credits;
		KUNIT_EXPECT_LE(test, client, slots[i]);
		KUNIT_EXPECT_LE(test, server, slots[i]);
		client_call_destroy(transfer_exchange(pair, &transfer_cases[26]));
		pair_disconnect(pair);
		pair_expect_nothing_left(pair);
	}
}

/* Connections are spread over the completion vectors that there are processors for. */
static void shape_vectors(struct kunit *test)
{
	const struct memory_shape *shape = test->param_value;
	u32 i, n, used[8] = {}, vectors = min(shape->vectors, num_online_cpus());
	struct pair *pair = pair_create_as(test, shape);

	KUNIT_ASSERT_LE(test, vectors, ARRAY_SIZE(used));
	for (i = 0; i < 2 * vectors; i++) {
		KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
		for (n = 0; n < PAIR_CQS; n++) {
			KUNIT_ASSERT_LT(test, pair_cq(pair, n)->comp_vector, vectors);
			used[pair_cq(pair, n)->comp_vector]++;
		}
		pair_disconnect(pair);
	}
	for (i = 0; i < vectors; i++)
		KUNIT_EXPECT_EQ_MSG(test, 2 * PAIR_CQS, used[i], "vector %u of %u", i, vectors);
}

/* The connection goes in the middle of a call, and the call goes out on the next one. */
static void shape_lost(struct kunit *test)
{
	struct pair *pair = connected(test);
	int steps;

	pair->answer = pair_answer;
	for (steps = 0; steps < 6; steps++) {
		struct client_call *call = pair_call(pair);

		memory_hold(pair->server->st_qp);
		KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
		pair_settle(pair);
		memory_run(pair->server->st_qp, steps);
		memory_lose(pair->client.conn->xc_id->qp);
		pair_disconnect(pair);
		pair_expect_nothing_left(pair);
		KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
		KUNIT_EXPECT_TRUE(test, pair_run_call(pair, call));
		pair_expect_answer(pair, call);
		client_call_destroy(call);
		pair_expect_at_rest(pair);
	}
}

/**
 * struct figures - what a connection takes of a device: the table of Documentation/devices.rst
 * @credits: the client's
 * @send: entries of its Send Queue
 * @pages: of one of its regions
 * @regions: of the largest call
 * @server_send: entries of the server's Send Queue
 * @server_regions: of rdma_rw
 */
struct figures {
	u32	credits;
	u32	send;
	u32	pages;
	u32	regions;
	u32	server_send;
	u32	server_regions;
};

/* In the order of memory_shapes */
static const struct figures figures[] = {
	{ 128, 497, 30, 14, 381, 0 },
	{ 128, 497, 30, 14, 429, 64 },
	{ 128, 417, 257, 6, 941, 0 },
	{ 128, 417, 257, 6, 557, 0 },
	{ 128, 417, 257, 6, 557, 0 },
	{ 128, 417, 257, 6, 429, 64 },
	{ 128, 417, 257, 6, 429, 64 },
	{ 128, 457, 64, 10, 317, 0 },
	{ 128, 437, 128, 8, 429, 64 },
	{ 128, 497, 32, 14, 669, 144 },
	{ 128, 427, 256, 7, 429, 64 },
	{ 128, 497, 32, 14, 381, 0 },
};

static void shape_figures(struct kunit *test)
{
	const struct memory_shape *shape = test->param_value;
	const struct figures *wanted = &figures[shape - memory_shapes];
	struct pair *pair = pair_create_as(test, shape);
	const struct rpcrdma_client_queues *queues;
	struct svcrdma_transport *t;

	pair->client.xprt->max_reqs = xprtrdma_slot_table_entries;
	set_max_requests(test, 64);
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	queues = &pair->client.conn->xc_queues;
	t = pair->server;
	KUNIT_EXPECT_EQ(test, wanted->credits, queues->credits);
	KUNIT_EXPECT_EQ(test, wanted->send, queues->send_wrs);
	KUNIT_EXPECT_EQ(test, wanted->credits + 35, queues->recv_wrs);
	KUNIT_EXPECT_EQ(test, wanted->pages, queues->mr_pages);
	KUNIT_EXPECT_EQ(test, wanted->regions, queues->mrs_per_call);
	KUNIT_EXPECT_EQ(test, 64, t->st_credits);
	KUNIT_EXPECT_EQ(test, 64 + 91, memory_qp_of(t->st_qp)->rq.size);
	KUNIT_EXPECT_EQ(test, wanted->server_send, memory_qp_of(t->st_qp)->sq.size);
	KUNIT_EXPECT_EQ(test, wanted->server_regions,
			(u32)atomic_read(&pair->server_device->nr_mrs));
	/* Buffers, when the connection begins, and with all credits; the same on each device */
	KUNIT_EXPECT_EQ(test, 30 * RPCRDMA_INLINE_USUAL, memory_mapped(pair->client_device));
	KUNIT_EXPECT_EQ(test, 34 * RPCRDMA_INLINE_USUAL, memory_mapped(pair->server_device));
	pair_grow(pair);
	KUNIT_EXPECT_EQ(test, 322 * RPCRDMA_INLINE_USUAL, memory_mapped(pair->client_device));
	KUNIT_EXPECT_EQ(test, 146 * RPCRDMA_INLINE_USUAL, memory_mapped(pair->server_device));
}

static struct kunit_case shape_test_cases[] = {
	KUNIT_CASE_PARAM(shape_transfers, pair_shape_params),
	KUNIT_CASE_PARAM(shape_exposed_replies, pair_shape_params),
	KUNIT_CASE_PARAM(shape_late_reads, pair_shape_params),
	KUNIT_CASE_PARAM(shape_callbacks, pair_shape_params),
	KUNIT_CASE_PARAM(shape_largest_payload, pair_shape_params),
	KUNIT_CASE_PARAM(shape_all_credits, pair_shape_params),
	KUNIT_CASE_PARAM(shape_credits_grow, pair_shape_params),
	KUNIT_CASE_PARAM(shape_vectors, pair_shape_params),
	KUNIT_CASE_PARAM(shape_lost, pair_shape_params),
	KUNIT_CASE_PARAM(shape_figures, pair_shape_params),
	{}
};

static struct kunit_suite shape_suite = {
	.name = "memory_shape",
	.suite_init = reverse_suite_init,
	.suite_exit = reverse_suite_exit,
	.test_cases = shape_test_cases,
};

kunit_test_suite(shape_suite);
