/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Receives and their messages (recvfrom.c, recv_ctxt.c). The contexts are in recv_ctxt.h. */
#ifndef SVCRDMA_RECV_H
#define SVCRDMA_RECV_H

#include <linux/atomic.h>
#include <linux/llist.h>
#include <linux/workqueue.h>
#include <linux/sunrpc/svc.h>
#include <rdma/ib_verbs.h>

struct svcrdma_recv_ctxt;
struct svcrdma_transport;

enum { SVCRDMA_MAX_UNEXPECTED = 1024 };	/* unexpected messages in a row without a good call */

/**
 * struct svcrdma_receiver - recv_ctxt.c, recvfrom.c: the Receive contexts of a connection
 *
 * The completion handlers do not take st_recv_lock for each message, but once for a batch.
 *
 * Members of the completion handlers, of which one runs at a time; exceptions are mentioned:
 * @ready: contexts for nfsd, the last one first: with a message that nobody has looked at, or with
 *	a call whose Reads are complete. Any context adds; the thread that has XPT_BUSY takes
 * @gone: number of Receives that @posted still counts but that are complete; less than a batch
 * @used: number of contexts that are neither posted nor spare, since the message in them is not
 *	done with. Any context changes it
 *
 * Members of the thread that has XPT_BUSY:
 * @taken: contexts that were taken from @ready, the first one first
 * @retried: whether the last piece of work was a call that had waited for regions or pages
 *
 * Members to which any context adds, and from which the holder of st_recv_lock takes:
 * @spare: contexts that are ready to be posted
 * @starved: whether there were too few contexts in @spare. While this is set, the function that
 *	adds a context also posts it; see spare_take()
 *
 * Members under st_recv_lock:
 * @all: list of all contexts, by rc_all
 * @posted: number of Receives that are posted, including those that @gone counts
 * @target: number of Receives that are to be posted; while there are spare contexts, fewer than a
 *	batch of them are missing
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
	u32			posted;
	u32			target;
};

/**
 * struct svcrdma_poller - recvfrom.c: polling of the Receive completion queue
 * @by_worker: whether @work polls the queue. Set from the teardown on, or from the beginning where
 *	nfsd never polls, until the queue is about to be destroyed
 * @work: work item that polls the queue
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
void svcrdma_recv_ctxts_destroy(struct svcrdma_transport *t);
void svcrdma_recv_ready(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
void svcrdma_recv_taken(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc, bool ready);
int svcrdma_recv_ctxt_many_chunks(const struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
void svcrdma_recv_ctxt_put(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
void svcrdma_release_ctxt(struct svc_xprt *xprt, void *ctxt);

#endif /* SVCRDMA_RECV_H */
