// SPDX-License-Identifier: GPL-2.0-only
/* The provider in memory: causes scripted faults, and records complaints about its users. */
#include "provider.h"

/* Scripts count the steps of all queue pairs, and late Reads are placed by whoever polls: one lock. */
static DEFINE_SPINLOCK(qp_lock);
/* Guard scripts and complaints; taken inside all others. */
static DEFINE_SPINLOCK(script_lock);
static DEFINE_SPINLOCK(complaint_lock);

spinlock_t *memory_lock_of(struct memory_device *device, u32 qp_num)
{
	return &qp_lock;
}

/**
 * memory_script - begin to count; there are no faults to come
 * @device: the device
 */
void memory_script(struct memory_device *device)
{
	unsigned long flags;

	spin_lock_irqsave(&script_lock, flags);
	memset(device->seen, 0, sizeof(device->seen));
	device->nr_faults = 0;
	spin_unlock_irqrestore(&script_lock, flags);
}

/**
 * memory_fault - add a fault to the script
 * @device: the device
 * @step: counted by this
 * @at: the first is 1
 * @status: how a work request or message fails, MEMORY_LOST or MEMORY_FALSE
 */
void memory_fault(struct memory_device *device, enum memory_step step, u32 at,
		  enum ib_wc_status status)
{
	unsigned long flags;

	spin_lock_irqsave(&script_lock, flags);
	if (device->nr_faults < MEMORY_FAULTS)
		device->faults[device->nr_faults++] = (struct memory_fault) {
			.step = step, .at = at, .status = status,
		};
	spin_unlock_irqrestore(&script_lock, flags);
}

static const struct memory_fault *find_fault(const struct memory_device *device,
					     enum memory_step step, u32 at)
{
	const struct memory_fault *fault;

	for (fault = device->faults; fault < device->faults + device->nr_faults; fault++)
		if (fault->step == step && fault->at == at)
			return fault;
	return NULL;
}

/**
 * memory_step - count a step
 * @device: the device
 * @step: which
 * @status: set if it fails; may be NULL
 *
 * Context: any.
 * Return: false if it is to fail.
 */
bool memory_step(struct memory_device *device, enum memory_step step,
		 enum ib_wc_status *status)
{
	const struct memory_fault *fault;
	unsigned long flags;

	spin_lock_irqsave(&script_lock, flags);
	fault = find_fault(device, step, ++device->seen[step]);
	if (fault && status)
		*status = fault->status;
	spin_unlock_irqrestore(&script_lock, flags);
	return !fault;
}

/* memory_step_waits - it is counted when it takes effect */
void memory_step_waits(struct memory_device *device, enum memory_step step)
{
	unsigned long flags;

	spin_lock_irqsave(&script_lock, flags);
	device->seen[step]--;
	spin_unlock_irqrestore(&script_lock, flags);
}

/**
 * memory_seen - steps since the script began
 * @device: the device
 * @step: of these
 */
u32 memory_seen(struct memory_device *device, enum memory_step step)
{
	return READ_ONCE(device->seen[step]);
}

/**
 * memory_complain - the code under test has used the device wrongly
 * @device: the device
 * @fmt: how
 *
 * The test fails when the device is destroyed, unless it takes the complaint.
 *
 * Context: any.
 */
void memory_complain(struct memory_device *device, const char *fmt, ...)
{
	unsigned long flags;
	va_list args;

	spin_lock_irqsave(&complaint_lock, flags);
	if (!device->complaints++) {
		va_start(args, fmt);
		vscnprintf(device->complaint, sizeof(device->complaint), fmt, args);
		va_end(args);
	}
	spin_unlock_irqrestore(&complaint_lock, flags);
}

/* Takes the complaints: a test that provokes them expects them. */
unsigned int memory_complaints(struct memory_device *device)
{
	unsigned int count = device->complaints;

	device->complaints = 0;
	return count;
}
