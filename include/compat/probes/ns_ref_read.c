// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Linux 6.18: the references to a namespace are behind functions. */
#include <linux/ns_common.h>

int probe(const struct ns_common *ns);
int probe(const struct ns_common *ns)
{
	return __ns_ref_read(ns);
}
