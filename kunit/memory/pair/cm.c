// SPDX-License-Identifier: GPL-2.0
/*
 * What rdma_cm is for client and server together: these definitions go before the
 * exported ones when the module is linked.
 *
 * A connect is answered from within: the server accepts, or does not, before
 * rdma_connect() returns. Disconnects and the removal of a device come in a work item,
 * under the lock of the id, as from rdma_cm; and the removal waits until all ids of the
 * device are destroyed.
 */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <rdma/rdma_cm.h>

#include "pair.h"

/**
 * struct pair_id - a cm_id
 * @id: as the code under test sees it
 * @list: in @ids
 * @lock: the handler lock
 * @peer: the other end
 * @pending: events to come, by number
 * @work: tells them
 */
struct pair_id {
	struct rdma_cm_id	id;
	struct list_head	list;
	struct mutex		lock;	/* held while the handler runs */
	struct pair_id		*peer;
	unsigned long		pending;
	struct work_struct	work;
};

static struct pair *pair;
static struct workqueue_struct *cm_wq;
static DEFINE_SPINLOCK(ids_lock);	/* guards ids, and peer */
static LIST_HEAD(ids);
static DECLARE_WAIT_QUEUE_HEAD(ids_gone);

/* Of the server, between rdma_accept() and the event at the client. */
static struct {
	u8	private[RPCRDMA_CM_MAX_SIZE];
	u8	length;
	u8	reads_taken;	/* and not yet swapped */
	u8	reads_done;
} accepted;

static struct pair_id *pair_id_of(struct rdma_cm_id *id)
{
	return container_of(id, struct pair_id, id);
}

static int tell(struct pair_id *pid, enum rdma_cm_event_type type)
{
	struct rdma_cm_event event = { .event = type };

	if (type == RDMA_CM_EVENT_ESTABLISHED) {
		event.param.conn.initiator_depth = accepted.reads_taken;
		event.param.conn.responder_resources = accepted.reads_done;
		event.param.conn.private_data = accepted.private;
		event.param.conn.private_data_len = accepted.length;
	}
	return pid->id.event_handler(&pid->id, &event);
}

static void event_work(struct work_struct *work)
{
	static const enum rdma_cm_event_type types[] = {
		RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_DEVICE_REMOVAL,
	};
	struct pair_id *pid = container_of(work, struct pair_id, work);
	int i;

	mutex_lock(&pid->lock);
	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (test_and_clear_bit(types[i], &pid->pending))
			tell(pid, types[i]);
	mutex_unlock(&pid->lock);
}

/* ids_lock is held, so the id exists. */
static void queue_event(struct pair_id *pid, enum rdma_cm_event_type type)
{
	set_bit(type, &pid->pending);
	queue_work(cm_wq, &pid->work);
}

static struct pair_id *id_create(rdma_cm_event_handler handler, void *context)
{
	struct pair_id *pid = kzalloc(sizeof(*pid), GFP_KERNEL);

	if (!pid)
		return NULL;
	mutex_init(&pid->lock);
	INIT_WORK(&pid->work, event_work);
	pid->id.event_handler = handler;
	pid->id.context = context;
	pid->id.ps = RDMA_PS_TCP;
	pid->id.qp_type = IB_QPT_RC;
	pid->id.port_num = 1;
	spin_lock(&ids_lock);
	list_add_tail(&pid->list, &ids);
	spin_unlock(&ids_lock);
	return pid;
}

struct rdma_cm_id *__rdma_create_kernel_id(struct net *net,
					   rdma_cm_event_handler handler,
					   void *context, enum rdma_ucm_port_space ps,
					   enum ib_qp_type type, const char *caller)
{
	struct pair_id *pid = id_create(handler, context);

	return pid ? &pid->id : ERR_PTR(-ENOMEM);
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src,
		      const struct sockaddr *dst, unsigned long timeout_ms)
{
	if (!pair->client_device->registered)
		return tell(pair_id_of(id), RDMA_CM_EVENT_ADDR_ERROR);
	id->device = &pair->client_device->ib;
	return tell(pair_id_of(id), RDMA_CM_EVENT_ADDR_RESOLVED);
}

int rdma_resolve_route(struct rdma_cm_id *id, unsigned long timeout_ms)
{
	return tell(pair_id_of(id), RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void set_address(struct sockaddr_storage *to, u32 address, u16 port)
{
	struct sockaddr_in *sin = (struct sockaddr_in *)to;

	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(address);
	sin->sin_port = htons(port);
}

/* The server's id of a connection from 192.0.2.2. */
static struct pair_id *request_create(struct pair_id *client)
{
	struct pair_id *server;

	if (!pair->server_device->registered)
		return NULL;
	server = id_create(NULL, NULL);
	if (!server)
		return NULL;
	server->id.device = &pair->server_device->ib;
	set_address(&server->id.route.addr.src_addr, 0xc0000201, RPCRDMA_PORT);
	set_address(&server->id.route.addr.dst_addr, 0xc0000202, 40000);
	server->peer = client;
	client->peer = server;
	return server;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct pair_id *client = pair_id_of(id);
	struct pair_id *server = request_create(client);
	struct rdma_conn_param seen = *param;

	/* rdma_cm shows each side what the other offers. */
	seen.initiator_depth = param->responder_resources;
	seen.responder_resources = param->initiator_depth;
	if (!server || pair_server_accept(pair, &server->id, &seen))
		return tell(client, RDMA_CM_EVENT_REJECTED);
	return tell(client, RDMA_CM_EVENT_ESTABLISHED);
}

/* The handler lock is held by the caller. */
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct pair_id *server = pair_id_of(id);

	lockdep_assert_held(&server->lock);
	accepted.length = min_t(size_t, param->private_data_len, sizeof(accepted.private));
	memcpy(accepted.private, param->private_data, accepted.length);
	accepted.reads_taken = param->responder_resources;
	accepted.reads_done = param->initiator_depth;
	memory_connect(server->peer->id.qp, id->qp);
	tell(server, RDMA_CM_EVENT_ESTABLISHED);
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct pair_id *pid = pair_id_of(id);

	ib_modify_qp(id->qp, &attr, IB_QP_STATE);
	spin_lock(&ids_lock);
	if (pid->peer)
		queue_event(pid->peer, RDMA_CM_EVENT_DISCONNECTED);
	spin_unlock(&ids_lock);
	return 0;
}

void rdma_lock_handler(struct rdma_cm_id *id)
{
	mutex_lock(&pair_id_of(id)->lock);
}

void rdma_unlock_handler(struct rdma_cm_id *id)
{
	mutex_unlock(&pair_id_of(id)->lock);
}

int rdma_notify(struct rdma_cm_id *id, enum ib_event_type event)
{
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	struct ib_qp_attr init = { .qp_state = IB_QPS_INIT };
	struct ib_qp *qp = ib_create_qp(pd, attr);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	id->qp = qp;
	return ib_modify_qp(qp, &init, IB_QP_STATE);
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	ib_destroy_qp(id->qp);
	id->qp = NULL;
}

void rdma_destroy_id(struct rdma_cm_id *id)
{
	struct pair_id *pid = pair_id_of(id);

	if (id->qp)
		kunit_fail_current_test("the cm_id is destroyed before its queue pair");
	spin_lock(&ids_lock);
	if (pid->peer)
		pid->peer->peer = NULL;
	spin_unlock(&ids_lock);
	cancel_work_sync(&pid->work);
	/* Those who wait for it may go on with the device only now. */
	spin_lock(&ids_lock);
	list_del(&pid->list);
	spin_unlock(&ids_lock);
	wake_up_all(&ids_gone);
	kfree(pid);
}

/* ---- the removal of a device ---- */

static int client_add(struct ib_device *device)
{
	return 0;
}

static bool has_ids(struct ib_device *device)
{
	struct pair_id *pid;
	bool found = false;

	spin_lock(&ids_lock);
	list_for_each_entry(pid, &ids, list)
		found |= pid->id.device == device;
	spin_unlock(&ids_lock);
	return found;
}

static struct memory_device *going;
static DECLARE_COMPLETION(going_told);

static void client_remove(struct ib_device *device, void *data)
{
	struct pair_id *pid;

	spin_lock(&ids_lock);
	list_for_each_entry(pid, &ids, list)
		if (pid->id.device == device)
			queue_event(pid, RDMA_CM_EVENT_DEVICE_REMOVAL);
	spin_unlock(&ids_lock);
	if (going && device == &going->ib)
		complete(&going_told);
	wait_event(ids_gone, !has_ids(device));
}

static struct ib_client cm_client = {
	.name = "rpcrdma-memory-cm", .add = client_add, .remove = client_remove,
};

static void remove_work_run(struct work_struct *work)
{
	memory_device_remove(going);
}

static DECLARE_WORK(remove_work, remove_work_run);

/* pair_cm_remove - a device goes; when this returns its ids have been told */
void pair_cm_remove(struct memory_device *device)
{
	reinit_completion(&going_told);
	going = device;
	queue_work(system_unbound_wq, &remove_work);
	wait_for_completion(&going_told);
	flush_workqueue(cm_wq);
}

/* pair_cm_removed - it is gone, which its users have made possible */
void pair_cm_removed(void)
{
	flush_work(&remove_work);
	going = NULL;
}

void pair_cm_flush(void)
{
	flush_workqueue(cm_wq);
}

unsigned int pair_cm_ids(void)
{
	return list_count_nodes(&ids);
}

void pair_cm_begin(struct pair *of)
{
	pair = of;
}

int pair_cm_init(void)
{
	int rc;

	cm_wq = alloc_ordered_workqueue("rpcrdma_memory_cm", WQ_MEM_RECLAIM);
	if (!cm_wq)
		return -ENOMEM;
	rc = ib_register_client(&cm_client);
	if (rc)
		destroy_workqueue(cm_wq);
	return rc;
}

void pair_cm_exit(void)
{
	ib_unregister_client(&cm_client);
	destroy_workqueue(cm_wq);
}
