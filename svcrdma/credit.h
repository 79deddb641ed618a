/* SPDX-License-Identifier: GPL-2.0 */
/* Credits: of a connection, grant.c, and of all connections together, budget.c */
#ifndef SVCRDMA_CREDIT_H
#define SVCRDMA_CREDIT_H

#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/workqueue.h>

struct svcrdma_transport;

enum {
	SVCRDMA_FIRST_CREDITS = 8,	/* of a connection, until the client uses them */
	/* Calls count that come within this time; so long a connection waits after a refusal. */
	SVCRDMA_GRANT_PAUSE = HZ,
};

/* Of a connection's grant; grant.c has the table of changes. */
enum svcrdma_grant_state {
	SVCRDMA_GRANT_NONE,	/* nothing is granted yet */
	SVCRDMA_GRANT_COUNTING,	/* calls are counted: is the grant in use? */
	SVCRDMA_GRANT_GROWING,	/* it is, and the work item makes it larger, if it can */
};

/**
 * struct svcrdma_granter - grant.c: credits
 * @asked: the most credits that a call has asked for. Any context
 * @highest: messages that were under way at the same time, ever. Of the completion handlers
 * @dones: Receives for the RDMA_DONEs of exposed replies. Changed under both @dones_lock and
 *	st_recv_lock
 * @dones_lock: of whoever makes these more
 * @state: under st_recv_lock
 * @calls: that have come since @since; in batches. Under st_recv_lock
 * @since: jiffies; in the future: until then nothing is counted. Under st_recv_lock
 * @work: makes the grant larger
 */
struct svcrdma_granter {
	u32			asked;
	u32			highest;
	u32			dones;
	struct mutex		dones_lock;	/* guards growth of dones */
	enum svcrdma_grant_state state;
	u32			calls;
	unsigned long		since;
	struct work_struct	work;
};

/* grant.c */
void svcrdma_grant_setup(struct svcrdma_transport *t);
int svcrdma_grant_begin(struct svcrdma_transport *t);
void svcrdma_grant_stop(struct svcrdma_transport *t);
int svcrdma_grant_grow(struct svcrdma_transport *t, u32 grant, gfp_t gfp);
int svcrdma_grant_dones(struct svcrdma_transport *t, u32 exposed);
void svcrdma_grant_update(struct svcrdma_transport *t);
void svcrdma_grant_note_highest(struct svcrdma_transport *t, u32 used);
void svcrdma_grant_show(struct seq_file *seq, const struct svcrdma_transport *t);

/*
 * A call has come that asks for so many credits: of its header, and any number. Of two threads at
 * a time one may be lost, which the next call makes good.
 */
static inline void svcrdma_grant_note_request(struct svcrdma_granter *credit, u32 credits)
{
	if (unlikely(credits > READ_ONCE(credit->asked)))
		WRITE_ONCE(credit->asked, credits);
}

/* Were there never so many messages under way? Then svcrdma_grant_note_highest(). */
static inline bool svcrdma_grant_is_highest(const struct svcrdma_granter *credit, u32 used)
{
	return used > credit->highest;
}

/* budget.c */
void svcrdma_budget_init(void);
int svcrdma_budget_join(struct svcrdma_transport *t);
void svcrdma_budget_leave(struct svcrdma_transport *t);
u32 svcrdma_budget_ask(struct svcrdma_transport *t, u32 want);
void svcrdma_budget_stay(struct svcrdma_transport *t, u32 grant);

#endif /* SVCRDMA_CREDIT_H */
