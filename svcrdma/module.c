// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Module init and exit.
 *
 * Each connection and each listener holds a module reference, which SUNRPC takes and drops. Each
 * rpc_xprt for callbacks holds a module reference, which a work item of ours drops. So module exit
 * runs when none of these is left, and only waits for the ends of work items in our own queues,
 * which destroy_workqueue() does. SUNRPC calls no function of this module from its own work items
 * or tasks any more; see backchannel.c.
 */
#include <linux/init.h>
#include <linux/module.h>

#include <common/verbs.h>

#include "listener.h"
#include "svcrdma.h"
#include "sysctl.h"

MODULE_DESCRIPTION("RPC-over-RDMA version 1 server transport");
MODULE_AUTHOR("The rpcrdma-oot project");
MODULE_LICENSE("GPL");
MODULE_VERSION(RPCRDMA_OOT_VERSION);

struct svc_xprt_class svcrdma_class = {
	.xcl_name		= "rdma",
	.xcl_owner		= THIS_MODULE,
	.xcl_ops		= &svcrdma_listener_ops,
	.xcl_max_payload	= RPCSVC_MAXPAYLOAD,
	.xcl_ident		= XPRT_TRANSPORT_RDMA,
};

/*
 * Once svcrdma_class is registered, connections can come and hold the module. So this is the last
 * step that may fail. svcrdma_backchannel_class may come before it, since SUNRPC uses that class
 * only with a connection of ours. If the in-tree module is loaded, a step fails with -EEXIST, since
 * that module has files or classes of the same names.
 */
static int __init svcrdma_init(void)
{
	int ret;

	ret = svcrdma_work_init();
	if (ret)
		return ret;
	ret = rpcrdma_buffers_start("svcrdma_buffer");
	if (ret)
		goto out_release;
	ret = rpcrdma_connections_init(&svcrdma_connections);
	if (ret)
		goto out_buffers;
	ret = svcrdma_listener_init();
	if (ret)
		goto out_connections;
	ret = svcrdma_sysctl_init();
	if (ret)
		goto out_listener;
	ret = xprt_register_transport(&svcrdma_backchannel_class);
	if (ret)
		goto out_sysctl;
	ret = svc_reg_xprt_class(&svcrdma_class);
	if (ret)
		goto out_callbacks;
	return 0;

out_callbacks:
	xprt_unregister_transport(&svcrdma_backchannel_class);
out_sysctl:
	svcrdma_sysctl_exit();
out_listener:
	svcrdma_listener_exit();
out_connections:
	rpcrdma_connections_exit(&svcrdma_connections);
out_buffers:
	rpcrdma_buffers_stop();
out_release:
	svcrdma_work_exit();
	if (ret == -EEXIST)
		pr_err("svcrdma: the in-tree rpcrdma module is loaded; unload it first\n");
	return ret;
}

static void __exit svcrdma_exit(void)
{
	svc_unreg_xprt_class(&svcrdma_class);
	xprt_unregister_transport(&svcrdma_backchannel_class);
	svcrdma_sysctl_exit();
	svcrdma_listener_exit();
	svcrdma_work_exit();
	rpcrdma_connections_exit(&svcrdma_connections);
	rpcrdma_buffers_stop();
}

module_init(svcrdma_init);
module_exit(svcrdma_exit);
