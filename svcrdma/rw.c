// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * RDMA Read and RDMA Write, through rdma_rw of ib_core.
 *
 * One struct svcrdma_rw transfers one segment, or the part of the segment that is needed. The first
 * struct svcrdma_rw of a context, if it has few pages, is a member of the context; rxe.c uses that
 * member where it must not allocate. A call's Reads are one chain, whose last Read is signalled,
 * since Reads complete in the order in which they were posted. A reply's Writes are put before its
 * Send.
 *
 * ib_core registers memory where the device needs it: always for Reads on iWARP, where the local
 * memory of a Read has to be registered. The queue pair's pool of memory regions is limited, and
 * rdma_rw_ctx_init() returns -EAGAIN when the pool is empty; read_chunks.c then tries again later.
 */
#include <linux/slab.h>

#include "recv_ctxt.h"
#include "send_ctxt.h"
#include "svcrdma.h"
#include "trace.h"

static void rw_free(struct svcrdma_rws *rws, struct svcrdma_rw *rw)
{
	if (rw == &rws->first)
		return;
	compat_runs_free(&rw->rw_runs);
	kfree(rw);
}

/* Allocate a struct svcrdma_rw for @count runs. The caller sets the runs, and calls rw_map(). */
static struct svcrdma_rw *rw_alloc(struct svcrdma_transport *t, struct svcrdma_rws *rws,
				   unsigned int count)
{
	const int node = ibdev_to_node(svcrdma_transport_device(t));
	struct svcrdma_rw *rw = &rws->first;

	if (!list_empty(&rws->list) || count > COMPAT_FEW_RUNS)
		rw = kzalloc_node(sizeof(*rw), GFP_KERNEL, node);
	if (!rw)
		return NULL;
	memset(&rw->rw_ctx, 0, sizeof(rw->rw_ctx));
	if (!compat_runs_alloc(&rw->rw_runs, count, node))
		return rw;
	rw_free(rws, rw);
	return NULL;
}

/* Allocate a struct svcrdma_rw for @length bytes that begin at @offset in the first of @pages. */
static struct svcrdma_rw *rw_alloc_pages(struct svcrdma_transport *t, struct svcrdma_rws *rws,
					 struct page **pages, u32 offset, u32 length)
{
	struct svcrdma_rw *rw = rw_alloc(t, rws, DIV_ROUND_UP(offset + length, PAGE_SIZE));
	u32 first = min_t(u32, length, PAGE_SIZE - offset);

	if (!rw)
		return NULL;
	compat_run_set(rw->rw_runs.table, *pages, first, offset);
	if (length > first)
		compat_runs_set_pages(&rw->rw_runs, pages + 1, length - first);
	return rw;
}

/*
 * Map @length bytes, and put @rw on the list. Return: the number of work requests of @rw, or a
 * negative errno: @rw is freed.
 */
static int rw_map(struct svcrdma_transport *t, struct svcrdma_rws *rws, struct svcrdma_rw *rw,
		  const struct rpcrdma_segment *segment, u32 from, u32 length,
		  enum dma_data_direction dir)
{
	int ret;

	ret = compat_rw_ctx_init(&rw->rw_ctx, t->st_qp, t->st_port, &rw->rw_runs, length,
				 segment->offset + from, segment->handle, dir);
	if (ret < 0) {
		rw_free(rws, rw);
		return ret;
	}
	list_add_tail(&rw->rw_list, &rws->list);
	return ret;
}

/**
 * svcrdma_rws_free - unmap and free Reads or Writes
 * @t: transport, with its queue pair
 * @rws: Reads or Writes that were not posted, or that the HCA is done with; empty afterwards
 * @dir: direction with which they were mapped
 *
 * Context: process or completion handler on a work queue.
 */
void svcrdma_rws_free(struct svcrdma_transport *t, struct svcrdma_rws *rws,
		      enum dma_data_direction dir)
{
	struct svcrdma_rw *rw, *next;

	list_for_each_entry_safe(rw, next, &rws->list, rw_list) {
		compat_rw_ctx_destroy(&rw->rw_ctx, t->st_qp, t->st_port, &rw->rw_runs, dir);
		rw_free(rws, rw);
	}
	INIT_LIST_HEAD(&rws->list);
}

/**
 * svcrdma_rws_chain - make one chain of the work requests of Reads or Writes
 * @t: transport
 * @rws: Reads or Writes
 * @cqe: completion of the last Read or Write; NULL if @tail is signalled instead
 * @tail: work request to follow in the chain, or NULL
 *
 * ib_core requires that this function is called only once for @rws, and that the caller posts the
 * chain.
 *
 * Context: any.
 * Return: the first work request.
 */
struct ib_send_wr *svcrdma_rws_chain(struct svcrdma_transport *t, struct svcrdma_rws *rws,
				     struct ib_cqe *cqe, struct ib_send_wr *tail)
{
	struct ib_send_wr *first = tail, *wr;
	struct svcrdma_rw *rw;

	list_for_each_entry_reverse(rw, &rws->list, rw_list) {
		first = rdma_rw_ctx_wrs(&rw->rw_ctx, t->st_qp, t->st_port, cqe, first);
		cqe = NULL;
	}
	/* An unsignalled request that fails has a completion, too: see common/transfer.c. */
	for (wr = first; wr != tail; wr = wr->next)
		if (!wr->wr_cqe)
			wr->wr_cqe = &t->st_part_cqe;
	if (trace_svcrdma_transfer_enabled())
		svcrdma_trace_transfers(t, first, tail);
	return first;
}

/**
 * svcrdma_part_wc - completion of a work request that has failed and is not the last of its chain
 * @cq: completion queue
 * @wc: completion
 *
 * The first completion that fails has the reason; the work requests behind it are only flushed.
 *
 * Context: completion queue's work item.
 */
void svcrdma_part_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_transport *t =
		container_of(wc->wr_cqe, struct svcrdma_transport, st_part_cqe);

	if (wc->status != IB_WC_SUCCESS)
		svcrdma_wc_error(t, "rdma", RPCRDMA_END_SEND_FAILED, wc);
}

/* ---- Reads ---- */

static int read_add_segment(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
			    const struct rpcrdma_segment *segment, u32 from,
			    u32 length, u32 sink)
{
	struct svcrdma_rw *rw;
	int ret;

	if (DIV_ROUND_UP((u64)sink + length, PAGE_SIZE) > rc->rc_nr_pages)
		return -EMSGSIZE;
	rw = rw_alloc_pages(t, &rc->rc_reads, &rc->rc_pages[sink >> PAGE_SHIFT],
			    offset_in_page(sink), length);
	if (!rw)
		return -ENOMEM;
	ret = rw_map(t, &rc->rc_reads, rw, segment, from, length, DMA_FROM_DEVICE);
	if (ret < 0)
		return ret;
	rc->rc_sq.sw_need += ret;
	return 0;
}

/**
 * svcrdma_read_add - add a piece of a Read chunk to a call's Reads
 * @t: transport
 * @rc: context of the call, with its pages
 * @chunk: one of the call's Read chunks
 * @from: offset in @chunk of the first byte to be read
 * @length: number of bytes to be read; all of them lie in @chunk
 * @sink: offset in the pages to which they go
 *
 * Context: process, or a completion handler on a work queue.
 * Return: 0, or a negative errno: -EAGAIN when the queue pair's pool has no memory region left.
 * Reads that were added before stay.
 */
int svcrdma_read_add(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
		     const struct rpcrdma_chunk *chunk, u32 from, u32 length,
		     u32 sink)
{
	const struct rpcrdma_segment *segment = &rc->rc_lists.segments[chunk->first];
	u32 i, n;
	int ret;

	for (i = 0; i < chunk->count && length; i++, segment++) {
		if (from >= segment->length) {
			from -= segment->length;
			continue;
		}
		n = min(length, segment->length - from);
		ret = read_add_segment(t, rc, segment, from, n, sink);
		if (ret)
			return ret;
		sink += n;
		length -= n;
		from = 0;
	}
	return length ? -EMSGSIZE : 0;
}

/* ---- walking an xdr_buf ---- */

static u32 kvec_run(const struct kvec *kvec, u32 pos, u32 max, struct page **page,
		    u32 *offset)
{
	void *p = kvec->iov_base + pos;

	*page = virt_to_page(p);
	*offset = offset_in_page(p);
	return min3(max, (u32)kvec->iov_len - pos, (u32)PAGE_SIZE - *offset);
}

/* Return: number of bytes from @pos that lie together in one page, at most @max; 0 at the end. */
static u32 xdr_buf_run(const struct xdr_buf *buf, u32 pos, u32 max,
		       struct page **page, u32 *offset)
{
	u32 at;

	if (pos < buf->head[0].iov_len)
		return kvec_run(&buf->head[0], pos, max, page, offset);
	pos -= buf->head[0].iov_len;
	if (pos < buf->page_len) {
		at = buf->page_base + pos;
		*page = buf->pages[at >> PAGE_SHIFT];
		*offset = offset_in_page(at);
		return min3(max, buf->page_len - pos, (u32)PAGE_SIZE - *offset);
	}
	pos -= buf->page_len;
	if (pos < buf->tail[0].iov_len)
		return kvec_run(&buf->tail[0], pos, max, page, offset);
	return 0;
}

/**
 * svcrdma_stream_run - take the next bytes of a stream that lie together in one page
 * @stream: stream, whose position moves on
 * @max: largest number of bytes, not 0
 * @page: set to the page of the bytes
 * @offset: set to their offset in @page
 *
 * Context: any.
 * Return: number of bytes; 0 at the end of the stream.
 */
u32 svcrdma_stream_run(struct svcrdma_stream *stream, u32 max,
		       struct page **page, u32 *offset)
{
	u32 n;

	while (stream->nr_holes && stream->holes->offset == stream->pos) {
		stream->pos += stream->holes->length;
		stream->holes++;
		stream->nr_holes--;
	}
	if (stream->nr_holes)
		max = min(max, stream->holes->offset - stream->pos);
	n = xdr_buf_run(stream->buf, stream->pos, max, page, offset);
	stream->pos += n;
	return n;
}

/* ---- Writes ---- */

/* Return: number of runs of the next @length bytes, or 0 if there are fewer bytes. */
static unsigned int stream_count(struct svcrdma_stream stream, u32 length)
{
	unsigned int runs = 0;
	struct page *page;
	u32 n, offset;

	while (length) {
		n = svcrdma_stream_run(&stream, length, &page, &offset);
		if (!n)
			return 0;
		length -= n;
		runs++;
	}
	return runs;
}

/*
 * Do the next @length bytes lie in the pages of the xdr_buf, with no hole to come? If so, set @at
 * to their offset from the beginning of the first page.
 */
static bool stream_in_pages(const struct svcrdma_stream *stream, u32 length, u32 *at)
{
	const struct xdr_buf *buf = stream->buf;
	u32 pos = stream->pos - buf->head[0].iov_len;

	if (stream->nr_holes || stream->pos < buf->head[0].iov_len || pos > buf->page_len ||
	    length > buf->page_len - pos)
		return false;
	*at = buf->page_base + pos;
	return true;
}

static struct svcrdma_rw *write_alloc_runs(struct svcrdma_transport *t, struct svcrdma_rws *rws,
					   struct svcrdma_stream *stream, u32 length)
{
	unsigned int runs = stream_count(*stream, length);
	struct compat_run *run;
	struct svcrdma_rw *rw;
	unsigned int i;

	if (!runs)
		return ERR_PTR(-EMSGSIZE);
	rw = rw_alloc(t, rws, runs);
	if (!rw)
		return ERR_PTR(-ENOMEM);
	compat_for_each_run(&rw->rw_runs, run, i) {
		struct page *page;
		u32 n, offset;

		n = svcrdma_stream_run(stream, length, &page, &offset);
		compat_run_set(run, page, n, offset);
		length -= n;
	}
	return rw;
}

/*
 * Allocate a struct svcrdma_rw for the next @length bytes. Most Writes transfer the data of a READ,
 * which lies in the pages and needs no walk of the stream. That saves 3 % of the instructions of a
 * READ of 1 MiB.
 */
static struct svcrdma_rw *write_alloc(struct svcrdma_transport *t, struct svcrdma_rws *rws,
				      struct svcrdma_stream *stream, u32 length)
{
	struct svcrdma_rw *rw;
	u32 at;

	if (!stream_in_pages(stream, length, &at))
		return write_alloc_runs(t, rws, stream, length);
	stream->pos += length;
	rw = rw_alloc_pages(t, rws, &stream->buf->pages[at >> PAGE_SHIFT], offset_in_page(at),
			    length);
	return rw ?: ERR_PTR(-ENOMEM);
}

static int write_add_segment(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc,
			     const struct rpcrdma_segment *segment,
			     struct svcrdma_stream *stream, u32 length)
{
	struct svcrdma_rw *rw;
	int ret;

	rw = write_alloc(t, &sc->sc_writes, stream, length);
	if (IS_ERR(rw))
		return PTR_ERR(rw);
	ret = rw_map(t, &sc->sc_writes, rw, segment, 0, length, DMA_TO_DEVICE);
	if (ret < 0)
		return ret;
	sc->sc_write_wrs += ret;
	sc->sc_written += length;
	return 0;
}

/**
 * svcrdma_write_add - add Writes that fill a chunk
 * @t: transport
 * @sc: context of the reply
 * @lists: lists that hold @chunk
 * @chunk: Write chunk or Reply chunk, with the lengths that the client offers
 * @stream: bytes to be written
 * @length: number of these bytes, at most @chunk->length
 *
 * The segments are filled in order (RFC 8166 section 3.4.6).
 *
 * Context: process.
 * Return: 0 or a negative errno. Writes that were added before stay.
 */
int svcrdma_write_add(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc,
		      const struct rpcrdma_chunk_lists *lists,
		      const struct rpcrdma_chunk *chunk,
		      struct svcrdma_stream *stream, u32 length)
{
	const struct rpcrdma_segment *segment = &lists->segments[chunk->first];
	u32 i, n;
	int ret;

	for (i = 0; i < chunk->count && length; i++, segment++) {
		n = min(length, segment->length);
		if (!n)
			continue;
		ret = write_add_segment(t, sc, segment, stream, n);
		if (ret)
			return ret;
		length -= n;
	}
	return length ? -EMSGSIZE : 0;
}
