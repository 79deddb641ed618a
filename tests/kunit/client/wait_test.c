// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task has stopped waiting for its reply, and waits until the server can reach none of its
 * memory. Meanwhile a reply comes that ends the call.
 */
#include "between.h"

/* A READ whose data comes in a Write chunk of one region. */
static const struct client_shape read_shape = {
	.head = 100, .reply_head = 120, .reply_pages = PAGE_SIZE, .reply_tail = 16,
	.read = true,
};

static const struct client_reply read_reply = {
	.proc = RPCRDMA_MSG, .length = 120, .item = PAGE_SIZE,
};

/* As xprt_schedule_autoclose_locked(): the connection is going, and the task is woken. */
static void stop_waiting(struct client_call *call)
{
	call->task.tk_status = -ENOTCONN;
	rpc_wake_up_queued_task(&call->client->xprt->pending, &call->task);
	client_call_woken(call);
}

/* A call that the server has seen, and whose task waits for the reply */
static struct client_call *waiting(struct client *client)
{
	struct client_call *call = client_sent(client, &read_shape);

	KUNIT_ASSERT_EQ(client->test, 1, call->lists.nr_segments);
	client_call_wait(call);
	KUNIT_ASSERT_TRUE(client->test, RPC_IS_QUEUED(&call->task));
	return call;
}

static void expect_fenced(struct client_call *call)
{
	struct client *client = call->client;

	client_expect_failed(client);
	KUNIT_ASSERT_TRUE(client->test, RPC_IS_QUEUED(&call->task));
	KUNIT_EXPECT_PTR_EQ(client->test, &client->transport->xt_fenced,
			    call->task.tk_waitqueue);
}

/* As ->close. Returns what the task is told. */
static int close(struct client_call *call)
{
	struct client *client = call->client;

	client_disconnect(client);
	KUNIT_EXPECT_TRUE(client->test, RPC_IS_QUEUED(&call->task));
	rpc_wake_up(&client->transport->xt_fenced);
	client_call_woken(call);
	return call->task.tk_status;
}

static void connect_again(struct client *client)
{
	client_connect(client);
	client_open_window(client, 16);
}

/* It goes on as it was, and its call is sent again. */
static void nothing_comes(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = waiting(client);

	stop_waiting(call);
	expect_fenced(call);
	KUNIT_EXPECT_EQ(test, 1, fake_valid_rkeys(client->fake));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, close(call));
	KUNIT_EXPECT_FALSE(test, client_call_done(call));
	connect_again(client);
	KUNIT_EXPECT_EQ(test, 0, client_call_send(call));
	KUNIT_EXPECT_EQ(test, 2, fake_posted(client->qp));
}

/* It was there before, and waited for its LOCAL_INV. */
static void reply_is_complete_before_the_close(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = waiting(client);

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &read_reply));
	KUNIT_ASSERT_EQ(test, 1, fake_pending(client->qp));
	stop_waiting(call);
	expect_fenced(call);
	fake_run_all(client->qp);
	KUNIT_EXPECT_EQ(test, 0, close(call));
	client_call_expect_reply(call, 120, PAGE_SIZE, 0);
}

/* It comes now, and needs no LOCAL_INV. */
static void reply_comes_before_the_close(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = waiting(client);
	struct client_reply reply = read_reply;

	stop_waiting(call);
	expect_fenced(call);
	reply.invalidate = call->segments[0].handle;
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	KUNIT_EXPECT_EQ(test, 0, close(call));
	client_call_expect_reply(call, 120, PAGE_SIZE, 0);
}

/* RFC 8166 section 4.5: what was refused is not sent again. */
static void refusal_comes_before_the_close(struct kunit *test)
{
	struct client_reply error = { .proc = RPCRDMA_ERROR };
	struct client *client = client_of(test);
	struct client_call *call = waiting(client);

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &error));
	stop_waiting(call);
	expect_fenced(call);
	fake_run_all(client->qp);
	KUNIT_EXPECT_EQ(test, -EIO, close(call));
}

/* One that was refused for want of a Reply chunk is sent again, on the next connection. */
static void refusal_that_is_not_final(struct kunit *test)
{
	struct client_reply error = { .proc = RPCRDMA_ERROR };
	struct client *client = client_of(test);
	struct client_call *call = waiting(client);

	xprtrdma_request_of(&call->rqst)->rq_left_open = true;
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &error));
	stop_waiting(call);
	expect_fenced(call);
	fake_run_all(client->qp);
	KUNIT_EXPECT_EQ(test, RPCRDMA_REFUSED_ONCE, xprtrdma_request_of(&call->rqst)->rq_refused);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, close(call));
	connect_again(client);
	KUNIT_EXPECT_EQ(test, 0, client_call_send(call));
	KUNIT_EXPECT_EQ(test, 2, fake_posted(client->qp));
}

/*
 * tk_status of a task that others may wake belongs to SUNRPC. The task itself says that it was
 * refused.
 */
static void refusal_is_said_by_the_task(struct kunit *test)
{
	struct client_reply error = { .proc = RPCRDMA_ERROR };
	struct client *client = client_of(test);
	struct client_call *call = waiting(client);

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &error));
	fake_run_all(client->qp);
	KUNIT_EXPECT_FALSE(test, RPC_IS_QUEUED(&call->task));
	KUNIT_EXPECT_EQ(test, 0, call->task.tk_status);
	client_call_woken(call);
	KUNIT_EXPECT_EQ(test, -EIO, call->task.tk_status);
	KUNIT_EXPECT_TRUE(test, client_call_done(call));
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(client->conn));
}

/* The same of one that is to be sent once more. */
static void refusal_that_is_not_final_is_said_by_the_task(struct kunit *test)
{
	struct client_reply error = { .proc = RPCRDMA_ERROR };
	struct client *client = client_of(test);
	struct client_call *call = waiting(client);
	u32 cookie = call->rqst.rq_connect_cookie;

	xprtrdma_request_of(&call->rqst)->rq_left_open = true;
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &error));
	fake_run_all(client->qp);
	KUNIT_EXPECT_FALSE(test, RPC_IS_QUEUED(&call->task));
	KUNIT_EXPECT_EQ(test, 0, call->task.tk_status);
	KUNIT_EXPECT_EQ(test, cookie, call->rqst.rq_connect_cookie);
	client_call_woken(call);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, call->task.tk_status);
	KUNIT_EXPECT_NE(test, cookie, call->rqst.rq_connect_cookie);
	KUNIT_EXPECT_FALSE(test, client_call_done(call));
}

static struct client_call *ending;

static void end_task(struct client *client)
{
	/* As rpc_signal_task() */
	WRITE_ONCE(ending->task.tk_rpc_status, -ERESTARTSYS);
}

/* Nobody wakes it there, who has looked for it on another queue just before. */
static void task_ends_in_between(struct kunit *test)
{
	struct client *client = client_of(test);

	ending = waiting(client);
	client_between(AFTER_CONN_FAIL, end_task, client);
	stop_waiting(ending);
	KUNIT_EXPECT_TRUE(test, client_between_happened());
	client_expect_failed(client);
	KUNIT_EXPECT_FALSE(test, RPC_IS_QUEUED(&ending->task));
}

static void take_down(struct client *client)
{
	client_disconnect(client);
	rpc_wake_up(&client->transport->xt_fenced);
}

/* The close was faster. */
static void connection_is_closed_in_between(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = waiting(client);

	client_between(AFTER_CONN_FAIL, take_down, client);
	stop_waiting(call);
	KUNIT_EXPECT_TRUE(test, client_between_happened());
	KUNIT_ASSERT_FALSE(test, RPC_IS_QUEUED(&call->task));
	client_call_woken(call);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, call->task.tk_status);
}

static struct kunit_case wait_cases[] = {
	KUNIT_CASE(nothing_comes),
	KUNIT_CASE(reply_is_complete_before_the_close),
	KUNIT_CASE(reply_comes_before_the_close),
	KUNIT_CASE(refusal_comes_before_the_close),
	KUNIT_CASE(refusal_that_is_not_final),
	KUNIT_CASE(refusal_is_said_by_the_task),
	KUNIT_CASE(refusal_that_is_not_final_is_said_by_the_task),
	KUNIT_CASE(task_ends_in_between),
	KUNIT_CASE(connection_is_closed_in_between),
	{}
};

static struct kunit_suite wait_suite = {
	.name = "xprtrdma_wait",
	.init = client_open_init,
	.test_cases = wait_cases,
};

kunit_test_suite(wait_suite);
