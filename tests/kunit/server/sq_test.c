// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send Queue entries of the server: operations that wait get them in the order of arrival, without
 * a thread, until the connection ends.
 */
#include "sq.h"

static void sq_serves_in_order(struct kunit *test)
{
	static const u32 need[] = { 5, 1, 3, 1, 2 };
	struct server *server = server_of(test);
	struct server_waiter *waiters = server->waiters;
	u32 given = 0, sum = 0;
	int i, k;

	sq_exhaust(server, 12);
	for (i = 0; i < 5; i++)
		sq_wait(server, &waiters[i], need[i], -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, 5, server->transport->st_sq.nr_waiters);

	/* One entry at a time: number k is served with the last one that it needs. */
	for (k = 0; k < 5; k++) {
		sum += need[k];
		while (given < sum) {
			KUNIT_EXPECT_FALSE(test, waiters[k].served);
			svcrdma_sq_put(server->transport, 1);
			given++;
		}
		for (i = 0; i < 5; i++)
			KUNIT_EXPECT_EQ(test, i <= k, waiters[i].served);
		KUNIT_EXPECT_EQ(test, 0, server_sq_free(server->transport));
	}
	KUNIT_EXPECT_EQ(test, 0, server->transport->st_sq.nr_waiters);
}

static void sq_many_entries_serve_many(struct kunit *test)
{
	struct server *server = server_of(test);
	struct server_waiter *waiters = server->waiters;
	int i;

	sq_exhaust(server, 10);
	for (i = 0; i < 4; i++)
		sq_wait(server, &waiters[i], 3, -EINPROGRESS);
	svcrdma_sq_put(server->transport, 10);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, i < 3, waiters[i].served);
	KUNIT_EXPECT_EQ(test, 1, server_sq_free(server->transport));
	svcrdma_sq_put(server->transport, 2);
	KUNIT_EXPECT_TRUE(test, waiters[3].served);
}

/* Nobody passes those who wait, not even with a need that could be met. */
static void sq_nobody_jumps_the_queue(struct kunit *test)
{
	struct server *server = server_of(test);
	struct server_waiter *large = server->waiters, *small = large + 1;

	sq_exhaust(server, 10);
	sq_wait(server, large, 8, -EINPROGRESS);
	svcrdma_sq_put(server->transport, 4);
	sq_wait(server, small, 1, -EINPROGRESS);
	KUNIT_EXPECT_FALSE(test, large->served || small->served);
	svcrdma_sq_put(server->transport, 4);
	KUNIT_EXPECT_TRUE(test, large->served);
	KUNIT_EXPECT_FALSE(test, small->served);
	svcrdma_sq_put(server->transport, 1);
	KUNIT_EXPECT_TRUE(test, small->served);
}

static void sq_free_entries_are_taken_at_once(struct kunit *test)
{
	struct server *server = server_of(test);
	struct server_waiter *waiter = server->waiters;

	sq_exhaust(server, 10);
	svcrdma_sq_put(server->transport, 10);
	sq_wait(server, waiter, 10, 0);
	KUNIT_EXPECT_EQ(test, 0, server_sq_free(server->transport));
	sq_wait(server, waiter, 11, -E2BIG);
	svcrdma_sq_put(server->transport, 10);
	KUNIT_EXPECT_EQ(test, 10, server_sq_free(server->transport));
}

static void sq_close_releases_every_waiter(struct kunit *test)
{
	struct server *server = server_of(test);
	struct server_waiter *waiters = server->waiters, *late = waiters + 20;
	int i;

	sq_exhaust(server, 10);
	for (i = 0; i < 20; i++)
		sq_wait(server, &waiters[i], 1 + i % 10, -EINPROGRESS);
	svcrdma_transport_close(server->transport, RPCRDMA_END_OTHER);
	KUNIT_EXPECT_EQ(test, 0, server->transport->st_sq.nr_waiters);
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_TRUE(test, list_empty(&waiters[i].sq.sw_list));
	sq_wait(server, late, 1, -ENOTCONN);
	svcrdma_sq_put(server->transport, 10);
	/* They are what they were. */
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_FALSE(test, waiters[i].served);
	sq_wait(server, late, 1, -ENOTCONN);
	svcrdma_transport_close(server->transport, RPCRDMA_END_OTHER);
}

/* Then no further calls are taken, until the queue has become shorter. */
static void sq_too_many_waiters_stop_new_calls(struct kunit *test)
{
	struct server *server = server_of(test);
	struct server_waiter *waiters = server->waiters;
	int i;

	sq_exhaust(server, 10);
	for (i = 0; i < SVCRDMA_MAX_SQ_WAITERS; i++) {
		KUNIT_EXPECT_FALSE(test, server->transport->st_sq.congested);
		sq_wait(server, &waiters[i], 1, -EINPROGRESS);
	}
	KUNIT_EXPECT_TRUE(test, server->transport->st_sq.congested);
	server_deliver(server, CALL_PLAIN);
	server_deliver(server, CALL_PLAIN);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));

	/* nfsd is told, although nothing else comes. */
	svcrdma_sq_put(server->transport, 1);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_TRUE(test, server_is_ready(server));
		KUNIT_EXPECT_GT(test, server_recvfrom(server), 0);
		server_done(server);
	}
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));
}

/* Reads wait without a thread, and are posted by who gives the entries back. */
static void sq_reads_wait_in_the_same_queue(struct kunit *test)
{
	struct server *server = server_of(test);
	struct server_waiter *before = server->waiters, *after = before + 1;

	sq_exhaust(server, 10);
	sq_wait(server, before, 2, -EINPROGRESS);
	server_deliver(server, CALL_READ);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	sq_wait(server, after, 1, -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));

	svcrdma_sq_put(server->transport, 2);
	KUNIT_EXPECT_TRUE(test, before->served);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	svcrdma_sq_put(server->transport, 1);
	KUNIT_EXPECT_EQ(test, 1, fake_posted(server->qp));
	KUNIT_EXPECT_FALSE(test, after->served);
	/* The Read's own entry goes to the next one. */
	fake_run_all(server->qp);
	KUNIT_EXPECT_TRUE(test, after->served);
	KUNIT_EXPECT_EQ(test, 64 + 256, server_receive_all(server));
	server_done(server);
}

static void sq_reads_that_wait_end_with_the_connection(struct kunit *test)
{
	struct server *server = server_of(test);

	sq_exhaust(server, 10);
	server_deliver(server, CALL_READ);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_EQ(test, 1, server->transport->st_sq.nr_waiters);
	svcrdma_transport_close(server->transport, RPCRDMA_END_OTHER);
	svcrdma_sq_put(server->transport, 10);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
}

static u32 length_of(struct server *server, unsigned int n)
{
	return fake_wr(server->qp, n)->sge[0].length;
}

/* The next reply is signalled. */
static void answer_unsignalled(struct server *server)
{
	int i;

	for (i = 0; i < SVCRDMA_MAX_UNSIGNALLED_ROW; i++)
		KUNIT_ASSERT_EQ(server->test, 0, sq_answer(server, 64, false));
}

/* Nor is there one for an unsignalled Send. */
static void exhaust_all(struct server *server, u32 depth)
{
	sq_exhaust(server, depth);
	answer_unsignalled(server);
	fake_run_all(server->qp);
	fake_mark(server->qp);
}

/* The thread does not. */
static void sq_reply_waits_for_an_entry(struct kunit *test)
{
	struct server *server = server_of(test);

	exhaust_all(server, 10);
	KUNIT_EXPECT_EQ(test, 0, sq_answer(server, 64, false));
	KUNIT_EXPECT_EQ(test, 1, server->transport->st_sq.nr_waiters);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	svcrdma_sq_put(server->transport, 1);
	KUNIT_ASSERT_EQ(test, 1, fake_posted(server->qp));
	KUNIT_EXPECT_EQ(test, 28 + 64, length_of(server, 0));
	KUNIT_EXPECT_EQ(test, 0, server->transport->st_sq.nr_waiters);
	KUNIT_EXPECT_EQ(test, 0, server_sq_free(server->transport));
	/* It gives back what it got. */
	fake_run_all(server->qp);
	svcrdma_sq_put(server->transport, 9);
	server_expect_at_rest(server);
}

static void sq_replies_wait_in_order(struct kunit *test)
{
	struct server *server = server_of(test);
	int i;

	exhaust_all(server, 10);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, 0, sq_answer(server, 64 + 4 * i, false));
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, i, fake_posted(server->qp));
		svcrdma_sq_put(server->transport, 1);
		KUNIT_ASSERT_EQ(test, i + 1, fake_posted(server->qp));
		KUNIT_EXPECT_EQ(test, 28 + 64 + 4 * i, length_of(server, i));
	}
	/* A completion does the same. */
	answer_unsignalled(server);
	KUNIT_EXPECT_EQ(test, 0, sq_answer(server, 64, false));
	KUNIT_EXPECT_EQ(test, i + SVCRDMA_MAX_UNSIGNALLED_ROW, fake_posted(server->qp));
	fake_run(server->qp, 1);
	KUNIT_EXPECT_EQ(test, i + SVCRDMA_MAX_UNSIGNALLED_ROW + 1, fake_posted(server->qp));
	fake_run_all(server->qp);
	svcrdma_sq_put(server->transport, 5);
	server_expect_at_rest(server);
}

/* Its pages are its own by then, and are written from as they were. */
static void sq_reply_waits_with_its_writes(struct kunit *test)
{
	struct server *server = server_of(test);
	u32 i;

	exhaust_all(server, 10);
	KUNIT_EXPECT_EQ(test, 0, sq_answer(server, 24 + 256, true));
	/* nfsd goes on, in the thread's other pages. */
	KUNIT_EXPECT_EQ(test, 0, sq_answer(server, 64, false));
	svcrdma_sq_put(server->transport, 1);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	svcrdma_sq_put(server->transport, 9);
	KUNIT_ASSERT_EQ(test, 3, fake_posted(server->qp));
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE, fake_wr(server->qp, 0)->opcode);
	server_settle(server);
	for (i = 0; i < 256; i++)
		KUNIT_ASSERT_EQ(test, fake_byte(24 + i), server_peer_memory[i]);
	server_expect_at_rest(server);
}

static void sq_error_waits_as_well(struct kunit *test)
{
	struct server *server = server_of(test);
	u8 wrong[28] = { [3] = 1, [7] = 2 };

	sq_exhaust(server, 10);
	/* Version 2 */
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, wrong, sizeof(wrong)));
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	svcrdma_sq_put(server->transport, 1);
	KUNIT_ASSERT_EQ(test, 1, fake_posted(server->qp));
	server_expect_error(server, 1, RPCRDMA_ERR_VERS);
}

static void sq_reply_that_waits_ends_with_the_connection(struct kunit *test)
{
	struct server *server = server_of(test);

	exhaust_all(server, 10);
	KUNIT_EXPECT_EQ(test, 0, sq_answer(server, 24 + 256, true));
	KUNIT_EXPECT_EQ(test, 0, sq_answer(server, 64, false));
	svcrdma_transport_close(server->transport, RPCRDMA_END_OTHER);
	svcrdma_sq_put(server->transport, 10);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	/* Their contexts go with the connection. */
}

static void sq_reply_that_waited_cannot_be_posted(struct kunit *test)
{
	struct server *server = server_of(test);

	exhaust_all(server, 10);
	KUNIT_EXPECT_EQ(test, 0, sq_answer(server, 64, false));
	server->qp->accept = 0;
	svcrdma_sq_put(server->transport, 1);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
}

static struct kunit_case sq_cases[] = {
	KUNIT_CASE(sq_serves_in_order),
	KUNIT_CASE(sq_many_entries_serve_many),
	KUNIT_CASE(sq_nobody_jumps_the_queue),
	KUNIT_CASE(sq_free_entries_are_taken_at_once),
	KUNIT_CASE(sq_close_releases_every_waiter),
	KUNIT_CASE(sq_too_many_waiters_stop_new_calls),
	KUNIT_CASE(sq_reads_wait_in_the_same_queue),
	KUNIT_CASE(sq_reads_that_wait_end_with_the_connection),
	KUNIT_CASE(sq_reply_waits_for_an_entry),
	KUNIT_CASE(sq_replies_wait_in_order),
	KUNIT_CASE(sq_reply_waits_with_its_writes),
	KUNIT_CASE(sq_error_waits_as_well),
	KUNIT_CASE(sq_reply_that_waits_ends_with_the_connection),
	KUNIT_CASE(sq_reply_that_waited_cannot_be_posted),
	{}
};

static struct kunit_suite sq_suite = {
	.name = "svcrdma_sq",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = sq_init,
	.test_cases = sq_cases,
};

kunit_test_suite(sq_suite);
