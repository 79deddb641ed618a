// SPDX-License-Identifier: GPL-2.0-only
/* The client's buffers follow the window: few at first, and never fewer than it promises. */
#include "client.h"

static const struct client_shape getattr = { .head = 136, .reply_head = 112 };
static const struct client_shape read_8k = {
	.head = 136, .reply_head = 128, .reply_pages = 8192, .reply_tail = 4, .read = true,
};

static int window_init(struct kunit *test)
{
	client_connect_small(client_create(test));
	return 0;
}

static unsigned int cwnd(struct client *client)
{
	return client->xprt->cwnd >> RPC_CWNDSHIFT;
}

/* The server grants as many; all buffers are back. */
static void granted(struct client *client, u32 credits)
{
	struct client_reply reply = { .length = 64, .credits = credits };
	struct client_call *call = client_call_create(client, &getattr);

	KUNIT_ASSERT_EQ(client->test, 0, client_call_send(call));
	client_call_decode(call);
	KUNIT_ASSERT_TRUE(client->test, client_reply_send(call, &reply));
	client_call_destroy(call);
}

/* A Send buffer may be missing: one comes back, as the last Send was signalled. */
static int send_patiently(struct client *client, struct client_call *call)
{
	int rc = client_call_send(call);

	if (!rc || client->conn->xc_wait != XPRTRDMA_WAIT_SEND_QUEUE)
		return rc;
	client->conn->xc_wait = XPRTRDMA_WAIT_CREDIT;
	fake_run_all(client->qp);
	return client_call_send(call);
}

/* A message that is no call; -EAGAIN: there is no buffer. */
static int send_one(struct client *client)
{
	struct xprtrdma_send *send = xprtrdma_send_get(client->conn);

	if (!send)
		return -EAGAIN;
	memset(send->sd_buffer.bf_data, 0, RPCRDMA_MIN_HEADER_SIZE);
	return xprtrdma_send_post(send, RPCRDMA_MIN_HEADER_SIZE);
}

/* As many calls as go out; returns their number. */
static u32 fill_window(struct client *client)
{
	u32 count = 0;

	while (!send_patiently(client, client_call_create(client, &getattr)))
		count++;
	return count;
}

/* For as many calls, while the server has not called */
static void expect_buffers(struct client *client, u32 credits)
{
	const struct xprtrdma_conn *conn = client->conn;
	struct kunit *test = client->test;

	KUNIT_EXPECT_EQ(test, credits, conn->xc_window.requested);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_FIRST_SLOTS, conn->xc_growth.reverse);
	KUNIT_EXPECT_EQ(test, credits + XPRTRDMA_BC_FIRST_SLOTS + RPCRDMA_RECEIVE_BATCH,
			conn->xc_recv.count);
}

/* The window alone */
static int grow(struct xprtrdma_conn *conn, u32 credits)
{
	return xprtrdma_window_grow(conn, credits, conn->xc_growth.reverse, 2 * credits);
}

static void window_begins_small(struct kunit *test)
{
	struct client *client = client_of(test);

	expect_buffers(client, XPRTRDMA_FIRST_CREDITS);
	KUNIT_EXPECT_EQ(test, client->conn->xc_recv.count, fake_recvs(client->qp));
	granted(client, 32);
	KUNIT_EXPECT_EQ(test, 32, client->conn->xc_window.granted);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_FIRST_CREDITS, cwnd(client));
}

/* Twice as many for the call that does not go out, until it is all that the server grants. */
static void window_grows_with_use(struct kunit *test)
{
	struct client *client = client_of(test);
	u32 sent = 0, credits;

	granted(client, 32);
	client->xprt->min_reqs = 9;
	for (credits = XPRTRDMA_FIRST_CREDITS; credits <= 32; credits *= 2) {
		KUNIT_EXPECT_EQ(test, max(credits, 9U), client->xprt->min_reqs);
		KUNIT_EXPECT_EQ(test, credits, cwnd(client));
		expect_buffers(client, credits);
		KUNIT_EXPECT_GE(test, fake_recvs(client->qp), credits + XPRTRDMA_BC_FIRST_SLOTS);
		sent += fill_window(client);
		KUNIT_EXPECT_EQ(test, credits, sent);
		flush_work(&client->conn->xc_growth.worker);
	}
}

/*
 * SUNRPC has said that all calls wait until one of those under way is over. The server may be in no
 * hurry with these, and there are credits now: the next task gets the write lock.
 */
static void window_growth_lets_others_go(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpc_xprt *xprt = client->xprt;
	struct client_call *call = client_call_create(client, &getattr);

	granted(client, 32);
	rpc_sleep_on(&xprt->sending, &call->task, NULL);
	clear_bit(XPRT_LOCKED, &xprt->state);
	fill_window(client);
	flush_work(&client->conn->xc_growth.worker);
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_CWND_WAIT, &xprt->state));
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &xprt->state));
	KUNIT_EXPECT_FALSE(test, RPC_IS_QUEUED(&call->task));
	KUNIT_EXPECT_PTR_EQ(test, &call->task, xprt->snd_task);
	KUNIT_EXPECT_TRUE(test, test_and_set_bit(XPRT_LOCKED, &xprt->state));
	xprt->snd_task = NULL;
	rpc_wake_up(&xprt->sending);
	KUNIT_EXPECT_EQ(test, 0, client_call_send(call));
}

/* The same for a window that is smaller, but larger than what is under way. */
static void window_that_shrinks_lets_others_go(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = client_call_create(client, &getattr);
	struct rpc_xprt *xprt = client->xprt;

	granted(client, XPRTRDMA_FIRST_CREDITS);
	rpc_sleep_on(&xprt->sending, &call->task, NULL);
	clear_bit(XPRT_LOCKED, &xprt->state);
	set_bit(XPRT_CWND_WAIT, &xprt->state);
	xprtrdma_window_grant(client->conn, &(struct rpcrdma_header) { .credits = 2 });
	KUNIT_EXPECT_EQ(test, 2, cwnd(client));
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_CWND_WAIT, &xprt->state));
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &xprt->state));
	KUNIT_EXPECT_PTR_EQ(test, &call->task, xprt->snd_task);
	set_bit(XPRT_LOCKED, &xprt->state);
	xprt->snd_task = NULL;
	rpc_wake_up(&xprt->sending);
	KUNIT_EXPECT_EQ(test, 0, client_call_send(call));
}

/* The server has granted less than it was asked for: more buffers would be of no use. */
static void window_stays_while_the_grant_does(struct kunit *test)
{
	struct client *client = client_of(test);

	granted(client, XPRTRDMA_FIRST_CREDITS - 1);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_FIRST_CREDITS - 1, fill_window(client));
	flush_work(&client->conn->xc_growth.worker);
	expect_buffers(client, XPRTRDMA_FIRST_CREDITS);
}

static struct client_call *next_call(struct client *client)
{
	struct client_call *call = client_call_create(client, &getattr);

	KUNIT_ASSERT_EQ(client->test, 0, send_patiently(client, call));
	client_call_decode(call);
	return call;
}

static void answer(struct client_call *call, u32 credits)
{
	struct client_reply reply = { .length = 64, .credits = credits };

	KUNIT_ASSERT_TRUE(call->client->test, client_reply_send(call, &reply));
	client_call_destroy(call);
}

/* The next call goes out, and is answered with a grant. Returns what it asked for. */
static u32 asked(struct client *client, u32 credits)
{
	struct client_call *call = next_call(client);
	u32 ask = call->header.credits;

	answer(call, credits);
	return ask;
}

enum { WINDOW_MOST = 16 };

/* All calls that may be under way are, and there is another one. */
static u32 let_one_wait(struct client *client, struct client_call **calls)
{
	u32 window = cwnd(client), i;

	KUNIT_ASSERT_LE(client->test, window, WINDOW_MOST);
	for (i = 0; i < window; i++)
		calls[i] = next_call(client);
	KUNIT_EXPECT_NE(client->test, 0, send_patiently(client, client_call_create(client, &getattr)));
	return window;
}

/* What there are buffers for, however few are granted; more when all are granted and used. */
static void window_asks_for_more(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *calls[WINDOW_MOST];

	KUNIT_EXPECT_EQ(test, XPRTRDMA_FIRST_CREDITS, asked(client, 3));
	let_one_wait(client, calls);
	answer(calls[0], 3);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_FIRST_CREDITS, asked(client, 3));
	answer(calls[1], 3);
	answer(calls[2], XPRTRDMA_FIRST_CREDITS);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_FIRST_CREDITS, asked(client, XPRTRDMA_FIRST_CREDITS));

	let_one_wait(client, calls);
	flush_work(&client->conn->xc_growth.worker);
	expect_buffers(client, 2 * XPRTRDMA_FIRST_CREDITS);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_FIRST_CREDITS, cwnd(client));
	answer(calls[0], XPRTRDMA_FIRST_CREDITS);
	KUNIT_EXPECT_EQ(test, 2 * XPRTRDMA_FIRST_CREDITS,
			asked(client, 2 * XPRTRDMA_FIRST_CREDITS));
	KUNIT_EXPECT_EQ(test, 2 * XPRTRDMA_FIRST_CREDITS, cwnd(client));
}

/* The queues have no room for more calls. */
static void window_asks_for_no_more_than_it_can_use(struct kunit *test)
{
	struct client *client = client_of(test);
	struct xprtrdma_conn *conn = client->conn;
	struct client_call *calls[WINDOW_MOST];
	u32 count, i;

	granted(client, 16);
	conn->xc_queues.credits = 10;
	count = let_one_wait(client, calls);
	flush_work(&conn->xc_growth.worker);
	for (i = 0; i < count; i++)
		answer(calls[i], 16);
	KUNIT_EXPECT_EQ(test, 10, asked(client, 16));
	let_one_wait(client, calls);
	KUNIT_EXPECT_FALSE(test, work_busy(&conn->xc_growth.worker));
	KUNIT_EXPECT_EQ(test, 0, conn->xc_growth.wants);
}

static void window_without_memory(struct kunit *test)
{
	struct client *client = client_of(test);
	struct xprtrdma_conn *conn = client->conn;
	int i;

	granted(client, 32);
	/* What it could get stays. */
	for (i = 0; i < 6; i++) {
		fake_alloc_fail(i);
		KUNIT_EXPECT_EQ(test, -ENOMEM, grow(conn, 16));
		KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
		KUNIT_EXPECT_EQ(test, XPRTRDMA_FIRST_CREDITS, cwnd(client));
	}
	KUNIT_EXPECT_EQ(test, 0, grow(conn, 16));
	KUNIT_EXPECT_EQ(test, 16, cwnd(client));
	expect_buffers(client, 16);
	client_expect_at_rest(client);
}

/* The queue may be drained already. */
static void window_of_a_lost_connection(struct kunit *test)
{
	struct client *client = client_of(test);
	unsigned int posted;

	granted(client, 32);
	posted = fake_recvs(client->qp);
	xprtrdma_conn_fail(client->conn, RPCRDMA_END_OTHER);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, grow(client->conn, 16));
	KUNIT_EXPECT_EQ(test, posted, fake_recvs(client->qp));
	KUNIT_EXPECT_EQ(test, XPRTRDMA_FIRST_CREDITS, client->conn->xc_window.requested);
}

/* A provider may call that a want of memory. */
static void window_whose_receives_are_refused(struct kunit *test)
{
	struct client *client = client_of(test);

	granted(client, 32);
	client->qp->recv_accept = 3;
	KUNIT_EXPECT_EQ(test, -ENOTCONN, grow(client->conn, 16));
	client_expect_failed(client);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_FIRST_CREDITS, client->conn->xc_window.requested);
}

/* Twice as many when none is left, and no more than the calls of both directions need. */
static void sends_follow_use(struct kunit *test)
{
	struct client *client = client_of(test);
	struct xprtrdma_conn *conn = client->conn;
	unsigned int most = conn->xc_queues.send_slots - conn->xc_queues.signal_every -
			    conn->xc_queues.credits + XPRTRDMA_FIRST_CREDITS +
			    XPRTRDMA_FIRST_CREDITS / 2;
	unsigned int count, i;

	KUNIT_ASSERT_GT(test, most, 4 * XPRTRDMA_FIRST_SENDS);
	for (count = XPRTRDMA_FIRST_SENDS; count < most; count = min(2 * count, most)) {
		for (i = 0; i < count; i++) {
			KUNIT_EXPECT_EQ(test, count, conn->xc_send.count);
			KUNIT_ASSERT_EQ(test, 0, send_one(client));
		}
		flush_work(&conn->xc_growth.worker);
		fake_run_all(client->qp);
	}
	for (i = 0; i < most; i++)
		KUNIT_ASSERT_EQ(test, 0, send_one(client));
	KUNIT_EXPECT_EQ(test, -EAGAIN, send_one(client));
	KUNIT_EXPECT_FALSE(test, work_busy(&conn->xc_growth.worker));
	KUNIT_EXPECT_EQ(test, most, conn->xc_send.count);
	expect_buffers(client, XPRTRDMA_FIRST_CREDITS);

	/* A window of 16 needs no more Sends that wait for a completion than the largest one. */
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_window_grow(conn, 16, XPRTRDMA_BC_SLOTS, 1000));
	KUNIT_EXPECT_EQ(test, conn->xc_queues.send_slots - conn->xc_queues.credits + 16,
			conn->xc_send.count);
}

/* Its last users may still find that there are too few buffers. */
static void nothing_grows_on_a_lost_connection(struct kunit *test)
{
	struct client *client = client_of(test);
	struct xprtrdma_conn *conn = client->conn;

	granted(client, 32);
	xprtrdma_conn_fail(conn, RPCRDMA_END_OTHER);
	xprtrdma_window_request_credits(conn);
	KUNIT_EXPECT_FALSE(test, work_busy(&conn->xc_growth.worker));
	KUNIT_EXPECT_EQ(test, 0, conn->xc_growth.wants);
}

/*
 * Registrations whose Sends are not complete have an entry of the Send Queue each. A call waits
 * when there may be too few, and the Send before it says when there are more.
 */
static void window_registrations_have_entries(struct kunit *test)
{
	struct client *client = client_of(test);
	struct xprtrdma_conn *conn = client->conn;
	u32 needed = conn->xc_queues.mrs_per_call;
	struct client_call *calls[2];

	granted(client, 32);
	fake_run_all(client->qp);
	KUNIT_ASSERT_GT(test, conn->xc_queues.signal_every, 1);
	conn->xc_send.unsignalled = 0;
	conn->xc_send.reg_wrs = needed;
	calls[0] = client_call_create(client, &read_8k);
	calls[1] = client_call_create(client, &read_8k);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(calls[0]));
	KUNIT_EXPECT_TRUE(test, fake_last_wr(client->qp)->flags & IB_SEND_SIGNALED);
	KUNIT_EXPECT_LT(test, conn->xc_send.reg_wrs, needed);
	KUNIT_EXPECT_EQ(test, 0, client->transport->xt_stats.empty_sendctx_q);
	KUNIT_EXPECT_EQ(test, -EAGAIN, client_call_send(calls[1]));
	KUNIT_EXPECT_NE(test, 0, client->transport->xt_stats.empty_sendctx_q);
	KUNIT_EXPECT_EQ(test, 1, conn->xc_window.in_flight);

	fake_run_all(client->qp);
	KUNIT_EXPECT_EQ(test, needed, conn->xc_send.reg_wrs);
	KUNIT_EXPECT_EQ(test, 0, client_call_send(calls[1]));
}

static struct kunit_case window_cases[] = {
	KUNIT_CASE(window_begins_small),
	KUNIT_CASE(window_grows_with_use),
	KUNIT_CASE(window_growth_lets_others_go),
	KUNIT_CASE(window_that_shrinks_lets_others_go),
	KUNIT_CASE(window_stays_while_the_grant_does),
	KUNIT_CASE(window_asks_for_more),
	KUNIT_CASE(window_asks_for_no_more_than_it_can_use),
	KUNIT_CASE(window_without_memory),
	KUNIT_CASE(window_of_a_lost_connection),
	KUNIT_CASE(window_whose_receives_are_refused),
	KUNIT_CASE(sends_follow_use),
	KUNIT_CASE(nothing_grows_on_a_lost_connection),
	KUNIT_CASE(window_registrations_have_entries),
	{}
};

static struct kunit_suite window_suite = {
	.name = "xprtrdma_window",
	.init = window_init,
	.test_cases = window_cases,
};

kunit_test_suite(window_suite);
