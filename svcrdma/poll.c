// SPDX-License-Identifier: GPL-2.0
/*
 * The completion queue of the Receives, and who looks into it.
 *
 * A thread of nfsd does, when it comes for the next call: the completion event wakes one, as the
 * data on a socket do. A worker in between would only hand the call on, and cost a change of task
 * for each. ib_alloc_cq() has no queue that is polled like that. So the queue is of ib_create_cq(),
 * with an event handler of our own.
 *
 * The worker does where no thread comes: from the beginning of the teardown on, so that somebody
 * sees the completion of a drain. And in kernels where a completion event may not wake nfsd, from
 * the beginning of the connection on.
 *
 * It is never both. Threads come one at a time, each with XPT_BUSY; and who begins the teardown
 * has XPT_BUSY for good, or nfsd does not know the transport. The worker is a work item, which runs
 * once at a time.
 *
 * ib_drain_qp() asks for queues of ib_alloc_cq(). What it needs of them, this one does as well:
 * each completion goes to the done() of its wr_cqe, in another context than that which waits for
 * the drain. (To the drain of mlx4 and mlx5 the queue looks like one of IB_POLL_SOFTIRQ, which is
 * 0. If the device has failed, they take its irq_poll and give it back, which nobody else uses, and
 * call the event handler.)
 */
#include "svcrdma.h"

enum {
	POLL_BATCH	= 8,		/* completions that are taken out at a time */
	WORKER_BUDGET	= 4096,		/* before the worker lets others run */
};

static const bool polled_by_nfsd = COMPAT_ENQUEUE_IN_ANY_CONTEXT;

/* At most @budget completions. Return: their number; if it is less, there were no more. */
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

	/* Queued by a late event: svcrdma_poll_end() */
	if (!READ_ONCE(t->st_poll.by_worker))
		return;
	if (poll_queue(t->st_recv_cq, WORKER_BUDGET) == WORKER_BUDGET ||
	    ib_req_notify_cq(t->st_recv_cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0)
		svcrdma_work_poll(work);
}

/*
 * Any context: interrupts may be off, and a lock of the provider held. It may be late: what it was
 * for has been polled since, by a thread that had come for something else. It takes no lock.
 */
static void completion_event(struct ib_cq *cq, void *context)
{
	struct svcrdma_transport *t = context;

	if (polled_by_nfsd && svcrdma_transport_data(t))
		return;
	if (READ_ONCE(t->st_poll.by_worker))
		svcrdma_work_poll(&t->st_poll.work);
}

/* Connections are spread over the device's vectors, as by ib_alloc_cq_any(). */
static u32 next_vector(const struct ib_device *device)
{
	static atomic_t next;
	u32 vectors = min_t(u32, max(device->num_comp_vectors, 1), num_online_cpus());

	return (u32)atomic_inc_return(&next) % vectors;
}

/**
 * svcrdma_poll_begin - create the queue
 * @t: transport
 * @size: completions that it has to hold
 *
 * Completions before ESTABLISHED wait in the queue until then.
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
	/* It is empty, and no queue pair uses it yet. */
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	return 0;
}

/**
 * svcrdma_poll_stop - no thread of nfsd comes any more; the worker takes over
 * @t: transport with its verbs objects
 *
 * Context: process; who has XPT_BUSY and does not give it back.
 */
void svcrdma_poll_stop(struct svcrdma_transport *t)
{
	/*
	 * An event that does not see that is one of a completion that the worker finds, or it comes
	 * again when the worker arms the queue.
	 */
	WRITE_ONCE(t->st_poll.by_worker, true);
	svcrdma_work_poll(&t->st_poll.work);
}

/**
 * svcrdma_poll_end - destroy the queue
 * @t: transport whose queue pair is gone
 *
 * The device has called its handler for the last time when ib_destroy_cq() has returned. A handler
 * that is late may queue the work until then. The work does not look at the queue any more: who
 * queues it after the first cancel_work_sync() finds by_worker false when it runs.
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
		poll_queue(t->st_recv_cq, t->st_credits);
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
