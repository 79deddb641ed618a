// SPDX-License-Identifier: GPL-2.0
/*
 * Client and server over the provider in memory: each way in which a call and its reply
 * can travel, byte for byte, as InfiniBand and as iWARP.
 */
#include "../../client/reply.h"
#include "pair.h"

/**
 * struct transfer_case - an RPC
 * @desc: name
 * @shape: what the client encodes, and has room for
 * @answer: what nfsd answers
 */
struct transfer_case {
	const char		*desc;
	struct client_shape	shape;
	struct pair_answer	answer;
};

#define WRITES(n)	.head = 160, .pages = (n), .tail = 40, .write = true, \
			.reply_head = 200

static const struct transfer_case transfer_cases[] = {
	{ "inline", { .head = 64, .reply_head = 256 }, { 200 } },
	{ "inline, smallest", { .head = 40, .reply_head = 64 }, { 24 } },
	{ "inline, call fills the buffer", { .head = 4068, .reply_head = 64 }, { 24 } },
	{ "inline, reply fills the buffer", { .head = 64, .reply_head = 4068 }, { 4068 } },
	{ "Read chunk, 0", { WRITES(8192) }, { 200 } },
	{ "Read chunk, 1", { WRITES(8193) }, { 200 } },
	{ "Read chunk, 2", { WRITES(8194) }, { 200 } },
	{ "Read chunk, 3", { WRITES(8195) }, { 200 } },
	{ "Read chunk at an odd offset", { WRITES(9001), .base = 4001 }, { 200 } },
	{ "Read chunk of 1 MiB", { WRITES(1 << 20) }, { 200 } },
	{ "Read chunk of 1 MiB at an odd offset", { WRITES(1 << 20), .base = 77 }, { 200 } },
	{ "Position Zero Read chunk", { .head = 160, .pages = 20000, .tail = 40,
	  .reply_head = 200 }, { 200 } },
	{ "Position Zero Read chunk, long head", { .head = 9000, .reply_head = 200 }, { 200 } },
	{ "Write chunk, 0", { READS(8192) }, { 128, 8192 } },
	{ "Write chunk, 1", { READS(8193) }, { 128, 8193 } },
	{ "Write chunk, 2", { READS(8194) }, { 128, 8194 } },
	{ "Write chunk, 3", { READS(8195) }, { 128, 8195 } },
	{ "Write chunk and tail", { READS(8195) }, { 128, 8195, 40 } },
	{ "Write chunk, short", { READS(8192) }, { 128, 5001, 40 } },
	{ "Write chunk at an odd offset", { READS(9000), .reply_base = 2049 },
	  { 128, 9000, 4 } },
	{ "Write chunk of 1 MiB", { READS(1 << 20) }, { 128, 1 << 20 } },
	{ "Write chunk of 1 MiB at an odd offset", { READS(1 << 20), .reply_base = 77 },
	  { 128, 1 << 20 } },
	{ "Write chunk that is not used", { READS(8192) }, { 100 } },
	{ "Reply chunk", { PLAIN(8192) }, { 128, 8192, 40 } },
	{ "Reply chunk at an odd offset", { PLAIN(9001), .reply_base = 1025 },
	  { 128, 9001 } },
	{ "Reply chunk that is not used", { PLAIN(8192) }, { 100 } },
	{ "Read chunk and Write chunk", { .head = 160, .pages = 8195, .tail = 40,
	  .write = true, .reply_head = 128, .reply_pages = 9001, .reply_tail = 64,
	  .read = true }, { 128, 9001, 20 } },
	{ "Read chunk and Reply chunk", { .head = 160, .pages = 8195, .tail = 40,
	  .write = true, .reply_head = 128, .reply_pages = 9001, .reply_tail = 64 },
	  { 128, 9001, 20 } },
	{ "Position Zero Read chunk and Reply chunk", { .head = 160, .pages = 8195,
	  .tail = 40, .reply_head = 128, .reply_pages = 9001, .reply_tail = 64 },
	  { 128, 9001, 20 } },
	{ "Write chunk and Reply chunk", { .head = 136, .reply_head = 3000,
	  .reply_pages = 8192, .reply_tail = 3000, .read = true }, { 3000, 8192, 1000 } },
	{ "512 KiB there and back", { .head = 160, .pages = 1 << 19, .write = true,
	  .reply_head = 128, .reply_pages = 1 << 19, .reply_tail = 64, .read = true },
	  { 128, 1 << 19 } },
};

KUNIT_ARRAY_PARAM_DESC(transfer, transfer_cases, desc);

static struct client_call *exchange(struct kunit *test, const struct transfer_case *c)
{
	struct pair *pair = pair_of(test);
	struct client_call *call = client_call_create(&pair->client, &c->shape);

	pair->answer = c->answer;
	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	pair_pump(pair);
	pair_expect_call(pair, call);
	client_call_expect_reply(call, c->answer.head, c->answer.item, c->answer.tail);
	return call;
}

static void check_transfer(struct kunit *test, bool iwarp)
{
	struct pair *pair = pair_create(test, iwarp);

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	exchange(test, test->param_value);
	pair_expect_at_rest(pair);
	exchange(test, test->param_value);
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
	exchange(test, test->param_value);
	pair_expect_at_rest(pair);
}

/* RFC 4296 section 2.2.1 (A4): many calls; answers in the order of the calls. */
static void many_calls_at_once(struct kunit *test)
{
	static const struct client_shape shape = { READS(20000) };
	struct pair *pair = pair_create(test, false);
	struct client_call *calls[16];
	int i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	exchange(test, &transfer_cases[0]);
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
		client_call_destroy(exchange(test, &transfer_cases[which[i % 6]]));
	pair_expect_at_rest(pair);
}

/* RFC 4296 section 3 (A8): when the RPC ends, its memory is the consumer's alone. */
static void memory_is_fenced_when_the_rpc_ends(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	exchange(test, &transfer_cases[26]);
	KUNIT_EXPECT_EQ(test, 0, memory_valid_keys(pair->client_device));
	/* One of the two was the server's to invalidate. */
	KUNIT_EXPECT_EQ(test, 1, pair->client.transport->xt_stats.local_inv_needed);
}

static struct kunit_case transfer_test_cases[] = {
	KUNIT_CASE_PARAM(transfer_on_infiniband, transfer_gen_params),
	KUNIT_CASE_PARAM(transfer_on_iwarp, transfer_gen_params),
	KUNIT_CASE_PARAM(transfer_with_writes_backwards, transfer_gen_params),
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
