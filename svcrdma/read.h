/* SPDX-License-Identifier: GPL-2.0 */
/* Calls with Read chunks: read_chunks.c, rq_arg.c, rxe.c */
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
	SVCRDMA_MAX_READ_CALLS = 8,	/* largest calls of which a connection may have the pages */
	SVCRDMA_READ_SENTINEL = 0xa5,	/* a byte that a Read is to replace: rxe.c */
};

/*
 * SUNRPC looks into the head for some of that without asking for its size. Nothing of it is ever in
 * a chunk of its own.
 */
enum { SVCRDMA_CALL_HEADER_MIN = RPCRDMA_RPC_MIN_CALL };

/**
 * struct svcrdma_reader - read_chunks.c: calls with Read chunks, under st_recv_lock
 * @wait: Reads could not be built for want of memory regions or of pages
 * @retry: there may be regions and pages for the first of @wait
 * @pending: there is something in @wait, and @retry. Read without the lock
 * @attempts: number of the last attempt to build Reads; not 0 then
 * @retries: attempts under way of calls that have waited
 * @built: calls whose Reads are built and not done
 * @calls: calls with pages for their Reads, or in @wait, until a thread has seen them done; at
 *	most st_credits
 * @pages: their pages, at most those of SVCRDMA_MAX_READ_CALLS; those that could not have
 *	theirs are in @wait
 */
struct svcrdma_reader {
	struct list_head	wait;
	bool			retry;
	bool			pending;
	u32			attempts;
	u32			retries;
	u32			built;
	u32			calls;
	u32			pages;
};

/* read_chunks.c */
void svcrdma_reads_setup(struct svcrdma_transport *t);
void svcrdma_reads_show(struct seq_file *seq, struct svcrdma_transport *t);
bool svcrdma_reads_claim(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
void svcrdma_reads_start(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
int svcrdma_reads_begin(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			struct svcrdma_recv_ctxt *rc);
bool svcrdma_reads_end(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
struct svcrdma_recv_ctxt *svcrdma_reads_next(struct svcrdma_transport *t);
bool svcrdma_reads_pending(const struct svcrdma_transport *t);
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
 * A call's Reads are going to be made; it has its pages, which are not mapped yet. Any context.
 * Returns the Send Queue entries that svcrdma_rxe_verify() may need.
 */
static inline u32 svcrdma_rxe_set_sentinel(const struct svcrdma_transport *t,
					   struct svcrdma_recv_ctxt *rc)
{
	return static_branch_unlikely(&svcrdma_rxe) ? svcrdma_rxe_do_set_sentinel(t, rc) : 0;
}

/*
 * A call's Reads are complete; have they succeeded? false: @rc is not the caller's any more, and
 * svcrdma_reads_verified() has it, unless the connection ends before. In a completion handler on a
 * work queue.
 */
static inline bool svcrdma_rxe_verify(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	return !static_branch_unlikely(&svcrdma_rxe) || svcrdma_rxe_do_verify(t, rc);
}

#endif /* SVCRDMA_READ_H */
