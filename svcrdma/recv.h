/* SPDX-License-Identifier: GPL-2.0 */
/* Receives and the messages in them: recvfrom.c, recv_ctxt.c. The contexts: recv_ctxt.h */
#ifndef SVCRDMA_RECV_H
#define SVCRDMA_RECV_H

#include <linux/atomic.h>
#include <linux/llist.h>
#include <linux/workqueue.h>
#include <linux/sunrpc/svc.h>
#include <rdma/ib_verbs.h>

struct svcrdma_recv_ctxt;
struct svcrdma_transport;

enum { SVCRDMA_MAX_UNEXPECTED = 1024 };	/* messages in a row that are no calls */

/**
 * struct svcrdma_receiver - recv_ctxt.c, recvfrom.c: receive contexts
 *
 * A message takes no lock of its own: st_recv_lock is taken once for a batch.
 *
 * Of the completion handlers, of which one runs at a time, but where something else is said:
 * @ready: for nfsd, the last one first: received and not looked at, or all of it read. Any context
 *	adds; the thread that has XPT_BUSY takes
 * @gone: of @posted, that are complete; less than a batch
 * @used: contexts that are neither posted nor spare: of calls that are not answered. Any context
 *
 * Of the thread that has XPT_BUSY:
 * @taken: from @ready, the first one first
 * @retried: the last piece of work was a call that had waited for its Reads
 *
 * Any context adds; the holder of st_recv_lock takes:
 * @spare: ready to be posted
 * @starved: there were too few: a context that adds one has to post it. See spare_take()
 *
 * Under st_recv_lock:
 * @all: all of them
 * @count: their number
 * @posted: Receives that are posted, and @gone
 * @target: that are to be posted; never a batch less
 */
struct svcrdma_receiver {
	struct llist_head	ready;
	u32			gone;
	atomic_t		used;
	struct llist_node	*taken;
	bool			retried;

	struct llist_head	spare;
	bool			starved;

	struct list_head	all;
	u32			count;
	u32			posted;
	u32			target;
};

/**
 * struct svcrdma_poller - recvfrom.c: which context polls the Receive completions
 * @by_worker: @work does, and not nfsd: from the teardown on, until the queue is destroyed
 * @work: polls
 */
struct svcrdma_poller {
	bool			by_worker;
	struct work_struct	work;
};

/* recvfrom.c */
int svcrdma_recvfrom(struct svc_rqst *rqstp);
void svcrdma_recv_wc(struct ib_cq *cq, struct ib_wc *wc);
int svcrdma_poll_begin(struct svcrdma_transport *t, u32 size);
void svcrdma_poll_stop(struct svcrdma_transport *t);
void svcrdma_poll_end(struct svcrdma_transport *t);
void svcrdma_poll(struct svcrdma_transport *t);
bool svcrdma_poll_arm(struct svcrdma_transport *t);

/* ccp.c */
bool svcrdma_config_answer(struct svc_rqst *rqstp);

/* recv_ctxt.c */
void svcrdma_recv_setup(struct svcrdma_transport *t);
int svcrdma_recv_ctxts_alloc(struct svcrdma_transport *t, u32 count, gfp_t gfp,
			     struct list_head *list);
void svcrdma_recv_ctxts_add(struct svcrdma_transport *t, struct list_head *list, u32 target);
int svcrdma_recv_post_missing(struct svcrdma_transport *t);
u32 svcrdma_recv_used(const struct svcrdma_transport *t);
void svcrdma_recv_ctxts_destroy(struct svcrdma_transport *t);
void svcrdma_recv_ready(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
void svcrdma_recv_taken(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc, bool ready);
int svcrdma_recv_ctxt_many_chunks(const struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
void svcrdma_recv_ctxt_put(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
void svcrdma_release_ctxt(struct svc_xprt *xprt, void *ctxt);

#endif /* SVCRDMA_RECV_H */
