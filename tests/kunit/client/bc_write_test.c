// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reverse direction with chunks, RFC 8167 section 5.3: replies that go into the
 * server's memory.
 */
#include <linux/sunrpc/bc_xprt.h>
#include <linux/unaligned.h>

#include "bc_call.h"

/* The callback service has answered with @length bytes. */
static void answer(struct rpc_rqst *rqst, u32 length)
{
	struct xdr_buf *reply = &rqst->rq_snd_buf;
	u8 *to = reply->head[0].iov_base;

	fake_fill(to, length);
	put_unaligned_be32(BC_XID, to);
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
					      &lists, false));
	KUNIT_EXPECT_EQ(client->test, BC_XID, header->xid);
	KUNIT_EXPECT_EQ(client->test, XPRTRDMA_BC_SLOTS, header->credits);
	KUNIT_EXPECT_EQ(client->test, 0, lists.nr_read);
	KUNIT_EXPECT_EQ(client->test, 0, lists.nr_write);
	*nr_reply = lists.nr_reply;
	for (i = 0; i < lists.nr_segments && i < 4; i++) {
		KUNIT_EXPECT_EQ(client->test, BC_REPLY_RKEY + i, segments[i].handle);
		KUNIT_EXPECT_EQ(client->test, BC_ADDRESS + i, segments[i].offset);
		lengths[i] = segments[i].length;
	}
}

/* A call with a Reply chunk in the hands of the service. */
static struct rpc_rqst *call_with_reply_chunk(struct bc_call *cb, const u32 sizes[4])
{
	memcpy(cb->reply, sizes, sizeof(cb->reply));
	bc_call_deliver(cb);
	fake_mark(cb->client->qp);
	return bc_call_expect(cb);
}

static const u32 pieces[4] = { 1000, 2001, 5191 };

/* RFC 8166 section 4.3.3 */
static void reply_goes_into_the_chunk(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create(client, 64);
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
	KUNIT_EXPECT_EQ(test, BC_XID, get_unaligned_be32(cb->memory));
	for (i = 4; i < 4096 && cb->memory[i] == fake_byte(i); i++)
		;
	KUNIT_EXPECT_EQ(test, 4096, i);
	KUNIT_EXPECT_EQ(test, 0, cb->memory[4096]);
	bc_expect_nothing_left(client);
}

/* RFC 8166 section 4.3.3: it goes back unused. */
static void short_reply_leaves_the_chunk(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create(client, 64);
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
	bc_expect_nothing_left(client);
}

/* The service has room for it, but nowhere to keep it. */
static void reply_larger_than_a_page(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create(client, 64);
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
	bc_expect_nothing_left(client);
}

static void reply_larger_than_the_chunk(struct kunit *test)
{
	static const u32 small[4] = { 4000, 95 };
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create(client, 64);
	struct rpc_rqst *rqst = call_with_reply_chunk(cb, small);

	answer(rqst, 4096);
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	client_bc_expect_err_chunk(client, be32_to_cpu(rqst->rq_xid));
	xprtrdma_bc_free_rqst(rqst);
	bc_expect_nothing_left(client);
}

/* The chunk belongs to one call, not to the rpc_rqst that is used again. */
static void chunk_of_an_earlier_call(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create(client, 64);
	struct rpc_rqst *rqst = call_with_reply_chunk(cb, pieces);

	xprtrdma_bc_free_rqst(rqst);
	cb->reply[0] = 0;
	bc_call_deliver(cb);
	rqst = bc_call_expect(cb);
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
	struct bc_call *cb = bc_call_create(client, 64);
	struct rpc_rqst *rqst = call_with_reply_chunk(cb, pieces);

	answer(rqst, 4096);
	client->fake->remotes[1].rkey = 1;
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	xprtrdma_bc_free_rqst(rqst);
	client_bc_expect_failed_by(client, IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, 0, client->conn->xc_bc_write.wrs);
}

static void connection_is_lost_while_writing(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create(client, 64);
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
	struct bc_call *cb;
	int accept;

	for (accept = 0; accept < 4; accept++) {
		client->fake->nr_remotes = 0;
		cb = bc_call_create(client, 64);
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
	struct bc_call *cb = bc_call_create(client, 64);
	struct rpc_rqst *rqst = call_with_reply_chunk(cb, pieces);

	answer(rqst, 4096);
	client->conn->xc_bc_write.wrs = XPRTRDMA_BC_WRITES - 2;
	clear_bit(XPRT_WRITE_SPACE, &client->xprt->state);
	client->conn->xc_wait = XPRTRDMA_WAIT_REGIONS;
	KUNIT_EXPECT_EQ(test, -EAGAIN, xprtrdma_request_send(rqst));
	KUNIT_EXPECT_EQ(test, XPRTRDMA_WAIT_SEND_QUEUE, client->conn->xc_wait);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(client->qp));
	KUNIT_EXPECT_TRUE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
	client->conn->xc_bc_write.wrs = 0;
	KUNIT_EXPECT_EQ(test, 0, xprtrdma_request_send(rqst));
	fake_run_all(client->qp);
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_WRITE_SPACE, &client->xprt->state));
	xprtrdma_bc_free_rqst(rqst);
	bc_expect_nothing_left(client);
}

static void no_memory_for_a_long_reply(struct kunit *test)
{
	struct client *client = client_of(test);
	struct bc_call *cb = bc_call_create(client, 64);
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
	bc_expect_nothing_left(client);
}

static struct kunit_case write_cases[] = {
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
	{}
};

static struct kunit_suite write_suite = {
	.name = "xprtrdma_bc_write",
	.init = client_bc_init,
	.test_cases = write_cases,
};

kunit_test_suite(write_suite);
