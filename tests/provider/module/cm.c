// SPDX-License-Identifier: GPL-2.0-only
/*
 * rdma_memory.ko: connections between two queue pairs of this kernel, for the connection manager
 * of iWARP.
 *
 * A connection has two ends. The client's is there from its request on, the server's from its
 * acceptance on. An end has a reference to its iw_cm_id until that has been told that the
 * connection is over, which is the last that it is told.
 */
#include <linux/inet.h>
#include <net/ipv6.h>

#include "link.h"

enum { CLIENT, SERVER, ENDS };

/**
 * struct conn - a connection, or a request for one
 * @kref: one for each queue pair, and one for the server that has not answered
 * @pending: in those that were not answered, by the listener
 * @listener: that has it there
 * @ids: who is told of its end; NULL: nobody, any more
 * @client: the client's queue pair; while it is not answered
 * @accepted: the server has
 */
struct conn {
	struct kref		kref;
	struct list_head	pending;
	struct iw_cm_id		*listener;
	struct iw_cm_id		*ids[ENDS];
	struct memory_qp	*client;
	bool			accepted;
};

struct listener {
	struct list_head	list;
	struct iw_cm_id		*id;
};

/*
 * Guards all of the above. Events are given to iwcm under it, which queues them: so they are in
 * order. Around the locks of queue pairs, and around those of iwcm.
 */
static DEFINE_SPINLOCK(cm_lock);
static LIST_HEAD(listeners);
static LIST_HEAD(pending);

static void conn_free(struct kref *kref)
{
	kfree(container_of(kref, struct conn, kref));
}

static void conn_put(struct conn *conn)
{
	kref_put(&conn->kref, conn_free);
}

/* memory_cm_forget - the queue pair is destroyed */
void memory_cm_forget(struct memory_qp *qp)
{
	if (qp->conn)
		conn_put(qp->conn);
	qp->conn = NULL;
}

static struct memory_qp *qp_of(struct iw_cm_id *id, u32 qpn)
{
	return xa_load(&memory_link_of(id->device)->qps, qpn);
}

static void tell(struct iw_cm_id *id, enum iw_cm_event_type type, int status)
{
	struct iw_cm_event event = {
		.event = type, .status = status, .local_addr = id->m_local_addr,
		.remote_addr = id->m_remote_addr,
	};

	id->event_handler(id, &event);
}

/* An end hears that it is over. Returns what it was told with, for rem_ref() without the lock. */
static struct iw_cm_id *end_tell(struct conn *conn, int end, int status)
{
	struct iw_cm_id *id = conn->ids[end];

	lockdep_assert_held(&cm_lock);
	conn->ids[end] = NULL;
	if (id)
		tell(id, conn->accepted ? IW_CM_EVENT_CLOSE : IW_CM_EVENT_CONNECT_REPLY,
		     conn->accepted ? 0 : status);
	return id;
}

static void conn_end(struct conn *conn, int status)
{
	struct iw_cm_id *told[ENDS];
	unsigned long flags;
	int i;

	spin_lock_irqsave(&cm_lock, flags);
	list_del_init(&conn->pending);
	for (i = 0; i < ENDS; i++)
		told[i] = end_tell(conn, i, status);
	spin_unlock_irqrestore(&cm_lock, flags);
	for (i = 0; i < ENDS; i++)
		if (told[i])
			told[i]->rem_ref(told[i]);
}

/* memory_qp.ended */
static void qp_ended(struct memory_qp *qp)
{
	if (qp->conn)
		conn_end(qp->conn, -ECONNRESET);
}

/* ---- the client ---- */

static __be16 port_of(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET ? ((struct sockaddr_in *)address)->sin_port :
		((struct sockaddr_in6 *)address)->sin6_port;
}

static bool is_any(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET ?
		((struct sockaddr_in *)address)->sin_addr.s_addr == htonl(INADDR_ANY) :
		ipv6_addr_any(&((struct sockaddr_in6 *)address)->sin6_addr);
}

static bool is_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	return a->ss_family == AF_INET ?
		((struct sockaddr_in *)a)->sin_addr.s_addr ==
		((struct sockaddr_in *)b)->sin_addr.s_addr :
		ipv6_addr_equal(&((struct sockaddr_in6 *)a)->sin6_addr,
				&((struct sockaddr_in6 *)b)->sin6_addr);
}

static struct iw_cm_id *find_listener(const struct iw_cm_id *client)
{
	const struct sockaddr_storage *to = &client->m_remote_addr;
	struct listener *l;

	list_for_each_entry(l, &listeners, list) {
		const struct sockaddr_storage *at = &l->id->m_local_addr;

		if (l->id->device == client->device && at->ss_family == to->ss_family &&
		    port_of(at) == port_of(to) && (is_any(at) || is_same(at, to)))
			return l->id;
	}
	return NULL;
}

static int request(struct conn *conn, struct iw_cm_id *id, const struct iw_cm_conn_param *param)
{
	/* The server hears how many Reads the client serves, and how many it will do. */
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST, .local_addr = id->m_remote_addr,
		.remote_addr = id->m_local_addr, .private_data = (void *)param->private_data,
		.private_data_len = param->private_data_len, .provider_data = conn,
		.ird = param->ird, .ord = param->ord,
	};
	struct iw_cm_id *listener = find_listener(id);
	int rc = -ECONNREFUSED;

	lockdep_assert_held(&cm_lock);
	if (listener)
		rc = listener->event_handler(listener, &event);
	if (rc)
		return rc;
	conn->listener = listener;
	list_add(&conn->pending, &pending);
	return 0;
}

/* memory_connect_to - an event says whether the server accepts it */
int memory_connect_to(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct memory_qp *qp = qp_of(id, param->qpn);
	struct conn *conn;
	unsigned long flags;
	int rc;

	if (!qp)
		return -EINVAL;
	conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	if (!conn)
		return -ENOMEM;
	kref_init(&conn->kref);
	INIT_LIST_HEAD(&conn->pending);
	conn->ids[CLIENT] = id;
	conn->client = qp;
	id->add_ref(id);
	spin_lock_irqsave(&cm_lock, flags);
	rc = request(conn, id, param);
	if (!rc) {
		kref_get(&conn->kref);
		qp->conn = conn;
		WRITE_ONCE(qp->ended, qp_ended);
	}
	spin_unlock_irqrestore(&cm_lock, flags);
	if (!rc)
		return 0;
	id->rem_ref(id);
	conn_put(conn);
	return rc;
}

/* ---- the server ---- */

static void join(struct conn *conn, struct iw_cm_id *id, struct memory_qp *qp,
		 const struct iw_cm_conn_param *param)
{
	struct iw_cm_id *client = conn->ids[CLIENT];
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REPLY, .local_addr = client->m_local_addr,
		.remote_addr = client->m_remote_addr,
		.private_data = (void *)param->private_data,
		.private_data_len = param->private_data_len,
		.ird = param->ird, .ord = param->ord,
	};

	lockdep_assert_held(&cm_lock);
	list_del_init(&conn->pending);
	id->add_ref(id);
	conn->ids[SERVER] = id;
	conn->accepted = true;
	qp->conn = conn;
	WRITE_ONCE(qp->ended, qp_ended);
	memory_connect(&conn->client->ib, &qp->ib);
	tell(id, IW_CM_EVENT_ESTABLISHED, 0);
	client->event_handler(client, &event);
}

/* memory_accept - both ends are told */
int memory_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct memory_qp *qp = qp_of(id, param->qpn);
	struct conn *conn = id->provider_data;
	unsigned long flags;
	bool wanted;

	if (!qp)
		return -EINVAL;
	spin_lock_irqsave(&cm_lock, flags);
	wanted = conn->ids[CLIENT];
	if (wanted)
		join(conn, id, qp, param);
	spin_unlock_irqrestore(&cm_lock, flags);
	if (wanted)
		return 0;
	conn_put(conn);
	return -ECONNRESET;
}

/* memory_reject - the client is told, without @data */
int memory_reject(struct iw_cm_id *id, const void *data, u8 length)
{
	struct conn *conn = id->provider_data;

	conn_end(conn, -ECONNREFUSED);
	conn_put(conn);
	return 0;
}

/* memory_listen - until memory_unlisten() */
int memory_listen(struct iw_cm_id *id, int backlog)
{
	struct listener *l = kzalloc(sizeof(*l), GFP_KERNEL);
	unsigned long flags;

	if (!l)
		return -ENOMEM;
	l->id = id;
	id->add_ref(id);
	spin_lock_irqsave(&cm_lock, flags);
	list_add(&l->list, &listeners);
	spin_unlock_irqrestore(&cm_lock, flags);
	return 0;
}

/* Requests that iwcm may have dropped by now: nobody will answer them. */
static struct conn *take_pending(struct iw_cm_id *listener)
{
	struct conn *conn, *found = NULL;
	unsigned long flags;

	spin_lock_irqsave(&cm_lock, flags);
	list_for_each_entry(conn, &pending, pending) {
		if (conn->listener != listener)
			continue;
		list_del_init(&conn->pending);
		kref_get(&conn->kref);
		found = conn;
		break;
	}
	spin_unlock_irqrestore(&cm_lock, flags);
	return found;
}

int memory_unlisten(struct iw_cm_id *id)
{
	struct listener *l, *found = NULL;
	struct conn *conn;
	unsigned long flags;

	spin_lock_irqsave(&cm_lock, flags);
	list_for_each_entry(l, &listeners, list) {
		if (l->id != id)
			continue;
		list_del(&l->list);
		found = l;
		break;
	}
	spin_unlock_irqrestore(&cm_lock, flags);
	if (!found)
		return -ENOENT;
	kfree(found);
	while ((conn = take_pending(id))) {
		conn_end(conn, -ECONNRESET);
		conn_put(conn);
	}
	id->rem_ref(id);
	return 0;
}
