// SPDX-License-Identifier: GPL-2.0
/* Linux 6.6, 3e6ff89d2e25 ("SUNRPC: Set the TCP_SYNCNT ..." and its series). */
#include <linux/sunrpc/xprt.h>

unsigned long probe(const struct xprt_create *args);
unsigned long probe(const struct xprt_create *args)
{
	return args->connect_timeout + args->reconnect_timeout;
}
