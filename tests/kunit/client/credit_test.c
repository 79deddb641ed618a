// SPDX-License-Identifier: GPL-2.0-only
/* Credits of the client: RFC 8166 section 3.3. */
#include "between.h"
#include "reply.h"

static const struct client_shape getattr = { .head = 136, .reply_head = 112 };

static int credit_init(struct kunit *test)
{
	client_connect(client_create(test));
	return 0;
}

static unsigned int window(struct client *client)
{
	return client->xprt->cwnd >> RPC_CWNDSHIFT;
}

/* One call, answered with this grant. */
static void answered(struct client *client, u32 credits)
{
	struct client_reply reply = { .length = 64, .credits = credits };
	struct client_call *call = client_call_create(client, &getattr);
	u8 message[128];
	u32 length;

	KUNIT_ASSERT_EQ(client->test, 0, client_call_send(call));
	client_call_decode(call);
	length = client_reply_encode(call, &reply, message);
	/* Third word of the header; the builder takes 0 for a default. */
	if (!credits)
		memset(message + 8, 0, 4);
	KUNIT_ASSERT_TRUE(client->test, fake_deliver(client->qp, message, length));
	KUNIT_ASSERT_TRUE(client->test, client_call_done(call));
	client_call_destroy(call);
}

struct grant_case {
	const char	*desc;
	u32		grants[4];
	u32		windows[4];
};

/* The transport has 32 slots, so it asks for 32 credits. */
static const struct grant_case grant_cases[] = {
	{ "as asked for", { 32, 32, 32, 32 }, { 32, 32, 32, 32 } },
	{ "less", { 5, 5, 5, 5 }, { 5, 5, 5, 5 } },
	{ "more than asked for", { 33, 100, 1000, 32 }, { 32, 32, 32, 32 } },
	{ "huge", { 0xffffffff, 0x80000000, 0x7fffffff, 0x00ffffff }, { 32, 32, 32, 32 } },
	{ "zero counts as one", { 0, 32, 0, 0 }, { 1, 32, 1, 1 } },
	{ "shrinking", { 32, 16, 3, 1 }, { 32, 16, 3, 1 } },
	{ "growing", { 1, 2, 31, 32 }, { 1, 2, 31, 32 } },
};

KUNIT_ARRAY_PARAM_DESC(grant, grant_cases, desc);

static void credit_grant_sets_the_window(struct kunit *test)
{
	const struct grant_case *c = test->param_value;
	struct client *client = client_of(test);
	int i;

	for (i = 0; i < 4; i++) {
		answered(client, c->grants[i]);
		KUNIT_EXPECT_EQ(test, c->windows[i], window(client));
		KUNIT_EXPECT_EQ(test, 0, client->conn->xc_window.in_flight);
	}
}

/* RFC 8166 section 3.3.3 */
static void credit_one_call_until_the_first_grant(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *first = client_call_create(client, &getattr);
	struct client_call *second = client_call_create(client, &getattr);
	struct client_reply reply = { .length = 64 };

	KUNIT_EXPECT_EQ(test, 1, window(client));
	KUNIT_EXPECT_EQ(test, 0, client_call_send(first));
	client_call_decode(first);
	KUNIT_EXPECT_EQ(test, -EBADSLT, client_call_send(second));
	KUNIT_EXPECT_EQ(test, 1, fake_posted(client->qp));

	KUNIT_ASSERT_TRUE(test, client_reply_send(first, &reply));
	KUNIT_EXPECT_EQ(test, 0, client_call_send(second));
}

/* After a reconnect SUNRPC still counts the calls of the old connection as admitted. */
/* Two calls, credit for one; SUNRPC believes that there is credit for both. */
static struct client_call *send_one_of_two(struct client *client)
{
	struct client_call *first = client_call_create(client, &getattr);
	struct client_call *second = client_call_create(client, &getattr);

	client->xprt->cwnd = 2 << RPC_CWNDSHIFT;
	KUNIT_ASSERT_EQ(client->test, 0, client_call_send(first));
	client_call_decode(first);
	KUNIT_EXPECT_EQ(client->test, 0, client->conn->xc_watch.closed.waiting);
	KUNIT_ASSERT_EQ(client->test, -EAGAIN, client_call_send(second));
	KUNIT_EXPECT_TRUE(client->test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
	KUNIT_EXPECT_EQ(client->test, 1, client->conn->xc_watch.closed.waiting);
	KUNIT_EXPECT_TRUE(client->test, delayed_work_pending(&client->conn->xc_watch.worker));
	return first;
}

/* The next second is one too many. */
static void patience_is_over(struct client *client)
{
	client->conn->xc_watch.closed.seconds = client->conn->xc_watch.closed.timeout;
	client_second(client);
}

static struct client_call *in_between;

static void answer(struct client *client)
{
	struct client_reply reply = { .length = 64 };

	KUNIT_ASSERT_TRUE(client->test, client_reply_send(in_between, &reply));
}

/* SUNRPC is told to wait for a credit that has come back just before: nobody would wake it. */
static void credit_comes_back_in_between(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *second = client_call_create(client, &getattr);

	in_between = client_call_create(client, &getattr);
	client->xprt->cwnd = 2 << RPC_CWNDSHIFT;
	KUNIT_ASSERT_EQ(test, 0, client_call_send(in_between));
	client_call_decode(in_between);
	client_between(AFTER_WAIT_FOR_SPACE, answer, client);
	KUNIT_EXPECT_EQ(test, 0, client_call_send(second));
	KUNIT_EXPECT_TRUE(test, client_between_happened());
	KUNIT_EXPECT_TRUE(test, client_call_done(in_between));
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
	KUNIT_EXPECT_EQ(test, 1, client->conn->xc_window.in_flight);
}

static void shrink(struct client *client)
{
	spin_lock(&client->conn->xc_lock);
	client->conn->xc_window.granted = 1;
	spin_unlock(&client->conn->xc_lock);
}

/* A smaller grant comes when the second call is nearly sent. */
static void credit_window_closes_before_the_post(struct kunit *test)
{
	static const struct client_shape shape = { READS(8192) };
	struct client *client = client_of(test);
	struct client_call *first, *second;
	unsigned int regions, posted;

	client_open_window(client, 2);
	first = client_sent(client, &getattr);
	second = client_call_create(client, &shape);
	regions = client_free_mrs(client);
	posted = fake_posted(client->qp);
	client_between(AFTER_MARSHAL, shrink, client);
	KUNIT_EXPECT_EQ(test, -EAGAIN, client_call_send(second));
	KUNIT_EXPECT_TRUE(test, client_between_happened());
	KUNIT_EXPECT_EQ(test, posted, fake_posted(client->qp));
	KUNIT_EXPECT_EQ(test, regions, client_free_mrs(client));
	KUNIT_EXPECT_EQ(test, 0, client->transport->xt_counters.regions_registered);
	KUNIT_EXPECT_EQ(test, 1, client->conn->xc_window.in_flight);
	KUNIT_EXPECT_TRUE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));

	in_between = first;
	answer(client);
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
	KUNIT_EXPECT_EQ(test, 0, client_call_send(second));
	KUNIT_EXPECT_GT(test, client->transport->xt_counters.regions_registered, 0);
	KUNIT_EXPECT_EQ(test, 1, client->conn->xc_window.in_flight);
}

/* The first call's task may be gone, and no timer runs for the second. */
static void credit_no_reply_while_a_call_waits(struct kunit *test)
{
	struct client *client = client_of(test);

	send_one_of_two(client);
	client_second(client);
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(client->conn));
	patience_is_over(client);
	client_expect_failed(client);
}

struct patience_case {
	const char	*desc;
	unsigned int	timeo;		/* seconds, of the call that waits; 0: not known */
	unsigned int	lease;
	unsigned int	watched;
};

static const struct patience_case patience_cases[] = {
	{ "v3", 60, 0, 60 },
	{ "v3, timeo=3000", 300, 0, 300 },
	{ "v3, timeo=50", 5, 0, 5 },
	{ "v4", 60, 90, 60 },
	{ "v4, timeo=3000", 300, 90, 60 },
	{ "v4, a short lease", 60, 15, 10 },
	{ "v4, timeo=50", 5, 90, 5 },
	{ "not known", 0, 0, 60 },
};

KUNIT_ARRAY_PARAM_DESC(patience, patience_cases, desc);

static unsigned int watched_for(struct client *client)
{
	return client->conn->xc_watch.closed.timeout;
}

/* As long as SUNRPC would wait for the reply, but not until a lease is over. */
static void credit_watch_is_as_patient_as_the_call(struct kunit *test)
{
	const struct patience_case *c = test->param_value;
	struct client *client = client_of(test);
	struct client_call *calls[2];
	int i;

	if (c->lease)
		client->transport->xt_lease = c->lease * HZ;
	for (i = 0; i < 2; i++) {
		calls[i] = client_call_create(client, &getattr);
		calls[i]->rqst.rq_timeout = c->timeo * HZ;
	}
	client->xprt->cwnd = 2 << RPC_CWNDSHIFT;
	KUNIT_ASSERT_EQ(test, 0, client_call_send(calls[0]));
	KUNIT_ASSERT_EQ(test, -EAGAIN, client_call_send(calls[1]));
	KUNIT_EXPECT_EQ(test, c->watched, watched_for(client));

	/* Another one with more patience, and one with less */
	calls[1]->rqst.rq_timeout = 1000 * HZ;
	client->transport->xt_lease = 0;
	KUNIT_ASSERT_EQ(test, -EAGAIN, client_call_send(calls[1]));
	KUNIT_EXPECT_EQ(test, 1000, watched_for(client));
	calls[1]->rqst.rq_timeout = HZ;
	KUNIT_ASSERT_EQ(test, -EAGAIN, client_call_send(calls[1]));
	KUNIT_EXPECT_EQ(test, 1000, watched_for(client));
}

static void credit_reply_while_a_call_waits(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_reply reply = { .length = 64 };

	KUNIT_ASSERT_TRUE(test, client_reply_send(send_one_of_two(client), &reply));
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
	patience_is_over(client);
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(client->conn));
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&client->conn->xc_watch.worker));
}

/* Nobody may try to send again, and so ask for another watch. */
static void credit_window_closes_again_while_a_call_waits(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *first = send_one_of_two(client);
	struct client_call *third = client_call_create(client, &getattr);
	struct client_reply reply = { .length = 64, .credits = 1 };

	KUNIT_ASSERT_TRUE(test, client_reply_send(first, &reply));
	client->xprt->cwnd = 3 << RPC_CWNDSHIFT;
	KUNIT_ASSERT_EQ(test, 0, client_call_send(third));
	patience_is_over(client);
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(client->conn));
	patience_is_over(client);
	client_expect_failed(client);
}

/* Its reply waits for a LOCAL_INV. */
static const struct client_shape read_shape = {
	.head = 100, .reply_head = 120, .reply_pages = PAGE_SIZE,
	.reply_tail = 16, .read = true,
};

/* RFC 8166 section 3.3.1: the last grant is that of the reply that came last. */
static void credit_grants_in_the_order_of_arrival(struct kunit *test)
{
	struct client_reply early = { .length = 120, .item = PAGE_SIZE, .credits = 32 };
	struct client_reply late = { .length = 64, .credits = 8 };
	struct client *client = client_of(test);
	struct client_call *slow, *fast;

	client_open_window(client, 16);
	slow = client_call_create(client, &read_shape);
	fast = client_call_create(client, &getattr);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(slow));
	client_call_decode(slow);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(fast));
	client_call_decode(fast);

	/* It waits for its LOCAL_INV, and keeps its credit. */
	KUNIT_ASSERT_TRUE(test, client_reply_send(slow, &early));
	KUNIT_EXPECT_FALSE(test, client_call_done(slow));
	KUNIT_EXPECT_EQ(test, 32, window(client));
	KUNIT_EXPECT_EQ(test, 2, client->conn->xc_window.in_flight);
	KUNIT_ASSERT_TRUE(test, client_reply_send(fast, &late));
	KUNIT_EXPECT_EQ(test, 8, window(client));
	fake_run_all(client->qp);
	client_call_expect_reply(slow, 120, PAGE_SIZE, 0);
	KUNIT_EXPECT_EQ(test, 8, window(client));
	KUNIT_EXPECT_EQ(test, 0, client->conn->xc_window.in_flight);
}

/* Who waits for a credit need not wait until the reply is finished that grants more. */
static void credit_grant_lets_others_go_at_once(struct kunit *test)
{
	struct client_reply reply = { .length = 120, .item = PAGE_SIZE, .credits = 8 };
	struct client *client = client_of(test);
	struct client_call *slow = client_call_create(client, &read_shape);
	struct client_call *other = client_call_create(client, &getattr);

	client->xprt->cwnd = 2 << RPC_CWNDSHIFT;
	KUNIT_ASSERT_EQ(test, 0, client_call_send(slow));
	client_call_decode(slow);
	KUNIT_ASSERT_EQ(test, -EAGAIN, client_call_send(other));
	KUNIT_ASSERT_TRUE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
	KUNIT_ASSERT_TRUE(test, client_reply_send(slow, &reply));
	KUNIT_EXPECT_FALSE(test, client_call_done(slow));
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
	fake_run_all(client->qp);
	client_call_expect_reply(slow, 120, PAGE_SIZE, 0);
}

/* Of a task that was killed, whatever the server answers; once for each. */
static void credit_of_a_killed_call(struct kunit *test)
{
	static const u32 procs[] = { RPCRDMA_NOMSG, RPCRDMA_ERROR };
	struct client *client = client_of(test);
	struct client_call *killed;
	__be32 message[12];
	int i, k;

	client_open_window(client, 4);
	for (i = 0; i < ARRAY_SIZE(procs); i++) {
		bool error = procs[i] == RPCRDMA_ERROR;
		/* ERR_CHUNK, or a Reply chunk of 64 bytes */
		u32 words[12] = { 0, 1, 32, procs[i], error ? RPCRDMA_ERR_CHUNK : 0, 0,
				  1, 1, 0x1000, 64 };

		killed = client_call_create(client, &getattr);
		KUNIT_ASSERT_EQ(test, 0, client_call_send(killed));
		words[0] = be32_to_cpu(killed->rqst.rq_xid);
		for (k = 0; k < 12; k++)
			message[k] = cpu_to_be32(words[k]);
		client_call_destroy(killed);
		KUNIT_EXPECT_EQ(test, 1, client->conn->xc_window.in_flight);

		/* Another call is in flight, whose credit is not concerned. */
		killed = client_call_create(client, &getattr);
		KUNIT_ASSERT_EQ(test, 0, client_call_send(killed));
		for (k = 0; k < 2; k++) {
			KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message,
							     sizeof(message)));
			KUNIT_EXPECT_EQ(test, 1, client->conn->xc_window.in_flight);
		}
		KUNIT_EXPECT_EQ(test, 4, window(client));
		client_call_decode(killed);
		KUNIT_ASSERT_TRUE(test, client_reply_send(killed, &(struct client_reply) {
			.length = 64, .credits = 4 }));
		KUNIT_EXPECT_EQ(test, 0, client->conn->xc_window.in_flight);
	}
}

/* A call that waits to be sent has no credit, on no connection. */
static void credit_of_a_call_killed_before_it_is_sent(struct kunit *test)
{
	struct client *client = client_of(test);
	unsigned long serial;

	for (serial = 1; serial < 3; serial++) {
		client->conn->xc_serial = serial;
		client_call_destroy(client_call_create(client, &getattr));
		KUNIT_EXPECT_EQ(test, 0, client->conn->xc_watch.lost.waiting);
	}
}

/* What was lost on another connection is no credit of this one. */
static void credit_of_a_call_killed_before_a_reconnect(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *killed = client_call_create(client, &getattr);
	struct client_call *call = client_call_create(client, &getattr);
	u32 xid = be32_to_cpu(killed->rqst.rq_xid), i;
	__be32 message[] = { 0, cpu_to_be32(1), cpu_to_be32(32),
			     cpu_to_be32(RPCRDMA_ERROR), cpu_to_be32(RPCRDMA_ERR_CHUNK) };

	KUNIT_ASSERT_EQ(test, 0, client_call_send(killed));
	client_call_destroy(killed);
	client_disconnect(client);
	client_connect(client);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	message[0] = cpu_to_be32(xid);
	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message, sizeof(message)));
	KUNIT_EXPECT_EQ(test, 1, client->conn->xc_window.in_flight);
}

/* It was sent on a connection that is not there any more, nor is its credit. */
static void credit_of_a_call_killed_after_a_reconnect(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *killed = client_sent(client, &getattr);

	client_disconnect(client);
	client_connect(client);
	client_call_destroy(killed);
	KUNIT_EXPECT_EQ(test, 0, client->conn->xc_watch.lost.waiting);
}

/* Nobody answers on the first connection, so its lost call is never taken off. */
static void credit_of_calls_lost_on_two_connections(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call;
	int i;

	for (i = 0; i < 2; i++) {
		call = client_call_create(client, &getattr);
		KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
		client_call_destroy(call);
		KUNIT_EXPECT_EQ(test, 1, client->conn->xc_watch.lost.waiting);
		client_disconnect(client);
		client_connect(client);
	}
}

/* RFC 8166 section 3.3.3: a valid reply. RFC 8167 section 4.1: if it is one for certain. */
static void credit_of_no_reply_is_ignored(struct kunit *test)
{
	static const u32 messages[][12] = {
		{ 0x77777777, 1, 32, RPCRDMA_ERROR, RPCRDMA_ERR_CHUNK },
		{ 0x77777777, 1, 32, RPCRDMA_NOMSG, 0, 0, 1, 1, 0x1000, 64, 0, 0 },
		{ 0x77777777, 1, 32, RPCRDMA_MSG, 0, 0, 0, 0x77777777, 2 },
		{ 0x77777777, 1, 32, RPCRDMA_MSG, 0, 0, 0, 1, 1 },
		{ 0x77777777, 2, 32, RPCRDMA_MSG, 0, 0, 0, 0x77777777, 1 },
	};
	struct client *client = client_of(test);
	struct client_call *first = client_call_create(client, &getattr);
	struct client_call *second = client_call_create(client, &getattr);
	struct client_reply error = { .proc = RPCRDMA_ERROR };
	__be32 message[12];
	int i, k;

	KUNIT_ASSERT_EQ(test, 0, client_call_send(first));
	client_call_decode(first);
	for (i = 0; i < ARRAY_SIZE(messages); i++) {
		for (k = 0; k < 12; k++)
			message[k] = cpu_to_be32(messages[i][k]);
		KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message,
						     sizeof(message)));
		KUNIT_EXPECT_EQ_MSG(test, 1, window(client), "message %d", i);
		KUNIT_EXPECT_EQ(test, 1, client->conn->xc_window.in_flight);
		KUNIT_EXPECT_NE(test, 0, client_call_send(second));
	}

	/* An error ends its call, and brings no grant. */
	KUNIT_ASSERT_TRUE(test, client_reply_send(first, &error));
	client_call_expect_error(first, -EIO);
	KUNIT_EXPECT_EQ(test, 1, window(client));
	KUNIT_EXPECT_EQ(test, 0, client->conn->xc_window.in_flight);
}

static void credit_one_call_after_a_reconnect(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *calls[3];
	struct client_reply reply = { .length = 64 };
	int i;

	/* Arrange: three calls on the old connection */
	client_open_window(client, 16);
	for (i = 0; i < 3; i++) {
		calls[i] = client_call_create(client, &getattr);
		KUNIT_ASSERT_EQ(test, 0, client_call_send(calls[i]));
	}
	client_disconnect(client);
	client_connect(client);
	client->xprt->cong = 3 * RPC_CWNDSCALE;

	/* Act, Assert */
	KUNIT_EXPECT_EQ(test, 0, client_call_send(calls[0]));
	client_call_decode(calls[0]);
	KUNIT_EXPECT_EQ(test, -EAGAIN, client_call_send(calls[1]));
	KUNIT_EXPECT_TRUE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
	KUNIT_EXPECT_EQ(test, 1, fake_posted(client->qp));

	KUNIT_ASSERT_TRUE(test, client_reply_send(calls[0], &reply));
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
	KUNIT_EXPECT_EQ(test, 0, client_call_send(calls[1]));
	KUNIT_EXPECT_EQ(test, 0, client_call_send(calls[2]));
}

/* The window shrinks below what is in flight: nothing goes out until it has drained. */
static void credit_window_shrinks_below_what_is_in_flight(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *calls[4], *next = client_call_create(client, &getattr);
	struct client_reply reply = { .length = 64, .credits = 2 };
	int i;

	client_open_window(client, 4);
	for (i = 0; i < 4; i++) {
		calls[i] = client_call_create(client, &getattr);
		KUNIT_ASSERT_EQ(test, 0, client_call_send(calls[i]));
		client_call_decode(calls[i]);
	}
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_TRUE(test, client_reply_send(calls[i], &reply));
		xprt_release_rqst_cong(&calls[i]->task);
		KUNIT_EXPECT_NE(test, 0, client_call_send(next));
	}
	KUNIT_EXPECT_EQ(test, 2, client->conn->xc_window.in_flight);
	KUNIT_ASSERT_TRUE(test, client_reply_send(calls[2], &reply));
	xprt_release_rqst_cong(&calls[2]->task);
	KUNIT_EXPECT_EQ(test, 0, client_call_send(next));
}

/* In SUNRPC's queue of calls to send, whose head is sent next; and out of it again. */
static void at_the_head(struct client_call *call, bool queued)
{
	struct rpc_xprt *xprt = call->client->xprt;

	spin_lock(&xprt->queue_lock);
	if (queued)
		list_add(&call->rqst.rq_xmit, &xprt->xmit_queue);
	else
		list_del_init(&call->rqst.rq_xmit);
	spin_unlock(&xprt->queue_lock);
}

/*
 * A call that was admitted comes to the head just when another finds the window closed: SUNRPC
 * has seen the old head, and says that all of them wait. Who is admitted waits for nobody.
 */
static void credit_call_admitted_waits_at_the_head(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *admitted = client_sent(client, &getattr);
	struct client_call *next = client_call_create(client, &getattr);
	struct client_call *heads[] = { NULL, next, admitted };
	int i;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		if (heads[i])
			at_the_head(heads[i], true);
		set_bit(XPRT_CWND_WAIT, &client->xprt->state);
		KUNIT_EXPECT_EQ(test, -EBADSLT, client_call_send(next));
		KUNIT_EXPECT_EQ(test, heads[i] != admitted,
				test_bit(XPRT_CWND_WAIT, &client->xprt->state));
		if (heads[i])
			at_the_head(heads[i], false);
	}
	clear_bit(XPRT_CWND_WAIT, &client->xprt->state);
}

/* RFC 8166 section 3.3.1: no second copy on the same connection. */
static void credit_no_retransmission(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = client_call_create(client, &getattr);

	client_open_window(client, 16);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, client_call_send(call));
	client_expect_failed(client);
	KUNIT_EXPECT_EQ(test, 1, fake_posted(client->qp));
}

static void credit_call_without_a_reply(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = client_call_create(client, &getattr);

	client->proc.p_decode = NULL;
	KUNIT_EXPECT_EQ(test, 0, client_call_send(call));
	client_expect_failed(client);
}

static void credit_not_connected(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = client_call_create(client, &getattr);

	xprt_clear_connected(client->xprt);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, client_call_send(call));
	xprt_set_connected(client->xprt);
	xprtrdma_conn_fail(client->conn, RPCRDMA_END_OTHER);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, client_call_send(call));
	client_disconnect(client);
	xprt_set_connected(client->xprt);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, client_call_send(call));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
}

/* All credits, all Send buffers, all completions, many times around. */
static void credit_long_run(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_reply reply = { .length = 64 };
	struct client_call *calls[32];
	int round, i;

	answered(client, 32);
	for (round = 0; round < 40; round++) {
		for (i = 0; i < 32; i++) {
			calls[i] = client_call_create(client, &getattr);
			KUNIT_ASSERT_EQ(test, 0, client_call_send(calls[i]));
			client_call_decode(calls[i]);
		}
		KUNIT_ASSERT_EQ(test, 32, client->conn->xc_window.in_flight);
		for (i = 0; i < 32; i++) {
			KUNIT_ASSERT_TRUE(test, client_reply_send(calls[i], &reply));
			KUNIT_ASSERT_TRUE(test, client_call_done(calls[i]));
			client_call_destroy(calls[i]);
		}
		KUNIT_ASSERT_EQ(test, 0, client->conn->xc_window.in_flight);
	}
	client_expect_at_rest(client);
}

static struct kunit_case credit_cases[] = {
	KUNIT_CASE_PARAM(credit_grant_sets_the_window, grant_gen_params),
	KUNIT_CASE(credit_one_call_until_the_first_grant),
	KUNIT_CASE(credit_comes_back_in_between),
	KUNIT_CASE(credit_window_closes_before_the_post),
	KUNIT_CASE(credit_no_reply_while_a_call_waits),
	KUNIT_CASE_PARAM(credit_watch_is_as_patient_as_the_call, patience_gen_params),
	KUNIT_CASE(credit_reply_while_a_call_waits),
	KUNIT_CASE(credit_window_closes_again_while_a_call_waits),
	KUNIT_CASE(credit_grants_in_the_order_of_arrival),
	KUNIT_CASE(credit_grant_lets_others_go_at_once),
	KUNIT_CASE(credit_of_a_killed_call),
	KUNIT_CASE(credit_of_a_call_killed_before_it_is_sent),
	KUNIT_CASE(credit_of_a_call_killed_before_a_reconnect),
	KUNIT_CASE(credit_of_a_call_killed_after_a_reconnect),
	KUNIT_CASE(credit_of_calls_lost_on_two_connections),
	KUNIT_CASE(credit_of_no_reply_is_ignored),
	KUNIT_CASE(credit_one_call_after_a_reconnect),
	KUNIT_CASE(credit_window_shrinks_below_what_is_in_flight),
	KUNIT_CASE(credit_call_admitted_waits_at_the_head),
	KUNIT_CASE(credit_no_retransmission),
	KUNIT_CASE(credit_call_without_a_reply),
	KUNIT_CASE(credit_not_connected),
	KUNIT_CASE(credit_long_run),
	{}
};

static struct kunit_suite credit_suite = {
	.name = "xprtrdma_credit",
	.init = credit_init,
	.test_cases = credit_cases,
};

kunit_test_suite(credit_suite);
