// SPDX-License-Identifier: GPL-2.0
/*
 * What a task waits for once its call has been sent: the reply; or, before it may encode the
 * call again, that the server reaches none of its memory any more.
 *
 * SUNRPC encodes again when the reply is overdue or the connection is going, and then frees
 * the pages that RPCSEC_GSS has encrypted the last call into, and writes over the rest. It
 * does not wait for ->close: xprt_autoclose() changes the connect cookie, upon which calls
 * are sent again, before it calls that. So each task that stops waiting without a reply comes
 * by wait_ended(), and sleeps on xt_fenced while memory regions are lent on a connection
 * that has not been taken down. That connection is of no more use. A task whose call has no
 * regions goes on, and no reply is taken any more that might get some.
 */
#include "xprtrdma.h"

/*
 * The connection on which the server may reach memory of this call, with a reference; or
 * NULL. While a reply is processed the Receive CQ handler has the regions; it lets the RPC
 * go before its connection is taken down. If there are none, there shall be none: a reply that
 * comes from now on might be one that is to be read, into regions.
 */
static struct xprtrdma_conn *registered_on(const struct rpc_rqst *rqst)
{
	struct xprtrdma_request *request = xprtrdma_request_of(rqst);
	const struct xprtrdma_mr_list *mrs = &request->rq_registered;
	struct xprtrdma_conn *conn;

	spin_lock(&rqst->rq_xprt->queue_lock);
	conn = mrs->ml_receive ? mrs->ml_receive->rv_conn : mrs->ml_conn;
	if (conn && completion_done(&conn->xc_released))
		conn = NULL;
	if (conn)
		xprtrdma_conn_get(conn);
	else
		WRITE_ONCE(request->rq_sent_on, 0);
	spin_unlock(&rqst->rq_xprt->queue_lock);
	return conn;
}

/* Its buffers are given back by xprtrdma_request_free(), which waits for the same. */
static bool task_ends(const struct rpc_task *task)
{
	return RPC_SIGNALLED(task) || READ_ONCE(task->tk_rpc_status);
}

/* tk_status says why the task stopped waiting for the reply, unless that came meanwhile. */
static void fence_passed(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct xprtrdma_request *request = xprtrdma_request_of(rqst);

	/* Under the lock: where the task was woken because it ends, the reply may come just now. */
	spin_lock(&rqst->rq_xprt->queue_lock);
	if (rqst->rq_reply_bytes_recvd)
		task->tk_status = 0;
	else if (request->rq_refused == RPCRDMA_REFUSED)
		task->tk_status = -EIO;
	else
		WRITE_ONCE(request->rq_refused, RPCRDMA_NOT_REFUSED);
	spin_unlock(&rqst->rq_xprt->queue_lock);
}

static void wait_for_fence(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct xprtrdma_transport *transport = xprtrdma_transport_of(rqst->rq_xprt);
	struct xprtrdma_conn *conn = registered_on(rqst);

	if (!conn)
		return;
	/* Somebody wakes us, then: see xprtrdma_fence_wake(). */
	xprtrdma_conn_fail(conn, task->tk_status == -ETIMEDOUT ? RPCRDMA_END_STALLED :
			   RPCRDMA_END_OTHER);
	rpc_sleep_on(&transport->xt_fenced, task, fence_passed);
	/* That may have happened before there was anybody to wake. */
	if (completion_done(&conn->xc_released) || task_ends(task))
		rpc_wake_up_queued_task(&transport->xt_fenced, task);
	xprtrdma_conn_put(conn);
}

/* In the place of SUNRPC's own callback, which knows of timeouts only. */
static void wait_ended(struct rpc_task *task)
{
	struct xprtrdma_request *request = xprtrdma_request_of(task->tk_rqstp);

	/* It has no regions any more. */
	if (unlikely(READ_ONCE(request->rq_refused)) &&
	    rpcrdma_refusal_heed(task, &request->rq_refused))
		return;
	request->rq_timer(task);
	if (task->tk_status < 0 && !task_ends(task))
		wait_for_fence(task);
}

/*
 * The server has as long as ever for a call that has waited for a connection until its major
 * timeout was over. Else the task would not sleep at all, and its timer would end a connection
 * that has just begun: for ever, if connections take longer to come back than that. What may
 * end with its timeout, a soft mount's, does.
 */
static void give_time(struct rpc_rqst *rqst)
{
	unsigned long earliest = jiffies + rqst->rq_timeout;

	if (!RPC_IS_SOFT(rqst->rq_task) && time_before(rqst->rq_majortimeo, earliest))
		rqst->rq_majortimeo = earliest;
}

/**
 * xprtrdma_reply_wait - ->wait_for_reply_request: the call has been sent
 * @task: its task, which has no reply yet, and goes to sleep
 *
 * Context: process; the caller holds queue_lock.
 */
void xprtrdma_reply_wait(struct rpc_task *task)
{
	struct xprtrdma_request *request = xprtrdma_request_of(task->tk_rqstp);

	give_time(task->tk_rqstp);
	rpcrdma_refusal_wait(task, &request->rq_refused, &request->rq_timer, wait_ended);
}

/**
 * xprtrdma_fence_wake - a connection has been taken down
 * @transport: whose
 *
 * Context: process, the transport's write lock is held.
 */
void xprtrdma_fence_wake(struct xprtrdma_transport *transport)
{
	rpc_wake_up(&transport->xt_fenced);
}
