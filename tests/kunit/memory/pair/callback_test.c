// SPDX-License-Identifier: GPL-2.0-only
/*
 * Client and server over the provider in memory: callbacks through nfsd's rpc_clnt and back, of all
 * sizes, with chunks if both sides have announced them, and callbacks that get no reply. RFC 8167
 * section 5.3.
 */
#include "reverse.h"

static void expect_healthy(struct reverse *reverse)
{
	pair_expect_healthy(reverse->pair);
	reverse_expect_at_rest(reverse);
}

/* ---- sizes ---- */

/**
 * struct size_case - a callback and its reply
 * @desc: name
 * @words: of the arguments
 * @answer: words of the result
 * @procedure: how large SUNRPC thinks that the reply may be
 */
struct size_case {
	const char		*desc;
	u32			words;
	u32			answer;
	enum callback_procedure	procedure;
};

static const struct size_case size_cases[] = {
	{ "small", 20, 1, CB_LONG_CALL },
	{ "3 KiB", 768, 1, CB_LONG_CALL },
	{ "8 KiB", 2048, 1, CB_LONG_CALL },
	{ "64 KiB", 16384, 1, CB_LONG_CALL },
	{ "as large as possible", (SVCRDMA_MAX_CALLBACK - CB_CALL_HEADER) / 4, 1, CB_LONG_CALL },
	{ "small, the reply might be large", 20, 1, CB_LONG_REPLY },
	{ "small, the reply is 3 KiB", 20, 768, CB_LONG_REPLY },
	{ "small, the reply is a page", 20, (PAGE_SIZE - CB_REPLY_HEADER) / 4, CB_LONG_REPLY },
	{ "8 KiB, the reply is a page", 2048, (PAGE_SIZE - CB_REPLY_HEADER) / 4, CB_LONG_REPLY },
	{ "64 KiB, the reply is a page", 16384, (PAGE_SIZE - CB_REPLY_HEADER) / 4, CB_LONG_REPLY },
};

KUNIT_ARRAY_PARAM_DESC(size, size_cases, desc);

static void exchange(struct reverse *reverse, const struct size_case *c)
{
	reverse_exchange(reverse, c->words, c->answer, c->procedure);
}

static void check_size(struct kunit *test, bool iwarp)
{
	struct reverse *reverse = reverse_create(test, iwarp);
	int i;

	KUNIT_EXPECT_TRUE(test, reverse->pair->client.conn->xc_inline.reverse_chunks);
	for (i = 0; i < 3; i++) {
		exchange(reverse, test->param_value);
		reverse_expect_at_rest(reverse);
	}
	pair_disconnect(reverse->pair);
	reverse_drop_clnt(reverse);
	pair_expect_nothing_left(reverse->pair);
}

static void callback_on_infiniband(struct kunit *test)
{
	check_size(test, false);
}

static void callback_on_iwarp(struct kunit *test)
{
	check_size(test, true);
}

/* Either side can be without it, and then nothing has chunks. */
static void switched_off(struct kunit *test, unsigned int *knob)
{
	struct reverse *reverse;
	struct callback *cb;

	*knob = 0;
	reverse = reverse_create(test, false);
	*knob = 1;
	KUNIT_EXPECT_FALSE(test, reverse->pair->client.conn->xc_inline.reverse_chunks);
	cb = reverse_call(reverse, 2048, 1, CB_LONG_CALL);
	KUNIT_ASSERT_TRUE(test, reverse_ended(reverse, cb));
	KUNIT_EXPECT_EQ(test, -EIO, cb->status);
	exchange(reverse, &size_cases[6]);
	reverse_expect_at_rest(reverse);
}

static void client_switched_off(struct kunit *test)
{
	switched_off(test, &xprtrdma_reliable_reply);
}

static void server_switched_off(struct kunit *test)
{
	switched_off(test, &svcrdma_reliable_reply);
}

/* ---- ends ---- */

/* The connection ends while the client has the call in hand. */
static void connection_is_lost(struct kunit *test)
{
	struct reverse *reverse = reverse_create(test, true);
	struct callback *cb = reverse_call(reverse, 2048, 1, CB_LONG_REPLY);
	struct rpc_rqst *rqst = reverse_called(reverse);

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	pair_disconnect(reverse->pair);
	KUNIT_ASSERT_TRUE(test, reverse_ended(reverse, cb));
	KUNIT_EXPECT_LT(test, cb->status, 0);
	xprtrdma_bc_free_rqst(rqst);
	reverse_drop_clnt(reverse);
	pair_expect_nothing_left(reverse->pair);
}

/* And while it is reading, or has yet to begin. */
static void connection_is_lost_while_reading(struct kunit *test)
{
	struct reverse *reverse = reverse_create(test, false);
	struct callback *cb;

	memory_hold(reverse->pair->client.conn->xc_id->qp);
	cb = reverse_call(reverse, 2048, 1, CB_LONG_REPLY);
	KUNIT_EXPECT_NULL(test, reverse_called(reverse));
	KUNIT_EXPECT_EQ(test, 1, reverse->pair->client.conn->xc_pull.active);
	pair_disconnect(reverse->pair);
	KUNIT_ASSERT_TRUE(test, reverse_ended(reverse, cb));
	KUNIT_EXPECT_LT(test, cb->status, 0);
	reverse_drop_clnt(reverse);
	pair_expect_nothing_left(reverse->pair);
}

/* nfsd does not wait any longer; the client answers all the same, where nobody is. */
static void callback_is_given_up(struct kunit *test)
{
	struct reverse *reverse = reverse_create(test, false);
	struct callback *cb = reverse_call(reverse, 2048, 1, CB_LONG_CALL);
	struct rpc_rqst *rqst = reverse_called(reverse);

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	rpc_killall_tasks(reverse->clnt);
	KUNIT_ASSERT_TRUE(test, reverse_ended(reverse, cb));
	KUNIT_EXPECT_EQ(test, 0, reverse_answer(reverse, rqst, 1));
	pair_pump(reverse->pair);
	reverse_expect_at_rest(reverse);
	exchange(reverse, &size_cases[2]);
	expect_healthy(reverse);
}

/* A queue pair that stands still keeps nothing for ever: it is closed. */
static void invalidation_takes_too_long(struct kunit *test)
{
	struct reverse *reverse = reverse_create(test, false);
	unsigned long timeout = svcrdma_inv_timeout;
	struct callback *cb = reverse_call(reverse, 2048, 1, CB_LONG_CALL);
	struct rpc_rqst *rqst = reverse_called(reverse);
	struct pair *pair = reverse->pair;

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	memory_hold(pair->server->st_qp);
	svcrdma_inv_timeout = 0;
	rpc_killall_tasks(reverse->clnt);
	KUNIT_ASSERT_TRUE(test, reverse_ended(reverse, cb));
	svcrdma_inv_timeout = timeout;
	msleep(20);
	run_delayed(&pair->server->st_region.work);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(pair->server->st_closing));
	pair_disconnect(pair);
	xprtrdma_bc_free_rqst(rqst);
	reverse_drop_clnt(reverse);
	pair_expect_nothing_left(pair);
}

/* The client reads or writes what is not there any more: it loses the connection. */
static void call_is_gone_when_it_is_read(struct kunit *test)
{
	struct reverse *reverse = reverse_create(test, false);
	struct pair *pair = reverse->pair;
	struct callback *cb;

	pair->client.conn->xc_pull.active = XPRTRDMA_PULLS;
	cb = reverse_call(reverse, 2048, 1, CB_LONG_CALL);
	KUNIT_EXPECT_NULL(test, reverse_called(reverse));
	rpc_killall_tasks(reverse->clnt);
	KUNIT_ASSERT_TRUE(test, reverse_ended(reverse, cb));
	pair->client.conn->xc_pull.active = 0;
	mod_delayed_work(xprtrdma_wq, &pair->client.conn->xc_pull.worker, 0);
	KUNIT_EXPECT_NULL(test, reverse_called(reverse));
	KUNIT_EXPECT_TRUE(test, pair_client_failed(pair));
	pair_disconnect(pair);
	reverse_drop_clnt(reverse);
	pair_expect_nothing_left(pair);
}

/* ---- faults ---- */

static const struct {
	const char		*desc;
	enum pair_side		side;
	enum memory_step	step;
	enum ib_wc_status	status;
} faults[] = {
	{ "client, post", PAIR_CLIENT, MEMORY_POST_SEND },
	{ "client, refused by the peer", PAIR_CLIENT, MEMORY_EXECUTE, IB_WC_REM_ACCESS_ERR },
	{ "client, connection lost", PAIR_CLIENT, MEMORY_EXECUTE, MEMORY_LOST },
	{ "client, message lost", PAIR_CLIENT, MEMORY_RECEIVE, MEMORY_LOST },
	{ "server, post", PAIR_SERVER, MEMORY_POST_SEND },
	{ "server, work request fails", PAIR_SERVER, MEMORY_EXECUTE, IB_WC_LOC_PROT_ERR },
	{ "server, connection lost", PAIR_SERVER, MEMORY_EXECUTE, MEMORY_LOST },
	{ "server, message fails", PAIR_SERVER, MEMORY_RECEIVE, IB_WC_LOC_LEN_ERR },
	{ "server, mapping", PAIR_SERVER, MEMORY_MAP_MR },
};

/* Whatever fails, at whichever step of it: the callback ends, and nothing is left. */
static void fault_at_each_step(struct kunit *test)
{
	static const struct size_case c = {
		"", 2048, (PAGE_SIZE - CB_REPLY_HEADER) / 4, CB_LONG_REPLY
	};
	u32 i, at, steps, ends = 0;
	struct reverse *reverse;
	struct rpc_rqst *rqst;
	struct callback *cb;
	struct pair *pair;

	reverse = reverse_create(test, false);
	pair = reverse->pair;
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!pair->server)
			reverse_connect(reverse);
		reverse->nr_calls = 0;
		pair_script(pair);
		exchange(reverse, &c);
		steps = memory_seen(pair_device(pair, faults[i].side), faults[i].step);
		for (at = 1; at <= steps; at++) {
			if (!pair->server)
				reverse_connect(reverse);
			reverse->nr_calls = 0;
			pair_settle(pair);
			pair_script(pair);
			memory_fault(pair_device(pair, faults[i].side), faults[i].step, at,
				     faults[i].status);
			cb = reverse_call(reverse, c.words, c.answer, c.procedure);
			rqst = reverse_called(reverse);
			if (rqst)
				reverse_answer(reverse, rqst, c.answer);
			pair_pump(pair);
			if (pair_client_failed(pair) || !pair->server ||
			    !completion_done(&cb->done)) {
				pair_disconnect(pair);
				ends++;
			}
			KUNIT_ASSERT_TRUE_MSG(test, reverse_ended(reverse, cb), "%s, %u",
					      faults[i].desc, at);
			if (pair->server)
				continue;
			reverse_drop_clnt(reverse);
			pair_expect_nothing_left(pair);
		}
	}
	KUNIT_EXPECT_GT(test, ends, 0);
	if (!pair->server)
		reverse_connect(reverse);
	pair_script(pair);
	reverse->nr_calls = 0;
	exchange(reverse, &c);
	reverse_expect_at_rest(reverse);
}

static struct kunit_case callback_cases[] = {
	KUNIT_CASE_PARAM(callback_on_infiniband, size_gen_params),
	KUNIT_CASE_PARAM(callback_on_iwarp, size_gen_params),
	KUNIT_CASE(client_switched_off),
	KUNIT_CASE(server_switched_off),
	KUNIT_CASE(connection_is_lost),
	KUNIT_CASE(connection_is_lost_while_reading),
	KUNIT_CASE(callback_is_given_up),
	KUNIT_CASE(invalidation_takes_too_long),
	KUNIT_CASE(call_is_gone_when_it_is_read),
	KUNIT_CASE(fault_at_each_step),
	{}
};

static struct kunit_suite callback_suite = {
	.name = "memory_callback",
	.suite_init = reverse_suite_init,
	.suite_exit = reverse_suite_exit,
	.test_cases = callback_cases,
};

kunit_test_suite(callback_suite);
