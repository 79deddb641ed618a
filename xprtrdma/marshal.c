// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Marshalling: a call is made into a message in a Send buffer.
 *
 * rpcrdma_plan_call() decides from sizes alone which chunk moves which part of call and reply. This
 * file collects the sizes, maps memory regions as the plan says, and fills the Send buffer: the
 * header first, then that part of the RPC message which goes inline.
 */
#include <linux/hash.h>
#include <linux/sunrpc/auth.h>

#include "connection.h"
#include "request.h"
#include "trace.h"

enum { CALL_SEGMENTS = 3 * RPCRDMA_MAX_SEGMENTS_SENT, CALL_CHUNKS = 4 };

/*
 * Allocates the missing pages of a sparse reply buffer: NFSACL and xattrs leave some pages out. A
 * registration needs every page, and so does a copy from a Receive buffer.
 */
static int fill_sparse_pages(struct xdr_buf *buf)
{
	unsigned int count = PFN_UP(buf->page_base + buf->page_len);
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (buf->pages[i])
			continue;
		buf->pages[i] = alloc_page(GFP_NOWAIT | __GFP_NOWARN);
		if (!buf->pages[i])
			return -ENOBUFS;
	}
	return 0;
}

/* Is the reply likely to be large? This matters with servers that can expose replies. */
static bool expects_large(const struct xprtrdma_conn *conn, struct rpc_rqst *rqst)
{
	struct xprtrdma_request *request = xprtrdma_request_of(rqst);

	request->rq_procedure = hash_ptr(rqst->rq_task->tk_msg.rpc_proc, 32);
	return request->rq_again ||
	       rpcrdma_expect_large(&conn->xc_transport->xt_history, request->rq_procedure);
}

/* Describes the parts of call and reply that chunks may move. */
static void describe_chunks(const struct xprtrdma_conn *conn, struct rpc_rqst *rqst,
			    struct rpcrdma_call_shape *shape)
{
	const struct xdr_buf *call = &rqst->rq_snd_buf;
	const struct xdr_buf *reply = &rqst->rq_rcv_buf;

	shape->call_segments = xprtrdma_frwr_segments(conn, call, XPRTRDMA_ALL);
	shape->reply_segments = xprtrdma_frwr_segments(conn, reply, XPRTRDMA_ALL);
	/* RFC 8166 section 8.2.2.3: nothing is reduced under GSS integrity or privacy. */
	shape->may_reduce = !test_bit(RPCAUTH_AUTH_DATATOUCH, &rqst->rq_cred->cr_auth->au_flags);
	if (call->flags & XDRBUF_WRITE && call->page_len) {
		shape->call_position = call->head[0].iov_len;
		shape->call_item_length = call->page_len;
		shape->call_item_segments = xprtrdma_frwr_segments(conn, call, XPRTRDMA_PAGES);
	}
	if (reply->flags & XDRBUF_READ && reply->page_len) {
		shape->reply_item_length = reply->page_len;
		shape->reply_item_segments = xprtrdma_frwr_segments(conn, reply, XPRTRDMA_PAGES);
	}
	/* If the server takes no RDMA Read, a reply that it exposes cannot be read. */
	shape->reply_pullable = conn->xc_inline.read_chunk_replies && conn->xc_read_depth;
	if (shape->reply_pullable)
		shape->expect_large = expects_large(conn, rqst);
}

/* If call and reply are Short Messages, there is no need to look at what chunks could move. */
static bool make_plan(const struct xprtrdma_conn *conn, struct rpc_rqst *rqst,
		      struct rpcrdma_call_plan *plan)
{
	struct rpcrdma_call_shape shape = {
		.call_length	= rqst->rq_snd_buf.len,
		.reply_length	= rqst->rq_rcv_buf.buflen,
		.inline_send	= conn->xc_inline.inline_send,
		.inline_recv	= conn->xc_inline.inline_recv,
	};

	if (rpcrdma_plan_short(&shape, plan))
		return true;
	describe_chunks(conn, rqst, &shape);
	return rpcrdma_plan_call(&shape, plan);
}

/*
 * The chunks of this function and of map_reply() can always be begun: the plan has checked the
 * Position, @lists has room for all chunks of a plan, and they are begun in the order of the lists.
 */
static int map_call(struct xprtrdma_conn *conn, struct rpc_rqst *rqst,
		    const struct rpcrdma_call_plan *plan,
		    struct rpcrdma_chunk_lists *lists)
{
	struct xprtrdma_stats *stats = &conn->xc_transport->xt_stats;
	struct xprtrdma_request *request = xprtrdma_request_of(rqst);
	u32 position;
	int ret;

	request->rq_shape =
		plan->position_zero ? RPCRDMA_SHAPE_LONG : RPCRDMA_SHAPE_READ;
	position = plan->position_zero ? 0 : rqst->rq_snd_buf.head[0].iov_len;
	rpcrdma_lists_begin_read(lists, position);
	ret = xprtrdma_frwr_map_chunk(conn, &request->rq_registered, &rqst->rq_snd_buf,
				      plan->position_zero ? XPRTRDMA_ALL : XPRTRDMA_PAGES,
				      false, lists);
	if (ret < 0)
		return ret;
	RPCRDMA_COUNT(stats->read_chunk_count, ret);
	RPCRDMA_COUNT(stats->total_rdma_request, lists->chunks[0].length);
	if (plan->position_zero)
		RPCRDMA_COUNT(stats->nomsg_call_count, 1);
	return 0;
}

static int map_reply(struct xprtrdma_conn *conn, struct rpc_rqst *rqst,
		     const struct rpcrdma_call_plan *plan,
		     struct rpcrdma_chunk_lists *lists)
{
	struct xprtrdma_stats *stats = &conn->xc_transport->xt_stats;
	struct xprtrdma_request *request = xprtrdma_request_of(rqst);
	int ret;

	if (plan->write_chunk) {
		rpcrdma_lists_begin_write(lists);
		ret = xprtrdma_frwr_map_chunk(conn, &request->rq_registered, &rqst->rq_rcv_buf,
					      XPRTRDMA_PAGES, true, lists);
		if (ret < 0)
			return ret;
		RPCRDMA_COUNT(stats->write_chunk_count, ret);
		request->rq_write_capacity = rpcrdma_write_chunk(lists, 0)->length;
	}
	if (plan->reply_chunk) {
		rpcrdma_lists_begin_reply(lists);
		/* If the server claims to have written more than it has, SUNRPC decodes zeros. */
		memset(rqst->rq_rbuffer, 0, rqst->rq_rcvsize);
		/* The Write chunk has the pages already, and no page is exposed twice. */
		ret = xprtrdma_frwr_map_chunk(conn, &request->rq_registered, &rqst->rq_rcv_buf,
					      plan->write_chunk ? XPRTRDMA_KVECS : XPRTRDMA_ALL,
					      true, lists);
		if (ret < 0)
			return ret;
		RPCRDMA_COUNT(stats->reply_chunk_count, ret);
		request->rq_reply_capacity = rpcrdma_reply_chunk(lists)->length;
	}
	return 0;
}

/*
 * Copies a call without the item in its pages and without that item's padding (RFC 8166 section
 * 3.4.4.4). Returns the length of the copy in bytes, or a negative errno.
 */
static int copy_reduced(const struct xdr_buf *call, void *to)
{
	unsigned int head = call->head[0].iov_len;
	unsigned int item = xdr_align_size(call->page_len);
	unsigned int rest;

	if (head + item > call->len)
		return -EIO;
	rest = call->len - head - item;
	memcpy(to, call->head[0].iov_base, head);
	if (rest && read_bytes_from_xdr_buf(call, head + item, to + head, rest))
		return -EIO;
	return head + rest;
}

/* Copies the inline part of a call, as @plan says. Returns its length in bytes, or an errno. */
static int copy_inline(struct xprtrdma_conn *conn, const struct xdr_buf *call,
		       const struct rpcrdma_call_plan *plan, void *to)
{
	if (plan->position_zero)
		return 0;
	if (plan->read_chunk)
		return copy_reduced(call, to);
	if (call->head[0].iov_len == call->len) {
		memcpy(to, call->head[0].iov_base, call->len);
		return call->len;
	}
	RPCRDMA_COUNT(conn->xc_transport->xt_stats.pullup_copy_count, call->page_len);
	return read_bytes_from_xdr_buf(call, 0, to, call->len) ? -EIO : call->len;
}

/**
 * xprtrdma_marshal_call - build the message for a call
 * @send: gets the message; a buffer of the connection on which the call will be sent
 * @rqst: the call
 * @request: our part of @rqst
 *
 * Context: process, the transport's write lock is held.
 * Return: bytes in @send; or %-EAGAIN: memory regions are short; %-ENOBUFS: pages or mappings are
 * short, and the caller may try again after a delay; %-EMSGSIZE or %-EIO: this call can never be
 * sent. On failure the caller gives the regions of the request to xprtrdma_frwr_recycle().
 */
noinline_for_stack
int xprtrdma_marshal_call(struct xprtrdma_send *send, struct rpc_rqst *rqst,
			  struct xprtrdma_request *request)
{
	struct xprtrdma_conn *conn = send->sd_conn;
	struct rpcrdma_segment segments[CALL_SEGMENTS];
	struct rpcrdma_chunk chunks[CALL_CHUNKS];
	struct rpcrdma_chunk_lists lists = {
		.segments	= segments,
		.max_segments	= ARRAY_SIZE(segments),
		.chunks		= chunks,
		.max_chunks	= ARRAY_SIZE(chunks),
	};
	struct rpcrdma_header header = {
		.xid		= be32_to_cpu(rqst->rq_xid),
		.vers		= RPCRDMA_VERSION,
	};
	struct rpcrdma_call_plan plan;
	int ret = 0;

	if (rqst->rq_rcv_buf.flags & XDRBUF_SPARSE_PAGES)
		ret = fill_sparse_pages(&rqst->rq_rcv_buf);
	if (ret)
		return ret;
	if (!make_plan(conn, rqst, &plan))
		return -EMSGSIZE;
	request->rq_by_history = plan.by_history;
	request->rq_left_open = plan.left_open;
	request->rq_shape = RPCRDMA_SHAPE_INLINE;
	request->rq_write_capacity = 0;
	request->rq_reply_capacity = 0;
	if (plan.left_open)
		RPCRDMA_COUNT(xprtrdma_replies_open, 1);

	if (plan.position_zero || plan.read_chunk)
		ret = map_call(conn, rqst, &plan, &lists);
	if (!ret && (plan.write_chunk || plan.reply_chunk))
		ret = map_reply(conn, rqst, &plan, &lists);
	if (ret)
		return ret;
	/* The Send Queue has no entries for more registrations. */
	if (lists.nr_segments > conn->xc_queues.mrs_per_call)
		return -EMSGSIZE;

	header.credits = READ_ONCE(conn->xc_window.requested);
	header.proc = plan.position_zero ? RPCRDMA_NOMSG : RPCRDMA_MSG;
	if (rpcrdma_header_encode(&header, &lists, send->sd_buffer.bf_data,
				  conn->xc_inline.inline_send) != RPCRDMA_OK)
		return -EMSGSIZE;
	if (header.size + plan.inline_length > conn->xc_inline.inline_send)
		return -EMSGSIZE;
	ret = copy_inline(conn, &rqst->rq_snd_buf, &plan, send->sd_buffer.bf_data + header.size);
	if (ret < 0)
		return ret;
	trace_xprtrdma_marshal(rqst->rq_xprt, &header, ret, &lists);
	return header.size + ret;
}
