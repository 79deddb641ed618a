// SPDX-License-Identifier: GPL-2.0-only
/* rdma_memory.ko: devices; see link.h. */
#include <linux/dma-direct.h>
#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "link.h"

static char *shape = "iwarp";
module_param(shape, charp, 0444);
MODULE_PARM_DESC(shape, "what devices can do: a key of shapes.c, such as cx5");

static DEFINE_MUTEX(links_lock);	/* guards links */
static LIST_HEAD(links);

/* Of queue pairs: connections seldom have the same one. */
#define LOCKS 256
static spinlock_t locks[LOCKS];

/* ---- what the provider asks for ---- */

/* Without an IOMMU, what is mapped lies together. */
void *memory_dma_find(struct memory_device *device, u64 address, u32 *run, bool write)
{
	return phys_to_virt(dma_to_phys(&device->platform->dev, address));
}

spinlock_t *memory_lock_of(struct memory_device *device, u32 qp_num)
{
	return &locks[qp_num % LOCKS];
}

bool memory_step(struct memory_device *device, enum memory_step step, enum ib_wc_status *status)
{
	return true;
}

void memory_step_waits(struct memory_device *device, enum memory_step step)
{
}

/* The run has failed: whoever looks for reports of the kernel finds this one. */
void memory_complain(struct memory_device *device, const char *fmt, ...)
{
	char text[96];
	va_list args;

	va_start(args, fmt);
	vscnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	WARN(1, "%s: %s\n", device->ib.name, text);
}

/* ---- verbs ---- */

static int get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
	return 0;
}

static int query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	*gid = memory_link_of(ib)->gid;
	return 0;
}

static int create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct memory_qp *qp = memory_qp_of(ib);
	int rc = memory_create_qp(ib, attr, udata);

	if (rc)
		return rc;
	rc = xa_err(xa_store(&memory_link_of(ib->device)->qps, ib->qp_num, qp, GFP_KERNEL));
	if (rc)
		memory_destroy_qp(ib, udata);
	return rc;
}

static int destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct memory_qp *qp = memory_qp_of(ib);

	xa_erase(&memory_link_of(ib->device)->qps, ib->qp_num);
	memory_destroy_qp(ib, udata);
	memory_cm_forget(qp);
	return 0;
}

static struct ib_qp *get_qp(struct ib_device *ib, int qpn)
{
	struct memory_qp *qp = xa_load(&memory_link_of(ib)->qps, qpn);

	return qp ? &qp->ib : NULL;
}

static void add_ref(struct ib_qp *ib)
{
	memory_qp_get(memory_qp_of(ib));
}

static void rem_ref(struct ib_qp *ib)
{
	memory_qp_put(memory_qp_of(ib));
}

static void dealloc_driver(struct ib_device *ib)
{
	struct memory_link *link = memory_link_of(ib);

	mutex_lock(&links_lock);
	list_del(&link->list);
	mutex_unlock(&links_lock);
	memory_device_exit(&link->device);
	xa_destroy(&link->qps);
}

static const struct ib_device_ops ops = {
	.owner			= THIS_MODULE,
	.get_port_immutable	= get_port_immutable,
	.query_gid		= query_gid,
	.create_qp		= create_qp,
	.destroy_qp		= destroy_qp,
	.dealloc_driver		= dealloc_driver,
	.iw_add_ref		= add_ref,
	.iw_rem_ref		= rem_ref,
	.iw_get_qp		= get_qp,
	.iw_connect		= memory_connect_to,
	.iw_accept		= memory_accept,
	.iw_reject		= memory_reject,
	.iw_create_listen	= memory_listen,
	.iw_destroy_listen	= memory_unlisten,
};

/* ---- devices ---- */

static const struct memory_shape *find_shape(const char *key)
{
	const struct memory_shape *s;

	for (s = memory_plain; s < memory_plain + ARRAY_SIZE(memory_plain); s++)
		if (!strcmp(s->key, key))
			return s;
	for (s = memory_shapes; s->key; s++)
		if (!strcmp(s->key, key))
			return s;
	return NULL;
}

static int newlink(const char *name, struct net_device *netdev)
{
	struct memory_link *link = ib_alloc_device(memory_link, device.ib);
	struct memory_device *device;
	int rc;

	if (!link)
		return -ENOMEM;
	device = &link->device;
	rc = memory_device_init(device, find_shape(shape), &ops, true);
	if (rc) {
		ib_dealloc_device(&device->ib);
		return rc;
	}
	xa_init(&link->qps);
	memcpy(link->gid.raw, netdev->dev_addr, ETH_ALEN);
	strscpy(device->ib.iw_ifname, netdev->name, sizeof(device->ib.iw_ifname));
	device->ib.iw_driver_flags = IW_F_NO_PORT_MAP;
	mutex_lock(&links_lock);
	list_add(&link->list, &links);
	mutex_unlock(&links_lock);
	rc = memory_device_register(device, netdev, name);
	if (rc)
		ib_dealloc_device(&device->ib);	/* and dealloc_driver() */
	return rc;
}

static struct rdma_link_ops link_ops = { .type = "memory", .newlink = newlink };

static struct memory_link *first(void)
{
	struct memory_link *link;

	mutex_lock(&links_lock);
	link = list_first_entry_or_null(&links, struct memory_link, list);
	mutex_unlock(&links_lock);
	return link;
}

static int __init memory_init(void)
{
	int i;

	if (!find_shape(shape)) {
		pr_err("rdma_memory: there is no shape '%s'\n", shape);
		return -EINVAL;
	}
	for (i = 0; i < LOCKS; i++)
		spin_lock_init(&locks[i]);
	rdma_link_register(&link_ops);
	return 0;
}

static void __exit memory_exit(void)
{
	struct memory_link *link;

	rdma_link_unregister(&link_ops);
	while ((link = first()))
		ib_unregister_device(&link->device.ib);
	/* Those of mr.c */
	rcu_barrier();
}

module_init(memory_init);
module_exit(memory_exit);
MODULE_DESCRIPTION("an RDMA device in memory, for tests");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RDMA_LINK("memory");
