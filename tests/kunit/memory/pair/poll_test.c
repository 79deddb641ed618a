// SPDX-License-Identifier: GPL-2.0-only
/*
 * Client and server over the provider in memory: who polls the completions of the server's
 * Receives. The test does so as a thread of nfsd; at the end the worker does.
 */
#include "pair.h"

enum { CALLS = 20 };

/* Inline in both directions */
static const struct client_shape shape = { .head = 64, .reply_head = 256 };
static const struct pair_answer answer = { 200 };

/* They have arrived, and nobody has looked. */
static void send_calls(struct pair *pair, struct client_call **calls, unsigned int count)
{
	struct svcrdma_transport *t;
	unsigned int i;
	int ret;

	pair->answer = answer;
	KUNIT_ASSERT_EQ(pair->test, 0, pair_connect(pair));
	pair_grow(pair);
	/* Its reply has the credits. */
	calls[0] = client_call_create(&pair->client, &shape);
	KUNIT_ASSERT_TRUE(pair->test, pair_run_call(pair, calls[0]));
	client_call_destroy(calls[0]);
	pair->answers = 0;
	t = pair->server;
	KUNIT_EXPECT_FALSE(pair->test, test_bit(XPT_DATA, &t->st_xprt.xpt_flags));
	for (i = 0; i < count; i++) {
		calls[i] = client_call_create(&pair->client, &shape);
		ret = client_call_send(calls[i]);
		if (ret == -EAGAIN) {
			/* More Send buffers */
			flush_work(&pair->client.conn->xc_growth.worker);
			ret = client_call_send(calls[i]);
		}
		KUNIT_ASSERT_EQ(pair->test, 0, ret);
	}
	KUNIT_EXPECT_EQ(pair->test, count, memory_cq_waiting(t->st_recv_cq));
	KUNIT_EXPECT_EQ(pair->test, 0, atomic_read(&t->st_recv.used));
	KUNIT_EXPECT_TRUE(pair->test, test_bit(XPT_DATA, &t->st_xprt.xpt_flags));
}

/* Then the server knows how many it has, and others come for the rest. */
static void one_thread_polls_for_all(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct client_call *calls[CALLS];
	int i;

	send_calls(pair, calls, CALLS);
	pair_serve(pair);
	KUNIT_EXPECT_EQ(test, 0, memory_cq_waiting(pair->server->st_recv_cq));
	KUNIT_EXPECT_EQ(test, CALLS - 1, atomic_read(&pair->server->st_recv.used));
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_DATA, &pair->server->st_xprt.xpt_flags));
	pair_pump(pair);
	for (i = 0; i < CALLS; i++)
		KUNIT_EXPECT_TRUE(test, client_call_done(calls[i]));
	KUNIT_EXPECT_EQ(test, CALLS, pair->answers);
	while (i--)
		client_call_destroy(calls[i]);
	pair_expect_at_rest(pair);
}

/* The event was theirs: none comes for what the teardown puts behind them. */
static void closed_with_messages_that_nobody_saw(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct client_call *calls[3];
	int i;

	send_calls(pair, calls, ARRAY_SIZE(calls));
	pair_disconnect(pair);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		KUNIT_EXPECT_FALSE(test, client_call_done(calls[i]));
		client_call_destroy(calls[i]);
	}
	pair_expect_nothing_left(pair);
}

static struct kunit_case poll_test_cases[] = {
	KUNIT_CASE(one_thread_polls_for_all),
	KUNIT_CASE(closed_with_messages_that_nobody_saw),
	{}
};

static struct kunit_suite poll_suite = {
	.name = "memory_poll",
	.suite_init = pair_suite_init,
	.suite_exit = pair_suite_exit,
	.test_cases = poll_test_cases,
};

kunit_test_suite(poll_suite);
