/* SPDX-License-Identifier: GPL-2.0 */
/* States of a connection, for both sides */
#ifndef RPCRDMA_CONN_STATE_H
#define RPCRDMA_CONN_STATE_H

#include "types.h"

enum rpcrdma_conn_state {
	RPCRDMA_CONN_IDLE,		/* no cm_id */
	RPCRDMA_CONN_RESOLVING_ADDR,
	RPCRDMA_CONN_RESOLVING_ROUTE,
	RPCRDMA_CONN_CONNECTING,	/* REQ sent, or accepted and not established */
	RPCRDMA_CONN_ESTABLISHED,
	RPCRDMA_CONN_BROKEN,		/* to be torn down; no new posts */
	RPCRDMA_CONN_CLOSED,		/* queue pair drained */
};

enum rpcrdma_conn_event {
	RPCRDMA_EVENT_START,		/* rdma_resolve_addr was called */
	RPCRDMA_EVENT_ADDR_RESOLVED,
	RPCRDMA_EVENT_ROUTE_RESOLVED,
	RPCRDMA_EVENT_ACCEPT,		/* server: rdma_accept was called */
	RPCRDMA_EVENT_ESTABLISHED,
	RPCRDMA_EVENT_FAILED,		/* any error, rejection, loss or removal */
	RPCRDMA_EVENT_DRAINED,
};

RPCRDMA_BEGIN_C_ABI

/*
 * The one place that says which event leads where. An event that does not
 * belong to @state leaves it as it is.
 */
enum rpcrdma_conn_state rpcrdma_conn_next(enum rpcrdma_conn_state state,
					  enum rpcrdma_conn_event event);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_CONN_STATE_H */
