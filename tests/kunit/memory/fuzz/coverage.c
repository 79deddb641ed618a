// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records which basic blocks of the modules a run has reached.
 *
 * KCOV does not fit: it records one task, or what a driver marks for it, and half of a transport
 * runs in work items. gcc calls the function below in each basic block of the files that
 * Kbuild.kunit compiles with -fsanitize-coverage=trace-pc, in any context.
 */
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/string.h>

#include "fuzz.h"

static u8 counters[FUZZ_COUNTERS];
static bool counting;

/* The address of the block, from here on, says where: modules are loaded anywhere. */
notrace __no_sanitize_address void __sanitizer_cov_trace_pc(void)
{
	unsigned long block = _RET_IP_ - (unsigned long)__sanitizer_cov_trace_pc;
	u8 *counter;

	if (!READ_ONCE(counting))
		return;
	counter = &counters[hash_long(block, ilog2(FUZZ_COUNTERS))];
	if (*counter < U8_MAX)
		(*counter)++;
}

void fuzz_coverage_start(void)
{
	memset(counters, 0, sizeof(counters));
	WRITE_ONCE(counting, true);
}

void fuzz_coverage_stop(void)
{
	WRITE_ONCE(counting, false);
}

/* fuzz_coverage - FUZZ_COUNTERS counters of the last run */
const u8 *fuzz_coverage(void)
{
	return counters;
}
