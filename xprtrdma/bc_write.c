// SPDX-License-Identifier: GPL-2.0
/*
 * Replies to reverse-direction calls that go into the Reply chunk of the call (RFC 8166
 * section 4.3.3).
 *
 * The reply is copied, so the callback service has its pages back at once, and an RDMA
 * Write for each segment is posted, the last of them signalled; the Send of the
 * RDMA_NOMSG follows in a post of its own. A queue pair works in order.
 *
 * Owner of a struct xprtrdma_bc_write: the task that sends the reply; the HCA from post to
 * completion; if the post failed, xprtrdma_bc_writes_abort().
 */
#include <linux/slab.h>

#include "xprtrdma.h"
#include "trace.h"

/**
 * struct xprtrdma_bc_write - a reply on its way
 * @list: in xc_bc_write.posted from the post on; under xc_lock
 * @conn: the connection
 * @cqe: completion of the last Write
 * @data: the reply
 * @count: elements of @parts in use
 * @parts: the Writes
 */
struct xprtrdma_bc_write {
	struct list_head	list;
	struct xprtrdma_conn	*conn;
	struct ib_cqe		cqe;
	struct rpcrdma_buffer	data;
	u32			count;
	struct rpcrdma_transfer	parts[RPCRDMA_MAX_SEGMENTS_SENT];
};

/**
 * xprtrdma_bc_write_free - free a reply that the HCA has not got, or not any more
 * @write: the reply
 *
 * Context: any.
 */
void xprtrdma_bc_write_free(struct xprtrdma_bc_write *write)
{
	rpcrdma_buffer_exit(&write->data);
	kfree(write);
}

static void write_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprtrdma_bc_write *write =
		container_of(wc->wr_cqe, struct xprtrdma_bc_write, cqe);
	struct xprtrdma_conn *conn = write->conn;
	struct rpc_xprt *xprt = &conn->xc_transport->xt_xprt;

	if (wc->status != IB_WC_SUCCESS) {
		trace_xprtrdma_wc(xprt, "write", wc->status, wc->vendor_err);
		xprtrdma_conn_fail(conn, rpcrdma_end_of(wc, RPCRDMA_END_SEND_FAILED));
	} else {
		rpcrdma_count_shared(&conn->xc_transport->xt_counters.bytes_written,
				     write->data.bf_size);
	}
	spin_lock(&conn->xc_lock);
	list_del(&write->list);
	conn->xc_bc_write.wrs += write->count;
	spin_unlock(&conn->xc_lock);
	xprtrdma_bc_write_free(write);
	xprt_write_space(xprt);
}

/* The Reply chunk has the room, and segments enough; empty ones get nothing. */
static void write_build(struct xprtrdma_bc_write *write,
			const struct rpcrdma_chunk_lists *lists)
{
	const struct rpcrdma_chunk *chunk = rpcrdma_reply_chunk(lists);
	const struct rpcrdma_segment *segment = &lists->segments[chunk->first];
	struct ib_sge piece = write->data.bf_sge;
	u32 left = write->data.bf_size;

	for (; left; segment++, left -= piece.length, piece.addr += piece.length) {
		piece.length = min(segment->length, left);
		if (piece.length)
			rpcrdma_transfer_init(&write->parts[write->count++],
					      IB_WR_RDMA_WRITE, &piece, segment, 0);
	}
}

/**
 * xprtrdma_bc_writes_init - nothing is on its way yet
 * @conn: all zeros
 *
 * Context: any.
 */
void xprtrdma_bc_writes_init(struct xprtrdma_conn *conn)
{
	INIT_LIST_HEAD(&conn->xc_bc_write.posted);
	conn->xc_bc_write.wrs = XPRTRDMA_BC_WRITES;
}

/**
 * xprtrdma_bc_write_alloc - prepare a reply that goes into a Reply chunk
 * @conn: the connection
 * @reply: the reply; may go after the return
 * @lists: with the Reply chunk as it was offered, of at most RPCRDMA_MAX_SEGMENTS_SENT
 *	segments, and not smaller than the reply
 *
 * Context: process, the transport's write lock is held.
 * Return: what xprtrdma_bc_write_post() takes, or NULL: memory is short.
 */
struct xprtrdma_bc_write *xprtrdma_bc_write_alloc(struct xprtrdma_conn *conn,
						  const struct xdr_buf *reply,
						  const struct rpcrdma_chunk_lists *lists)
{
	struct xprtrdma_bc_write *write;

	write = kzalloc(sizeof(*write), GFP_NOFS);
	if (!write)
		return NULL;
	write->conn = conn;
	write->cqe.done = write_wc;
	if (rpcrdma_buffer_init(&write->data, conn->xc_pd, reply->len, DMA_TO_DEVICE,
				GFP_NOFS) ||
	    read_bytes_from_xdr_buf(reply, 0, write->data.bf_data, reply->len)) {
		xprtrdma_bc_write_free(write);
		return NULL;
	}
	rpcrdma_buffer_to_device(&write->data, reply->len);
	write_build(write, lists);
	return write;
}

/**
 * xprtrdma_bc_write_post - write a reply into its Reply chunk
 * @write: the reply; the caller's still if -EAGAIN is returned
 *
 * Context: process, the transport's write lock is held.
 * Return: 0; -EAGAIN: the queue has no room, and xprt_write_space() will be called;
 * -ENOTCONN: the connection has failed.
 */
int xprtrdma_bc_write_post(struct xprtrdma_bc_write *write)
{
	struct xprtrdma_conn *conn = write->conn;
	struct ib_send_wr *first;
	int ret = -ENOTCONN;

	first = rpcrdma_transfers_chain(write->parts, write->count, &conn->xc_part_cqe,
					&write->cqe);
	spin_lock(&conn->xc_lock);
	if (write->count > conn->xc_bc_write.wrs) {
		spin_unlock(&conn->xc_lock);
		return -EAGAIN;
	}
	conn->xc_bc_write.wrs -= write->count;
	list_add_tail(&write->list, &conn->xc_bc_write.posted);
	if (trace_xprtrdma_transfer_enabled())
		xprtrdma_trace_transfers(conn, first);
	/* After BROKEN nobody posts, see xprtrdma_conn_destroy(). */
	if (conn->xc_state == RPCRDMA_CONN_ESTABLISHED)
		ret = ib_post_send(conn->xc_id->qp, first, NULL);
	spin_unlock(&conn->xc_lock);
	if (!ret)
		return 0;
	/* The last one was not posted, others may have been: hands off, until the drain. */
	trace_xprtrdma_post_failed(&conn->xc_transport->xt_xprt, ret);
	xprtrdma_conn_fail(conn, RPCRDMA_END_SEND_FAILED);
	return -ENOTCONN;
}

/**
 * xprtrdma_bc_writes_abort - free those that have no completion
 * @conn: a connection whose queue pair is drained
 *
 * Context: process, the transport's write lock is held.
 */
void xprtrdma_bc_writes_abort(struct xprtrdma_conn *conn)
{
	struct xprtrdma_bc_write *write, *next;

	list_for_each_entry_safe(write, next, &conn->xc_bc_write.posted, list) {
		list_del(&write->list);
		xprtrdma_bc_write_free(write);
	}
}
