// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The module's work queues.
 *
 * The queue of the polls is like that of ib_core for IB_POLL_UNBOUND_WORKQUEUE. It has
 * WQ_MEM_RECLAIM, since memory reclaim may wait for polls when client and server are one machine.
 * The queue for closing does not have this flag, since closing waits for work queues of other
 * modules, which may not have it.
 *
 * By default, a queue runs a few hundred work items at a time. As many connections may be closing
 * on a device that does not answer, and the work of other connections must not wait for that. So
 * closing has a queue of its own, which runs as many work items as the kernel lets a queue run. If
 * still more connections close on such devices, the closing of other connections waits, too.
 */
#include "svcrdma.h"

struct workqueue_struct *svcrdma_poll_wq;
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
	svcrdma_wq = alloc_workqueue("svcrdma", WQ_UNBOUND, 0);
	svcrdma_close_wq = alloc_workqueue("svcrdma_close", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (svcrdma_poll_wq && svcrdma_wq && svcrdma_close_wq)
		return 0;
	svcrdma_work_exit();
	return -ENOMEM;
}

static void queue_destroy(struct workqueue_struct *queue)
{
	if (queue)
		destroy_workqueue(queue);
}

/**
 * svcrdma_work_exit - wait for all work items, and destroy the queues, as far as there are any
 *
 * Context: process; there are no transports left.
 */
void svcrdma_work_exit(void)
{
	queue_destroy(svcrdma_close_wq);
	queue_destroy(svcrdma_wq);
	queue_destroy(svcrdma_poll_wq);
}
