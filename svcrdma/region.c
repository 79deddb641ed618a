// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Memory regions, through which the client reads from our memory and writes to it, and exposures,
 * which are what exposed replies (exposed_reply.c) and callbacks with chunks (bc_chunks.c) have in
 * common.
 *
 * A region belongs to the exposure that got it, until the region is put back. It is put back only
 * when the client cannot access the memory by the region's handle any more.
 *
 * The owner of an exposure is the Send context until its Send is posted; the list
 * st_region.exposures while the exposure is ARMED; then the context of execution that has made it
 * FENCING; and the HCA while LOCAL_INVs are posted, whose completion frees the exposure. After a
 * connection has failed, only svcrdma_exposures_destroy() frees an exposure that was posted.
 *
 * Send Queue entries for the LOCAL_INVs are taken together with those of the Send, so that the end
 * of an exposure never waits for entries.
 */
#include <linux/slab.h>

#include <common/verbs.h>

#include "svcrdma.h"
#include "sysctl.h"
#include "trace.h"

/* Jiffies that LOCAL_INVs may take; a variable, so that tests can change the value */
unsigned long svcrdma_inv_timeout = SVCRDMA_SQ_TIMEOUT;

static struct rpcrdma_region *region_alloc(struct svcrdma_transport *t)
{
	struct rpcrdma_region *region = kzalloc(sizeof(*region), GFP_KERNEL);

	if (!region)
		return NULL;
	if (rpcrdma_region_init(region, t->st_pd, t->st_region.type, t->st_region.depth)) {
		kfree(region);
		return NULL;
	}
	region->rg_reg.wr.wr_cqe = &t->st_part_cqe;
	return region;
}

/* Return: a region that is not in use, or a new one if all are in use; NULL if memory is short. */
static struct rpcrdma_region *region_get(struct svcrdma_transport *t)
{
	struct rpcrdma_region *region;

	spin_lock(&t->st_expose_lock);
	region = list_first_entry_or_null(&t->st_region.free, struct rpcrdma_region, rg_list);
	if (region)
		list_del(&region->rg_list);
	spin_unlock(&t->st_expose_lock);
	return region ?: region_alloc(t);
}

/* Map as many elements of @sg as fit into one region. */
static int region_map(struct rpcrdma_region *region, struct scatterlist *sg, u32 count,
		      int access)
{
	u32 n = 1;

	region->rg_sg = sg;
	while (n < count && rpcrdma_region_takes(region, n, sg[n].offset))
		n++;
	return rpcrdma_region_map(region, n, access);
}

/**
 * svcrdma_region_pages - largest number of pages in one region
 * @t: transport
 *
 * Context: any.
 */
u32 svcrdma_region_pages(const struct svcrdma_transport *t)
{
	return t->st_region.depth;
}

/**
 * svcrdma_regions_create - choose the type and the size of a connection's regions
 * @t: transport
 *
 * Context: process.
 */
void svcrdma_regions_create(struct svcrdma_transport *t)
{
	u32 depth = rpcrdma_region_query(svcrdma_transport_device(t), &t->st_region.type);

	t->st_region.depth = min(depth, t->st_max_pages + SVCRDMA_EXPOSED_SPARE_RUNS);
}

/* ---- exposures ---- */

/*
 * The states that may follow each state. The post makes a NEW exposure ARMED; a callback may be
 * given up before. An ARMED exposure becomes FENCING, then its LOCAL_INVs are posted, and it is
 * freed when they are complete.
 */
static const u8 next_states[] = {
	[SVCRDMA_EXPOSURE_NEW]		= BIT(SVCRDMA_EXPOSURE_ARMED) |
					  BIT(SVCRDMA_EXPOSURE_GIVEN_UP),
	[SVCRDMA_EXPOSURE_ARMED]	= BIT(SVCRDMA_EXPOSURE_FENCING),
	[SVCRDMA_EXPOSURE_FENCING]	= 0,
	[SVCRDMA_EXPOSURE_GIVEN_UP]	= 0,
};

/**
 * svcrdma_exposure_advance - change the state of an exposure
 * @xs: exposure
 * @state: its new state
 *
 * Context: st_expose_lock is held.
 */
void svcrdma_exposure_advance(struct svcrdma_exposure *xs, enum svcrdma_exposure_state state)
{
	lockdep_assert_held(&xs->xs_transport->st_expose_lock);
	WARN_ON_ONCE(!(next_states[xs->xs_state] & BIT(state)));
	xs->xs_state = state;
	if (state == SVCRDMA_EXPOSURE_FENCING)
		xs->xs_deadline = get_jiffies_64() + svcrdma_inv_timeout;
}

/* LOCAL_INVs are complete: the client cannot access the memory any more. */
static void exposure_inv_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_exposure *xs =
		container_of(wc->wr_cqe, struct svcrdma_exposure, xs_inv_cqe);
	struct svcrdma_transport *t = xs->xs_transport;

	/* After a failure @xs stays as it is until the transport is freed. */
	if (wc->status != IB_WC_SUCCESS) {
		svcrdma_wc_error(t, "inv", RPCRDMA_END_FENCE_FAILED, wc);
		return;
	}
	/* Count the whole chain, as only its last LOCAL_INV is signalled. */
	this_cpu_add(t->st_counters->regions_invalidated_locally, xs->xs_nr_regions);
	if (xs->xs_ops->fenced)
		xs->xs_ops->fenced(xs);
	svcrdma_exposure_free(xs);
}

/**
 * svcrdma_exposure_begin - begin an exposure, which has no regions
 * @xs: zeroed exposure, which svcrdma_exposure_free() frees
 * @t: transport
 * @xid: XID of the reply or of the callback
 * @ops: functions of the object that contains @xs
 * @most: largest number of exposures of this kind
 *
 * Context: process.
 * Return: number of exposures of this kind, with this one; or 0: there are @most of them already,
 * and svcrdma_exposure_free() must not be called for @xs.
 */
u32 svcrdma_exposure_begin(struct svcrdma_exposure *xs, struct svcrdma_transport *t, u32 xid,
			   const struct svcrdma_exposure_ops *ops, u32 most)
{
	u32 *count = &t->st_region.count[ops->kind];
	u32 ret = 0;

	xs->xs_ops = ops;
	xs->xs_transport = t;
	xs->xs_xid = xid;
	xs->xs_deadline = U64_MAX;
	xs->xs_inv_cqe.done = exposure_inv_wc;
	INIT_LIST_HEAD(&xs->xs_regions);
	spin_lock(&t->st_expose_lock);
	if (*count < most) {
		list_add(&xs->xs_list, &t->st_region.exposures);
		ret = ++*count;
	}
	spin_unlock(&t->st_expose_lock);
	return ret;
}

/**
 * svcrdma_exposure_find - find an exposed reply, or a callback, by its XID
 * @t: transport
 * @xid: the XID
 * @kind: exposed reply or callback
 * @state: state of the exposure
 *
 * If a client repeats a call on one connection, the reply is exposed twice, and the client sends
 * two RDMA_DONEs with the same XID. Each of them finds the exposure that was posted first.
 *
 * Context: st_expose_lock is held.
 * Return: the exposure, or NULL.
 */
struct svcrdma_exposure *svcrdma_exposure_find(struct svcrdma_transport *t, u32 xid,
					       enum svcrdma_exposure_kind kind,
					       enum svcrdma_exposure_state state)
{
	struct svcrdma_exposure *xs;

	lockdep_assert_held(&t->st_expose_lock);
	list_for_each_entry(xs, &t->st_region.exposures, xs_list)
		if (xs->xs_xid == xid && xs->xs_ops->kind == kind && xs->xs_state == state)
			return xs;
	return NULL;
}

/**
 * svcrdma_exposure_map - make memory ready to be registered, as one chunk
 * @xs: exposure that gets the regions, and is not posted yet
 * @sg: scatterlist of the memory, with no element larger than a page
 * @count: number of elements of @sg
 * @access: access flags for the client
 * @lists: lists that get a segment for each region; the chunk was begun
 *
 * Context: process.
 * Return: 0 or a negative errno; in either case svcrdma_exposure_free() puts the regions back.
 */
int svcrdma_exposure_map(struct svcrdma_exposure *xs, struct scatterlist *sg, u32 count,
			 int access, struct rpcrdma_chunk_lists *lists)
{
	struct rpcrdma_region *region;
	u32 first, segments = 0;
	int ret;

	for (first = 0; first < count; first += region->rg_nents) {
		if (segments++ == RPCRDMA_MAX_SEGMENTS_SENT)
			return -EMSGSIZE;
		region = region_get(xs->xs_transport);
		if (!region)
			return -ENOMEM;
		region->rg_inv.wr_cqe = &xs->xs_inv_cqe;
		list_add_tail(&region->rg_list, &xs->xs_regions);
		xs->xs_nr_regions++;
		ret = region_map(region, &sg[first], count - first, access);
		if (ret)
			return ret;
		if (!rpcrdma_lists_add_segment(lists, rpcrdma_region_segment(region)))
			return -EMSGSIZE;
	}
	return 0;
}

/**
 * svcrdma_exposure_unmap - unmap the regions of an exposure, and put them back into the pool
 * @xs: exposure whose regions were never posted, or are invalid, or whose queue pair is drained
 *
 * Context: process, or a completion handler on a work queue.
 */
void svcrdma_exposure_unmap(struct svcrdma_exposure *xs)
{
	struct svcrdma_transport *t = xs->xs_transport;
	struct rpcrdma_region *region;

	list_for_each_entry(region, &xs->xs_regions, rg_list)
		rpcrdma_region_unmap(region);
	spin_lock(&t->st_expose_lock);
	list_splice_init(&xs->xs_regions, &t->st_region.free);
	spin_unlock(&t->st_expose_lock);
}

/**
 * svcrdma_exposure_free - end an exposure, and free the object that contains it and its memory
 * @xs: exposure that the client cannot access any more, or that was never posted
 *
 * Context: process, or a completion handler on a work queue.
 */
void svcrdma_exposure_free(struct svcrdma_exposure *xs)
{
	struct svcrdma_transport *t = xs->xs_transport;
	u32 held = xs->xs_sq_held;

	svcrdma_exposure_unmap(xs);
	spin_lock(&t->st_expose_lock);
	list_del(&xs->xs_list);
	t->st_region.count[xs->xs_ops->kind]--;
	spin_unlock(&t->st_expose_lock);
	xs->xs_ops->free(xs);
	if (held)
		svcrdma_sq_put_held(t, held);
}

/* Have the work item look at deadlines soon. */
static void exposures_watch(struct svcrdma_transport *t)
{
	unsigned long period = READ_ONCE(svcrdma_expose_timeout) * HZ / 4 + 1;

	/* At most a second, since the administrator may lower the timeout meanwhile. */
	queue_delayed_work(svcrdma_wq, &t->st_region.work, min_t(unsigned long, period, HZ));
}

/**
 * svcrdma_exposure_post - post the registrations of an exposure, and its message
 * @xs: exposure; not the caller's any more, unless -ECANCELED is returned
 * @message: Writes, if any, and the Send; the registrations are put in front of them
 *
 * The post is under st_expose_lock, so that another context ends the exposure either before the
 * post or after the post: the LOCAL_INVs must not be posted before the registrations.
 *
 * Context: process, or a completion handler on a work queue. The caller has taken Send Queue
 * entries for @message, for the registrations, and for as many invalidations.
 * Return: 0; -ECANCELED: the exposure was given up, and nothing was posted; or another negative
 * errno, as ib_post_send().
 */
int svcrdma_exposure_post(struct svcrdma_exposure *xs, struct ib_send_wr *message)
{
	struct ib_send_wr *first = rpcrdma_regions_reg(&xs->xs_regions, message);
	struct svcrdma_transport *t = xs->xs_transport;
	u32 held = xs->xs_nr_regions;
	int ret = -ECANCELED;

	xs->xs_sq_held = held;
	svcrdma_sq_hold(t, held);
	spin_lock(&t->st_expose_lock);
	if (xs->xs_state == SVCRDMA_EXPOSURE_NEW)
		ret = ib_post_send(t->st_qp, first, NULL);
	if (!ret) {
		svcrdma_exposure_advance(xs, SVCRDMA_EXPOSURE_ARMED);
		list_move_tail(&xs->xs_list, &t->st_region.exposures);
		if (xs->xs_ops->posted)
			xs->xs_ops->posted(xs);
	}
	spin_unlock(&t->st_expose_lock);
	if (!ret) {
		this_cpu_add(t->st_counters->regions_registered, held);
		exposures_watch(t);
	}
	return ret;
}

/**
 * svcrdma_exposure_fence - post the LOCAL_INVs of an exposure, which complete or end the connection
 * @xs: exposure that the caller has made FENCING; not the caller's any more
 *
 * Context: any.
 */
void svcrdma_exposure_fence(struct svcrdma_exposure *xs)
{
	struct svcrdma_transport *t = xs->xs_transport;
	int ret;

	if (READ_ONCE(t->st_closing))
		return;
	ret = ib_post_send(t->st_qp, rpcrdma_regions_inv(&xs->xs_regions, NULL), NULL);
	if (ret) {
		trace_svcrdma_post_send_err(t, ret);
		svcrdma_transport_close(t, RPCRDMA_END_FENCE_FAILED);
	}
}

/* Return: the first exposure in @state whose deadline has come, or NULL. */
static struct svcrdma_exposure *overdue(struct svcrdma_transport *t,
					enum svcrdma_exposure_state state)
{
	u64 now = get_jiffies_64();
	struct svcrdma_exposure *xs;

	lockdep_assert_held(&t->st_expose_lock);
	list_for_each_entry(xs, &t->st_region.exposures, xs_list)
		if (xs->xs_state == state && xs->xs_deadline <= now)
			return xs;
	return NULL;
}

/* Make the first exposure FENCING whose time is over. Return: that exposure, or NULL. */
static struct svcrdma_exposure *take_expired(struct svcrdma_transport *t)
{
	struct svcrdma_exposure *xs;

	spin_lock(&t->st_expose_lock);
	xs = overdue(t, SVCRDMA_EXPOSURE_ARMED);
	if (xs) {
		svcrdma_exposure_advance(xs, SVCRDMA_EXPOSURE_FENCING);
		xs->xs_ops->expired(xs);
	}
	spin_unlock(&t->st_expose_lock);
	return xs;
}

/*
 * End exposures whose time is over, and the connection if LOCAL_INVs take too long. They wait
 * behind earlier work requests, which may never complete if the peer takes no data.
 */
static void exposures_work(struct work_struct *work)
{
	struct svcrdma_transport *t =
		container_of(work, struct svcrdma_transport, st_region.work.work);
	struct svcrdma_exposure *xs;
	bool stuck, more;

	while ((xs = take_expired(t)))
		svcrdma_exposure_fence(xs);
	spin_lock(&t->st_expose_lock);
	stuck = overdue(t, SVCRDMA_EXPOSURE_FENCING);
	more = !list_empty(&t->st_region.exposures);
	spin_unlock(&t->st_expose_lock);
	if (stuck) {
		trace_svcrdma_sq_timeout(t, -ETIMEDOUT);
		svcrdma_transport_close(t, RPCRDMA_END_STALLED);
	}
	if (more && !READ_ONCE(t->st_closing))
		exposures_watch(t);
}

/* ---- the beginning and the end of a connection ---- */

/**
 * svcrdma_regions_setup - initialize the pool of regions and the list of exposures
 * @t: new transport, in which these members are zero
 *
 * Context: any.
 */
void svcrdma_regions_setup(struct svcrdma_transport *t)
{
	INIT_LIST_HEAD(&t->st_region.free);
	INIT_LIST_HEAD(&t->st_region.exposures);
	INIT_DELAYED_WORK(&t->st_region.work, exposures_work);
}

/**
 * svcrdma_exposures_stop - cancel the work item, so that no exposure ends by time any more
 * @t: transport that is closing
 *
 * Context: process.
 */
void svcrdma_exposures_stop(struct svcrdma_transport *t)
{
	cancel_delayed_work_sync(&t->st_region.work);
}

/**
 * svcrdma_exposures_destroy - free all exposures, in whatever state they are, and all regions
 * @t: transport that nobody uses, and whose queue pair is drained
 *
 * Context: process.
 */
void svcrdma_exposures_destroy(struct svcrdma_transport *t)
{
	struct rpcrdma_region *region, *next_region;
	struct svcrdma_exposure *xs, *next;

	list_for_each_entry_safe(xs, next, &t->st_region.exposures, xs_list)
		svcrdma_exposure_free(xs);
	list_for_each_entry_safe(region, next_region, &t->st_region.free, rg_list) {
		ib_dereg_mr(region->rg_mr);
		kfree(region);
	}
}
