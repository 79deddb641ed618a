/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
#ifndef COMPAT_RDMA_IB_VERBS_H
#define COMPAT_RDMA_IB_VERBS_H

/* Since Linux 6.17 reg_user_mr has one more parameter. Only the tests' provider implements it. */
#include_next <rdma/ib_verbs.h>
#include <compat_config.h>

#ifdef COMPAT_HAVE_REG_USER_MR_DMAH
#define COMPAT_DMAH_PARAM struct ib_dmah *dmah,
#else
#define COMPAT_DMAH_PARAM
#endif

#endif /* COMPAT_RDMA_IB_VERBS_H */
