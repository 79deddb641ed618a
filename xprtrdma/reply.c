// SPDX-License-Identifier: GPL-2.0
/*
 * From a received message to the end of an RPC.
 *
 * Operation, in the Receive CQ handler: decode the header; find the RPC by its XID and pin
 * it; check that the peer returned no more than was offered; fence the RPC's memory, by
 * the invalidation that came with the Send, and LOCAL_INV for what that left; then put
 * the inline part into the RPC's buffers, complete it, and let the Receive go. If a
 * LOCAL_INV is needed, the second half runs when it has completed. A reply that the
 * server exposes is read in between, see pull.c.
 *
 * Ownership: ml_receive and rv_rqst point at each other from the pin to the unpin, which
 * happens exactly once: in reply_let_go(). While an RPC is pinned its task cannot be
 * released, so its buffers stay.
 *
 * Errors: a header that is not right is dropped (RFC 8166 section 4.5), as if it had not
 * come; the RPC stays, with its memory and its credit, and goes out again on the next
 * connection when its time is up. RDMA_ERROR ends the RPC with EIO.
 */
#include "connection.h"
#include "request.h"
#include "trace.h"

/* For trace events. */
static struct rpc_xprt *receive_xprt(const struct xprtrdma_receive *receive)
{
	return &receive->rv_conn->xc_transport->xt_xprt;
}

/*
 * Is a message, decoded, a reply that is to be read from the server? On a connection where both
 * have agreed on it, that is what an RDMA_NOMSG with nothing but a Position Zero Read chunk in its
 * Read list means, unless it wants a reply.
 */
static bool is_pull(const struct xprtrdma_receive *receive)
{
	return receive->rv_header.proc == RPCRDMA_NOMSG &&
	       receive->rv_conn->xc_inline.read_chunk_replies &&
	       rpcrdma_is_pulled_reply(&receive->rv_lists);
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

static void take_grant(const struct xprtrdma_receive *receive)
{
	xprtrdma_window_grant(receive->rv_conn, &receive->rv_header);
}

/*
 * A reply gives its call's credit back. Not before its Receive buffer is back: the server
 * may use the credit at once.
 */
static void give_credit_back(struct xprtrdma_receive *receive)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	int ret;

	spin_lock(&conn->xc_lock);
	ret = xprtrdma_receive_return(receive);
	rpcrdma_window_untake(&conn->xc_window);
	xprtrdma_watch_replied(conn);
	spin_unlock(&conn->xc_lock);
	if (ret)
		xprtrdma_conn_fail(conn, RPCRDMA_END_RECEIVE_FAILED);
	xprt_write_space(&conn->xc_transport->xt_xprt);
}

/* Does nobody wait for this message since its call has ended? Each is one call's. */
static bool take_lost(const struct xprtrdma_receive *receive)
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

static void refuse(struct rpc_rqst *rqst, enum rpcrdma_refusal refusal)
{
	struct xprtrdma_request *request = xprtrdma_request_of(rqst);

	/* With a Reply chunk, then. */
	if (refusal == RPCRDMA_REFUSED_ONCE)
		request->rq_again = true;
	WRITE_ONCE(request->rq_refused, refusal);
	rpcrdma_refusal_tell(rqst);
}

/**
 * enum reply_outcome - what has become of an RPC whose message is let go
 * @REPLY_TAKEN: the reply is in its buffers
 * @REPLY_NONE: this was no reply; it waits for one, as before
 * @REPLY_LOST: there will be none on this connection; it goes out on the next one
 * @REPLY_FAILED: it ends with EIO
 * @REPLY_AGAIN: it is to be sent again, with memory for a large reply
 */
enum reply_outcome { REPLY_TAKEN, REPLY_NONE, REPLY_LOST, REPLY_FAILED, REPLY_AGAIN };

/* @length: bytes of the RPC reply, if it was answered */
static void reply_let_go(struct xprtrdma_receive *receive, enum reply_outcome outcome, u32 length)
{
	struct rpc_xprt *xprt = receive_xprt(receive);
	struct rpc_rqst *rqst = receive->rv_rqst;

	spin_lock(&xprt->queue_lock);
	receive->rv_registered->ml_receive = NULL;
	/* No other reply ends the RPC, unless this was none, until it has been sent again. */
	if (outcome != REPLY_NONE)
		WRITE_ONCE(xprtrdma_request_of(rqst)->rq_sent_on, 0);
	if (outcome == REPLY_TAKEN) {
		xprtrdma_request_of(rqst)->rq_answered = true;
		xprt_complete_rqst(rqst->rq_task, length);
	}
	if (outcome == REPLY_FAILED)
		refuse(rqst, RPCRDMA_REFUSED);
	else if (outcome == REPLY_AGAIN)
		refuse(rqst, RPCRDMA_REFUSED_ONCE);
	xprt_unpin_rqst(rqst);
	spin_unlock(&xprt->queue_lock);
	receive->rv_rqst = NULL;
	receive->rv_registered = NULL;
}

/* The same, and lets the call's credit go; the Receive is not the caller's any more. */
static void reply_finish(struct xprtrdma_receive *receive, enum reply_outcome outcome, u32 length)
{
	reply_let_go(receive, outcome, length);
	give_credit_back(receive);
}

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
static int deliver_reduced(struct xdr_buf *buf, const void *from, u32 length, u32 item)
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
 * How much longer a reply's verifier is than the consumer reckons with, in bytes. It has made
 * its buffers for the verifier of an earlier reply, and what comes behind a longer one is
 * further back than it says: a transport that did not look would take that for the item.
 */
static u32 verifier_excess(const struct rpc_rqst *rqst, const void *reply, u32 length)
{
	u32 expected = rqst->rq_cred->cr_auth->au_ralign * RPCRDMA_XDR_UNIT;
	u32 verifier = rpcrdma_reply_verifier(reply, length);

	return verifier > expected ? verifier - expected : 0;
}

/*
 * RFC 8166 section 6.1: the item was to go into the Write chunk. It is here where there is
 * more than the rest can be. What would be in the place of optional results that
 * are missing is left to the consumer, who finds it there.
 */
static bool item_is_inline(const struct rpc_rqst *rqst, const void *from, u32 length)
{
	const struct xdr_buf *buf = &rqst->rq_rcv_buf;

	return xprtrdma_request_of(rqst)->rq_write_capacity &&
	       length > buf->head[0].iov_len + buf->tail[0].iov_len +
			verifier_excess(rqst, from, length);
}

static int deliver_inline(struct xprtrdma_receive *receive, u32 item)
{
	struct xprtrdma_stats *stats = &receive->rv_conn->xc_transport->xt_stats;
	void *from = receive->rv_buffer.bf_data + receive->rv_header.size;
	u32 length = receive->rv_length - receive->rv_header.size;
	struct xdr_buf *buf = &receive->rv_rqst->rq_rcv_buf;

	if (item)
		return deliver_reduced(buf, from, length, item);
	if (item_is_inline(receive->rv_rqst, from, length))
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
static int deliver_reply_chunk(struct xprtrdma_receive *receive, u32 item, u32 length)
{
	struct rpc_rqst *rqst = receive->rv_rqst;
	struct xdr_buf *buf = &rqst->rq_rcv_buf;
	u32 head = buf->head[0].iov_len, room = buf->tail[0].iov_len;

	if (!xprtrdma_request_of(rqst)->rq_write_capacity)
		return length;
	if (!item) {
		set_lengths(buf, head, 0, room, room);
		return length;
	}
	if (length <= head)
		return deliver_reduced(buf, buf->head[0].iov_base, length, item);
	if (xdr_pad_size(item) + length - head > room)
		return -EMSGSIZE;
	memmove(buf->tail[0].iov_base + xdr_pad_size(item), buf->tail[0].iov_base,
		length - head);
	memset(buf->tail[0].iov_base, 0, xdr_pad_size(item));
	set_lengths(buf, head, item, xdr_pad_size(item) + length - head, room);
	return head + item + buf->tail[0].iov_len;
}

/* The last one of the shapes counts. */
static void note_shape(const struct xprtrdma_receive *receive, enum rpcrdma_shape shape)
{
	struct xprtrdma_request *request = xprtrdma_request_of(receive->rv_rqst);

	request->rq_shape = max_t(u8, request->rq_shape, shape);
}

static void count_written(const struct xprtrdma_receive *receive, u32 length,
			  enum rpcrdma_shape shape)
{
	struct xprtrdma_transport *transport = receive->rv_conn->xc_transport;

	RPCRDMA_COUNT(transport->xt_stats.total_rdma_reply, length);
	rpcrdma_count_shared(&transport->xt_counters.bytes_written, length);
	note_shape(receive, shape);
}

static void count_pulled(const struct xprtrdma_receive *receive, u32 length)
{
	RPCRDMA_COUNT(receive->rv_conn->xc_transport->xt_stats.total_rdma_reply, length);
	note_shape(receive, RPCRDMA_SHAPE_EXPOSED);
}

/* What came in the Write chunk, in bytes */
static u32 item_of(const struct xprtrdma_receive *receive)
{
	const struct rpcrdma_chunk *write = rpcrdma_write_chunk(&receive->rv_lists, 0);

	if (!write || !write->length)
		return 0;
	count_written(receive, write->length, RPCRDMA_SHAPE_WRITE);
	return write->length;
}

/* SUNRPC wants both to be the same. */
static void seal(struct rpc_rqst *rqst)
{
	rqst->rq_private_buf = rqst->rq_rcv_buf;
}

/*
 * A reply that is not in this message. Returns its length in rq_rcv_buf, or < 0. @pulled: bytes
 * read; 0: it is in the Reply chunk.
 */
static int deliver(struct xprtrdma_receive *receive, u32 pulled)
{
	const struct rpcrdma_chunk *reply = rpcrdma_reply_chunk(&receive->rv_lists);
	u32 item = item_of(receive);
	int copied = pulled;

	if (pulled) {
		count_pulled(receive, pulled);
		if (item)
			copied = deliver_reply_chunk(receive, item, pulled);
	} else {
		count_written(receive, reply->length, RPCRDMA_SHAPE_REPLY_CHUNK);
		copied = deliver_reply_chunk(receive, item, reply->length);
	}
	seal(receive->rv_rqst);
	return copied;
}

/* Would it have fitted inline? The next call of its kind offers memory, or does not. */
static void learn(const struct xprtrdma_receive *receive, u32 length)
{
	const struct xprtrdma_request *request = xprtrdma_request_of(receive->rv_rqst);
	struct xprtrdma_conn *conn = receive->rv_conn;

	if (request->rq_by_history)
		rpcrdma_note_reply(&conn->xc_transport->xt_history, request->rq_procedure,
				   length > conn->xc_inline.inline_recv -
					    RPCRDMA_MIN_HEADER_SIZE);
}

/* SUNRPC has looked at the clock when it found the RPC. */
static void count_reply(const struct rpc_rqst *rqst)
{
	struct rpcrdma_counters *counters = &xprtrdma_transport_of(rqst->rq_xprt)->xt_counters;

	rpcrdma_count_shared(&counters->calls[xprtrdma_request_of(rqst)->rq_shape], 1);
	rpcrdma_count_shared(&counters->latency[rpcrdma_latency(rqst->rq_rtt)], 1);
}

/* @copied: bytes of the reply; < 0: it cannot be delivered, for the trace; the RPC fails. */
static void reply_deliver(struct xprtrdma_receive *receive, int copied)
{
	if (unlikely(copied < 0)) {
		note_bad(receive, copied);
		reply_finish(receive, REPLY_FAILED, 0);
		return;
	}
	learn(receive, copied);
	count_reply(receive->rv_rqst);
	reply_finish(receive, REPLY_TAKEN, copied);
}

/* All of the reply but its item is in this message, and the RPC's memory is ours alone. */
static void complete_message(struct xprtrdma_receive *receive)
{
	int copied = deliver_inline(receive, item_of(receive));

	seal(receive->rv_rqst);
	reply_deliver(receive, copied);
}

/*
 * A server at its bounds, to which a large reply was left, has answered ERR_CHUNK: once
 * more, and the next call of this kind, with memory.
 */
static bool error_is_final(const struct xprtrdma_receive *receive)
{
	const struct xprtrdma_request *request = xprtrdma_request_of(receive->rv_rqst);

	if (request->rq_by_history)
		learn(receive, U32_MAX);
	return !request->rq_left_open || request->rq_again ||
	       receive->rv_header.error != RPCRDMA_ERR_CHUNK;
}

static void count_error(const struct xprtrdma_receive *receive)
{
	struct rpcrdma_counters *counters = &receive->rv_conn->xc_transport->xt_counters;

	rpcrdma_count_shared(receive->rv_header.error == RPCRDMA_ERR_VERS ?
			     &counters->errors_received_vers :
			     &counters->errors_received_chunk, 1);
}

/* What is no RDMA_MSG */
static void complete_other(struct xprtrdma_receive *receive)
{
	if (receive->rv_header.proc == RPCRDMA_ERROR) {
		count_error(receive);
		trace_xprtrdma_error(receive_xprt(receive), &receive->rv_header);
		reply_finish(receive, error_is_final(receive) ? REPLY_FAILED : REPLY_AGAIN, 0);
	} else if (is_pull(receive)) {
		xprtrdma_pull(receive);
	} else {
		reply_deliver(receive, deliver(receive, 0));
	}
}

/* The RPC's memory is ours alone now. */
static void reply_complete(struct xprtrdma_receive *receive)
{
	xprtrdma_frwr_recycle(receive->rv_registered);
	if (receive->rv_header.proc == RPCRDMA_MSG)
		complete_message(receive);
	else
		complete_other(receive);
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
		give_credit_back(receive);
		return;
	}
	if (status == -ENOTCONN) {
		reply_finish(receive, REPLY_LOST, 0);
		return;
	}
	if (status > 0 && !is_reply_to(receive->rv_rqst))
		status = -EBADMSG;
	reply_deliver(receive, status < 0 ? status : deliver(receive, status));
}

/**
 * xprtrdma_reply_invalidated - the LOCAL_INVs of an RPC are done
 * @receive: its reply
 * @ok: false when they failed or were flushed; then the RPC is let go without an answer,
 *	its memory is fenced by the end of the connection, and it is sent again
 *
 * Context: the Send CQ handler, or the Receive CQ handler when the post failed.
 */
void xprtrdma_reply_invalidated(struct xprtrdma_receive *receive, bool ok)
{
	if (receive->rv_pull.pl_reading)
		xprtrdma_pull_invalidated(receive, ok);
	else if (ok)
		reply_complete(receive);
	else
		reply_finish(receive, REPLY_LOST, 0);
}

/* Did the server return what was offered, and no more? */
static bool reply_matches(const struct xprtrdma_receive *receive)
{
	const struct xprtrdma_request *request = xprtrdma_request_of(receive->rv_rqst);
	const struct rpcrdma_chunk_lists *lists = &receive->rv_lists;
	const struct rpcrdma_chunk *write = rpcrdma_write_chunk(lists, 0);
	const struct rpcrdma_chunk *reply = rpcrdma_reply_chunk(lists);

	/* RFC 8166 section 4.3.1: no Read list in a reply, unless both agreed on it. */
	if ((lists->nr_read && !is_pull(receive)) || lists->nr_write > 1)
		return false;
	if (write && write->length > request->rq_write_capacity)
		return false;
	if (reply && reply->length > request->rq_reply_capacity)
		return false;
	if (is_pull(receive))
		return !reply || !reply->length;
	if (receive->rv_header.proc == RPCRDMA_NOMSG)
		return reply && reply->length;
	return true;
}

/*
 * It is on the wire, on this connection. Set when the post is over, and with its lock: whoever is
 * quicker than that waits for it.
 */
static bool was_sent(const struct xprtrdma_request *request, struct xprtrdma_conn *conn)
{
	bool sent;

	/* Pairs with xprtrdma_send_post(). */
	if (smp_load_acquire(&request->rq_sent_on) == conn->xc_serial)
		return true;
	spin_lock(&conn->xc_lock);
	sent = request->rq_sent_on == conn->xc_serial;
	spin_unlock(&conn->xc_lock);
	return sent;
}

/* Finds the RPC, and pins it. False: an unknown XID, or one that is being answered. */
static bool reply_lookup(struct xprtrdma_receive *receive)
{
	struct rpc_xprt *xprt = receive_xprt(receive);
	struct xprtrdma_request *request;
	struct rpc_rqst *rqst;
	bool found = false;

	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(receive->rv_header.xid));
	if (!rqst)
		goto out;
	request = xprtrdma_request_of(rqst);
	if (!was_sent(request, receive->rv_conn) || request->rq_registered.ml_receive ||
	    request->rq_refused)
		goto out;
	xprt_pin_rqst(rqst);
	request->rq_registered.ml_receive = receive;
	receive->rv_rqst = rqst;
	receive->rv_registered = &request->rq_registered;
	found = true;
out:
	spin_unlock(&xprt->queue_lock);
	return found;
}

/*
 * Nobody waits for it: its task was killed, or it is no reply of ours. RFC 8167 section
 * 4.1: only of an RDMA_MSG it is certain that it was a reply to one of our calls, and of
 * what is to be read from the server. Other messages give back the credit of a call that has
 * ended without an answer, and grant nothing.
 */
static void drop_unknown(struct xprtrdma_receive *receive)
{
	bool pull = is_pull(receive);
	bool lost = take_lost(receive);

	trace_xprtrdma_unknown_xid(receive_xprt(receive), receive->rv_header.xid);
	RPCRDMA_COUNT(receive->rv_conn->xc_transport->xt_counters.bad_messages, 1);
	if (pull || receive->rv_header.proc == RPCRDMA_MSG)
		take_grant(receive);
	/* Reliable-reply draft, section 4.1.3. */
	if (pull)
		xprtrdma_pull_refuse(receive);
	else if (lost || receive->rv_header.proc == RPCRDMA_MSG)
		give_credit_back(receive);
	else
		xprtrdma_receive_put(receive);
}

/*
 * RFC 8797 section 4.1: a message invalidates an R_key of the RPC that it ends, or none. What
 * else it has taken may be of any other RPC, so the connection ends.
 */
static void foreign_rkey(const struct xprtrdma_receive *receive, u32 rkey)
{
	struct xprtrdma_conn *conn = receive->rv_conn;

	trace_xprtrdma_bad_rkey(receive_xprt(receive), receive->rv_header.xid, rkey);
	RPCRDMA_COUNT(conn->xc_transport->xt_stats.bad_reply_count, 1);
	xprtrdma_conn_fail(conn, RPCRDMA_END_BAD_MESSAGE);
}

/* To the question of ccp.c. Its credit comes back with whatever it says. */
static bool handle_config(struct xprtrdma_receive *receive, bool invalidated, u32 rkey)
{
	struct xprtrdma_conn *conn = receive->rv_conn;

	if (!xprtrdma_ccp_receive(receive))
		return false;
	/* The question has none. */
	if (invalidated)
		foreign_rkey(receive, rkey);
	take_grant(receive);
	give_credit_back(receive);
	xprtrdma_ccp_done(conn);
	return true;
}

/* A call of the server's, which ends no RPC of ours */
static void handle_call(struct xprtrdma_receive *receive, bool invalidated, u32 rkey)
{
	if (!invalidated) {
		xprtrdma_bc_receive(receive);
		return;
	}
	foreign_rkey(receive, rkey);
	xprtrdma_receive_put(receive);
}

static void handle_reply(struct xprtrdma_receive *receive, bool invalidated, u32 rkey)
{
	struct xprtrdma_conn *conn = receive->rv_conn;

	if (handle_config(receive, invalidated, rkey))
		return;
	if (!reply_lookup(receive)) {
		drop_unknown(receive);
		return;
	}
	WRITE_ONCE(conn->xc_useful, true);
	if (invalidated && !xprtrdma_frwr_reminv(receive->rv_registered, rkey)) {
		foreign_rkey(receive, rkey);
		reply_finish(receive, REPLY_LOST, 0);
		return;
	}
	if (receive->rv_header.proc != RPCRDMA_ERROR && !reply_matches(receive)) {
		note_bad(receive, RPCRDMA_OK);
		if (is_pull(receive)) {
			take_grant(receive);
			reply_let_go(receive, REPLY_FAILED, 0);
			xprtrdma_pull_refuse(receive);
		} else {
			/* It may be no reply at all: RFC 8167 section 4.1. */
			reply_let_go(receive, REPLY_NONE, 0);
			xprtrdma_receive_put(receive);
		}
		return;
	}
	take_grant(receive);
	if (xprtrdma_frwr_unmap_async(receive->rv_registered))
		reply_complete(receive);
}

/**
 * xprtrdma_reply_receive - a message has arrived
 * @receive: the message; consumed
 * @invalidated: it came as a Send With Invalidate
 * @rkey: of this R_key
 *
 * Context: the Receive CQ handler.
 */
void xprtrdma_reply_receive(struct xprtrdma_receive *receive, bool invalidated,
			    u32 rkey)
{
	struct rpcrdma_header *header = &receive->rv_header;
	enum rpcrdma_status status;

	status = rpcrdma_header_decode(receive->rv_buffer.bf_data, receive->rv_length, header,
				       &receive->rv_lists);
	if (status != RPCRDMA_OK) {
		drop(receive, status);
		return;
	}
	switch (header->proc) {
	case RPCRDMA_MSG:
		switch (rpcrdma_message_direction(receive->rv_buffer.bf_data + header->size,
						  receive->rv_length - header->size)) {
		case RPCRDMA_RPC_CALL:
			handle_call(receive, invalidated, rkey);
			return;
		case RPCRDMA_RPC_REPLY:
			handle_reply(receive, invalidated, rkey);
			return;
		}
		break;
	case RPCRDMA_NOMSG:
		/*
		 * RFC 8166 section 4.3.1: with a Read list it can only be a call, unless
		 * both have agreed on something else.
		 */
		if (receive->rv_lists.nr_read && !is_pull(receive)) {
			handle_call(receive, invalidated, rkey);
			return;
		}
		handle_reply(receive, invalidated, rkey);
		return;
	case RPCRDMA_ERROR:
		handle_reply(receive, invalidated, rkey);
		return;
	}
	/* RFC 8166 section 4.6: RDMA_MSGP and RDMA_DONE are discarded. */
	drop(receive, RPCRDMA_BAD_PROC);
}
