// SPDX-License-Identifier: GPL-2.0
/* Linux 6.16, and a stable backport in Debian's 6.12. */
#include <linux/sunrpc/svc.h>

unsigned long probe(const struct svc_serv *serv);
unsigned long probe(const struct svc_serv *serv)
{
	return svc_serv_maxpages(serv);
}
