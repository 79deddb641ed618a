// SPDX-License-Identifier: GPL-2.0
/*
 * Callbacks with chunks (RFC 8167 section 5.3), to clients that have announced that they
 * take them: a call that does not fit inline is exposed as a Position Zero Read chunk, and for
 * a reply that may not fit there is a Reply chunk.
 *
 * Operation. The call is copied into pages of our own, as it is into a Send buffer
 * otherwise, and the Reply chunk is made of such pages, too: so nothing of the RPC is
 * exposed, and it may end whenever it likes. A reply in the Reply chunk is copied out when the
 * LOCAL_INVs have completed, and the RPC is looked up only then. Any other end of
 * the RPC (svcrdma_long_call_end()) starts the same LOCAL_INVs, for nobody.
 *
 * Owner of a struct svcrdma_long_call: the Send context of the call, until it is posted, which
 * may wait for Send Queue entries; the list while it is not ended; the HCA while the LOCAL_INVs
 * are posted. A callback that is given up before it is posted stays the Send context's. After a
 * connection has failed, only svcrdma_long_calls_destroy() frees one that was posted.
 *
 * Bounds: SVCRDMA_MAX_LONG_CALLS of a connection, SVCRDMA_MAX_CALLBACK bytes each way. Send
 * Queue entries for the invalidations are taken together with those of the Send.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include <common/verbs.h>

#include "send_ctxt.h"
#include "svcrdma.h"
#include "trace.h"

enum { LONG_PAGES = DIV_ROUND_UP(SVCRDMA_MAX_CALLBACK, PAGE_SIZE) };

/**
 * struct long_memory - a chunk
 * @regions: its segments
 * @length: bytes
 * @nr_pages: entries of @pages
 * @pages: the memory
 * @sg: the same
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
 * @lc_transport: constant
 * @lc_xid: of the call
 * @lc_exposure: how far it is. A reply is taken while it is ARMED
 * @lc_answer: bytes of a reply in the Reply chunk, to be delivered; 0: none
 * @lc_sq_held: Send Queue entries for the LOCAL_INVs
 * @lc_inv_cqe: completion of the last LOCAL_INV
 * @lc_call: Read chunk; without pages when the call is inline
 * @lc_reply: Reply chunk; without pages when there is none
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

/* Zeroed: a client that writes less than it says shows nfsd nothing of ours. */
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
 * svcrdma_long_call_free - the memory of a callback is free
 * @lc: callback whose memory nobody can reach any more, or that was never posted
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

/* The client cannot change the memory any more: a reply in it is copied out. */
static void long_inv_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_long_call *lc =
		container_of(wc->wr_cqe, struct svcrdma_long_call, lc_inv_cqe);
	struct svcrdma_transport *t = lc->lc_transport;
	struct long_memory *reply = &lc->lc_reply;

	/* It stays as it is until the transport is freed. */
	if (svcrdma_wc_failed(t, "inv", RPCRDMA_END_FENCE_FAILED, wc))
		return;
	rpcrdma_count_shared(&t->st_counters.regions_invalidated_locally,
			     long_call_regions(lc));
	if (lc->lc_answer) {
		rpcrdma_count_shared(&t->st_counters.bytes_written, lc->lc_answer);
		/* Unmapped, the pages are the CPU's. */
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
	/* The completion may have freed @lc by then. */
	if (svcrdma_regions_invalidate(t, first))
		svcrdma_expose_watch(t);
}

/* One that has not ended */
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
 * svcrdma_long_call_offered - the Reply chunk that was sent with a callback
 * @t: transport
 * @xid: of the call
 *
 * Context: any.
 * Return: its bytes, or 0.
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
 * svcrdma_long_call_end - a callback has come to its end
 * @t: transport
 * @xid: of the call, which may have been without chunks
 * @answer: bytes of a reply in its Reply chunk, which svcrdma_backchannel_answer() is to
 *	have; 0: there is none
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
 * svcrdma_long_calls_stuck - are LOCAL_INVs behind what the client does not take?
 * @t: transport
 * @waiting: set when any are under way
 *
 * Context: any.
 * Return: true when the time of one is over.
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
 * svcrdma_long_calls_destroy - free all of a connection, in whatever state
 * @t: transport that nobody uses, its queue pair drained
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
 * svcrdma_long_calls_setup - no callback has chunks yet
 * @t: all zeros
 *
 * Context: any.
 */
void svcrdma_long_calls_setup(struct svcrdma_transport *t)
{
	INIT_LIST_HEAD(&t->st_long.calls);
}

/**
 * svcrdma_long_call_create - register what a callback exposes
 * @sc: context of the call, which has what was registered on success
 * @rqst: the call; nothing of it is needed after the return
 * @plan: with a Position Zero Read chunk, a Reply chunk or both
 * @lists: gets them; storage for RPCRDMA_MAX_SEGMENTS_SENT segments of each
 *
 * Context: process.
 * Return: 0, or -ENOBUFS: memory is short, or too many are under way.
 */
int svcrdma_long_call_create(struct svcrdma_send_ctxt *sc, const struct rpc_rqst *rqst,
			     const struct rpcrdma_call_plan *plan,
			     struct rpcrdma_chunk_lists *lists)
{
	/*
	 * rpciod may be needed to write pages back. KCSAN: other bits of the task's flags change.
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
 * svcrdma_long_call_post - register the memory, send the call, and take a reply
 * @lc: callback; not the caller's any more, unless -ECANCELED is returned
 * @send: the Send
 *
 * The post is under the lock: another context ends the call, or finds a reply to it, either before
 * the post or after it.
 *
 * Context: any. There are Send Queue entries for @send, for the registrations, and as many again
 * for the invalidations.
 * Return: 0; -ECANCELED: it has been ended, and nothing was posted; or another negative errno,
 * as ib_post_send().
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
