// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving calls.
 *
 * Operation. A Receive completion posts a spare buffer in place of the one that was
 * used, so that as many Receives are posted as before however long the call
 * takes, puts the context on st_recv_ready and wakes nfsd. recvfrom decodes the
 * header. A call without Read chunks goes to nfsd at once, rq_arg pointing into the
 * Receive buffer. With Read chunks, a first pass moves pages from rq_pages to
 * the context, posts the Reads and returns 0: no thread waits for a
 * client. When they are done, another pass, by any thread, puts the pages
 * into its rq_pages and builds rq_arg.
 *
 * How a message with Read chunks is put together: include/rpcrdma/pieces.hh. Two layouts:
 * - simple: inline base and one chunk. The chunk is read to the start of the
 *   pages; head and tail point into the Receive buffer. The tail is in the pages, too,
 *   behind the chunk, as nfsd takes an item that does not end in the head from there,
 *   whatever page_len says: svc_fill_write_vector() and others. It would find what
 *   the pages held before, and a client could have it stored and read it back.
 * - flat: anything else. The whole message lies in the pages, head is the
 *   first. Inline pieces are copied, after the Reads were unmapped.
 *
 * Owner of the pages: the context from the first pass to the second, then the
 * svc_rqst, like any of its pages.
 *
 * Errors. What cannot be a call is dropped, what is a wrong one is answered with
 * RDMA_ERROR (RFC 8166 section 4.5). A failed Read ends the connection, since
 * the queue pair is dead by then.
 */
#include <linux/highmem.h>
#include <linux/unaligned.h>

#include "svcrdma.h"
#include "trace.h"

static int recv_drop(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
		     int status)
{
	trace_svcrdma_call_dropped(t, rc->rc_header.xid, status);
	svcrdma_recv_ctxt_put(t, rc);
	return 0;
}

/* RFC 8166 section 4.6.2: dropped, but where both have agreed on something else. */
static int recv_done(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	if (!t->st_agreed.read_chunk_replies)
		return recv_drop(t, rc, RPCRDMA_OK);
	svcrdma_exposed_done(t, rc->rc_header.xid,
			     rc->rc_invalidated ? &rc->rc_rkey : NULL);
	svcrdma_recv_ctxt_put(t, rc);
	return 0;
}

/* An RDMA_DONE of sixteen octets, where both peers have agreed on it. */
static bool recv_is_short_done(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	if (!t->st_agreed.read_chunk_replies || rc->rc_byte_len != RPCRDMA_FIXED_HEADER_SIZE)
		return false;
	rpcrdma_buffer_to_cpu(&rc->rc_buffer, rc->rc_byte_len);
	return rpcrdma_header_decode(rc->rc_buffer.bf_data, rc->rc_byte_len, &rc->rc_header,
				     &rc->rc_lists) == RPCRDMA_OK &&
	       rc->rc_header.proc == RPCRDMA_DONE;
}

/**
 * svcrdma_recv_wc - completion of a Receive
 * @cq: completion queue
 * @wc: completion
 *
 * A context whose Receive failed was never used; it waits for the teardown.
 *
 * Context: completion queue's work item.
 */
void svcrdma_recv_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_recv_ctxt *rc =
		container_of(wc->wr_cqe, struct svcrdma_recv_ctxt, rc_cqe);
	struct svcrdma_transport *t = rc->rc_transport;

	bool ok = wc->status == IB_WC_SUCCESS, done = false;

	if (ok) {
		rc->rc_byte_len = wc->byte_len;
		rc->rc_invalidated = wc->wc_flags & IB_WC_WITH_INVALIDATE;
		rc->rc_rkey = wc->ex.invalidate_rkey;
		done = recv_is_short_done(t, rc);
	}
	spin_lock(&t->st_recv_lock);
	t->st_recv_posted--;
	if (ok && !done)
		list_add_tail(&rc->rc_list, &t->st_recv_ready);
	spin_unlock(&t->st_recv_lock);

	if (svcrdma_wc_failed(t, "recv", wc))
		return;
	/* Here, so that replies are let go even if nfsd has no thread for a while. */
	if (done) {
		percpu_counter_inc(&svcrdma_stat_recv);
		recv_done(t, rc);
	}
	if (svcrdma_recv_fill(t))
		svcrdma_transport_close(t);
	if (!done)
		svcrdma_transport_data(t);
}

/* ---- first pass: Reads ---- */

/*
 * RFC 5531 section 9: XID, direction, RPC version, program, its version, procedure,
 * credential and verifier, both without a body. SUNRPC looks into the head for some of
 * that without asking for its size. Nothing of it is ever in a chunk of its own.
 */
enum { RPC_CALL_HEADER_MIN = 10 * RPCRDMA_XDR_UNIT };

/* Pages that a call may take. Some are left for the reply. */
static u32 recv_page_limit(const struct svc_rqst *rqstp)
{
	u32 pages = rqstp->rq_page_end - rqstp->rq_pages;

	return pages > 2 ? min_t(u32, pages - 2, RPCSVC_MAXPAGES) : 0;
}

/*
 * RFC 8166 section 4.2.4: the call of an RDMA_NOMSG is in a Position Zero chunk;
 * that of an RDMA_MSG is not.
 */
static bool recv_base_is_right(const struct svcrdma_recv_ctxt *rc)
{
	bool zero = rpcrdma_position_zero_chunk(&rc->rc_lists);

	return rc->rc_header.proc == RPCRDMA_NOMSG ? zero : !zero;
}

/*
 * Checks the Read list against the message and against what @rqstp has room for, and
 * sets rc_stream_length, the bytes of pages that are needed.
 */
static int recv_plan_reads(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	u32 limit = recv_page_limit(rqstp) << PAGE_SHIFT;
	/* What stays in the Receive buffer, as the head. */
	u32 head = svcrdma_recv_is_simple(rc) ? rc->rc_lists.chunks[0].position : 0;
	u32 size;

	if (!recv_base_is_right(rc))
		return -EINVAL;
	/* A Position beyond the inline part is found out in any case. */
	if (!rpcrdma_pieces_measure(&rc->rc_lists, svcrdma_recv_inline_size(rc),
				    limit + min(head, rc->rc_byte_len), &size) ||
	    (head ?: size) < RPC_CALL_HEADER_MIN)
		return -EINVAL;
	rc->rc_stream_length = size - head;
	return 0;
}

/*
 * A call whose Reads are not done has not been answered: a client has no more of these
 * than it has credits (RFC 8166 section 3.3.1), however soon it sends again. One that
 * has more takes memory before anybody knows who it is, and is disconnected.
 *
 * Calls that nfsd has are not counted. There are no more than threads, and a client may
 * give such a call up and use its credit again. When it gives up one whose Reads are not
 * done, they fail, and the connection with them.
 */
static bool recv_begin_pull(struct svcrdma_transport *t)
{
	bool ok;

	spin_lock(&t->st_recv_lock);
	ok = t->st_pulls < t->st_credits;
	if (ok)
		t->st_pulls++;
	spin_unlock(&t->st_recv_lock);
	return ok;
}

static u32 recv_pages(const struct svcrdma_recv_ctxt *rc)
{
	return DIV_ROUND_UP(rc->rc_stream_length, PAGE_SIZE);
}

/*
 * May the call have its pages? Credits alone would let a client that nobody knows yet pin
 * a whole payload for each. A call that waits for regions has its pages; and when no call
 * has any, one may begin whatever its size.
 */
static bool recv_reserve_pages(struct svcrdma_transport *t,
			       const struct svcrdma_recv_ctxt *rc)
{
	u32 pages = recv_pages(rc);

	lockdep_assert_held(&t->st_recv_lock);

	if (rc->rc_nr_pages)
		return true;
	if (t->st_pull_pages && t->st_pull_pages + pages > SVCRDMA_MAX_PULL_PAGES)
		return false;
	t->st_pull_pages += pages;
	return true;
}

/* svc_alloc_arg() fills the gaps in rq_pages. */
static void recv_take_pages(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	u32 pages = recv_pages(rc);

	while (rc->rc_nr_pages < pages) {
		rc->rc_pages[rc->rc_nr_pages] = rqstp->rq_pages[rc->rc_nr_pages];
		rqstp->rq_pages[rc->rc_nr_pages] = NULL;
		rc->rc_nr_pages++;
	}
}

/* Its pieces fit together: see recv_plan_reads(). */
static void recv_pieces_start(struct rpcrdma_pieces *walk, const struct svcrdma_recv_ctxt *rc)
{
	rpcrdma_pieces_start(walk, &rc->rc_lists, svcrdma_recv_inline_size(rc), U32_MAX);
}

static int recv_add_all_pieces(struct svcrdma_transport *t,
			       struct svcrdma_recv_ctxt *rc)
{
	struct rpcrdma_pieces walk;
	struct rpcrdma_piece piece;
	int ret = 0;

	recv_pieces_start(&walk, rc);
	while (!ret && rpcrdma_pieces_next(&walk, &piece) > 0)
		if (piece.chunk)
			ret = svcrdma_read_add(t, rc, piece.chunk, piece.from, piece.length,
					       piece.to);
	return ret;
}

/*
 * All of the call's Reads, or none. -EAGAIN: there are no memory regions left. -E2BIG: the
 * Send Queue is not that deep.
 */
static int recv_build_reads(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	int ret;

	rc->rc_sq.sw_need = 0;
	if (svcrdma_recv_is_simple(rc))
		ret = svcrdma_read_add(t, rc, &rc->rc_lists.chunks[0], 0,
				       rc->rc_lists.chunks[0].length, 0);
	else
		ret = recv_add_all_pieces(t, rc);
	if (!ret && rc->rc_sq.sw_need > t->st_sq_depth)
		ret = -E2BIG;
	if (ret)
		svcrdma_rw_list_free(t, &rc->rc_reads, DMA_FROM_DEVICE);
	return ret;
}

enum { READS_WAIT = 1 };

/* 0 when others have regions, else the number of this attempt. */
static u32 recv_begin_attempt(struct svcrdma_transport *t)
{
	u32 alone;

	spin_lock(&t->st_recv_lock);
	t->st_read_attempts = t->st_read_attempts + 1 ?: 1;
	alone = t->st_reads++ ? 0 : t->st_read_attempts;
	spin_unlock(&t->st_recv_lock);
	return alone;
}

/*
 * Waits in front of those that came later, until a Read ends, or the attempt of another
 * fails. When there is none of these left, it may have been the last, just now.
 * -EAGAIN: no other call had a region since this attempt began, as @alone is still the
 * last number. More would not be there another time.
 */
static int recv_wait_for_regions(struct svcrdma_transport *t,
				 struct svcrdma_recv_ctxt *rc, u32 alone)
{
	bool retry;

	spin_lock(&t->st_recv_lock);
	if (alone == t->st_read_attempts) {
		spin_unlock(&t->st_recv_lock);
		return -EAGAIN;
	}
	t->st_reads--;
	list_add(&rc->rc_list, &t->st_read_wait);
	if (!t->st_reads)
		t->st_read_retry = true;
	retry = t->st_read_retry;
	spin_unlock(&t->st_recv_lock);

	trace_svcrdma_read_retry(t, 0);
	if (retry)
		svcrdma_transport_data(t);
	return READS_WAIT;
}

/*
 * 0 or READS_WAIT; either way the context is somebody else's now. On failure it is
 * the transport's, and the connection is about to end.
 *
 * What the device can never do has no Reads, which are done at once, and is refused by the
 * thread that comes for it.
 */
static int recv_start_reads(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	u32 alone = recv_begin_attempt(t);
	int ret;

	ret = recv_build_reads(t, rc);
	if (ret == -EAGAIN)
		ret = recv_wait_for_regions(t, rc, alone);
	if (ret == READS_WAIT)
		return ret;
	rc->rc_refused = ret == -EAGAIN || ret == -E2BIG;
	if (!ret || rc->rc_refused)
		ret = svcrdma_read_submit(t, rc);
	if (ret < 0) {
		trace_svcrdma_read_build_err(t, ret);
		svcrdma_transport_close(t);
	}
	return ret;
}

/* True when others wait already, or it gets no pages: the context was put behind them. */
static bool recv_queue_behind_waiters(struct svcrdma_transport *t,
				      struct svcrdma_recv_ctxt *rc)
{
	bool queued = false;

	spin_lock(&t->st_recv_lock);
	if (!list_empty(&t->st_read_wait) || !recv_reserve_pages(t, rc)) {
		list_add_tail(&rc->rc_list, &t->st_read_wait);
		queued = true;
	}
	spin_unlock(&t->st_recv_lock);
	return queued;
}

/* ---- second pass: rq_arg ---- */

/*
 * The context's pages take the place of the first ones in rq_pages. The reply is
 * built behind them.
 */
static int recv_give_pages(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	u32 i;

	if (rc->rc_nr_pages > recv_page_limit(rqstp))
		return -EMSGSIZE;
	for (i = 0; i < rc->rc_nr_pages; i++)
		swap(rqstp->rq_pages[i], rc->rc_pages[i]);
	rqstp->rq_respages = &rqstp->rq_pages[rc->rc_nr_pages];
	rqstp->rq_next_page = rqstp->rq_respages;
	svcrdma_recv_ctxt_drop_pages(rc);
	return 0;
}

static void recv_arg_init(struct svc_rqst *rqstp, void *base, u32 length)
{
	struct xdr_buf *arg = &rqstp->rq_arg;

	arg->head[0].iov_base = base;
	arg->head[0].iov_len = length;
	arg->pages = rqstp->rq_pages;
	arg->page_base = 0;
	arg->page_len = 0;
	arg->tail[0].iov_base = NULL;
	arg->tail[0].iov_len = 0;
	arg->len = length;
	arg->buflen = length;
}

static void copy_to_pages(struct page **pages, u32 to, const void *from, u32 length)
{
	while (length) {
		u32 offset = offset_in_page(to);
		u32 n = min_t(u32, length, PAGE_SIZE - offset);

		memcpy_to_page(pages[to >> PAGE_SHIFT], offset, from, n);
		from += n;
		to += n;
		length -= n;
	}
}

/* Never more than three bytes, up to a multiple of four: in one page. */
static void zero_pages(struct page **pages, u32 to, u32 length)
{
	memzero_page(pages[to >> PAGE_SHIFT], offset_in_page(to), length);
}

static void recv_build_simple(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	const struct rpcrdma_chunk *chunk = &rc->rc_lists.chunks[0];
	struct xdr_buf *arg = &rqstp->rq_arg;
	u32 rest = svcrdma_recv_inline_size(rc) - chunk->position;
	u32 padded = rc->rc_stream_length - rest;

	recv_arg_init(rqstp, svcrdma_recv_inline(rc), chunk->position);
	if (padded > chunk->length)
		zero_pages(rqstp->rq_pages, chunk->length, padded - chunk->length);
	arg->page_len = padded;
	if (rest) {
		arg->tail[0].iov_base = svcrdma_recv_inline(rc) + chunk->position;
		arg->tail[0].iov_len = rest;
		copy_to_pages(rqstp->rq_pages, padded, arg->tail[0].iov_base, rest);
	}
	arg->len += rc->rc_stream_length;
	arg->buflen = arg->len;
}

static void recv_copy_inline_pieces(struct svc_rqst *rqstp,
				    struct svcrdma_recv_ctxt *rc)
{
	struct rpcrdma_pieces walk;
	struct rpcrdma_piece piece;

	recv_pieces_start(&walk, rc);
	while (rpcrdma_pieces_next(&walk, &piece) > 0) {
		if (piece.source == RPCRDMA_PIECE_PAD)
			zero_pages(rqstp->rq_pages, piece.to, piece.length);
		else if (piece.source == RPCRDMA_PIECE_INLINE)
			copy_to_pages(rqstp->rq_pages, piece.to,
				      svcrdma_recv_inline(rc) + piece.from, piece.length);
	}
}

static void recv_build_flat(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	struct xdr_buf *arg = &rqstp->rq_arg;
	u32 size = rc->rc_stream_length;

	recv_copy_inline_pieces(rqstp, rc);
	recv_arg_init(rqstp, page_address(rqstp->rq_pages[0]),
		      min_t(u32, size, PAGE_SIZE));
	if (size > PAGE_SIZE) {
		arg->pages = rqstp->rq_pages + 1;
		arg->page_len = size - PAGE_SIZE;
	}
	arg->len = size;
	arg->buflen = size;
}

/* The call is complete: it and its context go to nfsd, unless it is for the transport. */
static int recv_deliver(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	rqstp->rq_next_page = rqstp->rq_respages + 1;
	rqstp->rq_xprt_ctxt = rc;
	rqstp->rq_prot = IPPROTO_MAX;
	svc_xprt_copy_addrs(rqstp, rqstp->rq_xprt);
	set_bit(RQ_SECURE, &rqstp->rq_flags);
	return svcrdma_config_answer(rqstp) ? 0 : rqstp->rq_arg.len;
}

static int recv_reject(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
		       enum rpcrdma_errcode error)
{
	svcrdma_error_send(t, rc, error);
	svcrdma_recv_ctxt_put(t, rc);
	return 0;
}

/* RFC 8166 section 4.5.2: the XID of the message is that of the header. */
static bool recv_xid_matches(const struct svc_rqst *rqstp,
			     const struct svcrdma_recv_ctxt *rc)
{
	const struct kvec *head = &rqstp->rq_arg.head[0];

	return head->iov_len >= RPCRDMA_XDR_UNIT &&
	       get_unaligned_be32(head->iov_base) == rc->rc_header.xid;
}

/*
 * RFC 8166 section 6.1: in chunks is what the binding of the program names, and no more. SUNRPC
 * counts on the RPC header being in one piece: RPCSEC_GSS computes its length from pointers.
 */
static bool recv_chunks_are_eligible(const struct svc_rqst *rqstp,
				     const struct svcrdma_recv_ctxt *rc)
{
	const struct xdr_buf *arg = &rqstp->rq_arg;
	const struct rpcrdma_chunk *chunk;
	__be32 count;
	bool known;
	u32 i, from;

	from = rpcrdma_call_reducible_from(arg->head[0].iov_base, arg->head[0].iov_len,
					   &known);
	for (i = 0; i < rc->rc_lists.nr_read; i++) {
		chunk = &rc->rc_lists.chunks[i];
		if (!chunk->position)
			continue;
		if (!from || chunk->position < from)
			return false;
		if (known &&
		    (read_bytes_from_xdr_buf(arg, chunk->position - RPCRDMA_XDR_UNIT,
					     &count, sizeof(count)) ||
		     !rpcrdma_chunk_is_item(be32_to_cpu(count), chunk->length)))
			return false;
	}
	return true;
}

static int recv_finish_reads(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			     struct svcrdma_recv_ctxt *rc)
{
	int ret;

	if (rc->rc_refused) {
		trace_svcrdma_call_bad_reads(t, rc->rc_header.xid, -E2BIG);
		return recv_reject(t, rc, RPCRDMA_ERR_CHUNK);
	}
	ret = recv_give_pages(rqstp, rc);
	if (ret) {
		trace_svcrdma_read_pages_err(t, ret);
		svcrdma_recv_ctxt_put(t, rc);
		svcrdma_transport_close(t);
		return 0;
	}
	if (svcrdma_recv_is_simple(rc))
		recv_build_simple(rqstp, rc);
	else
		recv_build_flat(rqstp, rc);
	if (!recv_xid_matches(rqstp, rc) || !recv_chunks_are_eligible(rqstp, rc)) {
		trace_svcrdma_call_bad_reads(t, rc->rc_header.xid, -EBADMSG);
		return recv_reject(t, rc, RPCRDMA_ERR_CHUNK);
	}
	return recv_deliver(rqstp, rc);
}

/* ---- a message that has just come ---- */

static int recv_with_reads(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			   struct svcrdma_recv_ctxt *rc)
{
	int ret;

	ret = recv_plan_reads(rqstp, rc);
	/* A client that takes no Reads cannot ask for one. */
	if (!ret && !t->st_read_depth)
		ret = -EOPNOTSUPP;
	if (ret) {
		trace_svcrdma_call_bad_reads(t, rc->rc_header.xid, ret);
		return recv_reject(t, rc, RPCRDMA_ERR_CHUNK);
	}
	if (!recv_begin_pull(t)) {
		trace_svcrdma_call_without_credit(t, rc->rc_header.xid, -EDQUOT);
		svcrdma_transport_close(t);
		svcrdma_recv_ctxt_put(t, rc);
		return 0;
	}
	if (recv_queue_behind_waiters(t, rc))
		return 0;
	recv_take_pages(rqstp, rc);
	recv_start_reads(t, rc);
	return 0;
}

/*
 * RFC 8166 section 4.6.1 wants ERR_CHUNK. Where the administrator says so, one to which no
 * padding applies is the RDMA_MSG that it might have been.
 */
static bool recv_msgp_is_msg(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	return t->st_serve_msgp &&
	       rpcrdma_unpadded_decode(rc->rc_buffer.bf_data, rc->rc_byte_len, &rc->rc_header,
				       &rc->rc_lists) == RPCRDMA_OK;
}

/*
 * RFC 8167 section 4.1: an RDMA_NOMSG does not show its direction, but a call that is not
 * inline would have a Read list (RFC 8166 section 4.3.1). Only where we make such calls.
 */
static bool recv_is_long_reply(const struct svcrdma_transport *t,
			       const struct svcrdma_recv_ctxt *rc)
{
	return t->st_agreed.reverse_chunks && rc->rc_header.proc == RPCRDMA_NOMSG &&
	       !rc->rc_lists.nr_read;
}

static bool recv_is_reverse_reply(const struct svcrdma_transport *t,
				  const struct svcrdma_recv_ctxt *rc)
{
	if (recv_is_long_reply(t, rc))
		return true;
	switch (rc->rc_header.proc) {
	case RPCRDMA_ERROR:
		return true;
	case RPCRDMA_MSG:
		return rpcrdma_message_direction(svcrdma_recv_inline(rc),
						 svcrdma_recv_inline_size(rc)) ==
		       RPCRDMA_RPC_REPLY;
	default:
		return false;
	}
}

/* A message whose header is good. */
static int recv_message(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			struct svcrdma_recv_ctxt *rc)
{
	if (recv_is_reverse_reply(t, rc)) {
		svcrdma_backchannel_reply(t, rc);
		svcrdma_recv_ctxt_put(t, rc);
		return 0;
	}
	switch (rc->rc_header.proc) {
	case RPCRDMA_MSG:
	case RPCRDMA_NOMSG:
		break;
	case RPCRDMA_DONE:
		return recv_done(t, rc);
	default:
		if (recv_msgp_is_msg(t, rc))
			break;
		trace_svcrdma_call_bad(t, rc->rc_header.xid, RPCRDMA_BAD_PROC);
		return recv_reject(t, rc, RPCRDMA_ERR_CHUNK);
	}
	if (rc->rc_lists.nr_read || rc->rc_header.proc == RPCRDMA_NOMSG)
		return recv_with_reads(rqstp, t, rc);
	if (svcrdma_recv_inline_size(rc) < RPC_CALL_HEADER_MIN) {
		trace_svcrdma_call_bad(t, rc->rc_header.xid, RPCRDMA_TRUNCATED);
		return recv_reject(t, rc, RPCRDMA_ERR_CHUNK);
	}
	recv_arg_init(rqstp, svcrdma_recv_inline(rc), svcrdma_recv_inline_size(rc));
	return recv_deliver(rqstp, rc);
}

/* RFC 8166 section 4.5: what is dropped, and which error what else is given. */
static int recv_bad_message(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
			    enum rpcrdma_status status)
{
	if (status == RPCRDMA_RUNT || status == RPCRDMA_BAD_ERROR ||
	    rc->rc_header.proc == RPCRDMA_ERROR)
		return recv_drop(t, rc, status);

	trace_svcrdma_call_bad(t, rc->rc_header.xid, status);
	return recv_reject(t, rc, status == RPCRDMA_BAD_VERSION ?
			   RPCRDMA_ERR_VERS : RPCRDMA_ERR_CHUNK);
}

static bool recv_is_done(const struct svcrdma_transport *t,
			 const struct svcrdma_recv_ctxt *rc, enum rpcrdma_status status)
{
	return t->st_agreed.read_chunk_replies && status == RPCRDMA_OK &&
	       rc->rc_header.proc == RPCRDMA_DONE;
}

static int recv_new_message(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			    struct svcrdma_recv_ctxt *rc)
{
	enum rpcrdma_status status;

	percpu_counter_inc(&svcrdma_stat_recv);
	rpcrdma_buffer_to_cpu(&rc->rc_buffer, rc->rc_byte_len);
	rc->rc_nr_payloads = 0;
	memset(&rc->rc_header, 0, sizeof(rc->rc_header));
	status = rpcrdma_header_decode(rc->rc_buffer.bf_data, rc->rc_byte_len,
				       &rc->rc_header, &rc->rc_lists);
	/* Nothing of ours is the client's to invalidate, but with an RDMA_DONE. */
	if (rc->rc_invalidated && !recv_is_done(t, rc, status)) {
		trace_svcrdma_bad_rkey(t, rc->rc_header.xid, -EBADMSG);
		svcrdma_transport_close(t);
		svcrdma_recv_ctxt_put(t, rc);
		return 0;
	}
	if (status != RPCRDMA_OK)
		return recv_bad_message(t, rc, status);
	return recv_message(rqstp, t, rc);
}

/* ---- recvfrom ---- */

enum recv_work { RECV_NOTHING, RECV_READS_DONE, RECV_READS_RETRY, RECV_NEW };

static struct svcrdma_recv_ctxt *recv_pop(struct list_head *list)
{
	struct svcrdma_recv_ctxt *rc;

	rc = list_first_entry_or_null(list, struct svcrdma_recv_ctxt, rc_list);
	if (rc)
		list_del_init(&rc->rc_list);
	return rc;
}

static struct svcrdma_recv_ctxt *recv_choose(struct svcrdma_transport *t,
					     enum recv_work *work)
{
	struct svcrdma_recv_ctxt *rc;

	lockdep_assert_held(&t->st_recv_lock);

	*work = RECV_READS_DONE;
	rc = recv_pop(&t->st_read_ready);
	if (rc) {
		t->st_pulls--;
		t->st_pull_pages -= rc->rc_nr_pages;
		return rc;
	}
	if (t->st_read_retry) {
		*work = RECV_READS_RETRY;
		/* Stays set while the attempts succeed; see recv_retry_reads(). */
		t->st_read_retry = false;
		rc = list_first_entry_or_null(&t->st_read_wait,
					      struct svcrdma_recv_ctxt, rc_list);
		/* If not, those that have the pages are under way: read_done(). */
		if (rc && recv_reserve_pages(t, rc))
			return recv_pop(&t->st_read_wait);
	}
	*work = RECV_NEW;
	rc = recv_pop(&t->st_recv_ready);
	if (!rc)
		*work = RECV_NOTHING;
	return rc;
}

/* XPT_DATA is cleared with the last piece of work, not by a round that finds none. */
static struct svcrdma_recv_ctxt *recv_next(struct svcrdma_transport *t,
					   enum recv_work *work)
{
	struct svcrdma_recv_ctxt *rc;

	spin_lock(&t->st_recv_lock);
	rc = recv_choose(t, work);
	if (list_empty(&t->st_read_ready) && list_empty(&t->st_recv_ready) &&
	    !(t->st_read_retry && !list_empty(&t->st_read_wait)))
		clear_bit(XPT_DATA, &t->st_xprt.xpt_flags);
	spin_unlock(&t->st_recv_lock);
	return rc;
}

static int recv_retry_reads(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			    struct svcrdma_recv_ctxt *rc)
{
	bool more;

	/* None, if it had to wait for regions only. */
	recv_take_pages(rqstp, rc);
	/* Not when it went back to the list's front. */
	if (recv_start_reads(t, rc))
		return 0;

	spin_lock(&t->st_recv_lock);
	more = !list_empty(&t->st_read_wait);
	if (more)
		t->st_read_retry = true;
	spin_unlock(&t->st_recv_lock);
	if (more)
		svcrdma_transport_data(t);
	return 0;
}

/**
 * svcrdma_recvfrom - xpo_recvfrom: the next call, or one step towards it
 * @rqstp: nfsd thread; holds XPT_BUSY
 *
 * Context: process. Waits for no client.
 * Return: bytes of the call in rq_arg, or 0 when there is none for this thread.
 */
int svcrdma_recvfrom(struct svc_rqst *rqstp)
{
	struct svcrdma_transport *t = svcrdma_transport_of(rqstp->rq_xprt);
	struct svcrdma_recv_ctxt *rc;
	enum recv_work work;

	/* Nothing to be released, should this return 0. */
	rqstp->rq_respages = rqstp->rq_pages;
	rqstp->rq_next_page = rqstp->rq_respages;
	rqstp->rq_xprt_ctxt = NULL;

	rc = recv_next(t, &work);
	svc_xprt_received(&t->st_xprt);

	switch (work) {
	case RECV_READS_DONE:
		return recv_finish_reads(rqstp, t, rc);
	case RECV_READS_RETRY:
		return recv_retry_reads(rqstp, t, rc);
	case RECV_NEW:
		return recv_new_message(rqstp, t, rc);
	default:
		return 0;
	}
}
