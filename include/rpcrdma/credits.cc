// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Flow control, RFC 8166 section 3.3: the requester's window, the responder's grants */
#include "credits.h"
#include "math.hh"

using namespace rpcrdma;

/* Section 3.3.3: one call until a reply brings the first grant. */
void rpcrdma_window_reset(struct rpcrdma_window *window, u32 requested)
{
	*window = { max<u32>(requested, 1), 1, 0, 0 };
}

/*
 * Section 3.3.1: a responder must not grant 0. A grant of 0 counts as 1, so that the connection
 * does not stand still. The window may shrink below the number of calls in flight.
 */
u32 rpcrdma_window_grant(struct rpcrdma_window *window, u32 granted)
{
	window->granted = max<u32>(granted, 1);
	return rpcrdma_window_size(window);
}

/*
 * Credits that a host's part of the budget leaves for one of its connections: the part without the
 * credits of the host's other connections, but at least an equal share of the part
 */
static constexpr u32 budget_share(const rpcrdma_budget &budget, u32 grant)
{
	u32 part = u32(budget.credits / (u64(budget.hosts) + 1));
	u32 fair = part / max<u32>(budget.host_connections, 1);
	u32 others = budget.host_granted - min(budget.host_granted, grant);

	return max(fair, part - min(part, others));
}

u32 rpcrdma_budget_limit(const struct rpcrdma_budget *budget, u32 grant)
{
	u32 left = budget->credits - min(budget->credits, budget->granted);
	u32 possible = saturate_u32(u64(grant) + left);

	return max(max<u32>(grant, RPCRDMA_GRANT_FLOOR),
		   min(budget_share(*budget, grant), possible));
}
