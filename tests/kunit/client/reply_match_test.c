// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client finds the RPC to which a message belongs, if there is one. RDMA_ERROR ends that RPC.
 */
#include "reply.h"

/* A server can guess the XID of a call that has not been posted. */
static void reply_before_the_call_is_dropped(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { READS(8192) };
	struct client_call *call = client_call_create(client, &shape);
	struct client_reply reply = { .length = 64 };

	client_call_enqueue(call);
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	KUNIT_EXPECT_FALSE(test, client_call_done(call));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&call->rqst.rq_pin));
	client_expect_at_rest(client);
}

static void reply_rdma_error_ends_the_rpc(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { READS(8192) };
	struct client_call *call = client_sent(client, &shape);
	struct client_reply reply = { .proc = RPCRDMA_ERROR };

	client_call_wait(call);
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	KUNIT_EXPECT_TRUE(test, RPC_IS_QUEUED(&call->task));
	fake_run_all(client->qp);
	KUNIT_EXPECT_FALSE(test, RPC_IS_QUEUED(&call->task));
	client_call_expect_error(call, -EIO);
	client_expect_at_rest(client);
}

/*
 * The error can be there before the task that has sent the call waits for it. SUNRPC
 * forgets what a task is told then, so it is told later; until then the call is not sent
 * again, nor does another reply to it count.
 */
static void reply_rdma_error_before_the_task_waits(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { .head = 64, .reply_head = 64 };
	struct client_call *call = client_sent(client, &shape);
	struct client_reply error = { .proc = RPCRDMA_ERROR }, good = { .length = 40 };
	unsigned int sends;

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &error));
	KUNIT_EXPECT_FALSE(test, client_call_done(call));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&call->rqst.rq_pin));
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &good));
	KUNIT_EXPECT_FALSE(test, client_call_done(call));

	client_disconnect(client);
	client_connect(client);
	sends = fake_posted(client->qp);
	KUNIT_EXPECT_EQ(test, 0, client_call_send(call));
	KUNIT_EXPECT_EQ(test, sends, fake_posted(client->qp));
	client_call_expect_error(call, -EIO);
}

/* A call that goes out once more, with memory: until then nothing is a reply to it. */
static void reply_to_a_refused_call_is_dropped(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { .head = 64, .reply_head = 64 };
	struct client_call *call = client_sent(client, &shape);
	struct client_reply error = { .proc = RPCRDMA_ERROR }, good = { .length = 40 };

	xprtrdma_request_of(&call->rqst)->rq_left_open = true;
	client_call_wait(call);
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &error));
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &error));
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &good));
	KUNIT_EXPECT_FALSE(test, client_call_done(call));
	client_call_woken(call);
	KUNIT_EXPECT_FALSE(test, client_call_done(call));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, call->task.tk_status);
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &good));
	KUNIT_EXPECT_FALSE(test, client_call_done(call));

	call->task.tk_status = 0;
	fake_mark(client->qp);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	KUNIT_EXPECT_EQ(test, 1, fake_posted(client->qp));
	client_call_wait(call);
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &error));
	client_call_expect_error(call, -EIO);
}

struct vers_case {
	const char	*desc;
	bool		left_open;
};

static const struct vers_case vers_cases[] = {
	{ "with memory for the reply", false },
	/* With memory it would be no other version. */
	{ "without", true },
};

KUNIT_ARRAY_PARAM_DESC(vers, vers_cases, desc);

/* RFC 8166 section 4.5.1: decoded whatever its version is. */
static void reply_err_vers_ends_the_rpc(struct kunit *test)
{
	const struct vers_case *c = test->param_value;
	struct client *client = client_of(test);
	struct client_shape shape = { .head = 64, .reply_head = 64 };
	struct client_call *call = client_sent(client, &shape);
	u8 message[RPCRDMA_ERR_VERS_SIZE];
	u32 length;

	xprtrdma_request_of(&call->rqst)->rq_left_open = c->left_open;
	length = rpcrdma_error_encode(be32_to_cpu(call->rqst.rq_xid), 7, 32,
				      RPCRDMA_ERR_VERS, message);
	KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message, length));
	client_call_expect_error(call, -EIO);
	client_expect_at_rest(client);
}

/* An error for a call of an unknown XID ends nothing. */
static void reply_rdma_error_to_nobody(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { .head = 64, .reply_head = 64 };
	struct client_call *call = client_sent(client, &shape);
	struct client_reply reply = { .proc = RPCRDMA_ERROR, .xid = 0x77777777 };

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	client_call_expect_waiting(call);
	client_expect_at_rest(client);
}

static void reply_with_unknown_xid_is_dropped(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { .head = 64, .reply_head = 64 };
	struct client_call *call = client_sent(client, &shape);
	struct client_reply reply = { .length = 64, .xid = 0x77777777 };

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	client_call_expect_waiting(call);
	client_expect_at_rest(client);
}

/* While the first one waits for its LOCAL_INV, and after it. */
static void reply_to_the_same_xid_is_dropped(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { READS(8192) };
	struct client_call *call = client_sent(client, &shape);
	struct client_reply reply = { .length = 128, .item = 8192 };
	struct client_reply again = { .length = 24 };
	unsigned int posted;

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	posted = fake_posted(client->qp);
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &again));
	KUNIT_EXPECT_EQ(test, posted, fake_posted(client->qp));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&call->rqst.rq_pin));
	fake_run_all(client->qp);
	client_call_expect_reply(call, 128, 8192, 0);

	fake_deliver(client->qp, call->rqst.rq_rcv_buf.head[0].iov_base, 64);
	client_call_expect_reply(call, 128, 8192, 0);
	client_expect_at_rest(client);
}

/* A reply that was on its way when the connection was lost. */
static void reply_of_an_earlier_connection_is_dropped(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { .head = 64, .reply_head = 64 };
	struct client_call *call = client_sent(client, &shape);
	struct client_reply reply = { .length = 64 };

	client_disconnect(client);
	client_connect(client);
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	client_call_expect_waiting(call);
	client_expect_at_rest(client);
}

static struct kunit_case match_cases[] = {
	KUNIT_CASE(reply_before_the_call_is_dropped),
	KUNIT_CASE(reply_rdma_error_ends_the_rpc),
	KUNIT_CASE(reply_rdma_error_before_the_task_waits),
	KUNIT_CASE(reply_to_a_refused_call_is_dropped),
	KUNIT_CASE_PARAM(reply_err_vers_ends_the_rpc, vers_gen_params),
	KUNIT_CASE(reply_rdma_error_to_nobody),
	KUNIT_CASE(reply_with_unknown_xid_is_dropped),
	KUNIT_CASE(reply_to_the_same_xid_is_dropped),
	KUNIT_CASE(reply_of_an_earlier_connection_is_dropped),
	{}
};

static struct kunit_suite match_suite = {
	.name = "xprtrdma_reply_match",
	.init = client_open_init,
	.test_cases = match_cases,
};

kunit_test_suite(match_suite);
