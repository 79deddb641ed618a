// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions, through which the client reads from our memory and writes to it. Exposed replies
 * (exposed_reply.c) and callbacks with chunks (bc_chunks.c) use them.
 *
 * A region belongs to the exposed reply or callback that got it, until the region is put back. It
 * is put back only when the client cannot access the memory by the region's handle any more.
 */
#include <linux/slab.h>

#include <common/verbs.h>

#include "svcrdma.h"
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
	region->rg_reg_cqe = &t->st_region.reg_cqe;
	return region;
}

/* Return: a region that is not in use, a new one if there is none, or NULL if memory is short. */
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
 * svcrdma_regions_init - initialize a list of regions, which is empty
 * @regions: list to which svcrdma_regions_map() adds regions
 * @inv_cqe: entry for the completion of the regions' LOCAL_INVs
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
 * @regions: list that gets the regions, whose registrations are to be posted
 * @sg: scatterlist of the memory, with no element larger than a page
 * @count: number of elements of @sg
 * @access: access flags for the client
 * @lists: lists that get a segment for each region; the chunk was begun
 *
 * Context: process.
 * Return: 0 or a negative errno; the caller calls svcrdma_regions_put() in either case.
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
 * svcrdma_regions_put - unmap regions, and put them back into the pool
 * @t: transport
 * @regions: regions that were never posted, or are invalid, or whose queue pair is drained
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
 * svcrdma_regions_setup - initialize the pool of regions, which is empty
 * @t: new transport, in which the pool's members are zero
 *
 * Context: any.
 */
void svcrdma_regions_setup(struct svcrdma_transport *t)
{
	INIT_LIST_HEAD(&t->st_region.free);
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

	t->st_region.reg_cqe.done = region_reg_wc;
	t->st_region.depth = min(depth, t->st_max_pages + SVCRDMA_EXPOSED_SPARE_RUNS);
}

/**
 * svcrdma_regions_destroy - free all regions of a connection
 * @t: transport that nobody uses, and whose regions were all put back
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
 * The states that may follow each state. An exposed reply or a callback is posted, or given up,
 * while it is NEW; its LOCAL_INVs are posted while it is ARMED; and it is freed when they are
 * complete.
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
 * svcrdma_exposure_is_stuck - do the LOCAL_INVs of an exposure take too long?
 * @exposure: exposure
 * @now: current time in jiffies
 *
 * LOCAL_INVs wait behind earlier work requests of the Send Queue, which do not complete if the peer
 * takes no data.
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
 * @first: chain of LOCAL_INVs, which have their Send Queue entries
 *
 * The LOCAL_INVs complete unless the connection ends.
 *
 * Context: any.
 * Return: true: they were posted. false: they were not, and the connection ends.
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
