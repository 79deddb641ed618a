/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What both sides know of rdma_cm and of the queues of ib_core, and memory that can be
 * refused. Each module has a copy of its own: these definitions go before the exported
 * ones when the module is linked.
 */
#ifndef KUNIT_FAKE_CM_H
#define KUNIT_FAKE_CM_H

#include <rdma/rdma_cm.h>

#include "device.h"

/**
 * struct fake_cm - how ids and queues are made, and which there are
 * @fake: the device
 * @regions: what rdma_rw has for all Reads and Writes, where the device needs them
 * @max_send_wr: the deepest queue that can be had, 0: any
 * @id_errno: answer of rdma_create_id()
 * @pd_errno: answer of ib_alloc_pd()
 * @qp_errno: answer of rdma_create_qp()
 * @cq_accept: completion queues that can be had before one fails; -1: all
 * @disconnect_ms: how long rdma_disconnect() takes
 * @on_destroy: called when a cm_id is being destroyed; its events may still come
 * @bound: the id that has the port
 * @qp_attr: of the queue pair
 * @disconnects: calls of rdma_disconnect()
 * @ids: cm_ids that exist
 * @pds: protection domains that exist
 * @cqs: completion queues that exist
 * @qps: queue pairs that exist, at most one
 */
struct fake_cm {
	struct fake_device	*fake;
	unsigned int		regions;
	u32			max_send_wr;
	int			id_errno;
	int			pd_errno;
	int			qp_errno;
	int			cq_accept;
	unsigned int		disconnect_ms;
	void			(*on_destroy)(struct rdma_cm_id *id);
	struct rdma_cm_id	*bound;
	struct ib_qp_init_attr	qp_attr;
	int			disconnects;
	int			ids;
	int			pds;
	int			cqs;
	int			qps;
};

extern struct fake_cm fake_cm;

void fake_cm_reset(struct fake_device *fake);
void fake_cm_check(void);
struct rdma_cm_id *fake_cm_id(void);

/* Something happens in another thread, soon. */
#define eventually(condition) ({					\
	int patience_ = 20000;						\
									\
	while (!(condition) && patience_--)				\
		usleep_range(200, 500);					\
	(condition);							\
})

/* alloc.c: the allocation of this task after @count more fails. */
void fake_alloc_fail(int count);
bool fake_alloc_failed(void);

#endif /* KUNIT_FAKE_CM_H */
