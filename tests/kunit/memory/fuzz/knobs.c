// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plays the administrator, who changes a setting. After a run all settings have their old values.
 *
 * A run begins with fewer credits than the modules do by themselves. Most of the time of a run would
 * go into regions and queues that nobody uses; a step can ask for all of them.
 */
#include "fuzz.h"

static const struct {
	unsigned int	*knob;
	unsigned int	values[3];
} knobs[] = {
	{ &svcrdma_max_requests, { SVCRDMA_MIN_REQUESTS, 32, 128 } },
	{ &svcrdma_max_credits_total, { 0, 16, 64 } },
	{ &svcrdma_max_req_size, { SVCRDMA_MIN_REQ_SIZE, RPCRDMA_INLINE_USUAL, 65536 } },
	{ &svcrdma_ord, { 1, 16, 255 } },
	{ &svcrdma_reliable_reply, { 0, 1, 1 } },
	{ &svcrdma_max_exposed_bytes, { 0, 1 << 20, 64 << 20 } },
	{ &svcrdma_serve_msgp, { 0, 1, 1 } },
	{ &svcrdma_answer_config, { 0, 1, 1 } },
	{ &xprtrdma_slot_table_entries, { 4, 16, 128 } },
	{ &xprtrdma_max_inline_read, { RPCRDMA_INLINE_MIN, RPCRDMA_INLINE_USUAL, RPCRDMA_INLINE_MAX } },
	{ &xprtrdma_max_inline_write, { RPCRDMA_INLINE_MIN, RPCRDMA_INLINE_USUAL, RPCRDMA_INLINE_MAX } },
	{ &xprtrdma_reliable_reply, { 0, 1, 1 } },
};

enum { CREDITS = 32 };

static unsigned int usual[ARRAY_SIZE(knobs)];

/* fuzz_knobs_begin - note the settings at the begin of a run, and set those for it */
void fuzz_knobs_begin(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(knobs); i++)
		usual[i] = *knobs[i].knob;
	WRITE_ONCE(svcrdma_max_requests, CREDITS);
	WRITE_ONCE(xprtrdma_slot_table_entries, CREDITS);
}

/* fuzz_knobs_end - restore them */
void fuzz_knobs_end(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(knobs); i++)
		WRITE_ONCE(*knobs[i].knob, usual[i]);
}

/* fuzz_knob - change one */
void fuzz_knob(struct fuzz *fuzz)
{
	u8 what = fuzz_byte(fuzz);
	unsigned int which = what % ARRAY_SIZE(knobs);

	WRITE_ONCE(*knobs[which].knob, knobs[which].values[what / ARRAY_SIZE(knobs) % 3]);
}
