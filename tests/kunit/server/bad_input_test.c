// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivers every truncation of each message that a client may send, and every corruption of one of
 * its words. Whatever the server does with it: no buffer, no page and no queue entry may be lost,
 * and the next call has to work.
 */
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "../fake/bad_input.h"
#include "server.h"

/**
 * struct hostile - a client that makes mistakes
 * @server: the server
 * @memory: what all of its R_keys are for
 * @seen: messages so far
 * @calls: of these nfsd saw
 */
struct hostile {
	struct server	*server;
	u8		*memory;
	unsigned int	seen;
	unsigned int	calls;
};

enum { SEGMENT = 4096 };

static void connect(struct hostile *hostile)
{
	struct fake_device *fake = hostile->server->fake;
	u32 i;

	server_connect(hostile->server);
	memset(fake->remotes, 0, sizeof(fake->remotes));
	/* As SEGMENT() of bad_input.c; each holds the XID. */
	for (i = 0; i < 8; i++)
		fake_remote_add(fake, 0x1000 + i, 0x1122000000ULL + (i << 12),
				hostile->memory, SEGMENT);
}

/* As short as can be, inline. */
static void answer(struct hostile *hostile)
{
	struct svc_rqst *rqst = hostile->server->rqst;
	u8 *page = page_address(rqst->rq_respages[0]);

	memset(&rqst->rq_res, 0, sizeof(rqst->rq_res));
	memset(page, 0, 64);
	rqst->rq_res.head[0].iov_base = page;
	rqst->rq_res.head[0].iov_len = 64;
	rqst->rq_res.len = 64;
	svcrdma_result_payload(rqst, 24, 40);
	svcrdma_sendto(rqst);
	server_done(hostile->server);
}

static void expect_sound_arg(struct hostile *hostile, int length)
{
	const struct xdr_buf *arg = &hostile->server->rqst->rq_arg;
	struct kunit *test = hostile->server->test;
	u8 *bytes = kvmalloc(length, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	KUNIT_EXPECT_EQ(test, (u32)length, arg->len);
	KUNIT_EXPECT_EQ(test, 0, read_bytes_from_xdr_buf(arg, 0, bytes, length));
	kvfree(bytes);
}

static void deliver_bad(void *context, const u8 *message, u32 length)
{
	struct hostile *hostile = context;
	struct server *server = hostile->server;
	int ret;

	/* Act */
	hostile->seen++;
	KUNIT_ASSERT_TRUE(server->test, fake_deliver(server->qp, message, length));
	ret = server_receive_all(server);
	if (ret > 0) {
		hostile->calls++;
		expect_sound_arg(hostile, ret);
		answer(hostile);
	}

	/* Assert */
	server_settle(server);
	if (READ_ONCE(server->transport->st_closing)) {
		/* An R_key or an address that is wrong, or too many without a call. */
		KUNIT_EXPECT_TRUE(server->test, server->qp->error ||
				  atomic_read(&server->transport->st_unexpected) ==
				  SVCRDMA_MAX_UNEXPECTED);
		server_disconnect(server);
		connect(hostile);
		return;
	}
	server_expect_at_rest(server);
}

static void bad_input_of_any_kind(struct kunit *test)
{
	const struct sample *sample = test->param_value;
	struct hostile *hostile = kunit_kzalloc(test, sizeof(*hostile), GFP_KERNEL);
	u8 *message = sample_bytes(test, sample);
	unsigned int calls;

	/* Arrange */
	KUNIT_ASSERT_NOT_NULL(test, hostile);
	hostile->server = server_create(test);
	hostile->memory = kunit_kzalloc(test, SEGMENT, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hostile->memory);
	put_unaligned_be32(sample->words[0], hostile->memory);
	connect(hostile);

	/* Act */
	deliver_bad(hostile, message, sample->count * 4);
	calls = hostile->calls;
	bad_input_each(test, message, sample->count * 4, deliver_bad, hostile);

	/* Assert: the good one is a call, unless the server is not to see such ones. */
	deliver_bad(hostile, message, sample->count * 4);
	if (calls)
		KUNIT_EXPECT_GT(test, hostile->calls, calls);
	KUNIT_EXPECT_LT(test, hostile->calls, hostile->seen);
}

/* Few contexts: a connection is made for each message that ends one. */
static unsigned int max_requests;

static int bad_input_suite_init(struct kunit_suite *suite)
{
	max_requests = svcrdma_max_requests;
	svcrdma_max_requests = SVCRDMA_MIN_REQUESTS;
	return server_suite_init(suite);
}

static void bad_input_suite_exit(struct kunit_suite *suite)
{
	server_suite_exit(suite);
	svcrdma_max_requests = max_requests;
}

#define slow	((struct kunit_attributes){ .speed = KUNIT_SPEED_SLOW })

static struct kunit_case bad_input_cases[] = {
	KUNIT_CASE_PARAM_ATTR(bad_input_of_any_kind, sample_params, slow),
	{}
};

static struct kunit_suite bad_input_suite = {
	.name = "svcrdma_bad_input",
	.suite_init = bad_input_suite_init,
	.suite_exit = bad_input_suite_exit,
	.test_cases = bad_input_cases,
};

kunit_test_suite(bad_input_suite);
