/* SPDX-License-Identifier: GPL-2.0-only */
/* RPCs whose replies the server exposes. */
#ifndef KUNIT_MEMORY_PULL_H
#define KUNIT_MEMORY_PULL_H

#include "../../client/reply.h"
#include "pair.h"

/**
 * struct pull_case - an RPC whose reply is larger than a message
 * @desc: name
 * @shape: what the client encodes, and has room for
 * @answer: what nfsd answers
 */
struct pull_case {
	const char		*desc;
	struct client_shape	shape;
	struct pair_answer	answer;
};

#define PULL_8K		{ "head, pages and tail", { PLAIN(8192) }, { 128, 8192, 40 } }
#define PULL_60K	{ "60 KiB", { PLAIN(61440) }, { 128, 61440, 4 } }

extern const struct pull_case pull_8k, pull_60k;

struct client_call *pull_begin(struct pair *pair, const struct pull_case *c);
struct client_call *pull_exchange(struct pair *pair, const struct pull_case *c);
void pull_forget(struct pair *pair);
void pull_expect_nothing_exposed(struct pair *pair);

#endif /* KUNIT_MEMORY_PULL_H */
