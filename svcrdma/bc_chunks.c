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
 * The owner of a struct svcrdma_long_call is that of its exposure (region.c). A callback that is
 * given up before it is posted still belongs to the Send context of the call, which may wait for
 * Send Queue entries.
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
 * @nr_pages: number of pages of the chunk
 * @sg: scatterlist of these pages
 */
struct long_memory {
	u32			length;
	u32			nr_pages;
	struct scatterlist	sg[LONG_PAGES];
};

/**
 * struct svcrdma_long_call - a callback with chunks
 * @lc_exposure: exposure of both chunks; a reply with a Reply chunk is accepted only while the
 *	exposure is ARMED
 * @lc_answer: number of bytes of a reply in the Reply chunk that is to be delivered, or 0
 * @lc_call: memory of the Read chunk; without pages if the call is inline
 * @lc_reply: memory of the Reply chunk; without pages if there is no Reply chunk
 */
struct svcrdma_long_call {
	struct svcrdma_exposure	lc_exposure;
	u32			lc_answer;
	struct long_memory	lc_call;
	struct long_memory	lc_reply;
};

/* ---- memory ---- */

static void memory_free(struct long_memory *memory)
{
	while (memory->nr_pages)
		__free_page(sg_page(&memory->sg[--memory->nr_pages]));
}

/*
 * Allocate the pages of a chunk, and copy @call to them if it is not NULL. The pages are zeroed, so
 * that a client that writes less than it says cannot make nfsd take their former content for a part
 * of the reply.
 */
static int memory_alloc(struct long_memory *memory, u32 length, const struct xdr_buf *call)
{
	struct page *page;
	u32 n, at;

	memory->length = length;
	sg_init_table(memory->sg, PFN_UP(length));
	for (at = 0; at < length; at += n) {
		n = min_t(u32, length - at, PAGE_SIZE);
		page = alloc_page(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
		if (!page)
			return -ENOMEM;
		sg_set_page(&memory->sg[memory->nr_pages++], page, n, 0);
		if (call && read_bytes_from_xdr_buf(call, at, page_address(page), n))
			return -EIO;
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
	struct svcrdma_long_call *lc = long_call_of(xs);

	memory_free(&lc->lc_call);
	memory_free(&lc->lc_reply);
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
	/* The CPU may read the pages only after they are unmapped. */
	svcrdma_exposure_unmap(xs);
	svcrdma_backchannel_answer(t, xs->xs_xid, lc->lc_reply.sg, lc->lc_answer);
}

static const struct svcrdma_exposure_ops long_call_ops = {
	.kind	= SVCRDMA_LONG_CALL,
	.fenced	= long_call_fenced,
	.free	= long_call_free,
};

/**
 * svcrdma_long_call_offered - has a callback offered the Reply chunk of its reply?
 * @t: transport
 * @xid: XID of the reply
 * @length: length of the Reply chunk in the reply, in bytes
 *
 * Context: process.
 * Return: true: the callback of that XID had a Reply chunk that was no shorter (RFC 8166 section
 * 4.3.3), and the client may still write to it.
 */
bool svcrdma_long_call_offered(struct svcrdma_transport *t, u32 xid, u32 length)
{
	struct svcrdma_exposure *xs;
	bool offered = false;

	spin_lock(&t->st_expose_lock);
	xs = svcrdma_exposure_find(t, xid, SVCRDMA_LONG_CALL, SVCRDMA_EXPOSURE_ARMED);
	if (xs)
		offered = long_call_of(xs)->lc_reply.nr_pages &&
			  length <= long_call_of(xs)->lc_reply.length;
	spin_unlock(&t->st_expose_lock);
	return offered;
}

/**
 * svcrdma_long_call_end - end the exposure of a callback
 * @t: transport
 * @xid: XID of the call, which may have had no chunks
 * @answer: number of bytes of a reply in the Reply chunk, which svcrdma_backchannel_answer() is to
 *	get; 0 if there is no such reply
 *
 * Context: process.
 */
void svcrdma_long_call_end(struct svcrdma_transport *t, u32 xid, u32 answer)
{
	struct svcrdma_long_call *lc;
	struct svcrdma_exposure *xs;

	spin_lock(&t->st_expose_lock);
	xs = svcrdma_exposure_find(t, xid, SVCRDMA_LONG_CALL, SVCRDMA_EXPOSURE_NEW);
	if (xs)
		svcrdma_exposure_advance(xs, SVCRDMA_EXPOSURE_GIVEN_UP);
	xs = svcrdma_exposure_find(t, xid, SVCRDMA_LONG_CALL, SVCRDMA_EXPOSURE_ARMED);
	if (xs) {
		svcrdma_exposure_advance(xs, SVCRDMA_EXPOSURE_FENCING);
		lc = long_call_of(xs);
		lc->lc_answer = min(answer, lc->lc_reply.length);
	}
	spin_unlock(&t->st_expose_lock);
	if (xs)
		svcrdma_exposure_fence(xs);
}

/* ---- the beginning ---- */

static struct svcrdma_long_call *long_call_alloc(struct svcrdma_transport *t, u32 xid)
{
	struct svcrdma_long_call *lc = kzalloc(sizeof(*lc), GFP_KERNEL);

	if (lc && svcrdma_exposure_begin(&lc->lc_exposure, t, xid, &long_call_ops,
					 SVCRDMA_MAX_LONG_CALLS))
		return lc;
	kfree(lc);
	return NULL;
}

static int memory_map(struct svcrdma_long_call *lc, struct long_memory *memory, int access,
		      struct rpcrdma_chunk_lists *lists)
{
	return svcrdma_exposure_map(&lc->lc_exposure, memory->sg, memory->nr_pages, access, lists);
}

/* Make the chunks, in the order in which the header has them. @lists has room for both. */
static int long_call_build(struct svcrdma_long_call *lc, const struct rpc_rqst *rqst,
			   const struct rpcrdma_call_plan *plan,
			   struct rpcrdma_chunk_lists *lists)
{
	int ret = 0;

	if (plan->position_zero) {
		rpcrdma_lists_begin_read(lists, 0);
		ret = memory_alloc(&lc->lc_call, rqst->rq_snd_buf.len, &rqst->rq_snd_buf) ?:
		      memory_map(lc, &lc->lc_call, IB_ACCESS_REMOTE_READ, lists);
	}
	if (!ret && plan->reply_chunk) {
		rpcrdma_lists_begin_reply(lists);
		ret = memory_alloc(&lc->lc_reply, rqst->rq_rcv_buf.buflen, NULL) ?:
		      memory_map(lc, &lc->lc_reply,
				 IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE, lists);
	}
	return ret;
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
	 * for that. The scheduler reads other bits of the task's flags without a lock, which KCSAN
	 * would report.
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
