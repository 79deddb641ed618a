// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sweep: what exists once for each mount and for each listener, and the questions of a
 * connection.
 */
#include <linux/module.h>
#include <linux/sunrpc/addr.h>
#include <linux/sunrpc/clnt.h>

#include "sweep.h"

/* ---- a mount ---- */

static const struct rpc_procinfo procedures[] = { { .p_name = "NULL" } };
static unsigned int counts[ARRAY_SIZE(procedures)];
static const struct rpc_version version = {
	.number = 1, .nrprocs = ARRAY_SIZE(procedures), .procs = procedures, .counts = counts,
};

static const struct rpc_version *versions[] = { NULL, &version };
static struct rpc_stat statistics;
static const struct rpc_program program = {
	.name = "sweep", .number = 100003, .nrvers = ARRAY_SIZE(versions),
	.version = versions, .stats = &statistics,
};

/* 192.0.2.1 or [2001:db8::1], of which rpcbind names the port */
static const struct sockaddr_in ipv4 = {
	.sin_family = AF_INET, .sin_addr.s_addr = cpu_to_be32(0xc0000201),
};

static const struct sockaddr_in6 ipv6 = {
	.sin6_family = AF_INET6,
	.sin6_addr.s6_addr = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 },
};

static struct rpc_clnt *mount(bool six)
{
	struct rpc_create_args args = {
		.net		= &init_net,
		.protocol	= XPRT_TRANSPORT_RDMA,
		.address	= six ? (struct sockaddr *)&ipv6 : (struct sockaddr *)&ipv4,
		.addrsize	= six ? sizeof(ipv6) : sizeof(ipv4),
		.servername	= "server",
		.program	= &program,
		.version	= 1,
		.authflavor	= RPC_AUTH_NULL,
		.flags		= RPC_CLNT_CREATE_NOPING | RPC_CLNT_CREATE_QUIET,
		.cred		= current_cred(),
	};

	return rpc_create(&args);
}

/* As xprt_connect(); what its task is told. */
static int connect(struct rpc_xprt *xprt)
{
	struct rpc_task task;

	set_bit(XPRT_LOCKED, &xprt->state);
	set_bit(XPRT_CONNECTING, &xprt->state);
	fake_task_sleep(xprt, &task);
	xprt->snd_task = &task;
	xprt->reestablish_timeout = 0;
	xprt->ops->connect(xprt, &task);
	flush_delayed_work(&xprtrdma_transport_of(xprt)->xt_connect_worker);
	flush_work(&xprt->task_cleanup);
	return task.tk_status;
}

static void mount_run(struct sweep *sweep)
{
	struct rpc_clnt *clnt = mount(sweep->op->ipv6);
	struct kunit *test = sweep->test;
	struct rpc_xprt *xprt;
	int rc;

	if (IS_ERR(clnt)) {
		sweep_note(sweep, FAULT_REFUSED);
		return;
	}
	xprt = rcu_access_pointer(clnt->cl_xprt);
	xprt->ops->set_port(xprt, RPCRDMA_PORT);
	rc = connect(xprt);
	if (!xprt_connected(xprt)) {
		/* An RPC goes on after these. */
		KUNIT_EXPECT_TRUE_MSG(test, rc == -ENOBUFS || rc == -EHOSTUNREACH ||
				      rc == -ECONNREFUSED || rc == -ETIMEDOUT ||
				      rc == -ENOTCONN, "%d", rc);
		sweep_note(sweep, FAULT_RETRIED);
		/* What the server has of it */
		pair_settle(sweep->pair);
		pair_disconnect_server(sweep->pair);
		rc = connect(xprt);
	}
	if (xprt_connected(xprt))
		KUNIT_EXPECT_EQ(test, -EAGAIN, rc);
	else
		sweep_note(sweep, FAULT_REFUSED);
	rpc_shutdown_client(clnt);
}

/* The rpc_xprt goes in work items of SUNRPC's, and of ours. */
static void expect_gone(struct sweep *sweep)
{
	KUNIT_EXPECT_TRUE(sweep->test, eventually(READ_ONCE(fake_cm.ids) <= !!sweep->pair->server));
	pair_settle(sweep->pair);
	pair_disconnect_server(sweep->pair);
	KUNIT_EXPECT_TRUE(sweep->test, eventually(module_refcount(THIS_MODULE) == sweep->modules));
	pair_expect_nothing_left(sweep->pair);
}

static void mount_check(struct sweep *sweep)
{
	struct rpc_clnt *clnt;
	struct rpc_xprt *xprt;

	expect_gone(sweep);
	clnt = mount(sweep->op->ipv6);
	KUNIT_ASSERT_FALSE(sweep->test, IS_ERR(clnt));
	xprt = rcu_access_pointer(clnt->cl_xprt);
	xprt->ops->set_port(xprt, RPCRDMA_PORT);
	KUNIT_EXPECT_EQ(sweep->test, -EAGAIN, connect(xprt));
	rpc_shutdown_client(clnt);
	expect_gone(sweep);
}

/* ---- a listener ---- */

static struct svc_xprt *listen(struct sweep *sweep)
{
	struct svc_serv *serv = &sweep->pair->serv;
	struct sockaddr_in6 address = ipv6;
	struct svc_xprt *xprt;

	address.sin6_port = htons(RPCRDMA_PORT);
	/* As svc_xprt_create() */
	__module_get(THIS_MODULE);
	xprt = svcrdma_listener_create(serv, &init_net, (struct sockaddr *)&address,
				       sizeof(address), 0);
	if (IS_ERR(xprt)) {
		module_put(THIS_MODULE);
		return xprt;
	}
	list_add(&xprt->xpt_list, &serv->sv_permsocks);
	svc_xprt_received(xprt);
	return xprt;
}

static struct svcrdma_listener *listener_of(struct svc_xprt *xprt)
{
	return container_of(xprt, struct svcrdma_listener, li_xprt);
}

/* Its address moves to another device: it listens there, at once or when it is woken. */
static void move(struct sweep *sweep, struct svc_xprt *xprt)
{
	struct svcrdma_listener *li = listener_of(xprt);
	int attempts;

	fake_cm_event(li->li_id, RDMA_CM_EVENT_ADDR_CHANGE);
	flush_delayed_work(&li->li_work);
	for (attempts = 0; !li->li_id && attempts < 12; attempts++) {
		sweep_note(sweep, FAULT_RETRIED);
		svcrdma_listener_rebind_all();
		flush_delayed_work(&li->li_work);
	}
	KUNIT_EXPECT_NOT_NULL(sweep->test, li->li_id);
}

static void listener_run(struct sweep *sweep)
{
	struct svc_xprt *xprt = listen(sweep);

	if (IS_ERR(xprt)) {
		sweep_note(sweep, FAULT_REFUSED);
		return;
	}
	move(sweep, xprt);
	fake_nfsd_ready(&sweep->pair->pool);
	clear_bit(XPT_BUSY, &xprt->xpt_flags);
	svc_xprt_close(xprt);
}

static void listener_check(struct sweep *sweep)
{
	KUNIT_EXPECT_EQ(sweep->test, sweep->modules, module_refcount(THIS_MODULE));
	pair_expect_nothing_left(sweep->pair);
}

/* ---- the server's configuration ---- */

struct ask {
	struct work_struct	work;
	struct sweep		*sweep;
	int			rc;
	bool			done;
};

static void ask_work(struct work_struct *work)
{
	struct ask *ask = container_of(work, struct ask, work);

	ask->rc = xprtrdma_ccp_ask(ask->sweep->pair->client.conn);
	smp_store_release(&ask->done, true);	/* pairs with ask_run() */
}

static void ask_prepare(struct sweep *sweep)
{
	svcrdma_answer_config = 1;
	sweep_fresh(sweep);
	svcrdma_answer_config = 0;
	/* A server that falls silent is not waited for that long here; one that is slow, is. */
	sweep->pair->client.transport->xt_ccp_timeout = sweep->plan.site ? HZ : 60 * HZ;
}

/* The connect worker asks, nfsd answers. Without an answer there is another connection. */
static void ask_run(struct sweep *sweep)
{
	struct ask ask = { .sweep = sweep };

	INIT_WORK_ONSTACK(&ask.work, ask_work);
	schedule_work(&ask.work);
	while (!smp_load_acquire(&ask.done)) {	/* pairs with ask_work() */
		pair_pump(sweep->pair);
		usleep_range(50, 100);
	}
	flush_work(&ask.work);
	destroy_work_on_stack(&ask.work);
	if (!ask.rc)
		return;
	KUNIT_EXPECT_TRUE(sweep->test, ask.rc == -ETIMEDOUT || ask.rc == -ENOTCONN);
	sweep_note(sweep, FAULT_LOST);
	pair_disconnect(sweep->pair);
}

/* ---- cases ---- */

static const struct sweep_op ops[] = {
	{ "mount, IPv4", sweep_drop, mount_run, mount_check },
	{ "mount, IPv6", sweep_drop, mount_run, mount_check, .ipv6 = true },
	{ "listener", sweep_drop, listener_run, listener_check },
	{ "configuration", ask_prepare, ask_run, sweep_check_pair },
};

KUNIT_ARRAY_PARAM_DESC(op, ops, desc);

static void restore(void *data)
{
	xprtrdma_slot_table_entries = (unsigned long)data;
}

static void each_site(struct kunit *test)
{
	void *slots = (void *)(unsigned long)xprtrdma_slot_table_entries;
	struct sweep *sweep = sweep_create(test);

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, restore, slots));
	/* What takes time is buffers. */
	xprtrdma_slot_table_entries = 4;
	sweep->again = ((const struct sweep_op *)test->param_value)->ipv6;
	sweep->modules = module_refcount(THIS_MODULE);
	sweep_limit(sweep, pair_create(test, false));
	sweep_all(sweep, test->param_value);
}

static struct kunit_case mount_cases[] = {
	KUNIT_CASE_PARAM(each_site, op_gen_params),
	{}
};

/* As pair_suite_init(), with a client that SUNRPC knows. */
static int mount_suite_init(struct kunit_suite *suite)
{
	int ret = server_module_init();

	if (ret)
		return ret;
	ret = pair_wire_init();
	if (ret)
		goto out_server;
	ret = xprtrdma_transport_register();
	if (!ret)
		return 0;
	pair_wire_exit();
out_server:
	server_module_exit();
	return ret;
}

static void mount_suite_exit(struct kunit_suite *suite)
{
	xprtrdma_transport_unregister();
	pair_wire_exit();
	server_module_exit();
}

static struct kunit_suite mount_suite = {
	.name = "memory_sweep_mount",
	.suite_init = mount_suite_init,
	.suite_exit = mount_suite_exit,
	.test_cases = mount_cases,
};

kunit_test_suite(mount_suite);
