// SPDX-License-Identifier: GPL-2.0
/*
 * Send Queue entries of the server: who waits is served in the order of arrival, and let
 * go when the connection ends. And the connection's own beginning and end.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "server.h"

static int sq_init(struct kunit *test)
{
	server_create(test);
	return 0;
}

/* As a thread's. */
static void wait_for(struct server *server, struct svcrdma_sq_waiter *waiter, u32 need,
		     int expected)
{
	*waiter = (struct svcrdma_sq_waiter) { .sw_need = need, .sw_status = 1 };
	init_completion(&waiter->sw_done);
	KUNIT_EXPECT_EQ(server->test, expected,
			svcrdma_sq_reserve(server->transport, waiter));
}

static bool served(struct svcrdma_sq_waiter *waiter)
{
	return completion_done(&waiter->sw_done);
}

/* @depth entries, none of which is free. */
static void exhausted(struct server *server, u32 depth)
{
	server_connect(server);
	server->transport->st_sq_depth = depth;
	server->transport->st_sq_free = depth;
	KUNIT_ASSERT_TRUE(server->test, svcrdma_sq_try(server->transport, depth));
	KUNIT_ASSERT_EQ(server->test, 0, server->transport->st_sq_free);
}

static void sq_serves_in_order(struct kunit *test)
{
	static const u32 need[] = { 5, 1, 3, 1, 2 };
	struct server *server = server_of(test);
	struct svcrdma_sq_waiter *waiters = server->waiters;
	u32 given = 0, sum = 0;
	int i, k;

	exhausted(server, 12);
	for (i = 0; i < 5; i++)
		wait_for(server, &waiters[i], need[i], -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, 5, server->transport->st_sq_nr_waiters);

	/* One entry at a time: number k is served with the last one that it needs. */
	for (k = 0; k < 5; k++) {
		sum += need[k];
		while (given < sum) {
			KUNIT_EXPECT_FALSE(test, served(&waiters[k]));
			svcrdma_sq_put(server->transport, 1);
			given++;
		}
		for (i = 0; i < 5; i++)
			KUNIT_EXPECT_EQ(test, i <= k, served(&waiters[i]));
		KUNIT_EXPECT_EQ(test, 0, waiters[k].sw_status);
		KUNIT_EXPECT_EQ(test, 0, server->transport->st_sq_free);
	}
	KUNIT_EXPECT_EQ(test, 0, server->transport->st_sq_nr_waiters);
}

static void sq_many_entries_serve_many(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_sq_waiter *waiters = server->waiters;
	int i;

	exhausted(server, 10);
	for (i = 0; i < 4; i++)
		wait_for(server, &waiters[i], 3, -EINPROGRESS);
	svcrdma_sq_put(server->transport, 10);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, i < 3, served(&waiters[i]));
	KUNIT_EXPECT_EQ(test, 1, server->transport->st_sq_free);
	svcrdma_sq_put(server->transport, 2);
	KUNIT_EXPECT_TRUE(test, served(&waiters[3]));
}

/* Nobody passes those who wait, not even with a need that could be met. */
static void sq_nobody_jumps_the_queue(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_sq_waiter *large = server->waiters, *small = large + 1;

	exhausted(server, 10);
	wait_for(server, large, 8, -EINPROGRESS);
	svcrdma_sq_put(server->transport, 4);
	wait_for(server, small, 1, -EINPROGRESS);
	KUNIT_EXPECT_FALSE(test, svcrdma_sq_try(server->transport, 1));
	KUNIT_EXPECT_FALSE(test, served(large) || served(small));
	svcrdma_sq_put(server->transport, 4);
	KUNIT_EXPECT_TRUE(test, served(large));
	KUNIT_EXPECT_FALSE(test, served(small));
	svcrdma_sq_put(server->transport, 1);
	KUNIT_EXPECT_TRUE(test, served(small));
}

static void sq_free_entries_are_taken_at_once(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_sq_waiter *waiter = server->waiters;

	exhausted(server, 10);
	svcrdma_sq_put(server->transport, 10);
	wait_for(server, waiter, 10, 0);
	KUNIT_EXPECT_FALSE(test, svcrdma_sq_try(server->transport, 1));
	wait_for(server, waiter, 11, -E2BIG);
	svcrdma_sq_put(server->transport, 10);
	KUNIT_EXPECT_EQ(test, 10, server->transport->st_sq_free);
}

static void sq_close_releases_every_waiter(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_sq_waiter *waiters = server->waiters, *late = waiters + 20;
	int i;

	exhausted(server, 10);
	for (i = 0; i < 20; i++)
		wait_for(server, &waiters[i], 1 + i % 10, -EINPROGRESS);
	svcrdma_transport_close(server->transport);
	for (i = 0; i < 20; i++) {
		KUNIT_EXPECT_TRUE(test, served(&waiters[i]));
		KUNIT_EXPECT_EQ(test, -ENOTCONN, waiters[i].sw_status);
	}
	KUNIT_EXPECT_EQ(test, 0, server->transport->st_sq_nr_waiters);
	wait_for(server, late, 1, -ENOTCONN);
	svcrdma_sq_put(server->transport, 10);
	wait_for(server, late, 1, -ENOTCONN);
	KUNIT_EXPECT_FALSE(test, svcrdma_sq_try(server->transport, 1));
	svcrdma_transport_close(server->transport);
}

/* Then no further calls are taken, until the queue has become shorter. */
static void sq_too_many_waiters_stop_new_calls(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_sq_waiter *waiters = server->waiters;
	struct svc_xprt *xprt;
	u8 runt[4] = {};
	int i;

	exhausted(server, 10);
	xprt = &server->transport->st_xprt;
	for (i = 0; i < server->transport->st_sq_max_waiters; i++) {
		KUNIT_EXPECT_TRUE(test, xprt->xpt_ops->xpo_has_wspace(xprt));
		wait_for(server, &waiters[i], 1, -EINPROGRESS);
	}
	KUNIT_EXPECT_FALSE(test, xprt->xpt_ops->xpo_has_wspace(xprt));
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, runt, sizeof(runt)));
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));

	/* nfsd is told, although nothing else comes. */
	svcrdma_sq_put(server->transport, 1);
	KUNIT_EXPECT_TRUE(test, xprt->xpt_ops->xpo_has_wspace(xprt));
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));
}

/* A call of 64 bytes with XID 1, or the same with a Read chunk. */
static void deliver(struct server *server, bool read)
{
	struct rpcrdma_header header = { .xid = 1, .vers = 1, .credits = 32 };
	struct rpcrdma_segment segments[1];
	struct rpcrdma_chunk chunks[1];
	struct rpcrdma_chunk_lists lists;
	static u8 memory[256];
	u8 message[256] = {};

	rpcrdma_lists_init(&lists, segments, 1, chunks, 1);
	if (read) {
		rpcrdma_lists_begin_read(&lists, 64);
		rpcrdma_lists_add_segment(&lists, (struct rpcrdma_segment) {
			.handle = 0x77, .length = sizeof(memory),
		});
		fake_remote_add(server->fake, 0x77, 0, memory, sizeof(memory));
	}
	KUNIT_ASSERT_EQ(server->test, RPCRDMA_OK,
			rpcrdma_header_encode(&header, &lists, message, sizeof(message)));
	put_unaligned_be32(1, message + header.size);
	KUNIT_ASSERT_TRUE(server->test, fake_deliver(server->qp, message,
						     header.size + 64));
}

/* Reads wait without a thread, and are posted by who gives the entries back. */
static void sq_reads_wait_in_the_same_queue(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_sq_waiter *before = server->waiters, *after = before + 1;

	exhausted(server, 10);
	wait_for(server, before, 2, -EINPROGRESS);
	deliver(server, true);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	wait_for(server, after, 1, -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));

	svcrdma_sq_put(server->transport, 2);
	KUNIT_EXPECT_TRUE(test, served(before));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	svcrdma_sq_put(server->transport, 1);
	KUNIT_EXPECT_EQ(test, 1, fake_posted(server->qp));
	KUNIT_EXPECT_FALSE(test, served(after));
	/* The Read's own entry goes to the next one. */
	fake_run_all(server->qp);
	KUNIT_EXPECT_TRUE(test, served(after));
	KUNIT_EXPECT_EQ(test, 64 + 256, server_receive_all(server));
	server_done(server);
}

static void sq_reads_that_wait_end_with_the_connection(struct kunit *test)
{
	struct server *server = server_of(test);

	exhausted(server, 10);
	deliver(server, true);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_EQ(test, 1, server->transport->st_sq_nr_waiters);
	svcrdma_transport_close(server->transport);
	svcrdma_sq_put(server->transport, 10);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
}

struct sending {
	struct work_struct	work;
	struct server		*server;
	int			ret;
	bool			done;
};

static void send_worker(struct work_struct *work)
{
	struct sending *sending = container_of(work, struct sending, work);

	sending->ret = svcrdma_sendto(sending->server->rqst);
	WRITE_ONCE(sending->done, true);
}

/* A reply in another thread, up to where it waits. */
static struct sending *start_sending(struct server *server)
{
	struct sending *sending = kunit_kzalloc(server->test, sizeof(*sending), GFP_KERNEL);
	struct svc_rqst *rqst = server->rqst;
	int patience = 10000;

	KUNIT_ASSERT_NOT_NULL(server->test, sending);
	deliver(server, false);
	KUNIT_ASSERT_EQ(server->test, 64, server_recvfrom(server));
	memset(&rqst->rq_res, 0, sizeof(rqst->rq_res));
	rqst->rq_res.head[0].iov_base = page_address(rqst->rq_respages[0]);
	rqst->rq_res.head[0].iov_len = 64;
	rqst->rq_res.len = 64;
	sending->server = server;
	INIT_WORK(&sending->work, send_worker);
	queue_work(system_unbound_wq, &sending->work);
	while (!READ_ONCE(server->transport->st_sq_nr_waiters) && patience--)
		usleep_range(100, 200);
	KUNIT_EXPECT_EQ(server->test, 1, server->transport->st_sq_nr_waiters);
	return sending;
}

static void sq_reply_waits_for_an_entry(struct kunit *test)
{
	struct server *server = server_of(test);
	struct sending *sending;

	exhausted(server, 10);
	sending = start_sending(server);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(sending->done));
	svcrdma_sq_put(server->transport, 1);
	flush_work(&sending->work);
	KUNIT_EXPECT_EQ(test, 0, sending->ret);
	KUNIT_EXPECT_EQ(test, 1, fake_posted(server->qp));
	server_done(server);
}

static void sq_reply_that_waits_ends_with_the_connection(struct kunit *test)
{
	struct server *server = server_of(test);
	struct sending *sending;

	exhausted(server, 10);
	sending = start_sending(server);
	svcrdma_transport_close(server->transport);
	flush_work(&sending->work);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, sending->ret);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	server_done(server);
}

/* ---- the connection ---- */

static void conn_is_accepted(struct kunit *test)
{
	struct server *server = server_of(test);
	struct rpcrdma_cm_private sent;
	struct svcrdma_transport *t;

	server->client.recv_size = 8192;
	server->client.send_size = 2048;
	server_connect(server);
	t = server->transport;

	/* RFC 8166 section 3.3.1: Receives before credits */
	KUNIT_EXPECT_EQ(test, t->st_recv_target, server_cm.recvs_at_accept);
	KUNIT_EXPECT_GE(test, t->st_recv_target, t->st_credits + SVCRDMA_REVERSE_CREDITS);
	rpcrdma_cm_private_decode(server_cm.sent, sizeof(server_cm.sent), &sent);
	KUNIT_EXPECT_TRUE(test, sent.present && sent.remote_invalidation);
	KUNIT_EXPECT_EQ(test, SERVER_MESSAGE, sent.recv_size);
	KUNIT_EXPECT_EQ(test, SERVER_MESSAGE, t->st_agreed.inline_send);
	KUNIT_EXPECT_EQ(test, 2048, t->st_agreed.inline_recv);
	server_expect_at_rest(server);
}

/* What comes before ESTABLISHED is not lost, and not seen too early. */
static void conn_call_before_established(struct kunit *test)
{
	struct server *server = server_of(test);

	server_cm.hold_established = true;
	server_connect(server);
	deliver(server, false);
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));
	server_cm_event(server->id, RDMA_CM_EVENT_ESTABLISHED);
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));
	KUNIT_EXPECT_EQ(test, 64, server_recvfrom(server));
	server_done(server);
}

static void conn_loss_asks_for_a_close(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svc_xprt *xprt;

	server_connect(server);
	xprt = &server->transport->st_xprt;
	server_cm_event(server->id, RDMA_CM_EVENT_DISCONNECTED);
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(server->transport));
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_CLOSE, &xprt->xpt_flags));
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));
}

static void conn_accept_fails(struct kunit *test)
{
	struct server *server = server_of(test);

	server_cm.accept_errno = -ENOMEM;
	server_request(server);
	KUNIT_EXPECT_EQ(test, -ENOMEM, svcrdma_transport_accept(server->transport));
}

static void conn_device_takes_no_receives(struct kunit *test)
{
	struct server *server = server_of(test);

	server->qp->recv_accept = 5;
	server_request(server);
	KUNIT_EXPECT_NE(test, 0, svcrdma_transport_accept(server->transport));
	KUNIT_EXPECT_EQ(test, 0, server_cm.accepts);
}

static void conn_ends_with_everything_outstanding(struct kunit *test)
{
	struct server *server = server_of(test);

	server_connect(server);
	deliver(server, true);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_EQ(test, 1, fake_pending(server->qp));
	deliver(server, false);
	deliver(server, true);
	server_disconnect(server);
	KUNIT_EXPECT_GT(test, fake_cm.disconnects, 0);
}

static struct kunit_case sq_cases[] = {
	KUNIT_CASE(sq_serves_in_order),
	KUNIT_CASE(sq_many_entries_serve_many),
	KUNIT_CASE(sq_nobody_jumps_the_queue),
	KUNIT_CASE(sq_free_entries_are_taken_at_once),
	KUNIT_CASE(sq_close_releases_every_waiter),
	KUNIT_CASE(sq_too_many_waiters_stop_new_calls),
	KUNIT_CASE(sq_reads_wait_in_the_same_queue),
	KUNIT_CASE(sq_reads_that_wait_end_with_the_connection),
	KUNIT_CASE(sq_reply_waits_for_an_entry),
	KUNIT_CASE(sq_reply_that_waits_ends_with_the_connection),
	{}
};

static struct kunit_case conn_cases[] = {
	KUNIT_CASE(conn_is_accepted),
	KUNIT_CASE(conn_call_before_established),
	KUNIT_CASE(conn_loss_asks_for_a_close),
	KUNIT_CASE(conn_accept_fails),
	KUNIT_CASE(conn_device_takes_no_receives),
	KUNIT_CASE(conn_ends_with_everything_outstanding),
	{}
};

static struct kunit_suite sq_suite = {
	.name = "svcrdma_sq",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = sq_init,
	.test_cases = sq_cases,
};

static struct kunit_suite conn_suite = {
	.name = "svcrdma_conn",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = sq_init,
	.test_cases = conn_cases,
};

kunit_test_suites(&sq_suite, &conn_suite);
