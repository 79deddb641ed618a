// SPDX-License-Identifier: GPL-2.0-only
/*
 * SUNRPC encodes a call again. The server must no longer reach memory that SUNRPC then overwrites
 * or frees. An NFS client of one procedure makes the calls, and the server is silent.
 */
#include <linux/delay.h>

#include "../fake/handover.h"
#include "mount.h"

enum { PAGES = 2, TIMEOUT = HZ / 20, CLOSE_MS = 300 };

/* One test at a time. */
static struct again {
	struct mount		*mount;
	struct page		*pages[PAGES];
	unsigned int		encoded;	/* times */
	unsigned int		early;		/* of these, with a region that is valid */
	int			status;
	struct completion	done;
	struct completion	go;		/* the close, where it waits for that */
} again;

/* Regions go a while after their queue pair. */
static bool server_reaches(struct fake_device *fake)
{
	return !fake->qp.error && fake_valid_rkeys(fake);
}

static void encode(struct rpc_rqst *rqst, struct xdr_stream *xdr, const void *args)
{
	again.early += fake_valid_rkeys(again.mount->fake) > 0;
	again.encoded++;
	xdr_write_pages(xdr, again.pages, 0, PAGES * PAGE_SIZE);
	xdr->buf->flags |= XDRBUF_WRITE;
	/* The next connection at once */
	rqst->rq_xprt->reestablish_timeout = 0;
}

static int decode(struct rpc_rqst *rqst, struct xdr_stream *xdr, void *results)
{
	return 0;
}

static const struct rpc_procinfo procedure = {
	.p_proc = 1, .p_encode = encode, .p_decode = decode, .p_name = "AGAIN",
};

static const struct rpc_timeout timeout = {
	.to_initval = TIMEOUT, .to_maxval = TIMEOUT, .to_retries = 100,
};

static void again_done(struct rpc_task *task, void *data)
{
	again.status = task->tk_status;
}

static void again_release(void *data)
{
	complete(&again.done);
	fake_handover();
}

static const struct rpc_call_ops again_ops = {
	.rpc_call_done = again_done, .rpc_release = again_release,
};

static int again_init(struct kunit *test)
{
	struct mount *mount;
	int i;

	mount_init(test);
	mount = test->priv;
	memset(&again, 0, sizeof(again));
	again.mount = mount;
	init_completion(&again.done);
	init_completion(&again.go);
	for (i = 0; i < PAGES; i++) {
		again.pages[i] = alloc_page(GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, again.pages[i]);
	}
	mount->clnt->cl_timeout = &timeout;
	mount->clnt->cl_softrtry = 0;
	mount->fake->qp.automatic = true;
	return 0;
}

static void again_exit(struct kunit *test)
{
	struct mount *mount = test->priv;
	int i;

	complete_all(&again.go);
	if (mount && mount->clnt)
		rpc_shutdown_client(mount->clnt);
	if (mount)
		mount->clnt = NULL;
	for (i = 0; i < PAGES; i++)
		if (again.pages[i])
			__free_page(again.pages[i]);
}

static void again_call(struct kunit *test)
{
	struct mount *mount = test->priv;
	struct rpc_message message = { .rpc_proc = &procedure };
	struct rpc_task_setup setup = {
		.rpc_client	= mount->clnt,
		.rpc_message	= &message,
		.callback_ops	= &again_ops,
		.flags		= RPC_TASK_ASYNC,
	};
	struct rpc_task *task = rpc_run_task(&setup);

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	rpc_put_task(task);
}

struct again_case {
	const char	*desc;
	bool		patient;	/* NFSv4: only when the connection has gone */
	unsigned int	close_ms;	/* that the close takes */
};

static const struct again_case again_cases[] = {
	{ "v3", false },
	{ "v3, a slow close", false, CLOSE_MS },
	{ "v4", true },
	{ "v4, a slow close", true, CLOSE_MS },
};

KUNIT_ARRAY_PARAM_DESC(again, again_cases, desc);

/* The call goes out three times, each time on a connection of its own. */
static void encoded_after_the_fence(struct kunit *test)
{
	const struct again_case *c = test->param_value;
	struct mount *mount = test->priv;

	mount->clnt->cl_noretranstimeo = c->patient;
	fake_cm.disconnect_ms = c->close_ms;
	again_call(test);
	KUNIT_EXPECT_TRUE(test, eventually(READ_ONCE(again.encoded) >= 3));
	KUNIT_EXPECT_EQ(test, 0, again.early);
	rpc_killall_tasks(mount->clnt);
	KUNIT_EXPECT_TRUE(test, eventually(completion_done(&again.done)));
	KUNIT_EXPECT_LT(test, again.status, 0);
	KUNIT_EXPECT_EQ(test, 0, again.early);
	KUNIT_EXPECT_FALSE(test, server_reaches(mount->fake));
}

/* While it waits for the close: the task ends, and not before that. */
static void killed_before_the_fence(struct kunit *test)
{
	struct mount *mount = test->priv;
	struct xprtrdma_transport *transport = mount->transport;

	fake_cm.disconnect_go = &again.go;
	again_call(test);
	KUNIT_ASSERT_TRUE(test, eventually(READ_ONCE(transport->xt_fenced.qlen)));
	KUNIT_EXPECT_TRUE(test, server_reaches(mount->fake));
	rpc_killall_tasks(mount->clnt);
	KUNIT_EXPECT_FALSE(test, wait_for_completion_timeout(&again.done, HZ / 20));
	KUNIT_EXPECT_TRUE(test, server_reaches(mount->fake));
	complete_all(&again.go);
	KUNIT_EXPECT_TRUE(test, eventually(completion_done(&again.done)));
	KUNIT_EXPECT_EQ(test, -ERESTARTSYS, again.status);
	KUNIT_EXPECT_FALSE(test, server_reaches(mount->fake));
	KUNIT_EXPECT_EQ(test, 1, again.encoded);
	KUNIT_EXPECT_EQ(test, 0, transport->xt_fenced.qlen);
}

static struct kunit_case again_kunit_cases[] = {
	KUNIT_CASE_PARAM(encoded_after_the_fence, again_gen_params),
	KUNIT_CASE(killed_before_the_fence),
	{}
};

static struct kunit_suite again_suite = {
	.name = "xprtrdma_again",
	.suite_init = mount_suite_init,
	.suite_exit = mount_suite_exit,
	.init = again_init,
	.exit = again_exit,
	.test_cases = again_kunit_cases,
};

kunit_test_suite(again_suite);
