// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Linux 6.6, 9edbfe92a0a1 ("sysctl: Add size to register_sysctl"). */
#include <linux/sysctl.h>

struct ctl_table_header *probe(struct ctl_table *table);
struct ctl_table_header *probe(struct ctl_table *table)
{
	return register_sysctl_sz("sunrpc", table, 1);
}
