// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replies that the server exposes, while a resource to read them is missing: a Send, a region, or a
 * work request for Reads. The client has to read such a reply when the resource comes back, also if
 * that was just before the reply began to wait. Other cases test replies that are never read.
 */
#include <linux/unaligned.h>

#include "../fake/lines.h"
#include "between.h"

enum {
	RKEY	= 0x3000,
	ADDRESS	= 0x9000,
	LARGE	= 8000,	/* not inline */
};

/* Nothing of the reply is offered memory: it is left to the server to expose it. */
static const struct client_shape open_shape = { .head = 64, .reply_head = LARGE };

static int pull_init(struct kunit *test)
{
	struct rpcrdma_cm_private server = {
		.send_size = 4096, .recv_size = 4096,
		.extensions = RPCRDMA_EXT_PROVIDES_READ_CHUNKS,
	};
	struct client *client = client_create(test);

	/* A page each */
	client->fake->ib.attrs.max_fast_reg_page_list_len = 1;
	client_server_takes(16);
	fake_cm.heard.length = rpcrdma_cm_private_encode(&server, fake_cm.heard.private);
	client_connect(client);
	client_open_window(client, 16);
	return 0;
}

static struct client_call *sent(struct client *client)
{
	struct client_call *call = client_sent(client, &open_shape);

	KUNIT_ASSERT_EQ(client->test, 0, call->lists.nr_segments);
	fake_mark(client->qp);
	return call;
}

/* What waits is tried again at once; one may have the other one go on. */
static void flush(struct client *client)
{
	int i;

	for (i = 0; i < 3; i++) {
		flush_delayed_work(&client->conn->xc_pull.worker);
		flush_work(&client->conn->xc_mr.worker);
	}
}

/* The server exposes a reply of @length bytes, as @count segments of @each bytes and a rest. */
static void expose_as(struct client_call *call, u32 length, u32 count, u32 each)
{
	u32 xid = be32_to_cpu(call->rqst.rq_xid), at = 0, n;
	struct client *client = call->client;
	struct rpcrdma_header header = {
		.xid = xid, .vers = 1, .credits = 16, .proc = RPCRDMA_NOMSG,
	};
	struct rpcrdma_segment *segments;
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_chunk chunks[1];
	u8 *memory, *message;

	segments = kunit_kcalloc(client->test, 64, sizeof(*segments), GFP_KERNEL);
	memory = kunit_kzalloc(client->test, length + 8, GFP_KERNEL);
	message = kunit_kzalloc(client->test, CLIENT_MESSAGE, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(client->test, segments && memory && message);
	fake_fill(memory, length);
	put_unaligned_be32(xid, memory);
	put_unaligned_be32(RPCRDMA_RPC_REPLY, memory + 4);
	fake_remote_add(client->fake, RKEY + xid, ADDRESS, memory, length);
	rpcrdma_lists_init(&lists, segments, 64, chunks, 1);
	rpcrdma_lists_begin_read(&lists, 0);
	for (; at < length || count; at += n, count -= !!count) {
		n = count ? each : length - at;
		KUNIT_ASSERT_TRUE(client->test,
				  rpcrdma_lists_add_segment(&lists, (struct rpcrdma_segment) {
			.handle = RKEY + xid, .length = n, .offset = ADDRESS + at }));
	}
	KUNIT_ASSERT_EQ(client->test, RPCRDMA_OK,
			rpcrdma_header_encode(&header, &lists, message, CLIENT_MESSAGE));
	KUNIT_ASSERT_TRUE(client->test, fake_deliver(client->qp, message, header.size));
	flush(client);
}

static void expose(struct client_call *call)
{
	expose_as(call, LARGE, 0, 0);
}

/* What is posted takes effect, until nothing is posted any more. */
static void settle(struct client *client)
{
	do {
		fake_run_all(client->qp);
		flush(client);
	} while (fake_pending(client->qp));
}

static unsigned int reads_posted(struct client *client)
{
	unsigned int i, count = 0;
	struct fake_wr *wr;

	for (i = 0; i < fake_posted(client->qp); i++) {
		wr = fake_wr(client->qp, i);
		if (wr->opcode != IB_WR_RDMA_READ)
			continue;
		KUNIT_EXPECT_NE(client->test, 0, wr->sge[0].length);
		count++;
	}
	return count;
}

/* The server has been told that it may forget the reply. */
static void expect_done(struct client_call *call)
{
	client_call_decode(call);
	KUNIT_EXPECT_EQ(call->client->test, RPCRDMA_DONE, call->header.proc);
	KUNIT_EXPECT_EQ(call->client->test, be32_to_cpu(call->rqst.rq_xid), call->header.xid);
}

static void expect_read(struct client_call *call)
{
	client_call_expect_reply(call, LARGE, 0, 0);
}

static void expect_at_rest(struct client *client)
{
	KUNIT_EXPECT_EQ(client->test, 0, client->conn->xc_pull.active);
	KUNIT_EXPECT_EQ(client->test, XPRTRDMA_PULL_WRS, client->conn->xc_pull.wrs);
	KUNIT_EXPECT_EQ(client->test, 0, client->conn->xc_window.in_flight);
	client_expect_at_rest(client);
}

/* ---- of any shape ---- */

struct shape_case {
	const char	*desc;
	u32		length;
	u32		count, each;
	bool		refused;
};

static const struct shape_case shape_cases[] = {
	{ "one segment", LARGE },
	{ "odd segments", LARGE, 7, 1001 },
	{ "empty segments in front", LARGE, 5, 0 },
	{ "the shortest reply", 24, 3, 7 },
	{ "shorter than that", 20, .refused = true },
	{ "empty", 0, 1, 0, .refused = true },
};

KUNIT_ARRAY_PARAM_DESC(shape, shape_cases, desc);

/* Reliable-reply draft, section 4.1.2: what is not read ends its RPC, and nothing else. */
static void reply_of_any_shape(struct kunit *test)
{
	const struct shape_case *c = test->param_value;
	struct client *client = client_of(test);
	u64 before = client->transport->xt_stats.total_rdma_reply;
	struct client_call *call = sent(client);

	expose_as(call, c->length, c->count, c->each);
	if (c->refused) {
		KUNIT_EXPECT_EQ(test, 0, reads_posted(client));
		expect_done(call);
		settle(client);
		client_call_expect_error(call, -EIO);
	} else {
		KUNIT_EXPECT_LE(test, reads_posted(client), XPRTRDMA_PULL_WRS);
		settle(client);
		client_call_expect_reply(call, c->length, 0, 0);
		KUNIT_EXPECT_EQ(test, c->length,
				client->transport->xt_stats.total_rdma_reply - before);
		KUNIT_EXPECT_EQ(test, c->length, client->transport->xt_counters.bytes_read);
	}
	expect_at_rest(client);
}

/* Where a page ends in a segment that takes two. No page does between segments of 101 bytes. */
static unsigned int reads_of(struct client_call *call, u32 segments)
{
	unsigned long from = (unsigned long)call->rqst.rq_rcv_buf.head[0].iov_base;
	unsigned long last = from + segments * 101 - 1;

	return segments + (last >> PAGE_SHIFT) - (from >> PAGE_SHIFT);
}

/* A reply that takes one Read more than there may be is none. */
static void as_many_reads_as_there_may_be(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);
	u32 count = 64;

	while (reads_of(call, count - 1) > XPRTRDMA_PULL_WRS)
		count--;
	expose_as(call, count * 101, count, 101);
	KUNIT_EXPECT_EQ(test, 0, reads_posted(client));
	expect_done(call);
	settle(client);
	client_call_expect_error(call, -EIO);

	call = sent(client);
	for (count = 64; reads_of(call, count) > XPRTRDMA_PULL_WRS; count--)
		;
	expose_as(call, count * 101, count, 101);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_PULL_WRS, reads_posted(client));
	settle(client);
	client_call_expect_reply(call, count * 101, 0, 0);
	expect_at_rest(client);
}

/* ---- something is short ---- */

/* No Read begins without one: the server would never be told. */
static void no_send_is_left(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);

	client_post_all_sends(client);
	expose(call);
	KUNIT_EXPECT_EQ(test, 0, reads_posted(client));
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&client->conn->xc_pull.worker));
	settle(client);
	expect_read(call);
	expect_at_rest(client);
}

static void run_all(struct client *client)
{
	fake_run_all(client->qp);
}

/* Nobody waited for it then: it is tried again. */
static void send_comes_back_in_between(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);

	client_post_all_sends(client);
	client_between(AFTER_SEND_GET, run_all, client);
	expose(call);
	KUNIT_EXPECT_TRUE(test, client_between_happened());
	KUNIT_EXPECT_NE(test, 0, reads_posted(client));
	settle(client);
	expect_read(call);
	expect_at_rest(client);
}

static void no_region_is_left(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);
	LIST_HEAD(taken);

	/* There will be more, but these. */
	spin_lock(&client->conn->xc_lock);
	list_splice_init(&client->conn->xc_mr.free, &taken);
	spin_unlock(&client->conn->xc_lock);
	expose(call);
	settle(client);
	expect_read(call);
	spin_lock(&client->conn->xc_lock);
	list_splice_init(&taken, &client->conn->xc_mr.free);
	spin_unlock(&client->conn->xc_lock);
	expect_at_rest(client);
}

/* What the statistics say of replies that are to be read and have to wait */
static void expect_waiting(struct client *client, unsigned int count)
{
	struct lines *lines = lines_create(client->test);

	xprtrdma_connections.cs_show(&lines->seq, &client->transport->xt_connection);
	KUNIT_EXPECT_EQ(client->test, count, lines_number(lines, "waiting_for_read"));
}

/* Each takes more than half of the Reads that there may be. */
static void expose_many(struct client_call *call)
{
	expose_as(call, LARGE, 39, 200);
}

static void no_read_is_left(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *first = sent(client), *second = sent(client);
	unsigned int posted;

	expose_many(first);
	posted = reads_posted(client);
	KUNIT_ASSERT_GT(test, posted, XPRTRDMA_PULL_WRS / 2);
	expect_waiting(client, 0);
	expose_many(second);
	expect_waiting(client, 1);
	KUNIT_EXPECT_EQ(test, posted, reads_posted(client));
	KUNIT_EXPECT_EQ(test, 1, client->conn->xc_pull.active);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&client->conn->xc_pull.worker));
	settle(client);
	expect_read(first);
	expect_read(second);
	expect_at_rest(client);
}

/* The last that had any is done while this one is not in the queue. */
static void reads_come_back_in_between(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *first = sent(client), *second = sent(client);

	expose_many(first);
	client_between(AFTER_RECYCLE, run_all, client);
	expose_many(second);
	KUNIT_EXPECT_TRUE(test, client_between_happened());
	expect_read(first);
	KUNIT_EXPECT_NE(test, 0, fake_pending(client->qp));
	settle(client);
	expect_read(second);
	expect_at_rest(client);
}

/* ---- it is no reply ---- */

/* RFC 8166 section 4.3.2: a Write chunk comes back that was not offered. Nothing is read. */
static void reply_with_a_chunk_of_nobodys(struct kunit *test)
{
	struct rpcrdma_segment segments[2], segment = { .handle = 1, .length = LARGE };
	struct client *client = client_of(test);
	struct client_call *call = sent(client);
	struct rpcrdma_header header = {
		.xid = be32_to_cpu(call->rqst.rq_xid), .vers = 1, .credits = 7,
		.proc = RPCRDMA_NOMSG,
	};
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_chunk chunks[2];
	u8 message[128];

	rpcrdma_lists_init(&lists, segments, 2, chunks, 2);
	rpcrdma_lists_begin_read(&lists, 0);
	rpcrdma_lists_add_segment(&lists, segment);
	rpcrdma_lists_begin_write(&lists);
	rpcrdma_lists_add_segment(&lists, segment);
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK,
			rpcrdma_header_encode(&header, &lists, message, sizeof(message)));
	KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message, header.size));
	settle(client);
	KUNIT_EXPECT_EQ(test, 0, reads_posted(client));
	expect_done(call);
	client_call_expect_error(call, -EIO);
	KUNIT_EXPECT_EQ(test, 7, client->conn->xc_window.granted);
	KUNIT_EXPECT_EQ(test, 1, client->transport->xt_stats.bad_reply_count);
	expect_at_rest(client);
}

/* ---- the connection ends ---- */

static void expect_lost(struct client_call *call)
{
	struct client *client = call->client;

	KUNIT_EXPECT_EQ(client->test, 0, reads_posted(client));
	client_expect_failed(client);
	KUNIT_EXPECT_EQ(client->test, 0, client->conn->xc_pull.active);
	KUNIT_EXPECT_EQ(client->test, client->conn->xc_mr.count, client_free_mrs(client));
	client_disconnect(client);
	client_call_expect_waiting(call);
}

static void fail(struct client *client)
{
	xprtrdma_conn_fail(client->conn, RPCRDMA_END_OTHER);
}

/* After the regions were made, and before the post. */
static void connection_fails_in_between(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);

	client_between(AFTER_MAP, fail, client);
	expose(call);
	KUNIT_EXPECT_TRUE(test, client_between_happened());
	expect_lost(call);
}

static void device_refuses_the_mapping(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);

	client->fake->map_accept = 0;
	expose(call);
	expect_lost(call);
}

/* Registrations and Reads, each of which may be the one that is refused */
static void post_of_the_reads_fails(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_call *call = sent(client);
	int accept;

	for (accept = 0; accept < 4; accept++) {
		client->qp->accept = accept;
		expose(call);
		client_expect_failed(client);
		client->qp->accept = -1;
		client_disconnect(client);
		client_call_expect_waiting(call);
		client_connect(client);
		client_open_window(client, 16);
		KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
		client_call_decode(call);
	}
	expose(call);
	settle(client);
	expect_read(call);
	expect_at_rest(client);
}

static struct kunit_case pull_cases[] = {
	KUNIT_CASE_PARAM(reply_of_any_shape, shape_gen_params),
	KUNIT_CASE(as_many_reads_as_there_may_be),
	KUNIT_CASE(no_send_is_left),
	KUNIT_CASE(send_comes_back_in_between),
	KUNIT_CASE(no_region_is_left),
	KUNIT_CASE(no_read_is_left),
	KUNIT_CASE(reads_come_back_in_between),
	KUNIT_CASE(reply_with_a_chunk_of_nobodys),
	KUNIT_CASE(connection_fails_in_between),
	KUNIT_CASE(device_refuses_the_mapping),
	KUNIT_CASE(post_of_the_reads_fails),
	{}
};

static struct kunit_suite pull_suite = {
	.name = "xprtrdma_pull",
	.init = pull_init,
	.test_cases = pull_cases,
};

kunit_test_suite(pull_suite);
