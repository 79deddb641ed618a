// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wire between client and server: rdma_cm's ids (tests/kunit/fake/cm.c) lead from one device in
 * memory to the other, and go when their device goes.
 *
 * A connect is answered from within: the server accepts it, or does not, before rdma_connect()
 * returns. Disconnects and the removal of a device come in a work item; and the removal waits until
 * all ids of the device are destroyed.
 */
#include "pair.h"

static struct pair *pair;

static struct ib_device *registered(struct memory_device *device)
{
	return READ_ONCE(device->registered) ? &device->ib : NULL;
}

static struct ib_device *client_device(void)
{
	return registered(pair->client_device);
}

static struct ib_device *server_device(void)
{
	return registered(pair->server_device);
}

static int create_qp(struct rdma_cm_id *id, struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	struct ib_qp_attr init = { .qp_state = IB_QPS_INIT };
	struct ib_qp *qp = ib_create_qp(pd, attr);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	id->qp = qp;
	return ib_modify_qp(qp, &init, IB_QP_STATE);
}

static void destroy_qp(struct rdma_cm_id *id)
{
	ib_destroy_qp(id->qp);
}

/* The listener's handler; until it returns, @server has no other. */
static struct svcrdma_transport *request(struct rdma_cm_id *client, struct rdma_cm_id *server,
					 const struct rdma_conn_param *param)
{
	struct svcrdma_transport *t = ERR_PTR(-ENODEV);
	struct rdma_conn_param seen = *param;

	/* rdma_cm shows each side what the other offers. */
	seen.initiator_depth = param->responder_resources;
	seen.responder_resources = param->initiator_depth;
	rdma_lock_handler(server);
	if (fake_cm_use(server, server_device)) {
		fake_cm_join(client, server);
		t = svcrdma_transport_create(&pair->serv, &init_net, server, &seen);
	}
	rdma_unlock_handler(server);
	return t;
}

/* The lock of the client's id is held; and an nfsd thread accepts. */
static bool connect_to_server(struct rdma_cm_id *id, const struct rdma_conn_param *param)
{
	struct rdma_cm_id *server = fake_cm_request(NULL);
	struct svcrdma_transport *t;

	if (!server)
		return false;
	t = request(id, server, param);
	if (IS_ERR(t)) {
		rdma_destroy_id(server);
		return false;
	}
	return !pair_server_accept(pair, t);
}

static void accept_client(struct rdma_cm_id *id)
{
	memory_connect(fake_cm_peer(id)->qp, id->qp);
	/* The client hears it. */
	fake_cm.heard = fake_cm.said;
}

static void disconnect(struct rdma_cm_id *id)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	ib_modify_qp(id->qp, &attr, IB_QP_STATE);
}

static const struct fake_cm_wire wire = {
	.device		= client_device,
	.create_qp	= create_qp,
	.destroy_qp	= destroy_qp,
	.connect	= connect_to_server,
	.accept		= accept_client,
	.disconnect	= disconnect,
};

/* ---- the removal of a device ---- */

static int client_add(struct ib_device *device)
{
	return 0;
}

static struct memory_device *going;
static DECLARE_COMPLETION(going_told);

static void client_remove(struct ib_device *device, void *data)
{
	fake_cm_tell(device, RDMA_CM_EVENT_DEVICE_REMOVAL);
	if (going && device == &going->ib)
		complete(&going_told);
	fake_cm_wait(device);
}

static struct ib_client cm_client = {
	.name = "rpcrdma-memory-cm", .add = client_add, .remove = client_remove,
};

static void remove_work_run(struct work_struct *work)
{
	memory_device_remove(going);
}

static DECLARE_WORK(remove_work, remove_work_run);

/* pair_device_remove - a device goes; when this returns its ids have been told */
void pair_device_remove(struct memory_device *device)
{
	reinit_completion(&going_told);
	going = device;
	queue_work(system_unbound_wq, &remove_work);
	wait_for_completion(&going_told);
	fake_cm_flush();
}

/* pair_device_removed - it is gone, which its users have made possible */
void pair_device_removed(void)
{
	flush_work(&remove_work);
	going = NULL;
}

/* ---- suites and tests ---- */

void pair_wire_begin(struct pair *of)
{
	pair = of;
	fake_cm_reset(&wire);
}

int pair_wire_init(void)
{
	int rc = fake_cm_start();

	if (rc)
		return rc;
	rc = ib_register_client(&cm_client);
	if (rc)
		fake_cm_stop();
	return rc;
}

void pair_wire_exit(void)
{
	ib_unregister_client(&cm_client);
	fake_cm_stop();
}
