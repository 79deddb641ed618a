// SPDX-License-Identifier: GPL-2.0-only
/*
 * SUNRPC does not understand a reply, and sends the call again. The connection must stay usable. An
 * NFS client of version 3 makes the call, and the test is the server.
 */
#include <linux/unaligned.h>

#include "../fake/handover.h"
#include "mount.h"

/* One test at a time. */
static struct answered {
	int			status;
	struct completion	done;
} answered;

static void encode(struct rpc_rqst *rqst, struct xdr_stream *xdr, const void *args)
{
}

static int decode(struct rpc_rqst *rqst, struct xdr_stream *xdr, void *results)
{
	return 0;
}

static const struct rpc_procinfo procedure = {
	.p_proc = 1, .p_encode = encode, .p_decode = decode, .p_name = "ANSWERED",
};

static void answered_done(struct rpc_task *task, void *data)
{
	answered.status = task->tk_status;
}

static void answered_release(void *data)
{
	complete(&answered.done);
	fake_handover();
}

static const struct rpc_call_ops answered_ops = {
	.rpc_call_done = answered_done, .rpc_release = answered_release,
};

static void call(struct kunit *test)
{
	struct mount *mount = test->priv;
	struct rpc_message message = { .rpc_proc = &procedure };
	struct rpc_task_setup setup = {
		.rpc_client	= mount->clnt,
		.rpc_message	= &message,
		.callback_ops	= &answered_ops,
		.flags		= RPC_TASK_ASYNC,
	};
	struct rpc_task *task;

	init_completion(&answered.done);
	answered.status = 1;
	task = rpc_run_task(&setup);
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	rpc_put_task(task);
}

/* The server answers the call that came last: accepted, with this status */
static void answer(struct kunit *test, u32 accept)
{
	struct mount *mount = test->priv;
	u32 xid = get_unaligned_be32(fake_message(fake_last_wr(&mount->fake->qp)));
	const __be32 message[] = {
		cpu_to_be32(xid), cpu_to_be32(RPCRDMA_VERSION), cpu_to_be32(32),
		cpu_to_be32(RPCRDMA_MSG), 0, 0, 0,
		cpu_to_be32(xid), cpu_to_be32(RPCRDMA_RPC_REPLY), 0, 0, 0, cpu_to_be32(accept),
	};

	KUNIT_ASSERT_TRUE(test, fake_deliver(&mount->fake->qp, message, sizeof(message)));
}

struct answer_case {
	const char	*desc;
	u32		accept;
	unsigned int	sends;
	int		status;
};

static const struct answer_case answer_cases[] = {
	{ "SUCCESS", RPC_SUCCESS, 1, 0 },
	{ "GARBAGE_ARGS", RPC_GARBAGE_ARGS, 3, -EIO },
	{ "SYSTEM_ERR", RPC_SYSTEM_ERR, 3, -EIO },
};

KUNIT_ARRAY_PARAM_DESC(answer, answer_cases, desc);

static void call_again_on_the_same_connection(struct kunit *test)
{
	const struct answer_case *c = test->param_value;
	struct mount *mount = test->priv;
	struct fake_qp *qp = &mount->fake->qp;
	unsigned int i;

	qp->automatic = true;
	call(test);
	for (i = 1; i <= c->sends; i++) {
		KUNIT_ASSERT_TRUE(test, eventually(READ_ONCE(qp->posted) >= i));
		answer(test, c->accept);
	}
	KUNIT_ASSERT_TRUE(test, eventually(completion_done(&answered.done)));
	KUNIT_EXPECT_EQ(test, c->status, answered.status);
	KUNIT_EXPECT_EQ(test, c->sends, qp->posted);
	KUNIT_EXPECT_EQ(test, 1, mount->xprt->stat.connect_count);
	KUNIT_EXPECT_EQ(test, 0, fake_cm.disconnects);
	KUNIT_EXPECT_EQ(test, 0, mount->transport->xt_conn->xc_window.in_flight);
}

static struct kunit_case answered_cases[] = {
	KUNIT_CASE_PARAM(call_again_on_the_same_connection, answer_gen_params),
	{}
};

static struct kunit_suite answered_suite = {
	.name = "xprtrdma_answered",
	.suite_init = mount_suite_init,
	.suite_exit = mount_suite_exit,
	.init = mount_init,
	.test_cases = answered_cases,
};

kunit_test_suite(answered_suite);
