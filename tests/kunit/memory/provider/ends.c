// SPDX-License-Identifier: GPL-2.0-only
/* Two ends of a connection over the provider in memory, without a transport. */
#include <linux/module.h>
#include <linux/slab.h>

#include "../fault/fault.h"
#include "ends.h"

static void seen(struct ib_cq *cq, struct ib_wc *wc)
{
	struct end_cqe *c = container_of(wc->wr_cqe, struct end_cqe, cqe);
	struct end *end = c->end;

	if (end->nr_done < END_LOG)
		end->done[end->nr_done++] = (struct end_done) { c->id, *wc };
}

static void told(struct ib_event *event, void *context)
{
	struct end *end = context;

	end->event = event->event;
}

static void end_free(void *data)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct end *end = data;

	if (end->mr)
		ib_dereg_mr(end->mr);
	if (end->qp) {
		/* ib_drain_qp() would sleep before it polls. */
		ib_modify_qp(end->qp, &attr, IB_QP_STATE);
		end_poll(end);
		ib_destroy_qp(end->qp);
	}
	if (end->address)
		ib_dma_unmap_single(&end->device->ib, end->address, END_BYTES,
				    DMA_BIDIRECTIONAL);
	if (end->send_cq)
		ib_free_cq(end->send_cq);
	if (end->recv_cq)
		ib_free_cq(end->recv_cq);
	if (end->pd)
		ib_dealloc_pd(end->pd);
	free_pages((unsigned long)end->bytes, get_order(END_BYTES));
}

static void create_queues(struct kunit *test, struct end *end)
{
	struct ib_device *device = &end->device->ib;
	struct ib_qp_init_attr attr = {
		.event_handler = told, .qp_context = end,
		.sq_sig_type = IB_SIGNAL_REQ_WR, .qp_type = IB_QPT_RC, .port_num = 1,
		.cap = {
			.max_send_wr = END_WRS, .max_recv_wr = END_WRS,
			.max_send_sge = 2, .max_recv_sge = 2,
		},
	};
	struct ib_cq *cq;

	cq = ib_alloc_cq(device, end, END_WRS, 0, IB_POLL_DIRECT);
	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	end->send_cq = cq;
	cq = ib_alloc_cq(device, end, END_WRS, 0, IB_POLL_DIRECT);
	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	end->recv_cq = cq;
	attr.send_cq = end->send_cq;
	attr.recv_cq = end->recv_cq;
	end->qp = ib_create_qp(end->pd, &attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(end->qp));
}

static void end_init(struct kunit *test, struct end *end, struct memory_device *on)
{
	struct ib_device *device = &on->ib;
	int i;

	end->device = on;
	end->event = -1;
	for (i = 0; i < END_LOG; i++)
		end->cqes[i] = (struct end_cqe) { .cqe.done = seen, .end = end, .id = i };
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, end_free, end));
	end->pd = ib_alloc_pd(device, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(end->pd));
	create_queues(test, end);
	end->bytes = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(END_BYTES));
	KUNIT_ASSERT_NOT_NULL(test, end->bytes);
	end->address = ib_dma_map_single(device, end->bytes, END_BYTES, DMA_BIDIRECTIONAL);
	KUNIT_ASSERT_EQ(test, 0, ib_dma_mapping_error(device, end->address));
	end->mr = ib_alloc_mr(end->pd, IB_MR_TYPE_MEM_REG, 8);
	KUNIT_ASSERT_FALSE(test, IS_ERR(end->mr));
}

static struct ends *ends_create_on(struct kunit *test, struct memory_device *a,
				   struct memory_device *b)
{
	struct ends *ends = kunit_kzalloc(test, sizeof(*ends), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, ends);
	end_init(test, &ends->a, a);
	end_init(test, &ends->b, b);
	for (i = 0; i < END_BYTES; i++) {
		ends->a.bytes[i] = i * 3 + i / 251 + 1;
		ends->b.bytes[i] = 0;
	}
	memory_connect(ends->a.qp, ends->b.qp);
	return ends;
}

/* Two ends, joined; each on a device of its own. */
struct ends *ends_create(struct kunit *test, bool iwarp)
{
	struct memory_device *a = memory_device_create(test, iwarp);
	struct memory_device *b = memory_device_create(test, iwarp);

	test->priv = ends_create_on(test, a, b);
	return test->priv;
}

/* Another connection between the same two devices. */
struct ends *ends_create_beside(struct kunit *test, struct ends *ends)
{
	return ends_create_on(test, ends->a.device, ends->b.device);
}

struct ib_sge end_sge(struct end *end, u32 at, u32 length)
{
	return (struct ib_sge) {
		.addr = end->address + at, .length = length,
		.lkey = end->pd->local_dma_lkey,
	};
}

/* Signalled, one element. */
int end_post(struct end *end, int id, enum ib_wr_opcode opcode, struct ib_sge sge,
	     u64 remote, u32 rkey)
{
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &end->cqes[id].cqe, .opcode = opcode,
			.send_flags = IB_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1,
		},
		.remote_addr = remote, .rkey = rkey,
	};

	if (opcode == IB_WR_SEND_WITH_INV)
		wr.wr.ex.invalidate_rkey = rkey;
	return ib_post_send(end->qp, &wr.wr, NULL);
}

int end_send(struct end *end, int id, u32 at, u32 length)
{
	return end_post(end, id, IB_WR_SEND, end_sge(end, at, length), 0, 0);
}

int end_write(struct end *end, int id, u32 at, u32 length, u64 remote, u32 rkey)
{
	return end_post(end, id, IB_WR_RDMA_WRITE, end_sge(end, at, length), remote, rkey);
}

int end_read(struct end *end, int id, u32 at, u32 length, u64 remote, u32 rkey)
{
	return end_post(end, id, IB_WR_RDMA_READ, end_sge(end, at, length), remote, rkey);
}

int end_recv(struct end *end, int id, u32 at, u32 length)
{
	struct ib_sge sge = end_sge(end, at, length);
	struct ib_recv_wr wr = {
		.wr_cqe = &end->cqes[id].cqe, .sg_list = &sge, .num_sge = 1,
	};

	return ib_post_recv(end->qp, &wr, NULL);
}

int end_invalidate(struct end *end, int id, u32 rkey)
{
	struct ib_send_wr wr = {
		.wr_cqe = &end->cqes[id].cqe, .opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED, .ex.invalidate_rkey = rkey,
	};

	return ib_post_send(end->qp, &wr, NULL);
}

/**
 * end_register - post a registration of a part of the memory
 * @end: whose
 * @id: of the work request
 * @at: first byte
 * @length: bytes
 * @access: IB_ACCESS_*
 *
 * Return: the STag; 0 when the post failed.
 */
u32 end_register(struct end *end, int id, u32 at, u32 length, int access)
{
	struct ib_reg_wr wr = {
		.wr = {
			.wr_cqe = &end->cqes[id].cqe, .opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
		},
		.mr = end->mr, .access = access,
	};

	sg_init_table(&end->sg, 1);
	sg_dma_address(&end->sg) = end->address + at;
	sg_dma_len(&end->sg) = length;
	if (ib_map_mr_sg(end->mr, &end->sg, 1, NULL, PAGE_SIZE) != 1)
		return 0;
	ib_update_fast_reg_key(end->mr, ib_inc_rkey(end->mr->rkey) & 0xff);
	wr.key = end->mr->rkey;
	return ib_post_send(end->qp, &wr.wr, NULL) ? 0 : wr.key;
}

/* Receives first; then what was posted to the Send Queue. */
void end_poll(struct end *end)
{
	ib_process_cq_direct(end->recv_cq, -1);
	ib_process_cq_direct(end->send_cq, -1);
}

/**
 * end_expect - what was seen
 * @test: the test
 * @end: by whom
 * @n: as the how-manieth, from 0 on
 * @id: of which work request
 * @status: with which result
 */
const struct end_done *end_expect(struct kunit *test, struct end *end, unsigned int n,
				  int id, enum ib_wc_status status)
{
	KUNIT_ASSERT_GT(test, end->nr_done, n);
	KUNIT_EXPECT_EQ(test, id, end->done[n].id);
	KUNIT_EXPECT_EQ(test, status, end->done[n].wc.status);
	return &end->done[n];
}

bool end_in_error(struct end *end)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	ib_query_qp(end->qp, &attr, IB_QP_STATE, &init);
	return attr.qp_state == IB_QPS_ERR;
}

static int __init memory_provider_init(void)
{
	return memory_dma_init();
}

static void __exit memory_provider_exit(void)
{
	memory_devices_exit();
	memory_dma_exit();
	fault_print();
}

module_init(memory_provider_init);
module_exit(memory_provider_exit);

MODULE_DESCRIPTION("KUnit: a provider in memory, and client and server over it");
MODULE_LICENSE("GPL");
