// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Listeners: one for each port, address family and network namespace.
 *
 * The CM calls the handler for a new connection. The handler makes a transport, puts it on
 * li_pending and wakes nfsd, which takes the transport off the list in accept. A peer can send
 * requests faster than nfsd accepts them, so the list is bounded, and each address has a share.
 * The time on the list is not bounded: a connection on the list waits for a thread of nfsd, not for
 * the client, and a client that has waited for too long gives up by itself. When the CM reports
 * that the client has given up, or that the device is removed, the connection is taken off the list
 * and freed without a thread.
 *
 * A listener lives as long as nfsd wants it. When the device of its address is removed, or the
 * address moves to another device, li_work destroys the id and listens again: first at once, then
 * after waits that double, and whenever ib_core reports a new device or the network a new address.
 * Such a report does not say whether the listener can listen again; the try shows it. A new device
 * may need a moment until it has the address, so the waits begin anew with the shortest. Each try
 * that fails is traced; the log has a line when the port is lost, and one when it is back. A
 * listener for every address has an id without a device, which is not lost when a device is
 * removed: the CM listens on each device that is added.
 *
 * Teardown is svcrdma_listener_detach(), which SUNRPC calls once, never from
 * the CM handler:
 * 1. SUNRPC has set XPT_DEAD. li_mutex is taken and released, and li_work does not change li_id
 *    afterwards.
 * 2. rdma_destroy_id() waits for the handler. Afterwards no handler adds to li_pending or queues
 *    li_work. The listener leaves the list by which svcrdma_listener_rebind_all() finds it.
 * 3. li_work is cancelled. It does not queue itself again, since XPT_DEAD is set.
 * 4. Pending connections are discarded. Accept is not running, since detach runs under XPT_BUSY.
 * 5. The svc_serv may be freed once its listeners are closed. So detach waits for connections that
 *    are being closed without a thread of nfsd: those that came to this listener, and those that
 *    nfsd has accepted. svcrdma_transports_wait() says why it waits for no others. A device that
 *    does not answer delays only the svc_serv that uses it.
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

/* Waits in jiffies: a listener that cannot listen tries again after waits that double. */
enum {
	REBIND_MIN = HZ,
	REBIND_MAX = 60 * HZ,
};

/*
 * Lock that guards li_pending of all listeners, and st_listener. All listeners share it, since a
 * context that has a transport does not know whether the listener still exists.
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
 * May one more connection of this client wait for accept? An address may have as many connections
 * in the backlog as are still free, so an address that sends requests without end gets half of the
 * backlog, a second one a quarter, and there is always room for a new address.
 */
static bool listener_has_room(const struct svcrdma_listener *li, const struct rdma_cm_id *id)
{
	const struct svcrdma_transport *t;
	unsigned int own = 0, all = 0;

	lockdep_assert_held(&pending_lock);
	list_for_each_entry(t, &li->li_pending, st_pending) {
		own += rpc_cmp_addr(client_of(id), client_of(t->st_id));
		all++;
	}
	return own < SVCRDMA_BACKLOG - all;
}

/*
 * Make a transport for a connection request. If this returns an error, the CM rejects the
 * connection and destroys its id, so the transport must not point to the id any more.
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

/* Take a transport off li_pending; the caller then accepts or discards it. */
static void pending_remove(struct svcrdma_listener *li, struct svcrdma_transport *t)
{
	lockdep_assert_held(&pending_lock);
	list_del_init(&t->st_pending);
	WRITE_ONCE(t->st_listener, NULL);
	if (list_empty(&li->li_pending))
		clear_bit(XPT_CONN, &li->li_xprt.xpt_flags);
}

static struct svcrdma_transport *listener_pop(struct svcrdma_listener *li)
{
	struct svcrdma_transport *t;

	spin_lock(&pending_lock);
	t = list_first_entry_or_null(&li->li_pending, struct svcrdma_transport,
				     st_pending);
	if (t)
		pending_remove(li, t);
	spin_unlock(&pending_lock);
	return t;
}

/**
 * svcrdma_listener_forget - take a connection off li_pending, if it waits for accept
 * @t: transport
 *
 * Context: process.
 * Return: true: nfsd does not know of the connection, and the caller discards it. false: accept has
 * taken the connection already.
 */
bool svcrdma_listener_forget(struct svcrdma_transport *t)
{
	struct svcrdma_listener *li;

	spin_lock(&pending_lock);
	li = t->st_listener;
	if (li)
		pending_remove(li, t);
	spin_unlock(&pending_lock);
	return li;
}

/* Discard the connections that wait for accept. No more requests come. */
static void listener_discard_pending(struct svcrdma_listener *li)
{
	struct svcrdma_transport *t;

	while ((t = listener_pop(li)))
		svcrdma_transport_discard(t);
}

/*
 * The states that may follow each state. STALE may follow STALE, since the address of an id may
 * move, and the device be removed then.
 */
static const u8 next_states[] = {
	[SVCRDMA_LISTENER_IDLE]		= BIT(SVCRDMA_LISTENER_LISTENING),
	[SVCRDMA_LISTENER_LISTENING]	= BIT(SVCRDMA_LISTENER_STALE) |
					  BIT(SVCRDMA_LISTENER_IDLE),
	[SVCRDMA_LISTENER_STALE]	= BIT(SVCRDMA_LISTENER_STALE) |
					  BIT(SVCRDMA_LISTENER_IDLE),
};

static void listener_set_state(struct svcrdma_listener *li, enum svcrdma_listener_state state)
{
	WARN_ON_ONCE(!(next_states[li->li_state] & BIT(state)));
	WRITE_ONCE(li->li_state, state);
}

/* Have li_work destroy the id, for which the removal of a device waits, and listen again. */
static void listener_lost(struct svcrdma_listener *li)
{
	listener_set_state(li, SVCRDMA_LISTENER_STALE);
	if (!test_bit(XPT_DEAD, &li->li_xprt.xpt_flags))
		mod_delayed_work(svcrdma_wq, &li->li_work, 0);
}

/*
 * For a wildcard listener, the CM has an id of its own on each device. Events of such an id arrive
 * here, too, with an @id that is not li_id. If its device is removed, the CM has to destroy that
 * id, which a nonzero return value asks for.
 */
static int listener_event(struct svcrdma_listener *li, struct rdma_cm_id *id,
			  enum rdma_cm_event_type event)
{
	bool removal = event == RDMA_CM_EVENT_DEVICE_REMOVAL;

	if (id != READ_ONCE(li->li_id))
		return removal ? -ENODEV : 0;
	if (removal || event == RDMA_CM_EVENT_ADDR_CHANGE)
		listener_lost(li);
	return 0;
}

static int listener_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct svcrdma_listener *li = id->context;
	int ret;

	trace_svcrdma_cm_event("", id, event);
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
	/* rdma_destroy_id() waits for the handler, so no other context changes the state then. */
	rdma_destroy_id(li->li_id);
	WRITE_ONCE(li->li_id, NULL);
	listener_set_state(li, SVCRDMA_LISTENER_IDLE);
}

/* li_id and the state are set before the first event can come. */
static int listener_listen(struct svcrdma_listener *li, struct net *net,
			   struct sockaddr *sa)
{
	struct rdma_cm_id *id;
	int ret = 0;

	id = rdma_create_id(net, listener_cm_handler, li, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	listener_set_state(li, SVCRDMA_LISTENER_LISTENING);
	WRITE_ONCE(li->li_id, id);

	/* Without this, [::] would take the IPv4 port as well. */
	if (sa->sa_family == AF_INET6)
		ret = rdma_set_afonly(id, 1);
	if (!ret)
		ret = rdma_bind_addr(id, sa);
	if (!ret)
		ret = rdma_listen(id, SVCRDMA_BACKLOG);
	if (ret)
		listener_drop_id(li);
	return ret;
}

static void listener_try_later(struct svcrdma_listener *li)
{
	unsigned long delay = READ_ONCE(li->li_delay);

	/* If svcrdma_listener_rebind_all() sets li_delay just now, it also queues li_work. */
	WRITE_ONCE(li->li_delay, min_t(unsigned long, 2 * delay, REBIND_MAX));
	/* This does not delay li_work if another context has queued it earlier. */
	queue_delayed_work(svcrdma_wq, &li->li_work, delay);
}

/* Length of a string with an address, a scope and a port, as in [fe80::1%4294967295]:65535 */
#define LISTENER_NAME_LEN	(INET6_ADDRSTRLEN + 20)

/* Write an address and a port in readable form; a link-local address has its scope. */
static const char *listener_name(const struct sockaddr *sa, char name[LISTENER_NAME_LEN])
{
	char host[LISTENER_NAME_LEN];

	rpc_ntop(sa, host, sizeof(host));
	snprintf(name, LISTENER_NAME_LEN, sa->sa_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host,
		 rpc_get_port(sa));
	return name;
}

/* Try to listen again. The old id is destroyed first, since two ids cannot have the same port. */
static void listener_rebind(struct svcrdma_listener *li)
{
	struct sockaddr *sa = (struct sockaddr *)&li->li_xprt.xpt_local;
	bool was_idle = !li->li_id;
	char name[LISTENER_NAME_LEN];
	int ret;

	lockdep_assert_held(&li->li_mutex);
	listener_drop_id(li);
	ret = listener_listen(li, li->li_xprt.xpt_net, sa);
	if (ret) {
		trace_svcrdma_listener_err("rebind", ret);
		if (!was_idle)
			pr_notice("svcrdma: cannot listen on %s now, error %d; retrying\n",
				  listener_name(sa, name), ret);
		listener_try_later(li);
		return;
	}
	if (was_idle)
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

/* Put a listener on the list, so that svcrdma_listener_rebind_all() can queue its li_work. */
static void listener_add(struct svcrdma_listener *li)
{
	unsigned long flags;

	spin_lock_irqsave(&listeners_lock, flags);
	list_add_tail(&li->li_list, &listeners);
	spin_unlock_irqrestore(&listeners_lock, flags);
}

/**
 * svcrdma_listener_create - xpo_create: listen on a port
 * @serv: svc_serv that serves the listener's connections
 * @net: network namespace
 * @sa: address and port; port 0 stands for any free port
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

	/* li_mutex keeps li_work from reading xpt_local before it is set. */
	mutex_lock(&li->li_mutex);
	ret = listener_listen(li, net, sa);
	if (!ret)
		svc_xprt_set_local(&li->li_xprt,
				   (struct sockaddr *)&li->li_id->route.addr.src_addr,
				   salen);
	else
		/* li_work may wait for li_mutex, if the device was removed meanwhile. */
		set_bit(XPT_DEAD, &li->li_xprt.xpt_flags);
	mutex_unlock(&li->li_mutex);
	if (ret) {
		trace_svcrdma_listener_err("listen", ret);
		/* Log this: nfsd goes on without the listener, and its status may go unread. */
		pr_notice_ratelimited("svcrdma: cannot listen on %s, error %d\n",
				      listener_name(sa, name), ret);
		cancel_delayed_work_sync(&li->li_work);
		/* If only some devices cannot listen, requests may have come to the others. */
		listener_discard_pending(li);
		/* svc_xprt_put() drops a module reference; the caller keeps its own. */
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
	/* 2. Until the id is destroyed, the handler compares the id of an event with li_id. */
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

/*
 * A listener never has XPT_DATA, and is not on the list of temporary transports. So SUNRPC calls
 * none of the other functions. When a thread has accepted a connection, SUNRPC calls
 * xpo_release_ctxt, with NULL.
 */
const struct svc_xprt_ops svcrdma_listener_ops = {
	.xpo_create		= svcrdma_listener_create,
	.xpo_accept		= svcrdma_listener_accept,
	.xpo_release_ctxt	= svcrdma_release_ctxt,
	.xpo_detach		= svcrdma_listener_detach,
	.xpo_free		= svcrdma_listener_free,
	COMPAT_SVC_XPRT_OPS
};

/* ---- devices and addresses that turn up ---- */

/**
 * svcrdma_listener_rebind_all - have all listeners without an id try to listen again
 *
 * The caller has learned of a new device or a new address.
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

/* rdma_cm can bind to the device already: ib_core tells the client first that registered first. */
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

static struct notifier_block inet6_block = {
	.notifier_call = address_event,
};

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
	if (IS_ENABLED(CONFIG_IPV6))
		register_inet6addr_notifier(&inet6_block);
	return 0;
}

/**
 * svcrdma_listener_exit - stop the reports of devices and addresses
 *
 * Context: process; there are no listeners left.
 */
void svcrdma_listener_exit(void)
{
	if (IS_ENABLED(CONFIG_IPV6))
		unregister_inet6addr_notifier(&inet6_block);
	unregister_inetaddr_notifier(&inet_block);
	ib_unregister_client(&client);
}
