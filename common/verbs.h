/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * What client and server do to an RDMA device in the same way: regions, message buffers, and the
 * probe of a peer; and the client's RDMA Reads and Writes. Each module contains a copy.
 *
 * This code knows ib_core and the plain values of the protocol. It knows neither SUNRPC nor
 * connections. It takes no lock, sleeps only in functions whose Context allows it, and posts
 * nothing. The caller makes sure that nobody else uses the object at the same time, and posts the
 * work requests that the functions return.
 */
#ifndef RPCRDMA_VERBS_H
#define RPCRDMA_VERBS_H

#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#include <rpcrdma/header.h>

/**
 * struct rpcrdma_region - fast-registered memory, which is one segment for the peer
 * @rg_list: list entry, for the owner's use
 * @rg_mr: the memory region of ib_core
 * @rg_depth: largest number of pages in the region
 * @rg_page_size: page size that the device uses, in bytes
 * @rg_reg: work request of the registration, whose wr_cqe the owner sets. The registration is
 *	unsignalled, so that its completion comes only when the registration fails.
 * @rg_inv: work request of the LOCAL_INV, whose wr_cqe the owner sets
 * @rg_sg: memory that is mapped, set by the owner; no element is larger than a page
 * @rg_nents: number of elements of @rg_sg that are DMA-mapped, or 0
 * @rg_dir: direction of the DMA mapping
 *
 * The caller of rpcrdma_region_init() owns the region until it frees @rg_mr. The work requests of
 * the region belong to the queue pair from their post until they, or later ones, have completed.
 */
struct rpcrdma_region {
	struct list_head	rg_list;
	struct ib_mr		*rg_mr;
	u32			rg_depth;
	u32			rg_page_size;
	struct ib_reg_wr	rg_reg;
	struct ib_send_wr	rg_inv;
	struct scatterlist	*rg_sg;
	u32			rg_nents;
	enum dma_data_direction	rg_dir;
};

/**
 * struct rpcrdma_transfer - one RDMA Read or Write of bytes that are contiguous at both ends
 * @tr_wr: the work request
 * @tr_sge: the local memory
 */
struct rpcrdma_transfer {
	struct ib_rdma_wr	tr_wr;
	struct ib_sge		tr_sge;
};

/**
 * struct rpcrdma_buffer - memory for a message, DMA-mapped as long as it exists
 * @bf_data: the memory
 * @bf_sge: element for a work request; the owner sets its length
 * @bf_size: size of the memory in bytes
 * @bf_dir: direction of the DMA mapping
 * @bf_device: device that the memory is mapped for; constant
 *
 * The device owns the memory from ib_dma_sync_single_for_device() until the work request that was
 * posted with it has completed. The caller, who owns it otherwise, calls
 * ib_dma_sync_single_for_cpu() before it reads what the device has received.
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
bool rpcrdma_region_takes(const struct rpcrdma_region *region, u32 count, u32 offset);
int rpcrdma_region_map(struct rpcrdma_region *region, u32 count, int access);
void rpcrdma_region_unmap(struct rpcrdma_region *region);
struct rpcrdma_segment rpcrdma_region_segment(const struct rpcrdma_region *region);
struct ib_send_wr *rpcrdma_regions_reg(struct list_head *regions, struct ib_send_wr *next);
struct ib_send_wr *rpcrdma_regions_inv(struct list_head *regions, struct ib_send_wr *next);

/* transfer.c */
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

#endif /* RPCRDMA_VERBS_H */
