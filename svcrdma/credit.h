/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* The credits of one connection (recv_ctxt.c) and of all connections together (budget.c) */
#ifndef SVCRDMA_CREDIT_H
#define SVCRDMA_CREDIT_H

#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/workqueue.h>

struct svcrdma_transport;

enum {
	SVCRDMA_FIRST_CREDITS = 8,	/* first grant of a connection, until the client uses it */
	/*
	 * Jiffies. The calls that come within this time are counted together; and a connection
	 * whose grant was not allowed to grow waits for this time before its calls count again.
	 */
	SVCRDMA_GRANT_PAUSE = HZ,
};

/**
 * struct svcrdma_granter - recv_ctxt.c: the credits of a connection
 * @asked: largest number of credits that a call has asked for, or that a client has used without
 *	having them. Any context changes it
 * @highest: largest number of messages that were ever under way at the same time. Only the
 *	completion handlers change it
 * @full: whether the server has had as many messages of the client at one moment as the grant is,
 *	since count_from() last cleared this. Only the completion handlers set it
 * @dones: number of Receives for the RDMA_DONEs of exposed replies. Changed under both @dones_lock
 *	and st_recv_lock
 * @dones_lock: mutex of the thread that makes @dones larger
 * @calls: number of messages that have come since @since, counted in batches; under st_recv_lock
 * @since: time in jiffies from which on @calls are counted; it may be in the future. Under
 *	st_recv_lock
 * @work: work item that makes the grant larger
 */
struct svcrdma_granter {
	u32			asked;
	u32			highest;
	bool			full;
	u32			dones;
	struct mutex		dones_lock;	/* guards growth of dones */
	u32			calls;
	unsigned long		since;
	struct work_struct	work;
};

/* recv_ctxt.c */
int svcrdma_grant_begin(struct svcrdma_transport *t);
void svcrdma_grant_stop(struct svcrdma_transport *t);
int svcrdma_grant_grow(struct svcrdma_transport *t, u32 grant, gfp_t gfp);
int svcrdma_grant_dones(struct svcrdma_transport *t, u32 exposed);
void svcrdma_grant_show(struct seq_file *seq, const struct svcrdma_transport *t);

/* budget.c */
int svcrdma_budget_join(struct svcrdma_transport *t);
void svcrdma_budget_leave(struct svcrdma_transport *t);
u32 svcrdma_budget_ask(struct svcrdma_transport *t, u32 want);
void svcrdma_budget_stay(struct svcrdma_transport *t, u32 grant);

#endif /* SVCRDMA_CREDIT_H */
