// SPDX-License-Identifier: GPL-2.0-only
/* A double of rdma_cm, without a wire; see cm.h. */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/svc_xprt.h>
#include <kunit/test-bug.h>

#include "cm.h"
#include "handover.h"

struct fake_cm fake_cm;

static struct rdma_cm_id *port_owner;	/* one id has the port */
static struct workqueue_struct *cm_wq;
static DEFINE_SPINLOCK(ids_lock);	/* guards ids; peer, going, pending and device of each */
static LIST_HEAD(ids);
static DECLARE_WAIT_QUEUE_HEAD(id_gone);

/* fake_cm_reset - a test begins; each call succeeds */
void fake_cm_reset(const struct fake_cm_wire *wire)
{
	fake_cm = (struct fake_cm) {
		.wire = wire, .heard = { .reads_done = 16, .reads_taken = 16 },
	};
	port_owner = NULL;
	fake_handover_reset();
}

static struct fake_cm_id *cm_id_of(struct rdma_cm_id *id)
{
	return container_of(id, struct fake_cm_id, id);
}

/* ---- the handler lock ---- */

static void id_release(struct kref *kref)
{
	struct fake_cm_id *cid = container_of(kref, struct fake_cm_id, kref);

	mutex_destroy(&cid->lock);
	kfree(cid);
}

/* The id may be destroyed meanwhile; its memory stays until it is unlocked. */
static void id_lock(struct fake_cm_id *cid, unsigned int subclass)
{
	kref_get(&cid->kref);
	mutex_lock_nested(&cid->lock, subclass);
}

/* Who waits for the lock may go on before mutex_unlock() has let go of its memory. */
static void id_unlock(struct fake_cm_id *cid)
{
	mutex_unlock(&cid->lock);
	kref_put(&cid->kref, id_release);
}

/* The same, after an event was told: who heard it may be faster. */
static void id_unlock_slowly(struct fake_cm_id *cid)
{
	mutex_unlock(&cid->lock);
	fake_handover();
	kref_put(&cid->kref, id_release);
}

void rdma_lock_handler(struct rdma_cm_id *id)
{
	id_lock(cm_id_of(id), 0);
}

void rdma_unlock_handler(struct rdma_cm_id *id)
{
	id_unlock(cm_id_of(id));
}

/* ---- events ---- */

static int handler_hears(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	int rc = id->event_handler(id, event);

	fake_handover();
	return rc;
}

/* Nothing is told to who has destroyed the id while we waited for its lock. */
static int tell(struct rdma_cm_id *id, enum rdma_cm_event_type type, int status)
{
	struct rdma_cm_event event = { .event = type, .status = status };

	if (cm_id_of(id)->destroyed)
		return 0;

	if (type == RDMA_CM_EVENT_ESTABLISHED) {
		event.param.conn.initiator_depth = fake_cm.heard.reads_taken;
		event.param.conn.responder_resources = fake_cm.heard.reads_done;
		event.param.conn.private_data = fake_cm.heard.private;
		event.param.conn.private_data_len = fake_cm.heard.length;
	}
	return handler_hears(id, &event);
}

/* fake_cm_event_locked - as fake_cm_event(), for who holds the lock of the id */
int fake_cm_event_locked(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	lockdep_assert_held(&cm_id_of(id)->lock);
	return tell(id, type, 0);
}

/* fake_cm_event - something happens, and the handler is told, here */
int fake_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	struct fake_cm_id *cid = cm_id_of(id);
	int rc;

	id_lock(cid, 0);
	rc = tell(id, type, 0);
	id_unlock_slowly(cid);
	return rc;
}

static void event_work(struct work_struct *work)
{
	static const enum rdma_cm_event_type types[] = {
		RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_DEVICE_REMOVAL,
	};
	struct fake_cm_id *cid = container_of(work, struct fake_cm_id, work);
	int i;

	id_lock(cid, 0);
	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (test_and_clear_bit(types[i], &cid->pending))
			tell(&cid->id, types[i], 0);
	id_unlock_slowly(cid);
}

/* ids_lock is held, so the id exists. Who destroys it waits for the work item once. */
static void queue_event(struct fake_cm_id *cid, enum rdma_cm_event_type type)
{
	if (cid->going)
		return;
	set_bit(type, &cid->pending);
	queue_work(cm_wq, &cid->work);
}

/* fake_cm_tell - something happens to all ids of a device */
void fake_cm_tell(struct ib_device *device, enum rdma_cm_event_type type)
{
	struct fake_cm_id *cid;

	spin_lock(&ids_lock);
	list_for_each_entry(cid, &ids, list)
		if (cid->id.device == device)
			queue_event(cid, type);
	spin_unlock(&ids_lock);
}

static bool has_ids(struct ib_device *device)
{
	struct fake_cm_id *cid;
	bool found = false;

	spin_lock(&ids_lock);
	list_for_each_entry(cid, &ids, list)
		found |= cid->id.device == device;
	spin_unlock(&ids_lock);
	return found;
}

/* fake_cm_wait - until all ids of a device are destroyed */
void fake_cm_wait(struct ib_device *device)
{
	wait_event(id_gone, !has_ids(device));
}

/* fake_cm_flush - whoever is to be told has been told */
void fake_cm_flush(void)
{
	flush_workqueue(cm_wq);
}

int fake_cm_start(void)
{
	cm_wq = alloc_ordered_workqueue("rpcrdma_fake_cm", WQ_MEM_RECLAIM);
	return cm_wq ? 0 : -ENOMEM;
}

void fake_cm_stop(void)
{
	destroy_workqueue(cm_wq);
}

/* ---- ids ---- */

static struct rdma_cm_id *id_create(void)
{
	struct fake_cm_id *cid = kzalloc(sizeof(*cid), GFP_KERNEL);

	if (!cid)
		return NULL;
	kref_init(&cid->kref);
	mutex_init(&cid->lock);
	INIT_WORK(&cid->work, event_work);
	cid->id.ps = RDMA_PS_TCP;
	cid->id.qp_type = IB_QPT_RC;
	spin_lock(&ids_lock);
	list_add_tail(&cid->list, &ids);
	fake_cm.ids++;
	spin_unlock(&ids_lock);
	return &cid->id;
}

static void set_address(struct sockaddr_storage *to, u32 address, u16 port)
{
	struct sockaddr_in *sin = (struct sockaddr_in *)to;

	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(address);
	sin->sin_port = htons(port);
}

static void set_device(struct rdma_cm_id *id, struct ib_device *device)
{
	id->device = device;
	id->port_num = 1;
}

/**
 * fake_cm_use - an id gets a device that may be going
 * @id: without a device
 * @device: says which; NULL: it is gone
 *
 * The removal of the device finds the id, or has come before.
 *
 * Return: false when it has.
 */
bool fake_cm_use(struct rdma_cm_id *id, struct ib_device *(*device)(void))
{
	struct ib_device *found;

	spin_lock(&ids_lock);
	found = device();
	if (found)
		set_device(id, found);
	spin_unlock(&ids_lock);
	return found;
}

/**
 * fake_cm_request - the id of a connection request from 192.0.2.2, without a handler
 * @device: on which it comes; NULL: it has none yet
 *
 * Return: it, for whoever calls rdma_destroy_id(); NULL without memory.
 */
struct rdma_cm_id *fake_cm_request(struct ib_device *device)
{
	struct rdma_cm_id *id = id_create();

	if (!id)
		return NULL;
	set_address(&id->route.addr.src_addr, 0xc0000201, 20049);
	set_address(&id->route.addr.dst_addr,
		    fake_cm.client ? ntohl(fake_cm.client) : 0xc0000202, 40000);
	if (device)
		set_device(id, device);
	return id;
}

/* fake_cm_join - the two ends of a connection */
void fake_cm_join(struct rdma_cm_id *one, struct rdma_cm_id *other)
{
	spin_lock(&ids_lock);
	cm_id_of(one)->peer = cm_id_of(other);
	cm_id_of(other)->peer = cm_id_of(one);
	spin_unlock(&ids_lock);
}

struct rdma_cm_id *fake_cm_peer(struct rdma_cm_id *id)
{
	return &cm_id_of(id)->peer->id;
}

struct rdma_cm_id *__rdma_create_kernel_id(struct net *net,
					   rdma_cm_event_handler handler,
					   void *context, enum rdma_ucm_port_space ps,
					   enum ib_qp_type type, const char *caller)
{
	struct rdma_cm_id *id;

	if (fake_cm.plan[FAKE_CM_CREATE_ID].error)
		return ERR_PTR(fake_cm.plan[FAKE_CM_CREATE_ID].error);
	id = id_create();
	if (!id)
		return ERR_PTR(-ENOMEM);
	id->event_handler = handler;
	id->context = context;
	id->ps = ps;
	id->qp_type = type;
	return id;
}

void rdma_destroy_id(struct rdma_cm_id *id)
{
	struct fake_cm_id *cid = cm_id_of(id);

	if (id->qp)
		kunit_fail_current_test("the cm_id is destroyed before its queue pair");
	if (fake_cm.on_destroy)
		fake_cm.on_destroy(id);
	if (port_owner == id)
		port_owner = NULL;
	spin_lock(&ids_lock);
	cid->going = true;
	if (cid->peer)
		cid->peer->peer = NULL;
	cid->peer = NULL;
	spin_unlock(&ids_lock);
	cancel_work_sync(&cid->work);
	/* An event that is being told now still has the id, and its context. */
	id_lock(cid, 0);
	cid->destroyed = true;
	id_unlock(cid);
	/* Those who wait for it may go on with the device only now. */
	spin_lock(&ids_lock);
	list_del(&cid->list);
	fake_cm.ids--;
	spin_unlock(&ids_lock);
	wake_up_all(&id_gone);
	kref_put(&cid->kref, id_release);
}

/* A message has come before the client's last word: as good. Who has had it gets no more. */
int rdma_notify(struct rdma_cm_id *id, enum ib_event_type event)
{
	if (event != IB_EVENT_COMM_EST)
		return -EINVAL;
	if (fake_cm.held != id)
		return -EISCONN;
	fake_cm.held = NULL;
	return fake_cm_event(id, RDMA_CM_EVENT_ESTABLISHED);
}

/* For a trace event. The kernel's would look at the kind of network. */
const char *rdma_reject_msg(struct rdma_cm_id *id, int reason)
{
	return "refused by the test";
}

/* ---- a connection begins and ends ---- */

/* The lock of the id is held. */
static int answer(struct rdma_cm_id *id, enum fake_cm_call call,
		  enum rdma_cm_event_type type)
{
	const struct fake_cm_plan *plan = &fake_cm.plan[call];
	int rc;

	if (plan->error)
		return plan->error;
	if (plan->hold) {
		WRITE_ONCE(fake_cm.held, id);
		return 0;
	}
	lockdep_assert_held(&cm_id_of(id)->lock);
	rc = tell(id, plan->event ? plan->event : type, plan->status);
	if (fake_cm.on_answer)
		fake_cm.on_answer(id, call);
	return rc;
}

static int lock_and_answer(struct rdma_cm_id *id, enum fake_cm_call call,
			   enum rdma_cm_event_type type)
{
	int rc;

	rdma_lock_handler(id);
	rc = answer(id, call, type);
	rdma_unlock_handler(id);
	return rc;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src,
		      const struct sockaddr *dst, unsigned long timeout_ms)
{
	memset(&fake_cm.source, 0, sizeof(fake_cm.source));
	if (src)
		memcpy(&fake_cm.source, src, sizeof(fake_cm.source));
	if (!fake_cm_use(id, fake_cm.wire->device))
		return lock_and_answer(id, FAKE_CM_ADDR, RDMA_CM_EVENT_ADDR_ERROR);
	return lock_and_answer(id, FAKE_CM_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED);
}

int rdma_resolve_route(struct rdma_cm_id *id, unsigned long timeout_ms)
{
	return lock_and_answer(id, FAKE_CM_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void note(const struct rdma_conn_param *param)
{
	struct fake_cm_words *said = &fake_cm.said;

	said->length = min_t(size_t, param->private_data_len, sizeof(said->private));
	memcpy(said->private, param->private_data, said->length);
	said->reads_done = param->initiator_depth;
	said->reads_taken = param->responder_resources;
	said->ack_timeout = fake_cm.ack_timeout;
	said->rnr_timer = fake_cm.rnr_timer;
	said->rnr_retries = param->rnr_retry_count;
}

int rdma_set_ack_timeout(struct rdma_cm_id *id, u8 timeout)
{
	fake_cm.ack_timeout = timeout;
	return 0;
}

int rdma_set_min_rnr_timer(struct rdma_cm_id *id, u8 timer)
{
	fake_cm.rnr_timer = timer;
	return 0;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	struct fake_cm_id *cid = cm_id_of(id);
	bool accepted;
	int rc;

	/* The other end's lock may be taken within. */
	id_lock(cid, SINGLE_DEPTH_NESTING);
	note(param);
	accepted = fake_cm.wire->connect(id, param);
	rc = answer(id, FAKE_CM_CONNECT, accepted ? RDMA_CM_EVENT_ESTABLISHED :
		    RDMA_CM_EVENT_REJECTED);
	id_unlock(cid);
	return rc;
}

/* The handler lock is held by the caller. */
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	lockdep_assert_held(&cm_id_of(id)->lock);
	fake_cm.accepts++;
	note(param);
	fake_cm.wire->accept(id);
	return answer(id, FAKE_CM_ACCEPT, RDMA_CM_EVENT_ESTABLISHED);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	struct fake_cm_id *cid = cm_id_of(id);

	spin_lock(&ids_lock);
	fake_cm.disconnects++;
	spin_unlock(&ids_lock);
	if (fake_cm.disconnect_ms)
		msleep(fake_cm.disconnect_ms);
	if (fake_cm.disconnect_go)
		wait_for_completion(fake_cm.disconnect_go);
	fake_cm.wire->disconnect(id);
	spin_lock(&ids_lock);
	if (cid->peer)
		queue_event(cid->peer, RDMA_CM_EVENT_DISCONNECTED);
	spin_unlock(&ids_lock);
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	return fake_cm.wire->create_qp(id, pd, attr);
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	fake_cm.wire->destroy_qp(id);
	id->qp = NULL;
}

/* ---- a listener ---- */

int rdma_set_afonly(struct rdma_cm_id *id, int afonly)
{
	fake_cm.afonly = afonly;
	return fake_cm.plan[FAKE_CM_AFONLY].error;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
	struct sockaddr *own = (struct sockaddr *)&id->route.addr.src_addr;

	if (fake_cm.plan[FAKE_CM_BIND].error)
		return fake_cm.plan[FAKE_CM_BIND].error;
	if (port_owner)
		return -EADDRINUSE;
	port_owner = id;
	memcpy(own, address, svc_addr_len(address));
	if (!rpc_get_port(own))
		rpc_set_port(own, FAKE_CM_ANY_PORT);
	memcpy(&fake_cm.bound, own, svc_addr_len(own));
	return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	fake_cm.listener = id;
	if (fake_cm.on_listen)
		fake_cm.on_listen();
	if (fake_cm.plan[FAKE_CM_LISTEN].error)
		return fake_cm.plan[FAKE_CM_LISTEN].error;
	fake_cm.listens++;
	fake_cm.backlog = backlog;
	return 0;
}
