// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Fast registration and invalidation of memory.
 *
 * The cycle of a region: rpcrdma_region_map() prepares it, the owner posts its registration, the
 * peer reads or writes the memory, the peer or a LOCAL_INV invalidates the region, and
 * rpcrdma_region_unmap() ends the cycle. The owner unmaps a region only when the peer cannot reach
 * the memory any more.
 */
#include <linux/random.h>

#include "verbs.h"

/*
 * Page size in bytes to use with a device: the largest size that the device supports and that
 * divides PAGE_SIZE, or 0 when there is none. Some devices report no sizes at all.
 */
static u32 device_page_size(const struct ib_device *device)
{
	u64 sizes = device->attrs.page_size_cap;

	if (!sizes)
		return PAGE_SIZE;
	sizes &= 2 * PAGE_SIZE - 1;
	return sizes ? 1U << __fls(sizes) : 0;
}

/* Number of the device's pages in one page of the kernel */
static u32 device_pages(const struct ib_device *device)
{
	return PAGE_SIZE / device_page_size(device);
}

/**
 * rpcrdma_region_query - what the regions of a device can hold
 * @device: the device
 * @type: gets the type of its regions, with or without gaps
 *
 * Context: any.
 * Return: largest number of pages in one region, or 0 when the device has no fast registration or
 * supports only pages that are larger than PAGE_SIZE.
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
 * rpcrdma_region_init - allocate a region
 * @region: the zeroed region
 * @pd: protection domain of the connection
 * @type: type from rpcrdma_region_query()
 * @depth: pages of the region, at most what rpcrdma_region_query() returned
 *
 * Context: process.
 * Return: 0, and the caller frees rg_mr by ib_dereg_mr() in the end; or a negative error number of
 * the device, and nothing was allocated.
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
	region->rg_inv.opcode = IB_WR_LOCAL_INV;
	return 0;
}

/**
 * rpcrdma_region_takes - is there room for one more element in a region?
 * @region: the region
 * @count: number of elements that its rg_sg has, at least one
 * @offset: offset of the next element in its page, in bytes
 *
 * In a region without gaps, only the first element may begin, and only the last one may end, within
 * a page.
 *
 * Context: any.
 */
bool rpcrdma_region_takes(const struct rpcrdma_region *region, u32 count, u32 offset)
{
	const struct scatterlist *last = &region->rg_sg[count - 1];

	if (count == region->rg_depth)
		return false;
	return region->rg_mr->type == IB_MR_TYPE_SG_GAPS ||
	       (!offset && last->offset + last->length == PAGE_SIZE);
}

/* Number of elements that the last mapping of a region covers completely */
static u32 elements_mapped(const struct rpcrdma_region *region)
{
	u64 length = region->rg_mr->length;
	u32 n;

	for (n = 0; n < region->rg_nents && region->rg_sg[n].length <= length; n++)
		length -= region->rg_sg[n].length;
	return n;
}

/* Returns 0; -ENOBUFS; or -E2BIG when the device takes only elements_mapped() elements. */
static int map_elements(struct rpcrdma_region *region, u32 count)
{
	struct ib_mr *mr = region->rg_mr;
	int mapped;

	mapped = ib_dma_map_sg(mr->device, region->rg_sg, count, region->rg_dir);
	/* The DMA API has run out of bounce buffers or of addresses. */
	if (!mapped)
		return -ENOBUFS;
	region->rg_nents = count;
	mr->length = 0;
	if (ib_map_mr_sg(mr, region->rg_sg, mapped, NULL, region->rg_page_size) == mapped)
		return 0;
	return -E2BIG;
}

/**
 * rpcrdma_region_map - map memory, and prepare its registration
 * @region: a region that is not mapped, and whose rg_sg describes the memory
 * @count: number of elements of rg_sg; see rpcrdma_region_takes()
 * @access: access rights; with IB_ACCESS_LOCAL_WRITE the memory is written, by the peer or by an
 *	RDMA Read of ours
 *
 * A device may take fewer elements than @count; rg_nents says how many are mapped.
 *
 * Each use has a new R_key (RFC 8166 section 8.1.3), which cannot be predicted from the last one
 * (section 8.1.2). The offset that the peer gets is random but for the offset in the page, so that
 * it does not tell an address.
 *
 * Context: any in which the device can map.
 * Return: 0, and rpcrdma_regions_reg() may follow; -ENOBUFS when no DMA mapping is available at the
 * moment; or -EIO when the device takes no element. The caller has to call rpcrdma_region_unmap()
 * later in each case.
 */
int rpcrdma_region_map(struct rpcrdma_region *region, u32 count, int access)
{
	struct ib_mr *mr = region->rg_mr;
	u64 random = get_random_u64();
	int ret;

	region->rg_dir = access & IB_ACCESS_LOCAL_WRITE ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
	while ((ret = map_elements(region, count)) == -E2BIG) {
		count = elements_mapped(region);
		if (!count)
			return -EIO;
		rpcrdma_region_unmap(region);
	}
	if (ret)
		return ret;

	/* With the top bit clear, no sum of offset and length overflows. */
	mr->iova = (random >> 1 & PAGE_MASK) | offset_in_page(mr->iova);
	ib_update_fast_reg_key(mr, (mr->rkey + 1 + (u32)random % 255) & 0xff);
	region->rg_reg.key = mr->rkey;
	region->rg_reg.access = access;
	return 0;
}

/**
 * rpcrdma_region_unmap - give the memory back to the CPU
 * @region: a region that was not posted, is invalid, or whose queue pair is drained; it may be
 *	unmapped already
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
 * rpcrdma_region_segment - the segment by which the peer reaches a region
 * @region: a mapped region
 *
 * Context: any.
 */
struct rpcrdma_segment rpcrdma_region_segment(const struct rpcrdma_region *region)
{
	const struct ib_mr *mr = region->rg_mr;

	return (struct rpcrdma_segment) {
		.handle = mr->rkey, .length = mr->length, .offset = mr->iova,
	};
}

/**
 * rpcrdma_regions_reg - chain the registrations of regions
 * @regions: list of mapped regions by rg_list
 * @next: work request that follows them, or NULL
 *
 * Context: any.
 * Return: first work request to post.
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
 * rpcrdma_regions_inv - chain the LOCAL_INVs of regions
 * @regions: list of registered regions by rg_list
 * @next: work requests that follow them, of which the last is signalled; or NULL, and the last
 *	LOCAL_INV is signalled
 *
 * Context: any.
 * Return: first work request to post, or NULL when there is none.
 */
struct ib_send_wr *rpcrdma_regions_inv(struct list_head *regions, struct ib_send_wr *next)
{
	struct rpcrdma_region *region;

	list_for_each_entry(region, regions, rg_list) {
		region->rg_inv.next = next;
		region->rg_inv.send_flags = next ? 0 : IB_SEND_SIGNALED;
		region->rg_inv.ex.invalidate_rkey = region->rg_mr->rkey;
		next = &region->rg_inv;
	}
	return next;
}
