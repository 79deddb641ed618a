// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA_MSGP: the server refuses it (RFC 8166 section 4.6.1), or, if the administrator wants that,
 * serves it as the RDMA_MSG that it might have been.
 */
#include <linux/unaligned.h>

#include "server.h"

enum { XID = 0x32000001, POSITION = 160, INLINE = 200 };

static int msgp_init(struct kunit *test)
{
	struct server *server = server_create(test);

	/* With the connection, and not for later ones. */
	svcrdma_serve_msgp = 1;
	server_connect(server);
	svcrdma_serve_msgp = 0;
	return 0;
}

/**
 * struct msgp_case - an RDMA_MSGP
 * @desc: which kind
 * @align: rdma_align
 * @thresh: rdma_thresh
 * @served: else ERR_CHUNK
 * @item: bytes of a Read chunk at POSITION; 0 for none
 * @size: bytes inline
 */
struct msgp_case {
	const char	*desc;
	u32		align;
	u32		thresh;
	bool		served;
	u32		item;
	u32		size;
};

static const struct msgp_case msgp_cases[] = {
	{ "no alignment", 0, 0, true },
	{ "aligned to four", 4, 0, true },
	{ "as long as the threshold", 64, INLINE, true },
	{ "longer than the threshold", 64, INLINE - 1, false },
	{ "everything is padded", 4096, 0, false },
	{ "alignment of three", 3, 0, false },
	{ "largest alignment", U32_MAX, 0, false },
	{ "largest of both", U32_MAX, U32_MAX, true },
	{ "item, no alignment", 0, 0, true, 8192 },
	{ "item, as long as the threshold", 64, INLINE + 8192, true, 8192 },
	{ "item that makes it too long", 64, INLINE + 8191, false, 8192 },
	{ "shorter than the header of an RPC call", 0, 0, false, 0, 36 },
	{ "no XID", 0, 0, false, 0, 3 },
};

KUNIT_ARRAY_PARAM_DESC(msgp, msgp_cases, desc);

static u8 item[8192];

static void deliver(struct server *server, const struct msgp_case *c)
{
	struct rpcrdma_header header = { .xid = XID, .vers = 1, .credits = 32 };
	struct rpcrdma_segment segment = { .handle = 0x99, .length = c->item };
	struct rpcrdma_segment segments[1];
	struct rpcrdma_chunk chunks[1];
	struct rpcrdma_chunk_lists lists;
	struct kunit *test = server->test;
	u32 size = c->size ?: INLINE;
	u8 message[320] = {};

	rpcrdma_lists_init(&lists, segments, 1, chunks, 1);
	if (c->item) {
		fake_fill(item, c->item);
		fake_remote_add(server->fake, segment.handle, 0, item, c->item);
		rpcrdma_lists_begin_read(&lists, POSITION);
		rpcrdma_lists_add_segment(&lists, segment);
	}
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK, rpcrdma_header_encode(&header, &lists, message,
								sizeof(message)));
	/* The two words come before the lists. */
	memmove(message + 24, message + 16, header.size - 16);
	header.size += 8;
	put_unaligned_be32(RPCRDMA_MSGP, message + 12);
	put_unaligned_be32(c->align, message + 16);
	put_unaligned_be32(c->thresh, message + 20);
	put_unaligned_be32(XID, message + header.size);
	put_unaligned_be32(RPCRDMA_RPC_CALL, message + header.size + 4);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, message, header.size + size));
}

static void expect_served(struct server *server, const struct msgp_case *c)
{
	const struct xdr_buf *arg = &server->rqst->rq_arg;
	struct kunit *test = server->test;
	__be32 xid = 0;
	u8 byte = 0;

	KUNIT_ASSERT_EQ(test, INLINE + c->item, server_receive_all(server));
	KUNIT_EXPECT_EQ(test, 0, read_bytes_from_xdr_buf(arg, 0, &xid, 4));
	KUNIT_EXPECT_EQ(test, XID, be32_to_cpu(xid));
	if (c->item) {
		KUNIT_EXPECT_EQ(test, 0, read_bytes_from_xdr_buf(arg, POSITION + 777,
								 &byte, 1));
		KUNIT_EXPECT_EQ(test, fake_byte(777), byte);
	}
	server_done(server);
}

static void msgp_without_padding_is_served(struct kunit *test)
{
	const struct msgp_case *c = test->param_value;
	struct server *server = server_of(test);

	deliver(server, c);
	if (c->served) {
		expect_served(server, c);
	} else {
		KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));
		KUNIT_EXPECT_EQ(test, 1, fake_posted(server->qp));
		server_expect_error(server, XID, RPCRDMA_ERR_CHUNK);
	}
	server_expect_at_rest(server);
}

/* As it is unless the knob was on when the connection was made. */
static void msgp_is_refused(struct kunit *test)
{
	const struct msgp_case *c = test->param_value;
	struct server *server = server_of(test);

	server_disconnect(server);
	server_connect(server);
	deliver(server, c);
	KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));
	KUNIT_EXPECT_EQ(test, 1, fake_posted(server->qp));
	server_expect_error(server, XID, RPCRDMA_ERR_CHUNK);
	server_expect_at_rest(server);
}

static struct kunit_case msgp_kunit_cases[] = {
	KUNIT_CASE_PARAM(msgp_without_padding_is_served, msgp_gen_params),
	KUNIT_CASE_PARAM(msgp_is_refused, msgp_gen_params),
	{}
};

static struct kunit_suite msgp_suite = {
	.name = "svcrdma_msgp",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = msgp_init,
	.test_cases = msgp_kunit_cases,
};

kunit_test_suite(msgp_suite);
