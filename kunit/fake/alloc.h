/* SPDX-License-Identifier: GPL-2.0 */
/* What a test does with its own thread: memory that it is refused, and patience. */
#ifndef KUNIT_FAKE_ALLOC_H
#define KUNIT_FAKE_ALLOC_H

#include <linux/delay.h>
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

/* What a work item does, here and now, whether it is queued or not. */
static inline void run_delayed(struct delayed_work *work)
{
	work->work.func(&work->work);
}

#endif /* KUNIT_FAKE_ALLOC_H */
