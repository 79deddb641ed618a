// SPDX-License-Identifier: GPL-2.0-only
/* The provider in memory: which accesses to memory it allows; RFC 4296 section 3. */
#include "ends.h"

#define READABLE	IB_ACCESS_REMOTE_READ
#define WRITABLE	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE)

enum how { BY_WRITE, BY_READ, BY_SEND };

/**
 * struct access_case - a uses an STag of b
 * @desc: name
 * @how: for what
 * @access: that it was registered for
 * @at: offset from the beginning of the region
 * @length: bytes
 * @key: added to the STag
 * @before: was done with it before
 * @local: the STag is that of all memory
 * @status: how it ends
 */
struct access_case {
	const char		*desc;
	enum how		how;
	int			access;
	s64			at;
	u32			length;
	u32			key;
	enum { NOTHING, INVALIDATED, FROM_PEER } before;
	bool			local;
	enum ib_wc_status	status;
};

enum { REGION_AT = 300, REGION = 5000 };

#define REFUSED	.status = IB_WC_REM_ACCESS_ERR

static const struct access_case access_cases[] = {
	{ "write, all of it", BY_WRITE, WRITABLE, 0, REGION },
	{ "write, the last byte", BY_WRITE, WRITABLE, REGION - 1, 1 },
	{ "write, one byte too many", BY_WRITE, WRITABLE, 0, REGION + 1, REFUSED },
	{ "write, behind the end", BY_WRITE, WRITABLE, REGION, 1, REFUSED },
	{ "write, before the beginning", BY_WRITE, WRITABLE, -1, 2, REFUSED },
	{ "write, address wraps", BY_WRITE, WRITABLE, -REGION_AT - 1, REGION, REFUSED },
	{ "write, registered for reading", BY_WRITE, READABLE, 0, 1, REFUSED },
	{ "write, registered for local use", BY_WRITE, IB_ACCESS_LOCAL_WRITE, 0, 1, REFUSED },
	{ "write, another key", BY_WRITE, WRITABLE, 0, 1, .key = 1, REFUSED },
	{ "write, another index", BY_WRITE, WRITABLE, 0, 1, .key = 0x100, REFUSED },
	{ "write, invalidated", BY_WRITE, WRITABLE, 0, 1, .before = INVALIDATED, REFUSED },
	{ "write, invalidated by the peer", BY_WRITE, WRITABLE, 0, 1, .before = FROM_PEER,
	  REFUSED },
	{ "write, the STag of all memory", BY_WRITE, WRITABLE, 0, 1, .local = true, REFUSED },
	{ "read, all of it", BY_READ, READABLE, 0, REGION },
	{ "read, one byte too many", BY_READ, READABLE, 1, REGION, REFUSED },
	{ "read, before the beginning", BY_READ, READABLE, -1, 2, REFUSED },
	{ "read, address wraps", BY_READ, READABLE, -REGION_AT - 1, REGION, REFUSED },
	{ "read, registered for writing", BY_READ, WRITABLE, 0, 1, REFUSED },
	{ "read, both rights", BY_READ, READABLE | WRITABLE, 0, 1 },
	{ "read, another key", BY_READ, READABLE, 0, 1, .key = 1, REFUSED },
	{ "read, invalidated", BY_READ, READABLE, 0, 1, .before = INVALIDATED, REFUSED },
	{ "read, invalidated by the peer", BY_READ, READABLE, 0, 1, .before = FROM_PEER,
	  REFUSED },
	{ "read, the STag of all memory", BY_READ, READABLE, 0, 1, .local = true, REFUSED },
	{ "invalidate", BY_SEND, READABLE, 0, 8 },
	{ "invalidate, another key", BY_SEND, READABLE, 0, 8, .key = 1, REFUSED },
	{ "invalidate, invalidated", BY_SEND, READABLE, 0, 8, .before = INVALIDATED,
	  REFUSED },
	{ "invalidate, twice", BY_SEND, READABLE, 0, 8, .before = FROM_PEER, REFUSED },
	{ "invalidate, the STag of all memory", BY_SEND, READABLE, 0, 8, .local = true,
	  REFUSED },
};

KUNIT_ARRAY_PARAM_DESC(access, access_cases, desc);

static void use(struct ends *e, int id, enum how how, u64 remote, u32 key, u32 sink,
		u32 length)
{
	struct ib_sge local = end_sge(&e->a, 0, length);

	switch (how) {
	case BY_WRITE:
		end_write(&e->a, id, 0, length, remote, key);
		break;
	case BY_READ:
		local.addr += 8192;
		local.lkey = sink;
		end_post(&e->a, id, IB_WR_RDMA_READ, local, remote, key);
		break;
	case BY_SEND:
		end_post(&e->a, id, IB_WR_SEND_WITH_INV, local, 0, key);
		break;
	}
}

static void end_it(struct ends *e, const struct access_case *c, u32 key)
{
	if (c->before == INVALIDATED)
		end_invalidate(&e->b, 1, key);
	if (c->before == FROM_PEER)
		use(e, 1, BY_SEND, 0, key, 0, 8);
	end_poll(&e->a);
	end_poll(&e->b);
	e->a.nr_done = 0;
	e->b.nr_done = 0;
}

static void check_access(struct kunit *test, bool iwarp)
{
	const struct access_case *c = test->param_value;
	struct ends *e = ends_create(test, iwarp);
	u32 key, sink;

	/* Arrange */
	end_recv(&e->b, 0, 12288, 64);
	end_recv(&e->b, 1, 12352, 64);
	key = end_register(&e->b, 2, REGION_AT, REGION, c->access);
	sink = end_register(&e->a, 2, 8192, REGION + 1, WRITABLE);
	end_it(e, c, key);

	/* Act */
	use(e, 3, c->how, e->b.address + REGION_AT + c->at,
	    c->local ? e->b.pd->local_dma_lkey : key + c->key, sink, c->length);
	end_poll(&e->a);
	end_poll(&e->b);

	/* Assert: no byte was touched, and neither end is of use any more */
	end_expect(test, &e->a, 0, 3, c->status);
	KUNIT_EXPECT_EQ(test, c->status != IB_WC_SUCCESS, end_in_error(&e->a));
	KUNIT_EXPECT_EQ(test, c->status != IB_WC_SUCCESS, end_in_error(&e->b));
	if (c->status == IB_WC_SUCCESS)
		return;
	KUNIT_EXPECT_PTR_EQ(test, NULL, memchr_inv(e->b.bytes, 0, REGION_AT + REGION + 64));
	if (c->how == BY_SEND)	/* not delivered */
		KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, e->b.done[0].wc.status);
}

/*
 * RFC 4296 section 3 and 3.2 (A6, A7, A8, A11), RFC 5040 sections 7.2 and 8.1.1, 3 to 6:
 * only supplied buffers, for what they were supplied, within their bounds and their time.
 */
static void access_on_infiniband(struct kunit *test)
{
	check_access(test, false);
}

static void access_on_iwarp(struct kunit *test)
{
	check_access(test, true);
}

/*
 * RFC 4296 sections 2.1.3 and 3.1 (A1, A9), RFC 5040 sections 7.2 and 8.1.1, 1: an STag of
 * another stream of the same device is none of ours, to use or to invalidate.
 */
static void check_foreign(struct kunit *test, enum how how)
{
	struct ends *e = ends_create(test, false);
	struct ends *other = ends_create_beside(test, e);
	u32 key = end_register(&other->b, 0, 0, 64, READABLE | WRITABLE);

	end_poll(&other->b);
	end_expect(test, &other->b, 0, 0, IB_WC_SUCCESS);
	end_recv(&e->b, 0, 0, 64);
	use(e, 1, how, other->b.address, key, e->a.pd->local_dma_lkey, 8);
	end_poll(&e->a);
	end_expect(test, &e->a, 0, 1, IB_WC_REM_ACCESS_ERR);

	/* Theirs works on: RFC 5040 section 5.5, 1. */
	use(other, 1, BY_READ, other->b.address, key, other->a.pd->local_dma_lkey, 8);
	end_poll(&other->a);
	end_expect(test, &other->a, 0, 1, IB_WC_SUCCESS);
}

static void stag_of_another_stream(struct kunit *test)
{
	check_foreign(test, BY_READ);
	check_foreign(test, BY_WRITE);
	check_foreign(test, BY_SEND);
}

/* Nor can it be registered from here. */
static void region_of_another_protection_domain(struct kunit *test)
{
	struct ends *e = ends_create(test, false);
	struct ends *other = ends_create_beside(test, e);

	swap(e->b.mr, other->b.mr);
	end_register(&e->b, 0, 0, 64, READABLE);
	swap(e->b.mr, other->b.mr);
	end_poll(&e->b);
	end_expect(test, &e->b, 0, 0, IB_WC_MW_BIND_ERR);
}

/* Rights are those of the last registration. */
static void rights_change_with_each_registration(struct kunit *test)
{
	struct ends *e = ends_create(test, false);
	u32 first = end_register(&e->b, 0, 0, 64, WRITABLE), second;

	end_invalidate(&e->b, 1, first);
	end_poll(&e->b);
	second = end_register(&e->b, 2, 0, 64, READABLE);
	KUNIT_EXPECT_NE(test, first, second);
	end_read(&e->a, 0, 0, 64, e->b.address, second);
	end_write(&e->a, 1, 0, 64, e->b.address, second);
	end_poll(&e->a);
	end_expect(test, &e->a, 0, 0, IB_WC_SUCCESS);
	end_expect(test, &e->a, 1, 1, IB_WC_REM_ACCESS_ERR);
}

/* A region that is in use is not registered again, nor mapped again. */
static void registering_twice_is_an_error(struct kunit *test)
{
	struct ends *e = ends_create(test, false);

	end_register(&e->b, 0, 0, 64, READABLE);
	end_register(&e->b, 1, 0, 64, READABLE);
	end_poll(&e->b);
	end_expect(test, &e->b, 0, 0, IB_WC_SUCCESS);
	end_expect(test, &e->b, 1, 1, IB_WC_MW_BIND_ERR);
	KUNIT_EXPECT_EQ(test, 1, memory_complaints(e->b.device));
}

/* The owner's own invalidation of what is not registered. */
static void invalidating_nothing_is_an_error(struct kunit *test)
{
	struct ends *e = ends_create(test, false);

	end_invalidate(&e->b, 0, e->b.mr->rkey);
	end_poll(&e->b);
	end_expect(test, &e->b, 0, 0, IB_WC_LOC_QP_OP_ERR);
}

/* RFC 4296 section 3 (A6): what is not mapped for DMA is not touched. */
static void memory_has_to_be_mapped(struct kunit *test)
{
	struct ends *e = ends_create(test, false);
	struct ib_sge sge = end_sge(&e->a, 0, 64);

	sge.addr += END_BYTES;
	end_recv(&e->b, 0, 0, 64);
	end_post(&e->a, 0, IB_WR_SEND, sge, 0, 0);
	end_poll(&e->a);
	KUNIT_EXPECT_NE(test, IB_WC_SUCCESS, e->a.done[0].wc.status);
	KUNIT_EXPECT_EQ(test, 1, memory_complaints(e->a.device));
}

/* Mapped for reading by the device, and a message is put there. */
static void memory_has_to_be_mapped_for_the_direction(struct kunit *test)
{
	struct ends *e = ends_create(test, false);
	struct ib_device *device = &e->b.device->ib;
	void *bytes = kunit_kzalloc(test, 64, GFP_KERNEL);
	struct ib_sge sge = { .length = 64, .lkey = e->b.pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_cqe = &e->b.cqes[0].cqe, .sg_list = &sge,
				 .num_sge = 1 };

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	sge.addr = ib_dma_map_single(device, bytes, 64, DMA_TO_DEVICE);
	KUNIT_ASSERT_EQ(test, 0, ib_dma_mapping_error(device, sge.addr));
	KUNIT_ASSERT_EQ(test, 0, ib_post_recv(e->b.qp, &wr, NULL));
	end_send(&e->a, 0, 0, 8);
	end_poll(&e->b);
	end_expect(test, &e->b, 0, 0, IB_WC_LOC_PROT_ERR);
	KUNIT_EXPECT_EQ(test, 1, memory_complaints(e->b.device));
	ib_dma_unmap_single(device, sge.addr, 64, DMA_TO_DEVICE);
}

/* iWARP: the answer to a Read is placed like a Write; plain memory will not do. */
static void read_sink_on_iwarp_is_registered(struct kunit *test)
{
	struct ends *e = ends_create(test, true);
	u32 key = end_register(&e->b, 0, 0, 64, READABLE);

	end_read(&e->a, 0, 0, 64, e->b.address, key);
	end_poll(&e->a);
	end_expect(test, &e->a, 0, 0, IB_WC_LOC_PROT_ERR);
}

static struct kunit_case access_test_cases[] = {
	KUNIT_CASE_PARAM(access_on_infiniband, access_gen_params),
	KUNIT_CASE_PARAM(access_on_iwarp, access_gen_params),
	KUNIT_CASE(stag_of_another_stream),
	KUNIT_CASE(region_of_another_protection_domain),
	KUNIT_CASE(rights_change_with_each_registration),
	KUNIT_CASE(registering_twice_is_an_error),
	KUNIT_CASE(invalidating_nothing_is_an_error),
	KUNIT_CASE(memory_has_to_be_mapped),
	KUNIT_CASE(memory_has_to_be_mapped_for_the_direction),
	KUNIT_CASE(read_sink_on_iwarp_is_registered),
	{}
};

static struct kunit_suite access_suite = {
	.name = "memory_access",
	.test_cases = access_test_cases,
};

kunit_test_suite(access_suite);
