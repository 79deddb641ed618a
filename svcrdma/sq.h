/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Entries of the Send Queue (sq.c) */
#ifndef SVCRDMA_SQ_H
#define SVCRDMA_SQ_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct svcrdma_transport;

enum {
	SVCRDMA_MAX_SQ_WAITERS = 8,	/* so many contexts wait: no further calls are taken */
	SVCRDMA_SQ_LOOK = 10 * HZ,	/* jiffies between two looks at the Send Queue */
	/* Jiffies without an entry back, after which the connection is closed; see sq.c */
	SVCRDMA_SQ_TIMEOUT = 70 * HZ,
	/* Jiffies between the end of a watch and the probe of an idle peer; see sq.c */
	SVCRDMA_IDLE_TIMEOUT = 60 * HZ,
};

/**
 * struct svcrdma_sq_waiter - part of a context that waits for Send Queue entries
 * @sw_list: entry of st_sq.waiters, under st_sq.lock
 * @sw_granted: function that is called when the waiter gets its entries, in process context or by
 *	a completion handler on a work queue; set before the reservation
 * @sw_need: number of entries that the waiter needs
 */
struct svcrdma_sq_waiter {
	struct list_head	sw_list;
	void			(*sw_granted)(struct svcrdma_transport *t,
					      struct svcrdma_sq_waiter *waiter);
	u32			sw_need;
};

/**
 * struct svcrdma_send_queue - sq.c: the Send Queue entries of a connection
 *
 * Members that are used without @lock; only @slow is changed under @lock:
 * @taken: number of entries that were ever taken
 * @given: number of entries that were ever given back. @taken minus @given entries are out
 * @unsignalled: number of entries that unsignalled Sends have: those on st_send.unsignalled, those
 *	that were taken from there and are not complete, and those that are about to be posted
 * @slow: whether entries are taken under @lock only, because a context waits for entries, the
 *	queue is not watched, or the transport closes
 *
 * Members under @lock, as is st_closing:
 * @lock: spinlock that is taken in any context
 * @waiters: list of struct svcrdma_sq_waiter by sw_list, in the order of arrival
 * @nr_waiters: number of entries of @waiters; read without @lock as well
 * @congested: whether so many contexts wait that no new calls are to be taken. Read without @lock,
 *	as a hint; svcrdma_transport_data() is called after it has become false, unless the
 *	transport closes
 * @held: number of entries that are out for the LOCAL_INVs of exposures: from the post of an
 *	exposure until its LOCAL_INVs are complete
 * @mark: value of @given when the watch began, or when @worker last looked
 * @still: number of times in a row that @worker has found that the queue stands still
 * @watched: whether @worker is queued to look at the queue, after SVCRDMA_SQ_LOOK
 * @worker: work item that closes the connection when the Send Queue stands still. It posts a probe
 *	when only unsignalled Sends are out, and when the queue has not been watched for
 *	SVCRDMA_IDLE_TIMEOUT. Queued under @lock
 */
struct svcrdma_send_queue {
	atomic_t		taken;
	atomic_t		given;
	atomic_t		unsignalled;
	bool			slow;
	u32			nr_waiters;
	bool			congested;

	spinlock_t		lock;	/* see above */
	struct list_head	waiters;
	u32			held;
	u32			mark;
	u32			still;
	bool			watched;
	struct delayed_work	worker;
};

void svcrdma_sq_setup(struct svcrdma_transport *t);
bool svcrdma_sq_close(struct svcrdma_transport *t);
void svcrdma_sq_stop(struct svcrdma_transport *t);
int svcrdma_sq_reserve(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter);
void svcrdma_sq_put(struct svcrdma_transport *t, u32 count);
void svcrdma_sq_hold(struct svcrdma_transport *t, u32 count);
void svcrdma_sq_put_held(struct svcrdma_transport *t, u32 count);
bool svcrdma_sq_reserve_unsignalled(struct svcrdma_transport *t);
void svcrdma_sq_put_unsignalled(struct svcrdma_transport *t, u32 count);
void svcrdma_sq_show(struct seq_file *seq, const struct svcrdma_transport *t);

#endif /* SVCRDMA_SQ_H */
