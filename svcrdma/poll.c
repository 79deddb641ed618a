// SPDX-License-Identifier: GPL-2.0
/*
 * Who looks at the completions of Receives.
 *
 * A thread of nfsd does, when it comes for the next call: the completion event wakes one, as the
 * data on a socket do. The worker of ib_core in between would only hand the call on, and cost a
 * change of task for each.
 *
 * The worker does where no thread comes: from the beginning of the teardown on, so that somebody
 * sees the completion of a drain. And in kernels where a completion event may not wake nfsd, from
 * the beginning of the connection on.
 *
 * It is never both. Threads come one at a time, each with XPT_BUSY; and who begins the teardown
 * has XPT_BUSY for good, or nfsd does not know the transport.
 */
#include "svcrdma.h"

static const bool polled_by_nfsd = COMPAT_ENQUEUE_IN_ANY_CONTEXT;

/*
 * Any context: interrupts may be off, and a lock of the provider held. It may be late: what it was
 * for has been polled since, by a thread that had come for something else. It takes no lock.
 */
static void completion_event(struct ib_cq *cq, void *context)
{
	struct svcrdma_transport *t = context;

	if (!svcrdma_transport_data(t) && READ_ONCE(t->st_poll.by_worker))
		t->st_poll.wake_worker(cq, context);
}

/**
 * svcrdma_poll_begin - have nfsd woken by Receives that are complete
 * @t: transport with a new st_recv_cq, which no queue pair uses yet
 *
 * Those before ESTABLISHED wait in the queue until then.
 *
 * Context: process.
 */
void svcrdma_poll_begin(struct svcrdma_transport *t)
{
	if (!polled_by_nfsd)
		return;
	t->st_poll.wake_worker = t->st_recv_cq->comp_handler;
	t->st_recv_cq->comp_handler = completion_event;
}

/**
 * svcrdma_poll_stop - no thread of nfsd comes any more; the worker takes over
 * @t: transport with its verbs objects
 *
 * Context: process; who has XPT_BUSY and does not give it back.
 */
void svcrdma_poll_stop(struct svcrdma_transport *t)
{
	if (!polled_by_nfsd)
		return;
	/*
	 * An event that does not see that is one of a completion that the worker finds, or it comes
	 * again when the worker arms the queue.
	 */
	WRITE_ONCE(t->st_poll.by_worker, true);
	t->st_poll.wake_worker(t->st_recv_cq, t);
}

/**
 * svcrdma_poll_end - the worker is not needed any more
 * @t: transport whose queue pair is gone; st_recv_cq is freed next
 *
 * ib_free_cq() waits for the worker. An event that is late starts it no more.
 *
 * Context: process.
 */
void svcrdma_poll_end(struct svcrdma_transport *t)
{
	WRITE_ONCE(t->st_poll.by_worker, false);
}

/**
 * svcrdma_poll - look at what is complete
 * @t: transport
 *
 * That is all that the client has sent, if it keeps to its credits: then it is known how many calls
 * are under way (grant.c). Not without end: a client that does not is not to keep the thread.
 *
 * Context: a thread of nfsd that has XPT_BUSY.
 */
void svcrdma_poll(struct svcrdma_transport *t)
{
	if (polled_by_nfsd)
		ib_process_cq_direct(t->st_recv_cq, t->st_credits);
}

/**
 * svcrdma_poll_arm - have nfsd woken by what comes from now on
 * @t: transport
 *
 * Context: as svcrdma_poll(), and behind it.
 * Return: false: there is something already, and an event may not come.
 */
bool svcrdma_poll_arm(struct svcrdma_transport *t)
{
	return !polled_by_nfsd ||
	       ib_req_notify_cq(t->st_recv_cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) <= 0;
}

/**
 * svcrdma_poll_found - something for nfsd was complete
 * @t: transport
 *
 * Context: completion handler.
 */
void svcrdma_poll_found(struct svcrdma_transport *t)
{
	/* Else it was nfsd that has found it. */
	if (!polled_by_nfsd)
		svcrdma_transport_data(t);
}
