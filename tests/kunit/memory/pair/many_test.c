// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thousand connections to one server: from one host, and from as many hosts. Each connection must
 * have its credits. All together may have no more than there are, beside the least that each may
 * have. The server must serve a newcomer beside them, and keep nothing when they have gone.
 */
#include <net/netns/generic.h>

#include "crowd.h"

enum {
	/* With KASAN a thousand are more than the machine has memory for. */
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

/* Of all connections of a host; 0: of all hosts */
static u32 granted_to(const struct crowd *crowd, u32 address)
{
	unsigned int i;
	u32 sum = 0;

	for (i = 0; i < crowd->count; i++)
		if (!address || crowd->members[i].address == address)
			sum += crowd->members[i].server->st_grant;
	return sum;
}

static unsigned int connections_of(const struct crowd *crowd, u32 address)
{
	unsigned int i, count = 0;

	for (i = 0; i < crowd->count; i++)
		count += crowd->members[i].address == address;
	return count;
}

static u32 part(const struct many_case *c, u32 hosts)
{
	return c->credits / (hosts + 1);
}

/*
 * A connection that is new has what its host's part has left, or as much as each other one of it,
 * as far as there are credits that nobody has.
 */
static void expect_first_grant(struct crowd *crowd, const struct crowd_member *member, u32 part)
{
	const struct many_case *c = crowd->pair->test->param_value;
	u32 grant = member->server->st_grant;
	u32 others = granted_to(crowd, member->address) - grant;
	u32 all = granted_to(crowd, 0) - grant;
	u32 due = max(part / connections_of(crowd, member->address),
		      part > others ? part - others : 0);

	due = min3(due, c->credits > all ? c->credits - all : 0, (u32)SVCRDMA_FIRST_CREDITS);
	KUNIT_ASSERT_EQ(crowd->pair->test, max_t(u32, due, RPCRDMA_GRANT_FLOOR), grant);
}

/* Who has come when all was granted has the least that there is, beside the budget. */
static void expect_within_budget(struct crowd *crowd)
{
	const struct many_case *c = crowd->pair->test->param_value;
	u32 i, grant, least = U32_MAX, total = 0;

	for (i = 0; i < crowd->count; i++) {
		grant = crowd->members[i].server->st_grant;
		least = min(least, grant);
		if (grant > RPCRDMA_GRANT_FLOOR)
			total += grant;
	}
	KUNIT_EXPECT_GE(crowd->pair->test, least, (u32)RPCRDMA_GRANT_FLOOR);
	KUNIT_EXPECT_LE(crowd->pair->test, total, c->credits);
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
static void newcomers_come(struct crowd *crowd)
{
	const struct many_case *c = crowd->pair->test->param_value;
	u32 hosts = c->one_host ? 2 : MANY + 1;

	expect_first_grant(crowd, crowd_connect(crowd, NEW_HOST), part(c, hosts));
	expect_first_grant(crowd, crowd_connect(crowd, HOST), part(c, hosts));
	crowd_send(crowd, &crowd->members[MANY], 1);
	crowd_send(crowd, &crowd->members[MANY + 1], 1);
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

/* Some use all that they have, again and again: for them the server asks for more. */
static void some_are_greedy(struct crowd *crowd)
{
	unsigned int i, round;

	for (round = 0; round < 2 * RPCRDMA_RECEIVE_BATCH / RPCRDMA_GRANT_FLOOR; round++) {
		for (i = 0; i < GREEDY; i++)
			crowd_send(crowd, &crowd->members[i],
				   crowd->members[i].server->st_grant);
		all_are_answered(crowd);
	}
}

static void a_thousand_connections(struct kunit *test)
{
	const struct many_case *c = test->param_value;
	struct crowd *crowd = crowd_create(test, MANY + NEWCOMERS);

	set_knobs(test, c->credits);
	gather(crowd);
	expect_within_budget(crowd);
	all_send(crowd, 1);
	newcomers_come(crowd);
	all_are_answered(crowd);
	some_are_greedy(crowd);
	expect_within_budget(crowd);
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
