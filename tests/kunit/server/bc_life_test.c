// SPDX-License-Identifier: GPL-2.0-only
/* The rpc_xprt of a back channel: its setup, and its end. */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "bc.h"

/* ---- the end of the connection ---- */

static void loss_ends_callbacks(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *calls[2], *late;
	int i;

	for (i = 0; i < 2; i++)
		calls[i] = bc_call(test, 1);
	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 1));
	fake_cm_event(bc->server->id, RDMA_CM_EVENT_DISCONNECTED);
	bc_lose(bc);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_TRUE(test, bc_ended(calls[i]));
		KUNIT_EXPECT_EQ(test, -ENOTCONN, calls[i]->status);
	}
	/* And those that come later. */
	late = bc_call(test, 1);
	KUNIT_ASSERT_TRUE(test, bc_ended(late));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, late->status);
	KUNIT_EXPECT_FALSE(test, xprt_connected(bc->rpc));
	KUNIT_EXPECT_EQ(test, 0, bc->rpc->cong);
}

/*
 * The connection ends, but no thread of nfsd has come to see to it. A callback does not
 * wait for that, nor ask again and again until then.
 */
static void loss_is_noticed_by_a_callback(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb;

	svcrdma_transport_close(bc->server->transport, RPCRDMA_END_OTHER);
	cb = bc_call(test, 1);
	KUNIT_EXPECT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, cb->status);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(bc->server->qp));
}

/* nfsd's client lives on for a while; then it has nothing to hold on to. */
static void loss_after_the_client(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = bc_call(test, 1);

	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 1));
	bc_reply_well(test, bc_xid(bc, 0), 2);
	bc_expect_answered(test, cb);
	bc_shut_down(bc);
	/* A new one takes the rpc_xprt that is there. */
	bc->clnt = callback_client(bc->xprt);
	KUNIT_ASSERT_NOT_NULL(test, bc->clnt);
	KUNIT_EXPECT_PTR_EQ(test, bc->rpc, rcu_access_pointer(bc->clnt->cl_xprt));
	cb = bc_call(test, 1);
	KUNIT_ASSERT_TRUE(test, bc_sent(bc, 2));
	bc_reply_well(test, bc_xid(bc, 1), 2);
	bc_expect_answered(test, cb);
}

static void loss_is_injected(struct kunit *test)
{
	struct backchannel *bc = test->priv;

	bc->rpc->ops->inject_disconnect(bc->rpc);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(bc->server->transport->st_closing));
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_CLOSE, &bc->xprt->xpt_flags));
}

/* Only the client can connect. */
static void connect_is_refused(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct rpc_task task;

	fake_task_sleep(bc->rpc, &task);
	set_bit(XPRT_CONNECTING, &bc->rpc->state);
	bc->rpc->ops->connect(bc->rpc, &task);
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_CONNECTING, &bc->rpc->state));
	KUNIT_EXPECT_FALSE(test, RPC_IS_QUEUED(&task));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, task.tk_status);
}

/* ---- setup ---- */

static struct rpc_xprt *set_up(struct backchannel *bc, struct svc_xprt *xprt, size_t length)
{
	struct xprt_create args = {
		.ident		= XPRT_TRANSPORT_BC_RDMA,
		.net		= &init_net,
		.dstaddr	= (struct sockaddr *)&bc->xprt->xpt_remote,
		.addrlen	= length ?: bc->xprt->xpt_remotelen,
		.bc_xprt	= xprt,
	};

	return svcrdma_backchannel_class.setup(&args);
}

static void setup_is_as_sunrpc_wants_it(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct rpc_xprt *xprt = bc->rpc;

	KUNIT_EXPECT_PTR_EQ(test, &svcrdma_backchannel_class, xprt->xprt_class);
	KUNIT_EXPECT_EQ(test, XPRT_TRANSPORT_BC_RDMA, xprt->prot);
	KUNIT_EXPECT_PTR_EQ(test, bc->xprt, xprt->bc_xprt);
	KUNIT_EXPECT_PTR_EQ(test, xprt, bc->xprt->xpt_bc_xprt);
	KUNIT_EXPECT_TRUE(test, xprt_bound(xprt));
	KUNIT_EXPECT_TRUE(test, xprt_connected(xprt));
	KUNIT_EXPECT_EQ(test, 0, xprt->idle_timeout);
	KUNIT_EXPECT_EQ(test, SERVER_MESSAGE, xprt->max_payload);
	KUNIT_EXPECT_EQ(test, SVCRDMA_REVERSE_CREDITS, xprt->max_reqs);
	KUNIT_EXPECT_EQ(test, RPC_CWNDSCALE, xprt->cwnd);
	KUNIT_EXPECT_STREQ(test, "192.0.2.2", xprt->address_strings[RPC_DISPLAY_ADDR]);
	KUNIT_EXPECT_STREQ(test, "0", xprt->address_strings[RPC_DISPLAY_PORT]);
	KUNIT_EXPECT_STREQ(test, "c0000202", xprt->address_strings[RPC_DISPLAY_HEX_ADDR]);
	KUNIT_EXPECT_STREQ(test, "   0", xprt->address_strings[RPC_DISPLAY_HEX_PORT]);
	KUNIT_EXPECT_STREQ(test, "rdma", xprt->address_strings[RPC_DISPLAY_NETID]);
}

/* As SUNRPC's work item. */
static void destroy(struct work_struct *work)
{
	struct rpc_xprt *xprt = container_of(work, struct rpc_xprt, task_cleanup);

	xprt->ops->destroy(xprt);
}

/* A link-local address is of one device; SUNRPC's files show whose. */
static void setup_says_which_scope(struct kunit *test)
{
	struct svcrdma_transport *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct backchannel *bc = test->priv;
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&bc->xprt->xpt_remote;
	struct sockaddr_storage before = bc->xprt->xpt_remote;
	int modules = module_refcount(THIS_MODULE);
	struct rpc_xprt *xprt;

	KUNIT_ASSERT_NOT_NULL(test, t);
	*sin6 = (struct sockaddr_in6) {
		.sin6_family = AF_INET6, .sin6_addr.s6_addr = { 0xfe, 0x80, [15] = 1 },
		.sin6_scope_id = 7,
	};
	xprt = set_up(bc, &t->st_xprt, sizeof(*sin6));
	bc->xprt->xpt_remote = before;
	KUNIT_ASSERT_FALSE(test, IS_ERR(xprt));
	KUNIT_EXPECT_STREQ(test, "fe80::1%7", xprt->address_strings[RPC_DISPLAY_ADDR]);
	INIT_WORK(&xprt->task_cleanup, destroy);
	queue_work(system_unbound_wq, &xprt->task_cleanup);
	KUNIT_EXPECT_TRUE(test, eventually(module_refcount(THIS_MODULE) == modules));
}

/* As of every transport for RDMA: 27 values, those of chunks and regions among them. */
static void setup_has_a_line_of_statistics(struct kunit *test)
{
	static const char line[] =
		"\txprt:\trdma 0 1 2 3 0 5 6 7 8 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
	struct backchannel *bc = test->priv;
	struct seq_file seq = { .size = 256 };

	seq.buf = kunit_kzalloc(test, seq.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seq.buf);
	bc->rpc->stat.bind_count = 1;
	bc->rpc->stat.connect_count = 2;
	bc->rpc->stat.connect_time = 3 * HZ;
	bc->rpc->stat.sends = 5;
	bc->rpc->stat.recvs = 6;
	bc->rpc->stat.bad_xids = 7;
	bc->rpc->stat.req_u = 8;
	bc->rpc->stat.bklog_u = 9;
	bc->rpc->ops->print_stats(bc->rpc, &seq);
	KUNIT_EXPECT_STREQ(test, line, seq.buf);
	KUNIT_EXPECT_EQ(test, sizeof(line) - 1, seq.count);
}

/* One rpc_xprt for a connection: the second to come finds the first one's. */
static void setup_happens_once(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	int modules = module_refcount(THIS_MODULE);

	KUNIT_EXPECT_EQ(test, -EBUSY, PTR_ERR_OR_ZERO(set_up(bc, bc->xprt, 0)));
	KUNIT_EXPECT_EQ(test, modules, module_refcount(THIS_MODULE));
	KUNIT_EXPECT_PTR_EQ(test, bc->rpc, bc->xprt->xpt_bc_xprt);
	KUNIT_EXPECT_EQ(test, -EBADF,
			PTR_ERR_OR_ZERO(set_up(bc, bc->xprt,
					       sizeof(struct sockaddr_storage) + 1)));
}

static void setup_without_memory(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	int modules = module_refcount(THIS_MODULE), n;

	/* Four strings. */
	for (n = 0; n < 4; n++) {
		fake_alloc_fail(n);
		KUNIT_EXPECT_EQ(test, -ENOMEM, PTR_ERR_OR_ZERO(set_up(bc, bc->xprt, 0)));
		KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
	}
	KUNIT_EXPECT_EQ(test, modules, module_refcount(THIS_MODULE));
}

/* ---- the end ---- */

static struct {
	struct completion	destroyed, go;
} meeting;

/* As SUNRPC's work item, which does not come to its end so soon. */
static void slow_destroy(struct work_struct *work)
{
	struct rpc_xprt *xprt = container_of(work, struct rpc_xprt, task_cleanup);

	xprt->ops->destroy(xprt);
	complete(&meeting.destroyed);
	wait_for_completion(&meeting.go);
}

/*
 * SUNRPC's work item calls us, and nobody who unloads the module waits for it: the module
 * has to be there until it has returned.
 */
static void module_stays_until_destroy_has_returned(struct kunit *test)
{
	struct svcrdma_transport *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int modules = module_refcount(THIS_MODULE);
	struct backchannel *bc = test->priv;
	struct rpc_xprt *xprt;

	KUNIT_ASSERT_NOT_NULL(test, t);
	xprt = set_up(bc, &t->st_xprt, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(xprt));
	KUNIT_EXPECT_EQ(test, modules + 1, module_refcount(THIS_MODULE));
	init_completion(&meeting.destroyed);
	init_completion(&meeting.go);

	INIT_WORK(&xprt->task_cleanup, slow_destroy);
	queue_work(system_unbound_wq, &xprt->task_cleanup);
	wait_for_completion(&meeting.destroyed);
	msleep(50);
	KUNIT_EXPECT_EQ(test, modules + 1, module_refcount(THIS_MODULE));
	complete(&meeting.go);
	KUNIT_EXPECT_TRUE(test, eventually(module_refcount(THIS_MODULE) == modules));
}

static struct kunit_case life_cases[] = {
	KUNIT_CASE(loss_ends_callbacks),
	KUNIT_CASE(loss_is_noticed_by_a_callback),
	KUNIT_CASE(loss_after_the_client),
	KUNIT_CASE(loss_is_injected),
	KUNIT_CASE(connect_is_refused),
	KUNIT_CASE(setup_is_as_sunrpc_wants_it),
	KUNIT_CASE(setup_says_which_scope),
	KUNIT_CASE(setup_has_a_line_of_statistics),
	KUNIT_CASE(setup_happens_once),
	KUNIT_CASE(setup_without_memory),
	KUNIT_CASE(module_stays_until_destroy_has_returned),
	{}
};

static struct kunit_suite life_suite = {
	.name = "svcrdma_bc_life",
	.suite_init = bc_suite_init,
	.suite_exit = bc_suite_exit,
	.init = bc_init,
	.test_cases = life_cases,
};

kunit_test_suite(life_suite);
