// SPDX-License-Identifier: GPL-2.0
/*
 * Fast registration, and its end.
 *
 * A region goes round: rpcrdma_region_map(), the registration is posted, the peer reads or
 * writes, the peer or a LOCAL_INV invalidates it, rpcrdma_region_unmap(). What cannot be
 * reached by the peer any more may be unmapped, and nothing else; to know that is up to the
 * owner.
 */
#include <linux/random.h>

#include "verbs.h"

/*
 * The size of a page as the device has it: the largest that it knows and that divides one of
 * ours, in bytes. 0: there is none. Some devices do not say.
 */
static u32 device_page_size(const struct ib_device *device)
{
	u64 sizes = device->attrs.page_size_cap;

	if (!sizes)
		return PAGE_SIZE;
	sizes &= 2 * PAGE_SIZE - 1;
	return sizes ? 1U << __fls(sizes) : 0;
}

/* How many of these a page of ours is */
static u32 device_pages(const struct ib_device *device)
{
	return PAGE_SIZE / device_page_size(device);
}

/**
 * rpcrdma_region_query - what can regions of a device be like?
 * @device: the device
 * @type: plain, or with gaps
 *
 * Context: any.
 * Return: pages in one region, at most; 0: the device has no fast registration, or none with
 * pages as small as ours.
 */
u32 rpcrdma_region_query(const struct ib_device *device, enum ib_mr_type *type)
{
	const struct ib_device_attr *attrs = &device->attrs;

	*type = attrs->kernel_cap_flags & IBK_SG_GAPS_REG ?
		IB_MR_TYPE_SG_GAPS : IB_MR_TYPE_MEM_REG;
	if (!(attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    !device_page_size(device))
		return 0;
	return attrs->max_fast_reg_page_list_len / device_pages(device);
}

/**
 * rpcrdma_region_init - make a region
 * @region: zeroed
 * @pd: protection domain of the connection
 * @type: from rpcrdma_region_query()
 * @depth: pages in it, at most what rpcrdma_region_query() says
 *
 * Context: process.
 * Return: 0, or the device's errno; then there is nothing to be freed.
 */
int rpcrdma_region_init(struct rpcrdma_region *region, struct ib_pd *pd,
			enum ib_mr_type type, u32 depth)
{
	struct ib_mr *mr = ib_alloc_mr(pd, type, depth * device_pages(pd->device));

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	region->rg_mr = mr;
	region->rg_depth = depth;
	region->rg_page_size = device_page_size(pd->device);
	region->rg_reg = (struct ib_reg_wr) { .wr.opcode = IB_WR_REG_MR, .mr = mr };
	return 0;
}

/**
 * rpcrdma_region_exit - free what rpcrdma_region_init() has made
 * @region: not mapped, and no request of it is posted
 *
 * Context: process.
 */
void rpcrdma_region_exit(struct rpcrdma_region *region)
{
	ib_dereg_mr(region->rg_mr);
}

/**
 * rpcrdma_region_takes - does one more element go into a region?
 * @region: whose rg_sg has
 * @count: elements, at least one
 * @offset: where in its page the next one begins
 *
 * Without gaps, only the first and the last element may end within a page.
 *
 * Context: any.
 * Return: whether it does.
 */
bool rpcrdma_region_takes(const struct rpcrdma_region *region, u32 count, u32 offset)
{
	const struct scatterlist *last = &region->rg_sg[count - 1];

	if (count == region->rg_depth)
		return false;
	return region->rg_mr->type == IB_MR_TYPE_SG_GAPS ||
	       (!offset && last->offset + last->length == PAGE_SIZE);
}

/* Elements of a region that its last mapping has whole */
static u32 elements_mapped(const struct rpcrdma_region *region)
{
	u64 length = region->rg_mr->length;
	u32 n;

	for (n = 0; n < region->rg_nents && region->rg_sg[n].length <= length; n++)
		length -= region->rg_sg[n].length;
	return n;
}

/* -E2BIG: the device takes fewer elements, as many as elements_mapped() says. */
static int map_elements(struct rpcrdma_region *region, u32 count)
{
	struct ib_mr *mr = region->rg_mr;
	int mapped;

	mapped = ib_dma_map_sg(mr->device, region->rg_sg, count, region->rg_dir);
	/* Bounce buffers or addresses are short: that passes. */
	if (!mapped)
		return -ENOBUFS;
	region->rg_nents = count;
	mr->length = 0;
	if (ib_map_mr_sg(mr, region->rg_sg, mapped, NULL, region->rg_page_size) == mapped)
		return 0;
	return -E2BIG;
}

/**
 * rpcrdma_region_map - map memory, and make it ready to be registered
 * @region: not mapped; its rg_sg has the memory
 * @count: elements; see rpcrdma_region_takes()
 * @access: rights of the peer. With IB_ACCESS_LOCAL_WRITE the memory is written
 *
 * A device may take fewer elements; rg_nents says how many are mapped, from the first one on.
 *
 * There is another R_key at each use (RFC 8166 section 8.1.3), and the last one does not say
 * which (section 8.1.2). The offset that the peer is told is no address of ours: only its
 * place in the page is.
 *
 * Context: any in which the device can map.
 * Return: 0, then rpcrdma_regions_reg() may follow; -ENOBUFS when there is no DMA mapping
 * now, -EIO when the device refused. rpcrdma_region_unmap() in any case.
 */
int rpcrdma_region_map(struct rpcrdma_region *region, u32 count, int access)
{
	struct ib_mr *mr = region->rg_mr;
	u64 random = get_random_u64();
	int rc;

	region->rg_dir = access & IB_ACCESS_LOCAL_WRITE ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
	while ((rc = map_elements(region, count)) == -E2BIG) {
		count = elements_mapped(region);
		if (!count)
			return -EIO;
		rpcrdma_region_unmap(region);
	}
	if (rc)
		return rc;

	/* No addition to it overflows. */
	mr->iova = (random >> 1 & PAGE_MASK) | offset_in_page(mr->iova);
	ib_update_fast_reg_key(mr, (mr->rkey + 1 + (u32)random % 255) & 0xff);
	region->rg_reg.wr.wr_cqe = region->rg_reg_cqe;
	region->rg_reg.key = mr->rkey;
	region->rg_reg.access = access;
	return 0;
}

/**
 * rpcrdma_region_unmap - the memory is the CPU's again
 * @region: never posted, or invalid, or its queue pair is drained; mapped or not
 *
 * Context: any.
 */
void rpcrdma_region_unmap(struct rpcrdma_region *region)
{
	if (!region->rg_nents)
		return;
	ib_dma_unmap_sg(region->rg_mr->device, region->rg_sg, region->rg_nents,
			region->rg_dir);
	region->rg_nents = 0;
}

/**
 * rpcrdma_region_segment - how the peer names a region
 * @region: mapped
 *
 * Context: any.
 * Return: what goes into a chunk.
 */
struct rpcrdma_segment rpcrdma_region_segment(const struct rpcrdma_region *region)
{
	const struct ib_mr *mr = region->rg_mr;

	return (struct rpcrdma_segment) {
		.handle = mr->rkey, .length = mr->length, .offset = mr->iova,
	};
}

/**
 * rpcrdma_regions_reg - put registrations in front of work requests
 * @regions: struct rpcrdma_region by rg_list, all mapped
 * @next: what is posted behind them, or NULL
 *
 * Context: any.
 * Return: what to post.
 */
struct ib_send_wr *rpcrdma_regions_reg(struct list_head *regions, struct ib_send_wr *next)
{
	struct rpcrdma_region *region;

	list_for_each_entry(region, regions, rg_list) {
		region->rg_reg.wr.next = next;
		next = &region->rg_reg.wr;
	}
	return next;
}

/**
 * rpcrdma_regions_inv - LOCAL_INVs, of which only the last one is signalled
 * @regions: struct rpcrdma_region by rg_list, all posted
 * @next: what is posted behind them, with a signalled end, or NULL
 *
 * Context: any.
 * Return: what to post, or NULL: there is none.
 */
struct ib_send_wr *rpcrdma_regions_inv(struct list_head *regions, struct ib_send_wr *next)
{
	struct rpcrdma_region *region;

	list_for_each_entry(region, regions, rg_list) {
		region->rg_inv = (struct ib_send_wr) {
			.opcode			= IB_WR_LOCAL_INV,
			.wr_cqe			= region->rg_inv_cqe,
			.next			= next,
			.send_flags		= next ? 0 : IB_SEND_SIGNALED,
			.ex.invalidate_rkey	= region->rg_mr->rkey,
		};
		next = &region->rg_inv;
	}
	return next;
}
