// SPDX-License-Identifier: GPL-2.0
/*
 * Client and server over the provider in memory: callbacks through nfsd's rpc_clnt and
 * back, of all sizes, with chunks where both have announced them, and what becomes of those
 * that are not answered. RFC 8167 section 5.3.
 */
#include <linux/unaligned.h>

#include "../../fake/callback.h"
#include "pair.h"

/**
 * struct reverse - both sides of the reverse direction
 * @pair: the connection
 * @callbacks: the NFS client's service
 * @xprt: the connection's svc_xprt, with nfsd's reference
 * @clnt: nfsd's rpc_clnt
 * @calls: they may outlive a test that fails
 * @nr_calls: their number
 */
struct reverse {
	struct pair		*pair;
	struct fake_callbacks	callbacks;
	struct svc_xprt		*xprt;
	struct rpc_clnt		*clnt;
	struct callback		calls[8];
	unsigned int		nr_calls;
};

/* ---- nfsd ---- */

static struct callback *call(struct reverse *reverse, u32 words, u32 answer,
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
static struct rpc_rqst *called(struct reverse *reverse)
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
static void expect_call(struct reverse *reverse, const struct rpc_rqst *rqst, u32 words)
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
static int answer(struct reverse *reverse, struct rpc_rqst *rqst, u32 words)
{
	struct xdr_buf *reply = &rqst->rq_snd_buf;
	__be32 *p = reply->head[0].iov_base;
	u32 i;
	int rc;

	memset(p, 0, CB_REPLY_HEADER);
	p[0] = rqst->rq_xid;
	p[1] = cpu_to_be32(RPCRDMA_RPC_REPLY);
	for (i = 0; i < words; i++)
		p[CB_REPLY_HEADER / 4 + i] = cpu_to_be32(CB_RESULT + i);
	reply->head[0].iov_len = CB_REPLY_HEADER + 4 * words;
	reply->len = reply->head[0].iov_len;
	rc = xprtrdma_request_send(rqst);
	memset(reply->head[0].iov_base, 0xff, reply->len);
	xprtrdma_bc_free_rqst(rqst);
	return rc;
}

static bool ended(struct reverse *reverse, struct callback *cb)
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

static void drop_clnt(struct reverse *reverse)
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
	drop_clnt(reverse);
	xprtrdma_bc_destroy(client->xprt, 1);
	if (client->transport->xt_bc_count)
		kunit_fail_current_test("reverse-direction rpc_rqsts were left");
}

static void connect(struct reverse *reverse)
{
	struct pair *pair = reverse->pair;
	struct svc_xprt *xprt;

	KUNIT_ASSERT_EQ(pair->test, 0, pair_connect(pair));
	xprt = &pair->server->st_xprt;
	svc_xprt_get(xprt);
	reverse->xprt = xprt;
	reverse->clnt = callback_client(xprt);
	KUNIT_ASSERT_NOT_NULL(pair->test, reverse->clnt);
}

static struct reverse *reverse_create(struct kunit *test, bool iwarp)
{
	struct reverse *reverse = kunit_kzalloc(test, sizeof(*reverse), GFP_KERNEL);
	struct pair *pair = pair_create(test, iwarp);

	KUNIT_ASSERT_NOT_NULL(test, reverse);
	reverse->pair = pair;
	pair->answer = pair_answer;
	fake_callbacks_init(&reverse->callbacks);
	pair->client.xprt->bc_serv = &reverse->callbacks.serv;
	KUNIT_ASSERT_EQ(test, 0, xprtrdma_bc_setup(pair->client.xprt, 1));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, reverse_destroy, reverse));
	connect(reverse);
	return reverse;
}

static void expect_at_rest(struct reverse *reverse)
{
	struct pair *pair = reverse->pair;

	pair_expect_at_rest(pair);
	KUNIT_EXPECT_EQ(pair->test, 0, pair->server->st_nr_long_calls);
	KUNIT_EXPECT_EQ(pair->test, 0, memory_valid_keys(pair->server_device));
	KUNIT_EXPECT_EQ(pair->test, 0, pair->client.conn->xc_pulls);
	KUNIT_EXPECT_TRUE(pair->test, list_empty(&pair->client.conn->xc_bc_writes));
}

static void expect_healthy(struct reverse *reverse)
{
	pair_expect_healthy(reverse->pair);
	expect_at_rest(reverse);
}

/* ---- sizes ---- */

/**
 * struct size_case - a callback and its reply
 * @desc: name
 * @words: of the arguments
 * @answer: words of the result
 * @procedure: how large SUNRPC thinks that the reply may be
 */
struct size_case {
	const char		*desc;
	u32			words;
	u32			answer;
	enum callback_procedure	procedure;
};

static const struct size_case size_cases[] = {
	{ "small", 20, 1, CB_LONG_CALL },
	{ "3 KiB", 768, 1, CB_LONG_CALL },
	{ "8 KiB", 2048, 1, CB_LONG_CALL },
	{ "64 KiB", 16384, 1, CB_LONG_CALL },
	{ "as large as possible", (SVCRDMA_MAX_CALLBACK - CB_CALL_HEADER) / 4, 1, CB_LONG_CALL },
	{ "small, the reply might be large", 20, 1, CB_LONG_REPLY },
	{ "small, the reply is 3 KiB", 20, 768, CB_LONG_REPLY },
	{ "small, the reply is a page", 20, (PAGE_SIZE - CB_REPLY_HEADER) / 4, CB_LONG_REPLY },
	{ "8 KiB, the reply is a page", 2048, (PAGE_SIZE - CB_REPLY_HEADER) / 4, CB_LONG_REPLY },
	{ "64 KiB, the reply is a page", 16384, (PAGE_SIZE - CB_REPLY_HEADER) / 4, CB_LONG_REPLY },
};

KUNIT_ARRAY_PARAM_DESC(size, size_cases, desc);

static void exchange(struct reverse *reverse, const struct size_case *c)
{
	struct callback *cb = call(reverse, c->words, c->answer, c->procedure);
	struct kunit *test = reverse->pair->test;
	struct rpc_rqst *rqst = called(reverse);

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	expect_call(reverse, rqst, c->words);
	KUNIT_EXPECT_EQ(test, 0, answer(reverse, rqst, c->answer));
	KUNIT_ASSERT_TRUE(test, ended(reverse, cb));
	KUNIT_EXPECT_EQ(test, 0, cb->status);
}

static void check_size(struct kunit *test, bool iwarp)
{
	struct reverse *reverse = reverse_create(test, iwarp);
	int i;

	KUNIT_EXPECT_TRUE(test, reverse->pair->client.conn->xc_inline.reverse_chunks);
	for (i = 0; i < 3; i++) {
		exchange(reverse, test->param_value);
		expect_at_rest(reverse);
	}
	pair_disconnect(reverse->pair);
	drop_clnt(reverse);
	pair_expect_nothing_left(reverse->pair);
}

static void callback_on_infiniband(struct kunit *test)
{
	check_size(test, false);
}

static void callback_on_iwarp(struct kunit *test)
{
	check_size(test, true);
}

/* Either side can be without it, and then nothing has chunks. */
static void switched_off(struct kunit *test, unsigned int *knob)
{
	struct reverse *reverse;
	struct callback *cb;

	*knob = 0;
	reverse = reverse_create(test, false);
	*knob = 1;
	KUNIT_EXPECT_FALSE(test, reverse->pair->client.conn->xc_inline.reverse_chunks);
	cb = call(reverse, 2048, 1, CB_LONG_CALL);
	KUNIT_ASSERT_TRUE(test, ended(reverse, cb));
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, cb->status);
	exchange(reverse, &size_cases[6]);
	expect_at_rest(reverse);
}

static void client_switched_off(struct kunit *test)
{
	switched_off(test, &xprtrdma_reliable_reply);
}

static void server_switched_off(struct kunit *test)
{
	switched_off(test, &svcrdma_reliable_reply);
}

/* ---- ends ---- */

/* The connection ends while the client has the call in hand. */
static void connection_is_lost(struct kunit *test)
{
	struct reverse *reverse = reverse_create(test, true);
	struct callback *cb = call(reverse, 2048, 1, CB_LONG_REPLY);
	struct rpc_rqst *rqst = called(reverse);

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	pair_disconnect(reverse->pair);
	KUNIT_ASSERT_TRUE(test, ended(reverse, cb));
	KUNIT_EXPECT_LT(test, cb->status, 0);
	xprtrdma_bc_free_rqst(rqst);
	drop_clnt(reverse);
	pair_expect_nothing_left(reverse->pair);
}

/* And while it is reading, or has yet to begin. */
static void connection_is_lost_while_reading(struct kunit *test)
{
	struct reverse *reverse = reverse_create(test, false);
	struct callback *cb;

	memory_hold(reverse->pair->client.conn->xc_id->qp);
	cb = call(reverse, 2048, 1, CB_LONG_REPLY);
	KUNIT_EXPECT_NULL(test, called(reverse));
	KUNIT_EXPECT_EQ(test, 1, reverse->pair->client.conn->xc_pulls);
	pair_disconnect(reverse->pair);
	KUNIT_ASSERT_TRUE(test, ended(reverse, cb));
	KUNIT_EXPECT_LT(test, cb->status, 0);
	drop_clnt(reverse);
	pair_expect_nothing_left(reverse->pair);
}

/* nfsd does not wait any longer; the client answers all the same, where nobody is. */
static void callback_is_given_up(struct kunit *test)
{
	struct reverse *reverse = reverse_create(test, false);
	struct callback *cb = call(reverse, 2048, 1, CB_LONG_CALL);
	struct rpc_rqst *rqst = called(reverse);

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	rpc_killall_tasks(reverse->clnt);
	KUNIT_ASSERT_TRUE(test, ended(reverse, cb));
	KUNIT_EXPECT_EQ(test, 0, answer(reverse, rqst, 1));
	pair_pump(reverse->pair);
	expect_at_rest(reverse);
	exchange(reverse, &size_cases[2]);
	expect_healthy(reverse);
}

/* A queue pair that stands still keeps nothing for ever: it is closed. */
static void invalidation_takes_too_long(struct kunit *test)
{
	struct reverse *reverse = reverse_create(test, false);
	unsigned long timeout = svcrdma_inv_timeout;
	struct callback *cb = call(reverse, 2048, 1, CB_LONG_CALL);
	struct rpc_rqst *rqst = called(reverse);
	struct pair *pair = reverse->pair;

	KUNIT_ASSERT_NOT_NULL(test, rqst);
	memory_hold(pair->server->st_qp);
	svcrdma_inv_timeout = 0;
	rpc_killall_tasks(reverse->clnt);
	KUNIT_ASSERT_TRUE(test, ended(reverse, cb));
	svcrdma_inv_timeout = timeout;
	msleep(20);
	svcrdma_expose_work(&pair->server->st_expose_work.work);
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(pair->server));
	pair_disconnect(pair);
	xprtrdma_bc_free_rqst(rqst);
	drop_clnt(reverse);
	pair_expect_nothing_left(pair);
}

/* The client reads or writes what is not there any more: it loses the connection. */
static void call_is_gone_when_it_is_read(struct kunit *test)
{
	struct reverse *reverse = reverse_create(test, false);
	struct pair *pair = reverse->pair;
	struct callback *cb;

	pair->client.conn->xc_pulls = XPRTRDMA_PULLS;
	cb = call(reverse, 2048, 1, CB_LONG_CALL);
	KUNIT_EXPECT_NULL(test, called(reverse));
	rpc_killall_tasks(reverse->clnt);
	KUNIT_ASSERT_TRUE(test, ended(reverse, cb));
	pair->client.conn->xc_pulls = 0;
	queue_work(xprtrdma_wq, &pair->client.conn->xc_pull_worker);
	KUNIT_EXPECT_NULL(test, called(reverse));
	KUNIT_EXPECT_TRUE(test, pair_client_failed(pair));
	pair_disconnect(pair);
	drop_clnt(reverse);
	pair_expect_nothing_left(pair);
}

/* ---- faults ---- */

static const struct {
	const char		*desc;
	enum pair_side		side;
	enum memory_step	step;
	enum ib_wc_status	status;
} faults[] = {
	{ "client, post", PAIR_CLIENT, MEMORY_POST_SEND },
	{ "client, refused by the peer", PAIR_CLIENT, MEMORY_EXECUTE, IB_WC_REM_ACCESS_ERR },
	{ "client, connection lost", PAIR_CLIENT, MEMORY_EXECUTE, MEMORY_LOST },
	{ "client, message lost", PAIR_CLIENT, MEMORY_RECEIVE, MEMORY_LOST },
	{ "server, post", PAIR_SERVER, MEMORY_POST_SEND },
	{ "server, work request fails", PAIR_SERVER, MEMORY_EXECUTE, IB_WC_LOC_PROT_ERR },
	{ "server, connection lost", PAIR_SERVER, MEMORY_EXECUTE, MEMORY_LOST },
	{ "server, message fails", PAIR_SERVER, MEMORY_RECEIVE, IB_WC_LOC_LEN_ERR },
	{ "server, mapping", PAIR_SERVER, MEMORY_MAP_MR },
};

/* Whatever fails, at whichever step of it: the callback ends, and nothing is left. */
static void fault_at_each_step(struct kunit *test)
{
	static const struct size_case c = {
		"", 2048, (PAGE_SIZE - CB_REPLY_HEADER) / 4, CB_LONG_REPLY
	};
	u32 i, at, steps, ends = 0;
	struct reverse *reverse;
	struct rpc_rqst *rqst;
	struct callback *cb;
	struct pair *pair;

	reverse = reverse_create(test, false);
	pair = reverse->pair;
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!pair->server)
			connect(reverse);
		reverse->nr_calls = 0;
		pair_script(pair);
		exchange(reverse, &c);
		steps = memory_seen(pair_device(pair, faults[i].side), faults[i].step);
		for (at = 1; at <= steps; at++) {
			if (!pair->server)
				connect(reverse);
			reverse->nr_calls = 0;
			pair_settle(pair);
			pair_script(pair);
			memory_fault(pair_device(pair, faults[i].side), faults[i].step, at,
				     faults[i].status);
			cb = call(reverse, c.words, c.answer, c.procedure);
			rqst = called(reverse);
			if (rqst)
				answer(reverse, rqst, c.answer);
			pair_pump(pair);
			if (pair_client_failed(pair) || !pair->server ||
			    !completion_done(&cb->done)) {
				pair_disconnect(pair);
				ends++;
			}
			KUNIT_ASSERT_TRUE_MSG(test, ended(reverse, cb), "%s, %u",
					      faults[i].desc, at);
			if (pair->server)
				continue;
			drop_clnt(reverse);
			pair_expect_nothing_left(pair);
		}
	}
	KUNIT_EXPECT_GT(test, ends, 0);
	if (!pair->server)
		connect(reverse);
	pair_script(pair);
	reverse->nr_calls = 0;
	exchange(reverse, &c);
	expect_at_rest(reverse);
}

static struct kunit_case callback_cases[] = {
	KUNIT_CASE_PARAM(callback_on_infiniband, size_gen_params),
	KUNIT_CASE_PARAM(callback_on_iwarp, size_gen_params),
	KUNIT_CASE(client_switched_off),
	KUNIT_CASE(server_switched_off),
	KUNIT_CASE(connection_is_lost),
	KUNIT_CASE(connection_is_lost_while_reading),
	KUNIT_CASE(callback_is_given_up),
	KUNIT_CASE(invalidation_takes_too_long),
	KUNIT_CASE(call_is_gone_when_it_is_read),
	KUNIT_CASE(fault_at_each_step),
	{}
};

static int callback_suite_init(struct kunit_suite *suite)
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

static void callback_suite_exit(struct kunit_suite *suite)
{
	xprt_unregister_transport(&svcrdma_backchannel_class);
	pair_suite_exit(suite);
}

static struct kunit_suite callback_suite = {
	.name = "memory_callback",
	.suite_init = callback_suite_init,
	.suite_exit = callback_suite_exit,
	.test_cases = callback_cases,
};

kunit_test_suite(callback_suite);
