// SPDX-License-Identifier: GPL-2.0-only
/* Any sequence of events, calls and replies: the connection and its naive twin have to agree. */
#include <rpcrdma/conn_state.h>

#include "input.hh"
#include "support/connection_twin.hh"

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	Input input = input_of(data, size);
	ConnectionPair pair(input.read_u8());

	while (input.remaining()) {
		u8 what = input.read_u8() % 9;

		if (what <= RPCRDMA_EVENT_DRAINED)
			report(pair.happens(rpcrdma_conn_event(what)));
		else
			report(pair.talk(what == 8, input.read_u8()));
	}
	return 0;
}
