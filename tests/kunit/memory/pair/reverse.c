// SPDX-License-Identifier: GPL-2.0-only
/* nfsd's side and the NFS client's side of callbacks, for the suites that test them. */
#include <linux/unaligned.h>

#include "reverse.h"

/* ---- nfsd ---- */

struct callback *reverse_call(struct reverse *reverse, u32 words, u32 answer,
			      enum callback_procedure procedure)
{
	struct callback *cb = &reverse->calls[reverse->nr_calls++];
	struct kunit *test = reverse->pair->test;

	KUNIT_ASSERT_LE(test, reverse->nr_calls, ARRAY_SIZE(reverse->calls));
	*cb = (struct callback) { .words = words, .results = answer, .exact = true };
	callback_start(test, cb, reverse->clnt, procedure);
	return cb;
}

/* ---- the NFS client ---- */

/* Both sides work until the callback service has a call, or for long enough. */
struct rpc_rqst *reverse_called(struct reverse *reverse)
{
	struct rpc_rqst *rqst;
	int patience = 500;

	do {
		pair_pump(reverse->pair);
		rqst = fake_callbacks_take(reverse->pair->client.xprt);
		if (!rqst)
			usleep_range(200, 500);
	} while (!rqst && patience-- && reverse->pair->server &&
		 !pair_client_failed(reverse->pair));
	return rqst;
}

/* As svc_process_bc() sees it. */
void reverse_expect_call(struct reverse *reverse, const struct rpc_rqst *rqst, u32 words)
{
	const struct xdr_buf *buf = &rqst->rq_rcv_buf;
	struct kunit *test = reverse->pair->test;
	u8 *seen = kunit_kzalloc(test, buf->len, GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	KUNIT_ASSERT_EQ(test, CB_CALL_HEADER + 4 * words, buf->len);
	KUNIT_EXPECT_EQ(test, buf->len, buf->head[0].iov_len + buf->page_len);
	KUNIT_ASSERT_EQ(test, 0, read_bytes_from_xdr_buf(buf, 0, seen, buf->len));
	for (i = 0; i < words; i++)
		if (get_unaligned_be32(seen + CB_CALL_HEADER + 4 * i) != i)
			break;
	KUNIT_EXPECT_EQ(test, words, i);
	kunit_kfree(test, seen);
}

/* What svc_process_bc() leaves; at most a page. */
void reverse_encode(struct rpc_rqst *rqst, u32 words)
{
	struct xdr_buf *reply = &rqst->rq_snd_buf;
	__be32 *p = reply->head[0].iov_base;
	u32 i;

	memset(p, 0, CB_REPLY_HEADER);
	p[0] = rqst->rq_xid;
	p[1] = cpu_to_be32(RPCRDMA_RPC_REPLY);
	for (i = 0; i < words; i++)
		p[CB_REPLY_HEADER / 4 + i] = cpu_to_be32(CB_RESULT + i);
	reply->head[0].iov_len = CB_REPLY_HEADER + 4 * words;
	reply->len = reply->head[0].iov_len;
}

int reverse_answer(struct reverse *reverse, struct rpc_rqst *rqst, u32 words)
{
	struct xdr_buf *reply = &rqst->rq_snd_buf;
	int rc;

	reverse_encode(rqst, words);
	rc = xprtrdma_request_send(rqst);
	memset(reply->head[0].iov_base, 0xff, reply->len);
	xprtrdma_bc_free_rqst(rqst);
	return rc;
}

bool reverse_ended(struct reverse *reverse, struct callback *cb)
{
	int patience = 2000;

	do {
		pair_pump(reverse->pair);
		if (completion_done(&cb->done))
			return true;
		usleep_range(200, 500);
	} while (patience--);
	return false;
}

/* ---- lives ---- */

/* reverse_exchange - a callback of so many words, and its reply of so many */
void reverse_exchange(struct reverse *reverse, u32 words, u32 answer,
		      enum callback_procedure procedure)
{
	struct callback *cb = reverse_call(reverse, words, answer, procedure);
	struct kunit *test = reverse->pair->test;
	struct rpc_rqst *rqst = reverse_called(reverse);

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	reverse_expect_call(reverse, rqst, words);
	KUNIT_EXPECT_EQ(test, 0, reverse_answer(reverse, rqst, answer));
	KUNIT_ASSERT_TRUE(test, reverse_ended(reverse, cb));
	KUNIT_EXPECT_EQ(test, 0, cb->status);
}

void reverse_drop_clnt(struct reverse *reverse)
{
	if (reverse->clnt)
		rpc_shutdown_client(reverse->clnt);
	reverse->clnt = NULL;
	if (reverse->xprt)
		svc_xprt_put(reverse->xprt);
	reverse->xprt = NULL;
}

static void reverse_destroy(void *data)
{
	struct reverse *reverse = data;
	struct client *client = &reverse->pair->client;

	pair_disconnect(reverse->pair);
	reverse_drop_clnt(reverse);
	xprtrdma_bc_destroy(client->xprt, 1);
	if (client->transport->xt_bc_count)
		kunit_fail_current_test("reverse-direction rpc_rqsts were left");
}

/* reverse_attach - have nfsd make an rpc_clnt for the connection; false: there is no memory */
bool reverse_attach(struct reverse *reverse)
{
	reverse->xprt = &reverse->pair->server->st_xprt;
	svc_xprt_get(reverse->xprt);
	reverse->clnt = callback_client(reverse->xprt);
	return reverse->clnt;
}

void reverse_connect(struct reverse *reverse)
{
	KUNIT_ASSERT_EQ(reverse->pair->test, 0, pair_connect(reverse->pair));
	KUNIT_ASSERT_TRUE(reverse->pair->test, reverse_attach(reverse));
}

static void restore_messages(void *size)
{
	xprtrdma_max_inline_write = (unsigned long)size;
}

/* The reply to a callback is a page at most: with messages of a page, it may need a chunk. */
static void messages_of_a_page(struct kunit *test)
{
	void *size = (void *)(unsigned long)xprtrdma_max_inline_write;

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, restore_messages, size));
	xprtrdma_max_inline_write = PAGE_SIZE;
}

/* reverse_prepare - both sides, without a connection */
struct reverse *reverse_prepare(struct kunit *test, const struct memory_shape *shape)
{
	struct reverse *reverse = kunit_kzalloc(test, sizeof(*reverse), GFP_KERNEL);
	struct pair *pair = pair_create_as(test, shape);

	KUNIT_ASSERT_NOT_NULL(test, reverse);
	reverse->pair = pair;
	pair->answer = pair_answer;
	fake_callbacks_init(&reverse->callbacks);
	pair->client.xprt->bc_serv = &reverse->callbacks.serv;
	KUNIT_ASSERT_EQ(test, 0, xprtrdma_bc_setup(pair->client.xprt, 1));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, reverse_destroy, reverse));
	return reverse;
}

struct reverse *reverse_create_as(struct kunit *test, const struct memory_shape *shape)
{
	struct reverse *reverse = reverse_prepare(test, shape);

	messages_of_a_page(test);
	reverse_connect(reverse);
	return reverse;
}

struct reverse *reverse_create(struct kunit *test, bool iwarp)
{
	return reverse_create_as(test, &memory_plain[iwarp]);
}

void reverse_expect_at_rest(struct reverse *reverse)
{
	struct pair *pair = reverse->pair;

	pair_expect_at_rest(pair);
	KUNIT_EXPECT_EQ(pair->test, 0, pair->server->st_region.count[SVCRDMA_LONG_CALL]);
	KUNIT_EXPECT_EQ(pair->test, 0, memory_valid_keys(pair->server_device));
	KUNIT_EXPECT_EQ(pair->test, 0, pair->client.conn->xc_pull.active);
	KUNIT_EXPECT_EQ(pair->test, 0, pair->client.conn->xc_bc_write.wrs);
}

int reverse_suite_init(struct kunit_suite *suite)
{
	int ret = pair_suite_init(suite);

	if (ret)
		return ret;
	ret = xprt_register_transport(&svcrdma_backchannel_class);
	if (ret) {
		pair_suite_exit(suite);
		return ret;
	}
	return 0;
}

void reverse_suite_exit(struct kunit_suite *suite)
{
	xprt_unregister_transport(&svcrdma_backchannel_class);
	pair_suite_exit(suite);
}
