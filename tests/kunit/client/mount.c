// SPDX-License-Identifier: GPL-2.0-only
/* Makes a mount's rpc_xprt and a task for it, for the suites that test the rpc_xprt. */
#include <linux/delay.h>
#include <linux/module.h>

#include "mount.h"

static const struct rpc_procinfo procedures[] = { { .p_name = "NULL" } };
static unsigned int counts[1];
static const struct rpc_version version = {
	.number = 1, .nrprocs = 1, .procs = procedures, .counts = counts,
};

static const struct rpc_version *versions[] = { NULL, &version };
static struct rpc_stat statistics;
static const struct rpc_program program = {
	.name = "mount", .number = 100003, .nrvers = ARRAY_SIZE(versions),
	.version = versions, .stats = &statistics,
};

/* 192.0.2.1 */
static const struct sockaddr_in server_address = {
	.sin_family = AF_INET,
	.sin_addr.s_addr = cpu_to_be32(0xc0000201),
	.sin_port = cpu_to_be16(RPCRDMA_PORT),
};

struct rpc_clnt *mount_client(const struct sockaddr *to, size_t length,
			      struct sockaddr *from, unsigned long flags)
{
	struct rpc_create_args args = {
		.net		= &init_net,
		.protocol	= XPRT_TRANSPORT_RDMA,
		.address	= (struct sockaddr *)to,
		.addrsize	= length,
		.saddress	= from,
		.servername	= "server",
		.program	= &program,
		.version	= 1,
		.authflavor	= RPC_AUTH_NULL,
		.flags		= RPC_CLNT_CREATE_NOPING | RPC_CLNT_CREATE_QUIET | flags,
		.cred		= current_cred(),
	};

	return rpc_create(&args);
}

void mount_shut_down(struct mount *mount)
{
	if (mount->clnt)
		rpc_shutdown_client(mount->clnt);
	mount->clnt = NULL;
}

/* The rpc_xprt goes in a work item. */
bool mount_gone(struct mount *mount)
{
	return eventually(module_refcount(THIS_MODULE) == mount->modules);
}

static void mount_exit(void *data)
{
	struct mount *mount = data;

	mount_shut_down(mount);
	if (!mount_gone(mount))
		kunit_fail_current_test("%d references to the module were there, %d are left",
					mount->modules, module_refcount(THIS_MODULE));
	fake_queues_check();
}

void mount_from(struct mount *mount, struct sockaddr *from, unsigned long flags)
{
	mount->clnt = mount_client((const struct sockaddr *)&server_address,
				   sizeof(server_address), from, flags);
	if (IS_ERR(mount->clnt)) {
		mount->clnt = NULL;
		KUNIT_ASSERT_TRUE_MSG(mount->test, false, "no rpc_clnt");
	}
	mount->xprt = rcu_access_pointer(mount->clnt->cl_xprt);
	mount->transport = xprtrdma_transport_of(mount->xprt);
}

struct mount *mount_create(struct kunit *test)
{
	struct fake_device *fake = fake_device_create(test);
	struct mount *mount = kunit_kzalloc(test, sizeof(*mount), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mount);
	mount->test = test;
	mount->fake = fake;
	mount->modules = module_refcount(THIS_MODULE);
	fake_queues_reset(fake);
	client_private(4096, 4096, true);
	test->priv = mount;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, mount_exit, mount));
	return mount;
}

int mount_init(struct kunit *test)
{
	mount_from(mount_create(test), NULL, 0);
	return 0;
}

/* ---- connecting ---- */

/* As xprt_connect(). Returns how long the transport is going to wait, in seconds. */
unsigned int mount_start(struct mount *mount)
{
	struct timer_list *timer = &mount->transport->xt_connect_worker.timer;
	struct rpc_xprt *xprt = mount->xprt;

	fake_cm.held = NULL;
	KUNIT_ASSERT_FALSE(mount->test, test_and_set_bit(XPRT_LOCKED, &xprt->state));
	KUNIT_ASSERT_FALSE(mount->test, test_and_set_bit(XPRT_CONNECTING, &xprt->state));
	fake_task_sleep(xprt, &mount->task);
	xprt->snd_task = &mount->task;
	xprt->stat.connect_start = jiffies;
	xprt->ops->connect(xprt, &mount->task);
	if (!timer_pending(timer))
		return 0;
	return (timer->expires - xprt->stat.connect_start) / HZ;
}

/* The wait is over. What the task is told; the write lock is free again. */
int mount_connected(struct mount *mount)
{
	struct rpc_xprt *xprt = mount->xprt;

	flush_delayed_work(&mount->transport->xt_connect_worker);
	KUNIT_EXPECT_FALSE(mount->test, test_bit(XPRT_CONNECTING, &xprt->state));
	KUNIT_EXPECT_FALSE(mount->test, RPC_IS_QUEUED(&mount->task));
	/* A close that was asked for meanwhile comes now. */
	flush_work(&xprt->task_cleanup);
	KUNIT_EXPECT_FALSE(mount->test, test_bit(XPRT_LOCKED, &xprt->state));
	KUNIT_EXPECT_PTR_EQ(mount->test, NULL, xprt->snd_task);
	return mount->task.tk_status;
}

int mount_connect(struct mount *mount)
{
	mount_start(mount);
	return mount_connected(mount);
}

/* As the autoclose worker. */
void mount_disconnect(struct mount *mount)
{
	xprt_force_disconnect(mount->xprt);
	flush_work(&mount->xprt->task_cleanup);
}

/* A worker that waits for the CM. */
struct rdma_cm_id *mount_hold(struct mount *mount, enum fake_cm_call call)
{
	fake_cm.plan[call].hold = true;
	mount_start(mount);
	KUNIT_ASSERT_TRUE(mount->test, eventually(READ_ONCE(fake_cm.held)));
	/* The write lock is the worker's now. */
	KUNIT_EXPECT_PTR_EQ(mount->test, (void *)mount->transport,
			    (void *)mount->xprt->snd_task);
	fake_cm.plan[call].hold = false;
	return fake_cm.held;
}

/* SUNRPC tries again as soon as it knows that there is a connection. */
void mount_expect_connected(struct mount *mount)
{
	struct kunit *test = mount->test;

	KUNIT_EXPECT_EQ(test, -EAGAIN, mount_connect(mount));
	KUNIT_EXPECT_TRUE(test, xprt_connected(mount->xprt));
	KUNIT_ASSERT_NOT_NULL(test, mount->transport->xt_conn);
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(mount->transport->xt_conn));
	KUNIT_EXPECT_EQ(test, 1, fake_cm.ids);
}

void mount_expect_nothing(struct mount *mount)
{
	struct kunit *test = mount->test;

	KUNIT_EXPECT_FALSE(test, xprt_connected(mount->xprt));
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_CLOSE_WAIT, &mount->xprt->state));
	KUNIT_EXPECT_PTR_EQ(test, NULL, mount->transport->xt_conn);
	KUNIT_EXPECT_EQ(test, 0, fake_objects());
}

int mount_suite_init(struct kunit_suite *suite)
{
	return xprtrdma_transport_register();
}

void mount_suite_exit(struct kunit_suite *suite)
{
	xprtrdma_transport_unregister();
}
