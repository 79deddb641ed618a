// SPDX-License-Identifier: GPL-2.0-only
/*
 * The provider in memory: work requests take effect.
 *
 * In the order in which they were posted, and their completions in that order, too
 * (RFC 5040 section 5.5, 13 and 15). An error is the last thing that happens on a
 * connection: whatever is posted then, or later, is flushed.
 */
#include "memory.h"

static struct memory_device *device_of(const struct memory_qp *qp)
{
	return memory_device_of(qp->ib.device);
}

static enum ib_wc_opcode completion_opcode(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
		return IB_WC_RDMA_WRITE;
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return IB_WC_RDMA_READ;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	case IB_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	default:
		return IB_WC_SEND;
	}
}

/* One that succeeded and is not signalled has no completion. */
static void complete_send(struct memory_qp *qp, enum ib_wc_status status)
{
	struct memory_queue *sq = &qp->sq;
	struct memory_wr *wr = &sq->wrs[sq->done % sq->size];
	struct memory_cqe cqe = {
		.wc = {
			.wr_cqe = wr->cqe,
			.status = status,
			.opcode = completion_opcode(wr->opcode),
			.qp = &qp->ib,
		},
		.qp = qp,
		.number = sq->done++,
	};

	if (status != IB_WC_SUCCESS || qp->signal_all || wr->flags & IB_SEND_SIGNALED)
		memory_cq_put(memory_cq_of(qp->ib.send_cq), &cqe);
}

/**
 * memory_complete_recv - the next Receive completes
 * @qp: its queue pair
 * @wc: how
 */
void memory_complete_recv(struct memory_qp *qp, const struct ib_wc *wc)
{
	struct memory_queue *rq = &qp->rq;
	struct memory_cqe cqe = { .wc = *wc, .qp = qp, .receive = true };

	cqe.wc.wr_cqe = rq->wrs[rq->done % rq->size].cqe;
	cqe.wc.opcode = IB_WC_RECV;
	cqe.wc.qp = &qp->ib;
	cqe.number = rq->done++;
	memory_cq_put(memory_cq_of(qp->ib.recv_cq), &cqe);
}

static void flush(struct memory_qp *qp)
{
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR };

	while (qp->rq.done != qp->rq.posted)
		memory_complete_recv(qp, &wc);
	while (qp->sq.done != qp->sq.posted)
		complete_send(qp, IB_WC_WR_FLUSH_ERR);
}

/**
 * memory_error - this end is of no more use
 * @qp: queue pair; everything posted is flushed
 * @event: for its owner, or -1
 */
void memory_error(struct memory_qp *qp, enum ib_event_type event)
{
	lockdep_assert_held(qp->lock);
	if (qp->state != IB_QPS_ERR && (int)event >= 0)
		qp->event = event;
	if (qp->state != IB_QPS_ERR && qp->ended)
		qp->over = true;
	qp->state = IB_QPS_ERR;
	flush(qp);
}

/* memory_terminate - neither end is of use any more: RFC 5040 section 5.4 */
void memory_terminate(struct memory_qp *qp)
{
	memory_error(qp, IB_EVENT_QP_FATAL);
	if (qp->peer)
		memory_error(qp->peer, IB_EVENT_QP_FATAL);
}

/* memory_end - this end is done, and nobody needs to be told: iWARP has an end for both */
void memory_end(struct memory_qp *qp)
{
	if (device_of(qp)->iwarp)
		memory_terminate(qp);
	else
		memory_error(qp, -1);
}

static enum ib_wc_status execute(struct memory_qp *qp, struct memory_wr *wr, bool *wait)
{
	switch (wr->opcode) {
	case IB_WR_REG_MR:
		return memory_register(qp, wr);
	case IB_WR_LOCAL_INV:
		return memory_invalidate(qp, wr->key) ? IB_WC_SUCCESS :
			IB_WC_LOC_QP_OP_ERR;
	case IB_WR_RDMA_WRITE:
		return memory_write(qp, wr);
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return memory_read(qp, wr);
	default:
		return memory_send(qp, wr, wait);
	}
}

/* RFC 5040 section 7: an error ends the stream; on InfiniBand, this end of it. */
static void fail(struct memory_qp *qp, enum ib_wc_status status)
{
	if (status != MEMORY_LOST)
		complete_send(qp, status);
	if (status == MEMORY_LOST || device_of(qp)->iwarp)
		memory_terminate(qp);
	else
		memory_error(qp, IB_EVENT_QP_FATAL);
}

static struct memory_wr *next(const struct memory_qp *qp, u32 ahead)
{
	return &qp->sq.wrs[(qp->sq.done + ahead) % qp->sq.size];
}

/* RDMA Writes that follow each other from here on. */
static u32 count_writes(const struct memory_qp *qp)
{
	u32 n = 0;

	while (n < qp->sq.posted - qp->sq.done && next(qp, n)->opcode == IB_WR_RDMA_WRITE)
		n++;
	return n;
}

/*
 * RFC 5040 section 5.5, 3: Writes are placed in any order. Last one first, if none of
 * them fails; and again when it is their turn, which changes nothing.
 */
static void place_backwards(struct memory_qp *qp)
{
	u32 i, n = count_writes(qp);

	for (i = n; i; i--)
		if (memory_write(qp, next(qp, i - 1)) != IB_WC_SUCCESS)
			break;
}

/* MEMORY_FALSE */
static enum ib_wc_status fail_later(struct memory_qp *qp, struct memory_wr *wr)
{
	if (completion_opcode(wr->opcode) != IB_WC_RDMA_READ)
		return IB_WC_RETRY_EXC_ERR;
	qp->doomed = true;
	return memory_read_falsely(qp, wr);
}

/* False when there is nothing to do, or nothing can be done now. */
static bool step(struct memory_qp *qp)
{
	enum ib_wc_status status = IB_WC_SUCCESS;
	bool wait = false;

	if (qp->sq.done == qp->sq.posted || qp->state != IB_QPS_RTS || !qp->allowance)
		return false;
	if (qp->doomed) {
		memory_error(qp, IB_EVENT_QP_FATAL);
		return false;
	}
	if (memory_step(device_of(qp), MEMORY_EXECUTE, &status)) {
		if (device_of(qp)->reverse_writes)
			place_backwards(qp);
		status = execute(qp, next(qp, 0), &wait);
	} else if (status == MEMORY_FALSE) {
		status = fail_later(qp, next(qp, 0));
	}
	if (wait) {
		/* It is counted when it takes effect. */
		memory_step_waits(device_of(qp), MEMORY_EXECUTE);
		return false;
	}
	if (qp->allowance > 0)
		qp->allowance--;
	if (status == IB_WC_SUCCESS)
		complete_send(qp, status);
	else
		fail(qp, status);
	return true;
}

/**
 * memory_kick - whatever can take effect does
 * @qp: queue pair whose Send Queue has changed
 */
void memory_kick(struct memory_qp *qp)
{
	lockdep_assert_held(qp->lock);
	while (step(qp))
		;
	if (qp->state == IB_QPS_ERR)
		flush(qp);
}
