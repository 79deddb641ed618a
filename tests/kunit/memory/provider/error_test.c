// SPDX-License-Identifier: GPL-2.0-only
/* The provider in memory: what errors do to both ends of a connection, and scripted faults. */
#include "ends.h"

#define READABLE	IB_ACCESS_REMOTE_READ

/* RFC 4296 section 3.2 (A11): a message that is longer than its Receive. */
static void send_longer_than_the_receive(struct kunit *test)
{
	struct ends *e = ends_create(test, false);

	end_recv(&e->b, 0, 0, 63);
	end_send(&e->a, 0, 0, 64);
	end_poll(&e->a);
	end_poll(&e->b);
	end_expect(test, &e->a, 0, 0, IB_WC_REM_INV_REQ_ERR);
	end_expect(test, &e->b, 0, 0, IB_WC_LOC_LEN_ERR);
	KUNIT_EXPECT_PTR_EQ(test, NULL, memchr_inv(e->b.bytes, 0, END_BYTES));
	KUNIT_EXPECT_TRUE(test, end_in_error(&e->a));
	KUNIT_EXPECT_TRUE(test, end_in_error(&e->b));
	KUNIT_EXPECT_EQ(test, IB_EVENT_QP_ACCESS_ERR, e->b.event);
}

/* A message that fills its Receive; what lies behind it is nobody's. */
static void send_as_long_as_the_receive(struct kunit *test)
{
	struct ends *e = ends_create(test, false);

	end_recv(&e->b, 0, 0, 64);
	end_recv(&e->b, 1, 128, 64);
	end_send(&e->a, 0, 0, 64);
	end_send(&e->a, 1, 0, 60);
	end_poll(&e->b);
	end_expect(test, &e->b, 0, 0, IB_WC_SUCCESS);
	end_expect(test, &e->b, 1, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_MEMEQ(test, e->b.bytes, e->a.bytes, 64);
	KUNIT_EXPECT_EQ(test, 0, e->b.bytes[64]);
	KUNIT_EXPECT_MEMEQ(test, e->b.bytes + 128, e->a.bytes, 60);
	KUNIT_EXPECT_EQ(test, MEMORY_POISON, e->b.bytes[191]);
	KUNIT_EXPECT_EQ(test, 0, e->b.bytes[192]);
}

/* RFC 4296 section 2.1.3 (A2): InfiniBand waits until there is a Receive. */
static void send_waits_for_a_receive(struct kunit *test)
{
	struct ends *e = ends_create(test, false);

	end_send(&e->a, 0, 0, 64);
	end_send(&e->a, 1, 64, 64);
	end_poll(&e->a);
	KUNIT_EXPECT_EQ(test, 0, e->a.nr_done);
	end_recv(&e->b, 0, 0, 64);
	end_poll(&e->a);
	end_expect(test, &e->a, 0, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 1, memory_sends(e->a.qp));
	end_recv(&e->b, 1, 64, 64);
	end_poll(&e->b);
	KUNIT_EXPECT_MEMEQ(test, e->b.bytes, e->a.bytes, 128);
}

/* The same, when its patience is at an end. */
static void send_without_a_receive_fails(struct kunit *test)
{
	struct ends *e = ends_create(test, false);

	memory_qp_of(e->a.qp)->rnr_retries = 0;
	end_send(&e->a, 0, 0, 64);
	end_poll(&e->a);
	end_expect(test, &e->a, 0, 0, IB_WC_RNR_RETRY_EXC_ERR);
	KUNIT_EXPECT_TRUE(test, end_in_error(&e->a));
	KUNIT_EXPECT_FALSE(test, end_in_error(&e->b));
}

/* iWARP terminates both ends. */
static void send_without_a_receive_terminates_iwarp(struct kunit *test)
{
	struct ends *e = ends_create(test, true);

	end_send(&e->a, 0, 0, 64);
	end_poll(&e->a);
	KUNIT_EXPECT_NE(test, IB_WC_SUCCESS, e->a.done[0].wc.status);
	KUNIT_EXPECT_TRUE(test, end_in_error(&e->a));
	KUNIT_EXPECT_TRUE(test, end_in_error(&e->b));
}

/* After an error everything is flushed, in order: posted before it and after it. */
static void error_flushes_what_is_outstanding(struct kunit *test)
{
	struct ends *e = ends_create(test, false);
	int i;

	for (i = 0; i < 3; i++)
		end_recv(&e->a, 10 + i, 512 + i * 64, 64);
	memory_hold(e->a.qp);
	end_write(&e->a, 0, 0, 8, e->b.address, 0x777700);
	end_send(&e->a, 1, 0, 8);
	end_read(&e->a, 2, 0, 8, e->b.address, 0x777700);
	memory_release(e->a.qp);
	end_send(&e->a, 3, 0, 8);
	end_recv(&e->a, 13, 1024, 64);
	end_poll(&e->a);
	for (i = 0; i < 4; i++)
		end_expect(test, &e->a, i, 10 + i, IB_WC_WR_FLUSH_ERR);
	end_expect(test, &e->a, 4, 0, IB_WC_REM_ACCESS_ERR);
	for (i = 1; i < 4; i++)
		end_expect(test, &e->a, 4 + i, i, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, 8, e->a.nr_done);
	KUNIT_EXPECT_EQ(test, IB_EVENT_QP_FATAL, e->a.event);
}

/* What the peer of a dead end asks for is not answered. */
static void peer_of_a_dead_end_is_not_answered(struct kunit *test)
{
	struct ends *e = ends_create(test, false);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	u32 key = end_register(&e->b, 0, 0, 64, READABLE);

	end_recv(&e->b, 1, 64, 64);
	KUNIT_ASSERT_EQ(test, 0, ib_modify_qp(e->b.qp, &attr, IB_QP_STATE));
	end_read(&e->a, 0, 0, 64, e->b.address, key);
	end_poll(&e->a);
	end_expect(test, &e->a, 0, 0, IB_WC_RETRY_EXC_ERR);
}

/* RFC 4296 section 3 (A8): the owner takes its memory back by ending the connection. */
static void nothing_is_written_after_the_error_state(struct kunit *test)
{
	struct ends *e = ends_create(test, true);
	u32 key = end_register(&e->b, 0, 0, 64, IB_ACCESS_REMOTE_WRITE |
			       IB_ACCESS_LOCAL_WRITE);

	memory_hold(e->a.qp);
	end_write(&e->a, 0, 0, 64, e->b.address, key);
	memory_lose(e->b.qp);
	memory_release(e->a.qp);
	end_poll(&e->a);
	end_expect(test, &e->a, 0, 0, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_PTR_EQ(test, NULL, memchr_inv(e->b.bytes, 0, END_BYTES));
}

static void third_post_fails(struct kunit *test)
{
	struct ends *e = ends_create(test, false);
	int i;

	for (i = 0; i < 4; i++)
		end_recv(&e->b, i, 64 * i, 64);
	memory_script(e->a.device);
	memory_fault(e->a.device, MEMORY_POST_SEND, 3, 0);
	KUNIT_EXPECT_EQ(test, 0, end_send(&e->a, 0, 0, 8));
	KUNIT_EXPECT_EQ(test, 0, end_send(&e->a, 1, 0, 8));
	KUNIT_EXPECT_EQ(test, -ENOMEM, end_send(&e->a, 2, 0, 8));
	KUNIT_EXPECT_EQ(test, 0, end_send(&e->a, 3, 0, 8));
	end_poll(&e->b);
	KUNIT_EXPECT_EQ(test, 3, e->b.nr_done);
	KUNIT_EXPECT_EQ(test, 4, memory_seen(e->a.device, MEMORY_POST_SEND));
}

/* Of a chain, what comes before the one that fails is posted. */
static void chain_fails_in_the_middle(struct kunit *test)
{
	struct ends *e = ends_create(test, false);
	struct ib_sge sge = end_sge(&e->a, 0, 8);
	const struct ib_send_wr *bad = NULL;
	struct ib_send_wr wr[3];
	int i;

	for (i = 0; i < 3; i++) {
		end_recv(&e->b, i, 64 * i, 64);
		wr[i] = (struct ib_send_wr) {
			.wr_cqe = &e->a.cqes[i].cqe, .opcode = IB_WR_SEND,
			.sg_list = &sge, .num_sge = 1, .next = i < 2 ? &wr[i + 1] : NULL,
		};
	}
	memory_script(e->a.device);
	memory_fault(e->a.device, MEMORY_POST_SEND, 2, 0);
	KUNIT_EXPECT_EQ(test, -ENOMEM, ib_post_send(e->a.qp, wr, &bad));
	KUNIT_EXPECT_PTR_EQ(test, &wr[1], bad);
	end_poll(&e->b);
	KUNIT_EXPECT_EQ(test, 1, e->b.nr_done);
}

static void second_work_request_fails(struct kunit *test)
{
	struct ends *e = ends_create(test, false);

	end_recv(&e->b, 0, 0, 64);
	end_recv(&e->b, 1, 0, 64);
	memory_script(e->a.device);
	memory_fault(e->a.device, MEMORY_EXECUTE, 2, IB_WC_RETRY_EXC_ERR);
	end_send(&e->a, 0, 0, 8);
	end_send(&e->a, 1, 0, 8);
	end_send(&e->a, 2, 0, 8);
	end_poll(&e->a);
	end_expect(test, &e->a, 0, 0, IB_WC_SUCCESS);
	end_expect(test, &e->a, 1, 1, IB_WC_RETRY_EXC_ERR);
	end_expect(test, &e->a, 2, 2, IB_WC_WR_FLUSH_ERR);
	end_poll(&e->b);
	KUNIT_EXPECT_EQ(test, 1, e->b.nr_done);
}

/* Hardware would write over completions; a test would not see why it fails. */
static void queues_that_overflow_are_complained_of(struct kunit *test)
{
	struct ends *e = ends_create(test, false);
	int i;

	for (i = 0; i < END_WRS; i++)
		KUNIT_ASSERT_EQ(test, 0, end_recv(&e->b, i, 0, 8));
	KUNIT_EXPECT_EQ(test, -ENOMEM, end_recv(&e->b, 0, 0, 8));
	KUNIT_EXPECT_EQ(test, 1, memory_complaints(e->b.device));
	/* Done is not free: the completions were not polled. */
	for (i = 0; i < END_WRS; i++)
		KUNIT_ASSERT_EQ(test, 0, end_send(&e->a, i, 0, 8));
	KUNIT_EXPECT_EQ(test, -ENOMEM, end_send(&e->a, 0, 0, 8));
	KUNIT_EXPECT_EQ(test, 1, memory_complaints(e->a.device));
	end_poll(&e->a);
	end_poll(&e->b);
	KUNIT_EXPECT_EQ(test, 0, end_recv(&e->b, 0, 0, 8));
	KUNIT_EXPECT_EQ(test, 0, end_send(&e->a, 0, 0, 8));
}

/* RFC 5040 section 8.1.1, 8: hard to guess, and none twice. */
static void stags_are_scattered(struct kunit *test)
{
	struct ends *e = ends_create(test, false);
	struct ib_mr *mrs[16];
	u32 last = e->a.mr->rkey;
	int i;

	for (i = 0; i < 16; i++) {
		mrs[i] = ib_alloc_mr(e->a.pd, IB_MR_TYPE_MEM_REG, 1);
		KUNIT_ASSERT_FALSE(test, IS_ERR(mrs[i]));
		KUNIT_EXPECT_GT(test, abs((int)(mrs[i]->rkey - last)), 0x10000);
		last = mrs[i]->rkey;
	}
	for (i = 0; i < 16; i++)
		ib_dereg_mr(mrs[i]);
}

static struct kunit_case error_cases[] = {
	KUNIT_CASE(send_longer_than_the_receive),
	KUNIT_CASE(send_as_long_as_the_receive),
	KUNIT_CASE(send_waits_for_a_receive),
	KUNIT_CASE(send_without_a_receive_fails),
	KUNIT_CASE(send_without_a_receive_terminates_iwarp),
	KUNIT_CASE(error_flushes_what_is_outstanding),
	KUNIT_CASE(peer_of_a_dead_end_is_not_answered),
	KUNIT_CASE(nothing_is_written_after_the_error_state),
	KUNIT_CASE(third_post_fails),
	KUNIT_CASE(chain_fails_in_the_middle),
	KUNIT_CASE(second_work_request_fails),
	KUNIT_CASE(queues_that_overflow_are_complained_of),
	KUNIT_CASE(stags_are_scattered),
	{}
};

static struct kunit_suite error_suite = {
	.name = "memory_error",
	.test_cases = error_cases,
};

kunit_test_suite(error_suite);
