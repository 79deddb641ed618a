/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Doubles of the parts of SUNRPC beside a transport: nfsd and the NFS client's service for
 * callbacks, whose only thread is the test, and tasks.
 */
#ifndef KUNIT_FAKE_SERVICE_H
#define KUNIT_FAKE_SERVICE_H

#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>

/**
 * struct fake_callbacks - the service for callbacks
 * @serv: the service
 * @pool: its only pool
 */
struct fake_callbacks {
	struct svc_serv	serv;
	struct svc_pool	pool;
};

int fake_nfsd_init(struct svc_serv *serv, struct svc_pool *pool, u32 payload);
void fake_nfsd_exit(struct svc_pool *pool);
bool fake_nfsd_ready(struct svc_pool *pool);
struct svc_rqst *fake_thread_create(struct svc_serv *serv);
bool fake_thread_prepare(struct svc_rqst *rqst, struct svc_serv *serv, struct svc_xprt *xprt,
			 struct page *(*get)(void *data), void *data);
bool fake_thread_begin(struct svc_rqst *rqst, struct svc_serv *serv, struct svc_xprt *xprt,
		       struct page *(*get)(void *data), void *data);
void fake_thread_free(struct svc_rqst *rqst);

void fake_task_sleep(struct rpc_xprt *xprt, struct rpc_task *task);

void fake_callbacks_init(struct fake_callbacks *callbacks);
struct rpc_rqst *fake_callbacks_take(struct rpc_xprt *xprt);

#endif /* KUNIT_FAKE_SERVICE_H */
