// SPDX-License-Identifier: GPL-2.0-only
/* The reverse direction, RFC 8167: calls of the server, and the client's replies. */
#include <linux/sunrpc/bc_xprt.h>

#include "bc_call.h"

/* The server calls: @length bytes of RPC call with XID @xid. */
static void called(struct client *client, u32 xid, u32 length)
{
	struct rpcrdma_header header = {
		.xid = xid, .vers = 1, .credits = 8, .proc = RPCRDMA_MSG,
	};
	__be32 *message = kunit_kzalloc(client->test, CLIENT_MESSAGE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(client->test, message);
	KUNIT_ASSERT_EQ(client->test, RPCRDMA_OK,
			rpcrdma_header_encode(&header, NULL, message, CLIENT_MESSAGE));
	memset((u8 *)message + header.size, 0x5a, length);
	message[header.size / 4] = cpu_to_be32(xid);
	message[header.size / 4 + 1] = cpu_to_be32(RPCRDMA_RPC_CALL);
	KUNIT_ASSERT_TRUE(client->test, fake_deliver(client->qp, message,
						     header.size + length));
	kunit_kfree(client->test, message);
}

static void bc_call_reaches_the_service(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpc_rqst *rqst;

	called(client, 0x4711, 200);
	rqst = fake_callbacks_take(client->xprt);
	KUNIT_ASSERT_NOT_NULL(test, rqst);
	KUNIT_EXPECT_EQ(test, cpu_to_be32(0x4711), rqst->rq_xid);
	KUNIT_EXPECT_EQ(test, 200, rqst->rq_rcv_buf.len);
	KUNIT_EXPECT_EQ(test, 200, rqst->rq_rcv_buf.head[0].iov_len);
	KUNIT_EXPECT_EQ(test, 0x5a, ((u8 *)rqst->rq_rcv_buf.head[0].iov_base)[199]);
	KUNIT_EXPECT_EQ(test, 200, rqst->rq_private_buf.len);
	KUNIT_EXPECT_TRUE(test, bc_prealloc(rqst));
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
	xprtrdma_bc_free_rqst(rqst);
	client_expect_at_rest(client);
}

static void bc_reply_is_sent(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_header header;
	struct rpc_rqst *rqst;
	struct fake_wr *wr;

	/* Arrange */
	called(client, 0x4711, 200);
	rqst = fake_callbacks_take(client->xprt);
	KUNIT_ASSERT_NOT_NULL(test, rqst);
	rqst->rq_snd_buf.head[0].iov_len = 64;
	rqst->rq_snd_buf.len = 64;
	memcpy(rqst->rq_snd_buf.head[0].iov_base, &rqst->rq_xid, 4);

	/* Act */
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));

	/* Assert: it takes no credit of the forward direction */
	KUNIT_ASSERT_EQ(test, 1, fake_posted(client->qp));
	wr = fake_last_wr(client->qp);
	rpcrdma_lists_init(&lists, NULL, 0, NULL, 0);
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK,
			rpcrdma_header_decode(fake_message(wr), wr->sge[0].length,
					      &header, &lists, false));
	KUNIT_EXPECT_EQ(test, 0x4711, header.xid);
	KUNIT_EXPECT_EQ(test, RPCRDMA_MSG, header.proc);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_SLOTS, header.credits);
	KUNIT_EXPECT_EQ(test, 28 + 64, wr->sge[0].length);
	KUNIT_EXPECT_EQ(test, 0, client->conn->xc_window.in_flight);
	xprtrdma_bc_free_rqst(rqst);
}

/* RFC 8167 section 5.4 */
static void bc_reply_on_another_connection(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpc_rqst *rqst;

	called(client, 0x4711, 200);
	rqst = fake_callbacks_take(client->xprt);
	KUNIT_ASSERT_NOT_NULL(test, rqst);
	client_disconnect(client);
	client_connect(client);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, xprtrdma_request_send(rqst));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(client->conn));
	xprtrdma_bc_free_rqst(rqst);
}

static void bc_reply_is_too_large(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpc_rqst *rqst;

	called(client, 0x4711, 200);
	rqst = fake_callbacks_take(client->xprt);
	KUNIT_ASSERT_NOT_NULL(test, rqst);
	rqst->rq_snd_buf.head[0].iov_len = 4096 - 24;
	rqst->rq_snd_buf.len = 4096 - 24;
	/* The error grants what there are Receives for. */
	flush_work(&client->conn->xc_growth.worker);
	client->conn->xc_growth.reverse = XPRTRDMA_BC_FIRST_SLOTS;
	/* RFC 8166 section 4.5.3, and to SUNRPC it is sent. */
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	client_bc_expect_err_chunk(client, 0x4711);
	client->conn->xc_growth.reverse = XPRTRDMA_BC_SLOTS;
	xprtrdma_bc_free_rqst(rqst);
}

static void bc_as_many_calls_as_were_granted(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpc_rqst *rqsts[XPRTRDMA_BC_SLOTS];
	int i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < XPRTRDMA_BC_SLOTS; i++)
			called(client, i, 100);
		for (i = 0; i < XPRTRDMA_BC_SLOTS; i++) {
			rqsts[i] = fake_callbacks_take(client->xprt);
			KUNIT_ASSERT_NOT_NULL(test, rqsts[i]);
		}
		for (i = 0; i < XPRTRDMA_BC_SLOTS; i++)
			xprtrdma_bc_free_rqst(rqsts[i]);
	}
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_SLOTS, client->transport->xt_bc_count);
	client_expect_at_rest(client);
}

/* The call is answered; returns what the reply grants. */
static u32 reply_to_call(struct client *client)
{
	struct rpc_rqst *rqst = fake_callbacks_take(client->xprt);
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_header header;
	struct fake_wr *wr;

	KUNIT_ASSERT_NOT_NULL(client->test, rqst);
	rqst->rq_snd_buf.head[0].iov_len = 64;
	rqst->rq_snd_buf.len = 64;
	memcpy(rqst->rq_snd_buf.head[0].iov_base, &rqst->rq_xid, 4);
	KUNIT_ASSERT_EQ(client->test, 0, xprtrdma_request_send(rqst));
	xprtrdma_bc_free_rqst(rqst);
	wr = fake_last_wr(client->qp);
	rpcrdma_lists_init(&lists, NULL, 0, NULL, 0);
	KUNIT_ASSERT_EQ(client->test, RPCRDMA_OK,
			rpcrdma_header_decode(fake_message(wr), wr->sge[0].length, &header,
					      &lists, false));
	fake_run_all(client->qp);
	return header.credits;
}

/* RFC 8167 section 4.1. There are Receives for all of them before the server hears of it. */
static void bc_credits_follow_use(struct kunit *test)
{
	struct client *client = client_of(test);
	struct xprtrdma_conn *conn;
	unsigned int before;

	client_disconnect(client);
	client_connect_small(client);
	conn = client->conn;
	before = conn->xc_recv.count;

	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_FIRST_SLOTS, conn->xc_growth.reverse);

	called(client, 1, 100);
	flush_work(&conn->xc_growth.worker);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_SLOTS, conn->xc_growth.reverse);
	KUNIT_EXPECT_EQ(test, before + XPRTRDMA_BC_SLOTS - XPRTRDMA_BC_FIRST_SLOTS,
			conn->xc_recv.count);
	/* That of the call may have come back a little later. */
	KUNIT_EXPECT_GE(test, fake_recvs(client->qp), conn->xc_recv.count - 1);
	/* A reply that goes out before says what there was then. */
	conn->xc_growth.reverse = XPRTRDMA_BC_FIRST_SLOTS;
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_FIRST_SLOTS, reply_to_call(client));
	conn->xc_growth.reverse = XPRTRDMA_BC_SLOTS;
	called(client, 2, 100);
	KUNIT_EXPECT_FALSE(test, work_busy(&conn->xc_growth.worker));
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_SLOTS, reply_to_call(client));
	KUNIT_EXPECT_EQ(test, XPRTRDMA_FIRST_CREDITS, conn->xc_window.requested);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_FIRST_SENDS, conn->xc_growth.sends);
	client_expect_at_rest(client);
}

/* With a reply the server has the credit back; SUNRPC lets go of the call when it likes. */
static void bc_calls_follow_replies_at_once(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpc_rqst *rqsts[2 * XPRTRDMA_BC_SLOTS];
	int i;

	for (i = 0; i < ARRAY_SIZE(rqsts); i++) {
		called(client, i, 100);
		rqsts[i] = fake_callbacks_take(client->xprt);
		KUNIT_ASSERT_NOT_NULL(test, rqsts[i]);
		rqsts[i]->rq_snd_buf.head[0].iov_len = 64;
		rqsts[i]->rq_snd_buf.len = 64;
		if (i < XPRTRDMA_BC_SLOTS)
			continue;
		KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqsts[i]));
		fake_run_all(client->qp);
	}
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(client->conn));
	for (i = 0; i < ARRAY_SIZE(rqsts); i++)
		xprtrdma_bc_free_rqst(rqsts[i]);
	client_expect_at_rest(client);
}

/* All of them, and none let go of: that is a server that does not count. */
static void bc_more_calls_than_were_granted(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpc_rqst *rqst;
	int i;

	for (i = 0; i <= 2 * XPRTRDMA_BC_SLOTS; i++)
		called(client, i, 100);
	client_expect_failed(client);
	for (i = 0; i < 2 * XPRTRDMA_BC_SLOTS; i++) {
		rqst = fake_callbacks_take(client->xprt);
		KUNIT_ASSERT_NOT_NULL(test, rqst);
		xprtrdma_bc_free_rqst(rqst);
	}
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
}

/* RFC 8167 section 6 */
static void bc_nobody_listens(struct kunit *test)
{
	struct client *client = client_of(test);

	client->xprt->bc_serv = NULL;
	called(client, 0x4711, 200);
	client_expect_at_rest(client);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
}

/* The service may be gone any moment after ->bc_destroy. */
static void bc_consumer_has_stopped(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpc_rqst *rqst;

	xprtrdma_bc_destroy(client->xprt, 1);
	called(client, 0x4711, 200);
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
	client_expect_at_rest(client);

	KUNIT_ASSERT_EQ(test, 0, xprtrdma_bc_setup(client->xprt, 1));
	called(client, 0x4711, 200);
	rqst = fake_callbacks_take(client->xprt);
	KUNIT_ASSERT_NOT_NULL(test, rqst);
	xprtrdma_bc_free_rqst(rqst);
}

/* The service's thread, which is late. */
struct taker {
	struct delayed_work	work;
	struct client		*client;
};

static void take_all(struct work_struct *work)
{
	struct taker *taker = container_of(work, struct taker, work.work);
	struct rpc_rqst *rqst;

	/* Late, that is when it was told to stop */
	eventually(!READ_ONCE(taker->client->transport->xt_bc_ready));
	while ((rqst = fake_callbacks_take(taker->client->xprt)))
		xprtrdma_bc_free_rqst(rqst);
}

/* What it has not begun when it is told to stop, it leaves, with references on us. */
static void bc_consumer_takes_all_before_it_stops(struct kunit *test)
{
	struct client *client = client_of(test);
	struct taker taker = { .client = client };

	called(client, 0x4711, 200);
	called(client, 0x4712, 200);
	INIT_DELAYED_WORK_ONSTACK(&taker.work, take_all);
	schedule_delayed_work(&taker.work, 0);
	xprtrdma_bc_destroy(client->xprt, 1);
	KUNIT_EXPECT_EQ(test, 0, client->transport->xt_bc_count);
	flush_delayed_work(&taker.work);
	destroy_delayed_work_on_stack(&taker.work);
	KUNIT_ASSERT_EQ(test, 0, xprtrdma_bc_setup(client->xprt, 1));
}

/* Not even one: the consumer is told, and what there is can be freed. */
static void bc_setup_without_memory(struct kunit *test)
{
	struct client *client = client_of(test);
	int i;

	for (i = 0; i < 4; i++) {
		xprtrdma_bc_destroy(client->xprt, 1);
		fake_alloc_fail(i);
		KUNIT_EXPECT_EQ(test, i < 2 ? -ENOMEM : 0, xprtrdma_bc_setup(client->xprt, 2));
		KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
		KUNIT_EXPECT_EQ(test, i, client->transport->xt_bc_count);
	}
}

/* RFC 8167 section 5.4 */
static void bc_keeps_the_connection(struct kunit *test)
{
	struct rpc_xprt *xprt = client_of(test)->xprt;

	xprtrdma_transport_of(xprt)->xt_idle_timeout = 300 * HZ;
	KUNIT_EXPECT_EQ(test, 0, xprt->idle_timeout);
	xprtrdma_bc_destroy(xprt, 1);
	KUNIT_EXPECT_EQ(test, 300 * HZ, xprt->idle_timeout);
	KUNIT_ASSERT_EQ(test, 0, xprtrdma_bc_setup(xprt, 1));
	KUNIT_EXPECT_EQ(test, 0, xprt->idle_timeout);
}

/* RFC 8167 section 5.3 */
static void bc_chunks_are_refused(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpcrdma_segment segment = { .handle = 1, .length = 100 }, storage[1];
	struct rpcrdma_chunk chunks[1];
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_header header = { .xid = 0x4711, .vers = 1, .credits = 8 };
	__be32 message[128] = {};

	/* Arrange */
	rpcrdma_lists_init(&lists, storage, 1, chunks, 1);
	rpcrdma_lists_begin_write(&lists);
	rpcrdma_lists_add_segment(&lists, segment);
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK, rpcrdma_header_encode(&header, &lists, message,
								sizeof(message)));
	message[header.size / 4] = cpu_to_be32(0x4711);

	/* Act */
	KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message, header.size + 64));

	/* Assert */
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
	client_bc_expect_err_chunk(client, 0x4711);
	client_expect_at_rest(client);
}

static const struct client_shape small = { .head = 64, .reply_head = 64 };

/*
 * A Long call has no payload to tell its direction by; that it has a Read list does,
 * whatever its XID is.
 */
static void bc_long_call_is_refused(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *forward = client_call_create(client, &small);
	u32 xids[] = { 0x4711, be32_to_cpu(forward->rqst.rq_xid) };
	int i;

	client_disconnect(client);
	client_bc_connect_without_chunks(client);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(forward));
	client_call_decode(forward);
	for (i = 0; i < 2; i++) {
		__be32 message[] = {
			cpu_to_be32(xids[i]), cpu_to_be32(1), cpu_to_be32(8),
			cpu_to_be32(RPCRDMA_NOMSG), cpu_to_be32(1), 0,
			cpu_to_be32(0x1000), cpu_to_be32(5000), 0, 0, 0, 0, 0,
		};

		fake_mark(client->qp);
		KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message,
						     sizeof(message)));
		KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
		client_bc_expect_err_chunk(client, xids[i]);
		client_call_expect_waiting(forward);
		KUNIT_EXPECT_EQ(test, 1, client->conn->xc_window.in_flight);
	}
	client_expect_at_rest(client);
}

/* RFC 8167 section 2.4.1: two transactions that have nothing to do with each other. */
static void bc_call_with_the_xid_of_a_pending_call(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *forward = client_call_create(client, &small);
	struct client_reply reply = { .length = 64 };
	struct rpc_rqst *rqst;

	KUNIT_ASSERT_EQ(test, 0, client_call_send(forward));
	client_call_decode(forward);
	called(client, be32_to_cpu(forward->rqst.rq_xid), 200);

	rqst = fake_callbacks_take(client->xprt);
	KUNIT_ASSERT_NOT_NULL(test, rqst);
	KUNIT_EXPECT_EQ(test, forward->rqst.rq_xid, rqst->rq_xid);
	client_call_expect_waiting(forward);
	KUNIT_EXPECT_EQ(test, 1, client->conn->xc_window.in_flight);
	xprtrdma_bc_free_rqst(rqst);

	KUNIT_ASSERT_TRUE(test, client_reply_send(forward, &reply));
	client_call_expect_reply(forward, 64, 0, 0);
	client_expect_at_rest(client);
}

/* RFC 8797 section 4.1: no R_key goes with a call, and not the one of ours that waits. */
static void expect_end(struct client *client, struct bc_call *cb)
{
	struct client_call *forward = client_sent(client, &small);
	struct kunit *test = client->test;

	cb->invalidate = 0x4711;
	bc_call_deliver(cb);

	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
	KUNIT_EXPECT_FALSE(test, xprtrdma_conn_established(client->conn));
	KUNIT_EXPECT_EQ(test, 1, client->conn->xc_transport->xt_stats.bad_reply_count);
	client_call_expect_waiting(forward);
}

static void bc_call_invalidates(struct kunit *test)
{
	struct client *client = client_of(test);

	expect_end(client, bc_call_create(client, 200));
}

static void bc_long_call_invalidates(struct kunit *test)
{
	struct client *client = client_of(test);

	expect_end(client, bc_call_create_long(client, 8192));
}

/* RFC 8267 section 6.5.2: what NFS tells the server to send at most */
static void bc_payload_is_what_fits_inline(struct kunit *test)
{
	struct client *client = client_of(test);

	KUNIT_EXPECT_EQ(test, 1024 - 28, xprtrdma_bc_max_payload(client->xprt));
	xprtrdma_bc_connected(client->conn);
	KUNIT_EXPECT_EQ(test, 4096 - 28, xprtrdma_bc_max_payload(client->xprt));
	client->conn->xc_inline.inline_recv = 2048;
	xprtrdma_bc_connected(client->conn);
	KUNIT_EXPECT_EQ(test, 2048 - 28, xprtrdma_bc_max_payload(client->xprt));
	client->conn->xc_inline.inline_send = 1024;
	xprtrdma_bc_connected(client->conn);
	KUNIT_EXPECT_EQ(test, 1024 - 28, xprtrdma_bc_max_payload(client->xprt));

	/* It has to fit a page of ours, too. */
	client->conn->xc_inline.inline_send = 65536;
	client->conn->xc_inline.inline_recv = 65536;
	xprtrdma_bc_connected(client->conn);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE - 28, xprtrdma_bc_max_payload(client->xprt));
}

/* A call does not touch the credits of the forward direction. */
static void bc_credits_are_apart(struct kunit *test)
{
	struct client *client = client_of(test);
	unsigned long cwnd = client->xprt->cwnd;
	struct rpc_rqst *rqst;

	called(client, 0x4711, 200);
	KUNIT_EXPECT_EQ(test, cwnd, client->xprt->cwnd);
	KUNIT_EXPECT_EQ(test, 1, client->conn->xc_window.granted);
	rqst = fake_callbacks_take(client->xprt);
	KUNIT_ASSERT_NOT_NULL(test, rqst);
	xprtrdma_bc_free_rqst(rqst);
}

static struct kunit_case bc_cases[] = {
	KUNIT_CASE(bc_call_reaches_the_service),
	KUNIT_CASE(bc_reply_is_sent),
	KUNIT_CASE(bc_reply_on_another_connection),
	KUNIT_CASE(bc_reply_is_too_large),
	KUNIT_CASE(bc_as_many_calls_as_were_granted),
	KUNIT_CASE(bc_credits_follow_use),
	KUNIT_CASE(bc_calls_follow_replies_at_once),
	KUNIT_CASE(bc_more_calls_than_were_granted),
	KUNIT_CASE(bc_nobody_listens),
	KUNIT_CASE(bc_consumer_has_stopped),
	KUNIT_CASE(bc_consumer_takes_all_before_it_stops),
	KUNIT_CASE(bc_setup_without_memory),
	KUNIT_CASE(bc_keeps_the_connection),
	KUNIT_CASE(bc_chunks_are_refused),
	KUNIT_CASE(bc_long_call_is_refused),
	KUNIT_CASE(bc_call_with_the_xid_of_a_pending_call),
	KUNIT_CASE(bc_call_invalidates),
	KUNIT_CASE(bc_long_call_invalidates),
	KUNIT_CASE(bc_payload_is_what_fits_inline),
	KUNIT_CASE(bc_credits_are_apart),
	{}
};

static struct kunit_suite bc_suite = {
	.name = "xprtrdma_bc",
	.init = client_bc_init,
	.test_cases = bc_cases,
};

kunit_test_suite(bc_suite);
