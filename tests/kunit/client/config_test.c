// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client asks for the server's configuration: RFC 5666 section 6. The test plays the server,
 * while the connect worker waits.
 */
#include <linux/unaligned.h>

#include "mount.h"

enum { STATUS = 20 };

static int config_init(struct kunit *test)
{
	struct mount *mount;

	mount_init(test);
	mount = test->priv;
	mount->transport->xt_ccp_timeout = 60 * HZ;
	xprtrdma_ask_config = 1;
	return 0;
}

static void config_exit(struct kunit *test)
{
	xprtrdma_ask_config = 0;
}

/* The worker has asked. XID of the question */
static u32 asked(struct mount *mount)
{
	struct fake_qp *qp = &mount->fake->qp;

	fake_mark(qp);
	mount_start(mount);
	KUNIT_ASSERT_TRUE(mount->test, eventually(fake_posted(qp)));
	return get_unaligned_be32(fake_message(fake_last_wr(qp)));
}

/* Header with @credits, and the RPC reply of a server that takes @max_call bytes */
static u32 put_reply(u8 *to, u32 xid, u32 credits, u32 max_call)
{
	struct rpcrdma_header header = { .xid = xid, .vers = 1, .credits = credits };
	u32 words[] = { xid, RPCRDMA_RPC_REPLY, 0, 0, 0, 0, max_call, 4, 16 };
	int i;

	rpcrdma_header_encode(&header, NULL, to, RPCRDMA_MIN_HEADER_SIZE);
	for (i = 0; i < ARRAY_SIZE(words); i++)
		put_unaligned_be32(words[i], to + header.size + 4 * i);
	return header.size + sizeof(words);
}

static void deliver(struct mount *mount, const u8 *message, u32 length)
{
	KUNIT_ASSERT_TRUE(mount->test, fake_deliver(&mount->fake->qp, message, length));
}

/* Connected in one attempt, with these limits and this grant, for which there may be no buffers */
static void expect_connected(struct mount *mount, u32 inline_send, u32 window)
{
	struct kunit *test = mount->test;
	struct xprtrdma_conn *conn;

	KUNIT_EXPECT_EQ(test, -EAGAIN, mount_connected(mount));
	KUNIT_EXPECT_TRUE(test, xprt_connected(mount->xprt));
	conn = mount->transport->xt_conn;
	KUNIT_ASSERT_NOT_NULL(test, conn);
	KUNIT_EXPECT_EQ(test, inline_send, conn->xc_inline.inline_send);
	KUNIT_EXPECT_EQ(test, 4096, conn->xc_inline.inline_recv);
	KUNIT_EXPECT_EQ(test, 0, conn->xc_window.in_flight);
	KUNIT_EXPECT_EQ(test, window, conn->xc_window.granted);
	window = min_t(u32, window, XPRTRDMA_FIRST_CREDITS);
	KUNIT_EXPECT_EQ(test, window, rpcrdma_window_size(&conn->xc_window));
	KUNIT_EXPECT_EQ(test, window, mount->xprt->cwnd >> RPC_CWNDSHIFT);
	KUNIT_EXPECT_EQ(test, min(inline_send, 4096U) - 28,
			mount->transport->xt_bc_max_payload);
}

/* RFC 5666 section 6.2, and RFC 8166 section 3.3.3: with the credit of a new connection */
static void config_question(struct kunit *test)
{
	struct mount *mount = test->priv;
	struct rpcrdma_config_call call;
	struct rpcrdma_header header;
	struct rpcrdma_chunk_lists lists;
	u8 reply[80];
	u32 xid = asked(mount);
	struct fake_wr *wr = fake_last_wr(&mount->fake->qp);
	u8 *message = fake_message(wr);

	KUNIT_EXPECT_EQ(test, 1, fake_posted(&mount->fake->qp));
	KUNIT_EXPECT_FALSE(test, xprt_connected(mount->xprt));
	rpcrdma_lists_init(&lists, NULL, 0, NULL, 0);
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK,
			rpcrdma_header_decode(message, wr->sge[0].length, &header, &lists, false));
	KUNIT_EXPECT_EQ(test, RPCRDMA_MSG, header.proc);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_FIRST_CREDITS, header.credits);
	KUNIT_ASSERT_TRUE(test, rpcrdma_config_call_decode(message + header.size,
							   wr->sge[0].length - header.size,
							   &call));
	KUNIT_EXPECT_EQ(test, RPCRDMA_SUCCESS, call.status);
	KUNIT_EXPECT_EQ(test, RPCRDMA_CONFIG_RDMA, call.procedure);
	KUNIT_EXPECT_EQ(test, 4096, call.request.max_call);
	KUNIT_EXPECT_EQ(test, 4096, call.request.max_reply);
	deliver(mount, reply, put_reply(reply, xid, 16, 4096));
	expect_connected(mount, 4096, 16);
	/* Not useful yet: it is the upper layer that wants something. */
	KUNIT_EXPECT_FALSE(test, mount->transport->xt_conn->xc_useful);

	/* And with each connection. */
	mount_disconnect(mount);
	mount->xprt->reestablish_timeout = 0;
	deliver(mount, reply, put_reply(reply, asked(mount), 16, 4096));
	expect_connected(mount, 4096, 16);
}

struct answer_case {
	const char	*desc;
	u32		max_call;
	u32		inline_send;
	u32		at;		/* a word of the RPC reply, */
	u32		value;		/* and what is there instead */
	u32		length;		/* of the RPC reply, if not as it should be */
};

static const struct answer_case answer_cases[] = {
	{ "less", 2048, 2048 },
	{ "odd", 1500, 1500 },
	{ "as agreed", 4096, 4096 },
	{ "more", 65536, 4096 },
	{ "huge", U32_MAX, 4096 },
	{ "too little", 100, 1024 },
	{ "zero", 0, 1024 },
	{ "huge alignment", 2048, 2048, 28, U32_MAX },
	{ "no Reads", 2048, 2048, 32, 0 },
	{ "PROG_UNAVAIL", 2048, 4096, STATUS, 1, 24 },
	{ "PROG_MISMATCH", 2048, 4096, STATUS, 2, 32 },
	{ "PROC_UNAVAIL", 2048, 4096, STATUS, 3, 24 },
	{ "GARBAGE_ARGS", 2048, 4096, STATUS, 4, 24 },
	{ "MSG_DENIED", 2048, 4096, 8, 1, 20 },
	{ "success without results", 2048, 4096, .length = 24 },
	{ "two results", 2048, 4096, .length = 32 },
	{ "four results", 2048, 4096, .length = 40 },
	{ "verifier too long", 2048, 4096, 16, U32_MAX },
	{ "no more than its direction", 2048, 4096, .length = 8 },
};

KUNIT_ARRAY_PARAM_DESC(answer, answer_cases, desc);

static void config_answer_is_applied(struct kunit *test)
{
	const struct answer_case *c = test->param_value;
	struct mount *mount = test->priv;
	u32 xid = asked(mount), length;
	u8 reply[128] = {};

	length = put_reply(reply, xid, 32, c->max_call);
	if (c->at)
		put_unaligned_be32(c->value, reply + 28 + c->at);
	deliver(mount, reply, c->length ? 28 + c->length : length);
	expect_connected(mount, c->inline_send, 32);
	KUNIT_EXPECT_FALSE(test, mount->transport->xt_ccp_silent);
	KUNIT_EXPECT_EQ(test, 0, fake_cm.disconnects);
}

/* RFC 8166 section 4.5: no grant that we could trust, so one. */
static void config_answered_with_rdma_error(struct kunit *test)
{
	static const enum rpcrdma_errcode errors[] = { RPCRDMA_ERR_CHUNK, RPCRDMA_ERR_VERS };
	struct mount *mount = test->priv;
	u8 reply[32];
	int i;

	for (i = 0; i < 2; i++) {
		u32 xid = asked(mount);

		deliver(mount, reply, rpcrdma_error_encode(xid, 1, 32, errors[i], reply));
		expect_connected(mount, 4096, 1);
		mount_disconnect(mount);
		mount->xprt->reestablish_timeout = 0;
	}
}

/* None of these is an answer. */
static void config_other_messages(struct kunit *test)
{
	struct mount *mount = test->priv;
	u32 xid = asked(mount), length;
	u8 reply[128] = {};

	/* An RPC reply with another XID than its header: dropped. */
	length = put_reply(reply, xid, 32, 2048);
	put_unaligned_be32(xid + 1, reply + 28);
	deliver(mount, reply, length);
	/* To another question. */
	deliver(mount, reply, put_reply(reply, xid + 1, 32, 2048));
	/* A runt, an RDMA_MSGP, an RDMA_NOMSG that says nothing */
	deliver(mount, reply, 20);
	length = put_reply(reply, xid, 32, 2048);
	put_unaligned_be32(RPCRDMA_MSGP, reply + 12);
	deliver(mount, reply, length);
	put_unaligned_be32(RPCRDMA_NOMSG, reply + 12);
	deliver(mount, reply, length);
	KUNIT_EXPECT_TRUE(test, test_bit(XPRT_CONNECTING, &mount->xprt->state));

	deliver(mount, reply, put_reply(reply, xid, 32, 3000));
	expect_connected(mount, 3000, 32);
	/* A second answer is one to nobody. */
	deliver(mount, reply, put_reply(reply, xid, 8, 1024));
	KUNIT_EXPECT_EQ(test, 3000, mount->transport->xt_conn->xc_inline.inline_send);
}

static void expect_not_asked(struct mount *mount)
{
	struct fake_qp *qp = &mount->fake->qp;

	mount->xprt->reestablish_timeout = 0;
	fake_mark(qp);
	mount_start(mount);
	expect_connected(mount, 4096, 1);
	KUNIT_EXPECT_EQ(mount->test, 0, fake_posted(qp));
}

/* Then another connection, whose one credit is for SUNRPC; and no second question. */
static void config_silence(struct kunit *test)
{
	struct mount *mount = test->priv;

	mount->transport->xt_ccp_timeout = HZ / 50;
	fake_mark(&mount->fake->qp);
	mount_start(mount);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, mount_connected(mount));
	KUNIT_EXPECT_EQ(test, 1, fake_posted(&mount->fake->qp));
	KUNIT_EXPECT_EQ(test, 1, fake_cm.disconnects);
	mount_expect_nothing(mount);
	expect_not_asked(mount);
}

static struct rdma_cm_id *last_id;

static void note_id(struct rdma_cm_id *id, enum fake_cm_call call)
{
	last_id = id;
}

/* The server ends the connection instead of saying anything. */
static void config_connection_lost(struct kunit *test)
{
	struct mount *mount = test->priv;

	fake_cm.on_answer = note_id;
	asked(mount);
	fake_cm_event(last_id, RDMA_CM_EVENT_DISCONNECTED);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, mount_connected(mount));
	mount_expect_nothing(mount);
	expect_not_asked(mount);
}

/* The device ends it, of which the CM says nothing. The worker does not wait for its time. */
static void config_connection_fails(struct kunit *test)
{
	struct mount *mount = test->priv;
	unsigned long end = jiffies + 60 * HZ;

	mount->transport->xt_ccp_timeout = 60 * HZ;
	asked(mount);
	fake_flush(&mount->fake->qp);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, mount_connected(mount));
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, end));
	mount_expect_nothing(mount);
}

/* RFC 8797 section 4.1: the question has no R_key to be invalidated. */
static void config_answer_invalidates(struct kunit *test)
{
	struct mount *mount = test->priv;
	u32 xid = asked(mount), length;
	u8 reply[128];

	length = put_reply(reply, xid, 32, 2048);
	KUNIT_ASSERT_TRUE(test, fake_deliver_invalidate(&mount->fake->qp, reply, length, 5));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, mount_connected(mount));
	KUNIT_EXPECT_EQ(test, 1, xprtrdma_transport_of(mount->xprt)->xt_stats.bad_reply_count);
	mount_expect_nothing(mount);
}

static void config_question_cannot_be_sent(struct kunit *test)
{
	struct mount *mount = test->priv;

	mount->fake->qp.accept = 0;
	mount_start(mount);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, mount_connected(mount));
	mount->fake->qp.accept = -1;
	expect_not_asked(mount);
}

static void config_is_off(struct kunit *test)
{
	xprtrdma_ask_config = 0;
	expect_not_asked(test->priv);
}

static struct kunit_case config_kunit_cases[] = {
	KUNIT_CASE(config_question),
	KUNIT_CASE_PARAM(config_answer_is_applied, answer_gen_params),
	KUNIT_CASE(config_answered_with_rdma_error),
	KUNIT_CASE(config_other_messages),
	KUNIT_CASE(config_silence),
	KUNIT_CASE(config_connection_lost),
	KUNIT_CASE(config_connection_fails),
	KUNIT_CASE(config_answer_invalidates),
	KUNIT_CASE(config_question_cannot_be_sent),
	KUNIT_CASE(config_is_off),
	{}
};

static struct kunit_suite config_suite = {
	.name = "xprtrdma_config",
	.suite_init = mount_suite_init,
	.suite_exit = mount_suite_exit,
	.init = config_init,
	.exit = config_exit,
	.test_cases = config_kunit_cases,
};

kunit_test_suite(config_suite);
