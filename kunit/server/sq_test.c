// SPDX-License-Identifier: GPL-2.0
/*
 * Send Queue entries of the server: what waits is served in the order of arrival, without
 * a thread, until the connection ends. And the connection's own beginning and end.
 */
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "server.h"

static int sq_init(struct kunit *test)
{
	server_create(test);
	return 0;
}

static void granted(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter)
{
	container_of(waiter, struct server_waiter, sq)->served = true;
}

static void wait_for(struct server *server, struct server_waiter *waiter, u32 need,
		     int expected)
{
	*waiter = (struct server_waiter) {
		.sq = { .sw_need = need, .sw_granted = granted },
	};
	KUNIT_EXPECT_EQ(server->test, expected,
			svcrdma_sq_reserve(server->transport, &waiter->sq));
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
	struct server_waiter *waiters = server->waiters;
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
			KUNIT_EXPECT_FALSE(test, waiters[k].served);
			svcrdma_sq_put(server->transport, 1);
			given++;
		}
		for (i = 0; i < 5; i++)
			KUNIT_EXPECT_EQ(test, i <= k, waiters[i].served);
		KUNIT_EXPECT_EQ(test, 0, server->transport->st_sq_free);
	}
	KUNIT_EXPECT_EQ(test, 0, server->transport->st_sq_nr_waiters);
}

static void sq_many_entries_serve_many(struct kunit *test)
{
	struct server *server = server_of(test);
	struct server_waiter *waiters = server->waiters;
	int i;

	exhausted(server, 10);
	for (i = 0; i < 4; i++)
		wait_for(server, &waiters[i], 3, -EINPROGRESS);
	svcrdma_sq_put(server->transport, 10);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, i < 3, waiters[i].served);
	KUNIT_EXPECT_EQ(test, 1, server->transport->st_sq_free);
	svcrdma_sq_put(server->transport, 2);
	KUNIT_EXPECT_TRUE(test, waiters[3].served);
}

/* Nobody passes those who wait, not even with a need that could be met. */
static void sq_nobody_jumps_the_queue(struct kunit *test)
{
	struct server *server = server_of(test);
	struct server_waiter *large = server->waiters, *small = large + 1;

	exhausted(server, 10);
	wait_for(server, large, 8, -EINPROGRESS);
	svcrdma_sq_put(server->transport, 4);
	wait_for(server, small, 1, -EINPROGRESS);
	KUNIT_EXPECT_FALSE(test, svcrdma_sq_try(server->transport, 1));
	KUNIT_EXPECT_FALSE(test, large->served || small->served);
	svcrdma_sq_put(server->transport, 4);
	KUNIT_EXPECT_TRUE(test, large->served);
	KUNIT_EXPECT_FALSE(test, small->served);
	svcrdma_sq_put(server->transport, 1);
	KUNIT_EXPECT_TRUE(test, small->served);
}

static void sq_free_entries_are_taken_at_once(struct kunit *test)
{
	struct server *server = server_of(test);
	struct server_waiter *waiter = server->waiters;

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
	struct server_waiter *waiters = server->waiters, *late = waiters + 20;
	int i;

	exhausted(server, 10);
	for (i = 0; i < 20; i++)
		wait_for(server, &waiters[i], 1 + i % 10, -EINPROGRESS);
	svcrdma_transport_close(server->transport);
	KUNIT_EXPECT_EQ(test, 0, server->transport->st_sq_nr_waiters);
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_TRUE(test, list_empty(&waiters[i].sq.sw_list));
	wait_for(server, late, 1, -ENOTCONN);
	svcrdma_sq_put(server->transport, 10);
	/* They are what they were. */
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_FALSE(test, waiters[i].served);
	wait_for(server, late, 1, -ENOTCONN);
	KUNIT_EXPECT_FALSE(test, svcrdma_sq_try(server->transport, 1));
	svcrdma_transport_close(server->transport);
}

/* Then no further calls are taken, until the queue has become shorter. */
static void sq_too_many_waiters_stop_new_calls(struct kunit *test)
{
	struct server *server = server_of(test);
	struct server_waiter *waiters = server->waiters;
	struct svc_xprt *xprt;
	u8 runt[4] = {};
	int i;

	exhausted(server, 10);
	xprt = &server->transport->st_xprt;
	for (i = 0; i < SVCRDMA_MAX_SQ_WAITERS; i++) {
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

static u8 peer_memory[256];

enum kind { CALL_PLAIN, CALL_READ, CALL_WRITE };

/* A call of 64 bytes with XID 1, or the same with a Read chunk or a Write chunk. */
static void deliver(struct server *server, enum kind kind)
{
	struct rpcrdma_header header = { .xid = 1, .vers = 1, .credits = 32 };
	struct rpcrdma_segment segments[1];
	struct rpcrdma_chunk chunks[1];
	struct rpcrdma_chunk_lists lists;
	u8 message[256] = {};

	rpcrdma_lists_init(&lists, segments, 1, chunks, 1);
	if (kind == CALL_READ)
		rpcrdma_lists_begin_read(&lists, 64);
	else if (kind == CALL_WRITE)
		rpcrdma_lists_begin_write(&lists);
	if (kind != CALL_PLAIN) {
		rpcrdma_lists_add_segment(&lists, (struct rpcrdma_segment) {
			.handle = 0x77, .length = sizeof(peer_memory),
		});
		fake_remote_add(server->fake, 0x77, 0, peer_memory, sizeof(peer_memory));
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
	struct server_waiter *before = server->waiters, *after = before + 1;

	exhausted(server, 10);
	wait_for(server, before, 2, -EINPROGRESS);
	deliver(server, CALL_READ);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	wait_for(server, after, 1, -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));

	svcrdma_sq_put(server->transport, 2);
	KUNIT_EXPECT_TRUE(test, before->served);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	svcrdma_sq_put(server->transport, 1);
	KUNIT_EXPECT_EQ(test, 1, fake_posted(server->qp));
	KUNIT_EXPECT_FALSE(test, after->served);
	/* The Read's own entry goes to the next one. */
	fake_run_all(server->qp);
	KUNIT_EXPECT_TRUE(test, after->served);
	KUNIT_EXPECT_EQ(test, 64 + 256, server_receive_all(server));
	server_done(server);
}

static void sq_reads_that_wait_end_with_the_connection(struct kunit *test)
{
	struct server *server = server_of(test);

	exhausted(server, 10);
	deliver(server, CALL_READ);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_EQ(test, 1, server->transport->st_sq_nr_waiters);
	svcrdma_transport_close(server->transport);
	svcrdma_sq_put(server->transport, 10);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
}

/* nfsd has a call, and answers it: @length bytes, inline or by RDMA Write. */
static int answer(struct server *server, u32 length, bool write)
{
	struct svc_rqst *rqst = server->rqst;
	int ret;

	deliver(server, write ? CALL_WRITE : CALL_PLAIN);
	KUNIT_ASSERT_EQ(server->test, 64, server_recvfrom(server));
	memset(&rqst->rq_res, 0, sizeof(rqst->rq_res));
	fake_fill(page_address(rqst->rq_respages[0]), length);
	rqst->rq_res.head[0].iov_base = page_address(rqst->rq_respages[0]);
	rqst->rq_res.head[0].iov_len = length;
	rqst->rq_res.len = length;
	if (write)
		svcrdma_result_payload(rqst, 24, length - 24);
	ret = svcrdma_sendto(rqst);
	server_done(server);
	return ret;
}

static u32 length_of(struct server *server, unsigned int n)
{
	return fake_wr(server->qp, n)->sge[0].length;
}

/* The thread does not. */
static void sq_reply_waits_for_an_entry(struct kunit *test)
{
	struct server *server = server_of(test);

	exhausted(server, 10);
	KUNIT_EXPECT_EQ(test, 0, answer(server, 64, false));
	KUNIT_EXPECT_EQ(test, 1, server->transport->st_sq_nr_waiters);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	svcrdma_sq_put(server->transport, 1);
	KUNIT_ASSERT_EQ(test, 1, fake_posted(server->qp));
	KUNIT_EXPECT_EQ(test, 28 + 64, length_of(server, 0));
	KUNIT_EXPECT_EQ(test, 0, server->transport->st_sq_nr_waiters);
	KUNIT_EXPECT_EQ(test, 0, server->transport->st_sq_free);
	/* It gives back what it got. */
	fake_run_all(server->qp);
	svcrdma_sq_put(server->transport, 9);
	server_expect_at_rest(server);
}

static void sq_replies_wait_in_order(struct kunit *test)
{
	struct server *server = server_of(test);
	int i;

	exhausted(server, 10);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, 0, answer(server, 64 + 4 * i, false));
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, i, fake_posted(server->qp));
		svcrdma_sq_put(server->transport, 1);
		KUNIT_ASSERT_EQ(test, i + 1, fake_posted(server->qp));
		KUNIT_EXPECT_EQ(test, 28 + 64 + 4 * i, length_of(server, i));
	}
	/* A completion does the same. */
	KUNIT_EXPECT_EQ(test, 0, answer(server, 64, false));
	KUNIT_EXPECT_EQ(test, 5, fake_posted(server->qp));
	fake_run(server->qp, 1);
	KUNIT_EXPECT_EQ(test, 6, fake_posted(server->qp));
	fake_run_all(server->qp);
	svcrdma_sq_put(server->transport, 5);
	server_expect_at_rest(server);
}

/* Its pages are its own by then, and are written from as they were. */
static void sq_reply_waits_with_its_writes(struct kunit *test)
{
	struct server *server = server_of(test);
	u32 i;

	exhausted(server, 10);
	KUNIT_EXPECT_EQ(test, 0, answer(server, 24 + 256, true));
	/* nfsd goes on, in the thread's other pages. */
	KUNIT_EXPECT_EQ(test, 0, answer(server, 64, false));
	svcrdma_sq_put(server->transport, 1);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	svcrdma_sq_put(server->transport, 9);
	KUNIT_ASSERT_EQ(test, 3, fake_posted(server->qp));
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE, fake_wr(server->qp, 0)->opcode);
	server_settle(server);
	for (i = 0; i < 256; i++)
		KUNIT_ASSERT_EQ(test, fake_byte(24 + i), peer_memory[i]);
	server_expect_at_rest(server);
}

static void sq_error_waits_as_well(struct kunit *test)
{
	struct server *server = server_of(test);
	u8 wrong[28] = { [3] = 1, [7] = 2 };

	exhausted(server, 10);
	/* Version 2 */
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, wrong, sizeof(wrong)));
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	svcrdma_sq_put(server->transport, 1);
	KUNIT_ASSERT_EQ(test, 1, fake_posted(server->qp));
	server_expect_error(server, 1, RPCRDMA_ERR_VERS);
}

static void sq_reply_that_waits_ends_with_the_connection(struct kunit *test)
{
	struct server *server = server_of(test);

	exhausted(server, 10);
	KUNIT_EXPECT_EQ(test, 0, answer(server, 24 + 256, true));
	KUNIT_EXPECT_EQ(test, 0, answer(server, 64, false));
	svcrdma_transport_close(server->transport);
	svcrdma_sq_put(server->transport, 10);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	/* Their contexts go with the connection. */
}

static void sq_reply_that_waited_cannot_be_posted(struct kunit *test)
{
	struct server *server = server_of(test);

	exhausted(server, 10);
	KUNIT_EXPECT_EQ(test, 0, answer(server, 64, false));
	server->qp->accept = 0;
	svcrdma_sq_put(server->transport, 1);
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(server->transport));
}

/* ---- a queue that stands still ---- */

static unsigned int seconds_left(struct server *server)
{
	struct delayed_work *work = &server->transport->st_sq_worker;

	return timer_pending(&work->timer) ?
		DIV_ROUND_UP(work->timer.expires - jiffies, HZ) : 0;
}

/* The time is over, now. */
static void time_passes(struct server *server)
{
	flush_delayed_work(&server->transport->st_sq_worker);
}

static void sq_stands_still(struct kunit *test)
{
	struct server *server = server_of(test);

	server_connect(server);
	KUNIT_EXPECT_EQ(test, 0, seconds_left(server));
	KUNIT_ASSERT_TRUE(test, svcrdma_sq_try(server->transport, 1));
	KUNIT_EXPECT_EQ(test, SVCRDMA_SQ_TIMEOUT / HZ, seconds_left(server));
	time_passes(server);
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(server->transport));
	KUNIT_EXPECT_EQ(test, 0, seconds_left(server));
}

/* Whether anybody waits for entries or not */
static void sq_stands_still_with_waiters(struct kunit *test)
{
	struct server *server = server_of(test);

	exhausted(server, 10);
	wait_for(server, &server->waiters[0], 1, -EINPROGRESS);
	time_passes(server);
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(server->transport));
}

/* What is held back for later may stay as long as it likes. */
static void sq_entries_for_later(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t;

	server_connect(server);
	t = server->transport;
	KUNIT_ASSERT_TRUE(test, svcrdma_sq_try(t, 5));
	svcrdma_sq_hold(t, 3);
	/* Two are not. */
	time_passes(server);
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(t));
	server_disconnect(server);

	server_connect(server);
	t = server->transport;
	KUNIT_ASSERT_TRUE(test, svcrdma_sq_try(t, 5));
	svcrdma_sq_hold(t, 3);
	svcrdma_sq_put(t, 2);
	time_passes(server);
	KUNIT_EXPECT_FALSE(test, svcrdma_transport_closing(t));
	KUNIT_EXPECT_EQ(test, 0, seconds_left(server));
	svcrdma_sq_put_held(t, 3);
	KUNIT_EXPECT_EQ(test, 0, t->st_sq_held);
	server_expect_at_rest(server);
}

/* Nor does it help that all who have some may take their time. */
static void sq_waits_behind_entries_for_later(struct kunit *test)
{
	struct server *server = server_of(test);

	exhausted(server, 10);
	svcrdma_sq_hold(server->transport, 10);
	time_passes(server);
	KUNIT_EXPECT_EQ(test, 0, seconds_left(server));
	wait_for(server, &server->waiters[0], 6, -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, SVCRDMA_SQ_TIMEOUT / HZ, seconds_left(server));
	svcrdma_sq_put_held(server->transport, 10);
	KUNIT_EXPECT_TRUE(test, server->waiters[0].served);
	time_passes(server);
	KUNIT_EXPECT_FALSE(test, svcrdma_transport_closing(server->transport));
	time_passes(server);
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(server->transport));
}

static void sq_moves_slowly(struct kunit *test)
{
	struct server *server = server_of(test);
	int i;

	exhausted(server, 10);
	for (i = 0; i < 4; i++)
		wait_for(server, &server->waiters[i], 1, -EINPROGRESS);
	for (i = 0; i < 3; i++) {
		svcrdma_sq_put(server->transport, 1);
		time_passes(server);
		KUNIT_EXPECT_FALSE(test, svcrdma_transport_closing(server->transport));
		KUNIT_EXPECT_EQ(test, SVCRDMA_SQ_TIMEOUT / HZ, seconds_left(server));
	}
	time_passes(server);
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(server->transport));
}

/* The watch ends when nothing is out. Whoever comes then has all of the time. */
static void sq_is_watched_anew(struct kunit *test)
{
	struct server *server = server_of(test);
	struct delayed_work *work;

	exhausted(server, 10);
	work = &server->transport->st_sq_worker;
	wait_for(server, &server->waiters[0], 1, -EINPROGRESS);
	svcrdma_sq_put(server->transport, 10);
	svcrdma_sq_put(server->transport, 1);
	time_passes(server);
	KUNIT_EXPECT_EQ(test, 0, seconds_left(server));
	KUNIT_ASSERT_TRUE(test, svcrdma_sq_try(server->transport, 10));
	wait_for(server, &server->waiters[1], 1, -EINPROGRESS);
	/* Almost over, but something came back. */
	mod_timer(&work->timer, jiffies + 2 * HZ);
	svcrdma_sq_put(server->transport, 1);
	wait_for(server, &server->waiters[2], 1, -EINPROGRESS);
	time_passes(server);
	KUNIT_EXPECT_FALSE(test, svcrdma_transport_closing(server->transport));
	KUNIT_EXPECT_EQ(test, SVCRDMA_SQ_TIMEOUT / HZ, seconds_left(server));
	svcrdma_transport_close(server->transport);
	time_passes(server);
	KUNIT_EXPECT_EQ(test, 0, seconds_left(server));
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
	KUNIT_EXPECT_EQ(test, t->st_recv_target, fake_queues.recvs_at_start);
	KUNIT_EXPECT_GE(test, t->st_recv_target, t->st_credits + SVCRDMA_REVERSE_CREDITS);
	rpcrdma_cm_private_decode(fake_cm.said.private, fake_cm.said.length, &sent);
	KUNIT_EXPECT_TRUE(test, sent.present && sent.remote_invalidation);
	KUNIT_EXPECT_EQ(test, SERVER_MESSAGE, sent.recv_size);
	KUNIT_EXPECT_EQ(test, SERVER_MESSAGE, t->st_agreed.inline_send);
	KUNIT_EXPECT_EQ(test, 2048, t->st_agreed.inline_recv);
	server_expect_at_rest(server);
}

/* RFC 8797 section 5.1 */
static void conn_without_private_data(struct kunit *test)
{
	struct rdma_conn_param param = { .initiator_depth = 16 };
	struct server *server = server_of(test);
	struct svcrdma_transport *t;

	server->id = fake_cm_request(&server->fake->ib);
	KUNIT_ASSERT_NOT_NULL(test, server->id);
	t = svcrdma_transport_create(&server->serv, &init_net, server->id, &param);
	KUNIT_ASSERT_FALSE(test, IS_ERR(t));
	server->transport = t;
	KUNIT_ASSERT_EQ(test, 0, svcrdma_transport_accept(t));
	KUNIT_EXPECT_EQ(test, 1024, t->st_agreed.inline_send);
	KUNIT_EXPECT_EQ(test, 1024, t->st_agreed.inline_recv);
	KUNIT_EXPECT_FALSE(test, t->st_agreed.remote_invalidation);
	/* A client that says nothing may send what it likes nevertheless. */
	KUNIT_EXPECT_EQ(test, SERVER_MESSAGE, t->st_recv_size);
}

/* RFC 5042 section 6.1.1 */
static void conn_has_a_protection_domain_of_its_own(struct kunit *test)
{
	struct server *server = server_of(test);
	int i;

	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, 0, fake_queues.pds);
		server_connect(server);
		KUNIT_EXPECT_EQ(test, 1, fake_queues.pds);
		server_disconnect(server);
	}
	KUNIT_EXPECT_EQ(test, 0, fake_queues.pds);
}

/* What comes before ESTABLISHED is not lost, and not seen too early. */
static void conn_call_before_established(struct kunit *test)
{
	struct server *server = server_of(test);

	fake_cm.plan[FAKE_CM_ACCEPT].hold = true;
	server_connect(server);
	deliver(server, CALL_PLAIN);
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));
	fake_cm_event(server->id, RDMA_CM_EVENT_ESTABLISHED);
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
	fake_cm_event(server->id, RDMA_CM_EVENT_DISCONNECTED);
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(server->transport));
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_CLOSE, &xprt->xpt_flags));
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));
}

static void conn_accept_fails(struct kunit *test)
{
	struct server *server = server_of(test);

	fake_cm.plan[FAKE_CM_ACCEPT].error = -ENOMEM;
	server_request(server);
	KUNIT_EXPECT_EQ(test, -ENOMEM, svcrdma_transport_accept(server->transport));
}

static void conn_device_takes_no_receives(struct kunit *test)
{
	struct server *server = server_of(test);

	server->qp->recv_accept = 5;
	server_request(server);
	KUNIT_EXPECT_NE(test, 0, svcrdma_transport_accept(server->transport));
	KUNIT_EXPECT_EQ(test, 0, fake_cm.accepts);
}

static void conn_ends_with_everything_outstanding(struct kunit *test)
{
	struct server *server = server_of(test);

	server_connect(server);
	deliver(server, CALL_READ);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_EQ(test, 1, fake_pending(server->qp));
	deliver(server, CALL_PLAIN);
	deliver(server, CALL_READ);
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
	KUNIT_CASE(sq_replies_wait_in_order),
	KUNIT_CASE(sq_reply_waits_with_its_writes),
	KUNIT_CASE(sq_error_waits_as_well),
	KUNIT_CASE(sq_reply_that_waits_ends_with_the_connection),
	KUNIT_CASE(sq_reply_that_waited_cannot_be_posted),
	KUNIT_CASE(sq_stands_still),
	KUNIT_CASE(sq_stands_still_with_waiters),
	KUNIT_CASE(sq_entries_for_later),
	KUNIT_CASE(sq_waits_behind_entries_for_later),
	KUNIT_CASE(sq_moves_slowly),
	KUNIT_CASE(sq_is_watched_anew),
	{}
};

static struct kunit_case conn_cases[] = {
	KUNIT_CASE(conn_is_accepted),
	KUNIT_CASE(conn_without_private_data),
	KUNIT_CASE(conn_has_a_protection_domain_of_its_own),
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
