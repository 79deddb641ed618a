// SPDX-License-Identifier: GPL-2.0-only
/*
 * Client and server over the provider in memory, with calls and answers from several threads
 * at once: alone, while the connection is lost again and again, while tasks are killed, while the
 * server grants more, and while a device goes.
 */
#include "threads.h"

/* Of each task. On one processor they take turns, and more of it shows nothing new. */
enum { CALLS = IS_ENABLED(CONFIG_SMP) ? 96 : 36 };

struct traffic_case {
	const char	*desc;
	bool		iwarp;
	bool		drops;
	bool		kills;
	bool		grows;
};

static const struct traffic_case traffic_cases[] = {
	{ "InfiniBand", false },
	{ "iWARP", true },
	{ "connection lost, InfiniBand", false, .drops = true },
	{ "connection lost, iWARP", true, .drops = true },
	{ "tasks killed, InfiniBand", false, .kills = true },
	{ "tasks killed, iWARP", true, .kills = true },
	{ "both, InfiniBand", false, .drops = true, .kills = true },
	{ "both, iWARP", true, .drops = true, .kills = true },
	{ "a larger grant, InfiniBand", false, .grows = true },
	{ "a larger grant, iWARP", true, .grows = true },
};

KUNIT_ARRAY_PARAM_DESC(traffic, traffic_cases, desc);

/* By the client, by the wire and by the server, in turn. */
static void drop(struct traffic *traffic, unsigned int n)
{
	struct svc_xprt *xprt;

	if (n % 3 == 2) {
		xprt = traffic_server(traffic);
		if (!xprt)
			return;
		svcrdma_transport_close(svcrdma_transport_of(xprt), RPCRDMA_END_OTHER);
		svc_xprt_put(xprt);
		return;
	}
	mutex_lock(&traffic->write_lock);
	if (n % 3)
		traffic_disconnect(traffic);
	else if (traffic->pair->client.conn)
		memory_lose(traffic->pair->client.conn->xc_id->qp);
	mutex_unlock(&traffic->write_lock);
}

static void drop_often(struct traffic *traffic)
{
	enum { STEP = CALLS * TRAFFIC_TASKS / 24 };
	unsigned int n, begin;

	for (n = 0; traffic_running(traffic); n++) {
		/* More than one call of each task, so that some of them go over a new connection. */
		begin = traffic_ended(traffic);
		traffic_allow(traffic, begin + STEP + TRAFFIC_TASKS);
		traffic_await(traffic, begin + STEP);
		drop(traffic, n);
	}
}

/* No pause keeps the server from looking again. 0: there is no connection any more. */
static u32 granted_now(struct traffic *traffic)
{
	struct svc_xprt *xprt = traffic_server(traffic);
	struct svcrdma_transport *t;
	u32 grant;

	if (!xprt)
		return 0;
	t = svcrdma_transport_of(xprt);
	spin_lock(&t->st_recv_lock);
	if (time_after(t->st_credit.since, jiffies))
		t->st_credit.since = jiffies;
	grant = t->st_grant;
	spin_unlock(&t->st_recv_lock);
	svc_xprt_put(xprt);
	return grant;
}

/* Half of the budget is for a host that is yet to come. */
static void grant_little(void)
{
	WRITE_ONCE(svcrdma_max_credits_total, 2 * RPCRDMA_GRANT_FLOOR);
}

/* As an administrator who changes max_credits_total */
static void grant_more(struct traffic *traffic)
{
	u32 grant = 0;

	traffic_allow(traffic, CALLS);
	traffic_await(traffic, CALLS);
	KUNIT_EXPECT_EQ(traffic->pair->test, (u32)RPCRDMA_GRANT_FLOOR, granted_now(traffic));
	WRITE_ONCE(svcrdma_max_credits_total, 0);
	while (traffic_running(traffic) && grant != TRAFFIC_CREDITS) {
		traffic_allow(traffic, traffic_ended(traffic) + TRAFFIC_TASKS);
		grant = granted_now(traffic);
		usleep_range(50, 100);
	}
	KUNIT_EXPECT_EQ(traffic->pair->test, (u32)TRAFFIC_CREDITS, grant);
}

static void expect_all_ended(struct traffic *traffic, const struct traffic_case *c)
{
	unsigned int killed = atomic_read(&traffic->killed);
	struct kunit *test = traffic->pair->test;

	KUNIT_EXPECT_FALSE(test, traffic->gone);
	KUNIT_EXPECT_EQ(test, CALLS * TRAFFIC_TASKS,
			atomic_read(&traffic->answered) + killed);
	if (c->kills)
		KUNIT_EXPECT_GT(test, killed, 0);
	else
		KUNIT_EXPECT_EQ(test, 0, killed);
	if (c->drops)
		KUNIT_EXPECT_GT(test, traffic->connects, 6);
	else if (!c->kills)
		KUNIT_EXPECT_EQ(test, 1, traffic->connects);
	kunit_info(test, "%u answered, %u killed, %u connections, %lu replies read",
		   atomic_read(&traffic->answered), killed, traffic->connects,
		   xprtrdma_replies_pulled);
}

/*
 * RFC 4296 section 3 (A8), RFC 8166 sections 3.3 and 4.4.1: each call is answered once, with
 * its own bytes, on whichever connection; and memory is the task's alone when it ends.
 */
static void calls_from_several_threads(struct kunit *test)
{
	const struct traffic_case *c = test->param_value;
	struct pair *pair = pair_create(test, c->iwarp);
	struct traffic *traffic = traffic_create(pair, CALLS, c->kills);

	if (c->grows)
		grant_little();

	/* Act */
	if (c->drops || c->grows)
		traffic_allow(traffic, 0);
	traffic_start(traffic);
	if (c->drops)
		drop_often(traffic);
	if (c->grows)
		grant_more(traffic);
	traffic_end(traffic);

	/* Assert */
	expect_all_ended(traffic, c);
	if (!c->drops && !c->kills)
		pair_expect_at_rest(pair);
	pair->answer = pair_answer;
	pair_expect_healthy(pair);
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

struct removal_case {
	const char	*desc;
	enum pair_side	side;
	bool		iwarp;
	bool		kills;
};

static const struct removal_case removal_cases[] = {
	{ "client, InfiniBand", PAIR_CLIENT, false },
	{ "client, iWARP", PAIR_CLIENT, true, .kills = true },
	{ "server, InfiniBand", PAIR_SERVER, false, .kills = true },
	{ "server, iWARP", PAIR_SERVER, true },
};

KUNIT_ARRAY_PARAM_DESC(removal, removal_cases, desc);

/* Rule C10 of Documentation/locking.rst, while everything is in use. */
static void device_is_removed_under_load(struct kunit *test)
{
	const struct removal_case *c = test->param_value;
	struct pair *pair = pair_create(test, c->iwarp);
	struct traffic *traffic = traffic_create(pair, CALLS, c->kills);
	struct memory_device *device = pair_device(pair, c->side);

	/* Act: tasks find no connection, and give up */
	traffic_allow(traffic, CALLS + TRAFFIC_TASKS);
	traffic_start(traffic);
	traffic_await(traffic, CALLS);
	pair_device_remove(device);
	traffic_end(traffic);
	pair_device_removed();

	/* Assert */
	KUNIT_EXPECT_TRUE(test, traffic->gone);
	KUNIT_EXPECT_FALSE(test, device->registered);
	KUNIT_EXPECT_PTR_EQ(test, NULL, pair->client.conn);
	KUNIT_EXPECT_PTR_EQ(test, NULL, pair->server);
	KUNIT_EXPECT_GE(test, atomic_read(&traffic->answered) + atomic_read(&traffic->killed),
			CALLS);
	pair_expect_nothing_left(pair);
}

static struct kunit_case threads_test_cases[] = {
	KUNIT_CASE_PARAM_ATTR(calls_from_several_threads, traffic_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE_PARAM_ATTR(device_is_removed_under_load, removal_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	{}
};

static struct kunit_suite threads_suite = {
	.name = "memory_threads",
	.suite_init = pair_suite_init,
	.suite_exit = pair_suite_exit,
	.test_cases = threads_test_cases,
};

kunit_test_suite(threads_suite);
