/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The provider in memory (tests/provider/memory.h), as KUnit's suites use it: a device belongs to a
 * test, DMA is followed (dma.c), the test decides when work is done (control.c), and faults are
 * scripted by number (faults.c).
 */
#ifndef KUNIT_MEMORY_PROVIDER_H
#define KUNIT_MEMORY_PROVIDER_H

#include <kunit/test.h>
#include <kunit/test-bug.h>

#include "../../../provider/memory.h"

/* borrow.c */
const struct memory_shape *memory_shape_of(enum rdma_driver_id driver);
struct memory_device *memory_device_create(struct kunit *test, bool iwarp);
struct memory_device *memory_device_create_as(struct kunit *test,
					      const struct memory_shape *shape);
void memory_device_remove(struct memory_device *device);
void memory_device_expect_empty(struct memory_device *device);
void memory_devices_exit(void);

/* dma.c */
int memory_dma_init(void);
void memory_dma_exit(void);
void memory_dma_add(struct memory_device *device);
void memory_dma_del(struct memory_device *device);
u64 memory_mapped(struct memory_device *device);

/* control.c */
void memory_hold(struct ib_qp *qp);
void memory_run(struct ib_qp *qp, int count);
void memory_release(struct ib_qp *qp);
void memory_lose(struct ib_qp *qp);
unsigned int memory_sends(struct ib_qp *qp);	/* posted, without effect so far */
unsigned int memory_receives(struct ib_qp *qp);
void memory_hold_cq(struct ib_cq *cq);
void memory_release_cq(struct ib_cq *cq);
unsigned int memory_cq_waiting(struct ib_cq *cq);
unsigned int memory_valid_keys(struct memory_device *device);

/* faults.c */
void memory_script(struct memory_device *device);
void memory_fault(struct memory_device *device, enum memory_step step, u32 at,
		  enum ib_wc_status status);
u32 memory_seen(struct memory_device *device, enum memory_step step);
unsigned int memory_complaints(struct memory_device *device);

#endif /* KUNIT_MEMORY_PROVIDER_H */
