// SPDX-License-Identifier: GPL-2.0-only
/*
 * Client and server over the provider in memory: each way in which a call and its reply
 * can travel, byte for byte, as InfiniBand and as iWARP.
 */
#include "transfer.h"

KUNIT_ARRAY_PARAM_DESC(transfer, transfer_cases, desc);

static void check_transfer(struct kunit *test, bool iwarp)
{
	struct pair *pair = pair_create(test, iwarp);

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	transfer_exchange(pair_of(test), test->param_value);
	pair_expect_at_rest(pair);
	transfer_exchange(pair_of(test), test->param_value);
	pair_expect_at_rest(pair);
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

/*
 * RFC 4296 section 2.2 (A4, A5, A6): the bytes arrive, in order, where they belong; a
 * complaint of the provider fails the case.
 */
static void transfer_on_infiniband(struct kunit *test)
{
	check_transfer(test, false);
}

static void transfer_on_iwarp(struct kunit *test)
{
	check_transfer(test, true);
}

/* RFC 5040 section 5.5, 3: RDMA Writes are placed in any order before the Send. */
static void transfer_with_writes_backwards(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);

	pair->server_device->reverse_writes = true;
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	transfer_exchange(pair_of(test), test->param_value);
	pair_expect_at_rest(pair);
}

/* What does not fit goes into the next region, and is not mapped twice. */
static void regions_take_a_part(struct kunit *test)
{
	static const struct client_shape shape = {
		.head = 160, .pages = 9 * PAGE_SIZE, .base = 77, .tail = 40, .write = true,
		.reply_head = 128, .reply_pages = 20000, .reply_tail = 64, .read = true,
	};
	struct transfer_case c = { "", shape, { 128, 19999, 20 } };
	struct pair *pair = pair_create(test, false);

	pair->client_device->map_takes = 3;
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	client_call_destroy(transfer_exchange(pair, &c));
	pair_expect_at_rest(pair);
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

/* RFC 4296 section 2.2.1 (A4): many calls; answers in the order of the calls. */
static void many_calls_at_once(struct kunit *test)
{
	static const struct client_shape shape = { READS(20000) };
	struct pair *pair = pair_create(test, false);
	struct client_call *calls[16];
	int i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	pair_grow(pair);
	transfer_exchange(pair_of(test), &transfer_cases[0]);
	pair->answer = (struct pair_answer) { 128, 19999, 20 };
	for (i = 0; i < 16; i++) {
		calls[i] = client_call_create(&pair->client, &shape);
		KUNIT_ASSERT_EQ(test, 0, client_call_send(calls[i]));
	}
	pair_pump(pair);
	for (i = 0; i < 16; i++)
		client_call_expect_reply(calls[i], 128, 19999, 20);
	KUNIT_EXPECT_EQ(test, 17, pair->answers);
	pair_expect_at_rest(pair);
}

/* Long enough for every queue to go round. */
static void calls_go_round_the_queues(struct kunit *test)
{
	static const u8 which[] = { 0, 7, 11, 16, 23, 26 };
	struct pair *pair = pair_create(test, true);
	int i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	for (i = 0; i < 300; i++)
		client_call_destroy(transfer_exchange(pair_of(test), &transfer_cases[which[i % 6]]));
	pair_expect_at_rest(pair);
}

/* RFC 4296 section 3 (A8): when the RPC ends, its memory is the consumer's alone. */
static void memory_is_fenced_when_the_rpc_ends(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	transfer_exchange(pair_of(test), &transfer_cases[26]);
	KUNIT_EXPECT_EQ(test, 0, memory_valid_keys(pair->client_device));
	/* One of the two was the server's to invalidate. */
	KUNIT_EXPECT_EQ(test, 1, pair->client.transport->xt_stats.local_inv_needed);
}

static struct kunit_case transfer_test_cases[] = {
	KUNIT_CASE_PARAM(transfer_on_infiniband, transfer_gen_params),
	KUNIT_CASE_PARAM(transfer_on_iwarp, transfer_gen_params),
	KUNIT_CASE_PARAM(transfer_with_writes_backwards, transfer_gen_params),
	KUNIT_CASE(regions_take_a_part),
	KUNIT_CASE(many_calls_at_once),
	KUNIT_CASE_SLOW(calls_go_round_the_queues),
	KUNIT_CASE(memory_is_fenced_when_the_rpc_ends),
	{}
};

static struct kunit_suite transfer_suite = {
	.name = "memory_transfer",
	.suite_init = pair_suite_init,
	.suite_exit = pair_suite_exit,
	.test_cases = transfer_test_cases,
};

kunit_test_suite(transfer_suite);
