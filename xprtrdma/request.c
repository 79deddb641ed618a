// SPDX-License-Identifier: GPL-2.0
/*
 * The transport's part of an RPC, from the allocation of its buffers to their release: the Send,
 * and what its task waits for once the call has been sent: the reply; or, before the call may be
 * encoded again, that the server reaches none of its memory any more.
 *
 * SUNRPC encodes again when the reply is overdue or the connection is going, and then frees
 * the pages that RPCSEC_GSS has encrypted the last call into, and writes over the rest. It
 * does not wait for ->close: xprt_autoclose() changes the connect cookie, upon which calls
 * are sent again, before it calls that. So each task that stops waiting without a reply comes
 * by wait_ended(), and sleeps on xt_fenced while memory regions are registered on a connection
 * that has not been taken down. That connection is of no more use. A task whose call has no
 * regions goes on, and no reply is taken any more that might get some.
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
	/* Nearly all requests fit in. */
	RESERVED_SIZE		= 4096,
	/* The reply of an OPEN of NFS 4.2 may have security labels. */
	LARGE_SIZE		= 8192,
};

/**
 * xprtrdma_requests_init - make the queue and the memory that all requests of a transport share
 * @transport: the transport
 *
 * The memory is a reserve: without it dirty pages could not be written back when memory is short.
 *
 * Context: process.
 * Return: 0 or -ENOMEM; xprtrdma_requests_exit() in any case.
 */
int xprtrdma_requests_init(struct xprtrdma_transport *transport)
{
	rpc_init_wait_queue(&transport->xt_fenced, "xprtrdma_fenced");
	return mempool_init_kmalloc_pool(&transport->xt_reserve, RESERVED_REQUESTS,
					 RESERVED_SIZE);
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
 * As rpc_malloc(): reclaim may wait for an asynchronous call, such as a WRITE, so that one may use
 * the reserve. The allocator clears memory where the kernel is set up so; the reserve does not.
 */
static struct xprtrdma_request *memory_for(const struct rpc_task *task, size_t size)
{
	struct xprtrdma_request *request = kmalloc(size, rpc_task_gfp_mask());
	struct xprtrdma_transport *transport;
	bool reserved = unlikely(!request) && RPC_IS_ASYNC(task) && size <= RESERVED_SIZE;

	if (reserved) {
		transport = xprtrdma_transport_of(task->tk_rqstp->rq_xprt);
		request = mempool_alloc(&transport->xt_reserve, GFP_NOWAIT);
		if (request)
			memset(request, 0, RESERVED_SIZE);
	}
	if (request) {
		request->rq_reserved = reserved;
		request->rq_reply = NULL;
	}
	return request;
}

static void give_memory_back(struct rpc_xprt *xprt, struct xprtrdma_request *request)
{
	if (unlikely(request->rq_reserved))
		mempool_free(request, &xprtrdma_transport_of(xprt)->xt_reserve);
	else
		kfree(request);
}

/* One allocation for both buffers would be large: the reply gets memory of its own. */
static struct xprtrdma_request *split_request(const struct rpc_task *task, size_t size,
					      size_t reply)
{
	struct xprtrdma_request *request = memory_for(task, size);

	if (!request)
		return NULL;
	request->rq_reply = kmalloc(reply, rpc_task_gfp_mask());
	if (request->rq_reply)
		return request;
	give_memory_back(task->tk_rqstp->rq_xprt, request);
	return NULL;
}

/**
 * xprtrdma_request_alloc - ->buf_alloc: call and reply buffers of an RPC
 * @task: its task
 *
 * The reply buffer has cache lines of its own, since it may be mapped for DMA while the call
 * buffer is in use. kmalloc() aligns what it returns as the size is aligned.
 *
 * Context: process; may dip into reserves for a swapper's task, and into the transport's
 * own for an asynchronous one.
 * Return: 0, or -ENOMEM, upon which the RPC client calls again later.
 */
int xprtrdma_request_alloc(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	size_t call = ALIGN(rqst->rq_callsize, L1_CACHE_BYTES);
	size_t reply = ALIGN(rqst->rq_rcvsize, L1_CACHE_BYTES);
	struct xprtrdma_request *request;
	size_t size;

	/* No overflow: SUNRPC has bounded both, by its procedures and by RPC_MAX_AUTH_SIZE. */
	size = sizeof(*request) + call;
	request = likely(size + reply <= LARGE_SIZE) ? memory_for(task, size + reply) :
			split_request(task, size, reply);
	if (!request)
		return -ENOMEM;
	xprtrdma_mr_list_init(&request->rq_registered);
	request->rq_sent_on = 0;
	request->rq_refused = RPCRDMA_NOT_REFUSED;
	request->rq_answered = false;
	request->rq_again = false;
	request->rq_by_history = false;
	request->rq_left_open = false;
	request->rq_shape = RPCRDMA_SHAPE_INLINE;
	request->rq_write_capacity = 0;
	request->rq_reply_capacity = 0;
	rqst->rq_buffer = request->rq_data;
	rqst->rq_rbuffer = request->rq_reply ?: request->rq_data + call;
	return 0;
}

/* The credit of a call that ends unanswered comes back with its reply: see handle_unknown(). */
static void note_lost(const struct rpc_rqst *rqst, unsigned long serial)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct xprtrdma_transport *transport = xprtrdma_transport_of(xprt);
	unsigned long stall_timeout = rqst->rq_timeout ?: XPRTRDMA_STALL_TIMEOUT;

	spin_lock(&xprt->transport_lock);
	if (transport->xt_lost_on < serial) {
		transport->xt_lost_on = serial;
		transport->xt_lost = 0;
	}
	if (transport->xt_lost_on == serial) {
		if (!transport->xt_lost++) {
			transport->xt_lost_since = jiffies;
			transport->xt_lost_timeout = 0;
		}
		transport->xt_lost_timeout = max(transport->xt_lost_timeout, stall_timeout);
	}
	spin_unlock(&xprt->transport_lock);
}

/**
 * xprtrdma_request_free - ->buf_free: the RPC is over
 * @task: its task; rq_buffer is not NULL
 *
 * If it ends without a reply this waits until the peer cannot reach its memory.
 *
 * Context: process, sleeps.
 */
void xprtrdma_request_free(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct xprtrdma_request *request = xprtrdma_request_of(rqst);

	if (unlikely(request->rq_sent_on))
		note_lost(rqst, request->rq_sent_on);
	/* The peer may still reach its memory; wait until that has been prevented. */
	if (unlikely(request->rq_registered.ml_conn)) {
		trace_xprtrdma_fence(rqst->rq_xprt, be32_to_cpu(rqst->rq_xid));
		xprtrdma_frwr_unmap_sync(&request->rq_registered);
	}
	kfree(request->rq_reply);
	give_memory_back(rqst->rq_xprt, request);
	rqst->rq_buffer = NULL;
	rqst->rq_rbuffer = NULL;
}

/*
 * A call may not be sent now: SUNRPC waits, unless it may after all. Replies and Send completions
 * call xprt_write_space(); one may have come before there was anybody to wake.
 */
static struct xprtrdma_send *wait_to_send(struct xprtrdma_conn *conn, struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;
	struct xprtrdma_send *send = NULL;
	bool open;

	xprt_wait_for_buffer_space(xprt);
	/* Whoever has held the lock before has changed the window for good. */
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
		/* Before the worker can run, so that it finds somebody to wake. */
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

	/* What was registered on an earlier connection has been taken back with it. */
	if (request->rq_registered.ml_conn) {
		WARN_ON_ONCE(!list_empty(&request->rq_registered.ml_mrs));
		xprtrdma_frwr_recycle(&request->rq_registered);
	}
	/*
	 * SUNRPC's congestion window normally keeps calls back before this does; but after a
	 * reconnect it still counts the calls of the old connection as admitted, and RFC 8166
	 * section 3.3.3 allows one on the new.
	 */
	if (xprtrdma_window_is_open(conn))
		send = xprtrdma_send_reserve(conn);
	if (!send)
		send = wait_to_send(conn, rqst);
	if (!send)
		return -EAGAIN;
	ret = xprtrdma_marshal_call(conn, rqst, send);
	if (ret < 0) {
		marshal_failed(conn, rqst, ret);
	} else {
		rqst->rq_xtime = ktime_get();
		ret = xprtrdma_send_call(send, ret, request);
		if (ret != -EAGAIN)
			return ret;
		/* Closed meanwhile. SUNRPC comes again, at once or when there is a credit. */
		wait_to_send(conn, rqst);
	}
	xprtrdma_frwr_recycle(&request->rq_registered);
	return ret;
}

/*
 * An error would end the RPC of the task that sends, which sends for others, too, and has
 * done nothing wrong. This one is told when it waits for its reply.
 */
static void refuse_to_send(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;

	spin_lock(&xprt->queue_lock);
	WRITE_ONCE(xprtrdma_request_of(rqst)->rq_refused, RPCRDMA_REFUSED);
	spin_unlock(&xprt->queue_lock);
}

/*
 * The window is closed, and SUNRPC has said that all calls wait for it (XPRT_CWND_WAIT), unless
 * the one at the head of the queue was admitted before. It looks there without the queue's lock: a
 * call that comes again after a reconnect can be put there in between. Nobody would send it. Look
 * again, with the lock.
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
 * Return: 0 when it was sent, or cannot be sent at all; then its task ends with EIO. Else it
 * was not sent:
 *	%-ENOTCONN when a connection has to be made first,
 *	%-EBADSLT or %-EAGAIN when there is no credit or buffer now; SUNRPC waits,
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
	 * the reply. A refusal that a reply on an earlier connection brings just now may be
	 * missed here: then the call goes out, and its reply is dropped.
	 */
	if (READ_ONCE(request->rq_refused))
		return 0;
	/*
	 * No retransmission on the same connection: RDMA does not lose messages, and a
	 * second copy would need a credit of its own (RFC 8166 section 3.3.1). A call that was
	 * answered is none: SUNRPC could make nothing of the answer, and asks once more.
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
		refuse_to_send(rqst);
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

/* Then xprtrdma_request_free() waits until the server reaches none of the call's memory. */
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
	/* The close that this asks for wakes the task: see xprtrdma_fence_wake(). */
	xprtrdma_conn_fail(conn, task->tk_status == -ETIMEDOUT ? RPCRDMA_END_STALLED :
			   RPCRDMA_END_OTHER);
	rpc_sleep_on(&transport->xt_fenced, task, fence_passed);
	/* The close may have been over before the task slept. */
	if (completion_done(&conn->xc_released) || task_ends(task))
		rpc_wake_up_queued_task(&transport->xt_fenced, task);
	xprtrdma_conn_put(conn);
}

/* Takes the place of SUNRPC's own callback, which knows of timeouts only. */
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

/**
 * xprtrdma_reply_wait - ->wait_for_reply_request: the call has been sent
 * @task: its task, which has no reply yet, and goes to sleep
 *
 * The server has as long as ever for a call that has waited for a connection until its major
 * timeout was over. Else the task would not sleep at all, and its timer would end a connection
 * that has just begun: for ever, if connections take longer to come back than that. What may
 * end with its timeout, a soft mount's, does.
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
