// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: what the client reads from us and writes to us. Exposed replies
 * (expose.c) and callbacks with chunks (long_call.c) use them.
 *
 * A region is owned by whoever got it, until it is put back; it is put back only when nobody
 * can reach the memory by its handle any more.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "svcrdma.h"
#include "trace.h"

static void region_free(struct svcrdma_region *region)
{
	ib_dereg_mr(region->rg_mr);
	kfree(region);
}

static struct svcrdma_region *region_alloc(struct svcrdma_transport *t)
{
	struct svcrdma_region *region = kzalloc(sizeof(*region), GFP_KERNEL);

	if (!region)
		return NULL;
	region->rg_mr = ib_alloc_mr(t->st_pd, t->st_region_type, t->st_region_depth);
	if (IS_ERR(region->rg_mr)) {
		kfree(region);
		return NULL;
	}
	return region;
}

/**
 * svcrdma_region_get - a memory region that is not in use
 * @t: transport
 *
 * Context: process.
 * Return: what svcrdma_region_put() takes, or NULL: memory is short.
 */
struct svcrdma_region *svcrdma_region_get(struct svcrdma_transport *t)
{
	struct svcrdma_region *region;

	spin_lock(&t->st_expose_lock);
	region = list_first_entry_or_null(&t->st_regions, struct svcrdma_region, rg_list);
	if (region)
		list_del(&region->rg_list);
	spin_unlock(&t->st_expose_lock);
	return region ?: region_alloc(t);
}

/* Without gaps, only the first and the last element may end within a page. */
static bool region_takes(const struct svcrdma_transport *t,
			 const struct svcrdma_region *region)
{
	const struct scatterlist *last = &region->rg_sg[region->rg_nents - 1];

	if (region->rg_nents == t->st_region_depth)
		return false;
	return t->st_region_type == IB_MR_TYPE_SG_GAPS ||
	       (!last[1].offset && last->offset + last->length == PAGE_SIZE);
}

/**
 * svcrdma_region_map - map as much memory as goes into one region
 * @t: transport
 * @region: whose rg_nents says how much it was; its rg_reg is to be posted
 * @sg: memory, no element larger than a page
 * @count: elements
 * @dir: DMA_TO_DEVICE: the client may read it; DMA_FROM_DEVICE: write it
 *
 * Context: process.
 * Return: 0 or a negative errno; svcrdma_region_put() in any case.
 */
int svcrdma_region_map(struct svcrdma_transport *t, struct svcrdma_region *region,
		       struct scatterlist *sg, u32 count, enum dma_data_direction dir)
{
	struct ib_device *device = svcrdma_transport_device(t);
	struct ib_mr *mr = region->rg_mr;
	int mapped;

	region->rg_sg = sg;
	region->rg_dir = dir;
	region->rg_nents = 1;
	while (region->rg_nents < count && region_takes(t, region))
		region->rg_nents++;
	mapped = ib_dma_map_sg(device, region->rg_sg, region->rg_nents, dir);
	if (!mapped) {
		region->rg_nents = 0;
		return -EIO;
	}
	if (ib_map_mr_sg(mr, region->rg_sg, mapped, NULL, PAGE_SIZE) != mapped)
		return -EIO;

	/* Another handle each time (RFC 8166 section 8.1.3), for one direction only. */
	ib_update_fast_reg_key(mr, (mr->rkey + 1 + get_random_u32() % 255) & 0xff);
	region->rg_reg = (struct ib_reg_wr) {
		.wr.opcode	= IB_WR_REG_MR,
		.wr.wr_cqe	= &t->st_reg_cqe,
		.mr		= mr,
		.key		= mr->rkey,
		.access		= dir == DMA_TO_DEVICE ? IB_ACCESS_REMOTE_READ :
			IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE,
	};
	return 0;
}

/**
 * svcrdma_region_put - a region is not in use any more
 * @t: transport
 * @region: that was never posted, or is invalidated, or whose queue pair is drained
 *
 * Context: any.
 */
void svcrdma_region_put(struct svcrdma_transport *t, struct svcrdma_region *region)
{
	if (region->rg_nents)
		ib_dma_unmap_sg(svcrdma_transport_device(t), region->rg_sg,
				region->rg_nents, region->rg_dir);
	region->rg_nents = 0;
	spin_lock(&t->st_expose_lock);
	list_add(&region->rg_list, &t->st_regions);
	spin_unlock(&t->st_expose_lock);
}

/**
 * svcrdma_regions_reg_chain - put registrations in front of work requests
 * @regions: mapped regions
 * @count: their number
 * @first: what is posted behind them, or NULL
 *
 * Context: any.
 * Return: what to post.
 */
struct ib_send_wr *svcrdma_regions_reg_chain(struct svcrdma_region **regions, u32 count,
					     struct ib_send_wr *first)
{
	while (count--) {
		(*regions)->rg_reg.wr.next = first;
		first = &(*regions++)->rg_reg.wr;
	}
	return first;
}

/**
 * svcrdma_regions_inv_chain - LOCAL_INVs, of which only the last one is signalled
 * @regions: regions that were posted
 * @count: their number
 * @rkey: handle of one that the client has invalidated, or NULL
 * @cqe: completion of the last one
 * @first: what is posted behind them, with a signalled end, or NULL
 *
 * Context: any.
 * Return: what to post, or NULL: nothing is left to be invalidated.
 */
struct ib_send_wr *svcrdma_regions_inv_chain(struct svcrdma_region **regions, u32 count,
					     const u32 *rkey, struct ib_cqe *cqe,
					     struct ib_send_wr *first)
{
	struct svcrdma_region *region;

	for (; count--; regions++) {
		region = *regions;
		if (rkey && region->rg_mr->rkey == *rkey)
			continue;
		region->rg_inv = (struct ib_send_wr) {
			.opcode			= IB_WR_LOCAL_INV,
			.next			= first,
			.send_flags		= first ? 0 : IB_SEND_SIGNALED,
			.ex.invalidate_rkey	= region->rg_mr->rkey,
			.wr_cqe			= cqe,
		};
		first = &region->rg_inv;
	}
	return first;
}

static void region_reg_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_transport *t =
		container_of(wc->wr_cqe, struct svcrdma_transport, st_reg_cqe);

	if (wc->status == IB_WC_SUCCESS)
		return;
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		trace_svcrdma_wc_err(t, "reg", wc);
	svcrdma_transport_close(t);
}

/**
 * svcrdma_regions_init - what the regions of a connection are like
 * @t: transport
 *
 * Context: process.
 */
void svcrdma_regions_init(struct svcrdma_transport *t)
{
	const struct ib_device_attr *attrs = &svcrdma_transport_device(t)->attrs;

	t->st_reg_cqe.done = region_reg_wc;
	t->st_region_type = attrs->kernel_cap_flags & IBK_SG_GAPS_REG ?
		IB_MR_TYPE_SG_GAPS : IB_MR_TYPE_MEM_REG;
	t->st_region_depth = min_t(u32, attrs->max_fast_reg_page_list_len,
				   SVCRDMA_EXPOSED_RUNS);
}

/**
 * svcrdma_regions_destroy - free all regions of a connection
 * @t: transport that nobody uses, all its regions put
 *
 * Context: process.
 */
void svcrdma_regions_destroy(struct svcrdma_transport *t)
{
	struct svcrdma_region *region, *next;

	list_for_each_entry_safe(region, next, &t->st_regions, rg_list)
		region_free(region);
	INIT_LIST_HEAD(&t->st_regions);
}
