// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Linux 6.17: a DMA handle for reg_user_mr. */
#include <rdma/ib_verbs.h>

struct ib_mr *probe(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
		    struct ib_dmah *dmah, struct ib_udata *udata);
struct ib_mr *probe(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
		    struct ib_dmah *dmah, struct ib_udata *udata)
{
	struct ib_device_ops ops = { .reg_user_mr = probe };

	return ops.reg_user_mr(pd, start, length, virt, access, dmah, udata);
}
