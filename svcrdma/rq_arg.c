// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Building rq_arg, the form in which nfsd takes a call.
 *
 * The head is never longer than a page, since SUNRPC relies on that. In Debian's 6.1, and in 6.12
 * before 6.12.117, gss_read_proxy_verf() copies the head into one page before it has authenticated
 * the peer.
 *
 * A call without Read chunks stays in its Receive buffer. If it is longer than a page, the rest of
 * the call is copied to the pages. A call with Read chunks has one of two layouts;
 * include/rpcrdma/pieces.cc says how the pieces of a message are put together.
 * - simple: the call is inline but for one chunk, whose Position is at most PAGE_SIZE, and which is
 *   not empty. The chunk is read to the start of the pages; head and tail point into the Receive
 *   buffer. The tail is copied behind the chunk in the pages, too: svc_fill_write_vector() and
 *   other functions of nfsd take an item that does not end in the head from the pages, whatever
 *   page_len says. Without the copy they would take the former content of the pages, and a client
 *   could have that stored in a file and read it back.
 * - flat: any other call. The whole message lies in the pages, and the head is the first page.
 *   Inline pieces are copied after the Reads were unmapped.
 */
#include <linux/highmem.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "recv_ctxt.h"
#include "svcrdma.h"

/**
 * svcrdma_arg_page_limit - largest number of pages that a call may take
 * @rqstp: nfsd thread
 *
 * Context: process.
 */
u32 svcrdma_arg_page_limit(const struct svc_rqst *rqstp)
{
	return min(compat_rqst_call_pages(rqstp),
		   svcrdma_transport_of(rqstp->rq_xprt)->st_max_pages);
}

/*
 * ---- the pages of a call with Read chunks: the sink of the Reads, and then nfsd's ----
 *
 * A small call has its pages in rc_few_pages, whose first rc_nr_few entries hold pages. The thread
 * that gets the call exchanges pages: up to SVCRDMA_KEPT_PAGES of its own go to the context, and
 * stay there for the next call. So where pages have 4 KiB, a call with an item of one page
 * allocates and frees no page, unless it is the first such call of its context. With pages of
 * 64 KiB, SVCRDMA_KEPT_PAGES is 0, since the contexts of a connection with 128 credits would keep
 * 17 MiB, thirteen times the size of their Receive buffers. Then each small call allocates pages,
 * and the thread that gets the call frees as many.
 *
 * A larger call takes the pages of the thread that begins its Reads, and SUNRPC fills the gaps in
 * that thread's rq_pages. The thread that gets the complete call frees as many of its own pages. In
 * between, an allocated array holds the pages.
 */
/**
 * svcrdma_sink_pages - number of pages that a call's Reads need
 * @rc: context; its rc_stream_length is known
 *
 * Context: any.
 */
u32 svcrdma_sink_pages(const struct svcrdma_recv_ctxt *rc)
{
	return DIV_ROUND_UP(rc->rc_stream_length, PAGE_SIZE);
}

static bool sink_is_small(const struct svcrdma_recv_ctxt *rc)
{
	return svcrdma_sink_pages(rc) <= SVCRDMA_FEW_PAGES;
}

/**
 * svcrdma_sink_alloc - allocate pages for a small call, without a thread of nfsd
 * @rc: context whose call needs at most SVCRDMA_FEW_PAGES pages
 *
 * Context: any.
 * Return: true: svcrdma_sink_fill() needs no thread. false: memory is short.
 */
bool svcrdma_sink_alloc(struct svcrdma_recv_ctxt *rc)
{
	u32 pages = svcrdma_sink_pages(rc);
	struct page *page;

	while (unlikely(rc->rc_nr_few < pages)) {
		page = alloc_page(GFP_NOWAIT | __GFP_NOWARN);
		if (!page)
			return false;
		rc->rc_few_pages[rc->rc_nr_few++] = page;
	}
	rc->rc_pages = rc->rc_few_pages;
	return true;
}

/**
 * svcrdma_sink_reserve - provide the array for the pages of a call
 * @rc: context; its rc_stream_length is known
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int svcrdma_sink_reserve(struct svcrdma_recv_ctxt *rc)
{
	if (sink_is_small(rc)) {
		rc->rc_pages = rc->rc_few_pages;
		return 0;
	}
	rc->rc_pages = kvcalloc(svcrdma_sink_pages(rc), sizeof(*rc->rc_pages), GFP_KERNEL);
	return rc->rc_pages ? 0 : -ENOMEM;
}

/**
 * svcrdma_sink_fill - give a call the pages that it lacks
 * @rqstp: nfsd thread from which the pages are taken, and whose gaps svc_alloc_arg() fills again;
 *	or NULL after svcrdma_sink_alloc(), when no page is missing
 * @rc: context after svcrdma_sink_alloc() or svcrdma_sink_reserve()
 *
 * Context: process; any if @rqstp is NULL.
 */
void svcrdma_sink_fill(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	u32 pages = svcrdma_sink_pages(rc);
	u32 had = sink_is_small(rc) ? rc->rc_nr_few : rc->rc_nr_pages;

	rc->rc_nr_pages = pages;
	if (had >= pages)
		return;
	compat_rqst_call_taken(rqstp, pages);
	svcrdma_pages_move(&rc->rc_pages[had], &rqstp->rq_pages[had], pages - had);
	if (sink_is_small(rc))
		rc->rc_nr_few = pages;
}

static void free_array(struct svcrdma_recv_ctxt *rc)
{
	if (rc->rc_pages != rc->rc_few_pages)
		kvfree(rc->rc_pages);
	rc->rc_pages = NULL;
}

static void swap_pages(struct page **one, struct page **other, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		swap(one[i], other[i]);
}

static void replace_pages(struct page **old, struct page **new, u32 count)
{
	if (likely(!count))
		return;
	release_pages(old, count);
	memcpy(old, new, count * sizeof(*old));
}

/*
 * Move the pages of a call to the thread that gets the call, as the first ones of its rq_pages.
 * Return: 0, or -EMSGSIZE: the thread has too few pages.
 */
static int sink_move_to_rqst(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	u32 pages = rc->rc_nr_pages, kept = 0;

	if (pages > svcrdma_arg_page_limit(rqstp))
		return -EMSGSIZE;
	if (sink_is_small(rc)) {
		kept = min_t(u32, pages, SVCRDMA_KEPT_PAGES);
		swap_pages(rqstp->rq_pages, rc->rc_few_pages, kept);
		rc->rc_nr_few -= pages - kept;
	}
	replace_pages(rqstp->rq_pages + kept, rc->rc_pages + kept, pages - kept);
	rc->rc_nr_pages = 0;
	free_array(rc);
	compat_rqst_reply_begin(rqstp, pages);
	return 0;
}

/**
 * svcrdma_sink_release - free the pages of a call, except for those that the context keeps
 * @rc: context; no Read to its pages is in flight
 *
 * Context: process.
 */
void svcrdma_sink_release(struct svcrdma_recv_ctxt *rc)
{
	u32 kept = min_t(u32, rc->rc_nr_few, SVCRDMA_KEPT_PAGES);

	if (rc->rc_nr_pages && rc->rc_pages != rc->rc_few_pages)
		release_pages(rc->rc_pages, rc->rc_nr_pages);
	free_array(rc);
	rc->rc_nr_pages = 0;
	release_pages(rc->rc_few_pages + kept, rc->rc_nr_few - kept);
	rc->rc_nr_few = kept;
}

/**
 * svcrdma_sink_free - free all pages of a context that is going to be freed
 * @rc: context; no Read to its pages is in flight
 *
 * Context: process.
 */
void svcrdma_sink_free(struct svcrdma_recv_ctxt *rc)
{
	svcrdma_sink_release(rc);
	release_pages(rc->rc_few_pages, rc->rc_nr_few);
}

/* ---- rq_arg ---- */

/* Set rq_arg to a head of @length bytes at @base, and @page_len bytes in the pages. */
static void arg_init(struct svc_rqst *rqstp, void *base, u32 length, u32 page_len)
{
	struct xdr_buf *arg = &rqstp->rq_arg;

	arg->head[0].iov_base = base;
	arg->head[0].iov_len = length;
	arg->pages = rqstp->rq_pages;
	arg->page_base = 0;
	arg->page_len = page_len;
	arg->tail[0].iov_base = NULL;
	arg->tail[0].iov_len = 0;
	arg->len = length + page_len;
	arg->buflen = length + page_len;
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

/* Zero padding: at most three bytes, which end at a multiple of four and so lie in one page. */
static void zero_pages(struct page **pages, u32 to, u32 length)
{
	memzero_page(pages[to >> PAGE_SHIFT], offset_in_page(to), length);
}

static void build_simple(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	const struct rpcrdma_chunk *chunk = &rc->rc_lists.chunks[0];
	struct xdr_buf *arg = &rqstp->rq_arg;
	u32 rest = rc->rc_inline_size - chunk->position;
	u32 padded = rc->rc_stream_length - rest;

	arg_init(rqstp, rc->rc_inline, chunk->position, padded);
	if (padded > chunk->length)
		zero_pages(rqstp->rq_pages, chunk->length, padded - chunk->length);
	if (rest) {
		arg->tail[0].iov_base = rc->rc_inline + chunk->position;
		arg->tail[0].iov_len = rest;
		copy_to_pages(rqstp->rq_pages, padded, arg->tail[0].iov_base, rest);
		arg->len += rest;
		arg->buflen = arg->len;
	}
}

static void copy_inline_pieces(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	struct rpcrdma_pieces walk;
	struct rpcrdma_piece piece;

	svcrdma_recv_pieces(&walk, rc);
	while (rpcrdma_pieces_next(&walk, &piece) > 0) {
		if (piece.source == RPCRDMA_PIECE_PAD)
			zero_pages(rqstp->rq_pages, piece.to, piece.length);
		else if (piece.source == RPCRDMA_PIECE_INLINE)
			copy_to_pages(rqstp->rq_pages, piece.to,
				      rc->rc_inline + piece.from, piece.length);
	}
}

static void build_flat(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	u32 size = rc->rc_stream_length, head = min_t(u32, size, PAGE_SIZE);

	copy_inline_pieces(rqstp, rc);
	arg_init(rqstp, page_address(rqstp->rq_pages[0]), head, size - head);
	if (size > head)
		rqstp->rq_arg.pages++;
}

/**
 * svcrdma_arg_inline - set rq_arg for a call without Read chunks
 * @rqstp: nfsd thread whose rq_arg is set
 * @rc: context of the call, which has to stay as long as rq_arg is used
 *
 * The head points into the Receive buffer. Bytes beyond a page are copied to the pages.
 *
 * Context: process.
 * Return: 0, or -EMSGSIZE: the call is longer than nfsd takes.
 */
int svcrdma_arg_inline(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	u32 head = min_t(u32, rc->rc_inline_size, PAGE_SIZE);
	u32 rest = rc->rc_inline_size - head;

	arg_init(rqstp, rc->rc_inline, head, rest);
	if (likely(!rest))
		return 0;
	if (PFN_UP(rest) > svcrdma_arg_page_limit(rqstp))
		return -EMSGSIZE;
	copy_to_pages(rqstp->rq_pages, 0, rc->rc_inline + head, rest);
	compat_rqst_reply_begin(rqstp, PFN_UP(rest));
	return 0;
}

/**
 * svcrdma_arg_pages - set rq_arg for a call with Read chunks, all of which have been read
 * @rqstp: nfsd thread whose rq_arg is set, and whose rq_pages get the pages of @rc
 * @rc: context of the call, which has to stay as long as rq_arg is used
 *
 * Context: process.
 * Return: 0, or -EMSGSIZE: the thread has too few pages.
 */
int svcrdma_arg_pages(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	int ret = sink_move_to_rqst(rqstp, rc);

	if (ret)
		return ret;
	if (svcrdma_recv_is_simple(rc))
		build_simple(rqstp, rc);
	else
		build_flat(rqstp, rc);
	return 0;
}

/* RFC 8166 section 4.5.2: the RPC message has the same XID as the transport header. */
static bool xid_matches(const struct svc_rqst *rqstp, const struct svcrdma_recv_ctxt *rc)
{
	const struct kvec *head = &rqstp->rq_arg.head[0];

	return head->iov_len >= RPCRDMA_XDR_UNIT &&
	       get_unaligned_be32(head->iov_base) == rc->rc_header.xid;
}

/*
 * RFC 8166 section 6.1: only items that the upper-layer binding of the program names may be in
 * chunks. SUNRPC relies on an RPC header in one piece, since RPCSEC_GSS computes the length of the
 * header from pointers.
 */
static bool chunks_are_eligible(const struct svc_rqst *rqstp,
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

/**
 * svcrdma_arg_is_right - check a call with Read chunks against its transport header
 * @rqstp: nfsd thread with the call in rq_arg
 * @rc: context of the call
 *
 * Context: process.
 * Return: true: the call is valid. false: it is to be answered with ERR_CHUNK.
 */
bool svcrdma_arg_is_right(const struct svc_rqst *rqstp, const struct svcrdma_recv_ctxt *rc)
{
	return xid_matches(rqstp, rc) && chunks_are_eligible(rqstp, rc);
}
