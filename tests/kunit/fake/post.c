// SPDX-License-Identifier: GPL-2.0-only
/* The provider for tests: the queue pair. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "device.h"
#include "handover.h"

static struct fake_qp *qp_of(struct ib_qp *qp)
{
	return container_of(qp, struct fake_qp, ib);
}

static void record(struct fake_qp *qp, const struct ib_send_wr *wr)
{
	struct fake_wr *to = &qp->wrs[qp->posted++ % FAKE_WRS];

	*to = (struct fake_wr) {
		.opcode = wr->opcode,
		.flags = wr->send_flags,
		.cqe = wr->wr_cqe,
		.nr_sge = min(wr->num_sge, (int)FAKE_SGES),
		.post = qp->posts,
		.noio = current->flags & PF_MEMALLOC_NOIO,
	};
	if (wr->sg_list)
		memcpy(to->sge, wr->sg_list, to->nr_sge * sizeof(to->sge[0]));
	switch (wr->opcode) {
	case IB_WR_REG_MR:
		to->mr = reg_wr(wr)->mr;
		to->rkey = reg_wr(wr)->key;
		to->access = reg_wr(wr)->access;
		break;
	case IB_WR_LOCAL_INV:
	case IB_WR_SEND_WITH_INV:
		to->rkey = wr->ex.invalidate_rkey;
		break;
	case IB_WR_RDMA_READ_WITH_INV:
		/* As siw and cxgb4: rdma_rw sets invalidate_rkey before the key is new. */
		to->inv = wr->sg_list[0].lkey;
		fallthrough;
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_WRITE:
		to->rkey = rdma_wr(wr)->rkey;
		to->remote = rdma_wr(wr)->remote_addr;
		break;
	default:
		break;
	}
}

static int post_send(struct ib_qp *ib_qp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct fake_qp *qp = qp_of(ib_qp);
	void (*hook)(void *data);
	int rc = 0;

	spin_lock(&qp->lock);
	qp->posts++;
	for (; wr; wr = wr->next) {
		if (!qp->accept || qp->posted - qp->executed == FAKE_WRS) {
			if (bad)
				*bad = wr;
			rc = -ENOMEM;
			break;
		}
		if (qp->accept > 0)
			qp->accept--;
		record(qp, wr);
	}
	hook = qp->posted_hook;
	qp->posted_hook = NULL;
	spin_unlock(&qp->lock);
	if (qp->automatic)
		schedule_work(&qp->worker);
	if (hook) {
		fake_hook_begins();
		hook(qp->hook_data);
		fake_hook_ends();
	}
	return rc;
}

static int post_recv(struct ib_qp *ib_qp, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad)
{
	struct fake_qp *qp = qp_of(ib_qp);
	int rc = 0;

	spin_lock(&qp->lock);
	qp->recv_posts++;
	for (; wr; wr = wr->next) {
		if (!qp->recv_accept || qp->recvs_posted - qp->recvs_done == FAKE_RECVS) {
			if (bad)
				*bad = wr;
			rc = -ENOMEM;
			break;
		}
		if (qp->recv_accept > 0)
			qp->recv_accept--;
		qp->recvs[qp->recvs_posted++ % FAKE_RECVS] = (struct fake_recv) {
			.cqe = wr->wr_cqe,
			.sge = wr->sg_list[0],
		};
	}
	spin_unlock(&qp->lock);
	return rc;
}

static enum ib_wc_status execute(struct fake_qp *qp, const struct fake_wr *wr)
{
	struct fake_device *fake = fake_of(qp->ib.device);
	enum ib_wc_status status = IB_WC_SUCCESS;
	u32 ended = 0;

	switch (wr->opcode) {
	case IB_WR_REG_MR:
		fake_mr_register(wr->mr, wr->rkey, wr->access);
		break;
	case IB_WR_LOCAL_INV:
		ended = wr->rkey;
		break;
	case IB_WR_RDMA_READ_WITH_INV:
		ended = wr->inv;
		fallthrough;
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_WRITE:
		status = fake_rdma(fake, wr);
		break;
	default:
		break;
	}
	if (ended && !fake_mr_invalidate(fake, ended))
		status = IB_WC_LOC_QP_OP_ERR;
	return status;
}

/*
 * Between the two, what a work request belongs to is still in use, and so is its completion
 * queue: the drain waits. It begins under the lock that took the work request out of its queue.
 */
static void completion_begins(struct fake_qp *qp)
{
	lockdep_assert_held(&qp->lock);
	atomic_inc(&qp->completing);
}

static void completion_ends(struct fake_qp *qp)
{
	if (atomic_dec_and_test(&qp->completing))
		wake_up_var(&qp->completing);
}

/* Who flushes is the code under test: it is not to be slower than we are. */
static void handed_over(enum ib_wc_status status)
{
	if (status != IB_WC_WR_FLUSH_ERR)
		fake_handover();
}

/* One work request. False when there was none. */
static bool step(struct fake_qp *qp, enum ib_wc_status status)
{
	struct ib_wc wc = { .qp = &qp->ib };
	struct fake_wr wr;

	spin_lock(&qp->lock);
	if (qp->executed == qp->posted) {
		spin_unlock(&qp->lock);
		return false;
	}
	wr = qp->wrs[qp->executed++ % FAKE_WRS];
	completion_begins(qp);
	if (qp->error && status == IB_WC_SUCCESS)
		status = IB_WC_WR_FLUSH_ERR;
	if (status == IB_WC_SUCCESS)
		status = execute(qp, &wr);
	if (status != IB_WC_SUCCESS)
		qp->error = true;
	spin_unlock(&qp->lock);

	wc.status = status;
	wc.wr_cqe = wr.cqe;
	if (wr.cqe && (status != IB_WC_SUCCESS || wr.flags & IB_SEND_SIGNALED))
		wr.cqe->done(qp->ib.send_cq, &wc);
	handed_over(status);
	completion_ends(qp);
	handed_over(status);
	return true;
}

/**
 * fake_run - the next work requests take effect
 * @qp: the queue pair
 * @count: how many
 */
void fake_run(struct fake_qp *qp, unsigned int count)
{
	while (count-- && step(qp, IB_WC_SUCCESS))
		;
}
EXPORT_SYMBOL_GPL(fake_run);

/**
 * fake_run_all - all work requests take effect, also those posted meanwhile
 * @qp: the queue pair
 */
void fake_run_all(struct fake_qp *qp)
{
	while (step(qp, IB_WC_SUCCESS))
		;
}
EXPORT_SYMBOL_GPL(fake_run_all);

/**
 * fake_fail - the next work request fails, and the queue pair with it
 * @qp: the queue pair
 * @status: how
 */
void fake_fail(struct fake_qp *qp, enum ib_wc_status status)
{
	step(qp, status);
}
EXPORT_SYMBOL_GPL(fake_fail);

static bool recv_step(struct fake_qp *qp, struct ib_wc *wc, const void *message)
{
	struct fake_recv recv;

	spin_lock(&qp->lock);
	if (qp->recvs_done == qp->recvs_posted) {
		spin_unlock(&qp->lock);
		return false;
	}
	recv = qp->recvs[qp->recvs_done++ % FAKE_RECVS];
	completion_begins(qp);
	if (qp->error && wc->status == IB_WC_SUCCESS)
		wc->status = IB_WC_WR_FLUSH_ERR;
	if (wc->byte_len > recv.sge.length)
		wc->status = IB_WC_LOC_LEN_ERR;
	spin_unlock(&qp->lock);

	wc->qp = &qp->ib;
	wc->wr_cqe = recv.cqe;
	wc->opcode = IB_WC_RECV;
	if (wc->status == IB_WC_SUCCESS) {
		/* Whoever reads beyond the message gets nonsense. */
		memset((void *)(uintptr_t)recv.sge.addr, 0xee, recv.sge.length);
		memcpy((void *)(uintptr_t)recv.sge.addr, message, wc->byte_len);
	}
	/* As if who polls had been faster than the event. */
	recv.cqe->done(qp->ib.recv_cq, wc);
	handed_over(wc->status);
	/* Who drains may free the completion queue. */
	qp->ib.recv_cq->comp_handler(qp->ib.recv_cq, qp->ib.recv_cq->cq_context);
	handed_over(wc->status);
	completion_ends(qp);
	handed_over(wc->status);
	return true;
}

/**
 * fake_deliver - a message arrives
 * @qp: the queue pair
 * @message: the message
 * @length: its size in bytes
 *
 * Return: false when no Receive was posted.
 */
bool fake_deliver(struct fake_qp *qp, const void *message, u32 length)
{
	struct ib_wc wc = { .byte_len = length };

	return recv_step(qp, &wc, message);
}
EXPORT_SYMBOL_GPL(fake_deliver);

/**
 * fake_deliver_invalidate - a Send With Invalidate arrives
 * @qp: the queue pair
 * @message: the message
 * @length: its size in bytes
 * @rkey: what is invalidated, if it is valid
 *
 * Return: false when no Receive was posted.
 */
bool fake_deliver_invalidate(struct fake_qp *qp, const void *message, u32 length,
			     u32 rkey)
{
	struct ib_wc wc = {
		.byte_len = length,
		.wc_flags = IB_WC_WITH_INVALIDATE,
		.ex.invalidate_rkey = rkey,
	};

	fake_mr_invalidate(fake_of(qp->ib.device), rkey);
	return recv_step(qp, &wc, message);
}
EXPORT_SYMBOL_GPL(fake_deliver_invalidate);

/**
 * fake_recv_fail - the next Receive fails
 * @qp: the queue pair
 * @status: how
 */
bool fake_recv_fail(struct fake_qp *qp, enum ib_wc_status status)
{
	struct ib_wc wc = { .status = status };

	return recv_step(qp, &wc, NULL);
}
EXPORT_SYMBOL_GPL(fake_recv_fail);

static void flush_sends(struct fake_qp *qp)
{
	while (step(qp, IB_WC_WR_FLUSH_ERR))
		;
}

static void flush_recvs(struct fake_qp *qp)
{
	while (fake_recv_fail(qp, IB_WC_WR_FLUSH_ERR))
		;
}

static void wait_for_completions(struct fake_qp *qp)
{
	wait_var_event(&qp->completing, !atomic_read(&qp->completing));
}

static void drain_sq(struct ib_qp *qp)
{
	flush_sends(qp_of(qp));
	wait_for_completions(qp_of(qp));
}

static void drain_rq(struct ib_qp *qp)
{
	flush_recvs(qp_of(qp));
	wait_for_completions(qp_of(qp));
}

/**
 * fake_flush - the connection is lost: everything posted is flushed
 * @qp: the queue pair
 */
void fake_flush(struct fake_qp *qp)
{
	qp->error = true;
	flush_recvs(qp);
	flush_sends(qp);
}
EXPORT_SYMBOL_GPL(fake_flush);

/* fake_wr() counts from here on. */
void fake_mark(struct fake_qp *qp)
{
	qp->mark = qp->posted;
}
EXPORT_SYMBOL_GPL(fake_mark);

unsigned int fake_posted(const struct fake_qp *qp)
{
	return qp->posted - qp->mark;
}
EXPORT_SYMBOL_GPL(fake_posted);

struct fake_wr *fake_wr(struct fake_qp *qp, unsigned int n)
{
	return &qp->wrs[(qp->mark + n) % FAKE_WRS];
}
EXPORT_SYMBOL_GPL(fake_wr);

struct fake_wr *fake_last_wr(struct fake_qp *qp)
{
	return &qp->wrs[(qp->posted - 1) % FAKE_WRS];
}
EXPORT_SYMBOL_GPL(fake_last_wr);

/* First element of a Send. */
void *fake_message(const struct fake_wr *wr)
{
	return (void *)(uintptr_t)wr->sge[0].addr;
}
EXPORT_SYMBOL_GPL(fake_message);

/* Posted, without effect so far. */
unsigned int fake_pending(const struct fake_qp *qp)
{
	return qp->posted - qp->executed;
}
EXPORT_SYMBOL_GPL(fake_pending);

/* Receives that are posted. */
unsigned int fake_recvs(const struct fake_qp *qp)
{
	return qp->recvs_posted - qp->recvs_done;
}
EXPORT_SYMBOL_GPL(fake_recvs);

static void automatic_worker(struct work_struct *work)
{
	fake_run_all(container_of(work, struct fake_qp, worker));
}

int fake_qp_init(struct fake_device *fake)
{
	struct fake_qp *qp = &fake->qp;

	qp->wrs = kvcalloc(FAKE_WRS, sizeof(*qp->wrs), GFP_KERNEL);
	qp->recvs = kvcalloc(FAKE_RECVS, sizeof(*qp->recvs), GFP_KERNEL);
	if (!qp->wrs || !qp->recvs) {
		kvfree(qp->wrs);
		kvfree(qp->recvs);
		return -ENOMEM;
	}
	qp->ib.device = &fake->ib;
	qp->ib.pd = &fake->pd;
	qp->ib.qp_type = IB_QPT_RC;
	qp->ib.port = 1;
	qp->ib.max_read_sge = 4;
	qp->ib.max_write_sge = 4;
	spin_lock_init(&qp->lock);
	INIT_WORK(&qp->worker, automatic_worker);
	qp->accept = -1;
	qp->recv_accept = -1;
	fake->ib.ops.post_send = post_send;
	fake->ib.ops.post_recv = post_recv;
	fake->ib.ops.drain_sq = drain_sq;
	fake->ib.ops.drain_rq = drain_rq;
	return 0;
}

void fake_qp_exit(struct fake_qp *qp)
{
	cancel_work_sync(&qp->worker);
	kvfree(qp->wrs);
	kvfree(qp->recvs);
}
