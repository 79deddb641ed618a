// SPDX-License-Identifier: GPL-2.0-only
/* Reads numbers from fuzz input, and reports a finding. */
#ifndef FUZZ_INPUT_HH
#define FUZZ_INPUT_HH

#include <cstdio>
#include <cstdlib>

#include <rpcrdma/bytes.hh>

/* Zeros after the end, as a Reader gives them. */
using Input = rpcrdma::Reader;

inline Input input_of(const u8 *data, size_t size)
{
	return Input(data, size);
}

/* @wrong is null when all is well. */
inline void report(const char *wrong)
{
	if (!wrong)
		return;
	std::fprintf(stderr, "finding: %s\n", wrong);
	std::abort();
}

#endif /* FUZZ_INPUT_HH */
