// SPDX-License-Identifier: GPL-2.0
/*
 * From a received message to the end of an RPC.
 *
 * Operation, in the Receive CQ handler: decode the header; find the RPC by its XID and pin
 * it; check that the peer returned no more than was offered; fence the RPC's memory, by
 * the invalidation that came with the Send, and LOCAL_INV for what that left; then copy
 * the inline part into the RPC's buffers, complete and unpin it, and give the Receive buffer and
 * the call's credit back. If a LOCAL_INV is needed, the second half runs when it has completed. A
 * reply that the server exposes is read in between, see pull.c. Where a message is on this way is
 * its rv_state.
 *
 * Ownership: ml_receive and rv_rqst point at each other from the pin to the unpin, which
 * happens exactly once: in reply_unpin(). While an RPC is pinned its task cannot be
 * released, so its buffers stay.
 *
 * Errors: a header that is not right is dropped (RFC 8166 section 4.5), as if it had not
 * come; the RPC stays, with its memory and its credit, and goes out again on the next
 * connection when its time is up. RDMA_ERROR ends the RPC with EIO.
 */
#include "connection.h"
#include "request.h"
#include "trace.h"

/* The transport that a message came for, as trace events want it */
static struct rpc_xprt *receive_xprt(const struct xprtrdma_receive *receive)
{
	return &receive->rv_conn->xc_transport->xt_xprt;
}

/* @status: an enum rpcrdma_status, or an errno. */
static void note_bad(const struct xprtrdma_receive *receive, int status)
{
	RPCRDMA_COUNT(receive->rv_conn->xc_transport->xt_stats.bad_reply_count, 1);
	trace_xprtrdma_bad_reply(receive_xprt(receive), &receive->rv_header,
				 receive->rv_length, status);
}

static void drop(struct xprtrdma_receive *receive, enum rpcrdma_status status)
{
	note_bad(receive, status);
	xprtrdma_receive_put(receive);
}

/* ---- the end ---- */

/*
 * A reply gives its call's credit back. Not before its Receive buffer is back: the server
 * may use the credit at once.
 */
static void credit_return(struct xprtrdma_receive *receive)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	int ret;

	spin_lock(&conn->xc_lock);
	ret = xprtrdma_receive_return(receive);
	rpcrdma_window_release(&conn->xc_window);
	conn->xc_replies++;
	spin_unlock(&conn->xc_lock);
	if (ret)
		xprtrdma_conn_fail(conn, RPCRDMA_END_RECEIVE_FAILED);
	xprt_write_space(&conn->xc_transport->xt_xprt);
}

/**
 * enum reply_outcome - what becomes of an RPC when its message is over
 * @REPLY_TAKEN: the reply is in its buffers
 * @REPLY_NONE: this was no reply; it waits for one, as before
 * @REPLY_LOST: there will be none on this connection; it goes out on the next one
 * @REPLY_FAILED: it ends with EIO
 * @REPLY_AGAIN: it is to be sent again, with memory for a large reply
 */
enum reply_outcome { REPLY_TAKEN, REPLY_NONE, REPLY_LOST, REPLY_FAILED, REPLY_AGAIN };

/* @length: bytes of the RPC reply, if it was answered */
static void reply_unpin(struct xprtrdma_receive *receive, enum reply_outcome outcome, u32 length)
{
	struct rpc_xprt *xprt = &receive->rv_conn->xc_transport->xt_xprt;
	struct xprtrdma_request *request = receive->rv_request;
	struct rpc_rqst *rqst = receive->rv_rqst;

	spin_lock(&xprt->queue_lock);
	request->rq_registered.ml_receive = NULL;
	/* No other reply ends the RPC, unless this was none, until it has been sent again. */
	if (outcome != REPLY_NONE)
		WRITE_ONCE(request->rq_sent_on, 0);
	if (outcome == REPLY_TAKEN) {
		request->rq_answered = true;
		xprt_complete_rqst(rqst->rq_task, length);
	} else if (outcome == REPLY_FAILED) {
		WRITE_ONCE(request->rq_refused, RPCRDMA_REFUSED);
		rpcrdma_refusal_tell(rqst);
	} else if (outcome == REPLY_AGAIN) {
		/* With a Reply chunk, then. */
		request->rq_again = true;
		WRITE_ONCE(request->rq_refused, RPCRDMA_REFUSED_ONCE);
		rpcrdma_refusal_tell(rqst);
	}
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
	receive->rv_rqst = NULL;
	receive->rv_registered = NULL;
}

/* @receive is not the caller's any more. */
static void reply_end(struct xprtrdma_receive *receive, enum reply_outcome outcome, u32 length)
{
	reply_unpin(receive, outcome, length);
	credit_return(receive);
}

/* ---- into the RPC's buffers ---- */

/*
 * The consumer's decoder moves what does not stand where it should into the tail, for which
 * there are @room bytes, and takes buflen for all that there is.
 */
static void set_lengths(struct xdr_buf *buf, u32 head, u32 pages, u32 tail, u32 room)
{
	buf->head[0].iov_len = head;
	buf->page_len = pages;
	buf->tail[0].iov_len = tail;
	buf->buflen = head + pages + room;
}

/*
 * Where the server put an item into the Write chunk, @item bytes of it are in the pages
 * already. What came inline, @length bytes, is what stands before the item, and
 * behind it. The item starts where the consumer expects it, at the end of the head, or
 * at the end of all if the rest is shorter than that.
 */
static int place_reduced(struct xdr_buf *buf, const void *from, u32 length, u32 item)
{
	u32 head = min_t(u32, length, buf->head[0].iov_len);
	u32 room = buf->tail[0].iov_len;
	u32 pad = xdr_pad_size(item);
	u32 rest = length - head;

	if (pad + rest > room)
		return -EMSGSIZE;
	if (from != buf->head[0].iov_base)
		memcpy(buf->head[0].iov_base, from, head);
	if (pad + rest)
		memmove(buf->tail[0].iov_base + pad, from + head, rest);
	memset(buf->tail[0].iov_base, 0, pad);
	set_lengths(buf, head, item, pad + rest, room);
	return head + item + pad + rest;
}

/*
 * RFC 8166 section 6.1: the item was to go into the Write chunk. It is here where there is
 * more than the rest can be. The consumer has made its buffers for the verifier of an earlier
 * reply: where this one's is longer, the rest may be longer by as much. Optional results that are
 * missing leave their place to the item; the consumer finds it there.
 */
static bool item_is_inline(const struct rpc_rqst *rqst, const void *from, u32 length)
{
	u32 expected = rqst->rq_cred->cr_auth->au_ralign * RPCRDMA_XDR_UNIT;
	const struct xdr_buf *buf = &rqst->rq_rcv_buf;
	u32 verifier = rpcrdma_reply_verifier(from, length);
	u32 excess = verifier > expected ? verifier - expected : 0;

	return length > buf->head[0].iov_len + buf->tail[0].iov_len + excess;
}

/* What was moved by RDMA. The last one of the shapes counts. */
static void count_moved(const struct xprtrdma_receive *receive, u32 length,
			enum rpcrdma_shape shape)
{
	struct xprtrdma_request *request = receive->rv_request;
	struct xprtrdma_transport *transport = receive->rv_conn->xc_transport;

	RPCRDMA_COUNT(transport->xt_stats.total_rdma_reply, length);
	if (shape != RPCRDMA_SHAPE_EXPOSED)
		rpcrdma_count_shared(&transport->xt_counters.bytes_written, length);
	request->rq_shape = max_t(u8, request->rq_shape, shape);
}

/* What came in the Write chunk, in bytes */
static u32 item_of(const struct xprtrdma_receive *receive)
{
	const struct rpcrdma_chunk *write = rpcrdma_write_chunk(&receive->rv_lists, 0);

	if (!write || !write->length)
		return 0;
	count_moved(receive, write->length, RPCRDMA_SHAPE_WRITE);
	return write->length;
}

/* All of the reply but its item is in this message. Returns its length, or < 0. */
static int copy_inline(struct xprtrdma_receive *receive)
{
	struct xprtrdma_stats *stats = &receive->rv_conn->xc_transport->xt_stats;
	void *from = receive->rv_buffer.bf_data + receive->rv_header.size;
	u32 length = receive->rv_length - receive->rv_header.size;
	struct rpc_rqst *rqst = receive->rv_rqst;
	struct xdr_buf *buf = &rqst->rq_rcv_buf;
	u32 item = item_of(receive);

	if (item)
		return place_reduced(buf, from, length, item);
	if (receive->rv_request->rq_write_capacity && item_is_inline(rqst, from, length))
		return -EPROTO;
	if (length <= buf->head[0].iov_len) {
		memcpy(buf->head[0].iov_base, from, length);
		return length;
	}
	/* More than the consumer can take is its decoder's problem. */
	length = min_t(u32, length, buf->buflen);
	if (write_bytes_to_xdr_buf(buf, 0, from, length))
		return -EMSGSIZE;
	RPCRDMA_COUNT(stats->fixup_copy_count, length - buf->head[0].iov_len);
	return length;
}

/*
 * The Reply chunk is the RPC's own buffer. Only when a Write chunk was offered beside it,
 * head and tail were exposed without the pages between them.
 */
static int place_reply_chunk(struct xprtrdma_receive *receive, u32 item, u32 length)
{
	struct xdr_buf *buf = &receive->rv_rqst->rq_rcv_buf;
	u32 head = buf->head[0].iov_len, room = buf->tail[0].iov_len;

	if (!receive->rv_request->rq_write_capacity)
		return length;
	if (!item) {
		set_lengths(buf, head, 0, room, room);
		return length;
	}
	if (length <= head)
		return place_reduced(buf, buf->head[0].iov_base, length, item);
	if (xdr_pad_size(item) + length - head > room)
		return -EMSGSIZE;
	memmove(buf->tail[0].iov_base + xdr_pad_size(item), buf->tail[0].iov_base,
		length - head);
	memset(buf->tail[0].iov_base, 0, xdr_pad_size(item));
	set_lengths(buf, head, item, xdr_pad_size(item) + length - head, room);
	return head + item + buf->tail[0].iov_len;
}

/*
 * A Long message, which is in the RPC's buffers already. Returns its length in rq_rcv_buf, or < 0.
 * @pulled: bytes read; 0: it is in the Reply chunk.
 */
static int place_long(struct xprtrdma_receive *receive, u32 pulled)
{
	u32 item = item_of(receive);
	u32 length = pulled ?: rpcrdma_reply_chunk(&receive->rv_lists)->length;

	count_moved(receive, length, pulled ? RPCRDMA_SHAPE_EXPOSED : RPCRDMA_SHAPE_REPLY_CHUNK);
	if (pulled && !item)
		return length;
	return place_reply_chunk(receive, item, length);
}

/* ---- from the pin to the unpin ---- */

/* Would it have fitted inline? The next call of its kind offers memory, or does not. */
static void learn(const struct xprtrdma_receive *receive, u32 length)
{
	const struct xprtrdma_request *request = receive->rv_request;
	struct xprtrdma_conn *conn = receive->rv_conn;

	rpcrdma_note_reply(&conn->xc_transport->xt_history, request->rq_procedure,
			   length > conn->xc_inline.inline_recv - RPCRDMA_MIN_HEADER_SIZE);
}

/* @length: bytes of the reply; < 0: it cannot be delivered, for the trace; the RPC fails. */
static void reply_copied(struct xprtrdma_receive *receive, int length)
{
	struct rpcrdma_counters *counters = &receive->rv_conn->xc_transport->xt_counters;
	struct xprtrdma_request *request = receive->rv_request;
	struct rpc_rqst *rqst = receive->rv_rqst;

	if (unlikely(length < 0)) {
		note_bad(receive, length);
		reply_end(receive, REPLY_FAILED, 0);
		return;
	}
	if (request->rq_by_history)
		learn(receive, length);
	rpcrdma_count_shared(&counters->calls[request->rq_shape], 1);
	/* SUNRPC has looked at the clock when it found the RPC. */
	rpcrdma_count_shared(&counters->latency[rpcrdma_latency(rqst->rq_rtt)], 1);
	/* SUNRPC wants both to be the same. */
	rqst->rq_private_buf = rqst->rq_rcv_buf;
	reply_end(receive, REPLY_TAKEN, length);
}

/*
 * A server at its bounds, to which a large reply was left, has answered ERR_CHUNK: once
 * more, and the next call of this kind, with memory. Any other error is final.
 */
static void reply_error(struct xprtrdma_receive *receive)
{
	const struct xprtrdma_request *request = receive->rv_request;
	struct rpcrdma_counters *counters = &receive->rv_conn->xc_transport->xt_counters;
	u32 error = receive->rv_header.error;
	bool again = request->rq_left_open && !request->rq_again && error == RPCRDMA_ERR_CHUNK;

	rpcrdma_count_shared(error == RPCRDMA_ERR_VERS ? &counters->errors_received_vers :
			     &counters->errors_received_chunk, 1);
	trace_xprtrdma_error(receive_xprt(receive), &receive->rv_header);
	if (request->rq_by_history)
		learn(receive, U32_MAX);
	reply_end(receive, again ? REPLY_AGAIN : REPLY_FAILED, 0);
}

/* The RPC's memory is ours alone now. */
static void reply_complete(struct xprtrdma_receive *receive)
{
	if (receive->rv_registered->ml_conn)
		xprtrdma_frwr_recycle(receive->rv_registered);
	if (receive->rv_header.proc == RPCRDMA_MSG)
		reply_copied(receive, copy_inline(receive));
	else if (receive->rv_header.proc == RPCRDMA_ERROR)
		reply_error(receive);
	else if (receive->rv_exposed)
		xprtrdma_pull(receive);
	else
		reply_copied(receive, place_long(receive, 0));
}

/**
 * xprtrdma_reply_invalidated - the LOCAL_INVs of a message are done
 * @receive: a reply, or what was read for it, or a reverse-direction call
 * @ok: false when they failed or were flushed; then an RPC ends without an answer,
 *	its memory is fenced by the end of the connection, and it is sent again
 *
 * Context: the Send CQ handler, or the Receive CQ handler when the post failed.
 */
void xprtrdma_reply_invalidated(struct xprtrdma_receive *receive, bool ok)
{
	if (receive->rv_state == XPRTRDMA_MESSAGE_READ_INVALIDATING) {
		xprtrdma_pull_invalidated(receive, ok);
		return;
	}
	xprtrdma_receive_advance(receive, XPRTRDMA_MESSAGE_HANDLED);
	if (ok)
		reply_complete(receive);
	else
		reply_end(receive, REPLY_LOST, 0);
}

/* What was read: does it begin as the reply to this RPC has to? */
static bool is_reply_to(const struct rpc_rqst *rqst)
{
	__be32 words[2];

	return !read_bytes_from_xdr_buf(&rqst->rq_rcv_buf, 0, words, sizeof(words)) &&
	       words[0] == rqst->rq_xid && words[1] == rpc_reply;
}

/**
 * xprtrdma_reply_pulled - a reply has been read from the server
 * @receive: the message that said where it is
 * @status: bytes of it; -ENOTCONN when the connection was lost; or another errno: it is
 *	no reply to this RPC, or there is none
 *
 * Context: the Send CQ handler, or process.
 */
void xprtrdma_reply_pulled(struct xprtrdma_receive *receive, int status)
{
	/* A message that nobody waits for gives a credit back. */
	if (!receive->rv_rqst) {
		credit_return(receive);
		return;
	}
	if (status == -ENOTCONN) {
		reply_end(receive, REPLY_LOST, 0);
		return;
	}
	if (status > 0 && !is_reply_to(receive->rv_rqst))
		status = -EBADMSG;
	reply_copied(receive, status < 0 ? status : place_long(receive, status));
}

/* ---- from the message to the pin ---- */

/* Did the server return what was offered, and no more? An error returns nothing. */
static bool reply_matches(const struct xprtrdma_receive *receive)
{
	const struct xprtrdma_request *request = receive->rv_request;
	const struct rpcrdma_chunk_lists *lists = &receive->rv_lists;
	const struct rpcrdma_chunk *write = rpcrdma_write_chunk(lists, 0);
	const struct rpcrdma_chunk *reply = rpcrdma_reply_chunk(lists);

	/* RFC 8166 section 4.3.1: no Read list in a reply, unless both agreed on it. */
	if ((lists->nr_read && !receive->rv_exposed) || lists->nr_write > 1)
		return false;
	if (write && write->length > request->rq_write_capacity)
		return false;
	if (reply && reply->length > request->rq_reply_capacity)
		return false;
	if (receive->rv_exposed)
		return !reply || !reply->length;
	if (receive->rv_header.proc == RPCRDMA_NOMSG)
		return reply && reply->length;
	return true;
}

/*
 * Set when the post is over, and with its lock: the reply may be quicker than that, and its handler
 * waits for the lock.
 */
static bool was_sent_meanwhile(const struct xprtrdma_request *request, struct xprtrdma_conn *conn)
{
	bool sent;

	spin_lock(&conn->xc_lock);
	sent = request->rq_sent_on == conn->xc_serial;
	spin_unlock(&conn->xc_lock);
	return sent;
}

/* Finds the RPC, and pins it. False: an unknown XID, or one that is being answered. */
static bool reply_pin(struct xprtrdma_receive *receive)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct rpc_xprt *xprt = &conn->xc_transport->xt_xprt;
	struct xprtrdma_request *request;
	struct rpc_rqst *rqst;
	bool pinned = false;

	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(receive->rv_header.xid));
	if (!rqst)
		goto out;
	request = xprtrdma_request_of(rqst);
	/* It is on the wire, on this connection. Pairs with xprtrdma_send_call(). */
	if (smp_load_acquire(&request->rq_sent_on) != conn->xc_serial &&
	    !was_sent_meanwhile(request, conn))
		goto out;
	if (request->rq_registered.ml_receive || request->rq_refused)
		goto out;
	xprt_pin_rqst(rqst);
	request->rq_registered.ml_receive = receive;
	receive->rv_rqst = rqst;
	receive->rv_request = request;
	receive->rv_registered = &request->rq_registered;
	pinned = true;
out:
	spin_unlock(&xprt->queue_lock);
	return pinned;
}

/*
 * RFC 8797 section 4.1: a message invalidates an R_key of the RPC that it ends, or none. What
 * else it has taken may be of any other RPC, so the connection ends.
 */
static void foreign_rkey(const struct xprtrdma_receive *receive, const struct ib_wc *wc)
{
	struct xprtrdma_conn *conn = receive->rv_conn;

	trace_xprtrdma_bad_rkey(receive_xprt(receive), receive->rv_header.xid,
				wc->ex.invalidate_rkey);
	RPCRDMA_COUNT(conn->xc_transport->xt_stats.bad_reply_count, 1);
	xprtrdma_conn_fail(conn, RPCRDMA_END_BAD_MESSAGE);
}

/* To the question of ccp.c, which SUNRPC does not know of. Its credit comes back in any case. */
static bool handle_ccp(struct xprtrdma_receive *receive, const struct ib_wc *wc)
{
	struct xprtrdma_conn *conn = receive->rv_conn;

	if (!xprtrdma_ccp_receive(receive))
		return false;
	/* The question has exposed no memory. */
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE)
		foreign_rkey(receive, wc);
	xprtrdma_window_grant(conn, &receive->rv_header);
	credit_return(receive);
	xprtrdma_ccp_done(&conn->xc_ccp);
	return true;
}

/* Is this message for a call that has ended without a reply? Each is for one of them. */
static bool forget_lost_call(const struct xprtrdma_receive *receive)
{
	struct xprtrdma_transport *transport = receive->rv_conn->xc_transport;
	struct rpc_xprt *xprt = &transport->xt_xprt;
	bool lost;

	spin_lock(&xprt->transport_lock);
	lost = transport->xt_lost_on == receive->rv_conn->xc_serial && transport->xt_lost;
	if (lost) {
		transport->xt_lost--;
		transport->xt_lost_since = jiffies;
	}
	spin_unlock(&xprt->transport_lock);
	return lost;
}

/*
 * Nobody waits for it: its task was killed, or it is no reply of ours. RFC 8167 section
 * 4.1: only of an RDMA_MSG it is certain that it was a reply to one of our calls, and of
 * what is to be read from the server. Other messages give back the credit of a call that has
 * ended without an answer, and grant nothing.
 */
static void handle_unknown(struct xprtrdma_receive *receive)
{
	bool certain = receive->rv_exposed || receive->rv_header.proc == RPCRDMA_MSG;
	bool lost = forget_lost_call(receive);

	trace_xprtrdma_unknown_xid(receive_xprt(receive), receive->rv_header.xid);
	RPCRDMA_COUNT(receive->rv_conn->xc_transport->xt_counters.bad_messages, 1);
	if (certain)
		xprtrdma_window_grant(receive->rv_conn, &receive->rv_header);
	/* Reliable-reply draft, section 4.1.3. */
	if (receive->rv_exposed)
		xprtrdma_pull_refuse(receive);
	else if (certain || lost)
		credit_return(receive);
	else
		xprtrdma_receive_put(receive);
}

static void handle_mismatch(struct xprtrdma_receive *receive)
{
	note_bad(receive, RPCRDMA_OK);
	if (receive->rv_exposed) {
		xprtrdma_window_grant(receive->rv_conn, &receive->rv_header);
		reply_unpin(receive, REPLY_FAILED, 0);
		xprtrdma_pull_refuse(receive);
	} else {
		/* It may be no reply at all: RFC 8167 section 4.1. */
		reply_unpin(receive, REPLY_NONE, 0);
		xprtrdma_receive_put(receive);
	}
}

static void handle_reply(struct xprtrdma_receive *receive, const struct ib_wc *wc)
{
	struct xprtrdma_conn *conn = receive->rv_conn;

	/* Before SUNRPC, which would count it as a reply without a call. */
	if (unlikely(xprtrdma_ccp_asked(&conn->xc_ccp)) && handle_ccp(receive, wc))
		return;
	if (!reply_pin(receive)) {
		handle_unknown(receive);
		return;
	}
	WRITE_ONCE(conn->xc_useful, true);
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE &&
	    !xprtrdma_frwr_reminv(receive->rv_registered, wc->ex.invalidate_rkey)) {
		foreign_rkey(receive, wc);
		reply_end(receive, REPLY_LOST, 0);
		return;
	}
	if (!reply_matches(receive)) {
		handle_mismatch(receive);
		return;
	}
	xprtrdma_window_grant(conn, &receive->rv_header);
	/* Without the lock: only the one that has pinned the RPC takes regions off. */
	if (list_empty(&receive->rv_registered->ml_mrs)) {
		reply_complete(receive);
		return;
	}
	xprtrdma_receive_advance(receive, XPRTRDMA_MESSAGE_INVALIDATING);
	xprtrdma_frwr_unmap_async(receive->rv_registered);
}

/* A call of the server's, which ends no RPC of ours */
static void handle_call(struct xprtrdma_receive *receive, const struct ib_wc *wc)
{
	if (!(wc->wc_flags & IB_WC_WITH_INVALIDATE)) {
		xprtrdma_bc_receive(receive);
		return;
	}
	foreign_rkey(receive, wc);
	xprtrdma_receive_put(receive);
}

/*
 * What is exposed: on a connection where both have agreed on it, that is what an RDMA_NOMSG with
 * nothing but a Position Zero Read chunk in its Read list means, unless it wants a reply. Any other
 * RDMA_NOMSG with a Read list can only be a call: RFC 8166 section 4.3.1. Returns -1 for what is
 * neither call nor reply.
 */
static int message_direction(struct xprtrdma_receive *receive)
{
	const struct rpcrdma_header *header = &receive->rv_header;

	receive->rv_exposed = header->proc == RPCRDMA_NOMSG &&
			      receive->rv_conn->xc_inline.read_chunk_replies &&
			      rpcrdma_is_pulled_reply(&receive->rv_lists);
	switch (header->proc) {
	case RPCRDMA_MSG:
		return rpcrdma_message_direction(receive->rv_buffer.bf_data + header->size,
						 receive->rv_length - header->size);
	case RPCRDMA_NOMSG:
		return receive->rv_lists.nr_read && !receive->rv_exposed ?
		       RPCRDMA_RPC_CALL : RPCRDMA_RPC_REPLY;
	case RPCRDMA_ERROR:
		return RPCRDMA_RPC_REPLY;
	default:
		/* RFC 8166 section 4.6: RDMA_MSGP and RDMA_DONE are discarded. */
		return -1;
	}
}

/**
 * xprtrdma_reply_wc - a message has arrived
 * @cq: the Receive CQ
 * @wc: completion of a Receive
 *
 * Context: the Receive CQ handler.
 */
void xprtrdma_reply_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprtrdma_receive *receive =
		container_of(wc->wr_cqe, struct xprtrdma_receive, rv_cqe);
	struct xprtrdma_conn *conn = receive->rv_conn;
	enum rpcrdma_status status;

	if (wc->status != IB_WC_SUCCESS) {
		xprtrdma_conn_fail_wc(conn, "recv", wc, RPCRDMA_END_RECEIVE_FAILED);
		return;
	}
	xprtrdma_receive_advance(receive, XPRTRDMA_MESSAGE_HANDLED);
	receive->rv_length = wc->byte_len;
	RPCRDMA_COUNT(conn->xc_transport->xt_counters.bytes_received_inline, wc->byte_len);
	rpcrdma_buffer_to_cpu(&receive->rv_buffer, wc->byte_len);
	if (trace_xprtrdma_message_enabled())
		xprtrdma_trace_message(conn, receive->rv_buffer.bf_data, wc->byte_len, wc);

	status = rpcrdma_header_decode(receive->rv_buffer.bf_data, receive->rv_length,
				       &receive->rv_header, &receive->rv_lists);
	if (status != RPCRDMA_OK) {
		drop(receive, status);
		return;
	}
	switch (message_direction(receive)) {
	case RPCRDMA_RPC_REPLY:
		handle_reply(receive, wc);
		break;
	case RPCRDMA_RPC_CALL:
		handle_call(receive, wc);
		break;
	default:
		drop(receive, RPCRDMA_BAD_PROC);
	}
}
