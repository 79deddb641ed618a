// SPDX-License-Identifier: GPL-2.0-only
/* Calls whose Reads need memory regions, or queue entries, when there are none. */
#include <rdma/mr_pool.h>

#include "../fake/lines.h"
#include "call.h"

/* Another connection, where each Read needs @each of @regions memory regions. */
static void connect_iwarp(struct server *server, unsigned int regions, u32 each)
{
	server_disconnect(server);
	fake_be_iwarp(server->fake);
	server->fake->ib.attrs.max_fast_reg_page_list_len = 4 / each;
	fake_queues.regions = regions;
	server_connect(server);
}

static void expect_waiting(struct server *server, unsigned int regions, unsigned int pages)
{
	struct lines *lines = lines_of_block(server->test, &svcrdma_connections,
					     server->transport->st_connection.cn_number);

	KUNIT_EXPECT_EQ(server->test, regions, lines_number(lines, "waiting_for_region"));
	KUNIT_EXPECT_EQ(server->test, pages, lines_number(lines, "waiting_for_pages"));
}

/* More Reads than the device has regions for: they wait, and are done in order. */
static void call_reads_wait_for_regions(struct kunit *test)
{
	static const struct call_case c = { "", 160 + 16384, 0, { { 160, 16384, 1 } } };
	struct server *server = server_of(test);
	struct call calls[5] = {};
	int i;

	/* Arrange */
	connect_iwarp(server, 2, 1);
	for (i = 0; i < 5; i++) {
		call_build(server, &calls[i], &c);
		calls[i].stream[1000] = i;
		KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, calls[i].message,
						     calls[i].size));
	}
	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));

	/* Act, Assert */
	KUNIT_EXPECT_EQ(test, 2, server->transport->st_read.built);
	KUNIT_EXPECT_EQ(test, 3, list_count_nodes(&server->transport->st_read.wait));
	expect_waiting(server, 1, 2);
	for (i = 0; i < 5; i++) {
		KUNIT_ASSERT_EQ_MSG(test, c.length, server_receive_all(server),
				    "call %d", i);
		call_expect_arg(server, calls[i].stream, c.length);
		server_done(server);
	}
	expect_waiting(server, 0, 0);
	server_expect_at_rest(server);
	KUNIT_EXPECT_EQ(test, 0, server->qp->ib.mrs_used);
}

/* What would wait for ever is refused, and the connection goes on. */
static void expect_reads_refused(struct server *server, const struct call_case *c)
{
	struct kunit *test = server->test;
	struct call call = {};

	call_build(server, &call, c);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));
	KUNIT_EXPECT_EQ(test, 1, fake_posted(server->qp));
	server_expect_error(server, CALL_XID, RPCRDMA_ERR_CHUNK);
	server_expect_at_rest(server);
	KUNIT_EXPECT_EQ(test, 0, server->qp->ib.mrs_used);
}

/* One call gives back what three others wait for: none of these waits for another. */
static void call_reads_begin_side_by_side(struct kunit *test)
{
	static const struct call_case cases[] = {
		{ "", 160 + 24576, 0, { { 160, 24576, 1 } } },
		{ "", 160 + 8192, 0, { { 160, 8192, 1 } } },
		{ "", 160 + 8192, 0, { { 160, 8192, 1 } } },
		{ "", 160 + 8192, 0, { { 160, 8192, 1 } } },
	};
	struct server *server = server_of(test);
	struct call calls[ARRAY_SIZE(cases)] = {};
	int i;

	/* Arrange: the first one has all regions. */
	connect_iwarp(server, 3, 2);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		call_build(server, &calls[i], &cases[i]);
		KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, calls[i].message,
						     calls[i].size));
		KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));
	}
	expect_waiting(server, 1, 2);
	fake_run_all(server->qp);
	/* The first of those that wait begins, before nfsd has the call that has waited for nobody. */
	KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));
	KUNIT_ASSERT_EQ(test, cases[0].length, server_recvfrom(server));
	server_done(server);

	/* Act */
	while (server_is_ready(server))
		KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));

	/* Assert */
	KUNIT_EXPECT_EQ(test, 3, server->transport->st_read.built);
	for (i = 1; i < ARRAY_SIZE(cases); i++) {
		KUNIT_ASSERT_EQ(test, cases[i].length, server_receive_all(server));
		call_expect_arg(server, calls[i].stream, cases[i].length);
		server_done(server);
	}
	server_expect_at_rest(server);
}

/* Whether it would wait does not matter: it is one too many, and the connection ends. */
static void call_is_one_too_many_while_others_wait(struct kunit *test)
{
	static const struct call_case c = { "", 160 + 16384, 0, { { 160, 16384, 1 } } };
	struct server *server = server_of(test);
	struct svcrdma_transport *t;
	u32 before;
	int i;

	/* Arrange: all credits are used. */
	connect_iwarp(server, 2, 2);
	t = server->transport;
	for (i = 0; i < 3; i++) {
		call_deliver(server, &c);
		KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));
	}
	expect_waiting(server, 1, 1);
	before = t->st_credits;
	t->st_credits = 3;

	/* Act */
	call_deliver(server, &c);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	t->st_credits = before;

	/* Assert */
	KUNIT_EXPECT_TRUE(test, READ_ONCE(t->st_closing));
	KUNIT_EXPECT_EQ(test, (u32)RPCRDMA_END_BAD_MESSAGE, (u32)t->st_end);
	KUNIT_EXPECT_EQ(test, 3, t->st_read.calls);
	KUNIT_EXPECT_EQ(test, 2, list_count_nodes(&t->st_read.wait));
}

static void call_needs_more_regions_than_there_are(struct kunit *test)
{
	static const struct call_case c = { "", 160 + 16384, 0, { { 160, 16384, 1 } } };
	struct server *server = server_of(test);

	connect_iwarp(server, 3, 4);
	expect_reads_refused(server, &c);
}

static void call_needs_a_deeper_queue(struct kunit *test)
{
	static const struct call_case deep = { "", 160 + 16384, 0, { { 160, 16384, 4 } } };
	static const struct call_case fits = { "", 160 + 16384, 0, { { 160, 16384, 3 } } };
	struct server *server = server_of(test);
	u32 before = server->transport->st_sq_depth;
	struct call call = {};

	server->transport->st_sq_depth = 3;
	expect_reads_refused(server, &deep);
	call_build(server, &call, &fits);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));
	KUNIT_ASSERT_EQ(test, fits.length, server_receive_all(server));
	call_expect_arg(server, call.stream, fits.length);
	server_done(server);
	server_expect_at_rest(server);
	server->transport->st_sq_depth = before;
}

/**
 * struct meanwhile - what another thread does while the first one builds Reads
 * @server: the connection
 * @map_mr_sg: as the provider has it
 * @run: that
 * @held: a region that somebody is about to give back
 */
static struct meanwhile {
	struct server	*server;
	int		(*map_mr_sg)(struct ib_mr *mr, struct scatterlist *sgl, int nents,
				     unsigned int *offset);
	void		(*run)(struct server *server);
	struct ib_mr	*held;
} meanwhile;

static int map_and_let_others_run(struct ib_mr *mr, struct scatterlist *sgl, int nents,
				  unsigned int *offset)
{
	struct server *server = meanwhile.server;
	struct ib_qp *qp = &server->qp->ib;

	server->fake->ib.ops.map_mr_sg = meanwhile.map_mr_sg;
	meanwhile.run(server);
	meanwhile.held = ib_mr_pool_get(qp, &qp->rdma_mrs);
	return meanwhile.map_mr_sg(mr, sgl, nents, offset);
}

/* As soon as the next Read has the first of its regions. */
static void let_others_run(struct server *server, void (*run)(struct server *server))
{
	meanwhile = (struct meanwhile) {
		.server = server, .run = run,
		.map_mr_sg = server->fake->ib.ops.map_mr_sg,
	};
	server->fake->ib.ops.map_mr_sg = map_and_let_others_run;
}

static void others_give_back(struct server *server)
{
	struct ib_qp *qp = &server->qp->ib;

	KUNIT_ASSERT_NOT_NULL(server->test, meanwhile.held);
	ib_mr_pool_put(qp, &qp->rdma_mrs, meanwhile.held);
	KUNIT_EXPECT_FALSE(server->test, READ_ONCE(server->transport->st_closing));
}

/* Gets one of two regions, and no more. */
static void other_call_fails_too(struct server *server)
{
	KUNIT_EXPECT_EQ(server->test, 0, server_recvfrom(server));
	KUNIT_EXPECT_EQ(server->test, 1, list_count_nodes(&server->transport->st_read.wait));
}

/* Two calls have taken each other's regions away: both start again. */
static void call_fails_with_another_one(struct kunit *test)
{
	static const struct call_case c = { "", 160 + 16384, 0, { { 160, 16384, 1 } } };
	struct server *server = server_of(test);
	struct call calls[2] = {};
	int i;

	/* Arrange: each needs all regions. */
	connect_iwarp(server, 2, 2);
	for (i = 0; i < 2; i++) {
		call_build(server, &calls[i], &c);
		calls[i].stream[1000] = i;
		KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, calls[i].message,
						     calls[i].size));
	}

	/* Act */
	let_others_run(server, other_call_fails_too);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	others_give_back(server);

	/* Assert */
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ_MSG(test, c.length, server_receive_all(server), "call %d", i);
		call_expect_arg(server, calls[i].stream, c.length);
		server_done(server);
	}
	server_expect_at_rest(server);
	KUNIT_EXPECT_EQ(test, 0, server->qp->ib.mrs_used);
}

/* The Read ends, its call is taken, and a thread sees that nobody waits. */
static void other_call_is_served(struct server *server)
{
	fake_run_all(server->qp);
	KUNIT_EXPECT_GT(server->test, server_recvfrom(server), 0);
	server_done(server);
	KUNIT_EXPECT_EQ(server->test, 0, server_recvfrom(server));
}

static void call_fails_while_the_last_read_ends(struct kunit *test)
{
	static const struct call_case small = { "", 160 + 8192, 0, { { 160, 8192, 1 } } };
	static const struct call_case c = { "", 160 + 16384, 0, { { 160, 16384, 1 } } };
	struct server *server = server_of(test);
	struct call call = {}, other = {};

	/* Arrange: one of the regions is in use. */
	connect_iwarp(server, 2, 2);
	call_build(server, &other, &small);
	call_build(server, &call, &c);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, other.message, other.size));
	KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, call.message, call.size));

	/* Act */
	let_others_run(server, other_call_is_served);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	others_give_back(server);

	/* Assert */
	KUNIT_ASSERT_EQ(test, c.length, server_receive_all(server));
	call_expect_arg(server, call.stream, c.length);
	server_done(server);
	server_expect_at_rest(server);
}

static struct kunit_case region_cases[] = {
	KUNIT_CASE(call_reads_wait_for_regions),
	KUNIT_CASE(call_reads_begin_side_by_side),
	KUNIT_CASE(call_is_one_too_many_while_others_wait),
	KUNIT_CASE(call_needs_more_regions_than_there_are),
	KUNIT_CASE(call_needs_a_deeper_queue),
	KUNIT_CASE(call_fails_with_another_one),
	KUNIT_CASE(call_fails_while_the_last_read_ends),
	{}
};

static struct kunit_suite region_suite = {
	.name = "svcrdma_call_region",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = call_init,
	.test_cases = region_cases,
};

kunit_test_suite(region_suite);
