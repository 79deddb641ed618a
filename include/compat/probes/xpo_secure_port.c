// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Until Linux 6.2: svc_recv() calls it for every request. */
#include <linux/sunrpc/svc_xprt.h>

void probe(struct svc_xprt_ops *ops);
void probe(struct svc_xprt_ops *ops)
{
	ops->xpo_secure_port = NULL;
}
