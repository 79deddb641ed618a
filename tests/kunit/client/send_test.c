// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client's requests when memory is short, and its Send buffers: which Send is signalled, and
 * what the completion of a Send frees.
 */
#include "client.h"

static int send_init(struct kunit *test)
{
	client_connect(client_create(test));
	return 0;
}

struct short_case {
	const char	*desc;
	unsigned int	flags;
	u32		size;
	int		expected;
};

static const struct short_case short_cases[] = {
	{ "somebody waits", 0, 200, -ENOMEM },
	{ "asynchronous", RPC_TASK_ASYNC, 200, 0 },
	{ "asynchronous and large", RPC_TASK_ASYNC, 4096, -ENOMEM },
};

KUNIT_ARRAY_PARAM_DESC(short, short_cases, desc);

static void request_without_memory(struct kunit *test)
{
	static const struct client_shape getattr = { .head = 136, .reply_head = 112 };
	const struct short_case *c = test->param_value;
	struct client *client = client_of(test);
	struct client_call *call = client_call_create(client, &getattr);

	xprtrdma_request_free(&call->task);
	call->task.tk_flags = c->flags;
	call->rqst.rq_callsize = c->size;
	fake_alloc_fail(0);
	KUNIT_EXPECT_EQ(test, c->expected, xprtrdma_request_alloc(&call->task));
	KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
	KUNIT_EXPECT_EQ(test, !c->expected, !!call->rqst.rq_buffer);
	if (call->rqst.rq_buffer)
		memset(call->rqst.rq_buffer, 0x5a, c->size);
}

/* What the reserve has kept is as clean as what the allocator gives. */
static void request_from_the_reserve_is_clean(struct kunit *test)
{
	static const struct client_shape getattr = { .head = 136, .reply_head = 112 };
	struct client *client = client_of(test);
	struct client_call *call = client_call_create(client, &getattr);
	unsigned int i, n;

	xprtrdma_request_free(&call->task);
	call->task.tk_flags = RPC_TASK_ASYNC;
	for (n = 0; n < 8; n++) {
		fake_alloc_fail(0);
		KUNIT_ASSERT_EQ(test, 0, xprtrdma_request_alloc(&call->task));
		KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
		for (i = 0; i < call->rqst.rq_rcvsize; i++)
			KUNIT_ASSERT_EQ(test, 0, ((u8 *)call->rqst.rq_rbuffer)[i]);
		memset(call->rqst.rq_rbuffer, 0xa5, call->rqst.rq_rcvsize);
		xprtrdma_request_free(&call->task);
	}
}

/* A reply with memory of its own: all, or nothing is left. */
static void request_in_two_pieces(struct kunit *test)
{
	static const struct client_shape getattr = { .head = 136, .reply_head = 112 };
	struct client *client = client_of(test);
	struct client_call *call = client_call_create(client, &getattr);
	struct rpc_rqst *rqst = &call->rqst;
	int count;

	xprtrdma_request_free(&call->task);
	rqst->rq_callsize = 3348;
	rqst->rq_rcvsize = 7184;
	for (count = 0; count < 2; count++) {
		fake_alloc_fail(count);
		KUNIT_EXPECT_EQ(test, -ENOMEM, xprtrdma_request_alloc(&call->task));
		KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
		KUNIT_EXPECT_NULL(test, rqst->rq_buffer);
	}
	KUNIT_ASSERT_EQ(test, 0, xprtrdma_request_alloc(&call->task));
	memset(rqst->rq_buffer, 0x5a, rqst->rq_callsize);
	memset(rqst->rq_rbuffer, 0xa5, rqst->rq_rcvsize);
	KUNIT_EXPECT_PTR_EQ(test, xprtrdma_request_of(rqst)->rq_reply, rqst->rq_rbuffer);
}

/* Around the size up to which requests have memory of their own kind; KASAN looks on. */
static void request_of_each_size(struct kunit *test)
{
	static const struct client_shape getattr = { .head = 136, .reply_head = 112 };
	struct client *client = client_of(test);
	struct client_call *call = client_call_create(client, &getattr);
	struct rpc_rqst *rqst = &call->rqst;
	u32 size;

	for (size = 0; size < 9000; size += 52) {
		xprtrdma_request_free(&call->task);
		rqst->rq_callsize = size;
		rqst->rq_rcvsize = 200 + size % 3 * size / 2;
		KUNIT_ASSERT_EQ(test, 0, xprtrdma_request_alloc(&call->task));
		memset(rqst->rq_buffer, 0x5a, rqst->rq_callsize);
		memset(rqst->rq_rbuffer, 0xa5, rqst->rq_rcvsize);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)rqst->rq_rbuffer,
						   L1_CACHE_BYTES));
	}
}

/* Posts a Send without registrations; false when there is no buffer. */
static bool post(struct client *client)
{
	struct xprtrdma_send *send = xprtrdma_send_get(client->conn);

	if (!send)
		return false;
	KUNIT_EXPECT_EQ(client->test, 0,
			xprtrdma_send_post(send, RPCRDMA_MIN_HEADER_SIZE));
	return true;
}

static bool signaled(struct client *client, unsigned int n)
{
	return fake_wr(client->qp, n)->flags & IB_SEND_SIGNALED;
}

static void send_signals_every_nth(struct kunit *test)
{
	struct client *client = client_of(test);
	unsigned int every = client->conn->xc_queues.signal_every, i;

	KUNIT_ASSERT_GT(test, every, 1);
	KUNIT_ASSERT_LT(test, 3 * every, client->conn->xc_queues.send_slots);
	for (i = 0; i < 3 * every; i++) {
		KUNIT_ASSERT_TRUE(test, post(client));
		KUNIT_EXPECT_EQ(test, (i + 1) % every == 0, signaled(client, i));
	}
}

static void send_last_free_one_is_signaled(struct kunit *test)
{
	struct client *client = client_of(test);
	unsigned int slots = client->conn->xc_queues.send_slots, i;

	/* Arrange: an interval that never comes */
	client->conn->xc_queues.signal_every = slots * 2;

	/* Act */
	for (i = 0; i < slots; i++)
		KUNIT_ASSERT_TRUE(test, post(client));

	/* Assert */
	for (i = 0; i < slots; i++)
		KUNIT_EXPECT_EQ(test, i == slots - 1, signaled(client, i));
	KUNIT_EXPECT_FALSE(test, post(client));
	KUNIT_EXPECT_EQ(test, 1, client->transport->xt_stats.empty_sendctx_q);
	fake_run_all(client->qp);
	KUNIT_EXPECT_EQ(test, slots, client_free_sends(client));
	KUNIT_EXPECT_TRUE(test, post(client));
}

/* A call takes the buffer for the next one with it. Then nothing is left for others. */
static void send_call_that_leaves_none_is_signaled(struct kunit *test)
{
	static const struct client_shape shape = { .head = 136, .reply_head = 112 };
	struct client *client = client_of(test);

	client->conn->xc_queues.signal_every = client->conn->xc_queues.send_slots * 2;
	while (client_free_sends(client) > 2)
		KUNIT_ASSERT_TRUE(test, post(client));
	KUNIT_EXPECT_FALSE(test, fake_last_wr(client->qp)->flags & IB_SEND_SIGNALED);
	client_sent(client, &shape);
	KUNIT_EXPECT_NOT_NULL(test, client->conn->xc_send.next);
	KUNIT_EXPECT_TRUE(test, fake_last_wr(client->qp)->flags & IB_SEND_SIGNALED);
}

/* After each work request: free are those up to the last signalled one. */
static void send_completion_frees_those_before_it(struct kunit *test)
{
	struct client *client = client_of(test);
	unsigned int slots = client->conn->xc_queues.send_slots;
	unsigned int every = client->conn->xc_queues.signal_every;
	unsigned int before, i;

	while (fake_posted(client->qp) < slots)
		KUNIT_ASSERT_TRUE(test, post(client));
	for (i = 0; i < slots; i++) {
		before = client_free_sends(client);
		fake_run(client->qp, 1);
		if (!signaled(client, i))
			KUNIT_EXPECT_EQ(test, before, client_free_sends(client));
		else
			KUNIT_EXPECT_EQ(test, i + 1, client_free_sends(client));
	}
	KUNIT_EXPECT_EQ(test, slots, client_free_sends(client));
	KUNIT_EXPECT_GT(test, every, 1);
}

/* A buffer that the device still reads is not handed out. */
static void send_buffers_in_flight_are_not_reused(struct kunit *test)
{
	struct client *client = client_of(test);
	unsigned int slots = client->conn->xc_queues.send_slots, i, k;

	while (fake_posted(client->qp) < slots)
		KUNIT_ASSERT_TRUE(test, post(client));
	/* The queue moves on, and is filled up again, five times around. */
	for (i = 0; i < 5 * slots; i++) {
		fake_run(client->qp, 1);
		while (post(client))
			;
		for (k = 1; k < fake_pending(client->qp); k++) {
			struct fake_wr *last = fake_last_wr(client->qp);
			struct fake_wr *other =
				fake_wr(client->qp, fake_posted(client->qp) - 1 - k);

			KUNIT_ASSERT_PTR_NE(test, fake_message(last),
					    fake_message(other));
		}
	}
}

static void send_put_gives_the_buffer_back(struct kunit *test)
{
	struct client *client = client_of(test);
	struct xprtrdma_send *send = xprtrdma_send_get(client->conn);

	KUNIT_ASSERT_NOT_NULL(test, send);
	xprtrdma_send_put(send);
	KUNIT_EXPECT_EQ(test, client->conn->xc_queues.send_slots,
			client_free_sends(client));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
}

static void send_completion_wakes_a_writer(struct kunit *test)
{
	struct client *client = client_of(test);

	while (post(client))
		;
	xprt_wait_for_buffer_space(client->xprt);
	fake_run_all(client->qp);
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
}

static void send_post_failure_fails_the_connection(struct kunit *test)
{
	struct client *client = client_of(test);
	struct xprtrdma_send *send = xprtrdma_send_get(client->conn);
	unsigned int slots = client->conn->xc_queues.send_slots;

	client->qp->accept = 0;
	KUNIT_EXPECT_EQ(test, -ENOTCONN,
			xprtrdma_send_post(send, RPCRDMA_MIN_HEADER_SIZE));
	client_expect_failed(client);
	KUNIT_EXPECT_EQ(test, slots - 1, client_free_sends(client));
}

/* The queue pair is the teardown's from then on: xprtrdma_conn_destroy(). */
static void send_is_not_posted_after_a_failure(struct kunit *test)
{
	struct client *client = client_of(test);
	struct xprtrdma_send *send = xprtrdma_send_get(client->conn);

	xprtrdma_conn_fail(client->conn, RPCRDMA_END_OTHER);
	fake_mark(client->qp);
	KUNIT_EXPECT_EQ(test, -ENOTCONN,
			xprtrdma_send_post(send, RPCRDMA_MIN_HEADER_SIZE));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
	client_expect_failed(client);
}

static void send_failed_completion_frees_nothing(struct kunit *test)
{
	struct client *client = client_of(test);
	unsigned int slots = client->conn->xc_queues.send_slots, i;

	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_TRUE(test, post(client));
	fake_fail(client->qp, IB_WC_RETRY_EXC_ERR);
	client_expect_failed(client);
	fake_flush(client->qp);
	KUNIT_EXPECT_EQ(test, slots - 5, client_free_sends(client));
}

static void send_queue_has_room_for_all(struct kunit *test)
{
	struct client *client = client_of(test);
	const struct rpcrdma_client_queues *queues = &client->conn->xc_queues;
	const struct ib_qp_cap *cap = &fake_queues.qp_attr.cap;

	/* Sends, registrations of calls, whatever is posted for each region, a drain. */
	KUNIT_EXPECT_GE(test, cap->max_send_wr,
			queues->send_slots + queues->reg_wrs + queues->regions + 1);
	KUNIT_EXPECT_GE(test, (u32)fake_queues.qp_attr.send_cq->cqe, cap->max_send_wr);
	KUNIT_EXPECT_EQ(test, IB_SIGNAL_REQ_WR, fake_queues.qp_attr.sq_sig_type);
	KUNIT_EXPECT_GE(test, queues->send_slots, queues->credits + XPRTRDMA_BC_SLOTS);
}

static struct kunit_case send_cases[] = {
	KUNIT_CASE_PARAM(request_without_memory, short_gen_params),
	KUNIT_CASE(request_from_the_reserve_is_clean),
	KUNIT_CASE(request_in_two_pieces),
	KUNIT_CASE(request_of_each_size),
	KUNIT_CASE(send_signals_every_nth),
	KUNIT_CASE(send_last_free_one_is_signaled),
	KUNIT_CASE(send_call_that_leaves_none_is_signaled),
	KUNIT_CASE(send_completion_frees_those_before_it),
	KUNIT_CASE(send_buffers_in_flight_are_not_reused),
	KUNIT_CASE(send_put_gives_the_buffer_back),
	KUNIT_CASE(send_completion_wakes_a_writer),
	KUNIT_CASE(send_post_failure_fails_the_connection),
	KUNIT_CASE(send_is_not_posted_after_a_failure),
	KUNIT_CASE(send_failed_completion_frees_nothing),
	KUNIT_CASE(send_queue_has_room_for_all),
	{}
};

static struct kunit_suite send_suite = {
	.name = "xprtrdma_send",
	.init = send_init,
	.test_cases = send_cases,
};

kunit_test_suite(send_suite);
