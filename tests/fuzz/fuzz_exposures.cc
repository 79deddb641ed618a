// SPDX-License-Identifier: GPL-2.0-only
/* Any sequence of exposures, notifications and time: the table and its naive twin have to agree. */
#include "input.hh"
#include "support/exposures_twin.hh"

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	Input input = input_of(data, size);
	u32 slots = input.read_u8() % 12;
	ExposuresPair pair(slots, input.read_u8() * 64u);

	while (input.remaining()) {
		u8 what = input.read_u8(), value = input.read_u8();

		switch (what % 4) {
		case 0:
			report(pair.claim(what / 4 % 8, value * 16u));
			break;
		case 1:
			report(pair.arm(1 + value * 8u));
			break;
		case 2:
			report(pair.done(value % 8));
			break;
		default:
			report(pair.expire(value * 8u));
		}
	}
	return 0;
}
