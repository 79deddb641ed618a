// SPDX-License-Identifier: GPL-2.0
/*
 * Reverse direction (RFC 8167): the server calls, we answer.
 *
 * A call is copied out of its Receive buffer into a page of an rpc_rqst that is made for
 * the purpose, and handed to the NFS client's callback service. The service's reply comes
 * back through ->send_request. Both fit inline: we announce no larger payload, and answer
 * a call with chunks by ERR_CHUNK (section 5.3). Credits are counted apart from those of
 * the forward direction: at most XPRTRDMA_BC_SLOTS calls, each of which has a Receive and
 * a Send of its own in the queue sizes.
 */
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc_xprt.h>

#include "xprtrdma.h"
#include "trace.h"

/**
 * struct bc_request - a reverse-direction call
 * @rqst: what the callback service sees
 * @serial: xc_serial of the connection that it came on
 * @call: a page
 * @reply: a page
 */
struct bc_request {
	struct rpc_rqst	rqst;
	u64		serial;
	void		*call;
	void		*reply;
};

static void bc_request_free(struct bc_request *request)
{
	free_page((unsigned long)request->call);
	free_page((unsigned long)request->reply);
	kfree(request);
}

static struct bc_request *bc_request_alloc(struct rpc_xprt *xprt)
{
	struct bc_request *request = kzalloc(sizeof(*request), GFP_NOFS);

	if (!request)
		return NULL;
	request->call = (void *)__get_free_page(GFP_NOFS);
	request->reply = (void *)__get_free_page(GFP_NOFS);
	if (!request->call || !request->reply) {
		bc_request_free(request);
		return NULL;
	}
	request->rqst.rq_xprt = xprt;
	INIT_LIST_HEAD(&request->rqst.rq_bc_pa_list);
	__set_bit(RPC_BC_PA_IN_USE, &request->rqst.rq_bc_pa_state);
	return request;
}

/**
 * xprtrdma_bc_setup - ->bc_setup: the consumer wants to be called
 * @xprt: the transport
 * @min_reqs: ignored: what is needed is allocated with the first calls
 */
int xprtrdma_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs)
{
	spin_lock(&xprt->bc_pa_lock);
	xprtrdma_transport_of(xprt)->xt_bc_ready = true;
	spin_unlock(&xprt->bc_pa_lock);
	return 0;
}

/**
 * xprtrdma_bc_max_payload - ->bc_maxpayload: largest call and reply, bytes
 * @xprt: the transport
 *
 * Return: what was negotiated on the last connection, or what any connection allows.
 */
size_t xprtrdma_bc_max_payload(struct rpc_xprt *xprt)
{
	unsigned int max = READ_ONCE(xprtrdma_transport_of(xprt)->xt_bc_max_payload);

	return max ? max : RPCRDMA_INLINE_DEFAULT - RPCRDMA_MIN_HEADER_SIZE;
}

/**
 * xprtrdma_bc_connected - there is a new connection
 * @conn: the connection
 *
 * RFC 8167 section 4.2: the same buffers serve both directions. A call and its reply are
 * copied into a page each.
 *
 * Context: the connect worker.
 */
void xprtrdma_bc_connected(const struct xprtrdma_conn *conn)
{
	unsigned int max = min(conn->xc_inline.inline_send, conn->xc_inline.inline_recv);

	WRITE_ONCE(conn->xc_transport->xt_bc_max_payload,
		   min_t(unsigned int, max, PAGE_SIZE) - RPCRDMA_MIN_HEADER_SIZE);
}

/**
 * xprtrdma_bc_num_slots - ->bc_num_slots: calls at a time
 * @xprt: the transport
 */
unsigned int xprtrdma_bc_num_slots(struct rpc_xprt *xprt)
{
	return XPRTRDMA_BC_SLOTS;
}

/**
 * xprtrdma_bc_free_rqst - ->bc_free_rqst: a call has been answered, or given up
 * @rqst: the call; the reference on the transport taken for it is dropped
 */
void xprtrdma_bc_free_rqst(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;

	spin_lock(&xprt->bc_pa_lock);
	list_add_tail(&rqst->rq_bc_pa_list, &xprt->bc_pa_list);
	spin_unlock(&xprt->bc_pa_lock);
	xprt_put(xprt);
}

/**
 * xprtrdma_bc_destroy - ->bc_destroy: no more calls for the consumer
 * @xprt: the transport
 * @reqs: ignored; those in use come back to the list and are freed with the transport
 *
 * The NFS client calls this before it stops its callback service, and the service may be
 * freed any time after.
 */
void xprtrdma_bc_destroy(struct rpc_xprt *xprt, unsigned int reqs)
{
	struct xprtrdma_transport *transport = xprtrdma_transport_of(xprt);
	struct rpc_rqst *rqst, *next;
	LIST_HEAD(idle);

	spin_lock(&xprt->bc_pa_lock);
	transport->xt_bc_ready = false;
	list_for_each_entry(rqst, &xprt->bc_pa_list, rq_bc_pa_list)
		transport->xt_bc_count--;
	list_splice_init(&xprt->bc_pa_list, &idle);
	spin_unlock(&xprt->bc_pa_lock);
	list_for_each_entry_safe(rqst, next, &idle, rq_bc_pa_list)
		bc_request_free(container_of(rqst, struct bc_request, rqst));
}

static struct bc_request *bc_request_get(struct xprtrdma_transport *transport)
{
	struct rpc_xprt *xprt = &transport->xt_xprt;
	struct bc_request *request;
	struct rpc_rqst *rqst;
	bool full = false;

	spin_lock(&xprt->bc_pa_lock);
	rqst = list_first_entry_or_null(&xprt->bc_pa_list, struct rpc_rqst,
					rq_bc_pa_list);
	if (rqst)
		list_del_init(&rqst->rq_bc_pa_list);
	else if (transport->xt_bc_count == XPRTRDMA_BC_SLOTS)
		full = true;
	else
		transport->xt_bc_count++;
	spin_unlock(&xprt->bc_pa_lock);

	if (rqst)
		return container_of(rqst, struct bc_request, rqst);
	if (full)
		return NULL;
	request = bc_request_alloc(xprt);
	if (!request) {
		spin_lock(&xprt->bc_pa_lock);
		transport->xt_bc_count--;
		spin_unlock(&xprt->bc_pa_lock);
	}
	return request;
}

/* RFC 8167 section 5.3: chunks are not supported in this direction. */
static void refuse_chunks(struct xprtrdma_receive *receive)
{
	const struct rpcrdma_header *header = &receive->rv_header;
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct xprtrdma_send *send = xprtrdma_send_get(conn);
	u32 length;

	if (!send) {
		/* RFC 8166 section 4.5.4: no answer can be sent, so no connection. */
		xprtrdma_conn_fail(conn);
		return;
	}
	length = rpcrdma_error_encode(header->xid, header->vers, XPRTRDMA_BC_SLOTS,
				      RPCRDMA_ERR_CHUNK, send->sd_buffer);
	xprtrdma_send_post(send, length, NULL);
}

/*
 * Hands a call to the callback service, unless the consumer is not ready for one (RFC
 * 8167 section 6), or not any more, or the transport is on its way out.
 */
static void enqueue(struct rpc_xprt *xprt, struct rpc_rqst *rqst)
{
	spin_lock(&xprt->bc_pa_lock);
	if (xprtrdma_transport_of(xprt)->xt_bc_ready && xprt->bc_serv && xprt_get(xprt)) {
		atomic_inc(&xprt->bc_slot_count);
		compat_bc_enqueue(xprt->bc_serv, rqst);
	} else {
		list_add_tail(&rqst->rq_bc_pa_list, &xprt->bc_pa_list);
	}
	spin_unlock(&xprt->bc_pa_lock);
}

static void bc_request_fill(struct bc_request *request,
			    const struct xprtrdma_receive *receive, u32 length)
{
	struct rpc_rqst *rqst = &request->rqst;
	struct xdr_buf *call = &rqst->rq_rcv_buf;

	memcpy(request->call, receive->rv_buffer + receive->rv_header.size, length);
	request->serial = receive->rv_conn->xc_serial;
	rqst->rq_xid = cpu_to_be32(receive->rv_header.xid);

	rqst->rq_reply_bytes_recvd = 0;
	rqst->rq_bytes_sent = 0;
	xdr_buf_init(call, request->call, length);
	call->len = length;
	rqst->rq_private_buf.len = length;
	xdr_buf_init(&rqst->rq_snd_buf, request->reply, PAGE_SIZE);
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
	const struct rpcrdma_chunk_lists *lists = &receive->rv_lists;
	struct rpc_xprt *xprt = &conn->xc_transport->xt_xprt;
	u32 length = receive->rv_length - receive->rv_header.size;
	struct bc_request *request;

	trace_xprtrdma_bc_call(xprt, receive->rv_header.xid, length);
	if (lists->nr_read + lists->nr_write + lists->nr_reply) {
		refuse_chunks(receive);
		goto out;
	}
	if (!READ_ONCE(conn->xc_transport->xt_bc_ready) || length > PAGE_SIZE)
		goto out;
	request = bc_request_get(conn->xc_transport);
	if (!request) {
		/* The server overran its credits, or memory is short. */
		trace_xprtrdma_bc_overflow(xprt, receive->rv_header.xid, length);
		xprtrdma_conn_fail(conn);
		goto out;
	}
	bc_request_fill(request, receive, length);
	enqueue(xprt, &request->rqst);
out:
	xprtrdma_receive_put(receive);
}

static struct xprtrdma_send *send_get_or_wait(struct rpc_xprt *xprt,
					      struct xprtrdma_conn *conn)
{
	struct xprtrdma_send *send = xprtrdma_send_get(conn);

	if (send)
		return send;
	/* A completion may have come before there was anybody to wake. */
	xprt_wait_for_buffer_space(xprt);
	send = xprtrdma_send_get(conn);
	if (send)
		xprt_write_space(xprt);
	return send;
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
		.credits	= XPRTRDMA_BC_SLOTS,
		.proc		= RPCRDMA_MSG,
	};
	struct xdr_buf *reply = &rqst->rq_snd_buf;
	struct xprtrdma_send *send;

	/* RFC 8167 section 5.4: not on another connection than the call's. */
	if (container_of(rqst, struct bc_request, rqst)->serial != conn->xc_serial)
		return -ENOTCONN;
	if (RPCRDMA_MIN_HEADER_SIZE + reply->len > conn->xc_inline.inline_send)
		return -EMSGSIZE;
	send = send_get_or_wait(rqst->rq_xprt, conn);
	if (!send)
		return -EAGAIN;
	if (rpcrdma_header_encode(&header, NULL, send->sd_buffer,
				  conn->xc_send_size) != RPCRDMA_OK ||
	    read_bytes_from_xdr_buf(reply, 0, send->sd_buffer + header.size,
				    reply->len)) {
		xprtrdma_send_put(send);
		return -EIO;
	}
	trace_xprtrdma_bc_reply(rqst->rq_xprt, header.xid, reply->len);
	return xprtrdma_send_post(send, header.size + reply->len, NULL);
}
