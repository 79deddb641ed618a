// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Callbacks with chunks (RFC 8167 section 5.3), for clients that have announced that they take
 * them: a call that does not fit inline is exposed as a Position Zero Read chunk, and a call whose
 * reply may not fit inline has a Reply chunk.
 *
 * Operation. The call is copied into pages of our own, as an inline call is copied into a Send
 * buffer, and the Reply chunk consists of such pages, too. So no memory of the RPC is exposed, and
 * the RPC may end at any time. A reply in the Reply chunk is copied out when the LOCAL_INVs have
 * completed, and the RPC is looked up only then. If the RPC ends without such a reply,
 * svcrdma_long_call_end() posts the same LOCAL_INVs, and their completion only frees the memory.
 *
 * The owner of a struct svcrdma_long_call is that of its exposure (region.c). While the exposure is
 * armed, this is the list st_long.calls. A callback that is given up before it is posted still
 * belongs to the Send context of the call, which may wait for Send Queue entries.
 *
 * Bounds: a connection has at most SVCRDMA_MAX_LONG_CALLS callbacks with chunks, with at most
 * SVCRDMA_MAX_CALLBACK bytes each way.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "send_ctxt.h"
#include "svcrdma.h"

enum { LONG_PAGES = DIV_ROUND_UP(SVCRDMA_MAX_CALLBACK, PAGE_SIZE) };

/**
 * struct long_memory - the memory of a chunk
 * @length: size of the chunk in bytes
 * @nr_pages: number of entries of @pages
 * @pages: pages of the chunk
 * @sg: scatterlist of @pages
 */
struct long_memory {
	u32			length;
	u32			nr_pages;
	struct page		*pages[LONG_PAGES];
	struct scatterlist	sg[LONG_PAGES];
};

/**
 * struct svcrdma_long_call - a callback with chunks
 * @lc_list: entry of st_long.calls, under st_expose_lock
 * @lc_exposure: exposure of both chunks; a reply is accepted only while it is ARMED
 * @lc_xid: XID of the call
 * @lc_answer: number of bytes of a reply in the Reply chunk that is to be delivered, or 0
 * @lc_call: memory of the Read chunk; without pages if the call is inline
 * @lc_reply: memory of the Reply chunk; without pages if there is no Reply chunk
 */
struct svcrdma_long_call {
	struct list_head	lc_list;
	struct svcrdma_exposure	lc_exposure;
	u32			lc_xid;
	u32			lc_answer;
	struct long_memory	lc_call;
	struct long_memory	lc_reply;
};

/* ---- memory ---- */

static void memory_free(struct long_memory *memory)
{
	while (memory->nr_pages)
		__free_page(memory->pages[--memory->nr_pages]);
}

/*
 * Allocate the pages of a chunk. They are zeroed, so that a client that writes less than it says
 * cannot make nfsd take the former content of the pages for a part of the reply.
 */
static int memory_alloc(struct long_memory *memory, u32 length)
{
	u32 n, left = length;
	struct page *page;

	memory->length = length;
	sg_init_table(memory->sg, PFN_UP(length));
	for (; left; left -= n) {
		n = min_t(u32, left, PAGE_SIZE);
		page = alloc_page(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
		if (!page)
			return -ENOMEM;
		sg_set_page(&memory->sg[memory->nr_pages], page, n, 0);
		memory->pages[memory->nr_pages++] = page;
	}
	return 0;
}

static int copy_call(struct long_memory *memory, const struct xdr_buf *call)
{
	u32 i, at = 0;

	for (i = 0; i < memory->nr_pages; i++) {
		if (read_bytes_from_xdr_buf(call, at, page_address(memory->pages[i]),
					    memory->sg[i].length))
			return -EIO;
		at += memory->sg[i].length;
	}
	return 0;
}

static struct svcrdma_long_call *long_call_of(struct svcrdma_exposure *xs)
{
	return container_of(xs, struct svcrdma_long_call, lc_exposure);
}

/* ---- the end ---- */

static void long_call_free(struct svcrdma_exposure *xs)
{
	struct svcrdma_transport *t = xs->xs_transport;
	struct svcrdma_long_call *lc = long_call_of(xs);

	memory_free(&lc->lc_call);
	memory_free(&lc->lc_reply);
	spin_lock(&t->st_expose_lock);
	list_del(&lc->lc_list);
	t->st_long.count--;
	spin_unlock(&t->st_expose_lock);
	kfree(lc);
}

/* The client cannot change the memory any more: copy a reply out of it. */
static void long_call_fenced(struct svcrdma_exposure *xs)
{
	struct svcrdma_transport *t = xs->xs_transport;
	struct svcrdma_long_call *lc = long_call_of(xs);

	if (!lc->lc_answer)
		return;
	this_cpu_add(t->st_counters->bytes_written, lc->lc_answer);
	/* The CPU may read the pages after they are unmapped. */
	svcrdma_exposure_unmap(xs);
	svcrdma_backchannel_answer(t, lc->lc_xid, lc->lc_reply.pages, lc->lc_answer);
}

static const struct svcrdma_exposure_ops long_call_ops = {
	.fenced	= long_call_fenced,
	.free	= long_call_free,
};

/* Return: the callback with @xid that has not ended, or NULL. */
static struct svcrdma_long_call *long_call_find(struct svcrdma_transport *t, u32 xid)
{
	struct svcrdma_long_call *lc;

	lockdep_assert_held(&t->st_expose_lock);
	list_for_each_entry(lc, &t->st_long.calls, lc_list)
		if (lc->lc_xid == xid && (lc->lc_exposure.xs_state == SVCRDMA_EXPOSURE_NEW ||
					  lc->lc_exposure.xs_state == SVCRDMA_EXPOSURE_ARMED))
			return lc;
	return NULL;
}

/**
 * svcrdma_long_call_offered - size of the Reply chunk that was sent with a callback
 * @t: transport
 * @xid: XID of the call
 *
 * Context: any.
 * Return: size in bytes, or 0 if no Reply chunk was sent.
 */
u32 svcrdma_long_call_offered(struct svcrdma_transport *t, u32 xid)
{
	struct svcrdma_long_call *lc;
	u32 length = 0;

	spin_lock(&t->st_expose_lock);
	lc = long_call_find(t, xid);
	if (lc && lc->lc_exposure.xs_state == SVCRDMA_EXPOSURE_ARMED)
		length = lc->lc_reply.length;
	spin_unlock(&t->st_expose_lock);
	return length;
}

/**
 * svcrdma_long_call_end - end the exposure of a callback
 * @t: transport
 * @xid: XID of the call, which may have had no chunks
 * @answer: number of bytes of a reply in the Reply chunk, which svcrdma_backchannel_answer() is to
 *	get; 0 if there is no such reply
 *
 * Context: any.
 */
void svcrdma_long_call_end(struct svcrdma_transport *t, u32 xid, u32 answer)
{
	struct svcrdma_long_call *lc;

	spin_lock(&t->st_expose_lock);
	lc = long_call_find(t, xid);
	if (lc && lc->lc_exposure.xs_state == SVCRDMA_EXPOSURE_NEW) {
		svcrdma_exposure_advance(&lc->lc_exposure, SVCRDMA_EXPOSURE_GIVEN_UP);
		lc = NULL;
	}
	if (lc) {
		svcrdma_exposure_advance(&lc->lc_exposure, SVCRDMA_EXPOSURE_FENCING);
		lc->lc_answer = min(answer, lc->lc_reply.length);
	}
	spin_unlock(&t->st_expose_lock);
	if (lc)
		svcrdma_exposure_fence(&lc->lc_exposure);
}

/* ---- the beginning ---- */

static struct svcrdma_long_call *long_call_alloc(struct svcrdma_transport *t, u32 xid)
{
	struct svcrdma_long_call *lc = kzalloc(sizeof(*lc), GFP_KERNEL);
	bool full;

	if (!lc)
		return NULL;
	lc->lc_xid = xid;
	spin_lock(&t->st_expose_lock);
	full = t->st_long.count == SVCRDMA_MAX_LONG_CALLS;
	if (!full) {
		t->st_long.count++;
		list_add(&lc->lc_list, &t->st_long.calls);
		svcrdma_exposure_init(&lc->lc_exposure, t, &long_call_ops);
	}
	spin_unlock(&t->st_expose_lock);
	if (!full)
		return lc;
	kfree(lc);
	return NULL;
}

static int expose_call(struct svcrdma_long_call *lc, const struct xdr_buf *call,
		       struct rpcrdma_chunk_lists *lists)
{
	struct long_memory *memory = &lc->lc_call;
	int ret = memory_alloc(memory, call->len);

	if (!ret)
		ret = copy_call(memory, call);
	if (ret)
		return ret;
	rpcrdma_lists_begin_read(lists, 0);
	return svcrdma_exposure_map(&lc->lc_exposure, memory->sg, memory->nr_pages,
				    IB_ACCESS_REMOTE_READ, lists);
}

static int expose_reply_chunk(struct svcrdma_long_call *lc, u32 size,
			      struct rpcrdma_chunk_lists *lists)
{
	struct long_memory *memory = &lc->lc_reply;
	int ret = memory_alloc(memory, size);

	if (ret)
		return ret;
	rpcrdma_lists_begin_reply(lists);
	return svcrdma_exposure_map(&lc->lc_exposure, memory->sg, memory->nr_pages,
				    IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE, lists);
}

/* @lists has room for both chunks, which are begun in the order of the message. */
static int long_call_build(struct svcrdma_long_call *lc, const struct rpc_rqst *rqst,
			   const struct rpcrdma_call_plan *plan,
			   struct rpcrdma_chunk_lists *lists)
{
	int ret = 0;

	if (plan->position_zero)
		ret = expose_call(lc, &rqst->rq_snd_buf, lists);
	if (!ret && plan->reply_chunk)
		ret = expose_reply_chunk(lc, rqst->rq_rcv_buf.buflen, lists);
	return ret;
}

/**
 * svcrdma_long_calls_setup - initialize the members for callbacks with chunks
 * @t: new transport, in which these members are zero
 *
 * Context: any.
 */
void svcrdma_long_calls_setup(struct svcrdma_transport *t)
{
	INIT_LIST_HEAD(&t->st_long.calls);
}

/**
 * svcrdma_long_call_create - make the chunks of a callback, ready to be registered
 * @sc: Send context of the call, which owns the callback on success
 * @rqst: RPC of the call, which is not needed after the return
 * @plan: plan with a Position Zero Read chunk, a Reply chunk or both
 * @lists: lists that get the chunks, with room for RPCRDMA_MAX_SEGMENTS_SENT segments of each chunk
 *
 * Context: process.
 * Return: 0, or -ENOBUFS: memory is short, or too many callbacks with chunks are under way.
 */
int svcrdma_long_call_create(struct svcrdma_send_ctxt *sc, const struct rpc_rqst *rqst,
			     const struct rpcrdma_call_plan *plan,
			     struct rpcrdma_chunk_lists *lists)
{
	/*
	 * rpciod, which runs this, may be needed to write pages back, so allocations must not wait
	 * for that. KCSAN would report other bits of the task's flags, which change meanwhile.
	 */
	unsigned int nofs = data_race(memalloc_nofs_save());
	struct svcrdma_long_call *lc;

	lc = long_call_alloc(sc->sc_transport, be32_to_cpu(rqst->rq_xid));
	if (lc && long_call_build(lc, rqst, plan, lists)) {
		svcrdma_exposure_free(&lc->lc_exposure);
		lc = NULL;
	}
	kcsan_disable_current();
	memalloc_nofs_restore(nofs);
	kcsan_enable_current();
	if (!lc)
		return -ENOBUFS;
	sc->sc_exposure = &lc->lc_exposure;
	return 0;
}
