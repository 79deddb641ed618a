/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COMPAT_SUNRPC_XPRT_H
#define COMPAT_SUNRPC_XPRT_H

/*
 * Linux 6.6 added rpc_xprt_ops.abort_send_request, which is optional, and two
 * timeouts to struct xprt_create. Zero means that the caller named none.
 */
#include_next <linux/sunrpc/xprt.h>
#include <compat_config.h>

/* An entry of an rpc_xprt_ops initializer. */
#ifdef COMPAT_HAVE_ABORT_SEND_REQUEST
#define COMPAT_ABORT_SEND_REQUEST(function) .abort_send_request = (function),
#else
#define COMPAT_ABORT_SEND_REQUEST(function)
#endif

static inline unsigned long
compat_xprt_connect_timeout(const struct xprt_create *args)
{
#ifdef COMPAT_HAVE_XPRT_CREATE_TIMEOUTS
	return args->connect_timeout;
#else
	return 0;
#endif
}

static inline unsigned long
compat_xprt_reconnect_timeout(const struct xprt_create *args)
{
#ifdef COMPAT_HAVE_XPRT_CREATE_TIMEOUTS
	return args->reconnect_timeout;
#else
	return 0;
#endif
}

#endif /* COMPAT_SUNRPC_XPRT_H */
