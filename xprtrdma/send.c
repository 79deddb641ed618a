// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Outgoing messages.
 *
 * Operation: a Send buffer is taken from the free list, filled with a whole message
 * (header and inline part), and posted. Since everything is copied into this buffer, the
 * Send does not read the buffers or pages of the RPC, which may end at any time.
 *
 * Completion: most Sends are unsignalled. Posted buffers are kept in posting order, and
 * the completion of a signalled Send frees its buffer and all buffers posted before it (the
 * Send Queue completes in order). One Send in signal_every is signalled, and so is the Send
 * after which no buffer is free, or too few entries for registrations. So a sender that has to
 * wait can rely on a completion. When no buffer is left, window.c makes more, up to a bound.
 *
 * The Send Queue has an entry for each Send buffer, and one for each memory region. A region
 * needs that entry for its LOCAL_INV, or for its registration if an RDMA Read fills it; that
 * registration is complete before the LOCAL_INV is posted. Registrations for calls have entries
 * apart from these, which are counted. They are posted before the Send of their call, and their
 * entries are free again with the entry of that Send. A call is sent only if as many of these
 * entries are free as any call can need; otherwise the call waits. RDMA Reads (pull.c) and RDMA
 * Writes (bc_reply.c) have further entries.
 */
#include "connection.h"
#include "request.h"
#include "trace.h"

static struct xprtrdma_send *pop_free(struct xprtrdma_send_pool *pool)
{
	struct xprtrdma_send *send = pool->free;

	if (send)
		pool->free = send->sd_next;
	return send;
}

static void push_free(struct xprtrdma_send_pool *pool, struct xprtrdma_send *send)
{
	send->sd_next = pool->free;
	pool->free = send;
}

static void send_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprtrdma_send *send = container_of(wc->wr_cqe, struct xprtrdma_send, sd_cqe);
	struct xprtrdma_conn *conn = send->sd_conn;
	struct xprtrdma_send_pool *pool = &conn->xc_send;
	struct xprtrdma_send *first;

	if (wc->status != IB_WC_SUCCESS) {
		xprtrdma_conn_fail_wc(conn, "send", wc, RPCRDMA_END_SEND_FAILED);
		return;
	}
	spin_lock(&conn->xc_lock);
	/* All Sends that were posted before this one are complete, too. */
	first = pool->posted;
	pool->posted = send->sd_next;
	if (!pool->posted)
		pool->end = &pool->posted;
	send->sd_next = pool->free;
	pool->free = first;
	if (pool->probe == send)
		pool->probe = NULL;
	WRITE_ONCE(pool->reg_wrs, pool->reg_wrs + send->sd_regs - pool->regs_done);
	pool->regs_done = send->sd_regs;
	spin_unlock(&conn->xc_lock);
	xprt_write_space(&conn->xc_transport->xt_xprt);
}

static struct xprtrdma_send *send_alloc(struct xprtrdma_conn *conn)
{
	struct xprtrdma_send *send;

	send = kzalloc(sizeof(*send), GFP_KERNEL);
	if (!send)
		return NULL;
	if (rpcrdma_buffer_init(&send->sd_buffer, conn->xc_pd, conn->xc_send_size,
				DMA_TO_DEVICE, GFP_KERNEL)) {
		kfree(send);
		return NULL;
	}
	send->sd_conn = conn;
	send->sd_cqe.done = send_wc;
	send->sd_wr.wr_cqe = &send->sd_cqe;
	send->sd_wr.sg_list = &send->sd_buffer.bf_sge;
	send->sd_wr.num_sge = 1;
	send->sd_wr.opcode = IB_WR_SEND;
	return send;
}

/**
 * xprtrdma_sends_init - set the Send pool of a connection up, without buffers
 * @conn: connection whose xc_send is all zeros
 *
 * Context: any.
 */
void xprtrdma_sends_init(struct xprtrdma_conn *conn)
{
	conn->xc_send.end = &conn->xc_send.posted;
}

/**
 * xprtrdma_sends_create - allocate Send buffers of a connection
 * @conn: the connection
 * @count: total number of buffers afterwards, at most send_slots of its queues
 *
 * Context: process.
 * Return: 0 or -ENOMEM; either way xprtrdma_sends_destroy() frees the buffers that were made.
 */
int xprtrdma_sends_create(struct xprtrdma_conn *conn, unsigned int count)
{
	struct xprtrdma_send *send;

	if (!conn->xc_send.count)
		conn->xc_send.reg_wrs = conn->xc_queues.reg_wrs;
	while (conn->xc_send.count < count) {
		send = send_alloc(conn);
		if (!send)
			return -ENOMEM;
		spin_lock(&conn->xc_lock);
		push_free(&conn->xc_send, send);
		spin_unlock(&conn->xc_lock);
		conn->xc_send.count++;
	}
	return 0;
}

/**
 * xprtrdma_sends_destroy - free all Send buffers of a connection
 * @conn: a connection whose queue pair is gone
 *
 * Context: process.
 */
void xprtrdma_sends_destroy(struct xprtrdma_conn *conn)
{
	struct xprtrdma_send_pool *pool = &conn->xc_send;
	struct xprtrdma_send *send;

	if (pool->next)
		push_free(pool, pool->next);
	*pool->end = pool->free;
	while (pool->posted) {
		send = pool->posted;
		pool->posted = send->sd_next;
		rpcrdma_buffer_exit(&send->sd_buffer);
		kfree(send);
	}
}

/**
 * xprtrdma_send_get - take a Send buffer
 * @conn: the connection
 *
 * Context: any.
 * Return: a buffer to be given to xprtrdma_send_post() or xprtrdma_send_put(), or NULL.
 */
struct xprtrdma_send *xprtrdma_send_get(struct xprtrdma_conn *conn)
{
	struct xprtrdma_send *send;

	spin_lock(&conn->xc_lock);
	send = pop_free(&conn->xc_send);
	if (!send)
		RPCRDMA_COUNT(conn->xc_transport->xt_stats.empty_sendctx_q, 1);
	spin_unlock(&conn->xc_lock);
	return send;
}

/**
 * xprtrdma_send_put - return a Send buffer that was not posted to the free list
 * @send: the buffer
 *
 * Context: any.
 */
void xprtrdma_send_put(struct xprtrdma_send *send)
{
	struct xprtrdma_conn *conn = send->sd_conn;

	spin_lock(&conn->xc_lock);
	push_free(&conn->xc_send, send);
	spin_unlock(&conn->xc_lock);
}

static void message_to_device(struct xprtrdma_send *send, unsigned int length)
{
	struct ib_sge *message = &send->sd_buffer.bf_sge;

	message->length = length;
	ib_dma_sync_single_for_device(send->sd_conn->xc_id->device, message->addr, length,
				      DMA_TO_DEVICE);
	if (trace_xprtrdma_message_enabled())
		xprtrdma_trace_message(send->sd_conn, send->sd_buffer.bf_data, length, NULL);
}

/* @first: the work request of @send, the first registration chained before that, or a probe */
static int post(struct xprtrdma_conn *conn, struct xprtrdma_send *send,
		const struct ib_send_wr *first)
{
	struct xprtrdma_send_pool *pool = &conn->xc_send;
	const struct ib_send_wr *bad;
	int ret;

	lockdep_assert_held(&conn->xc_lock);
	send->sd_regs = pool->regs_posted;
	send->sd_wr.send_flags = 0;
	if (++pool->unsignalled >= conn->xc_queues.signal_every || !pool->free ||
	    pool->reg_wrs < conn->xc_queues.mrs_per_call) {
		send->sd_wr.send_flags = IB_SEND_SIGNALED;
		pool->unsignalled = 0;
		if (!pool->free)
			xprtrdma_window_request_buffers(conn, XPRTRDMA_WANTS_SENDS);
	}
	send->sd_next = NULL;
	*pool->end = send;
	pool->end = &send->sd_next;
	if (conn->xc_state != RPCRDMA_CONN_ESTABLISHED)
		return -ENOTCONN;
	ret = ib_post_send(conn->xc_id->qp, first, &bad);
	if (!ret)
		RPCRDMA_COUNT(conn->xc_transport->xt_counters.bytes_sent_inline,
			      send->sd_buffer.bf_sge.length);
	return ret;
}

static int post_failed(struct xprtrdma_conn *conn, int ret)
{
	trace_xprtrdma_post_failed(&conn->xc_transport->xt_xprt, ret);
	xprtrdma_conn_fail(conn, RPCRDMA_END_SEND_FAILED);
	return -ENOTCONN;
}

/**
 * xprtrdma_send_post - send a message that is not a call of SUNRPC
 * @send: the buffer, with the message at its start
 * @length: bytes of the message
 *
 * @send is consumed whatever the result.
 *
 * Context: any. The connection must not be destroyed meanwhile: the caller holds the write
 * lock, is a CQ handler, or is a work item that the teardown waits for. In the state BROKEN
 * nothing is posted, see xprtrdma_conn_destroy().
 * Return: 0, or -ENOTCONN, in which case the connection has been failed.
 */
int xprtrdma_send_post(struct xprtrdma_send *send, unsigned int length)
{
	struct xprtrdma_conn *conn = send->sd_conn;
	int ret;

	message_to_device(send, length);
	spin_lock(&conn->xc_lock);
	ret = post(conn, send, &send->sd_wr);
	spin_unlock(&conn->xc_lock);
	return ret ? post_failed(conn, ret) : 0;
}

/**
 * xprtrdma_send_probe - post a request that the peer's HCA has to acknowledge
 * @conn: the connection
 *
 * If the peer's HCA does not acknowledge the probe, the probe fails and the connection ends. A
 * probe uses the Send Queue entry of a Send buffer. If no buffer is free, or a probe is under way,
 * no probe is posted: the peer's HCA has to acknowledge an earlier work request already.
 *
 * Context: as xprtrdma_send_post().
 */
void xprtrdma_send_probe(struct xprtrdma_conn *conn)
{
	struct xprtrdma_send_pool *pool = &conn->xc_send;
	struct xprtrdma_send *send;
	struct ib_rdma_wr probe;
	int ret = 0;

	spin_lock(&conn->xc_lock);
	send = pool->probe ? NULL : pop_free(pool);
	if (send) {
		pool->probe = send;
		send->sd_buffer.bf_sge.length = 0;
		rpcrdma_probe_init(&probe, &send->sd_cqe);
		ret = post(conn, send, &probe.wr);
	}
	spin_unlock(&conn->xc_lock);
	if (ret)
		post_failed(conn, ret);
}

/* ---- calls ---- */

/**
 * xprtrdma_send_reserve - reserve the Send buffer for the next call
 * @conn: the connection
 *
 * Context: process, the transport's write lock is held.
 * Return: the buffer, which stays reserved until xprtrdma_send_call() has sent it; or NULL when no
 * buffer is free, or too few entries of the Send Queue for the registrations that a call may need.
 */
struct xprtrdma_send *xprtrdma_send_reserve(struct xprtrdma_conn *conn)
{
	struct xprtrdma_send_pool *pool = &conn->xc_send;

	if (unlikely(READ_ONCE(pool->reg_wrs) < conn->xc_queues.mrs_per_call)) {
		RPCRDMA_COUNT(conn->xc_transport->xt_stats.empty_sendctx_q, 1);
		return NULL;
	}
	if (unlikely(!pool->next))
		pool->next = xprtrdma_send_get(conn);
	return pool->next;
}

/**
 * xprtrdma_send_call - send a call
 * @send: the buffer of xprtrdma_send_reserve(), with the message at its start
 * @length: bytes of the message
 * @request: the call, whose registrations are posted before it
 *
 * The call takes a credit. A reply to @request is accepted only after the post, as the peer cannot
 * have seen the call before. The buffer for the next call is reserved in the same critical section,
 * so that xprtrdma_send_reserve() seldom has to take the lock.
 *
 * Context: process, the transport's write lock is held, which keeps the connection. In the state
 * BROKEN nothing is posted, see xprtrdma_conn_destroy().
 * Return: 0; -EAGAIN when the window has been closed meanwhile, and nothing was done; or -ENOTCONN,
 * in which case the connection has been failed.
 */
int xprtrdma_send_call(struct xprtrdma_send *send, unsigned int length,
		       struct xprtrdma_request *request)
{
	struct xprtrdma_conn *conn = send->sd_conn;
	struct xprtrdma_send_pool *pool = &conn->xc_send;
	struct ib_send_wr *first = &send->sd_wr;
	u32 registrations = 0;
	int ret;

	message_to_device(send, length);
	if (!list_empty(&request->rq_registered.ml_mrs))
		first = xprtrdma_frwr_chain(&request->rq_registered, first, &registrations);

	spin_lock(&conn->xc_lock);
	if (unlikely(!rpcrdma_window_take(&conn->xc_window))) {
		spin_unlock(&conn->xc_lock);
		return -EAGAIN;
	}
	WRITE_ONCE(pool->reg_wrs, pool->reg_wrs - registrations);
	pool->regs_posted += registrations;
	request->rq_answered = false;
	/* Taken before the post, since post() signals the Send if no buffer is left. */
	pool->next = pop_free(pool);
	ret = post(conn, send, first);
	/* Pairs with reply_pin(). */
	smp_store_release(&request->rq_sent_on, conn->xc_serial);
	if (likely(!ret))
		xprtrdma_watch_start(conn);
	spin_unlock(&conn->xc_lock);
	if (registrations)
		rpcrdma_count_shared(&conn->xc_transport->xt_counters.regions_registered,
				     registrations);
	return ret ? post_failed(conn, ret) : 0;
}
