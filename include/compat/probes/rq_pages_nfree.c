// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Linux 7.1: call and reply have an array of pages each. */
#include <linux/sunrpc/svc.h>

void probe(struct svc_rqst *rqstp, unsigned long pages);
void probe(struct svc_rqst *rqstp, unsigned long pages)
{
	rqstp->rq_pages_nfree = min(pages, rqstp->rq_maxpages);
}
