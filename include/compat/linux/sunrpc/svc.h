/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COMPAT_SUNRPC_SVC_H
#define COMPAT_SUNRPC_SVC_H

/*
 * svc_serv_maxpages() came with Linux 6.16 and into stable kernels before it.
 */
#include_next <linux/sunrpc/svc.h>
#include <compat_config.h>

#ifndef COMPAT_HAVE_SVC_SERV_MAXPAGES
static inline unsigned long svc_serv_maxpages(const struct svc_serv *serv)
{
	unsigned long pages = DIV_ROUND_UP(serv->sv_max_mesg, PAGE_SIZE) + 2 + 1;

	/* svc_rqst.rq_pages is an array of this size here. */
	return min_t(unsigned long, pages, RPCSVC_MAXPAGES);
}
#endif

#endif /* COMPAT_SUNRPC_SVC_H */
