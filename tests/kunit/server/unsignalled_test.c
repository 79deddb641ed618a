// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replies whose Sends ask for no completion. Their contexts are the HCA's until a signalled Send
 * behind them is complete.
 */
#include "sq.h"

enum {
	IN_A_ROW = SVCRDMA_MAX_UNSIGNALLED_ROW,
	/* Replies with as many that are unsignalled as may be */
	MANY = RPCRDMA_UNSIGNALLED_SENDS / IN_A_ROW * (IN_A_ROW + 1),
};

static_assert(RPCRDMA_UNSIGNALLED_SENDS % IN_A_ROW == 0);

/* Sends are unsignalled only while the queue is watched. */
static struct svcrdma_transport *connect_watched(struct server *server)
{
	server_connect(server);
	sq_take(server, 1);
	svcrdma_sq_put(server->transport, 1);
	return server->transport;
}

static void answer_plain(struct server *server, int count)
{
	while (count--)
		KUNIT_ASSERT_EQ(server->test, 0, sq_answer(server, 64, false));
}

static bool is_signalled(struct server *server, unsigned int n)
{
	return fake_wr(server->qp, n)->flags & IB_SEND_SIGNALED;
}

static void expect_contexts(struct server *server, unsigned int all, unsigned int free)
{
	struct svcrdma_transport *t = server->transport;

	KUNIT_EXPECT_EQ(server->test, all, list_count_nodes(&t->st_send.all));
	KUNIT_EXPECT_EQ(server->test, free, server_count(&t->st_send.free));
}

static void unsignalled_in_turns(struct kunit *test)
{
	struct server *server = server_of(test);
	int i;

	connect_watched(server);
	for (i = 0; i < 3 * (IN_A_ROW + 1); i++) {
		answer_plain(server, 1);
		KUNIT_EXPECT_EQ_MSG(test, i % (IN_A_ROW + 1) == IN_A_ROW, is_signalled(server, i),
				    "Send %d", i);
		fake_run_all(server->qp);
	}
	/* The first ones serve all. */
	expect_contexts(server, IN_A_ROW + 1, IN_A_ROW + 1);
	answer_plain(server, 1);
	server_expect_at_rest(server);
}

/* Sent, and not to be touched all the same: nobody knows. */
static void unsignalled_is_kept_until_another_is_complete(struct kunit *test)
{
	struct server *server = server_of(test);

	connect_watched(server);
	answer_plain(server, IN_A_ROW);
	fake_run_all(server->qp);
	expect_contexts(server, IN_A_ROW, 0);
	answer_plain(server, 1);
	expect_contexts(server, IN_A_ROW + 1, 0);
	fake_run_all(server->qp);
	expect_contexts(server, IN_A_ROW + 1, IN_A_ROW + 1);
	server_expect_at_rest(server);
}

/* One that is posted behind the signalled one waits for the next. */
static void unsignalled_behind_is_not_complete(struct kunit *test)
{
	struct server *server = server_of(test);

	connect_watched(server);
	answer_plain(server, 1);
	KUNIT_ASSERT_EQ(test, 0, sq_answer(server, 24 + 256, true));
	answer_plain(server, 1);
	KUNIT_EXPECT_FALSE(test, is_signalled(server, 0));
	KUNIT_EXPECT_FALSE(test, is_signalled(server, 1));
	KUNIT_EXPECT_TRUE(test, is_signalled(server, 2));
	KUNIT_EXPECT_FALSE(test, is_signalled(server, 3));
	server_settle(server);
	expect_contexts(server, 3, 2);
	server_expect_at_rest(server);
}

/* The queue has entries for so many, no more: until a completion comes, all others are signalled. */
static void unsignalled_are_so_many_at_most(struct kunit *test)
{
	struct server *server = server_of(test);
	unsigned int i;

	connect_watched(server);
	answer_plain(server, MANY + 3);
	for (i = 0; i < MANY + 3; i++)
		KUNIT_EXPECT_EQ_MSG(test, i >= MANY || i % (IN_A_ROW + 1) == IN_A_ROW,
				    is_signalled(server, i), "Send %u", i);
	KUNIT_EXPECT_EQ(test, server->transport->st_sq_depth - MANY / (IN_A_ROW + 1) - 3,
			server_sq_free(server->transport));
	fake_run(server->qp, IN_A_ROW + 1);
	expect_contexts(server, MANY + 3, IN_A_ROW + 1);
	answer_plain(server, IN_A_ROW + 1);
	for (; i < MANY + 3 + IN_A_ROW + 1; i++)
		KUNIT_EXPECT_EQ_MSG(test, i == MANY + 3 + IN_A_ROW, is_signalled(server, i),
				    "Send %u", i);
	fake_run_all(server->qp);
	expect_contexts(server, MANY + 3, MANY + 3);
	server_expect_at_rest(server);
}

/* It has an entry of its own; but it does not pass those that wait. */
static void unsignalled_while_somebody_waits(struct kunit *test)
{
	struct server *server = server_of(test);

	sq_exhaust(server, 10);
	answer_plain(server, 1);
	KUNIT_EXPECT_EQ(test, 1, fake_posted(server->qp));
	KUNIT_EXPECT_FALSE(test, is_signalled(server, 0));
	sq_wait(server, &server->waiters[0], 1, -EINPROGRESS);
	answer_plain(server, 1);
	KUNIT_EXPECT_EQ(test, 1, fake_posted(server->qp));
	svcrdma_sq_put(server->transport, 2);
	KUNIT_EXPECT_TRUE(test, server->waiters[0].served);
	KUNIT_ASSERT_EQ(test, 2, fake_posted(server->qp));
	KUNIT_EXPECT_TRUE(test, is_signalled(server, 1));
	fake_run_all(server->qp);
	svcrdma_sq_put(server->transport, 9);
	server_expect_at_rest(server);
}

static void unsignalled_has_entries_of_its_own(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = connect_watched(server);
	const struct ib_qp_cap *cap = &fake_queues.qp_attr.cap;

	/* rdma_rw adds one for each context there. The last one is the drain's. */
	KUNIT_EXPECT_EQ(test, min_t(u32, cap->max_send_wr + cap->max_rdma_ctxs, t->st_send_cq->cqe),
			t->st_sq_depth + RPCRDMA_UNSIGNALLED_SENDS + 1);
}

/* Another thread */
static void send_one(void *t)
{
	struct svcrdma_send_ctxt *sc = svcrdma_send_ctxt_get(t, GFP_KERNEL);

	sc->sc_wr.opcode = IB_WR_SEND;
	sc->sc_buffer.bf_sge.length = RPCRDMA_MIN_HEADER_SIZE;
	svcrdma_send_reply(t, sc);
}

/* A message that comes while a signalled one is being posted is behind it. */
static void unsignalled_that_comes_during_a_post(struct kunit *test)
{
	struct server *server = server_of(test);

	server->qp->hook_data = connect_watched(server);
	answer_plain(server, 1);
	server->qp->posted_hook = send_one;
	KUNIT_ASSERT_EQ(test, 0, sq_answer(server, 24 + 256, true));
	KUNIT_ASSERT_EQ(test, 4, fake_posted(server->qp));
	KUNIT_EXPECT_FALSE(test, is_signalled(server, 3));
	fake_run(server->qp, 3);
	expect_contexts(server, 3, 2);
	server_settle(server);
	server_expect_at_rest(server);
}

/* ---- the watch ---- */

static bool is_watched(struct server *server)
{
	return server->transport->st_sq.watched;
}

static void unsignalled_are_asked_for(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = connect_watched(server);

	answer_plain(server, 2);
	fake_run_all(server->qp);
	sq_time_passes(server);
	KUNIT_ASSERT_EQ(test, 3, fake_posted(server->qp));
	sq_expect_probe(server);
	KUNIT_EXPECT_EQ(test, t->st_sq_depth - 1, server_sq_free(t));
	KUNIT_EXPECT_TRUE(test, is_watched(server));
	fake_run_all(server->qp);
	expect_contexts(server, 3, 3);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&t->st_sq.unsignalled));
	/* And once only. */
	sq_time_passes(server);
	KUNIT_EXPECT_FALSE(test, is_watched(server));
	KUNIT_EXPECT_EQ(test, 3, fake_posted(server->qp));
	server_expect_at_rest(server);
}

/* A peer that takes no replies. */
static void unsignalled_stand_still(struct kunit *test)
{
	struct server *server = server_of(test);

	connect_watched(server);
	answer_plain(server, 1);
	sq_time_passes(server);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(server->transport->st_closing));
	sq_stalls(server);
	KUNIT_EXPECT_FALSE(test, is_watched(server));
}

static void unsignalled_without_memory_for_a_probe(struct kunit *test)
{
	struct server *server = server_of(test);

	connect_watched(server);
	answer_plain(server, 1);
	fake_alloc_fail(0);
	/* In place of the work item: only this thread is refused. */
	KUNIT_EXPECT_TRUE(test, cancel_delayed_work_sync(&server->transport->st_sq.worker));
	server->transport->st_sq.worker.work.func(&server->transport->st_sq.worker.work);
	KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
	KUNIT_EXPECT_EQ(test, 1, fake_posted(server->qp));
	KUNIT_EXPECT_TRUE(test, is_watched(server));
	sq_time_passes(server);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(server->transport->st_closing));
	KUNIT_EXPECT_EQ(test, 2, fake_posted(server->qp));
	fake_run_all(server->qp);
	server_expect_at_rest(server);
}

static void probe_that_is_not_posted(struct kunit *test)
{
	struct server *server = server_of(test);

	connect_watched(server);
	answer_plain(server, 1);
	server->qp->accept = 0;
	sq_time_passes(server);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
}

/* ---- ends ---- */

/* Then there is a completion, and the connection ends. Its context stays. */
static void unsignalled_that_fails_ends_the_connection(struct kunit *test)
{
	struct server *server = server_of(test);

	connect_watched(server);
	answer_plain(server, 2);
	fake_run(server->qp, 1);
	fake_fail(server->qp, IB_WC_RETRY_EXC_ERR);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	expect_contexts(server, 2, 0);
}

static void flushed(struct server *server, unsigned int n)
{
	struct ib_wc wc = {
		.status = IB_WC_WR_FLUSH_ERR, .qp = &server->qp->ib,
		.wr_cqe = fake_wr(server->qp, n)->cqe,
	};

	wc.wr_cqe->done(server->transport->st_send_cq, &wc);
}

/* A provider may flush what is posted just now before what is in the queue, as siw does. */
static void unsignalled_are_flushed(struct kunit *test)
{
	struct server *server = server_of(test);
	int i;

	connect_watched(server);
	answer_plain(server, IN_A_ROW + 1);
	KUNIT_EXPECT_TRUE(test, is_signalled(server, IN_A_ROW));
	for (i = IN_A_ROW; i >= 0; i--)
		flushed(server, i);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	expect_contexts(server, IN_A_ROW + 1, 0);
}

static void unsignalled_that_is_not_posted(struct kunit *test)
{
	struct server *server = server_of(test);

	connect_watched(server);
	server->qp->accept = 0;
	KUNIT_EXPECT_EQ(test, -ENOTCONN, sq_answer(server, 64, false));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	expect_contexts(server, 1, 0);
	KUNIT_EXPECT_TRUE(test, llist_empty(&server->transport->st_send.unsignalled));
}

static struct kunit_case unsignalled_cases[] = {
	KUNIT_CASE(unsignalled_in_turns),
	KUNIT_CASE(unsignalled_is_kept_until_another_is_complete),
	KUNIT_CASE(unsignalled_behind_is_not_complete),
	KUNIT_CASE(unsignalled_are_so_many_at_most),
	KUNIT_CASE(unsignalled_while_somebody_waits),
	KUNIT_CASE(unsignalled_has_entries_of_its_own),
	KUNIT_CASE(unsignalled_that_comes_during_a_post),
	KUNIT_CASE(unsignalled_are_asked_for),
	KUNIT_CASE(unsignalled_stand_still),
	KUNIT_CASE(unsignalled_without_memory_for_a_probe),
	KUNIT_CASE(probe_that_is_not_posted),
	KUNIT_CASE(unsignalled_that_fails_ends_the_connection),
	KUNIT_CASE(unsignalled_are_flushed),
	KUNIT_CASE(unsignalled_that_is_not_posted),
	{}
};

static struct kunit_suite unsignalled_suite = {
	.name = "svcrdma_unsignalled",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = sq_init,
	.test_cases = unsignalled_cases,
};

kunit_test_suite(unsignalled_suite);
