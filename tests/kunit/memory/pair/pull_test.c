// SPDX-License-Identifier: GPL-2.0-only
/*
 * Client and server over the provider in memory: replies that the server exposes and the
 * client reads, byte for byte. Reliable-reply draft, section 4.
 */
#include "pull.h"

static const struct pull_case pull_cases[] = {
	{ "head only", { .head = 64, .reply_head = 9000 }, { 2000, 3200, 40 } },
	{ "head and pages", { PLAIN(8192) }, { 128, 8192 } },
	PULL_8K,
	{ "odd length", { PLAIN(8195) }, { 128, 8193, 40 } },
	{ "odd offset", { PLAIN(9001), .reply_base = 1025 }, { 128, 9001 } },
	{ "one byte more than a message", { PLAIN(8192) }, { 128, RPCRDMA_INLINE_USUAL - RPCRDMA_MIN_HEADER_SIZE + 4 - 128 } },
	PULL_60K,
	{ "1 MiB", { PLAIN(1 << 20) }, { 128, 1 << 20 } },
	{ "1 MiB at an odd offset", { PLAIN(1 << 20), .reply_base = 77 }, { 128, 1 << 20 } },
	{ "an item that might have been small", { READS(10236) }, { 128, 10236, 40 } },
};

KUNIT_ARRAY_PARAM_DESC(pull, pull_cases, desc);

static void check_pull(struct kunit *test, bool iwarp)
{
	unsigned long before = xprtrdma_replies_pulled;
	struct pair *pair = pair_create(test, iwarp);
	int i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	for (i = 0; i < 3; i++) {
		pull_exchange(pair, test->param_value);
		pull_expect_nothing_exposed(pair);
		pull_forget(pair);
	}
	KUNIT_EXPECT_EQ(test, before + 3, xprtrdma_replies_pulled);
	KUNIT_EXPECT_EQ(test, 0, pair->client.transport->xt_stats.reply_chunk_count);
	KUNIT_EXPECT_EQ(test, 0, pair->client.transport->xt_stats.write_chunk_count);
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

/* Draft section 4.1.2. */
static void pull_on_infiniband(struct kunit *test)
{
	check_pull(test, false);
}

static void pull_on_iwarp(struct kunit *test)
{
	check_pull(test, true);
}

/* Draft section 5.3.1: the second time memory is offered, and used. */
static void next_call_offers_memory(struct kunit *test)
{
	unsigned long before = xprtrdma_replies_pulled;
	struct pair *pair = pair_create(test, false);

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	pull_exchange(pair, &pull_8k);
	KUNIT_EXPECT_EQ(test, 0, pair->client.transport->xt_stats.reply_chunk_count);
	pull_exchange(pair, &pull_8k);
	KUNIT_EXPECT_NE(test, 0, pair->client.transport->xt_stats.reply_chunk_count);
	KUNIT_EXPECT_EQ(test, before + 1, xprtrdma_replies_pulled);
	pull_expect_nothing_exposed(pair);
}

/* Small replies cost nothing, and teach that. */
static void small_replies_register_nothing(struct kunit *test)
{
	static const struct pull_case small = { "", { PLAIN(61440) }, { 128, 100 } };
	struct pair *pair = pair_create(test, false);
	int i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	pair_grow(pair);
	for (i = 0; i < 20; i++)
		pull_exchange(pair, &small);
	KUNIT_EXPECT_EQ(test, 0, pair->client.transport->xt_stats.reply_chunk_count);
	KUNIT_EXPECT_EQ(test, 0, memory_seen(pair->client_device, MEMORY_MAP_MR));
}

/* The consumer was wrong about its reply: it gets @bytes, and the server nothing to keep. */
static void check_cut(struct kunit *test, const struct pull_case *c, u32 bytes)
{
	unsigned long before = xprtrdma_replies_pulled;
	struct pair *pair = pair_create(test, false);
	const struct xprtrdma_stats *stats = &pair->client.transport->xt_stats;
	struct client_call *call;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	pull_exchange(pair, &pull_8k);
	call = pull_begin(pair, c);
	KUNIT_EXPECT_NE(test, 0, c->shape.read ? stats->write_chunk_count :
						 stats->reply_chunk_count);
	pair_pump(pair);
	KUNIT_EXPECT_TRUE(test, client_call_done(call));
	KUNIT_EXPECT_EQ(test, 0, call->task.tk_status);
	KUNIT_EXPECT_EQ(test, bytes, call->rqst.rq_reply_bytes_recvd);
	KUNIT_EXPECT_EQ(test, before + 2, xprtrdma_replies_pulled);
	pull_expect_nothing_exposed(pair);
}

/* With a Reply chunk that is too small */
static void more_than_the_consumer_has_room_for(struct kunit *test)
{
	static const struct pull_case c = { "", { PLAIN(6000) }, { 128, 20000 } };

	check_cut(test, &c, 128 + 6000 + 64);
}

/* The item has gone into its Write chunk, and the rest does not fit around it. */
static void more_than_there_is_room_for_beside_an_item(struct kunit *test)
{
	static const struct pull_case c = { "", { READS(10240) }, { 1000, 10240, 4092 } };

	check_cut(test, &c, 128 + 10240 + 64);
}

static void switched_off(struct kunit *test, unsigned int *knob)
{
	unsigned long before = xprtrdma_replies_pulled;
	struct pair *pair = pair_create(test, false);

	*knob = 0;
	KUNIT_EXPECT_EQ(test, 0, pair_connect(pair));
	*knob = 1;
	pull_exchange(pair, &pull_8k);
	KUNIT_EXPECT_FALSE(test, pair->client.conn->xc_inline.read_chunk_replies);
	KUNIT_EXPECT_FALSE(test, pair->server->st_agreed.read_chunk_replies);
	KUNIT_EXPECT_NE(test, 0, pair->client.transport->xt_stats.reply_chunk_count);
	KUNIT_EXPECT_EQ(test, before, xprtrdma_replies_pulled);
}

static void client_switched_off(struct kunit *test)
{
	switched_off(test, &xprtrdma_reliable_reply);
}

static void server_switched_off(struct kunit *test)
{
	switched_off(test, &svcrdma_reliable_reply);
}

/* Draft section 4.1.3: a killed RPC's reply is not read, but the server is told. */
static void nobody_waits_for_the_reply(struct kunit *test)
{
	unsigned long before = xprtrdma_replies_pulled;
	struct pair *pair = pair_create(test, false);

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	pull_exchange(pair, &pull_8k);
	pull_forget(pair);
	client_call_destroy(pull_begin(pair, &pull_60k));
	pair_pump(pair);
	KUNIT_EXPECT_EQ(test, before + 1, xprtrdma_replies_pulled);
	pull_expect_nothing_exposed(pair);
	pull_exchange(pair, &pull_8k);
}

/*
 * Beyond the bound of the server: ERR_CHUNK for that call, and nothing worse. It goes out
 * once more, with memory for the reply, whether its task slept already or not.
 */
static void bound_of_the_server(struct kunit *test)
{
	unsigned int limit = svcrdma_max_exposed_bytes;
	struct pair *pair = pair_create(test, false);
	struct client_call *call;
	int i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	for (i = 0; i < 2; i++) {
		pull_exchange(pair, &pull_8k);
		pull_forget(pair);
		call = pull_begin(pair, &pull_60k);
		if (i)
			client_call_wait(call);
		svcrdma_max_exposed_bytes = 40960;
		pair_pump(pair);
		client_call_wait(call);
		KUNIT_EXPECT_FALSE(test, client_call_done(call));
		KUNIT_EXPECT_EQ(test, -ENOTCONN, call->task.tk_status);
		call->task.tk_status = 0;
		pull_forget(pair);
		KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
		client_call_wait(call);
		pair_pump(pair);
		client_call_expect_reply(call, 128, 61440, 4);
		KUNIT_EXPECT_NE(test, 0, pair->client.transport->xt_stats.reply_chunk_count);
		svcrdma_max_exposed_bytes = limit;
		pull_forget(pair);
	}
	pull_expect_nothing_exposed(pair);
}

/* A second refusal is final: RFC 8166 section 4.5. */
static void refused_twice(struct kunit *test)
{
	unsigned int limit = svcrdma_max_exposed_bytes;
	struct pair *pair = pair_create(test, false);
	struct client_call *call;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	pull_exchange(pair, &pull_8k);
	pull_forget(pair);
	call = pull_begin(pair, &pull_60k);
	xprtrdma_request_of(&call->rqst)->rq_again = true;
	svcrdma_max_exposed_bytes = 40960;
	pair_pump(pair);
	svcrdma_max_exposed_bytes = limit;
	client_call_expect_error(call, -EIO);
	pull_expect_nothing_exposed(pair);
}

/* As many as there are credits, all at once; the client reads a few at a time. */
static void many_at_once(struct kunit *test)
{
	struct pair *pair = pair_create(test, true);
	struct client_call *calls[16];
	int i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	pair_grow(pair);
	pull_exchange(pair, &pull_8k);
	pull_forget(pair);
	for (i = 0; i < 16; i++)
		calls[i] = pull_begin(pair, &pull_60k);
	pair_pump(pair);
	for (i = 0; i < 16; i++)
		client_call_expect_reply(calls[i], 128, 61440, 4);
	pull_expect_nothing_exposed(pair);
}

static struct kunit_case pull_test_cases[] = {
	KUNIT_CASE_PARAM(pull_on_infiniband, pull_gen_params),
	KUNIT_CASE_PARAM(pull_on_iwarp, pull_gen_params),
	KUNIT_CASE(next_call_offers_memory),
	KUNIT_CASE(small_replies_register_nothing),
	KUNIT_CASE(more_than_the_consumer_has_room_for),
	KUNIT_CASE(more_than_there_is_room_for_beside_an_item),
	KUNIT_CASE(client_switched_off),
	KUNIT_CASE(server_switched_off),
	KUNIT_CASE(nobody_waits_for_the_reply),
	KUNIT_CASE(bound_of_the_server),
	KUNIT_CASE(refused_twice),
	KUNIT_CASE(many_at_once),
	{}
};

static struct kunit_suite pull_suite = {
	.name = "memory_pull",
	.suite_init = pair_suite_init,
	.suite_exit = pair_suite_exit,
	.test_cases = pull_test_cases,
};

kunit_test_suite(pull_suite);
