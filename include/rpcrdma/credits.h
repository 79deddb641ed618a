/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * Flow control of one direction, RFC 8166 section 3.3: the credit window of a requester, and the
 * budget from which a responder grants credits.
 */
#ifndef RPCRDMA_CREDITS_H
#define RPCRDMA_CREDITS_H

#include "protocol.h"

/**
 * struct rpcrdma_window - the credit window of a requester on one connection
 * @requested: credits that the requester asks for
 * @granted: credits that the last reply granted; 1 before the first reply (section 3.3.3)
 * @in_flight: calls that use a credit. A call uses one from its Send until its reply has come
 *	and everything is done that the reply asks for.
 * @highest: largest value that @in_flight has had on this connection
 *
 * The caller holds one lock around all functions that change a window. Others may read @in_flight
 * without the lock, so it is stored atomically.
 */
struct rpcrdma_window {
	u32 requested;
	u32 granted;
	u32 in_flight;
	u32 highest;
};

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_window_reset - begin with a new connection
 * @window: the window
 * @requested: credits that the requester will ask for
 */
void rpcrdma_window_reset(struct rpcrdma_window *window, u32 requested);

/**
 * rpcrdma_window_grant - note the grant of a reply
 * @window: the window
 * @granted: rdma_credit of the reply; 0 counts as 1. Replies are noted in the order of arrival.
 *
 * Return: number of calls that may be in flight now.
 */
u32 rpcrdma_window_grant(struct rpcrdma_window *window, u32 granted);

/**
 * struct rpcrdma_budget - what one connection's grant depends on
 * @credits: credits that the administrator wants to grant to all connections together
 * @granted: credits that all connections together have
 * @hosts: client hosts that have connections, with the host of this connection
 * @host_granted: credits that the connections of this host have
 * @host_connections: connections that this host has, with this one
 *
 * Each host may have an equal part of the budget, and one part is kept for a host that connects
 * later. The connections of a host share its part. A grant never becomes smaller, so a host that
 * came early may have more than its part, and the others share what is left.
 */
struct rpcrdma_budget {
	u32 credits;
	u32 granted;
	u32 hosts;
	u32 host_granted;
	u32 host_connections;
};

enum {
	RPCRDMA_GRANT_FLOOR = 4,	/* credits of each connection, whatever the budget is */
};

/**
 * rpcrdma_budget_limit - largest grant that a connection may have now
 * @budget: what the limit depends on
 * @grant: credits that the connection has, which @budget counts, too
 *
 * Return: a number of credits, at least @grant and at least %RPCRDMA_GRANT_FLOOR.
 */
u32 rpcrdma_budget_limit(const struct rpcrdma_budget *budget, u32 grant);

RPCRDMA_END_C_ABI

/**
 * rpcrdma_window_size - number of calls that may be in flight
 * @window: the window
 */
static inline u32 rpcrdma_window_size(const struct rpcrdma_window *window)
{
	return window->requested < window->granted ? window->requested : window->granted;
}

/**
 * rpcrdma_window_take - take a credit for a call
 * @window: the window
 *
 * Return: false when the window is closed; the call has to wait.
 */
static inline bool rpcrdma_window_take(struct rpcrdma_window *window)
{
	u32 calls = window->in_flight + 1;

	if (calls > window->requested || calls > window->granted)
		return false;
	__atomic_store_n(&window->in_flight, calls, __ATOMIC_RELAXED);
	if (calls > window->highest)
		window->highest = calls;
	return true;
}

/**
 * rpcrdma_window_release - give the credit of a call back
 * @window: the window
 *
 * The call's Send failed, or everything is done that its reply asks for.
 */
static inline void rpcrdma_window_release(struct rpcrdma_window *window)
{
	if (window->in_flight)
		__atomic_store_n(&window->in_flight, window->in_flight - 1, __ATOMIC_RELAXED);
}

#endif /* RPCRDMA_CREDITS_H */
