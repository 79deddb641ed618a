// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts svcrdma/module.c without SUNRPC, and makes an idle connection, for the server's suites and
 * the pair.
 */
#include <linux/module.h>

#include "module.h"

struct svc_xprt_class svcrdma_class = {
	.xcl_name		= "rdma",
	.xcl_owner		= THIS_MODULE,
	.xcl_ops		= &svcrdma_listener_ops,
	.xcl_max_payload	= RPCSVC_MAXPAYLOAD,
	.xcl_ident		= XPRT_TRANSPORT_RDMA,
};

int server_module_init(void)
{
	int ret = svcrdma_work_init();

	if (ret)
		return ret;
	ret = rpcrdma_connections_init(&svcrdma_connections);
	if (ret)
		svcrdma_work_exit();
	return ret;
}

void server_module_exit(void)
{
	svcrdma_work_exit();
	rpcrdma_connections_exit(&svcrdma_connections);
}

/* server_sq_free - Send Queue entries that nobody has */
u32 server_sq_free(const struct svcrdma_transport *t)
{
	return t->st_sq_depth - (u32)atomic_read(&t->st_sq.taken) +
	       (u32)atomic_read(&t->st_sq.given);
}

/* server_count - how many there are in a list, which nobody changes meanwhile */
unsigned int server_count(const struct llist_head *list)
{
	struct llist_node *node;
	unsigned int count = 0;

	llist_for_each(node, list->first)
		count++;
	return count;
}

/**
 * server_expect_idle - no buffer and no queue entry is lost
 * @test: the test
 * @t: the connection
 * @posted: Receives in the Receive Queue
 */
void server_expect_idle(struct kunit *test, struct svcrdma_transport *t, unsigned int posted)
{
	size_t contexts = list_count_nodes(&t->st_recv.all);
	const struct svcrdma_recv_ctxt *rc;

	list_for_each_entry(rc, &t->st_recv.all, rc_all) {
		KUNIT_EXPECT_EQ(test, 0, rc->rc_nr_pages);
		KUNIT_EXPECT_LE(test, rc->rc_nr_few, SVCRDMA_KEPT_PAGES);
		KUNIT_EXPECT_NULL(test, rc->rc_pages);
	}
	KUNIT_EXPECT_EQ(test, contexts, server_count(&t->st_recv.spare) + posted);
	KUNIT_EXPECT_EQ(test, contexts, t->st_recv.target + t->st_grant);
	KUNIT_EXPECT_LE(test, posted, t->st_recv.target);
	KUNIT_EXPECT_GT(test, posted + RPCRDMA_RECEIVE_BATCH, t->st_recv.target);
	KUNIT_EXPECT_EQ(test, t->st_recv.posted - t->st_recv.gone, posted);
	KUNIT_EXPECT_FALSE(test, t->st_recv.starved);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&t->st_recv.used));
	KUNIT_EXPECT_EQ(test, t->st_sq_depth, server_sq_free(t));
	KUNIT_EXPECT_EQ(test, 0, t->st_sq.nr_waiters);
	KUNIT_EXPECT_EQ(test, 0, t->st_read.built);
	KUNIT_EXPECT_EQ(test, 0, t->st_read.calls);
	KUNIT_EXPECT_EQ(test, 0, t->st_read.pages);
	KUNIT_EXPECT_EQ(test, 0, t->st_read.retries);
	KUNIT_EXPECT_EQ(test, server_count(&t->st_send.free) +
			server_count(&t->st_send.unsignalled), list_count_nodes(&t->st_send.all));
	KUNIT_EXPECT_EQ(test, server_count(&t->st_send.unsignalled),
			atomic_read(&t->st_sq.unsignalled));
	KUNIT_EXPECT_FALSE(test, READ_ONCE(t->st_closing));
}
