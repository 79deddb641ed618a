// SPDX-License-Identifier: GPL-2.0
/* Linux 6.6, 4f3ed837186f ("SUNRPC: Add a transport callback to abort ..."). */
#include <linux/sunrpc/xprt.h>

void probe(struct rpc_xprt_ops *ops);
void probe(struct rpc_xprt_ops *ops)
{
	ops->abort_send_request = NULL;
}
