// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server as requester, RFC 8167: callbacks go through a real rpc_clnt, as nfsd's do,
 * and the client that answers them is the test.
 */
#include <linux/unaligned.h>

#include "bc.h"
#include "sq.h"

/* ---- calls and replies ---- */

static void callback_is_answered(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_header header;
	struct callback *cb = bc_call(test, 20);
	const u8 *message;
	struct fake_wr *wr;

	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 1));
	wr = fake_wr(bc->server->qp, 0);
	message = fake_message(wr);
	/* RFC 8167 section 4.1: reverse credits; no chunks */
	rpcrdma_lists_init(&lists, NULL, 0, NULL, 0);
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK, rpcrdma_header_decode(message, wr->sge[0].length,
								&header, &lists, false));
	KUNIT_EXPECT_EQ(test, RPCRDMA_MSG, header.proc);
	KUNIT_EXPECT_EQ(test, SVCRDMA_REVERSE_CREDITS, header.credits);
	KUNIT_EXPECT_EQ(test, IB_WR_SEND, wr->opcode);
	KUNIT_EXPECT_TRUE(test, wr->flags & IB_SEND_SIGNALED);
	KUNIT_EXPECT_EQ(test, BC_HEADER + CB_CALL_HEADER + 80, wr->sge[0].length);
	KUNIT_EXPECT_EQ(test, header.xid, get_unaligned_be32(message + BC_HEADER));
	KUNIT_EXPECT_EQ(test, RPCRDMA_RPC_CALL,
			rpcrdma_message_direction(message + BC_HEADER, 80));
	KUNIT_EXPECT_EQ(test, 19, get_unaligned_be32(message + BC_HEADER + CB_CALL_HEADER + 76));
	KUNIT_EXPECT_EQ(test, bc->server->transport->st_sq_depth - 1,
			server_sq_free(bc->server->transport));

	bc_reply_well(test, header.xid, 2);
	bc_expect_answered(test, cb);
	bc_expect_at_rest(bc);
}

static void callback_gets_a_reply_to_another(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call(test, 1);

	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 1));
	bc_reply_well(test, bc_xid(bc, 0) + 1, 2);
	bc_expect_waiting(test);
	/* It says nothing of credits, either. */
	KUNIT_EXPECT_EQ(test, RPC_CWNDSCALE, bc->rpc->cwnd);
	bc_reply_well(test, bc_xid(bc, 0), 1);
	bc_expect_answered(test, cb);
	/* The same once more: nobody waits for it now. */
	bc_reply_well(test, bc_xid(bc, 0), 2);
	KUNIT_EXPECT_EQ(test, RPC_CWNDSCALE, bc->rpc->cwnd);
	bc_expect_at_rest(bc);
}

static void callback_is_given_up(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call(test, 1), *next;

	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 1));
	rpc_killall_tasks(bc->clnt);
	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_LT(test, cb->status, 0);

	/* Too late. */
	bc_reply_well(test, bc_xid(bc, 0), 2);
	next = bc_call(test, 1);
	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 2));
	KUNIT_EXPECT_NE(test, bc_xid(bc, 0), bc_xid(bc, 1));
	bc_reply_well(test, bc_xid(bc, 1), 1);
	bc_expect_answered(test, next);
	bc_expect_at_rest(bc);
}

struct bad_case {
	const char	*desc;
	struct bc_answer	answer;
};

static const struct bad_case bad_cases[] = {
	{ "Read list", { .proc = RPCRDMA_MSG, .credits = 2, .read = true } },
	{ "Write list", { .proc = RPCRDMA_MSG, .credits = 2, .write = true } },
	{ "Reply chunk", { .proc = RPCRDMA_MSG, .credits = 2, .reply = true } },
	{ "too large", { .proc = RPCRDMA_MSG, .credits = 2, .length = 2000 } },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_cases, desc);

/* Dropped: the callback waits on, with the window that it has. */
static void callback_gets_a_bad_reply(struct kunit *test)
{
	const struct bad_case *c = test->param_value;
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call(test, 1);

	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 1));
	bc_reply(test, bc_xid(bc, 0), &c->answer);
	bc_expect_waiting(test);
	KUNIT_EXPECT_EQ(test, RPC_CWNDSCALE, bc->rpc->cwnd);
	bc_reply_well(test, bc_xid(bc, 0), 1);
	bc_expect_answered(test, cb);
	bc_expect_at_rest(bc);
}

/* As much as SUNRPC has room for, and not a byte more. */
static void callback_gets_the_largest_reply(struct kunit *test)
{
	struct bc_answer answer = { .proc = RPCRDMA_MSG, .credits = 2 };
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call(test, 1);
	struct rpc_rqst *rqst;
	bool apart;
	u32 room;

	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 1));
	spin_lock(&bc->rpc->queue_lock);
	rqst = xprt_lookup_rqst(bc->rpc, cpu_to_be32(bc_xid(bc, 0)));
	room = rqst ? rqst->rq_rcv_buf.head[0].iov_len : 0;
	apart = rqst && rqst->rq_rcv_buf.head[0].iov_base ==
			rqst->rq_buffer + rqst->rq_callsize;
	spin_unlock(&bc->rpc->queue_lock);
	/* Not over the call, which may have to be sent again. */
	KUNIT_EXPECT_TRUE(test, apart);
	KUNIT_ASSERT_GE(test, room, CB_REPLY_HEADER + 4);
	answer.length = room + 4;
	bc_reply(test, bc_xid(bc, 0), &answer);
	bc_expect_waiting(test);
	answer.length = room;
	bc_reply(test, bc_xid(bc, 0), &answer);
	bc_expect_answered(test, cb);
}

static void refuse(void *data)
{
	struct bc_answer answer = { .proc = RPCRDMA_ERROR, .credits = 2 };
	struct kunit *test = data;

	bc_reply(test, bc_xid(test->priv, 0), &answer);
}

static void expect_refused(struct kunit *test, struct callback *cb)
{
	struct backchannel *bc = test->priv;

	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_EQ(test, -EIO, cb->status);
	KUNIT_EXPECT_EQ(test, 1, bc->server->qp->posted - bc->server->qp->mark);
	KUNIT_EXPECT_EQ(test, RPC_CWNDSCALE, bc->rpc->cwnd);
	bc_expect_at_rest(bc);
}

static const struct rpcrdma_counters *counters_of(struct backchannel *bc)
{
	static struct rpcrdma_counters now;

	memset(&now, 0, sizeof(now));
	svcrdma_connections.cs_sum(&bc->server->transport->st_connection, &now);
	return &now;
}

/* RFC 8166 section 4.5.3: the client could not make sense of it. */
static void callback_gets_an_error(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call(test, 1);

	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 1));
	KUNIT_ASSERT_TRUE(test, eventually(READ_ONCE(bc->rpc->pending.qlen)));
	refuse(test);
	expect_refused(test, cb);
	KUNIT_EXPECT_EQ(test, 1, counters_of(bc)->errors_received_chunk);
	KUNIT_EXPECT_EQ(test, 0, counters_of(bc)->errors_received_vers);
}

/* Before the task sleeps: it is not called again either. */
static void callback_gets_an_error_at_once(struct kunit *test)
{
	struct backchannel *bc = test->priv;

	bc->server->qp->hook_data = test;
	bc->server->qp->posted_hook = refuse;
	expect_refused(test, bc_call(test, 1));
}

/* ---- credits ---- */

/* RFC 8166 section 3.3.3: one, until the client has granted more. */
static void credits_are_one_at_first(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *first = bc_call(test, 1), *second;

	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 1));
	second = bc_call(test, 1);
	/* It waits for its turn, or is sent all the same. */
	KUNIT_ASSERT_TRUE(test, eventually(READ_ONCE(bc->rpc->sending.qlen) ||
					   fake_posted(bc->server->qp) > 1));
	KUNIT_EXPECT_EQ(test, 1, fake_posted(bc->server->qp));

	bc_reply_well(test, bc_xid(bc, 0), 1);
	bc_expect_answered(test, first);
	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 2));
	bc_reply_well(test, bc_xid(bc, 1), 1);
	bc_expect_answered(test, second);
	bc_expect_at_rest(bc);
}

struct credit_case {
	const char	*desc;
	u32		granted;
	u32		in_flight;
};

static const struct credit_case credit_cases[] = {
	{ "0 means 1", 0, 1 },
	{ "1", 1, 1 },
	{ "2", 2, 2 },
	{ "more than are of use", 100, 2 },
};

KUNIT_ARRAY_PARAM_DESC(credit, credit_cases, desc);

static void credits_are_those_of_the_last_reply(struct kunit *test)
{
	const struct credit_case *c = test->param_value;
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call(test, 1), *calls[2];
	int i;

	/* Arrange */
	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 1));
	bc_reply_well(test, bc_xid(bc, 0), c->granted);
	bc_expect_answered(test, cb);
	KUNIT_EXPECT_EQ(test, c->in_flight * RPC_CWNDSCALE, bc->rpc->cwnd);

	/* Act */
	for (i = 0; i < 2; i++)
		calls[i] = bc_call(test, 1);

	/* Assert */
	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 1 + c->in_flight));
	KUNIT_ASSERT_TRUE(test, eventually(c->in_flight == 2 ||
					   READ_ONCE(bc->rpc->sending.qlen) ||
					   fake_posted(bc->server->qp) > 2));
	KUNIT_EXPECT_EQ(test, 1 + c->in_flight, fake_posted(bc->server->qp));
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_TRUE(test, bc_sent(bc, 2 + i));
		bc_reply_well(test, bc_xid(bc, 1 + i), c->granted);
	}
	for (i = 0; i < 2; i++)
		bc_expect_answered(test, calls[i]);
	bc_expect_at_rest(bc);
}

/* ---- what cannot be sent ---- */

static void callback_just_fits(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call(test, (SERVER_MESSAGE - BC_HEADER - CB_CALL_HEADER) / 4);

	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 1));
	KUNIT_EXPECT_EQ(test, SERVER_MESSAGE, fake_wr(bc->server->qp, 0)->sge[0].length);
	bc_reply_well(test, bc_xid(bc, 0), 2);
	bc_expect_answered(test, cb);
	bc_expect_at_rest(bc);
}

static void expect_too_large(struct kunit *test, u32 words)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call(test, words);

	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_EQ(test, -EIO, cb->status);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(bc->server->qp));
	bc_expect_at_rest(bc);
}

static void callback_is_too_large(struct kunit *test)
{
	expect_too_large(test, (SERVER_MESSAGE - BC_HEADER - CB_CALL_HEADER) / 4 + 1);
}

/* rpciod does not sleep for an entry: the call has a place in the queue, as a reply has. */
static void callback_waits_for_its_turn(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct svcrdma_transport *t = bc->server->transport;
	struct server_waiter *waiters = bc->server->waiters;
	u32 depth = t->st_sq_depth;
	struct callback *cb;

	sq_take(bc->server, depth);
	sq_wait(bc->server, &waiters[0], 1, -EINPROGRESS);
	cb = bc_call(test, 1);
	KUNIT_ASSERT_TRUE(test, eventually(READ_ONCE(t->st_sq.nr_waiters) == 2));
	sq_wait(bc->server, &waiters[1], 1, -EINPROGRESS);

	svcrdma_sq_put(t, 1);
	KUNIT_EXPECT_TRUE(test, waiters[0].served);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(bc->server->qp));
	svcrdma_sq_put(t, 1);
	KUNIT_ASSERT_EQ(test, 1, fake_posted(bc->server->qp));
	KUNIT_EXPECT_FALSE(test, waiters[1].served);
	svcrdma_sq_put(t, 1);
	KUNIT_EXPECT_TRUE(test, waiters[1].served);
	KUNIT_EXPECT_EQ(test, 0, server_sq_free(t));

	bc_reply_well(test, bc_xid(bc, 0), 1);
	bc_expect_answered(test, cb);
	/* Those of the test, and of those who waited with it */
	svcrdma_sq_put(t, depth - 3 + 2);
	bc_expect_at_rest(bc);
}

/* Its place goes with the connection, and its context; the call fails as others do. */
static void callback_waits_in_vain(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct svcrdma_transport *t = bc->server->transport;
	struct callback *cb;

	sq_take(bc->server, t->st_sq_depth);
	cb = bc_call(test, 1);
	KUNIT_ASSERT_TRUE(test, eventually(READ_ONCE(t->st_sq.nr_waiters) == 1));
	bc_lose(bc);
	KUNIT_EXPECT_EQ(test, 0, t->st_sq.nr_waiters);
	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, cb->status);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(bc->server->qp));
}

/* A request that goes past SUNRPC, to the transport. */
static int send_directly(struct backchannel *bc)
{
	static u8 message[64];
	struct rpc_rqst rqst = { .rq_xprt = bc->rpc, .rq_xid = cpu_to_be32(1) };
	int ret;

	xdr_buf_init(&rqst.rq_snd_buf, message, sizeof(message));
	rqst.rq_snd_buf.head[0].iov_len = sizeof(message);
	rqst.rq_snd_buf.len = sizeof(message);
	ret = bc->rpc->ops->send_request(&rqst);
	/* As xprt_release_rqst_cong(). */
	if (rqst.rq_cong)
		bc->rpc->cong -= RPC_CWNDSCALE;
	return ret;
}

static void callback_without_memory(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	int n;

	for (n = 0; n < 2; n++) {
		fake_alloc_fail(n);
		KUNIT_EXPECT_EQ(test, -ENOBUFS, send_directly(bc));
		KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
		KUNIT_EXPECT_FALSE(test, READ_ONCE(bc->server->transport->st_closing));
	}
	KUNIT_EXPECT_EQ(test, 0, send_directly(bc));
	KUNIT_EXPECT_EQ(test, 1, fake_posted(bc->server->qp));
	bc_expect_at_rest(bc);
}

static void callback_cannot_be_posted(struct kunit *test)
{
	struct backchannel *bc = test->priv;

	bc->server->qp->accept = 0;
	KUNIT_EXPECT_EQ(test, -ENOTCONN, send_directly(bc));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(bc->server->transport->st_closing));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(bc->server->qp));
}

/* ---- other connections ---- */

static void reply_without_a_callback_client(struct kunit *test)
{
	struct server *server = server_create(test);
	u8 message[64] = {};
	u32 size;

	server_connect(server);
	size = bc_header(test, &(struct bc_answer) { .proc = RPCRDMA_MSG }, 1, message);
	put_unaligned_be32(1, message + size);
	put_unaligned_be32(RPCRDMA_RPC_REPLY, message + size + 4);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, message, sizeof(message)));
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	server_expect_at_rest(server);
}

/* The client's Receives are smaller than our Send buffers. */
static void callback_is_too_large_for_the_client(struct kunit *test)
{
	bc_create(test, 1024);
	expect_too_large(test, (1024 - BC_HEADER - CB_CALL_HEADER) / 4 + 1);
}

static struct kunit_case bc_cases[] = {
	KUNIT_CASE(callback_is_answered),
	KUNIT_CASE(callback_gets_a_reply_to_another),
	KUNIT_CASE(callback_is_given_up),
	KUNIT_CASE_PARAM(callback_gets_a_bad_reply, bad_gen_params),
	KUNIT_CASE(callback_gets_the_largest_reply),
	KUNIT_CASE(callback_gets_an_error),
	KUNIT_CASE(callback_gets_an_error_at_once),
	KUNIT_CASE(credits_are_one_at_first),
	KUNIT_CASE_PARAM(credits_are_those_of_the_last_reply, credit_gen_params),
	KUNIT_CASE(callback_just_fits),
	KUNIT_CASE(callback_is_too_large),
	KUNIT_CASE(callback_waits_for_its_turn),
	KUNIT_CASE(callback_waits_in_vain),
	KUNIT_CASE(callback_without_memory),
	KUNIT_CASE(callback_cannot_be_posted),
	{}
};

static struct kunit_case other_cases[] = {
	KUNIT_CASE(reply_without_a_callback_client),
	KUNIT_CASE(callback_is_too_large_for_the_client),
	{}
};

static struct kunit_suite bc_suite = {
	.name = "svcrdma_bc",
	.suite_init = bc_suite_init,
	.suite_exit = bc_suite_exit,
	.init = bc_init,
	.test_cases = bc_cases,
};

static struct kunit_suite other_suite = {
	.name = "svcrdma_bc_other",
	.suite_init = bc_suite_init,
	.suite_exit = bc_suite_exit,
	.test_cases = other_cases,
};

kunit_test_suites(&bc_suite, &other_suite);
