/* SPDX-License-Identifier: GPL-2.0 */
/* Messages to the client: sendto.c, send_ctxt.c. The contexts: send_ctxt.h */
#ifndef SVCRDMA_SEND_H
#define SVCRDMA_SEND_H

#include <linux/atomic.h>
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/sunrpc/svc.h>

#include <rpcrdma/protocol.h>

struct svcrdma_recv_ctxt;
struct svcrdma_send_ctxt;
struct svcrdma_transport;

enum { SVCRDMA_MAX_UNSIGNALLED_ROW = 4 };	/* Sends without a completion, then one with it */

/**
 * struct svcrdma_sender - send_ctxt.c: send contexts
 * @free: those not in use; any context adds, the holder of @lock takes
 * @lock: guards the members up to @nr_kept
 * @all: all of them
 * @nr_kept: of these, that are kept when free: not sc_extra
 * @cache: of these, at most; constant
 * @unsignalled: posted, and free when a signalled Send behind them is complete. A reply, or a
 *	probe, takes them all before its post; any context adds
 * @nr_since_signal: unsignalled Sends since the last one that is signalled, roughly: threads that
 *	change it at the same time may miss each other. At most SVCRDMA_MAX_UNSIGNALLED_ROW
 * @release: those whose Writes are complete
 * @release_work: frees what they hold
 */
struct svcrdma_sender {
	struct llist_head	free;
	spinlock_t		lock;	/* see above */
	struct list_head	all;
	u32			nr_kept;
	u32			cache;
	struct llist_head	unsignalled;
	u32			nr_since_signal;
	struct llist_head	release;
	struct work_struct	release_work;
};

/* sendto.c */
int svcrdma_sendto(struct svc_rqst *rqstp);
int svcrdma_result_payload(struct svc_rqst *rqstp, unsigned int offset,
			   unsigned int length);
void svcrdma_error_send(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
			enum rpcrdma_errcode error);

/* send_ctxt.c */
void svcrdma_send_setup(struct svcrdma_transport *t);
void svcrdma_send_keep(struct svcrdma_transport *t, u32 count);
void svcrdma_send_flush(struct svcrdma_transport *t);
void svcrdma_send_ctxts_destroy(struct svcrdma_transport *t);
struct svcrdma_send_ctxt *svcrdma_send_ctxt_get(struct svcrdma_transport *t, gfp_t gfp);
int svcrdma_send_ctxt_reserve_pages(const struct svcrdma_transport *t,
				    struct svcrdma_send_ctxt *sc);
void svcrdma_send_ctxt_clear(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc);
void svcrdma_send_ctxt_put(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc);
int svcrdma_send_message(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc);
int svcrdma_send_reply(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc);
void svcrdma_send_probe(struct svcrdma_transport *t);

#endif /* SVCRDMA_SEND_H */
