// SPDX-License-Identifier: GPL-2.0
/*
 * The module's work queues.
 *
 * When client and server are one machine, memory reclaim may wait for polls and releases, so their
 * queues have WQ_MEM_RECLAIM. Closing has not, since it waits for work queues of other modules,
 * which may not have it. The queue of the polls is like that of ib_core for
 * IB_POLL_UNBOUND_WORKQUEUE.
 *
 * A queue runs a few hundred work items at a time. As many connections may be closing on a device
 * that does not answer, and the work of other connections must not wait for that. So closing has a
 * queue of its own.
 */
#include "svcrdma.h"

struct workqueue_struct *svcrdma_poll_wq;
struct workqueue_struct *svcrdma_release_wq;
struct workqueue_struct *svcrdma_wq;
struct workqueue_struct *svcrdma_close_wq;

/**
 * svcrdma_work_init - create the module's work queues
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int svcrdma_work_init(void)
{
	svcrdma_poll_wq = alloc_workqueue("svcrdma_poll",
					  WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!svcrdma_poll_wq)
		return -ENOMEM;
	svcrdma_release_wq = alloc_workqueue("svcrdma_release", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!svcrdma_release_wq)
		goto out_poll;
	svcrdma_wq = alloc_workqueue("svcrdma", WQ_UNBOUND, 0);
	if (!svcrdma_wq)
		goto out_release;
	svcrdma_close_wq = alloc_workqueue("svcrdma_close", WQ_UNBOUND, 0);
	if (!svcrdma_close_wq)
		goto out_other;
	return 0;

out_other:
	destroy_workqueue(svcrdma_wq);
out_release:
	destroy_workqueue(svcrdma_release_wq);
out_poll:
	destroy_workqueue(svcrdma_poll_wq);
	return -ENOMEM;
}

/**
 * svcrdma_work_exit - wait for all work items, and destroy the queues
 *
 * Context: process; there are no transports left.
 */
void svcrdma_work_exit(void)
{
	destroy_workqueue(svcrdma_close_wq);
	destroy_workqueue(svcrdma_wq);
	destroy_workqueue(svcrdma_release_wq);
	destroy_workqueue(svcrdma_poll_wq);
}
