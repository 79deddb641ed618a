// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: what the client reads from us and writes to us. Exposed replies
 * (exposed_reply.c) and callbacks with chunks (bc_chunks.c) use them.
 *
 * A region is owned by whoever got it, until it is put back; it is put back only when nobody
 * can reach the memory by its handle any more.
 */
#include <linux/slab.h>

#include <common/verbs.h>

#include "svcrdma.h"
#include "trace.h"

/* How long LOCAL_INVs may take, jiffies; for tests to change */
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
	region->rg_reg_cqe = &t->st_region.reg_cqe;
	return region;
}

/* One that is not in use, or NULL: memory is short. */
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

/* As much of @sg as goes into one region. */
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
 * svcrdma_regions_init - no memory is registered yet
 * @regions: what svcrdma_regions_map() adds to
 * @inv_cqe: completion of their LOCAL_INVs
 *
 * Context: any.
 */
void svcrdma_regions_init(struct svcrdma_regions *regions, struct ib_cqe *inv_cqe)
{
	INIT_LIST_HEAD(&regions->rs_list);
	regions->rs_inv_cqe = inv_cqe;
	regions->rs_count = 0;
}

/**
 * svcrdma_regions_map - make memory ready to be registered, as one chunk
 * @t: transport
 * @regions: gets the regions, whose registrations are to be posted
 * @sg: memory, no element larger than a page
 * @count: elements
 * @access: of the client
 * @lists: gets a segment for each region; the chunk was begun
 *
 * Context: process.
 * Return: 0 or a negative errno; svcrdma_regions_put() in any case.
 */
int svcrdma_regions_map(struct svcrdma_transport *t, struct svcrdma_regions *regions,
			struct scatterlist *sg, u32 count, int access,
			struct rpcrdma_chunk_lists *lists)
{
	struct rpcrdma_region *region;
	u32 first;
	int ret;

	for (first = 0; first < count; first += region->rg_nents) {
		if (regions->rs_count == RPCRDMA_MAX_SEGMENTS_SENT)
			return -EMSGSIZE;
		region = region_get(t);
		if (!region)
			return -ENOMEM;
		region->rg_inv_cqe = regions->rs_inv_cqe;
		list_add_tail(&region->rg_list, &regions->rs_list);
		regions->rs_count++;
		ret = region_map(region, &sg[first], count - first, access);
		if (ret)
			return ret;
		if (!rpcrdma_lists_add_segment(lists, rpcrdma_region_segment(region)))
			return -EMSGSIZE;
	}
	return 0;
}

/**
 * svcrdma_regions_put - regions are not in use any more
 * @t: transport
 * @regions: that were never posted, or are invalid, or whose queue pair is drained
 *
 * Context: any.
 */
void svcrdma_regions_put(struct svcrdma_transport *t, struct svcrdma_regions *regions)
{
	struct rpcrdma_region *region;

	list_for_each_entry(region, &regions->rs_list, rg_list)
		rpcrdma_region_unmap(region);
	regions->rs_count = 0;
	spin_lock(&t->st_expose_lock);
	list_splice_init(&regions->rs_list, &t->st_region.free);
	spin_unlock(&t->st_expose_lock);
}

static void region_reg_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_transport *t =
		container_of(wc->wr_cqe, struct svcrdma_transport, st_region.reg_cqe);

	svcrdma_wc_failed(t, "reg", RPCRDMA_END_SEND_FAILED, wc);
}

/**
 * svcrdma_regions_setup - no regions yet
 * @t: all zeros
 *
 * Context: any.
 */
void svcrdma_regions_setup(struct svcrdma_transport *t)
{
	INIT_LIST_HEAD(&t->st_region.free);
}

/**
 * svcrdma_region_pages - pages in one region, at most
 * @t: transport
 *
 * Context: any.
 */
u32 svcrdma_region_pages(const struct svcrdma_transport *t)
{
	return t->st_region.depth;
}

/**
 * svcrdma_regions_create - what the regions of a connection are like
 * @t: transport
 *
 * Context: process.
 */
void svcrdma_regions_create(struct svcrdma_transport *t)
{
	u32 depth = rpcrdma_region_query(svcrdma_transport_device(t), &t->st_region.type);

	t->st_region.reg_cqe.done = region_reg_wc;
	t->st_region.depth = min(depth, t->st_max_pages + SVCRDMA_EXPOSED_SPARE_RUNS);
}

/**
 * svcrdma_regions_destroy - free all regions of a connection
 * @t: transport that nobody uses, all its regions put
 *
 * Context: process.
 */
void svcrdma_regions_destroy(struct svcrdma_transport *t)
{
	struct rpcrdma_region *region, *next;

	list_for_each_entry_safe(region, next, &t->st_region.free, rg_list) {
		rpcrdma_region_exit(region);
		kfree(region);
	}
	INIT_LIST_HEAD(&t->st_region.free);
}

/* ---- exposures ---- */

/*
 * Only an exposed reply, or a callback, that is NEW is given up or posted, and only one that is
 * ARMED has LOCAL_INVs. After these it is freed.
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
 * @exposure: exposure
 * @state: its new state
 *
 * Context: st_expose_lock is held.
 */
void svcrdma_exposure_advance(struct svcrdma_exposure *exposure,
			      enum svcrdma_exposure_state state)
{
	WARN_ON_ONCE(!(next_states[exposure->xs_state] & BIT(state)));
	exposure->xs_state = state;
	if (state == SVCRDMA_EXPOSURE_FENCING)
		exposure->xs_deadline = get_jiffies_64() + svcrdma_inv_timeout;
}

/**
 * svcrdma_exposure_is_stuck - do LOCAL_INVs take too long?
 * @exposure: exposure
 * @now: jiffies
 *
 * A peer that takes nothing off the queue keeps the LOCAL_INVs behind from being done.
 *
 * Context: st_expose_lock is held.
 */
bool svcrdma_exposure_is_stuck(const struct svcrdma_exposure *exposure, u64 now)
{
	return exposure->xs_state == SVCRDMA_EXPOSURE_FENCING &&
	       time_after64(now, exposure->xs_deadline);
}

/**
 * svcrdma_regions_invalidate - post LOCAL_INVs
 * @t: transport
 * @first: chain of them, which have Send Queue entries
 *
 * They complete, unless the connection ends.
 *
 * Context: any.
 * Return: false: they were not posted; the connection ends.
 */
bool svcrdma_regions_invalidate(struct svcrdma_transport *t, struct ib_send_wr *first)
{
	int ret;

	if (svcrdma_transport_closing(t))
		return false;
	ret = ib_post_send(t->st_qp, first, NULL);
	if (ret) {
		trace_svcrdma_post_send_err(t, ret);
		svcrdma_transport_close(t, RPCRDMA_END_FENCE_FAILED);
	}
	return !ret;
}
