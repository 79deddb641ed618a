// SPDX-License-Identifier: GPL-2.0
/*
 * Replies whose Sends ask for no completion. Their contexts are the HCA's until a signalled Send
 * behind them is complete.
 */
#include "sq.h"

enum { IN_A_ROW = RPCRDMA_UNSIGNALLED_SENDS };

static void answer_plain(struct server *server, int count)
{
	while (count--)
		KUNIT_ASSERT_EQ(server->test, 0, sq_answer(server, 64, false));
}

static bool is_signalled(struct server *server, unsigned int n)
{
	return fake_wr(server->qp, n)->flags & IB_SEND_SIGNALED;
}

static void expect_contexts(struct server *server, unsigned int all, unsigned int free)
{
	struct svcrdma_transport *t = server->transport;

	KUNIT_EXPECT_EQ(server->test, all, list_count_nodes(&t->st_send.all));
	KUNIT_EXPECT_EQ(server->test, free, server_count(&t->st_send.free));
}

static void unsignalled_in_turns(struct kunit *test)
{
	struct server *server = server_of(test);
	int i;

	server_connect(server);
	for (i = 0; i < 3 * (IN_A_ROW + 1); i++) {
		answer_plain(server, 1);
		KUNIT_EXPECT_EQ_MSG(test, i % (IN_A_ROW + 1) == IN_A_ROW, is_signalled(server, i),
				    "Send %d", i);
		fake_run_all(server->qp);
	}
	/* The first ones serve all. */
	expect_contexts(server, IN_A_ROW + 1, IN_A_ROW + 1);
	answer_plain(server, 1);
	server_expect_at_rest(server);
}

/* Sent, and not to be touched all the same: nobody knows. */
static void unsignalled_is_kept_until_another_is_complete(struct kunit *test)
{
	struct server *server = server_of(test);

	server_connect(server);
	answer_plain(server, IN_A_ROW);
	fake_run_all(server->qp);
	expect_contexts(server, IN_A_ROW, 0);
	answer_plain(server, 1);
	expect_contexts(server, IN_A_ROW + 1, 0);
	fake_run_all(server->qp);
	expect_contexts(server, IN_A_ROW + 1, IN_A_ROW + 1);
	server_expect_at_rest(server);
}

/* One that is posted behind the signalled one waits for the next. */
static void unsignalled_behind_is_not_complete(struct kunit *test)
{
	struct server *server = server_of(test);

	server_connect(server);
	answer_plain(server, 1);
	KUNIT_ASSERT_EQ(test, 0, sq_answer(server, 24 + 256, true));
	answer_plain(server, 1);
	KUNIT_EXPECT_FALSE(test, is_signalled(server, 0));
	KUNIT_EXPECT_FALSE(test, is_signalled(server, 1));
	KUNIT_EXPECT_TRUE(test, is_signalled(server, 2));
	KUNIT_EXPECT_FALSE(test, is_signalled(server, 3));
	server_settle(server);
	expect_contexts(server, 3, 2);
	server_expect_at_rest(server);
}

/* Until the completion comes, all are signalled: the queue has entries for so many, no more. */
static void unsignalled_are_so_many_at_most(struct kunit *test)
{
	struct server *server = server_of(test);
	unsigned int i;

	server_connect(server);
	answer_plain(server, IN_A_ROW + 3);
	for (i = 0; i < IN_A_ROW + 3; i++)
		KUNIT_EXPECT_EQ(test, i >= IN_A_ROW, is_signalled(server, i));
	KUNIT_EXPECT_EQ(test, server->transport->st_sq.depth - 3,
			server_sq_free(server->transport));
	fake_run_all(server->qp);
	expect_contexts(server, IN_A_ROW + 3, IN_A_ROW + 3);
	answer_plain(server, 1);
	KUNIT_EXPECT_FALSE(test, is_signalled(server, i));
	server_expect_at_rest(server);
}

/* It has an entry of its own, and nobody else's. */
static void unsignalled_does_not_wait(struct kunit *test)
{
	struct server *server = server_of(test);

	sq_exhaust(server, 10);
	sq_wait(server, &server->waiters[0], 1, -EINPROGRESS);
	answer_plain(server, IN_A_ROW);
	KUNIT_EXPECT_EQ(test, IN_A_ROW, fake_posted(server->qp));
	KUNIT_EXPECT_FALSE(test, server->waiters[0].served);
	answer_plain(server, 1);
	KUNIT_EXPECT_EQ(test, IN_A_ROW, fake_posted(server->qp));
	svcrdma_sq_put(server->transport, 2);
	KUNIT_EXPECT_TRUE(test, server->waiters[0].served);
	KUNIT_EXPECT_EQ(test, IN_A_ROW + 1, fake_posted(server->qp));
	fake_run_all(server->qp);
	svcrdma_sq_put(server->transport, 9);
	server_expect_at_rest(server);
}

/* Then there is a completion. Its context stays, since who has posted it may not be done. */
static void unsignalled_that_fails_ends_the_connection(struct kunit *test)
{
	struct server *server = server_of(test);

	server_connect(server);
	answer_plain(server, 2);
	fake_run(server->qp, 1);
	fake_fail(server->qp, IB_WC_RETRY_EXC_ERR);
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(server->transport));
	expect_contexts(server, 2, 0);
}

/* The signalled one is flushed, and some before it: each is given back once. */
static void unsignalled_are_flushed(struct kunit *test)
{
	struct server *server = server_of(test);

	server_connect(server);
	answer_plain(server, IN_A_ROW + 1);
	fake_run(server->qp, 1);
	fake_fail(server->qp, IB_WC_RETRY_EXC_ERR);
	fake_run_all(server->qp);
	expect_contexts(server, IN_A_ROW + 1, IN_A_ROW + 1);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&server->transport->st_send.nr_unsignalled));
}

static void unsignalled_that_is_not_posted(struct kunit *test)
{
	struct server *server = server_of(test);

	server_connect(server);
	server->qp->accept = 0;
	KUNIT_EXPECT_EQ(test, -ENOTCONN, sq_answer(server, 64, false));
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(server->transport));
	expect_contexts(server, 1, 0);
	KUNIT_EXPECT_TRUE(test, llist_empty(&server->transport->st_send.unsignalled));
}

static struct kunit_case unsignalled_cases[] = {
	KUNIT_CASE(unsignalled_in_turns),
	KUNIT_CASE(unsignalled_is_kept_until_another_is_complete),
	KUNIT_CASE(unsignalled_behind_is_not_complete),
	KUNIT_CASE(unsignalled_are_so_many_at_most),
	KUNIT_CASE(unsignalled_does_not_wait),
	KUNIT_CASE(unsignalled_that_fails_ends_the_connection),
	KUNIT_CASE(unsignalled_are_flushed),
	KUNIT_CASE(unsignalled_that_is_not_posted),
	{}
};

static struct kunit_suite unsignalled_suite = {
	.name = "svcrdma_unsignalled",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = sq_init,
	.test_cases = unsignalled_cases,
};

kunit_test_suite(unsignalled_suite);
