// SPDX-License-Identifier: GPL-2.0
/* Ids and queues without a wire, for the module that this is linked into. */
#include <linux/delay.h>
#include <linux/slab.h>
#include <rdma/mr_pool.h>

#include "cm.h"

struct fake_cm fake_cm;

void fake_cm_reset(struct fake_device *fake)
{
	fake_cm = (struct fake_cm) { .fake = fake, .cq_accept = -1 };
}

/* At the end of a test. */
void fake_cm_check(void)
{
	if (fake_cm.ids || fake_cm.pds || fake_cm.cqs)
		kunit_fail_current_test("%d cm_ids, %d PDs, %d CQs were left",
					fake_cm.ids, fake_cm.pds, fake_cm.cqs);
}

/* One that rdma_destroy_id() takes. */
struct rdma_cm_id *fake_cm_id(void)
{
	struct rdma_cm_id *id = kzalloc(sizeof(*id), GFP_KERNEL);

	if (id)
		fake_cm.ids++;
	return id;
}

struct rdma_cm_id *__rdma_create_kernel_id(struct net *net,
					   rdma_cm_event_handler handler,
					   void *context, enum rdma_ucm_port_space ps,
					   enum ib_qp_type type, const char *caller)
{
	struct rdma_cm_id *id;

	if (fake_cm.id_errno)
		return ERR_PTR(fake_cm.id_errno);
	id = fake_cm_id();
	if (!id)
		return ERR_PTR(-ENOMEM);
	id->event_handler = handler;
	id->context = context;
	id->ps = ps;
	id->qp_type = type;
	return id;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	fake_cm.disconnects++;
	if (fake_cm.disconnect_ms)
		msleep(fake_cm.disconnect_ms);
	fake_cm.fake->qp.error = true;
	return 0;
}

/* As rdma_rw_init_mrs(). */
static int create_regions(struct fake_qp *qp)
{
	spin_lock_init(&qp->ib.mr_lock);
	INIT_LIST_HEAD(&qp->ib.rdma_mrs);
	INIT_LIST_HEAD(&qp->ib.sig_mrs);
	if (!fake_cm.regions)
		return 0;
	return ib_mr_pool_init(&qp->ib, &qp->ib.rdma_mrs, fake_cm.regions,
			       IB_MR_TYPE_MEM_REG,
			       fake_cm.fake->ib.attrs.max_fast_reg_page_list_len, 0);
}

/* As rdma_rw_init_qp(): work requests for each context. */
int rdma_create_qp(struct rdma_cm_id *id, struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	struct fake_qp *qp = &fake_cm.fake->qp;
	u32 each = fake_cm.regions ? 3 : 1;

	if (fake_cm.qp_errno)
		return fake_cm.qp_errno;
	if (attr->cap.max_send_wr > id->device->attrs.max_qp_wr ||
	    (fake_cm.max_send_wr && attr->cap.max_send_wr > fake_cm.max_send_wr))
		return -EINVAL;
	fake_cm.qp_attr = *attr;
	attr->cap.max_send_wr = min_t(u32, id->device->attrs.max_qp_wr,
				      attr->cap.max_send_wr +
				      each * attr->cap.max_rdma_ctxs);
	qp->ib.send_cq = attr->send_cq;
	qp->ib.recv_cq = attr->recv_cq;
	qp->ib.qp_context = attr->qp_context;
	qp->error = false;
	id->qp = &qp->ib;
	fake_cm.qps++;
	return create_regions(qp);
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct fake_qp *qp = &fake_cm.fake->qp;

	if (fake_pending(qp) || fake_recvs(qp))
		kunit_fail_current_test("the queue pair is destroyed before it is drained");
	ib_mr_pool_destroy(&qp->ib, &qp->ib.rdma_mrs);
	id->qp = NULL;
	fake_cm.qps--;
}

void rdma_destroy_id(struct rdma_cm_id *id)
{
	if (id->qp)
		kunit_fail_current_test("the cm_id is destroyed before its queue pair");
	if (fake_cm.on_destroy)
		fake_cm.on_destroy(id);
	if (fake_cm.bound == id)
		fake_cm.bound = NULL;
	fake_cm.ids--;
	kfree(id);
}

struct ib_pd *__ib_alloc_pd(struct ib_device *device, unsigned int flags,
			    const char *caller)
{
	if (fake_cm.pd_errno)
		return ERR_PTR(fake_cm.pd_errno);
	fake_cm.pds++;
	return &fake_cm.fake->pd;
}

int ib_dealloc_pd_user(struct ib_pd *pd, struct ib_udata *udata)
{
	if (atomic_read(&pd->usecnt) || fake_cm.qps)
		kunit_fail_current_test("the protection domain is freed while in use");
	fake_cm.pds--;
	return 0;
}

struct ib_cq *__ib_alloc_cq_any(struct ib_device *device, void *private, int nr_cqe,
				enum ib_poll_context poll, const char *caller)
{
	struct ib_cq *cq;

	if (!fake_cm.cq_accept)
		return ERR_PTR(-ENOMEM);
	if (fake_cm.cq_accept > 0)
		fake_cm.cq_accept--;
	cq = kzalloc(sizeof(*cq), GFP_KERNEL);
	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->device = device;
	cq->cq_context = private;
	cq->cqe = nr_cqe;
	fake_cm.cqs++;
	return cq;
}

void ib_free_cq(struct ib_cq *cq)
{
	if (fake_cm.qps)
		kunit_fail_current_test("a completion queue is freed while in use");
	fake_cm.cqs--;
	kfree(cq);
}
