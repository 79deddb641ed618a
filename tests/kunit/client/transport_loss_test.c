// SPDX-License-Identifier: GPL-2.0-only
/* The ways in which a connection below the rpc_xprt ends, and the end of the rpc_xprt itself. */
#include <linux/delay.h>
#include <linux/module.h>

#include "mount.h"

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

static struct {
	const struct rpc_xprt_ops	*ops;
	struct completion		destroyed, go;
} meeting;

/* Runs in SUNRPC's work item, which does not come to its end so soon. */
static void slow_destroy(struct rpc_xprt *xprt)
{
	meeting.ops->destroy(xprt);
	complete(&meeting.destroyed);
	wait_for_completion(&meeting.go);
}

/*
 * SUNRPC's work item calls us, and nobody who unloads the module waits for it: the module
 * has to be there until it has returned.
 */
static void module_stays_until_destroy_has_returned(struct kunit *test)
{
	struct mount *mount = test->priv;
	struct rpc_xprt_ops slow = *mount->xprt->ops;

	init_completion(&meeting.destroyed);
	init_completion(&meeting.go);
	meeting.ops = mount->xprt->ops;
	slow.destroy = slow_destroy;
	mount->xprt->ops = &slow;
	mount_expect_connected(mount);
	KUNIT_EXPECT_EQ(test, mount->modules + 1, module_refcount(THIS_MODULE));

	mount_shut_down(mount);
	wait_for_completion(&meeting.destroyed);
	KUNIT_EXPECT_EQ(test, 0, fake_objects());
	msleep(50);
	KUNIT_EXPECT_EQ(test, mount->modules + 1, module_refcount(THIS_MODULE));
	complete(&meeting.go);
	KUNIT_EXPECT_TRUE(test, mount_gone(mount));
}

static struct kunit_case loss_test_cases[] = {
	KUNIT_CASE_PARAM(loss_closes_and_wakes, loss_gen_params),
	KUNIT_CASE(idle_timer_runs_after_a_connect),
	KUNIT_CASE(destroy_while_connected),
	KUNIT_CASE(module_stays_until_destroy_has_returned),
	{}
};

static struct kunit_suite loss_suite = {
	.name = "xprtrdma_transport_loss",
	.suite_init = mount_suite_init,
	.suite_exit = mount_suite_exit,
	.init = mount_init,
	.test_cases = loss_test_cases,
};

kunit_test_suite(loss_suite);
