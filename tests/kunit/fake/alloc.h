/* SPDX-License-Identifier: GPL-2.0-only */
/* Lets a test refuse memory to its own thread, and wait with patience. */
#ifndef KUNIT_FAKE_ALLOC_H
#define KUNIT_FAKE_ALLOC_H

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/workqueue.h>

/* The allocation of this task after @count more fails. */
void fake_alloc_fail(int count);
bool fake_alloc_failed(void);

/* Something happens in another thread, soon. */
#define eventually(condition) ({					\
	int patience_ = 20000;						\
									\
	while (!(condition) && patience_--)				\
		usleep_range(200, 500);					\
	(condition);							\
})

/*
 * The time that a test waits at most, where it looks again and again. While the machine stood
 * still, or did something else, nobody has waited.
 */
struct patience {
	unsigned long	left;	/* jiffies */
	unsigned long	last;
};

static inline void patience_begin(struct patience *patience, unsigned long limit)
{
	patience->left = limit;
	patience->last = jiffies;
}

/* A look has found nothing; false: it was the last one. */
static inline bool patience_lasts(struct patience *patience)
{
	unsigned long now = jiffies;

	patience->left -= min3(patience->left, now - patience->last, 2UL);
	patience->last = now;
	return patience->left;
}

/* What a work item does, here and now, whether it is queued or not. */
static inline void run_delayed(struct delayed_work *work)
{
	work->work.func(&work->work);
}

#endif /* KUNIT_FAKE_ALLOC_H */
