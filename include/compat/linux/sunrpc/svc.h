/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
#ifndef COMPAT_SUNRPC_SVC_H
#define COMPAT_SUNRPC_SVC_H

/*
 * The pages of an nfsd thread. Since Linux 7.1 the call has rq_pages and the reply has
 * rq_respages, an array of its own. Before, rq_respages points into rq_pages, behind the call.
 * The type of rq_respages is the same in both. rq_pages_nfree tells them apart: it came with the
 * second array. A kernel with one array has RPCSVC_MAXPAGES, one with two does not. A kernel
 * that has neither name, or both, is refused (include/compat/required).
 *
 * svc_serv_maxpages() came with Linux 6.16 and into stable kernels before it.
 */
#include_next <linux/sunrpc/svc.h>
#include <compat_config.h>

#ifdef COMPAT_HAVE_RPCSVC_MAXPAGES
/* In some kernels rq_pages has RPCSVC_MAXPAGES + 1 entries, whatever number the service wants. */
static inline unsigned long compat_svc_serv_maxpages(const struct svc_serv *serv)
{
#ifdef COMPAT_HAVE_SVC_SERV_MAXPAGES
	unsigned long pages = svc_serv_maxpages(serv);
#else
	unsigned long pages = DIV_ROUND_UP(serv->sv_max_mesg, PAGE_SIZE) + 2 + 1;
#endif

	return min_t(unsigned long, pages, RPCSVC_MAXPAGES);
}

#define svc_serv_maxpages(serv) compat_svc_serv_maxpages(serv)
#endif

/*
 * compat_rqst_call_pages - number of pages that a call may take: those of its own array, or those
 * that the reply leaves of a common array
 */
static inline u32 compat_rqst_call_pages(const struct svc_rqst *rqstp)
{
#ifdef COMPAT_HAVE_RQ_PAGES_NFREE
	return rqstp->rq_maxpages;
#else
	u32 pages = rqstp->rq_page_end - rqstp->rq_pages;

	return pages > 2 ? pages - 2 : 0;
#endif
}

/* compat_rqst_call_taken - the transport has taken the first @pages entries of rq_pages */
static inline void compat_rqst_call_taken(struct svc_rqst *rqstp, u32 pages)
{
#ifdef COMPAT_HAVE_RQ_PAGES_NFREE
	rqstp->rq_pages_nfree = pages;
#endif
}

/* compat_rqst_reply_begin - the call uses @call_pages pages, and the reply uses none yet */
static inline void compat_rqst_reply_begin(struct svc_rqst *rqstp, u32 call_pages)
{
#ifndef COMPAT_HAVE_RQ_PAGES_NFREE
	rqstp->rq_respages = &rqstp->rq_pages[call_pages];
#endif
	rqstp->rq_next_page = rqstp->rq_respages;
}

/*
 * compat_rqst_reply_taken - the transport has taken the pages of the reply up to rq_next_page,
 * whose entries are NULL now
 *
 * A kernel in which the reply has its own array skips these entries, and finds out from
 * rq_next_page how many new pages the thread needs. Other kernels release the pages up to
 * rq_next_page, and some of them do not skip NULL, so rq_next_page goes back to rq_respages.
 */
static inline void compat_rqst_reply_taken(struct svc_rqst *rqstp)
{
#ifndef COMPAT_HAVE_RQ_PAGES_NFREE
	rqstp->rq_next_page = rqstp->rq_respages;
#endif
}

#endif /* COMPAT_SUNRPC_SVC_H */
