// SPDX-License-Identifier: GPL-2.0
/*
 * A call as nfsd takes it: rq_arg.
 *
 * The head is never longer than a page: SUNRPC counts on that. In Debian's 6.1, and in 6.12 before
 * 6.12.117, gss_read_proxy_verf() copies it into one page before it knows who the peer is.
 *
 * A call without Read chunks stays in its Receive buffer. If it is longer than a page, the rest of
 * it is copied to the pages. With Read chunks there are two layouts; how the pieces of a message
 * go together is in include/rpcrdma/pieces.hh.
 * - simple: inline base and one chunk, not more than a page from its start. The chunk is read
 *   to the start of the pages; head and tail point into the Receive buffer. The tail is in the
 *   pages, too, behind the chunk, as nfsd takes an item that does not end in the head from there,
 *   whatever page_len says: svc_fill_write_vector() and others. It would find what
 *   the pages held before, and a client could have it stored and read it back.
 * - flat: anything else. The whole message lies in the pages, head is the
 *   first. Inline pieces are copied, after the Reads were unmapped.
 */
#include <linux/highmem.h>
#include <linux/unaligned.h>

#include "svcrdma.h"

/**
 * svcrdma_arg_page_limit - pages that a call may take
 * @rqstp: nfsd thread
 *
 * Context: process.
 */
u32 svcrdma_arg_page_limit(const struct svc_rqst *rqstp)
{
	return min(compat_rqst_call_pages(rqstp),
		   svcrdma_transport_of(rqstp->rq_xprt)->st_max_pages);
}

static void arg_init(struct svc_rqst *rqstp, void *base, u32 length)
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

static void build_simple(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	const struct rpcrdma_chunk *chunk = &rc->rc_lists.chunks[0];
	struct xdr_buf *arg = &rqstp->rq_arg;
	u32 rest = svcrdma_recv_inline_size(rc) - chunk->position;
	u32 padded = rc->rc_stream_length - rest;

	arg_init(rqstp, svcrdma_recv_inline(rc), chunk->position);
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
				      svcrdma_recv_inline(rc) + piece.from, piece.length);
	}
}

static void build_flat(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	struct xdr_buf *arg = &rqstp->rq_arg;
	u32 size = rc->rc_stream_length;

	copy_inline_pieces(rqstp, rc);
	arg_init(rqstp, page_address(rqstp->rq_pages[0]), min_t(u32, size, PAGE_SIZE));
	if (size > PAGE_SIZE) {
		arg->pages = rqstp->rq_pages + 1;
		arg->page_len = size - PAGE_SIZE;
	}
	arg->len = size;
	arg->buflen = size;
}

/**
 * svcrdma_arg_inline - a call that lies in its Receive buffer
 * @rqstp: nfsd thread; its rq_arg is set
 * @rc: context, which stays as long as rq_arg is used; its call is not longer than a page
 *
 * Context: process.
 */
void svcrdma_arg_inline(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	arg_init(rqstp, svcrdma_recv_inline(rc), svcrdma_recv_inline_size(rc));
}

/**
 * svcrdma_arg_long_inline - a call that lies in its Receive buffer and is longer than a page
 * @rqstp: nfsd thread; its rq_arg is set
 * @rc: context, which stays as long as rq_arg is used
 *
 * Context: process.
 * Return: 0, or -EMSGSIZE: it is longer than nfsd takes.
 */
int svcrdma_arg_long_inline(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	u32 size = svcrdma_recv_inline_size(rc), rest = size - PAGE_SIZE;
	u32 pages = PFN_UP(rest);

	if (pages > svcrdma_arg_page_limit(rqstp))
		return -EMSGSIZE;
	arg_init(rqstp, svcrdma_recv_inline(rc), PAGE_SIZE);
	copy_to_pages(rqstp->rq_pages, 0, svcrdma_recv_inline(rc) + PAGE_SIZE, rest);
	rqstp->rq_arg.page_len = rest;
	rqstp->rq_arg.len = size;
	rqstp->rq_arg.buflen = size;
	compat_rqst_reply_begin(rqstp, pages);
	return 0;
}

/**
 * svcrdma_arg_pages - a call with Read chunks, all of which have been read
 * @rqstp: nfsd thread; its rq_arg is set, and its first pages are those of @rc
 * @rc: context, which stays as long as rq_arg is used
 *
 * Context: process.
 * Return: 0, or -EMSGSIZE: the thread has too few pages.
 */
int svcrdma_arg_pages(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	int ret = svcrdma_pages_give(rqstp, rc);

	if (ret)
		return ret;
	if (svcrdma_recv_is_simple(rc))
		build_simple(rqstp, rc);
	else
		build_flat(rqstp, rc);
	return 0;
}

/* RFC 8166 section 4.5.2: the XID of the message is that of the header. */
static bool xid_matches(const struct svc_rqst *rqstp, const struct svcrdma_recv_ctxt *rc)
{
	const struct kvec *head = &rqstp->rq_arg.head[0];

	return head->iov_len >= RPCRDMA_XDR_UNIT &&
	       get_unaligned_be32(head->iov_base) == rc->rc_header.xid;
}

/*
 * RFC 8166 section 6.1: in chunks is what the binding of the program names, and no more. SUNRPC
 * counts on the RPC header being in one piece: RPCSEC_GSS computes its length from pointers.
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
 * svcrdma_arg_is_right - may a call with Read chunks be what its header says?
 * @rqstp: nfsd thread with the call in rq_arg
 * @rc: its context
 *
 * Context: process.
 * Return: false: it gets ERR_CHUNK.
 */
bool svcrdma_arg_is_right(const struct svc_rqst *rqstp, const struct svcrdma_recv_ctxt *rc)
{
	return xid_matches(rqstp, rc) && chunks_are_eligible(rqstp, rc);
}
