// SPDX-License-Identifier: GPL-2.0-only
/* The beginning and the end of a connection of the server. */
#include "server.h"

static int conn_init(struct kunit *test)
{
	server_create(test);
	return 0;
}

static void conn_is_accepted(struct kunit *test)
{
	struct server *server = server_of(test);
	struct rpcrdma_cm_private sent;
	struct svcrdma_transport *t;

	server->client.recv_size = 8192;
	server->client.send_size = 2048;
	server_connect_small(server);
	t = server->transport;

	/* RFC 8166 section 3.3.1: Receives before credits */
	KUNIT_EXPECT_EQ(test, t->st_recv.target, fake_queues.recvs_at_start);
	KUNIT_EXPECT_GE(test, t->st_recv.target, t->st_grant + SVCRDMA_REVERSE_CREDITS);
	rpcrdma_cm_private_decode(fake_cm.said.private, fake_cm.said.length, &sent);
	KUNIT_EXPECT_TRUE(test, sent.present && sent.remote_invalidation);
	KUNIT_EXPECT_EQ(test, SERVER_MESSAGE, sent.recv_size);
	KUNIT_EXPECT_EQ(test, SERVER_MESSAGE, t->st_agreed.inline_send);
	KUNIT_EXPECT_EQ(test, 2048, t->st_agreed.inline_recv);
	server_expect_at_rest(server);
}

/* RFC 8797 section 5.1 */
static void conn_without_private_data(struct kunit *test)
{
	struct rdma_conn_param param = { .initiator_depth = 16 };
	struct server *server = server_of(test);
	struct svcrdma_transport *t;

	server->id = fake_cm_request(&server->fake->ib);
	KUNIT_ASSERT_NOT_NULL(test, server->id);
	t = svcrdma_transport_create(&server->serv, &init_net, server->id, &param);
	KUNIT_ASSERT_FALSE(test, IS_ERR(t));
	server->transport = t;
	KUNIT_ASSERT_EQ(test, 0, svcrdma_transport_accept(t));
	KUNIT_EXPECT_EQ(test, 1024, t->st_agreed.inline_send);
	KUNIT_EXPECT_EQ(test, 1024, t->st_agreed.inline_recv);
	KUNIT_EXPECT_FALSE(test, t->st_agreed.remote_invalidation);
	/* A client that says nothing may send what it likes nevertheless. */
	KUNIT_EXPECT_EQ(test, SERVER_MESSAGE, t->st_recv_size);
}

/* RFC 5042 section 6.1.1 */
static void conn_has_a_protection_domain_of_its_own(struct kunit *test)
{
	struct server *server = server_of(test);
	int i;

	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, 0, fake_queues.pds);
		server_connect(server);
		KUNIT_EXPECT_EQ(test, 1, fake_queues.pds);
		server_disconnect(server);
	}
	KUNIT_EXPECT_EQ(test, 0, fake_queues.pds);
}

/* What comes before ESTABLISHED is not lost, and not seen too early. */
static void conn_call_before_established(struct kunit *test)
{
	struct server *server = server_of(test);

	fake_cm.plan[FAKE_CM_ACCEPT].hold = true;
	server_connect(server);
	server_deliver(server, CALL_PLAIN);
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));
	fake_cm_event(server->id, RDMA_CM_EVENT_ESTABLISHED);
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));
	KUNIT_EXPECT_EQ(test, 64, server_recvfrom(server));
	server_done(server);
}

static void tell_queue_pair(enum ib_event_type type)
{
	struct ib_event event = { .event = type };

	fake_queues.qp_attr.event_handler(&event, fake_queues.qp_attr.qp_context);
}

/* Its last word is lost. The call that follows it says the same, and the device tells of that. */
static void conn_established_by_the_first_call(struct kunit *test)
{
	struct server *server = server_of(test);

	fake_cm.plan[FAKE_CM_ACCEPT].hold = true;
	server_connect(server);
	server_deliver(server, CALL_PLAIN);
	tell_queue_pair(IB_EVENT_SQ_DRAINED);
	KUNIT_EXPECT_FALSE(test, server_is_ready(server));
	tell_queue_pair(IB_EVENT_COMM_EST);
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));
	KUNIT_EXPECT_EQ(test, 64, server_recvfrom(server));
	server_done(server);
	tell_queue_pair(IB_EVENT_COMM_EST);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(server->transport->st_closing));
	server_expect_at_rest(server);
}

static void conn_loss_asks_for_a_close(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svc_xprt *xprt;

	server_connect(server);
	xprt = &server->transport->st_xprt;
	fake_cm_event(server->id, RDMA_CM_EVENT_DISCONNECTED);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_CLOSE, &xprt->xpt_flags));
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));
}

/* nfsd comes for it when the client has gone. */
static void conn_ends_before_it_is_accepted(struct kunit *test)
{
	struct server *server = server_of(test);

	server_request(server);
	fake_cm_event(server->id, RDMA_CM_EVENT_DISCONNECTED);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, svcrdma_transport_accept(server->transport));
	KUNIT_EXPECT_EQ(test, 0, fake_queues.pds);
}

static void conn_accept_fails(struct kunit *test)
{
	struct server *server = server_of(test);

	fake_cm.plan[FAKE_CM_ACCEPT].error = -ENOMEM;
	server_request(server);
	KUNIT_EXPECT_EQ(test, -ENOMEM, svcrdma_transport_accept(server->transport));
}

static void conn_device_takes_no_receives(struct kunit *test)
{
	struct server *server = server_of(test);

	server->qp->recv_accept = 5;
	server_request(server);
	KUNIT_EXPECT_NE(test, 0, svcrdma_transport_accept(server->transport));
	KUNIT_EXPECT_EQ(test, 0, fake_cm.accepts);
}

static void conn_ends_with_everything_outstanding(struct kunit *test)
{
	struct server *server = server_of(test);

	server_connect(server);
	server_deliver(server, CALL_READ);
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_EQ(test, 1, fake_pending(server->qp));
	server_deliver(server, CALL_PLAIN);
	server_deliver(server, CALL_READ);
	server_disconnect(server);
	KUNIT_EXPECT_GT(test, fake_cm.disconnects, 0);
}

static struct kunit_case conn_cases[] = {
	KUNIT_CASE(conn_is_accepted),
	KUNIT_CASE(conn_without_private_data),
	KUNIT_CASE(conn_has_a_protection_domain_of_its_own),
	KUNIT_CASE(conn_call_before_established),
	KUNIT_CASE(conn_established_by_the_first_call),
	KUNIT_CASE(conn_loss_asks_for_a_close),
	KUNIT_CASE(conn_ends_before_it_is_accepted),
	KUNIT_CASE(conn_accept_fails),
	KUNIT_CASE(conn_device_takes_no_receives),
	KUNIT_CASE(conn_ends_with_everything_outstanding),
	{}
};

static struct kunit_suite conn_suite = {
	.name = "svcrdma_conn",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = conn_init,
	.test_cases = conn_cases,
};

kunit_test_suite(conn_suite);
