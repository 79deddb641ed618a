// SPDX-License-Identifier: GPL-2.0
/*
 * The reverse direction with chunks, RFC 8167 section 5.3: calls that are to be read from
 * the server, and replies that go into its memory.
 */
#include <linux/slab.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/unaligned.h>

#include "bc.h"

enum {
	XID		= 0x4711,
	CALL_RKEY	= 0x1000,	/* and those that follow: one for each segment */
	REPLY_RKEY	= 0x2000,
	REPLY_SIZE	= 8192,
	ADDRESS		= 0x7000,
};

/**
 * struct callback - a call of the server
 * @client: whom it calls
 * @message: the RPC call as a stream
 * @length: its size in bytes
 * @reads: Read chunks: Position and length of each, up to a length of 0
 * @segment: bytes of a segment, 0: all
 * @reply: sizes of the Reply chunk's segments, up to one of 0
 * @memory: for the Reply chunk
 */
struct callback {
	struct client	*client;
	u8		*message;
	u32		length;
	struct {
		u32	position;
		u32	length;
	} reads[4];
	u32		segment;
	u32		reply[4];
	u8		*memory;
};

static struct callback *callback_create(struct client *client, u32 length)
{
	struct callback *cb = kunit_kzalloc(client->test, sizeof(*cb), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(client->test, cb);
	cb->client = client;
	cb->length = length;
	cb->message = kunit_kzalloc(client->test, length, GFP_KERNEL);
	cb->memory = kunit_kzalloc(client->test, REPLY_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(client->test, cb->message);
	KUNIT_ASSERT_NOT_NULL(client->test, cb->memory);
	for (i = 8; i < length; i++)
		cb->message[i] = fake_byte(i);
	put_unaligned_be32(XID, cb->message);
	put_unaligned_be32(RPCRDMA_RPC_CALL, cb->message + 4);
	return cb;
}

/* All of it in a Position Zero Read chunk. */
static struct callback *long_create(struct client *client, u32 length)
{
	struct callback *cb = callback_create(client, length);

	cb->reads[0].length = length;
	return cb;
}

static void add_reads(struct callback *cb, struct rpcrdma_chunk_lists *lists)
{
	u32 i, at, n, rkey = CALL_RKEY;

	for (i = 0; i < ARRAY_SIZE(cb->reads) && cb->reads[i].length; i++) {
		rpcrdma_lists_begin_read(lists, cb->reads[i].position);
		for (at = 0; at < cb->reads[i].length; at += n, rkey++) {
			n = cb->reads[i].length - at;
			if (cb->segment)
				n = min(n, cb->segment);
			rpcrdma_lists_add_segment(lists, (struct rpcrdma_segment) {
				.handle = rkey, .length = n, .offset = ADDRESS });
			/* A test that did so itself wants something else there. */
			if (rkey - CALL_RKEY >= cb->client->fake->nr_remotes)
				fake_remote_add(cb->client->fake, rkey, ADDRESS,
						cb->message + cb->reads[i].position + at,
						n);
		}
	}
}

static void add_reply(struct callback *cb, struct rpcrdma_chunk_lists *lists)
{
	u32 i, at = 0;

	if (!cb->reply[0])
		return;
	rpcrdma_lists_begin_reply(lists);
	for (i = 0; i < ARRAY_SIZE(cb->reply) && cb->reply[i]; i++) {
		rpcrdma_lists_add_segment(lists, (struct rpcrdma_segment) {
			.handle = REPLY_RKEY + i, .length = cb->reply[i],
			.offset = ADDRESS + i });
		fake_remote_add(cb->client->fake, REPLY_RKEY + i, ADDRESS + i,
				cb->memory + at, cb->reply[i]);
		at += cb->reply[i];
	}
}

/* What is not in chunks, behind the header at @to. */
static u32 add_inline(struct callback *cb, u8 *to)
{
	u32 i, n, at = 0, length = 0;

	for (i = 0; i < ARRAY_SIZE(cb->reads) && cb->reads[i].length; i++) {
		n = cb->reads[i].position - at;
		memcpy(to + length, cb->message + at, n);
		length += n;
		at = cb->reads[i].position + xdr_align_size(cb->reads[i].length);
	}
	if (at >= cb->length)
		return length;
	memcpy(to + length, cb->message + at, cb->length - at);
	return length + cb->length - at;
}

/* The message arrives. */
static void callback_deliver(struct callback *cb)
{
	struct rpcrdma_header header = { .xid = XID, .vers = 1, .credits = 8 };
	struct rpcrdma_segment segments[64];
	struct client *client = cb->client;
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_chunk chunks[8];
	u8 *message = kunit_kzalloc(client->test, CLIENT_MESSAGE, GFP_KERNEL);
	u32 length;

	KUNIT_ASSERT_NOT_NULL(client->test, message);
	rpcrdma_lists_init(&lists, segments, ARRAY_SIZE(segments), chunks,
			   ARRAY_SIZE(chunks));
	add_reads(cb, &lists);
	add_reply(cb, &lists);
	if (lists.nr_read && !cb->reads[0].position)
		header.proc = RPCRDMA_NOMSG;
	KUNIT_ASSERT_EQ(client->test, RPCRDMA_OK,
			rpcrdma_header_encode(&header, &lists, message, CLIENT_MESSAGE));
	length = header.size;
	if (header.proc == RPCRDMA_MSG)
		length += add_inline(cb, message + header.size);
	KUNIT_ASSERT_LE(client->test, length, (u32)CLIENT_MESSAGE);
	KUNIT_ASSERT_TRUE(client->test, fake_deliver(client->qp, message, length));
	kunit_kfree(client->test, message);
	flush_workqueue(xprtrdma_wq);
}

/* Reads are carried out, until no more are posted. */
static void run(struct client *client)
{
	do {
		fake_run_all(client->qp);
		flush_workqueue(xprtrdma_wq);
	} while (fake_pending(client->qp));
}

/* The callback service sees what the server encoded, padding of items as zeros. */
static struct rpc_rqst *expect_call(struct callback *cb)
{
	struct rpc_rqst *rqst = fake_callbacks_take(cb->client->xprt);
	struct kunit *test = cb->client->test;
	struct xdr_buf *call;
	u8 *seen;

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	call = &rqst->rq_rcv_buf;
	KUNIT_EXPECT_EQ(test, cpu_to_be32(XID), rqst->rq_xid);
	KUNIT_EXPECT_EQ(test, cb->length, call->len);
	KUNIT_EXPECT_EQ(test, cb->length, rqst->rq_private_buf.len);
	/* As svc_process_bc() wants it. */
	KUNIT_EXPECT_EQ(test, cb->length, call->head[0].iov_len + call->page_len);
	KUNIT_EXPECT_EQ(test, 0, call->tail[0].iov_len);
	seen = kunit_kzalloc(test, cb->length, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	KUNIT_ASSERT_EQ(test, 0, read_bytes_from_xdr_buf(call, 0, seen, cb->length));
	KUNIT_EXPECT_EQ(test, 0, memcmp(seen, cb->message, cb->length));
	return rqst;
}

static void expect_nothing_left(struct client *client)
{
	KUNIT_EXPECT_NULL(client->test, fake_callbacks_take(client->xprt));
	KUNIT_EXPECT_EQ(client->test, 0, client->conn->xc_pulls);
	KUNIT_EXPECT_EQ(client->test, XPRTRDMA_PULL_WRS, client->conn->xc_pull_wrs);
	KUNIT_EXPECT_EQ(client->test, XPRTRDMA_BC_WRITES, client->conn->xc_bc_write_wrs);
	KUNIT_EXPECT_TRUE(client->test, list_empty(&client->conn->xc_bc_writes));
	client_expect_at_rest(client);
}

/* ---- calls ---- */

struct call_case {
	const char	*desc;
	u32		length;
	u32		segment;
	u32		reads[3][2];
};

static const struct call_case call_cases[] = {
	{ "3 KiB", 3072, 0, { { 0, 3072 } } },
	{ "8 KiB", 8192, 0, { { 0, 8192 } } },
	{ "a page and a word", 4100, 0, { { 0, 4100 } } },
	{ "64 KiB of arguments", 65536 + 120, 0, { { 0, 65536 + 120 } } },
	{ "as large as possible", 68 << 10, 0, { { 0, 68 << 10 } } },
	{ "odd segments", 20000, 3333, { { 0, 20000 } } },
	{ "shortest of all", 8, 0, { { 0, 8 } } },
	{ "at a Position", 8192 + 64, 0, { { 64, 8192 } } },
	{ "between inline parts", 8192 + 80, 0, { { 64, 8192 } } },
	{ "odd length", 5004 + 64 + 16, 0, { { 64, 5001 } } },
	{ "behind the first page", 6000, 0, { { 8, 4096 }, { 4200, 700 } } },
	{ "three chunks", 10000, 1000, { { 40, 3001 }, { 3044, 1 }, { 4096, 5000 } } },
};

KUNIT_ARRAY_PARAM_DESC(call, call_cases, desc);

static struct callback *case_create(struct client *client, const struct call_case *c)
{
	struct callback *cb = callback_create(client, c->length);
	u32 i, j, end;

	cb->segment = c->segment;
	for (i = 0; i < ARRAY_SIZE(c->reads) && c->reads[i][1]; i++) {
		cb->reads[i].position = c->reads[i][0];
		cb->reads[i].length = c->reads[i][1];
		end = c->reads[i][0] + c->reads[i][1];
		for (j = end; j < min(c->length, xdr_align_size(end)); j++)
			cb->message[j] = 0;
	}
	return cb;
}

static void call_is_read(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = case_create(client, test->param_value);
	int i;

	for (i = 0; i < 3; i++) {
		callback_deliver(cb);
		KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
		run(client);
		xprtrdma_bc_free_rqst(expect_call(cb));
		expect_nothing_left(client);
	}
	KUNIT_EXPECT_EQ(test, 1, client->transport->xt_bc_count);
}

/* As many as we granted, all at once; a few are read at a time. */
static void many_calls_are_read(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = long_create(client, 9000);
	struct rpc_rqst *rqsts[XPRTRDMA_BC_SLOTS];
	int i;

	for (i = 0; i < XPRTRDMA_BC_SLOTS; i++)
		callback_deliver(cb);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_PULLS, client->conn->xc_pulls);
	run(client);
	for (i = 0; i < XPRTRDMA_BC_SLOTS; i++)
		rqsts[i] = expect_call(cb);
	for (i = 0; i < XPRTRDMA_BC_SLOTS; i++)
		xprtrdma_bc_free_rqst(rqsts[i]);
	expect_nothing_left(client);
}

/* One more than that ends the connection, whatever the others wait for. */
static void one_call_too_many(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = long_create(client, 9000);
	int i;

	for (i = 0; i <= 2 * XPRTRDMA_BC_SLOTS; i++)
		callback_deliver(cb);
	client_expect_failed(client);
	client_disconnect(client);
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
}

static void expect_refused(struct callback *cb)
{
	struct client *client = cb->client;

	callback_deliver(cb);
	client_bc_expect_err_chunk(client, XID);
	expect_nothing_left(client);
}

/* RFC 8166 section 4.5.3; nothing is read. */
static void call_is_too_long(struct kunit *test)
{
	struct client *client = client_of(test);

	expect_refused(long_create(client, XPRTRDMA_BC_MAX_CALL + 4));
	KUNIT_EXPECT_EQ(test, 0, client->transport->xt_bc_count);
}

static void server_takes_no_reads(struct kunit *test)
{
	struct client *client = client_of(test);

	client_disconnect(client);
	client_server_takes(0);
	client_connect(client);
	expect_refused(long_create(client, 9000));
}

static void switched_off(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = callback_create(client, 64);

	client_disconnect(client);
	client_bc_connect_without_chunks(client);
	KUNIT_EXPECT_EQ(test, RPCRDMA_CM_SIZE, fake_cm.said.length);
	cb->reply[0] = 4096;
	callback_deliver(cb);
	client_bc_expect_err_chunk(client, XID);
	fake_mark(client->qp);
	cb->reply[0] = 0;
	cb->reads[0].length = cb->length;
	callback_deliver(cb);
	client_bc_expect_err_chunk(client, XID);
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
	client_expect_at_rest(client);
}

/* RFC 8166 section 4.5.2: that was not to be seen before. */
static void what_is_read_is_no_call(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = long_create(client, 9000);
	struct fake_wr *wr;
	int i;

	for (i = 0; i < 2; i++) {
		put_unaligned_be32(XID + !i, cb->message);
		put_unaligned_be32(i ? RPCRDMA_RPC_REPLY : RPCRDMA_RPC_CALL,
				   cb->message + 4);
		callback_deliver(cb);
		run(client);
		wr = fake_last_wr(client->qp);
		KUNIT_EXPECT_EQ(test, IB_WR_SEND, wr->opcode);
		KUNIT_EXPECT_EQ(test, RPCRDMA_ERR_CHUNK_SIZE, wr->sge[0].length);
		expect_nothing_left(client);
	}
}

/* A handle that is not good: the connection goes, and all that it holds. */
static void read_fails(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = long_create(client, 9000);

	/* The first of several. */
	cb->segment = 2000;
	callback_deliver(cb);
	client->fake->remotes[0].rkey = 1;
	client_bc_expect_failed_by(client, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
	KUNIT_EXPECT_EQ(test, 0, client->conn->xc_pulls);
	client_disconnect(client);
	KUNIT_EXPECT_EQ(test, 1, list_count_nodes(&client->xprt->bc_pa_list));
}

static void connection_is_lost_while_reading(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = long_create(client, 9000);
	int i;

	/* Some are read, the others wait. */
	for (i = 0; i < XPRTRDMA_PULLS + 2; i++)
		callback_deliver(cb);
	client_disconnect(client);
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
	KUNIT_EXPECT_EQ(test, XPRTRDMA_PULLS + 2,
			list_count_nodes(&client->xprt->bc_pa_list));
}

/* The post of the Reads fails, at the first or later. */
static void post_of_reads_fails(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = long_create(client, 9000);
	int accept;

	cb->segment = 2000;
	for (accept = 0; accept < 5; accept++) {
		client->qp->accept = accept;
		callback_deliver(cb);
		client_expect_failed(client);
		client->qp->accept = -1;
		client_disconnect(client);
		KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));
		client_connect(client);
	}
	callback_deliver(cb);
	run(client);
	xprtrdma_bc_free_rqst(expect_call(cb));
}

/* The consumer stops in between. */
static void service_stops_while_reading(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = long_create(client, 9000);

	callback_deliver(cb);
	xprtrdma_bc_destroy(client->xprt, 1);
	run(client);
	expect_nothing_left(client);
	KUNIT_EXPECT_EQ(test, 1, client->transport->xt_bc_count);
}

static void memory_is_short(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = long_create(client, 9000);

	/* What holds the pages of the call. */
	fake_alloc_fail(0);
	callback_deliver(cb);
	KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
	client_expect_failed(client);
	KUNIT_EXPECT_EQ(test, 0, client->transport->xt_bc_count);
}

/* ---- replies ---- */

/* The callback service has answered with @length bytes. */
static void answer(struct rpc_rqst *rqst, u32 length)
{
	struct xdr_buf *reply = &rqst->rq_snd_buf;
	u8 *to = reply->head[0].iov_base;
	u32 i;

	for (i = 0; i < length; i++)
		to[i] = fake_byte(i);
	put_unaligned_be32(XID, to);
	reply->head[0].iov_len = length;
	reply->len = length;
}

/* The last message, with its Reply chunk. */
static void decode_reply(struct client *client, struct rpcrdma_header *header,
			 u32 lengths[4], u32 *nr_reply)
{
	struct fake_wr *wr = fake_last_wr(client->qp);
	struct rpcrdma_segment segments[8];
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_chunk chunks[2];
	u32 i;

	rpcrdma_lists_init(&lists, segments, 8, chunks, 2);
	KUNIT_ASSERT_EQ(client->test, IB_WR_SEND, wr->opcode);
	KUNIT_ASSERT_EQ(client->test, RPCRDMA_OK,
			rpcrdma_header_decode(fake_message(wr), wr->sge[0].length, header,
					      &lists));
	KUNIT_EXPECT_EQ(client->test, XID, header->xid);
	KUNIT_EXPECT_EQ(client->test, XPRTRDMA_BC_SLOTS, header->credits);
	KUNIT_EXPECT_EQ(client->test, 0, lists.nr_read);
	KUNIT_EXPECT_EQ(client->test, 0, lists.nr_write);
	*nr_reply = lists.nr_reply;
	for (i = 0; i < lists.nr_segments && i < 4; i++) {
		KUNIT_EXPECT_EQ(client->test, REPLY_RKEY + i, segments[i].handle);
		KUNIT_EXPECT_EQ(client->test, ADDRESS + i, segments[i].offset);
		lengths[i] = segments[i].length;
	}
}

/* A call with a Reply chunk in the hands of the service. */
static struct rpc_rqst *call_with_reply_chunk(struct callback *cb, const u32 sizes[4])
{
	memcpy(cb->reply, sizes, sizeof(cb->reply));
	callback_deliver(cb);
	fake_mark(cb->client->qp);
	return expect_call(cb);
}

static const u32 pieces[4] = { 1000, 2001, 5191 };

/* RFC 8166 section 4.3.3 */
static void reply_goes_into_the_chunk(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = callback_create(client, 64);
	struct rpc_rqst *rqst = call_with_reply_chunk(cb, pieces);
	struct rpcrdma_header header;
	u32 lengths[4] = {}, nr;
	u32 i;

	answer(rqst, 4096);
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	/* The service has its pages back at once. */
	memset(rqst->rq_snd_buf.head[0].iov_base, 0xff, 4096);
	xprtrdma_bc_free_rqst(rqst);

	KUNIT_EXPECT_EQ(test, 3 + 1, fake_posted(client->qp));
	decode_reply(client, &header, lengths, &nr);
	KUNIT_EXPECT_EQ(test, RPCRDMA_NOMSG, header.proc);
	KUNIT_EXPECT_EQ(test, 1, nr);
	KUNIT_EXPECT_EQ(test, 1000, lengths[0]);
	KUNIT_EXPECT_EQ(test, 2001, lengths[1]);
	KUNIT_EXPECT_EQ(test, 1095, lengths[2]);
	fake_run_all(client->qp);
	KUNIT_EXPECT_EQ(test, XID, get_unaligned_be32(cb->memory));
	for (i = 4; i < 4096 && cb->memory[i] == fake_byte(i); i++)
		;
	KUNIT_EXPECT_EQ(test, 4096, i);
	KUNIT_EXPECT_EQ(test, 0, cb->memory[4096]);
	expect_nothing_left(client);
}

/* RFC 8166 section 4.3.3: it goes back unused. */
static void short_reply_leaves_the_chunk(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = callback_create(client, 64);
	struct rpc_rqst *rqst = call_with_reply_chunk(cb, pieces);
	u32 lengths[4] = { 1, 1, 1 }, nr;
	struct rpcrdma_header header;

	answer(rqst, 3000);
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	KUNIT_EXPECT_EQ(test, 1, fake_posted(client->qp));
	decode_reply(client, &header, lengths, &nr);
	KUNIT_EXPECT_EQ(test, RPCRDMA_MSG, header.proc);
	KUNIT_EXPECT_EQ(test, 1, nr);
	KUNIT_EXPECT_EQ(test, 0, lengths[0] + lengths[1] + lengths[2]);
	KUNIT_EXPECT_EQ(test, header.size + 3000, fake_last_wr(client->qp)->sge[0].length);
	xprtrdma_bc_free_rqst(rqst);
	fake_run_all(client->qp);
	expect_nothing_left(client);
}

/* The service has room for it, but nowhere to keep it. */
static void reply_larger_than_a_page(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = callback_create(client, 64);
	struct rpc_rqst *rqst = call_with_reply_chunk(cb, pieces);
	struct xdr_buf *reply = &rqst->rq_snd_buf;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, reply->pages);
	for (i = 0; i < 10 * XPRTRDMA_BC_MAX_CALL / PAGE_SIZE; i++)
		memset(page_address(reply->pages[i]), i, PAGE_SIZE);
	answer(rqst, 4096);
	reply->page_len = 8;
	reply->len += 8;
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	client_bc_expect_err_chunk(client, be32_to_cpu(rqst->rq_xid));
	xprtrdma_bc_free_rqst(rqst);
	expect_nothing_left(client);
}

static void reply_larger_than_the_chunk(struct kunit *test)
{
	static const u32 small[4] = { 4000, 95 };
	struct client *client = client_of(test);
	struct callback *cb = callback_create(client, 64);
	struct rpc_rqst *rqst = call_with_reply_chunk(cb, small);

	answer(rqst, 4096);
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	client_bc_expect_err_chunk(client, be32_to_cpu(rqst->rq_xid));
	xprtrdma_bc_free_rqst(rqst);
	expect_nothing_left(client);
}

/* The chunk belongs to one call, not to the rpc_rqst that is used again. */
static void chunk_of_an_earlier_call(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = callback_create(client, 64);
	struct rpc_rqst *rqst = call_with_reply_chunk(cb, pieces);

	xprtrdma_bc_free_rqst(rqst);
	cb->reply[0] = 0;
	callback_deliver(cb);
	rqst = expect_call(cb);
	answer(rqst, 4096);
	fake_mark(client->qp);
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	client_bc_expect_err_chunk(client, be32_to_cpu(rqst->rq_xid));
	answer(rqst, 100);
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	KUNIT_EXPECT_EQ(test, 28 + 100, fake_last_wr(client->qp)->sge[0].length);
	xprtrdma_bc_free_rqst(rqst);
}

static void write_fails(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = callback_create(client, 64);
	struct rpc_rqst *rqst = call_with_reply_chunk(cb, pieces);

	answer(rqst, 4096);
	client->fake->remotes[1].rkey = 1;
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	xprtrdma_bc_free_rqst(rqst);
	client_bc_expect_failed_by(client, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_TRUE(test, list_empty(&client->conn->xc_bc_writes));
}

static void connection_is_lost_while_writing(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = callback_create(client, 64);
	struct rpc_rqst *rqst = call_with_reply_chunk(cb, pieces);

	answer(rqst, 4096);
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	client_disconnect(client);
	xprtrdma_bc_free_rqst(rqst);
	KUNIT_EXPECT_EQ(test, 0, cb->memory[8]);
}

/* The post of the Writes or of the Send fails. */
static void post_of_a_long_reply_fails(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpc_rqst *rqst;
	struct callback *cb;
	int accept;

	for (accept = 0; accept < 4; accept++) {
		client->fake->nr_remotes = 0;
		cb = callback_create(client, 64);
		rqst = call_with_reply_chunk(cb, pieces);
		answer(rqst, 4096);
		client->qp->accept = accept;
		KUNIT_EXPECT_EQ(test, -ENOTCONN, xprtrdma_request_send(rqst));
		client_expect_failed(client);
		client->qp->accept = -1;
		client_disconnect(client);
		xprtrdma_bc_free_rqst(rqst);
		client_connect(client);
	}
}

/* So many Writes at a time; what is above waits, and is told when to try again. */
static void queue_has_no_room(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = callback_create(client, 64);
	struct rpc_rqst *rqst = call_with_reply_chunk(cb, pieces);

	answer(rqst, 4096);
	client->conn->xc_bc_write_wrs = 2;
	clear_bit(XPRT_WRITE_SPACE, &client->xprt->state);
	KUNIT_EXPECT_EQ(test, -EAGAIN, xprtrdma_request_send(rqst));
	KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
	KUNIT_EXPECT_TRUE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
	client->conn->xc_bc_write_wrs = XPRTRDMA_BC_WRITES;
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	fake_run_all(client->qp);
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
	xprtrdma_bc_free_rqst(rqst);
	expect_nothing_left(client);
}

static void no_memory_for_a_long_reply(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = callback_create(client, 64);
	struct rpc_rqst *rqst = call_with_reply_chunk(cb, pieces);
	int i;

	answer(rqst, 4096);
	for (i = 0; i < 2; i++) {
		fake_alloc_fail(i);
		KUNIT_EXPECT_EQ(test, -ENOBUFS, xprtrdma_request_send(rqst));
		KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
		KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
	}
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	fake_run_all(client->qp);
	xprtrdma_bc_free_rqst(rqst);
	expect_nothing_left(client);
}

/* ---- what both have agreed on ---- */

static void agree(struct client *client, u16 extensions)
{
	struct rpcrdma_cm_private server = {
		.send_size = 4096, .recv_size = 4096, .remote_invalidation = true,
		.extensions = extensions,
	};

	client_disconnect(client);
	fake_cm.heard.length = rpcrdma_cm_private_encode(&server, fake_cm.heard.private);
	client_connect(client);
}

static void announcement(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpcrdma_cm_private sent;

	agree(client, RPCRDMA_EXT_REVERSE_CHUNKS);
	rpcrdma_cm_private_decode(fake_cm.said.private, fake_cm.said.length, &sent);
	KUNIT_EXPECT_TRUE(test, sent.extensions & RPCRDMA_EXT_REVERSE_CHUNKS);
	KUNIT_EXPECT_TRUE(test, client->conn->xc_inline.reverse_chunks);
	KUNIT_EXPECT_FALSE(test, client->conn->xc_inline.read_chunk_replies);
}

/* RFC 8267 section 6.5.2 */
static void payload_where_chunks_are_used(struct kunit *test)
{
	struct client *client = client_of(test);

	xprtrdma_bc_connected(client->conn);
	KUNIT_EXPECT_EQ(test, 4096 - 28, xprtrdma_bc_max_payload(client->xprt));
	agree(client, RPCRDMA_EXT_REVERSE_CHUNKS);
	xprtrdma_bc_connected(client->conn);
	KUNIT_EXPECT_EQ(test, XPRTRDMA_BC_MAX_CALL, xprtrdma_bc_max_payload(client->xprt));
	client_server_takes(0);
	agree(client, RPCRDMA_EXT_REVERSE_CHUNKS);
	xprtrdma_bc_connected(client->conn);
	KUNIT_EXPECT_EQ(test, 4096 - 28, xprtrdma_bc_max_payload(client->xprt));
}

/* Where replies are pulled, too, a Long call is told by the reply that it wants. */
static void long_call_is_no_pulled_reply(struct kunit *test)
{
	struct client *client = client_of(test);
	struct callback *cb = long_create(client, 9000);
	struct fake_wr *wr;

	agree(client, RPCRDMA_EXT_REVERSE_CHUNKS | RPCRDMA_EXT_PROVIDES_READ_CHUNKS);
	KUNIT_ASSERT_TRUE(test, client->conn->xc_inline.read_chunk_replies);
	/* To a reply that nobody waits for, RDMA_DONE is the answer. */
	callback_deliver(cb);
	run(client);
	wr = fake_last_wr(client->qp);
	KUNIT_EXPECT_EQ(test, RPCRDMA_DONE, be32_to_cpup(fake_message(wr) + 12));
	KUNIT_EXPECT_NULL(test, fake_callbacks_take(client->xprt));

	cb->reply[0] = 100;
	callback_deliver(cb);
	run(client);
	xprtrdma_bc_free_rqst(expect_call(cb));
	expect_nothing_left(client);
}

static struct kunit_case chunk_test_cases[] = {
	KUNIT_CASE_PARAM(call_is_read, call_gen_params),
	KUNIT_CASE(many_calls_are_read),
	KUNIT_CASE(one_call_too_many),
	KUNIT_CASE(call_is_too_long),
	KUNIT_CASE(server_takes_no_reads),
	KUNIT_CASE(switched_off),
	KUNIT_CASE(what_is_read_is_no_call),
	KUNIT_CASE(read_fails),
	KUNIT_CASE(connection_is_lost_while_reading),
	KUNIT_CASE(post_of_reads_fails),
	KUNIT_CASE(service_stops_while_reading),
	KUNIT_CASE(memory_is_short),
	KUNIT_CASE(reply_goes_into_the_chunk),
	KUNIT_CASE(short_reply_leaves_the_chunk),
	KUNIT_CASE(reply_larger_than_a_page),
	KUNIT_CASE(reply_larger_than_the_chunk),
	KUNIT_CASE(chunk_of_an_earlier_call),
	KUNIT_CASE(write_fails),
	KUNIT_CASE(connection_is_lost_while_writing),
	KUNIT_CASE(post_of_a_long_reply_fails),
	KUNIT_CASE(queue_has_no_room),
	KUNIT_CASE(no_memory_for_a_long_reply),
	KUNIT_CASE(announcement),
	KUNIT_CASE(payload_where_chunks_are_used),
	KUNIT_CASE(long_call_is_no_pulled_reply),
	{}
};

static struct kunit_suite chunk_suite = {
	.name = "xprtrdma_bc_chunk",
	.init = client_bc_init,
	.test_cases = chunk_test_cases,
};

kunit_test_suite(chunk_suite);
