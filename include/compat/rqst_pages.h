/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
#ifndef COMPAT_RQST_PAGES_H
#define COMPAT_RQST_PAGES_H

/*
 * The pages of an nfsd thread, for tests that have no such thread. They are filled and released as
 * SUNRPC of this kernel does, so that a test fails if the transport does not do what SUNRPC
 * expects. See include/compat/linux/sunrpc/svc.h.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sunrpc/svc.h>

typedef struct page *(*compat_page_get)(void *data);

/* Fills the entries that are NULL. Returns false if there is no memory. */
static inline bool compat_pages_fill(struct page **pages, unsigned long count,
				     compat_page_get get, void *data)
{
	unsigned long i;

	for (i = 0; i < count; i++) {
		if (!pages[i])
			pages[i] = get(data);
		if (!pages[i])
			return false;
	}
	return true;
}

static inline void compat_pages_put(struct page **pages, unsigned long count)
{
	unsigned long i;

	for (i = 0; i < count; i++) {
		if (pages[i])
			put_page(pages[i]);
		pages[i] = NULL;
	}
}

#ifdef COMPAT_HAVE_RQ_PAGES_NFREE
/*
 * Does what svc_prepare_thread() does, for a zeroed @rqstp. Returns 0 or -ENOMEM; either way the
 * caller calls compat_rqst_exit() at the end.
 */
static inline int compat_rqst_init(struct svc_rqst *rqstp, unsigned long pages)
{
	rqstp->rq_maxpages = pages;
	rqstp->rq_pages_nfree = pages;
	rqstp->rq_pages = kvcalloc(pages + 1, sizeof(*rqstp->rq_pages), GFP_KERNEL);
	rqstp->rq_respages = kvcalloc(pages + 1, sizeof(*rqstp->rq_respages), GFP_KERNEL);
	if (!rqstp->rq_pages || !rqstp->rq_respages)
		return -ENOMEM;
	rqstp->rq_next_page = rqstp->rq_respages + pages;
	return 0;
}

/* Replaces the pages that were used or taken, as svc_xprt_release() and svc_alloc_arg() do. */
static inline bool compat_rqst_fill(struct svc_rqst *rqstp, compat_page_get get, void *data)
{
	unsigned long used = rqstp->rq_next_page - rqstp->rq_respages;

	compat_pages_put(rqstp->rq_respages, used);
	if (!compat_pages_fill(rqstp->rq_pages, rqstp->rq_pages_nfree, get, data) ||
	    !compat_pages_fill(rqstp->rq_respages, used, get, data))
		return false;
	rqstp->rq_pages_nfree = 0;
	rqstp->rq_next_page = rqstp->rq_respages;
	rqstp->rq_page_end = &rqstp->rq_respages[rqstp->rq_maxpages];
	rqstp->rq_page_end[0] = NULL;
	return true;
}

/* Does what svc_release_buffer() does. */
static inline void compat_rqst_exit(struct svc_rqst *rqstp)
{
	if (rqstp->rq_pages)
		compat_pages_put(rqstp->rq_pages, rqstp->rq_maxpages);
	if (rqstp->rq_respages)
		compat_pages_put(rqstp->rq_respages, rqstp->rq_maxpages);
	kvfree(rqstp->rq_pages);
	kvfree(rqstp->rq_respages);
}

/* Has the transport left at most one page of the reply for SUNRPC to release? */
static inline bool compat_rqst_released(const struct svc_rqst *rqstp)
{
	return rqstp->rq_next_page <= rqstp->rq_respages + 1;
}

/* SUNRPC skips NULL when it releases the pages of a reply, so any of them may have been taken. */
static inline bool compat_rqst_can_be_released(const struct svc_rqst *rqstp)
{
	return rqstp->rq_next_page >= rqstp->rq_respages;
}
#else
static inline int compat_rqst_init(struct svc_rqst *rqstp, unsigned long pages)
{
	rqstp->rq_page_end = &rqstp->rq_pages[pages];
	return 0;
}

/* Does what svc_alloc_arg() does: fills gaps anywhere in the array. */
static inline bool compat_rqst_fill(struct svc_rqst *rqstp, compat_page_get get, void *data)
{
	rqstp->rq_page_end[0] = NULL;
	return compat_pages_fill(rqstp->rq_pages, rqstp->rq_page_end - rqstp->rq_pages, get, data);
}

static inline void compat_rqst_exit(struct svc_rqst *rqstp)
{
	compat_pages_put(rqstp->rq_pages, rqstp->rq_page_end - rqstp->rq_pages);
}

static inline bool compat_rqst_released(const struct svc_rqst *rqstp)
{
	return rqstp->rq_next_page == rqstp->rq_respages;
}

/* svc_rqst_release_pages() does not skip NULL: each page of the reply has to be there. */
static inline bool compat_rqst_can_be_released(const struct svc_rqst *rqstp)
{
	struct page **page;

	for (page = rqstp->rq_respages; page < rqstp->rq_next_page; page++)
		if (!*page)
			return false;
	return true;
}
#endif

#endif /* COMPAT_RQST_PAGES_H */
