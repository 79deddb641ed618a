// SPDX-License-Identifier: GPL-2.0
/*
 * Pages of calls with Read chunks: the sink of the Reads, and then nfsd's.
 *
 * A small call has them in rc_few_pages, of which the first rc_nr_few are there. The thread that
 * gets the call gives as many in return. SVCRDMA_KEPT_PAGES of these stay with the context, so that
 * for calls of one page and what is behind it nothing is allocated, and nothing freed: only the
 * first one of a context has to find some. With pages of 64 KiB none stays: a connection with all
 * its credits in use would keep 9 MiB, thirteen times what its Receive buffers take. A small call
 * allocates a page then, and its thread frees one.
 *
 * A larger one takes those of the thread that looks at it first, and SUNRPC fills the gaps. The
 * thread that gets the call lets go of as many. In between they are in an array of their own.
 */
#include <linux/slab.h>

#include "svcrdma.h"

/**
 * svcrdma_call_pages - pages that a call's Reads need
 * @rc: context; its rc_stream_length is known
 *
 * Context: any.
 */
u32 svcrdma_call_pages(const struct svcrdma_recv_ctxt *rc)
{
	return DIV_ROUND_UP(rc->rc_stream_length, PAGE_SIZE);
}

static bool few(const struct svcrdma_recv_ctxt *rc)
{
	return svcrdma_call_pages(rc) <= SVCRDMA_FEW_PAGES;
}

/**
 * svcrdma_pages_find - pages for a small call, without a thread of nfsd
 * @rc: context, whose call has not more than SVCRDMA_FEW_PAGES
 *
 * Context: any.
 * Return: false: there is not so much memory just now. Else svcrdma_pages_take() needs no thread.
 */
bool svcrdma_pages_find(struct svcrdma_recv_ctxt *rc)
{
	u32 pages = svcrdma_call_pages(rc);
	struct page *page;

	while (unlikely(rc->rc_nr_few < pages)) {
		page = alloc_page(GFP_NOWAIT | __GFP_NOWARN);
		if (!page)
			return false;
		rc->rc_few_pages[rc->rc_nr_few++] = page;
	}
	rc->rc_pages = rc->rc_few_pages;
	return true;
}

/**
 * svcrdma_pages_make_room - a call is going to have pages
 * @rc: context; its rc_stream_length is known
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int svcrdma_pages_make_room(struct svcrdma_recv_ctxt *rc)
{
	if (few(rc)) {
		rc->rc_pages = rc->rc_few_pages;
		return 0;
	}
	rc->rc_many_pages = kvcalloc(svcrdma_call_pages(rc), sizeof(*rc->rc_many_pages),
				     GFP_KERNEL);
	rc->rc_pages = rc->rc_many_pages;
	return rc->rc_pages ? 0 : -ENOMEM;
}

/**
 * svcrdma_pages_take - pages for a call, unless it has them
 * @rqstp: nfsd thread, which gives what is missing, and svc_alloc_arg() fills the gaps; or NULL,
 *	after svcrdma_pages_find()
 * @rc: context, after that or svcrdma_pages_make_room()
 *
 * Context: process; any without a thread.
 */
void svcrdma_pages_take(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	u32 pages = svcrdma_call_pages(rc);
	u32 had = few(rc) ? rc->rc_nr_few : rc->rc_nr_pages;

	rc->rc_nr_pages = pages;
	if (had >= pages)
		return;
	compat_rqst_call_taken(rqstp, pages);
	svcrdma_pages_move(&rc->rc_pages[had], &rqstp->rq_pages[had], pages - had);
	if (few(rc))
		rc->rc_nr_few = pages;
}

static void free_array(struct svcrdma_recv_ctxt *rc)
{
	kvfree(rc->rc_many_pages);
	rc->rc_many_pages = NULL;
	rc->rc_pages = NULL;
}

static void swap_pages(struct page **one, struct page **other, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		swap(one[i], other[i]);
}

static void replace_pages(struct page **old, struct page **new, u32 count)
{
	if (likely(!count))
		return;
	release_pages(old, count);
	memcpy(old, new, count * sizeof(*old));
}

/**
 * svcrdma_pages_give - the call is a thread's now, and so are its pages, the first ones in rq_pages
 * @rqstp: nfsd thread
 * @rc: context
 *
 * Context: process.
 * Return: 0, or -EMSGSIZE: the thread has too few pages.
 */
int svcrdma_pages_give(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	u32 pages = rc->rc_nr_pages, kept = 0;

	if (pages > svcrdma_arg_page_limit(rqstp))
		return -EMSGSIZE;
	if (few(rc)) {
		kept = min_t(u32, pages, SVCRDMA_KEPT_PAGES);
		swap_pages(rqstp->rq_pages, rc->rc_few_pages, kept);
		rc->rc_nr_few -= pages - kept;
	}
	replace_pages(rqstp->rq_pages + kept, rc->rc_pages + kept, pages - kept);
	rc->rc_nr_pages = 0;
	free_array(rc);
	compat_rqst_reply_begin(rqstp, pages);
	return 0;
}

/**
 * svcrdma_pages_drop - the call has no pages any more
 * @rc: context; nothing is read to them
 *
 * Context: process.
 */
void svcrdma_pages_drop(struct svcrdma_recv_ctxt *rc)
{
	u32 kept = min_t(u32, rc->rc_nr_few, SVCRDMA_KEPT_PAGES);

	if (rc->rc_nr_pages && rc->rc_pages != rc->rc_few_pages)
		release_pages(rc->rc_pages, rc->rc_nr_pages);
	free_array(rc);
	rc->rc_nr_pages = 0;
	release_pages(rc->rc_few_pages + kept, rc->rc_nr_few - kept);
	rc->rc_nr_few = kept;
}

/**
 * svcrdma_pages_free - a context is freed
 * @rc: context; nothing is read to its pages
 *
 * Context: process.
 */
void svcrdma_pages_free(struct svcrdma_recv_ctxt *rc)
{
	svcrdma_pages_drop(rc);
	release_pages(rc->rc_few_pages, rc->rc_nr_few);
}
