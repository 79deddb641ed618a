/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
#ifndef COMPAT_SUNRPC_BC_XPRT_H
#define COMPAT_SUNRPC_BC_XPRT_H

/*
 * Since Linux 6.7 the callbacks that wait for the callback service are in a lock-less queue, and
 * the idle threads of the service are in a pool. Before, there were a list and a wait queue.
 */
#include_next <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xprt.h>
#include <compat_config.h>

/**
 * compat_bc_enqueue - hand a call of the reverse direction to the callback service
 * @serv: callback service
 * @req: request that holds the call; the caller has taken a reference to its transport
 *
 * Context: process, or a CQ handler on a work queue, since the lock of Linux before 6.7 is taken
 * without disabling softirqs. The service may run before this returns.
 */
static inline void compat_bc_enqueue(struct svc_serv *serv, struct rpc_rqst *req)
{
#ifdef COMPAT_HAVE_BC_LWQ
	lwq_enqueue(&req->rq_bc_list, &serv->sv_cb_list);
	svc_pool_wake_idle_thread(&serv->sv_pools[0]);
#else
	spin_lock(&serv->sv_cb_lock);
	list_add(&req->rq_bc_list, &serv->sv_cb_list);
	spin_unlock(&serv->sv_cb_lock);
	wake_up(&serv->sv_cb_waitq);
#endif
}

#endif /* COMPAT_SUNRPC_BC_XPRT_H */
