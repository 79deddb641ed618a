// SPDX-License-Identifier: GPL-2.0
/*
 * Calls with Read chunks, until all of them is here. No thread waits for a client.
 *
 * What is counted, and where a call waits, are members of st_read.
 *
 * state     owner                     counted in    goes on
 * NONE      the CQ handler or a       -             to WAITING or BUILDING; or the call is wrong,
 *           thread                                  or one too many
 * WAITING   st_read.wait              calls;        to BUILDING: st_read.retry is set, it is the
 *                                     perhaps pages first, and there are pages for it
 * BUILDING  the CQ handler or a       calls, pages, to READING: all Reads have regions; to
 *           thread                    built         WAITING: some have none; to REFUSED
 * READING   the HCA, or               calls, pages, to DONE: read_done(); or stays until the
 *           st_sq.waiters             built         transport is freed
 * DONE,     st_recv.ready             calls, pages  to NONE: svcrdma_reads_end(), by a thread that
 * REFUSED                                           gives it to nfsd, or answers ERR_CHUNK
 *
 * st_read.retry says that the first in st_read.wait may have better luck. It is set when a
 * call leaves READING, which gives regions back, when a thread has one that is DONE, which gives
 * pages back, and when one goes back to WAITING while no other call has regions, since the last of
 * these may have given them back meanwhile.
 *
 * Can the device do it at all? An attempt that began when st_read.built was 0, and during which no
 * other began (st_read.attempts is its own number still), had all regions to itself. If these
 * were too few, they are too few another time as well, and the call is refused.
 *
 * Owner of the pages: the context from building on, then the svc_rqst, like any of its pages.
 * On return of 0 from read_submit(), exactly one call of read_wc() or of read_done()
 * follows, and behind the former perhaps one of verify_wc() of rxe.c, unless the connection ends
 * before. On < 0 none does. The context is not the caller's any more in both cases.
 */
#include <linux/sched/mm.h>

#include "recv_ctxt.h"
#include "svcrdma.h"
#include "sysctl.h"
#include "trace.h"

/* Which states may follow: the table above. */
static const u8 next_states[] = {
	[SVCRDMA_READ_NONE]	= BIT(SVCRDMA_READ_WAITING) | BIT(SVCRDMA_READ_BUILDING),
	[SVCRDMA_READ_WAITING]	= BIT(SVCRDMA_READ_BUILDING),
	[SVCRDMA_READ_BUILDING]	= BIT(SVCRDMA_READ_WAITING) | BIT(SVCRDMA_READ_READING) |
				  BIT(SVCRDMA_READ_REFUSED),
	[SVCRDMA_READ_READING]	= BIT(SVCRDMA_READ_DONE),
	[SVCRDMA_READ_DONE]	= BIT(SVCRDMA_READ_NONE),
	[SVCRDMA_READ_REFUSED]	= BIT(SVCRDMA_READ_NONE),
};

/* By the owner of @rc. */
static void set_state(struct svcrdma_recv_ctxt *rc, enum svcrdma_read_state state)
{
	WARN_ON_ONCE(!(next_states[rc->rc_read_state] & BIT(state)));
	rc->rc_read_state = state;
}

/*
 * RFC 8166 section 4.2.4: the call of an RDMA_NOMSG is in a Position Zero chunk;
 * that of an RDMA_MSG is not.
 */
static bool base_is_right(const struct svcrdma_recv_ctxt *rc)
{
	bool zero = rpcrdma_position_zero_chunk(&rc->rc_lists);

	return rc->rc_header.proc == RPCRDMA_NOMSG ? zero : !zero;
}

/*
 * Checks the Read list against the message and against @limit, bytes of pages, and
 * sets rc_stream_length, the bytes of pages that are needed.
 */
static int plan_reads(struct svcrdma_recv_ctxt *rc, u32 limit)
{
	/* What stays in the Receive buffer, as the head. */
	u32 head = svcrdma_recv_is_simple(rc) ? rc->rc_lists.chunks[0].position : 0;
	u32 size;

	if (!base_is_right(rc))
		return -EINVAL;
	/* A Position beyond the inline part is found out in any case. */
	if (!rpcrdma_pieces_measure(&rc->rc_lists, rc->rc_inline_size,
				    limit + min(head, rc->rc_byte_len), &size) ||
	    (head ?: size) < SVCRDMA_CALL_HEADER_MIN)
		return -EINVAL;
	rc->rc_stream_length = size - head;
	return 0;
}

/*
 * May the call have its pages? Credits alone would let a client that nobody knows yet pin
 * a whole payload for each. A call that waits for regions has its pages; and when no call
 * has any, one may begin whatever its size.
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

/* After each change of st_read.retry or st_read.wait: is there one for svcrdma_reads_next()? */
static void set_pending(struct svcrdma_transport *t)
{
	lockdep_assert_held(&t->st_recv_lock);
	WRITE_ONCE(t->st_read.pending, t->st_read.retry && !list_empty(&t->st_read.wait));
}

/* One that has waited is not passed while it tries once more, either. */
static bool others_wait(const struct svcrdma_transport *t)
{
	lockdep_assert_held(&t->st_recv_lock);
	return t->st_read.retries || !list_empty(&t->st_read.wait);
}

/* Of begin_reads() and start_reads(), beside 0 and errnos */
enum { READS_WAIT = 1 };

static void begin_attempt(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	lockdep_assert_held(&t->st_recv_lock);
	t->st_read.attempts = t->st_read.attempts + 1 ?: 1;
	rc->rc_read_attempt = t->st_read.built++ ? 0 : t->st_read.attempts;
	set_state(rc, SVCRDMA_READ_BUILDING);
}

/*
 * A call whose Reads are not done has not been answered: a client has no more of these
 * than it has credits (RFC 8166 section 3.3.1), however soon it sends again. One that
 * has more takes memory before anybody knows who it is, and is disconnected.
 *
 * Calls that nfsd has are not counted. There are no more than threads, and a client may
 * give such a call up and use its credit again. When it gives up one whose Reads are not
 * done, they fail, and the connection with them.
 *
 * 0: start_reads() is next; READS_WAIT: others wait already, or it gets no pages, and the
 * context was put behind them; -EDQUOT: it is one too many.
 */
static int begin_reads(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	int ret = 0;

	spin_lock(&t->st_recv_lock);
	if (t->st_read.calls >= t->st_credits) {
		ret = -EDQUOT;
		goto out_unlock;
	}
	t->st_read.calls++;
	if (others_wait(t) || !reserve_pages(t, rc)) {
		set_state(rc, SVCRDMA_READ_WAITING);
		list_add_tail(&rc->rc_list, &t->st_read.wait);
		set_pending(t);
		ret = READS_WAIT;
	} else {
		begin_attempt(t, rc);
	}
out_unlock:
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
 * All of the call's Reads, or none. -EAGAIN: there are no memory regions left. -E2BIG: the
 * Send Queue is not that deep.
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
	if (!ret && rc->rc_sq.sw_need > svcrdma_sq_depth(t))
		ret = -E2BIG;
	if (ret)
		svcrdma_rws_free(t, &rc->rc_reads, DMA_FROM_DEVICE);
	return ret;
}

/*
 * Waits in front of those that came later, until a Read ends, or the attempt of another
 * fails. When there is none of these left, it may have been the last, just now.
 * -EAGAIN: no other call had a region since this attempt began, as its number is still the
 * last number. More would not be there another time.
 */
static int wait_for_regions(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	bool retry;

	spin_lock(&t->st_recv_lock);
	if (rc->rc_read_attempt == t->st_read.attempts) {
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

/* It is DONE, or REFUSED: some thread can go on with the call. */
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
 * svcrdma_reads_setup - nothing is read yet
 * @t: all zeros
 *
 * Context: any.
 */
void svcrdma_reads_setup(struct svcrdma_transport *t)
{
	INIT_LIST_HEAD(&t->st_read.wait);
}

/**
 * svcrdma_reads_show - calls whose Reads cannot begin yet, for debugfs.c
 * @seq: where to
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
	rpcrdma_count_shared(&t->st_counters.bytes_read, bytes);
}

/**
 * svcrdma_reads_verified - all that a call has in Read chunks is here
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

/* The last Read of a call is complete. The context stays as it is if it has failed. */
static void read_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_recv_ctxt *rc =
		container_of(wc->wr_cqe, struct svcrdma_recv_ctxt, rc_read_cqe);
	struct svcrdma_transport *t = rc->rc_transport;

	if (svcrdma_wc_failed(t, "read", RPCRDMA_END_SEND_FAILED, wc))
		return;
	if (svcrdma_rxe_verify(t, rc))
		svcrdma_reads_verified(t, rc);
}

/* Posts a call's Reads, for which there are entries. Any context. */
static void read_granted(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter)
{
	struct svcrdma_recv_ctxt *rc =
		container_of(waiter, struct svcrdma_recv_ctxt, rc_sq);
	struct ib_send_wr *first;
	int ret;

	first = svcrdma_rws_chain(t, &rc->rc_reads, &rc->rc_read_cqe, NULL);
	percpu_counter_inc(&svcrdma_stat_read);
	ret = ib_post_send(t->st_qp, first, NULL);
	/* A part of the chain may have been posted: hands off, until the drain. */
	if (ret) {
		trace_svcrdma_post_read_err(t, ret);
		svcrdma_transport_close(t, RPCRDMA_END_SEND_FAILED);
	}
}

/* They are posted now, or when Send Queue entries are there; nobody sleeps. */
static int read_submit(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	int ret;

	set_state(rc, SVCRDMA_READ_READING);
	rc->rc_read_cqe.done = read_wc;
	rc->rc_sq.sw_granted = read_granted;
	/* Chunks without a byte. */
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
 * 0 or READS_WAIT; either way the context is somebody else's now. On failure it is
 * the transport's, and the connection is about to end.
 *
 * What the device can never do has no Reads; the thread that comes for it answers ERR_CHUNK.
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
 * svcrdma_reads_begin - a call with Read chunks has come
 * @rqstp: nfsd thread, which gives its pages
 * @t: transport
 * @rc: context with the decoded header; not the caller's any more on success
 *
 * Context: process. Waits for no client.
 * Return: 0: recv_pop() has it when all is read, unless the connection ends before.
 * -EINVAL or -EOPNOTSUPP: the call is wrong. -EDQUOT: it is one too many. -ENOMEM.
 */
int svcrdma_reads_begin(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			struct svcrdma_recv_ctxt *rc)
{
	int ret = plan_reads(rc, svcrdma_arg_page_limit(rqstp) << PAGE_SHIFT);

	if (ret)
		return ret;
	/* A client that takes no Reads cannot ask for one. */
	if (!t->st_read_depth)
		return -EOPNOTSUPP;
	ret = svcrdma_sink_reserve(rc);
	if (ret)
		return ret;
	ret = begin_reads(t, rc);
	if (ret)
		return ret < 0 ? ret : 0;
	svcrdma_sink_fill(rqstp, rc);
	start_reads(t, rc);
	return 0;
}

/*
 * Most calls with a Read chunk are small, and their Reads can begin as soon as they have come. All
 * others are left to svcrdma_reads_begin(), which refuses the wrong ones, and can wait.
 */
static bool is_small_call(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	/* A thread takes one page less where its reply is in the same array. */
	const u32 pages = min_t(u32, SVCRDMA_FEW_PAGES, t->st_max_pages - 3);

	return svcrdma_recv_decode(rc) == RPCRDMA_OK &&
	       rc->rc_header.proc == RPCRDMA_MSG && rc->rc_lists.nr_segments == 1 &&
	       rpcrdma_message_direction(rc->rc_inline, rc->rc_inline_size) ==
	       RPCRDMA_RPC_CALL &&
	       rc->rc_lists.nr_read && !plan_reads(rc, pages << PAGE_SHIFT) &&
	       t->st_read_depth;
}

/* Nobody waits for regions or pages, and it is not one too many. */
static bool claim_small_call(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	bool claimed;

	spin_lock(&t->st_recv_lock);
	claimed = t->st_state == RPCRDMA_CONN_ESTABLISHED && !svcrdma_transport_closing(t) &&
		  !others_wait(t) && t->st_read.calls < t->st_credits && reserve_pages(t, rc);
	if (claimed) {
		t->st_read.calls++;
		begin_attempt(t, rc);
	}
	spin_unlock(&t->st_recv_lock);
	return claimed;
}

/**
 * svcrdma_reads_claim - is a message a small call, whose Reads can begin at once?
 * @t: transport
 * @rc: context, which nobody else knows of
 *
 * No thread has to give its pages for them then.
 *
 * Context: completion handler.
 * Return: true: svcrdma_reads_start(). false: nothing was done, a thread is to look at the message.
 */
bool svcrdma_reads_claim(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	if (!is_small_call(t, rc) || svcrdma_sq_congested(t) || !svcrdma_sink_alloc(rc) ||
	    !claim_small_call(t, rc))
		return false;
	svcrdma_sink_fill(NULL, rc);
	return true;
}

/**
 * svcrdma_reads_start - start the Reads of a call that was claimed
 * @t: transport
 * @rc: context; not the caller's any more, as when svcrdma_reads_begin() returns 0
 *
 * Context: completion handler. What rdma_rw may allocate does not wait for a file system or a disk:
 * either may wait for completions of the same work queue, or for a thread of this nfsd.
 */
void svcrdma_reads_start(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	unsigned int flags = memalloc_noio_save();

	start_reads(t, rc);
	memalloc_noio_restore(flags);
}

/**
 * svcrdma_reads_end - a thread has a call of which all is read
 * @t: transport
 * @rc: context, the caller's
 *
 * Context: process.
 * Return: false: it was not read, and is refused.
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
 * svcrdma_reads_next - a call whose Reads may have better luck now
 * @t: transport
 *
 * Context: process.
 * Return: a context, for svcrdma_reads_retry(), or NULL.
 */
struct svcrdma_recv_ctxt *svcrdma_reads_next(struct svcrdma_transport *t)
{
	struct svcrdma_recv_ctxt *rc = NULL;

	spin_lock(&t->st_recv_lock);
	/* Set again while the attempts succeed: svcrdma_reads_retry() */
	if (t->st_read.retry)
		rc = list_first_entry_or_null(&t->st_read.wait, struct svcrdma_recv_ctxt, rc_list);
	t->st_read.retry = false;
	/* If there are no pages for it, those that have them are under way: svcrdma_reads_end(). */
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
 * svcrdma_reads_pending - would svcrdma_reads_next() have anything?
 * @t: transport
 *
 * Context: any. A context that adds a call calls svcrdma_transport_data() after that.
 */
bool svcrdma_reads_pending(const struct svcrdma_transport *t)
{
	return READ_ONCE(t->st_read.pending);
}

/**
 * svcrdma_reads_retry - try once more to read what a call has in Read chunks
 * @rqstp: nfsd thread, which gives its pages
 * @t: transport
 * @rc: from svcrdma_reads_next(); not the caller's any more
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
	/* None, if it had to wait for regions only. */
	svcrdma_sink_fill(rqstp, rc);
	waits = start_reads(t, rc);

	spin_lock(&t->st_recv_lock);
	t->st_read.retries--;
	/* Not when it went back to the list's front. */
	more = !waits && !list_empty(&t->st_read.wait);
	if (more)
		t->st_read.retry = true;
	set_pending(t);
	spin_unlock(&t->st_recv_lock);
	if (more)
		svcrdma_transport_data(t);
}

