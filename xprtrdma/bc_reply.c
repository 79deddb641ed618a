// SPDX-License-Identifier: GPL-2.0
/*
 * Replies to calls of the server (RFC 8167). A reply that does not fit inline goes into the
 * Reply chunk of its call, if there is one (section 5.3; bc_write.c); one that has no place at all
 * is an ERR_CHUNK.
 */
#include "bc.h"
#include "trace.h"

/**
 * xprtrdma_bc_send_error - say that the chunks of a call are of no use
 * @send: Send buffer; consumed
 * @xid: of the call
 *
 * RFC 8166 section 4.5.3: ERR_CHUNK.
 *
 * Context: as xprtrdma_send_post().
 * Return: as xprtrdma_send_post().
 */
int xprtrdma_bc_send_error(struct xprtrdma_send *send, u32 xid)
{
	u32 length = rpcrdma_error_encode(xid, RPCRDMA_VERSION, XPRTRDMA_BC_SLOTS,
					  RPCRDMA_ERR_CHUNK, send->sd_buffer.bf_data);

	rpcrdma_count_shared(&send->sd_conn->xc_transport->xt_counters.errors_sent_chunk, 1);
	return xprtrdma_send_post(send, length);
}

static struct xprtrdma_send *send_get_or_wait(struct rpc_xprt *xprt,
					      struct xprtrdma_conn *conn)
{
	struct xprtrdma_send *send = xprtrdma_send_get(conn);

	if (send)
		return send;
	/* A completion may have come before there was anybody to wake. */
	WRITE_ONCE(conn->xc_wait, XPRTRDMA_WAIT_SEND_QUEUE);
	xprt_wait_for_buffer_space(xprt);
	send = xprtrdma_send_get(conn);
	if (send)
		xprt_write_space(xprt);
	return send;
}

/* Reply chunks to be used, or returned unused (RFC 8166 section 4.3.3). */
static void reply_lists_build(struct xprtrdma_bc_request *request,
			      struct rpcrdma_chunk_lists *lists)
{
	u32 i;

	if (!request->has_reply_chunk)
		return;
	rpcrdma_lists_begin_reply(lists);
	for (i = 0; i < request->nr_segments; i++)
		rpcrdma_lists_add_segment(lists, request->segments[i]);
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

static int write_or_wait(struct rpc_xprt *xprt, struct xprtrdma_conn *conn,
			 struct xprtrdma_bc_write *write)
{
	int ret = xprtrdma_bc_write_post(write);

	if (ret != -EAGAIN)
		return ret;
	/* As in send_get_or_wait(). */
	WRITE_ONCE(conn->xc_wait, XPRTRDMA_WAIT_SEND_QUEUE);
	xprt_wait_for_buffer_space(xprt);
	ret = xprtrdma_bc_write_post(write);
	if (ret == -EAGAIN)
		xprtrdma_bc_write_free(write);
	else
		xprt_write_space(xprt);
	return ret;
}

/* The reply goes into the Reply chunk. */
static int reply_write(struct xprtrdma_conn *conn, struct rpc_rqst *rqst,
		       const struct rpcrdma_chunk_lists *lists)
{
	struct xprtrdma_bc_write *write;

	write = xprtrdma_bc_write_alloc(conn, &rqst->rq_snd_buf, lists);
	/* SUNRPC tries again, some time later. */
	return write ? write_or_wait(rqst->rq_xprt, conn, write) : -ENOBUFS;
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
	struct rpcrdma_header header = {
		.xid		= be32_to_cpu(rqst->rq_xid),
		.vers		= RPCRDMA_VERSION,
		.credits	= READ_ONCE(conn->xc_growth.reverse),
		.proc		= RPCRDMA_MSG,
	};
	struct rpcrdma_segment segments[RPCRDMA_MAX_SEGMENTS_SENT];
	struct xprtrdma_bc_request *request = xprtrdma_bc_request_of(rqst);
	struct xdr_buf *reply = &rqst->rq_snd_buf;
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_chunk chunks[1];
	bool fits = !reply->page_len;
	struct xprtrdma_send *send;
	int ret = 0;

	/* RFC 8167 section 5.4: not on another connection than the call's. */
	if (request->serial != conn->xc_serial)
		return -ENOTCONN;
	rpcrdma_lists_init(&lists, segments, ARRAY_SIZE(segments), chunks,
			   ARRAY_SIZE(chunks));
	reply_lists_build(request, &lists);
	switch (rpcrdma_plan_reply(rpcrdma_header_size(&header, &lists), reply->len,
				   conn->xc_inline.inline_send,
				   rpcrdma_reply_chunk(&lists))) {
	case RPCRDMA_REPLY_INLINE:
		break;
	case RPCRDMA_REPLY_CHUNK:
		header.proc = RPCRDMA_NOMSG;
		break;
	default:
		fits = false;
	}
	send = send_get_or_wait(rqst->rq_xprt, conn);
	if (!send)
		return -EAGAIN;
	/* RFC 8166 section 4.5.3: there is no room for this reply. */
	if (!fits)
		return xprtrdma_bc_send_error(send, header.xid);
	if (header.proc == RPCRDMA_NOMSG)
		ret = reply_write(conn, rqst, &lists);
	if (!ret)
		ret = reply_encode(send, &header, &lists, reply);
	/* Not an error for the task that sends, which may be another's. */
	if (ret == -EIO)
		return xprtrdma_bc_send_error(send, header.xid);
	if (ret < 0) {
		xprtrdma_send_put(send);
		return ret;
	}
	trace_xprtrdma_bc_reply(rqst->rq_xprt, header.xid, reply->len);
	return xprtrdma_send_post(send, ret);
}
