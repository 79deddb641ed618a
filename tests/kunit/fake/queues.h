/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Doubles of ib_core and rdma_cm for the provider for tests: protection domains, completion queues
 * and its one queue pair. Linked, as cm.c, into the module that uses them.
 */
#ifndef KUNIT_FAKE_QUEUES_H
#define KUNIT_FAKE_QUEUES_H

#include "cm.h"
#include "device.h"

/**
 * struct fake_queues - how queues are made, and which there are
 * @fake: the device
 * @regions: what rdma_rw has for all Reads and Writes, where the device needs them
 * @max_send_wr: the deepest queue that can be had, 0: any
 * @pd_errno: answer of ib_alloc_pd()
 * @qp_errno: answer of rdma_create_qp()
 * @cq_accept: completion queues that can be had before one fails; -1: all
 * @qp_attr: of the queue pair
 * @polls: how often ib_poll_cq() was called
 * @to_poll: completions that it has still to give, of nobody's work requests
 * @handled: those of them whose handler was called
 * @on_destroy_cq: what happens while ib_destroy_cq() waits for the device
 * @recvs_at_start: Receives that were posted by rdma_connect() or rdma_accept()
 * @pds: protection domains that exist
 * @cqs: completion queues that exist
 * @qps: queue pairs that exist, at most one
 */
struct fake_queues {
	struct fake_device	*fake;
	unsigned int		regions;
	u32			max_send_wr;
	int			pd_errno;
	int			qp_errno;
	int			cq_accept;
	struct ib_qp_init_attr	qp_attr;
	unsigned int		polls;
	u32			to_poll;
	u32			handled;
	void			(*on_destroy_cq)(struct ib_cq *cq);
	unsigned int		recvs_at_start;
	int			pds;
	int			cqs;
	int			qps;
};

extern struct fake_queues fake_queues;

void fake_queues_reset(struct fake_device *fake);
void fake_queues_check(void);
int fake_objects(void);

#endif /* KUNIT_FAKE_QUEUES_H */
