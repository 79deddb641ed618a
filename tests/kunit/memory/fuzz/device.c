// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/rpcrdma_fuzz: write() does a run with one input, and read() gives the counters of the last
 * run. KUnit's thread does the run, since a test that fails at once ends its thread.
 *
 * If the kernel panics, this file prints the input: no program could then save it.
 */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/panic_notifier.h>
#include <linux/sched/debug.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "fuzz.h"

enum { RUN_SECONDS = 15 };	/* until a run hangs */

enum state { IDLE, READY, RUNNING, DONE, OVER };

static DEFINE_MUTEX(writer);
static DECLARE_WAIT_QUEUE_HEAD(waiting);
static enum state state;
static struct task_struct *runner;
static bool was_good;
static u8 input[FUZZ_INPUT];
static u32 input_length;

static void set_state(enum state next)
{
	smp_store_release(&state, next);	/* pairs with get_state() */
	wake_up_all(&waiting);
}

static enum state get_state(void)
{
	return smp_load_acquire(&state);	/* pairs with set_state() */
}

/**
 * fuzz_input_get - wait for an input
 * @length: set to its size in bytes
 *
 * Context: process, the thread of KUnit.
 * Return: the input, for which fuzz_input_done() is to be called; NULL: none has come for 10 s.
 */
const u8 *fuzz_input_get(u32 *length)
{
	if (!wait_event_timeout(waiting, get_state() == READY, 10 * HZ))
		return NULL;
	*length = input_length;
	runner = current;
	set_state(RUNNING);
	return input;
}

/* fuzz_input_done - the run is over; was it @good? */
void fuzz_input_done(bool good)
{
	was_good = good;
	set_state(DONE);
}

/* fuzz_input_abandon - if a run is under way, it has failed */
void fuzz_input_abandon(void)
{
	if (get_state() == RUNNING)
		fuzz_input_done(false);
}

static ssize_t fuzz_write(struct file *file, const char __user *bytes, size_t length, loff_t *pos)
{
	ssize_t ret = length;

	if (length > FUZZ_INPUT)
		return -EMSGSIZE;
	if (mutex_lock_interruptible(&writer))
		return -EINTR;
	if (copy_from_user(input, bytes, length)) {
		ret = -EFAULT;
	} else if (get_state() == OVER) {
		ret = -EPIPE;
	} else {
		input_length = length;
		set_state(READY);
		if (!wait_event_timeout(waiting, get_state() >= DONE, RUN_SECONDS * HZ)) {
			sched_show_task(runner);
			ret = -ETIMEDOUT;
		} else if (get_state() == OVER) {
			ret = -EPIPE;
		} else if (!was_good) {
			ret = -EIO;
		}
	}
	mutex_unlock(&writer);
	return ret;
}

static ssize_t fuzz_read(struct file *file, char __user *bytes, size_t length, loff_t *pos)
{
	length = min_t(size_t, length, FUZZ_COUNTERS);
	return copy_to_user(bytes, fuzz_coverage(), length) ? -EFAULT : length;
}

static const struct file_operations fuzz_fops = {
	.owner = THIS_MODULE, .write = fuzz_write, .read = fuzz_read,
};

static struct miscdevice fuzz_device = {
	.minor = MISC_DYNAMIC_MINOR, .name = "rpcrdma_fuzz", .fops = &fuzz_fops,
};

static int print_input(struct notifier_block *block, unsigned long event, void *data)
{
	u32 at;

	for (at = 0; get_state() == RUNNING && at < input_length; at += 64)
		pr_emerg("rpcrdma_fuzz: input: %*phN\n", min_t(int, input_length - at, 64),
			 input + at);
	return NOTIFY_DONE;
}

/* User-mode Linux ends in a notifier of its own. */
static struct notifier_block panic_block = { .notifier_call = print_input, .priority = INT_MAX };

int fuzz_device_init(void)
{
	state = IDLE;
	atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	return misc_register(&fuzz_device);
}

void fuzz_device_exit(void)
{
	set_state(OVER);
	misc_deregister(&fuzz_device);
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
}
