// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rpc_xprt above the connections: it connects, reports errors to SUNRPC, and waits before the
 * next attempt.
 *
 * The rpc_xprt is a real one, made by rpc_create(); the test is the task that connects.
 */
#include <rdma/ib_cm.h>

#include "../../xprtrdma/trace.h"
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
	{ "ENODEV", FAKE_CM_ADDR, { -ENODEV }, -EPROTO },
	{ "EADDRNOTAVAIL", FAKE_CM_ADDR, { -EADDRNOTAVAIL }, -EHOSTUNREACH },
	{ "EPERM", FAKE_CM_ADDR, { -EPERM }, -EHOSTUNREACH },
	{ "address error", FAKE_CM_ADDR, { 0, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT },
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

static const char *const step_names[FAKE_CM_CALLS] = {
	[FAKE_CM_CREATE_ID] = "cm_id",
	[FAKE_CM_ADDR] = "address",
	[FAKE_CM_ROUTE] = "route",
	[FAKE_CM_CONNECT] = "connection request",
};

static void note_step(void *data, const struct rpc_xprt *xprt, const char *step, int error)
{
	const char **noted = data;

	*noted = step;
}

/* The administrator learns which step it was. */
static int connect_noting_step(struct mount *mount, const char **step)
{
	int told;

	*step = "";
	KUNIT_ASSERT_EQ(mount->test, 0, register_trace_xprtrdma_connect_failed(note_step, step));
	told = mount_connect(mount);
	unregister_trace_xprtrdma_connect_failed(note_step, step);
	tracepoint_synchronize_unregister();
	return told;
}

static void connect_fails(struct kunit *test)
{
	const struct failure_case *c = test->param_value;
	struct mount *mount = test->priv;
	unsigned int cookie = mount->xprt->connect_cookie;
	const char *step;

	fake_cm.plan[c->call] = c->plan;
	KUNIT_EXPECT_EQ(test, c->told, connect_noting_step(mount, &step));
	KUNIT_EXPECT_STREQ(test, step_names[c->call], step);
	mount_expect_nothing(mount);
	KUNIT_EXPECT_NE(test, cookie, mount->xprt->connect_cookie);
	KUNIT_EXPECT_EQ(test, 0, mount->xprt->stat.connect_count);

	fake_cm.plan[c->call] = (struct fake_cm_plan) {};
	KUNIT_EXPECT_TRUE(test, xprtrdma_failure_forget(mount->xprt));
	mount_expect_connected(mount);
}

static void connect_in_vain(struct mount *mount)
{
	fake_cm.plan[FAKE_CM_CONNECT].event = RDMA_CM_EVENT_REJECTED;
	mount_connect(mount);
	mount_expect_nothing(mount);
	fake_cm.plan[FAKE_CM_CONNECT].event = 0;
}

/* A mount that failed has gone when the next one comes; the log is not to end with the failure. */
static void connect_is_told_after_a_failure(struct kunit *test)
{
	struct mount *mount = test->priv;

	connect_in_vain(mount);
	KUNIT_EXPECT_TRUE(test, xprtrdma_failure_forget(mount->xprt));
	KUNIT_EXPECT_FALSE(test, xprtrdma_failure_forget(mount->xprt));

	connect_in_vain(mount);
	mount_shut_down(mount);
	KUNIT_ASSERT_TRUE(test, mount_gone(mount));
	mount_from(mount, NULL, 0);
	mount_expect_connected(mount);
	KUNIT_EXPECT_FALSE(test, xprtrdma_failure_forget(mount->xprt));
}

enum { SERVERS = 9 };

static void set_server(struct mount *mount, unsigned int host, u16 port)
{
	struct sockaddr_in *server = (struct sockaddr_in *)&mount->xprt->addr;

	server->sin_addr.s_addr = cpu_to_be32(0xc6336400 + host);	/* 198.51.100.0/24 */
	server->sin_port = cpu_to_be16(port);
}

/* Of each of the last eight, whatever the port was */
static void connect_tells_servers_apart(struct kunit *test)
{
	struct mount *mount = test->priv;
	unsigned int i;

	for (i = 0; i < SERVERS; i++) {
		set_server(mount, i, 20049);
		connect_in_vain(mount);
		connect_in_vain(mount);
	}
	for (i = 0; i < SERVERS; i++) {
		set_server(mount, i, 20050);
		KUNIT_EXPECT_EQ(test, i > 0, xprtrdma_failure_forget(mount->xprt));
	}
}

/* A mount that is tried again and again has a transport for each attempt: one line for all. */
static void connect_failure_is_told_once(struct kunit *test)
{
	static const char step[] = "a step", other[] = "another one";
	unsigned long silence = xprtrdma_failure_silence;
	struct mount *mount = test->priv;
	struct rpc_xprt *xprt = mount->xprt;

	set_server(mount, 100, 20049);
	KUNIT_EXPECT_TRUE(test, xprtrdma_failure_note(xprt, step, -ENODEV));
	KUNIT_EXPECT_FALSE(test, xprtrdma_failure_note(xprt, step, -ENODEV));
	set_server(mount, 101, 20049);
	KUNIT_EXPECT_TRUE(test, xprtrdma_failure_note(xprt, step, -ENODEV));

	/* Something else is news, and so is the same, later, or after a connection. */
	KUNIT_EXPECT_TRUE(test, xprtrdma_failure_note(xprt, step, -ECONNREFUSED));
	KUNIT_EXPECT_TRUE(test, xprtrdma_failure_note(xprt, other, -ECONNREFUSED));
	KUNIT_EXPECT_FALSE(test, xprtrdma_failure_note(xprt, other, -ECONNREFUSED));
	xprtrdma_failure_silence = 0;
	KUNIT_EXPECT_TRUE(test, xprtrdma_failure_note(xprt, other, -ECONNREFUSED));
	xprtrdma_failure_silence = silence;
	KUNIT_EXPECT_TRUE(test, xprtrdma_failure_forget(xprt));
	KUNIT_EXPECT_TRUE(test, xprtrdma_failure_note(xprt, other, -ECONNREFUSED));
	KUNIT_EXPECT_TRUE(test, xprtrdma_failure_forget(xprt));
	set_server(mount, 100, 20049);
	KUNIT_EXPECT_TRUE(test, xprtrdma_failure_forget(xprt));
}

static const struct fake_cm_plan no_device = {
	.event = RDMA_CM_EVENT_ADDR_ERROR, .status = -ENODEV,
};

/*
 * No RDMA device is on the way: a mount fails at once (EPROTO is permanent for mount.nfs). One that
 * has had a connection waits for its device.
 */
static void connect_without_a_device_on_the_way(struct kunit *test)
{
	struct mount *mount = test->priv;

	fake_cm.plan[FAKE_CM_ADDR] = no_device;
	KUNIT_EXPECT_EQ(test, -EPROTO, mount_connect(mount));
	mount_expect_nothing(mount);
	fake_cm.plan[FAKE_CM_ADDR] = (struct fake_cm_plan) {};
	mount_expect_connected(mount);

	mount_disconnect(mount);
	fake_cm.plan[FAKE_CM_ADDR] = no_device;
	KUNIT_EXPECT_EQ(test, -EHOSTUNREACH, mount_connect(mount));
	KUNIT_EXPECT_EQ(test, -EHOSTUNREACH, mount_connect(mount));
	fake_cm.plan[FAKE_CM_ADDR] = (struct fake_cm_plan) {};
	mount_expect_connected(mount);
}

struct unfit_case {
	const char	*desc;
	u64		cap_flags;
	u32		fast_reg;
	const char	*step;
	int		error;
};

static const struct unfit_case unfit_cases[] = {
	{ "no fast registration", 0, 256, "fast registration", -ENODEV },
	{ "no pages", IB_DEVICE_MEM_MGT_EXTENSIONS, 0, "fast registration", -ENODEV },
	{ "fewer pages than the mount began with", IB_DEVICE_MEM_MGT_EXTENSIONS, 1, "largest payload",
	  -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM_DESC(unfit, unfit_cases, desc);

/* The device of a mount has gone, and one comes that cannot serve it: that is another failure. */
static void connect_over_a_device_that_cannot(struct kunit *test)
{
	const struct unfit_case *c = test->param_value;
	struct mount *mount = test->priv;
	struct ib_device_attr *attrs = &mount->fake->ib.attrs, good = *attrs;
	const char *step;

	mount_expect_connected(mount);
	mount_disconnect(mount);
	fake_cm.plan[FAKE_CM_ADDR] = no_device;
	KUNIT_EXPECT_EQ(test, -EHOSTUNREACH, connect_noting_step(mount, &step));
	KUNIT_EXPECT_FALSE(test, xprtrdma_failure_note(mount->xprt, step, -ENODEV));
	fake_cm.plan[FAKE_CM_ADDR] = (struct fake_cm_plan) {};
	attrs->device_cap_flags = c->cap_flags;
	attrs->max_fast_reg_page_list_len = c->fast_reg;
	mount->xprt->reestablish_timeout = 0;
	KUNIT_EXPECT_EQ(test, -EHOSTUNREACH, connect_noting_step(mount, &step));
	KUNIT_EXPECT_STREQ(test, c->step, step);
	KUNIT_EXPECT_FALSE(test, xprtrdma_failure_note(mount->xprt, step, c->error));
	mount_expect_nothing(mount);
	*attrs = good;
	mount->xprt->reestablish_timeout = 0;
	mount_expect_connected(mount);
	mount_disconnect(mount);
}

static void connect_without_an_id(struct kunit *test)
{
	struct mount *mount = test->priv;
	const char *step;

	fake_cm.plan[FAKE_CM_CREATE_ID].error = -ENOMEM;
	KUNIT_EXPECT_EQ(test, -ENOBUFS, connect_noting_step(mount, &step));
	KUNIT_EXPECT_STREQ(test, step_names[FAKE_CM_CREATE_ID], step);
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
	unsigned long serial;

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
	static const unsigned int seconds[] = { 0, 1, 2, 4, 8, 10, 10, 10 };
	struct mount *mount = test->priv;
	int i;

	fake_cm.plan[FAKE_CM_CONNECT].error = -ECONNREFUSED;
	for (i = 0; i < ARRAY_SIZE(seconds); i++) {
		KUNIT_EXPECT_EQ(test, seconds[i], mount_start(mount));
		KUNIT_EXPECT_EQ(test, -ECONNREFUSED, mount_connected(mount));
	}
}

/* As long as nobody answers for the address, no server is bothered. */
static void backoff_without_an_address(struct kunit *test)
{
	struct mount *mount = test->priv;
	int i;

	fake_cm.plan[FAKE_CM_ADDR] = (struct fake_cm_plan) {
		.event = RDMA_CM_EVENT_ADDR_ERROR, .status = -ETIMEDOUT,
	};
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, !!i, mount_start(mount));
		KUNIT_EXPECT_EQ(test, -EHOSTUNREACH, mount_connected(mount));
	}
	fake_cm.plan[FAKE_CM_ADDR] = (struct fake_cm_plan) {};
	fake_cm.plan[FAKE_CM_CONNECT].error = -ECONNREFUSED;
	for (i = 1; i <= 4; i *= 2) {
		KUNIT_EXPECT_EQ(test, i, mount_start(mount));
		KUNIT_EXPECT_EQ(test, -ECONNREFUSED, mount_connected(mount));
	}
}

/* The next attempt goes out at once after a connection that was of use, else later. */
static void backoff_ends_with_a_useful_connection(struct kunit *test)
{
	struct mount *mount = test->priv;

	mount_expect_connected(mount);
	mount_disconnect(mount);
	KUNIT_EXPECT_EQ(test, 1, mount_start(mount));
	KUNIT_EXPECT_EQ(test, -EAGAIN, mount_connected(mount));
	mount->transport->xt_conn->xc_useful = true;
	mount_disconnect(mount);
	KUNIT_EXPECT_EQ(test, 0, mount_start(mount));
	KUNIT_EXPECT_EQ(test, -EAGAIN, mount_connected(mount));
	mount_disconnect(mount);
	KUNIT_EXPECT_EQ(test, 1, mount_start(mount));
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
	mount->xprt->reestablish_timeout = 4 * HZ;
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
		fake_cm_event_locked(id, RDMA_CM_EVENT_DEVICE_REMOVAL);
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

static struct kunit_case transport_cases[] = {
	KUNIT_CASE(connect_succeeds),
	KUNIT_CASE_PARAM(connect_fails, failure_gen_params),
	KUNIT_CASE(connect_is_told_after_a_failure),
	KUNIT_CASE(connect_tells_servers_apart),
	KUNIT_CASE(connect_failure_is_told_once),
	KUNIT_CASE(connect_without_a_device_on_the_way),
	KUNIT_CASE_PARAM(connect_over_a_device_that_cannot, unfit_gen_params),
	KUNIT_CASE(connect_without_an_id),
	KUNIT_CASE_PARAM(connect_without_resources, resource_gen_params),
	KUNIT_CASE(connect_without_memory),
	KUNIT_CASE(connect_to_a_server_that_has_changed),
	KUNIT_CASE(connect_while_there_is_a_connection),
	KUNIT_CASE(connect_does_not_wait_for_reclaim),
	KUNIT_CASE(backoff_grows),
	KUNIT_CASE(backoff_without_an_address),
	KUNIT_CASE(backoff_ends_with_a_useful_connection),
	KUNIT_CASE(backoff_has_the_mounts_bound),
	KUNIT_CASE_PARAM(removal_while_connecting, step_gen_params),
	KUNIT_CASE_PARAM(close_while_connecting, step_gen_params),
	KUNIT_CASE_PARAM(destroy_while_connecting, step_gen_params),
	KUNIT_CASE(removal_right_after_connecting),
	{}
};

static struct kunit_suite transport_suite = {
	.name = "xprtrdma_transport",
	.suite_init = mount_suite_init,
	.suite_exit = mount_suite_exit,
	.init = mount_init,
	.test_cases = transport_cases,
};

kunit_test_suite(transport_suite);
