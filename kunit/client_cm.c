// SPDX-License-Identifier: GPL-2.0
/*
 * What rdma_cm and the queues of ib_core are for the client's tests. These definitions
 * go before the exported ones when the module is linked.
 *
 * Each step of a connect answers at once, from within the call, with the event that
 * the test has asked for.
 */
#include <linux/slab.h>
#include <rdma/rdma_cm.h>

#include "client.h"

struct client_cm client_cm;

static int answer(struct rdma_cm_id *id, enum rdma_cm_event_type event)
{
	struct rdma_cm_event answer = { .event = event };

	if (client_cm.step++ == client_cm.fail_step) {
		if (client_cm.fail_errno)
			return client_cm.fail_errno;
		answer.event = client_cm.fail_event;
		answer.status = client_cm.fail_status;
	}
	if (answer.event == RDMA_CM_EVENT_ESTABLISHED) {
		answer.param.conn.private_data = client_cm.private;
		answer.param.conn.private_data_len = client_cm.private_length;
	}
	return id->event_handler(id, &answer);
}

struct rdma_cm_id *__rdma_create_kernel_id(struct net *net,
					   rdma_cm_event_handler handler,
					   void *context, enum rdma_ucm_port_space ps,
					   enum ib_qp_type type, const char *caller)
{
	struct rdma_cm_id *id = kzalloc(sizeof(*id), GFP_KERNEL);

	if (!id)
		return ERR_PTR(-ENOMEM);
	id->event_handler = handler;
	id->context = context;
	id->ps = ps;
	id->qp_type = type;
	client_cm.ids++;
	return id;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src,
		      const struct sockaddr *dst, unsigned long timeout_ms)
{
	id->device = &client_cm.fake->ib;
	id->port_num = 1;
	return answer(id, RDMA_CM_EVENT_ADDR_RESOLVED);
}

int rdma_resolve_route(struct rdma_cm_id *id, unsigned long timeout_ms)
{
	return answer(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	client_cm.sent_length = min_t(size_t, param->private_data_len,
				      sizeof(client_cm.sent));
	memcpy(client_cm.sent, param->private_data, client_cm.sent_length);
	client_cm.recvs_at_connect = fake_recvs(&client_cm.fake->qp);
	return answer(id, RDMA_CM_EVENT_ESTABLISHED);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	client_cm.disconnects++;
	client_cm.fake->qp.error = true;
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	struct fake_qp *qp = &client_cm.fake->qp;

	if (client_cm.max_send_wr && attr->cap.max_send_wr > client_cm.max_send_wr)
		return -EINVAL;
	client_cm.qp_attr = *attr;
	qp->ib.send_cq = attr->send_cq;
	qp->ib.recv_cq = attr->recv_cq;
	qp->ib.qp_context = attr->qp_context;
	qp->error = false;
	id->qp = &qp->ib;
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct fake_qp *qp = &client_cm.fake->qp;

	if (fake_pending(qp) || fake_recvs(qp))
		kunit_fail_current_test("the queue pair is destroyed before it is drained");
	id->qp = NULL;
}

void rdma_destroy_id(struct rdma_cm_id *id)
{
	if (id->qp)
		kunit_fail_current_test("the cm_id is destroyed before its queue pair");
	client_cm.ids--;
	kfree(id);
}

struct ib_pd *__ib_alloc_pd(struct ib_device *device, unsigned int flags,
			    const char *caller)
{
	client_cm.pds++;
	return &client_cm.fake->pd;
}

int ib_dealloc_pd_user(struct ib_pd *pd, struct ib_udata *udata)
{
	if (atomic_read(&pd->usecnt))
		kunit_fail_current_test("the protection domain is freed while in use");
	client_cm.pds--;
	return 0;
}

struct ib_cq *__ib_alloc_cq_any(struct ib_device *device, void *private, int nr_cqe,
				enum ib_poll_context poll, const char *caller)
{
	struct ib_cq *cq = kzalloc(sizeof(*cq), GFP_KERNEL);

	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->device = device;
	cq->cq_context = private;
	cq->cqe = nr_cqe;
	client_cm.cqs++;
	return cq;
}

void ib_free_cq(struct ib_cq *cq)
{
	client_cm.cqs--;
	kfree(cq);
}
