// SPDX-License-Identifier: GPL-2.0-only
/* The fuzzer as a suite of KUnit: a case takes inputs from the device for some time. */
#include "fuzz.h"

enum {
	CASES		= 100000,	/* until nobody has inputs any more */
	CASE_INPUTS	= 500,		/* KUnit gives a case five minutes. */
};

static bool over;

/* The parameter of a case is its number. */
static const void *next_case(const void *before, char *desc)
{
	unsigned long number = (unsigned long)before;

	if (over || number == CASES)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%lu", number);
	return (void *)(number + 1);
}

/* A check that ends the thread of the case ends its last run. */
static void give_up_action(void *data)
{
	fuzz_coverage_stop();
	fault_end();
	fuzz_input_abandon();
}

static void run_inputs(struct kunit *test)
{
	struct fuzz *fuzz = kunit_kzalloc(test, sizeof(*fuzz), GFP_KERNEL);
	unsigned long end = jiffies + 120 * HZ;
	const u8 *input;
	u32 n, length;
	bool goes_on = true;

	KUNIT_ASSERT_NOT_NULL(test, fuzz);
	fuzz->test = test;
	fuzz->sides[0] = reverse_prepare(test, &memory_plain[0]);
	fuzz->sides[1] = reverse_prepare(test, &memory_plain[1]);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, give_up_action, NULL));
	for (n = 0; goes_on && n < CASE_INPUTS && time_before(jiffies, end); n++) {
		input = fuzz_input_get(&length);
		if (!input) {
			over = true;
			break;
		}
		fuzz_coverage_start();
		goes_on = fuzz_run(fuzz, input, length);
		fuzz_coverage_stop();
		fuzz_input_done(READ_ONCE(test->status) == KUNIT_SUCCESS);
	}
}

static struct kunit_case fuzz_cases[] = {
	KUNIT_CASE_PARAM(run_inputs, next_case),
	{}
};

static int suite_init(struct kunit_suite *suite)
{
	int ret = fuzz_device_init();

	if (ret)
		return ret;
	ret = reverse_suite_init(suite);
	if (ret)
		fuzz_device_exit();
	return ret;
}

static void suite_exit(struct kunit_suite *suite)
{
	reverse_suite_exit(suite);
	fuzz_device_exit();
}

static struct kunit_suite fuzz_suite = {
	.name = "memory_fuzz",
	.suite_init = suite_init,
	.suite_exit = suite_exit,
	.test_cases = fuzz_cases,
};

kunit_test_suite(fuzz_suite);
