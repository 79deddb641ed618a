// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client asks whether the server's machine is alive. While calls wait and no reply comes, it
 * asks the server's HCA for an acknowledgement: xprtrdma/watch.c.
 */
#include "client.h"

static const struct client_shape getattr = { .head = 136, .reply_head = 112 };

static int probe_init(struct kunit *test)
{
	client_connect(client_create(test));
	client_open_window(client_of(test), 8);
	fake_run_all(client_of(test)->qp);
	return 0;
}

static struct delayed_work *worker(struct client *client)
{
	return &client->conn->xc_watch.worker;
}

/* Work requests that are posted when the interval is over */
static unsigned int interval_over(struct client *client)
{
	unsigned int before = fake_posted(client->qp);
	int i;

	KUNIT_EXPECT_TRUE(client->test, delayed_work_pending(worker(client)));
	for (i = 0; i < XPRTRDMA_PROBE_INTERVAL; i++)
		client_second(client);
	return fake_posted(client->qp) - before;
}

static void answer(struct client_call *call)
{
	struct client_reply reply = { .length = 64, .credits = 8 };

	client_call_decode(call);
	KUNIT_ASSERT_TRUE(call->client->test, client_reply_send(call, &reply));
}

/* Nothing that runs later looks at a connection that is about to be freed. */
static void watch_stops(struct kunit *test)
{
	struct client *client = client_of(test);

	client_sent(client, &getattr);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(worker(client)));
	xprtrdma_watch_stop(client->conn);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(worker(client)));
}

static void probe_is_an_empty_write(struct kunit *test)
{
	struct client *client = client_of(test);
	unsigned int sends = client_free_sends(client);
	const struct fake_wr *wr;

	client_sent(client, &getattr);
	KUNIT_ASSERT_EQ(test, 1, interval_over(client));
	wr = fake_last_wr(client->qp);
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE, wr->opcode);
	KUNIT_EXPECT_EQ(test, 0, wr->nr_sge);
	KUNIT_EXPECT_TRUE(test, wr->flags & IB_SEND_SIGNALED);
	KUNIT_EXPECT_LE(test, worker(client)->timer.expires - jiffies, HZ);

	/* One at a time; then the next one */
	KUNIT_EXPECT_EQ(test, 0, interval_over(client));
	fake_run_all(client->qp);
	KUNIT_EXPECT_EQ(test, sends, client_free_sends(client));
	KUNIT_EXPECT_EQ(test, 1, interval_over(client));
	fake_run_all(client->qp);
	KUNIT_EXPECT_EQ(test, RPCRDMA_CONN_ESTABLISHED, client->conn->xc_state);
}

static void probe_is_not_sent_while_replies_come(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *first = client_sent(client, &getattr);

	client_sent(client, &getattr);
	answer(first);
	KUNIT_EXPECT_EQ(test, 0, interval_over(client));
	KUNIT_EXPECT_EQ(test, 1, interval_over(client));
}

static void probe_is_not_sent_when_no_call_waits(struct kunit *test)
{
	struct client *client = client_of(test);

	answer(client_sent(client, &getattr));
	KUNIT_EXPECT_EQ(test, 0, interval_over(client));
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(worker(client)));

	/* And again with the next call; its first second is that of the last reply, too. */
	client_sent(client, &getattr);
	KUNIT_EXPECT_EQ(test, 0, interval_over(client));
	KUNIT_EXPECT_EQ(test, 1, interval_over(client));
}

static void probe_without_an_answer_ends_the_connection(struct kunit *test)
{
	struct client *client = client_of(test);

	client_sent(client, &getattr);
	fake_run_all(client->qp);
	KUNIT_ASSERT_EQ(test, 1, interval_over(client));
	fake_fail(client->qp, IB_WC_RETRY_EXC_ERR);
	client_expect_failed(client);
	fake_flush(client->qp);
	KUNIT_EXPECT_EQ(test, 0, interval_over(client));
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(worker(client)));
}

/* A Send that was posted before it is complete: that says nothing of the probe. */
static void probe_is_not_answered_by_a_send(struct kunit *test)
{
	struct client *client = client_of(test);

	client->conn->xc_queues.signal_every = 1;
	KUNIT_ASSERT_EQ(test, 0, client_call_send(client_call_create(client, &getattr)));
	KUNIT_ASSERT_TRUE(test, fake_last_wr(client->qp)->flags & IB_SEND_SIGNALED);
	KUNIT_ASSERT_EQ(test, 1, interval_over(client));
	fake_run(client->qp, 1);
	KUNIT_EXPECT_EQ(test, 0, interval_over(client));
	fake_run_all(client->qp);
	KUNIT_EXPECT_EQ(test, 1, interval_over(client));
}

/* What is posted last then asks for a completion. */
static void probe_needs_a_send_buffer(struct kunit *test)
{
	struct client *client = client_of(test);

	client_sent(client, &getattr);
	client_post_all_sends(client);
	KUNIT_EXPECT_EQ(test, 0, interval_over(client));
	KUNIT_EXPECT_TRUE(test, fake_last_wr(client->qp)->flags & IB_SEND_SIGNALED);
	fake_run_all(client->qp);
	KUNIT_EXPECT_EQ(test, 1, interval_over(client));
}

static void probe_that_cannot_be_posted_ends_the_connection(struct kunit *test)
{
	struct client *client = client_of(test);

	client_sent(client, &getattr);
	client->qp->accept = 0;
	KUNIT_EXPECT_EQ(test, 0, interval_over(client));
	client_expect_failed(client);
}

/* A task is killed while it waits for its reply. Returns the XID. */
static u32 kill_one(struct client *client, unsigned long timeout)
{
	struct client_call *call = client_sent(client, &getattr);
	u32 xid = be32_to_cpu(call->rqst.rq_xid);

	call->rqst.rq_timeout = timeout;
	client_call_destroy(call);
	return xid;
}

static void time_passes(struct client *client, unsigned int seconds)
{
	while (seconds--)
		client_second(client);
}

/* The server has dropped a call whose task was killed: its credit would be lost for ever. */
static void lost_call_without_an_answer_ends_the_connection(struct kunit *test)
{
	struct client *client = client_of(test);

	kill_one(client, 60 * HZ);
	kill_one(client, 10 * HZ);
	time_passes(client, 50);
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(client->conn));
	time_passes(client, 11);
	client_expect_failed(client);
	KUNIT_EXPECT_EQ(test, RPCRDMA_END_STALLED, client->conn->xc_end);
}

/* As long as the answers to such calls come the server is only slow. */
static void lost_calls_that_are_answered_end_nothing(struct kunit *test)
{
	__be32 message[] = { 0, cpu_to_be32(1), cpu_to_be32(8), cpu_to_be32(RPCRDMA_MSG), 0, 0, 0,
			     0, cpu_to_be32(RPCRDMA_RPC_REPLY) };
	struct client *client = client_of(test);
	u32 first = kill_one(client, 60 * HZ), second = kill_one(client, 60 * HZ);

	time_passes(client, 50);
	message[0] = cpu_to_be32(first);
	message[7] = message[0];
	KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message, sizeof(message)));
	time_passes(client, 50);
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(client->conn));
	message[0] = cpu_to_be32(second);
	message[7] = message[0];
	KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message, sizeof(message)));
	KUNIT_EXPECT_EQ(test, 0, client->conn->xc_watch.lost.waiting);
	KUNIT_EXPECT_EQ(test, 0, client->conn->xc_window.in_flight);

	/* A call that is not answered is its task's business. */
	client_sent(client, &getattr);
	time_passes(client, 100);
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(client->conn));
}

static struct kunit_case probe_cases[] = {
	KUNIT_CASE(watch_stops),
	KUNIT_CASE(probe_is_an_empty_write),
	KUNIT_CASE(probe_is_not_sent_while_replies_come),
	KUNIT_CASE(probe_is_not_sent_when_no_call_waits),
	KUNIT_CASE(probe_without_an_answer_ends_the_connection),
	KUNIT_CASE(probe_is_not_answered_by_a_send),
	KUNIT_CASE(probe_needs_a_send_buffer),
	KUNIT_CASE(probe_that_cannot_be_posted_ends_the_connection),
	KUNIT_CASE(lost_call_without_an_answer_ends_the_connection),
	KUNIT_CASE(lost_calls_that_are_answered_end_nothing),
	{}
};

static struct kunit_suite probe_suite = {
	.name = "xprtrdma_probe",
	.init = probe_init,
	.test_cases = probe_cases,
};

kunit_test_suite(probe_suite);
