// SPDX-License-Identifier: GPL-2.0-only
/* Small calls with a Read chunk, whose Reads begin before a thread of nfsd has looked at them. */
#include <linux/random.h>
#include <linux/unaligned.h>

#include "call.h"

static const struct call_case small_call = { "", 160 + 4096 + 40, 0, { { 160, 4096, 1 } } };

/* With the direction of a call, which what is read at once has to have */
static void build(struct server *server, struct call *call, const struct call_case *c)
{
	call_build(server, call, c);
	put_unaligned_be32(RPCRDMA_RPC_CALL, call->stream + 4);
	put_unaligned_be32(RPCRDMA_RPC_CALL, call->message + call->size - call->base_length + 4);
}

static void receive(struct server *server, const struct call *call, u32 length)
{
	KUNIT_ASSERT_EQ(server->test, length, server_receive_all(server));
	call_expect_arg(server, call->stream, length);
	server_done(server);
}

/* A thread takes the call when all of it is there. */
static void early_reads_begin_with_the_message(struct kunit *test)
{
	struct server *server = server_of(test);
	struct call call = {};

	build(server, &call, &small_call);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	KUNIT_EXPECT_EQ(test, 1, fake_pending(server->qp));
	if (server_is_ready(server))
		KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));

	fake_run_all(server->qp);
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));
	KUNIT_ASSERT_EQ(test, small_call.length, server_recvfrom(server));
	call_expect_arg(server, call.stream, small_call.length);
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_DATA, &server->transport->st_xprt.xpt_flags));
	server_done(server);
	server_expect_at_rest(server);
}

/* What may be too large for a thread is left to one, which knows how many pages it has. */
static void early_reads_have_room_in_a_thread(struct kunit *test)
{
	static const struct call_case c = { "", 160 + 3 * PAGE_SIZE, 0,
					    { { 160, 3 * PAGE_SIZE, 1 } } };
	struct server *server = server_of(test);
	struct call call = {}, fits = {};

	/* nfsd's smallest */
	server->transport->st_max_pages = 2 + 3;
	build(server, &fits, &small_call);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, fits.message, fits.size));
	KUNIT_EXPECT_EQ(test, 1, fake_pending(server->qp));
	receive(server, &fits, small_call.length);

	build(server, &call, &c);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	KUNIT_EXPECT_EQ(test, 0, fake_pending(server->qp));
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));
	receive(server, &call, c.length);
	server_expect_at_rest(server);
}

static struct svcrdma_recv_ctxt *context_with_pages(struct server *server)
{
	struct svcrdma_recv_ctxt *rc;

	list_for_each_entry(rc, &server->transport->st_recv.all, rc_all)
		if (rc->rc_nr_pages)
			return rc;
	KUNIT_FAIL_AND_ABORT(server->test, "no call has pages");
	return NULL;
}

/* What the thread gives for the call's pages is there for the context's next call. */
static void early_pages_change_places(struct kunit *test)
{
	struct page *threads[2], *calls[2];
	struct server *server = server_of(test);
	struct svcrdma_recv_ctxt *rc;
	struct call call = {};
	u32 i;

	KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));
	memcpy(threads, server->rqst->rq_pages, sizeof(threads));
	build(server, &call, &small_call);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	rc = context_with_pages(server);
	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(calls), rc->rc_nr_pages);
	memcpy(calls, rc->rc_pages, sizeof(calls));

	receive(server, &call, small_call.length);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		KUNIT_EXPECT_PTR_EQ(test, calls[i], server->rqst->rq_pages[i]);
		KUNIT_EXPECT_PTR_EQ(test, threads[i], rc->rc_few_pages[i]);
		KUNIT_EXPECT_EQ(test, 1, page_count(threads[i]));
	}
	KUNIT_EXPECT_EQ(test, 0, rc->rc_nr_pages);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(threads), rc->rc_nr_few);
	server_expect_at_rest(server);
}

/* No more than SVCRDMA_KEPT_PAGES stay, and the next call finds as many as it needs. */
static void early_pages_are_not_hoarded(struct kunit *test)
{
	static const struct call_case c = { "", 160 + 16384 + 40, 0, { { 160, 16384, 1 } } };
	struct page *calls[SVCRDMA_FEW_PAGES], *last;
	struct server *server = server_of(test);
	struct svcrdma_recv_ctxt *rc;
	struct call call = {};
	u32 i;

	KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));
	last = server->rqst->rq_pages[SVCRDMA_FEW_PAGES - 1];
	get_page(last);
	build(server, &call, &c);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	rc = context_with_pages(server);
	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(calls), rc->rc_nr_pages);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(calls), rc->rc_nr_few);
	memcpy(calls, rc->rc_pages, sizeof(calls));

	receive(server, &call, c.length);
	KUNIT_EXPECT_EQ(test, SVCRDMA_KEPT_PAGES, rc->rc_nr_few);
	KUNIT_EXPECT_EQ(test, 1, page_count(last));
	put_page(last);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		KUNIT_EXPECT_PTR_EQ(test, calls[i], server->rqst->rq_pages[i]);
		KUNIT_EXPECT_EQ(test, 1, page_count(calls[i]));
	}
	server_expect_at_rest(server);
}

/* Small and large ones in the same contexts, and some that nobody sees: no page is lost, or twice there. */
static void early_pages_beside_those_of_large_calls(struct kunit *test)
{
	static const struct call_case cases[] = {
		{ "", 160 + 4096 + 40, 0, { { 160, 4096, 1 } } },
		{ "", 160 + 32768, 0, { { 160, 32768, 1 } } },
		{ "", 160 + 16384 + 40, 0, { { 160, 16384, 1 } } },
		{ "", 160 + 4, 0, { { 160, 4, 1 } } },
	};
	struct server *server = server_of(test);
	struct call calls[ARRAY_SIZE(cases)] = {};
	u32 i, contexts = list_count_nodes(&server->transport->st_recv.all);

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		build(server, &calls[i], &cases[i]);
	for (i = 0; i < 4 * contexts; i++) {
		u32 which = get_random_u32() % ARRAY_SIZE(cases);

		KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, calls[which].message,
						     calls[which].size));
		receive(server, &calls[which], cases[which].length);
	}
	server_expect_at_rest(server);
}

enum reason { NOT_ESTABLISHED, CROWDED, RETRIED, SIX_PAGES, TWO_SEGMENTS, NO_SEGMENT };

/**
 * struct reason_case - a call that is not read at once
 * @desc: which
 * @reason: why not
 * @kept: pages that stay with the context
 * @call: what is sent
 */
struct reason_case {
	const char	*desc;
	enum reason	reason;
	u32		kept;
	struct call_case call;
};

static const struct reason_case reason_cases[] = {
	{ "before the connection is established", NOT_ESTABLISHED, 1,
	  { "", 160 + 4096, 0, { { 160, 4096, 1 } } } },
	{ "many wait for Send Queue entries", CROWDED, 1,
	  { "", 160 + 4096, 0, { { 160, 4096, 1 } } } },
	{ "a call that has waited is tried again", RETRIED, 1,
	  { "", 160 + 4096, 0, { { 160, 4096, 1 } } } },
	{ "six pages", SIX_PAGES, 0, { "", 160 + 20484, 0, { { 160, 20484, 1 } } } },
	{ "two segments", TWO_SEGMENTS, 1, { "", 160 + 4096, 0, { { 160, 4096, 2 } } } },
	{ "no Read chunk", NO_SEGMENT, 0, { "", 160 } },
};

KUNIT_ARRAY_PARAM_DESC(reason, reason_cases, desc);

/* Nothing is read before a thread has seen it; and then it is as if there were no fast path. */
static void early_leaves_the_rest_to_threads(struct kunit *test)
{
	const struct reason_case *c = test->param_value;
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	struct svcrdma_recv_ctxt *rc;
	struct call call = {};

	build(server, &call, &c->call);
	if (c->reason == NOT_ESTABLISHED)
		t->st_state = RPCRDMA_CONN_CONNECTING;
	if (c->reason == CROWDED)
		t->st_sq.congested = true;
	if (c->reason == RETRIED)
		t->st_read.retries = 1;
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	KUNIT_EXPECT_EQ(test, 0, fake_pending(server->qp));
	KUNIT_EXPECT_EQ(test, 0, t->st_read.calls);
	KUNIT_EXPECT_FALSE(test, llist_empty(&t->st_recv.ready));

	t->st_state = RPCRDMA_CONN_ESTABLISHED;
	t->st_sq.congested = false;
	t->st_read.retries = 0;
	svcrdma_transport_data(t);
	KUNIT_ASSERT_EQ(test, c->call.length, server_receive_all(server));
	call_expect_arg(server, call.stream, c->call.length);
	rc = server->rqst->rq_xprt_ctxt;
	KUNIT_EXPECT_EQ(test, c->kept, rc->rc_nr_few);
	server_done(server);
	server_expect_at_rest(server);
}

/* The twin: the same call, by both ways. */
static void early_and_threads_see_the_same(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	u32 i, tail;

	for (i = 0; i < 16; i++) {
		struct call_case c = { "" };
		struct call call = {};
		struct xdr_buf arg;

		c.items[0].position = 40 + 4 * (get_random_u32() % 200);
		c.items[0].length = get_random_u32() % 18000;
		c.items[0].segments = 1;
		tail = 4 * (get_random_u32() % 300);
		c.length = c.items[0].position + ALIGN(c.items[0].length, 4) + tail;
		build(server, &call, &c);

		KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
		KUNIT_EXPECT_TRUE_MSG(test, llist_empty(&t->st_recv.ready), "%u bytes", c.length);
		receive(server, &call, c.length);
		arg = server->rqst->rq_arg;

		t->st_state = RPCRDMA_CONN_CONNECTING;
		KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
		t->st_state = RPCRDMA_CONN_ESTABLISHED;
		KUNIT_EXPECT_FALSE(test, llist_empty(&t->st_recv.ready));
		svcrdma_transport_data(t);
		receive(server, &call, c.length);
		KUNIT_EXPECT_EQ(test, arg.head[0].iov_len, server->rqst->rq_arg.head[0].iov_len);
		KUNIT_EXPECT_EQ(test, arg.page_len, server->rqst->rq_arg.page_len);
		KUNIT_EXPECT_EQ(test, arg.tail[0].iov_len, server->rqst->rq_arg.tail[0].iov_len);
	}
	server_expect_at_rest(server);
}

/* A call beyond the credits is not read, and ends the connection as without the fast path. */
static void early_is_bounded_by_credits(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	struct call call = {};
	u32 i;

	build(server, &call, &small_call);
	for (i = 0; i < t->st_credits; i++)
		KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	KUNIT_EXPECT_EQ(test, t->st_credits, t->st_read.calls);
	KUNIT_EXPECT_TRUE(test, llist_empty(&t->st_recv.ready));
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	KUNIT_EXPECT_EQ(test, t->st_credits, t->st_read.calls);

	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(t->st_closing));
	KUNIT_EXPECT_EQ(test, (u32)RPCRDMA_END_BAD_MESSAGE, (u32)t->st_end);
}

static struct kunit_case early_tests[] = {
	KUNIT_CASE(early_reads_begin_with_the_message),
	KUNIT_CASE(early_reads_have_room_in_a_thread),
	KUNIT_CASE(early_pages_change_places),
	KUNIT_CASE(early_pages_are_not_hoarded),
	KUNIT_CASE(early_pages_beside_those_of_large_calls),
	KUNIT_CASE_PARAM(early_leaves_the_rest_to_threads, reason_gen_params),
	KUNIT_CASE(early_and_threads_see_the_same),
	KUNIT_CASE(early_is_bounded_by_credits),
	{}
};

static struct kunit_suite early_suite = {
	.name = "svcrdma_early",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = call_init,
	.test_cases = early_tests,
};

kunit_test_suite(early_suite);
