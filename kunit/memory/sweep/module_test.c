// SPDX-License-Identifier: GPL-2.0
/* The sweep: both modules are loaded and unloaded. All or nothing. */
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

/* A module that is loaded has all that it needs. */
static void expect_refused_as_a_whole(const struct sweep *sweep)
{
	KUNIT_EXPECT_FALSE(sweep->test, loaded && sweep->plan.site);
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
