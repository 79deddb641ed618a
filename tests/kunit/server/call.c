// SPDX-License-Identifier: GPL-2.0-only
/* Builds calls that a client has taken apart into chunks, for the suites that test calls. */
#include <linux/unaligned.h>

#include "call.h"

enum { STREAM = 1 << 21 };

int call_init(struct kunit *test)
{
	server_connect(server_create(test));
	return 0;
}

/* Puts @memory into the current chunk, as @pieces segments that are not equally long. */
static void expose(struct server *server, struct rpcrdma_chunk_lists *lists, u8 *memory,
		   u32 length, u32 pieces)
{
	static u32 key = 0x100;
	struct rpcrdma_segment segment;
	u32 part;

	for (; pieces; pieces--, memory += part, length -= part) {
		part = pieces == 1 ? length : length / pieces + pieces;
		segment = (struct rpcrdma_segment) {
			.handle = key++, .length = part, .offset = 0x7700000000ULL + key,
		};
		fake_remote_add(server->fake, segment.handle, segment.offset, memory, part);
		KUNIT_ASSERT_TRUE(server->test, rpcrdma_lists_add_segment(lists, segment));
	}
}

/* The base is the call without the items and their padding. */
static void build_base(struct call *call, const struct call_case *c)
{
	u32 i, at = 0, run;

	for (i = 0; i < CALL_ITEMS; i++) {
		if (!c->items[i].segments)
			break;
		run = c->items[i].position - at;
		memcpy(call->base + call->base_length, call->stream + at, run);
		call->base_length += run;
		at = c->items[i].position + ALIGN(c->items[i].length, 4);
		memset(call->stream + c->items[i].position + c->items[i].length, 0,
		       ALIGN(c->items[i].length, 4) - c->items[i].length);
	}
	memcpy(call->base + call->base_length, call->stream + at, c->length - at);
	call->base_length += c->length - at;
}

static void build_lists(struct server *server, struct call *call,
			const struct call_case *c, struct rpcrdma_chunk_lists *lists)
{
	u32 i;

	if (c->zero) {
		KUNIT_ASSERT_TRUE(server->test, rpcrdma_lists_begin_read(lists, 0));
		expose(server, lists, call->base, call->base_length, c->zero);
	}
	for (i = 0; i < CALL_ITEMS && c->items[i].segments; i++) {
		KUNIT_ASSERT_TRUE(server->test,
				  rpcrdma_lists_begin_read(lists, c->items[i].position));
		expose(server, lists, call->stream + c->items[i].position,
		       c->items[i].length, c->items[i].segments);
	}
}

void call_build(struct server *server, struct call *call, const struct call_case *c)
{
	struct rpcrdma_header header = { .xid = CALL_XID, .vers = 1, .credits = 32 };
	struct rpcrdma_segment segments[32];
	struct rpcrdma_chunk chunks[8];
	struct rpcrdma_chunk_lists lists;
	struct kunit *test = server->test;

	call->stream = kunit_kzalloc(test, STREAM, GFP_KERNEL);
	call->base = kunit_kzalloc(test, STREAM, GFP_KERNEL);
	call->message = kunit_kzalloc(test, SERVER_MESSAGE, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, call->stream && call->base && call->message);
	fake_fill(call->stream, c->length);
	put_unaligned_be32(CALL_XID, call->stream);
	/* AUTH_NONE, twice */
	memset(call->stream + 24, 0, 16);
	build_base(call, c);
	rpcrdma_lists_init(&lists, segments, 32, chunks, 8);
	build_lists(server, call, c, &lists);
	header.proc = c->zero ? RPCRDMA_NOMSG : RPCRDMA_MSG;
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK, rpcrdma_header_encode(&header, &lists,
								call->message,
								SERVER_MESSAGE));
	call->size = header.size;
	if (c->zero)
		return;
	KUNIT_ASSERT_LE(test, header.size + call->base_length, (u32)SERVER_MESSAGE);
	memcpy(call->message + header.size, call->base, call->base_length);
	call->size += call->base_length;
}

/*
 * nfsd takes an item that is longer than the head from the pages, whatever page_len and
 * tail say (svc_fill_write_vector()): they have to hold all that follows the head.
 */
static void expect_pages_go_on(struct server *server, const u8 *stream, u32 length)
{
	const struct xdr_buf *arg = &server->rqst->rq_arg;
	u32 at = 0, n;

	stream += arg->head[0].iov_len;
	length -= arg->head[0].iov_len;
	for (; at < length; at += n) {
		n = min_t(u32, length - at, PAGE_SIZE);
		KUNIT_EXPECT_EQ_MSG(server->test, 0,
				    memcmp(page_address(arg->pages[at >> PAGE_SHIFT]),
					   stream + at, n), "page at %u", at);
	}
}

/* nfsd sees it as the client encoded it. */
void call_expect_arg(struct server *server, const u8 *stream, u32 length)
{
	const struct xdr_buf *arg = &server->rqst->rq_arg;
	struct kunit *test = server->test;
	u8 *seen = kunit_kzalloc(test, length, GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	KUNIT_EXPECT_EQ(test, length, arg->len);
	KUNIT_EXPECT_EQ(test, length, arg->buflen);
	/* gss_read_proxy_verf() of 6.1 copies it into one page. */
	KUNIT_EXPECT_LE(test, arg->head[0].iov_len, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, length,
			arg->head[0].iov_len + arg->page_len + arg->tail[0].iov_len);
	/* Without pages it may be deferred: svc_defer() of 6.1 takes it from one piece. */
	KUNIT_EXPECT_TRUE(test, arg->page_len || arg->head[0].iov_len == length);
	KUNIT_ASSERT_EQ(test, 0, read_bytes_from_xdr_buf(arg, 0, seen, length));
	KUNIT_EXPECT_EQ(test, 0, memcmp(seen, stream, length));
	expect_pages_go_on(server, stream, length);
	/* What the reply is written to is none of them, nor is the head. */
	for (i = 0; i < DIV_ROUND_UP(arg->page_base + arg->page_len, PAGE_SIZE); i++)
		KUNIT_EXPECT_PTR_NE(test, server->rqst->rq_respages[0], arg->pages[i]);
	KUNIT_EXPECT_PTR_NE(test, server->rqst->rq_respages[0],
			    virt_to_page(arg->head[0].iov_base));
}

void call_deliver(struct server *server, const struct call_case *c)
{
	struct call call = {};

	call_build(server, &call, c);
	KUNIT_ASSERT_TRUE(server->test, fake_deliver(server->qp, call.message, call.size));
}
