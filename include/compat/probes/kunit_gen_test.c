// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Linux 6.18: generators of parameters are given the test. */
#include <kunit/test.h>

const void *probe(struct kunit *test, const void *prev, char *desc);
const void *probe(struct kunit *test, const void *prev, char *desc)
{
	struct kunit_case test_case = { .generate_params = probe };

	return test_case.generate_params(test, prev, desc);
}
