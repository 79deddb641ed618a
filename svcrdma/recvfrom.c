// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Receiving calls.
 *
 * Operation. An nfsd thread polls the Receive completions. The handler of a completion decodes the
 * header of the message, puts the context on st_recv.ready, and posts spare buffers for a batch of
 * used ones, so that enough Receives are posted however long the calls take. recvfrom takes the
 * first context. A call without Read chunks goes to nfsd at once, with rq_arg pointing into the
 * Receive buffer. For a call with Read chunks, a first pass of recvfrom moves pages from rq_pages
 * to the context, posts the Reads and returns 0, so that no thread waits for a client. When the
 * Reads are done, a second pass, by any thread, puts the pages into that thread's rq_pages and
 * builds rq_arg. A small call needs no first pass: the handler of the Receive completion posts its
 * Reads.
 *
 * The Reads, and where a call waits until they are done, are in read_chunks.c. How rq_arg is put
 * together is in rq_arg.c.
 *
 * Errors. A message that cannot be a call is dropped; a malformed call is answered with RDMA_ERROR
 * (RFC 8166 section 4.5). A failed Read ends the connection, since the queue pair is in the error
 * state by then.
 */
#include "recv_ctxt.h"
#include "svcrdma.h"
#include "sysctl.h"
#include "trace.h"

/*
 * ---- the completion queue of the Receives, and who polls it ----
 *
 * A thread of nfsd polls the queue when it comes for the next call. The completion event wakes the
 * thread, as data on a socket would. If a worker polled, it would only hand the call on to a
 * thread, and each call would cost a task switch. ib_alloc_cq() offers no queue that its user polls
 * after an event: an IB_POLL_DIRECT queue has no events. So the queue comes from ib_create_cq(),
 * with an event handler of our own.
 *
 * The worker polls the queue when no thread comes: from the beginning of the teardown on, so that
 * the completion of a drain is handled. In kernels where a completion event may not wake nfsd, the
 * worker polls from the beginning of the connection on.
 *
 * A thread and the worker never poll at the same time. Threads come one at a time, each with
 * XPT_BUSY. The context that begins the teardown has XPT_BUSY and keeps it, or nfsd does not know
 * the transport. The worker is a work item, and a work item does not run twice at a time.
 *
 * ib_drain_qp() requires queues from ib_alloc_cq(). This queue does all that ib_drain_qp() relies
 * on: each completion goes to the done() of its wr_cqe, in another context than the one that waits
 * for the drain. (The drain of mlx4 and mlx5 takes the queue for an IB_POLL_SOFTIRQ queue, which is
 * the value 0. If the device has failed, these drivers disable and enable the queue's irq_poll,
 * which has no other user, and call the event handler.)
 */
enum {
	POLL_BATCH	= 8,		/* completions that one ib_poll_cq() takes */
	WORKER_BUDGET	= 4096,		/* completions before the worker lets other work run */
};

static const bool polled_by_nfsd = COMPAT_ENQUEUE_IN_ANY_CONTEXT;

/* Handle at most @budget completions. Return: their number; less if the queue is empty. */
static u32 poll_queue(struct ib_cq *cq, u32 budget)
{
	struct ib_wc wcs[POLL_BATCH];
	u32 done = 0;
	int i, want, got;

	do {
		want = min_t(u32, budget - done, POLL_BATCH);
		got = ib_poll_cq(cq, want, wcs);
		for (i = 0; i < got; i++)
			wcs[i].wr_cqe->done(cq, &wcs[i]);
		done += max(got, 0);
	} while (got == want && done < budget);
	return done;
}

static void poll_work(struct work_struct *work)
{
	struct svcrdma_transport *t =
		container_of(work, struct svcrdma_transport, st_poll.work);

	/* A late event may have queued this work item: see svcrdma_poll_end(). */
	if (!READ_ONCE(t->st_poll.by_worker))
		return;
	if (poll_queue(t->st_recv_cq, WORKER_BUDGET) == WORKER_BUDGET ||
	    ib_req_notify_cq(t->st_recv_cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0)
		queue_work(svcrdma_poll_wq, work);
}

/*
 * Event handler of the queue. Context: any; interrupts may be off, and the provider may hold a
 * lock. The handler takes no lock of this module. The event may be late: a thread that came for
 * something else may have polled the completion already.
 */
static void completion_event(struct ib_cq *cq, void *context)
{
	struct svcrdma_transport *t = context;

	if (polled_by_nfsd && svcrdma_transport_data(t))
		return;
	if (READ_ONCE(t->st_poll.by_worker))
		queue_work(svcrdma_poll_wq, &t->st_poll.work);
}

/* Spread connections over the device's completion vectors, as ib_alloc_cq_any() does. */
static u32 next_vector(const struct ib_device *device)
{
	static atomic_t next;
	u32 vectors = min_t(u32, max(device->num_comp_vectors, 1), num_online_cpus());

	return (u32)atomic_inc_return(&next) % vectors;
}

/**
 * svcrdma_poll_begin - create the completion queue of the Receives
 * @t: transport
 * @size: number of completions that the queue has to hold
 *
 * Completions that come before the connection is ESTABLISHED wait in the queue until then.
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int svcrdma_poll_begin(struct svcrdma_transport *t, u32 size)
{
	struct ib_device *device = svcrdma_transport_device(t);
	struct ib_cq_init_attr attr = { .cqe = size, .comp_vector = next_vector(device) };
	struct ib_cq *cq;

	INIT_WORK(&t->st_poll.work, poll_work);
	t->st_poll.by_worker = !polled_by_nfsd;
	cq = ib_create_cq(device, completion_event, NULL, t, &attr);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	t->st_recv_cq = cq;
	/* No completion is missed: no queue pair uses the queue yet. */
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	return 0;
}

/**
 * svcrdma_poll_stop - have the worker poll, since no thread of nfsd comes any more
 * @t: transport with its verbs objects
 *
 * Context: process; the caller has XPT_BUSY and does not give it back.
 */
void svcrdma_poll_stop(struct svcrdma_transport *t)
{
	/*
	 * If an event handler still sees false, the worker finds that completion in its first poll,
	 * or learns of it when it arms the queue.
	 */
	WRITE_ONCE(t->st_poll.by_worker, true);
	queue_work(svcrdma_poll_wq, &t->st_poll.work);
}

/**
 * svcrdma_poll_end - destroy the completion queue of the Receives
 * @t: transport whose queue pair is gone
 *
 * The device calls completion_event() for the last time before ib_destroy_cq() returns. Until then,
 * a late event may queue poll_work(). If that happens after the first cancel_work_sync(),
 * poll_work() finds by_worker false and does not use the queue.
 *
 * Context: process.
 */
void svcrdma_poll_end(struct svcrdma_transport *t)
{
	WRITE_ONCE(t->st_poll.by_worker, false);
	cancel_work_sync(&t->st_poll.work);
	ib_destroy_cq(t->st_recv_cq);
	cancel_work_sync(&t->st_poll.work);
}

/**
 * svcrdma_poll - handle the Receives that are complete
 * @t: transport
 *
 * If the client keeps to its credits, this handles all messages that have come, so that recv_ctxt.c
 * knows how many calls are under way. The number is limited, so that a client that exceeds its
 * credits cannot keep the thread for ever.
 *
 * Context: a thread of nfsd that has XPT_BUSY.
 */
void svcrdma_poll(struct svcrdma_transport *t)
{
	if (polled_by_nfsd)
		poll_queue(t->st_recv_cq, t->st_credits);
}

/**
 * svcrdma_poll_arm - have nfsd woken by messages that come from now on
 * @t: transport
 *
 * Context: as svcrdma_poll(), which the caller has called before.
 * Return: false: the queue has completions already, for which there may be no event.
 */
bool svcrdma_poll_arm(struct svcrdma_transport *t)
{
	return !polled_by_nfsd ||
	       ib_req_notify_cq(t->st_recv_cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) <= 0;
}

/* ---- a Receive is complete ---- */

/*
 * Decode the header of a message, and find the part of the message behind it. RFC 8166 section
 * 4.6.1 wants ERR_CHUNK for an RDMA_MSGP. Where the administrator has set serve_msgp, an RDMA_MSGP
 * to which no padding applies is served as an RDMA_MSG.
 */
static void recv_decode(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	rc->rc_status = rpcrdma_header_decode(rc->rc_buffer.bf_data, rc->rc_byte_len,
					      &rc->rc_header, &rc->rc_lists, t->st_serve_msgp);
	rc->rc_inline = rc->rc_buffer.bf_data + rc->rc_header.size;
	rc->rc_inline_size = rc->rc_byte_len - rc->rc_header.size;
}

/*
 * Count an unexpected message. Such a message costs a wake-up of nfsd, as a call does. A client
 * that sends SVCRDMA_MAX_UNEXPECTED of these without a good call in between loses the connection.
 */
static void recv_unexpected(struct svcrdma_transport *t)
{
	if (atomic_inc_return(&t->st_unexpected) != SVCRDMA_MAX_UNEXPECTED)
		return;
	trace_svcrdma_noise(t, SVCRDMA_MAX_UNEXPECTED);
	svcrdma_transport_close(t, RPCRDMA_END_BAD_MESSAGE);
}

static int recv_drop(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
		     int status)
{
	recv_unexpected(t);
	this_cpu_inc(t->st_counters->bad_messages);
	trace_svcrdma_call_dropped(t, rc->rc_header.xid, status);
	svcrdma_recv_ctxt_put(t, rc);
	return 0;
}

/*
 * Handle an RDMA_DONE before the calls that came with it, and even while no calls are taken
 * (recv_no_call()). RFC 8166 section 4.6.2: drop it, unless both peers have agreed to use it.
 */
static void recv_done(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	svcrdma_recv_taken(t, rc, false);
	if (!t->st_agreed.read_chunk_replies) {
		recv_drop(t, rc, RPCRDMA_OK);
		return;
	}
	svcrdma_exposed_done(t, rc->rc_header.xid);
	svcrdma_recv_ctxt_put(t, rc);
}

/**
 * svcrdma_recv_wc - completion of a Receive
 * @cq: completion queue
 * @wc: completion
 *
 * A context whose Receive has failed, or whose message ends the connection, stays as it is until
 * the teardown frees it.
 *
 * Context: process; a thread that has XPT_BUSY, or poll_work().
 */
void svcrdma_recv_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_recv_ctxt *rc =
		container_of(wc->wr_cqe, struct svcrdma_recv_ctxt, rc_cqe);
	struct svcrdma_transport *t = rc->rc_transport;

	if (wc->status != IB_WC_SUCCESS) {
		svcrdma_wc_error(t, "recv", RPCRDMA_END_RECEIVE_FAILED, wc);
		return;
	}
	this_cpu_inc(svcrdma_stats.recv);
	if (unlikely(wc->wc_flags & IB_WC_WITH_INVALIDATE)) {
		/*
		 * No client may invalidate a region of ours. Our LOCAL_INV of that region may fail,
		 * and exposed memory is freed only after its LOCAL_INVs or the drain. So the
		 * connection ends.
		 */
		trace_svcrdma_bad_rkey(t, wc->ex.invalidate_rkey);
		svcrdma_transport_close(t, RPCRDMA_END_BAD_MESSAGE);
		return;
	}
	rc->rc_byte_len = wc->byte_len;
	rc->rc_nr_payloads = 0;
	ib_dma_sync_single_for_cpu(t->st_id->device, rc->rc_buffer.bf_sge.addr, wc->byte_len,
				   DMA_FROM_DEVICE);
	rc->rc_since = ktime_get();
	if (trace_svcrdma_message_enabled())
		svcrdma_trace_received(t, rc);
	this_cpu_add(t->st_counters->bytes_received_inline, wc->byte_len);
	recv_decode(t, rc);
	if (unlikely(rc->rc_header.proc == RPCRDMA_DONE) && rc->rc_status == RPCRDMA_OK) {
		recv_done(t, rc);
		return;
	}
	if (unlikely(rc->rc_lists.nr_read) && svcrdma_reads_claim(t, rc))
		return;
	svcrdma_recv_taken(t, rc, true);
	/* A thread of nfsd that polls need not be told. */
	if (!polled_by_nfsd)
		svcrdma_transport_data(t);
}

/* ---- a message that has just come ---- */

/* Give a complete call and its context to nfsd, unless the call is for the transport itself. */
static int recv_deliver(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc)
{
	struct svcrdma_transport *t = rc->rc_transport;

	if (atomic_read(&t->st_unexpected))
		atomic_set(&t->st_unexpected, 0);
	/* If two threads do this at the same time, the client's next call notes a lost number. */
	if (unlikely(rc->rc_header.credits > READ_ONCE(t->st_credit.asked)))
		WRITE_ONCE(t->st_credit.asked, rc->rc_header.credits);
	rqstp->rq_next_page = rqstp->rq_respages + 1;
	rqstp->rq_xprt_ctxt = rc;
	rqstp->rq_prot = IPPROTO_MAX;
	svc_xprt_copy_addrs(rqstp, rqstp->rq_xprt);
	set_bit(RQ_SECURE, &rqstp->rq_flags);
	if (unlikely(t->st_answer_config) && svcrdma_config_answer(rqstp))
		return 0;
	return rqstp->rq_arg.len;
}

static int recv_reject(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
		       enum rpcrdma_errcode error)
{
	recv_unexpected(t);
	svcrdma_error_send(t, rc, error);
	svcrdma_recv_ctxt_put(t, rc);
	return 0;
}

/* Answer a call whose Read list, or whose size, makes no message for nfsd. */
static int recv_bad_reads(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc, int status)
{
	trace_svcrdma_call_bad_reads(t, rc->rc_header.xid, status);
	return recv_reject(t, rc, RPCRDMA_ERR_CHUNK);
}

/* End the connection, since a call can be neither served nor answered. */
static int recv_close(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
		      enum rpcrdma_end why)
{
	svcrdma_recv_ctxt_put(t, rc);
	svcrdma_transport_close(t, why);
	return 0;
}

static int recv_finish_reads(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			     struct svcrdma_recv_ctxt *rc)
{
	bool done = svcrdma_reads_end(t, rc);
	int ret;

	/* The call could not be answered. The client sends it again on another connection. */
	if (READ_ONCE(t->st_closing)) {
		svcrdma_recv_ctxt_put(t, rc);
		return 0;
	}
	if (!done)
		return recv_bad_reads(t, rc, -E2BIG);
	ret = svcrdma_arg_pages(rqstp, rc);
	if (ret) {
		trace_svcrdma_read_pages_err(t, ret);
		return recv_close(t, rc, RPCRDMA_END_OTHER);
	}
	if (!svcrdma_arg_is_right(rqstp, rc))
		return recv_bad_reads(t, rc, -EBADMSG);
	return recv_deliver(rqstp, rc);
}

static int recv_with_reads(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			   struct svcrdma_recv_ctxt *rc)
{
	int ret = svcrdma_reads_begin(rqstp, t, rc);

	switch (ret) {
	case 0:
		return 0;
	case -ENOMEM:
		trace_svcrdma_read_pages_err(t, ret);
		return recv_close(t, rc, RPCRDMA_END_OTHER);
	case -EDQUOT:
		trace_svcrdma_call_without_credit(t, rc->rc_header.xid, ret);
		return recv_close(t, rc, RPCRDMA_END_BAD_MESSAGE);
	default:
		return recv_bad_reads(t, rc, ret);
	}
}

/*
 * Is a message the answer to a callback? RFC 8167 section 4.1: the header of an RDMA_NOMSG does not
 * show its direction, but an RDMA_NOMSG with a call would have a Read list (RFC 8166 section
 * 4.3.1). An RDMA_NOMSG can only be a reply where we send callbacks with chunks.
 */
static bool recv_is_reverse_reply(const struct svcrdma_transport *t,
				  const struct svcrdma_recv_ctxt *rc)
{
	switch (rc->rc_header.proc) {
	case RPCRDMA_ERROR:
		return true;
	case RPCRDMA_NOMSG:
		return t->st_agreed.reverse_chunks && !rc->rc_lists.nr_read;
	case RPCRDMA_MSG:
		return rc->rc_header.direction == RPCRDMA_RPC_REPLY;
	default:
		return false;
	}
}

/* Handle a message whose header is valid, and that is no RDMA_DONE. */
static int recv_message(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			struct svcrdma_recv_ctxt *rc)
{
	int ret;

	if (recv_is_reverse_reply(t, rc)) {
		if (!svcrdma_backchannel_reply(t, rc))
			recv_unexpected(t);
		svcrdma_recv_ctxt_put(t, rc);
		return 0;
	}
	if (rc->rc_lists.nr_read || rc->rc_header.proc == RPCRDMA_NOMSG)
		return recv_with_reads(rqstp, t, rc);
	if (rc->rc_inline_size < SVCRDMA_CALL_HEADER_MIN) {
		trace_svcrdma_call_bad(t, rc->rc_header.xid, RPCRDMA_TRUNCATED);
		return recv_reject(t, rc, RPCRDMA_ERR_CHUNK);
	}
	ret = svcrdma_arg_inline(rqstp, rc);
	return likely(!ret) ? recv_deliver(rqstp, rc) : recv_bad_reads(t, rc, ret);
}

/* Drop a message whose header is invalid, or answer it with an error: RFC 8166 section 4.5. */
static int recv_bad_message(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	if (rc->rc_status == RPCRDMA_RUNT || rc->rc_status == RPCRDMA_BAD_ERROR ||
	    rc->rc_header.proc == RPCRDMA_ERROR)
		return recv_drop(t, rc, rc->rc_status);

	trace_svcrdma_call_bad(t, rc->rc_header.xid, rc->rc_status);
	return recv_reject(t, rc, rc->rc_status == RPCRDMA_BAD_VERSION ?
			   RPCRDMA_ERR_VERS : RPCRDMA_ERR_CHUNK);
}

static int recv_new_message(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			    struct svcrdma_recv_ctxt *rc)
{
	int ret;

	if (rc->rc_status == RPCRDMA_TOO_MANY) {
		ret = svcrdma_recv_ctxt_many_chunks(t, rc);
		if (ret) {
			/* The call is valid; the client sends it again on the next connection. */
			trace_svcrdma_recv_alloc_err(t, ret);
			return recv_close(t, rc, RPCRDMA_END_OTHER);
		}
		recv_decode(t, rc);
	}
	if (rc->rc_status != RPCRDMA_OK)
		return recv_bad_message(t, rc);
	return recv_message(rqstp, t, rc);
}

/* ---- recvfrom ---- */

/* Return: the context that has been ready for longest, or NULL. The caller has XPT_BUSY. */
static struct svcrdma_recv_ctxt *recv_pop(struct svcrdma_transport *t)
{
	struct llist_node *first = t->st_recv.taken;

	if (!first) {
		svcrdma_poll(t);
		first = llist_del_all(&t->st_recv.ready);
		if (!first)
			return NULL;
		if (first->next)
			first = llist_reverse_order(first);
	}
	t->st_recv.taken = first->next;
	return llist_entry(first, struct svcrdma_recv_ctxt, rc_node);
}

/*
 * Return: a call that has waited for regions or pages, or NULL. Such calls and new messages take
 * turns, so that neither can starve the other.
 */
static struct svcrdma_recv_ctxt *recv_retry(struct svcrdma_transport *t)
{
	struct svcrdma_recv_ctxt *rc = t->st_recv.retried ? NULL : svcrdma_reads_next(t);

	t->st_recv.retried = rc;
	return rc;
}

/*
 * Too many contexts wait for Send Queue entries, and no call is taken. RDMA_DONEs are handled all
 * the same, since the entries that they free may be those that are waited for.
 */
static void recv_no_call(struct svcrdma_transport *t)
{
	svcrdma_poll(t);
	clear_bit(XPT_DATA, &t->st_xprt.xpt_flags);
	/* Look for work after XPT_DATA is clear: pairs with svcrdma_transport_data(). */
	smp_mb__after_atomic();
	if (!READ_ONCE(t->st_sq.congested) || !svcrdma_poll_arm(t))
		set_bit(XPT_DATA, &t->st_xprt.xpt_flags);
}

/*
 * Return: the context of the next piece of work, or NULL. XPT_DATA is cleared when the last piece
 * of work is taken, so that no further round is needed that finds none.
 */
static struct svcrdma_recv_ctxt *recv_next(struct svcrdma_transport *t)
{
	struct svcrdma_recv_ctxt *rc = NULL;

	if (unlikely(READ_ONCE(t->st_sq.congested))) {
		recv_no_call(t);
		return NULL;
	}
	if (unlikely(READ_ONCE(t->st_read.pending)))
		rc = recv_retry(t);
	if (likely(!rc))
		rc = recv_pop(t);
	if (t->st_recv.taken)
		return rc;
	clear_bit(XPT_DATA, &t->st_xprt.xpt_flags);
	/* Look for work after XPT_DATA is clear: pairs with svcrdma_transport_data(). */
	smp_mb__after_atomic();
	if (!llist_empty(&t->st_recv.ready) || READ_ONCE(t->st_read.pending) ||
	    !svcrdma_poll_arm(t))
		set_bit(XPT_DATA, &t->st_xprt.xpt_flags);
	return rc;
}

/**
 * svcrdma_recvfrom - xpo_recvfrom: the next call, or one step towards it
 * @rqstp: nfsd thread; holds XPT_BUSY
 *
 * Context: process. Waits for no client.
 * Return: bytes of the call in rq_arg, or 0 when there is none for this thread.
 */
int svcrdma_recvfrom(struct svc_rqst *rqstp)
{
	struct svcrdma_transport *t = svcrdma_transport_of(rqstp->rq_xprt);
	struct svcrdma_recv_ctxt *rc;

	/* Even after 0, SUNRPC releases the pages of a reply. There is no reply yet. */
	compat_rqst_reply_begin(rqstp, 0);
	rqstp->rq_xprt_ctxt = NULL;

	rc = recv_next(t);
	svc_xprt_received(&t->st_xprt);
	if (!rc)
		return 0;
	if (likely(rc->rc_read_state == SVCRDMA_READ_NONE))
		return recv_new_message(rqstp, t, rc);
	if (rc->rc_read_state != SVCRDMA_READ_WAITING)
		return recv_finish_reads(rqstp, t, rc);
	svcrdma_reads_retry(rqstp, t, rc);
	return 0;
}
