// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * What earlier replies of a procedure say about the next one.
 *
 * A large reply adds two to the procedure's level, up to four, and a small reply subtracts one.
 * From level two on, a large reply is expected. Two bounds follow, whatever the order of replies:
 * - memory offered for nothing: at most two times for each large reply, and at most three times in
 *   a row;
 * - large replies that were not expected: at most one, and one more for each time that memory was
 *   offered for nothing.
 */
#include "plan.h"
#include "math.hh"

using namespace rpcrdma;

constexpr u8 level_step = 2;
constexpr u8 level_expect = 2;
constexpr u8 level_max = 4;

/*
 * Senders read a level while a reply is noted, and two replies may be noted at the same time. So
 * each level is read and written atomically. It does not matter whether a sender sees the old level
 * or the new one, nor that one of the two replies may be lost.
 */
bool rpcrdma_expect_large(const struct rpcrdma_reply_history *history, u32 procedure)
{
	const u8 &level = history->levels[procedure % RPCRDMA_HISTORY_SIZE];

	return __atomic_load_n(&level, __ATOMIC_RELAXED) >= level_expect;
}

void rpcrdma_note_reply(struct rpcrdma_reply_history *history, u32 procedure, bool large)
{
	u8 &level = history->levels[procedure % RPCRDMA_HISTORY_SIZE];
	const u8 old = __atomic_load_n(&level, __ATOMIC_RELAXED);

	if (large)
		__atomic_store_n(&level, min<u8>(old + level_step, level_max), __ATOMIC_RELAXED);
	else if (old)
		__atomic_store_n(&level, old - 1, __ATOMIC_RELAXED);
}
