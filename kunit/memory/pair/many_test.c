// SPDX-License-Identifier: GPL-2.0
/*
 * A thousand connections to one server: from one host, and from as many hosts. Each has its
 * credits, all together have no more than there are, whoever comes beside them is served, and
 * when they have gone nothing is left.
 */
#include <linux/delay.h>
#include <net/netns/generic.h>

#include "crowd.h"

enum {
	/* With KASAN a thousand are more than the machine has memory for: reclaim lowers grants. */
	MANY		= IS_ENABLED(CONFIG_KASAN) ? 150 : 1000,
	NEWCOMERS	= 2,
	GREEDY		= 50,
	HOST		= 0x0a000001,	/* the first one's address */
	NEW_HOST	= 0xc0000202,
	REQUESTS	= 16,		/* max_requests: what takes long is to make the queues */
};

/**
 * struct many_case - who there is
 * @desc: name
 * @one_host: they all come from one
 * @credits: max_credits_total: more than the least for each, fewer than each would like
 */
struct many_case {
	const char	*desc;
	bool		one_host;
	u32		credits;
};

static const struct many_case many_cases[] = {
	{ "one host", true, 15 * MANY },
	{ "a host each", false, 6 * MANY },
};

KUNIT_ARRAY_PARAM_DESC(many, many_cases, desc);

static void restore_total(void *total)
{
	svcrdma_max_credits_total = (long)total;
}

static void restore_requests(void *requests)
{
	svcrdma_max_requests = (long)requests;
}

static void set_knobs(struct kunit *test, u32 credits)
{
	void *total = (void *)(long)svcrdma_max_credits_total;
	void *requests = (void *)(long)svcrdma_max_requests;

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, restore_total, total));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, restore_requests, requests));
	svcrdma_max_credits_total = credits;
	svcrdma_max_requests = REQUESTS;
}

/* ---- credits ---- */

/**
 * struct host_sum - what a host has
 * @connections: their number
 * @granted: on all of them
 */
struct host_sum {
	u32 connections;
	u32 granted;
};

static struct host_sum sum_of_host(const struct crowd *crowd, u32 address)
{
	struct host_sum sum = {};
	unsigned int i;

	for (i = 0; i < crowd->count; i++) {
		if (crowd->members[i].address != address)
			continue;
		sum.connections++;
		sum.granted += crowd->members[i].server->st_grant;
	}
	return sum;
}

static u32 part(const struct many_case *c, u32 hosts)
{
	return c->credits / (hosts + 1);
}

/* A connection that is new has what its host's part has left, or as much as each other one. */
static void expect_first_grant(struct crowd *crowd, const struct crowd_member *member, u32 part)
{
	struct host_sum sum = sum_of_host(crowd, member->address);
	u32 grant = member->server->st_grant, others = sum.granted - grant;
	u32 due = max3(part / sum.connections, (u32)RPCRDMA_GRANT_FLOOR,
		       part > others ? part - others : 0);

	due = min_t(u32, due, SVCRDMA_FIRST_CREDITS);
	KUNIT_ASSERT_EQ(crowd->pair->test, due, grant);
}

/* Once a batch of everybody's calls has come, whoever had more than is due has given it back. */
static void expect_within_budget(struct crowd *crowd, u32 part)
{
	const struct many_case *c = crowd->pair->test->param_value;
	u32 i, least = U32_MAX, total = 0, beyond = 0;
	struct kunit *test = crowd->pair->test;
	struct host_sum sum;

	for (i = 0; i < crowd->count; i++) {
		least = min(least, crowd->members[i].server->st_grant);
		total += crowd->members[i].server->st_grant;
		sum = sum_of_host(crowd, crowd->members[i].address);
		beyond += sum.granted > max(part, sum.connections * RPCRDMA_GRANT_FLOOR);
	}
	KUNIT_EXPECT_GE(test, least, (u32)RPCRDMA_GRANT_FLOOR);
	KUNIT_EXPECT_LE(test, total, c->credits);
	KUNIT_EXPECT_EQ_MSG(test, 0, beyond, "connections of hosts with more than their part");
	KUNIT_EXPECT_EQ(test, total - crowd->count * RPCRDMA_GRANT_FLOOR, svcrdma_budget_spare());
}

/* A host that comes now is the only one, and its credits are all that are granted. */
static void expect_budget_is_empty(struct kunit *test)
{
	const struct many_case *c = test->param_value;
	struct svcrdma_transport *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(HOST) };

	KUNIT_ASSERT_NOT_NULL(test, t);
	svc_xprt_set_remote(&t->st_xprt, (struct sockaddr *)&in, sizeof(in));
	KUNIT_ASSERT_EQ(test, 0, svcrdma_budget_join(t));
	KUNIT_EXPECT_EQ(test, c->credits / 2, svcrdma_budget_ask(t, U32_MAX));
	KUNIT_EXPECT_EQ(test, c->credits / 2 - RPCRDMA_GRANT_FLOOR, svcrdma_budget_spare());
	svcrdma_budget_leave(t);
}

/* ---- what the files of the server have ---- */

static void expect_shown(struct kunit *test, unsigned int connections)
{
	struct rpcrdma_net *totals = net_generic(&init_net, svcrdma_connections.cs_net_id);
	unsigned int shown = 0;
	struct rb_node *node;

	mutex_lock(&svcrdma_connections.cs_lock);
	for (node = rb_first(&svcrdma_connections.cs_tree); node; node = rb_next(node))
		shown++;
	KUNIT_EXPECT_EQ(test, connections, totals->nt_now);
	mutex_unlock(&svcrdma_connections.cs_lock);
	KUNIT_EXPECT_EQ(test, connections, shown);
}

/* ---- a thousand ---- */

static void report(struct crowd *crowd, s64 microseconds)
{
	struct pair *pair = crowd->pair;

	kunit_info(pair->test,
		   "%u connections: accepted in %lld us, of %lld for both ends; bytes mapped for each: %llu, by its client %llu",
		   crowd->count, ktime_to_us(pair->accepting), microseconds,
		   memory_mapped(pair->server_device) / crowd->count,
		   memory_mapped(pair->client_device) / crowd->count);
}

static void gather(struct crowd *crowd)
{
	const struct many_case *c = crowd->pair->test->param_value;
	ktime_t begin = ktime_get();
	struct crowd_member *member;
	unsigned int i;

	for (i = 0; i < MANY; i++) {
		member = crowd_connect(crowd, c->one_host ? HOST : HOST + i);
		expect_first_grant(crowd, member, part(c, c->one_host ? 1 : i + 1));
	}
	report(crowd, ktime_to_us(ktime_get() - begin));
	expect_shown(crowd->pair->test, MANY);
}

/* From a host that is new, and from one that is there, while all calls of the others wait. */
static u32 newcomers_come(struct crowd *crowd)
{
	const struct many_case *c = crowd->pair->test->param_value;
	u32 hosts = c->one_host ? 2 : MANY + 1;

	expect_first_grant(crowd, crowd_connect(crowd, NEW_HOST), part(c, hosts));
	expect_first_grant(crowd, crowd_connect(crowd, HOST), part(c, hosts));
	crowd_send(crowd, &crowd->members[MANY], 1);
	crowd_send(crowd, &crowd->members[MANY + 1], 1);
	return part(c, hosts);
}

static void all_are_answered(struct crowd *crowd)
{
	unsigned int i;

	crowd_serve(crowd);
	for (i = 0; i < crowd->count; i++) {
		crowd_expect_answers(&crowd->members[i]);
		KUNIT_ASSERT_TRUE(crowd->pair->test,
				  xprtrdma_conn_established(crowd->members[i].client.conn));
	}
}

static void all_send(struct crowd *crowd, unsigned int calls)
{
	unsigned int i;

	for (i = 0; i < crowd->count; i++)
		crowd_send(crowd, &crowd->members[i], calls);
}

/* The server looks at what a connection has when so many of its Receives are to be posted. */
static void all_send_a_batch(struct crowd *crowd)
{
	unsigned int calls;

	for (calls = 0; calls < RPCRDMA_RECEIVE_BATCH; calls += RPCRDMA_GRANT_FLOOR) {
		all_send(crowd, RPCRDMA_GRANT_FLOOR);
		all_are_answered(crowd);
	}
}

/* Some use all that they have, until the server has looked at it and they have done so again. */
static void some_send_batches(struct crowd *crowd)
{
	unsigned int i, calls;

	for (calls = 0; calls < 2 * RPCRDMA_RECEIVE_BATCH; calls += RPCRDMA_GRANT_FLOOR) {
		for (i = 0; i < GREEDY; i++)
			crowd_send(crowd, &crowd->members[i],
				   crowd->members[i].server->st_grant);
		all_are_answered(crowd);
	}
}

/* For them the server asks for more: once grants have gone down for good. There is no more. */
static void some_are_greedy(struct crowd *crowd)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		msleep(jiffies_to_msecs(SVCRDMA_GRANT_PAUSE) + 10);
		some_send_batches(crowd);
	}
}

static void a_thousand_connections(struct kunit *test)
{
	const struct many_case *c = test->param_value;
	struct crowd *crowd = crowd_create(test, MANY + NEWCOMERS);
	u32 part;

	set_knobs(test, c->credits);
	gather(crowd);
	all_send(crowd, 1);
	part = newcomers_come(crowd);
	all_are_answered(crowd);
	all_send_a_batch(crowd);
	expect_within_budget(crowd, part);
	some_are_greedy(crowd);
	expect_within_budget(crowd, part);
	KUNIT_EXPECT_EQ(test, crowd->sent, crowd->pair->answers);

	crowd_disconnect(crowd);
	pair_expect_nothing_left(crowd->pair);
	expect_shown(test, 0);
	expect_budget_is_empty(test);
}

static struct kunit_case many_test_cases[] = {
	KUNIT_CASE_PARAM(a_thousand_connections, many_gen_params),
	{}
};

static struct kunit_suite many_suite = {
	.name = "memory_many",
	.suite_init = pair_suite_init,
	.suite_exit = pair_suite_exit,
	.test_cases = many_test_cases,
};

kunit_test_suite(many_suite);
