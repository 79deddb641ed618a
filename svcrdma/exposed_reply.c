// SPDX-License-Identifier: GPL-2.0
/*
 * Replies that the client pulls: responder-provided Read chunks, for clients that have
 * announced that they take them. Documentation/reliable-reply.rst.
 *
 * Operation. A reply that fits neither inline nor in the Reply chunk is claimed in the
 * table of exposed replies, its bytes are registered for remote read, and nothing else, and
 * the registrations are posted in front of the Send of an RDMA_NOMSG, whose Position Zero
 * Read chunk they are. RDMA_DONE ends the exposure, and so does time: a LOCAL_INV for each
 * region is posted, and when the last one has completed memory is unmapped and pages are
 * freed. What the client says about its Reads is no proof that none is being served: only
 * an invalidation of ours is, or the end of the queue pair.
 *
 * Owner of a struct svcrdma_exposed: the Send context until its Send is posted; the table
 * while it is armed; whoever took it out of there; the HCA while a LOCAL_INV is posted; in
 * the end whoever frees it. After a connection has failed nobody frees one but
 * svcrdma_exposed_destroy_all().
 *
 * Bounds: st_expose.table counts replies and bytes of the connection, svcrdma_exposed_bytes
 * those of the whole server. Send Queue entries for the invalidation are taken together
 * with those of the Send, so that ending an exposure never waits.
 */
#include <linux/slab.h>

#include <common/verbs.h>

#include "rw.h"
#include "send_ctxt.h"
#include "svcrdma.h"
#include "sysctl.h"
#include "trace.h"

enum { MAX_EXPOSED = 16 << 20 };	/* bytes, of one connection */

/* Of all connections. */
static atomic_long_t svcrdma_exposed_bytes;

/**
 * struct svcrdma_exposed - one exposed reply
 * @ex_transport: constant
 * @ex_xid: of the reply
 * @ex_length: bytes exposed
 * @ex_bytes: of memory that it keeps; st_expose.table and svcrdma_exposed_bytes count those
 * @ex_slot: in st_expose.table, whose owner it is
 * @ex_exposure: how far it is: FENCING once it was taken out of the table
 * @ex_inv_cqe: completion of the last LOCAL_INV
 * @ex_sq_held: Send Queue entries for the LOCAL_INVs
 * @ex_regions: the chunk
 * @ex_nr_pages: entries of @ex_pages, each a reference
 * @ex_pages: of the reply
 * @ex_nr_runs: entries of @ex_runs that are filled
 * @ex_max_runs: all of them
 * @ex_runs: the reply's bytes
 */
struct svcrdma_exposed {
	struct svcrdma_transport *ex_transport;
	u32			ex_xid;
	u32			ex_length;
	u32			ex_bytes;
	int			ex_slot;
	struct svcrdma_exposure	ex_exposure;
	struct ib_cqe		ex_inv_cqe;
	u32			ex_sq_held;
	struct svcrdma_regions	ex_regions;
	u32			ex_nr_pages;
	struct page		**ex_pages;
	u32			ex_nr_runs;
	u32			ex_max_runs;
	struct scatterlist	ex_runs[];
};

/* ---- the end of an exposure ---- */

/**
 * svcrdma_exposed_free - the memory of a reply is free
 * @ex: exposed reply that nobody can reach any more, or that was never posted
 *
 * Context: process, or a completion handler on a work queue.
 */
void svcrdma_exposed_free(struct svcrdma_exposed *ex)
{
	struct svcrdma_transport *t = ex->ex_transport;
	u32 held = ex->ex_sq_held;

	svcrdma_regions_put(t, &ex->ex_regions);
	while (ex->ex_nr_pages)
		put_page(ex->ex_pages[--ex->ex_nr_pages]);
	atomic_long_sub(ex->ex_bytes, &svcrdma_exposed_bytes);

	spin_lock(&t->st_expose_lock);
	rpcrdma_exposures_release(&t->st_expose.table, ex->ex_slot);
	spin_unlock(&t->st_expose_lock);
	kvfree(ex);
	if (held)
		svcrdma_sq_put_held(t, held);
}

static void exposed_inv_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_exposed *ex =
		container_of(wc->wr_cqe, struct svcrdma_exposed, ex_inv_cqe);
	struct svcrdma_transport *t = ex->ex_transport;

	/* It stays as it is until the transport is freed. */
	if (svcrdma_wc_failed(t, "inv", RPCRDMA_END_FENCE_FAILED, wc))
		return;
	/* Each but the last of the chain is unsignalled. */
	rpcrdma_count_shared(&t->st_counters.regions_invalidated_locally,
			     ex->ex_regions.rs_count);
	svcrdma_exposed_free(ex);
}

/* @ex was taken out of the table; not the caller's any more. */
static void exposed_end(struct svcrdma_exposed *ex)
{
	svcrdma_regions_invalidate(ex->ex_transport,
				   rpcrdma_regions_inv(&ex->ex_regions.rs_list, NULL));
}

/* What was taken out of the table, as @slot. */
static struct svcrdma_exposed *exposed_taken(struct svcrdma_transport *t, int slot)
{
	struct svcrdma_exposed *ex = t->st_expose.table.slots[slot].owner;

	lockdep_assert_held(&t->st_expose_lock);
	svcrdma_exposure_advance(&ex->ex_exposure, SVCRDMA_EXPOSURE_FENCING);
	return ex;
}

/* Sets *@waiting when there are exposures. */
static bool exposed_stuck(struct svcrdma_transport *t, bool *waiting)
{
	u64 now = get_jiffies_64();
	struct svcrdma_exposed *ex;
	bool stuck = false;
	u32 i;

	spin_lock(&t->st_expose_lock);
	for (i = 0; i < t->st_expose.table.size; i++) {
		ex = t->st_expose.table.slots[i].owner;
		stuck |= ex && svcrdma_exposure_is_stuck(&ex->ex_exposure, now);
	}
	*waiting |= t->st_expose.table.used;
	spin_unlock(&t->st_expose_lock);
	return stuck;
}

/**
 * svcrdma_exposed_done - an RDMA_DONE: the client has pulled a reply
 * @t: transport
 * @xid: which
 *
 * Unknown ones are dropped in silence (draft section 4.1.3): they come too late, or for a
 * reply that was given up. No client needs to send more of these than replies were exposed at a
 * time: one that does is disconnected.
 *
 * Context: process.
 */
void svcrdma_exposed_done(struct svcrdma_transport *t, u32 xid)
{
	struct svcrdma_exposed *ex = NULL;
	bool flood = false;
	int slot;

	spin_lock(&t->st_expose_lock);
	slot = rpcrdma_exposures_take(&t->st_expose.table, xid);
	if (slot < 0) {
		flood = ++t->st_expose.dones_unknown >
			t->st_expose.expired + t->st_expose.table.size;
	} else {
		ex = exposed_taken(t, slot);
		if (t->st_expose.dones_unknown)
			t->st_expose.dones_unknown--;
	}
	spin_unlock(&t->st_expose_lock);

	if (ex)
		rpcrdma_count_shared(&t->st_counters.bytes_read, ex->ex_length);
	trace_svcrdma_reply_pulled(t, xid, ex ? 0 : -ENOENT);
	if (flood) {
		trace_svcrdma_bad_done(t, xid, -EDQUOT);
		svcrdma_transport_close(t, RPCRDMA_END_BAD_MESSAGE);
	}
	if (ex)
		exposed_end(ex);
}

/**
 * svcrdma_expose_watch - have exposed replies looked at when their time is over
 * @t: transport
 *
 * Context: any.
 */
void svcrdma_expose_watch(struct svcrdma_transport *t)
{
	unsigned long period = READ_ONCE(svcrdma_expose_timeout) * HZ / 4 + 1;

	/* Soon, whatever the knob: it may be lowered meanwhile. */
	queue_delayed_work(svcrdma_release_wq, &t->st_expose.work,
			   min_t(unsigned long, period, HZ));
}

/* Ends the exposures whose time is over, and sees to LOCAL_INVs. */
static void expose_work(struct work_struct *work)
{
	struct svcrdma_transport *t =
		container_of(work, struct svcrdma_transport, st_expose.work.work);
	struct svcrdma_exposed *ex;
	bool waiting = false;
	int slot;

	do {
		ex = NULL;
		spin_lock(&t->st_expose_lock);
		slot = rpcrdma_exposures_take_expired(&t->st_expose.table, get_jiffies_64());
		if (slot >= 0) {
			ex = exposed_taken(t, slot);
			t->st_expose.expired++;
		}
		spin_unlock(&t->st_expose_lock);
		if (ex) {
			percpu_counter_inc(&svcrdma_stat_expose_expired);
			trace_svcrdma_expose_expired(t, ex->ex_xid, 0);
			exposed_end(ex);
		}
	} while (ex);
	if (exposed_stuck(t, &waiting) || svcrdma_long_calls_stuck(t, &waiting)) {
		trace_svcrdma_sq_timeout(t, -ETIMEDOUT);
		svcrdma_transport_close(t, RPCRDMA_END_STALLED);
	}
	if (waiting && !svcrdma_transport_closing(t))
		svcrdma_expose_watch(t);
}

/* ---- the beginning ---- */

/**
 * svcrdma_expose_limit - how many replies may be exposed at a time
 * @t: transport
 *
 * Each has a Receive for its RDMA_DONE. A larger grant is set before a call can use it.
 *
 * Context: any.
 */
u32 svcrdma_expose_limit(const struct svcrdma_transport *t)
{
	return READ_ONCE(t->st_grant) + t->st_spare_exposures;
}

/* In the table and in the sums, or not at all. */
static bool exposed_claim(struct svcrdma_transport *t, struct svcrdma_exposed *ex)
{
	unsigned long limit = READ_ONCE(svcrdma_max_exposed_bytes);

	if (atomic_long_add_return(ex->ex_bytes, &svcrdma_exposed_bytes) > limit)
		goto out_sub;
	spin_lock(&t->st_expose_lock);
	ex->ex_slot = -1;
	if (t->st_expose.table.used < svcrdma_expose_limit(t))
		ex->ex_slot = rpcrdma_exposures_claim(&t->st_expose.table, ex->ex_xid,
						      ex->ex_bytes);
	if (ex->ex_slot >= 0)
		t->st_expose.table.slots[ex->ex_slot].owner = ex;
	spin_unlock(&t->st_expose_lock);
	if (ex->ex_slot >= 0)
		return true;
out_sub:
	atomic_long_sub(ex->ex_bytes, &svcrdma_exposed_bytes);
	return false;
}

/* For @pages of a reply, of which head and tail may share one, and Write chunks have parts. */
static struct svcrdma_exposed *exposed_alloc(u32 pages)
{
	u32 runs = pages + SVCRDMA_EXPOSED_SPARE_RUNS;
	struct svcrdma_exposed *ex;

	ex = kvzalloc(struct_size(ex, ex_runs, runs) + pages * sizeof(*ex->ex_pages), GFP_KERNEL);
	if (!ex)
		return NULL;
	ex->ex_max_runs = runs;
	ex->ex_pages = (struct page **)&ex->ex_runs[runs];
	return ex;
}

static int exposed_add_runs(struct svcrdma_exposed *ex, struct svcrdma_stream *stream)
{
	u32 n, offset, left = ex->ex_length;
	struct page *page;

	sg_init_table(ex->ex_runs, ex->ex_max_runs);
	while (left) {
		n = svcrdma_stream_run(stream, left, &page, &offset);
		if (!n || ex->ex_nr_runs == ex->ex_max_runs)
			return -EMSGSIZE;
		sg_set_page(&ex->ex_runs[ex->ex_nr_runs++], page, n, offset);
		left -= n;
	}
	return 0;
}

/**
 * svcrdma_expose - register a reply for the client to pull
 * @sc: context of the reply, which has the exposure on success
 * @xid: of the reply
 * @stream: the reply, without what went to Write chunks
 * @length: bytes of it
 * @held: bytes of the pages that it keeps, used or not
 * @lists: gets the segments; a Position Zero Read chunk was begun
 *
 * Context: process.
 * Return: 0, or -EMSGSIZE: it does not fit the bounds, or memory is short.
 */
int svcrdma_expose(struct svcrdma_send_ctxt *sc, u32 xid, struct svcrdma_stream *stream,
		   u32 length, u32 held, struct rpcrdma_chunk_lists *lists)
{
	struct svcrdma_exposed *ex = exposed_alloc(held >> PAGE_SHIFT);
	struct svcrdma_transport *t = sc->sc_transport;

	if (!ex)
		goto out_refuse;
	ex->ex_transport = t;
	ex->ex_xid = xid;
	ex->ex_length = length;
	ex->ex_bytes = held;
	ex->ex_inv_cqe.done = exposed_inv_wc;
	svcrdma_regions_init(&ex->ex_regions, &ex->ex_inv_cqe);
	if (!exposed_claim(t, ex)) {
		kvfree(ex);
		goto out_refuse;
	}
	if (svcrdma_grant_dones(t, READ_ONCE(t->st_expose.table.used)) ||
	    exposed_add_runs(ex, stream) ||
	    svcrdma_regions_map(t, &ex->ex_regions, ex->ex_runs, ex->ex_nr_runs,
				IB_ACCESS_REMOTE_READ, lists)) {
		svcrdma_exposed_free(ex);
		goto out_refuse;
	}
	sc->sc_exposed = ex;
	sc->sc_regions = ex->ex_regions.rs_count;
	return 0;

out_refuse:
	percpu_counter_inc(&svcrdma_stat_expose_refused);
	return -EMSGSIZE;
}

/**
 * svcrdma_exposed_take_pages - the reply's pages go to the exposure
 * @ex: exposed reply
 * @pages: references that are not the caller's any more
 * @count: their number
 *
 * Context: process.
 */
void svcrdma_exposed_take_pages(struct svcrdma_exposed *ex, struct page **pages, u32 count)
{
	memcpy(ex->ex_pages, pages, count * sizeof(*pages));
	ex->ex_nr_pages = count;
}

/**
 * svcrdma_exposed_post - post registrations and Send of an exposed reply
 * @ex: exposed reply; not the caller's any more
 * @message: Writes, if any, and the Send; the registrations are put in front of them
 *
 * Under the lock: from now on the reply can be found by its XID, and a client that says
 * RDMA_DONE before it can know of the reply must not be faster than the post.
 *
 * Context: any. There are Send Queue entries for @message, for the registrations, and as
 * many again for the invalidations.
 * Return: 0 or a negative errno, as ib_post_send().
 */
int svcrdma_exposed_post(struct svcrdma_exposed *ex, struct ib_send_wr *message)
{
	struct svcrdma_transport *t = ex->ex_transport;
	u64 expires = get_jiffies_64() + READ_ONCE(svcrdma_expose_timeout) * HZ;
	struct ib_send_wr *first;
	int ret;

	ex->ex_sq_held = ex->ex_regions.rs_count;
	svcrdma_sq_hold(t, ex->ex_sq_held);
	rpcrdma_count_shared(&t->st_counters.regions_registered, ex->ex_sq_held);
	percpu_counter_inc(&svcrdma_stat_expose);
	trace_svcrdma_reply_exposed(t, ex->ex_xid, ex->ex_length);

	first = rpcrdma_regions_reg(&ex->ex_regions.rs_list, message);
	spin_lock(&t->st_expose_lock);
	svcrdma_exposure_advance(&ex->ex_exposure, SVCRDMA_EXPOSURE_ARMED);
	rpcrdma_exposures_arm(&t->st_expose.table, ex->ex_slot, expires);
	ret = ib_post_send(t->st_qp, first, NULL);
	spin_unlock(&t->st_expose_lock);
	svcrdma_expose_watch(t);
	return ret;
}

/* ---- of a connection ---- */

/**
 * svcrdma_expose_setup - nothing is exposed yet
 * @t: all zeros
 *
 * Context: any.
 */
void svcrdma_expose_setup(struct svcrdma_transport *t)
{
	INIT_DELAYED_WORK(&t->st_expose.work, expose_work);
}

/**
 * svcrdma_expose_stop - nothing ends by time any more
 * @t: transport that is closing
 *
 * Context: process.
 */
void svcrdma_expose_stop(struct svcrdma_transport *t)
{
	cancel_delayed_work_sync(&t->st_expose.work);
}

/**
 * svcrdma_expose_init - a connection whose client takes Read chunks in replies
 * @t: transport
 * @count: replies that may be exposed at a time, ever; 0: none
 *
 * Context: process.
 * Return: 0 or -ENOMEM. svcrdma_exposed_destroy_all() frees.
 */
int svcrdma_expose_init(struct svcrdma_transport *t, u32 count)
{
	t->st_expose.table.size = count;
	if (!count)
		return 0;
	t->st_expose.table.slots = kcalloc(count, sizeof(*t->st_expose.table.slots), GFP_KERNEL);
	if (!t->st_expose.table.slots)
		return -ENOMEM;
	t->st_expose.table.max_bytes = MAX_EXPOSED;
	return 0;
}

/**
 * svcrdma_exposed_destroy_all - free all of a connection, in whatever state
 * @t: transport that nobody uses, its queue pair drained
 *
 * Context: process.
 */
void svcrdma_exposed_destroy_all(struct svcrdma_transport *t)
{
	struct svcrdma_exposed *ex;
	u32 i;

	for (i = 0; t->st_expose.table.slots && i < t->st_expose.table.size; i++) {
		ex = t->st_expose.table.slots[i].owner;
		if (!ex)
			continue;
		ex->ex_sq_held = 0;
		svcrdma_exposed_free(ex);
	}
	kfree(t->st_expose.table.slots);
	t->st_expose.table.slots = NULL;
	t->st_expose.table.size = 0;
}
