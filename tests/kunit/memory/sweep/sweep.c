// SPDX-License-Identifier: GPL-2.0-only
/* The sweep: chooses the steps that fail, one after the other. */
#include <linux/log2.h>
#include <linux/slab.h>

#include "sweep.h"

/* sweep_note - what has come of the operation; the worst counts */
void sweep_note(struct sweep *sweep, enum fault_outcome outcome)
{
	sweep->outcome = max(sweep->outcome, outcome);
}

static void tell(const struct sweep *sweep, const char *what)
{
	const struct fault_site *site = sweep->plan.site;
	const struct fault_site *then = sweep->plan.then;

	kunit_err(sweep->test, "%s: %s, run %u", what, sweep->op->desc, sweep->runs);
	if (site)
		kunit_err(sweep->test, "%s:%u %s, number %u, %u in a row", site->file, site->line,
			  site->call, sweep->plan.at, sweep->plan.burst);
	if (then)
		kunit_err(sweep->test, "then %s:%u %s", then->file, then->line, then->call);
}

/* The test may end in the middle. */
static void sweep_end(void *data)
{
	struct sweep *sweep = data;

	fault_end();
	if (sweep->running)
		tell(sweep, "broken off");
}

struct sweep *sweep_create(struct kunit *test)
{
	struct sweep *sweep = kunit_kzalloc(test, sizeof(*sweep), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sweep);
	sweep->test = test;
	return sweep;
}

static bool run_once(struct sweep *sweep, const struct fault_plan *plan)
{
	const struct sweep_op *op = sweep->op;
	bool failed = READ_ONCE(sweep->test->status) == KUNIT_FAILURE;

	if (failed)
		return false;
	sweep->plan = plan ? *plan : (struct fault_plan) {};
	sweep->outcome = FAULT_NOTHING;
	sweep->running = true;
	if (op->prepare)
		op->prepare(sweep);
	fault_begin(plan);
	op->run(sweep);
	fault_end();
	if (op->check)
		op->check(sweep);
	fault_note(sweep->outcome);
	sweep->runs++;
	sweep->running = false;
	failed = READ_ONCE(sweep->test->status) == KUNIT_FAILURE;
	if (failed)
		tell(sweep, "failed");
	return !failed;
}

/* Sites that a run comes by only since another one has failed. */
static void follow(struct sweep *sweep, const struct fault_plan *plan)
{
	struct fault_plan more = *plan;
	unsigned int n, count = 0;
	struct fault_site **found;

	found = kunit_kcalloc(sweep->test, FAULT_SITES, sizeof(struct fault_site *), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(sweep->test, found);
	for (n = 0; n < fault_sites(); n++)
		if (fault_site(n)->seen && !sweep->base[n] && fault_site(n) != plan->site)
			found[count++] = fault_site(n);
	while (count--) {
		more.then = found[count];
		if (!more.then->refused)
			run_once(sweep, &more);
	}
	kunit_kfree(sweep->test, found);
}

static bool fail_at(struct sweep *sweep, struct fault_site *site, unsigned int at,
		    unsigned int burst)
{
	struct fault_plan plan = { .site = site, .at = at, .burst = burst };

	if (!run_once(sweep, &plan))
		return false;
	follow(sweep, &plan);
	return true;
}

/* With KASAN all of this takes ten times as long. */
static bool is_chosen(const struct sweep *sweep, unsigned int at, unsigned int count)
{
	if (!IS_ENABLED(CONFIG_KASAN))
		return true;
	if (sweep->again)
		return at == 1;
	return is_power_of_2(at) || at == count;
}

/* Memory is short for a while. */
static void fail_in_a_row(struct sweep *sweep, struct fault_site *site)
{
	if (!IS_ENABLED(CONFIG_KASAN) && fail_at(sweep, site, 1, 2))
		fail_at(sweep, site, 1, 8);
}

static void sweep_site(struct sweep *sweep, unsigned int n)
{
	unsigned int at, count = sweep->base[n];

	if (!count)
		return;
	for (at = 1; at <= count; at++)
		if (is_chosen(sweep, at, count) && !fail_at(sweep, fault_site(n), at, 1))
			return;
	fail_in_a_row(sweep, fault_site(n));
}

/**
 * sweep_all - one operation, with each of its steps
 * @sweep: what it needs
 * @op: the operation
 */
void sweep_all(struct sweep *sweep, const struct sweep_op *op)
{
	unsigned int n, sites = 0, steps = 0;
	enum fault_outcome usual;

	KUNIT_ASSERT_LE(sweep->test, fault_sites(), FAULT_SITES);
	KUNIT_ASSERT_EQ(sweep->test, 0, kunit_add_action_or_reset(sweep->test, sweep_end, sweep));
	sweep->op = op;
	/* What happens once in a life, and then what happens each time */
	if (!run_once(sweep, NULL) || !run_once(sweep, NULL))
		return;
	usual = sweep->outcome;
	/* A call that needs more regions than there are is sent a little later. */
	KUNIT_EXPECT_LE(sweep->test, usual, FAULT_RETRIED);
	for (n = 0; n < fault_sites(); n++) {
		sweep->base[n] = fault_site(n)->seen;
		sites += !!sweep->base[n];
		steps += sweep->base[n];
	}
	KUNIT_EXPECT_GT(sweep->test, steps, 0);
	for (n = 0; n < fault_sites(); n++)
		sweep_site(sweep, n);
	/* It runs through. */
	run_once(sweep, NULL);
	KUNIT_EXPECT_EQ(sweep->test, usual, sweep->outcome);
	kunit_info(sweep->test, "%s: %u sites, %u steps, %u runs", op->desc, sites, steps,
		   sweep->runs);
}
