/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* A Send context: a Send buffer, and the memory that its Send and Writes use */
#ifndef SVCRDMA_SEND_CTXT_H
#define SVCRDMA_SEND_CTXT_H

#include <linux/llist.h>
#include <rdma/ib_verbs.h>

#include <common/verbs.h>

#include "expose.h"
#include "rw.h"
#include "sq.h"

struct svcrdma_transport;

/**
 * struct svcrdma_send_ctxt - a Send buffer, and the memory that its Send and Writes use
 *
 * The owner of a context is the free list, the thread that builds a message, st_sq.waiters, or the
 * HCA from the post to the completion. If the context's own Send is unsignalled, this is the
 * completion of a later Send.
 *
 * @sc_node: entry of st_send.free, st_send.unsignalled or @sc_prior_sends
 * @sc_all: entry of st_send.all, under st_send.lock
 * @sc_transport: connection of the context; constant
 * @sc_cqe: completion of the Send
 * @sc_wr: work request of the Send; the Writes are chained before it. It is always set to be
 *	signalled, except from before the post of an unsignalled Send until that is known to be
 *	complete
 * @sc_buffer: buffer for the message; the length of its bf_sge is that of the message
 * @sc_writes: Writes of the reply
 * @sc_write_wrs: number of work requests of @sc_writes
 * @sc_written: number of bytes that @sc_writes transfer
 * @sc_prior_sends: contexts whose unsignalled Sends were posted before this Send. Their Sends are
 *	complete when this one is
 * @sc_sq: waiter for Send Queue entries
 * @sc_exposure: exposure of the reply that this Send tells the client to pull, or of the callback
 *	whose message this Send is, until the Send is posted; or NULL
 * @sc_sq_held: number of Send Queue entries that are given back when the context is put
 * @sc_nr_pages: number of entries of @sc_pages that hold a page, each a reference
 * @sc_pages: pages from which the Writes are made, unless an exposure has them: an array of
 *	st_max_pages entries, or NULL before the context's first Write
 */
struct svcrdma_send_ctxt {
	struct llist_node	sc_node;
	struct list_head	sc_all;
	struct svcrdma_transport *sc_transport;
	struct ib_cqe		sc_cqe;
	struct ib_send_wr	sc_wr;
	struct rpcrdma_buffer	sc_buffer;
	struct svcrdma_rws	sc_writes;
	u32			sc_write_wrs;
	u32			sc_written;
	struct llist_node	*sc_prior_sends;
	struct svcrdma_sq_waiter sc_sq;
	struct svcrdma_exposure	*sc_exposure;
	u32			sc_sq_held;
	u32			sc_nr_pages;
	struct page		**sc_pages;
};

/* Number of memory regions that are registered with the Send */
static inline u32 svcrdma_send_regions(const struct svcrdma_send_ctxt *sc)
{
	return sc->sc_exposure ? sc->sc_exposure->xs_nr_regions : 0;
}

/* Send Queue entries that a context needs. A region needs two: to be registered and invalidated. */
static inline u32 svcrdma_send_entries(const struct svcrdma_send_ctxt *sc)
{
	return sc->sc_write_wrs + 2 * svcrdma_send_regions(sc) + 1;
}

void svcrdma_trace_sent(const struct svcrdma_transport *t, const struct svcrdma_send_ctxt *sc);

#endif /* SVCRDMA_SEND_CTXT_H */
