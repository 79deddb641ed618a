// SPDX-License-Identifier: GPL-2.0
/*
 * The rpc_xprt above the connections: connecting, with what goes wrong and what SUNRPC is
 * told of it, waiting before the next attempt, and the ways in which a connection ends.
 *
 * The rpc_xprt is a real one, made by rpc_create(); the test is the task that connects.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sunrpc/addr.h>
#include <rdma/ib_cm.h>

#include "mount.h"

static void connect_succeeds(struct kunit *test)
{
	struct mount *mount = test->priv;
	unsigned int cookie = mount->xprt->connect_cookie;

	mount->xprt->cwnd = 100 * RPC_CWNDSCALE;
	mount_expect_connected(mount);
	KUNIT_EXPECT_EQ(test, cookie + 1, mount->xprt->connect_cookie);
	KUNIT_EXPECT_EQ(test, 1, mount->xprt->stat.connect_count);
	/* RFC 8166 section 3.3.3 */
	KUNIT_EXPECT_EQ(test, RPC_CWNDSCALE, mount->xprt->cwnd);
	KUNIT_EXPECT_EQ(test, 4096 - 28, mount->transport->xt_bc_max_payload);
	KUNIT_EXPECT_EQ(test, 0, fake_cm.source.ss_family);
	mount_disconnect(mount);
	mount_expect_nothing(mount);
	KUNIT_EXPECT_NE(test, cookie + 1, mount->xprt->connect_cookie);
	mount_expect_connected(mount);
	KUNIT_EXPECT_EQ(test, 2, mount->xprt->stat.connect_count);
}

struct failure_case {
	const char		*desc;
	enum fake_cm_call	call;
	struct fake_cm_plan	plan;
	int			told;
};

/* On any other errno than these SUNRPC would end an RPC for good. */
static const struct failure_case failure_cases[] = {
	{ "ECONNREFUSED", FAKE_CM_ADDR, { -ECONNREFUSED }, -ECONNREFUSED },
	{ "ECONNRESET", FAKE_CM_ADDR, { -ECONNRESET }, -ECONNRESET },
	{ "EHOSTUNREACH", FAKE_CM_ADDR, { -EHOSTUNREACH }, -EHOSTUNREACH },
	{ "ENETUNREACH", FAKE_CM_ADDR, { -ENETUNREACH }, -ENETUNREACH },
	{ "ENOTCONN", FAKE_CM_ROUTE, { -ENOTCONN }, -ENOTCONN },
	{ "EAGAIN", FAKE_CM_CONNECT, { -EAGAIN }, -EAGAIN },
	{ "ETIMEDOUT", FAKE_CM_ROUTE, { -ETIMEDOUT }, -ETIMEDOUT },
	{ "ENOMEM", FAKE_CM_CONNECT, { -ENOMEM }, -ENOBUFS },
	{ "EINVAL", FAKE_CM_CONNECT, { -EINVAL }, -EHOSTUNREACH },
	{ "ENODEV", FAKE_CM_ADDR, { -ENODEV }, -EHOSTUNREACH },
	{ "EADDRNOTAVAIL", FAKE_CM_ADDR, { -EADDRNOTAVAIL }, -EHOSTUNREACH },
	{ "EPERM", FAKE_CM_ADDR, { -EPERM }, -EHOSTUNREACH },
	{ "address error", FAKE_CM_ADDR, { 0, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV },
	  -EHOSTUNREACH },
	{ "route error", FAKE_CM_ROUTE, { 0, RDMA_CM_EVENT_ROUTE_ERROR, -EINVAL },
	  -ENETUNREACH },
	{ "unreachable", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT },
	  -ENETUNREACH },
	{ "connect error", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL },
	  -ENOTCONN },
	{ "disconnected", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_DISCONNECTED }, -ENOTCONN },
	{ "established too early", FAKE_CM_ADDR, { 0, RDMA_CM_EVENT_ESTABLISHED },
	  -ENOTCONN },
	{ "removed while resolving", FAKE_CM_ADDR, { 0, RDMA_CM_EVENT_DEVICE_REMOVAL },
	  -ENOTCONN },
	{ "removed while routing", FAKE_CM_ROUTE, { 0, RDMA_CM_EVENT_DEVICE_REMOVAL },
	  -ENOTCONN },
	{ "removed while connecting", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_DEVICE_REMOVAL },
	  -ENOTCONN },
	{ "moved while connecting", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_ADDR_CHANGE },
	  -ENOTCONN },
	{ "rejected: nobody listens", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_REJECTED,
	  IB_CM_REJ_INVALID_SERVICE_ID }, -ECONNREFUSED },
	{ "rejected: by the consumer", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_REJECTED,
	  IB_CM_REJ_CONSUMER_DEFINED }, -ECONNREFUSED },
	{ "rejected: no resources", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_REJECTED,
	  IB_CM_REJ_NO_RESOURCES }, -ECONNREFUSED },
	{ "rejected: stale connection", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_REJECTED,
	  IB_CM_REJ_STALE_CONN }, -EAGAIN },
	{ "rejected: iWARP", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_REJECTED, -ECONNRESET },
	  -ECONNREFUSED },
};

KUNIT_ARRAY_PARAM_DESC(failure, failure_cases, desc);

static void connect_fails(struct kunit *test)
{
	const struct failure_case *c = test->param_value;
	struct mount *mount = test->priv;
	unsigned int cookie = mount->xprt->connect_cookie;

	fake_cm.plan[c->call] = c->plan;
	KUNIT_EXPECT_EQ(test, c->told, mount_connect(mount));
	mount_expect_nothing(mount);
	KUNIT_EXPECT_NE(test, cookie, mount->xprt->connect_cookie);
	KUNIT_EXPECT_EQ(test, 0, mount->xprt->stat.connect_count);

	fake_cm.plan[c->call] = (struct fake_cm_plan) {};
	mount_expect_connected(mount);
}

static void connect_without_an_id(struct kunit *test)
{
	struct mount *mount = test->priv;

	fake_cm.plan[FAKE_CM_CREATE_ID].error = -ENOMEM;
	KUNIT_EXPECT_EQ(test, -ENOBUFS, mount_connect(mount));
	mount_expect_nothing(mount);
	fake_cm.plan[FAKE_CM_CREATE_ID].error = 0;
	mount_expect_connected(mount);
}

struct resource_case {
	const char	*desc;
	int		*knob;
	int		value;
	int		told;
};

static const struct resource_case resource_cases[] = {
	{ "protection domain", &fake_queues.pd_errno, -ENOMEM, -ENOBUFS },
	{ "completion queues", &fake_queues.cq_accept, 0, -ENOBUFS },
	{ "one completion queue", &fake_queues.cq_accept, 1, -ENOBUFS },
	{ "queue pair", &fake_queues.qp_errno, -EPERM, -EHOSTUNREACH },
};

KUNIT_ARRAY_PARAM_DESC(resource, resource_cases, desc);

static void connect_without_resources(struct kunit *test)
{
	const struct resource_case *c = test->param_value;
	struct mount *mount = test->priv;
	int old = *c->knob;

	*c->knob = c->value;
	KUNIT_EXPECT_EQ(test, c->told, mount_connect(mount));
	mount_expect_nothing(mount);
	*c->knob = old;
	mount_expect_connected(mount);
}

/* Here, not in the worker's thread: each allocation in turn, until none fails. */
static void connect_without_memory(struct kunit *test)
{
	struct mount *mount = test->priv;
	struct xprtrdma_conn *conn;
	bool failed = true;
	int n;

	mount->xprt->max_reqs = 2;
	for (n = 0; failed && n < 1000; n++) {
		fake_alloc_fail(n);
		conn = xprtrdma_conn_create(mount->transport);
		failed = fake_alloc_failed();
		KUNIT_ASSERT_TRUE(test, failed || !IS_ERR(conn));
		if (IS_ERR(conn))
			KUNIT_EXPECT_EQ(test, -ENOMEM, PTR_ERR(conn));
		/* It can do with shorter queues, and with fewer regions. */
		else
			xprtrdma_conn_destroy(conn);
		KUNIT_ASSERT_EQ(test, 0, fake_objects());
	}
	KUNIT_EXPECT_GT(test, n, 10);
	KUNIT_EXPECT_FALSE(test, failed);
}

/* What the server says of itself can change from one connection to the next. */
static void connect_to_a_server_that_has_changed(struct kunit *test)
{
	static const u32 sizes[] = { 4096, 1024, 2048, 4096 };
	struct mount *mount = test->priv;
	struct xprtrdma_conn *conn;
	int i;

	for (i = 0; i < 4; i++) {
		client_private(sizes[i], sizes[3 - i], i % 2);
		mount_expect_connected(mount);
		conn = mount->transport->xt_conn;
		KUNIT_EXPECT_EQ(test, sizes[i], conn->xc_inline.inline_recv);
		KUNIT_EXPECT_EQ(test, sizes[3 - i], conn->xc_inline.inline_send);
		KUNIT_EXPECT_EQ(test, i % 2, conn->xc_inline.remote_invalidation);
		KUNIT_EXPECT_EQ(test, min(sizes[i], sizes[3 - i]) - 28,
				mount->transport->xt_bc_max_payload);
		mount_disconnect(mount);
	}
	fake_cm.heard.length = 0;
	mount_expect_connected(mount);
	KUNIT_EXPECT_EQ(test, 1024, mount->transport->xt_conn->xc_inline.inline_send);
	KUNIT_EXPECT_EQ(test, 1024 - 28, mount->transport->xt_bc_max_payload);
}

/* A connection that nobody has closed is replaced. */
static void connect_while_there_is_a_connection(struct kunit *test)
{
	struct mount *mount = test->priv;
	u64 serial;

	mount_expect_connected(mount);
	serial = mount->transport->xt_conn->xc_serial;
	xprt_clear_connected(mount->xprt);
	mount_expect_connected(mount);
	KUNIT_EXPECT_NE(test, serial, mount->transport->xt_conn->xc_serial);
	KUNIT_EXPECT_EQ(test, 1, fake_cm.disconnects);
}

static unsigned int step_flags;

static void note_flags(struct rdma_cm_id *id, enum fake_cm_call call)
{
	step_flags = current->flags;
}

/* Reclaim may wait for the connection; a swapper may use the reserves for it. */
static void connect_does_not_wait_for_reclaim(struct kunit *test)
{
	struct mount *mount = test->priv;

	fake_cm.on_answer = note_flags;
	mount_expect_connected(mount);
	KUNIT_EXPECT_TRUE(test, step_flags & PF_MEMALLOC_NOFS);
	KUNIT_EXPECT_FALSE(test, step_flags & PF_MEMALLOC);
	mount_disconnect(mount);
	KUNIT_EXPECT_EQ(test, 0, mount->xprt->ops->enable_swap(mount->xprt));
	mount_expect_connected(mount);
	mount->xprt->ops->disable_swap(mount->xprt);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&mount->xprt->swapper));
	KUNIT_EXPECT_TRUE(test, step_flags & PF_MEMALLOC_NOFS);
	KUNIT_EXPECT_TRUE(test, step_flags & PF_MEMALLOC);
}

/* ---- the time between attempts ---- */

static void backoff_grows(struct kunit *test)
{
	static const unsigned int seconds[] = { 0, 5, 10, 20, 30, 30, 30 };
	struct mount *mount = test->priv;
	int i;

	fake_cm.plan[FAKE_CM_CONNECT].error = -ECONNREFUSED;
	for (i = 0; i < ARRAY_SIZE(seconds); i++) {
		KUNIT_EXPECT_EQ(test, seconds[i], mount_start(mount));
		KUNIT_EXPECT_EQ(test, -ECONNREFUSED, mount_connected(mount));
	}
}

/* The next attempt goes out at once after a connection that was of use, else later. */
static void backoff_ends_with_a_useful_connection(struct kunit *test)
{
	struct mount *mount = test->priv;

	mount_expect_connected(mount);
	mount_disconnect(mount);
	KUNIT_EXPECT_EQ(test, 5, mount_start(mount));
	KUNIT_EXPECT_EQ(test, -EAGAIN, mount_connected(mount));
	mount->transport->xt_conn->xc_useful = true;
	mount_disconnect(mount);
	KUNIT_EXPECT_EQ(test, 0, mount_start(mount));
	KUNIT_EXPECT_EQ(test, -EAGAIN, mount_connected(mount));
	mount_disconnect(mount);
	KUNIT_EXPECT_EQ(test, 5, mount_start(mount));
	KUNIT_EXPECT_EQ(test, -EAGAIN, mount_connected(mount));
}

static void backoff_has_the_mounts_bound(struct kunit *test)
{
	struct mount *mount = test->priv;
	struct rpc_xprt *xprt = mount->xprt;

	xprt->ops->set_connect_timeout(xprt, 20 * HZ, 7 * HZ);
	KUNIT_EXPECT_EQ(test, 7 * HZ, xprt->max_reconnect_timeout);
	KUNIT_EXPECT_EQ(test, 20 * HZ, xprt->connect_timeout);
	KUNIT_EXPECT_EQ(test, 20 * HZ, xprt->timeout->to_initval);
	KUNIT_EXPECT_EQ(test, 20 * HZ, xprt->timeout->to_maxval);
	/* Never longer; and not so short that one attempt does not fit. */
	xprt->ops->set_connect_timeout(xprt, 30 * HZ, 8 * HZ);
	KUNIT_EXPECT_EQ(test, 7 * HZ, xprt->max_reconnect_timeout);
	KUNIT_EXPECT_EQ(test, 20 * HZ, xprt->connect_timeout);
	xprt->ops->set_connect_timeout(xprt, HZ, 7 * HZ);
	KUNIT_EXPECT_EQ(test, 10 * HZ, xprt->timeout->to_initval);

	fake_cm.plan[FAKE_CM_ADDR].error = -ETIMEDOUT;
	mount_connect(mount);
	mount_connect(mount);
	KUNIT_EXPECT_EQ(test, 7, mount_start(mount));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, mount_connected(mount));
}

/* ---- what happens meanwhile ---- */

struct step_case {
	const char		*desc;
	enum fake_cm_call	call;
	enum rdma_cm_event_type	event;	/* that it succeeds */
};

static const struct step_case step_cases[] = {
	{ "resolving the address", FAKE_CM_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED },
	{ "resolving the route", FAKE_CM_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED },
	{ "connecting", FAKE_CM_CONNECT, RDMA_CM_EVENT_ESTABLISHED },
};

KUNIT_ARRAY_PARAM_DESC(step, step_cases, desc);

/* The removal waits for the id. */
static void removal_while_connecting(struct kunit *test)
{
	const struct step_case *c = test->param_value;
	struct mount *mount = test->priv;
	struct rdma_cm_id *id = mount_hold(mount, c->call);

	KUNIT_EXPECT_EQ(test, 0, fake_cm_event(id, RDMA_CM_EVENT_DEVICE_REMOVAL));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, mount_connected(mount));
	mount_expect_nothing(mount);
	mount_expect_connected(mount);
}

static void close_while_connecting(struct kunit *test)
{
	const struct step_case *c = test->param_value;
	struct mount *mount = test->priv;
	struct rdma_cm_id *id = mount_hold(mount, c->call);

	/* It has to wait: the write lock is the worker's. */
	xprt_force_disconnect(mount->xprt);
	KUNIT_EXPECT_FALSE(test, work_pending(&mount->xprt->task_cleanup));
	KUNIT_EXPECT_EQ(test, 1, fake_cm.ids);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_event(id, c->event));
	mount_connected(mount);
	mount_expect_nothing(mount);
	mount_expect_connected(mount);
}

static void destroy_while_connecting(struct kunit *test)
{
	const struct step_case *c = test->param_value;
	struct mount *mount = test->priv;
	struct rdma_cm_id *id = mount_hold(mount, c->call);

	rpc_wake_up_queued_task(&mount->xprt->pending, &mount->task);
	mount_shut_down(mount);
	KUNIT_EXPECT_EQ(test, 1, fake_cm.ids);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_event(id, c->event));
	KUNIT_EXPECT_TRUE(test, mount_gone(mount));
	KUNIT_EXPECT_EQ(test, 0, fake_objects());
}

static void remove_device(struct rdma_cm_id *id, enum fake_cm_call call)
{
	if (call == FAKE_CM_CONNECT)
		fake_cm_event(id, RDMA_CM_EVENT_DEVICE_REMOVAL);
}

/* Established, and lost before anybody has looked. */
static void removal_right_after_connecting(struct kunit *test)
{
	struct mount *mount = test->priv;

	fake_cm.on_answer = remove_device;
	KUNIT_EXPECT_EQ(test, -ENOTCONN, mount_connect(mount));
	mount_expect_nothing(mount);
	fake_cm.on_answer = NULL;
	mount_expect_connected(mount);
}

/* ---- the end of a connection ---- */

struct loss_case {
	const char	*desc;
	void		(*lose)(struct mount *mount);
};

static void lose_by_event(struct mount *mount)
{
	fake_cm_event(mount->transport->xt_conn->xc_id, RDMA_CM_EVENT_DISCONNECTED);
}

static void lose_by_removal(struct mount *mount)
{
	fake_cm_event(mount->transport->xt_conn->xc_id, RDMA_CM_EVENT_DEVICE_REMOVAL);
}

static void lose_by_completion(struct mount *mount)
{
	fake_recv_fail(&mount->fake->qp, IB_WC_RETRY_EXC_ERR);
}

static void lose_by_timer(struct mount *mount)
{
	struct rpc_rqst rqst = { .rq_xid = cpu_to_be32(1) };
	struct rpc_task task = { .tk_rqstp = &rqst };

	mount->xprt->ops->timer(mount->xprt, &task);
}

static void lose_by_injection(struct mount *mount)
{
	mount->xprt->ops->inject_disconnect(mount->xprt);
}

/* As xprt_init_autodisconnect() has it, once nothing has happened for five minutes. */
static void lose_by_idling(struct mount *mount)
{
	mod_timer(&mount->xprt->timer, jiffies);
	eventually(!timer_pending(&mount->xprt->timer));
	/* The timer's function has returned. */
	timer_delete_sync(&mount->xprt->timer);
}

static const struct loss_case loss_cases[] = {
	{ "event", lose_by_event },
	{ "removal", lose_by_removal },
	{ "completion", lose_by_completion },
	{ "no reply in time", lose_by_timer },
	{ "injected", lose_by_injection },
	{ "idle", lose_by_idling },
};

KUNIT_ARRAY_PARAM_DESC(loss, loss_cases, desc);

static void loss_closes_and_wakes(struct kunit *test)
{
	const struct loss_case *c = test->param_value;
	struct mount *mount = test->priv;
	unsigned int cookie;
	struct rpc_task task;

	mount_expect_connected(mount);
	cookie = mount->xprt->connect_cookie;
	fake_task_sleep(mount->xprt, &task);
	c->lose(mount);
	KUNIT_EXPECT_TRUE(test, eventually(!xprt_connected(mount->xprt)));
	flush_work(&mount->xprt->task_cleanup);
	mount_expect_nothing(mount);
	KUNIT_EXPECT_NE(test, cookie, mount->xprt->connect_cookie);
	KUNIT_EXPECT_FALSE(test, RPC_IS_QUEUED(&task));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, task.tk_status);
	mount_expect_connected(mount);
}

static void idle_timer_runs_after_a_connect(struct kunit *test)
{
	struct mount *mount = test->priv;
	struct timer_list *timer = &mount->xprt->timer;

	KUNIT_EXPECT_EQ(test, 300 * HZ, mount->xprt->idle_timeout);
	KUNIT_EXPECT_FALSE(test, timer_pending(timer));
	mount_expect_connected(mount);
	KUNIT_ASSERT_TRUE(test, timer_pending(timer));
	KUNIT_EXPECT_EQ(test, 300 * HZ, timer->expires - mount->xprt->last_used);
}

static void destroy_while_connected(struct kunit *test)
{
	struct mount *mount = test->priv;

	mount_expect_connected(mount);
	mount_shut_down(mount);
	KUNIT_EXPECT_TRUE(test, mount_gone(mount));
	KUNIT_EXPECT_EQ(test, 1, fake_cm.disconnects);
	KUNIT_EXPECT_EQ(test, 0, fake_objects());
}

/* ---- setup ---- */

static void setup_is_as_sunrpc_wants_it(struct kunit *test)
{
	struct mount *mount = test->priv;
	struct rpc_xprt *xprt = mount->xprt;
	const char **strings = xprt->address_strings;

	KUNIT_EXPECT_TRUE(test, xprt_bound(xprt));
	KUNIT_EXPECT_FALSE(test, xprt_connected(xprt));
	KUNIT_EXPECT_EQ(test, IPPROTO_TCP, xprt->prot);
	KUNIT_EXPECT_GE(test, xprt->max_payload, (size_t)1 << 20);
	KUNIT_EXPECT_EQ(test, xprtrdma_slot_table_entries, xprt->max_reqs);
	KUNIT_EXPECT_STREQ(test, "192.0.2.1", strings[RPC_DISPLAY_ADDR]);
	KUNIT_EXPECT_STREQ(test, "20049", strings[RPC_DISPLAY_PORT]);
	KUNIT_EXPECT_STREQ(test, "c0000201", strings[RPC_DISPLAY_HEX_ADDR]);
	KUNIT_EXPECT_STREQ(test, "4e51", strings[RPC_DISPLAY_HEX_PORT]);
	KUNIT_EXPECT_STREQ(test, "rdma", strings[RPC_DISPLAY_NETID]);
	xprt->ops->set_port(xprt, 99);
	KUNIT_EXPECT_STREQ(test, "99", strings[RPC_DISPLAY_PORT]);
	KUNIT_EXPECT_STREQ(test, "  63", strings[RPC_DISPLAY_HEX_PORT]);
	KUNIT_EXPECT_EQ(test, 99, rpc_get_port((struct sockaddr *)&xprt->addr));
}

static void setup_without_idle_timeout(struct kunit *test)
{
	struct mount *mount = mount_create(test);

	mount_from(mount, NULL, RPC_CLNT_CREATE_NO_IDLE_TIMEOUT);
	KUNIT_EXPECT_EQ(test, 0, mount->xprt->idle_timeout);
	mount_expect_connected(mount);
	KUNIT_EXPECT_FALSE(test, timer_pending(&mount->xprt->timer));
}

static void setup_with_a_source_address(struct kunit *test)
{
	struct mount *mount = mount_create(test);
	struct sockaddr_storage source = {};
	struct sockaddr_in *sin = (struct sockaddr_in *)&source;

	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(0xc0000203);
	mount_from(mount, (struct sockaddr *)&source, 0);
	mount_expect_connected(mount);
	sin = (struct sockaddr_in *)&fake_cm.source;
	KUNIT_EXPECT_EQ(test, AF_INET, sin->sin_family);
	KUNIT_EXPECT_EQ(test, htonl(0xc0000203), sin->sin_addr.s_addr);
}

static void setup_with_a_source_of_another_family(struct kunit *test)
{
	struct mount *mount = mount_create(test);
	struct sockaddr_storage source = { .ss_family = AF_INET6 };

	mount_from(mount, (struct sockaddr *)&source, 0);
	mount_expect_connected(mount);
	KUNIT_EXPECT_EQ(test, 0, fake_cm.source.ss_family);
}

static void setup_over_ipv6(struct kunit *test)
{
	struct mount *mount = mount_create(test);
	struct sockaddr_in6 address = {
		.sin6_family = AF_INET6,
		.sin6_addr.s6_addr = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 },
	};
	const char **strings;

	mount->clnt = mount_client((struct sockaddr *)&address, sizeof(address), NULL, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mount->clnt));
	mount->xprt = rcu_access_pointer(mount->clnt->cl_xprt);
	strings = mount->xprt->address_strings;
	/* rpcbind has to be asked for the port. */
	KUNIT_EXPECT_FALSE(test, xprt_bound(mount->xprt));
	KUNIT_EXPECT_STREQ(test, "2001:db8::1", strings[RPC_DISPLAY_ADDR]);
	KUNIT_EXPECT_STREQ(test, "20010db8000000000000000000000001",
			   strings[RPC_DISPLAY_HEX_ADDR]);
	KUNIT_EXPECT_STREQ(test, "rdma6", strings[RPC_DISPLAY_NETID]);
}

static int setup_errno(sa_family_t family, size_t length)
{
	struct sockaddr_storage address = { .ss_family = family };
	struct rpc_clnt *clnt;

	clnt = mount_client((struct sockaddr *)&address, length, NULL, 0);
	if (!IS_ERR(clnt))
		rpc_shutdown_client(clnt);
	return PTR_ERR_OR_ZERO(clnt);
}

static void setup_fails(struct kunit *test)
{
	struct mount *mount = mount_create(test);
	int n;

	KUNIT_EXPECT_EQ(test, -EAFNOSUPPORT,
			setup_errno(AF_IB, sizeof(struct sockaddr_in)));
	KUNIT_EXPECT_EQ(test, -EBADF,
			setup_errno(AF_INET, sizeof(struct sockaddr_storage) + 1));
	/* Four strings. */
	for (n = 0; n < 4; n++) {
		fake_alloc_fail(n);
		KUNIT_EXPECT_EQ(test, -ENOMEM,
				setup_errno(AF_INET, sizeof(struct sockaddr_in)));
		KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
	}
	KUNIT_EXPECT_EQ(test, mount->modules, module_refcount(THIS_MODULE));
}

static struct kunit_case transport_cases[] = {
	KUNIT_CASE(connect_succeeds),
	KUNIT_CASE_PARAM(connect_fails, failure_gen_params),
	KUNIT_CASE(connect_without_an_id),
	KUNIT_CASE_PARAM(connect_without_resources, resource_gen_params),
	KUNIT_CASE(connect_without_memory),
	KUNIT_CASE(connect_to_a_server_that_has_changed),
	KUNIT_CASE(connect_while_there_is_a_connection),
	KUNIT_CASE(connect_does_not_wait_for_reclaim),
	KUNIT_CASE(backoff_grows),
	KUNIT_CASE(backoff_ends_with_a_useful_connection),
	KUNIT_CASE(backoff_has_the_mounts_bound),
	KUNIT_CASE_PARAM(removal_while_connecting, step_gen_params),
	KUNIT_CASE_PARAM(close_while_connecting, step_gen_params),
	KUNIT_CASE_PARAM(destroy_while_connecting, step_gen_params),
	KUNIT_CASE(removal_right_after_connecting),
	KUNIT_CASE_PARAM(loss_closes_and_wakes, loss_gen_params),
	KUNIT_CASE(idle_timer_runs_after_a_connect),
	KUNIT_CASE(destroy_while_connected),
	KUNIT_CASE(setup_is_as_sunrpc_wants_it),
	{}
};

static struct kunit_case setup_cases[] = {
	KUNIT_CASE(setup_without_idle_timeout),
	KUNIT_CASE(setup_with_a_source_address),
	KUNIT_CASE(setup_with_a_source_of_another_family),
	KUNIT_CASE(setup_over_ipv6),
	KUNIT_CASE(setup_fails),
	{}
};

static struct kunit_suite transport_suite = {
	.name = "xprtrdma_transport",
	.suite_init = mount_suite_init,
	.suite_exit = mount_suite_exit,
	.init = mount_init,
	.test_cases = transport_cases,
};

static struct kunit_suite setup_suite = {
	.name = "xprtrdma_transport_setup",
	.suite_init = mount_suite_init,
	.suite_exit = mount_suite_exit,
	.test_cases = setup_cases,
};

kunit_test_suites(&transport_suite, &setup_suite);
