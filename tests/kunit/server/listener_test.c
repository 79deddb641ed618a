// SPDX-License-Identifier: GPL-2.0-only
/* Listeners: from a port to a connection that nfsd knows, and each step that can fail. */
#include <linux/sunrpc/addr.h>

#include "listening.h"

struct address_case {
	const char	*desc;
	sa_family_t	family;
	u16		port;
	u16		expected;
	bool		afonly;
};

static const struct address_case address_cases[] = {
	{ "IPv4", AF_INET, 20049, 20049, false },
	{ "IPv6", AF_INET6, 20049, 20049, true },
	{ "any port", AF_INET, 0, FAKE_CM_ANY_PORT, false },
};

KUNIT_ARRAY_PARAM_DESC(address, address_cases, desc);

static void listener_is_there(struct kunit *test)
{
	const struct address_case *c = test->param_value;
	struct svc_xprt *xprt;

	KUNIT_ASSERT_EQ(test, 0, listening_try(c->family, c->port));
	xprt = listening->xprt;
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_LISTENER, &xprt->xpt_flags));
	KUNIT_EXPECT_EQ(test, c->family, xprt->xpt_local.ss_family);
	KUNIT_EXPECT_EQ(test, c->expected, svc_xprt_local_port(xprt));
	KUNIT_EXPECT_TRUE(test, rpc_cmp_addr((struct sockaddr *)&xprt->xpt_local,
					     (struct sockaddr *)&fake_cm.bound));
	KUNIT_EXPECT_EQ(test, c->afonly, fake_cm.afonly);
	KUNIT_EXPECT_EQ(test, SVCRDMA_BACKLOG, fake_cm.backlog);
	KUNIT_EXPECT_PTR_EQ(test, fake_cm.listener, listening->li->li_id);
	KUNIT_EXPECT_EQ(test, 1, fake_cm.ids);
	listening_close();
	KUNIT_EXPECT_EQ(test, 0, fake_cm.ids);
}

struct step_case {
	const char	*desc;
	int		*knob;
	sa_family_t	family;
};

static const struct step_case step_cases[] = {
	{ "no id", &fake_cm.plan[FAKE_CM_CREATE_ID].error, AF_INET },
	{ "one family only", &fake_cm.plan[FAKE_CM_AFONLY].error, AF_INET6 },
	{ "bind", &fake_cm.plan[FAKE_CM_BIND].error, AF_INET },
	{ "listen", &fake_cm.plan[FAKE_CM_LISTEN].error, AF_INET },
};

KUNIT_ARRAY_PARAM_DESC(step, step_cases, desc);

static void listener_step_fails(struct kunit *test)
{
	const struct step_case *c = test->param_value;

	*c->knob = -EADDRINUSE;
	KUNIT_EXPECT_EQ(test, -EADDRINUSE, listening_try(c->family, RPCRDMA_PORT));
	KUNIT_EXPECT_EQ(test, 0, fake_cm.ids);
	*c->knob = 0;
	KUNIT_EXPECT_EQ(test, 0, listening_try(c->family, RPCRDMA_PORT));
}

static void client_comes(void)
{
	if (listening_request(NULL, NULL, 0))
		kunit_fail_current_test("the client is not taken");
}

/* One device listens already, and a client is there, when another refuses. */
static void listener_fails_with_a_client(struct kunit *test)
{
	fake_cm.on_listen = client_comes;
	fake_cm.plan[FAKE_CM_LISTEN].error = -ENOMEM;
	KUNIT_EXPECT_EQ(test, -ENOMEM, listening_try(AF_INET, RPCRDMA_PORT));
	KUNIT_EXPECT_EQ(test, 0, fake_cm.ids);
	KUNIT_EXPECT_EQ(test, 0, fake_queues.pds);
}

static void listener_of_another_family(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -EAFNOSUPPORT, listening_try(AF_IB, RPCRDMA_PORT));
	KUNIT_EXPECT_EQ(test, 0, fake_cm.ids);
}

static void listener_without_memory(struct kunit *test)
{
	fake_alloc_fail(0);
	KUNIT_EXPECT_EQ(test, -ENOMEM, listening_try(AF_INET, RPCRDMA_PORT));
	KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
}

/* ---- requests ---- */

struct private_case {
	const char	*desc;
	u8		bytes[20];
	u8		length;
	bool		present, invalidate;
	u32		send, recv;	/* of the client */
	u32		inline_send, inline_recv;
};

/* RFC 8797 section 4; sizes in units of 1024 bytes, less one. Ours are SERVER_MESSAGE. */
static const struct private_case private_cases[] = {
	{ "none", {}, 0, false, false, 1024, 1024, 1024, 1024 },
	{ "4096 and R", { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3 }, 8,
	  true, true, 4096, 4096, 4096, 4096 },
	{ "without R", { 0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3 }, 8,
	  true, false, 4096, 4096, 4096, 4096 },
	{ "reserved flags and R", { 0xf6, 0xab, 0x0e, 0x18, 1, 0xff, 3, 3 }, 8,
	  true, true, 4096, 4096, 4096, 4096 },
	{ "reserved flags only", { 0xf6, 0xab, 0x0e, 0x18, 1, 0xfe, 3, 3 }, 8,
	  true, false, 4096, 4096, 4096, 4096 },
	{ "largest", { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 255, 255 }, 8,
	  true, true, 262144, 262144, SERVER_MESSAGE, SERVER_MESSAGE },
	{ "smallest", { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 0, 0 }, 8,
	  true, true, 1024, 1024, 1024, 1024 },
	{ "sends more than it receives", { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 2, 1 }, 8,
	  true, true, 3072, 2048, 2048, 3072 },
	{ "version 2", { 0xf6, 0xab, 0x0e, 0x18, 2, 1, 3, 3 }, 8,
	  false, false, 1024, 1024, 1024, 1024 },
	{ "version 0", { 0xf6, 0xab, 0x0e, 0x18, 0, 1, 3, 3 }, 8,
	  false, false, 1024, 1024, 1024, 1024 },
	{ "another format", { 0xf6, 0xab, 0x0e, 0x19, 1, 1, 3, 3 }, 8,
	  false, false, 1024, 1024, 1024, 1024 },
	{ "a chance match first", { 0xf6, 0xab, 0x0e, 0x18, 7, 0, 0, 0,
				    0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3 }, 16,
	  true, true, 4096, 4096, 4096, 4096 },
	{ "two blocks: the first counts", { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3,
					    0xf6, 0xab, 0x0e, 0x18, 1, 0, 0, 0 }, 16,
	  true, true, 4096, 4096, 4096, 4096 },
};

KUNIT_ARRAY_PARAM_DESC(private, private_cases, desc);

static void expect_private(struct kunit *test, const struct private_case *c,
			   const u8 *bytes, u8 length)
{
	struct svcrdma_transport *t;

	KUNIT_ASSERT_EQ(test, 0, listening_request(NULL, bytes, length));
	t = listening_accept(test);
	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_EXPECT_EQ(test, c->present, t->st_peer.present);
	KUNIT_EXPECT_EQ(test, c->send, t->st_peer.send_size);
	KUNIT_EXPECT_EQ(test, c->recv, t->st_peer.recv_size);
	KUNIT_EXPECT_EQ(test, c->inline_send, t->st_agreed.inline_send);
	KUNIT_EXPECT_EQ(test, c->inline_recv, t->st_agreed.inline_recv);
	KUNIT_EXPECT_EQ(test, c->invalidate, t->st_agreed.remote_invalidation);
	/* Receives are as large as we said, whatever the client says. */
	KUNIT_EXPECT_EQ(test, SERVER_MESSAGE, t->st_recv_size);
	listening_disconnect(t);
}

static void request_has_private_data(struct kunit *test)
{
	const struct private_case *c = test->param_value;

	listening_start(test);
	expect_private(test, c, c->bytes, c->length);
}

/* RFC 8797 section 5.2; rdma_cm itself has put something before it, or behind. */
static void request_has_private_data_anywhere(struct kunit *test)
{
	static const struct private_case there = {
		.present = true, .invalidate = true, .send = 3072, .recv = 2048,
		.inline_send = 2048, .inline_recv = 3072,
	}, missing = {
		.send = 1024, .recv = 1024, .inline_send = 1024, .inline_recv = 1024,
	};
	static const u8 block[8] = { 0xf6, 0xab, 0x0e, 0x18, 1, 1, 2, 1 };
	u8 at, bytes[56];

	listening_start(test);
	for (at = 0; at + 8 <= sizeof(bytes); at++) {
		memset(bytes, 0xf6, sizeof(bytes));
		memcpy(bytes + at, block, 8);
		expect_private(test, &there, bytes, sizeof(bytes));
		/* And where nothing follows, or not all of it is there. */
		expect_private(test, &there, bytes, at + 8);
		expect_private(test, &missing, bytes, at + 7);
		expect_private(test, &missing, bytes, at);
	}
}

static void request_waits_for_accept(struct kunit *test)
{
	struct rdma_cm_id *ids[3];
	struct svcrdma_transport *t;
	struct svc_xprt *xprt;
	int i;

	listening_start(test);
	xprt = listening->xprt;
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, 0, listening_request(&ids[i], NULL, 0));
	KUNIT_EXPECT_EQ(test, 3, list_count_nodes(&listening->li->li_pending));
	KUNIT_EXPECT_EQ(test, 0, fake_cm.accepts);

	/* In the order in which they came, while there are any. */
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_TRUE(test, test_bit(XPT_CONN, &xprt->xpt_flags));
		t = listening_accept(test);
		KUNIT_ASSERT_NOT_NULL(test, t);
		KUNIT_EXPECT_PTR_EQ(test, ids[i], t->st_id);
		KUNIT_EXPECT_PTR_EQ(test, (void *)t, ids[i]->context);
		KUNIT_EXPECT_EQ(test, RPCRDMA_CONN_ESTABLISHED, t->st_state);
		KUNIT_EXPECT_EQ(test, i + 1, fake_cm.accepts);
		KUNIT_EXPECT_EQ(test, 16, t->st_read_depth);
		KUNIT_EXPECT_EQ(test, 2 - i, list_count_nodes(&listening->li->li_pending));
		listening_disconnect(t);
	}
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_CONN, &xprt->xpt_flags));
	KUNIT_EXPECT_PTR_EQ(test, NULL, xprt->xpt_ops->xpo_accept(xprt));
	KUNIT_EXPECT_FALSE(test, server_is_ready(listening->server));
}

/* The addresses are the connection's, but for the client's port. */
static void request_comes_from_somewhere(struct kunit *test)
{
	struct svcrdma_transport *t;
	struct sockaddr_in *peer;

	listening_start(test);
	KUNIT_ASSERT_EQ(test, 0, listening_request(NULL, NULL, 0));
	t = listening_accept(test);
	KUNIT_ASSERT_NOT_NULL(test, t);
	peer = (struct sockaddr_in *)&t->st_xprt.xpt_remote;
	KUNIT_EXPECT_EQ(test, htonl(0xc0000202), peer->sin_addr.s_addr);
	KUNIT_EXPECT_EQ(test, 0, peer->sin_port);
	KUNIT_EXPECT_EQ(test, RPCRDMA_PORT, svc_xprt_local_port(&t->st_xprt));
	listening_disconnect(t);
}

/* CM events come before accept, and trace events name the client of each. */
static void request_says_where_it_comes_from(struct kunit *test)
{
	struct svcrdma_transport *t;

	listening_start(test);
	KUNIT_ASSERT_EQ(test, 0, listening_request(NULL, NULL, 0));
	t = list_first_entry(&listening->li->li_pending, struct svcrdma_transport, st_pending);
	KUNIT_EXPECT_STREQ(test, "192.0.2.2:40000", t->st_xprt.xpt_remotebuf);
	t = listening_accept(test);
	KUNIT_ASSERT_NOT_NULL(test, t);
	listening_disconnect(t);
}

/* InfiniBand's own addresses are not for NFS. */
static void request_of_another_family(struct kunit *test)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_CONNECT_REQUEST };
	struct rdma_cm_id *id;

	listening_start(test);
	id = listening_id();
	KUNIT_ASSERT_NOT_NULL(test, id);
	id->route.addr.dst_addr.ss_family = AF_IB;
	KUNIT_EXPECT_EQ(test, -EAFNOSUPPORT, id->event_handler(id, &event));
	KUNIT_EXPECT_PTR_EQ(test, (void *)listening->li, id->context);
	rdma_destroy_id(id);
	KUNIT_EXPECT_FALSE(test, server_is_ready(listening->server));
}

/* A client's message that finds no Receive: the client tries again for half a second. */
static void request_is_told_to_try_again(struct kunit *test)
{
	struct svcrdma_transport *t;

	listening_start(test);
	KUNIT_ASSERT_EQ(test, 0, listening_request(NULL, NULL, 0));
	t = listening_accept(test);
	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_EXPECT_EQ(test, 6, fake_cm.said.rnr_retries);
	KUNIT_EXPECT_EQ(test, (u8)IB_RNR_TIMER_081_92, fake_cm.said.rnr_timer);
	listening_disconnect(t);
}

/* Before it is accepted. Other devices keep the timeout of the CM. */
static void request_over_rxe_has_a_timeout(struct kunit *test)
{
	struct svcrdma_transport *t;

	listening_start(test);
	KUNIT_ASSERT_EQ(test, 0, listening_request(NULL, NULL, 0));
	t = listening_accept(test);
	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_EXPECT_EQ(test, 0, fake_cm.said.ack_timeout);
	listening_disconnect(t);

	listening->server->fake->ib.ops.driver_id = RDMA_DRIVER_RXE;
	KUNIT_ASSERT_EQ(test, 0, listening_request(NULL, NULL, 0));
	t = listening_accept(test);
	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_EXPECT_EQ(test, 16, fake_cm.said.ack_timeout);
	listening_disconnect(t);
}

/* As many as are taken from one client. */
static unsigned int requests_of(struct kunit *test, u8 client)
{
	unsigned int taken = 0;
	int ret;

	fake_cm.client = htonl(0xc0000200 | client);
	while (!(ret = listening_request(NULL, NULL, 0)))
		taken++;
	KUNIT_EXPECT_EQ(test, -EBUSY, ret);
	return taken;
}

/* One that asks without end keeps nobody out. */
static void request_finds_the_backlog_full(struct kunit *test)
{
	struct svcrdma_transport *t;
	unsigned int all = 0, i;

	listening_start(test);
	for (i = 2; i < 8; i++) {
		KUNIT_EXPECT_EQ(test, SVCRDMA_BACKLOG >> (i - 1), requests_of(test, i));
		all += SVCRDMA_BACKLOG >> (i - 1);
		KUNIT_EXPECT_EQ(test, all + 1, fake_cm.ids);
	}
	KUNIT_EXPECT_EQ(test, 0, requests_of(test, 2));

	/* One that is accepted makes room, not for who has most. */
	t = listening_accept(test);
	KUNIT_EXPECT_NOT_NULL(test, t);
	listening_disconnect(t);
	KUNIT_EXPECT_EQ(test, 2, requests_of(test, 9));
	KUNIT_EXPECT_EQ(test, 0, requests_of(test, 2));
}

/* The id stays the listener's until the CM destroys it. */
static void request_without_memory(struct kunit *test)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_CONNECT_REQUEST };
	struct rdma_cm_id *id;

	listening_start(test);
	id = listening_id();
	KUNIT_ASSERT_NOT_NULL(test, id);
	fake_alloc_fail(0);
	KUNIT_EXPECT_EQ(test, -ENOMEM, id->event_handler(id, &event));
	KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
	KUNIT_EXPECT_PTR_EQ(test, (void *)listening->li, id->context);
	KUNIT_EXPECT_PTR_EQ(test, fake_cm.listener->event_handler, id->event_handler);
	rdma_destroy_id(id);
	KUNIT_EXPECT_FALSE(test, server_is_ready(listening->server));
	listening_expect_to_accept(test);
}

/* ---- accept ---- */

struct failure_case {
	const char	*desc;
	int		*knob;
	int		value;
};

static int device_wrs, device_recvs;

static const struct failure_case failure_cases[] = {
	{ "rdma_accept()", &fake_cm.plan[FAKE_CM_ACCEPT].error, -ECONNRESET },
	{ "no protection domain", &fake_queues.pd_errno, -ENOMEM },
	{ "no completion queue", &fake_queues.cq_accept, 0 },
	{ "one completion queue", &fake_queues.cq_accept, 1 },
	{ "no queue pair", &fake_queues.qp_errno, -EINVAL },
	{ "a small device", &device_wrs, 8 },
	{ "no Receives", &device_recvs, 5 },
};

KUNIT_ARRAY_PARAM_DESC(failure, failure_cases, desc);

/* Those knobs that are not where a constant can point to. */
static void set_device(struct fake_device *fake)
{
	fake->ib.attrs.max_qp_wr = device_wrs;
	fake->qp.recv_accept = device_recvs;
}

static void accept_fails(struct kunit *test)
{
	const struct failure_case *c = test->param_value;
	struct fake_device *fake = listening->server->fake;
	int old;

	listening_start(test);
	device_wrs = fake->ib.attrs.max_qp_wr;
	device_recvs = -1;
	old = *c->knob;
	KUNIT_ASSERT_EQ(test, 0, listening_request(NULL, NULL, 0));
	*c->knob = c->value;
	set_device(fake);

	KUNIT_EXPECT_PTR_EQ(test, NULL, listening_accept(test));
	KUNIT_EXPECT_EQ(test, 1, fake_cm.ids);
	KUNIT_EXPECT_EQ(test, 0, fake_queues.pds + fake_queues.cqs + fake_queues.qps);
	KUNIT_EXPECT_EQ(test, c->knob == &fake_cm.plan[FAKE_CM_ACCEPT].error, fake_cm.accepts);
	KUNIT_EXPECT_FALSE(test, server_is_ready(listening->server));

	/* The next one. */
	*c->knob = old;
	KUNIT_ASSERT_EQ(test, 0, listening_request(NULL, NULL, 0));
	set_device(fake);
	listening_disconnect(listening_accept(test));
	KUNIT_EXPECT_EQ(test, 1, fake_cm.ids);
}

/* Each allocation in turn, until there is none that fails. */
static void accept_without_memory(struct kunit *test)
{
	unsigned int requests = svcrdma_max_requests;
	struct svcrdma_transport *t;
	int n;

	listening_start(test);
	/* As few contexts as there can be. */
	svcrdma_max_requests = SVCRDMA_MIN_REQUESTS;
	for (n = 0, t = NULL; !t && n < 1000; n++) {
		KUNIT_ASSERT_EQ(test, 0, listening_request(NULL, NULL, 0));
		fake_alloc_fail(n);
		t = listening_accept(test);
		KUNIT_EXPECT_EQ(test, !t, fake_alloc_failed());
		KUNIT_ASSERT_EQ(test, t ? 2 : 1, fake_cm.ids);
		KUNIT_ASSERT_EQ(test, t ? 4 : 0, fake_queues.pds + fake_queues.cqs + fake_queues.qps);
	}
	svcrdma_max_requests = requests;
	KUNIT_EXPECT_GT(test, n, 10);
	KUNIT_ASSERT_NOT_NULL(test, t);
	KUNIT_EXPECT_EQ(test, 1, fake_cm.accepts);
	listening_disconnect(t);
}

struct loss_case {
	const char		*desc;
	enum rdma_cm_event_type	event;
	bool			lost;
};

static const struct loss_case loss_cases[] = {
	{ "disconnected", RDMA_CM_EVENT_DISCONNECTED, true },
	{ "device removed", RDMA_CM_EVENT_DEVICE_REMOVAL, true },
	{ "address changed", RDMA_CM_EVENT_ADDR_CHANGE, true },
	{ "rejected", RDMA_CM_EVENT_REJECTED, true },
	{ "unreachable", RDMA_CM_EVENT_UNREACHABLE, true },
	{ "connect error", RDMA_CM_EVENT_CONNECT_ERROR, true },
	{ "timewait", RDMA_CM_EVENT_TIMEWAIT_EXIT, false },
};

KUNIT_ARRAY_PARAM_DESC(loss, loss_cases, desc);

/*
 * What happens to a connection while it waits for accept. One that is lost does not wait
 * for a thread of nfsd any more: the removal of its device would wait, too.
 */
static void accept_comes_too_late(struct kunit *test)
{
	const struct loss_case *c = test->param_value;
	struct svcrdma_transport *t;
	struct rdma_cm_id *id;

	listening_start(test);
	KUNIT_ASSERT_EQ(test, 0, listening_request(&id, NULL, 0));
	t = id->context;
	svc_xprt_get(&t->st_xprt);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_event(id, c->event));
	KUNIT_EXPECT_EQ(test, c->lost, READ_ONCE(t->st_closing));
	flush_work(&t->st_close_work);
	KUNIT_EXPECT_EQ(test, c->lost ? 1 : 2, kref_read(&t->st_xprt.xpt_ref));
	KUNIT_EXPECT_EQ(test, c->lost ? 0 : 1, list_count_nodes(&listening->li->li_pending));
	KUNIT_EXPECT_EQ(test, !c->lost, test_bit(XPT_CONN, &listening->xprt->xpt_flags));
	if (c->lost) {
		KUNIT_EXPECT_PTR_EQ(test, NULL, listening_accept(test));
		KUNIT_EXPECT_EQ(test, 0, fake_cm.accepts);
	} else {
		KUNIT_EXPECT_PTR_EQ(test, t, listening_accept(test));
		listening_disconnect(t);
	}
	KUNIT_EXPECT_EQ(test, 1, kref_read(&t->st_xprt.xpt_ref));
	svc_xprt_put(&t->st_xprt);
	KUNIT_EXPECT_EQ(test, 1, fake_cm.ids);
}

/* Those that wait with it wait on, and in their order. */
static void one_of_many_is_lost(struct kunit *test)
{
	struct svcrdma_transport *t;
	struct rdma_cm_id *ids[3];
	int i;

	listening_start(test);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, 0, listening_request(&ids[i], NULL, 0));
	t = ids[1]->context;
	svc_xprt_get(&t->st_xprt);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_event(ids[1], RDMA_CM_EVENT_DEVICE_REMOVAL));
	flush_work(&t->st_close_work);
	svc_xprt_put(&t->st_xprt);
	/* The device may go. */
	KUNIT_EXPECT_EQ(test, 3, fake_cm.ids);
	for (i = 0; i < 3; i += 2) {
		t = listening_accept(test);
		KUNIT_ASSERT_NOT_NULL(test, t);
		KUNIT_EXPECT_PTR_EQ(test, ids[i], t->st_id);
		listening_disconnect(t);
	}
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_CONN, &listening->xprt->xpt_flags));
}

/* Then it is the thread's, which nfsd has asked to close it when it is done. */
static void accept_finds_the_device_going(struct kunit *test)
{
	struct svcrdma_transport *t;
	struct rdma_cm_id *id;

	listening_start(test);
	KUNIT_ASSERT_EQ(test, 0, listening_request(&id, NULL, 0));
	fake_cm.plan[FAKE_CM_ACCEPT].event = RDMA_CM_EVENT_DEVICE_REMOVAL;
	t = listening_accept(test);
	KUNIT_ASSERT_NOT_NULL(test, t);
	flush_work(&t->st_close_work);
	KUNIT_EXPECT_TRUE(test, test_bit(XPT_CLOSE, &t->st_xprt.xpt_flags));
	KUNIT_EXPECT_FALSE(test, test_bit(XPT_DEAD, &t->st_xprt.xpt_flags));
	KUNIT_EXPECT_EQ(test, 1, kref_read(&t->st_xprt.xpt_ref));
	KUNIT_EXPECT_EQ(test, 2, fake_cm.ids);
	listening_disconnect(t);
	KUNIT_EXPECT_EQ(test, 1, fake_cm.ids);
}

static struct kunit_case listener_cases[] = {
	KUNIT_CASE_PARAM(listener_is_there, address_gen_params),
	KUNIT_CASE_PARAM(listener_step_fails, step_gen_params),
	KUNIT_CASE(listener_fails_with_a_client),
	KUNIT_CASE(listener_of_another_family),
	KUNIT_CASE(listener_without_memory),
	KUNIT_CASE_PARAM(request_has_private_data, private_gen_params),
	KUNIT_CASE(request_has_private_data_anywhere),
	KUNIT_CASE(request_waits_for_accept),
	KUNIT_CASE(request_comes_from_somewhere),
	KUNIT_CASE(request_says_where_it_comes_from),
	KUNIT_CASE(request_of_another_family),
	KUNIT_CASE(request_is_told_to_try_again),
	KUNIT_CASE(request_over_rxe_has_a_timeout),
	KUNIT_CASE(request_finds_the_backlog_full),
	KUNIT_CASE(request_without_memory),
	KUNIT_CASE_PARAM(accept_fails, failure_gen_params),
	KUNIT_CASE(accept_without_memory),
	KUNIT_CASE_PARAM(accept_comes_too_late, loss_gen_params),
	KUNIT_CASE(one_of_many_is_lost),
	KUNIT_CASE(accept_finds_the_device_going),
	{}
};

static struct kunit_suite listener_suite = {
	.name = "svcrdma_listener",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = listening_init,
	.test_cases = listener_cases,
};

kunit_test_suite(listener_suite);
