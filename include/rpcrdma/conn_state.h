/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* The states of a connection, for both sides */
#ifndef RPCRDMA_CONN_STATE_H
#define RPCRDMA_CONN_STATE_H

#include "types.h"

enum rpcrdma_conn_state {
	RPCRDMA_CONN_IDLE,		/* neither resolving nor accepting has begun */
	RPCRDMA_CONN_RESOLVING_ADDR,
	RPCRDMA_CONN_RESOLVING_ROUTE,
	RPCRDMA_CONN_CONNECTING,	/* the route is resolved, or accepting has begun */
	RPCRDMA_CONN_ESTABLISHED,
	RPCRDMA_CONN_BROKEN,		/* will be torn down; the client posts nothing more */
	RPCRDMA_CONN_CLOSED,		/* the queue pair is drained */
};

enum rpcrdma_conn_event {
	RPCRDMA_EVENT_START,		/* the client is about to call rdma_resolve_addr() */
	RPCRDMA_EVENT_ADDR_RESOLVED,
	RPCRDMA_EVENT_ROUTE_RESOLVED,
	RPCRDMA_EVENT_ACCEPT,		/* the server is about to call rdma_accept() */
	RPCRDMA_EVENT_ESTABLISHED,
	RPCRDMA_EVENT_FAILED,		/* any error, rejection, loss or removal */
	RPCRDMA_EVENT_DRAINED,
};

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_conn_next - the state after an event
 * @state: the state before
 * @event: what happened
 *
 * Both sides change the state of a connection only by this function.
 *
 * Return: the new state, or @state if the event changes nothing in this state.
 */
enum rpcrdma_conn_state rpcrdma_conn_next(enum rpcrdma_conn_state state,
					  enum rpcrdma_conn_event event);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_CONN_STATE_H */
