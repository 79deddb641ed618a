// SPDX-License-Identifier: GPL-2.0-only
/*
 * The provider in memory: memory regions, and who may use them.
 *
 * An STag is of use only with the protection domain that it was made in, for what it was
 * registered for, within its bounds, and while it is registered (RFC 4296 section 3).
 */
#include <linux/slab.h>

#include "memory.h"

#define BY_PEER	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE)
#define WRITING	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE)

static struct memory_device *device_of(const struct ib_mr *mr)
{
	return memory_device_of(mr->device);
}

static u32 index_of(u32 key)
{
	return key >> 8;
}

/* RFC 5040 section 8.1.1, 8: STags are scattered; the multiplier is odd, so none twice. */
static u32 next_index(struct memory_device *device)
{
	return ((u32)atomic_inc_return(&device->next_key) * 0x9e3779u) & 0xffffff;
}

static void mr_free(struct memory_mr *mr)
{
	kvfree(mr->lengths);
	kvfree(mr->pages);
	kfree(mr);
}

/* A peer may ask for it by then: whoever finds a region has interrupts off. */
static void mr_free_later(struct rcu_head *head)
{
	mr_free(container_of(head, struct memory_mr, rcu));
}

/* ib_alloc_mr() */
struct ib_mr *memory_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 depth)
{
	struct memory_device *device = memory_device_of(pd->device);
	struct memory_mr *mr;
	u32 key;

	if (!memory_step(device, MEMORY_ALLOC_MR, NULL))
		return ERR_PTR(-ENOMEM);
	key = next_index(device) << 8;
	if (depth > device->shape->pages ||
	    (type != IB_MR_TYPE_MEM_REG && (type != IB_MR_TYPE_SG_GAPS || !device->shape->gaps)))
		return ERR_PTR(-EINVAL);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->pages = kvcalloc(depth, sizeof(*mr->pages), GFP_KERNEL);
	if (type == IB_MR_TYPE_SG_GAPS)
		mr->lengths = kvcalloc(depth, sizeof(*mr->lengths), GFP_KERNEL);
	mr->max_pages = depth;
	mr->ib.lkey = key;
	mr->ib.rkey = key;
	if (!mr->pages || (type == IB_MR_TYPE_SG_GAPS && !mr->lengths) ||
	    xa_err(xa_store_irq(&device->mrs, index_of(mr->ib.lkey), mr, GFP_KERNEL))) {
		mr_free(mr);
		return ERR_PTR(-ENOMEM);
	}
	atomic_inc(&device->nr_mrs);
	return &mr->ib;
}

/* ib_dereg_mr() */
int memory_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct memory_mr *mr = memory_mr_of(ib);
	struct memory_device *device = device_of(ib);

	xa_erase_irq(&device->mrs, index_of(ib->lkey));
	atomic_dec(&device->nr_mrs);
	call_rcu(&mr->rcu, mr_free_later);
	return 0;
}

static int set_page(struct ib_mr *ib, u64 address)
{
	struct memory_mr *mr = memory_mr_of(ib);

	if (mr->nr_pages == mr->max_pages)
		return -ENOMEM;
	mr->pages[mr->nr_pages++] = address;
	return 0;
}

/* Elements as they are, one after another, as long as there is room. */
static int map_with_gaps(struct memory_mr *mr, struct scatterlist *sgl, int nents,
			 unsigned int *offset)
{
	unsigned int skipped = offset ? *offset : 0;
	struct scatterlist *sg;
	int i;

	mr->ib.iova = sg_dma_address(sgl) + skipped;
	mr->ib.length = 0;
	for_each_sg(sgl, sg, nents, i) {
		if (mr->nr_pages == mr->max_pages)
			break;
		mr->pages[i] = sg_dma_address(sg) + skipped;
		mr->lengths[i] = sg_dma_len(sg) - skipped;
		mr->ib.length += mr->lengths[i];
		mr->nr_pages++;
		skipped = 0;
	}
	if (offset)
		*offset = 0;
	return i;
}

/* ib_map_mr_sg() */
int memory_map_mr_sg(struct ib_mr *ib, struct scatterlist *sgl, int nents,
		     unsigned int *offset)
{
	struct memory_device *device = device_of(ib);
	struct memory_mr *mr = memory_mr_of(ib);
	bool ok = memory_step(device, MEMORY_MAP_MR, NULL);

	/* rdma_rw puts the LOCAL_INV in front of the next registration: nobody else has the key. */
	if (mr->valid && mr->access & BY_PEER)
		memory_complain(device, "a region is mapped while it is registered");
	if (device->shape->page_sizes && !(ib->page_size & device->shape->page_sizes))
		memory_complain(device, "there are no pages of %u bytes", ib->page_size);
	if (!ok)
		return -EINVAL;
	if (device->map_takes)
		nents = min(nents, device->map_takes);
	mr->nr_pages = 0;
	if (mr->lengths)
		return map_with_gaps(mr, sgl, nents, offset);
	return ib_sg_to_pages(ib, sgl, nents, offset, set_page);
}

/* IB_WR_REG_MR: the STag and the rights are those of the work request. */
enum ib_wc_status memory_register(struct memory_qp *qp, const struct memory_wr *wr)
{
	struct memory_mr *mr = wr->mr;
	bool remote_write = wr->access & IB_ACCESS_REMOTE_WRITE;

	if (mr->ib.pd != qp->ib.pd || index_of(wr->key) != index_of(mr->ib.lkey))
		return IB_WC_MW_BIND_ERR;
	if (mr->valid || !mr->nr_pages)
		return IB_WC_MW_BIND_ERR;
	if (remote_write && !(wr->access & IB_ACCESS_LOCAL_WRITE))
		return IB_WC_LOC_ACCESS_ERR;
	mr->valid = true;
	mr->key = wr->key;
	mr->access = wr->access;
	mr->iova = mr->ib.iova;
	mr->length = mr->ib.length;
	return IB_WC_SUCCESS;
}

static struct memory_mr *find(struct memory_qp *qp, u32 key)
{
	struct memory_device *device = memory_device_of(qp->ib.device);
	struct memory_mr *mr = xa_load(&device->mrs, index_of(key));

	if (!mr || !mr->valid || mr->key != key || mr->ib.pd != qp->ib.pd)
		return NULL;
	return mr;
}

/* RFC 5040 section 7.2: it has to be valid, and of this stream. */
bool memory_can_invalidate(struct memory_qp *qp, u32 key)
{
	return find(qp, key);
}

bool memory_invalidate(struct memory_qp *qp, u32 key)
{
	struct memory_mr *mr = find(qp, key);

	if (mr)
		mr->valid = false;
	return mr;
}

/**
 * memory_allowed - may this be done with this memory?
 * @qp: queue pair at whose end the memory is
 * @sge: the memory; without a byte nothing is asked of it
 * @access: IB_ACCESS_* or 0 for local reading
 *
 * Return: false without a trace of it; memory_locate() finds out whether it is mapped.
 */
bool memory_allowed(struct memory_qp *qp, const struct ib_sge *sge, int access)
{
	struct memory_mr *mr;
	u64 at;

	if (!sge->length)
		return true;
	/* The STag of all memory is never the peer's: RFC 4296 section 3. */
	if (sge->lkey == qp->ib.pd->local_dma_lkey)
		return !(access & BY_PEER);
	mr = find(qp, sge->lkey);
	if (!mr || (mr->access & access) != access)
		return false;
	at = sge->addr - mr->iova;
	return at <= mr->length && sge->length <= mr->length - at;
}

/* The DMA address of byte @at of a region; @run: bytes from there on */
static u64 address_in(const struct memory_mr *mr, u64 at, u32 *run)
{
	u32 size = mr->ib.page_size, offset, i;

	if (!mr->lengths) {
		/* Pages follow each other from the one that holds the first byte. */
		at += mr->iova & (size - 1);
		offset = at & (size - 1);
		*run = size - offset;
		return mr->pages[at / size] + offset;
	}
	for (i = 0; at >= mr->lengths[i]; i++)
		at -= mr->lengths[i];
	*run = mr->lengths[i] - at;
	return mr->pages[i] + at;
}

/**
 * memory_locate - a run of bytes
 * @qp: queue pair at whose end the memory is
 * @sge: the memory; memory_allowed() has said yes
 * @at: first byte of it
 * @access: as for memory_allowed()
 * @run: bytes that lie together from there on
 *
 * Return: where they are, or NULL if the device cannot reach them.
 */
void *memory_locate(struct memory_qp *qp, const struct ib_sge *sge, u32 at, int access,
		    u32 *run)
{
	struct memory_device *device = memory_device_of(qp->ib.device);
	u64 address = sge->addr + at;
	struct memory_mr *mr;
	u32 in_region;

	*run = sge->length - at;
	if (sge->lkey != qp->ib.pd->local_dma_lkey) {
		mr = find(qp, sge->lkey);
		address = address_in(mr, address - mr->iova, &in_region);
		*run = min(*run, in_region);
	}
	return memory_dma_find(device, address, run, access & WRITING);
}
