// SPDX-License-Identifier: GPL-2.0
/*
 * The client module: what is set up in which order, and taken down in reverse.
 */
#include <linux/module.h>

#include "xprtrdma.h"

static int __init xprtrdma_init(void)
{
	int rc;

	rc = xprtrdma_transport_register();
	if (rc) {
		if (rc == -EEXIST)
			pr_err("xprtrdma: another \"rdma\" client transport (rpcrdma.ko?) is loaded; remove it first\n");
		return rc;
	}
	rc = xprtrdma_sysctl_register();
	if (rc)
		xprtrdma_transport_unregister();
	return rc;
}

static void __exit xprtrdma_exit(void)
{
	xprtrdma_sysctl_unregister();
	xprtrdma_transport_unregister();
}

module_init(xprtrdma_init);
module_exit(xprtrdma_exit);

MODULE_DESCRIPTION("RPC-over-RDMA version 1 client transport");
MODULE_LICENSE("GPL");
MODULE_ALIAS("rpcrdma");
MODULE_ALIAS("rpcrdma6");
