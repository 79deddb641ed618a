// SPDX-License-Identifier: GPL-2.0-only
/* Any sequence of takes, untakes and grants: the window and its naive twin have to agree. */
#include "input.hh"
#include "support/window_twin.hh"

/* Small grants are the interesting ones; the others are rare. */
static u32 next_grant(Input &input)
{
	u8 small = input.read_u8();

	return small < 0xf0 ? small : input.read_u32();
}

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	Input input = input_of(data, size);
	WindowPair pair(next_grant(input));

	while (input.remaining()) {
		u8 what = input.read_u8();
		u32 grant = what % 3 == 2 ? next_grant(input) : 0;

		/* the upper bits repeat the step, so that windows get full */
		for (u32 i = 0; i <= what / 3u; i++)
			report(pair.step(what % 3, grant));
	}
	return 0;
}
