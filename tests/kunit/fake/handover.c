// SPDX-License-Identifier: GPL-2.0-only
/* Delays where control changes hands; see handover.h. */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "handover.h"

static unsigned int delay;
module_param(delay, uint, 0444);
MODULE_PARM_DESC(delay, "jiffies to sleep wherever control changes hands");

enum { SLOW_ONES = 40 };

static atomic_t hooks;
static atomic_t left;

void fake_handover_reset(void)
{
	atomic_set(&left, SLOW_ONES);
}
EXPORT_SYMBOL_GPL(fake_handover_reset);

void fake_hook_begins(void)
{
	atomic_inc(&hooks);
}
EXPORT_SYMBOL_GPL(fake_hook_begins);

void fake_hook_ends(void)
{
	atomic_dec(&hooks);
}
EXPORT_SYMBOL_GPL(fake_hook_ends);

void fake_handover(void)
{
	if (delay && !atomic_read(&hooks) && atomic_add_unless(&left, -1, 0))
		schedule_timeout_uninterruptible(delay);
}
EXPORT_SYMBOL_GPL(fake_handover);
