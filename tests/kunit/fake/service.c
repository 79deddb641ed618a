// SPDX-License-Identifier: GPL-2.0-only
/* Doubles of services of SUNRPC, without threads; linked into the module that uses them. */
#include <linux/mm.h>
#include <linux/sunrpc/bc_xprt.h>

#include <rqst_pages.h>

#include "service.h"

/* ---- nfsd ---- */

/**
 * fake_nfsd_init - a service with one pool, and without a transport
 * @serv: all zeros
 * @pool: all zeros
 * @payload: bytes of an item
 *
 * Return: 0 or -ENOMEM; fake_nfsd_exit() is right after either.
 */
int fake_nfsd_init(struct svc_serv *serv, struct svc_pool *pool, u32 payload)
{
	int ret;

	lwq_init(&pool->sp_xprts);
	init_llist_head(&pool->sp_idle_threads);
	serv->sv_pools = pool;
	serv->sv_max_payload = payload;
	serv->sv_max_mesg = payload + PAGE_SIZE;
	spin_lock_init(&serv->sv_lock);
	INIT_LIST_HEAD(&serv->sv_permsocks);
	INIT_LIST_HEAD(&serv->sv_tempsocks);
	ret = percpu_counter_init(&pool->sp_sockets_queued, 0, GFP_KERNEL);
	if (!ret)
		ret = percpu_counter_init(&pool->sp_threads_woken, 0, GFP_KERNEL);
	return ret;
}

void fake_nfsd_exit(struct svc_pool *pool)
{
	percpu_counter_destroy(&pool->sp_sockets_queued);
	percpu_counter_destroy(&pool->sp_threads_woken);
}

/* fake_nfsd_ready - a transport has asked for a thread; it does not any more */
bool fake_nfsd_ready(struct svc_pool *pool)
{
	return lwq_dequeue(&pool->sp_xprts, struct svc_xprt, xpt_ready);
}

/**
 * fake_thread_create - as svc_prepare_thread(), without a thread
 * @serv: the service
 *
 * Return: a thread's state, for fake_thread_free(); or NULL.
 */
struct svc_rqst *fake_thread_create(struct svc_serv *serv)
{
	struct svc_rqst *rqst = kvzalloc(sizeof(*rqst), GFP_KERNEL);

	if (rqst && compat_rqst_init(rqst, svc_serv_maxpages(serv))) {
		fake_thread_free(rqst);
		return NULL;
	}
	return rqst;
}

/**
 * fake_thread_prepare - as svc_alloc_arg(): the thread has pages
 * @rqst: the thread's state
 * @serv: the service
 * @xprt: the transport from which it is to receive
 * @get: makes a page
 * @data: for @get
 *
 * Return: false without memory.
 */
bool fake_thread_prepare(struct svc_rqst *rqst, struct svc_serv *serv, struct svc_xprt *xprt,
			 struct page *(*get)(void *data), void *data)
{
	if (!compat_rqst_fill(rqst, get, data))
		return false;
	rqst->rq_server = serv;
	rqst->rq_xprt = xprt;
	memset(&rqst->rq_arg, 0, sizeof(rqst->rq_arg));
	return true;
}

/* fake_thread_begin - fake_thread_prepare(), and svc_recv(): the transport is the thread's */
bool fake_thread_begin(struct svc_rqst *rqst, struct svc_serv *serv, struct svc_xprt *xprt,
		       struct page *(*get)(void *data), void *data)
{
	if (!fake_thread_prepare(rqst, serv, xprt, get, data))
		return false;
	fake_nfsd_ready(serv->sv_pools);
	set_bit(XPT_BUSY, &xprt->xpt_flags);
	return true;
}

/* fake_thread_free - the end of a thread, which may be NULL, and of the pages that it has still */
void fake_thread_free(struct svc_rqst *rqst)
{
	if (rqst)
		compat_rqst_exit(rqst);
	kvfree(rqst);
}

/* ---- tasks ---- */

/* fake_task_sleep - one that waits; synchronous, so that it is not run when it is woken */
void fake_task_sleep(struct rpc_xprt *xprt, struct rpc_task *task)
{
	*task = (struct rpc_task) { .tk_runstate = BIT(RPC_TASK_ACTIVE) };
	rpc_sleep_on(&xprt->pending, task, NULL);
}

/* ---- callbacks ---- */

void fake_callbacks_init(struct fake_callbacks *callbacks)
{
	lwq_init(&callbacks->serv.sv_cb_list);
	init_llist_head(&callbacks->pool.sp_idle_threads);
	callbacks->serv.sv_pools = &callbacks->pool;
}

/* fake_callbacks_take - a call, prepared for its reply as by svc_process_bc(); or NULL */
struct rpc_rqst *fake_callbacks_take(struct rpc_xprt *xprt)
{
	struct rpc_rqst *rqst = lwq_dequeue(&xprt->bc_serv->sv_cb_list, struct rpc_rqst,
					    rq_bc_list);

	if (rqst)
		rqst->rq_connect_cookie = xprt->connect_cookie - 1;
	return rqst;
}
