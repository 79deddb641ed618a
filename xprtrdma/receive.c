// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Incoming messages.
 *
 * A Receive buffer is posted, and its Receive completes with a message (xprtrdma_reply_wc()).
 * reply.c or backchannel.c handles the message, and gives the buffer back by xprtrdma_receive_put()
 * or xprtrdma_receive_return(). The message is copied out of the buffer, so the buffer never waits
 * for a consumer, but only for the LOCAL_INVs and RDMA Reads that the message needs.
 *
 * There is a buffer for each call that may be in flight in either direction, and one batch of
 * buffers beyond these: see window.c. Buffers that came back are posted again in one post when a
 * batch is complete. Until then the buffers that are still posted are enough for all messages that
 * the peer may send (RFC 8166 section 3.3.1, RFC 8167 section 4.3.1).
 */
#include "connection.h"

/**
 * xprtrdma_receive_advance - change the state of a message; nothing else changes that state
 * @receive: the message
 * @state: its new state
 *
 * An illegal change is a bug of this module, since no message of a peer can lead to one.
 *
 * Context: CQ handlers, or process.
 */
void xprtrdma_receive_advance(struct xprtrdma_receive *receive, enum xprtrdma_message_state state)
{
	static const u8 legal[] = {
		[XPRTRDMA_MESSAGE_NONE]			= BIT(XPRTRDMA_MESSAGE_HANDLED),
		[XPRTRDMA_MESSAGE_HANDLED]		= BIT(XPRTRDMA_MESSAGE_INVALIDATING) |
							  BIT(XPRTRDMA_MESSAGE_READING) |
							  BIT(XPRTRDMA_MESSAGE_NONE),
		[XPRTRDMA_MESSAGE_INVALIDATING]		= BIT(XPRTRDMA_MESSAGE_HANDLED),
		[XPRTRDMA_MESSAGE_READING]		= BIT(XPRTRDMA_MESSAGE_READ_INVALIDATING) |
							  BIT(XPRTRDMA_MESSAGE_HANDLED),
		[XPRTRDMA_MESSAGE_READ_INVALIDATING]	= BIT(XPRTRDMA_MESSAGE_HANDLED),
	};

	WARN_ON_ONCE(!(legal[receive->rv_state] & BIT(state)));
	receive->rv_state = state;
}

/* Syncs a buffer for the device, and puts it into the batch that is posted next, under xc_lock. */
static void make_idle(struct xprtrdma_receive *receive)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct xprtrdma_recv_pool *pool = &conn->xc_recv;

	ib_dma_sync_single_for_device(conn->xc_id->device, receive->rv_buffer.bf_sge.addr,
				      conn->xc_recv_size, DMA_FROM_DEVICE);
	receive->rv_wr.next = pool->idle;
	pool->idle = &receive->rv_wr;
	pool->nr_idle++;
}

static struct xprtrdma_receive *receive_alloc(struct xprtrdma_conn *conn)
{
	struct xprtrdma_receive *receive;

	receive = kzalloc(sizeof(*receive), GFP_KERNEL);
	if (!receive)
		return NULL;
	if (rpcrdma_buffer_init(&receive->rv_buffer, conn->xc_pd, conn->xc_recv_size,
				DMA_FROM_DEVICE, GFP_KERNEL)) {
		kfree(receive);
		return NULL;
	}
	receive->rv_conn = conn;
	receive->rv_cqe.done = xprtrdma_reply_wc;
	receive->rv_wr.wr_cqe = &receive->rv_cqe;
	receive->rv_wr.sg_list = &receive->rv_buffer.bf_sge;
	receive->rv_wr.num_sge = 1;
	rpcrdma_lists_init(&receive->rv_lists, receive->rv_segments,
			   ARRAY_SIZE(receive->rv_segments), receive->rv_chunks,
			   ARRAY_SIZE(receive->rv_chunks));
	return receive;
}

/**
 * xprtrdma_receives_create - allocate Receive buffers of a connection
 * @conn: the connection
 * @count: total number of buffers afterwards, at most as many as the Receive Queue takes
 *
 * Context: process.
 * Return: 0 or -ENOMEM; either way xprtrdma_receives_destroy() frees the buffers that were made.
 */
int xprtrdma_receives_create(struct xprtrdma_conn *conn, unsigned int count)
{
	struct xprtrdma_receive *receive;

	while (conn->xc_recv.count < count) {
		receive = receive_alloc(conn);
		if (!receive)
			return -ENOMEM;
		receive->rv_next = conn->xc_recv.all;
		conn->xc_recv.all = receive;
		spin_lock(&conn->xc_lock);
		make_idle(receive);
		spin_unlock(&conn->xc_lock);
		conn->xc_recv.count++;
	}
	return 0;
}

/**
 * xprtrdma_receives_destroy - free all Receive buffers of a connection
 * @conn: a connection whose queue pair is gone
 *
 * Context: process.
 */
void xprtrdma_receives_destroy(struct xprtrdma_conn *conn)
{
	struct xprtrdma_receive *receive;

	while (conn->xc_recv.all) {
		receive = conn->xc_recv.all;
		conn->xc_recv.all = receive->rv_next;
		rpcrdma_buffer_exit(&receive->rv_buffer);
		kfree(receive);
	}
}

static int post_idle(struct xprtrdma_conn *conn)
{
	struct ib_recv_wr *first = conn->xc_recv.idle;
	const struct ib_recv_wr *bad;

	lockdep_assert_held(&conn->xc_lock);
	conn->xc_recv.idle = NULL;
	conn->xc_recv.nr_idle = 0;
	return first ? ib_post_recv(conn->xc_id->qp, first, &bad) : 0;
}

/**
 * xprtrdma_receives_post - post all Receive buffers that are idle
 * @conn: a connection
 *
 * Context: process.
 * Return: 0; -ENOTCONN when the connection is being taken down; or an errno of the provider.
 */
int xprtrdma_receives_post(struct xprtrdma_conn *conn)
{
	int ret = -ENOTCONN;

	spin_lock(&conn->xc_lock);
	if (conn->xc_state == RPCRDMA_CONN_CONNECTING ||
	    conn->xc_state == RPCRDMA_CONN_ESTABLISHED)
		ret = post_idle(conn);
	spin_unlock(&conn->xc_lock);
	return ret;
}

/**
 * xprtrdma_receive_return - do as xprtrdma_receive_put(), for a caller that holds xc_lock
 * @receive: the buffer; its message must not be looked at again
 *
 * Context: CQ handlers, or process; the caller holds xc_lock.
 * Return: 0, or an errno of the provider, upon which the caller has to fail the connection.
 */
int xprtrdma_receive_return(struct xprtrdma_receive *receive)
{
	struct xprtrdma_conn *conn = receive->rv_conn;

	lockdep_assert_held(&conn->xc_lock);
	receive->rv_rqst = NULL;
	receive->rv_registered = NULL;
	xprtrdma_receive_advance(receive, XPRTRDMA_MESSAGE_NONE);
	make_idle(receive);
	/* In the state BROKEN the Receive Queue may be drained already, so nothing is posted. */
	if (conn->xc_recv.nr_idle < RPCRDMA_RECEIVE_BATCH ||
	    conn->xc_state != RPCRDMA_CONN_ESTABLISHED)
		return 0;
	return post_idle(conn);
}

/**
 * xprtrdma_receive_put - give back a Receive buffer whose message has been handled
 * @receive: the buffer; its message must not be looked at again
 *
 * If the batch is complete now it is posted. If the post fails the connection is failed.
 *
 * Context: CQ handlers, or process.
 */
void xprtrdma_receive_put(struct xprtrdma_receive *receive)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	int ret;

	spin_lock(&conn->xc_lock);
	ret = xprtrdma_receive_return(receive);
	spin_unlock(&conn->xc_lock);
	if (ret)
		xprtrdma_conn_fail(conn, RPCRDMA_END_RECEIVE_FAILED);
}
