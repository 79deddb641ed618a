// SPDX-License-Identifier: GPL-2.0-only
/* Replies of all kinds: what the RPC client receives of each, and messages that are no reply. */
#include "reply.h"

struct good_case {
	const char		*desc;
	struct client_shape	shape;
	struct client_reply	reply;
	u32			head, item, tail;	/* what is seen */
};

static const struct good_case good_cases[] = {
	{ "inline, head only", { .head = 64, .reply_head = 256 }, { .length = 200 }, 200 },
	{ "inline, the head is full", { .head = 64, .reply_head = 256 }, { .length = 256 }, 256 },
	{ "inline, smallest", { .head = 64, .reply_head = 256 }, { .length = 8 }, 8 },
	{ "inline, ends in the pages", { PLAIN(1000) }, { .length = 528 }, 528 },
	{ "inline, fills the pages", { PLAIN(1000) }, { .length = 1128 }, 1128 },
	{ "inline, ends in the tail", { PLAIN(1000) }, { .length = 1160 }, 1160 },
	{ "inline, odd page offset", { PLAIN(2000), .reply_base = 4001 }, { .length = 2192 },
	  2192 },
	{ "inline, longer than the buffer", { .head = 64, .reply_head = 256 },
	  { .length = 300 }, 256 },
	{ "inline into sparse pages", { PLAIN(2000), .sparse = true }, { .length = 2192 },
	  2192 },
	{ "item of length % 4 == 0", { READS(8192) }, { .length = 128, .item = 8192 }, 128, 8192 },
	{ "item of length % 4 == 1", { READS(8193) }, { .length = 128, .item = 8193 }, 128, 8193 },
	{ "item of length % 4 == 2", { READS(8194) }, { .length = 128, .item = 8194 }, 128, 8194 },
	{ "item of length % 4 == 3", { READS(8195) }, { .length = 128, .item = 8195 }, 128, 8195 },
	{ "short item, 0", { READS(8192) }, { .length = 128, .item = 4 }, 128, 4 },
	{ "short item, 1", { READS(8192) }, { .length = 128, .item = 1 }, 128, 1 },
	{ "short item, 2", { READS(8192) }, { .length = 128, .item = 5002 }, 128, 5002 },
	{ "short item, 3", { READS(8192) }, { .length = 128, .item = 8191 }, 128, 8191 },
	{ "item and tail, 0", { READS(8192) }, { .length = 148, .item = 8192 }, 128, 8192, 20 },
	{ "item and tail, 1", { READS(8192) }, { .length = 148, .item = 8189 }, 128, 8189, 20 },
	{ "item and tail, 2", { READS(8192) }, { .length = 148, .item = 8190 }, 128, 8190, 20 },
	{ "item and tail, 3", { READS(8192) }, { .length = 148, .item = 8191 }, 128, 8191, 20 },
	{ "item at an odd offset", { READS(8191), .reply_base = 2049 },
	  { .length = 132, .item = 8191 }, 128, 8191, 4 },
	{ "no item: an error of the RPC", { READS(8192) }, { .length = 40 }, 40 },
	{ "no item: longer than the head", { READS(8192) }, { .length = 140 }, 140 },
	{ "item of 1 MiB", { READS(1 << 20) }, { .length = 128, .item = 1 << 20 }, 128, 1 << 20 },
	{ "Reply chunk", { PLAIN(8192) }, { INTO_CHUNK, .length = 8192 }, 8192 },
	{ "Reply chunk, full", { PLAIN(8192) }, { INTO_CHUNK, .length = 8384 }, 8384 },
	{ "Reply chunk, one word in the tail", { PLAIN(8192) }, { INTO_CHUNK, .length = 8324 },
	  8324 },
	{ "Reply chunk, odd page offset", { PLAIN(8191), .reply_base = 3 },
	  { INTO_CHUNK, .length = 8383 }, 8383 },
	{ "Reply chunk into a head", { .head = 64, .reply_head = 9000 },
	  { INTO_CHUNK, .length = 8000 }, 8000 },
	{ "Reply chunk offered, answered inline", { PLAIN(8192) }, { .length = 500 }, 500 },
	{ "both: inline after all", { BOTH(8192) }, { .length = 400 }, 400 },
	{ "both: item and Reply chunk", { BOTH(8192) },
	  { INTO_CHUNK, .length = 3000, .item = 8192 }, 3000, 8192 },
	{ "both: with a tail, 0", { BOTH(8192) },
	  { INTO_CHUNK, .length = 4000, .item = 8192 }, 3000, 8192, 1000 },
	{ "both: with a tail, 1", { BOTH(8193) },
	  { INTO_CHUNK, .length = 4000, .item = 8193 }, 3000, 8193, 1000 },
	{ "both: with a tail, 2", { BOTH(8194) },
	  { INTO_CHUNK, .length = 4000, .item = 8194 }, 3000, 8194, 1000 },
	{ "both: with a tail, 3", { BOTH(8195) },
	  { INTO_CHUNK, .length = 4000, .item = 8195 }, 3000, 8195, 1000 },
	{ "both: item, rest inline", { BOTH(8195) }, { .length = 3500, .item = 8195 },
	  3000, 8195, 500 },
	{ "both: Reply chunk without an item", { BOTH(8192) },
	  { INTO_CHUNK, .length = 5000 }, 5000 },
};

KUNIT_ARRAY_PARAM_DESC(good, good_cases, desc);

/* SUNRPC takes what buflen has beyond head and pages for memory of the tail. */
static void expect_no_more_than_there_is(const struct client_call *call,
					 const struct client_shape *shape)
{
	const struct xdr_buf *buf = &call->rqst.rq_rcv_buf;

	if (shape->reply_pages)
		KUNIT_EXPECT_LE(call->client->test,
				buf->buflen - buf->head[0].iov_len - buf->page_len,
				shape->reply_tail);
}

static void reply_is_seen_by_the_consumer(struct kunit *test)
{
	const struct good_case *c = test->param_value;
	struct client *client = client_of(test);
	struct client_call *call = client_sent(client, &c->shape);

	/* Act */
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &c->reply));
	fake_run_all(client->qp);

	/* Assert */
	client_call_expect_reply(call, c->head, c->item, c->tail);
	expect_no_more_than_there_is(call, &c->shape);
	KUNIT_EXPECT_EQ(test, 0, client->transport->xt_stats.bad_reply_count);
	KUNIT_EXPECT_TRUE(test, client->conn->xc_useful);
	client_expect_at_rest(client);
}

/* As XDR sees it: what stands before the item, the item, padding and rest. */
static void reply_item_is_all_of_the_pages(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { READS(8192) };
	struct client_call *call = client_sent(client, &shape);
	struct client_reply reply = { .length = 148, .item = 4099 };
	const struct xdr_buf *buf = &call->rqst.rq_private_buf;

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	fake_run_all(client->qp);
	KUNIT_EXPECT_EQ(test, 128, buf->head[0].iov_len);
	KUNIT_EXPECT_EQ(test, 4099, buf->page_len);
	KUNIT_EXPECT_EQ(test, 1 + 20, buf->tail[0].iov_len);
	KUNIT_EXPECT_EQ(test, 0, *(u8 *)buf->tail[0].iov_base);
}

/* Its decoder moves the rest of the item to the tail, which is no longer than it was. */
static void reply_item_is_longer_than_its_count(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { READS(65536) };
	struct client_call *call = client_sent(client, &shape);
	struct client_reply reply = { .length = 128, .item = 8192 };
	struct xdr_buf *buf = &call->rqst.rq_rcv_buf;
	struct xdr_stream xdr;

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	fake_run_all(client->qp);
	client_call_expect_reply(call, 128, 8192, 0);
	buf->len = 128 + 8192; /* call_decode() */
	xdr_init_decode(&xdr, buf, buf->head[0].iov_base, &call->rqst);
	KUNIT_ASSERT_NOT_NULL(test, xdr_inline_decode(&xdr, 128));
	KUNIT_EXPECT_EQ(test, 4096, xdr_read_pages(&xdr, 4096));
	KUNIT_EXPECT_LE(test, buf->tail[0].iov_len, 64);
}

enum list_change {
	WRITE_LONGER, REPLY_LONGER, SECOND_WRITE, READ_LIST, REPLY_EMPTY, REPLY_MISSING,
	REPLY_NOT_OFFERED, WRITE_NOT_OFFERED,
};

struct bad_case {
	const char		*desc;
	struct client_shape	shape;
	enum rpcrdma_proc	proc;
	enum list_change	change;
};

static const struct bad_case bad_cases[] = {
	{ "Write chunk longer than offered", { READS(8192) }, RPCRDMA_MSG, WRITE_LONGER },
	{ "Reply chunk longer than offered", { PLAIN(8192) }, RPCRDMA_NOMSG, REPLY_LONGER },
	{ "second Write chunk", { READS(8192) }, RPCRDMA_MSG, SECOND_WRITE },
	{ "Read list", { READS(8192) }, RPCRDMA_MSG, READ_LIST },
	{ "empty Reply chunk", { PLAIN(8192) }, RPCRDMA_NOMSG, REPLY_EMPTY },
	{ "no Reply chunk", { READS(8192) }, RPCRDMA_NOMSG, REPLY_MISSING },
	{ "Reply chunk that was not offered", { READS(8192) }, RPCRDMA_NOMSG,
	  REPLY_NOT_OFFERED },
	{ "Write chunk that was not offered", { PLAIN(8192) }, RPCRDMA_MSG,
	  WRITE_NOT_OFFERED },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_cases, desc);

static void add_segment(struct rpcrdma_chunk_lists *lists, u32 length)
{
	struct rpcrdma_segment segment = { .handle = 1, .length = length };

	rpcrdma_lists_add_segment(lists, segment);
}

/* Lists that a correct server does not send. */
static void build_lists(struct rpcrdma_chunk_lists *lists, enum list_change change)
{
	switch (change) {
	case READ_LIST:
		rpcrdma_lists_begin_read(lists, 128);
		add_segment(lists, 100);
		break;
	case WRITE_LONGER:
	case WRITE_NOT_OFFERED:
		rpcrdma_lists_begin_write(lists);
		add_segment(lists, 8193);
		break;
	case SECOND_WRITE:
		rpcrdma_lists_begin_write(lists);
		add_segment(lists, 100);
		rpcrdma_lists_begin_write(lists);
		add_segment(lists, 0);
		break;
	case REPLY_LONGER:
		rpcrdma_lists_begin_reply(lists);
		add_segment(lists, 8192);
		add_segment(lists, 193);
		break;
	case REPLY_NOT_OFFERED:
		rpcrdma_lists_begin_reply(lists);
		add_segment(lists, 64);
		break;
	case REPLY_EMPTY:
		rpcrdma_lists_begin_reply(lists);
		add_segment(lists, 0);
		break;
	case REPLY_MISSING:
		rpcrdma_lists_begin_write(lists);
		add_segment(lists, 100);
		break;
	}
}

static void reply_with_other_lists_is_dropped(struct kunit *test)
{
	const struct bad_case *c = test->param_value;
	struct client *client = client_of(test);
	struct client_call *call = client_sent(client, &c->shape);
	struct rpcrdma_segment segments[4];
	struct rpcrdma_chunk chunks[4];
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_header header = {
		.xid = be32_to_cpu(call->rqst.rq_xid), .vers = 1, .credits = 32,
		.proc = c->proc,
	};
	__be32 message[256] = {};

	/* Arrange */
	rpcrdma_lists_init(&lists, segments, 4, chunks, 4);
	build_lists(&lists, c->change);
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK, rpcrdma_header_encode(&header, &lists, message,
								sizeof(message)));
	message[header.size / 4] = call->rqst.rq_xid;
	message[header.size / 4 + 1] = cpu_to_be32(RPCRDMA_RPC_REPLY);
	if (c->proc == RPCRDMA_MSG)
		header.size += 64;

	/* Act */
	KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message, header.size));
	fake_run_all(client->qp);

	/* Assert: the RPC keeps its memory and its credit, and waits */
	client_call_expect_waiting(call);
	KUNIT_EXPECT_EQ(test, 16, client->conn->xc_window.granted);
	KUNIT_EXPECT_EQ(test, 1, client->conn->xc_window.in_flight);
	KUNIT_EXPECT_EQ(test, 1, client->transport->xt_stats.bad_reply_count);
	KUNIT_EXPECT_EQ(test, call->lists.nr_segments, fake_valid_rkeys(client->fake));
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(client->conn));
}

/* RFC 8166 section 6.1: an eligible result that is not in the chunk which was there for it */
static void reply_with_its_item_inline(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { READS(8192) };
	struct client_reply reply = { .length = 128 + 64 };
	struct client_call *call = client_sent(client, &shape);

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	fake_run_all(client->qp);
	client_call_expect_reply(call, reply.length, 0, 0);

	call = client_sent(client, &shape);
	reply.length += 4;
	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &reply));
	fake_run_all(client->qp);
	client_call_expect_error(call, -EIO);
	KUNIT_EXPECT_EQ(test, 1, client->transport->xt_stats.bad_reply_count);
	client_expect_at_rest(client);
}

/* A verifier of @claimed bytes, in a reply that is longer than the rest by @more. */
static bool verifier_explains(struct client *client, u32 claimed, u32 more)
{
	struct client_shape shape = { READS(8192) };
	struct client_reply reply = { .length = 128 + 64 + more };
	struct client_call *call = client_sent(client, &shape);
	u8 *message = kunit_kzalloc(client->test, CLIENT_MESSAGE, GFP_KERNEL);
	u32 length;

	KUNIT_ASSERT_NOT_NULL(client->test, message);
	length = client_reply_encode(call, &reply, message);
	put_unaligned_be32(0, message + length - reply.length + 8);	/* accepted */
	put_unaligned_be32(claimed, message + length - reply.length + 16);
	KUNIT_ASSERT_TRUE(client->test, fake_deliver(client->qp, message, length));
	fake_run_all(client->qp);
	client_call_wait(call);
	return !call->task.tk_status;
}

/* RFC 5531 section 8.2: up to 400 bytes, and two words. */
static void reply_with_a_long_verifier(struct kunit *test)
{
	struct client *client = client_of(test);

	KUNIT_EXPECT_TRUE(test, verifier_explains(client, 400, 408));
	KUNIT_EXPECT_FALSE(test, verifier_explains(client, 400, 412));
	KUNIT_EXPECT_TRUE(test, verifier_explains(client, 17, 28));
	KUNIT_EXPECT_FALSE(test, verifier_explains(client, 17, 32));
	KUNIT_EXPECT_FALSE(test, verifier_explains(client, U32_MAX, 412));
	client->auth.au_ralign = 102;
	KUNIT_EXPECT_FALSE(test, verifier_explains(client, 400, 4));
}

/* RFC 8267 section 6.4.1 says "empty", where RFC 8166 has segments of length 0. */
static void reply_with_an_empty_write_chunk(struct kunit *test)
{
	struct client *client = client_of(test);
	struct client_shape shape = { READS(8192) };
	struct client_call *call = client_sent(client, &shape);
	u32 xid = be32_to_cpu(call->rqst.rq_xid), i;
	const u32 words[] = {
		xid, 1, 32, RPCRDMA_MSG, 0, 1, 0, 0, 0, xid, RPCRDMA_RPC_REPLY, 0, 0, 0, 0,
	};
	__be32 message[ARRAY_SIZE(words)];

	for (i = 0; i < ARRAY_SIZE(words); i++)
		message[i] = cpu_to_be32(words[i]);
	KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message, sizeof(message)));
	fake_run_all(client->qp);
	KUNIT_EXPECT_TRUE(test, client_call_done(call));
	KUNIT_EXPECT_EQ(test, 24, call->rqst.rq_reply_bytes_recvd);
	KUNIT_EXPECT_EQ(test, 0, call->task.tk_status);
	client_expect_at_rest(client);
}

enum { OF_THE_CALL = 0x7fedcba9 };

/**
 * struct none_case - a message that ends no RPC
 * @desc: which kind
 * @words: of it; OF_THE_CALL stands for the XID of a call that waits
 * @length: bytes
 */
struct none_case {
	const char	*desc;
	u32		words[9];
	u32		length;
};

#define HEADER(proc)	OF_THE_CALL, 1, 32, (proc)

/* RFC 8166 sections 4.5 and 4.6 */
static const struct none_case none_cases[] = {
	{ "nothing", {}, 0 },
	{ "27 bytes", { HEADER(RPCRDMA_MSG), 0, 0, 0 }, 27 },
	{ "RDMA_MSGP", { HEADER(RPCRDMA_MSGP), 0, 0, 0, 0, 0 }, 36 },
	{ "RDMA_DONE", { HEADER(RPCRDMA_DONE), 0, 0, 0 }, 28 },
	{ "RDMA_ERROR of no kind", { HEADER(RPCRDMA_ERROR), 3, 0, 0 }, 28 },
	{ "RDMA_ERROR without a kind", { HEADER(RPCRDMA_ERROR) }, 16 },
	{ "another version", { OF_THE_CALL, 2, 32, RPCRDMA_MSG, 0, 0, 0, OF_THE_CALL, 1 }, 36 },
	{ "procedure 5", { HEADER(5), 0, 0, 0, OF_THE_CALL, 1 }, 36 },
	{ "Read list discriminator 2", { HEADER(RPCRDMA_MSG), 2, 0, 0, OF_THE_CALL, 1 }, 36 },
	{ "segment count 2^32 - 1", { HEADER(RPCRDMA_MSG), 0, 1, 0xffffffff, 0, 0 }, 36 },
	{ "XID of the payload", { HEADER(RPCRDMA_MSG), 0, 0, 0, 1, 1 }, 36 },
	{ "RDMA_NOMSG without lists", { HEADER(RPCRDMA_NOMSG), 0, 0, 0 }, 28 },
	{ "neither call nor reply", { HEADER(RPCRDMA_MSG), 0, 0, 0, OF_THE_CALL, 2 }, 36 },
};

KUNIT_ARRAY_PARAM_DESC(none, none_cases, desc);

static void reply_that_is_none_is_dropped(struct kunit *test)
{
	const struct none_case *c = test->param_value;
	struct client *client = client_of(test);
	struct client_shape shape = { .head = 64, .reply_head = 64 };
	struct client_call *call = client_sent(client, &shape);
	u32 xid = be32_to_cpu(call->rqst.rq_xid);
	__be32 message[9];
	int i;

	/* Act */
	fake_mark(client->qp);
	for (i = 0; i < 9; i++)
		message[i] = cpu_to_be32(c->words[i] == OF_THE_CALL ? xid : c->words[i]);
	KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message, c->length));

	/* Assert: not a word, and as if it had not come */
	client_call_expect_waiting(call);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
	KUNIT_EXPECT_EQ(test, 1, client->transport->xt_stats.bad_reply_count);
	KUNIT_EXPECT_EQ(test, 16, client->conn->xc_window.granted);
	KUNIT_EXPECT_EQ(test, 1, client->conn->xc_window.in_flight);
	client_expect_at_rest(client);
}

static const struct good_case tail_cases[] = {
	{ "inline", { READS(8192) }, { .length = 128 + 65, .item = 8192 } },
	/* It is the padding that is too much. */
	{ "Reply chunk", { BOTH(8193) }, { INTO_CHUNK, .length = 6000, .item = 8193 } },
};

KUNIT_ARRAY_PARAM_DESC(tail, tail_cases, desc);

/* Correct lists, but more than the consumer's buffer has room for. */
static void reply_with_a_tail_that_does_not_fit(struct kunit *test)
{
	const struct good_case *c = test->param_value;
	struct client *client = client_of(test);
	struct client_call *call = client_sent(client, &c->shape);

	KUNIT_ASSERT_TRUE(test, client_reply_send(call, &c->reply));
	fake_run_all(client->qp);
	client_call_expect_error(call, -EIO);
	client_expect_at_rest(client);
}

/*
 * The server says that its reply has 200 bytes, and has written 8. What an earlier RPC has left in
 * that memory is not shown.
 */
static void reply_chunk_that_is_not_all_written(struct kunit *test)
{
	static const struct client_shape shape = { .head = 100, .reply_head = 6000 };
	struct client *client = client_of(test);
	struct client_call *call = client_call_create(client, &shape);
	struct rpcrdma_header header = {
		.vers = RPCRDMA_VERSION, .credits = 32, .proc = RPCRDMA_NOMSG,
		.xid = be32_to_cpu(call->rqst.rq_xid),
	};
	__be32 written[] = { call->rqst.rq_xid, cpu_to_be32(RPCRDMA_RPC_REPLY) };
	struct rpcrdma_chunk *chunk;
	u8 message[128], seen[200];
	u32 i;

	/* Arrange */
	memset(call->rqst.rq_rbuffer, 0xa5, call->rqst.rq_rcvsize);
	KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
	client_call_decode(call);
	chunk = rpcrdma_reply_chunk(&call->lists);
	KUNIT_ASSERT_NOT_NULL(test, chunk);

	/* Act */
	KUNIT_ASSERT_TRUE(test, fake_write(client->fake, call->segments[chunk->first].handle,
					   call->segments[chunk->first].offset, written,
					   sizeof(written)));
	KUNIT_ASSERT_TRUE(test, rpcrdma_chunk_set_written(&call->lists, chunk, sizeof(seen)));
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK, rpcrdma_header_encode(&header, &call->lists, message,
								sizeof(message)));
	KUNIT_ASSERT_TRUE(test, fake_deliver(client->qp, message, header.size));
	fake_run_all(client->qp);

	/* Assert */
	KUNIT_EXPECT_TRUE(test, client_call_done(call));
	KUNIT_EXPECT_EQ(test, sizeof(seen), call->rqst.rq_reply_bytes_recvd);
	KUNIT_ASSERT_EQ(test, 0, read_bytes_from_xdr_buf(&call->rqst.rq_private_buf, 0, seen,
							 sizeof(seen)));
	KUNIT_EXPECT_EQ(test, 0, memcmp(seen, written, sizeof(written)));
	for (i = sizeof(written); i < sizeof(seen); i++)
		KUNIT_ASSERT_EQ_MSG(test, 0, seen[i], "byte %u", i);
}

static struct kunit_case reply_cases[] = {
	KUNIT_CASE_PARAM(reply_is_seen_by_the_consumer, good_gen_params),
	KUNIT_CASE(reply_item_is_all_of_the_pages),
	KUNIT_CASE(reply_item_is_longer_than_its_count),
	KUNIT_CASE_PARAM(reply_with_other_lists_is_dropped, bad_gen_params),
	KUNIT_CASE(reply_with_its_item_inline),
	KUNIT_CASE(reply_with_a_long_verifier),
	KUNIT_CASE(reply_with_an_empty_write_chunk),
	KUNIT_CASE_PARAM(reply_that_is_none_is_dropped, none_gen_params),
	KUNIT_CASE_PARAM(reply_with_a_tail_that_does_not_fit, tail_gen_params),
	KUNIT_CASE(reply_chunk_that_is_not_all_written),
	{}
};

static struct kunit_suite reply_suite = {
	.name = "xprtrdma_reply",
	.init = client_open_init,
	.test_cases = reply_cases,
};

kunit_test_suite(reply_suite);
