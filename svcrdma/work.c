// SPDX-License-Identifier: GPL-2.0
/* The module's work queues, for what may not be done where it turns out to be due. */
#include "svcrdma.h"

/*
 * Polls and releases may be what memory reclaim waits for, when client and server are one
 * machine. Closing waits for others' work queues, which give no such promise. Polls are in a
 * queue like that of ib_core for IB_POLL_UNBOUND_WORKQUEUE.
 *
 * A queue runs a few hundred items at a time. As many connections may be closing on a device that
 * does not answer, and what the others have to do may not wait for that.
 */
static struct workqueue_struct *poll_wq;
static struct workqueue_struct *release_wq;
static struct workqueue_struct *other_wq;
static struct workqueue_struct *close_wq;

/**
 * svcrdma_work_init - create the module's work queues
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int svcrdma_work_init(void)
{
	poll_wq = alloc_workqueue("svcrdma_poll", WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!poll_wq)
		return -ENOMEM;
	release_wq = alloc_workqueue("svcrdma_release", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!release_wq)
		goto out_poll;
	other_wq = alloc_workqueue("svcrdma", WQ_UNBOUND, 0);
	if (!other_wq)
		goto out_release;
	close_wq = alloc_workqueue("svcrdma_close", WQ_UNBOUND, 0);
	if (!close_wq)
		goto out_other;
	return 0;

out_other:
	destroy_workqueue(other_wq);
out_release:
	destroy_workqueue(release_wq);
out_poll:
	destroy_workqueue(poll_wq);
	return -ENOMEM;
}

/**
 * svcrdma_work_exit - wait for all work items, and destroy the queues
 *
 * Context: process; there are no transports left.
 */
void svcrdma_work_exit(void)
{
	destroy_workqueue(close_wq);
	destroy_workqueue(other_wq);
	destroy_workqueue(release_wq);
	destroy_workqueue(poll_wq);
}

/**
 * svcrdma_work_close - close a connection
 * @work: work item, which may wait for the device for as long as that takes
 *
 * Context: any.
 */
void svcrdma_work_close(struct work_struct *work)
{
	queue_work(close_wq, work);
}

/**
 * svcrdma_work_queue - run something that may not run in a CM handler
 * @work: work item
 *
 * Context: any.
 * Return: false when it was queued already.
 */
bool svcrdma_work_queue(struct work_struct *work)
{
	return queue_work(other_wq, work);
}

/**
 * svcrdma_work_delay - run something after a while, counted from now
 * @work: work item; if it waits already, it waits anew
 * @delay: how long
 *
 * Context: any.
 */
void svcrdma_work_delay(struct delayed_work *work, unsigned long delay)
{
	mod_delayed_work(other_wq, work, delay);
}

/**
 * svcrdma_work_later - run something after a while, that may not run in a CM handler
 * @work: work item; if it waits already, it goes on waiting
 * @delay: how long
 *
 * Context: any.
 */
void svcrdma_work_later(struct delayed_work *work, unsigned long delay)
{
	queue_delayed_work(other_wq, work, delay);
}

/**
 * svcrdma_work_poll - look at completions
 * @work: work item
 *
 * Context: any.
 */
void svcrdma_work_poll(struct work_struct *work)
{
	queue_work(poll_wq, work);
}

/**
 * svcrdma_work_release - let go of what nobody needs any more
 * @work: work item; waits for nobody else's work
 *
 * Context: any.
 */
void svcrdma_work_release(struct work_struct *work)
{
	queue_work(release_wq, work);
}

/**
 * svcrdma_work_release_later - the same, after a while
 * @work: work item; if it waits already, it goes on waiting
 * @delay: how long
 *
 * Context: any.
 */
void svcrdma_work_release_later(struct delayed_work *work, unsigned long delay)
{
	queue_delayed_work(release_wq, work, delay);
}
