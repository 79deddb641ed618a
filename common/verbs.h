/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What client and server do to an RDMA device in the same way. Compiled into each module,
 * as the core is.
 *
 * It knows ib_core and the protocol's plain values; nothing of SUNRPC, of either side's
 * structures or of connections. It takes no lock, waits for nothing, posts nothing and
 * keeps nothing: who calls has made sure that nobody else uses the object meanwhile, and
 * posts what comes back.
 */
#ifndef RPCRDMA_VERBS_H
#define RPCRDMA_VERBS_H

#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#include <rpcrdma/header.h>

/**
 * rpcrdma_sg_set_pages - whole pages, each an element
 * @sg: elements in a row, without a link
 * @pages: as many
 * @count: their number
 *
 * A payload has hundreds of them, so four are done at a time.
 *
 * Context: any.
 */
static inline void rpcrdma_sg_set_pages(struct scatterlist *sg, struct page **pages, u32 count)
{
	u32 i;

#ifdef CONFIG_CC_IS_GCC
#pragma GCC unroll 4
#endif
	for (i = 0; i < count; i++)
		sg_set_page(&sg[i], pages[i], PAGE_SIZE, 0);
}

/**
 * struct rpcrdma_region - fast-registered memory: one segment for the peer
 *
 * Owned by a side from rpcrdma_region_init() to rpcrdma_region_exit(). Its work requests
 * belong to the queue pair from their post until they, or a later one, have completed.
 *
 * @rg_list: the owner's
 * @rg_mr: the verbs object
 * @rg_depth: pages in it, at most
 * @rg_page_size: of the device, bytes
 * @rg_reg_cqe: of the registration, which is unsignalled: only heard of when it failed.
 *	Set by the owner
 * @rg_inv_cqe: of the LOCAL_INV. Set by the owner
 * @rg_reg: the registration
 * @rg_inv: the LOCAL_INV
 * @rg_sg: what is mapped, no element larger than a page; the owner's
 * @rg_nents: elements of it, DMA-mapped while not 0
 * @rg_dir: direction of the DMA mapping
 */
struct rpcrdma_region {
	struct list_head	rg_list;
	struct ib_mr		*rg_mr;
	u32			rg_depth;
	u32			rg_page_size;
	struct ib_cqe		*rg_reg_cqe;
	struct ib_cqe		*rg_inv_cqe;
	struct ib_reg_wr	rg_reg;
	struct ib_send_wr	rg_inv;
	struct scatterlist	*rg_sg;
	u32			rg_nents;
	enum dma_data_direction	rg_dir;
};

/**
 * struct rpcrdma_transfer - one RDMA Read or Write, of bytes that lie together at both ends
 * @tr_wr: the request
 * @tr_sge: our end
 */
struct rpcrdma_transfer {
	struct ib_rdma_wr	tr_wr;
	struct ib_sge		tr_sge;
};

/**
 * struct rpcrdma_buffer - memory for a message, mapped for as long as it lives
 *
 * Between rpcrdma_buffer_to_device() and the completion of what was posted with it the HCA
 * has it; else the owner, who calls rpcrdma_buffer_to_cpu() before a look at what came.
 *
 * @bf_data: the memory
 * @bf_sge: describes it; the length is the owner's to change
 * @bf_size: bytes
 * @bf_dir: direction of the mapping
 * @bf_device: constant
 */
struct rpcrdma_buffer {
	void			*bf_data;
	struct ib_sge		bf_sge;
	u32			bf_size;
	enum dma_data_direction	bf_dir;
	struct ib_device	*bf_device;
};

/* region.c */
u32 rpcrdma_region_query(const struct ib_device *device, enum ib_mr_type *type);
int rpcrdma_region_init(struct rpcrdma_region *region, struct ib_pd *pd,
			enum ib_mr_type type, u32 depth);
void rpcrdma_region_exit(struct rpcrdma_region *region);
bool rpcrdma_region_takes(const struct rpcrdma_region *region, u32 count, u32 offset);
int rpcrdma_region_map(struct rpcrdma_region *region, u32 count, int access);
void rpcrdma_region_unmap(struct rpcrdma_region *region);
struct rpcrdma_segment rpcrdma_region_segment(const struct rpcrdma_region *region);
struct ib_send_wr *rpcrdma_regions_reg(struct list_head *regions, struct ib_send_wr *next);
struct ib_send_wr *rpcrdma_regions_inv(struct list_head *regions, struct ib_send_wr *next);

/* transfer.c */
void rpcrdma_chain_hear(struct ib_send_wr *first, const struct ib_send_wr *end,
			struct ib_cqe *cqe);
void rpcrdma_transfer_init(struct rpcrdma_transfer *transfer, enum ib_wr_opcode opcode,
			   const struct ib_sge *local,
			   const struct rpcrdma_segment *segment, u32 from);
struct ib_send_wr *rpcrdma_transfers_chain(struct rpcrdma_transfer *transfers, u32 count,
					   struct ib_cqe *part, struct ib_cqe *last);
void rpcrdma_probe_init(struct ib_rdma_wr *probe, struct ib_cqe *cqe);

/* buffer.c */
int rpcrdma_buffers_start(const char *name);
void rpcrdma_buffers_stop(void);
int rpcrdma_buffer_init(struct rpcrdma_buffer *buffer, struct ib_pd *pd, u32 size,
			enum dma_data_direction dir, gfp_t gfp);
void rpcrdma_buffer_exit(struct rpcrdma_buffer *buffer);

/**
 * rpcrdma_buffer_to_device - the HCA is to have what is in a buffer, or to fill it
 * @buffer: the buffer
 * @length: bytes, from its start
 *
 * Context: any.
 */
static inline void rpcrdma_buffer_to_device(const struct rpcrdma_buffer *buffer, u32 length)
{
	ib_dma_sync_single_for_device(buffer->bf_device, buffer->bf_sge.addr, length,
				      buffer->bf_dir);
}

/**
 * rpcrdma_buffer_to_cpu - we are to have what the HCA has put into a buffer
 * @buffer: the buffer
 * @length: bytes, from its start
 *
 * Context: any.
 */
static inline void rpcrdma_buffer_to_cpu(const struct rpcrdma_buffer *buffer, u32 length)
{
	ib_dma_sync_single_for_cpu(buffer->bf_device, buffer->bf_sge.addr, length,
				   buffer->bf_dir);
}

#endif /* RPCRDMA_VERBS_H */
