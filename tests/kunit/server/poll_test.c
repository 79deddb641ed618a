// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread of nfsd polls the completions of Receives. In this suite the Receives are complete when
 * they are polled; in memory/pair/poll_test.c the completions wait in a queue.
 */
#include <linux/delay.h>

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
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));
}

/* All that the client may have sent, and no more. */
static void poll_not_without_end(struct kunit *test)
{
	struct server *server = server_of(test);
	u32 credits;

	server_connect(server);
	credits = server->transport->st_credits;
	fake_queues.to_poll = credits + 1;
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_EQ(test, credits, fake_queues.handled);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_EQ(test, credits + 1, fake_queues.handled);
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
		KUNIT_EXPECT_EQ(test, 1, atomic_read(&server->transport->st_recv.used));
		KUNIT_EXPECT_EQ(test, missed, server_is_ready(server));
	}
}

static void event(struct svcrdma_transport *t)
{
	t->st_recv_cq->comp_handler(t->st_recv_cq, t);
}

/* Events are for it from the teardown on. It goes on as long as there is something. */
static void poll_by_the_worker(struct kunit *test)
{
	enum { MANY = 10000 };
	struct server *server = server_of(test);
	struct svcrdma_transport *t;
	int tries = 5000;

	server_connect(server);
	t = server->transport;
	event(t);
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));
	t->st_state = RPCRDMA_CONN_BROKEN;
	event(t);
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));
	KUNIT_EXPECT_FALSE(test, flush_work(&t->st_poll.work));

	fake_queues.to_poll = 1;
	svcrdma_poll_stop(t);
	flush_work(&t->st_poll.work);
	KUNIT_EXPECT_EQ(test, 1, fake_queues.handled);
	fake_queues.to_poll = MANY;
	event(t);
	while (READ_ONCE(fake_queues.to_poll) && tries--)
		usleep_range(1000, 2000);
	flush_work(&t->st_poll.work);
	KUNIT_EXPECT_EQ(test, MANY + 1, fake_queues.handled);
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));
}

/* What has come before the queue was armed brings no event. */
static void poll_again_by_the_worker(struct kunit *test)
{
	struct server *server = server_of(test);
	unsigned int polls;

	server_connect(server);
	server->transport->st_state = RPCRDMA_CONN_BROKEN;
	polls = fake_queues.polls;
	server->fake->missed = 2;
	svcrdma_poll_stop(server->transport);
	while (flush_work(&server->transport->st_poll.work))
		;
	KUNIT_EXPECT_EQ(test, polls + 3, fake_queues.polls);
}

static unsigned int polls_at_end;

/* A handler of the device's that has looked before the queue was to be destroyed. */
static void late_event(struct ib_cq *cq)
{
	struct svcrdma_transport *t = cq->cq_context;

	fake_queues.on_destroy_cq = NULL;
	polls_at_end = fake_queues.polls;
	cq->comp_handler(cq, t);
	if (work_pending(&t->st_poll.work))
		kunit_fail_current_test("an event wakes the worker when the queue is destroyed");
	queue_work(svcrdma_poll_wq, &t->st_poll.work);
	flush_work(&t->st_poll.work);
}

static void poll_no_more(struct kunit *test)
{
	struct server *server = server_of(test);

	server_connect(server);
	polls_at_end = 0;
	fake_queues.on_destroy_cq = late_event;
	server_disconnect(server);
	KUNIT_EXPECT_NULL(test, fake_queues.on_destroy_cq);
	KUNIT_EXPECT_GT(test, polls_at_end, 0);
	KUNIT_EXPECT_EQ(test, polls_at_end, fake_queues.polls);
}

static struct kunit_case poll_cases[] = {
	KUNIT_CASE(poll_takes_what_is_there),
	KUNIT_CASE(poll_not_without_end),
	KUNIT_CASE(poll_again_for_what_came_meanwhile),
	KUNIT_CASE(poll_without_taking_calls),
	KUNIT_CASE(poll_by_the_worker),
	KUNIT_CASE(poll_again_by_the_worker),
	KUNIT_CASE(poll_no_more),
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
