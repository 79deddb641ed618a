// SPDX-License-Identifier: GPL-2.0-only
/* Credits that the connections of several hosts share. */
#include <linux/slab.h>

#include "server.h"

enum { HOSTS = 4, CONNECTIONS = 8 };

/**
 * struct budget_test - connections without a device: what budget.c looks at
 * @t: these
 * @joined: has it?
 */
struct budget_test {
	struct svcrdma_transport *t;
	bool			joined[CONNECTIONS];
};

static void leave_all(void *data)
{
	struct budget_test *budget = data;
	int i;

	for (i = 0; i < CONNECTIONS; i++)
		if (budget->joined[i])
			svcrdma_budget_leave(&budget->t[i]);
}

static int budget_init(struct kunit *test)
{
	struct budget_test *budget = kunit_kzalloc(test, sizeof(*budget), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, budget);
	budget->t = kunit_kcalloc(test, CONNECTIONS, sizeof(*budget->t), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, budget->t);
	test->priv = budget;
	server_keep_total(test);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, leave_all, budget));
	svcrdma_max_credits_total = 240;
	return 0;
}

/* Connection @i, of host @host. Each has a port of its own, which does not matter. */
static struct svcrdma_transport *join(struct kunit *test, int i, int host, bool ipv6)
{
	struct budget_test *budget = test->priv;
	struct svcrdma_transport *t = &budget->t[i];
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(700 + i),
		.sin6_addr.s6_addr = { 0xfd, 0, [15] = host },
	};
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons(700 + i),
		.sin_addr.s_addr = htonl(0x0a000000 + host),
	};

	if (ipv6)
		svc_xprt_set_remote(&t->st_xprt, (struct sockaddr *)&in6, sizeof(in6));
	else
		svc_xprt_set_remote(&t->st_xprt, (struct sockaddr *)&in, sizeof(in));
	KUNIT_ASSERT_EQ(test, 0, svcrdma_budget_join(t));
	budget->joined[i] = true;
	return t;
}

static void leave(struct kunit *test, int i)
{
	struct budget_test *budget = test->priv;

	svcrdma_budget_leave(&budget->t[i]);
	budget->joined[i] = false;
}

/* A part for each host, and one for a host that is yet to come; nobody loses what it has. */
static void budget_is_shared_by_hosts(struct kunit *test)
{
	struct svcrdma_transport *first = join(test, 0, 1, false);
	struct svcrdma_transport *second, *third;

	KUNIT_EXPECT_EQ(test, 120, svcrdma_budget_ask(first, 1000));
	/* An IPv6 address that begins with the same bytes is another host. */
	second = join(test, 1, 1, true);
	KUNIT_EXPECT_EQ(test, 80, svcrdma_budget_ask(second, 1000));
	KUNIT_EXPECT_EQ(test, 120, svcrdma_budget_ask(first, 1000));
	/* Its part would be 60. That is left: */
	third = join(test, 2, 2, true);
	KUNIT_EXPECT_EQ(test, 40, svcrdma_budget_ask(third, 1000));
	leave(test, 1);
	KUNIT_EXPECT_EQ(test, 80, svcrdma_budget_ask(third, 1000));
	KUNIT_EXPECT_EQ(test, 120, svcrdma_budget_ask(first, 1000));
}

/* Another connection of the same host takes from that host. */
static void budget_of_a_host(struct kunit *test)
{
	struct svcrdma_transport *first = join(test, 0, 1, true);
	struct svcrdma_transport *second;

	KUNIT_EXPECT_EQ(test, 110, svcrdma_budget_ask(first, 110));
	second = join(test, 1, 1, true);
	/* An equal share of the part */
	KUNIT_EXPECT_EQ(test, 60, svcrdma_budget_ask(second, 1000));
	KUNIT_EXPECT_EQ(test, 110, svcrdma_budget_ask(first, 1000));
	/* What could not be done is the host's again, */
	svcrdma_budget_stay(second, 8);
	KUNIT_EXPECT_EQ(test, 112, svcrdma_budget_ask(first, 1000));
	/* and what a connection had that has ended */
	leave(test, 0);
	KUNIT_EXPECT_EQ(test, 120, svcrdma_budget_ask(second, 1000));
}

/* Then a connection has the least that it may have, and its grant does not grow. */
static void budget_is_used_up(struct kunit *test)
{
	struct svcrdma_transport *t[HOSTS];
	int i;

	for (i = 0; i < HOSTS; i++) {
		t[i] = join(test, i, i, false);
		svcrdma_budget_ask(t[i], 1000);
	}
	KUNIT_EXPECT_EQ(test, RPCRDMA_GRANT_FLOOR, svcrdma_budget_ask(t[HOSTS - 1], 1000));
	svcrdma_max_credits_total = 10;
	KUNIT_EXPECT_EQ(test, 120, svcrdma_budget_ask(t[0], 1000));
	KUNIT_EXPECT_EQ(test, RPCRDMA_GRANT_FLOOR, svcrdma_budget_ask(t[HOSTS - 1], 1000));
	leave(test, 0);
	svcrdma_max_credits_total = 240;
	KUNIT_EXPECT_EQ(test, 60, svcrdma_budget_ask(t[HOSTS - 1], 1000));
}

static void restore_size(void *size)
{
	svcrdma_max_req_size = (long)size;
}

/* The same memory, whatever the size of a message */
static void budget_by_memory(struct kunit *test)
{
	static const u32 sizes[] = { 4096, 5120, 7168, 8192, 65536 };
	struct svcrdma_transport *t = join(test, 0, 1, false);
	void *before = (void *)(long)svcrdma_max_req_size;
	u32 i, most, half;

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, restore_size, before));
	svcrdma_max_credits_total = 0;
	svcrdma_max_req_size = 4096;
	most = svcrdma_budget_ask(t, INT_MAX);
	KUNIT_EXPECT_GE(test, most, 512);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		svcrdma_max_req_size = sizes[i];
		svcrdma_budget_stay(t, 0);
		half = svcrdma_budget_ask(t, INT_MAX);
		KUNIT_EXPECT_LE(test, (u64)half * sizes[i], (u64)most * 4096 + 4096);
		KUNIT_EXPECT_GE(test, (u64)(half + 1) * sizes[i], (u64)most * 4096);
	}
}

static void budget_without_memory(struct kunit *test)
{
	struct budget_test *budget = test->priv;

	fake_alloc_fail(0);
	KUNIT_EXPECT_EQ(test, -ENOMEM, svcrdma_budget_join(budget->t));
	KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
	svcrdma_budget_leave(budget->t);
}

static struct kunit_case budget_cases[] = {
	KUNIT_CASE(budget_is_shared_by_hosts),
	KUNIT_CASE(budget_of_a_host),
	KUNIT_CASE(budget_is_used_up),
	KUNIT_CASE(budget_by_memory),
	KUNIT_CASE(budget_without_memory),
	{}
};

static struct kunit_suite budget_suite = {
	.name = "svcrdma_budget",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = budget_init,
	.test_cases = budget_cases,
};

kunit_test_suite(budget_suite);
