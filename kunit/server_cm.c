// SPDX-License-Identifier: GPL-2.0
/*
 * What rdma_cm and the queues of ib_core are for the server's tests, and the names that
 * module.c would define; see client_cm.c.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/mr_pool.h>

#include "server.h"

struct server_cm server_cm;

struct svc_xprt_class svcrdma_class = {
	.xcl_name		= "rdma",
	.xcl_owner		= THIS_MODULE,
	.xcl_ops		= &svcrdma_listener_ops,
	.xcl_max_payload	= RPCSVC_MAXPAYLOAD,
	.xcl_ident		= XPRT_TRANSPORT_RDMA,
};

/* A connection request from 192.0.2.2. */
struct rdma_cm_id *server_cm_request(struct fake_device *fake)
{
	struct rdma_cm_id *id = kzalloc(sizeof(*id), GFP_KERNEL);
	struct sockaddr_in *local, *remote;

	if (!id)
		return NULL;
	local = (struct sockaddr_in *)&id->route.addr.src_addr;
	remote = (struct sockaddr_in *)&id->route.addr.dst_addr;
	local->sin_family = AF_INET;
	local->sin_addr.s_addr = htonl(0xc0000201);
	local->sin_port = htons(RPCRDMA_PORT);
	remote->sin_family = AF_INET;
	remote->sin_addr.s_addr = htonl(0xc0000202);
	remote->sin_port = htons(40000);
	id->device = &fake->ib;
	id->port_num = 1;
	server_cm.ids++;
	return id;
}

int server_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	struct rdma_cm_event event = { .event = type };

	return id->event_handler(id, &event);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	server_cm.accepts++;
	server_cm.recvs_at_accept = fake_recvs(&server_cm.fake->qp);
	memcpy(server_cm.sent, param->private_data,
	       min_t(size_t, param->private_data_len, sizeof(server_cm.sent)));
	if (server_cm.accept_errno)
		return server_cm.accept_errno;
	if (!server_cm.hold_established)
		server_cm_event(id, RDMA_CM_EVENT_ESTABLISHED);
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	server_cm.disconnects++;
	server_cm.fake->qp.error = true;
	return 0;
}

void rdma_lock_handler(struct rdma_cm_id *id)
{
}

void rdma_unlock_handler(struct rdma_cm_id *id)
{
}

int rdma_notify(struct rdma_cm_id *id, enum ib_event_type event)
{
	return 0;
}

/* As rdma_rw_init_mrs(). */
static int create_regions(struct fake_qp *qp)
{
	spin_lock_init(&qp->ib.mr_lock);
	INIT_LIST_HEAD(&qp->ib.rdma_mrs);
	INIT_LIST_HEAD(&qp->ib.sig_mrs);
	if (!server_cm.regions)
		return 0;
	return ib_mr_pool_init(&qp->ib, &qp->ib.rdma_mrs, server_cm.regions,
			       IB_MR_TYPE_MEM_REG,
			       server_cm.fake->ib.attrs.max_fast_reg_page_list_len, 0);
}

/* As rdma_rw_init_qp(): work requests for each context. */
int rdma_create_qp(struct rdma_cm_id *id, struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	struct fake_qp *qp = &server_cm.fake->qp;

	u32 each = server_cm.regions ? 3 : 1;

	attr->cap.max_send_wr = min_t(u32, id->device->attrs.max_qp_wr,
				      attr->cap.max_send_wr +
				      each * attr->cap.max_rdma_ctxs);
	qp->ib.send_cq = attr->send_cq;
	qp->ib.recv_cq = attr->recv_cq;
	qp->ib.qp_context = attr->qp_context;
	qp->error = false;
	id->qp = &qp->ib;
	return create_regions(qp);
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct fake_qp *qp = &server_cm.fake->qp;

	if (fake_pending(qp) || fake_recvs(qp))
		kunit_fail_current_test("the queue pair is destroyed before it is drained");
	ib_mr_pool_destroy(&qp->ib, &qp->ib.rdma_mrs);
	id->qp = NULL;
}

void rdma_destroy_id(struct rdma_cm_id *id)
{
	if (id->qp)
		kunit_fail_current_test("the cm_id is destroyed before its queue pair");
	server_cm.ids--;
	kfree(id);
}

struct ib_pd *__ib_alloc_pd(struct ib_device *device, unsigned int flags,
			    const char *caller)
{
	server_cm.pds++;
	return &server_cm.fake->pd;
}

int ib_dealloc_pd_user(struct ib_pd *pd, struct ib_udata *udata)
{
	if (atomic_read(&pd->usecnt))
		kunit_fail_current_test("the protection domain is freed while in use");
	server_cm.pds--;
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
	server_cm.cqs++;
	return cq;
}

void ib_free_cq(struct ib_cq *cq)
{
	server_cm.cqs--;
	kfree(cq);
}

MODULE_DESCRIPTION("KUnit: RPC-over-RDMA server");
MODULE_LICENSE("GPL");
