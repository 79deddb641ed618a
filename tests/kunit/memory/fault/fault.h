/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Chooses which of the modules' fallible calls is refused and when, and records the result.
 *
 * Steps are counted for each site, whatever the context, so that two contexts that run at the same
 * time do not change each other's numbers.
 */
#ifndef KUNIT_MEMORY_FAULT_H
#define KUNIT_MEMORY_FAULT_H

#include "site.h"

/* What becomes of an operation; documented with whoever returns it. */
enum fault_outcome {
	FAULT_NOTHING,		/* it succeeded, at once */
	FAULT_RETRIED,		/* something is short now: it succeeded when it was tried again */
	FAULT_ENDED,		/* it ended with an error of its own; the connection stays */
	FAULT_LOST,		/* the connection was lost: it succeeded on the next one */
	FAULT_REFUSED,		/* there is no connection, listener, mount or module this time */
	FAULT_OUTCOMES,
};

/**
 * struct fault_plan - what is to fail
 * @site: here
 * @at: the call with this number, from 1
 * @burst: so many, whatever comes next at any site; 0: one
 * @then: after that the first one here, too; may be NULL
 */
struct fault_plan {
	struct fault_site	*site;
	unsigned int		at;
	unsigned int		burst;
	struct fault_site	*then;
};

enum { FAULT_SITES = 256 };

unsigned int fault_sites(void);
struct fault_site *fault_site(unsigned int n);
void fault_begin(const struct fault_plan *plan);
void fault_end(void);
void fault_turn_first(void);
bool fault_happened(void);
void fault_note(enum fault_outcome outcome);
void fault_print(void);

#endif /* KUNIT_MEMORY_FAULT_H */
