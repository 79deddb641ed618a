/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Has another context act between two steps of the code under test, where a test with one thread
 * could not come in between. Calls of the wrapped functions from other files come through these
 * wrappers: LDFLAGS in kbuild/Kbuild.kunit.
 */
#ifndef KUNIT_CLIENT_BETWEEN_H
#define KUNIT_CLIENT_BETWEEN_H

#include "client.h"

enum client_step {
	AFTER_SEND_GET,		/* xprtrdma_send_get() */
	AFTER_MARSHAL,		/* xprtrdma_marshal_call() */
	AFTER_MAP,		/* xprtrdma_frwr_map() */
	AFTER_RECYCLE,		/* xprtrdma_frwr_recycle() */
	AFTER_CONN_FAIL,	/* xprtrdma_conn_fail() */
	AFTER_PULLS_SHOW,	/* xprtrdma_pulls_show() */
	AFTER_REGION_UNMAP,	/* rpcrdma_region_unmap() */
	BEFORE_WAIT_FOR_SPACE,	/* xprt_wait_for_buffer_space() */
	AFTER_WAIT_FOR_SPACE,	/* the same */
};

/* @happens takes effect once, when the next such call is about to return, or to begin. */
void client_between(enum client_step step, void (*happens)(struct client *client),
		    struct client *client);
bool client_between_happened(void);

/* What the linker makes of a call, and of the function. */
struct xprtrdma_send *__real_xprtrdma_send_get(struct xprtrdma_conn *conn);
struct xprtrdma_send *__wrap_xprtrdma_send_get(struct xprtrdma_conn *conn);
int __real_xprtrdma_frwr_map(struct xprtrdma_conn *conn, struct xprtrdma_mr_list *mrs,
			     struct xprtrdma_cursor *cursor, int access);
int __wrap_xprtrdma_frwr_map(struct xprtrdma_conn *conn, struct xprtrdma_mr_list *mrs,
			     struct xprtrdma_cursor *cursor, int access);
void __real_xprtrdma_frwr_recycle(struct xprtrdma_mr_list *mrs);
void __wrap_xprtrdma_frwr_recycle(struct xprtrdma_mr_list *mrs);
void __real_xprtrdma_conn_fail(struct xprtrdma_conn *conn, enum rpcrdma_end why);
void __wrap_xprtrdma_conn_fail(struct xprtrdma_conn *conn, enum rpcrdma_end why);
int __real_xprtrdma_marshal_call(struct xprtrdma_send *send, struct rpc_rqst *rqst,
				 struct xprtrdma_request *request);
int __wrap_xprtrdma_marshal_call(struct xprtrdma_send *send, struct rpc_rqst *rqst,
				 struct xprtrdma_request *request);
void __real_xprtrdma_pulls_show(struct seq_file *seq, struct xprtrdma_conn *conn);
void __wrap_xprtrdma_pulls_show(struct seq_file *seq, struct xprtrdma_conn *conn);
void __real_rpcrdma_region_unmap(struct rpcrdma_region *region);
void __wrap_rpcrdma_region_unmap(struct rpcrdma_region *region);
void __real_xprt_wait_for_buffer_space(struct rpc_xprt *xprt);
void __wrap_xprt_wait_for_buffer_space(struct rpc_xprt *xprt);

#endif /* KUNIT_CLIENT_BETWEEN_H */
