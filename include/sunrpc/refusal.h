/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An RPC that the peer has refused. For both that send calls: the client, and the server with
 * its callbacks.
 *
 * A task can be told only while it sleeps until there is a reply. One that has just sent its
 * call need not do that yet, and would lose the error and call again. So it is kept what is to
 * be said, and ->wait_for_reply_request says it.
 */
#ifndef SUNRPC_REFUSAL_H
#define SUNRPC_REFUSAL_H

#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/xprt.h>

/*
 * The requester's, beside its rpc_rqst; changed under the rpc_xprt's queue_lock. Who sends looks
 * without it.
 */
enum rpcrdma_refusal {
	RPCRDMA_NOT_REFUSED,
	RPCRDMA_REFUSED,	/* RFC 8166 section 4.5: permanent. The RPC ends with EIO */
	RPCRDMA_REFUSED_ONCE,	/* it is to be sent once more; RPCRDMA_NOT_REFUSED then */
};

/* Now, or when the task waits. */
static inline void rpcrdma_refusal_tell(struct rpc_rqst *rqst, enum rpcrdma_refusal *refusal)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct rpc_task *task = rqst->rq_task;

	lockdep_assert_held(&xprt->queue_lock);
	if (!RPC_IS_QUEUED(task) || task->tk_waitqueue != &xprt->pending)
		return;
	if (*refusal == RPCRDMA_REFUSED) {
		task->tk_status = -EIO;
		xprt_complete_rqst(task, 0);
		return;
	}
	/* SUNRPC sends again what went out on an earlier connection. */
	WRITE_ONCE(*refusal, RPCRDMA_NOT_REFUSED);
	rqst->rq_connect_cookie = READ_ONCE(xprt->connect_cookie) - 1;
	task->tk_status = -ENOTCONN;
	rpc_wake_up_queued_task(&xprt->pending, task);
}

/* For ->wait_for_reply_request: the task has sent its call, and goes to sleep. */
static inline void rpcrdma_refusal_wait(struct rpc_task *task, enum rpcrdma_refusal *refusal)
{
	xprt_wait_for_reply_request_def(task);
	if (*refusal)
		rpcrdma_refusal_tell(task->tk_rqstp, refusal);
}

#endif /* SUNRPC_REFUSAL_H */
