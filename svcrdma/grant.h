/* SPDX-License-Identifier: GPL-2.0 */
/* Credits: of a connection, grant.c, and of all of them together, budget.c. Part of svcrdma.h. */
#ifndef SVCRDMA_GRANT_H
#define SVCRDMA_GRANT_H

/* grant.c */
void svcrdma_grant_setup(struct svcrdma_transport *t);
int svcrdma_grant_begin(struct svcrdma_transport *t);
void svcrdma_grant_stop(struct svcrdma_transport *t);
int svcrdma_grant_grow(struct svcrdma_transport *t, u32 grant, gfp_t gfp);
int svcrdma_grant_dones(struct svcrdma_transport *t, u32 exposed);
void svcrdma_grant_look(struct svcrdma_transport *t);
void svcrdma_grant_highest(struct svcrdma_transport *t, u32 used);
void svcrdma_grant_show(struct seq_file *seq, const struct svcrdma_transport *t);

/*
 * A call has come that asks for so many credits: of its header, and any number. Of two threads at
 * a time one may be lost, which the next call makes good.
 */
static inline void svcrdma_grant_hear(struct svcrdma_transport *t, u32 credits)
{
	if (unlikely(credits > READ_ONCE(t->st_credit.asked)))
		WRITE_ONCE(t->st_credit.asked, credits);
}

/* So many messages are under way. Completion handlers only. */
static inline void svcrdma_grant_used(struct svcrdma_transport *t, u32 used)
{
	if (unlikely(used > t->st_credit.highest))
		svcrdma_grant_highest(t, used);
}

/* budget.c */
void svcrdma_budget_init(void);
int svcrdma_budget_join(struct svcrdma_transport *t);
void svcrdma_budget_leave(struct svcrdma_transport *t);
u32 svcrdma_budget_ask(struct svcrdma_transport *t, u32 want);
void svcrdma_budget_stay(struct svcrdma_transport *t, u32 grant);

#endif /* SVCRDMA_GRANT_H */
