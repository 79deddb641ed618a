// SPDX-License-Identifier: GPL-2.0
/* The provider in memory: devices, and how they are registered with ib_core. */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>

#include "provider.h"

static int query_device(struct ib_device *ib, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	const struct memory_shape *shape = memory_device_of(ib)->shape;

	attr->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY | (shape->gaps ? IBK_SG_GAPS_REG : 0);
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

/* No CM and no MAD: nobody but the tests uses it. */
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

static bool is_empty(struct memory_device *device)
{
	return !atomic_read(&device->nr_qps) && !atomic_read(&device->nr_cqs) &&
	       !atomic_read(&device->nr_mrs) && !atomic_read(&device->nr_pds);
}

/* memory_device_expect_empty - nothing was left on it */
void memory_device_expect_empty(struct memory_device *device)
{
	if (!is_empty(device))
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
	platform_device_unregister(device->platform);
	xa_destroy(&device->mrs);
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
	if (device->registered && is_empty(device))
		list_add(&device->list, &idle);
	else
		device_free(device);
}

/* memory_device_exit - free those that are kept */
void memory_device_exit(void)
{
	struct memory_device *device, *next;

	list_for_each_entry_safe(device, next, &idle, list)
		device_free(device);
}

static int register_ib(struct memory_device *device)
{
	struct device *dma;
	int rc;

	device->platform = platform_device_register_simple("rpcrdma-memory",
							   PLATFORM_DEVID_AUTO, NULL, 0);
	if (IS_ERR(device->platform))
		return PTR_ERR(device->platform);
	dma = &device->platform->dev;
	rc = dma_coerce_mask_and_coherent(dma, DMA_BIT_MASK(64));
	if (rc)
		goto out_platform;
	ib_set_device_ops(&device->ib, &ops);
	device->ib.ops.driver_id = device->shape->driver;
	device->ib.node_type = device->iwarp ? RDMA_NODE_RNIC : RDMA_NODE_IB_CA;
	device->ib.node_guid = cpu_to_be64(0x0200000000000000ull);
	device->ib.phys_port_cnt = 1;
	device->ib.num_comp_vectors = device->shape->vectors;
	device->ib.local_dma_lkey = 0x10;
	device->ib.dev.parent = dma;
	/* ib_core asks the net_device of an iWARP port for its MTU. */
	rc = device->iwarp ?
		ib_device_set_netdev(&device->ib, init_net.loopback_dev, 1) : 0;
	if (!rc)
		rc = ib_register_device(&device->ib, "memory%d", dma);
	if (!rc)
		return 0;

out_platform:
	platform_device_unregister(device->platform);
	return rc;
}

static struct memory_device *device_make(const struct memory_shape *shape)
{
	struct memory_device *device = ib_alloc_device(memory_device, ib);
	int rc;

	if (!device)
		return ERR_PTR(-ENOMEM);
	device->shape = shape;
	device->iwarp = shape->iwarp;
	xa_init_flags(&device->mrs, XA_FLAGS_LOCK_IRQ);
	rc = register_ib(device);
	if (rc) {
		ib_dealloc_device(&device->ib);
		return ERR_PTR(rc);
	}
	device->registered = true;
	return device;
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
 * @shape: what it can do; not freed before memory_device_exit()
 */
struct memory_device *memory_device_create_as(struct kunit *test,
					      const struct memory_shape *shape)
{
	struct memory_device *device = device_get(shape);

	KUNIT_ASSERT_FALSE(test, IS_ERR(device));
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
