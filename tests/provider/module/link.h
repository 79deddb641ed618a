/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rdma_memory.ko: the provider in memory as a device that rdma_cm finds, for mounts and for the
 * bench.
 *
 * `rdma link add NAME type memory netdev NIC` makes one, whose addresses are those of the NIC.
 * Both ends of a connection are in this kernel, and no byte goes through the NIC. The device
 * speaks as iWARP does, whose connection manager asks least of a provider, and has the shape that
 * the module's parameter says.
 */
#ifndef TESTS_PROVIDER_LINK_H
#define TESTS_PROVIDER_LINK_H

#include <linux/xarray.h>
#include <rdma/iw_cm.h>

#include "../memory.h"

/**
 * struct memory_link - a device with a connection manager
 * @device: the provider's
 * @list: in those that exist; see link.c
 * @qps: struct memory_qp by number
 * @gid: the address of its NIC, as siw has it
 */
struct memory_link {
	struct memory_device	device;
	struct list_head	list;
	struct xarray		qps;
	union ib_gid		gid;
};

static inline struct memory_link *memory_link_of(struct ib_device *ib)
{
	return container_of(ib, struct memory_link, device.ib);
}

/* cm.c: as struct ib_device_ops has them; sockets' addresses are in network order */
int memory_connect_to(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int memory_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int memory_reject(struct iw_cm_id *id, const void *data, u8 length);
int memory_listen(struct iw_cm_id *id, int backlog);
int memory_unlisten(struct iw_cm_id *id);
void memory_cm_forget(struct memory_qp *qp);

#endif /* TESTS_PROVIDER_LINK_H */
