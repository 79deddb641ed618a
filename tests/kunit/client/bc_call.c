// SPDX-License-Identifier: GPL-2.0-only
/* Calls of the server with chunks, for the suites that test chunks of the reverse direction. */
#include <linux/unaligned.h>

#include "bc_call.h"

struct bc_call *bc_call_create(struct client *client, u32 length)
{
	struct bc_call *cb = kunit_kzalloc(client->test, sizeof(*cb), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(client->test, cb);
	cb->client = client;
	cb->length = length;
	cb->message = kunit_kzalloc(client->test, length, GFP_KERNEL);
	cb->memory = kunit_kzalloc(client->test, BC_REPLY_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(client->test, cb->message);
	KUNIT_ASSERT_NOT_NULL(client->test, cb->memory);
	for (i = 8; i < length; i++)
		cb->message[i] = fake_byte(i);
	put_unaligned_be32(BC_XID, cb->message);
	put_unaligned_be32(RPCRDMA_RPC_CALL, cb->message + 4);
	return cb;
}

/* All of it in a Position Zero Read chunk. */
struct bc_call *bc_call_create_long(struct client *client, u32 length)
{
	struct bc_call *cb = bc_call_create(client, length);

	cb->reads[0].length = length;
	return cb;
}

static void add_reads(struct bc_call *cb, struct rpcrdma_chunk_lists *lists)
{
	u32 i, at, n, rkey = BC_CALL_RKEY;

	for (i = 0; i < ARRAY_SIZE(cb->reads) && cb->reads[i].length; i++) {
		rpcrdma_lists_begin_read(lists, cb->reads[i].position);
		for (at = 0; at < cb->reads[i].length; at += n, rkey++) {
			n = cb->reads[i].length - at;
			if (cb->segment)
				n = min(n, cb->segment);
			rpcrdma_lists_add_segment(lists, (struct rpcrdma_segment) {
				.handle = rkey, .length = n, .offset = BC_ADDRESS });
			/* A test that did so itself wants something else there. */
			if (rkey - BC_CALL_RKEY >= cb->client->fake->nr_remotes)
				fake_remote_add(cb->client->fake, rkey, BC_ADDRESS,
						cb->message + cb->reads[i].position + at,
						n);
		}
	}
}

static void add_reply(struct bc_call *cb, struct rpcrdma_chunk_lists *lists)
{
	u32 i, at = 0;

	if (!cb->reply[0])
		return;
	rpcrdma_lists_begin_reply(lists);
	for (i = 0; i < ARRAY_SIZE(cb->reply) && cb->reply[i]; i++) {
		rpcrdma_lists_add_segment(lists, (struct rpcrdma_segment) {
			.handle = BC_REPLY_RKEY + i, .length = cb->reply[i],
			.offset = BC_ADDRESS + i });
		fake_remote_add(cb->client->fake, BC_REPLY_RKEY + i, BC_ADDRESS + i,
				cb->memory + at, cb->reply[i]);
		at += cb->reply[i];
	}
}

/* What is not in chunks, behind the header at @to. */
static u32 add_inline(struct bc_call *cb, u8 *to)
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
void bc_call_deliver(struct bc_call *cb)
{
	struct rpcrdma_header header = { .xid = BC_XID, .vers = 1, .credits = 8 };
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
	KUNIT_ASSERT_TRUE(client->test,
			  cb->invalidate ? fake_deliver_invalidate(client->qp, message, length,
								   cb->invalidate) :
					   fake_deliver(client->qp, message, length));
	kunit_kfree(client->test, message);
	flush_workqueue(xprtrdma_wq);
}

/* Reads are carried out, until no more are posted. */
void bc_run(struct client *client)
{
	do {
		fake_run_all(client->qp);
		flush_workqueue(xprtrdma_wq);
	} while (fake_pending(client->qp));
}

/* The callback service sees what the server encoded, padding of items as zeros. */
struct rpc_rqst *bc_call_expect(struct bc_call *cb)
{
	struct rpc_rqst *rqst = fake_callbacks_take(cb->client->xprt);
	struct kunit *test = cb->client->test;
	struct xdr_buf *call;
	u8 *seen;

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	call = &rqst->rq_rcv_buf;
	KUNIT_EXPECT_EQ(test, cpu_to_be32(BC_XID), rqst->rq_xid);
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

void bc_expect_nothing_left(struct client *client)
{
	KUNIT_EXPECT_NULL(client->test, fake_callbacks_take(client->xprt));
	KUNIT_EXPECT_EQ(client->test, 0, client->conn->xc_pull.active);
	KUNIT_EXPECT_EQ(client->test, XPRTRDMA_PULL_WRS, client->conn->xc_pull.wrs);
	KUNIT_EXPECT_EQ(client->test, 0, client->conn->xc_bc_write.wrs);
	KUNIT_EXPECT_NULL(client->test, client->conn->xc_bc_write.failed);
	client_expect_at_rest(client);
}
