// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* The transitions between the states of a connection, for both sides */
#include "conn_state.h"

static constexpr struct {
	rpcrdma_conn_state from;
	rpcrdma_conn_event event;
	rpcrdma_conn_state to;
} steps[] = {
	{ RPCRDMA_CONN_IDLE, RPCRDMA_EVENT_START, RPCRDMA_CONN_RESOLVING_ADDR },
	{ RPCRDMA_CONN_RESOLVING_ADDR, RPCRDMA_EVENT_ADDR_RESOLVED, RPCRDMA_CONN_RESOLVING_ROUTE },
	{ RPCRDMA_CONN_RESOLVING_ROUTE, RPCRDMA_EVENT_ROUTE_RESOLVED, RPCRDMA_CONN_CONNECTING },
	{ RPCRDMA_CONN_IDLE, RPCRDMA_EVENT_ACCEPT, RPCRDMA_CONN_CONNECTING },
	{ RPCRDMA_CONN_CONNECTING, RPCRDMA_EVENT_ESTABLISHED, RPCRDMA_CONN_ESTABLISHED },
	/* These states have objects that are to be taken down. */
	{ RPCRDMA_CONN_RESOLVING_ADDR, RPCRDMA_EVENT_FAILED, RPCRDMA_CONN_BROKEN },
	{ RPCRDMA_CONN_RESOLVING_ROUTE, RPCRDMA_EVENT_FAILED, RPCRDMA_CONN_BROKEN },
	{ RPCRDMA_CONN_CONNECTING, RPCRDMA_EVENT_FAILED, RPCRDMA_CONN_BROKEN },
	{ RPCRDMA_CONN_ESTABLISHED, RPCRDMA_EVENT_FAILED, RPCRDMA_CONN_BROKEN },
	{ RPCRDMA_CONN_BROKEN, RPCRDMA_EVENT_DRAINED, RPCRDMA_CONN_CLOSED },
};

enum rpcrdma_conn_state rpcrdma_conn_next(enum rpcrdma_conn_state state,
					  enum rpcrdma_conn_event event)
{
	for (const auto &step : steps)
		if (step.from == state && step.event == event)
			return step.to;
	return state;
}
