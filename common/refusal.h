/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * How a requester ends an RPC that the peer has refused: the client with its calls, and the server
 * with its callbacks.
 *
 * The error may come before the task waits for the reply. A task that was told the error then would
 * lose it, and send its call again. So the refusal is stored, and the task sets its own tk_status
 * when it stops waiting. Other contexts leave tk_status alone, which SUNRPC guards by a lock of its
 * own.
 */
#ifndef RPCRDMA_REFUSAL_H
#define RPCRDMA_REFUSAL_H

#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/xprt.h>

/*
 * A requester has a refusal for each rpc_rqst, and changes it under the queue_lock of the rpc_xprt.
 * The client also reads the refusal without the lock.
 */
enum rpcrdma_refusal {
	RPCRDMA_NOT_REFUSED,
	RPCRDMA_REFUSED,	/* for good: the RPC ends with EIO (RFC 8166 section 4.5) */
	RPCRDMA_REFUSED_ONCE,	/* the task sends its call once more, and clears this */
};

/* Wakes the task if it waits for the reply. Otherwise rpcrdma_refusal_wait() will wake it. */
static inline void rpcrdma_refusal_tell(struct rpc_rqst *rqst)
{
	lockdep_assert_held(&rqst->rq_xprt->queue_lock);
	rpc_wake_up_queued_task(&rqst->rq_xprt->pending, rqst->rq_task);
}

/**
 * rpcrdma_refusal_wait - let a task wait for its reply; for ->wait_for_reply_request
 * @task: a task that has sent its call
 * @refusal: its refusal
 * @timer: gets SUNRPC's callback for a task that has stopped waiting
 * @ended: callback that replaces it, and calls rpcrdma_refusal_heed()
 *
 * Context: process; the caller holds queue_lock.
 */
static inline void rpcrdma_refusal_wait(struct rpc_task *task,
					const enum rpcrdma_refusal *refusal,
					rpc_action *timer, rpc_action ended)
{
	xprt_wait_for_reply_request_def(task);
	/* SUNRPC runs the callback after this function, even if the task is woken before. */
	*timer = task->tk_callback;
	task->tk_callback = ended;
	if (*refusal)
		rpcrdma_refusal_tell(task->tk_rqstp);
}

/**
 * rpcrdma_refusal_heed - set the status of a task that has stopped waiting for its reply
 * @task: the task, which is the caller
 * @refusal: its refusal
 *
 * Context: process; takes queue_lock.
 * Return: true when the RPC was refused, and tk_status says so.
 */
static inline bool rpcrdma_refusal_heed(struct rpc_task *task, enum rpcrdma_refusal *refusal)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct rpc_xprt *xprt = rqst->rq_xprt;
	enum rpcrdma_refusal what;

	spin_lock(&xprt->queue_lock);
	what = *refusal;
	if (what == RPCRDMA_REFUSED) {
		/* A late reply must not end the RPC a second time. */
		xprt_complete_rqst(task, 0);
		task->tk_status = -EIO;
	} else if (what == RPCRDMA_REFUSED_ONCE) {
		/*
		 * SUNRPC sends a call again if it was sent on an earlier connection. So the cookie
		 * says that it was.
		 */
		WRITE_ONCE(*refusal, RPCRDMA_NOT_REFUSED);
		rqst->rq_connect_cookie = READ_ONCE(xprt->connect_cookie) - 1;
		task->tk_status = -ENOTCONN;
	}
	spin_unlock(&xprt->queue_lock);
	return what;
}

#endif /* RPCRDMA_REFUSAL_H */
