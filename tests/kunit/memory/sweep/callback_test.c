// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sweep: the reverse direction, from the NFS client's request for callbacks to the last reply.
 */
#include <linux/delay.h>

#include "sweep.h"

/* Milliseconds; what is short makes a worker of the client's wait for 100. */
enum { TO_CALL = 3000, TO_ARRIVE = 400, TO_END = 600, ATTEMPTS = 12 };

static bool lost(const struct sweep *sweep)
{
	return !sweep->pair->server || pair_client_failed(sweep->pair);
}

static void drop(struct sweep *sweep)
{
	pair_disconnect(sweep->pair);
	reverse_drop_clnt(sweep->reverse);
	sweep->reverse->nr_calls = 0;
	sweep_drop(sweep);
}

/* ---- the NFS client wants to be called ---- */

static void wish_prepare(struct sweep *sweep)
{
	drop(sweep);
	xprtrdma_bc_destroy(sweep->pair->client.xprt, 1);
}

/* As nfs_callback_up(): a mount that fails if it cannot be called */
static void wish_run(struct sweep *sweep)
{
	struct rpc_xprt *xprt = sweep->pair->client.xprt;

	if (!xprtrdma_bc_setup(xprt, 1))
		return;
	sweep_note(sweep, FAULT_REFUSED);
	xprtrdma_bc_destroy(xprt, 1);
	KUNIT_EXPECT_EQ(sweep->test, 0, sweep->pair->client.transport->xt_bc_count);
}

static void wish_check(struct sweep *sweep)
{
	struct rpc_xprt *xprt = sweep->pair->client.xprt;

	KUNIT_ASSERT_EQ(sweep->test, 0, xprtrdma_bc_setup(xprt, 1));
	sweep_check_pair(sweep);
}

/* ---- nfsd wants to call ---- */

static void clnt_prepare(struct sweep *sweep)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct svc_xprt *xprt;

	drop(sweep);
	sweep_fresh(sweep);
	xprt = &sweep->pair->server->st_xprt;
	if (sweep->op->ipv6)
		svc_xprt_set_remote(xprt, (struct sockaddr *)&six, sizeof(six));
	svc_xprt_get(xprt);
	sweep->reverse->xprt = xprt;
}

static void clnt_run(struct sweep *sweep)
{
	sweep->reverse->clnt = callback_client(sweep->reverse->xprt);
	if (!sweep->reverse->clnt)
		sweep_note(sweep, FAULT_REFUSED);
}

static void clnt_check(struct sweep *sweep)
{
	if (!sweep->reverse->clnt)
		sweep->reverse->clnt = callback_client(sweep->reverse->xprt);
	KUNIT_ASSERT_NOT_NULL(sweep->test, sweep->reverse->clnt);
	drop(sweep);
}

/* ---- a callback ---- */

static void call_prepare(struct sweep *sweep)
{
	drop(sweep);
	xprtrdma_bc_destroy(sweep->pair->client.xprt, 1);
	KUNIT_ASSERT_EQ(sweep->test, 0, xprtrdma_bc_setup(sweep->pair->client.xprt, 1));
	xprtrdma_reliable_reply = !sweep->op->plain;
	reverse_connect(sweep->reverse);
	sweep->pair->answer = pair_answer;
}

static bool is_asleep(const struct rpc_xprt *xprt, const struct rpc_wait_queue *queue)
{
	return queue && queue != &xprt->pending && queue != &xprt->sending &&
	       queue != &xprt->binding && queue != &xprt->backlog;
}

/*
 * SUNRPC sleeps for a while before it tries again; a test need not. A task that ends gives up
 * its tk_xprt without a lock; the only transport of its client stays. SUNRPC writes
 * tk_waitqueue plainly, and looks at it again under the queue's lock before it wakes the task.
 */
static void hurry(struct sweep *sweep)
{
	struct rpc_clnt *clnt = sweep->reverse->clnt;
	struct rpc_wait_queue *queue;
	struct rpc_task *task;
	struct rpc_xprt *xprt;

	spin_lock(&clnt->cl_lock);
	xprt = rcu_dereference_protected(clnt->cl_xprt, lockdep_is_held(&clnt->cl_lock));
	list_for_each_entry(task, &clnt->cl_tasks, tk_task) {
		queue = data_race(READ_ONCE(task->tk_waitqueue));
		if (is_asleep(xprt, queue))
			rpc_wake_up_queued_task(queue, task);
	}
	spin_unlock(&clnt->cl_lock);
}

/* The server has sent it, or something else, since the run began. */
static bool was_sent(const struct sweep *sweep)
{
	return memory_seen(sweep->pair->server_device, MEMORY_POST_SEND);
}

/* As reverse_called(), but SUNRPC may have to try again; NULL: it does not come. */
static struct rpc_rqst *called(struct sweep *sweep, struct callback *cb)
{
	struct patience patience;
	struct rpc_rqst *rqst;
	bool sent = false;

	patience_begin(&patience, msecs_to_jiffies(TO_CALL));
	do {
		hurry(sweep);
		pair_pump(sweep->pair);
		rqst = fake_callbacks_take(sweep->pair->client.xprt);
		if (rqst || lost(sweep) || completion_done(&cb->done))
			break;
		if (!sent && was_sent(sweep))
			patience_begin(&patience, msecs_to_jiffies(TO_ARRIVE));
		sent = was_sent(sweep);
		usleep_range(50, 100);
	} while (patience_lasts(&patience));
	return rqst;
}

/* What svc_process_bc() and SUNRPC do: a reply that cannot be sent now is sent later. */
static void answer(struct sweep *sweep, struct rpc_rqst *rqst, u32 words)
{
	struct xdr_buf *reply = &rqst->rq_snd_buf;
	int rc, attempts = ATTEMPTS;

	reverse_encode(rqst, words);
	while ((rc = xprtrdma_request_send(rqst)) == -EAGAIN || rc == -ENOBUFS) {
		KUNIT_ASSERT_NE(sweep->test, 0, attempts--);
		sweep_note(sweep, FAULT_RETRIED);
		pair_pump(sweep->pair);
	}
	memset(reply->head[0].iov_base, 0xff, reply->head[0].iov_len);
	xprtrdma_bc_free_rqst(rqst);
}

static void wait_for_end(struct sweep *sweep, struct callback *cb)
{
	struct patience patience;

	patience_begin(&patience, msecs_to_jiffies(TO_END));
	do {
		hurry(sweep);
		pair_pump(sweep->pair);
		usleep_range(50, 100);
	} while (!lost(sweep) && !completion_done(&cb->done) && patience_lasts(&patience));
}

/* nfsd gives up what does not come back. */
static void end(struct sweep *sweep, struct callback *cb)
{
	if (lost(sweep)) {
		sweep_note(sweep, FAULT_LOST);
		pair_disconnect(sweep->pair);
	} else if (!completion_done(&cb->done)) {
		sweep_note(sweep, FAULT_ENDED);
		rpc_killall_tasks(sweep->reverse->clnt);
	}
	KUNIT_ASSERT_TRUE(sweep->test, reverse_ended(sweep->reverse, cb));
	if (cb->status < 0)
		sweep_note(sweep, FAULT_ENDED);
}

static struct callback *exchange(struct sweep *sweep)
{
	const struct sweep_op *op = sweep->op;
	struct rpc_rqst *rqst;
	struct callback *cb;

	pair_script(sweep->pair);
	cb = reverse_call(sweep->reverse, op->words, op->results, op->procedure);
	rqst = called(sweep, cb);
	if (rqst) {
		reverse_expect_call(sweep->reverse, rqst, op->words);
		answer(sweep, rqst, op->results);
		wait_for_end(sweep, cb);
	}
	end(sweep, cb);
	return cb;
}

static void call_run(struct sweep *sweep)
{
	exchange(sweep);
}

static void call_check(struct sweep *sweep)
{
	enum fault_outcome outcome = sweep->outcome;

	if (!lost(sweep)) {
		KUNIT_EXPECT_EQ(sweep->test, 0, exchange(sweep)->status);
		reverse_expect_at_rest(sweep->reverse);
	}
	drop(sweep);
	sweep->outcome = outcome;
}

/* ---- cases ---- */

#define CALL	.prepare = call_prepare, .run = call_run, .check = call_check

enum { A_PAGE = (PAGE_SIZE - CB_REPLY_HEADER) / 4 };

static const struct sweep_op ops[] = {
	{ "the client wishes", wish_prepare, wish_run, wish_check },
	{ "nfsd wishes", clnt_prepare, clnt_run, clnt_check },
	{ "nfsd wishes, IPv6", clnt_prepare, clnt_run, clnt_check, .ipv6 = true },
	{ "small", CALL, .words = 20, .results = 1, .procedure = CB_SHORT },
	{ "small, without chunks", CALL, .words = 20, .results = 1, .procedure = CB_SHORT,
	  .plain = true },
	{ "Read chunk", CALL, .words = 2048, .results = 1, .procedure = CB_LONG_CALL },
	{ "Reply chunk", CALL, .words = 20, .results = A_PAGE, .procedure = CB_LONG_REPLY },
	{ "Read chunk and Reply chunk", CALL, .words = 2048, .results = A_PAGE,
	  .procedure = CB_LONG_REPLY },
};

KUNIT_ARRAY_PARAM_DESC(op, ops, desc);

static void reverse_it(struct kunit *test, bool iwarp)
{
	struct sweep *sweep = sweep_create(test);

	sweep->again = iwarp;
	sweep->reverse = reverse_create(test, iwarp);
	sweep_limit(sweep, sweep->reverse->pair);
	sweep_all(sweep, test->param_value);
	drop(sweep);
}

static void callback_on_infiniband(struct kunit *test)
{
	reverse_it(test, false);
}

static void callback_on_iwarp(struct kunit *test)
{
	reverse_it(test, true);
}

static struct kunit_case callback_cases[] = {
	KUNIT_CASE_PARAM(callback_on_infiniband, op_gen_params),
	KUNIT_CASE_PARAM(callback_on_iwarp, op_gen_params),
	{}
};

static struct kunit_suite callback_suite = {
	.name = "memory_sweep_callback",
	.suite_init = reverse_suite_init,
	.suite_exit = reverse_suite_exit,
	.test_cases = callback_cases,
};

kunit_test_suite(callback_suite);
