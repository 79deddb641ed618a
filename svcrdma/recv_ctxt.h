/* SPDX-License-Identifier: GPL-2.0 */
/* A Receive context: a Receive buffer, and the call in it */
#ifndef SVCRDMA_RECV_CTXT_H
#define SVCRDMA_RECV_CTXT_H

#include <linux/llist.h>
#include <linux/sizes.h>

#include <rpcrdma/header.h>
#include <rpcrdma/pieces.h>
#include <common/verbs.h>

#include "rw.h"
#include "sq.h"

struct svcrdma_transport;

enum {
	/*
	 * Segments of most calls: 1 MiB in regions of 30 or 32 pages, as devices of clients have
	 * them, is 9 segments.
	 */
	SVCRDMA_FEW_SEGMENTS = 9,
	/* Pages of a small call: an item of 16 KiB, and the part of the call behind it */
	SVCRDMA_FEW_PAGES = DIV_ROUND_UP(SZ_16K, PAGE_SIZE) + 1,
	/* Pages of these that a context keeps from call to call: see rq_arg.c */
	SVCRDMA_KEPT_PAGES = DIV_ROUND_UP(SZ_16K / PAGE_SIZE, 2),
};

/* Of a call with Read chunks; read_chunks.c has the table of changes. */
enum svcrdma_read_state {
	SVCRDMA_READ_NONE,	/* nothing is to be read, or nobody has looked yet */
	SVCRDMA_READ_WAITING,	/* in st_read.wait: for pages, or with them for memory regions */
	SVCRDMA_READ_BUILDING,	/* a context makes its Reads */
	SVCRDMA_READ_READING,	/* they are posted, or wait for Send Queue entries */
	SVCRDMA_READ_DONE,	/* all of it is here */
	SVCRDMA_READ_REFUSED,	/* the device cannot do these Reads, ever */
};

/* Nearly all calls have one chunk. */
struct svcrdma_few_chunks {
	struct rpcrdma_segment	segments[SVCRDMA_FEW_SEGMENTS];
	struct rpcrdma_chunk	chunks[2];
	struct svcrdma_payload	payloads[2];
};

/**
 * struct svcrdma_recv_ctxt - a Receive buffer and the call in it
 *
 * Owned, in turn, by: the spare list, the HCA, the ready list, the thread in
 * recvfrom, (with Read chunks: those that wait in st_read, a Send Queue waiter,
 * the HCA, the ready list again, another thread in recvfrom,) and the svc_rqst, until
 * xpo_release_ctxt. A small call with a Read chunk goes from the HCA to the waiter.
 * The owner may touch every member without a lock.
 *
 * @rc_node: entry of st_recv.spare, st_recv.ready or st_recv.taken
 * @rc_list: entry of st_read.wait, under st_recv_lock
 * @rc_all: entry of st_recv.all, under st_recv_lock
 * @rc_transport: constant
 * @rc_cqe: Receive completion
 * @rc_recv_wr: the Receive
 * @rc_read_cqe: completion of the last Read
 * @rc_buffer: for the message
 * @rc_byte_len: bytes received
 * @rc_since: when it had come
 * @rc_header: decoded header
 * @rc_inline: what is behind it; set with it
 * @rc_inline_size: bytes of that
 * @rc_lists: decoded chunks, over @rc_segments and @rc_chunks
 * @rc_segments: storage: that of @rc_few, or of @rc_many
 * @rc_chunks: storage
 * @rc_payloads: result payload n is to go to Write chunk n
 * @rc_few: room for the chunks that most calls have
 * @rc_many: room for those of any call; NULL but while a call needs it
 * @rc_nr_payloads: number of result payloads seen so far
 * @rc_reads: this call's Reads
 * @rc_sq: Send Queue entries of the Reads
 * @rc_read_attempt: number of the attempt to build its Reads, if no other call had regions; or 0
 * @rc_read_state: how far these are
 * @rc_stream_length: bytes of the call that go to @rc_pages; see read_chunks.c
 * @rc_nr_pages: entries of @rc_pages that are this call's
 * @rc_nr_few: entries of @rc_few_pages, each a reference
 * @rc_few_pages: of a small call; see rq_arg.c
 * @rc_many_pages: of any other call: an array for them; else NULL
 * @rc_pages: sink of the Reads: @rc_few_pages or @rc_many_pages; or NULL
 */
struct svcrdma_recv_ctxt {
	struct llist_node	rc_node;
	struct list_head	rc_list;
	struct list_head	rc_all;
	struct svcrdma_transport *rc_transport;
	struct ib_cqe		rc_cqe;
	struct ib_recv_wr	rc_recv_wr;
	struct ib_cqe		rc_read_cqe;
	struct rpcrdma_buffer	rc_buffer;
	u32			rc_byte_len;
	ktime_t			rc_since;
	struct rpcrdma_header	rc_header;
	void			*rc_inline;
	u32			rc_inline_size;
	struct rpcrdma_chunk_lists rc_lists;
	struct rpcrdma_segment	*rc_segments;
	struct rpcrdma_chunk	*rc_chunks;
	struct svcrdma_payload	*rc_payloads;
	struct svcrdma_few_chunks rc_few;
	void			*rc_many;
	u32			rc_nr_payloads;
	struct svcrdma_rws	rc_reads;
	struct svcrdma_sq_waiter rc_sq;
	u32			rc_read_attempt;
	enum svcrdma_read_state	rc_read_state;
	u32			rc_stream_length;
	u32			rc_nr_pages;
	u32			rc_nr_few;
	struct page		*rc_few_pages[SVCRDMA_FEW_PAGES];
	struct page		**rc_many_pages;
	struct page		**rc_pages;
};

/* The header has been decoded: what is behind it is the inline part. */
static inline void svcrdma_recv_set_inline(struct svcrdma_recv_ctxt *rc)
{
	rc->rc_inline = rc->rc_buffer.bf_data + rc->rc_header.size;
	rc->rc_inline_size = rc->rc_byte_len - rc->rc_header.size;
}

static inline enum rpcrdma_status svcrdma_recv_decode(struct svcrdma_recv_ctxt *rc)
{
	enum rpcrdma_status status;

	status = rpcrdma_header_decode(rc->rc_buffer.bf_data, rc->rc_byte_len, &rc->rc_header,
				       &rc->rc_lists);
	svcrdma_recv_set_inline(rc);
	return status;
}

/*
 * Is it an inline message with one chunk? Not if the chunk is empty: to the svc_defer() of 6.1, a
 * message without pages is one piece. Nor if more than a page is before it, which is the head.
 */
static inline bool svcrdma_recv_is_simple(const struct svcrdma_recv_ctxt *rc)
{
	return rc->rc_lists.nr_read == 1 && !rpcrdma_position_zero_chunk(&rc->rc_lists) &&
	       rc->rc_lists.chunks[0].length && rc->rc_lists.chunks[0].position <= PAGE_SIZE;
}

/* Its pieces fit together: svcrdma_reads_begin() has seen to that. */
static inline void svcrdma_recv_pieces(struct rpcrdma_pieces *walk,
				       const struct svcrdma_recv_ctxt *rc)
{
	rpcrdma_pieces_start(walk, &rc->rc_lists, rc->rc_inline_size, U32_MAX);
}

void svcrdma_trace_received(const struct svcrdma_transport *t, const struct svcrdma_recv_ctxt *rc);

#endif /* SVCRDMA_RECV_CTXT_H */
