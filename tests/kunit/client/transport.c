// SPDX-License-Identifier: GPL-2.0-only
/* A transport that no mount has, for the client's suites and for the pair. */
#include "client.h"

/* rpc_reply_expected() wants one. */
static int decode(struct rpc_rqst *rqst, struct xdr_stream *xdr, void *result)
{
	return 0;
}

/**
 * client_init - an address without a connection
 * @client: all zeros
 * @test: the test
 * @xid: of its first call
 */
void client_init(struct client *client, struct kunit *test, u32 xid)
{
	struct rpc_xprt *xprt;

	client->test = test;
	client->cred.cr_auth = &client->auth;
	client->proc.p_decode = decode;
	client->next_xid = xid;
	INIT_LIST_HEAD(&client->calls);
	xprt = xprt_alloc(&init_net, sizeof(struct xprtrdma_transport), 32, 32);
	KUNIT_ASSERT_NOT_NULL(test, xprt);
	client->xprt = xprt;
	client->transport = xprtrdma_transport_of(xprt);
	xprt->addr.ss_family = AF_INET;
	xprt->address_strings[RPC_DISPLAY_ADDR] = "192.0.2.1";
	xprt->address_strings[RPC_DISPLAY_PORT] = "20049";
	xprt->servername = "server";
	/* Held for the whole test, so a failed connection only asks for its close. */
	set_bit(XPRT_LOCKED, &xprt->state);
	KUNIT_ASSERT_EQ(test, 0, xprtrdma_requests_init(client->transport));
}

/* client_exit - the end of it, if it has begun; the connection is gone */
void client_exit(struct client *client)
{
	struct client_call *call, *next;

	if (!client->xprt)
		return;
	list_for_each_entry_safe(call, next, &client->calls, list)
		client_call_destroy(call);
	xprtrdma_bc_stop(client->transport);
	if (client->transport->xt_bc_count)
		kunit_fail_current_test("reverse-direction rpc_rqsts were left");
	xprtrdma_requests_exit(client->transport);
	xprt_free(client->xprt);
}

/* client_begin - as SUNRPC's close: from here on, what asks for one means the next connection */
void client_begin(struct client *client)
{
	clear_bit(XPRT_CLOSE_WAIT, &client->xprt->state);
}

/**
 * client_take - a connection is there; it may have failed by now
 * @client: without one
 * @conn: now its own
 */
void client_take(struct client *client, struct xprtrdma_conn *conn)
{
	struct rpc_xprt *xprt = client->xprt;

	client->conn = conn;
	spin_lock(&xprt->transport_lock);
	client->transport->xt_conn = conn;
	spin_unlock(&xprt->transport_lock);
	xprt->cwnd = RPC_CWNDSCALE;
	xprt->connect_cookie++;
	xprt_set_connected(xprt);
}

/* client_disconnect - as ->close */
void client_disconnect(struct client *client)
{
	struct xprtrdma_conn *conn = client->conn;

	if (!conn)
		return;
	client->conn = NULL;
	spin_lock(&client->xprt->transport_lock);
	client->transport->xt_conn = NULL;
	spin_unlock(&client->xprt->transport_lock);
	xprtrdma_conn_destroy(conn);
	client->xprt->connect_cookie++;
	xprt_clear_connected(client->xprt);
}

unsigned int client_free_sends(struct client *client)
{
	const struct xprtrdma_send *send = client->conn->xc_send.free;
	unsigned int count = !!client->conn->xc_send.next;

	for (; send; send = send->sd_next)
		count++;
	return count;
}

unsigned int client_posted_sends(struct client *client)
{
	const struct xprtrdma_send *send = client->conn->xc_send.posted;
	unsigned int count = 0;

	for (; send; send = send->sd_next)
		count++;
	return count;
}

/* Receive buffers that wait to be posted again. */
unsigned int client_idle_receives(struct client *client)
{
	const struct ib_recv_wr *wr = client->conn->xc_recv.idle;
	unsigned int count = 0;

	for (; wr; wr = wr->next)
		count++;
	return count;
}

/**
 * client_expect_idle - nothing is lent out, no buffer is lost
 * @client: with a connection
 * @posted: Receives in the Receive Queue
 */
void client_expect_idle(struct client *client, unsigned int posted)
{
	unsigned int idle = client_idle_receives(client);
	struct xprtrdma_conn *conn = client->conn;
	struct kunit *test = client->test;

	KUNIT_EXPECT_EQ(test, conn->xc_mr.count, list_count_nodes(&conn->xc_mr.free));
	KUNIT_EXPECT_EQ(test, conn->xc_recv.count, idle + posted);
	KUNIT_EXPECT_EQ(test, conn->xc_recv.nr_idle, idle);
	KUNIT_EXPECT_TRUE(test, xprtrdma_conn_established(conn));
}
