// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls with Read chunks take pages before the server knows the client. The number of these pages
 * has a bound, and calls above it wait in order.
 */
#include <linux/unaligned.h>

#include "sq.h"
#include "../../svcrdma/trace.h"

enum {
	LARGE	= 1 << 20,
	PAGES	= LARGE / PAGE_SIZE,
	HEAD	= 64,
	/* So many large calls at a time. */
	FIT	= SVCRDMA_MAX_READ_CALLS,
	/* Send Queue entries for what shows that Reads have succeeded */
	PROOF	= 3,
};

static u32 most_pages(const struct server *server)
{
	return SVCRDMA_MAX_READ_CALLS * server->transport->st_max_pages;
}

static int pull_init(struct kunit *test)
{
	server_create(test);
	return 0;
}

/* A call with XID @xid, and @length bytes in a Read chunk. */
static void deliver(struct server *server, u32 xid, u32 length)
{
	struct rpcrdma_header header = { .xid = xid, .vers = 1, .credits = 32 };
	struct rpcrdma_segment segments[1], segment = { .handle = xid, .length = length };
	struct rpcrdma_chunk chunks[1];
	struct rpcrdma_chunk_lists lists;
	u8 message[256] = {};
	u8 *memory = kunit_kzalloc(server->test, length, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(server->test, memory);
	memset(memory, xid, length);
	fake_remote_add(server->fake, xid, 0, memory, length);
	rpcrdma_lists_init(&lists, segments, 1, chunks, 1);
	rpcrdma_lists_begin_read(&lists, HEAD);
	rpcrdma_lists_add_segment(&lists, segment);
	KUNIT_ASSERT_EQ(server->test, RPCRDMA_OK,
			rpcrdma_header_encode(&header, &lists, message, sizeof(message)));
	put_unaligned_be32(xid, message + header.size);
	KUNIT_ASSERT_TRUE(server->test, fake_deliver(server->qp, message,
						     header.size + HEAD));
}

/* Threads come for the messages, until there is nothing to do for them. */
static void look_at_messages(struct server *server)
{
	struct svc_xprt *xprt = &server->transport->st_xprt;

	while (test_bit(XPT_DATA, &xprt->xpt_flags))
		KUNIT_ASSERT_EQ(server->test, 0, server_recvfrom(server));
}

static unsigned int waiting(struct server *server)
{
	struct svcrdma_recv_ctxt *rc;
	unsigned int count = 0;

	list_for_each_entry(rc, &server->transport->st_read.wait, rc_list)
		count++;
	return count;
}

/* The next call that nfsd sees is complete, and has XID @xid. */
static void expect_call(struct server *server, u32 xid, u32 length)
{
	struct kunit *test = server->test;
	const struct xdr_buf *arg = &server->rqst->rq_arg;
	u8 last;

	KUNIT_ASSERT_EQ(test, HEAD + length, server_receive_all(server));
	KUNIT_EXPECT_EQ(test, xid, get_unaligned_be32(arg->head[0].iov_base));
	KUNIT_EXPECT_EQ(test, 0, read_bytes_from_xdr_buf(arg, HEAD + length - 1, &last, 1));
	KUNIT_EXPECT_EQ(test, (u8)xid, last);
	KUNIT_EXPECT_LE(test, server->transport->st_read.pages, most_pages(server));
	server_done(server);
}

static void pull_has_a_bound(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_recv_ctxt *rc;
	u32 i;

	server_connect(server);
	KUNIT_ASSERT_GE(test, server->transport->st_credits, FIT + 4);
	for (i = 1; i <= FIT + 4; i++)
		deliver(server, i, LARGE);
	look_at_messages(server);

	KUNIT_EXPECT_EQ(test, FIT * PAGES, server->transport->st_read.pages);
	KUNIT_EXPECT_EQ(test, FIT, server->transport->st_read.built);
	KUNIT_EXPECT_EQ(test, FIT + 4, server->transport->st_read.calls);
	KUNIT_EXPECT_EQ(test, 4, waiting(server));
	/* Those that wait have nothing. */
	list_for_each_entry(rc, &server->transport->st_read.wait, rc_list)
		KUNIT_EXPECT_EQ(test, 0, rc->rc_nr_pages);

	for (i = 1; i <= FIT + 4; i++)
		expect_call(server, i, LARGE);
	server_expect_at_rest(server);
}

/* One that is done makes room for one. */
static void pull_goes_on_in_order(struct kunit *test)
{
	struct server *server = server_of(test);
	unsigned int each;
	u32 i;

	server_connect(server);
	deliver(server, 1, LARGE);
	look_at_messages(server);
	each = fake_pending(server->qp);
	for (i = 2; i <= FIT + 3; i++)
		deliver(server, i, LARGE);
	look_at_messages(server);
	KUNIT_EXPECT_EQ(test, 3, waiting(server));
	for (i = 1; i <= 3; i++) {
		fake_run(server->qp, each);
		/* The pages are its own until a thread has come for it. */
		KUNIT_EXPECT_EQ(test, FIT * PAGES, server->transport->st_read.pages);
		KUNIT_ASSERT_EQ(test, HEAD + LARGE, server_recvfrom(server));
		KUNIT_EXPECT_EQ(test, (FIT - 1) * PAGES, server->transport->st_read.pages);
		server_done(server);
		look_at_messages(server);
		KUNIT_EXPECT_EQ(test, FIT * PAGES, server->transport->st_read.pages);
		KUNIT_EXPECT_EQ(test, 3 - i, waiting(server));
	}
	for (; i <= FIT + 3; i++)
		expect_call(server, i, LARGE);
	server_expect_at_rest(server);
}

/* Not even one that would fit passes one that waits; without Reads, it does. */
static void pull_is_not_overtaken(struct kunit *test)
{
	struct server *server = server_of(test);
	u32 i;

	server_connect(server);
	for (i = 1; i <= FIT + 1; i++)
		deliver(server, i, LARGE);
	look_at_messages(server);
	KUNIT_ASSERT_LE(test, server->transport->st_read.pages + 1, most_pages(server));
	deliver(server, FIT + 2, 100);
	look_at_messages(server);
	KUNIT_EXPECT_EQ(test, 2, waiting(server));
	for (i = 1; i <= FIT + 1; i++)
		expect_call(server, i, LARGE);
	expect_call(server, FIT + 2, 100);
	server_expect_at_rest(server);
}

/* What clients do most of the time. */
static void pull_of_small_calls_does_not_wait(struct kunit *test)
{
	struct server *server = server_of(test);
	u32 i, count;

	server_connect(server);
	count = min(server->transport->st_credits, 60U);
	for (i = 1; i <= count; i++)
		deliver(server, i, 8192);
	look_at_messages(server);
	KUNIT_EXPECT_EQ(test, 0, waiting(server));
	KUNIT_EXPECT_EQ(test, count, server->transport->st_read.built);
	for (i = 1; i <= count; i++)
		expect_call(server, i, 8192);
	server_expect_at_rest(server);
}

/*
 * The Reads of a small call begin in a completion handler. What they allocate there may not wait for
 * a disk, which may be this server's own.
 */
static void pull_of_small_calls_waits_for_no_io(struct kunit *test)
{
	struct server *server = server_of(test);
	struct fake_wr *read;

	server_connect(server);
	deliver(server, 1, 8192);
	read = fake_last_wr(server->qp);
	KUNIT_ASSERT_EQ(test, IB_WR_RDMA_READ, read->opcode);
	KUNIT_EXPECT_TRUE(test, read->noio);
	KUNIT_EXPECT_FALSE(test, current->flags & PF_MEMALLOC_NOIO);
	deliver(server, 2, LARGE);
	look_at_messages(server);
	read = fake_last_wr(server->qp);
	KUNIT_ASSERT_EQ(test, IB_WR_RDMA_READ, read->opcode);
	KUNIT_EXPECT_FALSE(test, read->noio);
	expect_call(server, 1, 8192);
	expect_call(server, 2, LARGE);
	server_expect_at_rest(server);
}

/* Four regions for each call, of eight: two at a time, then one. */
static void deliver_to_few_regions(struct server *server, u32 count)
{
	u32 i;

	fake_be_iwarp(server->fake);
	fake_queues.regions = 8;
	server_connect(server);
	for (i = 1; i <= count; i++)
		deliver(server, i, LARGE);
}

/* A call may wait for regions with its pages, and others behind it for pages. */
static void pull_waits_for_regions_and_pages(struct kunit *test)
{
	struct server *server = server_of(test);
	u32 i;

	deliver_to_few_regions(server, FIT + 4);
	look_at_messages(server);
	KUNIT_EXPECT_EQ(test, 2, server->transport->st_read.built);
	KUNIT_EXPECT_LE(test, server->transport->st_read.pages, most_pages(server));
	for (i = 1; i <= FIT + 4; i++)
		expect_call(server, i, LARGE);
	server_expect_at_rest(server);
}

static struct svcrdma_recv_ctxt *first_waiting(const struct svcrdma_transport *t)
{
	return list_first_entry(&t->st_read.wait, struct svcrdma_recv_ctxt, rc_list);
}

static void build_it_meanwhile(void *data, const struct svcrdma_transport *t, int status)
{
	first_waiting(t)->rc_read_state = SVCRDMA_READ_BUILDING;
}

/* As soon as it waits it is another thread's, which may be building it again. */
static void pull_that_waits_is_somebody_elses(struct kunit *test)
{
	struct server *server = server_of(test);
	u32 i;

	deliver_to_few_regions(server, 3);
	KUNIT_ASSERT_EQ(test, 0, register_trace_svcrdma_read_retry(build_it_meanwhile, NULL));
	look_at_messages(server);
	unregister_trace_svcrdma_read_retry(build_it_meanwhile, NULL);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, 1, waiting(server));
	KUNIT_EXPECT_EQ(test, SVCRDMA_READ_BUILDING,
			first_waiting(server->transport)->rc_read_state);
	first_waiting(server->transport)->rc_read_state = SVCRDMA_READ_WAITING;
	for (i = 1; i <= 3; i++)
		expect_call(server, i, LARGE);
	server_expect_at_rest(server);
}

/* What one that waits needs, a small one may not take while a thread is on the way to it. */
static void pull_that_tries_again_is_not_passed(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_recv_ctxt *rc;
	struct svcrdma_transport *t;
	unsigned int pending;
	u32 i;

	deliver_to_few_regions(server, 3);
	t = server->transport;
	look_at_messages(server);
	KUNIT_ASSERT_EQ(test, 1, waiting(server));
	fake_run(server->qp, fake_pending(server->qp) / 2);
	rc = svcrdma_reads_next(t);
	KUNIT_ASSERT_NOT_NULL(test, rc);
	KUNIT_EXPECT_EQ(test, 0, waiting(server));
	pending = fake_pending(server->qp);
	deliver(server, 4, 100);
	KUNIT_EXPECT_EQ(test, pending, fake_pending(server->qp));
	svcrdma_reads_retry(server->rqst, t, rc);
	KUNIT_EXPECT_LT(test, pending, fake_pending(server->qp));
	for (i = 1; i <= 4; i++)
		expect_call(server, i, i == 4 ? 100 : LARGE);
	server_expect_at_rest(server);
}

static void pull_that_waits_ends_with_the_connection(struct kunit *test)
{
	struct server *server = server_of(test);
	u32 i;

	server_connect(server);
	for (i = 1; i <= FIT + 4; i++)
		deliver(server, i, LARGE);
	look_at_messages(server);
	KUNIT_EXPECT_EQ(test, 4, waiting(server));
	server_disconnect(server);
}

/* The array for the pages, or the Read of them: the connection ends, and nothing else. */
static void pull_without_memory(struct kunit *test)
{
	struct server *server = server_of(test);
	bool failed;
	int n = -1;

	do {
		server_connect(server);
		deliver(server, 1, 32768);
		fake_alloc_fail(++n);
		KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
		failed = fake_alloc_failed();
		KUNIT_EXPECT_EQ(test, failed, READ_ONCE(server->transport->st_closing));
		KUNIT_EXPECT_EQ(test, failed, !fake_posted(server->qp));
		if (failed)
			server_disconnect(server);
	} while (failed);
	KUNIT_EXPECT_EQ(test, 2 + COMPAT_RUNS_TABLE_ALLOCS, n);
	expect_call(server, 1, 32768);
	server_expect_at_rest(server);
}

static void take_first(void *status, const struct svcrdma_transport *t, const char *what,
		       const struct ib_wc *wc)
{
	int *first = status;

	*first = *first ?: wc->status;
}

/* It is told why, by the Read that failed; the last one of the chain is flushed. */
static void pull_that_fails_says_why(struct kunit *test)
{
	struct server *server = server_of(test);
	int status = 0;

	server_connect(server);
	deliver(server, 1, LARGE);
	server->fake->remotes[0].rkey = 2;
	KUNIT_ASSERT_EQ(test, 0, register_trace_svcrdma_wc_err(take_first, &status));
	look_at_messages(server);
	KUNIT_EXPECT_LT(test, 1, fake_posted(server->qp));
	fake_run_all(server->qp);
	unregister_trace_svcrdma_wc_err(take_first, &status);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, status);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
}

/* rxe: a Read whose last byte is as before may have failed. */
static void begin_on_rxe(struct server *server, u32 xid, u32 length)
{
	server->fake->ib.ops.driver_id = RDMA_DRIVER_RXE;
	server_connect(server);
	svcrdma_rxe_begin(server->transport);
	deliver(server, xid, length);
	look_at_messages(server);
}

static void pull_is_there_on_rxe(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t;
	unsigned int posted;

	begin_on_rxe(server, SVCRDMA_READ_SENTINEL + 1, LARGE);
	t = server->transport;
	posted = fake_posted(server->qp);
	KUNIT_EXPECT_EQ(test, t->st_sq_depth - posted - PROOF, server_sq_free(t));
	fake_run(server->qp, posted);
	KUNIT_EXPECT_EQ(test, posted, fake_posted(server->qp));
	KUNIT_EXPECT_EQ(test, t->st_sq_depth, server_sq_free(t));
	expect_call(server, SVCRDMA_READ_SENTINEL + 1, LARGE);
	server_expect_at_rest(server);
}

/* Not a Write of no bytes, which makes a peer's rxe fail Reads that it is asked for again */
static void expect_last_byte(struct server *server, u64 at)
{
	const struct fake_wr *wr = fake_last_wr(server->qp);

	KUNIT_EXPECT_EQ(server->test, IB_WR_RDMA_READ, wr->opcode);
	KUNIT_EXPECT_EQ(server->test, at, wr->remote);
	KUNIT_ASSERT_EQ(server->test, 1, wr->nr_sge);
	KUNIT_EXPECT_EQ(server->test, 1, wr->sge[0].length);
}

static void pull_is_proven_on_rxe(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t;

	begin_on_rxe(server, SVCRDMA_READ_SENTINEL, 8192);
	t = server->transport;
	KUNIT_ASSERT_EQ(test, 1, fake_posted(server->qp));
	fake_run(server->qp, 1);
	look_at_messages(server);
	KUNIT_EXPECT_EQ(test, 1, t->st_read.built);
	KUNIT_EXPECT_EQ(test, t->st_sq_depth - 1 - PROOF, server_sq_free(t));
	KUNIT_ASSERT_EQ(test, 2, fake_posted(server->qp));
	expect_last_byte(server, 8191);
	expect_call(server, SVCRDMA_READ_SENTINEL, 8192);
	server_expect_at_rest(server);
}

static void take_status(void *data, const struct svcrdma_transport *t, int status)
{
	*(int *)data = status;
}

static void pull_without_proof_is_none(struct kunit *test)
{
	struct server *server = server_of(test);
	int status = 0;

	begin_on_rxe(server, SVCRDMA_READ_SENTINEL, LARGE);
	KUNIT_ASSERT_EQ(test, 0, register_trace_svcrdma_read_unproven(take_status, &status));
	fake_run(server->qp, fake_pending(server->qp));
	KUNIT_EXPECT_EQ(test, 1, fake_pending(server->qp));
	KUNIT_EXPECT_EQ(test, 0, status);
	fake_flush(server->qp);
	unregister_trace_svcrdma_read_unproven(take_status, &status);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, status);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	KUNIT_EXPECT_EQ(test, 1, server->transport->st_read.built);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	server_disconnect(server);
}

static void pull_whose_proof_is_refused(struct kunit *test)
{
	struct server *server = server_of(test);

	begin_on_rxe(server, SVCRDMA_READ_SENTINEL, LARGE);
	server->qp->accept = 0;
	fake_run(server->qp, fake_pending(server->qp));
	KUNIT_EXPECT_EQ(test, 0, fake_pending(server->qp));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	server_disconnect(server);
}

/* Nothing is written beyond them: the connection ends. */
static void pull_is_too_large_for_the_thread(struct kunit *test)
{
	struct server *server = server_of(test);

	server_connect(server);
	deliver(server, 1, LARGE);
	look_at_messages(server);
	fake_run_all(server->qp);
	server->transport->st_max_pages = PAGES - 1;
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	KUNIT_EXPECT_EQ(test, 0, server->rqst->rq_arg.len);
}

static struct kunit_case pull_cases[] = {
	KUNIT_CASE(pull_has_a_bound),
	KUNIT_CASE(pull_goes_on_in_order),
	KUNIT_CASE(pull_is_not_overtaken),
	KUNIT_CASE(pull_of_small_calls_does_not_wait),
	KUNIT_CASE(pull_of_small_calls_waits_for_no_io),
	KUNIT_CASE(pull_waits_for_regions_and_pages),
	KUNIT_CASE(pull_that_waits_is_somebody_elses),
	KUNIT_CASE(pull_that_tries_again_is_not_passed),
	KUNIT_CASE(pull_that_waits_ends_with_the_connection),
	KUNIT_CASE(pull_without_memory),
	KUNIT_CASE(pull_that_fails_says_why),
	KUNIT_CASE(pull_is_there_on_rxe),
	KUNIT_CASE(pull_is_proven_on_rxe),
	KUNIT_CASE(pull_without_proof_is_none),
	KUNIT_CASE(pull_whose_proof_is_refused),
	KUNIT_CASE(pull_is_too_large_for_the_thread),
	{}
};

static struct kunit_suite pull_suite = {
	.name = "svcrdma_pull",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = pull_init,
	.test_cases = pull_cases,
};

kunit_test_suite(pull_suite);
