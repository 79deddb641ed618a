// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The client module: the order in which its parts are set up, and taken down in reverse.
 */
#include <linux/module.h>

#include "xprtrdma.h"

/* The transport is registered last: a mount may use the module then, so nothing may fail later. */
static int __init xprtrdma_init(void)
{
	int ret = xprtrdma_sysctl_register();

	if (!ret) {
		ret = xprtrdma_transport_register();
		if (ret)
			xprtrdma_sysctl_unregister();
	}
	/* Another client transport has the names of our sysctl files, or our identifier. */
	if (ret == -EEXIST)
		pr_err("xprtrdma: another \"rdma\" client transport (rpcrdma.ko?) is loaded; remove it first\n");
	return ret;
}

static void __exit xprtrdma_exit(void)
{
	xprtrdma_transport_unregister();
	xprtrdma_sysctl_unregister();
}

module_init(xprtrdma_init);
module_exit(xprtrdma_exit);

MODULE_DESCRIPTION("RPC-over-RDMA version 1 client transport");
MODULE_AUTHOR("The rpcrdma-oot project");
MODULE_LICENSE("GPL");
MODULE_VERSION(RPCRDMA_OOT_VERSION);
MODULE_ALIAS("rpcrdma");
MODULE_ALIAS("rpcrdma6");
