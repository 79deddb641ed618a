// SPDX-License-Identifier: GPL-2.0
/* The requester's side of flow control: RFC 8166 section 3.3 */
#ifndef RPCRDMA_CREDITS_HH
#define RPCRDMA_CREDITS_HH

#include "logic.h"
#include "math.hh"

namespace rpcrdma
{

/* Section 3.3.3: one call until a reply brings the first grant. */
inline void reset_window(rpcrdma_window &window, u32 requested)
{
	window.requested = max<u32>(requested, 1);
	window.granted = 1;
	window.in_flight = 0;
	window.highest = 0;
}

/*
 * Section 3.3.1: a responder must not grant 0. Taken as 1, so that the connection
 * does not stand still. The window may shrink below what is in flight.
 */
inline u32 apply_grant(rpcrdma_window &window, u32 granted)
{
	window.granted = max<u32>(granted, 1);
	return rpcrdma_window_size(&window);
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_CREDITS_HH */
