// SPDX-License-Identifier: GPL-2.0-only
/* Maps buffers of any shape into memory regions, and compares each run of memory in turn. */
#include <linux/prandom.h>

#include "client.h"

enum { ROUNDS = 2000, DEPTH = 8, PAGES = 24 };

/* A place in the head, the pages and the tail of a buffer, or in those of them that count */
struct place {
	const struct xdr_buf	*buf;
	enum xprtrdma_parts	parts;
	u32			part;
	u32			done;
};

static u32 length_of(const struct place *place)
{
	const struct xdr_buf *buf = place->buf;

	if (place->part == 1)
		return place->parts & XPRTRDMA_PAGES ? buf->page_len : 0;
	if (!(place->parts & XPRTRDMA_KVECS))
		return 0;
	return place->part ? buf->tail[0].iov_len : buf->head[0].iov_len;
}

/* The next bytes that lie in one page, where, and how many; 0 at the end */
static u32 run_at(struct place *place, void **where)
{
	const struct xdr_buf *buf = place->buf;
	u32 at, n;

	while (place->part < 3 && place->done == length_of(place)) {
		place->part++;
		place->done = 0;
	}
	if (place->part == 3)
		return 0;
	if (place->part == 1) {
		at = buf->page_base + place->done;
		*where = page_address(buf->pages[at / PAGE_SIZE]) + at % PAGE_SIZE;
	} else {
		*where = place->part ? buf->tail[0].iov_base : buf->head[0].iov_base;
		*where += place->done;
	}
	n = min_t(u32, PAGE_SIZE - offset_in_page(*where), length_of(place) - place->done);
	place->done += n;
	return n;
}

/* The regions have the first @left bytes, or all that there are, run by run. */
static void check_regions(struct kunit *test, struct list_head *mrs, struct place *place, u32 left)
{
	struct rpcrdma_region *region;
	u32 i, n, seen = 0;
	void *where;

	list_for_each_entry(region, mrs, rg_list) {
		KUNIT_ASSERT_GT(test, region->rg_nents, 0);
		for (i = 0; i < region->rg_nents; i++) {
			n = min(run_at(place, &where), left - seen);
			KUNIT_ASSERT_NE(test, 0, n);
			KUNIT_ASSERT_PTR_EQ(test, where, sg_virt(&region->rg_sg[i]));
			KUNIT_ASSERT_EQ(test, n, region->rg_sg[i].length);
			/* Between two elements, a region without gaps has none. */
			if (i && region->rg_mr->type != IB_MR_TYPE_SG_GAPS)
				KUNIT_ASSERT_EQ(test, 0, region->rg_sg[i].offset);
			seen += n;
		}
	}
	if (seen < left)
		KUNIT_EXPECT_EQ(test, 0, run_at(place, &where));
}

static void random_shape(struct rnd_state *random, struct xdr_buf *buf, u32 head, u32 tail)
{
	u32 room = PAGES * PAGE_SIZE;

	buf->page_base = prandom_u32_state(random) % (3 * PAGE_SIZE);
	buf->page_len = prandom_u32_state(random) % (room - buf->page_base);
	switch (prandom_u32_state(random) % 4) {
	case 0:
		buf->page_base &= PAGE_MASK;
		break;
	case 1:
		buf->page_len &= PAGE_MASK;
		break;
	case 2:
		buf->page_len = 0;
	}
	buf->head[0].iov_len = prandom_u32_state(random) % (head + 1);
	buf->tail[0].iov_len = prandom_u32_state(random) % (tail + 1);
}

static void check_any_buffer(struct kunit *test, bool gaps)
{
	static const struct client_shape shape = {
		.head = 200, .pages = PAGES * PAGE_SIZE, .tail = 100, .reply_head = 16,
	};
	struct client *client = client_create(test);
	struct client_call *call;
	struct xprtrdma_mr_list *mrs;
	struct rnd_state random;
	struct xdr_buf *buf;
	u32 i, left;
	int count;

	client->fake->ib.attrs.max_fast_reg_page_list_len = DEPTH;
	if (gaps)
		client->fake->ib.attrs.kernel_cap_flags |= IBK_SG_GAPS_REG;
	client_connect(client);
	call = client_call_create(client, &shape);
	mrs = &xprtrdma_request_of(&call->rqst)->rq_registered;
	buf = &call->rqst.rq_snd_buf;
	prandom_seed_state(&random, 8166);

	for (i = 0; i < ROUNDS; i++) {
		enum xprtrdma_parts parts = 1 + i % 3;
		struct xprtrdma_cursor cursor = { .buf = buf, .parts = parts };
		struct place place = { .buf = buf, .parts = parts };

		random_shape(&random, buf, shape.head, shape.tail);
		left = prandom_u32_state(&random) % (PAGES * PAGE_SIZE);
		cursor.left = i % 2 ? left : U32_MAX;
		count = xprtrdma_frwr_map(client->conn, mrs, &cursor, IB_ACCESS_REMOTE_READ);
		KUNIT_ASSERT_GE(test, count, 0);
		KUNIT_ASSERT_EQ(test, (size_t)count, list_count_nodes(&mrs->ml_mrs));
		check_regions(test, &mrs->ml_mrs, &place, i % 2 ? left : U32_MAX);
		xprtrdma_frwr_recycle(mrs);
	}
	buf->page_base = 0;
	buf->page_len = shape.pages;
	buf->head[0].iov_len = shape.head;
	buf->tail[0].iov_len = shape.tail;
	client_expect_at_rest(client);
}

static void frwr_any_buffer_whole(struct kunit *test)
{
	check_any_buffer(test, false);
}

static void frwr_any_buffer_with_gaps(struct kunit *test)
{
	check_any_buffer(test, true);
}

static struct kunit_case frwr_walk_cases[] = {
	KUNIT_CASE(frwr_any_buffer_whole),
	KUNIT_CASE(frwr_any_buffer_with_gaps),
	{}
};

static struct kunit_suite frwr_walk_suite = {
	.name = "xprtrdma_frwr_walk",
	.test_cases = frwr_walk_cases,
};

kunit_test_suites(&frwr_walk_suite);
