// SPDX-License-Identifier: GPL-2.0-only
/* A transport and its connection, for the client's suites. */
#include <linux/module.h>
#include <linux/slab.h>

#include "client.h"

static void client_destroy_action(void *data)
{
	struct client *client = data;

	/* An RPC that holds regions needs the end of the connection to let go. */
	client_disconnect(client);
	client_exit(client);
	fake_queues_check();
	rpcrdma_buffers_stop();
	destroy_workqueue(xprtrdma_wq);
}

/* An address without a connection. */
struct client *client_create(struct kunit *test)
{
	struct fake_device *fake = fake_device_create(test);
	struct client *client = kunit_kzalloc(test, sizeof(*client), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, client);
	client->fake = fake;
	client->qp = &fake->qp;
	fake_queues_reset(fake);
	client_private(4096, 4096, true);
	/* As xprtrdma_transport_register(). */
	xprtrdma_wq = alloc_workqueue("xprtrdma_kunit", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	KUNIT_ASSERT_NOT_NULL(test, xprtrdma_wq);
	KUNIT_ASSERT_EQ(test, 0, rpcrdma_buffers_start("rpcrdma_kunit"));
	client_init(client, test, 0x10000001);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, client_destroy_action,
							   client));
	test->priv = client;
	return client;
}

/* What the server says of itself. */
void client_private(u32 send_size, u32 recv_size, bool remote_invalidation)
{
	struct rpcrdma_cm_private server = {
		.send_size = send_size,
		.recv_size = recv_size,
		.remote_invalidation = remote_invalidation,
	};

	rpcrdma_cm_private_encode(&server, fake_cm.heard.private);
	fake_cm.heard.length = RPCRDMA_CM_SIZE;
}

/* RDMA Reads in flight; as many of either direction. */
void client_server_takes(u8 reads)
{
	fake_cm.heard.reads_taken = reads;
	fake_cm.heard.reads_done = reads;
}

/* As the connect worker, with buffers for the first calls */
void client_connect_small(struct client *client)
{
	struct xprtrdma_conn *conn;

	client_begin(client);
	conn = xprtrdma_conn_create(client->transport);
	KUNIT_ASSERT_FALSE(client->test, IS_ERR(conn));
	client_take(client, conn);
	fake_mark(client->qp);
}

/* The same, with buffers for all calls */
void client_connect(struct client *client)
{
	client_connect_small(client);
	KUNIT_ASSERT_EQ(client->test, 0, client_make_all(client->conn));
	client->xprt->cwnd = RPC_CWNDSCALE;
	KUNIT_ASSERT_EQ(client->test, 0, xprtrdma_mrs_create(client->conn, 28));
	fake_mark(client->qp);
}

/* As if the server had granted that many. */
void client_open_window(struct client *client, u32 credits)
{
	client->conn->xc_window.granted = credits;
	client->xprt->cwnd = (unsigned long)credits << RPC_CWNDSHIFT;
}

/* For suites that need several calls at a time. */
int client_open_init(struct kunit *test)
{
	struct client *client = client_create(test);

	client_connect(client);
	client_open_window(client, 16);
	return 0;
}

unsigned int client_free_mrs(struct client *client)
{
	return list_count_nodes(&client->conn->xc_mr.free);
}

/* One that is for the next call, or any */
struct xprtrdma_send *client_take_send(struct client *client)
{
	struct xprtrdma_send *send = client->conn->xc_send.next;

	client->conn->xc_send.next = NULL;
	return send ?: xprtrdma_send_get(client->conn);
}

/* The device has all Send buffers. */
void client_post_all_sends(struct client *client)
{
	struct xprtrdma_send *send;

	while ((send = client_take_send(client)))
		KUNIT_ASSERT_EQ(client->test, 0,
				xprtrdma_send_post(send, RPCRDMA_MIN_HEADER_SIZE));
	fake_mark(client->qp);
}

/* Nothing is lent out, nothing is exposed, no buffer is lost. */
void client_expect_at_rest(struct client *client)
{
	KUNIT_EXPECT_EQ(client->test, 0, client->conn->xc_watch.hca.waiting);
	client_expect_idle(client, fake_recvs(client->qp));
	KUNIT_EXPECT_EQ(client->test, 0, fake_valid_rkeys(client->fake));
}

/* SUNRPC has been asked to close. */
void client_expect_failed(struct client *client)
{
	KUNIT_EXPECT_EQ(client->test, RPCRDMA_CONN_BROKEN, client->conn->xc_state);
	KUNIT_EXPECT_TRUE(client->test, test_bit(XPRT_CLOSE_WAIT, &client->xprt->state));
}

MODULE_DESCRIPTION("KUnit: RPC-over-RDMA client");
MODULE_LICENSE("GPL");
