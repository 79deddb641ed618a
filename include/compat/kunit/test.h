/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
#ifndef COMPAT_KUNIT_TEST_H
#define COMPAT_KUNIT_TEST_H

/*
 * Since Linux 6.18 a generator of parameters has the test as its first parameter. A generator that
 * does not use it is declared as COMPAT_GEN_PARAMS(name, prev, desc).
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
