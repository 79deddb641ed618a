// SPDX-License-Identifier: GPL-2.0-only
/*
 * Client and server over the provider in memory: completions that come late, and the loss
 * of the connection or of a device at each moment of an RPC.
 */
#include "pair.h"

/* Completions of any of the four queues come late; in whatever order they are let go. */
static void check_late(struct pair *pair, u32 held, bool backwards)
{
	struct client_call *call = pair_call(pair);
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
	pair_expect_answer(pair, call);
	client_call_destroy(call);
	pair_expect_at_rest(pair);
}

/* RFC 5040 section 5.5, 1 and 9: queues are not ordered among each other. */
static void completions_come_late(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	u32 held;

	pair->answer = pair_answer;
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

	pair->answer = pair_answer;
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	call = pair_call(pair);
	memory_hold(pair->server->st_qp);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	for (i = 0; i < 50 && !client_call_done(call); i++) {
		pair_pump(pair);
		memory_run(pair->server->st_qp, 1);
	}
	memory_release(pair->server->st_qp);
	pair_pump(pair);
	pair_expect_answer(pair, call);
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
	enum pair_side	side;
	bool		iwarp;
};

#define MOMENT_CASES(text, ...)						\
	{ "idle, " text, IDLE, __VA_ARGS__ },				\
	{ "call sent, " text, SENT, __VA_ARGS__ },			\
	{ "Reads under way, " text, PULLING, __VA_ARGS__ },		\
	{ "reply under way, " text, ANSWERING, __VA_ARGS__ },		\
	{ "reply not seen, " text, ANSWERED, __VA_ARGS__ }

static const struct moment_case flush_cases[] = {
	MOMENT_CASES("InfiniBand", PAIR_CLIENT, false),
	MOMENT_CASES("iWARP", PAIR_CLIENT, true),
};

static const struct moment_case removal_cases[] = {
	MOMENT_CASES("client, InfiniBand", PAIR_CLIENT, false),
	MOMENT_CASES("client, iWARP", PAIR_CLIENT, true),
	MOMENT_CASES("server, InfiniBand", PAIR_SERVER, false),
	MOMENT_CASES("server, iWARP", PAIR_SERVER, true),
};

KUNIT_ARRAY_PARAM_DESC(flush, flush_cases, desc);
KUNIT_ARRAY_PARAM_DESC(removal, removal_cases, desc);

static struct client_call *stop_at(struct pair *pair, enum moment moment)
{
	struct client_call *call;

	if (moment == IDLE)
		return NULL;
	call = pair_call(pair);
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
	if (pair->server && READ_ONCE(pair->server->st_closing))
		pair_disconnect_server(pair);
	if (pair_client_failed(pair))
		pair_disconnect_client(pair);
	pair_settle(pair);
	if (pair->server && READ_ONCE(pair->server->st_closing))
		pair_disconnect_server(pair);
}

static void flush_in_the_middle(struct kunit *test)
{
	const struct moment_case *c = test->param_value;
	struct pair *pair = pair_create(test, c->iwarp);
	struct client_call *call;

	pair->answer = pair_answer;
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
		KUNIT_EXPECT_TRUE(test, pair_run_call(pair, call));
	if (call)
		pair_expect_answer(pair, call);
	pair_expect_healthy(pair);
}

/* Rule C10 of Documentation/locking.rst: the device is used until the cm_id is gone. */
static void device_is_removed(struct kunit *test)
{
	const struct moment_case *c = test->param_value;
	struct pair *pair = pair_create(test, c->iwarp);
	struct memory_device *device = pair_device(pair, c->side);
	struct client_call *call;

	pair->answer = pair_answer;
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	call = stop_at(pair, c->moment);

	/* Act: it goes when the cm_id is destroyed, and not before */
	pair_device_remove(device);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&device->nr_qps));
	close_both(pair);
	pair_device_removed();

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

	pair->answer = pair_answer;
	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	call = stop_at(pair, ANSWERING);
	KUNIT_EXPECT_EQ(test, 2, memory_valid_keys(pair->client_device));
	client_call_destroy(call);
	KUNIT_EXPECT_EQ(test, 0, memory_valid_keys(pair->client_device));
	memory_release(pair->server->st_qp);
	pair_pump(pair);
	KUNIT_EXPECT_PTR_EQ(test, NULL, pair->server);
	KUNIT_EXPECT_TRUE(test, pair_client_failed(pair));
	pair_expect_healthy(pair);
}

static struct kunit_case loss_test_cases[] = {
	KUNIT_CASE(completions_come_late),
	KUNIT_CASE(server_is_slow),
	KUNIT_CASE_PARAM(flush_in_the_middle, flush_gen_params),
	KUNIT_CASE_PARAM(device_is_removed, removal_gen_params),
	KUNIT_CASE(killed_task_takes_its_memory_back),
	{}
};

static struct kunit_suite loss_suite = {
	.name = "memory_loss",
	.suite_init = pair_suite_init,
	.suite_exit = pair_suite_exit,
	.test_cases = loss_test_cases,
};

kunit_test_suite(loss_suite);
