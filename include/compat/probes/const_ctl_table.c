// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Linux 6.11, 78eb4ea25cd5 ("sysctl: treewide: constify the ctl_table argument"). */
#include <linux/sysctl.h>

static int probe(const struct ctl_table *table, int write, void *buffer,
		 size_t *lenp, loff_t *ppos)
{
	return proc_dointvec(table, write, buffer, lenp, ppos);
}

extern proc_handler *probe_handler;
proc_handler *probe_handler = probe;
