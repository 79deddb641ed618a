// SPDX-License-Identifier: GPL-2.0-only
/*
 * Client and server over the provider in memory: the client asks for the configuration of RFC 5666
 * section 6, and the server answers.
 */
#include <linux/delay.h>

#include "pair.h"

/**
 * struct ask - the connect worker's part
 * @work: asks
 * @pair: whose client
 * @rc: what came of it
 * @done: it has come
 */
struct ask {
	struct work_struct	work;
	struct pair		*pair;
	int			rc;
	bool			done;
};

static void ask_work(struct work_struct *work)
{
	struct ask *ask = container_of(work, struct ask, work);

	ask->rc = xprtrdma_ccp_ask(ask->pair->client.conn);
	smp_store_release(&ask->done, true);	/* pairs with ask_and_serve() */
}

/* The client waits, the test is nfsd. */
static int ask_and_serve(struct pair *pair)
{
	struct ask ask = { .pair = pair };

	pair->client.transport->xt_ccp_timeout = 60 * HZ;
	INIT_WORK_ONSTACK(&ask.work, ask_work);
	schedule_work(&ask.work);
	while (!smp_load_acquire(&ask.done)) {	/* pairs with ask_work() */
		pair_pump(pair);
		/* The other thread's turn */
		usleep_range(50, 100);
	}
	flush_work(&ask.work);
	destroy_work_on_stack(&ask.work);
	return ask.rc;
}

struct config_case {
	const char	*desc;
	unsigned int	client_write;	/* rdma_max_inline_write */
	unsigned int	client_read;	/* rdma_max_inline_read */
	unsigned int	server_size;	/* max_req_size */
	u32		call;		/* what holds afterwards */
	u32		reply;
	bool		iwarp;
};

static const struct config_case config_cases[] = {
	{ "the same", 4096, 4096, 4096, 4096, 4096 },
	{ "the same, iWARP", 4096, 4096, 4096, 4096, 4096, true },
	{ "server takes less", 8192, 8192, 4096, 4096, 4096 },
	{ "client sends less", 2048, 4096, 8192, 2048, 4096 },
	{ "client takes less", 4096, 1024, 8192, 4096, 1024 },
};

KUNIT_ARRAY_PARAM_DESC(config, config_cases, desc);

static void set_knobs(const struct config_case *c, unsigned int answer)
{
	xprtrdma_max_inline_write = c->client_write;
	xprtrdma_max_inline_read = c->client_read;
	svcrdma_max_req_size = c->server_size;
	svcrdma_answer_config = answer;
}

static void connect_with(struct pair *pair, const struct config_case *c, unsigned int answer)
{
	const struct config_case before = {
		.client_write	= xprtrdma_max_inline_write,
		.client_read	= xprtrdma_max_inline_read,
		.server_size	= svcrdma_max_req_size,
	};

	pair->answer = pair_answer;
	set_knobs(c, answer);
	KUNIT_EXPECT_EQ(pair->test, 0, pair_connect(pair));
	set_knobs(&before, 0);
	KUNIT_ASSERT_NOT_NULL(pair->test, pair->server);
}

/* Two that have told each other the truth in private data have nothing to add. */
static void configuration_agrees_with_private_data(struct kunit *test)
{
	const struct config_case *c = test->param_value;
	struct pair *pair = pair_create(test, c->iwarp);

	connect_with(pair, c, 1);
	KUNIT_ASSERT_EQ(test, 0, ask_and_serve(pair));
	KUNIT_EXPECT_TRUE(test, pair->client.conn->xc_ccp.answered);
	KUNIT_EXPECT_EQ(test, 0, pair->answers);
	KUNIT_EXPECT_EQ(test, c->call, pair->client.conn->xc_ccp.max_call);
	KUNIT_EXPECT_EQ(test, c->call, pair->client.conn->xc_inline.inline_send);
	KUNIT_EXPECT_EQ(test, c->reply, pair->server->st_inline_send);
	pair_expect_at_rest(pair);
	pair_expect_healthy(pair);
}

/* A server whose limits have changed since it wrote its private data: larger ones do not. */
static void configuration_lowers_the_limits(struct kunit *test)
{
	static const u32 sizes[] = { 2048, 1, 100000, 1024 };
	struct pair *pair = pair_create(test, false);
	u32 i, size;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		connect_with(pair, &config_cases[0], 1);
		size = clamp(sizes[i], 1024U, 4096U);
		pair->server->st_agreed.inline_recv = sizes[i];
		KUNIT_ASSERT_EQ(test, 0, ask_and_serve(pair));
		KUNIT_EXPECT_EQ(test, size, pair->client.conn->xc_inline.inline_send);
		pair_expect_healthy(pair);
		pair_disconnect(pair);
		pair_expect_nothing_left(pair);
	}
}

/* The call is nfsd's, and whatever it says changes nothing. */
static void server_does_not_know_of_it(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);

	connect_with(pair, &config_cases[0], 0);
	pair->answer = (struct pair_answer) { .head = 40 };
	KUNIT_ASSERT_EQ(test, 0, ask_and_serve(pair));
	pair->answer = pair_answer;
	KUNIT_EXPECT_EQ(test, 1, pair->answers);
	KUNIT_EXPECT_EQ(test, RPCRDMA_CONFIG_CALL_SIZE, pair->arg_length);
	KUNIT_EXPECT_FALSE(test, pair->client.conn->xc_ccp.answered);
	KUNIT_EXPECT_EQ(test, 4096, pair->client.conn->xc_inline.inline_send);
	pair_expect_healthy(pair);
}

static struct kunit_case config_test_cases[] = {
	KUNIT_CASE_PARAM(configuration_agrees_with_private_data, config_gen_params),
	KUNIT_CASE(configuration_lowers_the_limits),
	KUNIT_CASE(server_does_not_know_of_it),
	{}
};

static struct kunit_suite config_suite = {
	.name = "memory_config",
	.suite_init = pair_suite_init,
	.suite_exit = pair_suite_exit,
	.test_cases = config_test_cases,
};

kunit_test_suite(config_suite);
