// SPDX-License-Identifier: GPL-2.0-only
/* The provider in memory: order, placement and delivery; RFC 4296, RFC 5040. */
#include "ends.h"

#define READABLE	IB_ACCESS_REMOTE_READ
#define WRITABLE	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE)

static const char * const protocols[] = { "InfiniBand", "iWARP" };

static void protocol_name(const char * const *protocol, char *name)
{
	strscpy(name, *protocol, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(protocol, protocols, protocol_name);

static int ordering_init(struct kunit *test)
{
	const char * const *protocol = test->param_value;

	ends_create(test, protocol == &protocols[1]);
	return 0;
}

/* Registered at b, and not in the log. */
static u32 exposed(struct kunit *test, u32 at, u32 length, int access)
{
	struct end *b = &ends_of(test)->b;
	u32 key = end_register(b, END_LOG - 1, at, length, access);

	KUNIT_ASSERT_NE(test, 0, key);
	end_poll(b);
	end_expect(test, b, b->nr_done - 1, END_LOG - 1, IB_WC_SUCCESS);
	b->nr_done = 0;
	return key;
}

/* RFC 4296 section 2.2.1 (A4), RFC 5040 section 5.5, 10: Receives in posting order. */
static void receives_complete_in_posting_order(struct kunit *test)
{
	struct ends *e = ends_of(test);
	int i;

	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, 0, end_recv(&e->b, i, i * 64, 64));
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_EQ(test, 0, end_send(&e->a, i, 100 * i, 10 + i));
	end_poll(&e->b);
	for (i = 0; i < 4; i++) {
		const struct end_done *done = end_expect(test, &e->b, i, i, IB_WC_SUCCESS);

		KUNIT_EXPECT_EQ(test, 10 + i, done->wc.byte_len);
		KUNIT_EXPECT_EQ(test, IB_WC_RECV, done->wc.opcode);
		KUNIT_EXPECT_MEMEQ(test, e->b.bytes + i * 64, e->a.bytes + 100 * i, 10 + i);
	}
}

/* RFC 5040 section 5.5, 15: completed in the order of submission, whatever they are. */
static void completions_come_in_posting_order(struct kunit *test)
{
	struct ends *e = ends_of(test);
	u32 key = exposed(test, 0, 256, READABLE | WRITABLE);
	u32 sink;

	end_recv(&e->b, 0, 512, 64);
	sink = end_register(&e->a, 0, 1024, 64, WRITABLE);
	end_write(&e->a, 1, 0, 64, e->b.address, key);
	end_post(&e->a, 2, IB_WR_RDMA_READ,
		 (struct ib_sge) { e->a.address + 1024, 64, sink }, e->b.address, key);
	end_send(&e->a, 3, 0, 64);
	end_invalidate(&e->a, 4, sink);
	end_poll(&e->a);
	KUNIT_EXPECT_EQ(test, 5, e->a.nr_done);
	end_expect(test, &e->a, 0, 0, IB_WC_SUCCESS);
	end_expect(test, &e->a, 1, 1, IB_WC_SUCCESS);
	end_expect(test, &e->a, 2, 2, IB_WC_SUCCESS);
	end_expect(test, &e->a, 3, 3, IB_WC_SUCCESS);
	end_expect(test, &e->a, 4, 4, IB_WC_SUCCESS);
}

/*
 * RFC 4296 section 2.2.2 (A5), RFC 5040 section 5.5, 10: when a Send is delivered the
 * Writes before it are in place, in whatever order they were placed.
 */
static void writes_are_placed_before_a_later_send(struct kunit *test)
{
	struct ends *e = ends_of(test);
	u32 key = exposed(test, 0, 3 * 1024, WRITABLE);
	int i;

	e->a.device->reverse_writes = true;
	end_recv(&e->b, 0, 8192, 64);
	memory_hold(e->a.qp);
	for (i = 0; i < 3; i++)
		end_write(&e->a, i, i * 1024, 1024, e->b.address + i * 1024, key);
	end_send(&e->a, 3, 0, 8);
	memory_run(e->a.qp, 3);
	end_poll(&e->b);
	KUNIT_EXPECT_EQ(test, 0, e->b.nr_done);
	memory_release(e->a.qp);
	end_poll(&e->b);
	end_expect(test, &e->b, 0, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_MEMEQ(test, e->b.bytes, e->a.bytes, 3 * 1024);
	end_poll(&e->a);
	KUNIT_EXPECT_EQ(test, 4, e->a.nr_done);
}

/* RFC 5040 section 5.5, 3: with overlapping Writes the first may be what is seen. */
static void writes_are_placed_in_any_order(struct kunit *test)
{
	struct ends *e = ends_of(test);
	u32 key = exposed(test, 0, 2048, WRITABLE);

	e->a.device->reverse_writes = true;
	memory_hold(e->a.qp);
	end_write(&e->a, 0, 0, 64, e->b.address, key);
	end_write(&e->a, 1, 1024, 64, e->b.address + 1024, key);
	memory_run(e->a.qp, 1);
	KUNIT_EXPECT_MEMEQ(test, e->b.bytes + 1024, e->a.bytes + 1024, 64);
	end_poll(&e->a);
	KUNIT_EXPECT_EQ(test, 1, e->a.nr_done);
	memory_release(e->a.qp);
}

/* RFC 5040 section 5.5, 12: a Read sees what was written before it. */
static void read_sees_a_prior_write(struct kunit *test)
{
	struct ends *e = ends_of(test);
	u32 key = exposed(test, 100, 4096, READABLE | WRITABLE);
	u32 sink = end_register(&e->a, 0, 8192, 4096, WRITABLE);

	end_write(&e->a, 1, 7, 3000, e->b.address + 100, key);
	end_post(&e->a, 2, IB_WR_RDMA_READ,
		 (struct ib_sge) { e->a.address + 8192, 3000, sink },
		 e->b.address + 100, key);
	end_poll(&e->a);
	end_expect(test, &e->a, 2, 2, IB_WC_SUCCESS);
	KUNIT_EXPECT_MEMEQ(test, e->a.bytes + 8192, e->a.bytes + 7, 3000);
}

/* RFC 4296 section 2.2.2 (A5): the peer is told of Sends, not of Reads and Writes. */
static void peer_is_not_told_of_reads_and_writes(struct kunit *test)
{
	struct ends *e = ends_of(test);
	u32 key = exposed(test, 0, 256, READABLE | WRITABLE);

	end_recv(&e->b, 0, 512, 64);
	end_write(&e->a, 0, 0, 64, e->b.address, key);
	end_poll(&e->b);
	KUNIT_EXPECT_EQ(test, 0, e->b.nr_done);
	KUNIT_EXPECT_EQ(test, 1, memory_receives(e->b.qp));
}

/* RFC 5040 section 5.5, 2: what one end posts does not wait for the other. */
static void directions_are_independent(struct kunit *test)
{
	struct ends *e = ends_of(test);

	end_recv(&e->a, 0, 0, 64);
	end_recv(&e->b, 0, 0, 64);
	memory_hold(e->a.qp);
	end_send(&e->a, 1, 128, 8);
	end_send(&e->b, 1, 128, 8);
	end_poll(&e->a);
	end_expect(test, &e->a, 0, 0, IB_WC_SUCCESS);
	memory_release(e->a.qp);
	end_poll(&e->b);
	end_expect(test, &e->b, 0, 0, IB_WC_SUCCESS);
}

/* An unsignalled one is heard of only by what comes after it. */
static void unsignalled_success_has_no_completion(struct kunit *test)
{
	struct ends *e = ends_of(test);
	struct ib_sge sge = end_sge(&e->a, 0, 8);
	struct ib_send_wr wr = {
		.wr_cqe = &e->a.cqes[0].cqe, .opcode = IB_WR_SEND,
		.sg_list = &sge, .num_sge = 1,
	};

	end_recv(&e->b, 0, 0, 64);
	end_recv(&e->b, 1, 64, 64);
	KUNIT_ASSERT_EQ(test, 0, ib_post_send(e->a.qp, &wr, NULL));
	end_poll(&e->a);
	KUNIT_EXPECT_EQ(test, 0, e->a.nr_done);
	end_send(&e->a, 1, 0, 8);
	end_poll(&e->a);
	end_expect(test, &e->a, 0, 1, IB_WC_SUCCESS);
}

/* RFC 5040 section 7.2: zero-length Reads and Writes ask nothing of the STag. */
static void zero_length_asks_nothing_of_the_stag(struct kunit *test)
{
	struct ends *e = ends_of(test);

	end_recv(&e->b, 0, 0, 64);
	end_write(&e->a, 0, 0, 0, 0x1234, 0xdeadbeef);
	end_read(&e->a, 1, 0, 0, 0x1234, 0xdeadbeef);
	end_send(&e->a, 2, 0, 0);
	end_poll(&e->a);
	end_expect(test, &e->a, 0, 0, IB_WC_SUCCESS);
	end_expect(test, &e->a, 1, 1, IB_WC_SUCCESS);
	end_expect(test, &e->a, 2, 2, IB_WC_SUCCESS);
	end_poll(&e->b);
	KUNIT_EXPECT_EQ(test, 0, end_expect(test, &e->b, 0, 0, IB_WC_SUCCESS)->wc.byte_len);
}

/* Send With Invalidate: told with the message, and in force by then. */
static void send_with_invalidate_is_told(struct kunit *test)
{
	struct ends *e = ends_of(test);
	u32 key = exposed(test, 0, 64, READABLE);
	const struct end_done *done;

	end_recv(&e->b, 0, 1024, 64);
	end_post(&e->a, 0, IB_WR_SEND_WITH_INV, end_sge(&e->a, 0, 8), 0, key);
	KUNIT_EXPECT_EQ(test, 0, memory_valid_keys(e->b.device));
	end_poll(&e->b);
	done = end_expect(test, &e->b, 0, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, done->wc.wc_flags & IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, key, done->wc.ex.invalidate_rkey);
}

/* A completion queue that is held keeps its completions, in order. */
static void held_completions_come_later(struct kunit *test)
{
	struct ends *e = ends_of(test);

	end_recv(&e->b, 0, 0, 64);
	end_recv(&e->b, 1, 64, 64);
	memory_hold_cq(e->b.recv_cq);
	end_send(&e->a, 0, 0, 8);
	end_send(&e->a, 1, 0, 8);
	end_poll(&e->b);
	KUNIT_EXPECT_EQ(test, 0, e->b.nr_done);
	KUNIT_EXPECT_EQ(test, 2, memory_cq_waiting(e->b.recv_cq));
	memory_release_cq(e->b.recv_cq);
	end_poll(&e->b);
	end_expect(test, &e->b, 0, 0, IB_WC_SUCCESS);
	end_expect(test, &e->b, 1, 1, IB_WC_SUCCESS);
}

/* RFC 5040 section 5.5, 9: only the completion of a Read says that its bytes are there. */
static void late_read_is_there_when_it_is_polled(struct kunit *test)
{
	struct ends *e = ends_of(test);
	u32 key = exposed(test, 100, 4096, READABLE);
	u32 sink = end_register(&e->a, 0, 8192, 4096, WRITABLE);

	e->a.device->late_reads = true;
	end_recv(&e->b, 0, 0, 64);
	end_post(&e->a, 1, IB_WR_RDMA_READ,
		 (struct ib_sge) { e->a.address + 8192, 3000, sink },
		 e->b.address + 100, key);
	end_send(&e->a, 2, 0, 8);
	end_poll(&e->b);
	end_expect(test, &e->b, 0, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_PTR_EQ(test, NULL, memchr_inv(e->a.bytes + 8192, MEMORY_POISON, 3000));
	end_poll(&e->a);
	end_expect(test, &e->a, 1, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_MEMEQ(test, e->a.bytes + 8192, e->b.bytes + 100, 3000);
}

/* The sink of a late Read belongs to the device until its completion. */
static void late_read_finds_its_sink_gone(struct kunit *test)
{
	struct ends *e = ends_of(test);
	u32 key = exposed(test, 100, 4096, READABLE);
	u32 sink = end_register(&e->a, 0, 8192, 4096, WRITABLE);

	e->a.device->late_reads = true;
	end_post(&e->a, 1, IB_WR_RDMA_READ,
		 (struct ib_sge) { e->a.address + 8192, 3000, sink },
		 e->b.address + 100, key);
	end_invalidate(&e->a, 2, sink);
	end_poll(&e->a);
	end_expect(test, &e->a, 1, 1, IB_WC_LOC_PROT_ERR);
	KUNIT_EXPECT_PTR_EQ(test, NULL, memchr_inv(e->a.bytes + 8192, MEMORY_POISON, 3000));
	KUNIT_EXPECT_TRUE(test, end_in_error(&e->a));
	KUNIT_EXPECT_EQ(test, e->a.device->iwarp, end_in_error(&e->b));
}

/* What succeeds behind a Read says that the Read has succeeded indeed. */
static void false_success_is_found_out_behind_it(struct kunit *test)
{
	struct ends *e = ends_of(test);
	u32 key = exposed(test, 100, 4096, READABLE);
	u32 sink = end_register(&e->a, 0, 8192, 4096, WRITABLE);

	e->a.bytes[8192 + 2999] = e->b.bytes[100 + 2999] + 1;
	memory_script(e->a.device);
	memory_fault(e->a.device, MEMORY_EXECUTE, 1, MEMORY_FALSE);
	end_post(&e->a, 1, IB_WR_RDMA_READ,
		 (struct ib_sge) { e->a.address + 8192, 3000, sink },
		 e->b.address + 100, key);
	end_poll(&e->a);
	end_expect(test, &e->a, 1, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_PTR_EQ(test, NULL, memchr_inv(e->a.bytes + 8192, MEMORY_POISON, 2999));
	KUNIT_EXPECT_EQ(test, e->a.bytes[8192 + 2999], (u8)(e->b.bytes[100 + 2999] + 1));
	KUNIT_EXPECT_FALSE(test, end_in_error(&e->a));
	end_write(&e->a, 2, 0, 0, 0, 0);
	end_poll(&e->a);
	end_expect(test, &e->a, 2, 2, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_TRUE(test, end_in_error(&e->a));
}

static struct kunit_case ordering_cases[] = {
	KUNIT_CASE_PARAM(receives_complete_in_posting_order, protocol_gen_params),
	KUNIT_CASE_PARAM(completions_come_in_posting_order, protocol_gen_params),
	KUNIT_CASE_PARAM(writes_are_placed_before_a_later_send, protocol_gen_params),
	KUNIT_CASE_PARAM(writes_are_placed_in_any_order, protocol_gen_params),
	KUNIT_CASE_PARAM(read_sees_a_prior_write, protocol_gen_params),
	KUNIT_CASE_PARAM(peer_is_not_told_of_reads_and_writes, protocol_gen_params),
	KUNIT_CASE_PARAM(directions_are_independent, protocol_gen_params),
	KUNIT_CASE_PARAM(unsignalled_success_has_no_completion, protocol_gen_params),
	KUNIT_CASE_PARAM(zero_length_asks_nothing_of_the_stag, protocol_gen_params),
	KUNIT_CASE_PARAM(send_with_invalidate_is_told, protocol_gen_params),
	KUNIT_CASE_PARAM(held_completions_come_later, protocol_gen_params),
	KUNIT_CASE_PARAM(late_read_is_there_when_it_is_polled, protocol_gen_params),
	KUNIT_CASE_PARAM(late_read_finds_its_sink_gone, protocol_gen_params),
	KUNIT_CASE_PARAM(false_success_is_found_out_behind_it, protocol_gen_params),
	{}
};

static struct kunit_suite ordering_suite = {
	.name = "memory_ordering",
	.init = ordering_init,
	.test_cases = ordering_cases,
};

kunit_test_suite(ordering_suite);
