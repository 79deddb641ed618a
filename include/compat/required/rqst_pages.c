// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* the pages of its struct svc_rqst are laid out in a way that nobody has looked at */
#include <linux/sunrpc/svc.h>

/* Exactly one: see include/compat/linux/sunrpc/svc.h. */
#if defined(COMPAT_HAVE_RQ_PAGES_NFREE) == defined(COMPAT_HAVE_RPCSVC_MAXPAGES)
#error neither rq_pages_nfree nor RPCSVC_MAXPAGES, or both
#endif
