// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Replies that the client pulls: responder-provided Read chunks, for clients that have announced
 * that they take them. See Documentation/reliable-reply.rst.
 *
 * Operation. A reply that fits neither inline nor in the Reply chunk gets an exposure. The bytes of
 * the reply, and no other memory, are registered for remote read. The registrations are posted in
 * front of the Send of an RDMA_NOMSG, whose Position Zero Read chunk names the registered memory.
 * The exposure ends when RDMA_DONE comes, or when its time is over: a LOCAL_INV for each region is
 * posted, and when the last one is complete, memory is unmapped and pages are freed. An RDMA_DONE
 * does not prove that no Read is being served any more; only our own invalidation does, or the end
 * of the queue pair.
 *
 * The owner of a struct svcrdma_exposed is that of its exposure (region.c): the list of exposures
 * while the exposure is ARMED, and then the context that has made it FENCING.
 *
 * Bounds: the number of a connection's exposed replies is limited, and so are st_expose.bytes, the
 * bytes of their memory, and svcrdma_exposed_bytes, those of the whole server.
 */
#include <linux/slab.h>

#include "rw.h"
#include "send_ctxt.h"
#include "svcrdma.h"
#include "sysctl.h"
#include "trace.h"

enum { MAX_EXPOSED = 16 << 20 };	/* most bytes of memory that a connection's replies keep */

/* Bytes of memory that the exposed replies of all connections keep */
static atomic_long_t svcrdma_exposed_bytes;

/**
 * struct svcrdma_exposed - one exposed reply
 * @ex_exposure: exposure of the reply
 * @ex_length: number of bytes that are exposed
 * @ex_bytes: bytes of memory that the reply keeps, which st_expose.bytes and svcrdma_exposed_bytes
 *	count
 * @ex_nr_pages: number of entries of @ex_pages, each a reference
 * @ex_pages: pages of the reply
 * @ex_max_runs: number of entries of @ex_runs
 * @ex_runs: scatterlist of the reply's bytes
 */
struct svcrdma_exposed {
	struct svcrdma_exposure	ex_exposure;
	u32			ex_length;
	u32			ex_bytes;
	u32			ex_nr_pages;
	struct page		**ex_pages;
	u32			ex_max_runs;
	struct scatterlist	ex_runs[];
};

static struct svcrdma_exposed *exposed_of(struct svcrdma_exposure *xs)
{
	return container_of(xs, struct svcrdma_exposed, ex_exposure);
}

/* ---- the end of an exposure ---- */

static void bytes_put(struct svcrdma_transport *t, const struct svcrdma_exposed *ex)
{
	atomic_long_sub(ex->ex_bytes, &t->st_expose.bytes);
	atomic_long_sub(ex->ex_bytes, &svcrdma_exposed_bytes);
}

static void exposed_free(struct svcrdma_exposure *xs)
{
	struct svcrdma_exposed *ex = exposed_of(xs);

	while (ex->ex_nr_pages)
		put_page(ex->ex_pages[--ex->ex_nr_pages]);
	bytes_put(xs->xs_transport, ex);
	kvfree(ex);
}

static void exposed_expired(struct svcrdma_exposure *xs)
{
	xs->xs_transport->st_expose.expired++;
	this_cpu_inc(svcrdma_stats.exposed_expired);
	trace_svcrdma_expose_expired(xs->xs_transport, xs->xs_xid, 0);
}

/* The exposure is ARMED, so an RDMA_DONE ends it from now on, or else its deadline does. */
static void exposed_posted(struct svcrdma_exposure *xs)
{
	xs->xs_deadline = get_jiffies_64() + READ_ONCE(svcrdma_expose_timeout) * HZ;
	this_cpu_inc(svcrdma_stats.exposed);
	trace_svcrdma_reply_exposed(xs->xs_transport, xs->xs_xid, exposed_of(xs)->ex_length);
}

static const struct svcrdma_exposure_ops exposed_ops = {
	.kind		= SVCRDMA_EXPOSED_REPLY,
	.posted		= exposed_posted,
	.expired	= exposed_expired,
	.free		= exposed_free,
};

/**
 * svcrdma_exposed_done - end an exposure after an RDMA_DONE: the client has pulled the reply
 * @t: transport
 * @xid: XID of the RDMA_DONE
 *
 * An RDMA_DONE for no exposed reply is dropped in silence (reliable-reply draft, section 4.1.3),
 * since it may come too late. A client has no reason to send more of these than the number of
 * replies that have expired plus the number that may be exposed at a time; a client that sends more
 * is disconnected.
 *
 * Context: process.
 */
void svcrdma_exposed_done(struct svcrdma_transport *t, u32 xid)
{
	u32 most = t->st_credits + t->st_spare_exposures;
	struct svcrdma_exposure *xs;
	bool flood = false;

	spin_lock(&t->st_expose_lock);
	xs = svcrdma_exposure_find(t, xid, SVCRDMA_EXPOSED_REPLY, SVCRDMA_EXPOSURE_ARMED);
	if (!xs) {
		flood = ++t->st_expose.dones_unknown > t->st_expose.expired + most;
	} else {
		svcrdma_exposure_advance(xs, SVCRDMA_EXPOSURE_FENCING);
		if (t->st_expose.dones_unknown)
			t->st_expose.dones_unknown--;
	}
	spin_unlock(&t->st_expose_lock);

	trace_svcrdma_reply_pulled(t, xid, xs ? 0 : -ENOENT);
	if (flood) {
		trace_svcrdma_bad_done(t, xid, -EDQUOT);
		svcrdma_transport_close(t, RPCRDMA_END_BAD_MESSAGE);
	}
	if (xs) {
		this_cpu_add(t->st_counters->bytes_read, exposed_of(xs)->ex_length);
		svcrdma_exposure_fence(xs);
	}
}

/* ---- the beginning ---- */

/*
 * Begin an exposure within the bounds. One reply for each credit may be exposed, and a few more;
 * st_grant is larger before any call can use new credits. Return: the number of exposed replies of
 * the connection, with this one; or 0: nothing was done.
 */
static u32 exposed_begin(struct svcrdma_transport *t, struct svcrdma_exposed *ex, u32 xid)
{
	long here = atomic_long_add_return(ex->ex_bytes, &t->st_expose.bytes);
	long all = atomic_long_add_return(ex->ex_bytes, &svcrdma_exposed_bytes);
	u32 exposed = 0;

	if (here <= MAX_EXPOSED && all <= READ_ONCE(svcrdma_max_exposed_bytes))
		exposed = svcrdma_exposure_begin(&ex->ex_exposure, t, xid, &exposed_ops,
						 READ_ONCE(t->st_grant) + t->st_spare_exposures);
	if (!exposed)
		bytes_put(t, ex);
	return exposed;
}

/*
 * Allocate an exposed reply of @pages pages. There may be more runs of bytes than pages, since head
 * and tail are runs of their own, and a hole divides a run.
 */
static struct svcrdma_exposed *exposed_alloc(u32 pages)
{
	u32 runs = pages + SVCRDMA_EXPOSED_SPARE_RUNS;
	struct svcrdma_exposed *ex;

	ex = kvzalloc(struct_size(ex, ex_runs, runs) + pages * sizeof(*ex->ex_pages), GFP_KERNEL);
	if (!ex)
		return NULL;
	ex->ex_max_runs = runs;
	ex->ex_pages = (struct page **)&ex->ex_runs[runs];
	return ex;
}

/* Make the next ex_length bytes of @stream ready to be registered, as one chunk. */
static int exposed_map(struct svcrdma_exposed *ex, struct svcrdma_stream *stream,
		       struct rpcrdma_chunk_lists *lists)
{
	u32 n, offset, runs = 0, left = ex->ex_length;
	struct page *page;

	sg_init_table(ex->ex_runs, ex->ex_max_runs);
	while (left) {
		n = svcrdma_stream_run(stream, left, &page, &offset);
		if (!n || runs == ex->ex_max_runs)
			return -EMSGSIZE;
		sg_set_page(&ex->ex_runs[runs++], page, n, offset);
		left -= n;
	}
	return svcrdma_exposure_map(&ex->ex_exposure, ex->ex_runs, runs, IB_ACCESS_REMOTE_READ,
				    lists);
}

/**
 * svcrdma_expose - make a reply ready to be registered, for the client to pull
 * @sc: Send context of the reply, which owns the exposure on success
 * @xid: XID of the reply
 * @stream: bytes of the reply, without those that went to Write chunks
 * @length: number of these bytes
 * @held: bytes of all pages that the reply keeps, whether they are used or not
 * @lists: lists that get the segments; a Position Zero Read chunk was begun
 *
 * Context: process.
 * Return: false: the reply exceeds the bounds, memory is short, or the connection ends.
 */
bool svcrdma_expose(struct svcrdma_send_ctxt *sc, u32 xid, struct svcrdma_stream *stream,
		    u32 length, u32 held, struct rpcrdma_chunk_lists *lists)
{
	struct svcrdma_exposed *ex = exposed_alloc(held >> PAGE_SHIFT);
	struct svcrdma_transport *t = sc->sc_transport;
	u32 exposed;

	if (!ex)
		goto out_refuse;
	ex->ex_length = length;
	ex->ex_bytes = held;
	exposed = exposed_begin(t, ex, xid);
	if (!exposed) {
		kvfree(ex);
		goto out_refuse;
	}
	if (svcrdma_grant_dones(t, exposed) || exposed_map(ex, stream, lists)) {
		svcrdma_exposure_free(&ex->ex_exposure);
		goto out_refuse;
	}
	sc->sc_exposure = &ex->ex_exposure;
	return true;

out_refuse:
	this_cpu_inc(svcrdma_stats.exposed_refused);
	return false;
}

/**
 * svcrdma_exposed_take_pages - move the pages of a reply to the exposure
 * @xs: exposure of the reply
 * @pages: pages, which are NULL afterwards
 * @count: number of @pages
 *
 * Context: process.
 */
void svcrdma_exposed_take_pages(struct svcrdma_exposure *xs, struct page **pages, u32 count)
{
	struct svcrdma_exposed *ex = exposed_of(xs);

	svcrdma_pages_move(ex->ex_pages, pages, count);
	ex->ex_nr_pages = count;
}
