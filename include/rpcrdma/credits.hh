// SPDX-License-Identifier: GPL-2.0
/* Flow control, RFC 8166 section 3.3: the requester's window, the responder's grants */
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

constexpr u32 budget_part(const rpcrdma_budget &budget)
{
	return u32(budget.credits / (u64(budget.hosts) + 1));
}

/*
 * What a host's part of the budget leaves for one of its connections: all that the host's other
 * connections have not got, and an equal share of the part in any case.
 */
constexpr u32 budget_share(const rpcrdma_budget &budget, u32 grant)
{
	u32 part = budget_part(budget);
	u32 fair = part / max<u32>(budget.host_connections, 1);
	u32 others = budget.host_granted - min(budget.host_granted, grant);

	return max(fair, part - min(part, others));
}

constexpr u32 budget_limit(const rpcrdma_budget &budget, u32 grant)
{
	u32 left = budget.credits - min(budget.credits, budget.granted);
	u32 possible = saturate_u32(u64(grant) + left);

	return max(max<u32>(grant, RPCRDMA_GRANT_FLOOR),
		   min(budget_share(budget, grant), possible));
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_CREDITS_HH */
