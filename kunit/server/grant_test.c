// SPDX-License-Identifier: GPL-2.0
/* The server's grant: small at first, larger for a client that uses it, and never a promise. */
#include <linux/prandom.h>
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

/* Calls come that are not answered yet: at all of the grant, and not before, there is more. */
static void grant_grows_with_use(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	u32 used = 0, grant;

	for (grant = SVCRDMA_FIRST_CREDITS; grant < t->st_credits; grant *= 2) {
		for (; used < grant; used++) {
			flush_work(&t->st_credit.work);
			KUNIT_ASSERT_EQ(test, grant, t->st_grant);
			server_deliver(server, CALL_PLAIN);
		}
		flush_work(&t->st_credit.work);
		expect_contexts(server, min(2 * grant, t->st_credits));
		KUNIT_EXPECT_GT(test, t->st_recv.posted - t->st_recv.gone + RPCRDMA_RECEIVE_BATCH,
				t->st_recv.target);
	}
	/* There is no more than that: nothing is asked for. */
	for (; used < t->st_credits; used++)
		server_deliver(server, CALL_PLAIN);
	KUNIT_EXPECT_FALSE(test, t->st_credit.asked);
	KUNIT_EXPECT_EQ(test, t->st_credits, granted(server));
	KUNIT_EXPECT_EQ(test, used, t->st_credit.highest);
}

/* One call is under way at most, and that is all of the need that can be seen of it. */
static u32 ask(struct server *server, u32 credits)
{
	server->asks = credits;
	server_deliver(server, CALL_PLAIN);
	granted(server);
	flush_work(&server->transport->st_credit.work);
	return server->transport->st_grant;
}

static void grant_grows_when_asked_for(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	u32 grant = SVCRDMA_FIRST_CREDITS;

	KUNIT_EXPECT_EQ(test, grant, ask(server, grant));
	KUNIT_EXPECT_EQ(test, grant, ask(server, grant));
	for (; grant < t->st_credits; grant *= 2) {
		KUNIT_EXPECT_EQ(test, grant, ask(server, 1));
		KUNIT_EXPECT_EQ(test, min(2 * grant, t->st_credits), ask(server, grant + 1));
		expect_contexts(server, min(2 * grant, t->st_credits));
	}
	/* There is no more. */
	KUNIT_EXPECT_EQ(test, t->st_credits, ask(server, ~0));
	KUNIT_EXPECT_FALSE(test, t->st_credit.asked);
	server_expect_at_rest(server);
}

/* With Read chunks, it comes another way. */
static void grant_grows_when_a_write_asks(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;

	ask(server, 1);
	server->asks = 2 * SVCRDMA_FIRST_CREDITS;
	server_deliver(server, CALL_READ);
	fake_run_all(server->qp);
	granted(server);
	flush_work(&t->st_credit.work);
	expect_contexts(server, 2 * SVCRDMA_FIRST_CREDITS);
}

/* As the in-tree client does. */
static void grant_for_who_always_asks_for_all(struct kunit *test)
{
	struct server *server = server_of(test);
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, SVCRDMA_FIRST_CREDITS,
				ask(server, SVCRDMA_FIRST_CREDITS + 1));
	/* Nor is it modest when it is later. */
	KUNIT_EXPECT_EQ(test, SVCRDMA_FIRST_CREDITS, ask(server, 1));
	KUNIT_EXPECT_EQ(test, SVCRDMA_FIRST_CREDITS, ask(server, 128));
	KUNIT_EXPECT_FALSE(test, server->transport->st_credit.asked);
}

static void grant_without_memory(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	int i;

	for (i = 0; i < 12; i++) {
		fake_alloc_fail(i);
		KUNIT_EXPECT_EQ(test, -ENOMEM, svcrdma_grant_grow(t, 16));
		KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
		expect_contexts(server, SVCRDMA_FIRST_CREDITS);
	}
	KUNIT_EXPECT_EQ(test, 0, svcrdma_grant_grow(t, 16));
	expect_contexts(server, 16);
	server_expect_at_rest(server);
}

/* The provider may call that a want of memory, which would be no reason to end a connection. */
static void grant_whose_receives_are_refused(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	u32 i;

	server->qp->recv_accept = 3;
	for (i = 0; i < SVCRDMA_FIRST_CREDITS; i++)
		server_deliver(server, CALL_PLAIN);
	flush_work(&t->st_credit.work);
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(t));
	server->qp->recv_accept = -1;
}

/* What was queued before finds nothing to do. */
static void grant_of_a_closing_connection(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;

	t->st_credit.asked = true;
	svcrdma_transport_close(t, RPCRDMA_END_OTHER);
	svcrdma_work_queue(&t->st_credit.work);
	flush_work(&t->st_credit.work);
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);
}

/* ---- grants that go down ---- */

static void grant_lower_init(struct server *server, u32 credits)
{
	struct kunit *test = server->test;

	server_keep_total(test);
	KUNIT_ASSERT_EQ(test, credits, svcrdma_budget_ask(server->transport, credits));
	KUNIT_ASSERT_EQ(test, 0, svcrdma_grant_grow(server->transport, credits));
	expect_contexts(server, credits);
}

/* As calls come in: the time that is between two looks has passed. */
static void look_now(struct server *server)
{
	server->transport->st_credit.look_at = jiffies;
}

/* Calls, one at a time. What the last reply grants */
static u32 exchange(struct server *server, u32 calls)
{
	u32 grant = 0;

	while (calls--) {
		server_deliver(server, CALL_PLAIN);
		flush_work(&server->transport->st_credit.work);
		grant = granted(server);
	}
	return grant;
}

static void grant_goes_down(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	u32 target;

	grant_lower_init(server, 32);
	target = t->st_recv.target;
	KUNIT_EXPECT_EQ(test, 32, exchange(server, RPCRDMA_RECEIVE_BATCH));

	svcrdma_max_credits_total = 20;
	look_now(server);
	KUNIT_EXPECT_EQ(test, 10, exchange(server, RPCRDMA_RECEIVE_BATCH));
	KUNIT_EXPECT_EQ(test, target, t->st_recv.target);
	KUNIT_EXPECT_TRUE(test, time_after(t->st_credit.look_at, jiffies));
	look_now(server);
	KUNIT_EXPECT_EQ(test, 10, exchange(server, RPCRDMA_RECEIVE_BATCH));
	/* Receives that are too many are used up. */
	exchange(server, target);
	expect_contexts(server, 10);
	server_expect_at_rest(server);

	/* And up again */
	svcrdma_max_credits_total = 1000;
	look_now(server);
	exchange(server, RPCRDMA_RECEIVE_BATCH);
	for (target = 0; target < 10; target++)
		server_deliver(server, CALL_PLAIN);
	flush_work(&t->st_credit.work);
	expect_contexts(server, 20);
	while (target--)
		KUNIT_EXPECT_EQ(test, 20, granted(server));
	server_expect_at_rest(server);
}

static void use_whole_grant(struct server *server)
{
	u32 grant = server->transport->st_grant, i;

	for (i = 0; i < grant; i++)
		server_deliver(server, CALL_PLAIN);
	flush_work(&server->transport->st_credit.work);
	while (i--)
		granted(server);
}

/* The client's need is remembered no longer than a pause; then it has to show it again. */
static void grant_that_was_refused_is_asked_for_again(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;

	server_keep_total(test);
	svcrdma_max_credits_total = 2 * SVCRDMA_FIRST_CREDITS;
	use_whole_grant(server);
	KUNIT_EXPECT_TRUE(test, t->st_credit.asked);
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);

	svcrdma_max_credits_total = 1000;
	t->st_credit.look_at = jiffies + 1000 * HZ;
	exchange(server, RPCRDMA_RECEIVE_BATCH);
	use_whole_grant(server);
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);

	look_now(server);
	exchange(server, RPCRDMA_RECEIVE_BATCH);
	KUNIT_EXPECT_FALSE(test, t->st_credit.asked);
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);
	use_whole_grant(server);
	expect_contexts(server, 2 * SVCRDMA_FIRST_CREDITS);
}

/* The same for a client that says what it needs */
static void grant_that_was_refused_is_asked_for_in_vain(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	int i;

	server_keep_total(test);
	svcrdma_max_credits_total = 2 * SVCRDMA_FIRST_CREDITS;
	ask(server, 1);
	KUNIT_EXPECT_EQ(test, SVCRDMA_FIRST_CREDITS, ask(server, 16));
	KUNIT_EXPECT_TRUE(test, t->st_credit.asked);
	svcrdma_max_credits_total = 1000;
	t->st_credit.look_at = jiffies + 1000 * HZ;
	for (i = 0; i < RPCRDMA_RECEIVE_BATCH; i++)
		KUNIT_EXPECT_EQ(test, SVCRDMA_FIRST_CREDITS, ask(server, 16));

	look_now(server);
	for (i = 0; i < RPCRDMA_RECEIVE_BATCH; i++)
		ask(server, 1);
	KUNIT_EXPECT_FALSE(test, t->st_credit.asked);
	KUNIT_EXPECT_EQ(test, 16, ask(server, 16));
}

/* Fewer replies may be exposed, and when that is so, fewer Receives are for RDMA_DONEs. */
static void grant_goes_down_with_exposures(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t;
	u32 target;

	server_disconnect(server);
	server->client.extensions = RPCRDMA_EXT_TAKES_READ_CHUNKS;
	server_connect_small(server);
	t = server->transport;
	grant_lower_init(server, 32);
	KUNIT_EXPECT_EQ(test, 32 + SVCRDMA_SPARE_EXPOSURES, t->st_expose.limit);
	KUNIT_EXPECT_EQ(test, 0, svcrdma_grant_dones(t, 30));
	target = t->st_recv.target;

	svcrdma_max_credits_total = 20;
	look_now(server);
	KUNIT_EXPECT_EQ(test, 10, exchange(server, RPCRDMA_RECEIVE_BATCH));
	KUNIT_EXPECT_EQ(test, 10 + SVCRDMA_SPARE_EXPOSURES, t->st_expose.limit);
	KUNIT_EXPECT_EQ(test, 32, t->st_credit.dones);
	look_now(server);
	exchange(server, 2 * target);
	KUNIT_EXPECT_EQ(test, 10 + SVCRDMA_SPARE_EXPOSURES, t->st_credit.dones);
	expect_contexts(server, 10);
	/* 22 credits less, and 14 RDMA_DONEs */
	KUNIT_EXPECT_EQ(test, target - 22 - 14, t->st_recv.target);
	server_expect_at_rest(server);
}

/* No smaller than the floor, whatever the budget is */
static void grant_goes_down_to_the_floor(struct kunit *test)
{
	struct server *server = server_of(test);

	grant_lower_init(server, 16);
	svcrdma_max_credits_total = 4;
	look_now(server);
	KUNIT_EXPECT_EQ(test, RPCRDMA_GRANT_FLOOR, exchange(server, RPCRDMA_RECEIVE_BATCH));
	look_now(server);
	exchange(server, 32);
	expect_contexts(server, RPCRDMA_GRANT_FLOOR);
	server_expect_at_rest(server);
}

/* A call that a thread has, and the grant that the thread has read */
struct grant_late {
	struct svcrdma_recv_ctxt *rc;
	u32 grant;
};

static void late_begin(struct server *server, struct grant_late *late)
{
	KUNIT_ASSERT_GT(server->test, server_recvfrom(server), 0);
	late->rc = server->rqst->rq_xprt_ctxt;
	late->grant = server->transport->st_grant;
	server->rqst->rq_xprt_ctxt = NULL;
}

static u32 late_end(struct server *server, struct grant_late *late)
{
	svcrdma_release_ctxt(&server->transport->st_xprt, late->rc);
	late->rc = NULL;
	return late->grant;
}

static void grant_waits_for_calls_that_came_before(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	struct grant_late late;
	u32 target, i;

	grant_lower_init(server, 16);
	target = t->st_recv.target;
	server_deliver(server, CALL_PLAIN);
	late_begin(server, &late);

	svcrdma_max_credits_total = 8;
	for (i = 0; i < 100; i++) {
		look_now(server);
		exchange(server, RPCRDMA_RECEIVE_BATCH);
	}
	KUNIT_EXPECT_EQ(test, RPCRDMA_GRANT_FLOOR, t->st_grant);
	KUNIT_EXPECT_EQ(test, target, t->st_recv.target);
	KUNIT_EXPECT_EQ(test, 16, late_end(server, &late));
	look_now(server);
	exchange(server, 32);
	expect_contexts(server, RPCRDMA_GRANT_FLOOR);
	server_expect_at_rest(server);
}

/*
 * A client that always sends as much as the last grant lets it. Meanwhile the budget changes at
 * random, replies are long in coming, and threads are late. There is a Receive for each call.
 */
static void grant_keeps_its_promise(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	/* Of replies that the client has not seen, the first one at @seen */
	u32 grants[64], answered = 0, seen = 0;
	u32 window = 32, outstanding = 0, lowest = 32, with_server, i, n;
	struct grant_late late[16] = {};
	struct rnd_state random;

	prandom_seed_state(&random, 3);
	grant_lower_init(server, 32);
	svcrdma_max_credits_total = 64;
	for (i = 0; i < 6000; i++) {
		n = prandom_u32_state(&random);
		if (n % 16 == 0)
			svcrdma_max_credits_total = n % 32 ? 8 : 64;
		if (n % 4 == 0)
			look_now(server);
		for (; outstanding < window; outstanding++)
			server_deliver(server, CALL_PLAIN);
		flush_work(&t->st_credit.work);

		with_server = atomic_read(&t->st_recv.used);
		KUNIT_ASSERT_LE(test, with_server, 32);
		for (n = 0; n < ARRAY_SIZE(late); n++)
			with_server -= !!late[n].rc;
		/* Answer some, begin with some, */
		for (n = prandom_u32_state(&random) % 32; n && with_server; n--, with_server--) {
			struct grant_late *thread = &late[prandom_u32_state(&random) % 256 %
							  ARRAY_SIZE(late)];

			if (thread->rc || n % 4)
				grants[answered++ % ARRAY_SIZE(grants)] = granted(server);
			else
				late_begin(server, thread);
		}
		/* end some, */
		for (n = 0; n < ARRAY_SIZE(late); n++)
			if (late[n].rc && prandom_u32_state(&random) % 16 == 0)
				grants[answered++ % ARRAY_SIZE(grants)] = late_end(server, &late[n]);
		/* and let the client see some. */
		for (n = prandom_u32_state(&random) % 32; n && seen != answered; n--) {
			window = grants[seen++ % ARRAY_SIZE(grants)];
			lowest = min(lowest, window);
			outstanding--;
		}
	}
	KUNIT_EXPECT_EQ(test, RPCRDMA_GRANT_FLOOR, lowest);
	for (n = 0; n < ARRAY_SIZE(late); n++)
		if (late[n].rc)
			late_end(server, &late[n]);
	while (atomic_read(&t->st_recv.used))
		granted(server);
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
	KUNIT_EXPECT_PTR_EQ(test, (void *)(rc->rc_chunks + server->transport->st_max_chunks),
			    (void *)rc->rc_payloads);
	server_done(server);
	KUNIT_EXPECT_NULL(test, rc->rc_many);
	KUNIT_EXPECT_PTR_EQ(test, (void *)rc->rc_few.payloads, (void *)rc->rc_payloads);
	KUNIT_EXPECT_PTR_EQ(test, (void *)rc->rc_few.segments, (void *)rc->rc_segments);
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
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(server->transport));
}

static struct kunit_case grant_cases[] = {
	KUNIT_CASE(grant_begins_small),
	KUNIT_CASE(grant_grows_with_use),
	KUNIT_CASE(grant_grows_when_asked_for),
	KUNIT_CASE(grant_grows_when_a_write_asks),
	KUNIT_CASE(grant_for_who_always_asks_for_all),
	KUNIT_CASE(grant_without_memory),
	KUNIT_CASE(grant_whose_receives_are_refused),
	KUNIT_CASE(grant_of_a_closing_connection),
	KUNIT_CASE(grant_goes_down),
	KUNIT_CASE(grant_that_was_refused_is_asked_for_again),
	KUNIT_CASE(grant_that_was_refused_is_asked_for_in_vain),
	KUNIT_CASE(grant_goes_down_with_exposures),
	KUNIT_CASE(grant_goes_down_to_the_floor),
	KUNIT_CASE(grant_waits_for_calls_that_came_before),
	KUNIT_CASE(grant_keeps_its_promise),
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
