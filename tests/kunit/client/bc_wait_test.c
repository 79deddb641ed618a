// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replies to calls of the server, and refusals, for which there is no Send buffer or no room in the
 * queue at that moment. A reply that waits must be woken, also if the missing resource came back
 * just before it began to wait.
 */
#include <linux/unaligned.h>

#include "bc_call.h"
#include "between.h"

/* The callback service has answered with @length bytes. */
static void answer(struct rpc_rqst *rqst, u32 length)
{
	struct xdr_buf *reply = &rqst->rq_snd_buf;

	put_unaligned_be32(BC_XID, reply->head[0].iov_base);
	reply->head[0].iov_len = length;
	reply->len = length;
	clear_bit(XPRT_WRITE_SPACE, &rqst->rq_xprt->state);
}

/* A call, and the answer that is to be sent to it */
static struct rpc_rqst *called(struct bc_call *cb, u32 length)
{
	struct rpc_rqst *rqst;

	bc_call_deliver(cb);
	rqst = bc_call_expect(cb);
	answer(rqst, length);
	return rqst;
}

static void complete_all_sends(struct client *client)
{
	fake_run_all(client->qp);
}

static bool waits(const struct client *client)
{
	return test_bit(XPRT_WRITE_SPACE, &client->xprt->state);
}

static void reply_waits_for_a_send(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpc_rqst *rqst = called(bc_call_create(client, 64), 100);

	client_post_all_sends(client);
	client->conn->xc_wait = XPRTRDMA_WAIT_REGIONS;
	KUNIT_EXPECT_EQ(test, -EAGAIN, xprtrdma_request_send(rqst));
	KUNIT_EXPECT_EQ(test, XPRTRDMA_WAIT_SEND_QUEUE, client->conn->xc_wait);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
	KUNIT_EXPECT_TRUE(test, waits(client));
	fake_run_all(client->qp);
	KUNIT_EXPECT_FALSE(test, waits(client));

	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	KUNIT_ASSERT_EQ(test, 1, fake_posted(client->qp));
	KUNIT_EXPECT_EQ(test, 28 + 100, fake_last_wr(client->qp)->sge[0].length);
	KUNIT_EXPECT_FALSE(test, waits(client));
	xprtrdma_bc_free_rqst(rqst);
	bc_expect_nothing_left(client);
}

/* There was nobody to be woken then: it goes out at once, and nobody is left to wait. */
static void send_comes_back_in_between(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpc_rqst *rqst = called(bc_call_create(client, 64), 100);

	client_post_all_sends(client);
	client_between(AFTER_SEND_GET, complete_all_sends, client);
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	KUNIT_EXPECT_TRUE(test, client_between_happened());
	KUNIT_ASSERT_EQ(test, 1, fake_posted(client->qp));
	KUNIT_EXPECT_EQ(test, 28 + 100, fake_last_wr(client->qp)->sge[0].length);
	KUNIT_EXPECT_FALSE(test, waits(client));
	xprtrdma_bc_free_rqst(rqst);
	bc_expect_nothing_left(client);
}

/* The same for the Writes into a Reply chunk. */
static void writes_come_back_in_between(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create(client, 64);
	struct rpc_rqst *rqsts[2];
	int i;

	cb->reply[0] = 2000;
	cb->reply[1] = 2000;
	cb->reply[2] = 4000;
	for (i = 0; i < 2; i++)
		rqsts[i] = called(cb, 4096);
	client->conn->xc_bc_write.wrs = XPRTRDMA_BC_WRITES - 5;
	fake_mark(client->qp);
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqsts[0]));
	KUNIT_EXPECT_EQ(test, 3 + 1, fake_posted(client->qp));
	client_between(BEFORE_WAIT_FOR_SPACE, complete_all_sends, client);
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqsts[1]));
	KUNIT_EXPECT_TRUE(test, client_between_happened());
	KUNIT_EXPECT_EQ(test, 2 * (3 + 1), fake_posted(client->qp));
	KUNIT_EXPECT_FALSE(test, waits(client));
	for (i = 0; i < 2; i++)
		xprtrdma_bc_free_rqst(rqsts[i]);
	fake_run_all(client->qp);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_WRITES - 5, client->conn->xc_bc_write.wrs);
	client->conn->xc_bc_write.wrs = 0;
	bc_expect_nothing_left(client);
}

/* RFC 8166 section 4.5.4: no answer can be sent, so no connection. */
static void refusal_without_a_send(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create_long(client, XPRTRDMA_BC_MAX_CALL + 4);

	client_post_all_sends(client);
	bc_call_deliver(cb);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
	client_expect_failed(client);
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
}

static struct kunit_case wait_cases[] = {
	KUNIT_CASE(reply_waits_for_a_send),
	KUNIT_CASE(send_comes_back_in_between),
	KUNIT_CASE(writes_come_back_in_between),
	KUNIT_CASE(refusal_without_a_send),
	{}
};

static struct kunit_suite wait_suite = {
	.name = "xprtrdma_bc_wait",
	.init = client_bc_init,
	.test_cases = wait_cases,
};

kunit_test_suite(wait_suite);
