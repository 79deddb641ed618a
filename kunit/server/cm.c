// SPDX-License-Identifier: GPL-2.0
/*
 * What rdma_cm is for the server's tests, and the names that module.c would define; see
 * fake/cm.c.
 */
#include <linux/module.h>
#include <linux/sunrpc/addr.h>

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
	struct rdma_cm_id *id = fake_cm_id();
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
	return id;
}

int server_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	struct rdma_cm_event event = { .event = type };

	return id->event_handler(id, &event);
}

int rdma_set_afonly(struct rdma_cm_id *id, int afonly)
{
	server_cm.afonly = afonly;
	return server_cm.afonly_errno;
}

/* One id has the port. */
int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
	struct sockaddr *own = (struct sockaddr *)&id->route.addr.src_addr;

	if (server_cm.bind_errno)
		return server_cm.bind_errno;
	if (fake_cm.bound)
		return -EADDRINUSE;
	fake_cm.bound = id;
	memcpy(own, address, svc_addr_len(address));
	if (!rpc_get_port(own))
		rpc_set_port(own, SERVER_ANY_PORT);
	memcpy(&server_cm.bound, own, svc_addr_len(own));
	return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	server_cm.listen_id = id;
	if (server_cm.at_listen)
		server_cm.at_listen();
	if (server_cm.listen_errno)
		return server_cm.listen_errno;
	server_cm.listens++;
	server_cm.backlog = backlog;
	return 0;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	server_cm.accepts++;
	server_cm.recvs_at_accept = fake_recvs(&fake_cm.fake->qp);
	memcpy(server_cm.sent, param->private_data,
	       min_t(size_t, param->private_data_len, sizeof(server_cm.sent)));
	if (server_cm.accept_errno)
		return server_cm.accept_errno;
	if (!server_cm.hold_established)
		server_cm_event(id, RDMA_CM_EVENT_ESTABLISHED);
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

MODULE_DESCRIPTION("KUnit: RPC-over-RDMA server");
MODULE_LICENSE("GPL");
