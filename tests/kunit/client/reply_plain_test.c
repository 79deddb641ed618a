// SPDX-License-Identifier: GPL-2.0
/*
 * The short way of a reply without chunks, and the way of all others: what SUNRPC sees, what is
 * counted and what is left behind is the same.
 */
#include <linux/prandom.h>

#include "reply.h"

enum { ROUNDS = 2000, HEAD = 1500 };

/* A reply of @length bytes, on the one way or the other */
static struct client_call *answered(struct client *client, const struct client_shape *shape,
				    u32 length, bool plain)
{
	struct client_call *call = client_sent(client, shape);
	struct client_reply reply = { .length = length };

	/* What is to be learned from takes the general way. */
	if (!plain)
		xprtrdma_request_of(&call->rqst)->rq_by_history = true;
	KUNIT_ASSERT_TRUE(client->test, client_reply_send(call, &reply));
	KUNIT_EXPECT_TRUE(client->test, client_call_done(call));
	KUNIT_EXPECT_EQ(client->test, 0, xprtrdma_request_of(&call->rqst)->rq_sent_on);
	KUNIT_EXPECT_EQ(client->test, 0, atomic_read(&call->rqst.rq_pin));
	KUNIT_EXPECT_EQ(client->test, 0, client->conn->xc_window.in_flight);
	return call;
}

/* The XID, which differs, is in the first word. */
static void expect_same_bytes(struct kunit *test, const struct xdr_buf *a, const struct xdr_buf *b)
{
	u8 *seen[2];
	u32 length = a->len;

	seen[0] = kunit_kzalloc(test, length, GFP_KERNEL);
	seen[1] = kunit_kzalloc(test, length, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, seen[0] && seen[1]);
	KUNIT_EXPECT_EQ(test, 0, read_bytes_from_xdr_buf(a, 0, seen[0], length));
	KUNIT_EXPECT_EQ(test, 0, read_bytes_from_xdr_buf(b, 0, seen[1], length));
	KUNIT_EXPECT_MEMEQ(test, seen[0] + 4, seen[1] + 4, length - 4);
	kunit_kfree(test, seen[0]);
	kunit_kfree(test, seen[1]);
}

static void expect_same(struct kunit *test, const struct client_call *a,
			const struct client_call *b)
{
	const struct xdr_buf *bufs[2] = { &a->rqst.rq_private_buf, &b->rqst.rq_private_buf };

	KUNIT_EXPECT_EQ(test, a->rqst.rq_reply_bytes_recvd, b->rqst.rq_reply_bytes_recvd);
	KUNIT_EXPECT_EQ(test, bufs[0]->len, bufs[1]->len);
	KUNIT_EXPECT_EQ(test, bufs[0]->buflen, bufs[1]->buflen);
	KUNIT_EXPECT_EQ(test, bufs[0]->page_len, bufs[1]->page_len);
	KUNIT_EXPECT_EQ(test, bufs[0]->head[0].iov_len, bufs[1]->head[0].iov_len);
	KUNIT_EXPECT_EQ(test, bufs[0]->tail[0].iov_len, bufs[1]->tail[0].iov_len);
	KUNIT_EXPECT_EQ(test, a->rqst.rq_private_buf.len, a->rqst.rq_reply_bytes_recvd);
	expect_same_bytes(test, bufs[0], bufs[1]);
}

static u64 replies_counted(struct client *client)
{
	struct rpcrdma_counters all = {};
	u64 count = 0;
	int i;

	xprtrdma_connections.cs_sum(&client->transport->xt_connection, &all);
	for (i = 0; i < ARRAY_SIZE(all.latency); i++)
		count += all.latency[i];
	KUNIT_EXPECT_EQ(client->test, all.calls[RPCRDMA_SHAPE_INLINE], count);
	return count;
}

/* Random lengths, around what goes the short way, into heads and pages */
static void reply_plain_is_as_any_other(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *calls[2];
	struct rnd_state random;
	int i, k;

	prandom_seed_state(&random, 8166);
	for (i = 0; i < ROUNDS; i++) {
		struct client_shape shape = { .head = 64 };
		u32 length;

		shape.reply_head = 8 + prandom_u32_state(&random) % HEAD;
		if (prandom_u32_state(&random) % 4 == 0) {
			shape.reply_pages = prandom_u32_state(&random) % HEAD;
			shape.reply_tail = 64;
		}
		length = 8 + prandom_u32_state(&random) % (shape.reply_head + shape.reply_pages);
		for (k = 0; k < 2; k++)
			calls[k] = answered(client, &shape, length, !k);
		expect_same(test, calls[0], calls[1]);
		for (k = 0; k < 2; k++)
			client_call_destroy(calls[k]);
		KUNIT_ASSERT_EQ(test, 2 * (i + 1), replies_counted(client));
	}
	client_expect_at_rest(client);
}

static struct kunit_case plain_cases[] = {
	KUNIT_CASE(reply_plain_is_as_any_other),
	{}
};

static struct kunit_suite plain_suite = {
	.name = "xprtrdma_reply_plain",
	.init = client_open_init,
	.test_cases = plain_cases,
};

kunit_test_suite(plain_suite);
