// SPDX-License-Identifier: GPL-2.0-only
/* The provider in memory: lets the test decide when work is done. */
#include "../../fake/handover.h"
#include "provider.h"

/* memory_hold - work requests take effect only by memory_run() */
void memory_hold(struct ib_qp *ib)
{
	WRITE_ONCE(memory_qp_of(ib)->allowance, 0);
}

/**
 * memory_run - the next work requests of a queue pair that is held take effect
 * @ib: queue pair
 * @count: how many at most; -1: all, and it is not held any more
 */
void memory_run(struct ib_qp *ib, int count)
{
	struct memory_qp *qp = memory_qp_of(ib);
	unsigned long flags = memory_lock(qp);

	qp->allowance = count;
	memory_kick(qp);
	if (count > 0)
		qp->allowance = 0;
	memory_unlock(qp, flags);
	fake_handover();
}

void memory_release(struct ib_qp *ib)
{
	memory_run(ib, -1);
}

/* memory_lose - the connection is lost for both ends */
void memory_lose(struct ib_qp *ib)
{
	struct memory_qp *qp = memory_qp_of(ib);
	unsigned long flags = memory_lock(qp);

	memory_terminate(qp);
	memory_unlock(qp, flags);
	fake_handover();
}

unsigned int memory_sends(struct ib_qp *ib)
{
	struct memory_qp *qp = memory_qp_of(ib);

	return READ_ONCE(qp->sq.posted) - READ_ONCE(qp->sq.done);
}

unsigned int memory_receives(struct ib_qp *ib)
{
	struct memory_qp *qp = memory_qp_of(ib);

	return READ_ONCE(qp->rq.posted) - READ_ONCE(qp->rq.done);
}

/**
 * memory_hold_cq - completions are not seen from now on
 * @cq: the queue
 */
void memory_hold_cq(struct ib_cq *cq)
{
	WRITE_ONCE(memory_cq_of(cq)->held, true);
}

/**
 * memory_release_cq - those that were held, and all later ones, are seen
 * @ib: the queue
 */
void memory_release_cq(struct ib_cq *ib)
{
	struct memory_cq *cq = memory_cq_of(ib);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->held = false;
	memory_cq_tell(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	fake_handover();
}

/* Completions that nobody has polled. */
unsigned int memory_cq_waiting(struct ib_cq *ib)
{
	struct memory_cq *cq = memory_cq_of(ib);

	return READ_ONCE(cq->put) - READ_ONCE(cq->got);
}

/* STags that a peer could use now. */
unsigned int memory_valid_keys(struct memory_device *device)
{
	unsigned int count = 0;
	struct memory_mr *mr;
	unsigned long index;

	xa_for_each(&device->mrs, index, mr)
		count += mr->valid;
	return count;
}
