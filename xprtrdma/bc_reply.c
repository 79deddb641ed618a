// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Replies to calls of the server (RFC 8167). A reply that does not fit inline goes into the
 * Reply chunk of its call, if there is one (RFC 8166 section 4.3.3). If a reply fits neither way,
 * an ERR_CHUNK is sent.
 *
 * A reply for a Reply chunk is copied, so that the callback service has its pages back at once. One
 * RDMA Write is posted for each segment that gets a part of the reply, and only the last Write is
 * signalled. The Send of the RDMA_NOMSG follows in a post of its own, and the queue pair executes
 * it after the Writes.
 *
 * Owner of a struct bc_write: before the post, the task that sends the reply; from the post to the
 * completion, the HCA; after a post that has failed, xprtrdma_bc_write_abort().
 */
#include <linux/slab.h>

#include "connection.h"
#include "trace.h"

/**
 * struct bc_write - a reply that goes into a Reply chunk
 * @conn: the connection
 * @cqe: completion of the last RDMA Write
 * @data: copy of the reply
 * @count: number of @parts
 * @parts: the RDMA Writes
 */
struct bc_write {
	struct xprtrdma_conn	*conn;
	struct ib_cqe		cqe;
	struct rpcrdma_buffer	data;
	u32			count;
	struct rpcrdma_transfer	parts[RPCRDMA_MAX_SEGMENTS_SENT];
};

/* Frees a reply whose RDMA Writes were not posted, or are complete. */
static void bc_write_free(struct bc_write *write)
{
	rpcrdma_buffer_exit(&write->data);
	kfree(write);
}

static void write_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct bc_write *write = container_of(wc->wr_cqe, struct bc_write, cqe);
	struct xprtrdma_conn *conn = write->conn;

	if (wc->status != IB_WC_SUCCESS) {
		xprtrdma_conn_fail_wc(conn, "write", wc, RPCRDMA_END_SEND_FAILED);
	} else {
		rpcrdma_count_shared(&conn->xc_transport->xt_counters.bytes_written,
				     write->data.bf_size);
	}
	spin_lock(&conn->xc_lock);
	conn->xc_bc_write.wrs -= write->count;
	spin_unlock(&conn->xc_lock);
	bc_write_free(write);
	xprt_write_space(&conn->xc_transport->xt_xprt);
}

/* Makes the RDMA Writes. The Reply chunk has room for the reply; its empty segments are skipped. */
static void write_build(struct bc_write *write, const struct rpcrdma_chunk_lists *lists)
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

/*
 * Copies @reply, and makes the RDMA Writes into the Reply chunk of @lists, which has at most
 * RPCRDMA_MAX_SEGMENTS_SENT segments and room for the reply. Returns NULL if memory is short.
 */
static struct bc_write *bc_write_alloc(struct xprtrdma_conn *conn,
				       const struct xdr_buf *reply,
				       const struct rpcrdma_chunk_lists *lists)
{
	struct bc_write *write;

	write = kzalloc(sizeof(*write), GFP_NOFS);
	if (!write)
		return NULL;
	write->conn = conn;
	write->cqe.done = write_wc;
	if (rpcrdma_buffer_init(&write->data, conn->xc_pd, reply->len, DMA_TO_DEVICE,
				GFP_NOFS) ||
	    read_bytes_from_xdr_buf(reply, 0, write->data.bf_data, reply->len)) {
		bc_write_free(write);
		return NULL;
	}
	ib_dma_sync_single_for_device(conn->xc_id->device, write->data.bf_sge.addr, reply->len,
				      DMA_TO_DEVICE);
	write_build(write, lists);
	return write;
}

/*
 * Posts the RDMA Writes of a reply. Returns 0; -EAGAIN when the Send Queue has no room, upon which
 * the caller still owns @write, and a completion will call xprt_write_space(); or -ENOTCONN when
 * the connection has failed.
 */
static int bc_write_post(struct bc_write *write)
{
	struct xprtrdma_conn *conn = write->conn;
	struct ib_send_wr *first;
	int ret = -ENOTCONN;

	first = rpcrdma_transfers_chain(write->parts, write->count, &conn->xc_part_cqe,
					&write->cqe);
	spin_lock(&conn->xc_lock);
	if (conn->xc_bc_write.wrs + write->count > XPRTRDMA_BC_WRITES) {
		spin_unlock(&conn->xc_lock);
		return -EAGAIN;
	}
	conn->xc_bc_write.wrs += write->count;
	if (trace_xprtrdma_transfer_enabled())
		xprtrdma_trace_transfers(conn, first);
	/* In the state BROKEN nothing is posted, see xprtrdma_conn_destroy(). */
	if (conn->xc_state == RPCRDMA_CONN_ESTABLISHED)
		ret = ib_post_send(conn->xc_id->qp, first, NULL);
	/* Some of the Writes may have been posted, so @write is kept until the drain. */
	if (ret)
		conn->xc_bc_write.failed = write;
	spin_unlock(&conn->xc_lock);
	if (!ret)
		return 0;
	trace_xprtrdma_post_failed(&conn->xc_transport->xt_xprt, ret);
	xprtrdma_conn_fail(conn, RPCRDMA_END_SEND_FAILED);
	return -ENOTCONN;
}

/**
 * xprtrdma_bc_write_abort - free the reply whose post has failed, if there is one
 * @conn: a connection whose queue pair is drained
 *
 * Context: process, the transport's write lock is held.
 */
void xprtrdma_bc_write_abort(struct xprtrdma_conn *conn)
{
	if (conn->xc_bc_write.failed)
		bc_write_free(conn->xc_bc_write.failed);
}

/* ---- messages ---- */

/**
 * xprtrdma_bc_send_error - answer ERR_CHUNK to a call of the server
 * @send: Send buffer; consumed
 * @xid: XID of the call
 *
 * The chunks of the call cannot be used, or its reply fits nowhere (RFC 8166 section 4.5.3).
 *
 * Context: as xprtrdma_send_post().
 * Return: as xprtrdma_send_post().
 */
int xprtrdma_bc_send_error(struct xprtrdma_send *send, u32 xid)
{
	u32 credits = READ_ONCE(send->sd_conn->xc_growth.reverse);
	u32 length = rpcrdma_error_encode(xid, RPCRDMA_VERSION, credits, RPCRDMA_ERR_CHUNK,
					  send->sd_buffer.bf_data);

	rpcrdma_count_shared(&send->sd_conn->xc_transport->xt_counters.errors_sent_chunk, 1);
	return xprtrdma_send_post(send, length);
}

static int reply_encode(struct xprtrdma_send *send, struct rpcrdma_header *header,
			struct rpcrdma_chunk_lists *lists, const struct xdr_buf *reply)
{
	bool is_long = header->proc == RPCRDMA_NOMSG;
	struct rpcrdma_chunk *chunk = rpcrdma_reply_chunk(lists);
	u32 length = is_long ? 0 : reply->len;

	if (chunk && !rpcrdma_chunk_set_written(lists, chunk, is_long ? reply->len : 0))
		return -EIO;
	if (rpcrdma_header_encode(header, lists, send->sd_buffer.bf_data,
				  send->sd_conn->xc_send_size) != RPCRDMA_OK)
		return -EIO;
	if (read_bytes_from_xdr_buf(reply, 0, send->sd_buffer.bf_data + header->size, length))
		return -EIO;
	return header->size + length;
}

/* Writes a reply into the Reply chunk of its call. Returns -ENOBUFS, or as bc_write_post(). */
static int reply_write(struct xprtrdma_conn *conn, struct rpc_rqst *rqst,
		       const struct rpcrdma_chunk_lists *lists)
{
	struct bc_write *write = bc_write_alloc(conn, &rqst->rq_snd_buf, lists);
	int ret;

	/* SUNRPC sends the reply again after a delay. */
	if (!write)
		return -ENOBUFS;
	ret = bc_write_post(write);
	if (ret == -EAGAIN)
		bc_write_free(write);
	return ret;
}

/* Sends a reply. Returns as xprtrdma_bc_send(), but on -EAGAIN SUNRPC does not wait yet. */
static int reply_send(struct xprtrdma_conn *conn, struct rpc_rqst *rqst)
{
	struct rpcrdma_header header = {
		.xid		= be32_to_cpu(rqst->rq_xid),
		.vers		= RPCRDMA_VERSION,
		.credits	= READ_ONCE(conn->xc_growth.reverse),
		.proc		= RPCRDMA_MSG,
	};
	struct xprtrdma_bc_request *request = xprtrdma_bc_request_of(rqst);
	struct rpcrdma_chunk_lists *lists = &request->lists;
	struct xdr_buf *reply = &rqst->rq_snd_buf;
	bool fits = !reply->page_len;
	struct xprtrdma_send *send;
	int ret = 0;

	/* RFC 8167 section 5.4: a reply is sent only on the connection of its call. */
	if (request->serial != conn->xc_serial)
		return -ENOTCONN;
	switch (rpcrdma_plan_reply(rpcrdma_header_size(lists), reply->len,
				   conn->xc_inline.inline_send, rpcrdma_reply_chunk(lists))) {
	case RPCRDMA_REPLY_INLINE:
		break;
	case RPCRDMA_REPLY_CHUNK:
		header.proc = RPCRDMA_NOMSG;
		break;
	default:
		fits = false;
	}
	send = xprtrdma_send_get(conn);
	if (!send)
		return -EAGAIN;
	/* RFC 8166 section 4.5.3: this reply fits neither inline nor into a Reply chunk. */
	if (!fits)
		return xprtrdma_bc_send_error(send, header.xid);
	if (header.proc == RPCRDMA_NOMSG)
		ret = reply_write(conn, rqst, lists);
	if (!ret)
		ret = reply_encode(send, &header, lists, reply);
	/* The error goes to the server, since the task that sends may belong to another RPC. */
	if (ret == -EIO)
		return xprtrdma_bc_send_error(send, header.xid);
	if (ret < 0) {
		xprtrdma_send_put(send);
		return ret;
	}
	trace_xprtrdma_bc_reply(rqst->rq_xprt, header.xid, reply->len);
	return xprtrdma_send_post(send, ret);
}

/**
 * xprtrdma_bc_send - send the reply to a reverse-direction call
 * @conn: the connection
 * @rqst: the call, with the reply in rq_snd_buf
 *
 * Context: process, the transport's write lock is held.
 * Return: as xprtrdma_request_send().
 */
int xprtrdma_bc_send(struct xprtrdma_conn *conn, struct rpc_rqst *rqst)
{
	int ret = reply_send(conn, rqst);

	if (ret != -EAGAIN)
		return ret;
	/* A completion may have come just before SUNRPC waits, so try again after that. */
	xprtrdma_conn_waits(conn, XPRTRDMA_WAIT_SEND_QUEUE);
	xprt_wait_for_buffer_space(rqst->rq_xprt);
	ret = reply_send(conn, rqst);
	if (ret != -EAGAIN)
		xprt_write_space(rqst->rq_xprt);
	return ret;
}
