// SPDX-License-Identifier: GPL-2.0-only
/* The provider in memory: devices, and how they are registered with ib_core. */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/netdevice.h>

#include "memory.h"

static int query_device(struct ib_device *ib, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	const struct memory_shape *shape = memory_device_of(ib)->shape;

	attr->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY | IBK_ALLOW_USER_UNREG |
		(shape->gaps ? IBK_SG_GAPS_REG : 0);
	attr->max_fast_reg_page_list_len = shape->pages;
	attr->max_qp = 1024;
	attr->max_cq = 1024;
	attr->max_pd = 1024;
	attr->max_mr = 65536;
	attr->max_mr_size = ~0ull;
	attr->page_size_cap = shape->page_sizes;
	attr->max_qp_wr = shape->wrs;
	attr->max_cqe = shape->cqes;
	attr->max_send_sge = shape->send_sges;
	attr->max_recv_sge = shape->recv_sges;
	attr->max_sge_rd = shape->read_sges;
	attr->max_sgl_rd = shape->read_sgl;
	attr->max_qp_rd_atom = shape->reads_served;
	attr->max_qp_init_rd_atom = shape->reads_posted;
	return 0;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_4096;
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = 1;
	attr->max_msg_sz = SZ_2G;
	attr->active_width = IB_WIDTH_1X;
	attr->active_speed = IB_SPEED_SDR;
	return 0;
}

/* No CM and no MAD */
static int get_port_immutable(struct ib_device *ib, u32 port,
			      struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = memory_device_of(ib)->iwarp ?
		RDMA_CORE_CAP_PROT_IWARP : RDMA_CORE_CAP_PROT_IB;
	return 0;
}

static int query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	gid->global.subnet_prefix = cpu_to_be64(0xfe80000000000000ull);
	gid->global.interface_id = ib->node_guid;
	return 0;
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = 0xffff;
	return 0;
}

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	atomic_inc(&memory_device_of(pd->device)->nr_pds);
	return 0;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	atomic_dec(&memory_device_of(pd->device)->nr_pds);
	return 0;
}

/* ib_core wants these two; there is an STag of all memory, and there are no users. */
static struct ib_mr *get_dma_mr(struct ib_pd *pd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt,
				 int access, COMPAT_DMAH_PARAM struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static const struct ib_device_ops ops = {
	.owner			= THIS_MODULE,
	.driver_id		= RDMA_DRIVER_UNKNOWN,
	.query_device		= query_device,
	.query_port		= query_port,
	.get_port_immutable	= get_port_immutable,
	.query_gid		= query_gid,
	.query_pkey		= query_pkey,
	.alloc_pd		= alloc_pd,
	.dealloc_pd		= dealloc_pd,
	.create_cq		= memory_create_cq,
	.destroy_cq		= memory_destroy_cq,
	.poll_cq		= memory_poll_cq,
	.req_notify_cq		= memory_req_notify_cq,
	.create_qp		= memory_create_qp,
	.modify_qp		= memory_modify_qp,
	.query_qp		= memory_query_qp,
	.destroy_qp		= memory_destroy_qp,
	.post_send		= memory_post_send,
	.post_recv		= memory_post_recv,
	.alloc_mr		= memory_alloc_mr,
	.dereg_mr		= memory_dereg_mr,
	.map_mr_sg		= memory_map_mr_sg,
	.get_dma_mr		= get_dma_mr,
	.reg_user_mr		= reg_user_mr,
	INIT_RDMA_OBJ_SIZE(ib_pd, memory_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, memory_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, memory_qp, ib),
};

/* memory_device_is_empty - nobody has an object of it */
bool memory_device_is_empty(struct memory_device *device)
{
	return !atomic_read(&device->nr_qps) && !atomic_read(&device->nr_cqs) &&
	       !atomic_read(&device->nr_mrs) && !atomic_read(&device->nr_pds);
}

/* memory_device_exit - what memory_device_init() has made; ib_core knows it no more */
void memory_device_exit(struct memory_device *device)
{
	platform_device_unregister(device->platform);
	xa_destroy(&device->mrs);
}

/**
 * memory_device_init - a device of @shape; ib_core does not know it yet
 * @device: of ib_alloc_device()
 * @shape: what it can do; not freed before the device
 * @more: functions that go before those of this file, or NULL
 * @iwarp: it speaks as iWARP does
 *
 * Return: 0, and memory_device_exit() is due; or an errno.
 */
int memory_device_init(struct memory_device *device, const struct memory_shape *shape,
		       const struct ib_device_ops *more, bool iwarp)
{
	int rc;

	device->platform = platform_device_register_simple("rpcrdma-memory",
							   PLATFORM_DEVID_AUTO, NULL, 0);
	if (IS_ERR(device->platform))
		return PTR_ERR(device->platform);
	rc = dma_coerce_mask_and_coherent(&device->platform->dev, DMA_BIT_MASK(64));
	if (rc) {
		platform_device_unregister(device->platform);
		return rc;
	}
	device->shape = shape;
	device->iwarp = iwarp;
	xa_init_flags(&device->mrs, XA_FLAGS_LOCK_IRQ);
	if (more)
		ib_set_device_ops(&device->ib, more);
	ib_set_device_ops(&device->ib, &ops);
	device->ib.ops.driver_id = shape->driver;
	device->ib.node_type = iwarp ? RDMA_NODE_RNIC : RDMA_NODE_IB_CA;
	device->ib.node_guid = cpu_to_be64(0x0200000000000000ull);
	device->ib.phys_port_cnt = 1;
	device->ib.num_comp_vectors = shape->vectors;
	device->ib.local_dma_lkey = 0x10;
	device->ib.dev.parent = &device->platform->dev;
	return 0;
}

/**
 * memory_device_register - ib_core knows the device from now on
 * @device: the device
 * @netdev: where its port is; ib_core asks that of iWARP for its MTU; or NULL
 * @name: as of ib_register_device()
 */
int memory_device_register(struct memory_device *device, struct net_device *netdev,
			   const char *name)
{
	int rc = netdev ? ib_device_set_netdev(&device->ib, netdev, 1) : 0;

	return rc ?: ib_register_device(&device->ib, name, &device->platform->dev);
}
