// SPDX-License-Identifier: GPL-2.0-only
/* The sweep: both modules are loaded and unloaded. A load that fails must leave nothing behind. */
#include "../fault/modules.h"
#include "sweep.h"

static bool loaded;

static void client_run(struct sweep *sweep)
{
	loaded = !fault_client_init();
	if (!loaded)
		sweep_note(sweep, FAULT_REFUSED);
}

static void server_run(struct sweep *sweep)
{
	loaded = !fault_server_init();
	if (!loaded)
		sweep_note(sweep, FAULT_REFUSED);
}

/* With these a module can be used, and so held, by others. */
static bool is_offer(const struct fault_site *site)
{
	return !strcmp(site->call, "xprt_register_transport") ||
	       !strcmp(site->call, "svc_reg_xprt_class");
}

static unsigned int offers(void)
{
	unsigned int n, count = 0;

	for (n = 0; n < fault_sites(); n++)
		count += is_offer(fault_site(n)) ? fault_site(n)->seen : 0;
	return count;
}

/*
 * A module that is loaded has all that it needs. One that is not has offered itself to nobody
 * before: who had taken the offer would use memory that is free.
 */
static void expect_refused_as_a_whole(const struct sweep *sweep)
{
	const struct fault_site *site = sweep->plan.site;

	KUNIT_EXPECT_FALSE(sweep->test, loaded && site);
	if (site && !is_offer(site))
		KUNIT_EXPECT_EQ_MSG(sweep->test, 0, offers(), "%s failed afterwards", site->call);
}

/* Nothing of a module that was refused keeps the next one away. */
static void client_check(struct sweep *sweep)
{
	expect_refused_as_a_whole(sweep);
	if (loaded)
		fault_client_exit();
	KUNIT_ASSERT_EQ(sweep->test, 0, fault_client_init());
	fault_client_exit();
}

static void server_check(struct sweep *sweep)
{
	expect_refused_as_a_whole(sweep);
	if (loaded)
		fault_server_exit();
	KUNIT_ASSERT_EQ(sweep->test, 0, fault_server_init());
	fault_server_exit();
}

static const struct sweep_op ops[] = {
	{ "client", NULL, client_run, client_check },
	{ "server", NULL, server_run, server_check },
};

KUNIT_ARRAY_PARAM_DESC(op, ops, desc);

static void module_is_loaded(struct kunit *test)
{
	sweep_all(sweep_create(test), test->param_value);
}

static struct kunit_case module_cases[] = {
	KUNIT_CASE_PARAM(module_is_loaded, op_gen_params),
	{}
};

static struct kunit_suite module_suite = {
	.name = "memory_sweep_module",
	.test_cases = module_cases,
};

kunit_test_suite(module_suite);
