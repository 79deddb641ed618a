// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA Writes of any part of any reply. The server takes data that lie in the pages without a walk
 * of the stream; the test compares the bytes that the client gets.
 */
#include <linux/prandom.h>

#include "../fake/bytes.h"
#include "server.h"

enum { ROUNDS = 2000, PAGES = 12, HEAD = 300, TAIL = 200, SEGMENTS = 4, HOLES = 2 };

/* A reply: @flat has its bytes, one after the other. */
struct any_reply {
	struct rnd_state		random;
	struct xdr_buf			buf;
	struct page			*pages[PAGES];
	u8				*flat;
	u8				*want;
	u8				*seen;
	struct svcrdma_payload		holes[HOLES];
	struct rpcrdma_chunk		chunk;
	struct rpcrdma_segment		segments[SEGMENTS];
};

static u32 below(struct any_reply *reply, u32 end)
{
	return end ? prandom_u32_state(&reply->random) % end : 0;
}

static struct any_reply *reply_create(struct kunit *test)
{
	struct any_reply *reply = kunit_kzalloc(test, sizeof(*reply), GFP_KERNEL);
	u32 i, size = HEAD + PAGES * PAGE_SIZE + TAIL;

	KUNIT_ASSERT_NOT_NULL(test, reply);
	prandom_seed_state(&reply->random, 8166);
	reply->flat = kunit_kmalloc(test, size, GFP_KERNEL);
	reply->want = kunit_kmalloc(test, size, GFP_KERNEL);
	reply->seen = kunit_kmalloc(test, size, GFP_KERNEL);
	reply->buf.head[0].iov_base = kunit_kmalloc(test, HEAD, GFP_KERNEL);
	reply->buf.tail[0].iov_base = kunit_kmalloc(test, TAIL, GFP_KERNEL);
	reply->buf.pages = reply->pages;
	KUNIT_ASSERT_TRUE(test, reply->flat && reply->want && reply->seen &&
			  reply->buf.head[0].iov_base && reply->buf.tail[0].iov_base);
	for (i = 0; i < PAGES; i++) {
		void *page = kunit_kmalloc(test, PAGE_SIZE, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, page);
		KUNIT_ASSERT_EQ(test, 0, offset_in_page(page));
		reply->pages[i] = virt_to_page(page);
		prandom_bytes_state(&reply->random, page, PAGE_SIZE);
	}
	prandom_bytes_state(&reply->random, reply->buf.head[0].iov_base, HEAD);
	prandom_bytes_state(&reply->random, reply->buf.tail[0].iov_base, TAIL);
	return reply;
}

static void reply_change(struct kunit *test, struct any_reply *reply)
{
	struct xdr_buf *buf = &reply->buf;
	u32 i, n, at, to = 0;

	buf->head[0].iov_len = below(reply, HEAD + 1);
	buf->tail[0].iov_len = below(reply, TAIL + 1);
	buf->page_base = below(reply, 2 * PAGE_SIZE);
	buf->page_len = below(reply, PAGES * PAGE_SIZE - buf->page_base + 1);
	if (below(reply, 2))
		buf->page_base &= PAGE_MASK;
	if (below(reply, 2))
		buf->page_len &= PAGE_MASK;
	buf->len = buf->head[0].iov_len + buf->page_len + buf->tail[0].iov_len;

	memcpy(reply->flat, buf->head[0].iov_base, buf->head[0].iov_len);
	to = buf->head[0].iov_len;
	for (i = 0; i < buf->page_len; i += n, to += n) {
		at = buf->page_base + i;
		n = min_t(u32, PAGE_SIZE - offset_in_page(at), buf->page_len - i);
		memcpy(reply->flat + to,
		       page_address(reply->pages[at >> PAGE_SHIFT]) + offset_in_page(at), n);
	}
	memcpy(reply->flat + to, buf->tail[0].iov_base, buf->tail[0].iov_len);
	KUNIT_ASSERT_EQ(test, buf->len, to + buf->tail[0].iov_len);
}

/* Where a Write begins, in the head, the pages or the tail as often */
static u32 any_place(struct any_reply *reply)
{
	const struct xdr_buf *buf = &reply->buf;

	switch (below(reply, 3)) {
	case 0:
		return below(reply, buf->head[0].iov_len);
	case 1:
		return buf->head[0].iov_len + below(reply, buf->page_len);
	default:
		return below(reply, buf->len);
	}
}

/* Up to two holes behind @pos; the bytes that are left. Returns how many there are. */
static u32 any_holes(struct any_reply *reply, struct svcrdma_stream *stream)
{
	u32 i, at = stream->pos, length = 0;

	stream->nr_holes = below(reply, HOLES + 1);
	stream->holes = reply->holes;
	for (i = 0; i < stream->nr_holes; i++) {
		u32 n = below(reply, (reply->buf.len - at) / 2 + 1);

		memcpy(reply->want + length, reply->flat + at, n);
		length += n;
		reply->holes[i].offset = at + n;
		reply->holes[i].length = below(reply, (reply->buf.len - at - n) / 2 + 1);
		at += n + reply->holes[i].length;
	}
	memcpy(reply->want + length, reply->flat + at, reply->buf.len - at);
	return length + reply->buf.len - at;
}

/* Segments with room for @length bytes and some more */
static void any_chunk(struct any_reply *reply, u32 length)
{
	u32 i, n, left = length;

	reply->chunk.count = 1 + below(reply, SEGMENTS);
	reply->chunk.length = 0;
	for (i = 0; i < reply->chunk.count; i++) {
		n = i + 1 < reply->chunk.count ? below(reply, left + 1) : left + below(reply, 100);
		left -= min(left, n);
		reply->segments[i] = (struct rpcrdma_segment) {
			.handle = 1 + i, .length = n, .offset = 0x1000 + reply->chunk.length,
		};
		reply->chunk.length += n;
	}
}

static u32 written(struct kunit *test, struct svcrdma_send_ctxt *sc, u8 *to)
{
	struct compat_run *run;
	struct svcrdma_rw *rw;
	u32 i, length = 0;

	list_for_each_entry(rw, &sc->sc_writes.list, rw_list) {
		compat_for_each_run(&rw->rw_runs, run, i) {
			KUNIT_ASSERT_NE(test, 0, compat_run_length(run));
			KUNIT_ASSERT_LE(test, offset_in_page(compat_run_virt(run)) +
					compat_run_length(run), PAGE_SIZE);
			memcpy(to + length, compat_run_virt(run), compat_run_length(run));
			length += compat_run_length(run);
		}
	}
	return length;
}

static void write_any_part_of_any_reply(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	struct any_reply *reply = reply_create(test);
	struct rpcrdma_chunk_lists lists = { .segments = reply->segments };
	u32 round, length;

	for (round = 0; round < ROUNDS; round++) {
		struct svcrdma_send_ctxt *sc = svcrdma_send_ctxt_get(t, GFP_KERNEL);
		struct svcrdma_stream stream = { .buf = &reply->buf };

		KUNIT_ASSERT_NOT_NULL(test, sc);
		reply_change(test, reply);
		stream.pos = any_place(reply);
		length = any_holes(reply, &stream);
		length = below(reply, 2) ? length : below(reply, length + 1);
		any_chunk(reply, length);
		KUNIT_EXPECT_EQ(test, 0, svcrdma_write_add(t, sc, &lists, &reply->chunk, &stream,
							   length));
		KUNIT_ASSERT_EQ(test, length, written(test, sc, reply->seen));
		KUNIT_ASSERT_EQ(test, 0, memcmp(reply->want, reply->seen, length));
		svcrdma_send_ctxt_put(t, sc);
	}
	server_expect_at_rest(server);
}

/* A Write of all of @buf has each of its pages once, in its place. */
static void expect_runs(struct kunit *test, struct svcrdma_transport *t, const struct xdr_buf *buf)
{
	struct svcrdma_send_ctxt *sc = svcrdma_send_ctxt_get(t, GFP_KERNEL);
	struct rpcrdma_segment segment = { .handle = 1, .length = buf->page_len };
	const struct rpcrdma_chunk_lists lists = { .segments = &segment };
	const struct rpcrdma_chunk chunk = { .count = 1, .length = buf->page_len };
	struct svcrdma_stream stream = { .buf = buf };
	u32 i, n, offset = buf->page_base, left = buf->page_len;
	struct compat_run *run;
	struct svcrdma_rw *rw;

	KUNIT_ASSERT_NOT_NULL(test, sc);
	KUNIT_ASSERT_EQ(test, 0, svcrdma_write_add(t, sc, &lists, &chunk, &stream, buf->page_len));
	rw = list_first_entry(&sc->sc_writes.list, struct svcrdma_rw, rw_list);
	compat_for_each_run(&rw->rw_runs, run, i) {
		n = min_t(u32, left, PAGE_SIZE - offset);
		KUNIT_ASSERT_PTR_EQ(test, page_address(buf->pages[i]) + offset,
				    compat_run_virt(run));
		KUNIT_ASSERT_EQ(test, n, compat_run_length(run));
		left -= n;
		offset = 0;
		KUNIT_ASSERT_EQ(test, !left, compat_run_is_last(&rw->rw_runs, run));
	}
	KUNIT_ASSERT_EQ(test, 0, left);
	KUNIT_ASSERT_EQ(test, DIV_ROUND_UP(buf->page_base + buf->page_len, PAGE_SIZE),
			rw->rw_runs.count);
	svcrdma_send_ctxt_put(t, sc);
}

/* Tables of one chunk and of several */
static void write_many_pages(struct kunit *test)
{
	static const u32 counts[] = { 1, 2, 3, 8, 9, 127, 128, 129, 254, 255, 256, 257, 258 };
	struct server *server = server_of(test);
	struct page **pages = kunit_kcalloc(test, 258, sizeof(*pages), GFP_KERNEL);
	struct xdr_buf buf = { .pages = pages };
	u32 i, c;

	KUNIT_ASSERT_NOT_NULL(test, pages);
	for (i = 0; i < 258; i++)
		pages[i] = virt_to_page(kunit_kmalloc(test, PAGE_SIZE, GFP_KERNEL));
	for (c = 0; c < ARRAY_SIZE(counts) * 4; c++) {
		buf.page_base = c % 2 ? 100 : 0;
		buf.page_len = counts[c / 4] * PAGE_SIZE - buf.page_base - (c % 4 / 2 ? 200 : 0);
		expect_runs(test, server->transport, &buf);
	}
	server_expect_at_rest(server);
}

static int write_walk_init(struct kunit *test)
{
	struct server *server = server_create(test);

	server_connect(server);
	return 0;
}

static struct kunit_case write_walk_cases[] = {
	KUNIT_CASE(write_any_part_of_any_reply),
	KUNIT_CASE(write_many_pages),
	{}
};

static struct kunit_suite write_walk_suite = {
	.name = "svcrdma_write_walk",
	.init = write_walk_init,
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.test_cases = write_walk_cases,
};

kunit_test_suites(&write_walk_suite);
