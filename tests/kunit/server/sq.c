// SPDX-License-Identifier: GPL-2.0-only
/* Fills a Send Queue and makes waiters for it, for the suites that test the Send Queue. */
#include "sq.h"

int sq_init(struct kunit *test)
{
	server_create(test);
	return 0;
}

static void granted(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter)
{
	container_of(waiter, struct server_waiter, sq)->served = true;
}

void sq_wait(struct server *server, struct server_waiter *waiter, u32 need, int expected)
{
	*waiter = (struct server_waiter) {
		.sq = { .sw_need = need, .sw_granted = granted },
	};
	KUNIT_EXPECT_EQ(server->test, expected,
			svcrdma_sq_reserve(server->transport, &waiter->sq));
}

/* Takes entries, which are there. */
void sq_take(struct server *server, u32 need)
{
	struct svcrdma_sq_waiter taker = { .sw_need = need };

	KUNIT_ASSERT_EQ(server->test, 0, svcrdma_sq_reserve(server->transport, &taker));
}

/* @depth entries, none of which is free. */
void sq_exhaust(struct server *server, u32 depth)
{
	server_connect(server);
	server->transport->st_sq_depth = depth;
	sq_take(server, depth);
	KUNIT_ASSERT_EQ(server->test, 0, server_sq_free(server->transport));
}

/* The time is over after which the watch looks at the queue. */
void sq_time_passes(struct server *server)
{
	flush_delayed_work(&server->transport->st_sq.worker);
}

/* The queue stands still for so long that the connection ends, and not before. */
void sq_stalls(struct server *server)
{
	unsigned int seconds = 0;

	while (!READ_ONCE(server->transport->st_closing) && seconds < 1000) {
		seconds += sq_seconds_left(&server->transport->st_sq.worker);
		sq_time_passes(server);
	}
	KUNIT_EXPECT_EQ(server->test, SVCRDMA_SQ_TIMEOUT / HZ, seconds);
}

/* Until @work runs; 0 if it is not set */
unsigned int sq_seconds_left(const struct delayed_work *work)
{
	return timer_pending(&work->timer) ?
		DIV_ROUND_UP(work->timer.expires - jiffies, HZ) : 0;
}

/* What was posted last writes nothing, and has a completion. */
void sq_expect_probe(struct server *server)
{
	const struct fake_wr *wr = fake_last_wr(server->qp);

	KUNIT_EXPECT_EQ(server->test, IB_WR_RDMA_WRITE, wr->opcode);
	KUNIT_EXPECT_TRUE(server->test, wr->flags & IB_SEND_SIGNALED);
	KUNIT_EXPECT_EQ(server->test, 0, wr->nr_sge);
}

/* nfsd has a call, and answers it: @length bytes, inline or by RDMA Write. */
int sq_answer(struct server *server, u32 length, bool write)
{
	struct svc_rqst *rqst = server->rqst;
	int ret;

	server_deliver(server, write ? CALL_WRITE : CALL_PLAIN);
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
