// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Until Linux 7.0: call and reply have one array of pages together. */
#include <linux/sunrpc/svc.h>

unsigned int probe(void);
unsigned int probe(void)
{
	return RPCSVC_MAXPAGES;
}
