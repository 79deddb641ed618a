// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of an RPC's exposure: remote and local invalidation before the consumer sees
 * the memory, tasks that end without a reply, and the end of the connection.
 */
#include <linux/delay.h>

#include "between.h"

/* A READ whose data comes in a Write chunk of three regions. */
static const struct client_shape read_shape = {
	.head = 100, .reply_head = 120, .reply_pages = 3 * PAGE_SIZE, .reply_tail = 16,
	.read = true,
};

static const struct client_reply read_reply = {
	.proc = RPCRDMA_MSG, .length = 120, .item = 3 * PAGE_SIZE,
};

static int fence_init(struct kunit *test)
{
	struct client *client = client_create(test);

	client->fake->ib.attrs.max_fast_reg_page_list_len = 1;
	client_connect(client);
	client_open_window(client, 16);
	return 0;
}

/* A call that the server has seen. */
static struct client_call *sent(struct client *client)
{
	struct client_call *call = client_call_create(client, &read_shape);

	KUNIT_ASSERT_EQ(client->test, 0, client_call_send(call));
	client_call_decode(call);
	KUNIT_ASSERT_EQ(client->test, 3, call->lists.nr_segments);
	fake_mark(client->qp);
	return call;
}

/* Work requests since the mark: LOCAL_INVs in one post, the last one signalled. */
static void expect_inv_chain(struct client *client, unsigned int count)
{
	struct kunit *test = client->test;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, count, fake_posted(client->qp));
	for (i = 0; i < count; i++) {
		struct fake_wr *wr = fake_wr(client->qp, i);

		KUNIT_EXPECT_EQ(test, IB_WR_LOCAL_INV, wr->opcode);
		KUNIT_EXPECT_EQ(test, fake_wr(client->qp, 0)->post, wr->post);
		KUNIT_EXPECT_EQ(test, i == count - 1, !!(wr->flags & IB_SEND_SIGNALED));
	}
}

static void fence_local_invalidation_before_completion(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);

	/* Act */
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &read_reply));

	/* Assert: nothing is seen until the last LOCAL_INV is done. */
	expect_inv_chain(client, 3);
	KUNIT_EXPECT_FALSE(test, client_call_done(call));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&call->rqst.rq_pin));
	fake_run(client->qp, 2);
	KUNIT_EXPECT_FALSE(test, client_call_done(call));
	fake_run(client->qp, 1);
	client_call_expect_reply(call, 120, 3 * PAGE_SIZE, 0);
	client_expect_at_rest(client);
	KUNIT_EXPECT_EQ(test, 3, client->transport->xt_stats.local_inv_needed);
}

static void fence_remote_invalidation_saves_one(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);
	struct client_reply reply = read_reply;

	reply.invalidate = call->segments[1].handle;
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	expect_inv_chain(client, 2);
	fake_run_all(client->qp);
	client_call_expect_reply(call, 120, 3 * PAGE_SIZE, 0);
	client_expect_at_rest(client);
}

static void fence_remote_invalidation_of_all(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = read_shape;
	struct client_reply reply = read_reply;
	struct client_call *call;

	shape.reply_pages = PAGE_SIZE;
	call = client_call_create(client, &shape);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	client_call_decode(call);
	fake_mark(client->qp);
	KUNIT_ASSERT_EQ(test, 1, call->lists.nr_write);
	KUNIT_ASSERT_EQ(test, 0, call->lists.nr_reply);

	reply.item = PAGE_SIZE;
	reply.invalidate = call->segments[0].handle;
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
	client_call_expect_reply(call, 120, PAGE_SIZE, 0);
	client_expect_at_rest(client);
}

/* RFC 8797 section 4.1: the R_key has to be one of the RPC that the reply ends. */
static void fence_remote_invalidation_of_another_rpc(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);
	struct client_call *other = sent(client);
	struct client_reply reply = read_reply;

	reply.invalidate = other->segments[0].handle;
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	client_expect_failed(client);
	client_call_expect_waiting(call);
	client_call_expect_waiting(other);
	KUNIT_EXPECT_EQ(test, 1, client->transport->xt_stats.bad_reply_count);
}

static void fence_remote_invalidation_of_nothing(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { .head = 64, .reply_head = 64 };
	struct client_call *call = client_call_create(client, &shape);
	struct client_reply reply = { .length = 64, .invalidate = 0x12345678 };

	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	client_call_decode(call);
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	client_expect_failed(client);
	client_call_expect_waiting(call);
}

/* The RPC waits on, and is sent again on the next connection. */
static void fence_flush_completes_nothing(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &read_reply));
	KUNIT_ASSERT_EQ(test, 3, fake_pending(client->qp));
	fake_flush(client->qp);
	client_expect_failed(client);
	client_call_expect_waiting(call);

	client_disconnect(client);
	client_connect(client);
	KUNIT_EXPECT_EQ(test, 0, client_call_send(call));
	client_call_decode(call);
	KUNIT_EXPECT_TRUE(test, client_reply_send(call, &read_reply));
	fake_run_all(client->qp);
	client_call_expect_reply(call, 120, 3 * PAGE_SIZE, 0);
	client_expect_at_rest(client);
}

static void fence_failed_invalidation_completes_nothing(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &read_reply));
	fake_run(client->qp, 1);
	fake_fail(client->qp, IB_WC_LOC_PROT_ERR);
	client_expect_failed(client);
	KUNIT_EXPECT_FALSE(test, client_call_done(call));
	fake_run_all(client->qp);
	client_call_expect_waiting(call);
}

/* Each number of LOCAL_INVs that the provider takes before it refuses one. */
static void fence_post_failure_completes_nothing(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call;
	int accept;

	for (accept = 0; accept < 3; accept++) {
		if (!client->conn) {
			client_connect(client);
			client_open_window(client, 16);
		}
		call = sent(client);
		client->qp->accept = accept;
		KUNIT_ASSERT_TRUE(test, client_reply_send(call, &read_reply));
		client_expect_failed(client);
		client_call_expect_waiting(call);
		client->qp->accept = -1;
		fake_flush(client->qp);
		client_call_expect_waiting(call);
		client_disconnect(client);
	}
}

/* The task is pinned: not even when it is killed does anybody else give up. */
static void fence_behind_what_the_peer_does_not_take(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *first = sent(client), *second = sent(client);

	/* Arrange: one comes to its end, another one waits */
	KUNIT_ASSERT_TRUE(test, client_reply_send(first, &read_reply));
	KUNIT_ASSERT_TRUE(test, client_reply_send(second, &read_reply));
	KUNIT_EXPECT_EQ(test, 2, client->conn->xc_watch.hca.waiting);
	client->conn->xc_watch.hca.seconds = XPRTRDMA_HCA_TIMEOUT;
	fake_run(client->qp, 3);
	KUNIT_EXPECT_TRUE(test, client_call_done(first));
	client_second(client);
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(client->conn));
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&client->conn->xc_watch.worker));

	/* Act */
	client->conn->xc_watch.hca.seconds = XPRTRDMA_HCA_TIMEOUT;
	client_second(client);

	/* Assert */
	client_expect_failed(client);
	fake_flush(client->qp);
	client_call_expect_waiting(second);
	client_second(client);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&client->conn->xc_watch.worker));
}

static void fence_that_is_done_is_not_watched(struct kunit *test)
{
	struct client *client = client_of(test);

	KUNIT_ASSERT_TRUE(test, client_reply_send(sent(client), &read_reply));
	fake_run_all(client->qp);
	client->conn->xc_watch.hca.seconds = XPRTRDMA_HCA_TIMEOUT;
	client_second(client);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&client->conn->xc_watch.worker));
	client_expect_at_rest(client);
}

/* A signal has killed the task: its memory is fenced before buf_free returns. */
static void fence_task_without_a_reply(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);
	unsigned int all = client->conn->xc_mr.count;

	client_call_reset(call);
	client->qp->automatic = true;
	xprtrdma_request_free(&call->task);
	expect_inv_chain(client, 3);
	KUNIT_EXPECT_EQ(test, 0, fake_valid_rkeys(client->fake));
	KUNIT_EXPECT_EQ(test, all, client_free_mrs(client));
	client_expect_at_rest(client);
}

/* The reply that comes too late finds nobody, and gives the credit back. */
static void fence_late_reply_finds_nobody(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);
	u32 in_flight = client->conn->xc_window.in_flight;
	u8 *message = kunit_kzalloc(test, CLIENT_MESSAGE, GFP_KERNEL);
	u32 length;

	KUNIT_ASSERT_NOT_NULL(test, message);
	length = client_reply_encode(call, &read_reply, message);
	client->qp->automatic = true;
	client_call_destroy(call);
	KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message, length));
	KUNIT_EXPECT_EQ(test, in_flight - 1, client->conn->xc_window.in_flight);
	client_expect_at_rest(client);
}

struct freeing {
	struct work_struct	work;
	struct client_call	*call;
	bool			done;
};

static void free_worker(struct work_struct *work)
{
	struct freeing *freeing = container_of(work, struct freeing, work);

	xprtrdma_request_free(&freeing->call->task);
	WRITE_ONCE(freeing->done, true);
}

/* Begins buf_free in another thread, and waits for it to have posted. */
static struct freeing *start_freeing(struct client_call *call, unsigned int wrs)
{
	struct kunit *test = call->client->test;
	struct freeing *freeing = kunit_kzalloc(test, sizeof(*freeing), GFP_KERNEL);
	int patience = 10000;

	KUNIT_ASSERT_NOT_NULL(test, freeing);
	freeing->call = call;
	client_call_reset(call);
	INIT_WORK(&freeing->work, free_worker);
	queue_work(system_unbound_wq, &freeing->work);
	while (fake_pending(call->client->qp) < wrs && patience--)
		usleep_range(100, 200);
	KUNIT_EXPECT_EQ(test, wrs, fake_pending(call->client->qp));
	return freeing;
}

/* The connection is lost while a task waits for its LOCAL_INVs. */
static void fence_task_waits_for_the_end_of_the_connection(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);
	struct freeing *freeing = start_freeing(call, 3);

	/* Act: flushed, but the queue pair is not known to be drained */
	fake_flush(client->qp);
	client_expect_failed(client);
	usleep_range(20000, 30000);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(freeing->done));

	/* Assert */
	client_disconnect(client);
	flush_work(&freeing->work);
	KUNIT_EXPECT_TRUE(test, freeing->done);
}

static void fence_task_on_a_broken_connection(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);
	struct freeing *freeing;

	xprtrdma_conn_fail(client->conn, RPCRDMA_END_OTHER);
	freeing = start_freeing(call, 0);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(freeing->done));
	client_disconnect(client);
	flush_work(&freeing->work);
	KUNIT_EXPECT_TRUE(test, freeing->done);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
}

/* Its reply has come, and was lost with the connection. The connection still has its regions. */
static void fence_task_whose_reply_was_lost(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);
	struct freeing *freeing;

	/* Arrange */
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &read_reply));
	fake_flush(client->qp);
	client_expect_failed(client);
	client_call_expect_waiting(call);

	/* Act */
	freeing = start_freeing(call, 0);
	usleep_range(20000, 30000);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(freeing->done));

	/* Assert */
	client_disconnect(client);
	flush_work(&freeing->work);
	KUNIT_EXPECT_TRUE(test, freeing->done);
}

static void fence_task_whose_invalidation_is_refused(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);
	struct freeing *freeing;

	client->qp->accept = 1;
	freeing = start_freeing(call, 1);
	client->qp->accept = -1;
	client_disconnect(client);
	flush_work(&freeing->work);
	KUNIT_EXPECT_TRUE(test, freeing->done);
}

static struct closing {
	struct work_struct	work;
	struct client		*client;
	struct xprtrdma_conn	*conn;
} closing;

static void close_worker(struct work_struct *work)
{
	client_disconnect(closing.client);
}

/* The close has come to the regions, and cannot have them. */
static void close_meanwhile(struct client *client)
{
	closing.client = client;
	closing.conn = client->conn;
	queue_work(system_unbound_wq, &closing.work);
	KUNIT_ASSERT_TRUE(client->test,
			  eventually(READ_ONCE(closing.conn->xc_state) == RPCRDMA_CONN_CLOSED));
	usleep_range(20000, 30000);
	KUNIT_ASSERT_FALSE(client->test, completion_done(&closing.conn->xc_released));
}

/*
 * A task unmaps its regions when the teardown wants to take all of them back: who comes second
 * waits, and no region is taken off the list that the first one walks.
 */
static void fence_connection_ends_while_regions_are_taken(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);

	INIT_WORK(&closing.work, close_worker);
	client_call_reset(call);
	client->qp->automatic = true;
	client_between(AFTER_REGION_UNMAP, close_meanwhile, client);
	xprtrdma_request_free(&call->task);
	KUNIT_EXPECT_TRUE(test, client_between_happened());
	flush_work(&closing.work);
	KUNIT_EXPECT_EQ(test, 0, client->fake->nr_mrs);
	/* They were its own to the end. */
	KUNIT_EXPECT_EQ(test, 0, client->transport->xt_stats.mrs_orphaned);
}

/* Regions of RPCs are taken back at the end of the connection, and counted. */
static void fence_connection_ends_with_calls_outstanding(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *first = sent(client);
	struct client_call *second = sent(client);

	client_disconnect(client);
	KUNIT_EXPECT_EQ(test, 0, client->fake->nr_mrs);
	KUNIT_EXPECT_EQ(test, 6, client->transport->xt_stats.mrs_orphaned);

	/* The one task ends, the other one's call is sent again. */
	client_call_destroy(first);
	client_connect(client);
	KUNIT_EXPECT_EQ(test, 0, client_call_send(second));
	client_call_decode(second);
	KUNIT_EXPECT_TRUE(test, client_reply_send(second, &read_reply));
	fake_run_all(client->qp);
	client_call_expect_reply(second, 120, 3 * PAGE_SIZE, 0);
	client_expect_at_rest(client);
}

/*
 * A call that waited for a connection until its major timeout was over. If it ended with that
 * it would take the connection with it, on which it has just been sent.
 */
static void fence_call_sent_late_has_its_time(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);

	call->rqst.rq_timeout = 4 * HZ;
	call->rqst.rq_majortimeo = jiffies - HZ;
	client_call_wait(call);
	KUNIT_ASSERT_TRUE(test, RPC_IS_QUEUED(&call->task));
	KUNIT_EXPECT_EQ(test, 0, call->task.tk_status);
	KUNIT_EXPECT_TRUE(test, time_after(call->task.tk_timeout, jiffies + 2 * HZ));
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(client->conn));
}

/* A soft mount's ends when the caller said that it should. */
static void fence_soft_call_sent_late_ends(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);

	call->task.tk_flags |= RPC_TASK_SOFT;
	call->rqst.rq_timeout = 4 * HZ;
	call->rqst.rq_majortimeo = jiffies - HZ;
	client_call_wait(call);
	KUNIT_EXPECT_FALSE(test, RPC_IS_QUEUED(&call->task));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, call->task.tk_status);
}

/*
 * A call without regions needs no fence, and is encoded again at once. Its reply might be one that
 * is to be read, into regions that are valid just then: so none is taken any more.
 */
static void fence_no_reply_to_a_task_that_goes_on(struct kunit *test)
{
	static const struct client_shape getattr = { .head = 136, .reply_head = 112 };
	struct client_reply reply = { .length = 64 };
	struct client *client = client_of(test);
	struct client_call *call = client_call_create(client, &getattr);

	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	client_call_decode(call);
	client_call_wait(call);
	KUNIT_ASSERT_TRUE(test, RPC_IS_QUEUED(&call->task));
	/* As xprt_schedule_autoclose_locked() wakes the one that has the write lock */
	call->task.tk_status = -ENOTCONN;
	rpc_wake_up_queued_task(&client->xprt->pending, &call->task);
	call->task.tk_callback(&call->task);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, call->task.tk_status);
	KUNIT_EXPECT_FALSE(test, RPC_IS_QUEUED(&call->task));

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	KUNIT_EXPECT_FALSE(test, client_call_done(call));
	KUNIT_EXPECT_EQ(test, 0, client->conn->xc_window.in_flight);
}

static struct kunit_case fence_cases[] = {
	KUNIT_CASE(fence_local_invalidation_before_completion),
	KUNIT_CASE(fence_remote_invalidation_saves_one),
	KUNIT_CASE(fence_remote_invalidation_of_all),
	KUNIT_CASE(fence_remote_invalidation_of_another_rpc),
	KUNIT_CASE(fence_remote_invalidation_of_nothing),
	KUNIT_CASE(fence_flush_completes_nothing),
	KUNIT_CASE(fence_failed_invalidation_completes_nothing),
	KUNIT_CASE(fence_post_failure_completes_nothing),
	KUNIT_CASE(fence_behind_what_the_peer_does_not_take),
	KUNIT_CASE(fence_that_is_done_is_not_watched),
	KUNIT_CASE(fence_task_without_a_reply),
	KUNIT_CASE(fence_late_reply_finds_nobody),
	KUNIT_CASE(fence_task_waits_for_the_end_of_the_connection),
	KUNIT_CASE(fence_task_on_a_broken_connection),
	KUNIT_CASE(fence_task_whose_reply_was_lost),
	KUNIT_CASE(fence_task_whose_invalidation_is_refused),
	KUNIT_CASE(fence_connection_ends_while_regions_are_taken),
	KUNIT_CASE(fence_connection_ends_with_calls_outstanding),
	KUNIT_CASE(fence_call_sent_late_has_its_time),
	KUNIT_CASE(fence_soft_call_sent_late_ends),
	KUNIT_CASE(fence_no_reply_to_a_task_that_goes_on),
	{}
};

static struct kunit_suite fence_suite = {
	.name = "xprtrdma_fence",
	.init = fence_init,
	.test_cases = fence_cases,
};

kunit_test_suite(fence_suite);
