// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts steps of the client, so that a test can have something happen between them. */
#include "../fake/handover.h"
#include "between.h"

static struct {
	void		(*happens)(struct client *client);
	struct client	*client;
	enum client_step step;
} between;

void client_between(enum client_step step, void (*happens)(struct client *client),
		    struct client *client)
{
	between.client = client;
	between.step = step;
	between.happens = happens;
}

/* Did it come to that? From now on nothing happens any more. */
bool client_between_happened(void)
{
	bool happened = !between.happens;

	between.happens = NULL;
	return happened;
}

static void at(enum client_step step)
{
	void (*happens)(struct client *client) = between.happens;

	if (!happens || between.step != step)
		return;
	between.happens = NULL;
	fake_hook_begins();
	happens(between.client);
	fake_hook_ends();
}

struct xprtrdma_send *__wrap_xprtrdma_send_get(struct xprtrdma_conn *conn)
{
	struct xprtrdma_send *send = __real_xprtrdma_send_get(conn);

	at(AFTER_SEND_GET);
	return send;
}

int __wrap_xprtrdma_frwr_map(struct xprtrdma_conn *conn, struct xprtrdma_mr_list *mrs,
			     struct xprtrdma_cursor *cursor, int access)
{
	int rc = __real_xprtrdma_frwr_map(conn, mrs, cursor, access);

	at(AFTER_MAP);
	return rc;
}

void __wrap_xprtrdma_frwr_recycle(struct xprtrdma_mr_list *mrs)
{
	__real_xprtrdma_frwr_recycle(mrs);
	at(AFTER_RECYCLE);
}

void __wrap_xprtrdma_conn_fail(struct xprtrdma_conn *conn, enum rpcrdma_end why)
{
	__real_xprtrdma_conn_fail(conn, why);
	at(AFTER_CONN_FAIL);
}

int __wrap_xprtrdma_marshal_call(struct xprtrdma_send *send, struct rpc_rqst *rqst,
				 struct xprtrdma_request *request)
{
	int rc = __real_xprtrdma_marshal_call(send, rqst, request);

	at(AFTER_MARSHAL);
	return rc;
}

void __wrap_xprtrdma_pulls_show(struct seq_file *seq, struct xprtrdma_conn *conn)
{
	__real_xprtrdma_pulls_show(seq, conn);
	at(AFTER_PULLS_SHOW);
}

void __wrap_rpcrdma_region_unmap(struct rpcrdma_region *region)
{
	__real_rpcrdma_region_unmap(region);
	at(AFTER_REGION_UNMAP);
}

void __wrap_xprt_wait_for_buffer_space(struct rpc_xprt *xprt)
{
	at(BEFORE_WAIT_FOR_SPACE);
	__real_xprt_wait_for_buffer_space(xprt);
	at(AFTER_WAIT_FOR_SPACE);
}
