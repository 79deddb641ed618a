// SPDX-License-Identifier: GPL-2.0-only
/* Queues of the provider for tests, and the wire of its ids, which lead to no peer. */
#include <linux/slab.h>
#include <rdma/mr_pool.h>

#include "queues.h"

struct fake_queues fake_queues;

/* fake_objects - ids, protection domains, completion queues, queue pairs that exist */
int fake_objects(void)
{
	return fake_cm.ids + fake_queues.pds + fake_queues.cqs + fake_queues.qps;
}

/* fake_queues_check - at the end of a test */
void fake_queues_check(void)
{
	if (fake_objects())
		kunit_fail_current_test("%d cm_ids, %d PDs, %d CQs were left",
					fake_cm.ids, fake_queues.pds, fake_queues.cqs);
}

/* ---- ib_core ---- */

struct ib_pd *__ib_alloc_pd(struct ib_device *device, unsigned int flags,
			    const char *caller)
{
	if (fake_queues.pd_errno)
		return ERR_PTR(fake_queues.pd_errno);
	fake_queues.pds++;
	return &fake_queues.fake->pd;
}

int ib_dealloc_pd_user(struct ib_pd *pd, struct ib_udata *udata)
{
	if (atomic_read(&pd->usecnt) || fake_queues.qps)
		kunit_fail_current_test("the protection domain is freed while in use");
	fake_queues.pds--;
	return 0;
}

/* ib_core's own handler. Completions are handled as they come: nothing is left to poll. */
static void cq_event(struct ib_cq *cq, void *context)
{
}

static void polled(struct ib_cq *cq, struct ib_wc *wc)
{
	fake_queues.handled++;
}

static struct ib_cqe polled_cqe = { .done = polled };

/* There is something to poll where a test says so. */
static int poll_cq(struct ib_cq *cq, int count, struct ib_wc *wcs)
{
	int i;

	fake_queues.polls++;
	count = min_t(u32, count, fake_queues.to_poll);
	for (i = 0; i < count; i++)
		wcs[i] = (struct ib_wc) { .wr_cqe = &polled_cqe };
	fake_queues.to_poll -= count;
	return count;
}

static struct ib_cq *create_cq(struct ib_device *device, void *context, u32 size)
{
	struct ib_cq *cq;

	if (!fake_queues.cq_accept)
		return ERR_PTR(-ENOMEM);
	if (fake_queues.cq_accept > 0)
		fake_queues.cq_accept--;
	cq = kzalloc(sizeof(*cq), GFP_KERNEL);
	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->device = device;
	cq->cq_context = context;
	cq->cqe = size;
	cq->comp_handler = cq_event;
	fake_queues.cqs++;
	return cq;
}

static void destroy_cq(struct ib_cq *cq)
{
	if (fake_queues.qps)
		kunit_fail_current_test("a completion queue is freed while in use");
	fake_queues.cqs--;
	kfree(cq);
}

struct ib_cq *__ib_alloc_cq_any(struct ib_device *device, void *private, int nr_cqe,
				enum ib_poll_context poll, const char *caller)
{
	return create_cq(device, private, nr_cqe);
}

void ib_free_cq(struct ib_cq *cq)
{
	if (cq->comp_handler != cq_event)
		kunit_fail_current_test("a completion queue is freed that ib_core has not allocated");
	destroy_cq(cq);
}

struct ib_cq *__ib_create_cq(struct ib_device *device, ib_comp_handler handler,
			     void (*event)(struct ib_event *, void *), void *context,
			     const struct ib_cq_init_attr *attr, const char *caller)
{
	struct ib_cq *cq = create_cq(device, context, attr->cqe);

	if (!IS_ERR(cq))
		cq->comp_handler = handler;
	return cq;
}

int ib_destroy_cq_user(struct ib_cq *cq, struct ib_udata *udata)
{
	if (fake_queues.on_destroy_cq)
		fake_queues.on_destroy_cq(cq);
	destroy_cq(cq);
	return 0;
}

/* ---- what ids lead to ---- */

static struct ib_device *device(void)
{
	return &fake_queues.fake->ib;
}

/* As rdma_rw_init_mrs(). */
static int create_regions(struct fake_qp *qp)
{
	spin_lock_init(&qp->ib.mr_lock);
	INIT_LIST_HEAD(&qp->ib.rdma_mrs);
	INIT_LIST_HEAD(&qp->ib.sig_mrs);
	if (!fake_queues.regions)
		return 0;
	return ib_mr_pool_init(&qp->ib, &qp->ib.rdma_mrs, fake_queues.regions,
			       IB_MR_TYPE_MEM_REG,
			       fake_queues.fake->ib.attrs.max_fast_reg_page_list_len, 0);
}

/* As rdma_rw_init_qp(): work requests for each context. */
static int create_qp(struct rdma_cm_id *id, struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	struct fake_qp *qp = &fake_queues.fake->qp;
	u32 each = fake_queues.regions ? 3 : 1;

	if (fake_queues.qp_errno)
		return fake_queues.qp_errno;
	if (attr->cap.max_send_wr > id->device->attrs.max_qp_wr ||
	    (fake_queues.max_send_wr && attr->cap.max_send_wr > fake_queues.max_send_wr))
		return -EINVAL;
	fake_queues.qp_attr = *attr;
	attr->cap.max_send_wr = min_t(u32, id->device->attrs.max_qp_wr,
				      attr->cap.max_send_wr +
				      each * attr->cap.max_rdma_ctxs);
	qp->ib.send_cq = attr->send_cq;
	qp->ib.recv_cq = attr->recv_cq;
	qp->ib.qp_context = attr->qp_context;
	qp->error = false;
	id->qp = &qp->ib;
	fake_queues.qps++;
	return create_regions(qp);
}

static void destroy_qp(struct rdma_cm_id *id)
{
	struct fake_qp *qp = &fake_queues.fake->qp;

	if (fake_pending(qp) || fake_recvs(qp))
		kunit_fail_current_test("the queue pair is destroyed before it is drained");
	ib_mr_pool_destroy(&qp->ib, &qp->ib.rdma_mrs);
	fake_queues.qps--;
}

static void accept_request(struct rdma_cm_id *id)
{
	fake_queues.recvs_at_start = fake_recvs(&fake_queues.fake->qp);
}

static bool connect_to_test(struct rdma_cm_id *id, const struct rdma_conn_param *param)
{
	fake_queues.recvs_at_start = fake_recvs(&fake_queues.fake->qp);
	return true;
}

static void disconnect(struct rdma_cm_id *id)
{
	fake_queues.fake->qp.error = true;
}

static const struct fake_cm_wire wire = {
	.device		= device,
	.create_qp	= create_qp,
	.destroy_qp	= destroy_qp,
	.connect	= connect_to_test,
	.accept		= accept_request,
	.disconnect	= disconnect,
};

/* fake_queues_reset - a test begins, on this device */
void fake_queues_reset(struct fake_device *fake)
{
	fake_queues = (struct fake_queues) { .fake = fake, .cq_accept = -1 };
	fake->ib.ops.poll_cq = poll_cq;
	fake_cm_reset(&wire);
}
