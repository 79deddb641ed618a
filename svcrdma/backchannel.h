/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Callbacks (backchannel.c) and callbacks with chunks (bc_chunks.c) */
#ifndef SVCRDMA_BACKCHANNEL_H
#define SVCRDMA_BACKCHANNEL_H

#include <linux/sizes.h>
#include <linux/sunrpc/xprt.h>
#include <rdma/ib_verbs.h>

#include <rpcrdma/plan.h>

struct scatterlist;
struct svcrdma_recv_ctxt;
struct svcrdma_send_ctxt;
struct svcrdma_transport;

enum {
	SVCRDMA_REVERSE_CREDITS = 2,	/* most callbacks in flight */
	SVCRDMA_MAX_CALLBACK = SZ_64K + SZ_4K,	/* most bytes of a call, or a reply, in a chunk */
	/* Callbacks in flight, and as many more whose LOCAL_INVs are not complete yet */
	SVCRDMA_MAX_LONG_CALLS = 2 * SVCRDMA_REVERSE_CREDITS,
};

/* backchannel.c */
extern struct xprt_class svcrdma_backchannel_class;

bool svcrdma_backchannel_reply(struct svcrdma_transport *t,
			       struct svcrdma_recv_ctxt *rc);
void svcrdma_backchannel_answer(struct svcrdma_transport *t, u32 xid,
				struct scatterlist *sg, u32 length);

/* bc_chunks.c */
int svcrdma_long_call_create(struct svcrdma_send_ctxt *sc, const struct rpc_rqst *rqst,
			     const struct rpcrdma_call_plan *plan,
			     struct rpcrdma_chunk_lists *lists);
bool svcrdma_long_call_offered(struct svcrdma_transport *t, u32 xid, u32 length);
void svcrdma_long_call_end(struct svcrdma_transport *t, u32 xid, u32 answer);

#endif /* SVCRDMA_BACKCHANNEL_H */
