// SPDX-License-Identifier: GPL-2.0-only
/* The provider in memory: queue pairs, and posting to them. */
#include <linux/delay.h>
#include <linux/slab.h>

#include "memory.h"

static struct memory_device *device_of(const struct memory_qp *qp)
{
	return memory_device_of(qp->ib.device);
}

/* What is to be told of a queue pair when its lock is dropped */
struct news {
	struct memory_qp	*qp;
	int			event;
	bool			ended;
};

static bool take_news(struct memory_qp *qp, struct news *news)
{
	*news = (struct news) { qp, qp->event, qp->over };
	qp->event = -1;
	qp->over = false;
	if (news->event < 0 && !news->ended)
		return false;
	qp->tellers++;
	return true;
}

/* The peer may be destroyed meanwhile, by whoever has it. */
static void tell(const struct news *news)
{
	struct memory_qp *qp = news->qp;
	struct ib_event event = {
		.device = qp->ib.device, .element.qp = &qp->ib, .event = news->event,
	};

	if (news->ended)
		qp->ended(qp);
	if (news->event >= 0 && qp->ib.event_handler)
		qp->ib.event_handler(&event, qp->ib.qp_context);
	memory_qp_put(qp);
}

/**
 * memory_lock - take the lock of a queue pair and its peer
 * @qp: the queue pair
 *
 * Return: flags, for memory_unlock().
 */
unsigned long memory_lock(struct memory_qp *qp)
{
	unsigned long flags;
	spinlock_t *lock;

	/* When it is joined to another it may get another one. */
	for (;;) {
		lock = READ_ONCE(qp->lock);
		spin_lock_irqsave(lock, flags);
		if (lock == qp->lock)
			return flags;
		spin_unlock_irqrestore(lock, flags);
	}
}

/**
 * memory_unlock - drop it; events are told then: handlers may do anything
 * @qp: the queue pair that something was done with, or to whose peer
 * @flags: of memory_lock()
 */
void memory_unlock(struct memory_qp *qp, unsigned long flags)
{
	struct memory_qp *told[] = { qp, qp->peer };
	spinlock_t *lock = qp->lock;
	struct news news[2];
	int i, n = 0;

	for (i = 0; i < 2; i++)
		if (told[i] && take_news(told[i], &news[n]))
			n++;
	spin_unlock_irqrestore(lock, flags);
	for (i = 0; i < n; i++)
		tell(&news[i]);
}

/* memory_qp_get - it is not destroyed before memory_qp_put() */
void memory_qp_get(struct memory_qp *qp)
{
	unsigned long flags = memory_lock(qp);

	qp->tellers++;
	spin_unlock_irqrestore(qp->lock, flags);
}

void memory_qp_put(struct memory_qp *qp)
{
	unsigned long flags = memory_lock(qp);
	spinlock_t *lock = qp->lock;

	/* From here on the queue pair may be freed. The lock is the device's. */
	qp->tellers--;
	spin_unlock_irqrestore(lock, flags);
}

static void queue_exit(struct memory_queue *queue)
{
	kvfree(queue->sges);
	kvfree(queue->wrs);
}

static int queue_init(struct memory_queue *queue, u32 wrs, u32 sges)
{
	queue->wrs = kvcalloc(max(wrs, 1), sizeof(*queue->wrs), GFP_KERNEL);
	queue->sges = kvcalloc(max(wrs * sges, 1), sizeof(*queue->sges), GFP_KERNEL);
	queue->size = wrs;
	queue->max_sge = sges;
	return queue->wrs && queue->sges ? 0 : -ENOMEM;
}

static bool can_make(const struct memory_shape *shape, const struct ib_qp_cap *cap)
{
	return cap->max_send_wr <= shape->wrs && cap->max_recv_wr <= shape->wrs &&
	       cap->max_send_sge <= shape->send_sges && cap->max_recv_sge <= shape->recv_sges;
}

/* ib_create_qp() */
int memory_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr,
		     struct ib_udata *udata)
{
	struct memory_device *device = memory_device_of(ib->device);
	struct memory_qp *qp = memory_qp_of(ib);
	int rc;

	if (!memory_step(device, MEMORY_CREATE_QP, NULL))
		return -ENOMEM;
	ib->qp_num = atomic_inc_return(&device->next_qpn);
	qp->lock = memory_lock_of(device, ib->qp_num);
	if (attr->qp_type != IB_QPT_RC || attr->srq)
		return -EOPNOTSUPP;
	if (!can_make(device->shape, &attr->cap))
		return -EINVAL;
	rc = queue_init(&qp->sq, attr->cap.max_send_wr, attr->cap.max_send_sge);
	if (!rc)
		rc = queue_init(&qp->rq, attr->cap.max_recv_wr, attr->cap.max_recv_sge);
	if (rc) {
		queue_exit(&qp->sq);
		queue_exit(&qp->rq);
		return rc;
	}
	qp->signal_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->state = IB_QPS_RESET;
	qp->allowance = -1;
	qp->rnr_retries = device->iwarp ? 0 : -1;
	qp->event = -1;
	atomic_inc(&device->nr_qps);
	return 0;
}

/* ib_modify_qp(): of interest is the error state; rdma_cm asks for the others. */
int memory_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		     struct ib_udata *udata)
{
	struct memory_qp *qp = memory_qp_of(ib);
	unsigned long flags;

	if (!(mask & IB_QP_STATE))
		return 0;
	flags = memory_lock(qp);
	/* The CM of iWARP closes in this way. */
	if (attr->qp_state != IB_QPS_ERR && attr->qp_state != IB_QPS_SQD)
		qp->state = attr->qp_state;
	else
		memory_end(qp);
	memory_unlock(qp, flags);
	return 0;
}

/* ib_query_qp() */
int memory_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = memory_qp_of(ib)->state;
	attr->cur_qp_state = attr->qp_state;
	return 0;
}

/* ib_destroy_qp() */
int memory_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct memory_qp *qp = memory_qp_of(ib);
	unsigned long flags;

	flags = memory_lock(qp);
	/* The CM has to know of the end. */
	if (qp->ended)
		memory_end(qp);
	memory_unlock(qp, flags);
	while (READ_ONCE(qp->tellers))
		usleep_range(50, 100);
	flags = memory_lock(qp);
	if (qp->peer)
		qp->peer->peer = NULL;
	memory_cq_clean(memory_cq_of(ib->send_cq), qp);
	memory_cq_clean(memory_cq_of(ib->recv_cq), qp);
	spin_unlock_irqrestore(qp->lock, flags);
	while (READ_ONCE(qp->tellers))
		usleep_range(50, 100);
	if (qp->sq.done != qp->sq.posted || qp->rq.done != qp->rq.posted)
		memory_complain(device_of(qp), "a queue pair is destroyed that is in use");
	queue_exit(&qp->sq);
	queue_exit(&qp->rq);
	atomic_dec(&device_of(qp)->nr_qps);
	return 0;
}

/* The next free entry, or NULL. */
static struct memory_wr *take(struct memory_queue *queue)
{
	struct memory_wr *wr;

	if (queue->posted - smp_load_acquire(&queue->freed) >= queue->size)
		return NULL;
	wr = &queue->wrs[queue->posted % queue->size];
	memset(wr, 0, sizeof(*wr));
	wr->sge = &queue->sges[(size_t)(wr - queue->wrs) * queue->max_sge];
	return wr;
}

static int copy_sges(struct memory_queue *queue, struct memory_wr *to,
		     const struct ib_sge *sge, int count)
{
	if (count < 0 || count > queue->max_sge)
		return -EINVAL;
	to->nr_sge = count;
	if (count)
		memcpy(to->sge, sge, count * sizeof(*sge));
	return 0;
}

static u32 total(const struct memory_wr *wr)
{
	u32 length = 0;
	int i;

	for (i = 0; i < wr->nr_sge; i++)
		length += wr->sge[i].length;
	return length;
}

static int copy_send(struct memory_qp *qp, struct memory_wr *to,
		     const struct ib_send_wr *wr)
{
	to->opcode = wr->opcode;
	to->flags = wr->send_flags;
	to->cqe = wr->wr_cqe;
	switch (wr->opcode) {
	case IB_WR_REG_MR:
		to->mr = memory_mr_of(reg_wr(wr)->mr);
		to->key = reg_wr(wr)->key;
		to->access = reg_wr(wr)->access;
		return 0;
	case IB_WR_LOCAL_INV:
		to->key = wr->ex.invalidate_rkey;
		return 0;
	case IB_WR_SEND_WITH_INV:
		to->key = wr->ex.invalidate_rkey;
		break;
	case IB_WR_RDMA_READ_WITH_INV:
		/* As others do: rdma_rw sets invalidate_rkey before the key is new. */
		to->key = wr->num_sge ? wr->sg_list[0].lkey : 0;
		fallthrough;
	case IB_WR_RDMA_READ:
		if (wr->num_sge > device_of(qp)->shape->read_sges)
			return -EINVAL;
		fallthrough;
	case IB_WR_RDMA_WRITE:
		to->remote.lkey = rdma_wr(wr)->rkey;
		to->remote.addr = rdma_wr(wr)->remote_addr;
		break;
	case IB_WR_SEND:
		break;
	default:
		return -EINVAL;
	}
	if (copy_sges(&qp->sq, to, wr->sg_list, wr->num_sge))
		return -EINVAL;
	to->remote.length = total(to);
	return 0;
}

static int post_one_send(struct memory_qp *qp, const struct ib_send_wr *wr)
{
	struct memory_wr *to;
	int rc;

	if (!memory_step(device_of(qp), MEMORY_POST_SEND, NULL))
		return -ENOMEM;
	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_ERR)
		return -EINVAL;
	to = take(&qp->sq);
	if (!to) {
		memory_complain(device_of(qp), "a Send Queue of %u entries overflows",
				qp->sq.size);
		return -ENOMEM;
	}
	rc = copy_send(qp, to, wr);
	if (!rc)
		qp->sq.posted++;
	return rc;
}

/* ib_post_send() */
int memory_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct memory_qp *qp = memory_qp_of(ib);
	unsigned long flags;
	int rc = 0;

	flags = memory_lock(qp);
	for (; wr && !rc; wr = rc ? wr : wr->next)
		rc = post_one_send(qp, wr);
	if (rc && bad)
		*bad = wr;
	memory_kick(qp);
	memory_unlock(qp, flags);
	return rc;
}

static int post_one_recv(struct memory_qp *qp, const struct ib_recv_wr *wr)
{
	struct memory_wr *to;
	int rc;

	if (!memory_step(device_of(qp), MEMORY_POST_RECV, NULL))
		return -ENOMEM;
	if (qp->state == IB_QPS_RESET)
		return -EINVAL;
	to = take(&qp->rq);
	if (!to) {
		memory_complain(device_of(qp), "a Receive Queue of %u entries overflows",
				qp->rq.size);
		return -ENOMEM;
	}
	to->cqe = wr->wr_cqe;
	rc = copy_sges(&qp->rq, to, wr->sg_list, wr->num_sge);
	if (!rc)
		qp->rq.posted++;
	return rc;
}

/* ib_post_recv() */
int memory_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad)
{
	struct memory_qp *qp = memory_qp_of(ib);
	unsigned long flags;
	int rc = 0;

	flags = memory_lock(qp);
	for (; wr && !rc; wr = rc ? wr : wr->next)
		rc = post_one_recv(qp, wr);
	if (rc && bad)
		*bad = wr;
	if (qp->state == IB_QPS_ERR)
		memory_error(qp, -1);
	else if (qp->peer)
		memory_kick(qp->peer);
	memory_unlock(qp, flags);
	return rc;
}

/* One that is over stays so. */
static void set_rts(struct memory_qp *qp)
{
	if (qp->state != IB_QPS_ERR)
		qp->state = IB_QPS_RTS;
}

/**
 * memory_connect - join two queue pairs
 * @a: one; of this or that device
 * @b: the other; from now on it has the lock of @a
 *
 * Context: one at a time.
 */
void memory_connect(struct ib_qp *a, struct ib_qp *b)
{
	struct memory_qp *ends[] = { memory_qp_of(a), memory_qp_of(b) };
	spinlock_t *lock = ends[0]->lock, *old = ends[1]->lock;
	/* In the order of their addresses */
	spinlock_t *first = min(lock, old), *second = max(lock, old);
	unsigned long flags;
	int i;

	spin_lock_irqsave(first, flags);
	if (first != second)
		spin_lock_nested(second, SINGLE_DEPTH_NESTING);
	for (i = 0; i < 2; i++) {
		ends[i]->peer = ends[!i];
		WRITE_ONCE(ends[i]->lock, lock);
		set_rts(ends[i]);
	}
	if (first != second)
		spin_unlock(second);
	spin_unlock_irqrestore(first, flags);
}
