// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Differences of rxe, the software device of the kernel. No other file of the server asks which
 * driver a device has.
 *
 * rxe may report that an RDMA Read has succeeded when only its first packets have come, and then
 * end the connection (Documentation/upstream/rxe-false-success.rst). nfsd would write the former
 * content of the pages to the file. rxe places packets in order. So the last byte that a call's
 * Reads bring is set to SVCRDMA_READ_SENTINEL before the Reads. If the byte has changed, all data
 * is here. If the byte has not changed, the data is missing, or has the same byte in that place. So
 * the byte is read once more, and this verifying Read is flushed if the earlier Reads have failed.
 * A request without data behind the Reads would show that as well, but rxe has a fault there
 * (Documentation/upstream/rxe-empty-request.rst).
 *
 * read_chunks.c calls svcrdma_rxe_set_sentinel() before it builds a call's Reads, and
 * svcrdma_rxe_verify() when they are complete. Both do nothing before this server has its first
 * connection on rxe, which turns on the static key svcrdma_rxe.
 */
#include "recv_ctxt.h"
#include "svcrdma.h"
#include "trace.h"

enum {
	/* The Read of one byte; ib_core may put a LOCAL_INV and a registration in front. */
	VERIFY_ENTRIES = 3,
	/*
	 * rxe drops packets that come too early, and often asks for them again only when the answer
	 * to a request is overdue. The CM allows 0.54 s; this is half of that (4.096 us << 16).
	 */
	ACK_TIMEOUT = 16,
};

static bool on_rxe(const struct svcrdma_transport *t)
{
	return svcrdma_transport_device(t)->ops.driver_id == RDMA_DRIVER_RXE;
}

/* Key that is on when the server has, or has had, a connection on rxe. */
DEFINE_STATIC_KEY_FALSE(svcrdma_rxe);

/**
 * svcrdma_rxe_begin - shorten the timeout for answers, and verify Reads, if the device is rxe
 * @t: transport that is about to be accepted
 *
 * Context: process; may sleep.
 */
void svcrdma_rxe_begin(const struct svcrdma_transport *t)
{
	if (!on_rxe(t))
		return;
	static_branch_enable(&svcrdma_rxe);
	rdma_set_ack_timeout(t->st_id, ACK_TIMEOUT);
}

/**
 * struct last - the last byte that a call's Reads bring
 * @chunk: chunk that has the byte; NULL if the Reads bring no byte
 * @from: offset of the byte in @chunk
 * @to: offset in the call's pages to which the byte goes
 */
struct last {
	const struct rpcrdma_chunk	*chunk;
	u32				from;
	u32				to;
};

/*
 * Find the last byte. While a call is read, its chunk lists do not change, so each time this finds
 * the same byte.
 */
static struct last find_last(const struct svcrdma_recv_ctxt *rc)
{
	/* The first @head bytes of the message stay in the Receive buffer, and not in the pages. */
	u32 head = svcrdma_recv_is_simple(rc) ? rc->rc_lists.chunks[0].position : 0;
	struct last last = { NULL };
	struct rpcrdma_pieces walk;
	struct rpcrdma_piece piece;

	svcrdma_recv_pieces(&walk, rc);
	while (rpcrdma_pieces_next(&walk, &piece) > 0)
		if (piece.chunk && piece.length)
			last = (struct last) {
				.chunk = piece.chunk,
				.from = piece.from + piece.length - 1,
				.to = piece.to - head + piece.length - 1,
			};
	if (last.to >> PAGE_SHIFT >= rc->rc_nr_pages)
		last.chunk = NULL;
	return last;
}

static u8 *byte_of(const struct svcrdma_recv_ctxt *rc, const struct last *last)
{
	return page_address(rc->rc_pages[last->to >> PAGE_SHIFT]) + offset_in_page(last->to);
}

/**
 * svcrdma_rxe_do_set_sentinel - svcrdma_rxe_set_sentinel() while svcrdma_rxe is on
 * @t: transport, on any device
 * @rc: context with its pages, which are not mapped yet
 *
 * Context: any.
 * Return: Send Queue entries that svcrdma_rxe_verify() may need.
 */
u32 svcrdma_rxe_do_set_sentinel(const struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	struct last last;

	if (!on_rxe(t))
		return 0;
	last = find_last(rc);
	if (last.chunk)
		*byte_of(rc, &last) = SVCRDMA_READ_SENTINEL;
	return VERIFY_ENTRIES;
}

/* Completion of the verifying Read: if it has succeeded, so have the Reads of the call. */
static void verify_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_recv_ctxt *rc =
		container_of(wc->wr_cqe, struct svcrdma_recv_ctxt, rc_read_cqe);
	struct svcrdma_transport *t = rc->rc_transport;

	if (likely(wc->status == IB_WC_SUCCESS)) {
		svcrdma_reads_verified(t, rc);
		return;
	}
	svcrdma_wc_error(t, "proof", RPCRDMA_END_SEND_FAILED, wc);
	trace_svcrdma_read_unproven(t, wc->status);
}

static int post_verification(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
			     const struct last *last)
{
	const u32 need = rc->rc_sq.sw_need;
	int ret;

	ret = svcrdma_read_add(t, rc, last->chunk, last->from, 1, last->to);
	/* svcrdma_rxe_set_sentinel() has reserved the entries that this Read has just added. */
	rc->rc_sq.sw_need = need;
	if (ret)
		return ret;
	/* The Reads of the call are complete, so rc_read_cqe is free for this Read. */
	rc->rc_read_cqe.done = verify_wc;
	return ib_post_send(t->st_qp,
			    svcrdma_rws_chain(t, &rc->rc_reads, &rc->rc_read_cqe, NULL), NULL);
}

/**
 * svcrdma_rxe_do_verify - svcrdma_rxe_verify() while svcrdma_rxe is on
 * @t: transport, on any device
 * @rc: context
 *
 * Context: completion handler on a work queue.
 * Return: as svcrdma_rxe_verify().
 */
bool svcrdma_rxe_do_verify(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	struct last last;
	int ret;

	if (!on_rxe(t))
		return true;
	/* The CPU may read the pages only after they are unmapped. */
	svcrdma_rws_free(t, &rc->rc_reads, DMA_FROM_DEVICE);
	last = find_last(rc);
	if (!last.chunk || *byte_of(rc, &last) != SVCRDMA_READ_SENTINEL)
		return true;
	ret = post_verification(t, rc, &last);
	if (ret) {
		trace_svcrdma_post_read_err(t, ret);
		svcrdma_transport_close(t, RPCRDMA_END_SEND_FAILED);
	}
	return false;
}
