// SPDX-License-Identifier: GPL-2.0-only
/* A connection on which nothing happens: the server asks the peer's HCA for an acknowledgement. */
#include "sq.h"

/* When it is not watched any more */
static struct svcrdma_transport *connect_idle(struct server *server)
{
	server_connect(server);
	sq_take(server, 1);
	svcrdma_sq_put(server->transport, 1);
	sq_time_passes(server);
	return server->transport;
}

static void expect_idle(struct server *server)
{
	const struct svcrdma_send_queue *sq = &server->transport->st_sq;

	KUNIT_EXPECT_FALSE(server->test, sq->watched);
	KUNIT_EXPECT_EQ(server->test, SVCRDMA_IDLE_TIMEOUT / HZ, sq_seconds_left(&sq->worker));
}

/* iWARP: the client is the first to send. SUNRPC ends a connection without calls. */
static void idle_from_the_start(struct kunit *test)
{
	struct server *server = server_of(test);

	server_connect(server);
	KUNIT_EXPECT_EQ(test, 0, sq_seconds_left(&server->transport->st_sq.worker));
}

static void idle_peer_is_asked(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = connect_idle(server);
	int i;

	expect_idle(server);
	for (i = 1; i <= 2; i++) {
		sq_time_passes(server);
		KUNIT_ASSERT_EQ(test, i, fake_posted(server->qp));
		sq_expect_probe(server);
		KUNIT_EXPECT_EQ(test, t->st_sq_depth - 1, server_sq_free(t));
		KUNIT_EXPECT_EQ(test, SVCRDMA_SQ_LOOK / HZ, sq_seconds_left(&t->st_sq.worker));
		fake_run_all(server->qp);
		sq_time_passes(server);
		expect_idle(server);
	}
	KUNIT_EXPECT_FALSE(test, READ_ONCE(t->st_closing));
	server_expect_at_rest(server);
}

static void idle_peer_is_not_there(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = connect_idle(server);

	sq_time_passes(server);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(t->st_closing));
	sq_stalls(server);
	KUNIT_EXPECT_EQ(test, 0, sq_seconds_left(&t->st_sq.worker));
}

/* What is out says enough. */
static void idle_no_more(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = connect_idle(server);

	sq_take(server, 1);
	KUNIT_EXPECT_EQ(test, SVCRDMA_SQ_LOOK / HZ, sq_seconds_left(&t->st_sq.worker));
	sq_time_passes(server);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	KUNIT_EXPECT_EQ(test, t->st_sq_depth - 1, server_sq_free(t));
	svcrdma_sq_put(t, 1);
	sq_time_passes(server);
	expect_idle(server);
	server_expect_at_rest(server);
}

/* All entries are for later. It is tried again. */
static void idle_without_an_entry(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = connect_idle(server);
	u32 depth = t->st_sq_depth;

	sq_take(server, depth);
	svcrdma_sq_hold(t, depth);
	sq_time_passes(server);
	sq_time_passes(server);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	sq_time_passes(server);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(t->st_closing));
	expect_idle(server);
	svcrdma_sq_put_held(t, depth);
	server_expect_at_rest(server);
}

static void idle_and_then_closed(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = connect_idle(server);

	svcrdma_transport_close(t, RPCRDMA_END_OTHER);
	sq_time_passes(server);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	KUNIT_EXPECT_EQ(test, 0, sq_seconds_left(&t->st_sq.worker));
}

/* Nobody runs this worker when the transport is freed. */
static void idle_ends_with_the_connection(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = connect_idle(server);

	svcrdma_transport_close(t, RPCRDMA_END_OTHER);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&t->st_sq.worker));
	svcrdma_sq_stop(t);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&t->st_sq.worker));
}

static struct kunit_case idle_cases[] = {
	KUNIT_CASE(idle_from_the_start),
	KUNIT_CASE(idle_peer_is_asked),
	KUNIT_CASE(idle_peer_is_not_there),
	KUNIT_CASE(idle_no_more),
	KUNIT_CASE(idle_without_an_entry),
	KUNIT_CASE(idle_and_then_closed),
	KUNIT_CASE(idle_ends_with_the_connection),
	{}
};

static struct kunit_suite idle_suite = {
	.name = "svcrdma_idle",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = sq_init,
	.test_cases = idle_cases,
};

kunit_test_suite(idle_suite);
