// SPDX-License-Identifier: GPL-2.0
/*
 * Outgoing messages.
 *
 * Operation: a Send buffer is taken from the free list, filled with a whole message
 * (header and inline part), and posted. Since everything is copied into it, neither the
 * RPC's buffers nor its pages are touched by the device after the post, and an RPC may
 * end whenever it likes.
 *
 * Completion: most Sends are unsignalled. Posted buffers are kept in posting order, and
 * the completion of a signalled one frees all those before it (the Send Queue completes
 * in order). One Send in signal_every asks for a completion, and so does the one that
 * takes the last free buffer; so a sender that finds the list empty can rely on a
 * completion to come.
 */
#include "xprtrdma.h"
#include "trace.h"

static void send_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprtrdma_send *send = container_of(wc->wr_cqe, struct xprtrdma_send,
						  sd_cqe);
	struct xprtrdma_conn *conn = send->sd_conn;
	struct rpc_xprt *xprt = &conn->xc_transport->xt_xprt;
	struct list_head done;

	if (wc->status != IB_WC_SUCCESS) {
		trace_xprtrdma_wc(xprt, "send", wc->status, wc->vendor_err);
		xprtrdma_conn_fail(conn, rpcrdma_end_of(wc, RPCRDMA_END_SEND_FAILED));
		return;
	}
	spin_lock(&conn->xc_lock);
	list_cut_position(&done, &conn->xc_send.posted, &send->sd_list);
	list_splice(&done, &conn->xc_send.free);
	xprtrdma_pulls_continue(conn);
	spin_unlock(&conn->xc_lock);
	xprt_write_space(xprt);
}

static void send_free(struct xprtrdma_send *send)
{
	rpcrdma_buffer_exit(&send->sd_buffer);
	kfree(send);
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
 * xprtrdma_sends_init - no Send buffers yet
 * @conn: all zeros
 *
 * Context: any.
 */
void xprtrdma_sends_init(struct xprtrdma_conn *conn)
{
	INIT_LIST_HEAD(&conn->xc_send.free);
	INIT_LIST_HEAD(&conn->xc_send.posted);
}

/**
 * xprtrdma_sends_create - allocate all Send buffers of a connection
 * @conn: the connection
 *
 * Context: process.
 * Return: 0 or -ENOMEM; either way xprtrdma_sends_destroy() frees what is there.
 */
int xprtrdma_sends_create(struct xprtrdma_conn *conn)
{
	struct xprtrdma_send *send;
	unsigned int i;

	for (i = 0; i < conn->xc_queues.send_slots; i++) {
		send = send_alloc(conn);
		if (!send)
			return -ENOMEM;
		list_add(&send->sd_list, &conn->xc_send.free);
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
	struct xprtrdma_send *send, *next;

	list_splice_init(&conn->xc_send.posted, &conn->xc_send.free);
	list_for_each_entry_safe(send, next, &conn->xc_send.free, sd_list)
		send_free(send);
	INIT_LIST_HEAD(&conn->xc_send.free);
}

/**
 * xprtrdma_sends_left - is there a Send buffer to be taken?
 * @conn: the connection
 *
 * Context: any; the caller holds xc_lock.
 */
bool xprtrdma_sends_left(const struct xprtrdma_conn *conn)
{
	lockdep_assert_held(&conn->xc_lock);
	return !list_empty(&conn->xc_send.free);
}

/**
 * xprtrdma_send_take - as xprtrdma_send_get(), with the lock
 * @conn: the connection
 *
 * Context: any; the caller holds xc_lock.
 * Return: as xprtrdma_send_get().
 */
struct xprtrdma_send *xprtrdma_send_take(struct xprtrdma_conn *conn)
{
	struct xprtrdma_send *send;

	lockdep_assert_held(&conn->xc_lock);

	send = list_first_entry_or_null(&conn->xc_send.free, struct xprtrdma_send,
					sd_list);
	if (send)
		list_del(&send->sd_list);
	else
		RPCRDMA_COUNT(conn->xc_transport->xt_stats.empty_sendctx_q, 1);
	return send;
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
	send = xprtrdma_send_take(conn);
	spin_unlock(&conn->xc_lock);
	return send;
}

/**
 * xprtrdma_send_put - give a Send buffer back that was not posted
 * @send: the buffer
 *
 * Context: any.
 */
void xprtrdma_send_put(struct xprtrdma_send *send)
{
	struct xprtrdma_conn *conn = send->sd_conn;

	spin_lock(&conn->xc_lock);
	list_add(&send->sd_list, &conn->xc_send.free);
	spin_unlock(&conn->xc_lock);
}

/**
 * xprtrdma_send_post - send a message
 * @send: the buffer, with the message at its start
 * @length: bytes of the message
 * @request: the call that it carries, whose registrations are posted before it; or NULL
 *
 * @send is consumed whatever the result. A reply to @request is accepted from the post
 * on, and not before: until then the peer cannot have seen the call, whatever it sends.
 *
 * Context: any. The connection must not be destroyed meanwhile: the caller holds the write
 * lock, is a CQ handler, or a work item that the teardown waits for. After BROKEN nothing
 * is posted, see xprtrdma_conn_destroy().
 * Return: 0, or -ENOTCONN, in which case the connection has been failed.
 */
int xprtrdma_send_post(struct xprtrdma_send *send, unsigned int length,
		       struct xprtrdma_request *request)
{
	struct xprtrdma_conn *conn = send->sd_conn;
	struct ib_send_wr *first = &send->sd_wr;
	const struct ib_send_wr *bad;
	int rc;

	send->sd_buffer.bf_sge.length = length;
	rpcrdma_buffer_to_device(&send->sd_buffer, length);

	if (trace_xprtrdma_message_enabled())
		xprtrdma_trace_message(conn, send->sd_buffer.bf_data, length, NULL);
	if (request && !list_empty(&request->rq_loan.ln_mrs))
		first = xprtrdma_frwr_chain(&request->rq_loan, first);

	spin_lock(&conn->xc_lock);
	send->sd_wr.send_flags = 0;
	if (++conn->xc_send.unsignaled >= conn->xc_queues.signal_every ||
	    list_empty(&conn->xc_send.free)) {
		send->sd_wr.send_flags = IB_SEND_SIGNALED;
		conn->xc_send.unsignaled = 0;
	}
	list_add_tail(&send->sd_list, &conn->xc_send.posted);
	rc = -ENOTCONN;
	if (conn->xc_state == RPCRDMA_CONN_ESTABLISHED)
		rc = ib_post_send(conn->xc_id->qp, first, &bad);
	if (request)
		/* Pairs with was_sent(). */
		smp_store_release(&request->rq_sent_on, conn->xc_serial);
	if (!rc)
		RPCRDMA_COUNT(conn->xc_transport->xt_counters.bytes_sent_inline, length);
	spin_unlock(&conn->xc_lock);
	if (rc) {
		trace_xprtrdma_post_failed(&conn->xc_transport->xt_xprt, rc);
		xprtrdma_conn_fail(conn, RPCRDMA_END_SEND_FAILED);
		return -ENOTCONN;
	}
	return 0;
}
