// SPDX-License-Identifier: GPL-2.0
/* What svcrdma/module.c does, without SUNRPC: for the server's suites and for the pair. */
#include <linux/module.h>

#include "../../svcrdma/svcrdma.h"
#include "module.h"

struct svc_xprt_class svcrdma_class = {
	.xcl_name		= "rdma",
	.xcl_owner		= THIS_MODULE,
	.xcl_ops		= &svcrdma_listener_ops,
	.xcl_max_payload	= RPCSVC_MAXPAYLOAD,
	.xcl_ident		= XPRT_TRANSPORT_RDMA,
};

int server_module_init(void)
{
	int ret = svcrdma_release_init();

	if (ret)
		return ret;
	ret = svcrdma_counters_init();
	if (ret)
		svcrdma_release_exit();
	return ret;
}

void server_module_exit(void)
{
	svcrdma_release_exit();
	svcrdma_counters_exit();
}
