/* SPDX-License-Identifier: GPL-2.0 */
/* Credits of one direction: RFC 8166 section 3.3.1 */
#ifndef RPCRDMA_CREDITS_H
#define RPCRDMA_CREDITS_H

#include "protocol.h"

/*
 * The requester's window on one connection. One call until the first grant
 * (section 3.3.3), then min(requested, granted). A grant of 0 counts as 1. A call is
 * in flight from its Send until all is done that its reply asks for.
 */
struct rpcrdma_window {
	u32 requested;
	u32 granted;
	u32 in_flight;
	u32 highest;	/* of in_flight, ever */
};

RPCRDMA_BEGIN_C_ABI

void rpcrdma_window_reset(struct rpcrdma_window *window, u32 requested);
/* A reply came: applies its grant, in the order of arrival; returns the window size. */
u32 rpcrdma_window_grant(struct rpcrdma_window *window, u32 granted);

RPCRDMA_END_C_ABI

static inline u32 rpcrdma_window_size(const struct rpcrdma_window *window)
{
	return window->requested < window->granted ? window->requested : window->granted;
}

/* In one piece: others look at it without the lock, whose holder alone changes it. */
static inline void rpcrdma_window_set_in_flight(struct rpcrdma_window *window, u32 calls)
{
	__atomic_store_n(&window->in_flight, calls, __ATOMIC_RELAXED);
}

/* False: closed */
static inline bool rpcrdma_window_take(struct rpcrdma_window *window)
{
	u32 calls = window->in_flight + 1;

	if (calls > rpcrdma_window_size(window))
		return false;
	rpcrdma_window_set_in_flight(window, calls);
	if (calls > window->highest)
		window->highest = calls;
	return true;
}

/* The Send failed, or all is done that the reply asks for. */
static inline void rpcrdma_window_untake(struct rpcrdma_window *window)
{
	if (window->in_flight)
		rpcrdma_window_set_in_flight(window, window->in_flight - 1);
}

/*
 * The responder's grants, where many connections share a budget. Each host may have an equal
 * part of it, and one part is left for a host that is yet to come; a host's connections share
 * its part. A grant never goes down. So hosts that have come early may have more than their
 * part is now, and the others what is left of the budget.
 */
struct rpcrdma_budget {
	u32 credits;		/* of all grants together; what the administrator wants */
	u32 granted;		/* of all grants together; what they are */
	u32 hosts;		/* that have connections, with the one that asks */
	u32 host_granted;	/* of all grants to this host */
	u32 host_connections;	/* this host's, with the one that asks */
};

enum {
	RPCRDMA_GRANT_FLOOR = 4,	/* that each connection has, whatever the budget is */
};

RPCRDMA_BEGIN_C_ABI

/*
 * @grant: the connection's now, part of granted and host_granted
 * Returns the grant that it may have at most: @grant, or more; at least RPCRDMA_GRANT_FLOOR.
 */
u32 rpcrdma_budget_limit(const struct rpcrdma_budget *budget, u32 grant);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_CREDITS_H */
