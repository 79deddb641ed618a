/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Calls with Read chunks (read_chunks.c, rq_arg.c, rxe.c) */
#ifndef SVCRDMA_READ_H
#define SVCRDMA_READ_H

#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/seq_file.h>
#include <linux/sunrpc/svc.h>
#include <rdma/ib_verbs.h>

#include <rpcrdma/protocol.h>

struct svcrdma_recv_ctxt;
struct svcrdma_transport;

enum {
	SVCRDMA_MAX_READ_CALLS = 8,	/* calls of the largest size that may have pages at once */
	SVCRDMA_READ_SENTINEL = 0xa5,	/* byte that a Read is to replace; see rxe.c */
};

/*
 * The smallest head of a call. SUNRPC reads a part of the RPC call header from the head without
 * looking at the size of the head. No part of the RPC call header may be in a chunk of its own.
 */
enum { SVCRDMA_CALL_HEADER_MIN = RPCRDMA_RPC_MIN_CALL };

/**
 * struct svcrdma_reader - read_chunks.c: a connection's calls with Read chunks, under st_recv_lock
 * @wait: list of the calls that wait for memory regions or pages for their Reads, by rc_list
 * @retry: whether there may be regions and pages now for the first call of @wait
 * @pending: whether @retry is set and @wait has an entry: svcrdma_reads_next() may have a call.
 *	Read without the lock; svcrdma_transport_data() is called after regions or pages came back
 * @alone: context of the last attempt to build Reads, if no other call had regions when it began;
 *	else NULL. The pointer is only compared, and not followed, since that call may be over
 * @retries: number of attempts that are under way for calls that have waited
 * @built: number of calls whose Reads are being built, or are built and not complete
 * @calls: number of calls that have pages for their Reads or are in @wait. A call counts until a
 *	thread has seen that its Reads are complete or refused. At most st_credits
 * @pages: number of pages that these calls have, at most as many as SVCRDMA_MAX_READ_CALLS of the
 *	largest calls need; a call that would need more is in @wait
 */
struct svcrdma_reader {
	struct list_head	wait;
	bool			retry;
	bool			pending;
	struct svcrdma_recv_ctxt *alone;
	u32			retries;
	u32			built;
	u32			calls;
	u32			pages;
};

/* read_chunks.c */
void svcrdma_reads_setup(struct svcrdma_transport *t);
void svcrdma_reads_show(struct seq_file *seq, struct svcrdma_transport *t);
bool svcrdma_reads_claim(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
int svcrdma_reads_begin(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			struct svcrdma_recv_ctxt *rc);
bool svcrdma_reads_end(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
struct svcrdma_recv_ctxt *svcrdma_reads_next(struct svcrdma_transport *t);
void svcrdma_reads_retry(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			 struct svcrdma_recv_ctxt *rc);
void svcrdma_reads_verified(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);

/* rq_arg.c */
u32 svcrdma_sink_pages(const struct svcrdma_recv_ctxt *rc);
bool svcrdma_sink_alloc(struct svcrdma_recv_ctxt *rc);
int svcrdma_sink_reserve(struct svcrdma_recv_ctxt *rc);
void svcrdma_sink_fill(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc);
void svcrdma_sink_release(struct svcrdma_recv_ctxt *rc);
void svcrdma_sink_free(struct svcrdma_recv_ctxt *rc);
u32 svcrdma_arg_page_limit(const struct svc_rqst *rqstp);
int svcrdma_arg_inline(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc);
int svcrdma_arg_pages(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc);
bool svcrdma_arg_is_right(const struct svc_rqst *rqstp, const struct svcrdma_recv_ctxt *rc);

/* rxe.c */
DECLARE_STATIC_KEY_FALSE(svcrdma_rxe);
void svcrdma_rxe_begin(const struct svcrdma_transport *t);
u32 svcrdma_rxe_do_set_sentinel(const struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
bool svcrdma_rxe_do_verify(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);

/*
 * Prepare a call for svcrdma_rxe_verify() before its Reads are built. The call has its pages, which
 * are not mapped yet. Context: any. Return: the number of Send Queue entries that
 * svcrdma_rxe_verify() may need.
 */
static inline u32 svcrdma_rxe_set_sentinel(const struct svcrdma_transport *t,
					   struct svcrdma_recv_ctxt *rc)
{
	return static_branch_unlikely(&svcrdma_rxe) ? svcrdma_rxe_do_set_sentinel(t, rc) : 0;
}

/*
 * Check whether the Reads of a call, which are complete, have placed all data. Context: completion
 * handler on a work queue. Return: true: they have. false: the check goes on, @rc is not the
 * caller's any more, and svcrdma_reads_verified() gets it unless the connection ends before.
 */
static inline bool svcrdma_rxe_verify(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	return !static_branch_unlikely(&svcrdma_rxe) || svcrdma_rxe_do_verify(t, rc);
}

#endif /* SVCRDMA_READ_H */
