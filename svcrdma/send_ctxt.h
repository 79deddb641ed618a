/* SPDX-License-Identifier: GPL-2.0 */
/* A Send context: a Send buffer, and what its Send holds on to */
#ifndef SVCRDMA_SEND_CTXT_H
#define SVCRDMA_SEND_CTXT_H

#include <linux/llist.h>
#include <rdma/ib_verbs.h>

#include <common/verbs.h>

#include "rw.h"
#include "sq.h"

struct svcrdma_exposed;
struct svcrdma_long_call;
struct svcrdma_transport;

/**
 * struct svcrdma_send_ctxt - a Send buffer and what its Send holds on to
 *
 * Owned by the free list, by the thread that builds a message, by st_sq.waiters, by the
 * HCA from post to completion (of a Send behind it, if its own is unsignalled), or by the
 * release list.
 *
 * @sc_node: entry of st_send.free, st_send.unsignalled, @sc_prior_sends or st_send.release
 * @sc_all: entry of st_send.all, under its lock
 * @sc_transport: constant
 * @sc_extra: there are enough without it: it is freed after its use. Constant
 * @sc_cqe: Send completion
 * @sc_wr: the Send; the Writes are chained before it. Signalled, but from the post of an
 *	unsignalled one until a Send behind it is complete
 * @sc_buffer: for the message, which its bf_sge is
 * @sc_writes: this reply's Writes
 * @sc_write_wrs: work requests of @sc_writes
 * @sc_written: bytes of @sc_writes
 * @sc_prior_sends: unsignalled ones that were posted ahead of it, and are complete when it is
 * @sc_sq: waits for Send Queue entries
 * @sc_exposed: the reply that this Send tells the client to pull; until it is posted
 * @sc_long: what this Send, a callback, exposes; until it is posted
 * @sc_regions: memory regions of @sc_exposed or @sc_long, registered with the Send
 * @sc_sq_held: Send Queue entries taken, given back when the context is put
 * @sc_nr_pages: entries of @sc_pages, each a reference
 * @sc_pages: source of the Writes; NULL until there is one, then an array of st_max_pages
 */
struct svcrdma_send_ctxt {
	struct llist_node	sc_node;
	struct list_head	sc_all;
	struct svcrdma_transport *sc_transport;
	bool			sc_extra;
	struct ib_cqe		sc_cqe;
	struct ib_send_wr	sc_wr;
	struct rpcrdma_buffer	sc_buffer;
	struct svcrdma_rws	sc_writes;
	u32			sc_write_wrs;
	u32			sc_written;
	struct llist_node	*sc_prior_sends;
	struct svcrdma_sq_waiter sc_sq;
	struct svcrdma_exposed	*sc_exposed;
	struct svcrdma_long_call *sc_long;
	u32			sc_regions;
	u32			sc_sq_held;
	u32			sc_nr_pages;
	struct page		**sc_pages;
};

/* Send Queue entries that it needs. Each region has two: it is registered, and invalidated. */
static inline u32 svcrdma_send_entries(const struct svcrdma_send_ctxt *sc)
{
	return sc->sc_write_wrs + 2 * sc->sc_regions + 1;
}

void svcrdma_trace_sent(const struct svcrdma_transport *t, const struct svcrdma_send_ctxt *sc);

#endif /* SVCRDMA_SEND_CTXT_H */
