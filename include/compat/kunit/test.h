/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COMPAT_KUNIT_TEST_H
#define COMPAT_KUNIT_TEST_H

/*
 * Linux 6.18 gives generators of parameters the test. One that has no use for it is declared as
 * COMPAT_GEN_PARAMS(name, prev, desc).
 */
#include_next <kunit/test.h>
#include <compat_config.h>

#ifdef COMPAT_HAVE_KUNIT_GEN_TEST
#define COMPAT_GEN_PARAMS(name, prev, desc) \
	const void *name(struct kunit *test, const void *prev, char *desc)
#else
#define COMPAT_GEN_PARAMS(name, prev, desc) const void *name(const void *prev, char *desc)
#endif

#endif /* COMPAT_KUNIT_TEST_H */
