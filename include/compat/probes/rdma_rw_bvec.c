// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Linux 7.0, 5e541553588d ("RDMA/core: add bio_vec based RDMA read/write API"). */
#include <rdma/rw.h>

int probe(struct rdma_rw_ctx *ctx, struct ib_qp *qp, const struct bio_vec *bvecs);
int probe(struct rdma_rw_ctx *ctx, struct ib_qp *qp, const struct bio_vec *bvecs)
{
	struct bvec_iter iter = {};

	return rdma_rw_ctx_init_bvec(ctx, qp, 1, bvecs, 1, iter, 0, 0, DMA_TO_DEVICE);
}
