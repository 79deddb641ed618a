/* SPDX-License-Identifier: GPL-2.0-only */
/* A place in the modules' source where something can be refused. */
#ifndef KUNIT_MEMORY_FAULT_SITE_H
#define KUNIT_MEMORY_FAULT_SITE_H

#include <linux/types.h>

/**
 * struct fault_site - a fallible call
 * @file: where it is
 * @function: where it is
 * @call: what is called
 * @line: where it is
 * @seen: how often somebody came by since fault_begin()
 * @hits: in all runs
 * @refused: in all runs
 * @outcomes: what came of runs in which it was refused; bits by enum fault_outcome
 */
struct fault_site {
	const char	*file;
	const char	*function;
	const char	*call;
	unsigned int	line;
	unsigned int	seen;
	unsigned int	hits;
	unsigned int	refused;
	unsigned long	outcomes;
};

bool fault_refused(struct fault_site *site);
int fault_turn(int one, int other);

#endif /* KUNIT_MEMORY_FAULT_SITE_H */
