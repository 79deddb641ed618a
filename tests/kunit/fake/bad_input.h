/* SPDX-License-Identifier: GPL-2.0-only */
/* Good messages of each kind, and every way to damage one word of them. */
#ifndef KUNIT_BAD_INPUT_H
#define KUNIT_BAD_INPUT_H

#include <kunit/test.h>

#include "rpcrdma/header.h"

enum { SAMPLE_WORDS = 64 };

/**
 * struct sample - a good message
 * @desc: which kind
 * @words: in host order
 * @count: number of @words
 * @header: words of the transport header
 * @status: of the decode
 */
struct sample {
	const char		*desc;
	u32			words[SAMPLE_WORDS];
	u32			count;
	u32			header;
	enum rpcrdma_status	status;
};

extern const struct sample samples[];
COMPAT_GEN_PARAMS(sample_params, prev, desc);
u8 *sample_bytes(struct kunit *test, const struct sample *sample);

typedef void (*bad_input_fn)(void *context, const u8 *message, u32 length);

/*
 * Calls @fn with each truncation of @message and then with each corruption of one word
 * of it, from memory of exactly that size, so that KASAN sees what is read beyond.
 */
void bad_input_each(struct kunit *test, const u8 *message, u32 length, bad_input_fn fn,
		    void *context);

#endif /* KUNIT_BAD_INPUT_H */
