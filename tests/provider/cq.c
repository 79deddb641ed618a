// SPDX-License-Identifier: GPL-2.0-only
/*
 * The provider in memory: completion queues.
 *
 * As on hardware, an entry of a Send or Receive Queue is free again when its completion,
 * or that of one posted after it, has been polled; and a completion queue has as many
 * entries as were asked for, and not one more.
 */
#include <linux/slab.h>

#include "memory.h"

/* ib_alloc_cq() */
int memory_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	struct memory_device *device = memory_device_of(ib->device);
	struct memory_cq *cq = memory_cq_of(ib);

	if (!memory_step(device, MEMORY_CREATE_CQ, NULL))
		return -ENOMEM;
	if (!attr->cqe || attr->cqe > ib->device->attrs.max_cqe)
		return -EINVAL;
	cq->ring = kvcalloc(attr->cqe, sizeof(*cq->ring), GFP_KERNEL);
	if (!cq->ring)
		return -ENOMEM;
	spin_lock_init(&cq->lock);
	cq->size = attr->cqe;
	ib->cqe = attr->cqe;
	atomic_inc(&device->nr_cqs);
	return 0;
}

/* ib_free_cq() */
int memory_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	atomic_dec(&memory_device_of(ib->device)->nr_cqs);
	kvfree(memory_cq_of(ib)->ring);
	return 0;
}

/* An error of a late Read is that of the completion that tells of it. */
static void place_reads(struct memory_cqe *cqe)
{
	if (cqe->receive || cqe->wc.status != IB_WC_SUCCESS)
		return;
	cqe->wc.status = memory_place_reads(cqe->qp, cqe->number + 1);
	if (cqe->wc.status != IB_WC_SUCCESS)
		memory_end(cqe->qp);
}

/* Of those that are polled next. All that is put there is put under the lock that is held. */
static void place_late(struct memory_cq *cq, int count)
{
	u32 i;

	for (i = cq->got; !cq->held && count && i != cq->put; i++) {
		struct memory_cqe *cqe = &cq->ring[i % cq->size];

		if (!cqe->qp)
			continue;
		place_reads(cqe);
		count--;
	}
}

static void free_entries(const struct memory_cqe *cqe)
{
	struct memory_queue *queue = cqe->receive ? &cqe->qp->rq : &cqe->qp->sq;

	/* For whoever posts the next one: what was done with this one is done. */
	smp_store_release(&queue->freed, cqe->number + 1);
}

static int poll(struct memory_cq *cq, int count, struct ib_wc *wc)
{
	unsigned long flags;
	int n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (!cq->held && n < count && cq->got != cq->put) {
		struct memory_cqe *cqe = &cq->ring[cq->got++ % cq->size];

		/* One of a queue pair that is gone. */
		if (!cqe->qp)
			continue;
		free_entries(cqe);
		wc[n++] = cqe->wc;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

/* ib_poll_cq() */
int memory_poll_cq(struct ib_cq *ib, int count, struct ib_wc *wc)
{
	struct memory_device *device = memory_device_of(ib->device);
	spinlock_t *lock;
	unsigned long flags;
	int n;

	if (!device->late_reads)
		return poll(memory_cq_of(ib), count, wc);
	lock = memory_lock_of(device, 0);
	spin_lock_irqsave(lock, flags);
	place_late(memory_cq_of(ib), count);
	n = poll(memory_cq_of(ib), count, wc);
	spin_unlock_irqrestore(lock, flags);
	return n;
}

/* ib_req_notify_cq() */
int memory_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags notify)
{
	struct memory_cq *cq = memory_cq_of(ib);
	unsigned long flags;
	bool missed;

	spin_lock_irqsave(&cq->lock, flags);
	cq->armed = true;
	missed = !cq->held && cq->got != cq->put;
	spin_unlock_irqrestore(&cq->lock, flags);
	return notify & IB_CQ_REPORT_MISSED_EVENTS && missed;
}

/* A completion event. Under a name of its own: whoever counts them can tell how many there are. */
static noinline __noclone void memory_cq_event(struct memory_cq *cq)
{
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

/* memory_cq_tell - who waits for a completion, that there is one; the queue's lock is held */
void memory_cq_tell(struct memory_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	if (!cq->armed || cq->held || cq->got == cq->put)
		return;
	cq->armed = false;
	memory_cq_event(cq);
}

/**
 * memory_cq_put - a work request has completed
 * @cq: where to
 * @cqe: what is copied there
 *
 * Context: any.
 */
void memory_cq_put(struct memory_cq *cq, const struct memory_cqe *cqe)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->put - cq->got == cq->size) {
		memory_complain(memory_device_of(cq->ib.device),
				"a completion queue of %u entries overflows", cq->size);
	} else {
		cq->ring[cq->put++ % cq->size] = *cqe;
		memory_cq_tell(cq);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
}

/* memory_cq_clean - nobody will ask for these */
void memory_cq_clean(struct memory_cq *cq, struct memory_qp *qp)
{
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&cq->lock, flags);
	for (i = cq->got; i != cq->put; i++)
		if (cq->ring[i % cq->size].qp == qp)
			cq->ring[i % cq->size].qp = NULL;
	spin_unlock_irqrestore(&cq->lock, flags);
}
