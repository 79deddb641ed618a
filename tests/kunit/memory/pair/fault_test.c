// SPDX-License-Identifier: GPL-2.0-only
/*
 * Client and server over the provider in memory: a fault happens at each step of an RPC in turn,
 * and at each step of a connect. The RPC has to end, or to wait for its reply on the next
 * connection, with all of its bytes; and nothing of the lost connection may be left.
 */
#include "pair.h"

/**
 * struct fault_case - a fault that is to happen at each step of a kind
 * @desc: name
 * @side: whose device
 * @step: of which kind
 * @status: how
 * @calls: RPCs one after the other; 0: one
 */
struct fault_case {
	const char		*desc;
	enum pair_side		side;
	enum memory_step	step;
	enum ib_wc_status	status;
	unsigned int		calls;
};

/* The client posts its Receives in batches. */
enum { BATCHES = 16 };

static const struct fault_case fault_cases[] = {
	{ "client, post to the Send Queue", PAIR_CLIENT, MEMORY_POST_SEND },
	{ "client, post of a Receive", PAIR_CLIENT, MEMORY_POST_RECV, 0, BATCHES },
	{ "client, work request fails", PAIR_CLIENT, MEMORY_EXECUTE, IB_WC_LOC_QP_OP_ERR },
	{ "client, no answer of the peer", PAIR_CLIENT, MEMORY_EXECUTE, IB_WC_RETRY_EXC_ERR },
	{ "client, connection lost", PAIR_CLIENT, MEMORY_EXECUTE, MEMORY_LOST },
	{ "client, message fails", PAIR_CLIENT, MEMORY_RECEIVE, IB_WC_LOC_PROT_ERR },
	{ "client, message lost", PAIR_CLIENT, MEMORY_RECEIVE, MEMORY_LOST },
	{ "client, mapping", PAIR_CLIENT, MEMORY_MAP_MR },
	{ "server, post to the Send Queue", PAIR_SERVER, MEMORY_POST_SEND },
	{ "server, post of a Receive", PAIR_SERVER, MEMORY_POST_RECV, 0, BATCHES },
	{ "server, work request fails", PAIR_SERVER, MEMORY_EXECUTE, IB_WC_LOC_PROT_ERR },
	{ "server, refused by the peer", PAIR_SERVER, MEMORY_EXECUTE, IB_WC_REM_ACCESS_ERR },
	{ "server, connection lost", PAIR_SERVER, MEMORY_EXECUTE, MEMORY_LOST },
	{ "server, message fails", PAIR_SERVER, MEMORY_RECEIVE, IB_WC_LOC_LEN_ERR },
	{ "server, message lost", PAIR_SERVER, MEMORY_RECEIVE, MEMORY_LOST },
	{ "server, mapping", PAIR_SERVER, MEMORY_MAP_MR },
};

KUNIT_ARRAY_PARAM_DESC(fault, fault_cases, desc);

/* One after the other. Only the client's own device makes one fail. */
static void run_calls(struct pair *pair, const struct fault_case *c)
{
	unsigned int i;
	struct client_call *call;

	for (i = 0; i < max(c->calls, 1); i++) {
		call = pair_call(pair);
		if (pair_run_call(pair, call))
			pair_expect_answer(pair, call);
		else
			KUNIT_EXPECT_EQ(pair->test, MEMORY_MAP_MR, c->step);
		client_call_destroy(call);
	}
}

/* The fault at step @at of an RPC. */
static void run_with_fault(struct pair *pair, const struct fault_case *c, u32 at)
{
	KUNIT_ASSERT_EQ(pair->test, 0, pair_connect(pair));
	pair_script(pair);
	memory_fault(pair_device(pair, c->side), c->step, at, c->status);
	run_calls(pair, c);
	pair_expect_healthy(pair);
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

/* Steps of this kind that are taken when nothing goes wrong. */
static u32 count_steps(struct pair *pair, const struct fault_case *c)
{
	u32 steps;

	KUNIT_ASSERT_EQ(pair->test, 0, pair_connect(pair));
	pair_script(pair);
	run_calls(pair, c);
	steps = memory_seen(pair_device(pair, c->side), c->step);
	pair_disconnect(pair);
	return steps;
}

static void check_each_step(struct kunit *test, bool iwarp)
{
	const struct fault_case *c = test->param_value;
	struct pair *pair = pair_create(test, iwarp);
	u32 at, steps;

	pair->answer = pair_answer;
	steps = count_steps(pair, c);
	/* A server registers on iWARP only. */
	if (iwarp || c->side == PAIR_CLIENT || c->step != MEMORY_MAP_MR)
		KUNIT_EXPECT_GT(test, steps, 0);
	for (at = 1; at <= steps; at++)
		run_with_fault(pair, c, at);
	kunit_info(test, "%s: %u steps", c->desc, steps);
}

/* RFC 4296 section 3.2 (A11): each kind of error has its end, and the RPC its own. */
static void each_step_fails_on_infiniband(struct kunit *test)
{
	check_each_step(test, false);
}

static void each_step_fails_on_iwarp(struct kunit *test)
{
	check_each_step(test, true);
}

/* What the wire does, and what a device may do at any time. */
static const struct fault_case wire_cases[] = {
	{ "client, no answer of the peer", PAIR_CLIENT, MEMORY_EXECUTE, IB_WC_RETRY_EXC_ERR },
	{ "client, connection lost", PAIR_CLIENT, MEMORY_EXECUTE, MEMORY_LOST },
	{ "client, message lost", PAIR_CLIENT, MEMORY_RECEIVE, MEMORY_LOST },
	{ "server, no answer of the peer", PAIR_SERVER, MEMORY_EXECUTE, IB_WC_RETRY_EXC_ERR },
	{ "server, refused by the peer", PAIR_SERVER, MEMORY_EXECUTE, IB_WC_REM_ACCESS_ERR },
	{ "server, connection lost", PAIR_SERVER, MEMORY_EXECUTE, MEMORY_LOST },
	{ "server, message lost", PAIR_SERVER, MEMORY_RECEIVE, MEMORY_LOST },
};

/* With the registrations, the Reads and the Writes that this device needs. */
static void each_step_fails_on_the_wire(struct kunit *test)
{
	struct pair *pair = pair_create_as(test, test->param_value);
	u32 at, steps, sum = 0;
	int i;

	pair->client_device->late_reads = true;
	pair->server_device->late_reads = true;
	pair->answer = pair_answer;
	for (i = 0; i < ARRAY_SIZE(wire_cases); i++) {
		steps = count_steps(pair, &wire_cases[i]);
		KUNIT_EXPECT_GT_MSG(test, steps, 0, "%s", wire_cases[i].desc);
		for (at = 1; at <= steps; at++)
			run_with_fault(pair, &wire_cases[i], at);
		sum += steps;
	}
	kunit_info(test, "%u steps", sum);
}

/*
 * rxe: the @at-th work request is a Read that succeeds without its data. Nobody takes what was in
 * the memory before for a call, or for a reply.
 */
static void run_with_false_success(struct pair *pair, const struct fault_case *c, u32 at)
{
	struct client_call *call = pair_call(pair);
	unsigned int before;

	KUNIT_ASSERT_EQ(pair->test, 0, pair_connect(pair));
	pair_script(pair);
	memory_fault(pair_device(pair, c->side), MEMORY_EXECUTE, at, MEMORY_FALSE);
	before = pair->answers;
	KUNIT_EXPECT_EQ(pair->test, 0, client_call_send(call));
	pair_pump(pair);
	if (pair->answers != before)
		pair_expect_call(pair, call);
	if (!client_call_done(call)) {
		pair_disconnect(pair);
		pair_script(pair);
		KUNIT_EXPECT_TRUE(pair->test, pair_run_call(pair, call));
	}
	pair_expect_answer(pair, call);
	client_call_destroy(call);
	pair_expect_healthy(pair);
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

static void each_read_succeeds_falsely(struct kunit *test)
{
	static const struct fault_case c = { "", PAIR_SERVER, MEMORY_EXECUTE };
	struct pair *pair = pair_create_as(test, memory_shape_of(RDMA_DRIVER_RXE));
	u32 at, steps;

	pair->answer = pair_answer;
	steps = count_steps(pair, &c);
	for (at = 1; at <= steps; at++)
		run_with_false_success(pair, &c, at);
}

static const struct fault_case connect_cases[] = {
	{ "client, completion queue", PAIR_CLIENT, MEMORY_CREATE_CQ },
	{ "client, queue pair", PAIR_CLIENT, MEMORY_CREATE_QP },
	{ "client, memory region", PAIR_CLIENT, MEMORY_ALLOC_MR },
	{ "client, Receive", PAIR_CLIENT, MEMORY_POST_RECV },
	{ "server, completion queue", PAIR_SERVER, MEMORY_CREATE_CQ },
	{ "server, queue pair", PAIR_SERVER, MEMORY_CREATE_QP },
	{ "server, memory region", PAIR_SERVER, MEMORY_ALLOC_MR },
	{ "server, Receive", PAIR_SERVER, MEMORY_POST_RECV },
};

KUNIT_ARRAY_PARAM_DESC(connect, connect_cases, desc);

/* The first ones, the last one, and some between them. */
static u32 next_step(u32 at, u32 steps)
{
	if (at < 8 || at >= steps)
		return at + 1;
	return min(steps, at + 1 + steps / 16);
}

/* All or nothing: a connection works, or there is nothing of it. */
static void each_step_of_a_connect_fails(struct kunit *test)
{
	const struct fault_case *c = test->param_value;
	struct pair *pair = pair_create(test, true);
	struct memory_device *device = pair_device(pair, c->side);
	u32 at, steps;

	pair->answer = pair_answer;
	pair_script(pair);
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	steps = memory_seen(device, c->step);
	pair_disconnect(pair);
	for (at = 1; at <= steps; at = next_step(at, steps)) {
		pair_script(pair);
		memory_fault(device, c->step, at, 0);
		if (pair_connect(pair)) {
			pair_expect_nothing_left(pair);
			continue;
		}
		pair_script(pair);
		pair_expect_healthy(pair);
		pair_disconnect(pair);
		pair_expect_nothing_left(pair);
	}
	KUNIT_EXPECT_GT(test, steps, 0);
	kunit_info(test, "%s: %u steps", c->desc, steps);
}

static struct kunit_case fault_test_cases[] = {
	KUNIT_CASE_PARAM(each_step_fails_on_infiniband, fault_gen_params),
	KUNIT_CASE_PARAM(each_step_fails_on_iwarp, fault_gen_params),
	KUNIT_CASE_PARAM(each_step_fails_on_the_wire, pair_shape_params),
	KUNIT_CASE(each_read_succeeds_falsely),
	KUNIT_CASE_PARAM(each_step_of_a_connect_fails, connect_gen_params),
	{}
};

static struct kunit_suite fault_suite = {
	.name = "memory_fault",
	.suite_init = pair_suite_init,
	.suite_exit = pair_suite_exit,
	.test_cases = fault_test_cases,
};

kunit_test_suite(fault_suite);
