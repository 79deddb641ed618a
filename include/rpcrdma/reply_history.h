/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* What earlier replies of a procedure say about the size of the next one */
#ifndef RPCRDMA_REPLY_HISTORY_H
#define RPCRDMA_REPLY_HISTORY_H

#include "protocol.h"

enum { RPCRDMA_HISTORY_SIZE = 256 };

/**
 * struct rpcrdma_reply_history - the history of all procedures of one transport
 * @levels: for each procedure, how many large replies it had lately; all zero at first, so that
 *	small replies are expected. The functions below need no lock.
 */
struct rpcrdma_reply_history {
	u8 levels[RPCRDMA_HISTORY_SIZE];
};

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_expect_large - will the next reply of a procedure be a large one?
 * @history: the history
 * @procedure: the procedure; numbers that are equal modulo %RPCRDMA_HISTORY_SIZE share a level
 */
bool rpcrdma_expect_large(const struct rpcrdma_reply_history *history, u32 procedure);

/**
 * rpcrdma_note_reply - note the size of a reply
 * @history: the history
 * @procedure: the procedure
 * @large: the reply was larger than what goes inline
 */
void rpcrdma_note_reply(struct rpcrdma_reply_history *history, u32 procedure, bool large);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_REPLY_HISTORY_H */
