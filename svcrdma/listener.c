// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners: one for each port, address family and network namespace.
 *
 * The CM calls the handler for a new connection; it makes a transport, puts it
 * on li_pending and wakes nfsd, which takes it off in accept. A peer can
 * ask faster than nfsd accepts, so the list is bounded, and each address has a share.
 * There is no bound in time: what is on the list waits for a thread of nfsd, not for the
 * client, and a client that has waited for too long gives up by itself. When the CM says
 * that it has, or that the device goes, the connection is taken off the list and freed
 * without a thread.
 *
 * A listener lives as long as nfsd wants it. When the device of its address goes, or the
 * address moves to another device, its id is destroyed by li_work, which listens again: at
 * once, then after waits that double, and whenever a device or an address turns up: ib_core and
 * the network tell of both, and of no more than that. Whether it helps the try finds out. A device
 * may need a moment until it has the address, so the waits begin anew. Each try that fails is
 * traced; the log has a line when the port is lost, and one when it is back. A listener for every
 * address has an id without a device, which is not lost: the CM listens on each device that comes.
 *
 * Teardown is svcrdma_listener_detach(), which SUNRPC calls once, never from
 * the CM handler:
 * 1. XPT_DEAD is set, so li_work leaves li_id alone from the moment on that
 *    li_mutex was free once.
 * 2. rdma_destroy_id() waits for the handler: afterwards nobody adds to
 *    li_pending, and neither the handler nor svcrdma_listener_rebind_all() queues li_work.
 * 3. li_work is waited for, and does not queue itself.
 * 4. What is pending is discarded; accept is not running, since detach runs
 *    under XPT_BUSY.
 * 5. Connections that are closed without a thread of nfsd let the svc_serv go, which may be freed
 *    once its listeners are closed: those of this listener, and those that nfsd has accepted.
 *    svcrdma_transports_wait() says why no others. A device that does not answer keeps the
 *    svc_serv that uses it, and no other one.
 */
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <net/addrconf.h>

#include "listener.h"
#include "svcrdma.h"
#include "trace.h"

/* A listener that cannot listen tries again after that, and twice that, and so on. */
enum {
	REBIND_MIN = HZ,
	REBIND_MAX = 60 * HZ,
};

/*
 * Guards li_pending and li_nr_pending of all listeners, and st_listener. It is one lock for all,
 * since a context that has a transport does not know whether the listener is still there.
 */
static DEFINE_SPINLOCK(pending_lock);

static DEFINE_SPINLOCK(listeners_lock);	/* guards the list; taken in any context */
static LIST_HEAD(listeners);

static struct svcrdma_listener *listener_of(struct svc_xprt *xprt)
{
	return container_of(xprt, struct svcrdma_listener, li_xprt);
}

static const struct sockaddr *client_of(const struct rdma_cm_id *id)
{
	return (const struct sockaddr *)&id->route.addr.dst_addr;
}

/*
 * Is there room for one more of this client's? An address may have as much of the backlog as it
 * leaves free, so one that asks without end has half of it, a second one a quarter, and there is
 * always room for somebody new.
 */
static bool listener_has_room(const struct svcrdma_listener *li, const struct rdma_cm_id *id)
{
	const struct svcrdma_transport *t;
	unsigned int own = 0;

	lockdep_assert_held(&pending_lock);
	list_for_each_entry(t, &li->li_pending, st_pending)
		own += rpc_cmp_addr(client_of(id), client_of(t->st_id));
	return own < SVCRDMA_BACKLOG - li->li_nr_pending;
}

/*
 * Returning an error makes the CM reject the connection and destroy its id, to
 * which the transport then must not point any more.
 */
static int listener_request(struct svcrdma_listener *li, struct rdma_cm_id *id,
			    const struct rdma_conn_param *param)
{
	struct svcrdma_transport *t;
	int ret = 0;

	if (test_bit(XPT_DEAD, &li->li_xprt.xpt_flags))
		return -ENOTCONN;

	t = svcrdma_transport_create(li->li_xprt.xpt_server, li->li_xprt.xpt_net,
				     id, param);
	if (IS_ERR(t))
		return PTR_ERR(t);

	spin_lock(&pending_lock);
	if (listener_has_room(li, id)) {
		list_add_tail(&t->st_pending, &li->li_pending);
		li->li_nr_pending++;
		WRITE_ONCE(t->st_listener, li);
		set_bit(XPT_CONN, &li->li_xprt.xpt_flags);
	} else {
		ret = -EBUSY;
	}
	spin_unlock(&pending_lock);

	if (ret) {
		t->st_id = NULL;
		svcrdma_transport_discard(t);
		return ret;
	}
	svc_xprt_enqueue(&li->li_xprt);
	return 0;
}

/* Whoever takes a transport off the list accepts or discards it. */
static void pending_remove(struct svcrdma_listener *li, struct svcrdma_transport *t)
{
	lockdep_assert_held(&pending_lock);
	list_del_init(&t->st_pending);
	WRITE_ONCE(t->st_listener, NULL);
	li->li_nr_pending--;
}

static struct svcrdma_transport *listener_pop(struct svcrdma_listener *li)
{
	struct svcrdma_transport *t;

	spin_lock(&pending_lock);
	t = list_first_entry_or_null(&li->li_pending, struct svcrdma_transport,
				     st_pending);
	if (t)
		pending_remove(li, t);
	if (list_empty(&li->li_pending))
		clear_bit(XPT_CONN, &li->li_xprt.xpt_flags);
	spin_unlock(&pending_lock);
	return t;
}

/**
 * svcrdma_listener_forget - a connection does not wait for accept any more
 * @t: transport
 *
 * Context: process, and the CM handler.
 * Return: true: nfsd does not know of it, and the caller discards it. False: it is, or was,
 * in accept.
 */
bool svcrdma_listener_forget(struct svcrdma_transport *t)
{
	struct svcrdma_listener *li;

	spin_lock(&pending_lock);
	li = t->st_listener;
	if (li) {
		pending_remove(li, t);
		if (list_empty(&li->li_pending))
			clear_bit(XPT_CONN, &li->li_xprt.xpt_flags);
	}
	spin_unlock(&pending_lock);
	return li;
}

/* Of those that nobody has accepted yet. No more come. */
static void listener_discard_pending(struct svcrdma_listener *li)
{
	struct svcrdma_transport *t;

	while ((t = listener_pop(li)))
		svcrdma_transport_discard(t);
}

/* Which states may follow. Both events that make an id STALE may come. */
static const u8 next_states[] = {
	[SVCRDMA_LISTENER_IDLE]		= BIT(SVCRDMA_LISTENER_LISTENING) |
					  BIT(SVCRDMA_LISTENER_LOST),
	[SVCRDMA_LISTENER_LISTENING]	= BIT(SVCRDMA_LISTENER_STALE) |
					  BIT(SVCRDMA_LISTENER_IDLE),
	[SVCRDMA_LISTENER_STALE]	= BIT(SVCRDMA_LISTENER_STALE) |
					  BIT(SVCRDMA_LISTENER_IDLE),
	[SVCRDMA_LISTENER_LOST]		= BIT(SVCRDMA_LISTENER_LISTENING),
};

static void listener_set_state(struct svcrdma_listener *li, enum svcrdma_listener_state state)
{
	WARN_ON_ONCE(!(next_states[li->li_state] & BIT(state)));
	WRITE_ONCE(li->li_state, state);
}

/* The removal of a device waits until li_work, or detach, has destroyed the id. */
static void listener_lost(struct svcrdma_listener *li)
{
	listener_set_state(li, SVCRDMA_LISTENER_STALE);
	if (!test_bit(XPT_DEAD, &li->li_xprt.xpt_flags))
		mod_delayed_work(svcrdma_wq, &li->li_work, 0);
}

/*
 * A wildcard listener has an id of the CM's own on each device. Events of such an id
 * arrive here, too, with @id other than li_id: its removal is the CM's
 * business, which a nonzero return asks for.
 */
static int listener_event(struct svcrdma_listener *li, struct rdma_cm_id *id,
			  enum rdma_cm_event_type event)
{
	bool own = id == READ_ONCE(li->li_id);

	switch (event) {
	case RDMA_CM_EVENT_ADDR_CHANGE:
		if (own)
			listener_lost(li);
		return 0;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		if (!own)
			return -ENODEV;
		listener_lost(li);
		return 0;
	default:
		return 0;
	}
}

static int listener_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct svcrdma_listener *li = id->context;
	int ret;

	trace_svcrdma_cm_event(id, event);
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return listener_event(li, id, event->event);

	ret = listener_request(li, id, &event->param.conn);
	if (ret)
		trace_svcrdma_listener_err("request", ret);
	return ret;
}

static void listener_drop_id(struct svcrdma_listener *li)
{
	if (!li->li_id)
		return;
	/* No event of the id comes any more then, so nothing else changes the state. */
	rdma_destroy_id(li->li_id);
	WRITE_ONCE(li->li_id, NULL);
	listener_set_state(li, SVCRDMA_LISTENER_IDLE);
}

/* li_id and the state are set before the first event can come. */
static int listener_listen(struct svcrdma_listener *li, struct net *net,
			   struct sockaddr *sa)
{
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(net, listener_cm_handler, li, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	listener_set_state(li, SVCRDMA_LISTENER_LISTENING);
	WRITE_ONCE(li->li_id, id);

	/* Else [::] would take the IPv4 port as well. */
	if (sa->sa_family == AF_INET6) {
		ret = rdma_set_afonly(id, 1);
		if (ret)
			goto out_destroy;
	}
	ret = rdma_bind_addr(id, sa);
	if (ret)
		goto out_destroy;
	ret = rdma_listen(id, SVCRDMA_BACKLOG);
	if (ret)
		goto out_destroy;
	return 0;

out_destroy:
	listener_drop_id(li);
	return ret;
}

static void listener_try_later(struct svcrdma_listener *li)
{
	unsigned long delay = READ_ONCE(li->li_delay);

	/* svcrdma_listener_rebind_all() may set it meanwhile: then the next try comes at once. */
	WRITE_ONCE(li->li_delay, min_t(unsigned long, 2 * delay, REBIND_MAX));
	/* Not later than somebody else wants it. */
	queue_delayed_work(svcrdma_wq, &li->li_work, delay);
}

/* Of an address, a scope and a port, as in [fe80::1%4294967295]:65535 */
#define LISTENER_NAME_LEN	(INET6_ADDRSTRLEN + 20)

/* An address and a port for a person: a link-local address has its scope. */
static const char *listener_name(const struct sockaddr *sa, char name[LISTENER_NAME_LEN])
{
	char host[LISTENER_NAME_LEN];

	rpc_ntop(sa, host, sizeof(host));
	snprintf(name, LISTENER_NAME_LEN, sa->sa_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host,
		 rpc_get_port(sa));
	return name;
}

/* The old id has to go first: both cannot have the port. */
static void listener_rebind(struct svcrdma_listener *li)
{
	struct sockaddr *sa = (struct sockaddr *)&li->li_xprt.xpt_local;
	bool was_lost = READ_ONCE(li->li_state) == SVCRDMA_LISTENER_LOST;
	char name[LISTENER_NAME_LEN];
	int ret;

	lockdep_assert_held(&li->li_mutex);
	listener_drop_id(li);
	ret = listener_listen(li, li->li_xprt.xpt_net, sa);
	if (ret) {
		trace_svcrdma_listener_err("rebind", ret);
		if (!was_lost)
			pr_notice("svcrdma: cannot listen on %s now, error %d; trying on\n",
				  listener_name(sa, name), ret);
		if (li->li_state != SVCRDMA_LISTENER_LOST)
			listener_set_state(li, SVCRDMA_LISTENER_LOST);
		listener_try_later(li);
		return;
	}
	if (was_lost)
		pr_notice("svcrdma: listening on %s again\n", listener_name(sa, name));
	WRITE_ONCE(li->li_delay, REBIND_MIN);
}

static void listener_work(struct work_struct *work)
{
	struct svcrdma_listener *li =
		container_of(work, struct svcrdma_listener, li_work.work);

	mutex_lock(&li->li_mutex);
	if (!test_bit(XPT_DEAD, &li->li_xprt.xpt_flags) &&
	    READ_ONCE(li->li_state) != SVCRDMA_LISTENER_LISTENING)
		listener_rebind(li);
	mutex_unlock(&li->li_mutex);
}

static struct svcrdma_listener *listener_alloc(struct svc_serv *serv, struct net *net)
{
	struct svcrdma_listener *li;

	li = kzalloc(sizeof(*li), GFP_KERNEL);
	if (!li)
		return NULL;
	svc_xprt_init(net, &svcrdma_class, &li->li_xprt, serv);
	set_bit(XPT_LISTENER, &li->li_xprt.xpt_flags);
	set_bit(XPT_CONG_CTRL, &li->li_xprt.xpt_flags);
	mutex_init(&li->li_mutex);
	INIT_LIST_HEAD(&li->li_pending);
	INIT_LIST_HEAD(&li->li_list);
	INIT_DELAYED_WORK(&li->li_work, listener_work);
	li->li_delay = REBIND_MIN;
	return li;
}

/* From now on svcrdma_listener_rebind_all() queues li_work. */
static void listener_add(struct svcrdma_listener *li)
{
	unsigned long flags;

	spin_lock_irqsave(&listeners_lock, flags);
	list_add_tail(&li->li_list, &listeners);
	spin_unlock_irqrestore(&listeners_lock, flags);
}

/**
 * svcrdma_listener_create - xpo_create: listen on a port
 * @serv: who serves it
 * @net: network namespace
 * @sa: address and port; port 0 for any
 * @salen: size of @sa
 * @flags: unused
 *
 * Context: process.
 * Return: the new listener or an ERR_PTR.
 */
struct svc_xprt *svcrdma_listener_create(struct svc_serv *serv, struct net *net,
					 struct sockaddr *sa, int salen, int flags)
{
	struct svcrdma_listener *li;
	char name[LISTENER_NAME_LEN];
	int ret;

	if (sa->sa_family != AF_INET && sa->sa_family != AF_INET6)
		return ERR_PTR(-EAFNOSUPPORT);
	li = listener_alloc(serv, net);
	if (!li)
		return ERR_PTR(-ENOMEM);

	/* li_work needs xpt_local. */
	mutex_lock(&li->li_mutex);
	ret = listener_listen(li, net, sa);
	if (!ret)
		svc_xprt_set_local(&li->li_xprt,
				   (struct sockaddr *)&li->li_id->route.addr.src_addr,
				   salen);
	else
		/* li_work may wait for the lock: its device has gone meanwhile. */
		set_bit(XPT_DEAD, &li->li_xprt.xpt_flags);
	mutex_unlock(&li->li_mutex);
	if (ret) {
		trace_svcrdma_listener_err("listen", ret);
		/* nfsd goes on without it, and whoever starts nfsd may not look at its status. */
		pr_notice_ratelimited("svcrdma: cannot listen on %s, error %d\n",
				      listener_name(sa, name), ret);
		cancel_delayed_work_sync(&li->li_work);
		/* One of several devices may have listened for a while. */
		listener_discard_pending(li);
		/* The put drops a module reference; the caller keeps his. */
		__module_get(svcrdma_class.xcl_owner);
		svc_xprt_put(&li->li_xprt);
		return ERR_PTR(ret);
	}
	listener_add(li);
	return &li->li_xprt;
}

static struct svc_xprt *svcrdma_listener_accept(struct svc_xprt *xprt)
{
	struct svcrdma_transport *t;

	t = listener_pop(listener_of(xprt));
	if (!t)
		return NULL;
	if (svcrdma_transport_accept(t)) {
		svcrdma_transport_discard(t);
		return NULL;
	}
	return &t->st_xprt;
}

static void svcrdma_listener_detach(struct svc_xprt *xprt)
{
	struct svcrdma_listener *li = listener_of(xprt);
	unsigned long flags;

	/* 1 */
	mutex_lock(&li->li_mutex);
	mutex_unlock(&li->li_mutex);
	/* 2. Until then li_id tells the handler which events are the CM's business. */
	listener_drop_id(li);
	spin_lock_irqsave(&listeners_lock, flags);
	list_del_init(&li->li_list);
	spin_unlock_irqrestore(&listeners_lock, flags);
	/* 3 */
	cancel_delayed_work_sync(&li->li_work);
	/* 4 */
	listener_discard_pending(li);
	/* 5 */
	svcrdma_transports_wait(xprt->xpt_server, li);
}

static void svcrdma_listener_free(struct svc_xprt *xprt)
{
	kfree(listener_of(xprt));
}

/* SUNRPC receives from, and sends to, connections only. */
static int listener_recvfrom(struct svc_rqst *rqstp)
{
	return 0;
}

static int listener_sendto(struct svc_rqst *rqstp)
{
	return -ENOTCONN;
}

static int listener_result_payload(struct svc_rqst *rqstp, unsigned int offset,
				   unsigned int length)
{
	return 0;
}

static void listener_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
}

static int listener_has_wspace(struct svc_xprt *xprt)
{
	return 1;
}

static void listener_kill_temp_xprt(struct svc_xprt *xprt)
{
}

const struct svc_xprt_ops svcrdma_listener_ops = {
	.xpo_create		= svcrdma_listener_create,
	.xpo_accept		= svcrdma_listener_accept,
	.xpo_has_wspace		= listener_has_wspace,
	.xpo_recvfrom		= listener_recvfrom,
	.xpo_sendto		= listener_sendto,
	.xpo_result_payload	= listener_result_payload,
	.xpo_release_ctxt	= listener_release_ctxt,
	.xpo_detach		= svcrdma_listener_detach,
	.xpo_free		= svcrdma_listener_free,
	.xpo_kill_temp_xprt	= listener_kill_temp_xprt,
	COMPAT_SVC_XPRT_OPS
};

/* ---- devices and addresses that turn up ---- */

/**
 * svcrdma_listener_rebind_all - whoever has lost its port tries again
 *
 * A device or an address has turned up.
 *
 * Context: any.
 */
void svcrdma_listener_rebind_all(void)
{
	struct svcrdma_listener *li;
	unsigned long flags;

	spin_lock_irqsave(&listeners_lock, flags);
	list_for_each_entry(li, &listeners, li_list) {
		if (READ_ONCE(li->li_id))
			continue;
		WRITE_ONCE(li->li_delay, REBIND_MIN);
		mod_delayed_work(svcrdma_wq, &li->li_work, 0);
	}
	spin_unlock_irqrestore(&listeners_lock, flags);
}

/* rdma_cm was told before: it is older than we are, so it can bind to the device now. */
static int device_added(struct ib_device *device)
{
	svcrdma_listener_rebind_all();
	return 0;
}

static struct ib_client client = {
	.name	= "svcrdma",
	.add	= device_added,
};

static int address_event(struct notifier_block *block, unsigned long event, void *data)
{
	if (event == NETDEV_UP)
		svcrdma_listener_rebind_all();
	return NOTIFY_DONE;
}

static struct notifier_block inet_block = {
	.notifier_call = address_event,
};

#if IS_ENABLED(CONFIG_IPV6)
static struct notifier_block inet6_block = {
	.notifier_call = address_event,
};
#endif

/**
 * svcrdma_listener_init - have devices and addresses reported
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int svcrdma_listener_init(void)
{
	int ret = ib_register_client(&client);

	if (ret)
		return ret;
	register_inetaddr_notifier(&inet_block);
#if IS_ENABLED(CONFIG_IPV6)
	register_inet6addr_notifier(&inet6_block);
#endif
	return 0;
}

/**
 * svcrdma_listener_exit - no device and no address is reported any more
 *
 * Context: process; there are no listeners left.
 */
void svcrdma_listener_exit(void)
{
#if IS_ENABLED(CONFIG_IPV6)
	unregister_inet6addr_notifier(&inet6_block);
#endif
	unregister_inetaddr_notifier(&inet_block);
	ib_unregister_client(&client);
}
