// SPDX-License-Identifier: GPL-2.0
/* The server's grant: small at first, larger for a client that uses it, and never a promise. */
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
			flush_work(&t->st_recv.grow_work);
			KUNIT_ASSERT_EQ(test, grant, t->st_grant);
			server_deliver(server, CALL_PLAIN);
		}
		flush_work(&t->st_recv.grow_work);
		expect_contexts(server, min(2 * grant, t->st_credits));
		KUNIT_EXPECT_GT(test, t->st_recv.posted - t->st_recv.gone + SVCRDMA_RECEIVE_BATCH,
				t->st_recv.target);
	}
	KUNIT_EXPECT_EQ(test, t->st_credits, granted(server));
	KUNIT_EXPECT_EQ(test, used, t->st_recv.highest);
}

static void grant_without_memory(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	int i;

	for (i = 0; i < 12; i++) {
		fake_alloc_fail(i);
		KUNIT_EXPECT_EQ(test, -ENOMEM, svcrdma_recv_grow(t, 16));
		KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
		expect_contexts(server, SVCRDMA_FIRST_CREDITS);
	}
	KUNIT_EXPECT_EQ(test, 0, svcrdma_recv_grow(t, 16));
	expect_contexts(server, 16);
	server_expect_at_rest(server);
}

/* What was queued before finds nothing to do. */
static void grant_of_a_closing_connection(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;

	svcrdma_transport_close(t, RPCRDMA_END_OTHER);
	svcrdma_work_queue(&t->st_recv.grow_work);
	flush_work(&t->st_recv.grow_work);
	expect_contexts(server, SVCRDMA_FIRST_CREDITS);
}

static const struct call_case many_pieces = { "", 30000, 9 };

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
	server_done(server);
	KUNIT_EXPECT_NULL(test, rc->rc_many);
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
	KUNIT_CASE(grant_without_memory),
	KUNIT_CASE(grant_of_a_closing_connection),
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
