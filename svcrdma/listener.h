/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Ports on which connections are accepted: listener.c */
#ifndef SVCRDMA_LISTENER_H
#define SVCRDMA_LISTENER_H

#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <linux/sunrpc/svc_xprt.h>
#include <rdma/rdma_cm.h>

struct svcrdma_transport;

enum { SVCRDMA_BACKLOG = 128 };	/* connections of one listener that may wait for accept */

/* States of a listener; listener.c has the table of changes. */
enum svcrdma_listener_state {
	SVCRDMA_LISTENER_IDLE,		/* there is no id; the log says so if there was one */
	SVCRDMA_LISTENER_LISTENING,	/* the listener has an id, which listens or is about to */
	SVCRDMA_LISTENER_STALE,		/* the id's device is going, or has lost the address */
};

/**
 * struct svcrdma_listener - a port on which connections are accepted
 * @li_xprt: transport that nfsd knows; its first reference belongs to SUNRPC
 * @li_id: the listening id, or NULL while the listener cannot listen. Changed under @li_mutex, and
 *	by detach, which has stopped all other contexts that change it
 * @li_mutex: mutex that guards @li_id; never taken in the CM handler
 * @li_state: state of the listener, changed by the CM handler while there is an @li_id, and under
 *	@li_mutex while there is none
 * @li_pending: list of the transports that wait for accept, by st_pending, at most SVCRDMA_BACKLOG;
 *	under pending_lock of listener.c
 * @li_list: entry of the list of listeners that hear of devices and addresses; under
 *	listeners_lock of listener.c
 * @li_work: work item that destroys an @li_id that is STALE, and listens again; detach cancels it
 * @li_delay: jiffies until the next try if a try to listen fails
 */
struct svcrdma_listener {
	struct svc_xprt		li_xprt;
	struct rdma_cm_id	*li_id;
	struct mutex		li_mutex;	/* guards li_id */
	enum svcrdma_listener_state li_state;
	struct list_head	li_pending;
	struct list_head	li_list;
	struct delayed_work	li_work;
	unsigned long		li_delay;
};

extern const struct svc_xprt_ops svcrdma_listener_ops;

struct svc_xprt *svcrdma_listener_create(struct svc_serv *serv, struct net *net,
					 struct sockaddr *sa, int salen, int flags);
bool svcrdma_listener_forget(struct svcrdma_transport *t);
int svcrdma_listener_init(void);
void svcrdma_listener_exit(void);
void svcrdma_listener_rebind_all(void);

#endif /* SVCRDMA_LISTENER_H */
