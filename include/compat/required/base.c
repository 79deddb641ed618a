// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* its headers do not compile as those of Linux 6.1 to 7.3 do */
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/ns_common.h>
#include <linux/sysctl.h>
#include <linux/tracepoint.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rdma/rw.h>
#include <trace/misc/rdma.h>
