// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The transport's part of an RPC: the allocation of its buffers, the Send, the wait for the reply,
 * and the release of the buffers. Before a call may be encoded again its task also waits until the
 * server cannot reach the memory of the call any more.
 *
 * SUNRPC encodes a call again when the reply is overdue or the connection is lost. Then it frees
 * the pages that RPCSEC_GSS has encrypted the last call into, and overwrites the call buffer. It
 * does not wait for ->close, since xprt_autoclose() changes the connect cookie first, and calls are
 * sent again because of that change. So each task that stops waiting without a reply runs
 * wait_ended(). If its call has memory regions on a connection that has not been taken down, this
 * function fails that connection, and the task sleeps on xt_fenced until the teardown is over. A
 * task whose call has no regions goes on; a later reply to its last Send is dropped, because
 * reading such a reply from the server might register regions.
 */
#include <linux/mempool.h>
#include <linux/slab.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/sched.h>

#include "connection.h"
#include "request.h"
#include "trace.h"

enum {
	RESERVED_REQUESTS	= 4,
	/* Nearly all requests fit into an element of the reserve. */
	RESERVED_SIZE		= 4096,
	/*
	 * Largest request that has its reply buffer in the same allocation. An OPEN of NFS 4.2 is
	 * larger, since its reply may have security labels.
	 */
	LARGE_SIZE		= 8192,
};

/**
 * xprtrdma_requests_init - make the queue and the memory that all requests of a transport share
 * @transport: the transport
 *
 * The memory is a reserve: without it dirty pages could not be written back when memory is short.
 *
 * Context: process.
 * Return: 0 or -ENOMEM; either way the caller has to call xprtrdma_requests_exit() at the end.
 */
int xprtrdma_requests_init(struct xprtrdma_transport *transport)
{
	rpc_init_wait_queue(&transport->xt_fenced, "xprtrdma_fenced");
	return mempool_init_kmalloc_pool(&transport->xt_reserve, RESERVED_REQUESTS, RESERVED_SIZE);
}

/**
 * xprtrdma_requests_exit - free what all requests of a transport share
 * @transport: a transport without requests
 *
 * Context: process.
 */
void xprtrdma_requests_exit(struct xprtrdma_transport *transport)
{
	mempool_exit(&transport->xt_reserve);
	rpc_destroy_wait_queue(&transport->xt_fenced);
}

/*
 * Takes a request from the reserve, for an asynchronous call only: reclaim may wait for such a
 * call, for example a WRITE. Where the kernel clears memory at each allocation, it does not clear
 * that of the reserve, so this function does.
 */
static struct xprtrdma_request *take_reserve(const struct rpc_task *task, size_t size)
{
	struct xprtrdma_transport *transport = xprtrdma_transport_of(task->tk_rqstp->rq_xprt);
	struct xprtrdma_request *request;

	if (!RPC_IS_ASYNC(task) || size > RESERVED_SIZE)
		return NULL;
	request = mempool_alloc(&transport->xt_reserve, GFP_NOWAIT);
	if (request)
		memset(request, 0, RESERVED_SIZE);
	return request;
}

/**
 * xprtrdma_request_alloc - ->buf_alloc: call and reply buffers of an RPC
 * @task: its task
 *
 * The reply buffer has cache lines of its own, since it may be mapped for DMA while the call
 * buffer is in use.
 *
 * Context: process; may use the kernel's reserves for a swapper's task, and the transport's
 * reserve for an asynchronous task.
 * Return: 0, or -ENOMEM, upon which the RPC client calls this function again later.
 */
int xprtrdma_request_alloc(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	size_t call = ALIGN(rqst->rq_callsize, L1_CACHE_BYTES);
	size_t reply = ALIGN(rqst->rq_rcvsize, L1_CACHE_BYTES);
	struct xprtrdma_request *request;
	void *separate = NULL;
	bool reserved;
	size_t size;

	/* The sum cannot overflow: the procedure and RPC_MAX_AUTH_SIZE bound both sizes. */
	size = sizeof(*request) + call;
	if (likely(size + reply <= LARGE_SIZE)) {
		size += reply;
	} else {
		/* The reply has its own memory: one allocation for both would be large. */
		separate = kmalloc(reply, rpc_task_gfp_mask());
		if (!separate)
			return -ENOMEM;
	}
	/* As in rpc_malloc(), the reserve is used only when kmalloc() fails. */
	request = kmalloc(size, rpc_task_gfp_mask());
	reserved = !request;
	if (unlikely(reserved))
		request = take_reserve(task, size);
	if (!request) {
		kfree(separate);
		return -ENOMEM;
	}
	*request = (struct xprtrdma_request) {
		.rq_registered.ml_mrs	= LIST_HEAD_INIT(request->rq_registered.ml_mrs),
		.rq_refused		= RPCRDMA_NOT_REFUSED,
		.rq_shape		= RPCRDMA_SHAPE_INLINE,
		.rq_reserved		= reserved,
		.rq_reply		= separate,
	};
	rqst->rq_buffer = request->rq_data;
	rqst->rq_rbuffer = separate ?: request->rq_data + call;
	return 0;
}

/* Counts a call that ends unanswered. Its reply, if any, returns the credit: handle_unknown(). */
static void note_lost(const struct rpc_rqst *rqst, unsigned long serial)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct xprtrdma_conn *conn;

	/* The lock keeps the connection: xprtrdma_connection_set(). */
	spin_lock(&xprt->transport_lock);
	conn = xprtrdma_transport_of(xprt)->xt_conn;
	if (conn && conn->xc_serial == serial)
		xprtrdma_watch_lost(conn, rqst);
	spin_unlock(&xprt->transport_lock);
}

/**
 * xprtrdma_request_free - ->buf_free: the RPC is over
 * @task: its task; rq_buffer is not NULL
 *
 * If the RPC ends without a reply this function waits until the peer cannot reach its memory.
 *
 * Context: process, sleeps.
 */
void xprtrdma_request_free(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct xprtrdma_request *request = xprtrdma_request_of(rqst);

	if (unlikely(request->rq_sent_on))
		note_lost(rqst, request->rq_sent_on);
	/* The RPC still has memory regions, so the peer may reach its memory. */
	if (unlikely(request->rq_registered.ml_conn)) {
		trace_xprtrdma_fence(rqst->rq_xprt, be32_to_cpu(rqst->rq_xid), task->tk_rpc_status);
		xprtrdma_frwr_unmap_sync(&request->rq_registered);
	}
	kfree(request->rq_reply);
	if (unlikely(request->rq_reserved))
		mempool_free(request, &xprtrdma_transport_of(rqst->rq_xprt)->xt_reserve);
	else
		kfree(request);
	rqst->rq_buffer = NULL;
	rqst->rq_rbuffer = NULL;
}

/*
 * A call cannot be sent now. Makes SUNRPC wait for xprt_write_space(), which replies and Send
 * completions call. One of them may have come just before SUNRPC waits, so this function looks
 * again after that, and returns the Send buffer if the call can be sent after all.
 */
static struct xprtrdma_send *wait_to_send(struct xprtrdma_conn *conn, struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct xprtrdma_send *send = NULL;
	bool open;

	xprt_wait_for_buffer_space(xprt);
	/* Under the lock, so that a change of the window just now is seen. */
	spin_lock(&conn->xc_lock);
	open = xprtrdma_window_is_open(conn);
	spin_unlock(&conn->xc_lock);
	if (open)
		send = xprtrdma_send_reserve(conn);
	if (send) {
		xprt_write_space(xprt);
		return send;
	}
	xprtrdma_conn_waits(conn, open ? XPRTRDMA_WAIT_SEND_QUEUE : XPRTRDMA_WAIT_CREDIT);
	if (!open)
		xprtrdma_window_request_credits(conn);
	xprtrdma_watch_stalled(conn, rqst);
	return NULL;
}

static void marshal_failed(struct xprtrdma_conn *conn, struct rpc_rqst *rqst, int error)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;

	switch (error) {
	case -EAGAIN:
		/* SUNRPC waits before the worker runs, so that the worker can wake it. */
		xprtrdma_conn_waits(conn, XPRTRDMA_WAIT_REGIONS);
		xprt_wait_for_buffer_space(xprt);
		xprtrdma_mrs_grow(conn);
		break;
	case -EMSGSIZE:
	case -EIO:
		RPCRDMA_COUNT(conn->xc_transport->xt_stats.failed_marshal_count, 1);
		trace_xprtrdma_marshal_failed(xprt, be32_to_cpu(rqst->rq_xid), error);
		break;
	}
}

static int send_call(struct xprtrdma_conn *conn, struct rpc_rqst *rqst,
		     struct xprtrdma_request *request)
{
	struct xprtrdma_send *send = NULL;
	int ret;

	/* The teardown of an earlier connection has taken back the regions registered on it. */
	if (request->rq_registered.ml_conn) {
		WARN_ON_ONCE(!list_empty(&request->rq_registered.ml_mrs));
		xprtrdma_frwr_recycle(&request->rq_registered);
	}
	/*
	 * SUNRPC's congestion window normally keeps calls back before the credit window does. But
	 * after a reconnect SUNRPC still counts the calls of the old connection as admitted, while
	 * RFC 8166 section 3.3.3 allows one call on the new connection.
	 */
	if (xprtrdma_window_is_open(conn))
		send = xprtrdma_send_reserve(conn);
	if (!send)
		send = wait_to_send(conn, rqst);
	if (!send)
		return -EAGAIN;
	ret = xprtrdma_marshal_call(send, rqst, request);
	if (ret < 0) {
		marshal_failed(conn, rqst, ret);
	} else {
		rqst->rq_xtime = ktime_get();
		ret = xprtrdma_send_call(send, ret, request);
		if (ret != -EAGAIN)
			return ret;
		/* The window is closed now. SUNRPC tries again when there is a credit. */
		wait_to_send(conn, rqst);
	}
	xprtrdma_frwr_recycle(&request->rq_registered);
	return ret;
}

/*
 * Stores the refusal in the call that cannot be sent; its task learns of it when it waits for the
 * reply. An error from ->send_request would end the RPC of the task that sends, which may be
 * another task, as a task also sends the calls of others.
 */
static void refuse_to_send(struct rpc_xprt *xprt, struct xprtrdma_request *request)
{
	spin_lock(&xprt->queue_lock);
	WRITE_ONCE(request->rq_refused, RPCRDMA_REFUSED);
	spin_unlock(&xprt->queue_lock);
}

/*
 * The window is closed, and SUNRPC has set XPRT_CWND_WAIT, so that no call is sent, unless the call
 * at the head of the queue was admitted before. SUNRPC looks at the head without the queue's lock.
 * Just after that look, an admitted call that is sent again after a reconnect may become the head,
 * and no task would send it. So this function looks again, with the lock.
 */
static void let_admitted_call_go(struct rpc_xprt *xprt)
{
	struct rpc_rqst *head;

	spin_lock(&xprt->queue_lock);
	head = list_first_entry_or_null(&xprt->xmit_queue, struct rpc_rqst, rq_xmit);
	if (head && head->rq_cong)
		clear_bit(XPRT_CWND_WAIT, &xprt->state);
	spin_unlock(&xprt->queue_lock);
}

/**
 * xprtrdma_request_send - ->send_request: marshal an RPC message and send it
 * @rqst: a call of ours, or our reply to a reverse-direction call
 *
 * Context: process, the transport's write lock is held.
 * Return: 0 when the message was sent, or can never be sent, upon which the task of a call ends
 * with EIO. Otherwise the message was not sent:
 *	%-ENOTCONN when a connection has to be made first,
 *	%-EBADSLT or %-EAGAIN when there is no credit, buffer or memory region now; SUNRPC waits,
 *	%-ENOBUFS when memory or mappings are short; SUNRPC tries again after a delay.
 */
int xprtrdma_request_send(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct xprtrdma_conn *conn = xprtrdma_transport_of(xprt)->xt_conn;
	struct xprtrdma_request *request;
	int ret;

	if (!xprt_connected(xprt) || !conn || !xprtrdma_conn_established(conn))
		return -ENOTCONN;
	if (bc_prealloc(rqst))
		return xprtrdma_bc_send(conn, rqst);

	request = xprtrdma_request_of(rqst);
	/*
	 * A call that was refused is not sent: its task learns of the refusal when it waits for
	 * the reply. If a reply on an earlier connection brings the refusal just now, this test
	 * may miss the refusal. Then the call is sent, and its reply is dropped.
	 */
	if (READ_ONCE(request->rq_refused))
		return 0;
	/*
	 * A call is not sent twice on one connection: RDMA does not lose messages, and a second
	 * copy would need a credit of its own (RFC 8166 section 3.3.1). A call that was answered
	 * may be sent again: SUNRPC could not decode the reply, and the credit has come back.
	 */
	if (rqst->rq_connect_cookie == xprt->connect_cookie && !request->rq_answered) {
		xprtrdma_conn_fail(conn, RPCRDMA_END_STALLED);
		return -ENOTCONN;
	}
	if (!xprt_request_get_cong(xprt, rqst)) {
		let_admitted_call_go(xprt);
		xprtrdma_window_request_credits(conn);
		return -EBADSLT;
	}
	ret = send_call(conn, rqst, request);
	if (ret == -EMSGSIZE || ret == -EIO) {
		refuse_to_send(xprt, request);
		return 0;
	}
	if (ret)
		return ret;
	rqst->rq_xmit_bytes_sent += rqst->rq_snd_buf.len;

	/* A call without a reply would keep its credit for ever. */
	if (!rpc_reply_expected(rqst->rq_task))
		xprtrdma_conn_fail(conn, RPCRDMA_END_OTHER);
	return 0;
}

/* ---- waiting for the reply ---- */

/*
 * Returns the connection on which the server may reach memory of this call, with a reference; or
 * NULL. While a reply is processed, the handler of the reply owns the regions, and unpins the RPC
 * before the connection is taken down. If there is no such connection, this function clears
 * rq_sent_on, so that a later reply is dropped: such a reply might have to be read into new
 * regions, which the server could reach.
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

/* A task that ends does not wait here: xprtrdma_request_free() fences the call's memory then. */
static bool task_ends(const struct rpc_task *task)
{
	return RPC_SIGNALLED(task) || READ_ONCE(task->tk_rpc_status);
}

/*
 * The task may go on. Its tk_status says why it stopped waiting for the reply; a reply that has
 * come in the meantime, or a refusal, replaces that reason.
 */
static void fence_passed(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct xprtrdma_request *request = xprtrdma_request_of(rqst);

	/* With the lock: the reply may come just now, if the task was woken because it ends. */
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
	/* This asks for a close, which wakes the task: see disconnect(). */
	xprtrdma_conn_fail(conn, task->tk_status == -ETIMEDOUT ? RPCRDMA_END_STALLED :
			   RPCRDMA_END_OTHER);
	rpc_sleep_on(&transport->xt_fenced, task, fence_passed);
	/* The teardown may have been over before the task slept, and wakes nobody then. */
	if (completion_done(&conn->xc_released) || task_ends(task))
		rpc_wake_up_queued_task(&transport->xt_fenced, task);
	xprtrdma_conn_put(conn);
}

/*
 * Runs instead of SUNRPC's own callback, which only handles timeouts, and calls that callback
 * unless the call was refused.
 */
static void wait_ended(struct rpc_task *task)
{
	struct xprtrdma_request *request = xprtrdma_request_of(task->tk_rqstp);

	/*
	 * A refused call has no regions if it is sent again. If the RPC ends,
	 * xprtrdma_request_free() fences its memory.
	 */
	if (unlikely(READ_ONCE(request->rq_refused)) &&
	    rpcrdma_refusal_heed(task, &request->rq_refused))
		return;
	request->rq_timer(task);
	if (task->tk_status < 0 && !task_ends(task))
		wait_for_fence(task);
}

/**
 * xprtrdma_reply_wait - ->wait_for_reply_request: the call has been sent
 * @task: task of the call, which has no reply yet, and goes to sleep
 *
 * A call may have waited for a connection until its major timeout was over. Its reply is still
 * awaited for a full timeout from now on. Otherwise the task would not sleep at all, and its timer
 * would end the new connection; this would go on for ever if each connection took longer to come
 * back than the major timeout. The call of a soft mount keeps its major timeout, and may end then.
 *
 * Context: process; the caller holds queue_lock.
 */
void xprtrdma_reply_wait(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct xprtrdma_request *request = xprtrdma_request_of(rqst);
	unsigned long earliest = jiffies + rqst->rq_timeout;

	if (!RPC_IS_SOFT(task) && time_before(rqst->rq_majortimeo, earliest))
		rqst->rq_majortimeo = earliest;
	rpcrdma_refusal_wait(task, &request->rq_refused, &request->rq_timer, wait_ended);
}
