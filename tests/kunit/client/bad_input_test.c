// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivers every truncation of each message that a server may send, and every corruption of one of
 * its words, while an RPC waits for a reply. Whatever happens to the RPC: no Receive may be lost,
 * nothing may stay pinned or exposed, and the consumer's buffers must not be overrun.
 */
#include <linux/slab.h>

#include "../fake/bad_input.h"
#include "reply.h"

struct bad_input_case {
	const char		*desc;
	struct client_shape	shape;
	struct client_reply	reply;
};

static const struct bad_input_case reply_cases[] = {
	{ "inline reply", { .head = 64, .reply_head = 64 }, { .length = 48 } },
	{ "inline reply into pages", { .head = 64, .reply_head = 32, .reply_pages = 100 },
	  { .length = 120 } },
	{ "Write chunk", { READS(5000) }, { .length = 132, .item = 4999 } },
	{ "Write chunk, item missing", { READS(5000) }, { .length = 40 } },
	{ "Reply chunk", { .head = 64, .reply_head = 64, .reply_pages = 9000 },
	  { .proc = RPCRDMA_NOMSG, .length = 8100 } },
	{ "Write and Reply chunk",
	  { .head = 64, .reply_head = 3000, .reply_pages = 8192, .reply_tail = 3000,
	    .read = true },
	  { .proc = RPCRDMA_NOMSG, .length = 4000, .item = 8190 } },
	{ "RDMA_ERROR", { READS(5000) }, { .proc = RPCRDMA_ERROR } },
};

KUNIT_ARRAY_PARAM_DESC(reply, reply_cases, desc);

/**
 * struct hostile - a server that makes mistakes
 * @client: the client
 * @shape: of the RPCs
 * @call: the one that waits
 * @xid: that all calls have
 * @seen: messages so far
 * @answered: of these ended an RPC
 */
struct hostile {
	struct client			*client;
	const struct client_shape	*shape;
	struct client_call		*call;
	u32				xid;
	unsigned int			seen;
	unsigned int			answered;
};

static void next_call(struct hostile *hostile)
{
	struct client *client = hostile->client;

	client->next_xid = hostile->xid;
	hostile->call = client_call_create(client, hostile->shape);
	KUNIT_ASSERT_EQ(client->test, 0, client_call_send(hostile->call));
	client_call_decode(hostile->call);
	client_call_wait(hostile->call);
}

static void connect(struct hostile *hostile)
{
	client_connect(hostile->client);
	client_open_window(hostile->client, 32);
}

/* The buffer list, the queue, and no third place. */
static void expect_no_leak(struct client *client)
{
	struct xprtrdma_conn *conn = client->conn;
	struct kunit *test = client->test;

	KUNIT_ASSERT_EQ(test, conn->xc_recv.count,
			client_idle_receives(client) + fake_recvs(client->qp));
	KUNIT_ASSERT_EQ(test, conn->xc_queues.send_slots,
			client_free_sends(client) + client_posted_sends(client));
}

static void expect_sound_call(struct hostile *hostile)
{
	struct client_call *call = hostile->call;
	struct kunit *test = hostile->client->test;
	const struct rpc_rqst *rqst = &call->rqst;

	KUNIT_ASSERT_EQ(test, 0, atomic_read(&rqst->rq_pin));
	KUNIT_ASSERT_PTR_EQ(test, NULL, xprtrdma_request_of(rqst)->rq_registered.ml_receive);
	if (!client_call_done(call))
		return;
	hostile->answered++;
	KUNIT_EXPECT_EQ(test, 0, fake_valid_rkeys(hostile->client->fake));
	KUNIT_EXPECT_LE(test, rqst->rq_private_buf.len, rqst->rq_rcv_buf.buflen + 3);
	KUNIT_EXPECT_LE(test, rqst->rq_rcv_buf.page_len, hostile->shape->reply_pages);
	KUNIT_EXPECT_TRUE(test, !call->task.tk_status || call->task.tk_status == -EIO);
}

static void deliver_bad(void *context, const u8 *message, u32 length)
{
	struct hostile *hostile = context;
	struct client *client = hostile->client;

	/* Act */
	hostile->seen++;
	KUNIT_ASSERT_TRUE(client->test, fake_deliver(client->qp, message, length));
	fake_run_all(client->qp);
	client_call_wait(hostile->call);

	/* Assert */
	expect_no_leak(client);
	expect_sound_call(hostile);
	if (!xprtrdma_conn_established(client->conn)) {
		client_disconnect(client);
		client_call_destroy(hostile->call);
		connect(hostile);
		next_call(hostile);
	} else if (client_call_done(hostile->call)) {
		client_call_destroy(hostile->call);
		next_call(hostile);
	}
}

static struct hostile *hostile_create(struct kunit *test, const struct client_shape *shape)
{
	struct hostile *hostile = kunit_kzalloc(test, sizeof(*hostile), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hostile);
	hostile->client = client_create(test);
	hostile->shape = shape;
	hostile->xid = 0x20000001;
	connect(hostile);
	next_call(hostile);
	return hostile;
}

static void bad_input_in_a_reply(struct kunit *test)
{
	const struct bad_input_case *c = test->param_value;
	struct hostile *hostile = hostile_create(test, &c->shape);
	u8 *message = kunit_kzalloc(test, CLIENT_MESSAGE, GFP_KERNEL);
	u32 length;

	KUNIT_ASSERT_NOT_NULL(test, message);
	length = client_reply_encode(hostile->call, &c->reply, message);
	bad_input_each(test, message, length, deliver_bad, hostile);

	/* Some are good enough to end an RPC, and some are not. */
	KUNIT_EXPECT_GT(test, hostile->answered, 0);
	KUNIT_EXPECT_LT(test, hostile->answered, hostile->seen);

	/* And the client works on. */
	if (c->reply.proc == RPCRDMA_ERROR)
		return;
	KUNIT_EXPECT_TRUE(test, client_reply_send(hostile->call, &c->reply));
	fake_run_all(hostile->client->qp);
	KUNIT_EXPECT_TRUE(test, client_call_done(hostile->call));
	KUNIT_EXPECT_EQ(test, 0, hostile->call->task.tk_status);
	client_expect_at_rest(hostile->client);
}

/* Messages that no server sends to a client, and calls of the reverse direction. */
static void bad_input_of_any_kind(struct kunit *test)
{
	static const struct client_shape shape = { READS(5000) };
	const struct sample *sample = test->param_value;
	struct hostile *hostile = hostile_create(test, &shape);
	u8 *message = sample_bytes(test, sample);

	deliver_bad(hostile, message, sample->count * 4);
	bad_input_each(test, message, sample->count * 4, deliver_bad, hostile);
}

#define slow	((struct kunit_attributes){ .speed = KUNIT_SPEED_SLOW })

static struct kunit_case bad_input_cases[] = {
	KUNIT_CASE_PARAM_ATTR(bad_input_in_a_reply, reply_gen_params, slow),
	KUNIT_CASE_PARAM_ATTR(bad_input_of_any_kind, sample_params, slow),
	{}
};

static struct kunit_suite bad_input_suite = {
	.name = "xprtrdma_bad_input",
	.test_cases = bad_input_cases,
};

kunit_test_suite(bad_input_suite);
