// SPDX-License-Identifier: GPL-2.0-only
/* Any sequence of replies: the history and its naive twin have to agree, and the bounds to hold. */
#include "input.hh"
#include "support/history_twin.hh"

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	Input input = input_of(data, size);
	HistoryPair pair;
	u32 replies = 0;

	/* The twin looks at all of them each time. */
	while (input.remaining() && replies < 300) {
		u8 what = input.read_u8();
		/* A few of them, of which some share a place */
		u32 procedure =
			what % 4 + (what / 4 % 2) * RPCRDMA_HISTORY_SIZE;

		/* the upper bits repeat the reply, so that levels get full */
		for (u32 i = 0; i <= what / 16u; i++, replies++)
			report(pair.reply(procedure, what / 8 % 2));
	}
	return 0;
}
