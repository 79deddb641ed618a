// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server as requester, with chunks (RFC 8167 section 5.3): calls that the client has to read,
 * and replies that it writes, if both sides have announced that.
 */
#include <linux/delay.h>
#include <linux/unaligned.h>

#include "bc.h"
#include "sq.h"

static struct backchannel *connect(struct kunit *test, u16 extensions)
{
	return bc_create_extended(test, SERVER_MESSAGE, extensions);
}

static int chunk_init(struct kunit *test)
{
	connect(test, RPCRDMA_EXT_REVERSE_CHUNKS);
	return 0;
}

/* It is the call that was encoded. */
static void expect_call(struct kunit *test, struct bc_message *sent, u32 words)
{
	u32 i;

	KUNIT_EXPECT_EQ(test, SVCRDMA_REVERSE_CREDITS, sent->header.credits);
	KUNIT_ASSERT_EQ(test, CB_CALL_HEADER + 4 * words, sent->length);
	KUNIT_EXPECT_EQ(test, sent->header.xid, get_unaligned_be32(sent->call));
	KUNIT_EXPECT_EQ(test, RPCRDMA_RPC_CALL, get_unaligned_be32(sent->call + 4));
	for (i = 0; i < words; i++)
		if (get_unaligned_be32(sent->call + CB_CALL_HEADER + 4 * i) != i)
			break;
	KUNIT_EXPECT_EQ(test, words, i);
}

/* The client answers with @length bytes in the Reply chunk; it returns @claimed. */
static void answer_long(struct kunit *test, struct bc_message *sent, u32 length, u32 claimed,
			u32 xid)
{
	struct backchannel *bc = test->priv;
	struct rpcrdma_chunk *chunk = rpcrdma_reply_chunk(&sent->lists);
	struct rpcrdma_header header = {
		.xid = sent->header.xid, .vers = 1, .credits = 2, .proc = RPCRDMA_NOMSG,
	};
	u8 *reply = kunit_kzalloc(test, length, GFP_KERNEL);
	u8 message[256];

	KUNIT_ASSERT_NOT_NULL(test, reply);
	KUNIT_ASSERT_NOT_NULL(test, chunk);
	KUNIT_ASSERT_EQ(test, 1, chunk->count);
	put_unaligned_be32(xid, reply);
	put_unaligned_be32(RPCRDMA_RPC_REPLY, reply + 4);
	put_unaligned_be32(CB_RESULT, reply + CB_REPLY_HEADER);
	KUNIT_ASSERT_TRUE(test, fake_write(bc->server->fake,
					   sent->segments[chunk->first].handle,
					   sent->segments[chunk->first].offset, reply,
					   min(length, chunk->length)));
	sent->lists.nr_read = 0;
	sent->chunks[0] = *chunk;
	sent->segments[0] = sent->segments[chunk->first];
	sent->segments[0].length = claimed;
	sent->chunks[0].first = 0;
	sent->chunks[0].length = claimed;
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK,
			rpcrdma_header_encode(&header, &sent->lists, message,
					      sizeof(message)));
	KUNIT_ASSERT_TRUE(test, fake_deliver(bc->server->qp, message, header.size));
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(bc->server));
}

static void expect_at_rest(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct svcrdma_transport *t = bc->server->transport;

	/* The end of a task gives back what it has exposed. */
	KUNIT_EXPECT_TRUE(test, eventually((fake_run_all(bc->server->qp),
					    !READ_ONCE(t->st_region.count[SVCRDMA_LONG_CALL]))));
	KUNIT_EXPECT_EQ(test, 0, fake_valid_rkeys(bc->server->fake));
	KUNIT_EXPECT_TRUE(test, list_empty(&t->st_region.exposures));
	bc_expect_at_rest(bc);
}

static void answer_inline(struct kunit *test, struct callback *cb, u32 xid)
{
	bc_reply_well(test, xid, 2);
	bc_expect_answered(test, cb);
}

/* ---- calls ---- */

static const struct size_case {
	const char	*desc;
	u32		words;
	bool		is_long;
} size_cases[] = {
	{ "3 KiB", 768, false },
	{ "just fits", (SERVER_MESSAGE - BC_HEADER - CB_CALL_HEADER) / 4, false },
	{ "a word more", (SERVER_MESSAGE - BC_HEADER - CB_CALL_HEADER) / 4 + 1, true },
	{ "8 KiB", 2048, true },
	{ "64 KiB", 16384, true },
	{ "as large as possible", (SVCRDMA_MAX_CALLBACK - CB_CALL_HEADER) / 4, true },
};

KUNIT_ARRAY_PARAM_DESC(size, size_cases, desc);

static void call_is_exposed(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	struct callback *cb;
	struct bc_message *call;
	int i;

	for (i = 0; i < 3; i++) {
		struct backchannel *bc = test->priv;

		fake_mark(bc->server->qp);
		cb = bc_call_procedure(test, c->words, CB_LONG_CALL);
		call = bc_message(test);
		expect_call(test, call, c->words);
		KUNIT_EXPECT_EQ(test, c->is_long ? RPCRDMA_NOMSG : RPCRDMA_MSG,
				call->header.proc);
		KUNIT_EXPECT_EQ(test, c->is_long, call->lists.nr_read);
		KUNIT_EXPECT_EQ(test, 0, call->lists.nr_reply);
		KUNIT_EXPECT_EQ(test, c->is_long, fake_valid_rkeys(bc->server->fake));
		answer_inline(test, cb, call->header.xid);
		expect_at_rest(test);
	}
}

/* SUNRPC sends it again, with its XID, when the answer says GARBAGE_ARGS. */
static void call_is_sent_again(struct kunit *test)
{
	struct bc_answer garbage = { .proc = RPCRDMA_MSG, .credits = 2, .accept = 4 };
	struct backchannel *bc = test->priv;
	struct callback *cb;
	struct bc_message *call;

	fake_mark(bc->server->qp);
	cb = bc_call_procedure(test, 2048, CB_LONG_CALL);
	call = bc_message(test);
	fake_mark(bc->server->qp);
	bc_reply(test, call->header.xid, &garbage);
	KUNIT_EXPECT_TRUE(test, eventually(fake_posted(bc->server->qp) >= 3));
	fake_run_all(bc->server->qp);
	KUNIT_EXPECT_TRUE(test, eventually((fake_run_all(bc->server->qp),
					    READ_ONCE(bc->server->transport->st_region.count[SVCRDMA_LONG_CALL])
					    == 1)));
	KUNIT_EXPECT_EQ(test, 1, fake_valid_rkeys(bc->server->fake));
	answer_inline(test, cb, call->header.xid);
	expect_at_rest(test);
}

static void call_is_too_large(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb;

	cb = bc_call_procedure(test, (SVCRDMA_MAX_CALLBACK - CB_CALL_HEADER) / 4 + 1,
			       CB_LONG_CALL);
	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_EQ(test, -EIO, cb->status);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(bc->server->qp));
	expect_at_rest(test);
}

/* Where replies are pulled the call must not look like one. */
static void long_call_wants_a_reply(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb;
	struct bc_message *call;

	bc->server->transport->st_agreed.read_chunk_replies = true;
	cb = bc_call_procedure(test, 2048, CB_LONG_CALL);
	call = bc_message(test);
	expect_call(test, call, 2048);
	KUNIT_EXPECT_EQ(test, 1, call->lists.nr_reply);
	KUNIT_EXPECT_FALSE(test, rpcrdma_is_pulled_reply(&call->lists));
	answer_inline(test, cb, call->header.xid);
	expect_at_rest(test);
}

/* ---- replies ---- */

/* RFC 8166 sections 4.3.3 and 8.1: fenced, and only then the RPC ends. */
static void reply_comes_in_the_chunk(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call_procedure(test, 20, CB_LONG_REPLY);
	struct bc_message *call = bc_message(test);
	u32 xid = call->header.xid;

	expect_call(test, call, 20);
	KUNIT_EXPECT_EQ(test, RPCRDMA_MSG, call->header.proc);
	KUNIT_ASSERT_EQ(test, 1, call->lists.nr_reply);
	KUNIT_EXPECT_GE(test, rpcrdma_reply_chunk(&call->lists)->length,
			4 * CB_RESULTS);
	answer_long(test, call, 5000, 5000, xid);
	KUNIT_EXPECT_EQ(test, 1, fake_valid_rkeys(bc->server->fake));
	KUNIT_EXPECT_FALSE(test, completion_done(&cb->done));
	KUNIT_EXPECT_EQ(test, IB_WR_LOCAL_INV, fake_last_wr(bc->server->qp)->opcode);
	fake_run_all(bc->server->qp);
	KUNIT_EXPECT_EQ(test, 0, fake_valid_rkeys(bc->server->fake));
	bc_expect_answered(test, cb);
	KUNIT_EXPECT_EQ(test, 2 * RPC_CWNDSCALE, bc->rpc->cwnd);
	expect_at_rest(test);
}

static void both_are_long(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call_procedure(test, 4000, CB_LONG_REPLY);
	struct bc_message *call = bc_message(test);

	expect_call(test, call, 4000);
	KUNIT_EXPECT_EQ(test, RPCRDMA_NOMSG, call->header.proc);
	answer_long(test, call, 9000, 9000, call->header.xid);
	fake_run_all(bc->server->qp);
	bc_expect_answered(test, cb);
	expect_at_rest(test);
}

static void short_reply_leaves_the_chunk(struct kunit *test)
{
	struct bc_answer answer = { .proc = RPCRDMA_MSG, .credits = 2, .reply = true };
	struct callback *cb = bc_call_procedure(test, 20, CB_LONG_REPLY);
	struct bc_message *call = bc_message(test);

	bc_reply(test, call->header.xid, &answer);
	bc_expect_answered(test, cb);
	expect_at_rest(test);
}

/* RFC 8166 section 4.3.3: more is returned than was offered. Dropped. */
static void more_than_was_offered(struct kunit *test)
{
	struct callback *cb = bc_call_procedure(test, 20, CB_LONG_REPLY);
	struct bc_message *call = bc_message(test);
	u32 xid = call->header.xid;

	answer_long(test, call, 5000, rpcrdma_reply_chunk(&call->lists)->length + 1, xid);
	KUNIT_EXPECT_FALSE(test, completion_done(&cb->done));
	answer_inline(test, cb, xid);
	expect_at_rest(test);
}

/* An RDMA_NOMSG needs a chunk (RFC 8166 section 4.3.3), and one that is empty has no reply in it. */
static void long_reply_without_a_chunk(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call_procedure(test, 20, CB_LONG_REPLY);
	struct bc_message *call = bc_message(test);
	struct rpcrdma_header header = {
		.xid = call->header.xid, .vers = 1, .credits = 2, .proc = RPCRDMA_NOMSG,
	};
	struct rpcrdma_chunk_lists none = {};
	u8 message[64];

	KUNIT_ASSERT_EQ(test, RPCRDMA_OK,
			rpcrdma_header_encode(&header, &none, message, sizeof(message)));
	KUNIT_ASSERT_TRUE(test, fake_deliver(bc->server->qp, message, header.size));
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(bc->server));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&bc->server->transport->st_unexpected));
	answer_long(test, call, 5000, 0, header.xid);
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&bc->server->transport->st_unexpected));

	/* Neither ends the call, nor takes the chunk back. */
	KUNIT_EXPECT_FALSE(test, completion_done(&cb->done));
	KUNIT_EXPECT_EQ(test, IB_WR_SEND, fake_last_wr(bc->server->qp)->opcode);
	KUNIT_EXPECT_EQ(test, 1, fake_valid_rkeys(bc->server->fake));
	answer_inline(test, cb, header.xid);
	expect_at_rest(test);
}

/* RFC 8167 section 5.2 */
static void what_is_in_the_chunk_is_no_reply(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call_procedure(test, 20, CB_LONG_REPLY);
	struct bc_message *call = bc_message(test);

	/* On the way to sleep, it would not see the error and call again. */
	KUNIT_ASSERT_TRUE(test, eventually(READ_ONCE(bc->rpc->pending.qlen)));
	answer_long(test, call, 5000, 5000, call->header.xid + 1);
	fake_run_all(bc->server->qp);
	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_EQ(test, -EIO, cb->status);
	expect_at_rest(test);
}

/* Nobody has made such a call: dropped, and not taken for one of the client's. */
static void long_reply_to_nothing(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call_procedure(test, 20, CB_LONG_REPLY);
	struct bc_message *call = bc_message(test);
	u32 xid = call->header.xid;

	call->header.xid++;
	answer_long(test, call, 5000, 5000, xid);
	KUNIT_EXPECT_FALSE(test, completion_done(&cb->done));
	KUNIT_EXPECT_EQ(test, IB_WR_SEND, fake_last_wr(bc->server->qp)->opcode);
	answer_inline(test, cb, xid);
	expect_at_rest(test);
}

/* ---- ends ---- */

static void callback_is_given_up(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call_procedure(test, 2048, CB_LONG_REPLY);
	struct bc_message *call = bc_message(test);

	KUNIT_EXPECT_EQ(test, 2, fake_valid_rkeys(bc->server->fake));
	rpc_killall_tasks(bc->clnt);
	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	fake_run_all(bc->server->qp);
	KUNIT_EXPECT_EQ(test, 0, fake_valid_rkeys(bc->server->fake));
	/* Too late. */
	bc_reply_well(test, call->header.xid, 2);
	expect_at_rest(test);
}

/* Between the reply and its fence. */
static void callback_is_given_up_late(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call_procedure(test, 20, CB_LONG_REPLY);
	struct bc_message *call = bc_message(test);

	answer_long(test, call, 5000, 5000, call->header.xid);
	rpc_killall_tasks(bc->clnt);
	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	expect_at_rest(test);
}

static void connection_is_lost(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call_procedure(test, 2048, CB_LONG_REPLY);

	bc_message(test);
	bc_lose(bc);
	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_LT(test, cb->status, 0);
}

static void connection_is_lost_before_the_fence(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call_procedure(test, 20, CB_LONG_REPLY);
	struct bc_message *call = bc_message(test);

	answer_long(test, call, 5000, 5000, call->header.xid);
	fake_flush(bc->server->qp);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(bc->server->transport->st_closing));
	bc_lose(bc);
	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_LT(test, cb->status, 0);
}

static const struct post_case {
	const char	*desc;
	int		accept;
} post_cases[] = {
	{ "after 0", 0 },
	{ "after 1", 1 },
	{ "after 2", 2 },
};

KUNIT_ARRAY_PARAM_DESC(post, post_cases, desc);

/* Of two registrations and the Send, one is refused. */
static void post_fails(struct kunit *test)
{
	const struct post_case *c = test->param_value;
	struct backchannel *bc = test->priv;
	struct callback *cb;

	bc->server->qp->accept = c->accept;
	cb = bc_call_procedure(test, 2048, CB_LONG_REPLY);
	KUNIT_EXPECT_TRUE(test, eventually(READ_ONCE(bc->server->transport->st_closing)));
	bc_lose(bc);
	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_LT(test, cb->status, 0);
}

/* There are regions later. */
static void regions_are_short(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb;
	struct bc_message *call;

	bc->server->fake->mr_accept = 1;
	cb = bc_call_procedure(test, 2048, CB_LONG_REPLY);
	msleep(50);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(bc->server->qp));
	KUNIT_EXPECT_EQ(test, 0, bc->server->transport->st_region.count[SVCRDMA_LONG_CALL]);
	bc->server->fake->mr_accept = -1;
	call = bc_message(test);
	answer_inline(test, cb, call->header.xid);
	expect_at_rest(test);
}

/* What was given up counts until the client cannot reach it any more. */
static void fences_are_not_done(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct svcrdma_transport *t = bc->server->transport;
	struct bc_message *call;
	struct callback *cb;
	int i;

	for (i = 0; i < SVCRDMA_MAX_LONG_CALLS; i++) {
		fake_mark(bc->server->qp);
		cb = bc_call_procedure(test, 2048, CB_LONG_CALL);
		KUNIT_ASSERT_TRUE(test, bc_sent(bc, 2));
		rpc_killall_tasks(bc->clnt);
		KUNIT_ASSERT_TRUE(test, bc_ended(cb));
		KUNIT_ASSERT_EQ(test, i + 1, t->st_region.count[SVCRDMA_LONG_CALL]);
	}
	fake_mark(bc->server->qp);
	cb = bc_call_procedure(test, 2048, CB_LONG_CALL);
	msleep(50);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(bc->server->qp));
	KUNIT_EXPECT_EQ(test, SVCRDMA_MAX_LONG_CALLS, t->st_region.count[SVCRDMA_LONG_CALL]);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(t->st_closing));

	/* SUNRPC tries again, later, or on a slow machine by now. */
	fake_run_all(bc->server->qp);
	KUNIT_EXPECT_LE(test, t->st_region.count[SVCRDMA_LONG_CALL], 1);
	call = bc_message(test);
	answer_inline(test, cb, call->header.xid);
	expect_at_rest(test);
}

/* ---- entries are short ---- */

/* There are none left, and the callback has a place in the queue behind another. */
static struct callback *queued(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct svcrdma_transport *t = bc->server->transport;
	struct callback *cb;

	sq_take(bc->server, t->st_sq_depth);
	sq_wait(bc->server, &bc->server->waiters[0], 1, -EINPROGRESS);
	cb = bc_call_procedure(test, 2048, CB_LONG_REPLY);
	KUNIT_ASSERT_TRUE(test, eventually(READ_ONCE(t->st_sq.nr_waiters) == 2));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(bc->server->qp));
	KUNIT_EXPECT_EQ(test, 1, t->st_region.count[SVCRDMA_LONG_CALL]);
	return cb;
}

/* Two registrations and the Send, and two entries that are kept for the end of it */
enum { LONG_ENTRIES = 5 };

static void call_waits_for_its_turn(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct svcrdma_transport *t = bc->server->transport;
	struct server_waiter *waiters = bc->server->waiters;
	u32 depth = t->st_sq_depth;
	struct callback *cb = queued(test);
	struct bc_message *call;

	sq_wait(bc->server, &waiters[1], 1, -EINPROGRESS);
	svcrdma_sq_put(t, 1 + LONG_ENTRIES - 1);
	KUNIT_EXPECT_TRUE(test, waiters[0].served);
	KUNIT_EXPECT_FALSE(test, waiters[1].served);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(bc->server->qp));
	svcrdma_sq_put(t, 1);
	KUNIT_ASSERT_EQ(test, 3, fake_posted(bc->server->qp));
	KUNIT_EXPECT_FALSE(test, waiters[1].served);
	KUNIT_EXPECT_EQ(test, 0, server_sq_free(t));

	/* The Send is complete: that of the second one comes from its entries. */
	call = bc_message(test);
	KUNIT_EXPECT_TRUE(test, waiters[1].served);
	expect_call(test, call, 2048);
	answer_long(test, call, 5000, 5000, call->header.xid);
	fake_run_all(bc->server->qp);
	bc_expect_answered(test, cb);
	/* Those of the test, and of those who waited with it */
	svcrdma_sq_put(t, depth - 1 - LONG_ENTRIES + 2);
	expect_at_rest(test);
}

/* What it would tell the client of is not there any more: it is not sent. */
static void call_is_given_up_while_it_waits(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct svcrdma_transport *t = bc->server->transport;
	u32 depth = t->st_sq_depth;
	struct callback *cb = queued(test);

	rpc_killall_tasks(bc->clnt);
	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_EQ(test, 2, t->st_sq.nr_waiters);
	svcrdma_sq_put(t, depth);
	KUNIT_EXPECT_EQ(test, 0, t->st_sq.nr_waiters);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(bc->server->qp));
	KUNIT_EXPECT_FALSE(test, READ_ONCE(t->st_closing));
	svcrdma_sq_put(t, 1);
	expect_at_rest(test);
}

/* XID of a callback that has not been sent */
static u32 unsent_xid(struct backchannel *bc)
{
	struct rpc_rqst *rqst;
	u32 xid = 0;

	spin_lock(&bc->rpc->queue_lock);
	rqst = rb_entry_safe(rb_first(&bc->rpc->recv_queue), struct rpc_rqst, rq_recv);
	if (rqst)
		xid = be32_to_cpu(rqst->rq_xid);
	spin_unlock(&bc->rpc->queue_lock);
	return xid;
}

/* A reply with a Reply chunk, before the client can know of one */
static void call_is_answered_while_it_waits(struct kunit *test)
{
	struct bc_answer answer = { .proc = RPCRDMA_NOMSG, .credits = 2, .reply = true };
	struct backchannel *bc = test->priv;
	struct svcrdma_transport *t = bc->server->transport;
	u32 depth = t->st_sq_depth;
	struct callback *cb = queued(test);
	struct bc_message *call;

	bc_reply(test, unsent_xid(bc), &answer);
	KUNIT_EXPECT_FALSE(test, completion_done(&cb->done));
	svcrdma_sq_put(t, depth);
	call = bc_message(test);
	answer_inline(test, cb, call->header.xid);
	svcrdma_sq_put(t, 1);
	expect_at_rest(test);
}

static void connection_is_lost_while_it_waits(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = queued(test);

	bc_lose(bc);
	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, cb->status);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(bc->server->qp));
}

/* It would wait for ever. The connection is good for others. */
static void queue_is_too_short(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct svcrdma_transport *t = bc->server->transport;
	u32 depth = t->st_sq_depth;
	struct callback *cb;

	t->st_sq_depth = LONG_ENTRIES - 1;
	cb = bc_call_procedure(test, 2048, CB_LONG_REPLY);
	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_EQ(test, -EIO, cb->status);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(bc->server->qp));
	KUNIT_EXPECT_FALSE(test, READ_ONCE(t->st_closing));
	t->st_sq_depth = depth;
	expect_at_rest(test);
}

/* ---- what was announced ---- */

static void expect_no_chunks(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb;
	struct bc_message *call;

	cb = bc_call_procedure(test, 2048, CB_LONG_CALL);
	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_EQ(test, -EIO, cb->status);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(bc->server->qp));
	cb = bc_call_procedure(test, 20, CB_LONG_REPLY);
	call = bc_message(test);
	KUNIT_EXPECT_EQ(test, RPCRDMA_MIN_HEADER_SIZE, call->header.size);
	answer_inline(test, cb, call->header.xid);
	expect_at_rest(test);
}

/* As before: nothing is new on the wire for whoever has not said that it is welcome. */
static void client_has_not_announced(struct kunit *test)
{
	struct backchannel *bc = connect(test, RPCRDMA_EXT_TAKES_READ_CHUNKS);

	KUNIT_EXPECT_FALSE(test, bc->server->transport->st_agreed.reverse_chunks);
	expect_no_chunks(test);
}

static void server_is_switched_off(struct kunit *test)
{
	struct backchannel *bc;

	svcrdma_reliable_reply = 0;
	bc = connect(test, RPCRDMA_EXT_REVERSE_CHUNKS);
	svcrdma_reliable_reply = 1;
	KUNIT_EXPECT_FALSE(test, bc->server->transport->st_agreed.reverse_chunks);
	expect_no_chunks(test);
}

static struct kunit_case chunk_test_cases[] = {
	KUNIT_CASE_PARAM(call_is_exposed, size_gen_params),
	KUNIT_CASE(call_is_sent_again),
	KUNIT_CASE(call_is_too_large),
	KUNIT_CASE(long_call_wants_a_reply),
	KUNIT_CASE(reply_comes_in_the_chunk),
	KUNIT_CASE(both_are_long),
	KUNIT_CASE(short_reply_leaves_the_chunk),
	KUNIT_CASE(more_than_was_offered),
	KUNIT_CASE(long_reply_without_a_chunk),
	KUNIT_CASE(what_is_in_the_chunk_is_no_reply),
	KUNIT_CASE(long_reply_to_nothing),
	KUNIT_CASE(callback_is_given_up),
	KUNIT_CASE(callback_is_given_up_late),
	KUNIT_CASE(connection_is_lost),
	KUNIT_CASE(connection_is_lost_before_the_fence),
	KUNIT_CASE_PARAM(post_fails, post_gen_params),
	KUNIT_CASE(regions_are_short),
	KUNIT_CASE(fences_are_not_done),
	KUNIT_CASE(call_waits_for_its_turn),
	KUNIT_CASE(call_is_given_up_while_it_waits),
	KUNIT_CASE(call_is_answered_while_it_waits),
	KUNIT_CASE(connection_is_lost_while_it_waits),
	KUNIT_CASE(queue_is_too_short),
	{}
};

static struct kunit_case announcement_cases[] = {
	KUNIT_CASE(client_has_not_announced),
	KUNIT_CASE(server_is_switched_off),
	{}
};

static struct kunit_suite chunk_suite = {
	.name = "svcrdma_bc_chunk",
	.suite_init = bc_suite_init,
	.suite_exit = bc_suite_exit,
	.init = chunk_init,
	.test_cases = chunk_test_cases,
};

static struct kunit_suite announcement_suite = {
	.name = "svcrdma_bc_announcement",
	.suite_init = bc_suite_init,
	.suite_exit = bc_suite_exit,
	.test_cases = announcement_cases,
};

kunit_test_suites(&chunk_suite, &announcement_suite);
