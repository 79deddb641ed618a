// SPDX-License-Identifier: GPL-2.0-only
/* A connection from its first step to its last, and every step that can fail. */
#include <rdma/ib_cm.h>

#include "client.h"

static int conn_init(struct kunit *test)
{
	client_create(test);
	return 0;
}

static void conn_is_established(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpcrdma_cm_private sent;

	/* Act */
	client_private(2048, 8192, true);
	client_connect(client);

	/* Assert: RFC 8797 section 5.1 */
	rpcrdma_cm_private_decode(fake_cm.said.private, fake_cm.said.length, &sent);
	KUNIT_EXPECT_TRUE(test, sent.present && sent.remote_invalidation);
	KUNIT_EXPECT_EQ(test, RPCRDMA_INLINE_USUAL, sent.send_size);
	KUNIT_EXPECT_EQ(test, RPCRDMA_INLINE_USUAL, sent.recv_size);
	KUNIT_EXPECT_EQ(test, RPCRDMA_INLINE_USUAL, client->conn->xc_inline.inline_send);
	KUNIT_EXPECT_EQ(test, 2048, client->conn->xc_inline.inline_recv);
	KUNIT_EXPECT_TRUE(test, client->conn->xc_inline.remote_invalidation);
	KUNIT_EXPECT_GT(test, client->conn->xc_mr.count, 0);
	client_expect_at_rest(client);
	client_disconnect(client);
	KUNIT_EXPECT_EQ(test, 1, fake_cm.disconnects);
	KUNIT_EXPECT_EQ(test, 0, client->fake->nr_mrs);
}

/* Nothing that has to be read from the server is asked for. */
static void conn_on_a_device_that_reads_nothing(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rpcrdma_cm_private sent;

	client->fake->ib.attrs.max_qp_init_rd_atom = 0;
	client_connect(client);
	rpcrdma_cm_private_decode(fake_cm.said.private, fake_cm.said.length, &sent);
	KUNIT_EXPECT_TRUE(test, sent.present && !sent.extensions);
	KUNIT_EXPECT_EQ(test, 0, client->conn->xc_read_depth);
	client_expect_at_rest(client);
}

struct private_case {
	const char	*desc;
	u8		bytes[16];
	u8		length;
	u32		inline_send, inline_recv;
	bool		remote_invalidation;
};

/* RFC 8797 section 4; sizes in units of 1024 bytes, less one */
static const struct private_case private_cases[] = {
	{ "none", {}, 0, 1024, 1024, false },
	{ "4096 and R", { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3 }, 8, 4096, 4096, true },
	{ "4096 without R", { 0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3 }, 8, 4096, 4096, false },
	{ "a larger server", { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 255, 255 }, 8,
	  RPCRDMA_INLINE_USUAL, RPCRDMA_INLINE_USUAL, true },
	{ "a smaller server", { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 1, 0 }, 8, 1024, 2048, true },
	{ "behind something else", { 9, 9, 9, 0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3 }, 11,
	  4096, 4096, true },
	{ "another version", { 0xf6, 0xab, 0x0e, 0x18, 2, 1, 3, 3 }, 8, 1024, 1024, false },
	{ "a byte too short", { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3 }, 7, 1024, 1024, false },
	{ "another format", { 0xf6, 0xab, 0x0e, 0x19, 1, 1, 3, 3 }, 8, 1024, 1024, false },
};

KUNIT_ARRAY_PARAM_DESC(private, private_cases, desc);

static void conn_reads_the_private_data(struct kunit *test)
{
	const struct private_case *c = test->param_value;
	struct client *client = client_of(test);

	memcpy(fake_cm.heard.private, c->bytes, sizeof(c->bytes));
	fake_cm.heard.length = c->length;
	client_connect(client);
	KUNIT_EXPECT_EQ(test, c->inline_send, client->conn->xc_inline.inline_send);
	KUNIT_EXPECT_EQ(test, c->inline_recv, client->conn->xc_inline.inline_recv);
	KUNIT_EXPECT_EQ(test, c->remote_invalidation,
			client->conn->xc_inline.remote_invalidation);
}

/* RFC 8797 section 4: nothing is kept of the connection before. */
static void conn_settings_change_on_reconnect(struct kunit *test)
{
	struct client *client = client_of(test);

	client_private(2048, 1024, true);
	client_connect(client);
	KUNIT_EXPECT_EQ(test, 1024, client->conn->xc_inline.inline_send);
	KUNIT_EXPECT_EQ(test, 2048, client->conn->xc_inline.inline_recv);
	KUNIT_EXPECT_TRUE(test, client->conn->xc_inline.remote_invalidation);
	client_disconnect(client);

	client_private(4096, 3072, false);
	client_connect(client);
	KUNIT_EXPECT_EQ(test, 3072, client->conn->xc_inline.inline_send);
	KUNIT_EXPECT_EQ(test, 4096, client->conn->xc_inline.inline_recv);
	KUNIT_EXPECT_FALSE(test, client->conn->xc_inline.remote_invalidation);
	client_disconnect(client);

	fake_cm.heard.length = 0;
	client_connect(client);
	KUNIT_EXPECT_EQ(test, 1024, client->conn->xc_inline.inline_send);
	KUNIT_EXPECT_EQ(test, 1024, client->conn->xc_inline.inline_recv);
}

/* RFC 5042 section 6.1.1 */
static void conn_has_a_protection_domain_of_its_own(struct kunit *test)
{
	struct client *client = client_of(test);
	int i;

	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, 0, fake_queues.pds);
		client_connect(client);
		KUNIT_EXPECT_EQ(test, 1, fake_queues.pds);
		client_disconnect(client);
	}
	KUNIT_EXPECT_EQ(test, 0, fake_queues.pds);
}

struct failure_case {
	const char		*desc;
	enum fake_cm_call	call;
	struct fake_cm_plan	plan;
	int			rc;
};

static const struct failure_case failure_cases[] = {
	{ "no route to the address", FAKE_CM_ADDR, { -EHOSTUNREACH }, -EHOSTUNREACH },
	{ "address error", FAKE_CM_ADDR, { 0, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT },
	  -EHOSTUNREACH },
	{ "route refused", FAKE_CM_ROUTE, { -EINVAL }, -EINVAL },
	{ "route error", FAKE_CM_ROUTE, { 0, RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT },
	  -ENETUNREACH },
	{ "device removed", FAKE_CM_ROUTE, { 0, RDMA_CM_EVENT_DEVICE_REMOVAL }, -ENOTCONN },
	{ "connect refused", FAKE_CM_CONNECT, { -ENOMEM }, -ENOMEM },
	{ "rejected", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_REJECTED,
	  IB_CM_REJ_CONSUMER_DEFINED }, -ECONNREFUSED },
	{ "no service", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_REJECTED,
	  IB_CM_REJ_INVALID_SERVICE_ID }, -ECONNREFUSED },
	{ "stale queue pair", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_REJECTED,
	  IB_CM_REJ_STALE_CONN }, -EAGAIN },
	{ "unreachable", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT },
	  -ENETUNREACH },
	{ "connect error", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_CONNECT_ERROR }, -ENOTCONN },
	{ "disconnected", FAKE_CM_CONNECT, { 0, RDMA_CM_EVENT_DISCONNECTED }, -ENOTCONN },
};

KUNIT_ARRAY_PARAM_DESC(failure, failure_cases, desc);

static void expect_no_connection(struct client *client, int rc)
{
	struct xprtrdma_conn *conn = xprtrdma_conn_create(client->transport);
	struct kunit *test = client->test;

	KUNIT_ASSERT_TRUE(test, IS_ERR(conn));
	KUNIT_EXPECT_EQ(test, rc, PTR_ERR(conn));
	KUNIT_EXPECT_EQ(test, 0, fake_objects());
	KUNIT_EXPECT_EQ(test, 0, client->fake->nr_mrs);
	/* Nobody has a connection to close. */
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_CLOSE_WAIT, &client->xprt->state));
}

static void conn_step_fails(struct kunit *test)
{
	const struct failure_case *c = test->param_value;
	struct client *client = client_of(test);

	fake_cm.plan[c->call] = c->plan;
	expect_no_connection(client, c->rc);

	/* The next one succeeds. */
	fake_cm.plan[c->call] = (struct fake_cm_plan) {};
	client_connect(client);
	client_expect_at_rest(client);
}

static void conn_device_has_no_regions(struct kunit *test)
{
	struct client *client = client_of(test);

	client->fake->mr_accept = 0;
	expect_no_connection(client, -ENOMEM);
}

static void conn_device_has_few_regions(struct kunit *test)
{
	struct client *client = client_of(test);

	client->fake->mr_accept = 3;
	client_connect(client);
	KUNIT_EXPECT_EQ(test, 3, client->conn->xc_mr.count);
	client_expect_at_rest(client);
}

/* What a device says of its queues is an upper bound. */
static void conn_device_refuses_deep_queues(struct kunit *test)
{
	struct client *client = client_of(test);

	fake_queues.max_send_wr = 300;
	client_connect(client);
	KUNIT_EXPECT_LE(test, fake_queues.qp_attr.cap.max_send_wr, 300);
	KUNIT_EXPECT_LT(test, client->conn->xc_queues.credits, 32);
	KUNIT_EXPECT_GT(test, client->conn->xc_queues.credits, 0);
	client_expect_at_rest(client);
	client_disconnect(client);
	fake_queues.max_send_wr = 1;
	expect_no_connection(client, -EINVAL);
}

static void conn_device_takes_no_receives(struct kunit *test)
{
	struct client *client = client_of(test);

	client->qp->recv_accept = 5;
	expect_no_connection(client, -ENOMEM);
}

static void conn_device_cannot_register(struct kunit *test)
{
	struct client *client = client_of(test);

	client->fake->ib.attrs.device_cap_flags = 0;
	expect_no_connection(client, -ENODEV);
}

static void conn_device_is_too_small(struct kunit *test)
{
	struct client *client = client_of(test);

	client->fake->ib.attrs.max_qp_wr = 8;
	expect_no_connection(client, -ENOMEM);
}

/* Fewer calls at a time instead. */
static void conn_device_is_small(struct kunit *test)
{
	struct client *client = client_of(test);

	client->fake->ib.attrs.max_qp_wr = 300;
	client_connect(client);
	KUNIT_EXPECT_LT(test, client->conn->xc_queues.credits, 32);
	KUNIT_EXPECT_GT(test, client->conn->xc_queues.credits, 0);
	KUNIT_EXPECT_LE(test, fake_queues.qp_attr.cap.max_send_wr, 300);
	KUNIT_EXPECT_LE(test, fake_queues.qp_attr.cap.max_recv_wr, 300);
	client_expect_at_rest(client);
}

struct loss_case {
	const char		*desc;
	enum rdma_cm_event_type	event;
};

static const struct loss_case loss_cases[] = {
	{ "disconnected", RDMA_CM_EVENT_DISCONNECTED },
	{ "address changed", RDMA_CM_EVENT_ADDR_CHANGE },
	{ "device removed", RDMA_CM_EVENT_DEVICE_REMOVAL },
};

KUNIT_ARRAY_PARAM_DESC(loss, loss_cases, desc);

static void conn_loss_asks_for_a_close(struct kunit *test)
{
	const struct loss_case *c = test->param_value;
	struct client *client = client_of(test);
	struct rdma_cm_event event = { .event = c->event };
	struct rdma_cm_id *id;

	client_connect(client);
	id = client->conn->xc_id;
	KUNIT_EXPECT_EQ(test, 0, id->event_handler(id, &event));
	client_expect_failed(client);
}

static void conn_timewait_is_no_loss(struct kunit *test)
{
	struct client *client = client_of(test);
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_TIMEWAIT_EXIT };
	struct rdma_cm_id *id;

	client_connect(client);
	id = client->conn->xc_id;
	KUNIT_EXPECT_EQ(test, 0, id->event_handler(id, &event));
	client_expect_at_rest(client);
}

/* A second event cannot close the next connection. */
static void conn_asks_for_one_close(struct kunit *test)
{
	struct client *client = client_of(test);

	client_connect(client);
	xprtrdma_conn_fail(client->conn, RPCRDMA_END_OTHER);
	client_expect_failed(client);
	clear_bit(XPRT_CLOSE_WAIT, &client->xprt->state);
	xprtrdma_conn_fail(client->conn, RPCRDMA_END_OTHER);
	fake_flush(client->qp);
	KUNIT_EXPECT_FALSE(test, test_bit(XPRT_CLOSE_WAIT, &client->xprt->state));
}

static struct kunit_case conn_cases[] = {
	KUNIT_CASE(conn_is_established),
	KUNIT_CASE(conn_on_a_device_that_reads_nothing),
	KUNIT_CASE_PARAM(conn_reads_the_private_data, private_gen_params),
	KUNIT_CASE(conn_settings_change_on_reconnect),
	KUNIT_CASE(conn_has_a_protection_domain_of_its_own),
	KUNIT_CASE_PARAM(conn_step_fails, failure_gen_params),
	KUNIT_CASE(conn_device_has_no_regions),
	KUNIT_CASE(conn_device_has_few_regions),
	KUNIT_CASE(conn_device_refuses_deep_queues),
	KUNIT_CASE(conn_device_takes_no_receives),
	KUNIT_CASE(conn_device_cannot_register),
	KUNIT_CASE(conn_device_is_too_small),
	KUNIT_CASE(conn_device_is_small),
	KUNIT_CASE_PARAM(conn_loss_asks_for_a_close, loss_gen_params),
	KUNIT_CASE(conn_timewait_is_no_loss),
	KUNIT_CASE(conn_asks_for_one_close),
	{}
};

static struct kunit_suite conn_suite = {
	.name = "xprtrdma_conn",
	.init = conn_init,
	.test_cases = conn_cases,
};

kunit_test_suite(conn_suite);
