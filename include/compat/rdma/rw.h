/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
#ifndef COMPAT_RDMA_RW_H
#define COMPAT_RDMA_RW_H

/*
 * The local memory of a Read or Write, in the form that rdma_rw of this kernel takes. A run is a
 * number of bytes that lie together. Linux 7.0 takes the runs as an array of struct bio_vec,
 * 5e541553588d ("RDMA/core: add bio_vec based RDMA read/write API"), and with an IOMMU maps them to
 * one range of addresses, for one work request. Earlier kernels take a scatterlist, in tables of at
 * most a page, each of which is linked to the next.
 */
#include_next <rdma/rw.h>
#include <compat_config.h>

#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

enum {
	COMPAT_FEW_RUNS = 4,	/* number of runs for which no table is allocated */
};

/*
 * In both versions of struct compat_runs, compat_runs_alloc() allocates a table if there are more
 * than COMPAT_FEW_RUNS runs, and compat_runs_free() frees it. The caller zeroes a new struct.
 */
#ifdef COMPAT_HAVE_RDMA_RW_BVEC
#define COMPAT_RUNS_TABLE_ALLOCS 1	/* allocations that this header makes for a table */
#define compat_run bio_vec

/**
 * struct compat_runs - runs of memory
 * @table: first run, in @few or in @many
 * @count: number of runs
 * @many: table of many runs, or NULL
 * @few: storage for the runs of most calls
 */
struct compat_runs {
	struct bio_vec		*table;
	u32			count;
	struct bio_vec		*many;
	struct bio_vec		few[COMPAT_FEW_RUNS];
};

#define compat_for_each_run(runs, run, i) \
	for ((i) = 0, (run) = (runs)->table; (i) < (runs)->count; (i)++, (run)++)

static inline void compat_run_set(struct bio_vec *run, struct page *page, u32 length, u32 offset)
{
	bvec_set_page(run, page, length, offset);
}

static inline void *compat_run_virt(const struct bio_vec *run)
{
	return page_address(run->bv_page) + run->bv_offset;
}

static inline u32 compat_run_length(const struct bio_vec *run)
{
	return run->bv_len;
}

static inline bool compat_run_is_last(const struct compat_runs *runs, const struct bio_vec *run)
{
	return run == runs->table + runs->count - 1;
}

static inline void compat_runs_free(struct compat_runs *runs)
{
	kvfree(runs->many);
	runs->many = NULL;
}

/* Provides storage for @count runs, which the caller sets afterwards. Returns 0 or -ENOMEM. */
static inline int compat_runs_alloc(struct compat_runs *runs, u32 count, int node)
{
	runs->table = runs->few;
	runs->count = count;
	if (count <= COMPAT_FEW_RUNS)
		return 0;
	runs->many = kvmalloc_node(array_size(count, sizeof(*runs->many)), GFP_KERNEL, node);
	if (!runs->many)
		return -ENOMEM;
	runs->table = runs->many;
	return 0;
}

/*
 * Sets the runs behind the first one to @length bytes of @pages. Each page is a run of its own,
 * even if it follows the last one in memory: when rdma_rw registers memory, it relies on a region
 * of n pages taking n runs.
 */
static inline void compat_runs_set_pages(struct compat_runs *runs, struct page **pages, u32 length)
{
	struct bio_vec *run = runs->table + 1;
	u32 count = DIV_ROUND_UP(length, PAGE_SIZE), i;

	for (i = 0; i < count; i++)
		bvec_set_page(&run[i], pages[i], PAGE_SIZE, 0);
	run[count - 1].bv_len -= count * PAGE_SIZE - length;
}

/* Does what rdma_rw_ctx_init_bvec() does. @length: number of bytes of all runs together */
static inline int compat_rw_ctx_init(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port,
				     struct compat_runs *runs, u32 length, u64 remote_addr,
				     u32 rkey, enum dma_data_direction dir)
{
	struct bvec_iter iter = { .bi_size = length };

	return rdma_rw_ctx_init_bvec(ctx, qp, port, runs->table, runs->count, iter, remote_addr,
				     rkey, dir);
}

static inline void compat_rw_ctx_destroy(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port,
					 struct compat_runs *runs, enum dma_data_direction dir)
{
	rdma_rw_ctx_destroy_bvec(ctx, qp, port, runs->table, runs->count, dir);
}

#else /* !COMPAT_HAVE_RDMA_RW_BVEC */
#define COMPAT_RUNS_TABLE_ALLOCS 0	/* sg_alloc_table() makes the allocations */
#define compat_run scatterlist

/**
 * struct compat_runs - runs of memory
 * @table: first run, in @few or in @many
 * @count: number of runs
 * @many: table of many runs, or an empty table
 * @few: storage for the runs of most calls
 */
struct compat_runs {
	struct scatterlist	*table;
	u32			count;
	struct sg_table		many;
	struct scatterlist	few[COMPAT_FEW_RUNS];
};

#define compat_for_each_run(runs, run, i) \
	for_each_sg((runs)->table, run, (runs)->count, i)

static inline void compat_run_set(struct scatterlist *run, struct page *page, u32 length,
				  u32 offset)
{
	sg_set_page(run, page, length, offset);
}

static inline void *compat_run_virt(struct scatterlist *run)
{
	return sg_virt(run);
}

static inline u32 compat_run_length(const struct scatterlist *run)
{
	return run->length;
}

static inline bool compat_run_is_last(const struct compat_runs *runs, struct scatterlist *run)
{
	return sg_is_last(run);
}

static inline void compat_runs_free(struct compat_runs *runs)
{
	sg_free_table(&runs->many);
}

static inline int compat_runs_alloc(struct compat_runs *runs, u32 count, int node)
{
	runs->count = count;
	if (count <= COMPAT_FEW_RUNS) {
		runs->table = runs->few;
		sg_init_table(runs->few, count);
		return 0;
	}
	if (sg_alloc_table(&runs->many, count, GFP_KERNEL))
		return -ENOMEM;
	runs->table = runs->many.sgl;
	return 0;
}

static inline void compat_runs_set_pages(struct compat_runs *runs, struct page **pages, u32 length)
{
	u32 count = DIV_ROUND_UP(length, PAGE_SIZE), i;
	struct scatterlist *run = runs->table;

	for (i = 0; i < count; i++) {
		run = sg_next(run);
		sg_set_page(run, pages[i], PAGE_SIZE, 0);
	}
	run->length -= count * PAGE_SIZE - length;
}

static inline int compat_rw_ctx_init(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port,
				     struct compat_runs *runs, u32 length, u64 remote_addr,
				     u32 rkey, enum dma_data_direction dir)
{
	return rdma_rw_ctx_init(ctx, qp, port, runs->table, runs->count, 0, remote_addr, rkey,
				dir);
}

static inline void compat_rw_ctx_destroy(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port,
					 struct compat_runs *runs, enum dma_data_direction dir)
{
	rdma_rw_ctx_destroy(ctx, qp, port, runs->table, runs->count, dir);
}
#endif /* !COMPAT_HAVE_RDMA_RW_BVEC */

#endif /* COMPAT_RDMA_RW_H */
