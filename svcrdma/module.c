// SPDX-License-Identifier: GPL-2.0
/*
 * Module init and exit.
 *
 * Each connection and listener holds a module reference, taken and dropped by
 * SUNRPC, and each rpc_xprt for callbacks one that a work item of ours drops. Exit therefore
 * runs with none left, and has only to wait for the tails of work items of our own queues,
 * which destroy_workqueue() does. Nothing of ours that SUNRPC calls from a work item or a
 * task of its own is left then: backchannel.c.
 */
#include <linux/init.h>
#include <linux/module.h>

#include <common/verbs.h>

#include "listener.h"
#include "svcrdma.h"
#include "sysctl.h"

MODULE_DESCRIPTION("RPC-over-RDMA version 1 server transport");
MODULE_LICENSE("GPL");

struct svc_xprt_class svcrdma_class = {
	.xcl_name		= "rdma",
	.xcl_owner		= THIS_MODULE,
	.xcl_ops		= &svcrdma_listener_ops,
	.xcl_max_payload	= RPCSVC_MAXPAYLOAD,
	.xcl_ident		= XPRT_TRANSPORT_RDMA,
};

/*
 * That of callbacks first: without a connection of ours nobody can use it. Once the other one is
 * there, nfsd may hold the module, and nothing may fail any more.
 */
static int __init classes_register(void)
{
	int ret;

	ret = xprt_register_transport(&svcrdma_backchannel_class);
	if (ret)
		return ret;
	ret = svc_reg_xprt_class(&svcrdma_class);
	if (ret)
		xprt_unregister_transport(&svcrdma_backchannel_class);
	return ret;
}

static void classes_unregister(void)
{
	svc_unreg_xprt_class(&svcrdma_class);
	xprt_unregister_transport(&svcrdma_backchannel_class);
}

/*
 * Once the classes are registered, connections can come, which hold the module: whatever may fail
 * has been done before. Another module is noticed by the names of its files, or by its classes.
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
	ret = svcrdma_counters_init();
	if (ret)
		goto out_buffers;
	svcrdma_budget_init();
	ret = svcrdma_connections_init();
	if (ret)
		goto out_counters;
	ret = svcrdma_listener_init();
	if (ret)
		goto out_connections;
	ret = svcrdma_sysctl_init();
	if (ret)
		goto out_listener;
	ret = classes_register();
	if (ret)
		goto out_sysctl;
	return 0;

out_sysctl:
	svcrdma_sysctl_exit();
out_listener:
	svcrdma_listener_exit();
out_connections:
	svcrdma_connections_exit();
out_counters:
	svcrdma_counters_exit();
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
	classes_unregister();
	svcrdma_sysctl_exit();
	svcrdma_listener_exit();
	svcrdma_work_exit();
	svcrdma_connections_exit();
	svcrdma_counters_exit();
	rpcrdma_buffers_stop();
}

module_init(svcrdma_init);
module_exit(svcrdma_exit);
