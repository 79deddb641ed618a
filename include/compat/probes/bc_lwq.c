// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Linux 6.7, 5b80147f7cb5 ("SUNRPC: use lwq for sp_sockets") and its series. */
#include <linux/lwq.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/xprt.h>

void probe(struct svc_serv *serv, struct rpc_rqst *req);
void probe(struct svc_serv *serv, struct rpc_rqst *req)
{
	lwq_enqueue(&req->rq_bc_list, &serv->sv_cb_list);
	svc_pool_wake_idle_thread(&serv->sv_pools[0]);
}
