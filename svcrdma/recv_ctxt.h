/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* A Receive context: a Receive buffer, and the call in it */
#ifndef SVCRDMA_RECV_CTXT_H
#define SVCRDMA_RECV_CTXT_H

#include <linux/llist.h>
#include <linux/sizes.h>

#include <rpcrdma/header.h>
#include <common/verbs.h>

#include "rw.h"
#include "sq.h"

struct svcrdma_transport;

enum {
	/*
	 * Number of segments that is enough for most calls: 1 MiB is at most 9 segments in regions
	 * of 30 or 32 pages, which is what the devices of clients have.
	 */
	SVCRDMA_FEW_SEGMENTS = 9,
	/* Most pages of a small call: for an item of 16 KiB and the part of the call behind it */
	SVCRDMA_FEW_PAGES = DIV_ROUND_UP(SZ_16K, PAGE_SIZE) + 1,
	/* Number of such pages that a context keeps from call to call; see rq_arg.c */
	SVCRDMA_KEPT_PAGES = DIV_ROUND_UP(SZ_16K / PAGE_SIZE, 2),
};

/* States of the Reads of a call; read_chunks.c has the table of changes. */
enum svcrdma_read_state {
	SVCRDMA_READ_NONE,	/* there is nothing to read, or nobody has looked at the call yet */
	SVCRDMA_READ_WAITING,	/* the call is in st_read.wait, for pages or for memory regions */
	SVCRDMA_READ_BUILDING,	/* a thread or a completion handler builds the Reads */
	SVCRDMA_READ_READING,	/* the Reads are posted, or wait for Send Queue entries */
	SVCRDMA_READ_DONE,	/* the Reads are complete: the whole call is here */
	SVCRDMA_READ_REFUSED,	/* the device can never do these Reads */
};

/* Storage for the chunks of nearly all calls, which have at most two */
struct svcrdma_few_chunks {
	struct rpcrdma_segment	segments[SVCRDMA_FEW_SEGMENTS];
	struct rpcrdma_chunk	chunks[2];
	struct svcrdma_payload	payloads[2];
};

/**
 * struct svcrdma_recv_ctxt - a Receive buffer and the call in it
 *
 * The owners of a context are, in turn: the spare list, the HCA, the ready list, the thread in
 * recvfrom, and the svc_rqst until xpo_release_ctxt. A call with Read chunks has more owners before
 * the svc_rqst: st_read.wait, st_sq.waiters, the HCA, the ready list again, and another thread in
 * recvfrom. A small call with a Read chunk goes from the HCA to st_sq.waiters, or back to the HCA.
 * The owner may use every member without a lock.
 *
 * @rc_node: entry of st_recv.spare, st_recv.ready or st_recv.taken
 * @rc_list: entry of st_read.wait, under st_recv_lock; or of a list of new contexts
 * @rc_all: entry of st_recv.all, under st_recv_lock
 * @rc_transport: connection of the context; constant
 * @rc_cqe: completion of the Receive
 * @rc_recv_wr: work request of the Receive
 * @rc_read_cqe: completion of the last Read
 * @rc_buffer: buffer for the message
 * @rc_byte_len: size of the message in bytes
 * @rc_since: time at which the Receive completion was handled
 * @rc_status: whether the header of the message is valid, or what is wrong with it
 * @rc_header: decoded header of the message
 * @rc_inline: the bytes behind the header in the buffer; set when the header is decoded
 * @rc_inline_size: number of bytes at @rc_inline
 * @rc_lists: decoded chunk lists, stored in @rc_few or @rc_many
 * @rc_payloads: result payloads, also stored in @rc_few or @rc_many; payload n belongs to Write
 *	chunk n
 * @rc_few: room for the chunks that most calls have
 * @rc_many: room for the chunks of any call; NULL unless the call in the context needs it
 * @rc_nr_payloads: number of result payloads that nfsd has named so far
 * @rc_reads: Reads of the call
 * @rc_sq: waiter for the Send Queue entries of the Reads
 * @rc_read_state: state of the Reads
 * @rc_stream_length: number of bytes of the call that go to @rc_pages; see read_chunks.c
 * @rc_nr_pages: number of entries of @rc_pages that the call uses
 * @rc_nr_few: number of entries of @rc_few_pages that hold a page, each a reference
 * @rc_few_pages: pages for a small call; see rq_arg.c
 * @rc_pages: pages to which the Reads go: @rc_few_pages, or an allocated array of a larger call, or
 *	NULL
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
	enum rpcrdma_status	rc_status;
	struct rpcrdma_header	rc_header;
	void			*rc_inline;
	u32			rc_inline_size;
	struct rpcrdma_chunk_lists rc_lists;
	struct svcrdma_payload	*rc_payloads;
	struct svcrdma_few_chunks rc_few;
	void			*rc_many;
	u32			rc_nr_payloads;
	struct svcrdma_rws	rc_reads;
	struct svcrdma_sq_waiter rc_sq;
	enum svcrdma_read_state	rc_read_state;
	u32			rc_stream_length;
	u32			rc_nr_pages;
	u32			rc_nr_few;
	struct page		*rc_few_pages[SVCRDMA_FEW_PAGES];
	struct page		**rc_pages;
};

/*
 * Return: true: the call has the simple layout of rq_arg.c, an inline message with one Read chunk.
 * A call with an empty chunk has the flat layout, since svc_defer() of Linux 6.1 takes a call
 * without pages for one piece of memory. So has a call with more than a page before the chunk,
 * since these bytes would be the head, which is never longer than a page.
 */
static inline bool svcrdma_recv_is_simple(const struct svcrdma_recv_ctxt *rc)
{
	return rc->rc_lists.nr_read == 1 && !rpcrdma_position_zero_chunk(&rc->rc_lists) &&
	       rc->rc_lists.chunks[0].length && rc->rc_lists.chunks[0].position <= PAGE_SIZE;
}

/* Walk the pieces of a call. They fit together, as plan_reads() of read_chunks.c has checked. */
static inline void svcrdma_recv_pieces(struct rpcrdma_pieces *walk,
				       const struct svcrdma_recv_ctxt *rc)
{
	rpcrdma_pieces_start(walk, &rc->rc_lists, rc->rc_inline_size, U32_MAX);
}

void svcrdma_trace_received(const struct svcrdma_transport *t, const struct svcrdma_recv_ctxt *rc);

#endif /* SVCRDMA_RECV_CTXT_H */
