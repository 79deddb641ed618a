// SPDX-License-Identifier: GPL-2.0-only
/* The client's Receive buffers: enough have to be posted at any time, and none may be lost. */
#include "client.h"

enum { BATCH = RPCRDMA_RECEIVE_BATCH };

static int receive_init(struct kunit *test)
{
	client_connect(client_create(test));
	client_of(test)->qp->recv_posts = 0;
	return 0;
}

static const u8 runt[4];

static void receive_all_are_posted_before_the_connect(struct kunit *test)
{
	struct client *client = client_of(test);
	const struct rpcrdma_client_queues *queues;

	client_disconnect(client);
	client_connect_small(client);
	queues = &client->conn->xc_queues;
	KUNIT_EXPECT_EQ(test, client->conn->xc_recv.count, fake_queues.recvs_at_start);
	KUNIT_EXPECT_GE(test, fake_queues.recvs_at_start,
			client->conn->xc_window.requested + XPRTRDMA_BC_SLOTS);
	KUNIT_EXPECT_EQ(test, queues->recv_wrs, fake_queues.qp_attr.cap.max_recv_wr);
	KUNIT_EXPECT_GE(test, (u32)fake_queues.qp_attr.recv_cq->cqe, queues->recv_wrs);
	KUNIT_EXPECT_EQ(test, 1, client->qp->recv_posts);
}

static void receive_batch_is_posted_at_once(struct kunit *test)
{
	struct client *client = client_of(test);
	unsigned int all = fake_recvs(client->qp), i;

	for (i = 0; i < BATCH - 1; i++)
		KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, runt, sizeof(runt)));
	KUNIT_EXPECT_EQ(test, 0, client->qp->recv_posts);
	KUNIT_EXPECT_EQ(test, all - i, fake_recvs(client->qp));

	KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, runt, sizeof(runt)));
	KUNIT_EXPECT_EQ(test, 1, client->qp->recv_posts);
	KUNIT_EXPECT_EQ(test, all, fake_recvs(client->qp));
}

/* RFC 8166 section 3.3.1, RFC 8167 section 4.3.1 */
static void receive_never_below_the_credits(struct kunit *test)
{
	struct client *client = client_of(test);
	unsigned int least = client->conn->xc_queues.credits + XPRTRDMA_BC_SLOTS, i;

	for (i = 0; i < 1000; i++) {
		KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, runt, sizeof(runt)));
		KUNIT_ASSERT_GE(test, fake_recvs(client->qp), least);
	}
	client_expect_at_rest(client);
	KUNIT_EXPECT_EQ(test, 1000, client->transport->xt_stats.bad_reply_count);
}

static void receive_post_failure_fails_the_connection(struct kunit *test)
{
	struct client *client = client_of(test);
	unsigned int i;

	client->qp->recv_accept = 3;
	for (i = 0; i < BATCH; i++)
		fake_deliver(client->qp, runt, sizeof(runt));
	client_expect_failed(client);
}

static void receive_failure_fails_the_connection(struct kunit *test)
{
	struct client *client = client_of(test);

	KUNIT_ASSERT_TRUE(test, fake_recv_fail(client->qp, IB_WC_LOC_PROT_ERR));
	client_expect_failed(client);
}

/* The queue pair may be drained already. */
static void receive_nothing_is_posted_when_broken(struct kunit *test)
{
	struct client *client = client_of(test);
	unsigned int posts, i;

	xprtrdma_conn_fail(client->conn, RPCRDMA_END_OTHER);
	posts = client->qp->recv_posts;
	for (i = 0; i < 2 * BATCH; i++)
		KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, runt, sizeof(runt)));
	KUNIT_EXPECT_EQ(test, posts, client->qp->recv_posts);
	KUNIT_EXPECT_EQ(test, 2 * BATCH, client_idle_receives(client));
}

/* A message that is as long as the announced size fits. */
static void receive_buffer_has_the_announced_size(struct kunit *test)
{
	struct client *client = client_of(test);
	u8 *message = kunit_kzalloc(test, client->conn->xc_recv_size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, message);
	KUNIT_EXPECT_TRUE(test, fake_deliver(client->qp, message,
					     client->conn->xc_recv_size));
	client_expect_at_rest(client);
}

static struct kunit_case receive_cases[] = {
	KUNIT_CASE(receive_all_are_posted_before_the_connect),
	KUNIT_CASE(receive_batch_is_posted_at_once),
	KUNIT_CASE(receive_never_below_the_credits),
	KUNIT_CASE(receive_post_failure_fails_the_connection),
	KUNIT_CASE(receive_failure_fails_the_connection),
	KUNIT_CASE(receive_nothing_is_posted_when_broken),
	KUNIT_CASE(receive_buffer_has_the_announced_size),
	{}
};

static struct kunit_suite receive_suite = {
	.name = "xprtrdma_receive",
	.init = receive_init,
	.test_cases = receive_cases,
};

kunit_test_suite(receive_suite);
