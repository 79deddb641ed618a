// SPDX-License-Identifier: GPL-2.0-only
/* A connection and a service, for the server's suites. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "server.h"

int server_suite_init(struct kunit_suite *suite)
{
	int ret = rpcrdma_buffers_start("rpcrdma_kunit");

	if (ret)
		return ret;
	ret = server_module_init();
	if (ret)
		rpcrdma_buffers_stop();
	return ret;
}

void server_suite_exit(struct kunit_suite *suite)
{
	server_module_exit();
	rpcrdma_buffers_stop();
}

static void restore_total(void *total)
{
	svcrdma_max_credits_total = (long)total;
}

/* After the test max_credits_total is what it is now. */
void server_keep_total(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, restore_total,
							   (void *)(long)svcrdma_max_credits_total));
}

static void server_destroy_action(void *data)
{
	struct server *server = data;

	server_disconnect(server);
	fake_queues_check();
	fake_thread_free(server->rqst);
	fake_nfsd_exit(&server->pool);
}

/* A service, and no connection. */
struct server *server_create(struct kunit *test)
{
	struct fake_device *fake = fake_device_create(test);
	struct server *server = kunit_kzalloc(test, sizeof(*server), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, server);
	server->test = test;
	server->fake = fake;
	server->qp = &fake->qp;
	server->read_depth = 16;
	server->pull_depth = 16;
	server->asks = 32;
	server->client = (struct rpcrdma_cm_private) {
		.send_size = SERVER_MESSAGE, .recv_size = SERVER_MESSAGE,
		.remote_invalidation = true, .present = true,
	};
	fake_queues_reset(fake);
	KUNIT_ASSERT_EQ(test, 0, fake_nfsd_init(&server->serv, &server->pool, SERVER_PAYLOAD));
	server->rqst = fake_thread_create(&server->serv);
	KUNIT_ASSERT_NOT_NULL(test, server->rqst);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, server_destroy_action,
							   server));
	test->priv = server;
	return server;
}

/* As the CM handler of the listener. */
void server_request(struct server *server)
{
	u8 private[RPCRDMA_CM_MAX_SIZE];
	u8 length = rpcrdma_cm_private_encode(&server->client, private);
	struct rdma_conn_param param = {
		.private_data = private,
		.private_data_len = server->client.present ? length : 0,
		.initiator_depth = server->read_depth,
		.responder_resources = server->pull_depth,
	};
	struct svcrdma_transport *t;

	server->id = fake_cm_request(&server->fake->ib);
	KUNIT_ASSERT_NOT_NULL(server->test, server->id);
	t = svcrdma_transport_create(&server->serv, &init_net, server->id, &param);
	KUNIT_ASSERT_FALSE(server->test, IS_ERR(t));
	server->transport = t;
}

/* As the listener and accept, with the first grant of a connection */
void server_connect_small(struct server *server)
{
	server_request(server);
	KUNIT_ASSERT_EQ(server->test, 0, svcrdma_transport_accept(server->transport));
	svc_xprt_received(&server->transport->st_xprt);
	/* ESTABLISHED wakes a thread, in case something came before it. */
	if (server_is_ready(server))
		KUNIT_ASSERT_EQ(server->test, 0, server_recvfrom(server));
	fake_mark(server->qp);
}

/* The same, with all credits */
void server_connect(struct server *server)
{
	struct svcrdma_transport *t;

	server_connect_small(server);
	t = server->transport;
	if (t->st_grant < t->st_credits)
		KUNIT_ASSERT_EQ(server->test, 0, svcrdma_grant_grow(t, t->st_credits, GFP_KERNEL));
}

/* Is the transport in the queue of those that want a thread? */
bool server_is_ready(struct server *server)
{
	return fake_nfsd_ready(&server->pool);
}

/* As svc_delete_xprt() and the last put. */
void server_disconnect(struct server *server)
{
	struct svcrdma_transport *t = server->transport;

	if (!t)
		return;
	server->transport = NULL;
	server_is_ready(server);
	set_bit(XPT_BUSY, &t->st_xprt.xpt_flags);
	svcrdma_transport_discard(t);
	if (server_is_ready(server))
		kunit_fail_current_test("a transport is queued that is being freed");
}

static struct page *new_page(void *data)
{
	return alloc_page(GFP_KERNEL);
}

/* As svc_recv(): once. */
int server_recvfrom(struct server *server)
{
	struct svc_rqst *rqst = server->rqst;

	KUNIT_ASSERT_TRUE(server->test,
			  fake_thread_begin(rqst, &server->serv, &server->transport->st_xprt,
					    new_page, NULL));
	return svcrdma_recvfrom(rqst);
}

/* As nfsd: until there is a call, or nothing to do. Reads are done meanwhile. */
int server_receive_all(struct server *server)
{
	struct svc_xprt *xprt = &server->transport->st_xprt;
	int ret;

	do {
		ret = server_recvfrom(server);
		if (ret > 0)
			return ret;
		fake_run_all(server->qp);
	} while (test_bit(XPT_DATA, &xprt->xpt_flags) &&
		 !READ_ONCE(server->transport->st_closing));
	return 0;
}

/* nfsd has answered the call, or given it up. */
void server_done(struct server *server)
{
	void *ctxt = server->rqst->rq_xprt_ctxt;

	server->rqst->rq_xprt_ctxt = NULL;
	svcrdma_release_ctxt(&server->transport->st_xprt, ctxt);
}

/* Everything posted is done, and what waited for it as well. */
void server_settle(struct server *server)
{
	fake_run_all(server->qp);
}

unsigned int server_spare(struct server *server)
{
	return server_count(&server->transport->st_recv.spare);
}

/* No buffer and no queue entry is lost. */
void server_expect_at_rest(struct server *server)
{
	server_settle(server);
	server_expect_idle(server->test, server->transport, fake_recvs(server->qp));
}

u8 server_peer_memory[256];

/* A call of 64 bytes with XID 1, or the same with a Read chunk or a Write chunk. */
void server_deliver(struct server *server, enum server_call kind)
{
	struct rpcrdma_header header = { .xid = 1, .vers = 1, .credits = server->asks };
	struct rpcrdma_segment segments[1];
	struct rpcrdma_chunk chunks[1];
	struct rpcrdma_chunk_lists lists;
	u8 message[256] = {};

	rpcrdma_lists_init(&lists, segments, 1, chunks, 1);
	if (kind == CALL_READ)
		rpcrdma_lists_begin_read(&lists, 64);
	else if (kind == CALL_WRITE)
		rpcrdma_lists_begin_write(&lists);
	if (kind != CALL_PLAIN) {
		rpcrdma_lists_add_segment(&lists, (struct rpcrdma_segment) {
			.handle = 0x77, .length = sizeof(server_peer_memory),
		});
		fake_remote_add(server->fake, 0x77, 0, server_peer_memory,
				sizeof(server_peer_memory));
	}
	KUNIT_ASSERT_EQ(server->test, RPCRDMA_OK,
			rpcrdma_header_encode(&header, &lists, message, sizeof(message)));
	put_unaligned_be32(1, message + header.size);
	KUNIT_ASSERT_TRUE(server->test, fake_deliver(server->qp, message,
						     header.size + 64));
}

/* What the server has sent last. */
void server_decode_reply(struct server *server, struct rpcrdma_header *header,
			 struct rpcrdma_chunk_lists *lists)
{
	struct fake_wr *wr = fake_last_wr(server->qp);

	KUNIT_ASSERT_GT(server->test, fake_posted(server->qp), 0);
	if (wr->opcode != IB_WR_SEND_WITH_INV)
		KUNIT_ASSERT_EQ(server->test, IB_WR_SEND, wr->opcode);
	KUNIT_ASSERT_EQ(server->test, RPCRDMA_OK,
			rpcrdma_header_decode(fake_message(wr), wr->sge[0].length, header,
					      lists, false));
}

void server_expect_error(struct server *server, u32 xid, enum rpcrdma_errcode error)
{
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_header header;

	rpcrdma_lists_init(&lists, NULL, 0, NULL, 0);
	server_decode_reply(server, &header, &lists);
	KUNIT_EXPECT_EQ(server->test, RPCRDMA_ERROR, header.proc);
	KUNIT_EXPECT_EQ(server->test, (u32)error, header.error);
	KUNIT_EXPECT_EQ(server->test, xid, header.xid);
}

MODULE_DESCRIPTION("KUnit: RPC-over-RDMA server");
MODULE_LICENSE("GPL");
