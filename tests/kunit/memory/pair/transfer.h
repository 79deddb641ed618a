/* SPDX-License-Identifier: GPL-2.0-only */
/* A table of the ways in which a call and its reply can travel. */
#ifndef KUNIT_MEMORY_TRANSFER_H
#define KUNIT_MEMORY_TRANSFER_H

#include "../../client/reply.h"
#include "pair.h"

/**
 * struct transfer_case - an RPC
 * @desc: name
 * @shape: what the client encodes, and has room for
 * @answer: what nfsd answers
 */
struct transfer_case {
	const char		*desc;
	struct client_shape	shape;
	struct pair_answer	answer;
};

enum { TRANSFERS = 33 };

extern const struct transfer_case transfer_cases[TRANSFERS];

struct client_call *transfer_exchange(struct pair *pair, const struct transfer_case *c);

#endif /* KUNIT_MEMORY_TRANSFER_H */
