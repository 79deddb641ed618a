// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client's counters: each counts its event and no other. The statistics files have to show
 * them.
 */
#include <linux/inet.h>

#include "../fake/lines.h"
#include "mount.h"
#include "reply.h"

struct shape_case {
	const char		*desc;
	struct client_shape	shape;
	struct client_reply	reply;
	enum rpcrdma_shape	expected;
	u64			read, written;
};

static const struct shape_case shape_cases[] = {
	{ "inline", { .head = 64, .reply_head = 256 }, { .length = 200 }, RPCRDMA_SHAPE_INLINE },
	{ "Write chunk unused", { READS(8192) }, { .length = 40 }, RPCRDMA_SHAPE_INLINE },
	{ "Write chunk", { READS(8192) }, { .length = 128, .item = 8190 }, RPCRDMA_SHAPE_WRITE,
	  0, 8190 },
	{ "Reply chunk", { PLAIN(8192) }, { INTO_CHUNK, .length = 8192 },
	  RPCRDMA_SHAPE_REPLY_CHUNK, 0, 8192 },
	{ "both", { BOTH(8192) }, { INTO_CHUNK, .length = 3000, .item = 8192 },
	  RPCRDMA_SHAPE_REPLY_CHUNK, 0, 8192 + 3000 },
	{ "Read chunk", { .head = 128, .pages = 8192, .write = true, .reply_head = 256 },
	  { .length = 200 }, RPCRDMA_SHAPE_READ, 8192 },
	{ "long call", { .head = 128, .pages = 8192, .reply_head = 256 }, { .length = 200 },
	  RPCRDMA_SHAPE_LONG, 128 + 8192 },
};

KUNIT_ARRAY_PARAM_DESC(shape, shape_cases, desc);

static struct rpcrdma_counters *counters_of(struct client *client)
{
	return &client->transport->xt_counters;
}

static u64 sum(const u64 *values, unsigned int count)
{
	u64 all = 0;

	while (count--)
		all += values[count];
	return all;
}

static void statistics_call_has_one_shape(struct kunit *test)
{
	const struct shape_case *c = test->param_value;
	struct client *client = client_of(test);
	const struct rpcrdma_counters *counters = counters_of(client);
	struct client_call *call = client_sent(client, &c->shape);
	u64 sent = counters->bytes_sent_inline;
	struct rpcrdma_counters all = {};

	KUNIT_EXPECT_EQ(test, 0, sum(counters->calls, RPCRDMA_SHAPES));

	/* Act */
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &c->reply));
	fake_run_all(client->qp);

	/* Assert */
	KUNIT_EXPECT_EQ(test, 1, counters->calls[c->expected]);
	KUNIT_EXPECT_EQ(test, 1, sum(counters->calls, RPCRDMA_SHAPES));
	KUNIT_EXPECT_EQ(test, 1, sum(counters->latency, RPCRDMA_LATENCIES));
	KUNIT_EXPECT_EQ(test, sent, counters->bytes_sent_inline);
	xprtrdma_connections.cs_sum(&client->transport->xt_connection, &all);
	KUNIT_EXPECT_EQ(test, c->read, all.bytes_read);
	KUNIT_EXPECT_EQ(test, c->written, all.bytes_written);
	KUNIT_EXPECT_EQ(test, all.regions_registered,
			all.regions_invalidated_locally + all.regions_invalidated_remotely);
	KUNIT_EXPECT_EQ(test, 0, all.bad_messages);
	KUNIT_EXPECT_EQ(test, 0, all.errors_received_chunk + all.errors_received_vers);
	client_expect_at_rest(client);
}

static void statistics_bytes_are_those_of_the_messages(struct kunit *test)
{
	static const struct client_shape shape = { .head = 64, .reply_head = 256 };
	struct client_reply reply = { .length = 200 };
	struct client *client = client_of(test);
	const struct rpcrdma_counters *counters = counters_of(client);
	struct client_call *call = client_sent(client, &shape);

	KUNIT_EXPECT_EQ(test, RPCRDMA_MIN_HEADER_SIZE + 64, counters->bytes_sent_inline);
	KUNIT_EXPECT_EQ(test, 0, counters->bytes_received_inline);
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	KUNIT_EXPECT_EQ(test, RPCRDMA_MIN_HEADER_SIZE + 200, counters->bytes_received_inline);
	KUNIT_EXPECT_EQ(test, RPCRDMA_MIN_HEADER_SIZE + 64, counters->bytes_sent_inline);
}

/* The one that the server invalidates, and the one that is left to us. */
static void statistics_regions_by_who_invalidates(struct kunit *test)
{
	static const struct client_shape shape = { BOTH(8192) };
	struct client *client = client_of(test);
	struct client_call *call = client_sent(client, &shape);
	struct client_reply reply = { INTO_CHUNK, .length = 3000, .item = 8192 };
	struct rpcrdma_counters all = {};

	client_call_decode(call);
	reply.invalidate = call->segments[0].handle;
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	fake_run_all(client->qp);
	xprtrdma_connections.cs_sum(&client->transport->xt_connection, &all);
	KUNIT_EXPECT_EQ(test, call->lists.nr_segments, all.regions_registered);
	KUNIT_EXPECT_EQ(test, 1, all.regions_invalidated_remotely);
	KUNIT_EXPECT_EQ(test, call->lists.nr_segments - 1, all.regions_invalidated_locally);
}

static void statistics_time_is_a_power_of_two(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, rpcrdma_latency(0));
	KUNIT_EXPECT_EQ(test, 0, rpcrdma_latency(1));
	KUNIT_EXPECT_EQ(test, 10, rpcrdma_latency(1024));
	KUNIT_EXPECT_EQ(test, 10, rpcrdma_latency(2047));
	KUNIT_EXPECT_EQ(test, 11, rpcrdma_latency(2048));
	KUNIT_EXPECT_EQ(test, 62, rpcrdma_latency(KTIME_MAX));
}

static void statistics_highest_of_the_credits(struct kunit *test)
{
	static const struct client_shape shape = { .head = 64, .reply_head = 256 };
	struct client_reply reply = { .length = 200 };
	struct client *client = client_of(test);
	const struct rpcrdma_window *window = &client->conn->xc_window;
	struct client_call *calls[3];
	int i;

	for (i = 0; i < 3; i++)
		calls[i] = client_sent(client, &shape);
	KUNIT_EXPECT_EQ(test, 3, window->highest);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_TRUE(test, client_reply_send(calls[i], &reply));
	client_sent(client, &shape);
	KUNIT_EXPECT_EQ(test, 1, window->in_flight);
	KUNIT_EXPECT_EQ(test, 3, window->highest);
}

static void statistics_unknown_message_is_bad(struct kunit *test)
{
	static const struct client_shape shape = { .head = 64, .reply_head = 256 };
	struct client *client = client_of(test);
	struct client_call *call = client_sent(client, &shape);
	struct client_reply reply = { .length = 200, .xid = 0x77777777 };
	struct rpcrdma_counters all = {};

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	xprtrdma_connections.cs_sum(&client->transport->xt_connection, &all);
	KUNIT_EXPECT_EQ(test, 1, all.bad_messages);
	KUNIT_EXPECT_EQ(test, 0, sum(all.calls, RPCRDMA_SHAPES));
}

static struct list_head taken = LIST_HEAD_INIT(taken);
static struct xprtrdma_send *taken_sends;

static void take_credits(struct client *client)
{
	while (rpcrdma_window_take(&client->conn->xc_window))
		;
}

static void take_sends(struct client *client)
{
	taken_sends = client->conn->xc_send.free;
	client->conn->xc_send.free = NULL;
}

static void take_regions(struct client *client)
{
	list_splice_init(&client->conn->xc_mr.free, &taken);
}

struct wait_case {
	const char	*desc;
	void		(*take)(struct client *client);
	void		(*back)(struct client *client);
	const char	*name;
};

static void give_sends_back(struct client *client)
{
	client->conn->xc_send.free = taken_sends;
}

static void give_regions_back(struct client *client)
{
	list_splice_init(&taken, &client->conn->xc_mr.free);
}

static const struct wait_case wait_cases[] = {
	{ "credit", take_credits, NULL, "waiting_for_credit" },
	{ "Send buffer", take_sends, give_sends_back, "waiting_for_send_queue" },
	{ "regions", take_regions, give_regions_back, "waiting_for_region" },
};

KUNIT_ARRAY_PARAM_DESC(wait, wait_cases, desc);

static void make_no_regions(struct work_struct *work)
{
}

static struct lines *client_lines(struct client *client)
{
	struct lines *lines = lines_create(client->test);

	xprtrdma_connections.cs_show(&lines->seq, &client->transport->xt_connection);
	return lines;
}

/* Of three tasks in SUNRPC's queue: each is in the line of @name, if it has one. */
static void expect_waiting(struct client *client, const char *name)
{
	struct lines *lines = client_lines(client);
	int i;

	for (i = 0; i < ARRAY_SIZE(wait_cases); i++) {
		const char *each = wait_cases[i].name;

		KUNIT_EXPECT_EQ_MSG(client->test, name && !strcmp(each, name) ? 3 : 0,
				    lines_number(lines, each), "%s", each);
	}
	KUNIT_EXPECT_EQ(client->test, 0, lines_number(lines, "waiting_for_read"));
}

/* What is short, and nothing else, has the tasks that wait; those who wait to be next are in none. */
static void statistics_say_what_tasks_wait_for(struct kunit *test)
{
	static const struct client_shape shape = { READS(8192) };
	const struct wait_case *c = test->param_value;
	struct client *client = client_of(test);
	struct client_call *call = client_call_create(client, &shape);
	struct work_struct *worker = &client->conn->xc_mr.worker;
	work_func_t func = worker->func;

	/* Arrange */
	worker->func = make_no_regions;
	client->xprt->sending.qlen = 3;
	expect_waiting(client, NULL);
	spin_lock(&client->conn->xc_lock);
	c->take(client);
	spin_unlock(&client->conn->xc_lock);

	/* Act */
	KUNIT_EXPECT_EQ(test, -EAGAIN, client_call_send(call));

	/* Assert */
	KUNIT_EXPECT_TRUE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
	expect_waiting(client, c->name);
	xprt_write_space(client->xprt);
	/* SUNRPC itself holds them back, while the window is closed. */
	expect_waiting(client, c->back ? NULL : c->name);

	client->xprt->sending.qlen = 0;
	flush_work(worker);
	worker->func = func;
	spin_lock(&client->conn->xc_lock);
	if (c->back)
		c->back(client);
	spin_unlock(&client->conn->xc_lock);
}

static int statistics_init(struct kunit *test)
{
	return client_open_init(test);
}

static struct kunit_case statistics_cases[] = {
	KUNIT_CASE_PARAM(statistics_call_has_one_shape, shape_gen_params),
	KUNIT_CASE(statistics_bytes_are_those_of_the_messages),
	KUNIT_CASE(statistics_regions_by_who_invalidates),
	KUNIT_CASE(statistics_time_is_a_power_of_two),
	KUNIT_CASE(statistics_highest_of_the_credits),
	KUNIT_CASE(statistics_unknown_message_is_bad),
	KUNIT_CASE_PARAM(statistics_say_what_tasks_wait_for, wait_gen_params),
	{}
};

static struct kunit_suite statistics_suite = {
	.name = "xprtrdma_statistics",
	.init = statistics_init,
	.test_cases = statistics_cases,
};

kunit_test_suite(statistics_suite);
