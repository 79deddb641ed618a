/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Messages to the client (sendto.c, send_ctxt.c). The contexts are in send_ctxt.h. */
#ifndef SVCRDMA_SEND_H
#define SVCRDMA_SEND_H

#include <linux/atomic.h>
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <linux/sunrpc/svc.h>

#include <rpcrdma/protocol.h>

struct svcrdma_recv_ctxt;
struct svcrdma_send_ctxt;
struct svcrdma_transport;

enum { SVCRDMA_MAX_UNSIGNALLED_ROW = 4 };	/* unsignalled Sends before a signalled one */

/**
 * struct svcrdma_sender - send_ctxt.c: the Send contexts of a connection
 * @free: Send contexts that are not in use; any thread or handler adds, the holder of @lock takes
 * @lock: lock that guards @all, and removal from @free
 * @all: list of all Send contexts, by sc_all
 * @unsignalled: Send contexts whose unsignalled Sends are posted. A signalled Send that exposes
 *	nothing, or a probe, takes all of them before its post, and they become free when it is
 *	complete. Threads that send replies add
 * @nr_since_signal: approximate number of unsignalled Sends since the last signalled one, since
 *	threads that change it at the same time may overwrite each other's value. At most
 *	SVCRDMA_MAX_UNSIGNALLED_ROW
 */
struct svcrdma_sender {
	struct llist_head	free;
	spinlock_t		lock;	/* see above */
	struct list_head	all;
	struct llist_head	unsignalled;
	u32			nr_since_signal;
};

/* sendto.c */
int svcrdma_sendto(struct svc_rqst *rqstp);
int svcrdma_result_payload(struct svc_rqst *rqstp, unsigned int offset,
			   unsigned int length);
void svcrdma_error_send(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
			enum rpcrdma_errcode error);

/* send_ctxt.c */
void svcrdma_send_setup(struct svcrdma_transport *t);
void svcrdma_send_ctxts_destroy(struct svcrdma_transport *t);
struct svcrdma_send_ctxt *svcrdma_send_ctxt_get(struct svcrdma_transport *t, gfp_t gfp);
void svcrdma_send_ctxt_clear(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc);
void svcrdma_send_ctxt_put(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc);
int svcrdma_send_message(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc);
int svcrdma_send_reply(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc);
void svcrdma_send_probe(struct svcrdma_transport *t);

#endif /* SVCRDMA_SEND_H */
