// SPDX-License-Identifier: GPL-2.0-only
/* Memory regions of the client: mapping, R_keys, the chain of work requests, and the pool. */
#include "client.h"

static const struct client_shape two_pages = {
	.head = 64, .pages = 2 * PAGE_SIZE, .reply_head = 64,
};

/* As the connect worker, on a device with regions of @depth pages. */
static struct client *connected(struct kunit *test, u32 depth, bool gaps)
{
	struct client *client = client_create(test);

	client->fake->ib.attrs.max_fast_reg_page_list_len = depth;
	if (gaps)
		client->fake->ib.attrs.kernel_cap_flags |= IBK_SG_GAPS_REG;
	client_connect(client);
	return client;
}

/* Maps the call's buffer as one chunk. */
static int map(struct client_call *call, enum xprtrdma_parts parts, bool writable)
{
	struct xprtrdma_request *request = xprtrdma_request_of(&call->rqst);

	rpcrdma_lists_init(&call->lists, call->segments, CLIENT_SEGMENTS, call->chunks,
			   CLIENT_CHUNKS);
	rpcrdma_lists_begin_write(&call->lists);
	return xprtrdma_frwr_map_chunk(call->client->conn, &request->rq_registered,
				       &call->rqst.rq_snd_buf, parts, writable, &call->lists);
}

/* Posts what was mapped, together with a Send. */
static int post(struct client_call *call)
{
	struct xprtrdma_conn *conn = call->client->conn;
	struct xprtrdma_send *send = xprtrdma_send_reserve(conn);

	/* Nothing is answered here. */
	conn->xc_window.in_flight = 0;
	KUNIT_ASSERT_NOT_NULL(call->client->test, send);
	return xprtrdma_send_call(send, RPCRDMA_MIN_HEADER_SIZE,
				  xprtrdma_request_of(&call->rqst));
}

/* The peer's own end of the R_keys, as after an RPC that was invalidated remotely. */
static void unmap(struct client_call *call)
{
	struct xprtrdma_mr_list *mrs = &xprtrdma_request_of(&call->rqst)->rq_registered;
	u32 i;

	fake_run_all(call->client->qp);
	for (i = 0; i < call->lists.nr_segments; i++) {
		fake_mr_invalidate(call->client->fake, call->segments[i].handle);
		KUNIT_EXPECT_TRUE(call->client->test,
				  xprtrdma_frwr_reminv(mrs, call->segments[i].handle));
	}
	xprtrdma_frwr_recycle(mrs);
}

struct map_case {
	const char		*desc;
	u32			depth;
	bool			gaps;
	u32			head, base, pages, tail;
	enum xprtrdma_parts	parts;
	int			segments;
};

static const struct map_case map_cases[] = {
	{ "head only", 16, false, 100, 0, 0, 0, XPRTRDMA_ALL, 1 },
	{ "tail only", 16, false, 0, 0, 0, 100, XPRTRDMA_ALL, 1 },
	{ "head and tail side by side", 16, false, 100, 0, 0, 60, XPRTRDMA_ALL, 2 },
	{ "head and tail, gaps allowed", 16, true, 100, 0, 0, 60, XPRTRDMA_ALL, 1 },
	{ "head, pages, tail", 16, false, 100, 0, 8192, 60, XPRTRDMA_ALL, 3 },
	{ "head, pages, tail, gaps allowed", 16, true, 100, 0, 8192, 60, XPRTRDMA_ALL, 1 },
	{ "kvecs without the pages", 16, false, 100, 0, 8192, 60, XPRTRDMA_KVECS, 2 },
	{ "one byte in the middle of a page", 16, false, 8, 2000, 1, 0, XPRTRDMA_PAGES, 1 },
	{ "two bytes across a page boundary", 16, false, 8, 4095, 2, 0, XPRTRDMA_PAGES, 1 },
	{ "odd start and odd end", 16, false, 8, 1, 3 * 4096 + 5, 0, XPRTRDMA_PAGES, 1 },
	{ "start in the third page", 16, false, 8, 2 * 4096 + 17, 4096, 0, XPRTRDMA_PAGES, 1 },
	{ "exactly the depth", 16, false, 8, 0, 16 * 4096, 0, XPRTRDMA_PAGES, 1 },
	{ "a byte more than the depth", 16, false, 8, 0, 16 * 4096 + 1, 0, XPRTRDMA_PAGES, 2 },
	{ "the depth, shifted by a byte", 16, false, 8, 1, 16 * 4096, 0, XPRTRDMA_PAGES, 2 },
	{ "a byte less, shifted by a byte", 16, false, 8, 1, 16 * 4096 - 1, 0, XPRTRDMA_PAGES, 1 },
	{ "twice the depth, gaps allowed", 16, true, 8, 0, 32 * 4096, 0, XPRTRDMA_PAGES, 2 },
	{ "the depth is used up by head and pages", 4, true, 8, 0, 3 * 4096, 0, XPRTRDMA_ALL, 1 },
	{ "the tail is one too many", 4, true, 8, 0, 3 * 4096, 8, XPRTRDMA_ALL, 2 },
	{ "one page for a region", 1, false, 8, 0, 16 * 4096, 0, XPRTRDMA_PAGES, 16 },
	{ "1 MiB", 64, false, 8, 123, (1 << 20), 4, XPRTRDMA_PAGES, 5 },
};

KUNIT_ARRAY_PARAM_DESC(map, map_cases, desc);

/* What the mapping of @parts should show, in @to. Returns its length. */
static u32 expected_bytes(const struct client_call *call, enum xprtrdma_parts parts,
			  u8 *to)
{
	const struct xdr_buf *buf = &call->rqst.rq_snd_buf;
	u32 head = buf->head[0].iov_len, tail = buf->tail[0].iov_len, n = 0;

	if (parts & XPRTRDMA_KVECS) {
		memcpy(to, call->message, head);
		n = head;
	}
	if (parts & XPRTRDMA_PAGES) {
		memcpy(to + n, call->message + head, buf->page_len);
		n += buf->page_len;
	}
	if (parts & XPRTRDMA_KVECS) {
		memcpy(to + n, call->message + head + buf->page_len, tail);
		n += tail;
	}
	return n;
}

static void expect_exposed(struct client_call *call, enum xprtrdma_parts parts)
{
	struct kunit *test = call->client->test;
	u8 *want = kvzalloc(call->length, GFP_KERNEL);
	u8 *seen = kvzalloc(call->length + 1, GFP_KERNEL);
	u32 i, at = 0, length;

	KUNIT_ASSERT_TRUE(test, want && seen);
	length = expected_bytes(call, parts, want);
	KUNIT_ASSERT_EQ(test, length, call->chunks[0].length);
	for (i = 0; i < call->lists.nr_segments; i++) {
		const struct rpcrdma_segment *segment = &call->segments[i];
		struct fake_device *fake = call->client->fake;

		/* RFC 5042 section 6.3.4: not a byte before it, not a byte behind it */
		KUNIT_EXPECT_FALSE(test, fake_read(fake, segment->handle,
						   segment->offset - 1, seen + at, 1));
		KUNIT_EXPECT_FALSE(test, fake_read(fake, segment->handle, segment->offset,
						   seen + at, segment->length + 1));
		KUNIT_EXPECT_TRUE(test, fake_read(fake, segment->handle, segment->offset,
						  seen + at, segment->length));
		at += segment->length;
	}
	KUNIT_EXPECT_EQ(test, 0, memcmp(want, seen, length));
	kvfree(want);
	kvfree(seen);
}

static void frwr_map_shows_the_buffer(struct kunit *test)
{
	const struct map_case *c = test->param_value;
	struct client *client = connected(test, c->depth, c->gaps);
	struct client_shape shape = {
		.head = c->head, .base = c->base, .pages = c->pages, .tail = c->tail,
		.reply_head = 16,
	};
	struct client_call *call;
	u32 bound;

	/* Arrange */
	if (!shape.head)
		shape.head = 8;
	call = client_call_create(client, &shape);
	call->rqst.rq_snd_buf.head[0].iov_len = c->head;
	if (!c->head)
		memmove(call->message, call->message + 8, call->length - 8);
	bound = xprtrdma_frwr_segments(client->conn, &call->rqst.rq_snd_buf, c->parts);

	/* Act */
	KUNIT_EXPECT_EQ(test, c->segments, map(call, c->parts, false));
	KUNIT_EXPECT_EQ(test, 0, post(call));
	fake_run_all(client->qp);

	/* Assert */
	KUNIT_EXPECT_EQ(test, (u32)c->segments, call->lists.nr_segments);
	KUNIT_EXPECT_LE(test, (u32)c->segments, bound);
	KUNIT_EXPECT_EQ(test, (u32)c->segments, fake_valid_rkeys(client->fake));
	expect_exposed(call, c->parts);
	unmap(call);
	client_expect_at_rest(client);
}

/* RFC 8166 sections 8.1.3 and 8.1.2: never the last one again, and nothing that it tells. */
static void frwr_rkey_differs_at_each_use(struct kunit *test)
{
	enum { ROUNDS = 200 };
	struct client *client = connected(test, 16, false);
	struct client_call *call = client_call_create(client, &two_pages);
	u32 i, key, last = 0, step, last_step = 0, same_steps = 0;

	for (i = 0; i < ROUNDS; i++) {
		KUNIT_ASSERT_EQ(test, 1, map(call, XPRTRDMA_PAGES, false));
		key = call->segments[0].handle;
		KUNIT_ASSERT_EQ(test, 0, post(call));
		unmap(call);
		KUNIT_ASSERT_NE(test, last, key);
		step = (key - last) & 0xff;
		same_steps += step == last_step;
		last = key;
		last_step = step;
	}
	/* One in 255, if nothing tells. */
	KUNIT_EXPECT_LT(test, same_steps, (u32)ROUNDS / 10);
	client_expect_at_rest(client);
}

static void frwr_chain_is_registrations_then_send(struct kunit *test)
{
	struct client *client = connected(test, 1, false);
	struct client_shape shape = { .head = 64, .pages = 5 * PAGE_SIZE, .reply_head = 64 };
	struct client_call *call = client_call_create(client, &shape);
	u32 i, k, found;

	/* Act */
	KUNIT_ASSERT_EQ(test, 5, map(call, XPRTRDMA_PAGES, false));
	KUNIT_ASSERT_EQ(test, 0, post(call));

	/* Assert */
	KUNIT_ASSERT_EQ(test, 6, fake_posted(client->qp));
	for (i = 0; i < 5; i++) {
		struct fake_wr *wr = fake_wr(client->qp, i);

		KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, wr->opcode);
		KUNIT_EXPECT_EQ(test, 0, wr->flags);
		KUNIT_EXPECT_EQ(test, fake_wr(client->qp, 5)->post, wr->post);
		for (found = 0, k = 0; k < 5; k++)
			found += call->segments[k].handle == wr->rkey;
		KUNIT_EXPECT_EQ(test, 1, found);
	}
	KUNIT_EXPECT_EQ(test, IB_WR_SEND, fake_wr(client->qp, 5)->opcode);
	unmap(call);
}

static void frwr_access_is_one_direction(struct kunit *test)
{
	struct client *client = connected(test, 16, false);
	struct client_call *reader = client_call_create(client, &two_pages);
	struct client_call *writer = client_call_create(client, &two_pages);

	/* Act */
	KUNIT_ASSERT_EQ(test, 1, map(reader, XPRTRDMA_PAGES, false));
	KUNIT_ASSERT_EQ(test, 0, post(reader));
	KUNIT_ASSERT_EQ(test, 1, map(writer, XPRTRDMA_PAGES, true));
	KUNIT_ASSERT_EQ(test, 0, post(writer));

	/* Assert: RFC 5042 section 6.3.5 */
	KUNIT_EXPECT_EQ(test, IB_ACCESS_REMOTE_READ, fake_wr(client->qp, 0)->access);
	KUNIT_EXPECT_EQ(test, IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE,
			fake_wr(client->qp, 2)->access);
	unmap(reader);
	unmap(writer);
}

static void frwr_map_with_too_many_segments(struct kunit *test)
{
	struct client *client = connected(test, 1, false);
	struct client_shape shape = { .head = 64, .pages = 17 * PAGE_SIZE, .reply_head = 64 };
	struct client_call *call = client_call_create(client, &shape);

	KUNIT_EXPECT_EQ(test, -EMSGSIZE, map(call, XPRTRDMA_PAGES, false));
	xprtrdma_frwr_recycle(&xprtrdma_request_of(&call->rqst)->rq_registered);
	client_expect_at_rest(client);
}

static void frwr_map_with_an_empty_pool(struct kunit *test)
{
	struct client *client = connected(test, 1, false);
	struct client_shape shape = { .head = 64, .pages = 16 * PAGE_SIZE, .reply_head = 64 };
	struct client_call *call = client_call_create(client, &shape);
	unsigned int left = client_free_mrs(client);
	int rc = 0;

	/* Act */
	while (!rc) {
		rc = map(call, XPRTRDMA_PAGES, false);
		if (rc > 0)
			rc = 0;
	}

	/* Assert */
	KUNIT_EXPECT_EQ(test, -EAGAIN, rc);
	KUNIT_EXPECT_EQ(test, 0, client_free_mrs(client));
	xprtrdma_frwr_recycle(&xprtrdma_request_of(&call->rqst)->rq_registered);
	KUNIT_EXPECT_EQ(test, left, client_free_mrs(client));
	client_expect_at_rest(client);
}

static void frwr_map_refused_by_the_device(struct kunit *test)
{
	struct client *client = connected(test, 1, false);
	struct client_shape shape = { .head = 64, .pages = 4 * PAGE_SIZE, .reply_head = 64 };
	struct client_call *call = client_call_create(client, &shape);

	client->fake->map_accept = 2;
	KUNIT_EXPECT_EQ(test, -EIO, map(call, XPRTRDMA_PAGES, false));
	xprtrdma_frwr_recycle(&xprtrdma_request_of(&call->rqst)->rq_registered);
	client_expect_at_rest(client);
}

/* A device that takes three elements where a region has room for sixteen */
static void frwr_map_taken_in_part(struct kunit *test)
{
	struct client *client = connected(test, 16, false);
	struct client_shape shape = { .head = 64, .base = 100, .pages = 8 * PAGE_SIZE,
				      .reply_head = 64 };
	struct client_call *call = client_call_create(client, &shape);
	u32 lengths[] = { 3 * PAGE_SIZE - 100, 3 * PAGE_SIZE, 2 * PAGE_SIZE + 100 }, i, at = 0;
	u8 *seen = kunit_kzalloc(test, 8 * PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, seen);
	client->fake->map_takes = 3;
	KUNIT_ASSERT_EQ(test, 3, map(call, XPRTRDMA_PAGES, false));
	KUNIT_ASSERT_EQ(test, 0, post(call));
	fake_run_all(client->qp);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, lengths[i], call->segments[i].length);
		KUNIT_EXPECT_TRUE(test, fake_read(client->fake, call->segments[i].handle,
						  call->segments[i].offset, seen + at,
						  lengths[i]));
		at += lengths[i];
	}
	KUNIT_EXPECT_EQ(test, 0, memcmp(seen, call->message + 64, 8 * PAGE_SIZE));
	unmap(call);
	client_expect_at_rest(client);
}

/* Its pages are a quarter of ours: a region for 16 of them holds 4 of ours. */
static void frwr_small_device_pages(struct kunit *test)
{
	struct client *client = client_create(test);
	struct client_call *call;
	struct rpcrdma_region *region;

	client->fake->ib.attrs.page_size_cap = PAGE_SIZE / 4 | PAGE_SIZE / 8 | 4 * PAGE_SIZE;
	client->fake->ib.attrs.max_fast_reg_page_list_len = 16;
	client_connect(client);
	KUNIT_EXPECT_EQ(test, 4, client->conn->xc_queues.mr_pages);
	call = client_call_create(client, &(struct client_shape){
		.head = 64, .pages = 6 * PAGE_SIZE, .reply_head = 64 });
	KUNIT_ASSERT_EQ(test, 2, map(call, XPRTRDMA_PAGES, false));
	region = list_first_entry(&xprtrdma_request_of(&call->rqst)->rq_registered.ml_mrs,
				  struct rpcrdma_region, rg_list);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE / 4, region->rg_mr->page_size);
	KUNIT_EXPECT_EQ(test, 4 * PAGE_SIZE, region->rg_mr->length);
	xprtrdma_frwr_recycle(&xprtrdma_request_of(&call->rqst)->rq_registered);
	client_expect_at_rest(client);
}

/* RFC 8166 section 8.1: neither tells where memory is, nor what comes next. */
static void frwr_offsets_tell_nothing(struct kunit *test)
{
	struct client *client = connected(test, 16, false);
	struct client_call *call = client_call_create(client, &two_pages);
	u64 offset, before = 0;
	int i;

	for (i = 0; i < 8; i++) {
		KUNIT_ASSERT_EQ(test, 1, map(call, XPRTRDMA_PAGES, false));
		offset = call->segments[0].offset;
		KUNIT_EXPECT_EQ(test, call->rqst.rq_snd_buf.page_base, offset_in_page(offset));
		KUNIT_EXPECT_NE(test, offset & PAGE_MASK,
				(u64)(uintptr_t)page_address(call->pages[0]));
		KUNIT_EXPECT_NE(test, before, offset);
		KUNIT_EXPECT_LT(test, offset, 1ULL << 63);
		before = offset;
		xprtrdma_frwr_recycle(&xprtrdma_request_of(&call->rqst)->rq_registered);
	}
	client_expect_at_rest(client);
}

static void frwr_recycle_without_regions(struct kunit *test)
{
	struct client *client = connected(test, 16, false);
	struct client_call *call = client_call_create(client, &two_pages);

	xprtrdma_frwr_recycle(&xprtrdma_request_of(&call->rqst)->rq_registered);
	xprtrdma_frwr_recycle(&xprtrdma_request_of(&call->rqst)->rq_registered);
	client_expect_at_rest(client);
}

/* Each accepted number of work requests, before the Send and at it. */
static void frwr_post_failure(struct kunit *test)
{
	struct client_shape shape = { .head = 64, .pages = 3 * PAGE_SIZE, .reply_head = 64 };
	int accept;

	for (accept = 0; accept <= 3; accept++) {
		struct client *client = client_of(test);
		struct client_call *call;

		/* Arrange */
		client_connect(client);
		call = client_call_create(client, &shape);
		KUNIT_ASSERT_EQ(test, 3, map(call, XPRTRDMA_PAGES, false));
		client->qp->accept = accept;

		/* Act */
		KUNIT_EXPECT_EQ(test, -ENOTCONN, post(call));

		/* Assert: all comes back with the end of the connection */
		client_expect_failed(client);
		client->qp->accept = -1;
		client_disconnect(client);
		client_call_destroy(call);
	}
}

static int frwr_failure_init(struct kunit *test)
{
	struct client *client = client_create(test);

	client->fake->ib.attrs.max_fast_reg_page_list_len = 1;
	return 0;
}

static void more(struct client *client)
{
	xprtrdma_mrs_grow(client->conn);
	flush_work(&client->conn->xc_mr.worker);
}

static void frwr_pool_grows_to_its_limit(struct kunit *test)
{
	struct client *client = connected(test, 64, false);
	unsigned int limit = client->conn->xc_queues.regions;

	while (client->conn->xc_mr.count < limit)
		more(client);
	more(client);
	KUNIT_EXPECT_EQ(test, limit, client->conn->xc_mr.count);
	KUNIT_EXPECT_EQ(test, limit, client->fake->nr_mrs);
	client_expect_at_rest(client);
}

static void frwr_pool_keeps_what_it_could_get(struct kunit *test)
{
	struct client *client = connected(test, 16, false);
	unsigned int before = client->conn->xc_mr.count;

	client->fake->mr_accept = 3;
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_mrs_create(client->conn, 10));
	KUNIT_EXPECT_EQ(test, before + 3, client->conn->xc_mr.count);
	client_expect_at_rest(client);
}

/* A registration that fails is seen although it is unsignalled. */
static void frwr_registration_fails(struct kunit *test)
{
	struct client *client = connected(test, 16, false);
	struct client_call *call = client_call_create(client, &two_pages);

	KUNIT_ASSERT_EQ(test, 1, map(call, XPRTRDMA_PAGES, false));
	KUNIT_ASSERT_EQ(test, 0, post(call));
	fake_fail(client->qp, IB_WC_LOC_PROT_ERR);
	client_expect_failed(client);
}

struct query_case {
	const char	*desc;
	u64		cap_flags;
	u64		kernel_cap_flags;
	u32		fast_reg;
	int		sge_rd;
	int		rc;
	enum ib_mr_type	type;
	u32		pages;
};

static const struct query_case query_cases[] = {
	{ "no fast registration", 0, 0, 256, 1, -ENODEV, 0, 0 },
	{ "no pages", IB_DEVICE_MEM_MGT_EXTENSIONS, 0, 0, 1, -ENODEV, 0, 0 },
	{ "plain", IB_DEVICE_MEM_MGT_EXTENSIONS, 0, 256, 1, 0, IB_MR_TYPE_MEM_REG, 256 },
	{ "gaps", IB_DEVICE_MEM_MGT_EXTENSIONS, IBK_SG_GAPS_REG, 256, 1, 0,
	  IB_MR_TYPE_SG_GAPS, 256 },
	{ "a depth that is fast", IB_DEVICE_MEM_MGT_EXTENSIONS, 0, 256, 30, 0,
	  IB_MR_TYPE_MEM_REG, 30 },
	{ "plain SGEs of a Read", IB_DEVICE_MEM_MGT_EXTENSIONS, 0, 256, 16, 0,
	  IB_MR_TYPE_MEM_REG, 256 },
};

KUNIT_ARRAY_PARAM_DESC(query, query_cases, desc);

static void frwr_query_reads_the_device(struct kunit *test)
{
	const struct query_case *c = test->param_value;
	struct client *client = client_create(test);
	struct ib_device_attr *attrs = &client->fake->ib.attrs;
	struct rdma_cm_id id = { .device = &client->fake->ib };
	struct xprtrdma_conn *conn = kunit_kzalloc(test, sizeof(*conn), GFP_KERNEL);
	struct rpcrdma_device_limits limits = {};

	KUNIT_ASSERT_NOT_NULL(test, conn);
	conn->xc_id = &id;
	attrs->device_cap_flags = c->cap_flags;
	attrs->kernel_cap_flags = c->kernel_cap_flags;
	attrs->max_fast_reg_page_list_len = c->fast_reg;
	attrs->max_sge_rd = c->sge_rd;
	KUNIT_EXPECT_EQ(test, c->rc, xprtrdma_frwr_query(conn, &limits));
	if (c->rc)
		return;
	KUNIT_EXPECT_EQ(test, c->type, conn->xc_mr.type);
	KUNIT_EXPECT_EQ(test, c->pages, limits.max_fast_reg_pages);
	KUNIT_EXPECT_EQ(test, (u32)attrs->max_qp_wr, limits.max_qp_wr);
}

static struct kunit_case frwr_cases[] = {
	KUNIT_CASE_PARAM(frwr_map_shows_the_buffer, map_gen_params),
	KUNIT_CASE(frwr_rkey_differs_at_each_use),
	KUNIT_CASE(frwr_chain_is_registrations_then_send),
	KUNIT_CASE(frwr_access_is_one_direction),
	KUNIT_CASE(frwr_map_with_too_many_segments),
	KUNIT_CASE(frwr_map_with_an_empty_pool),
	KUNIT_CASE(frwr_map_refused_by_the_device),
	KUNIT_CASE(frwr_map_taken_in_part),
	KUNIT_CASE(frwr_small_device_pages),
	KUNIT_CASE(frwr_offsets_tell_nothing),
	KUNIT_CASE(frwr_recycle_without_regions),
	KUNIT_CASE(frwr_pool_grows_to_its_limit),
	KUNIT_CASE(frwr_pool_keeps_what_it_could_get),
	KUNIT_CASE(frwr_registration_fails),
	KUNIT_CASE_PARAM(frwr_query_reads_the_device, query_gen_params),
	{}
};

static struct kunit_suite frwr_suite = {
	.name = "xprtrdma_frwr",
	.test_cases = frwr_cases,
};

static struct kunit_case frwr_failure_cases[] = {
	KUNIT_CASE(frwr_post_failure),
	{}
};

static struct kunit_suite frwr_failure_suite = {
	.name = "xprtrdma_frwr_failure",
	.init = frwr_failure_init,
	.test_cases = frwr_failure_cases,
};

kunit_test_suites(&frwr_suite, &frwr_failure_suite);
