// SPDX-License-Identifier: GPL-2.0-only
/* Calls that offer chunks, and their replies, for the suites that test replies. */
#include <linux/unaligned.h>
#include <linux/vmalloc.h>

#include <rqst_pages.h>

#include "exchange.h"

static void vfree_action(void *memory)
{
	vfree(memory);
}

/* Pages that follow each other are rare after many tests. */
static void *large(struct kunit *test, size_t size)
{
	void *memory = vzalloc(size);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, vfree_action, memory));
	return memory;
}

static void offer(struct exchange *x, const struct offer *offer, u32 n)
{
	u32 i, at = n ? x->chunk_at[n] : 0;

	x->chunk_at[n] = at;
	for (i = 0; i < offer->segments; i++) {
		struct rpcrdma_segment segment = {
			.handle = x->key++, .length = offer->length[i],
			.offset = 0x9900000000ULL + at,
		};

		rpcrdma_lists_add_segment(&x->lists, segment);
		fake_remote_add(x->server->fake, segment.handle, segment.offset,
				x->memory + at, segment.length);
		at += segment.length;
	}
	if (n < EXCHANGE_CHUNKS)
		x->chunk_at[n + 1] = at;
}

static void deliver_call(struct exchange *x)
{
	struct rpcrdma_header header = { .xid = EXCHANGE_XID, .vers = 1, .credits = 32 };
	struct kunit *test = x->server->test;
	u8 message[512] = {};
	u32 i;

	rpcrdma_lists_init(&x->lists, x->segments, 16, x->chunks, 8);
	for (i = 0; i < x->c->nr_write; i++) {
		KUNIT_ASSERT_TRUE(test, rpcrdma_lists_begin_write(&x->lists));
		offer(x, &x->c->write[i], i);
	}
	if (x->c->reply.segments || x->c->empty_reply) {
		KUNIT_ASSERT_TRUE(test, rpcrdma_lists_begin_reply(&x->lists));
		offer(x, &x->c->reply, x->c->nr_write);
	}
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK, rpcrdma_header_encode(&header, &x->lists, message,
								sizeof(message)));
	put_unaligned_be32(EXCHANGE_XID, message + header.size);
	KUNIT_ASSERT_TRUE(test, fake_deliver(x->server->qp, message, header.size + 40));
	KUNIT_ASSERT_EQ(test, 40, server_receive_all(x->server));
}

/* As svc_process() leaves rq_res. */
static void build_reply(struct exchange *x)
{
	struct svc_rqst *rqst = x->server->rqst;
	struct xdr_buf *res = &rqst->rq_res;
	u32 pad = ALIGN(x->c->pages, 4) - x->c->pages;
	u8 *page = page_address(rqst->rq_respages[0]);

	KUNIT_ASSERT_LE(x->server->test, x->c->head + pad + x->c->tail, (u32)PAGE_SIZE);
	memset(res, 0, sizeof(*res));
	res->head[0].iov_base = page;
	res->head[0].iov_len = x->c->head;
	res->pages = rqst->rq_respages + 1;
	res->page_base = x->c->base;
	res->page_len = x->c->pages;
	res->tail[0].iov_base = page + x->c->head;
	res->tail[0].iov_len = x->c->pages ? pad + x->c->tail : 0;
	res->len = x->c->head + x->c->pages + res->tail[0].iov_len;
	res->buflen = res->len;
	rqst->rq_next_page = rqst->rq_respages + 1 +
			     DIV_ROUND_UP(x->c->base + x->c->pages, PAGE_SIZE);

	x->length = res->len;
	x->stream = large(x->server->test, x->length);
	fake_fill(x->stream, x->length);
	put_unaligned_be32(EXCHANGE_XID, x->stream);
	memset(x->stream + x->c->head + x->c->pages, 0, x->c->pages ? pad : 0);
	if (x->c->payloads[0].length && !x->c->no_length)
		put_unaligned_be32(x->c->payloads[0].length,
				   x->stream + x->c->payloads[0].offset - 4);
	KUNIT_ASSERT_EQ(x->server->test, 0,
			write_bytes_to_xdr_buf(res, 0, x->stream, x->length));
}

static void start(struct exchange *x, const struct reply_case *c)
{
	u32 i;

	x->c = c;
	x->key = 0x200;
	x->first_key = x->key;
	deliver_call(x);
	build_reply(x);
	for (i = 0; i < EXCHANGE_PAYLOADS && c->payloads[i].length; i++)
		KUNIT_ASSERT_EQ(x->server->test, 0,
				svcrdma_result_payload(x->server->rqst,
						       c->payloads[i].offset -
						       (c->at_length ? 4 : 0),
						       c->payloads[i].length));
}

/* A call, and all but the answer. */
struct exchange *exchange_start(struct server *server, const struct reply_case *c)
{
	struct exchange *x = kunit_kzalloc(server->test, sizeof(*x), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(server->test, x);
	x->server = server;
	x->memory = large(server->test, EXCHANGE_MEMORY);
	x->rest = large(server->test, EXCHANGE_MEMORY);
	start(x, c);
	return x;
}

/* Another one, after exchange_answer(). A case with many of them needs the memory of one. */
void exchange_again(struct exchange *x, const struct reply_case *c)
{
	struct exchange other = { .server = x->server, .memory = x->memory, .rest = x->rest };

	x->server->fake->nr_remotes = 0;
	kunit_release_action(x->server->test, vfree_action, x->stream);
	*x = other;
	memset(x->memory, 0, EXCHANGE_MEMORY);
	memset(x->rest, 0, EXCHANGE_MEMORY);
	start(x, c);
}

/* What the server has answered. */
void exchange_decode(struct exchange *x)
{
	rpcrdma_lists_init(&x->lists, x->segments, 16, x->chunks, 8);
	server_decode_reply(x->server, &x->header, &x->lists);
}

/* The reply without what Write chunks took; returns its length. */
u32 exchange_reduced(struct exchange *x)
{
	u32 i, at = 0, n = 0;

	for (i = 0; i < x->c->nr_write; i++) {
		if (!x->c->written[i])
			continue;
		memcpy(x->rest + n, x->stream + at, x->c->payloads[i].offset - at);
		n += x->c->payloads[i].offset - at;
		at = x->c->payloads[i].offset + ALIGN(x->c->written[i], 4);
	}
	memcpy(x->rest + n, x->stream + at, x->length - at);
	return n + x->length - at;
}

/* RFC 8166 section 3.4.6: lengths as written, from the front; the rest stays. */
void exchange_expect_chunk(struct exchange *x, const struct rpcrdma_chunk *chunk,
			   const struct offer *offer, u32 written)
{
	struct kunit *test = x->server->test;
	u32 i, part, left = written;

	KUNIT_ASSERT_NOT_NULL(test, chunk);
	KUNIT_ASSERT_EQ(test, offer->segments, chunk->count);
	KUNIT_EXPECT_EQ(test, written, chunk->length);
	for (i = 0; i < chunk->count; i++, left -= part) {
		part = min(left, offer->length[i]);
		KUNIT_EXPECT_EQ(test, part, x->segments[chunk->first + i].length);
	}
}

static void expect_lists(struct exchange *x)
{
	const struct reply_case *c = x->c;
	struct kunit *test = x->server->test;
	u32 i;

	KUNIT_ASSERT_EQ(test, 0, x->lists.nr_read);
	KUNIT_ASSERT_EQ(test, c->nr_write, x->lists.nr_write);
	KUNIT_ASSERT_EQ(test, c->reply.segments || c->empty_reply, x->lists.nr_reply);
	for (i = 0; i < c->nr_write; i++) {
		exchange_expect_chunk(x, rpcrdma_write_chunk(&x->lists, i), &c->write[i],
				      c->written[i]);
		KUNIT_EXPECT_EQ(test, 0, memcmp(x->memory + x->chunk_at[i],
						x->stream + c->payloads[i].offset,
						c->written[i]));
	}
	if (c->reply.segments)
		exchange_expect_chunk(x, rpcrdma_reply_chunk(&x->lists), &c->reply,
				      c->reply_written);
	for (i = 0; i < x->lists.nr_segments; i++)
		KUNIT_EXPECT_EQ(test, x->first_key + i, x->segments[i].handle);
}

/* Writes first, all in one post, unsignalled but for the Send. */
static void expect_chain(struct exchange *x, bool signalled)
{
	struct fake_qp *qp = x->server->qp;
	struct kunit *test = x->server->test;
	u32 i, n = fake_posted(qp);

	for (i = 0; i < n; i++) {
		struct fake_wr *wr = fake_wr(qp, i);

		KUNIT_EXPECT_EQ(test, fake_wr(qp, 0)->post, wr->post);
		KUNIT_EXPECT_EQ(test, i == n - 1 && signalled, !!(wr->flags & IB_SEND_SIGNALED));
		if (i < n - 1)
			KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE, wr->opcode);
	}
}

static void expect_inline(struct exchange *x, u32 rest)
{
	struct fake_wr *wr = fake_last_wr(x->server->qp);
	struct kunit *test = x->server->test;

	KUNIT_ASSERT_EQ(test, x->header.size + rest, wr->sge[0].length);
	KUNIT_EXPECT_EQ(test, 0, memcmp(fake_message(wr) + x->header.size, x->rest, rest));
}

/*
 * Not if nothing of it goes to a chunk, the queue is watched, and not too many are unsignalled, in
 * a row or at all.
 */
static bool will_be_signalled(const struct exchange *x)
{
	const struct svcrdma_transport *t = x->server->transport;
	bool writes = x->c->proc == RPCRDMA_NOMSG;
	u32 i;

	for (i = 0; i < x->c->nr_write; i++)
		writes |= x->c->written[i] > 0;
	return writes || t->st_sq.slow ||
	       t->st_send.nr_since_signal == SVCRDMA_MAX_UNSIGNALLED_ROW ||
	       atomic_read(&t->st_sq.unsignalled) == RPCRDMA_UNSIGNALLED_SENDS;
}

/* The server answers, and the client sees what nfsd has encoded, where it was to go. */
void exchange_answer(struct exchange *x)
{
	const struct reply_case *c = x->c;
	struct server *server = x->server;
	struct kunit *test = server->test;
	u32 rest = exchange_reduced(x);
	bool signalled = will_be_signalled(x);

	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	KUNIT_EXPECT_TRUE(test, compat_rqst_can_be_released(server->rqst));
	server_done(server);
	exchange_decode(x);
	expect_chain(x, signalled);
	server_settle(server);

	KUNIT_EXPECT_EQ(test, c->proc, x->header.proc);
	KUNIT_EXPECT_EQ(test, EXCHANGE_XID, x->header.xid);
	KUNIT_EXPECT_EQ(test, server->transport->st_credits, x->header.credits);
	expect_lists(x);
	if (c->proc == RPCRDMA_MSG) {
		expect_inline(x, rest);
	} else {
		KUNIT_EXPECT_EQ(test, x->header.size,
				fake_last_wr(server->qp)->sge[0].length);
		KUNIT_EXPECT_EQ(test, rest, c->reply_written);
		KUNIT_EXPECT_EQ(test, 0, memcmp(x->memory + x->chunk_at[c->nr_write],
						x->rest, rest));
	}
}
