/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An RPC that the peer has refused. For both that send calls: the client, and the server with
 * its callbacks.
 *
 * A task that has just sent its call need not wait for the reply yet, and would lose an error that
 * it is told, and call again. So what is to be said is kept, and the task says it to itself when it
 * stops waiting: nobody else writes its tk_status, for which SUNRPC has a lock of its own.
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

/* Now, if the task waits; else it does not sleep when it comes to that. */
static inline void rpcrdma_refusal_tell(struct rpc_rqst *rqst)
{
	lockdep_assert_held(&rqst->rq_xprt->queue_lock);
	rpc_wake_up_queued_task(&rqst->rq_xprt->pending, rqst->rq_task);
}

/**
 * rpcrdma_refusal_wait - for ->wait_for_reply_request: a task has sent its call, and goes to sleep
 * @task: its task
 * @refusal: its refusal
 * @timer: set to SUNRPC's callback for a task that has stopped waiting
 * @ended: what is called in its place
 *
 * Context: process; the caller holds queue_lock.
 */
static inline void rpcrdma_refusal_wait(struct rpc_task *task,
					const enum rpcrdma_refusal *refusal,
					void (**timer)(struct rpc_task *task),
					void (*ended)(struct rpc_task *task))
{
	xprt_wait_for_reply_request_def(task);
	/* It is not run before the task has come back from here, even if it was woken. */
	*timer = task->tk_callback;
	task->tk_callback = ended;
	if (*refusal)
		rpcrdma_refusal_tell(task->tk_rqstp);
}

/**
 * rpcrdma_refusal_heed - a task has stopped waiting: because it is refused?
 * @task: the task, which runs
 * @refusal: its refusal
 *
 * Return: whether tk_status is now what it has to know.
 */
static inline bool rpcrdma_refusal_heed(struct rpc_task *task, enum rpcrdma_refusal *refusal)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct rpc_xprt *xprt = rqst->rq_xprt;
	enum rpcrdma_refusal what;

	spin_lock(&xprt->queue_lock);
	what = *refusal;
	if (what == RPCRDMA_REFUSED) {
		/* No reply that is late ends it. */
		xprt_complete_rqst(task, 0);
		task->tk_status = -EIO;
	} else if (what == RPCRDMA_REFUSED_ONCE) {
		/* SUNRPC sends again what went out on an earlier connection. */
		WRITE_ONCE(*refusal, RPCRDMA_NOT_REFUSED);
		rqst->rq_connect_cookie = READ_ONCE(xprt->connect_cookie) - 1;
		task->tk_status = -ENOTCONN;
	}
	spin_unlock(&xprt->queue_lock);
	return what;
}

#endif /* SUNRPC_REFUSAL_H */
