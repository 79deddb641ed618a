// SPDX-License-Identifier: GPL-2.0
/*
 * Client and server over the provider in memory: what goes wrong, goes wrong at each
 * step of an RPC in turn. The RPC ends, or waits and is answered on the next connection,
 * with all of its bytes; and nothing of the lost connection is left.
 */
#include "pair.h"

/* A Read chunk and a Write chunk; nothing else has more steps. */
static const struct client_shape shape = {
	.head = 160, .pages = 9001, .tail = 40, .write = true,
	.reply_head = 128, .reply_pages = 9001, .reply_tail = 64, .read = true,
};

static const struct pair_answer answer = { 128, 8999, 20 };

enum side { CLIENT, SERVER };

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
	enum side		side;
	enum memory_step	step;
	enum ib_wc_status	status;
	unsigned int		calls;
};

/* The client posts its Receives in batches. */
enum { BATCHES = 16 };

static const struct fault_case fault_cases[] = {
	{ "client, post to the Send Queue", CLIENT, MEMORY_POST_SEND },
	{ "client, post of a Receive", CLIENT, MEMORY_POST_RECV, 0, BATCHES },
	{ "client, work request fails", CLIENT, MEMORY_EXECUTE, IB_WC_LOC_QP_OP_ERR },
	{ "client, no answer of the peer", CLIENT, MEMORY_EXECUTE, IB_WC_RETRY_EXC_ERR },
	{ "client, connection lost", CLIENT, MEMORY_EXECUTE, MEMORY_LOST },
	{ "client, message fails", CLIENT, MEMORY_RECEIVE, IB_WC_LOC_PROT_ERR },
	{ "client, message lost", CLIENT, MEMORY_RECEIVE, MEMORY_LOST },
	{ "client, mapping", CLIENT, MEMORY_MAP_MR },
	{ "server, post to the Send Queue", SERVER, MEMORY_POST_SEND },
	{ "server, post of a Receive", SERVER, MEMORY_POST_RECV },
	{ "server, work request fails", SERVER, MEMORY_EXECUTE, IB_WC_LOC_PROT_ERR },
	{ "server, refused by the peer", SERVER, MEMORY_EXECUTE, IB_WC_REM_ACCESS_ERR },
	{ "server, connection lost", SERVER, MEMORY_EXECUTE, MEMORY_LOST },
	{ "server, message fails", SERVER, MEMORY_RECEIVE, IB_WC_LOC_LEN_ERR },
	{ "server, message lost", SERVER, MEMORY_RECEIVE, MEMORY_LOST },
	{ "server, mapping", SERVER, MEMORY_MAP_MR },
};

KUNIT_ARRAY_PARAM_DESC(fault, fault_cases, desc);

static struct memory_device *device_of(struct pair *pair, enum side side)
{
	return side == CLIENT ? pair->client_device : pair->server_device;
}

static void script_both(struct pair *pair)
{
	memory_script(pair->client_device);
	memory_script(pair->server_device);
}

/*
 * SUNRPC: a call that cannot be sent now, or whose connection is lost, goes out again on
 * the next one. True when it was answered, false when it ended with an error.
 */
static bool run_call(struct pair *pair, struct client_call *call, unsigned int *connects)
{
	int attempts, rc;

	for (attempts = 0; attempts < 4; attempts++) {
		if (!pair->client.conn && (*connects)++ < 8)
			KUNIT_ASSERT_EQ(pair->test, 0, pair_connect(pair));
		rc = client_call_send(call);
		if (rc == -EIO)
			return false;
		pair_pump(pair);
		if (client_call_done(call))
			return true;
		/* Something was short: SUNRPC has been woken. */
		if (rc == -EAGAIN)
			continue;
		/* Nobody waits on a connection that looks well. */
		KUNIT_ASSERT_TRUE(pair->test, pair_client_failed(pair) || !pair->server);
		pair_disconnect(pair);
		pair_expect_nothing_left(pair);
		script_both(pair);
	}
	KUNIT_FAIL(pair->test, "not answered on the fourth connection");
	return false;
}

static void expect_answer(struct pair *pair, struct client_call *call)
{
	pair_expect_call(pair, call);
	client_call_expect_reply(call, answer.head, answer.item, answer.tail);
}

/* The connection that a fault has hurt may need a push to notice it. */
static void expect_healthy(struct pair *pair)
{
	unsigned int connects = 0;
	struct client_call *call;

	pair_pump(pair);
	if (pair_client_failed(pair) || !pair->server)
		pair_disconnect(pair);
	script_both(pair);
	call = client_call_create(&pair->client, &shape);
	KUNIT_EXPECT_TRUE(pair->test, run_call(pair, call, &connects));
	expect_answer(pair, call);
	client_call_destroy(call);
	pair_expect_at_rest(pair);
}

/* One after the other. Only the client's own device makes one fail. */
static void run_calls(struct pair *pair, const struct fault_case *c)
{
	unsigned int i, connects = 0;
	struct client_call *call;

	for (i = 0; i < max(c->calls, 1); i++) {
		call = client_call_create(&pair->client, &shape);
		if (run_call(pair, call, &connects))
			expect_answer(pair, call);
		else
			KUNIT_EXPECT_EQ(pair->test, MEMORY_MAP_MR, c->step);
		client_call_destroy(call);
	}
}

/* The fault at step @at of an RPC. */
static void run_with_fault(struct pair *pair, const struct fault_case *c, u32 at)
{
	KUNIT_ASSERT_EQ(pair->test, 0, pair_connect(pair));
	script_both(pair);
	memory_fault(device_of(pair, c->side), c->step, at, c->status);
	run_calls(pair, c);
	expect_healthy(pair);
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

/* Steps of this kind that are taken when nothing goes wrong. */
static u32 count_steps(struct pair *pair, const struct fault_case *c)
{
	u32 steps;

	KUNIT_ASSERT_EQ(pair->test, 0, pair_connect(pair));
	script_both(pair);
	run_calls(pair, c);
	steps = memory_seen(device_of(pair, c->side), c->step);
	pair_disconnect(pair);
	return steps;
}

static void check_each_step(struct kunit *test, bool iwarp)
{
	const struct fault_case *c = test->param_value;
	struct pair *pair = pair_create(test, iwarp);
	u32 at, steps;

	pair->answer = answer;
	steps = count_steps(pair, c);
	/* A server registers on iWARP only. */
	if (iwarp || c->side == CLIENT || c->step != MEMORY_MAP_MR)
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

static const struct fault_case connect_cases[] = {
	{ "client, completion queue", CLIENT, MEMORY_CREATE_CQ },
	{ "client, queue pair", CLIENT, MEMORY_CREATE_QP },
	{ "client, memory region", CLIENT, MEMORY_ALLOC_MR },
	{ "client, Receive", CLIENT, MEMORY_POST_RECV },
	{ "server, completion queue", SERVER, MEMORY_CREATE_CQ },
	{ "server, queue pair", SERVER, MEMORY_CREATE_QP },
	{ "server, memory region", SERVER, MEMORY_ALLOC_MR },
	{ "server, Receive", SERVER, MEMORY_POST_RECV },
};

KUNIT_ARRAY_PARAM_DESC(connect, connect_cases, desc);

/* All or nothing: a connection works, or there is nothing of it. */
static void each_step_of_a_connect_fails(struct kunit *test)
{
	const struct fault_case *c = test->param_value;
	struct pair *pair = pair_create(test, true);
	struct memory_device *device = device_of(pair, c->side);
	u32 at, steps;

	pair->answer = answer;
	script_both(pair);
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	steps = memory_seen(device, c->step);
	pair_disconnect(pair);
	for (at = 1; at <= steps; at++) {
		script_both(pair);
		memory_fault(device, c->step, at, 0);
		if (pair_connect(pair)) {
			pair_expect_nothing_left(pair);
			continue;
		}
		script_both(pair);
		expect_healthy(pair);
		pair_disconnect(pair);
		pair_expect_nothing_left(pair);
	}
	KUNIT_EXPECT_GT(test, steps, 0);
	kunit_info(test, "%s: %u steps", c->desc, steps);
}

/* Completions of any of the four queues come late; in whatever order they are let go. */
static void check_late(struct pair *pair, u32 held, bool backwards)
{
	struct client_call *call = client_call_create(&pair->client, &shape);
	struct ib_cq *cq;
	int i, n;

	for (i = 0; i < PAIR_CQS; i++)
		if (held & BIT(i))
			memory_hold_cq(pair_cq(pair, i));
	KUNIT_ASSERT_EQ(pair->test, 0, client_call_send(call));
	pair_pump(pair);
	/* The Receive Queue of either side is not to be done without. */
	if (held & (BIT(1) | BIT(3)))
		KUNIT_EXPECT_FALSE(pair->test, client_call_done(call));
	for (i = 0; i < PAIR_CQS; i++) {
		n = backwards ? PAIR_CQS - 1 - i : i;
		cq = pair_cq(pair, n);
		memory_release_cq(cq);
		pair_pump(pair);
	}
	expect_answer(pair, call);
	client_call_destroy(call);
	pair_expect_at_rest(pair);
}

/* RFC 5040 section 5.5, 1 and 9: queues are not ordered among each other. */
static void completions_come_late(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	u32 held;

	pair->answer = answer;
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	for (held = 0; held < BIT(PAIR_CQS); held++) {
		check_late(pair, held, false);
		check_late(pair, held, true);
	}
}

/* The server's Send Queue stops after each of its work requests. */
static void server_is_slow(struct kunit *test)
{
	struct pair *pair = pair_create(test, true);
	struct client_call *call;
	int i;

	pair->answer = answer;
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	call = client_call_create(&pair->client, &shape);
	memory_hold(pair->server->st_qp);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	for (i = 0; i < 50 && !client_call_done(call); i++) {
		pair_pump(pair);
		memory_run(pair->server->st_qp, 1);
	}
	memory_release(pair->server->st_qp);
	pair_pump(pair);
	expect_answer(pair, call);
	pair_expect_at_rest(pair);
}

/**
 * enum moment - how far an RPC has come
 * @IDLE: there is none
 * @SENT: the call is in the server's Receive Queue
 * @PULLING: Reads are posted, and have not been carried out
 * @ANSWERING: Writes and Send are posted, and have not been carried out
 * @ANSWERED: the reply has arrived, and nobody has looked
 */
enum moment { IDLE, SENT, PULLING, ANSWERING, ANSWERED };

struct moment_case {
	const char	*desc;
	enum moment	moment;
	enum side	side;
	bool		iwarp;
};

#define MOMENT_CASES(text, ...)						\
	{ "idle, " text, IDLE, __VA_ARGS__ },				\
	{ "call sent, " text, SENT, __VA_ARGS__ },			\
	{ "Reads under way, " text, PULLING, __VA_ARGS__ },		\
	{ "reply under way, " text, ANSWERING, __VA_ARGS__ },		\
	{ "reply not seen, " text, ANSWERED, __VA_ARGS__ }

static const struct moment_case flush_cases[] = {
	MOMENT_CASES("InfiniBand", CLIENT, false),
	MOMENT_CASES("iWARP", CLIENT, true),
};

static const struct moment_case removal_cases[] = {
	MOMENT_CASES("client, InfiniBand", CLIENT, false),
	MOMENT_CASES("client, iWARP", CLIENT, true),
	MOMENT_CASES("server, InfiniBand", SERVER, false),
	MOMENT_CASES("server, iWARP", SERVER, true),
};

KUNIT_ARRAY_PARAM_DESC(flush, flush_cases, desc);
KUNIT_ARRAY_PARAM_DESC(removal, removal_cases, desc);

static struct client_call *stop_at(struct pair *pair, enum moment moment)
{
	struct client_call *call;

	if (moment == IDLE)
		return NULL;
	call = client_call_create(&pair->client, &shape);
	if (moment == PULLING)
		memory_hold(pair->server->st_qp);
	if (moment == ANSWERED)
		memory_hold_cq(pair_cq(pair, 1));
	KUNIT_ASSERT_EQ(pair->test, 0, client_call_send(call));
	pair_settle(pair);
	if (moment == SENT)
		return call;
	/* The Reads; then the call. */
	pair_serve(pair);
	pair_settle(pair);
	if (moment == PULLING)
		return call;
	if (moment == ANSWERING)
		memory_hold(pair->server->st_qp);
	KUNIT_EXPECT_TRUE(pair->test, pair_serve(pair));
	if (moment == ANSWERED)
		pair_settle(pair);
	return call;
}

/* As SUNRPC and nfsd do when they are told. */
static void close_both(struct pair *pair)
{
	int i;

	for (i = 0; i < PAIR_CQS; i++)
		if (pair_cq(pair, i))
			memory_release_cq(pair_cq(pair, i));
	pair_settle(pair);
	if (pair->server && svcrdma_transport_closing(pair->server))
		pair_disconnect_server(pair);
	if (pair_client_failed(pair))
		pair_disconnect_client(pair);
	pair_settle(pair);
	if (pair->server && svcrdma_transport_closing(pair->server))
		pair_disconnect_server(pair);
}

static void flush_in_the_middle(struct kunit *test)
{
	const struct moment_case *c = test->param_value;
	struct pair *pair = pair_create(test, c->iwarp);
	unsigned int connects = 0;
	struct client_call *call;

	pair->answer = answer;
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	call = stop_at(pair, c->moment);

	/* Act */
	memory_lose(pair->client.conn->xc_id->qp);
	close_both(pair);

	/* Assert: both have noticed; the RPC waits, or was answered just in time */
	KUNIT_EXPECT_PTR_EQ(test, NULL, pair->client.conn);
	KUNIT_EXPECT_PTR_EQ(test, NULL, pair->server);
	pair_expect_nothing_left(pair);
	if (call && !client_call_done(call))
		KUNIT_EXPECT_TRUE(test, run_call(pair, call, &connects));
	if (call)
		expect_answer(pair, call);
	expect_healthy(pair);
}

/* Rule C10 of Documentation/locking.rst: the device is used until the cm_id is gone. */
static void device_is_removed(struct kunit *test)
{
	const struct moment_case *c = test->param_value;
	struct pair *pair = pair_create(test, c->iwarp);
	struct memory_device *device = device_of(pair, c->side);
	struct client_call *call;

	pair->answer = answer;
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	call = stop_at(pair, c->moment);

	/* Act: it goes when the cm_id is destroyed, and not before */
	pair_cm_remove(device);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&device->nr_qps));
	close_both(pair);
	pair_cm_removed();

	/* Assert */
	KUNIT_EXPECT_FALSE(test, device->registered);
	KUNIT_EXPECT_PTR_EQ(test, NULL, pair->client.conn);
	KUNIT_EXPECT_PTR_EQ(test, NULL, pair->server);
	pair_expect_nothing_left(pair);
	KUNIT_EXPECT_NE(test, 0, pair_connect(pair));
	pair_expect_nothing_left(pair);
	if (call && !client_call_done(call))
		client_call_expect_waiting(call);
}

/*
 * RFC 4296 section 3 (A8), RFC 8166 section 4.4.1: a task that ends without a reply gets
 * its memory back; what the server writes afterwards is refused.
 */
static void killed_task_takes_its_memory_back(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct client_call *call;

	pair->answer = answer;
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	call = stop_at(pair, ANSWERING);
	KUNIT_EXPECT_EQ(test, 2, memory_valid_keys(pair->client_device));
	client_call_destroy(call);
	KUNIT_EXPECT_EQ(test, 0, memory_valid_keys(pair->client_device));
	memory_release(pair->server->st_qp);
	pair_pump(pair);
	KUNIT_EXPECT_PTR_EQ(test, NULL, pair->server);
	KUNIT_EXPECT_TRUE(test, pair_client_failed(pair));
	expect_healthy(pair);
}

static struct kunit_case fault_test_cases[] = {
	KUNIT_CASE_PARAM(each_step_fails_on_infiniband, fault_gen_params),
	KUNIT_CASE_PARAM(each_step_fails_on_iwarp, fault_gen_params),
	KUNIT_CASE_PARAM(each_step_of_a_connect_fails, connect_gen_params),
	KUNIT_CASE(completions_come_late),
	KUNIT_CASE(server_is_slow),
	KUNIT_CASE_PARAM(flush_in_the_middle, flush_gen_params),
	KUNIT_CASE_PARAM(device_is_removed, removal_gen_params),
	KUNIT_CASE(killed_task_takes_its_memory_back),
	{}
};

static struct kunit_suite fault_suite = {
	.name = "memory_fault",
	.suite_init = pair_suite_init,
	.suite_exit = pair_suite_exit,
	.test_cases = fault_test_cases,
};

kunit_test_suite(fault_suite);
