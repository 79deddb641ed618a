/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
#ifndef COMPAT_SUNRPC_SVC_XPRT_H
#define COMPAT_SUNRPC_SVC_XPRT_H

/*
 * Up to Linux 6.2 the server calls xpo_secure_port for each request. Later kernels expect
 * xpo_recvfrom to set RQ_SECURE. Our xpo_recvfrom sets it in all kernels, so our xpo_secure_port
 * does nothing.
 *
 * Since Linux 6.7 the transports that are ready are in a lock-less queue, so svc_xprt_enqueue() may
 * be called with interrupts off, such as by the handler of a completion event. Earlier kernels take
 * a lock there with spin_lock_bh().
 *
 * An svc_xprt_ops initializer has COMPAT_SVC_XPRT_OPS as its last entry.
 */
#include <linux/sunrpc/svc.h>
#include_next <linux/sunrpc/svc_xprt.h>
#include <compat_config.h>

#ifdef COMPAT_HAVE_XPO_SECURE_PORT
static inline void compat_xpo_secure_port(struct svc_rqst *rqstp)
{
}

#define COMPAT_SVC_XPRT_OPS .xpo_secure_port = compat_xpo_secure_port,
#else
#define COMPAT_SVC_XPRT_OPS
#endif

#ifdef COMPAT_HAVE_BC_LWQ
#define COMPAT_ENQUEUE_IN_ANY_CONTEXT 1
#else
#define COMPAT_ENQUEUE_IN_ANY_CONTEXT 0
#endif

#endif /* COMPAT_SUNRPC_SVC_XPRT_H */
