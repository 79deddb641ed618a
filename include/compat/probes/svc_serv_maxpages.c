// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Linux 6.16, and a stable backport in Debian's 6.12. */
#include <linux/sunrpc/svc.h>

unsigned long probe(const struct svc_serv *serv);
unsigned long probe(const struct svc_serv *serv)
{
	return svc_serv_maxpages(serv);
}
