// SPDX-License-Identifier: GPL-2.0
/*
 * What is different with rxe, the software device of the kernel. Nothing else of the server asks
 * for a driver.
 *
 * rxe may say of an RDMA Read that it has succeeded when only its first packets have come, and then
 * end the connection (Documentation/upstream/rxe-false-success.rst): nfsd would write to the file
 * what the pages held before. It places packets in order. So the last byte that a call's Reads
 * bring is set to SVCRDMA_UNREAD before. If it has changed, all is here. If not, the data may have
 * such a byte: it is read once more, and that is flushed if the Reads have failed. A Write of no
 * bytes would show that as well, but rxe's responder may then fail Reads that it is asked for
 * again (Documentation/upstream/rxe-empty-request.rst).
 *
 * reads.c calls svcrdma_rxe_mark() before it makes a call's Reads, and svcrdma_rxe_prove() when
 * they are complete.
 */
#include "svcrdma.h"
#include "trace.h"

enum {
	/* For one byte: the core may register memory for it, and invalidate that first. */
	PROOF_ENTRIES = 3,
	/*
	 * rxe drops what comes too early, and often asks for it again only when the answer to a
	 * request is overdue. The CM lets that take 0.54 s; this is half of it (4.096 us << 16).
	 */
	ACK_TIMEOUT = 16,
};

static bool on_rxe(const struct svcrdma_transport *t)
{
	return svcrdma_transport_device(t)->ops.driver_id == RDMA_DRIVER_RXE;
}

/**
 * svcrdma_rxe_set_timeout - when an answer is overdue
 * @t: transport that is about to be accepted
 *
 * Context: process.
 */
void svcrdma_rxe_set_timeout(struct svcrdma_transport *t)
{
	if (on_rxe(t))
		rdma_set_ack_timeout(t->st_id, ACK_TIMEOUT);
}

static u8 *last_byte(const struct svcrdma_recv_ctxt *rc)
{
	const u32 to = rc->rc_last.to;

	return page_address(rc->rc_pages[to >> PAGE_SHIFT]) + offset_in_page(to);
}

static void mark_last_byte(struct svcrdma_recv_ctxt *rc)
{
	/* What stays in the Receive buffer is not in the pages. */
	u32 head = svcrdma_recv_is_simple(rc) ? rc->rc_lists.chunks[0].position : 0;
	struct rpcrdma_pieces walk;
	struct rpcrdma_piece piece;

	rc->rc_last.chunk = NULL;
	svcrdma_recv_pieces(&walk, rc);
	while (rpcrdma_pieces_next(&walk, &piece) > 0)
		if (piece.chunk && piece.length)
			rc->rc_last = (struct svcrdma_last) {
				.chunk = piece.chunk,
				.from = piece.from + piece.length - 1,
				.to = piece.to - head + piece.length - 1,
			};
	if (rc->rc_last.chunk && rc->rc_last.to >> PAGE_SHIFT < rc->rc_nr_pages)
		*last_byte(rc) = SVCRDMA_UNREAD;
}

/**
 * svcrdma_rxe_mark - a call's Reads are going to be made
 * @t: transport
 * @rc: context with its pages, which are not mapped yet
 *
 * Context: any.
 * Return: Send Queue entries that svcrdma_rxe_prove() may need.
 */
u32 svcrdma_rxe_mark(const struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	if (likely(!on_rxe(t)))
		return 0;
	mark_last_byte(rc);
	return PROOF_ENTRIES;
}

static int post_proof(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	const u32 need = rc->rc_sq.sw_need;
	int ret;

	ret = svcrdma_read_add(t, rc, rc->rc_last.chunk, rc->rc_last.from, 1, rc->rc_last.to);
	/* It has its entries since svcrdma_rxe_mark(). */
	rc->rc_sq.sw_need = need;
	if (ret)
		return ret;
	return ib_post_send(t->st_qp,
			    svcrdma_rws_chain(t, &rc->rc_reads, &rc->rc_proof_cqe, NULL), NULL);
}

static bool prove(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	int ret;

	/* The CPU may look at the pages when they are not mapped any more. */
	svcrdma_rws_free(t, &rc->rc_reads, DMA_FROM_DEVICE);
	if (*last_byte(rc) != SVCRDMA_UNREAD)
		return true;
	ret = post_proof(t, rc);
	if (ret) {
		trace_svcrdma_post_read_err(t, ret);
		svcrdma_transport_close(t, RPCRDMA_END_SEND_FAILED);
	}
	return false;
}

/**
 * svcrdma_rxe_prove - a call's Reads are complete; have they succeeded?
 * @t: transport
 * @rc: context
 *
 * Context: completion handler on a work queue.
 * Return: true: yes. false: @rc is not the caller's any more. svcrdma_reads_proven() has it, unless
 * the connection ends before.
 */
bool svcrdma_rxe_prove(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	return likely(!on_rxe(t)) || prove(t, rc);
}

/**
 * svcrdma_proof_wc - completion behind the Reads of a call, which have succeeded indeed
 * @cq: completion queue
 * @wc: completion
 *
 * Context: completion queue's work item.
 */
void svcrdma_proof_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_recv_ctxt *rc =
		container_of(wc->wr_cqe, struct svcrdma_recv_ctxt, rc_proof_cqe);
	struct svcrdma_transport *t = rc->rc_transport;

	if (unlikely(svcrdma_wc_failed(t, "proof", wc)))
		trace_svcrdma_read_unproven(t, wc->status);
	else
		svcrdma_reads_proven(t, rc);
}
