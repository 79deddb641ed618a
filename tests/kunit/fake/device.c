// SPDX-License-Identifier: GPL-2.0-only
/* The provider for tests: device and memory regions. */
#include <linux/module.h>
#include <linux/slab.h>

#include "device.h"

struct fake_extent {
	u8	*base;
	u32	length;
};

/**
 * struct fake_mr - a memory region
 * @ib: as the code under test sees it
 * @list: in the device's list
 * @depth: extents that fit
 * @count: extents that were mapped last
 * @extents: what is mapped
 * @valid: an R_key can be used now
 * @key: which one
 * @access: for what
 */
struct fake_mr {
	struct ib_mr		ib;
	struct list_head	list;
	u32			depth;
	u32			count;
	struct fake_extent	*extents;
	bool			valid;
	u32			key;
	int			access;
};

static struct fake_mr *mr_of(struct ib_mr *mr)
{
	return container_of(mr, struct fake_mr, ib);
}

/* @left: -1 or what is left. */
static bool accepted(int *left)
{
	if (*left < 0)
		return true;
	if (!*left)
		return false;
	(*left)--;
	return true;
}

static struct ib_mr *alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 depth)
{
	struct fake_device *fake = fake_of(pd->device);
	struct fake_mr *mr;

	if (!accepted(&fake->mr_accept))
		return ERR_PTR(-ENOMEM);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->extents = kcalloc(depth, sizeof(*mr->extents), GFP_KERNEL);
	if (!mr->extents) {
		kfree(mr);
		return ERR_PTR(-ENOMEM);
	}
	mr->depth = depth;
	mr->ib.lkey = ++fake->next_key << 8;
	mr->ib.rkey = mr->ib.lkey;
	list_add_tail(&mr->list, &fake->mrs);
	fake->nr_mrs++;
	return &mr->ib;
}

static int dereg_mr(struct ib_mr *ib_mr, struct ib_udata *udata)
{
	struct fake_mr *mr = mr_of(ib_mr);

	list_del(&mr->list);
	fake_of(ib_mr->device)->nr_mrs--;
	kfree(mr->extents);
	kfree(mr);
	return 0;
}

/* The page table of a plain region: one entry for each page. */
static int set_page(struct ib_mr *ib_mr, u64 address)
{
	struct fake_mr *mr = mr_of(ib_mr);

	if (mr->count == mr->depth)
		return -ENOMEM;
	mr->count++;
	return 0;
}

static int map_mr_sg(struct ib_mr *ib_mr, struct scatterlist *sgl, int nents,
		     unsigned int *offset)
{
	struct fake_mr *mr = mr_of(ib_mr);
	struct scatterlist *sg;
	struct fake_device *fake = fake_of(ib_mr->device);
	int i, n;

	if (fake->map_takes)
		nents = min(nents, fake->map_takes);
	n = min_t(int, nents, mr->depth);
	if (!accepted(&fake->map_accept))
		return 0;
	if (mr->valid)
		kunit_fail_current_test("a region is mapped while the peer can use it");
	mr->count = 0;
	if (ib_mr->type != IB_MR_TYPE_SG_GAPS)
		n = ib_sg_to_pages(ib_mr, sgl, nents, offset, set_page);
	mr->count = 0;
	ib_mr->iova = sg_dma_address(sgl);
	ib_mr->length = 0;
	for_each_sg(sgl, sg, n, i) {
		mr->extents[mr->count].base = (u8 *)(uintptr_t)sg_dma_address(sg);
		mr->extents[mr->count++].length = sg_dma_len(sg);
		ib_mr->length += sg_dma_len(sg);
	}
	return n;
}

void fake_mr_register(struct ib_mr *ib_mr, u32 key, int access)
{
	struct fake_mr *mr = mr_of(ib_mr);

	if (mr->valid)
		kunit_fail_current_test("a region is registered twice");
	mr->valid = true;
	mr->key = key;
	mr->access = access;
}

static struct fake_mr *find(struct fake_device *fake, u32 rkey)
{
	struct fake_mr *mr;

	list_for_each_entry(mr, &fake->mrs, list)
		if (mr->valid && mr->key == rkey)
			return mr;
	return NULL;
}

bool fake_mr_invalidate(struct fake_device *fake, u32 rkey)
{
	struct fake_mr *mr = find(fake, rkey);

	if (mr)
		mr->valid = false;
	return mr;
}
EXPORT_SYMBOL_GPL(fake_mr_invalidate);

bool fake_rkey_valid(struct fake_device *fake, u32 rkey)
{
	return find(fake, rkey);
}
EXPORT_SYMBOL_GPL(fake_rkey_valid);

unsigned int fake_valid_rkeys(struct fake_device *fake)
{
	unsigned int count = 0;
	struct fake_mr *mr;

	list_for_each_entry(mr, &fake->mrs, list)
		count += mr->valid;
	return count;
}
EXPORT_SYMBOL_GPL(fake_valid_rkeys);

/* The address in this kernel of byte @at of the region; @run: bytes from there on. */
static u8 *locate(struct fake_mr *mr, u64 at, u32 *run)
{
	u32 i;

	for (i = 0; i < mr->count; i++) {
		if (at < mr->extents[i].length) {
			*run = mr->extents[i].length - at;
			return mr->extents[i].base + at;
		}
		at -= mr->extents[i].length;
	}
	return NULL;
}

/* Into the region for one of the two kinds of writing, else out of it. */
static bool transfer(struct fake_device *fake, u32 key, u64 address, void *local,
		     u32 length, int access)
{
	struct fake_mr *mr = find(fake, key);
	u64 at;
	u32 run;
	u8 *to;

	if (!mr || (access && !(mr->access & access)) || fake->qp.error)
		return false;
	at = address - mr->ib.iova;
	if (at > mr->ib.length || length > mr->ib.length - at)
		return false;
	for (; length; local += run, at += run, length -= run) {
		to = locate(mr, at, &run);
		if (!to)
			return false;
		run = min(run, length);
		if (access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE))
			memcpy(to, local, run);
		else
			memcpy(local, to, run);
	}
	return true;
}

bool fake_read(struct fake_device *fake, u32 rkey, u64 address, void *to, u32 length)
{
	return transfer(fake, rkey, address, to, length, IB_ACCESS_REMOTE_READ);
}
EXPORT_SYMBOL_GPL(fake_read);

bool fake_write(struct fake_device *fake, u32 rkey, u64 address, const void *from,
		u32 length)
{
	return transfer(fake, rkey, address, (void *)from, length,
			IB_ACCESS_REMOTE_WRITE);
}
EXPORT_SYMBOL_GPL(fake_write);

/**
 * fake_remote_add - memory of the peer, until the end of the test
 * @fake: the device
 * @rkey: its R_key
 * @address: where it begins, as the peer says
 * @memory: where it is
 * @length: its size in bytes
 */
struct fake_remote *fake_remote_add(struct fake_device *fake, u32 rkey, u64 address,
				    void *memory, u32 length)
{
	struct fake_remote *remote = &fake->remotes[fake->nr_remotes % FAKE_REMOTES];

	fake->nr_remotes++;
	*remote = (struct fake_remote) {
		.rkey = rkey, .address = address, .memory = memory, .length = length,
	};
	return remote;
}
EXPORT_SYMBOL_GPL(fake_remote_add);

static struct fake_remote *remote_find(struct fake_device *fake, u32 rkey)
{
	unsigned int i;

	for (i = 0; i < FAKE_REMOTES; i++)
		if (fake->remotes[i].memory && fake->remotes[i].rkey == rkey)
			return &fake->remotes[i];
	return NULL;
}

/* One element of an RDMA Read or Write: plain memory, or in a region. */
static bool move_sge(struct fake_device *fake, const struct ib_sge *sge, u8 *peer,
		     bool read)
{
	void *local = (void *)(uintptr_t)sge->addr;

	if (sge->lkey != fake->pd.local_dma_lkey)
		return transfer(fake, sge->lkey, sge->addr, peer, sge->length,
				read ? IB_ACCESS_LOCAL_WRITE : 0);
	if (read)
		memcpy(local, peer, sge->length);
	else
		memcpy(peer, local, sge->length);
	return true;
}

/* An RDMA Read or Write takes effect. */
enum ib_wc_status fake_rdma(struct fake_device *fake, const struct fake_wr *wr)
{
	struct fake_remote *remote = remote_find(fake, wr->rkey);
	u64 at = remote ? wr->remote - remote->address : 0;
	int i;

	/* InfiniBand C9-88: no byte, no R_key */
	if (!wr->nr_sge)
		return IB_WC_SUCCESS;
	if (!remote)
		return IB_WC_REM_ACCESS_ERR;
	remote->accesses++;
	for (i = 0; i < wr->nr_sge; i++) {
		u32 length = wr->sge[i].length;

		if (at > remote->length || length > remote->length - at)
			return IB_WC_REM_ACCESS_ERR;
		if (!move_sge(fake, &wr->sge[i], remote->memory + at,
			      wr->opcode != IB_WR_RDMA_WRITE))
			return IB_WC_LOC_PROT_ERR;
		at += length;
	}
	return IB_WC_SUCCESS;
}

/* The sinks of RDMA Reads have to be registered. */
void fake_be_iwarp(struct fake_device *fake)
{
	fake->port_data[1].immutable.core_cap_flags = RDMA_CORE_PORT_IWARP;
}
EXPORT_SYMBOL_GPL(fake_be_iwarp);

static void device_free(struct fake_device *fake)
{
	/* ib_core would take its own parts of it down. */
	fake->ib.port_data = NULL;
	kfree(fake->port_data);
	ib_dealloc_device(&fake->ib);
}

static void device_destroy_action(void *data)
{
	struct fake_device *fake = data;

	fake_qp_exit(&fake->qp);
	if (fake->nr_mrs || atomic_read(&fake->pd.usecnt))
		kunit_fail_current_test("%u memory regions were left", fake->nr_mrs);
	device_free(fake);
}

/* Nothing is left to poll, but where a test says so. */
static int req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	struct fake_device *fake = fake_of(cq->device);

	if (!(flags & IB_CQ_REPORT_MISSED_EVENTS) || !fake->missed)
		return 0;
	fake->missed--;
	return 1;
}

static void device_init(struct fake_device *fake)
{
	struct ib_device_attr *attrs = &fake->ib.attrs;

	fake->ib.ops.alloc_mr = alloc_mr;
	fake->ib.ops.dereg_mr = dereg_mr;
	fake->ib.ops.map_mr_sg = map_mr_sg;
	fake->ib.ops.req_notify_cq = req_notify_cq;
	fake->ib.ops.driver_id = RDMA_DRIVER_UNKNOWN;
	fake->ib.phys_port_cnt = 1;
	fake->ib.num_comp_vectors = 1;
	strscpy(fake->ib.name, "fake0", sizeof(fake->ib.name));

	attrs->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS;
	attrs->max_fast_reg_page_list_len = 64;
	attrs->max_qp_wr = 16384;
	attrs->max_cqe = 1 << 20;
	attrs->max_send_sge = 16;
	attrs->max_recv_sge = 16;
	attrs->max_sge_rd = 1;
	attrs->max_qp_rd_atom = 16;
	attrs->max_qp_init_rd_atom = 16;
	attrs->max_mr = 65536;

	fake->pd.device = &fake->ib;
	fake->pd.local_dma_lkey = 0x10;
	fake->pd.res.kern_name = "kunit";
	INIT_LIST_HEAD(&fake->mrs);
	fake->mr_accept = -1;
	fake->map_accept = -1;
}

/**
 * fake_device_create - a device that lives as long as the test
 * @test: the test
 */
struct fake_device *fake_device_create(struct kunit *test)
{
	struct fake_device *fake = ib_alloc_device(fake_device, ib);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	device_init(fake);
	/* Ports are numbered from 1 on. */
	fake->port_data = kcalloc(2, sizeof(*fake->port_data), GFP_KERNEL);
	if (fake->port_data)
		fake->port_data[1].immutable.core_cap_flags = RDMA_CORE_PORT_IBA_ROCE;
	fake->ib.port_data = fake->port_data;
	if (!fake->port_data || fake_qp_init(fake)) {
		device_free(fake);
		KUNIT_ASSERT_TRUE_MSG(test, false, "out of memory");
	}
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, device_destroy_action,
							   fake));
	return fake;
}
EXPORT_SYMBOL_GPL(fake_device_create);

MODULE_DESCRIPTION("KUnit: RPC-over-RDMA codec, and a provider for the other suites");
MODULE_LICENSE("GPL");
