// SPDX-License-Identifier: GPL-2.0-only
/* The server's grant: small at first, larger for a client that uses it. */
#include <linux/unaligned.h>

#include "call.h"

static int grant_init(struct kunit *test)
{
	server_connect_small(server_create(test));
	return 0;
}

/* Receives for as many calls, and a context for each of these */
static void expect_contexts(struct server *server, u32 grant)
{
	const struct svcrdma_transport *t = server->transport;
	struct kunit *test = server->test;

	KUNIT_EXPECT_EQ(test, grant, t->st_grant);
	KUNIT_EXPECT_GE(test, t->st_recv.target, grant + SVCRDMA_REVERSE_CREDITS);
	KUNIT_EXPECT_EQ(test, t->st_recv.target + grant,
			list_count_nodes((struct list_head *)&t->st_recv.all));
}

/* What the reply to the next call says */
static u32 granted(struct server *server)
{
	struct svc_rqst *rqst = server->rqst;
	struct svcrdma_recv_ctxt *rc;
	struct rpcrdma_segment segments[2];
	struct rpcrdma_chunk chunks[2];
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_header header = {};
	u32 length = 64;

	KUNIT_ASSERT_GT(server->test, server_recvfrom(server), 0);
	rc = rqst->rq_xprt_ctxt;
	rqst->rq_next_page = rqst->rq_respages + 1;
	rqst->rq_res = (struct xdr_buf) {
		.head[0] = { page_address(rqst->rq_respages[0]), length },
		.len = length,
	};
	memset(rqst->rq_res.head[0].iov_base, 0, length);
	put_unaligned_be32(rc->rc_header.xid, rqst->rq_res.head[0].iov_base);
	fake_mark(server->qp);
	KUNIT_ASSERT_EQ(server->test, 0, svcrdma_sendto(rqst));
	server_done(server);
	rpcrdma_lists_init(&lists, segments, 2, chunks, 2);
	server_decode_reply(server, &header, &lists);
	server_settle(server);
	return header.credits;
}

static void grant_begins_small(struct kunit *test)
{
	struct server *server = server_of(test);

	KUNIT_ASSERT_GT(test, server->transport->st_credits, SVCRDMA_FIRST_CREDITS);
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);
	server_deliver(server, CALL_PLAIN);
	KUNIT_EXPECT_EQ(test, SVCRDMA_FIRST_CREDITS, granted(server));
}

/* No time has passed since the last batch, however slow this machine is. */
static void stop_time(struct svcrdma_transport *t)
{
	if (time_before(t->st_credit.since, jiffies))
		t->st_credit.since = jiffies;
}

/* As many calls as make the server look, each answered before the next one comes */
static void exchange_batch(struct server *server)
{
	struct svcrdma_transport *t = server->transport;
	u32 n;

	for (n = 0; n < RPCRDMA_RECEIVE_BATCH; n++) {
		stop_time(t);
		server_deliver(server, CALL_PLAIN);
		granted(server);
	}
	flush_work(&t->st_credit.work);
}

/* As the work item, but its allocations are the test's */
static void try_to_grow(struct svcrdma_transport *t)
{
	t->st_credit.work.func(&t->st_credit.work);
}

/* Until the client has sent twice what it is granted */
static void use_grant(struct server *server)
{
	u32 calls = 2 * server->transport->st_grant, n;

	for (n = 0; n < calls; n += RPCRDMA_RECEIVE_BATCH)
		exchange_batch(server);
}

/* The client's replies, and so its next calls, are on their way most of the time. */
static void grant_grows_with_use(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	u32 grant;

	server->asks = U32_MAX;
	for (grant = SVCRDMA_FIRST_CREDITS; grant < t->st_credits; grant *= 2) {
		expect_contexts(server, grant);
		use_grant(server);
	}
	/* There is no more than that. */
	use_grant(server);
	expect_contexts(server, t->st_credits);
	KUNIT_EXPECT_EQ(test, 1, t->st_credit.highest);
	server_deliver(server, CALL_PLAIN);
	KUNIT_EXPECT_EQ(test, t->st_credits, granted(server));
	server_expect_at_rest(server);
}

/* All credits are in use at one moment, too. */
static void grant_grows_with_a_burst(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	u32 sent = 0;

	while (sent < 2 * RPCRDMA_RECEIVE_BATCH) {
		stop_time(t);
		server_deliver(server, CALL_PLAIN);
		if (++sent > SVCRDMA_FIRST_CREDITS)
			granted(server);
	}
	flush_work(&t->st_credit.work);
	expect_contexts(server, 2 * SVCRDMA_FIRST_CREDITS);
	for (sent = 0; sent < SVCRDMA_FIRST_CREDITS; sent++)
		KUNIT_EXPECT_EQ(test, 2 * SVCRDMA_FIRST_CREDITS, granted(server));
	KUNIT_EXPECT_EQ(test, SVCRDMA_FIRST_CREDITS + 1, t->st_credit.highest);
	server_expect_at_rest(server);
}

/* To what the client asks for, and no further. It need not ask in each call. */
static void grant_stops_at_what_is_asked_for(struct kunit *test)
{
	static const u32 grants[] = { 8, 16, 20, 20, 20 };
	struct server *server = server_of(test);
	int i;

	server->asks = SVCRDMA_FIRST_CREDITS;
	use_grant(server);
	use_grant(server);
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);
	server->asks = 20;
	server_deliver(server, CALL_PLAIN);
	granted(server);
	server->asks = 1;
	for (i = 0; i < ARRAY_SIZE(grants); i++) {
		expect_contexts(server, grants[i]);
		use_grant(server);
	}
	server_expect_at_rest(server);
}

/* With Read chunks, a call comes another way. */
static void grant_grows_when_a_write_asks(struct kunit *test)
{
	struct server *server = server_of(test);

	server->asks = 16;
	server_deliver(server, CALL_READ);
	fake_run_all(server->qp);
	granted(server);
	server->asks = 1;
	use_grant(server);
	expect_contexts(server, 16);
}

/* A batch of calls for each pause: that is less than its grant. */
static void grant_of_a_slow_client_stays(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	int i;

	server->asks = U32_MAX;
	for (i = 0; i < 8 * RPCRDMA_RECEIVE_BATCH; i++) {
		t->st_credit.since = jiffies - SVCRDMA_GRANT_PAUSE - 1;
		server_deliver(server, CALL_PLAIN);
		granted(server);
		flush_work(&t->st_credit.work);
	}
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);
	use_grant(server);
	expect_contexts(server, 2 * SVCRDMA_FIRST_CREDITS);
}

/* The server has all calls that the credits allow, and needs more than the pause for each. */
static void grant_grows_where_calls_take_long(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	u32 sent;

	server->asks = U32_MAX;
	for (sent = 1; sent <= 2 * RPCRDMA_RECEIVE_BATCH; sent++) {
		t->st_credit.since = jiffies - SVCRDMA_GRANT_PAUSE - 1;
		server_deliver(server, CALL_PLAIN);
		if (sent >= SVCRDMA_FIRST_CREDITS)
			granted(server);
		flush_work(&t->st_credit.work);
	}
	KUNIT_EXPECT_EQ(test, SVCRDMA_FIRST_CREDITS, t->st_credit.highest);
	expect_contexts(server, 2 * SVCRDMA_FIRST_CREDITS);
	for (sent = 1; sent < SVCRDMA_FIRST_CREDITS; sent++)
		granted(server);
	server_expect_at_rest(server);
}

/* All calls at one moment, and all of them answered before the next ones come */
static void grant_grows_where_calls_come_in_step(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	u32 n, rounds;

	server->asks = U32_MAX;
	for (rounds = 0; rounds < 3; rounds++) {
		t->st_credit.since = jiffies - SVCRDMA_GRANT_PAUSE - 1;
		for (n = 0; n < SVCRDMA_FIRST_CREDITS; n++)
			server_deliver(server, CALL_PLAIN);
		for (n = 0; n < SVCRDMA_FIRST_CREDITS; n++)
			granted(server);
		flush_work(&t->st_credit.work);
	}
	expect_contexts(server, 2 * SVCRDMA_FIRST_CREDITS);
	server_expect_at_rest(server);
}

/* RFC 8797 section 5.1: such a peer may be any implementation. It may send before it is granted. */
static void grant_without_private_data(struct kunit *test)
{
	struct server *server = server_of(test);

	server_disconnect(server);
	server->client.present = false;
	server_connect_small(server);
	KUNIT_EXPECT_GE(test, server->transport->st_credits, 64);
	expect_contexts(server, server->transport->st_credits);
	server_expect_at_rest(server);
}

/* It is served as long as there is a Receive, and what it needs is known then. */
static void grant_is_overrun(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	u32 calls = t->st_recv.target + SVCRDMA_FIRST_CREDITS, n;

	server->asks = 1;
	/* The grant does not grow meanwhile. */
	t->st_credit.since = jiffies + 1000 * HZ;
	for (n = 0; n < t->st_recv.target; n++)
		server_deliver(server, CALL_PLAIN);
	KUNIT_EXPECT_EQ(test, 0, t->st_credit.asked);
	for (; n < calls; n++)
		server_deliver(server, CALL_PLAIN);
	KUNIT_EXPECT_EQ(test, calls, t->st_credit.asked);
	for (; n; n--)
		granted(server);
	KUNIT_EXPECT_EQ(test, calls, t->st_credit.highest);
	KUNIT_EXPECT_EQ(test, calls, t->st_credit.asked);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(t->st_closing));
	t->st_credit.since = jiffies;
	use_grant(server);
	KUNIT_EXPECT_GT(test, t->st_grant, SVCRDMA_FIRST_CREDITS);
	server_expect_at_rest(server);
}

static void grant_without_memory(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	int i;

	for (i = 0; i < 12; i++) {
		fake_alloc_fail(i);
		KUNIT_EXPECT_EQ(test, -ENOMEM, svcrdma_grant_grow(t, 16, GFP_KERNEL));
		KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
		expect_contexts(server, SVCRDMA_FIRST_CREDITS);
	}
	KUNIT_EXPECT_EQ(test, 0, svcrdma_grant_grow(t, 16, GFP_KERNEL));
	expect_contexts(server, 16);
	server_expect_at_rest(server);
}

/* Nobody is asked to free memory for it, and the client may have it later. */
static void grant_that_finds_no_memory_is_asked_for_again(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;

	server->asks = 16;
	server_deliver(server, CALL_PLAIN);
	granted(server);
	fake_alloc_fail(0);
	try_to_grow(t);
	KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);
	KUNIT_EXPECT_EQ(test, SVCRDMA_FIRST_CREDITS, t->st_budgeted);
	use_grant(server);
	expect_contexts(server, 16);
	KUNIT_EXPECT_EQ(test, 16, t->st_budgeted);
}

/* The provider may call that a want of memory, which would be no reason to end a connection. */
static void grant_whose_receives_are_refused(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;

	t->st_credit.asked = 16;
	server->qp->recv_accept = 3;
	try_to_grow(t);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(t->st_closing));
	KUNIT_EXPECT_EQ(test, SVCRDMA_FIRST_CREDITS, t->st_grant);
	server->qp->recv_accept = -1;
}

/* What was queued before finds nothing to do. */
static void grant_of_a_closing_connection(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;

	t->st_credit.asked = 16;
	svcrdma_transport_close(t, RPCRDMA_END_OTHER);
	try_to_grow(t);
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);
}

/* As nfsd's thread that closes; the transport stays, as if another thread had a call of it. */
static void detach(struct svcrdma_transport *t)
{
	set_bit(XPT_BUSY, &t->st_xprt.xpt_flags);
	svc_xprt_get(&t->st_xprt);
	svcrdma_transport_ops.xpo_detach(&t->st_xprt);
}

/* A thread has taken a call, and comes to what it asks for when nothing stops work any more. */
static void grant_is_asked_for_after_the_end(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	u32 n;

	server->asks = t->st_credits;
	for (n = 0; n < RPCRDMA_RECEIVE_BATCH - 1; n++)
		server_deliver(server, CALL_PLAIN);
	detach(t);
	KUNIT_ASSERT_GT(test, server_recvfrom(server), 0);
	KUNIT_EXPECT_EQ(test, t->st_credits, t->st_credit.asked);
	KUNIT_EXPECT_FALSE(test, work_pending(&t->st_credit.work));
	server_done(server);
	svc_xprt_put(&t->st_xprt);
}

static DECLARE_COMPLETION(unblock);

static void block(struct work_struct *work)
{
	wait_for_completion(&unblock);
}

static DECLARE_WORK(blocker, block);

static void unblock_action(void *unused)
{
	complete(&unblock);
	flush_work(&blocker);
	workqueue_set_max_active(svcrdma_wq, WQ_DFL_ACTIVE);
}

/* So much else is to be done that the work item has not even begun when the connection ends. */
static void grant_work_is_late(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	u32 n;

	reinit_completion(&unblock);
	workqueue_set_max_active(svcrdma_wq, 1);
	queue_work(svcrdma_wq, &blocker);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, unblock_action, NULL));
	server->asks = t->st_credits;
	for (n = 0; n < 4 * RPCRDMA_RECEIVE_BATCH; n++) {
		stop_time(t);
		server_deliver(server, CALL_PLAIN);
		granted(server);
		if (n == 2 * RPCRDMA_RECEIVE_BATCH - 1) {
			KUNIT_EXPECT_TRUE(test, time_after(t->st_credit.since, jiffies));
			t->st_credit.since = jiffies;
		}
	}
	KUNIT_EXPECT_TRUE(test, work_pending(&t->st_credit.work));
	/* What has come since then is not counted for a second growth. */
	KUNIT_EXPECT_FALSE(test, time_after(t->st_credit.since, jiffies));
	detach(t);
	KUNIT_EXPECT_FALSE(test, work_pending(&t->st_credit.work));
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);
	kunit_release_action(test, unblock_action, NULL);
	svc_xprt_put(&t->st_xprt);
}

/* ---- the budget ---- */

static void grant_never_goes_down(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;

	server_keep_total(test);
	server->asks = U32_MAX;
	use_grant(server);
	use_grant(server);
	expect_contexts(server, 32);
	svcrdma_max_credits_total = 8;
	use_grant(server);
	expect_contexts(server, 32);
	try_to_grow(t);
	expect_contexts(server, 32);
	KUNIT_EXPECT_EQ(test, 32, t->st_budgeted);
}

static void grant_that_was_refused_is_asked_for_again(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;

	server_keep_total(test);
	svcrdma_max_credits_total = 2 * SVCRDMA_FIRST_CREDITS;
	use_grant(server);
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);

	/* Not within the pause, */
	svcrdma_max_credits_total = 1000;
	t->st_credit.since = jiffies + 1000 * HZ;
	use_grant(server);
	use_grant(server);
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);
	/* and only by a client that has use for it then */
	t->st_credit.since = jiffies;
	exchange_batch(server);
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);
	exchange_batch(server);
	expect_contexts(server, 2 * SVCRDMA_FIRST_CREDITS);
}

/* The Receives of RDMA_DONEs stay beside those of a larger grant, and are not counted twice. */
static void grant_grows_beside_exposures(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t;

	server_disconnect(server);
	server->client.extensions = RPCRDMA_EXT_TAKES_READ_CHUNKS;
	server_connect_small(server);
	t = server->transport;
	KUNIT_EXPECT_EQ(test, 0, svcrdma_grant_dones(t, 9));
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);
	use_grant(server);
	expect_contexts(server, 2 * SVCRDMA_FIRST_CREDITS);
	KUNIT_EXPECT_EQ(test, 16, t->st_credit.dones);
	server_expect_at_rest(server);
}

static const struct call_case many_pieces = { "", 30000, SVCRDMA_FEW_SEGMENTS + 1 };

/* Room for many chunks is there while the call is. */
static void grant_room_for_many_chunks(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_recv_ctxt *rc;

	call_deliver(server, &many_pieces);
	KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));
	fake_run_all(server->qp);
	KUNIT_ASSERT_EQ(test, 30000, server_recvfrom(server));
	rc = server->rqst->rq_xprt_ctxt;
	KUNIT_EXPECT_NOT_NULL(test, rc->rc_many);
	/* As many payloads as chunks */
	KUNIT_EXPECT_PTR_EQ(test, (void *)(rc->rc_lists.chunks + server->transport->st_max_chunks),
			    (void *)rc->rc_payloads);
	server_done(server);
	KUNIT_EXPECT_NULL(test, rc->rc_many);
	KUNIT_EXPECT_PTR_EQ(test, (void *)rc->rc_few.payloads, (void *)rc->rc_payloads);
	KUNIT_EXPECT_PTR_EQ(test, (void *)rc->rc_few.segments, (void *)rc->rc_lists.segments);
}

/* The client has done nothing wrong: it is not told that it had. */
static void grant_no_room_for_many_chunks(struct kunit *test)
{
	struct server *server = server_of(test);

	call_deliver(server, &many_pieces);
	fake_mark(server->qp);
	fake_alloc_fail(0);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
}

static struct kunit_case grant_cases[] = {
	KUNIT_CASE(grant_begins_small),
	KUNIT_CASE(grant_grows_with_use),
	KUNIT_CASE(grant_grows_with_a_burst),
	KUNIT_CASE(grant_stops_at_what_is_asked_for),
	KUNIT_CASE(grant_grows_when_a_write_asks),
	KUNIT_CASE(grant_of_a_slow_client_stays),
	KUNIT_CASE(grant_grows_where_calls_take_long),
	KUNIT_CASE(grant_grows_where_calls_come_in_step),
	KUNIT_CASE(grant_without_private_data),
	KUNIT_CASE(grant_is_overrun),
	KUNIT_CASE(grant_without_memory),
	KUNIT_CASE(grant_that_finds_no_memory_is_asked_for_again),
	KUNIT_CASE(grant_whose_receives_are_refused),
	KUNIT_CASE(grant_of_a_closing_connection),
	KUNIT_CASE(grant_is_asked_for_after_the_end),
	KUNIT_CASE(grant_work_is_late),
	KUNIT_CASE(grant_never_goes_down),
	KUNIT_CASE(grant_that_was_refused_is_asked_for_again),
	KUNIT_CASE(grant_grows_beside_exposures),
	KUNIT_CASE(grant_room_for_many_chunks),
	KUNIT_CASE(grant_no_room_for_many_chunks),
	{}
};

static struct kunit_suite grant_suite = {
	.name = "svcrdma_grant",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = grant_init,
	.test_cases = grant_cases,
};

kunit_test_suite(grant_suite);
