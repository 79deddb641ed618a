// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of the server (RFC 8167), from the Receive to the callback service.
 *
 * Where we can, and the server lets us, what a call has in Read chunks is read into the
 * pages of its request first (pull.c), around what came inline. Everything else with chunks
 * gets ERR_CHUNK: Write chunks, since no result of a callback is DDP-eligible, and what is
 * beyond the bounds in rpcrdma_plan_reverse_call(). A Reply chunk is kept for the reply.
 *
 * A call that is being read belongs to its Receive; when that is broken off it is orphaned,
 * with its pages, until the regions are taken back.
 */
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc_xprt.h>

#include "bc.h"
#include "trace.h"

/* RFC 8166 section 4.5.3: chunks that we cannot, or will not, do anything with. */
static void refuse_chunks(struct xprtrdma_receive *receive)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct xprtrdma_send *send = xprtrdma_send_get(conn);

	/* RFC 8166 section 4.5.4: no answer can be sent, so no connection. */
	if (send)
		xprtrdma_bc_send_error(send, receive->rv_header.xid);
	else
		xprtrdma_conn_fail(conn, RPCRDMA_END_SEND_FAILED);
}

/*
 * Hands a call to the callback service, unless the consumer is not ready for one (RFC
 * 8167 section 6), or not any more, or the transport is on its way out.
 */
static void enqueue(struct rpc_xprt *xprt, struct xprtrdma_bc_request *request)
{
	bool taken = false;

	spin_lock(&xprt->bc_pa_lock);
	if (xprtrdma_transport_of(xprt)->xt_bc_ready && xprt->bc_serv && xprt_get(xprt)) {
		atomic_inc(&xprt->bc_slot_count);
		compat_bc_enqueue(xprt->bc_serv, &request->rqst);
		taken = true;
	}
	spin_unlock(&xprt->bc_pa_lock);
	if (!taken)
		xprtrdma_bc_request_put(request);
}

/* Room for a call of @length bytes: a page as the head, and as many as it takes behind. */
static bool bc_request_size(struct xprtrdma_bc_request *request, u32 length)
{
	struct xdr_buf *call = &request->rqst.rq_rcv_buf;
	u32 head = min_t(u32, length, PAGE_SIZE);
	struct page *page;

	while (request->nr_pages < PFN_UP(length - head)) {
		/* Reclaim may wait for replies, which come by this handler. */
		page = alloc_page(GFP_NOWAIT | __GFP_NOWARN);
		if (!page)
			return false;
		request->pages[request->nr_pages++] = page;
	}
	xdr_buf_init(call, request->call, head);
	call->pages = request->pages;
	call->page_len = length - head;
	call->buflen = length;
	call->len = length;
	request->rqst.rq_private_buf.len = length;
	return true;
}

/*
 * What came inline goes to its places around the Read chunks (RFC 8166 section 3.4.5). They
 * fit together: see bc_plan(). False: they do not.
 */
static bool bc_request_fill(struct xprtrdma_bc_request *request,
			    const struct xprtrdma_receive *receive)
{
	void *base = receive->rv_buffer.bf_data + receive->rv_header.size;
	struct xdr_buf *call = &request->rqst.rq_rcv_buf;
	struct rpcrdma_pieces walk;
	struct rpcrdma_piece piece;
	__be32 zero = 0;
	void *from;

	rpcrdma_pieces_start(&walk, &receive->rv_lists,
			     receive->rv_length - receive->rv_header.size, call->len);
	while (rpcrdma_pieces_next(&walk, &piece) > 0) {
		if (piece.source == RPCRDMA_PIECE_CHUNK)
			continue;
		from = piece.source == RPCRDMA_PIECE_PAD ? &zero : base + piece.from;
		if (write_bytes_to_xdr_buf(call, piece.to, from, piece.length))
			return false;
	}
	return true;
}

/* Header, and room. */
static bool bc_request_begin(struct xprtrdma_bc_request *request,
			     const struct xprtrdma_receive *receive, u32 length)
{
	const struct rpcrdma_chunk_lists *lists = &receive->rv_lists;
	const struct rpcrdma_chunk *reply = rpcrdma_reply_chunk(lists);
	struct rpc_rqst *rqst = &request->rqst;

	if (!bc_request_size(request, length))
		return false;
	request->serial = receive->rv_conn->xc_serial;
	rqst->rq_xid = cpu_to_be32(receive->rv_header.xid);
	rqst->rq_reply_bytes_recvd = 0;
	rqst->rq_bytes_sent = 0;
	xdr_buf_init(&rqst->rq_snd_buf, request->reply, PAGE_SIZE);
	rqst->rq_snd_buf.pages = request->overflow_pages;

	request->has_reply_chunk = reply;
	request->nr_segments = reply ? reply->count : 0;
	if (reply)
		memcpy(request->segments, &lists->segments[reply->first],
		       reply->count * sizeof(request->segments[0]));
	return true;
}

static enum rpcrdma_reverse_call bc_plan(const struct xprtrdma_receive *receive,
					 u32 *length)
{
	const struct xprtrdma_conn *conn = receive->rv_conn;
	const struct rpcrdma_reverse_bounds bounds = {
		.max_call	= XPRTRDMA_BC_MAX_CALL,
		.may_read	= conn->xc_read_depth,
		.may_write	= conn->xc_may_pull,
	};

	return rpcrdma_plan_reverse_call(&receive->rv_lists,
					 receive->rv_length - receive->rv_header.size,
					 &bounds, length);
}

/* The server uses the reverse direction: it is to have all credits for that. */
static void want_more(struct xprtrdma_conn *conn)
{
	if (likely(READ_ONCE(conn->xc_growth.reverse) == XPRTRDMA_BC_SLOTS))
		return;
	spin_lock(&conn->xc_lock);
	xprtrdma_window_request_buffers(conn, XPRTRDMA_WANTS_REVERSE);
	spin_unlock(&conn->xc_lock);
}

/**
 * xprtrdma_bc_receive - a reverse-direction call has arrived
 * @receive: the message; consumed
 *
 * Context: the Receive CQ handler.
 */
void xprtrdma_bc_receive(struct xprtrdma_receive *receive)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct rpc_xprt *xprt = &conn->xc_transport->xt_xprt;
	enum rpcrdma_reverse_call verdict;
	struct xprtrdma_bc_request *request;
	u32 length;

	verdict = bc_plan(receive, &length);
	trace_xprtrdma_bc_call(xprt, receive->rv_header.xid, length);
	RPCRDMA_COUNT(conn->xc_transport->xt_counters.calls_reverse, 1);
	want_more(conn);
	if (verdict == RPCRDMA_REVERSE_REFUSE) {
		refuse_chunks(receive);
		goto out;
	}
	if (!READ_ONCE(conn->xc_transport->xt_bc_ready))
		goto out;
	request = xprtrdma_bc_request_get(conn->xc_transport);
	if (!request)
		goto out_overflow;
	if (!bc_request_begin(request, receive, length)) {
		xprtrdma_bc_request_put(request);
		goto out_overflow;
	}
	if (verdict == RPCRDMA_REVERSE_READ) {
		receive->rv_rqst = &request->rqst;
		receive->rv_registered = &request->registered;
		request->registered.ml_receive = receive;
		xprtrdma_pull_call(receive);
		return;
	}
	if (bc_request_fill(request, receive)) {
		enqueue(xprt, request);
	} else {
		xprtrdma_bc_request_put(request);
		refuse_chunks(receive);
	}
	goto out;

out_overflow:
	/* The server overran its credits, or memory is short. */
	trace_xprtrdma_bc_overflow(xprt, receive->rv_header.xid, length);
	xprtrdma_conn_fail(conn, RPCRDMA_END_BAD_MESSAGE);
out:
	xprtrdma_receive_put(receive);
}

/* RFC 8166 section 4.5.2, RFC 8167 section 5.1: nobody has looked at it until now. */
static bool bc_request_is_call(const struct xprtrdma_bc_request *request)
{
	const struct rpc_rqst *rqst = &request->rqst;

	return *(__be32 *)request->call == rqst->rq_xid &&
	       rpcrdma_message_direction(request->call, rqst->rq_rcv_buf.head[0].iov_len) ==
		       RPCRDMA_RPC_CALL;
}

/**
 * xprtrdma_bc_init - no call has come yet
 * @conn: all zeros
 *
 * Context: any.
 */
void xprtrdma_bc_init(struct xprtrdma_conn *conn)
{
	INIT_LIST_HEAD(&conn->xc_bc.orphaned);
}

/* Its pages are the HCA's until the connection is taken down, if it has regions. */
static void bc_request_orphan(struct xprtrdma_conn *conn, struct xprtrdma_bc_request *request)
{
	spin_lock(&conn->xc_lock);
	list_add(&request->rqst.rq_bc_pa_list, &conn->xc_bc.orphaned);
	spin_unlock(&conn->xc_lock);
}

/**
 * xprtrdma_bc_pulled - the Read chunks of a call have been read
 * @receive: the message; consumed
 * @status: -ENOTCONN when the connection was lost; another errno: they are beyond our bounds
 *
 * Context: the Send CQ handler, or process.
 */
void xprtrdma_bc_pulled(struct xprtrdma_receive *receive, int status)
{
	struct rpc_xprt *xprt = &receive->rv_conn->xc_transport->xt_xprt;
	struct xprtrdma_bc_request *request = xprtrdma_bc_request_of(receive->rv_rqst);

	if (status == -ENOTCONN) {
		bc_request_orphan(receive->rv_conn, request);
	} else if (status < 0) {
		xprtrdma_bc_request_put(request);
		refuse_chunks(receive);
	} else {
		/* Not before: the pages were mapped. */
		if (bc_request_fill(request, receive) && bc_request_is_call(request)) {
			enqueue(xprt, request);
		} else {
			xprtrdma_bc_request_put(request);
			refuse_chunks(receive);
		}
	}
	xprtrdma_receive_put(receive);
}

/**
 * xprtrdma_bc_released - the regions of all calls have been taken back
 * @conn: a connection that is being taken down
 *
 * Context: process, the transport's write lock is held.
 */
void xprtrdma_bc_released(struct xprtrdma_conn *conn)
{
	struct rpc_rqst *rqst, *next;

	list_for_each_entry_safe(rqst, next, &conn->xc_bc.orphaned, rq_bc_pa_list) {
		list_del_init(&rqst->rq_bc_pa_list);
		xprtrdma_frwr_recycle(&xprtrdma_bc_request_of(rqst)->registered);
		xprtrdma_bc_request_put(xprtrdma_bc_request_of(rqst));
	}
}
