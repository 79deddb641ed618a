// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Replies that the client pulls: responder-provided Read chunks, for clients that have announced
 * that they take them. See Documentation/reliable-reply.rst.
 *
 * Operation. A reply that fits neither inline nor in the Reply chunk gets a slot in the table of
 * exposed replies. The bytes of the reply, and no other memory, are registered for remote read. The
 * registrations are posted in front of the Send of an RDMA_NOMSG, whose Position Zero Read chunk
 * names the registered memory. The exposure ends when RDMA_DONE comes, or when its time is over: a
 * LOCAL_INV for each region is posted, and when the last one is complete, memory is unmapped and
 * pages are freed. An RDMA_DONE does not prove that no Read is being served any more; only our own
 * invalidation does, or the end of the queue pair.
 *
 * The owner of a struct svcrdma_exposed is that of its exposure (region.c). The table owns it while
 * the exposure is armed, and then the thread that took it out of the table.
 *
 * Bounds: st_expose.table limits the replies and bytes of the connection, svcrdma_exposed_bytes the
 * bytes of the whole server.
 */
#include <linux/slab.h>

#include "rw.h"
#include "send_ctxt.h"
#include "svcrdma.h"
#include "sysctl.h"
#include "trace.h"

enum { MAX_EXPOSED = 16 << 20 };	/* most bytes that one connection may expose */

/* Bytes of memory that the exposed replies of all connections keep */
static atomic_long_t svcrdma_exposed_bytes;

/**
 * struct svcrdma_exposed - one exposed reply
 * @ex_exposure: exposure of the reply, which is FENCING after it was taken out of the table
 * @ex_xid: XID of the reply
 * @ex_length: number of bytes that are exposed
 * @ex_bytes: bytes of memory that the reply keeps, which st_expose.table and svcrdma_exposed_bytes
 *	count
 * @ex_slot: index of the slot in st_expose.table that this struct owns
 * @ex_nr_pages: number of entries of @ex_pages, each a reference
 * @ex_pages: pages of the reply
 * @ex_max_runs: number of entries of @ex_runs
 * @ex_runs: scatterlist of the reply's bytes
 */
struct svcrdma_exposed {
	struct svcrdma_exposure	ex_exposure;
	u32			ex_xid;
	u32			ex_length;
	u32			ex_bytes;
	int			ex_slot;
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

static void exposed_free(struct svcrdma_exposure *xs)
{
	struct svcrdma_transport *t = xs->xs_transport;
	struct svcrdma_exposed *ex = exposed_of(xs);

	while (ex->ex_nr_pages)
		put_page(ex->ex_pages[--ex->ex_nr_pages]);
	atomic_long_sub(ex->ex_bytes, &svcrdma_exposed_bytes);

	spin_lock(&t->st_expose_lock);
	rpcrdma_exposures_release(&t->st_expose.table, ex->ex_slot);
	spin_unlock(&t->st_expose_lock);
	kvfree(ex);
}

/* Return: the exposed reply that was just taken out of the table, in @slot; now FENCING. */
static struct svcrdma_exposed *exposed_taken(struct svcrdma_transport *t, int slot)
{
	struct svcrdma_exposed *ex = t->st_expose.table.slots[slot].owner;

	lockdep_assert_held(&t->st_expose_lock);
	svcrdma_exposure_advance(&ex->ex_exposure, SVCRDMA_EXPOSURE_FENCING);
	return ex;
}

/**
 * svcrdma_exposed_done - end an exposure after an RDMA_DONE: the client has pulled the reply
 * @t: transport
 * @xid: XID of the RDMA_DONE
 *
 * An RDMA_DONE for no exposed reply is dropped in silence (draft section 4.1.3), since it may come
 * too late. No client needs to send more of these than replies have expired and may be exposed at a
 * time; a client that does is disconnected.
 *
 * Context: process.
 */
void svcrdma_exposed_done(struct svcrdma_transport *t, u32 xid)
{
	struct svcrdma_exposed *ex = NULL;
	bool flood = false;
	int slot;

	spin_lock(&t->st_expose_lock);
	slot = rpcrdma_exposures_take(&t->st_expose.table, xid);
	if (slot < 0) {
		flood = ++t->st_expose.dones_unknown >
			t->st_expose.expired + t->st_expose.table.size;
	} else {
		ex = exposed_taken(t, slot);
		if (t->st_expose.dones_unknown)
			t->st_expose.dones_unknown--;
	}
	spin_unlock(&t->st_expose_lock);

	if (ex)
		this_cpu_add(t->st_counters->bytes_read, ex->ex_length);
	trace_svcrdma_reply_pulled(t, xid, ex ? 0 : -ENOENT);
	if (flood) {
		trace_svcrdma_bad_done(t, xid, -EDQUOT);
		svcrdma_transport_close(t, RPCRDMA_END_BAD_MESSAGE);
	}
	if (ex)
		svcrdma_exposure_fence(&ex->ex_exposure);
}

/**
 * svcrdma_expose_watch - have the expose work look at exposures soon
 * @t: transport
 *
 * Context: any.
 */
void svcrdma_expose_watch(struct svcrdma_transport *t)
{
	unsigned long period = READ_ONCE(svcrdma_expose_timeout) * HZ / 4 + 1;

	/* At most a second, since the administrator may lower the timeout meanwhile. */
	queue_delayed_work(svcrdma_release_wq, &t->st_expose.work,
			   min_t(unsigned long, period, HZ));
}

/* End exposures whose time is over, and the connection if LOCAL_INVs take too long. */
static void expose_work(struct work_struct *work)
{
	struct svcrdma_transport *t =
		container_of(work, struct svcrdma_transport, st_expose.work.work);
	struct svcrdma_exposed *ex;
	bool waiting = false;
	int slot;

	do {
		ex = NULL;
		spin_lock(&t->st_expose_lock);
		slot = rpcrdma_exposures_take_expired(&t->st_expose.table, get_jiffies_64());
		if (slot >= 0) {
			ex = exposed_taken(t, slot);
			t->st_expose.expired++;
		}
		spin_unlock(&t->st_expose_lock);
		if (ex) {
			this_cpu_inc(svcrdma_stats.exposed_expired);
			trace_svcrdma_expose_expired(t, ex->ex_xid, 0);
			svcrdma_exposure_fence(&ex->ex_exposure);
		}
	} while (ex);
	if (svcrdma_exposures_stuck(t, &waiting)) {
		trace_svcrdma_sq_timeout(t, -ETIMEDOUT);
		svcrdma_transport_close(t, RPCRDMA_END_STALLED);
	}
	if (waiting && !READ_ONCE(t->st_closing))
		svcrdma_expose_watch(t);
}

/* ---- the beginning ---- */

/**
 * svcrdma_expose_limit - number of replies that may be exposed at a time
 * @t: transport
 *
 * The limit follows the grant: st_grant is larger before any call can use the new credits.
 *
 * Context: any.
 */
u32 svcrdma_expose_limit(const struct svcrdma_transport *t)
{
	return READ_ONCE(t->st_grant) + t->st_spare_exposures;
}

/* From now on an RDMA_DONE finds the reply by its XID. */
static void exposed_posted(struct svcrdma_exposure *xs)
{
	u64 expires = get_jiffies_64() + READ_ONCE(svcrdma_expose_timeout) * HZ;
	struct svcrdma_transport *t = xs->xs_transport;
	struct svcrdma_exposed *ex = exposed_of(xs);

	rpcrdma_exposures_arm(&t->st_expose.table, ex->ex_slot, expires);
	this_cpu_inc(svcrdma_stats.exposed);
	trace_svcrdma_reply_exposed(t, ex->ex_xid, ex->ex_length);
}

static const struct svcrdma_exposure_ops exposed_ops = {
	.posted	= exposed_posted,
	.free	= exposed_free,
};

/* Put @ex into the table and count its bytes. Return: false: neither was done. */
static bool exposed_claim(struct svcrdma_transport *t, struct svcrdma_exposed *ex)
{
	unsigned long limit = READ_ONCE(svcrdma_max_exposed_bytes);

	if (atomic_long_add_return(ex->ex_bytes, &svcrdma_exposed_bytes) > limit)
		goto out_sub;
	spin_lock(&t->st_expose_lock);
	ex->ex_slot = -1;
	if (t->st_expose.table.used < svcrdma_expose_limit(t))
		ex->ex_slot = rpcrdma_exposures_claim(&t->st_expose.table, ex->ex_xid,
						      ex->ex_bytes);
	if (ex->ex_slot >= 0) {
		t->st_expose.table.slots[ex->ex_slot].owner = ex;
		svcrdma_exposure_init(&ex->ex_exposure, t, &exposed_ops);
	}
	spin_unlock(&t->st_expose_lock);
	if (ex->ex_slot >= 0)
		return true;
out_sub:
	atomic_long_sub(ex->ex_bytes, &svcrdma_exposed_bytes);
	return false;
}

/* Allocate for a reply of @pages pages; its runs may be more, for head and tail and at holes. */
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
 * svcrdma_expose - register a reply for the client to pull
 * @sc: Send context of the reply, which owns the exposure on success
 * @xid: XID of the reply
 * @stream: bytes of the reply, without those that went to Write chunks
 * @length: number of these bytes
 * @held: bytes of all pages that the reply keeps, whether they are used or not
 * @lists: lists that get the segments; a Position Zero Read chunk was begun
 *
 * Context: process.
 * Return: 0, or -EMSGSIZE: the reply exceeds the bounds, or memory is short.
 */
int svcrdma_expose(struct svcrdma_send_ctxt *sc, u32 xid, struct svcrdma_stream *stream,
		   u32 length, u32 held, struct rpcrdma_chunk_lists *lists)
{
	struct svcrdma_exposed *ex = exposed_alloc(held >> PAGE_SHIFT);
	struct svcrdma_transport *t = sc->sc_transport;

	if (!ex)
		goto out_refuse;
	ex->ex_xid = xid;
	ex->ex_length = length;
	ex->ex_bytes = held;
	if (!exposed_claim(t, ex)) {
		kvfree(ex);
		goto out_refuse;
	}
	if (svcrdma_grant_dones(t, READ_ONCE(t->st_expose.table.used)) ||
	    exposed_map(ex, stream, lists)) {
		svcrdma_exposure_free(&ex->ex_exposure);
		goto out_refuse;
	}
	sc->sc_exposure = &ex->ex_exposure;
	return 0;

out_refuse:
	this_cpu_inc(svcrdma_stats.exposed_refused);
	return -EMSGSIZE;
}

/**
 * svcrdma_exposed_take_pages - give the pages of a reply to the exposure
 * @xs: exposure of the reply
 * @pages: pages, whose references are not the caller's any more
 * @count: number of @pages
 *
 * Context: process.
 */
void svcrdma_exposed_take_pages(struct svcrdma_exposure *xs, struct page **pages, u32 count)
{
	struct svcrdma_exposed *ex = exposed_of(xs);

	memcpy(ex->ex_pages, pages, count * sizeof(*pages));
	ex->ex_nr_pages = count;
}

/* ---- the beginning and the end of a connection ---- */

/**
 * svcrdma_expose_setup - initialize the members for exposed replies
 * @t: new transport, in which these members are zero
 *
 * Context: any.
 */
void svcrdma_expose_setup(struct svcrdma_transport *t)
{
	INIT_DELAYED_WORK(&t->st_expose.work, expose_work);
}

/**
 * svcrdma_expose_stop - cancel the expose work, so that no exposure ends by time any more
 * @t: transport that is closing
 *
 * Context: process.
 */
void svcrdma_expose_stop(struct svcrdma_transport *t)
{
	cancel_delayed_work_sync(&t->st_expose.work);
}

/**
 * svcrdma_expose_init - allocate the table of exposed replies
 * @t: transport
 * @count: largest number of replies that may ever be exposed at a time; 0 if none may
 *
 * Context: process.
 * Return: 0 or -ENOMEM. svcrdma_expose_exit() frees the table.
 */
int svcrdma_expose_init(struct svcrdma_transport *t, u32 count)
{
	t->st_expose.table.size = count;
	if (!count)
		return 0;
	t->st_expose.table.slots = kcalloc(count, sizeof(*t->st_expose.table.slots), GFP_KERNEL);
	if (!t->st_expose.table.slots)
		return -ENOMEM;
	t->st_expose.table.max_bytes = MAX_EXPOSED;
	return 0;
}

/**
 * svcrdma_expose_exit - free the table of exposed replies
 * @t: transport without exposed replies, and whose table may never have been allocated
 *
 * Context: process.
 */
void svcrdma_expose_exit(struct svcrdma_transport *t)
{
	kfree(t->st_expose.table.slots);
}
