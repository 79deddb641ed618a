// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Calls with Read chunks, from their header until all their data has been read. No thread waits for
 * a client.
 *
 * The counters and the list in this table are members of st_read.
 *
 * state     owner                     counted in    goes on
 * NONE      the CQ handler or a       -             to WAITING or BUILDING; or the call is
 *           thread                                  malformed, or exceeds the credits
 * WAITING   st_read.wait              calls;        to BUILDING: st_read.retry is set, it is the
 *                                     perhaps pages first, and there are pages for it
 * BUILDING  the CQ handler or a       calls, pages, to READING: all Reads have regions; to
 *           thread                    built         WAITING: some have none; to REFUSED: they can
 *                                                   never be done; or, after another error, stays
 *                                                   until the transport is freed
 * READING   the HCA, or               calls, pages, to DONE: read_done(); or stays until the
 *           st_sq.waiters             built         transport is freed
 * DONE,     st_recv.ready             calls, pages  to NONE: svcrdma_reads_end(), by a thread that
 * REFUSED                                           gives it to nfsd, or answers ERR_CHUNK
 *
 * st_read.retry says that an attempt for the first call in st_read.wait may succeed now. It is set
 * in four cases: a call leaves READING or is refused, which gives regions back; a thread has taken
 * a call that is DONE or REFUSED, which gives pages back; the attempt for a call that has waited
 * succeeds; or a call goes back to WAITING while no other call has regions, since the last other
 * call may have given regions back during the attempt.
 *
 * Some Reads need more regions than the device has. An attempt that began when st_read.built was 0,
 * and during which no other began (st_read.alone still is its context), had all regions to itself.
 * If these were too few, another attempt would fail as well, and the call is refused.
 *
 * The context owns the pages from BUILDING on; later the svc_rqst owns them, like all its pages.
 * If read_submit() returns 0, it has called read_done(), or exactly one call of read_wc() follows
 * unless the connection ends before; after read_wc() there may be one call of verify_wc() of
 * rxe.c. If read_submit() returns a negative errno, none of these calls follows. In both cases the
 * context is not the caller's any more.
 */
#include <linux/sched/mm.h>

#include "recv_ctxt.h"
#include "svcrdma.h"
#include "sysctl.h"
#include "trace.h"

/* The states that may follow each state, as in the table above. */
static const u8 next_states[] = {
	[SVCRDMA_READ_NONE]	= BIT(SVCRDMA_READ_WAITING) | BIT(SVCRDMA_READ_BUILDING),
	[SVCRDMA_READ_WAITING]	= BIT(SVCRDMA_READ_BUILDING),
	[SVCRDMA_READ_BUILDING]	= BIT(SVCRDMA_READ_WAITING) | BIT(SVCRDMA_READ_READING) |
				  BIT(SVCRDMA_READ_REFUSED),
	[SVCRDMA_READ_READING]	= BIT(SVCRDMA_READ_DONE),
	[SVCRDMA_READ_DONE]	= BIT(SVCRDMA_READ_NONE),
	[SVCRDMA_READ_REFUSED]	= BIT(SVCRDMA_READ_NONE),
};

/* Change the state of the Reads of a call, which the caller owns. */
static void set_state(struct svcrdma_recv_ctxt *rc, enum svcrdma_read_state state)
{
	WARN_ON_ONCE(!(next_states[rc->rc_read_state] & BIT(state)));
	rc->rc_read_state = state;
}

/*
 * RFC 8166 section 4.2.4: the RPC call of an RDMA_NOMSG is in a Position Zero Read chunk; the RPC
 * call of an RDMA_MSG is not.
 */
static bool base_is_right(const struct svcrdma_recv_ctxt *rc)
{
	bool zero = rpcrdma_position_zero_chunk(&rc->rc_lists);

	return rc->rc_header.proc == RPCRDMA_NOMSG ? zero : !zero;
}

/*
 * Check that the Read list fits the message and needs no more than @limit bytes of pages, and set
 * rc_stream_length to the number of bytes that it needs.
 */
static int plan_reads(struct svcrdma_recv_ctxt *rc, u32 limit)
{
	/* Number of bytes that stay in the Receive buffer, as the head of rq_arg */
	u32 head = svcrdma_recv_is_simple(rc) ? rc->rc_lists.chunks[0].position : 0;
	u32 size;

	if (!base_is_right(rc))
		return -EINVAL;
	/* @limit is for the pages only. A head comes on top, if the message has so many bytes. */
	if (!rpcrdma_pieces_measure(&rc->rc_lists, rc->rc_inline_size,
				    limit + min(head, rc->rc_byte_len), &size) ||
	    (head ?: size) < SVCRDMA_CALL_HEADER_MIN)
		return -EINVAL;
	rc->rc_stream_length = size - head;
	return 0;
}

/*
 * May the call have its pages? If only credits limited this, a client that is not authenticated yet
 * could pin the pages of a whole payload for each credit. A call that waits for regions has its
 * pages already. When no call has pages, a call may have them whatever its size.
 */
static bool reserve_pages(struct svcrdma_transport *t, const struct svcrdma_recv_ctxt *rc)
{
	u32 pages = svcrdma_sink_pages(rc);

	lockdep_assert_held(&t->st_recv_lock);

	if (rc->rc_nr_pages)
		return true;
	if (t->st_read.pages && t->st_read.pages + pages > SVCRDMA_MAX_READ_CALLS * t->st_max_pages)
		return false;
	t->st_read.pages += pages;
	return true;
}

/* Update st_read.pending after a change of st_read.retry or st_read.wait. */
static void set_pending(struct svcrdma_transport *t)
{
	lockdep_assert_held(&t->st_recv_lock);
	WRITE_ONCE(t->st_read.pending, t->st_read.retry && !list_empty(&t->st_read.wait));
}

/* Does any call wait? A call that has waited and tries once more counts as one that waits. */
static bool others_wait(const struct svcrdma_transport *t)
{
	lockdep_assert_held(&t->st_recv_lock);
	return t->st_read.retries || !list_empty(&t->st_read.wait);
}

/* A result of begin_reads() and start_reads(): the call waits, or would have to wait. */
enum { READS_WAIT = 1 };

static void begin_attempt(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	lockdep_assert_held(&t->st_recv_lock);
	t->st_read.alone = t->st_read.built++ ? NULL : rc;
	set_state(rc, SVCRDMA_READ_BUILDING);
}

/*
 * Begin the first attempt of a call, or let it wait. A call whose Reads are not done has not been
 * answered, so a client may have no more such calls than it has credits (RFC 8166 section 3.3.1),
 * even if it gives up calls and sends them again. A client that has more would use memory before it
 * is authenticated, and is disconnected.
 *
 * Calls that nfsd has are not counted. There are no more of these than threads, and a client may
 * give up such a call and use its credit again. When a client gives up a call whose Reads are not
 * done, the Reads fail, and the connection ends.
 *
 * Return: 0: the caller calls start_reads(). READS_WAIT: other calls wait already, or there are no
 * pages for this one; if @may_wait is true, the context was put at the end of st_read.wait, else
 * nothing was done. -EDQUOT: the call exceeds the credits.
 */
static int begin_reads(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc, bool may_wait)
{
	int ret = READS_WAIT;

	spin_lock(&t->st_recv_lock);
	if (t->st_read.calls >= t->st_credits) {
		ret = -EDQUOT;
	} else if (!others_wait(t) && reserve_pages(t, rc)) {
		t->st_read.calls++;
		begin_attempt(t, rc);
		ret = 0;
	} else if (may_wait) {
		t->st_read.calls++;
		set_state(rc, SVCRDMA_READ_WAITING);
		list_add_tail(&rc->rc_list, &t->st_read.wait);
		set_pending(t);
	}
	spin_unlock(&t->st_recv_lock);
	return ret;
}

static int add_all_pieces(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	struct rpcrdma_pieces walk;
	struct rpcrdma_piece piece;
	int ret = 0;

	svcrdma_recv_pieces(&walk, rc);
	while (!ret && rpcrdma_pieces_next(&walk, &piece) > 0)
		if (piece.chunk)
			ret = svcrdma_read_add(t, rc, piece.chunk, piece.from, piece.length,
					       piece.to);
	return ret;
}

/*
 * Build all Reads of a call, or none. Return: 0; -EAGAIN: there are no memory regions left; -E2BIG:
 * the Reads need more entries than the Send Queue has; or another negative errno.
 */
static int build_reads(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	int ret;

	rc->rc_sq.sw_need = svcrdma_rxe_set_sentinel(t, rc);
	if (svcrdma_recv_is_simple(rc))
		ret = svcrdma_read_add(t, rc, &rc->rc_lists.chunks[0], 0,
				       rc->rc_lists.chunks[0].length, 0);
	else
		ret = add_all_pieces(t, rc);
	if (!ret && rc->rc_sq.sw_need > t->st_sq_depth)
		ret = -E2BIG;
	if (ret)
		svcrdma_rws_free(t, &rc->rc_reads, DMA_FROM_DEVICE);
	return ret;
}

/*
 * Put a call that got too few regions at the front of st_read.wait, where it waits until another
 * call gives regions back. If no other call has regions, the last one may have given them back just
 * now, so another attempt is made at once. Return: READS_WAIT; or -EAGAIN: no other call has had a
 * region since this attempt began. Then the call needs more regions than there are.
 */
static int wait_for_regions(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	bool retry;

	spin_lock(&t->st_recv_lock);
	if (t->st_read.alone == rc) {
		spin_unlock(&t->st_recv_lock);
		return -EAGAIN;
	}
	t->st_read.built--;
	set_state(rc, SVCRDMA_READ_WAITING);
	list_add(&rc->rc_list, &t->st_read.wait);
	if (!t->st_read.built)
		t->st_read.retry = true;
	retry = t->st_read.retry;
	set_pending(t);
	spin_unlock(&t->st_recv_lock);

	trace_svcrdma_read_retry(t, 0);
	if (retry)
		svcrdma_transport_data(t);
	return READS_WAIT;
}

/* Set the state DONE or REFUSED, and queue the call for a thread, which goes on with it. */
static void read_done(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
		      enum svcrdma_read_state state)
{
	set_state(rc, state);
	svcrdma_rws_free(t, &rc->rc_reads, DMA_FROM_DEVICE);
	spin_lock(&t->st_recv_lock);
	t->st_read.built--;
	t->st_read.retry = true;
	set_pending(t);
	spin_unlock(&t->st_recv_lock);
	svcrdma_recv_ready(t, rc);
	svcrdma_transport_data(t);
}

/**
 * svcrdma_reads_setup - initialize the members for calls with Read chunks
 * @t: new transport, in which these members are zero
 *
 * Context: any.
 */
void svcrdma_reads_setup(struct svcrdma_transport *t)
{
	INIT_LIST_HEAD(&t->st_read.wait);
}

/**
 * svcrdma_reads_show - show how many calls wait for their Reads to begin, for debugfs.c
 * @seq: file that is written
 * @t: transport
 *
 * Context: process.
 */
void svcrdma_reads_show(struct seq_file *seq, struct svcrdma_transport *t)
{
	u32 short_of_regions = 0, short_of_pages = 0;
	const struct svcrdma_recv_ctxt *rc;

	spin_lock(&t->st_recv_lock);
	list_for_each_entry(rc, &t->st_read.wait, rc_list)
		if (rc->rc_nr_pages)
			short_of_regions++;
		else
			short_of_pages++;
	spin_unlock(&t->st_recv_lock);
	rpcrdma_show_number(seq, "waiting_for_region", short_of_regions);
	rpcrdma_show_number(seq, "waiting_for_pages", short_of_pages);
}

static void count_read(struct svcrdma_transport *t, const struct svcrdma_recv_ctxt *rc)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < rc->rc_lists.nr_read; i++)
		bytes += rc->rc_lists.chunks[i].length;
	this_cpu_add(t->st_counters->bytes_read, bytes);
}

/**
 * svcrdma_reads_verified - go on with a call whose Read chunks have all been read
 * @t: transport
 * @rc: context; not the caller's any more
 *
 * Context: completion handler on a work queue.
 */
void svcrdma_reads_verified(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	u32 need = rc->rc_sq.sw_need;

	count_read(t, rc);
	read_done(t, rc, SVCRDMA_READ_DONE);
	svcrdma_sq_put(t, need);
}

/* Completion of a call's last Read. If the Read has failed, the teardown frees the context. */
static void read_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_recv_ctxt *rc =
		container_of(wc->wr_cqe, struct svcrdma_recv_ctxt, rc_read_cqe);
	struct svcrdma_transport *t = rc->rc_transport;

	if (wc->status != IB_WC_SUCCESS)
		svcrdma_wc_error(t, "read", RPCRDMA_END_SEND_FAILED, wc);
	else if (svcrdma_rxe_verify(t, rc))
		svcrdma_reads_verified(t, rc);
}

/* Post a call's Reads, which have their Send Queue entries. Context: any. */
static void read_granted(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter)
{
	struct svcrdma_recv_ctxt *rc =
		container_of(waiter, struct svcrdma_recv_ctxt, rc_sq);
	struct ib_send_wr *first;
	int ret;

	first = svcrdma_rws_chain(t, &rc->rc_reads, &rc->rc_read_cqe, NULL);
	this_cpu_inc(svcrdma_stats.read);
	ret = ib_post_send(t->st_qp, first, NULL);
	/* A part of the chain may have been posted, so the context is left for the teardown. */
	if (ret) {
		trace_svcrdma_post_read_err(t, ret);
		svcrdma_transport_close(t, RPCRDMA_END_SEND_FAILED);
	}
}

/* Post a call's Reads now, or let them wait for Send Queue entries; this does not sleep. */
static int read_submit(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	int ret;

	set_state(rc, SVCRDMA_READ_READING);
	rc->rc_read_cqe.done = read_wc;
	rc->rc_sq.sw_granted = read_granted;
	/* There is no Read if all chunks of the call are empty. */
	if (list_empty(&rc->rc_reads.list)) {
		read_done(t, rc, SVCRDMA_READ_DONE);
		return 0;
	}
	ret = svcrdma_sq_reserve(t, &rc->rc_sq);
	if (ret == -EINPROGRESS)
		return 0;
	if (!ret)
		read_granted(t, &rc->rc_sq);
	return ret;
}

/*
 * Build and post the Reads of a call. If the device can never do them, the call becomes REFUSED,
 * and the thread that takes it from st_recv.ready answers ERR_CHUNK.
 *
 * Return: 0; READS_WAIT; or a negative errno: the connection is about to end, and the context stays
 * as it is until the teardown. The context is not the caller's any more in any case.
 */
static int start_reads(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	int ret;

	ret = build_reads(t, rc);
	if (ret == -EAGAIN)
		ret = wait_for_regions(t, rc);
	if (ret == READS_WAIT)
		return ret;
	if (ret == -EAGAIN || ret == -E2BIG) {
		read_done(t, rc, SVCRDMA_READ_REFUSED);
		return 0;
	}
	if (!ret)
		ret = read_submit(t, rc);
	if (ret < 0) {
		trace_svcrdma_read_build_err(t, ret);
		svcrdma_transport_close(t, RPCRDMA_END_OTHER);
	}
	return ret;
}

/**
 * svcrdma_reads_begin - check a call with Read chunks, and start its Reads
 * @rqstp: nfsd thread from which the call takes pages
 * @t: transport
 * @rc: context with the decoded header; not the caller's any more on success
 *
 * Context: process. Waits for no client.
 * Return: 0: recv_pop() returns @rc when it is DONE or REFUSED, unless the connection ends before.
 * -EINVAL or -EOPNOTSUPP: the call is to be answered with ERR_CHUNK. -EDQUOT: the call exceeds the
 * credits. -ENOMEM.
 */
int svcrdma_reads_begin(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			struct svcrdma_recv_ctxt *rc)
{
	int ret = plan_reads(rc, svcrdma_arg_page_limit(rqstp) << PAGE_SHIFT);

	if (ret)
		return ret;
	/* A client that allows no Reads in flight must not send Read chunks. */
	if (!t->st_read_depth)
		return -EOPNOTSUPP;
	ret = svcrdma_sink_reserve(rc);
	if (ret)
		return ret;
	ret = begin_reads(t, rc, true);
	if (ret)
		return ret < 0 ? ret : 0;
	svcrdma_sink_fill(rqstp, rc);
	start_reads(t, rc);
	return 0;
}

/*
 * Is a message a small call whose Reads can begin in the completion handler? Most calls with a Read
 * chunk are. All others are left to svcrdma_reads_begin(), which refuses those that are malformed,
 * and can let a call wait. The queue pair cannot send before the connection is ESTABLISHED.
 */
static bool is_small_call(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	/* Where call and reply share an array of pages, a call gets fewer than st_max_pages. */
	const u32 pages = min_t(u32, SVCRDMA_FEW_PAGES, t->st_max_pages - 3);

	return READ_ONCE(t->st_state) == RPCRDMA_CONN_ESTABLISHED && !READ_ONCE(t->st_closing) &&
	       rc->rc_header.direction == RPCRDMA_RPC_CALL && rc->rc_lists.nr_segments == 1 &&
	       rc->rc_lists.nr_read && !plan_reads(rc, pages << PAGE_SHIFT) &&
	       t->st_read_depth;
}

/**
 * svcrdma_reads_claim - start the Reads of a message at once, if it is a small call
 * @t: transport
 * @rc: context of the message, whose header has been decoded, and which the caller owns
 *
 * A call that would have to wait, or for which memory is short, is left to a thread. The Reads of a
 * small call take no pages from a thread.
 *
 * Context: completion handler. The allocations of rdma_rw must not wait for a file system or a
 * disk, which may wait for completions of the same work queue, or for a thread of this nfsd.
 * Return: true: @rc is not the caller's any more, as when svcrdma_reads_begin() returns 0. false: a
 * thread is to handle the message.
 */
bool svcrdma_reads_claim(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	unsigned int flags;

	if (!is_small_call(t, rc) || READ_ONCE(t->st_sq.congested) || !svcrdma_sink_alloc(rc) ||
	    begin_reads(t, rc, false))
		return false;
	svcrdma_sink_fill(NULL, rc);
	svcrdma_recv_taken(t, rc, false);
	flags = memalloc_noio_save();
	start_reads(t, rc);
	memalloc_noio_restore(flags);
	return true;
}

/**
 * svcrdma_reads_end - stop counting a call that is DONE or REFUSED, for the thread that has it
 * @t: transport
 * @rc: context, which stays the caller's
 *
 * Context: process.
 * Return: true: the call was DONE. false: it was REFUSED, and is to be answered with ERR_CHUNK.
 */
bool svcrdma_reads_end(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	bool more, done = rc->rc_read_state == SVCRDMA_READ_DONE;

	set_state(rc, SVCRDMA_READ_NONE);
	spin_lock(&t->st_recv_lock);
	t->st_read.calls--;
	t->st_read.pages -= rc->rc_nr_pages;
	more = !list_empty(&t->st_read.wait);
	if (unlikely(more)) {
		t->st_read.retry = true;
		set_pending(t);
	}
	spin_unlock(&t->st_recv_lock);
	if (unlikely(more))
		svcrdma_transport_data(t);
	return done;
}

/**
 * svcrdma_reads_next - take a call from st_read.wait whose Reads may succeed now
 * @t: transport
 *
 * Context: process.
 * Return: a context that the caller gives to svcrdma_reads_retry(), or NULL.
 */
struct svcrdma_recv_ctxt *svcrdma_reads_next(struct svcrdma_transport *t)
{
	struct svcrdma_recv_ctxt *rc = NULL;

	spin_lock(&t->st_recv_lock);
	/* svcrdma_reads_retry() sets st_read.retry again while the attempts succeed. */
	if (t->st_read.retry)
		rc = list_first_entry_or_null(&t->st_read.wait, struct svcrdma_recv_ctxt, rc_list);
	t->st_read.retry = false;
	/* If pages are short, svcrdma_reads_end() of another call gives some back. */
	if (rc && reserve_pages(t, rc)) {
		list_del_init(&rc->rc_list);
		t->st_read.retries++;
	} else {
		rc = NULL;
	}
	set_pending(t);
	spin_unlock(&t->st_recv_lock);
	return rc;
}

/**
 * svcrdma_reads_retry - try once more to build the Reads of a call, and start them
 * @rqstp: nfsd thread from which the call takes the pages that it lacks
 * @t: transport
 * @rc: context from svcrdma_reads_next(); not the caller's any more
 *
 * Context: process.
 */
void svcrdma_reads_retry(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			 struct svcrdma_recv_ctxt *rc)
{
	bool more, waits;

	spin_lock(&t->st_recv_lock);
	begin_attempt(t, rc);
	spin_unlock(&t->st_recv_lock);
	/* If the call waited for regions, and not for pages, it has all its pages already. */
	svcrdma_sink_fill(rqstp, rc);
	waits = start_reads(t, rc);

	spin_lock(&t->st_recv_lock);
	t->st_read.retries--;
	/* The next call is not tried if this one went back to the list, or the connection ends. */
	more = !waits && !list_empty(&t->st_read.wait);
	if (more)
		t->st_read.retry = true;
	set_pending(t);
	spin_unlock(&t->st_recv_lock);
	if (more)
		svcrdma_transport_data(t);
}

