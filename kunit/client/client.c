// SPDX-License-Identifier: GPL-2.0
/* A transport and its connection, for the client's suites. */
#include <linux/module.h>
#include <linux/slab.h>

#include "client.h"

static void client_destroy_action(void *data)
{
	struct client *client = data;
	struct client_call *call, *next;

	/* An RPC that holds regions needs the end of the connection to let go. */
	client_disconnect(client);
	list_for_each_entry_safe(call, next, &client->calls, list)
		client_call_destroy(call);
	fake_queues_check();
	xprtrdma_bc_stop(xprtrdma_transport_of(client->xprt));
	if (client->transport->xt_bc_count)
		kunit_fail_current_test("reverse-direction rpc_rqsts were left");
	mempool_exit(&client->transport->xt_reserve);
	xprt_free(client->xprt);
	destroy_workqueue(xprtrdma_wq);
}

static void transport_create(struct client *client)
{
	struct rpc_xprt *xprt;

	xprt = xprt_alloc(&init_net, sizeof(struct xprtrdma_transport), 32, 32);
	KUNIT_ASSERT_NOT_NULL(client->test, xprt);
	client->xprt = xprt;
	client->transport = xprtrdma_transport_of(xprt);
	KUNIT_ASSERT_EQ(client->test, 0, xprtrdma_requests_init(client->transport));
	xprt->addr.ss_family = AF_INET;
	xprt->address_strings[RPC_DISPLAY_ADDR] = "192.0.2.1";
	xprt->address_strings[RPC_DISPLAY_PORT] = "20049";
	xprt->servername = "server";
	/* Held for the whole test, so a failed connection only asks for its close. */
	set_bit(XPRT_LOCKED, &xprt->state);
}

/* rpc_reply_expected() wants one. */
static int decode(struct rpc_rqst *rqst, struct xdr_stream *xdr, void *result)
{
	return 0;
}

/* An address without a connection. */
struct client *client_create(struct kunit *test)
{
	struct fake_device *fake = fake_device_create(test);
	struct client *client = kunit_kzalloc(test, sizeof(*client), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, client);
	client->test = test;
	client->fake = fake;
	client->qp = &fake->qp;
	client->cred.cr_auth = &client->auth;
	client->proc.p_decode = decode;
	client->next_xid = 0x10000001;
	INIT_LIST_HEAD(&client->calls);
	fake_queues_reset(fake);
	client_private(4096, 4096, true);
	/* As xprtrdma_transport_register(). */
	xprtrdma_wq = alloc_workqueue("xprtrdma_kunit", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	KUNIT_ASSERT_NOT_NULL(test, xprtrdma_wq);
	transport_create(client);
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

/* As the connect worker. */
void client_connect(struct client *client)
{
	struct rpc_xprt *xprt = client->xprt;
	struct xprtrdma_conn *conn;

	conn = xprtrdma_conn_create(client->transport);
	KUNIT_ASSERT_FALSE(client->test, IS_ERR(conn));
	client->conn = conn;
	client->transport->xt_conn = conn;
	xprt->cwnd = RPC_CWNDSCALE;
	xprt->cong = 0;
	xprt->connect_cookie++;
	clear_bit(XPRT_CLOSE_WAIT, &xprt->state);
	xprt_set_connected(xprt);
	fake_mark(client->qp);
}

/* As ->close. */
void client_disconnect(struct client *client)
{
	struct xprtrdma_conn *conn = client->conn;

	if (!conn)
		return;
	client->conn = NULL;
	client->transport->xt_conn = NULL;
	xprtrdma_conn_destroy(conn);
	client->xprt->connect_cookie++;
	xprt_clear_connected(client->xprt);
}

/* As if the server had granted that many. */
void client_open_window(struct client *client, u32 credits)
{
	client->conn->xc_window.granted = credits;
	client->xprt->cwnd = (unsigned long)credits << RPC_CWNDSHIFT;
}

unsigned int client_free_mrs(struct client *client)
{
	return list_count_nodes(&client->conn->xc_mrs_free);
}

unsigned int client_free_sends(struct client *client)
{
	return list_count_nodes(&client->conn->xc_sends_free);
}

/* Receive buffers that wait to be posted again. */
unsigned int client_idle_receives(struct client *client)
{
	return list_count_nodes(&client->conn->xc_receives_free);
}

/* Nothing is lent out, nothing is exposed, no buffer is lost. */
void client_expect_at_rest(struct client *client)
{
	struct xprtrdma_conn *conn = client->conn;
	struct kunit *test = client->test;

	KUNIT_EXPECT_EQ(test, 0, conn->xc_held);
	KUNIT_EXPECT_EQ(test, conn->xc_mr_count, client_free_mrs(client));
	KUNIT_EXPECT_EQ(test, 0, fake_valid_rkeys(client->fake));
	KUNIT_EXPECT_EQ(test, conn->xc_queues.recv_wrs - 1,
			client_idle_receives(client) + fake_recvs(client->qp));
	KUNIT_EXPECT_EQ(test, conn->xc_receives_idle, client_idle_receives(client));
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(conn));
}

/* SUNRPC has been asked to close. */
void client_expect_failed(struct client *client)
{
	KUNIT_EXPECT_EQ(client->test, RPCRDMA_CONN_BROKEN, client->conn->xc_state);
	KUNIT_EXPECT_TRUE(client->test, test_bit(XPRT_CLOSE_WAIT, &client->xprt->state));
}

MODULE_DESCRIPTION("KUnit: RPC-over-RDMA client");
MODULE_LICENSE("GPL");
