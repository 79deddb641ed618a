/* SPDX-License-Identifier: GPL-2.0 */
/* Entries of the Send Queue: sq.c */
#ifndef SVCRDMA_SQ_H
#define SVCRDMA_SQ_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct svcrdma_transport;

enum {
	SVCRDMA_MAX_SQ_WAITERS = 8,	/* with so many, no further calls are taken */
	SVCRDMA_SQ_LOOK = 10 * HZ,	/* how often the Send Queue is looked at */
	/* A peer that lets us wait longer is dead, and the HCA does not say so: sq.c */
	SVCRDMA_SQ_TIMEOUT = 70 * HZ,
	/* When nothing was out for so long, the peer is asked whether it is there. */
	SVCRDMA_IDLE_TIMEOUT = 60 * HZ,
};

/**
 * struct svcrdma_sq_waiter - part of a context that waits for Send Queue entries
 * @sw_list: entry of st_sq.waiters, under its lock
 * @sw_granted: called with the entries, in any context; set before the reservation
 * @sw_need: entries wanted
 */
struct svcrdma_sq_waiter {
	struct list_head	sw_list;
	void			(*sw_granted)(struct svcrdma_transport *t,
					      struct svcrdma_sq_waiter *waiter);
	u32			sw_need;
};

/**
 * struct svcrdma_send_queue - sq.c: Send Queue entries
 *
 * Without the lock, but for @slow, which is changed under it:
 * @depth: all entries but the drain's and those of unsignalled Sends; constant
 * @taken: that were ever taken
 * @given: that have ever come back. The difference is out
 * @unsignalled: entries of unsignalled Sends that are out: of those on st_send.unsignalled, of
 *	those that were taken from there, and of those about to be posted
 * @slow: entries are taken under @lock only: somebody waits, @worker is not set, or the
 *	transport closes
 *
 * Under @lock, as is st_closing:
 * @lock: taken in any context
 * @waiters: in order of arrival
 * @nr_waiters: their number; read without the lock as well
 * @held: of those that are out, for LOCAL_INVs that are not posted yet
 * @mark: @given when @worker was set
 * @still: how often in a row @worker has found that the queue stands still
 * @watched: @worker is set
 * @worker: closes when the Send Queue stands still; set under @lock
 * @idle_worker: asks whether the peer is there when nothing has been out for long; set under @lock
 */
struct svcrdma_send_queue {
	u32			depth;
	atomic_t		taken;
	atomic_t		given;
	atomic_t		unsignalled;
	bool			slow;
	u32			nr_waiters;

	spinlock_t		lock;	/* see above */
	struct list_head	waiters;
	u32			held;
	u32			mark;
	u32			still;
	bool			watched;
	struct delayed_work	worker;
	struct delayed_work	idle_worker;
};

void svcrdma_sq_setup(struct svcrdma_transport *t);
void svcrdma_sq_open(struct svcrdma_transport *t, u32 depth);
bool svcrdma_sq_close(struct svcrdma_transport *t);
void svcrdma_sq_stop(struct svcrdma_transport *t);
int svcrdma_sq_reserve(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter);
void svcrdma_sq_put(struct svcrdma_transport *t, u32 count);
void svcrdma_sq_hold(struct svcrdma_transport *t, u32 count);
void svcrdma_sq_put_held(struct svcrdma_transport *t, u32 count);
bool svcrdma_sq_reserve_unsignalled(struct svcrdma_transport *t);
void svcrdma_sq_put_unsignalled(struct svcrdma_transport *t, u32 count);
u32 svcrdma_sq_depth(const struct svcrdma_transport *t);
bool svcrdma_sq_congested(const struct svcrdma_transport *t);
void svcrdma_sq_show(struct seq_file *seq, const struct svcrdma_transport *t);

#endif /* SVCRDMA_SQ_H */
