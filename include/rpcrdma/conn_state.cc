// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Life of a connection, for both sides */
#include "conn_state.h"

/* Has the connection objects that are to be taken down? */
static constexpr bool is_live(rpcrdma_conn_state state)
{
	switch (state) {
	case RPCRDMA_CONN_RESOLVING_ADDR:
	case RPCRDMA_CONN_RESOLVING_ROUTE:
	case RPCRDMA_CONN_CONNECTING:
	case RPCRDMA_CONN_ESTABLISHED:
		return true;
	default:
		return false;
	}
}

/* A regular step: @to if @state is @from, otherwise @state */
static constexpr rpcrdma_conn_state step(rpcrdma_conn_state state, rpcrdma_conn_state from,
					 rpcrdma_conn_state to)
{
	return state == from ? to : state;
}

enum rpcrdma_conn_state rpcrdma_conn_next(enum rpcrdma_conn_state state,
					  enum rpcrdma_conn_event event)
{
	switch (event) {
	case RPCRDMA_EVENT_START:
		state = step(state, RPCRDMA_CONN_CLOSED, RPCRDMA_CONN_IDLE);
		return step(state, RPCRDMA_CONN_IDLE, RPCRDMA_CONN_RESOLVING_ADDR);
	case RPCRDMA_EVENT_ADDR_RESOLVED:
		return step(state, RPCRDMA_CONN_RESOLVING_ADDR, RPCRDMA_CONN_RESOLVING_ROUTE);
	case RPCRDMA_EVENT_ROUTE_RESOLVED:
		return step(state, RPCRDMA_CONN_RESOLVING_ROUTE, RPCRDMA_CONN_CONNECTING);
	case RPCRDMA_EVENT_ACCEPT:
		return step(state, RPCRDMA_CONN_IDLE, RPCRDMA_CONN_CONNECTING);
	case RPCRDMA_EVENT_ESTABLISHED:
		return step(state, RPCRDMA_CONN_CONNECTING, RPCRDMA_CONN_ESTABLISHED);
	case RPCRDMA_EVENT_FAILED:
		return is_live(state) ? RPCRDMA_CONN_BROKEN : state;
	case RPCRDMA_EVENT_DRAINED:
		return step(state, RPCRDMA_CONN_BROKEN, RPCRDMA_CONN_CLOSED);
	}
	return state;
}
