// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Replies: a received message ends its RPC.
 *
 * Operation, in the Receive CQ handler: decode the header; find the RPC by its XID and pin
 * it; check that the peer returned no more than was offered; fence the RPC's memory, by the
 * remote invalidation that came with the message, and by LOCAL_INVs of the other regions; then
 * copy the inline part into the RPC's buffers, complete and unpin the RPC, and return the Receive
 * buffer and the call's credit. If LOCAL_INVs are needed, the steps after them run when the last
 * LOCAL_INV has completed. A reply that the server exposes is read after the fence, see pull.c.
 * The rv_state of a message says which of these steps it waits for.
 *
 * Ownership: ml_receive and rv_rqst point at each other from the pin to the unpin, which
 * happens exactly once: in reply_unpin(). While an RPC is pinned its task cannot be
 * released, so its buffers stay.
 *
 * Errors: a message whose header cannot be decoded is dropped (RFC 8166 section 4.5). The RPC
 * keeps its memory and its credit, and is sent again on the next connection when its timeout is
 * over. An RDMA_ERROR ends the RPC with EIO, except where reply_error() has the call sent again.
 */
#include "connection.h"
#include "request.h"
#include "trace.h"

/* Returns the rpc_xprt that a message came for, which the trace events need. */
static struct rpc_xprt *receive_xprt(const struct xprtrdma_receive *receive)
{
	return &receive->rv_conn->xc_transport->xt_xprt;
}

/* Counts and traces a bad message. @status: an enum rpcrdma_status, or an errno. */
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
 * A reply gives its call's credit back, but only after its Receive buffer, since the next call may
 * use the credit at once, and its reply needs a Receive.
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
 * enum reply_outcome - result of a message for the RPC that it has pinned
 * @REPLY_TAKEN: the RPC has its reply
 * @REPLY_NONE: the message was not a reply; the RPC still waits for one
 * @REPLY_LOST: the RPC gets no reply on this connection, and is sent again on the next one
 * @REPLY_FAILED: the RPC ends with EIO
 * @REPLY_AGAIN: the RPC is sent again, with memory for a large reply
 */
enum reply_outcome { REPLY_TAKEN, REPLY_NONE, REPLY_LOST, REPLY_FAILED, REPLY_AGAIN };

/* Ends the pin of an RPC. @length: bytes of the RPC reply, if @outcome is REPLY_TAKEN. */
static void reply_unpin(struct xprtrdma_receive *receive, enum reply_outcome outcome, u32 length)
{
	struct rpc_xprt *xprt = &receive->rv_conn->xc_transport->xt_xprt;
	struct xprtrdma_request *request = receive->rv_request;
	struct rpc_rqst *rqst = receive->rv_rqst;

	spin_lock(&xprt->queue_lock);
	request->rq_registered.ml_receive = NULL;
	/* Unless the RPC still waits, no message is its reply until it has been sent again. */
	if (outcome != REPLY_NONE)
		WRITE_ONCE(request->rq_sent_on, 0);
	if (outcome == REPLY_TAKEN) {
		request->rq_answered = true;
		xprt_complete_rqst(rqst->rq_task, length);
	} else if (outcome == REPLY_FAILED) {
		WRITE_ONCE(request->rq_refused, RPCRDMA_REFUSED);
		rpcrdma_refusal_tell(rqst);
	} else if (outcome == REPLY_AGAIN) {
		/* The call offers memory for its reply when it is sent again. */
		request->rq_again = true;
		WRITE_ONCE(request->rq_refused, RPCRDMA_REFUSED_ONCE);
		rpcrdma_refusal_tell(rqst);
	}
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
	receive->rv_rqst = NULL;
	receive->rv_registered = NULL;
}

/* Unpins the RPC, and returns its credit. The caller may not use @receive afterwards. */
static void reply_end(struct xprtrdma_receive *receive, enum reply_outcome outcome, u32 length)
{
	reply_unpin(receive, outcome, length);
	credit_return(receive);
}

/* ---- into the RPC's buffers ---- */

/*
 * The consumer's decoder may move data from another part of @buf into the tail, and takes buflen as
 * the size of all parts. So buflen counts all @room bytes that the tail has.
 */
static void set_lengths(struct xdr_buf *buf, u32 head, u32 pages, u32 tail, u32 room)
{
	buf->head[0].iov_len = head;
	buf->page_len = pages;
	buf->tail[0].iov_len = tail;
	buf->buflen = head + pages + room;
}

/*
 * Places a reply of which the server has written an item, @item bytes, into the pages by the Write
 * chunk. The rest of the reply has @length bytes at @from. Its start goes into the head, up to the
 * length that the consumer expects there, and its end into the tail, behind the padding of the
 * item. If @from is the head, the rest did not come inline, but is in head and tail already.
 * Returns the length of the whole reply, or -EMSGSIZE when the tail is too short.
 */
static int place_reduced(struct xdr_buf *buf, const void *from, u32 length, u32 item)
{
	bool in_place = from == buf->head[0].iov_base;
	u32 head = min_t(u32, length, buf->head[0].iov_len);
	u32 room = buf->tail[0].iov_len;
	u32 pad = xdr_pad_size(item);
	u32 rest = length - head;

	if (pad + rest > room)
		return -EMSGSIZE;
	if (!in_place)
		memcpy(buf->head[0].iov_base, from, head);
	if (pad + rest)
		memmove(buf->tail[0].iov_base + pad,
			in_place ? buf->tail[0].iov_base : from + head, rest);
	memset(buf->tail[0].iov_base, 0, pad);
	set_lengths(buf, head, item, pad + rest, room);
	return head + item + pad + rest;
}

/*
 * Has the server sent the item inline, although it had to use the Write chunk (RFC 8166 section
 * 6.1)? Yes, if the inline part is longer than the reply without the item can be. The consumer has
 * sized its buffers for the verifier of an earlier reply; a longer verifier allows a longer inline
 * part. If optional results are missing, a short item fits into the room for them. This function
 * does not notice that, and the consumer's decoder finds the item there.
 */
static bool item_is_inline(const struct rpc_rqst *rqst, const void *from, u32 length)
{
	u32 expected = rqst->rq_cred->cr_auth->au_ralign * RPCRDMA_XDR_UNIT;
	const struct xdr_buf *buf = &rqst->rq_rcv_buf;
	u32 verifier = rpcrdma_reply_verifier(from, length);
	u32 excess = verifier > expected ? verifier - expected : 0;

	return length > buf->head[0].iov_len + buf->tail[0].iov_len + excess;
}

/*
 * Counts bytes that RDMA has moved for a reply. Those that were read are in bytes_read already. If
 * several shapes apply to an RPC, the last one in enum rpcrdma_shape counts.
 */
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

/* Returns, and counts, the bytes that the server has written into the Write chunk of a message. */
static u32 item_of(const struct xprtrdma_receive *receive)
{
	u32 length = rpcrdma_write_chunk(&receive->rv_lists, 0)->length;

	if (length)
		count_moved(receive, length, RPCRDMA_SHAPE_WRITE);
	return length;
}

/* Copies a reply that came inline, apart from its item. Returns the reply's length, or < 0. */
static int copy_inline(struct xprtrdma_receive *receive)
{
	struct xprtrdma_stats *stats = &receive->rv_conn->xc_transport->xt_stats;
	void *from = receive->rv_buffer.bf_data + receive->rv_header.size;
	u32 length = receive->rv_length - receive->rv_header.size;
	struct rpc_rqst *rqst = receive->rv_rqst;
	struct xdr_buf *buf = &rqst->rq_rcv_buf;
	u32 item = receive->rv_lists.nr_write ? item_of(receive) : 0;

	if (item)
		return place_reduced(buf, from, length, item);
	if (receive->rv_request->rq_write_capacity && item_is_inline(rqst, from, length))
		return -EPROTO;
	if (length <= buf->head[0].iov_len) {
		memcpy(buf->head[0].iov_base, from, length);
		return length;
	}
	/* A reply longer than the consumer's buffers is cut off; its decoder reports an error. */
	length = min_t(u32, length, buf->buflen);
	if (write_bytes_to_xdr_buf(buf, 0, from, length))
		return -EMSGSIZE;
	RPCRDMA_COUNT(stats->fixup_copy_count, length - buf->head[0].iov_len);
	return length;
}

/*
 * Places a Long reply, which is in the RPC's buffers already. @pulled: bytes that were read from
 * the server; 0: the server has written the Reply chunk. If a Write chunk was offered, too, the
 * Reply chunk consists of head and tail, without the pages in between. Returns the length of the
 * reply in rq_rcv_buf, or < 0.
 */
static int place_long(struct xprtrdma_receive *receive, u32 pulled)
{
	struct xdr_buf *buf = &receive->rv_rqst->rq_rcv_buf;
	u32 item = receive->rv_lists.nr_write ? item_of(receive) : 0;
	u32 length = pulled ?: rpcrdma_reply_chunk(&receive->rv_lists)->length;
	u32 room = buf->tail[0].iov_len;

	count_moved(receive, length, pulled ? RPCRDMA_SHAPE_EXPOSED : RPCRDMA_SHAPE_REPLY_CHUNK);
	if (item)
		return place_reduced(buf, buf->head[0].iov_base, length, item);
	if (!pulled && receive->rv_request->rq_write_capacity)
		set_lengths(buf, buf->head[0].iov_len, 0, room, room);
	return length;
}

/* ---- from the pin to the unpin ---- */

/*
 * Notes in xt_history whether the reply is too large to go inline. By that history
 * rpcrdma_expect_large() decides whether later calls of the procedure offer memory for replies.
 */
static void learn(const struct xprtrdma_receive *receive, u32 length)
{
	const struct xprtrdma_request *request = receive->rv_request;
	struct xprtrdma_conn *conn = receive->rv_conn;

	rpcrdma_note_reply(&conn->xc_transport->xt_history, request->rq_procedure,
			   length > conn->xc_inline.inline_recv - RPCRDMA_MIN_HEADER_SIZE);
}

/* Ends an RPC. @length: bytes of the reply, or the errno for which the RPC fails with EIO. */
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
	/* xprt_lookup_rqst() has set rq_rtt when it found the RPC. */
	rpcrdma_count_shared(&counters->latency[rpcrdma_latency(rqst->rq_rtt)], 1);
	/* call_decode() decodes rq_rcv_buf, and warns if rq_private_buf differs from it. */
	rqst->rq_private_buf = rqst->rq_rcv_buf;
	reply_end(receive, REPLY_TAKEN, length);
}

/*
 * Handles an RDMA_ERROR. A call that offers no memory for a large reply relies on the server to
 * expose that reply. A server that lacks memory for this answers ERR_CHUNK. Then the call is sent
 * once more and offers memory, as does the next call of the same procedure. Any other error is
 * final.
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

/* Goes on with a reply when the peer cannot reach the RPC's memory any more. */
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
 * @receive: a reply, before or after it was read from the server, or a reverse-direction call
 * @ok: false when the LOCAL_INVs failed or were flushed; then the end of the connection fences
 *	the memory of an RPC, which is sent again
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

/* Does the message that was read begin as the reply to the RPC, with its XID and direction? */
static bool is_reply_to(const struct rpc_rqst *rqst)
{
	__be32 words[2];

	return !read_bytes_from_xdr_buf(&rqst->rq_rcv_buf, 0, words, sizeof(words)) &&
	       words[0] == rqst->rq_xid && words[1] == rpc_reply;
}

/**
 * xprtrdma_reply_pulled - a reply has been read from the server
 * @receive: the message whose Read chunk exposes the reply
 * @status: bytes of the reply; -ENOTCONN when the connection was lost; or another errno when the
 *	message cannot be the reply to this RPC, or was not read since no RPC waits for it
 *
 * Context: the Send CQ handler, or process.
 */
void xprtrdma_reply_pulled(struct xprtrdma_receive *receive, int status)
{
	/* No RPC waits for this message, but it gives a credit back. */
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

/* Has the server used only chunks that were offered, and no more bytes of them than they have? */
static bool reply_matches(const struct xprtrdma_receive *receive)
{
	const struct xprtrdma_request *request = receive->rv_request;
	const struct rpcrdma_chunk_lists *lists = &receive->rv_lists;
	u32 reply = lists->nr_reply ? rpcrdma_reply_chunk(lists)->length : 0;

	/* RFC 8166 section 4.3.1: no Read list in a reply, unless both peers have agreed on it. */
	if ((lists->nr_read && !receive->rv_exposed) || lists->nr_write > 1)
		return false;
	if (lists->nr_write && rpcrdma_write_chunk(lists, 0)->length > request->rq_write_capacity)
		return false;
	if (reply > request->rq_reply_capacity)
		return false;
	if (receive->rv_exposed)
		return !reply;
	return receive->rv_header.proc != RPCRDMA_NOMSG || reply;
}

/*
 * A reply may come before xprtrdma_send_call() has set rq_sent_on, which it does under xc_lock
 * after the post. So the reply's handler waits for that lock, and looks again.
 */
static bool was_sent_meanwhile(const struct xprtrdma_request *request, struct xprtrdma_conn *conn)
{
	bool sent;

	spin_lock(&conn->xc_lock);
	sent = request->rq_sent_on == conn->xc_serial;
	spin_unlock(&conn->xc_lock);
	return sent;
}

/*
 * Finds the RPC of a message, and pins it. Returns false for an unknown XID, and for an RPC that
 * was not sent on this connection, has a reply that is being processed, or was refused.
 */
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
	/* Was the call sent on this connection? Pairs with xprtrdma_send_call(). */
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
 * RFC 8797 section 4.1: a message invalidates an R_key of the RPC that it ends, or none. Any other
 * R_key may be of another RPC, which has lost its memory region, so the connection is failed.
 */
static void foreign_rkey(const struct xprtrdma_receive *receive, const struct ib_wc *wc)
{
	struct xprtrdma_conn *conn = receive->rv_conn;

	trace_xprtrdma_bad_rkey(receive_xprt(receive), receive->rv_header.xid,
				wc->ex.invalidate_rkey);
	RPCRDMA_COUNT(conn->xc_transport->xt_stats.bad_reply_count, 1);
	xprtrdma_conn_fail(conn, RPCRDMA_END_BAD_MESSAGE);
}

/*
 * Is this message the answer to the question of ccp.c? If it is, the credit of the question comes
 * back, whatever the answer says.
 */
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
	complete(&conn->xc_wake);
	return true;
}

/*
 * No RPC waits for this message: the task of the call has ended, or the message is not a reply to a
 * call of ours. RFC 8167 section 4.1: only an RDMA_MSG, or a reply that the server exposes, is
 * certain to be a reply to one of our calls. Any other message grants no credits, and gives a
 * credit back only if a call has ended without a reply.
 */
static void handle_unknown(struct xprtrdma_receive *receive)
{
	bool certain = receive->rv_exposed || receive->rv_header.proc == RPCRDMA_MSG;
	bool lost = xprtrdma_watch_found(receive->rv_conn);

	trace_xprtrdma_unknown_xid(receive_xprt(receive), receive->rv_header.xid,
				   receive->rv_length);
	RPCRDMA_COUNT(receive->rv_conn->xc_transport->xt_counters.bad_messages, 1);
	if (certain)
		xprtrdma_window_grant(receive->rv_conn, &receive->rv_header);
	/* The server is told that its reply is not read: reliable-reply draft, section 4.1.3. */
	if (receive->rv_exposed)
		xprtrdma_pull(receive);
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
		xprtrdma_pull(receive);
	} else {
		/* This message may not be a reply at all: RFC 8167 section 4.1. */
		reply_unpin(receive, REPLY_NONE, 0);
		xprtrdma_receive_put(receive);
	}
}

static void handle_reply(struct xprtrdma_receive *receive, const struct ib_wc *wc)
{
	struct xprtrdma_conn *conn = receive->rv_conn;

	/*
	 * The question of ccp.c is answered before any call is sent, so before xc_useful is set.
	 * This test comes before reply_pin(), which finds no call for the answer: SUNRPC would
	 * count that as a bad XID.
	 */
	if (unlikely(!conn->xc_useful) && handle_ccp(receive, wc))
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
	/* Without the lock: only the handler that has pinned the RPC takes regions off. */
	if (list_empty(&receive->rv_registered->ml_mrs)) {
		reply_complete(receive);
		return;
	}
	xprtrdma_receive_advance(receive, XPRTRDMA_MESSAGE_INVALIDATING);
	xprtrdma_frwr_unmap_async(receive->rv_registered);
}

/* Handles a call of the server, which must not invalidate an R_key, as it ends no RPC of ours. */
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
 * Returns the direction of a message, or -1 for a message that is neither a call nor a reply. If
 * both peers have agreed on it, an RDMA_NOMSG with nothing but a Position Zero Read chunk in its
 * Read list exposes a reply, unless it has a Reply chunk that is not empty. Any other RDMA_NOMSG
 * with a Read list can only be a call: RFC 8166 section 4.3.1.
 */
static int message_direction(struct xprtrdma_receive *receive)
{
	const struct rpcrdma_header *header = &receive->rv_header;

	receive->rv_exposed = header->proc == RPCRDMA_NOMSG &&
			      receive->rv_conn->xc_inline.read_chunk_replies &&
			      rpcrdma_is_pulled_reply(&receive->rv_lists);
	switch (header->proc) {
	case RPCRDMA_MSG:
		return header->direction;
	case RPCRDMA_NOMSG:
		return receive->rv_lists.nr_read && !receive->rv_exposed ?
		       RPCRDMA_RPC_CALL : RPCRDMA_RPC_REPLY;
	case RPCRDMA_ERROR:
		return RPCRDMA_RPC_REPLY;
	default:
		/* RFC 8166 section 4.6.2: an RDMA_DONE is discarded. */
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
	ib_dma_sync_single_for_cpu(conn->xc_id->device, receive->rv_buffer.bf_sge.addr,
				   wc->byte_len, DMA_FROM_DEVICE);
	if (trace_xprtrdma_message_enabled())
		xprtrdma_trace_message(conn, receive->rv_buffer.bf_data, wc->byte_len, wc);

	status = rpcrdma_header_decode(receive->rv_buffer.bf_data, receive->rv_length,
				       &receive->rv_header, &receive->rv_lists, false);
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
