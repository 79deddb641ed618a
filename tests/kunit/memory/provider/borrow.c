// SPDX-License-Identifier: GPL-2.0-only
/* The provider in memory: lends a device to a test. */
#include <net/net_namespace.h>

#include "provider.h"

/* memory_device_expect_empty - nothing was left on it */
void memory_device_expect_empty(struct memory_device *device)
{
	if (!memory_device_is_empty(device))
		kunit_fail_current_test("%u QPs, %u CQs, %u MRs, %u PDs were left",
					atomic_read(&device->nr_qps),
					atomic_read(&device->nr_cqs),
					atomic_read(&device->nr_mrs),
					atomic_read(&device->nr_pds));
}

/**
 * memory_device_remove - as if it were pulled out
 * @device: the device
 *
 * Returns when its users have let go: ib_core waits for them.
 */
void memory_device_remove(struct memory_device *device)
{
	if (!device->registered)
		return;
	WRITE_ONCE(device->registered, false);
	ib_unregister_device(&device->ib);
}

/* To make a device takes long; those that were not removed are used again. */
static LIST_HEAD(idle);

static void device_free(struct memory_device *device)
{
	memory_device_remove(device);
	memory_device_exit(device);
	ib_dealloc_device(&device->ib);
}

static void device_put_action(void *data)
{
	struct memory_device *device = data;

	memory_device_expect_empty(device);
	memory_dma_del(device);
	if (device->complaints)
		kunit_fail_current_test("%s: %u complaints, the first: %s",
					device->ib.name, device->complaints,
					device->complaint);
	if (device->registered && memory_device_is_empty(device))
		list_add(&device->list, &idle);
	else
		device_free(device);
}

/* memory_devices_exit - free those that are kept */
void memory_devices_exit(void)
{
	struct memory_device *device, *next;

	list_for_each_entry_safe(device, next, &idle, list)
		device_free(device);
	/* Those of mr.c */
	rcu_barrier();
}

static struct memory_device *device_make(const struct memory_shape *shape)
{
	struct memory_device *device = ib_alloc_device(memory_device, ib);
	int rc;

	if (!device)
		return ERR_PTR(-ENOMEM);
	rc = memory_device_init(device, shape, NULL, shape->iwarp);
	if (rc)
		goto out_dealloc;
	rc = memory_device_register(device, shape->iwarp ? init_net.loopback_dev : NULL,
				    "memory%d");
	if (rc)
		goto out_exit;
	device->registered = true;
	return device;

out_exit:
	memory_device_exit(device);
out_dealloc:
	ib_dealloc_device(&device->ib);
	return ERR_PTR(rc);
}

static struct memory_device *device_get(const struct memory_shape *shape)
{
	struct memory_device *device;

	list_for_each_entry(device, &idle, list) {
		if (device->shape != shape)
			continue;
		list_del(&device->list);
		return device;
	}
	return device_make(shape);
}

/**
 * memory_device_create_as - a device, for as long as the test takes
 * @test: the test
 * @shape: what it can do; not freed before memory_devices_exit()
 */
struct memory_device *memory_device_create_as(struct kunit *test,
					      const struct memory_shape *shape)
{
	struct memory_device *device = device_get(shape);

	KUNIT_ASSERT_FALSE(test, IS_ERR(device));
	device->poison = true;
	device->reverse_writes = false;
	device->late_reads = false;
	device->map_takes = 0;
	device->complaints = 0;
	memory_script(device);
	memory_dma_add(device);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, device_put_action, device));
	return device;
}

/* memory_device_create - the same, plain; it speaks as iWARP does, or as InfiniBand */
struct memory_device *memory_device_create(struct kunit *test, bool iwarp)
{
	return memory_device_create_as(test, &memory_plain[iwarp]);
}

/* memory_shape_of - the shape whose driver is @driver; there has to be one */
const struct memory_shape *memory_shape_of(enum rdma_driver_id driver)
{
	const struct memory_shape *shape = memory_shapes;

	while (shape->driver != driver)
		shape++;
	return shape;
}
