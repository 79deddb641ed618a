// SPDX-License-Identifier: GPL-2.0-only
/* The watch over a Send Queue: a queue without progress ends its connection. */
#include "sq.h"

static unsigned int seconds_left(struct server *server)
{
	const struct svcrdma_send_queue *sq = &server->transport->st_sq;

	return sq->watched ? sq_seconds_left(&sq->worker) : 0;
}

static void sq_stands_still(struct kunit *test)
{
	struct server *server = server_of(test);

	server_connect(server);
	KUNIT_EXPECT_EQ(test, 0, seconds_left(server));
	sq_take(server, 1);
	KUNIT_EXPECT_EQ(test, SVCRDMA_SQ_LOOK / HZ, seconds_left(server));
	sq_stalls(server);
	KUNIT_EXPECT_EQ(test, 0, seconds_left(server));
}

/* Whether anybody waits for entries or not */
static void sq_stands_still_with_waiters(struct kunit *test)
{
	struct server *server = server_of(test);

	sq_exhaust(server, 10);
	sq_wait(server, &server->waiters[0], 1, -EINPROGRESS);
	sq_stalls(server);
}

/* What is held back for later may stay as long as it likes. */
static void sq_entries_for_later(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t;

	server_connect(server);
	t = server->transport;
	sq_take(server, 5);
	svcrdma_sq_hold(t, 3);
	/* Two are not. */
	sq_stalls(server);
	server_disconnect(server);

	server_connect(server);
	t = server->transport;
	sq_take(server, 5);
	svcrdma_sq_hold(t, 3);
	svcrdma_sq_put(t, 2);
	sq_time_passes(server);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(t->st_closing));
	KUNIT_EXPECT_EQ(test, 0, seconds_left(server));
	svcrdma_sq_put_held(t, 3);
	KUNIT_EXPECT_EQ(test, 0, t->st_sq.held);
	server_expect_at_rest(server);
}

/* Who waits for them waits for what has a time of its own; but no longer than that. */
static void sq_waits_behind_entries_for_later(struct kunit *test)
{
	struct server *server = server_of(test);
	int i;

	sq_exhaust(server, 10);
	svcrdma_sq_hold(server->transport, 10);
	sq_time_passes(server);
	KUNIT_EXPECT_EQ(test, 0, seconds_left(server));
	sq_wait(server, &server->waiters[0], 6, -EINPROGRESS);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, SVCRDMA_SQ_LOOK / HZ, seconds_left(server));
		sq_time_passes(server);
		KUNIT_EXPECT_FALSE(test, READ_ONCE(server->transport->st_closing));
	}
	svcrdma_sq_put_held(server->transport, 10);
	KUNIT_EXPECT_TRUE(test, server->waiters[0].served);
	sq_time_passes(server);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(server->transport->st_closing));
	sq_stalls(server);
}

static void sq_moves_slowly(struct kunit *test)
{
	struct server *server = server_of(test);
	int i;

	sq_exhaust(server, 10);
	for (i = 0; i < 4; i++)
		sq_wait(server, &server->waiters[i], 1, -EINPROGRESS);
	for (i = 0; i < 3; i++) {
		svcrdma_sq_put(server->transport, 1);
		sq_time_passes(server);
		KUNIT_EXPECT_FALSE(test, READ_ONCE(server->transport->st_closing));
		KUNIT_EXPECT_EQ(test, SVCRDMA_SQ_LOOK / HZ, seconds_left(server));
	}
	sq_stalls(server);
}

/* As long as an HCA may take to find that out: eight times, 4 x 4.096 us << 19 */
static void sq_leaves_time_to_the_hca(struct kunit *test)
{
	KUNIT_EXPECT_GT(test, SVCRDMA_SQ_TIMEOUT, usecs_to_jiffies(8 * 4 * 4096 / 1000 * (1 << 19)));
	KUNIT_EXPECT_EQ(test, 0, SVCRDMA_SQ_TIMEOUT % SVCRDMA_SQ_LOOK);
	KUNIT_EXPECT_GE(test, svcrdma_inv_timeout, SVCRDMA_SQ_TIMEOUT);
}

/* It stood still for a while, and begins to do so again: all of the time is counted anew. */
static void sq_moves_at_last(struct kunit *test)
{
	struct server *server = server_of(test);
	int round, i;

	server_connect(server);
	for (round = 0; round < 2; round++) {
		sq_take(server, 2);
		for (i = 1; i < SVCRDMA_SQ_TIMEOUT / SVCRDMA_SQ_LOOK; i++)
			sq_time_passes(server);
		KUNIT_ASSERT_FALSE(test, READ_ONCE(server->transport->st_closing));
		/* Once with nothing left out, once with an entry. */
		svcrdma_sq_put(server->transport, 2 - round);
		sq_time_passes(server);
	}
	KUNIT_ASSERT_FALSE(test, READ_ONCE(server->transport->st_closing));
	sq_stalls(server);
}

/* The watch ends when nothing is out. Whoever comes then has all of the time. */
static void sq_is_watched_anew(struct kunit *test)
{
	struct server *server = server_of(test);
	struct delayed_work *work;

	sq_exhaust(server, 10);
	work = &server->transport->st_sq.worker;
	sq_wait(server, &server->waiters[0], 1, -EINPROGRESS);
	svcrdma_sq_put(server->transport, 10);
	svcrdma_sq_put(server->transport, 1);
	sq_time_passes(server);
	KUNIT_EXPECT_EQ(test, 0, seconds_left(server));
	sq_take(server, 10);
	sq_wait(server, &server->waiters[1], 1, -EINPROGRESS);
	/* Almost over, but something came back. */
	mod_timer(&work->timer, jiffies + 2 * HZ);
	svcrdma_sq_put(server->transport, 1);
	sq_wait(server, &server->waiters[2], 1, -EINPROGRESS);
	sq_time_passes(server);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(server->transport->st_closing));
	KUNIT_EXPECT_EQ(test, SVCRDMA_SQ_LOOK / HZ, seconds_left(server));
	svcrdma_transport_close(server->transport, RPCRDMA_END_OTHER);
	sq_time_passes(server);
	KUNIT_EXPECT_EQ(test, 0, seconds_left(server));
}

/* A worker that was to probe has begun, and the watch begins before it gets the lock. */
static void sq_is_watched_before_the_worker_looks(struct kunit *test)
{
	struct server *server = server_of(test);
	struct delayed_work *work;

	server_connect(server);
	work = &server->transport->st_sq.worker;
	sq_take(server, 2);
	KUNIT_ASSERT_TRUE(test, delayed_work_pending(work));
	work->work.func(&work->work);
	sq_stalls(server);
}

static struct kunit_case watch_cases[] = {
	KUNIT_CASE(sq_stands_still),
	KUNIT_CASE(sq_stands_still_with_waiters),
	KUNIT_CASE(sq_entries_for_later),
	KUNIT_CASE(sq_waits_behind_entries_for_later),
	KUNIT_CASE(sq_moves_slowly),
	KUNIT_CASE(sq_leaves_time_to_the_hca),
	KUNIT_CASE(sq_moves_at_last),
	KUNIT_CASE(sq_is_watched_anew),
	KUNIT_CASE(sq_is_watched_before_the_worker_looks),
	{}
};

static struct kunit_suite watch_suite = {
	.name = "svcrdma_sq_watch",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = sq_init,
	.test_cases = watch_cases,
};

kunit_test_suite(watch_suite);
