// SPDX-License-Identifier: GPL-2.0
/*
 * Calls with Read chunks, until all of them is here. No thread waits for a client.
 *
 * What is counted, and where a call waits, are members of st_read.
 *
 * state     where                     counted in       goes on
 * new       a thread's                -                to waiting or building; or it is wrong,
 *                                                      or one too many
 * waiting   wait                      pulls            to building: retry, the first, and pages
 *                                                      for it
 * building  a thread's                pulls, pages,    to reading: all Reads have regions; to
 *                                     built            short; to done: refused
 * short     front of wait             pulls, pages     to building: retry
 * reading   the Send Queue, or waits  pulls, pages,    to done: read_done(); or stays until the
 *           for entries of it         built            transport is freed
 * done      ready                     pulls, pages     to nfsd, or ERR_CHUNK
 *
 * st_read.retry says that the first in st_read.wait may have better luck. It is set when a
 * call leaves reading, which gives regions back, and when one becomes short while nobody
 * else has any, since the last of these may have given them back behind its back.
 *
 * Can the device do it at all? An attempt that began when st_read.built was 0, and during which no
 * other began (st_read.attempts is its own number still), had all regions to itself. If these
 * were too few, they are another time, and the call is refused.
 *
 * Owner of the pages: the context from building on, then the svc_rqst, like any of its pages.
 * On return of 0 from read_submit(), exactly one call of svcrdma_read_wc() or of read_done()
 * follows, unless the connection ends before. On < 0 none does. The context is not the
 * caller's any more in both cases.
 */
#include "svcrdma.h"
#include "trace.h"

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
 * Checks the Read list against the message and against what @rqstp has room for, and
 * sets rc_stream_length, the bytes of pages that are needed.
 */
static int plan_reads(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	u32 limit = svcrdma_arg_page_limit(rqstp) << PAGE_SHIFT;
	/* What stays in the Receive buffer, as the head. */
	u32 head = svcrdma_recv_is_simple(rc) ? rc->rc_lists.chunks[0].position : 0;
	u32 size;

	if (!base_is_right(rc))
		return -EINVAL;
	/* A Position beyond the inline part is found out in any case. */
	if (!rpcrdma_pieces_measure(&rc->rc_lists, svcrdma_recv_inline_size(rc),
				    limit + min(head, rc->rc_byte_len), &size) ||
	    (head ?: size) < SVCRDMA_CALL_HEADER_MIN)
		return -EINVAL;
	rc->rc_stream_length = size - head;
	return 0;
}

static u32 call_pages(const struct svcrdma_recv_ctxt *rc)
{
	return DIV_ROUND_UP(rc->rc_stream_length, PAGE_SIZE);
}

/*
 * May the call have its pages? Credits alone would let a client that nobody knows yet pin
 * a whole payload for each. A call that waits for regions has its pages; and when no call
 * has any, one may begin whatever its size.
 */
static bool reserve_pages(struct svcrdma_transport *t, const struct svcrdma_recv_ctxt *rc)
{
	u32 pages = call_pages(rc);

	lockdep_assert_held(&t->st_recv_lock);

	if (rc->rc_nr_pages)
		return true;
	if (t->st_read.pages && t->st_read.pages + pages > SVCRDMA_MAX_PULLS * t->st_max_pages)
		return false;
	t->st_read.pages += pages;
	return true;
}

/* The first one of a list, or NULL */
static struct svcrdma_recv_ctxt *pop(struct list_head *list)
{
	struct svcrdma_recv_ctxt *rc;

	rc = list_first_entry_or_null(list, struct svcrdma_recv_ctxt, rc_list);
	if (rc)
		list_del_init(&rc->rc_list);
	return rc;
}

/* Is there anything for svcrdma_reads_next()? After each change of what it looks at */
static void set_pending(struct svcrdma_transport *t)
{
	lockdep_assert_held(&t->st_recv_lock);
	WRITE_ONCE(t->st_read.pending, !list_empty(&t->st_read.ready) ||
		   (t->st_read.retry && !list_empty(&t->st_read.wait)));
}

/* Of begin_pull() and start_reads(), beside 0 and errnos */
enum { READS_WAIT = 1 };

/* 0 when others have regions, else the number of this attempt. */
static u32 begin_attempt(struct svcrdma_transport *t)
{
	lockdep_assert_held(&t->st_recv_lock);
	t->st_read.attempts = t->st_read.attempts + 1 ?: 1;
	return t->st_read.built++ ? 0 : t->st_read.attempts;
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
 * 0: @alone is for start_reads(); READS_WAIT: others wait already, or it gets no pages, and the
 * context was put behind them; -EDQUOT: it is one too many.
 */
static int begin_pull(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc, u32 *alone)
{
	int ret = 0;

	spin_lock(&t->st_recv_lock);
	if (t->st_read.pulls >= t->st_credits) {
		ret = -EDQUOT;
		goto out_unlock;
	}
	t->st_read.pulls++;
	if (!list_empty(&t->st_read.wait) || !reserve_pages(t, rc)) {
		list_add_tail(&rc->rc_list, &t->st_read.wait);
		set_pending(t);
		ret = READS_WAIT;
	} else {
		*alone = begin_attempt(t);
	}
out_unlock:
	spin_unlock(&t->st_recv_lock);
	return ret;
}

/* svc_alloc_arg() fills the gaps in rq_pages. */
static void take_call_pages(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	u32 pages = call_pages(rc), had = rc->rc_nr_pages;

	compat_rqst_call_taken(rqstp, pages);
	if (had >= pages)
		return;
	svcrdma_pages_move(&rc->rc_pages[had], &rqstp->rq_pages[had], pages - had);
	rc->rc_nr_pages = pages;
}

static noinline int add_all_pieces(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
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

static noinline void forget_reads(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	svcrdma_rws_free(t, &rc->rc_reads, DMA_FROM_DEVICE);
}

/*
 * All of the call's Reads, or none. -EAGAIN: there are no memory regions left. -E2BIG: the
 * Send Queue is not that deep.
 */
static int build_reads(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	int ret;

	rc->rc_sq.sw_need = 0;
	if (svcrdma_recv_is_simple(rc))
		ret = svcrdma_read_add(t, rc, &rc->rc_lists.chunks[0], 0,
				       rc->rc_lists.chunks[0].length, 0);
	else
		ret = add_all_pieces(t, rc);
	if (!ret && rc->rc_sq.sw_need > svcrdma_sq_depth(t))
		ret = -E2BIG;
	if (unlikely(ret))
		forget_reads(t, rc);
	return ret;
}

/*
 * Waits in front of those that came later, until a Read ends, or the attempt of another
 * fails. When there is none of these left, it may have been the last, just now.
 * -EAGAIN: no other call had a region since this attempt began, as @alone is still the
 * last number. More would not be there another time.
 */
static noinline int wait_for_regions(struct svcrdma_transport *t,
				     struct svcrdma_recv_ctxt *rc, u32 alone)
{
	bool retry;

	spin_lock(&t->st_recv_lock);
	if (alone == t->st_read.attempts) {
		spin_unlock(&t->st_recv_lock);
		return -EAGAIN;
	}
	t->st_read.built--;
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

/* The pages are filled: some thread can go on with the call. */
static void read_done(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	svcrdma_rws_free(t, &rc->rc_reads, DMA_FROM_DEVICE);
	spin_lock(&t->st_recv_lock);
	t->st_read.built--;
	t->st_read.retry = true;
	list_add_tail(&rc->rc_list, &t->st_read.ready);
	set_pending(t);
	spin_unlock(&t->st_recv_lock);
}

/**
 * svcrdma_reads_setup - nothing is read yet
 * @t: all zeros
 *
 * Context: any.
 */
void svcrdma_reads_setup(struct svcrdma_transport *t)
{
	INIT_LIST_HEAD(&t->st_read.ready);
	INIT_LIST_HEAD(&t->st_read.wait);
}

/**
 * svcrdma_reads_show - calls whose Reads cannot begin yet, for connections.c
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
 * svcrdma_read_wc - completion of the last Read of a call
 * @cq: completion queue
 * @wc: completion
 *
 * Context: completion queue's work item.
 */
void svcrdma_read_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_recv_ctxt *rc =
		container_of(wc->wr_cqe, struct svcrdma_recv_ctxt, rc_read_cqe);
	struct svcrdma_transport *t = rc->rc_transport;
	u32 need = rc->rc_sq.sw_need;

	/* The context stays as it is until the transport is freed. */
	if (svcrdma_wc_failed(t, "read", wc))
		return;
	count_read(t, rc);
	read_done(t, rc);
	svcrdma_transport_data(t);
	svcrdma_sq_put(t, need);
}

/**
 * svcrdma_read_granted - post a call's Reads, for which there are entries
 * @t: transport
 * @waiter: rc_sq of the context; not the caller's any more
 *
 * Context: any; st_sq.lock is not held.
 */
void svcrdma_read_granted(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter)
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

	/* Chunks without a byte. */
	if (list_empty(&rc->rc_reads.list)) {
		read_done(t, rc);
		svcrdma_transport_data(t);
		return 0;
	}
	ret = svcrdma_sq_reserve(t, &rc->rc_sq);
	if (ret == -EINPROGRESS)
		return 0;
	if (!ret)
		svcrdma_read_granted(t, &rc->rc_sq);
	return ret;
}

/*
 * 0 or READS_WAIT; either way the context is somebody else's now. On failure it is
 * the transport's, and the connection is about to end.
 *
 * What the device can never do has no Reads, which are done at once, and is refused by the
 * thread that comes for it.
 */
static int start_reads(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc, u32 alone)
{
	int ret;

	ret = build_reads(t, rc);
	if (ret == -EAGAIN)
		ret = wait_for_regions(t, rc, alone);
	if (ret == READS_WAIT)
		return ret;
	rc->rc_refused = ret == -EAGAIN || ret == -E2BIG;
	if (!ret || rc->rc_refused)
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
 * Return: 0: svcrdma_reads_next() has it when all is read, unless the connection ends before.
 * -EINVAL or -EOPNOTSUPP: the call is wrong. -EDQUOT: it is one too many. -ENOMEM.
 */
int svcrdma_reads_begin(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			struct svcrdma_recv_ctxt *rc)
{
	int ret = plan_reads(rqstp, rc);
	u32 alone;

	if (ret)
		return ret;
	/* A client that takes no Reads cannot ask for one. */
	if (!t->st_read_depth)
		return -EOPNOTSUPP;
	ret = svcrdma_recv_ctxt_make_room(t, rc);
	if (ret)
		return ret;
	ret = begin_pull(t, rc, &alone);
	if (ret)
		return ret < 0 ? ret : 0;
	take_call_pages(rqstp, rc);
	start_reads(t, rc, alone);
	return 0;
}

static struct svcrdma_recv_ctxt *reads_next(struct svcrdma_transport *t, bool *done)
{
	struct svcrdma_recv_ctxt *rc;

	rc = pop(&t->st_read.ready);
	*done = rc;
	if (rc) {
		t->st_read.pulls--;
		t->st_read.pages -= rc->rc_nr_pages;
		return rc;
	}
	if (!t->st_read.retry)
		return NULL;
	/* Set again while the attempts succeed: svcrdma_reads_retry() */
	t->st_read.retry = false;
	rc = list_first_entry_or_null(&t->st_read.wait, struct svcrdma_recv_ctxt, rc_list);
	/* If there are no pages for it, those that have them are under way: read_done(). */
	if (rc && reserve_pages(t, rc))
		return pop(&t->st_read.wait);
	return NULL;
}

/**
 * svcrdma_reads_next - what a thread can do about calls with Read chunks
 * @t: transport
 * @done: set: all of it has been read, and the call is the caller's; else the thread is to call
 *	svcrdma_reads_retry()
 *
 * Context: process.
 * Return: a context, or NULL.
 */
struct svcrdma_recv_ctxt *svcrdma_reads_next(struct svcrdma_transport *t, bool *done)
{
	struct svcrdma_recv_ctxt *rc;

	spin_lock(&t->st_recv_lock);
	rc = reads_next(t, done);
	set_pending(t);
	spin_unlock(&t->st_recv_lock);
	return rc;
}

/**
 * svcrdma_reads_pending - would svcrdma_reads_next() have anything?
 * @t: transport
 *
 * Context: any. Who adds something calls svcrdma_transport_data() after that.
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
	bool more;
	u32 alone;

	spin_lock(&t->st_recv_lock);
	alone = begin_attempt(t);
	spin_unlock(&t->st_recv_lock);
	/* None, if it had to wait for regions only. */
	take_call_pages(rqstp, rc);
	/* Not when it went back to the list's front. */
	if (start_reads(t, rc, alone))
		return;

	spin_lock(&t->st_recv_lock);
	more = !list_empty(&t->st_read.wait);
	if (more)
		t->st_read.retry = true;
	set_pending(t);
	spin_unlock(&t->st_recv_lock);
	if (more)
		svcrdma_transport_data(t);
}

