// SPDX-License-Identifier: GPL-2.0
/* Linux 6.19 ("svcrdma: Increase the server's default RPC/RDMA credit grant"). */
#include <linux/sunrpc/svc_rdma.h>

_Static_assert(RPCRDMA_MAX_REQUESTS >= 128, "the in-tree server grants 64");
