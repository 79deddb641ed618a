// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA Read and RDMA Write, through the core's rdma_rw.
 *
 * One struct svcrdma_rw moves one segment, or the part of it that is needed. The first one with a
 * few pages is in the context: rxe.c has one where it must not allocate. A call's Reads are one
 * chain, of which the last is signalled: Reads complete in the order in which they were posted. A
 * reply's Writes are put before its Send.
 *
 * The core registers memory where the device needs that: always for Reads on
 * iWARP, whose sink has to be registered. Its pool of regions is limited, and
 * rdma_rw_ctx_init() says -EAGAIN when it is empty; see read_chunks.c.
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

/* One with room for @count runs, which are to be set; rw_map() puts it on the list. */
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

/* @length bytes from @offset of the first of @pages on, which follow each other */
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

/* @length bytes. On success @rw is on the list, and its number of work requests is returned. */
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
 * @rws: empty afterwards. The HCA is done with them
 * @dir: as they were mapped
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
 * svcrdma_rws_chain - one chain of work requests
 * @t: transport
 * @rws: Reads or Writes
 * @cqe: for the last one's completion, or NULL where @tail has one
 * @tail: what comes after them, or NULL
 *
 * May be called once for these, and only where the chain is then posted: the
 * core counts on both.
 *
 * Context: any.
 * Return: the first work request.
 */
struct ib_send_wr *svcrdma_rws_chain(struct svcrdma_transport *t, struct svcrdma_rws *rws,
				     struct ib_cqe *cqe, struct ib_send_wr *tail)
{
	struct ib_send_wr *first = tail;
	struct svcrdma_rw *rw;

	list_for_each_entry_reverse(rw, &rws->list, rw_list) {
		first = rdma_rw_ctx_wrs(&rw->rw_ctx, t->st_qp, t->st_port, cqe, first);
		cqe = NULL;
	}
	rpcrdma_chain_set_cqe(first, tail, &t->st_rw_cqe);
	if (trace_svcrdma_transfer_enabled())
		svcrdma_trace_transfers(t, first, tail);
	return first;
}

/**
 * svcrdma_rw_wc - a Read or Write that is not the last of its chain has failed
 * @cq: completion queue
 * @wc: completion
 *
 * The first one that fails says why; those that are flushed behind it do not.
 *
 * Context: completion queue's work item.
 */
void svcrdma_rw_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_transport *t =
		container_of(wc->wr_cqe, struct svcrdma_transport, st_rw_cqe);

	svcrdma_wc_failed(t, "rdma", RPCRDMA_END_SEND_FAILED, wc);
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
 * @rc: context with its pages
 * @chunk: one of its Read chunks
 * @from: first byte of it
 * @length: bytes; @from + @length lies in @chunk
 * @sink: where to in the pages
 *
 * Context: process.
 * Return: 0, or a negative errno: -EAGAIN when the device has no memory region
 * left. What was added before stays.
 */
int svcrdma_read_add(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
		     const struct rpcrdma_chunk *chunk, u32 from, u32 length,
		     u32 sink)
{
	const struct rpcrdma_segment *segment = &rc->rc_segments[chunk->first];
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

/* Bytes from @pos that lie together in one page, at most @max; 0 at the end. */
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
 * svcrdma_stream_run - the next bytes of a stream that lie together
 * @stream: stream; its position moves on
 * @max: at most so many bytes, not 0
 * @page: page that they lie in
 * @offset: where in it
 *
 * Context: any.
 * Return: bytes; 0 at the end.
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

/* How many runs the next @length bytes are; the stream stays where it is. */
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

/* Do the next @length bytes lie in the buffer's pages, with no hole? Then @at is where. */
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

/* Most Writes are an item of a READ in its pages. These need no walk: 3 % of a READ of 1 MiB. */
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
 * @chunk: a Write chunk or Reply chunk; lengths are those that the client offers
 * @stream: what to write
 * @length: bytes, at most @chunk->length
 *
 * Fills segments in order (RFC 8166 section 3.4.6).
 *
 * Context: process.
 * Return: 0 or a negative errno. What was added before stays.
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
