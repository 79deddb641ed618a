/* SPDX-License-Identifier: GPL-2.0 */
/* How large the replies of a procedure have been */
#ifndef RPCRDMA_REPLY_HISTORY_H
#define RPCRDMA_REPLY_HISTORY_H

#include "protocol.h"

enum { RPCRDMA_HISTORY_SIZE = 256 };

/*
 * For each procedure, how much speaks for a large reply. All zero at first: then small
 * ones are expected.
 */
struct rpcrdma_reply_history {
	u8 levels[RPCRDMA_HISTORY_SIZE];
};

RPCRDMA_BEGIN_C_ABI

/* @procedure: any number; those that are equal modulo the size share what is learned */
bool rpcrdma_expect_large(const struct rpcrdma_reply_history *history, u32 procedure);

/* A reply has come, that did not fit inline (@large) or would have. */
void rpcrdma_note_reply(struct rpcrdma_reply_history *history, u32 procedure,
			bool large);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_REPLY_HISTORY_H */
