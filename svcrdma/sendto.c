// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Replies.
 *
 * Operation. Result payloads, which nfsd names by xpo_result_payload while it encodes, go by RDMA
 * Write to the Write chunks, payload n to chunk n. The rest of the reply goes into the Send buffer
 * behind the header, or, if that does not fit the client's Receive buffer, to the Reply chunk. The
 * Writes and the Send are one chain, posted by one ib_post_send(). A queue pair works in order, so
 * when the Send is complete, the Writes are done, too. Most replies without Writes have no
 * completion of their own; see send_ctxt.c.
 *
 * Pages. Inline data is copied, and no page is held for it. If the reply has a Write, the reply's
 * pages (rq_respages up to rq_next_page) move to the Send context, which frees them after the
 * completion.
 *
 * A reply that fits neither inline nor in the Reply chunk is exposed for the client to pull, if
 * both peers have announced the extension; see exposed_reply.c.
 *
 * Errors. A reply that does not fit and is not exposed becomes ERR_CHUNK. A reply that cannot be
 * built or posted ends the connection (RFC 8166 section 4.5.4).
 *
 * A reply that finds too few Send Queue entries is posted later, by the context that gives entries
 * back; see sq.c. The reply needs nothing of the svc_rqst by then, so no thread waits.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "recv_ctxt.h"
#include "send_ctxt.h"
#include "svcrdma.h"
#include "sysctl.h"
#include "trace.h"

/* ---- errors ---- */

/* Send RDMA_ERROR in answer to @call (RFC 8166 section 4.5). Consumes @sc. */
static int error_post(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc,
		      const struct rpcrdma_header *call, enum rpcrdma_errcode error)
{
	struct rpcrdma_buffer *to = &sc->sc_buffer;
	u32 grant = READ_ONCE(t->st_grant);

	svcrdma_send_ctxt_clear(t, sc);
	to->bf_sge.length = rpcrdma_error_encode(call->xid, call->vers, grant, error,
						 to->bf_data);
	sc->sc_wr.opcode = IB_WR_SEND;
	if (error == RPCRDMA_ERR_VERS)
		this_cpu_inc(t->st_counters->errors_sent_vers);
	else
		this_cpu_inc(t->st_counters->errors_sent_chunk);
	trace_svcrdma_error_sent(t, call->xid, error);
	return svcrdma_send_message(t, sc);
}

/**
 * svcrdma_error_send - answer a call with RDMA_ERROR
 * @t: transport
 * @rc: context of the call
 * @error: error code of the answer
 *
 * If RDMA_ERROR cannot be sent, the connection ends.
 *
 * Context: process.
 */
void svcrdma_error_send(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
			enum rpcrdma_errcode error)
{
	struct svcrdma_send_ctxt *sc;

	sc = svcrdma_send_ctxt_get(t, GFP_KERNEL);
	if (!sc || error_post(t, sc, &rc->rc_header, error))
		svcrdma_transport_close(t, RPCRDMA_END_SEND_FAILED);
}

/* ---- building a reply ---- */

/**
 * struct reply - a reply under construction
 * @t: transport
 * @sc: Send context in which the reply is built
 * @rc: Receive context of the call
 * @buf: the RPC reply, rq_res
 * @lists: chunk lists of the call, without its Read list
 * @header: transport header of the reply
 * @holes: parts of @buf that go to Write chunks, in ascending order
 * @nr_holes: number of entries of @holes
 * @length: number of bytes of @buf without @holes
 * @nr_pages: number of pages of the thread that the reply uses
 * @inline_send: size in bytes of the largest message that the reply may be sent in; a copy, since
 *	st_inline_send may change meanwhile
 */
struct reply {
	struct svcrdma_transport *t;
	struct svcrdma_send_ctxt *sc;
	struct svcrdma_recv_ctxt *rc;
	const struct xdr_buf *buf;
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_header header;
	struct svcrdma_payload *holes;
	u32 nr_holes;
	u32 length;
	u32 nr_pages;
	u32 inline_send;
};

static void reply_init(struct reply *reply, struct svcrdma_transport *t,
		       struct svcrdma_send_ctxt *sc, struct svc_rqst *rqstp)
{
	struct svcrdma_recv_ctxt *rc = rqstp->rq_xprt_ctxt;
	struct rpcrdma_chunk_lists lists = rc->rc_lists;

	lists.chunks += lists.nr_read;
	lists.max_chunks -= lists.nr_read;
	lists.nr_read = 0;
	*reply = (struct reply) {
		.t		= t,
		.sc		= sc,
		.rc		= rc,
		.buf		= &rqstp->rq_res,
		.lists		= lists,
		.holes		= rc->rc_payloads,
		.length		= rqstp->rq_res.len,
		.nr_pages	= rqstp->rq_next_page - rqstp->rq_respages,
		.inline_send	= READ_ONCE(t->st_inline_send),
		.header		= {
			.xid		= rc->rc_header.xid,
			.vers		= rc->rc_header.vers,
			.credits	= READ_ONCE(t->st_grant),
			.proc		= RPCRDMA_MSG,
		},
	};
}

/*
 * Does a payload go to its Write chunk? It stays inline if the chunk has no segments, by which the
 * client asks for that (RFC 8166 section 4.3.2.3). It does not go to the chunk either if it begins
 * before @from, the end of the payload before it, or if it lies outside of the reply: nfsd may
 * encode a payload and then give it up.
 */
static bool payload_is_reduced(const struct reply *reply,
			       const struct svcrdma_payload *payload,
			       const struct rpcrdma_chunk *chunk, u32 from)
{
	return chunk->count && payload->offset >= from &&
	       payload->offset <= reply->buf->len &&
	       payload->length <= reply->buf->len - payload->offset;
}

static u32 reply_word_at(const struct reply *reply, u32 offset)
{
	__be32 word;

	if (read_bytes_from_xdr_buf(reply->buf, offset, &word, sizeof(word)))
		return 0;
	return be32_to_cpu(word);
}

/*
 * Make a payload begin with its data. nfsd names the offset of the data, except for READLINK of
 * NFSv4: there nfsd names the offset of the length word before the data, which stays inline (RFC
 * 8166 section 3.4.4.1). The reply shows which offset was named. In front of data is its length,
 * which is not 0 here; in front of the length word is the status of the operation, which is 0.
 */
static void payload_skip_length(const struct reply *reply,
				struct svcrdma_payload *payload)
{
	if (payload->offset < RPCRDMA_XDR_UNIT || !payload->length)
		return;
	if (reply_word_at(reply, payload->offset - RPCRDMA_XDR_UNIT) == payload->length)
		return;
	if (reply_word_at(reply, payload->offset) == payload->length)
		payload->offset += RPCRDMA_XDR_UNIT;
}

/*
 * Return: number of bytes of the reply that are not sent inline for a payload: the payload, and its
 * padding, which does not go to the Write chunk either (RFC 8166 section 3.4.6.2).
 */
static u32 payload_hole(const struct reply *reply, const struct svcrdma_payload *payload)
{
	u32 rest = reply->buf->len - payload->offset;

	return min_t(u32, ALIGN(payload->length, RPCRDMA_XDR_UNIT), rest);
}

static int reply_write_payload(struct reply *reply,
			       const struct svcrdma_payload *payload,
			       const struct rpcrdma_chunk *chunk)
{
	struct svcrdma_stream stream = {
		.buf = reply->buf,
		.pos = payload->offset,
	};

	if (payload->length > chunk->length)
		return -EMSGSIZE;
	return svcrdma_write_add(reply->t, reply->sc, &reply->lists, chunk, &stream,
				 payload->length);
}

static void reply_add_hole(struct reply *reply, u32 offset, u32 length)
{
	/* Holes share the array of rc_payloads. This overwrites only an entry that is done with. */
	reply->holes[reply->nr_holes++] = (struct svcrdma_payload) {
		.offset = offset,
		.length = length,
	};
	reply->length -= length;
}

/*
 * Add the Writes of the payloads, and set the lengths in the Write list. Unused chunks go back with
 * lengths of 0 (RFC 8166 sections 3.4.6 and 4.3.2.2).
 */
static int reply_fill_write_list(struct reply *reply)
{
	struct svcrdma_payload payload;
	struct rpcrdma_chunk *chunk;
	u32 i, written, from = 0;
	int ret;

	for (i = 0; i < reply->lists.nr_write; i++) {
		chunk = rpcrdma_write_chunk(&reply->lists, i);
		written = 0;
		if (i < reply->rc->rc_nr_payloads) {
			payload = reply->rc->rc_payloads[i];
			payload_skip_length(reply, &payload);
			if (payload_is_reduced(reply, &payload, chunk, from)) {
				ret = reply_write_payload(reply, &payload, chunk);
				if (ret)
					return ret;
				written = payload.length;
				from = payload.offset + payload_hole(reply, &payload);
				reply_add_hole(reply, payload.offset,
					       from - payload.offset);
			}
		}
		if (!rpcrdma_chunk_set_written(&reply->lists, chunk, written))
			return -EMSGSIZE;
	}
	return 0;
}

static struct svcrdma_stream reply_stream(const struct reply *reply)
{
	return (struct svcrdma_stream) {
		.buf		= reply->buf,
		.holes		= reply->holes,
		.nr_holes	= reply->nr_holes,
	};
}

static int reply_encode_header(struct reply *reply, const struct rpcrdma_chunk_lists *lists)
{
	enum rpcrdma_status status;

	status = rpcrdma_header_encode(&reply->header, lists, reply->sc->sc_buffer.bf_data,
				       reply->inline_send);
	if (status != RPCRDMA_OK)
		return -EMSGSIZE;
	reply->sc->sc_buffer.bf_sge.length = reply->header.size;
	return 0;
}

/* Copy the reply, without its holes, to the place behind the header in the Send buffer. */
static int reply_copy_inline(struct reply *reply)
{
	struct rpcrdma_buffer *buffer = &reply->sc->sc_buffer;
	void *to = buffer->bf_data + reply->header.size;
	u32 i, end, next, from = 0;

	if (reply->length > reply->inline_send - reply->header.size)
		return -EMSGSIZE;
	for (i = 0; i <= reply->nr_holes; i++, from = next) {
		end = reply->buf->len;
		next = end;
		if (i < reply->nr_holes) {
			end = reply->holes[i].offset;
			next = end + reply->holes[i].length;
		}
		if (read_bytes_from_xdr_buf(reply->buf, from, to, end - from))
			return -EIO;
		to += end - from;
	}
	buffer->bf_sge.length += reply->length;
	return 0;
}

/* RFC 8166 section 4.3.3: a reply has the Reply chunk of the call, whether it is used or not. */
static int reply_set_reply_chunk(struct reply *reply, u32 written)
{
	struct rpcrdma_chunk *chunk = rpcrdma_reply_chunk(&reply->lists);

	if (!chunk)
		return 0;
	return rpcrdma_chunk_set_written(&reply->lists, chunk, written) ? 0 : -EMSGSIZE;
}

static int reply_inline(struct reply *reply)
{
	int ret = reply_set_reply_chunk(reply, 0);

	if (!ret)
		ret = reply_encode_header(reply, &reply->lists);
	if (!ret)
		ret = reply_copy_inline(reply);
	return ret;
}

static int reply_through_chunk(struct reply *reply)
{
	struct svcrdma_stream stream = reply_stream(reply);
	int ret;

	ret = svcrdma_write_add(reply->t, reply->sc, &reply->lists,
				rpcrdma_reply_chunk(&reply->lists), &stream,
				reply->length);
	if (!ret)
		ret = reply_set_reply_chunk(reply, reply->length);
	if (ret)
		return ret;
	reply->header.proc = RPCRDMA_NOMSG;
	return reply_encode_header(reply, &reply->lists);
}

/* Begin the lists of an exposed reply: a Position Zero Read chunk, which has no segments yet. */
static bool exposed_lists_begin(struct reply *reply, struct rpcrdma_chunk_lists *lists)
{
	const struct rpcrdma_chunk_lists *from = &reply->lists;
	u32 segments = RPCRDMA_MAX_SEGMENTS_SENT + from->nr_segments;
	u32 chunks = 1 + from->nr_write + from->nr_reply;
	struct rpcrdma_chunk *storage;

	storage = kmalloc(chunks * sizeof(*lists->chunks) +
			  segments * sizeof(*lists->segments), GFP_KERNEL);
	if (!storage)
		return false;
	rpcrdma_lists_init(lists, (void *)(storage + chunks), segments, storage, chunks);
	return rpcrdma_lists_begin_read(lists, 0);
}

/* Add the Write chunks, as they were used, and the Reply chunk, which is unused. */
static bool exposed_lists_end(struct reply *reply, struct rpcrdma_chunk_lists *lists)
{
	const struct rpcrdma_chunk_lists *from = &reply->lists;
	bool fits = true;
	u32 i, n;

	for (i = 0; fits && i < from->nr_write + from->nr_reply; i++) {
		const struct rpcrdma_chunk *chunk = &from->chunks[i];

		fits = i < from->nr_write ? rpcrdma_lists_begin_write(lists) :
					    rpcrdma_lists_begin_reply(lists);
		for (n = 0; fits && n < chunk->count; n++)
			fits = rpcrdma_lists_add_segment(lists, from->segments[chunk->first + n]);
	}
	return fits;
}

/* Expose a reply for the client to pull: reliable-reply draft, section 4.1.1. */
static int reply_expose(struct reply *reply)
{
	struct svcrdma_stream stream = reply_stream(reply);
	struct rpcrdma_chunk_lists lists = {};
	int ret = reply_set_reply_chunk(reply, 0);

	if (ret)
		return ret;
	ret = -EMSGSIZE;
	if (exposed_lists_begin(reply, &lists) &&
	    svcrdma_expose(reply->sc, reply->header.xid, &stream, reply->length,
			   reply->nr_pages << PAGE_SHIFT, &lists) &&
	    exposed_lists_end(reply, &lists)) {
		reply->header.proc = RPCRDMA_NOMSG;
		ret = reply_encode_header(reply, &lists);
	}
	kfree(lists.chunks);
	return ret;
}

/*
 * Try a larger inline message. A client that offers no Reply chunk for this reply may have larger
 * Receives than RFC 8166 section 3.3.2 lets us assume, and may send no private data that would say
 * so (RFC 8797). The in-tree server sends such a reply inline. The only other answer would be
 * ERR_CHUNK, with which the RPC fails.
 */
static int reply_guess(struct reply *reply)
{
	if (rpcrdma_reply_chunk(&reply->lists))
		return -EMSGSIZE;
	reply->inline_send = READ_ONCE(reply->t->st_inline_most);
	return reply_inline(reply);
}

static int reply_too_large(struct reply *reply)
{
	return reply->t->st_agreed.read_chunk_replies ? reply_expose(reply) : reply_guess(reply);
}

/* Build a reply whose call has a Reply chunk. */
static int reply_by_plan(struct reply *reply)
{
	u32 header_size = rpcrdma_header_size(&reply->lists);

	switch (rpcrdma_plan_reply(header_size, reply->length, reply->inline_send,
				   rpcrdma_reply_chunk(&reply->lists))) {
	case RPCRDMA_REPLY_INLINE:
		return reply_inline(reply);
	case RPCRDMA_REPLY_CHUNK:
		return reply_through_chunk(reply);
	default:
		return reply_too_large(reply);
	}
}

static int reply_build(struct reply *reply)
{
	int ret = 0;

	if (reply->lists.nr_write)
		ret = reply_fill_write_list(reply);
	if (ret)
		return ret;
	if (reply->lists.nr_reply)
		return reply_by_plan(reply);
	ret = reply_inline(reply);
	return likely(ret != -EMSGSIZE) ? ret : reply_too_large(reply);
}

/*
 * Take the reply's pages from nfsd, since the HCA reads from them after xpo_sendto has returned. An
 * exposure keeps them for the Writes, too: its LOCAL_INVs are behind the Send in the queue.
 */
static int reply_take_pages(struct reply *reply, struct svc_rqst *rqstp)
{
	struct page **pages = rqstp->rq_respages;
	struct svcrdma_send_ctxt *sc = reply->sc;

	/* If the client's segments are too small, they need more Writes than the queue holds. */
	if (svcrdma_send_entries(sc) > reply->t->st_sq_depth)
		return -EMSGSIZE;
	if (sc->sc_exposure) {
		svcrdma_exposed_take_pages(sc->sc_exposure, pages, reply->nr_pages);
	} else {
		if (!sc->sc_pages)
			sc->sc_pages = kvcalloc(reply->t->st_max_pages, sizeof(*pages), GFP_KERNEL);
		if (!sc->sc_pages)
			return -ENOMEM;
		svcrdma_pages_move(sc->sc_pages, pages, reply->nr_pages);
		sc->sc_nr_pages = reply->nr_pages;
	}
	if (sc->sc_write_wrs) {
		this_cpu_inc(svcrdma_stats.write);
		this_cpu_add(reply->t->st_counters->bytes_written, sc->sc_written);
	}
	compat_rqst_reply_taken(rqstp);
	return 0;
}

/* If more than one shape fits a reply, the one that is last in enum rpcrdma_shape counts. */
static enum rpcrdma_shape reply_shape(const struct reply *reply)
{
	const struct svcrdma_recv_ctxt *rc = reply->rc;

	if (reply->sc->sc_exposure)
		return RPCRDMA_SHAPE_EXPOSED;
	if (rc->rc_header.proc == RPCRDMA_NOMSG)
		return RPCRDMA_SHAPE_LONG;
	if (reply->header.proc == RPCRDMA_NOMSG)
		return RPCRDMA_SHAPE_REPLY_CHUNK;
	if (reply->sc->sc_written)
		return RPCRDMA_SHAPE_WRITE;
	return rc->rc_lists.nr_read ? RPCRDMA_SHAPE_READ : RPCRDMA_SHAPE_INLINE;
}

static void reply_count(const struct reply *reply)
{
	ktime_t took = ktime_sub(ktime_get(), reply->rc->rc_since);
	struct svcrdma_transport *t = reply->t;

	this_cpu_inc(t->st_counters->calls[reply_shape(reply)]);
	this_cpu_inc(t->st_counters->latency[rpcrdma_latency(took)]);
}

/* Choose the R_key that the Send invalidates, if any, among those of all chunks of the call. */
static void reply_choose_opcode(const struct reply *reply)
{
	const struct rpcrdma_chunk_lists *call = &reply->rc->rc_lists;
	struct ib_send_wr *wr = &reply->sc->sc_wr;
	u32 rkey;

	wr->opcode = IB_WR_SEND;
	if (call->nr_segments &&
	    rpcrdma_choose_rkey(call, reply->t->st_agreed.remote_invalidation, &rkey)) {
		wr->opcode = IB_WR_SEND_WITH_INV;
		wr->ex.invalidate_rkey = rkey;
	}
}

static int reply_fail(struct svcrdma_transport *t, const struct svc_rqst *rqstp, int ret)
{
	trace_svcrdma_reply_err(t, be32_to_cpu(rqstp->rq_xid), ret);
	svcrdma_transport_close(t, RPCRDMA_END_SEND_FAILED);
	return -ENOTCONN;
}

/*
 * A reply could not be built, for the reason @ret. If it is too large, answer the call with
 * ERR_CHUNK instead; otherwise return @ret, upon which the connection ends. Consumes reply->sc.
 */
static int reply_refuse(const struct reply *reply, int ret)
{
	const struct rpcrdma_header *call = &reply->rc->rc_header;

	if (ret == -EMSGSIZE) {
		trace_svcrdma_reply_too_large(reply->t, call->xid, ret);
		return error_post(reply->t, reply->sc, call, RPCRDMA_ERR_CHUNK);
	}
	svcrdma_send_ctxt_put(reply->t, reply->sc);
	return ret;
}

/* Build a reply in @sc and send it. Consumes @sc. */
static int reply_send(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc,
		      struct svc_rqst *rqstp)
{
	struct reply reply;
	int ret;

	reply_init(&reply, t, sc, rqstp);
	ret = reply_build(&reply);
	if (!ret && (sc->sc_write_wrs || sc->sc_exposure))
		ret = reply_take_pages(&reply, rqstp);
	if (unlikely(ret))
		return reply_refuse(&reply, ret);
	reply_count(&reply);
	reply_choose_opcode(&reply);
	return svcrdma_send_reply(t, sc);
}

/**
 * svcrdma_sendto - xpo_sendto: send a reply
 * @rqstp: nfsd thread with the reply in rq_res and the call's Receive context in rq_xprt_ctxt
 *
 * Context: process. The reply may be posted after this function has returned.
 * Return: 0, or -ENOTCONN: the connection is lost or has been ended.
 */
int svcrdma_sendto(struct svc_rqst *rqstp)
{
	struct svcrdma_transport *t = svcrdma_transport_of(rqstp->rq_xprt);
	struct svcrdma_send_ctxt *sc;
	int ret;

	if (!rqstp->rq_xprt_ctxt || READ_ONCE(t->st_closing))
		return reply_fail(t, rqstp, -ENOTCONN);
	sc = svcrdma_send_ctxt_get(t, GFP_KERNEL);
	if (!sc)
		return reply_fail(t, rqstp, -ENOMEM);
	ret = reply_send(t, sc, rqstp);
	return likely(!ret) ? 0 : reply_fail(t, rqstp, ret);
}

/*
 * RFC 8166 section 8.2.2.3: integrity or privacy transforms the results, which cannot be chunks.
 * Kerberos is the only mechanism of the kernel's RPCSEC_GSS.
 */
static bool reply_is_protected(const struct svc_rqst *rqstp)
{
	return rqstp->rq_cred.cr_flavor == RPC_AUTH_GSS_KRB5I ||
	       rqstp->rq_cred.cr_flavor == RPC_AUTH_GSS_KRB5P;
}

/**
 * svcrdma_result_payload - xpo_result_payload: note the place of a result payload
 * @rqstp: nfsd thread that encodes the reply
 * @offset: offset of the payload in rq_res
 * @length: bytes of the payload, without padding
 *
 * svcrdma_sendto() finds out whether the payload fits its Write chunk, since nfsd may still give up
 * what it has encoded. Under GSS protection the Write chunks stay unused, whatever the client has
 * offered.
 *
 * Context: process.
 * Return: 0.
 */
int svcrdma_result_payload(struct svc_rqst *rqstp, unsigned int offset,
			   unsigned int length)
{
	struct svcrdma_recv_ctxt *rc = rqstp->rq_xprt_ctxt;

	if (!rc || rc->rc_nr_payloads >= rc->rc_lists.nr_write || reply_is_protected(rqstp))
		return 0;
	rc->rc_payloads[rc->rc_nr_payloads++] = (struct svcrdma_payload) {
		.offset = offset,
		.length = length,
	};
	return 0;
}
