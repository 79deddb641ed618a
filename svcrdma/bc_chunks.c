// SPDX-License-Identifier: GPL-2.0
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
 * The owner of a struct svcrdma_long_call is the Send context of the call until the call is posted,
 * which may wait for Send Queue entries; the list st_long.calls until the callback is ended; and
 * the HCA while the LOCAL_INVs are posted. A callback that is given up before it is posted still
 * belongs to the Send context. After a connection has failed, only svcrdma_long_calls_destroy()
 * frees a callback that was posted.
 *
 * Bounds: a connection has at most SVCRDMA_MAX_LONG_CALLS callbacks with chunks, with at most
 * SVCRDMA_MAX_CALLBACK bytes each way. Send Queue entries for the invalidations are taken together
 * with those of the Send.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include <common/verbs.h>

#include "send_ctxt.h"
#include "svcrdma.h"
#include "trace.h"

enum { LONG_PAGES = DIV_ROUND_UP(SVCRDMA_MAX_CALLBACK, PAGE_SIZE) };

/**
 * struct long_memory - the memory of a chunk
 * @regions: memory regions, one for each segment of the chunk
 * @length: size of the chunk in bytes
 * @nr_pages: number of entries of @pages
 * @pages: pages of the chunk
 * @sg: scatterlist of @pages
 */
struct long_memory {
	struct svcrdma_regions	regions;
	u32			length;
	u32			nr_pages;
	struct page		*pages[LONG_PAGES];
	struct scatterlist	sg[LONG_PAGES];
};

/**
 * struct svcrdma_long_call - a callback with chunks
 * @lc_list: entry of st_long.calls, under st_expose_lock
 * @lc_transport: connection of the callback; constant
 * @lc_xid: XID of the call
 * @lc_exposure: state of the exposure; a reply is accepted only while it is ARMED
 * @lc_answer: number of bytes of a reply in the Reply chunk that is to be delivered, or 0
 * @lc_sq_held: number of Send Queue entries for the LOCAL_INVs
 * @lc_inv_cqe: completion of the last LOCAL_INV
 * @lc_call: memory of the Read chunk; without pages if the call is inline
 * @lc_reply: memory of the Reply chunk; without pages if there is no Reply chunk
 */
struct svcrdma_long_call {
	struct list_head	lc_list;
	struct svcrdma_transport *lc_transport;
	u32			lc_xid;
	struct svcrdma_exposure	lc_exposure;
	u32			lc_answer;
	u32			lc_sq_held;
	struct ib_cqe		lc_inv_cqe;
	struct long_memory	lc_call;
	struct long_memory	lc_reply;
};

/* ---- memory ---- */

static void memory_free(struct svcrdma_transport *t, struct long_memory *memory)
{
	svcrdma_regions_put(t, &memory->regions);
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

static int memory_map(struct svcrdma_long_call *lc, struct long_memory *memory, int access,
		      struct rpcrdma_chunk_lists *lists)
{
	return svcrdma_regions_map(lc->lc_transport, &memory->regions, memory->sg,
				   memory->nr_pages, access, lists);
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

static u32 long_call_regions(const struct svcrdma_long_call *lc)
{
	return lc->lc_call.regions.rs_count + lc->lc_reply.regions.rs_count;
}

/* ---- the end ---- */

/**
 * svcrdma_long_call_free - free a callback and its memory
 * @lc: callback whose memory the client cannot access any more, or that was never posted
 *
 * Context: process, or a completion handler on a work queue.
 */
void svcrdma_long_call_free(struct svcrdma_long_call *lc)
{
	struct svcrdma_transport *t = lc->lc_transport;
	u32 held = lc->lc_sq_held;

	memory_free(t, &lc->lc_call);
	memory_free(t, &lc->lc_reply);
	spin_lock(&t->st_expose_lock);
	list_del(&lc->lc_list);
	t->st_long.count--;
	spin_unlock(&t->st_expose_lock);
	kfree(lc);
	if (held)
		svcrdma_sq_put_held(t, held);
}

/* LOCAL_INVs are complete: the client cannot change the memory any more; copy a reply out of it. */
static void long_inv_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_long_call *lc =
		container_of(wc->wr_cqe, struct svcrdma_long_call, lc_inv_cqe);
	struct svcrdma_transport *t = lc->lc_transport;
	struct long_memory *reply = &lc->lc_reply;

	/* After a failure @lc stays as it is until the transport is freed. */
	if (svcrdma_wc_failed(t, "inv", RPCRDMA_END_FENCE_FAILED, wc))
		return;
	rpcrdma_count_shared(&t->st_counters.regions_invalidated_locally,
			     long_call_regions(lc));
	if (lc->lc_answer) {
		rpcrdma_count_shared(&t->st_counters.bytes_written, lc->lc_answer);
		/* The CPU may read the pages after they are unmapped. */
		svcrdma_regions_put(t, &reply->regions);
		svcrdma_backchannel_answer(t, lc->lc_xid, reply->pages, lc->lc_answer);
	}
	svcrdma_long_call_free(lc);
}

static void long_call_fence(struct svcrdma_long_call *lc)
{
	struct svcrdma_transport *t = lc->lc_transport;
	struct ib_send_wr *first;

	first = rpcrdma_regions_inv(&lc->lc_call.regions.rs_list, NULL);
	first = rpcrdma_regions_inv(&lc->lc_reply.regions.rs_list, first);
	/* The completion may have freed @lc when the post returns. */
	if (svcrdma_regions_invalidate(t, first))
		svcrdma_expose_watch(t);
}

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
		long_call_fence(lc);
}

/**
 * svcrdma_long_calls_stuck - do the LOCAL_INVs of any callback take too long?
 * @t: transport
 * @waiting: set to true if LOCAL_INVs of any callback are under way
 *
 * Context: any.
 * Return: true if the deadline of any of them has passed.
 */
bool svcrdma_long_calls_stuck(struct svcrdma_transport *t, bool *waiting)
{
	u64 now = get_jiffies_64();
	struct svcrdma_long_call *lc;
	bool stuck = false;

	spin_lock(&t->st_expose_lock);
	list_for_each_entry(lc, &t->st_long.calls, lc_list) {
		if (lc->lc_exposure.xs_state != SVCRDMA_EXPOSURE_FENCING)
			continue;
		*waiting = true;
		stuck |= svcrdma_exposure_is_stuck(&lc->lc_exposure, now);
	}
	spin_unlock(&t->st_expose_lock);
	return stuck;
}

/**
 * svcrdma_long_calls_destroy - free all callbacks with chunks, in whatever state they are
 * @t: transport that nobody uses, and whose queue pair is drained
 *
 * Context: process.
 */
void svcrdma_long_calls_destroy(struct svcrdma_transport *t)
{
	struct svcrdma_long_call *lc, *next;

	list_for_each_entry_safe(lc, next, &t->st_long.calls, lc_list) {
		lc->lc_sq_held = 0;
		svcrdma_long_call_free(lc);
	}
}

/* ---- the beginning ---- */

static struct svcrdma_long_call *long_call_alloc(struct svcrdma_transport *t, u32 xid)
{
	struct svcrdma_long_call *lc = kzalloc(sizeof(*lc), GFP_KERNEL);
	bool full;

	if (!lc)
		return NULL;
	lc->lc_transport = t;
	lc->lc_xid = xid;
	lc->lc_inv_cqe.done = long_inv_wc;
	svcrdma_regions_init(&lc->lc_call.regions, &lc->lc_inv_cqe);
	svcrdma_regions_init(&lc->lc_reply.regions, &lc->lc_inv_cqe);
	spin_lock(&t->st_expose_lock);
	full = t->st_long.count == SVCRDMA_MAX_LONG_CALLS;
	if (!full) {
		t->st_long.count++;
		list_add(&lc->lc_list, &t->st_long.calls);
	}
	spin_unlock(&t->st_expose_lock);
	if (!full)
		return lc;
	kfree(lc);
	return NULL;
}

static int long_call_build(struct svcrdma_long_call *lc, const struct rpc_rqst *rqst,
			   const struct rpcrdma_call_plan *plan,
			   struct rpcrdma_chunk_lists *lists)
{
	int ret = 0;

	if (plan->position_zero) {
		ret = memory_alloc(&lc->lc_call, rqst->rq_snd_buf.len);
		if (!ret)
			ret = copy_call(&lc->lc_call, &rqst->rq_snd_buf);
		if (!ret && !rpcrdma_lists_begin_read(lists, 0))
			ret = -EMSGSIZE;
		if (!ret)
			ret = memory_map(lc, &lc->lc_call, IB_ACCESS_REMOTE_READ, lists);
	}
	if (!ret && plan->reply_chunk) {
		ret = memory_alloc(&lc->lc_reply, rqst->rq_rcv_buf.buflen);
		if (!ret && !rpcrdma_lists_begin_reply(lists))
			ret = -EMSGSIZE;
		if (!ret)
			ret = memory_map(lc, &lc->lc_reply, IB_ACCESS_REMOTE_WRITE |
					 IB_ACCESS_LOCAL_WRITE, lists);
	}
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
		svcrdma_long_call_free(lc);
		lc = NULL;
	}
	kcsan_disable_current();
	memalloc_nofs_restore(nofs);
	kcsan_enable_current();
	if (!lc)
		return -ENOBUFS;
	sc->sc_long = lc;
	sc->sc_regions = long_call_regions(lc);
	return 0;
}

/**
 * svcrdma_long_call_post - post the registrations and the Send of a callback
 * @lc: callback; not the caller's any more, unless -ECANCELED is returned
 * @send: work request of the Send
 *
 * The post is under st_expose_lock, so that another context ends the call, or finds a reply to it,
 * either before the post or after the post.
 *
 * Context: any. The caller has taken Send Queue entries for @send, for the registrations, and for
 * as many invalidations.
 * Return: 0; -ECANCELED: the callback was given up, and nothing was posted; or another negative
 * errno, as ib_post_send().
 */
int svcrdma_long_call_post(struct svcrdma_long_call *lc, struct ib_send_wr *send)
{
	struct svcrdma_transport *t = lc->lc_transport;
	u32 held = long_call_regions(lc);
	struct ib_send_wr *first;
	int ret = -ECANCELED;

	lc->lc_sq_held = held;
	svcrdma_sq_hold(t, held);
	first = rpcrdma_regions_reg(&lc->lc_call.regions.rs_list, send);
	first = rpcrdma_regions_reg(&lc->lc_reply.regions.rs_list, first);
	spin_lock(&t->st_expose_lock);
	if (lc->lc_exposure.xs_state == SVCRDMA_EXPOSURE_NEW) {
		ret = ib_post_send(t->st_qp, first, NULL);
		if (!ret)
			svcrdma_exposure_advance(&lc->lc_exposure, SVCRDMA_EXPOSURE_ARMED);
	}
	spin_unlock(&t->st_expose_lock);
	if (!ret)
		rpcrdma_count_shared(&t->st_counters.regions_registered, held);
	return ret;
}
