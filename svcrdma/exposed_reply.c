// SPDX-License-Identifier: GPL-2.0
/*
 * Replies that the client pulls: responder-provided Read chunks, for clients that have announced
 * that they take them. See Documentation/reliable-reply.rst.
 *
 * Operation. A reply that fits neither inline nor in the Reply chunk gets a slot in the table of
 * exposed replies. The bytes of the reply, and no other memory, are registered for remote read. The
 * registrations are posted in front of the Send of an RDMA_NOMSG, whose Position Zero Read chunk
 * names the registered memory. The exposure ends when RDMA_DONE comes, or when its time is over: a
 * LOCAL_INV for each region is posted, and when the last one is complete, memory is unmapped and
 * pages are freed. An RDMA_DONE does not prove that no Read is being served any more; only our own
 * invalidation does, or the end of the queue pair.
 *
 * The owner of a struct svcrdma_exposed is the Send context until its Send is posted; the table
 * while the exposure is armed; then the thread that took it out of the table; and the HCA while
 * LOCAL_INVs are posted, whose completion frees it. After a connection has failed, only
 * svcrdma_exposed_destroy_all() frees it.
 *
 * Bounds: st_expose.table limits the replies and bytes of the connection, svcrdma_exposed_bytes the
 * bytes of the whole server. Send Queue entries for the invalidations are taken together with those
 * of the Send, so that the end of an exposure never waits for entries.
 */
#include <linux/slab.h>

#include <common/verbs.h>

#include "rw.h"
#include "send_ctxt.h"
#include "svcrdma.h"
#include "sysctl.h"
#include "trace.h"

enum { MAX_EXPOSED = 16 << 20 };	/* most bytes that one connection may expose */

/* Bytes of memory that the exposed replies of all connections keep */
static atomic_long_t svcrdma_exposed_bytes;

/**
 * struct svcrdma_exposed - one exposed reply
 * @ex_transport: connection of the reply; constant
 * @ex_xid: XID of the reply
 * @ex_length: number of bytes that are exposed
 * @ex_bytes: bytes of memory that the reply keeps, which st_expose.table and svcrdma_exposed_bytes
 *	count
 * @ex_slot: index of the slot in st_expose.table that this struct owns
 * @ex_exposure: state of the exposure, which is FENCING after it was taken out of the table
 * @ex_inv_cqe: completion of the last LOCAL_INV
 * @ex_sq_held: number of Send Queue entries for the LOCAL_INVs
 * @ex_regions: memory regions of the Position Zero Read chunk
 * @ex_nr_pages: number of entries of @ex_pages, each a reference
 * @ex_pages: pages of the reply
 * @ex_nr_runs: number of entries of @ex_runs that are filled
 * @ex_max_runs: number of all entries of @ex_runs
 * @ex_runs: scatterlist of the reply's bytes
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
 * svcrdma_exposed_free - free an exposed reply and its memory
 * @ex: exposed reply that the client cannot read any more, or that was never posted
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

	/* After a failure @ex stays as it is until the transport is freed. */
	if (svcrdma_wc_failed(t, "inv", RPCRDMA_END_FENCE_FAILED, wc))
		return;
	/* Count the whole chain, as only its last LOCAL_INV is signalled. */
	rpcrdma_count_shared(&t->st_counters.regions_invalidated_locally,
			     ex->ex_regions.rs_count);
	svcrdma_exposed_free(ex);
}

/* Post the LOCAL_INVs of @ex, which was taken out of the table; not the caller's any more. */
static void exposed_end(struct svcrdma_exposed *ex)
{
	svcrdma_regions_invalidate(ex->ex_transport,
				   rpcrdma_regions_inv(&ex->ex_regions.rs_list, NULL));
}

/* Return: the exposed reply that was just taken out of the table, in @slot; now FENCING. */
static struct svcrdma_exposed *exposed_taken(struct svcrdma_transport *t, int slot)
{
	struct svcrdma_exposed *ex = t->st_expose.table.slots[slot].owner;

	lockdep_assert_held(&t->st_expose_lock);
	svcrdma_exposure_advance(&ex->ex_exposure, SVCRDMA_EXPOSURE_FENCING);
	return ex;
}

/* Do the LOCAL_INVs of any reply take too long? Sets *@waiting if there are exposed replies. */
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
 * svcrdma_exposed_done - end an exposure after an RDMA_DONE: the client has pulled the reply
 * @t: transport
 * @xid: XID of the RDMA_DONE
 *
 * An RDMA_DONE for no exposed reply is dropped in silence (draft section 4.1.3), since it may come
 * too late. No client needs to send more of these than replies have expired and may be exposed at a
 * time; a client that does is disconnected.
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
 * svcrdma_expose_watch - have the expose work look at exposures soon
 * @t: transport
 *
 * Context: any.
 */
void svcrdma_expose_watch(struct svcrdma_transport *t)
{
	unsigned long period = READ_ONCE(svcrdma_expose_timeout) * HZ / 4 + 1;

	/* At most a second, since the administrator may lower the timeout meanwhile. */
	queue_delayed_work(svcrdma_release_wq, &t->st_expose.work,
			   min_t(unsigned long, period, HZ));
}

/* End exposures whose time is over, and the connection if LOCAL_INVs take too long. */
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
 * svcrdma_expose_limit - number of replies that may be exposed at a time
 * @t: transport
 *
 * The limit follows the grant: st_grant is larger before any call can use the new credits.
 *
 * Context: any.
 */
u32 svcrdma_expose_limit(const struct svcrdma_transport *t)
{
	return READ_ONCE(t->st_grant) + t->st_spare_exposures;
}

/* Put @ex into the table and count its bytes. Return: false: neither was done. */
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

/* Allocate for a reply of @pages pages; its runs may be more, for head and tail and at holes. */
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
 * @sc: Send context of the reply, which owns the exposure on success
 * @xid: XID of the reply
 * @stream: bytes of the reply, without those that went to Write chunks
 * @length: number of these bytes
 * @held: bytes of all pages that the reply keeps, whether they are used or not
 * @lists: lists that get the segments; a Position Zero Read chunk was begun
 *
 * Context: process.
 * Return: 0, or -EMSGSIZE: the reply exceeds the bounds, or memory is short.
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
 * svcrdma_exposed_take_pages - give the pages of a reply to the exposure
 * @ex: exposed reply
 * @pages: pages, whose references are not the caller's any more
 * @count: number of @pages
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
 * The post is under st_expose_lock: as soon as the exposure is armed, an RDMA_DONE finds it by its
 * XID, and the LOCAL_INVs of a client that sends RDMA_DONE too early must not be posted before the
 * registrations.
 *
 * Context: any. The caller has taken Send Queue entries for @message, for the registrations, and
 * for as many invalidations.
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

/* ---- the beginning and the end of a connection ---- */

/**
 * svcrdma_expose_setup - initialize the members for exposed replies
 * @t: new transport, in which these members are zero
 *
 * Context: any.
 */
void svcrdma_expose_setup(struct svcrdma_transport *t)
{
	INIT_DELAYED_WORK(&t->st_expose.work, expose_work);
}

/**
 * svcrdma_expose_stop - cancel the expose work, so that no exposure ends by time any more
 * @t: transport that is closing
 *
 * Context: process.
 */
void svcrdma_expose_stop(struct svcrdma_transport *t)
{
	cancel_delayed_work_sync(&t->st_expose.work);
}

/**
 * svcrdma_expose_init - allocate the table of exposed replies
 * @t: transport
 * @count: largest number of replies that may ever be exposed at a time; 0 if none may
 *
 * Context: process.
 * Return: 0 or -ENOMEM. svcrdma_exposed_destroy_all() frees the table.
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
 * svcrdma_exposed_destroy_all - free all exposed replies, in whatever state, and their table
 * @t: transport that nobody uses, and whose queue pair is drained
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
