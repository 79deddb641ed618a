// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Reverse direction (RFC 8167): the server calls, and we answer. This file has the transport's
 * operations for the reverse direction and the memory of the calls, and hands each call from its
 * Receive to the callback service of the NFS client. The reply of that service comes back through
 * ->send_request: bc_reply.c.
 *
 * Each call gets an rpc_rqst of this file, with pages for the call and its reply. The Read chunks
 * of the call are read into these pages (pull.c). Then the inline part is copied from the Receive
 * buffer to its places around them. A Reply chunk is kept for the reply. ERR_CHUNK is the answer to
 * a call whose chunks rpcrdma_plan_reverse_call() does not accept. It never accepts Write chunks,
 * since no result of a callback is DDP-eligible.
 *
 * A call that is being read belongs to its Receive, until it has been read, or until the regions
 * of a lost connection have been taken back.
 *
 * Credits are counted apart from those of the forward direction: we grant at most
 * XPRTRDMA_BC_SLOTS, and the queues have room for a Receive and a Send of each such call. The first
 * replies grant fewer (window.c). The server has a credit back when the reply is sent, a little
 * before the request is idle again. So there may be more requests than credits, up to BC_REQUESTS.
 */
#include <linux/delay.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc_xprt.h>

#include "connection.h"
#include "trace.h"

enum {
	BC_REQUESTS	= 2 * XPRTRDMA_BC_SLOTS,
	BC_STOP_SECONDS	= 2,
};

static void bc_request_free(struct xprtrdma_bc_request *request)
{
	free_page((unsigned long)request->call);
	free_page((unsigned long)request->reply);
	kfree(request);
}

static struct xprtrdma_bc_request *bc_request_alloc(struct rpc_xprt *xprt, gfp_t gfp)
{
	struct xprtrdma_bc_request *request = kzalloc(sizeof(*request), gfp);
	unsigned int i;

	if (!request)
		return NULL;
	request->call = (void *)__get_free_page(gfp);
	request->reply = (void *)__get_free_page(gfp);
	if (!request->call || !request->reply) {
		bc_request_free(request);
		return NULL;
	}
	for (i = 0; i < XPRTRDMA_BC_REPLY_PAGES; i++)
		request->overflow_pages[i] = virt_to_page(request->reply);
	INIT_LIST_HEAD(&request->registered.ml_mrs);
	request->rqst.rq_xprt = xprt;
	INIT_LIST_HEAD(&request->rqst.rq_bc_pa_list);
	__set_bit(RPC_BC_PA_IN_USE, &request->rqst.rq_bc_pa_state);
	return request;
}

/* Adds an idle request. Returns false if there are @limit requests already, or memory is short. */
static bool bc_request_add(struct xprtrdma_transport *transport, unsigned int limit, gfp_t gfp)
{
	struct rpc_xprt *xprt = &transport->xt_xprt;
	struct xprtrdma_bc_request *request = bc_request_alloc(xprt, gfp);
	bool added;

	if (!request)
		return false;
	spin_lock(&xprt->bc_pa_lock);
	added = transport->xt_bc_count < limit;
	if (added) {
		list_add_tail(&request->rqst.rq_bc_pa_list, &xprt->bc_pa_list);
		transport->xt_bc_count++;
	}
	spin_unlock(&xprt->bc_pa_lock);
	if (!added)
		bc_request_free(request);
	return added;
}

/**
 * xprtrdma_bc_setup - ->bc_setup: the consumer wants to be called
 * @xprt: the transport
 * @min_reqs: calls at a time for which there has to be memory
 *
 * This function allocates memory for as many calls as we grant credits, as far as memory allows. A
 * recall may come just when memory is short, and a completion handler must not wait for memory.
 *
 * From here on SUNRPC does not close an idle connection, since the server could not make another
 * one (RFC 8167 section 5.4).
 *
 * Context: process.
 * Return: 0 or -ENOMEM; either way xprtrdma_bc_destroy() frees the memory.
 */
int xprtrdma_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs)
{
	struct xprtrdma_transport *transport = xprtrdma_transport_of(xprt);
	bool enough;

	while (bc_request_add(transport, XPRTRDMA_BC_SLOTS, GFP_NOFS))
		;
	spin_lock(&xprt->bc_pa_lock);
	enough = transport->xt_bc_count >= clamp(min_reqs, 1U, (u32)XPRTRDMA_BC_SLOTS);
	if (enough) {
		WRITE_ONCE(transport->xt_bc_ready, true);
		xprt->idle_timeout = 0;
	}
	spin_unlock(&xprt->bc_pa_lock);
	return enough ? 0 : -ENOMEM;
}

/**
 * xprtrdma_bc_max_payload - ->bc_maxpayload: largest call and reply, bytes
 * @xprt: the transport
 *
 * Return: the size that the last connection allows; before the first connection, the size that
 * every connection allows.
 */
size_t xprtrdma_bc_max_payload(struct rpc_xprt *xprt)
{
	unsigned int max = READ_ONCE(xprtrdma_transport_of(xprt)->xt_bc_max_payload);

	return max ? max : RPCRDMA_INLINE_DEFAULT - RPCRDMA_MIN_HEADER_SIZE;
}

/**
 * xprtrdma_bc_connected - set the largest reverse-direction message for a new connection
 * @conn: the connection
 *
 * RFC 8167 section 4.2: the same buffers serve both directions. RFC 8267 section 6.5.2: a larger
 * size than these buffers have is announced only to a server that uses chunks for such messages.
 * Without chunks the size is at most a page, since a reply is encoded into a page.
 *
 * Context: the connect worker.
 */
void xprtrdma_bc_connected(const struct xprtrdma_conn *conn)
{
	unsigned int max = min(conn->xc_inline.inline_send, conn->xc_inline.inline_recv);

	max = min_t(unsigned int, max, PAGE_SIZE) - RPCRDMA_MIN_HEADER_SIZE;
	if (conn->xc_inline.reverse_chunks && conn->xc_read_depth)
		max = XPRTRDMA_BC_MAX_CALL;
	WRITE_ONCE(conn->xc_transport->xt_bc_max_payload, max);
}

/**
 * xprtrdma_bc_num_slots - ->bc_num_slots: number of calls that the server may have in flight
 * @xprt: the transport
 */
unsigned int xprtrdma_bc_num_slots(struct rpc_xprt *xprt)
{
	return XPRTRDMA_BC_SLOTS;
}

/*
 * Takes an idle request for a call that has come; bc_request_put() gives it back. Called by the
 * Receive CQ handler, which does not wait for memory. Returns NULL if the server has overrun its
 * credits, or if memory is short.
 */
static struct xprtrdma_bc_request *bc_request_get(struct xprtrdma_transport *transport)
{
	struct rpc_xprt *xprt = &transport->xt_xprt;
	struct rpc_rqst *rqst;

	/* The server may have a credit back while all requests are still in use: add a request. */
	do {
		spin_lock(&xprt->bc_pa_lock);
		rqst = list_first_entry_or_null(&xprt->bc_pa_list, struct rpc_rqst, rq_bc_pa_list);
		if (rqst)
			list_del_init(&rqst->rq_bc_pa_list);
		spin_unlock(&xprt->bc_pa_lock);
	} while (!rqst && bc_request_add(transport, BC_REQUESTS, GFP_NOWAIT | __GFP_NOWARN));
	return rqst ? xprtrdma_bc_request_of(rqst) : NULL;
}

/* Ends a call: frees its pages behind the first one, and makes its request idle. */
static void bc_request_put(struct xprtrdma_bc_request *request)
{
	struct rpc_xprt *xprt = request->rqst.rq_xprt;

	while (request->nr_pages)
		__free_page(request->pages[--request->nr_pages]);
	spin_lock(&xprt->bc_pa_lock);
	list_add_tail(&request->rqst.rq_bc_pa_list, &xprt->bc_pa_list);
	spin_unlock(&xprt->bc_pa_lock);
}

/**
 * xprtrdma_bc_free_rqst - ->bc_free_rqst: a call has been answered, or given up
 * @rqst: the call; its reference on the transport is dropped
 */
void xprtrdma_bc_free_rqst(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;

	bc_request_put(xprtrdma_bc_request_of(rqst));
	xprt_put(xprt);
}

/* Frees the idle requests. Returns the number of requests that are in use. */
static unsigned int free_idle(struct xprtrdma_transport *transport)
{
	struct rpc_xprt *xprt = &transport->xt_xprt;
	struct rpc_rqst *rqst, *next;
	unsigned int in_use;
	LIST_HEAD(idle);

	spin_lock(&xprt->bc_pa_lock);
	list_for_each_entry(rqst, &xprt->bc_pa_list, rq_bc_pa_list)
		transport->xt_bc_count--;
	in_use = transport->xt_bc_count;
	list_splice_init(&xprt->bc_pa_list, &idle);
	spin_unlock(&xprt->bc_pa_lock);
	list_for_each_entry_safe(rqst, next, &idle, rq_bc_pa_list)
		bc_request_free(xprtrdma_bc_request_of(rqst));
	return in_use;
}

/**
 * xprtrdma_bc_stop - stop handing calls to the callback service, and free the idle requests
 * @transport: the transport
 *
 * Requests that are in use come back to the list, and are freed later, at the latest when the
 * transport is destroyed.
 *
 * Context: process.
 */
void xprtrdma_bc_stop(struct xprtrdma_transport *transport)
{
	struct rpc_xprt *xprt = &transport->xt_xprt;

	spin_lock(&xprt->bc_pa_lock);
	WRITE_ONCE(transport->xt_bc_ready, false);
	xprt->idle_timeout = transport->xt_idle_timeout;
	spin_unlock(&xprt->bc_pa_lock);
	free_idle(transport);
}

/**
 * xprtrdma_bc_destroy - ->bc_destroy: the consumer takes no more calls
 * @xprt: the transport
 * @reqs: ignored
 *
 * The NFS client calls this before it stops its callback service, which may be freed at any time
 * after that. A stopped service never ends the calls that it has, and these keep their references
 * on the transport. So this function waits, while the service still runs, until these calls are
 * over. SUNRPC calls the function once more when the last reference on the transport is gone; the
 * service may have been freed by then.
 *
 * Context: process; waits for calls that have come, for some seconds at most.
 */
void xprtrdma_bc_destroy(struct rpc_xprt *xprt, unsigned int reqs)
{
	struct xprtrdma_transport *transport = xprtrdma_transport_of(xprt);
	unsigned long end = jiffies + BC_STOP_SECONDS * HZ;

	xprtrdma_bc_stop(transport);
	while (free_idle(transport) && time_before(jiffies, end))
		msleep(20);
}

/* ---- from the Receive to the callback service ---- */

/* Answers ERR_CHUNK to a call whose chunks this client does not take: RFC 8166 section 4.5.3. */
static void refuse_chunks(struct xprtrdma_receive *receive)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct xprtrdma_send *send = xprtrdma_send_get(conn);

	/* RFC 8166 section 4.5.4: if no answer can be sent, the connection has to end. */
	if (send)
		xprtrdma_bc_send_error(send, receive->rv_header.xid);
	else
		xprtrdma_conn_fail(conn, RPCRDMA_END_SEND_FAILED);
}

/*
 * Hands a call to the callback service. Drops the call if the consumer is not ready for calls (RFC
 * 8167 section 6), or takes no more, or if the transport is being destroyed.
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
		bc_request_put(request);
}

/* Makes room for a call of @length bytes: one page is the head, and further pages follow it. */
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
 * Copies the inline part of a call to its places around the Read chunks (RFC 8166 section 3.4.5).
 * Returns false if the parts do not fit together, although bc_plan() has checked that they do.
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

/* Keeps a call's Reply chunk, which the reply uses or returns unused (RFC 8166 section 4.3.3). */
static void bc_request_keep_chunk(struct xprtrdma_bc_request *request,
				  const struct rpcrdma_chunk_lists *call)
{
	const struct rpcrdma_chunk *chunk = rpcrdma_reply_chunk(call);
	u32 i;

	rpcrdma_lists_init(&request->lists, request->segments, ARRAY_SIZE(request->segments),
			   &request->chunk, 1);
	if (!chunk)
		return;
	rpcrdma_lists_begin_reply(&request->lists);
	for (i = 0; i < chunk->count; i++)
		rpcrdma_lists_add_segment(&request->lists, call->segments[chunk->first + i]);
}

/* Sets a request up for a call of @length bytes. Returns false if memory is short. */
static bool bc_request_begin(struct xprtrdma_bc_request *request,
			     const struct xprtrdma_receive *receive, u32 length)
{
	struct rpc_rqst *rqst = &request->rqst;

	if (!bc_request_size(request, length))
		return false;
	request->serial = receive->rv_conn->xc_serial;
	rqst->rq_xid = cpu_to_be32(receive->rv_header.xid);
	rqst->rq_reply_bytes_recvd = 0;
	rqst->rq_bytes_sent = 0;
	xdr_buf_init(&rqst->rq_snd_buf, request->reply, PAGE_SIZE);
	rqst->rq_snd_buf.pages = request->overflow_pages;
	bc_request_keep_chunk(request, &receive->rv_lists);
	return true;
}

static enum rpcrdma_reverse_call bc_plan(const struct xprtrdma_receive *receive, u32 *length)
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
	/* The server uses the reverse direction: make Receives for all credits, then grant them. */
	if (unlikely(READ_ONCE(conn->xc_growth.reverse) != XPRTRDMA_BC_SLOTS)) {
		spin_lock(&conn->xc_lock);
		xprtrdma_window_request_buffers(conn, XPRTRDMA_WANTS_REVERSE);
		spin_unlock(&conn->xc_lock);
	}
	if (verdict == RPCRDMA_REVERSE_REFUSE) {
		refuse_chunks(receive);
		goto out;
	}
	if (!READ_ONCE(conn->xc_transport->xt_bc_ready))
		goto out;
	request = bc_request_get(conn->xc_transport);
	if (!request)
		goto out_overflow;
	if (!bc_request_begin(request, receive, length)) {
		bc_request_put(request);
		goto out_overflow;
	}
	if (verdict == RPCRDMA_REVERSE_READ) {
		receive->rv_rqst = &request->rqst;
		receive->rv_registered = &request->registered;
		request->registered.ml_receive = receive;
		xprtrdma_pull(receive);
		return;
	}
	if (bc_request_fill(request, receive)) {
		enqueue(xprt, request);
	} else {
		bc_request_put(request);
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

/*
 * Is a message that was read from the server a call (RFC 8167 section 5.1), with the same XID as in
 * the transport header (RFC 8166 section 4.5.2)?
 */
static bool bc_request_is_call(const struct xprtrdma_bc_request *request)
{
	const struct rpc_rqst *rqst = &request->rqst;

	return *(__be32 *)request->call == rqst->rq_xid &&
	       rpcrdma_message_direction(request->call, rqst->rq_rcv_buf.head[0].iov_len) ==
		       RPCRDMA_RPC_CALL;
}

/**
 * xprtrdma_bc_pulled - the Read chunks of a call have been read
 * @receive: the message; consumed
 * @status: bytes of the call; -ENOTCONN when the connection was lost, and its regions were taken
 *	back; or another errno when the Read chunks are beyond our bounds
 *
 * Context: the Send CQ handler, or process.
 */
void xprtrdma_bc_pulled(struct xprtrdma_receive *receive, int status)
{
	struct xprtrdma_bc_request *request = xprtrdma_bc_request_of(receive->rv_rqst);
	struct xprtrdma_conn *conn = receive->rv_conn;

	if (status == -ENOTCONN) {
		xprtrdma_frwr_recycle(&request->registered);
		bc_request_put(request);
	} else if (status >= 0 && bc_request_fill(request, receive) &&
		   bc_request_is_call(request)) {
		/* The inline part was not filled in earlier, since the pages were mapped. */
		enqueue(&conn->xc_transport->xt_xprt, request);
	} else {
		bc_request_put(request);
		refuse_chunks(receive);
	}
	xprtrdma_receive_put(receive);
}
