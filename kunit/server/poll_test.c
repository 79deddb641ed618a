// SPDX-License-Identifier: GPL-2.0
/*
 * A thread of nfsd polls the completions of Receives. Here these are complete when they are polled;
 * memory/pair/poll_test.c has them wait in a queue.
 */
#include "sq.h"

static void poll_takes_what_is_there(struct kunit *test)
{
	struct server *server = server_of(test);
	unsigned int polls;

	server_connect(server);
	polls = fake_queues.polls;
	server_deliver(server, CALL_PLAIN);
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));
	KUNIT_EXPECT_GT(test, server_recvfrom(server), 0);
	server_done(server);
	KUNIT_EXPECT_EQ(test, polls + 1, fake_queues.polls);
	/* All that the client may have sent, and no more. */
	KUNIT_EXPECT_EQ(test, server->transport->st_credits, fake_queues.poll_budget);
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));
}

/* There is no event then. */
static void poll_again_for_what_came_meanwhile(struct kunit *test)
{
	struct server *server = server_of(test);
	unsigned int polls;

	server_connect(server);
	server_deliver(server, CALL_PLAIN);
	server->fake->missed = 1;
	KUNIT_EXPECT_GT(test, server_recvfrom(server), 0);
	server_done(server);
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));

	polls = fake_queues.polls;
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_EQ(test, polls + 1, fake_queues.polls);
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));
}

/* What an RDMA_DONE frees may be what the replies wait for. */
static void poll_without_taking_calls(struct kunit *test)
{
	struct server *server = server_of(test);
	struct server_waiter *waiters = server->waiters;
	unsigned int polls, missed;
	int i;

	sq_exhaust(server, 10);
	for (i = 0; i < SVCRDMA_MAX_SQ_WAITERS; i++)
		sq_wait(server, &waiters[i], 1, -EINPROGRESS);
	server_deliver(server, CALL_PLAIN);
	for (missed = 0; missed < 2; missed++) {
		server->fake->missed = missed;
		polls = fake_queues.polls;
		KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
		KUNIT_EXPECT_EQ(test, polls + 1, fake_queues.polls);
		KUNIT_EXPECT_EQ(test, 1, svcrdma_recv_used(server->transport));
		KUNIT_EXPECT_EQ(test, missed, server_is_ready(server));
	}
}

static void event(struct svcrdma_transport *t)
{
	t->st_recv_cq->comp_handler(t->st_recv_cq, t);
}

/* Events are for it from the teardown on, and for nobody when the queue is to be freed. */
static void poll_by_the_worker(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t;

	server_connect(server);
	t = server->transport;
	event(t);
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));
	t->st_state = RPCRDMA_CONN_BROKEN;
	event(t);
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));
	KUNIT_EXPECT_EQ(test, 0, fake_queues.events);

	svcrdma_poll_stop(t);
	KUNIT_EXPECT_EQ(test, 1, fake_queues.events);
	event(t);
	KUNIT_EXPECT_EQ(test, 2, fake_queues.events);
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));
	svcrdma_poll_end(t);
	event(t);
	KUNIT_EXPECT_EQ(test, 2, fake_queues.events);
}

static struct kunit_case poll_cases[] = {
	KUNIT_CASE(poll_takes_what_is_there),
	KUNIT_CASE(poll_again_for_what_came_meanwhile),
	KUNIT_CASE(poll_without_taking_calls),
	KUNIT_CASE(poll_by_the_worker),
	{}
};

static struct kunit_suite poll_suite = {
	.name = "svcrdma_poll",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = sq_init,
	.test_cases = poll_cases,
};

kunit_test_suite(poll_suite);
