// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server's counters: each counts its event and no other. The statistics files have to show
 * them.
 */
#include <linux/unaligned.h>

#include "../fake/lines.h"
#include "call.h"
#include "exchange.h"

/* As they are now */
static const struct rpcrdma_counters *counters_of(struct server *server)
{
	static struct rpcrdma_counters now;

	memset(&now, 0, sizeof(now));
	svcrdma_connections.cs_sum(&server->transport->st_connection, &now);
	return &now;
}

static u64 sum(const u64 *values, unsigned int count)
{
	u64 all = 0;

	while (count--)
		all += values[count];
	return all;
}

static struct lines *read_block(struct kunit *test)
{
	return lines_of_block(test, &svcrdma_connections,
			      server_of(test)->transport->st_connection.cn_number);
}

static struct lines *read_totals(struct kunit *test)
{
	return lines_of_totals(test, &svcrdma_connections);
}

static int statistics_init(struct kunit *test)
{
	struct server *server = server_create(test);

	server->client.extensions = RPCRDMA_EXT_TAKES_READ_CHUNKS;
	server_connect(server);
	return 0;
}

struct shape_case {
	struct reply_case	reply;
	enum rpcrdma_shape	expected;
	u64			written;
};

static const struct shape_case shape_cases[] = {
	{ { "inline", .head = 100 }, RPCRDMA_SHAPE_INLINE },
	{ { "Write chunk", { { 1, { 8192 } } }, 1, .head = 128, .pages = 8192,
	    .payloads = { { 128, 8192 } }, .written = { 8192 } }, RPCRDMA_SHAPE_WRITE, 8192 },
	{ { "Write chunk, general way", { { 3, { 4000, 100, 5000 } } }, 1, .head = 128,
	    .pages = 8195, .tail = 24, .payloads = { { 128, 8195 } }, .written = { 8195 } },
	  RPCRDMA_SHAPE_WRITE, 8195 },
	{ { "Write chunk unused", { { 2, { 4000, 5000 } } }, 1, .head = 100 },
	  RPCRDMA_SHAPE_INLINE },
	{ { "Reply chunk", .reply = { 1, { 20000 } }, .head = 2048, .pages = 8190,
	    .proc = RPCRDMA_NOMSG, .reply_written = 2048 + 8192 },
	  RPCRDMA_SHAPE_REPLY_CHUNK, 2048 + 8192 },
	{ { "both", { { 1, { 9000 } } }, 1, { 1, { 8000 } }, .head = 3040, .pages = 8191,
	    .tail = 1000, .payloads = { { 3040, 5000 } }, .proc = RPCRDMA_NOMSG,
	    .written = { 5000 }, .reply_written = 7232 }, RPCRDMA_SHAPE_REPLY_CHUNK, 5000 + 7232 },
};

static void shape_desc(const struct shape_case *c, char *desc)
{
	strscpy(desc, c->reply.desc, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(shape, shape_cases, shape_desc);

static void statistics_reply_has_one_shape(struct kunit *test)
{
	const struct shape_case *c = test->param_value;
	struct server *server = server_of(test);
	struct exchange *x = exchange_start(server, &c->reply);
	u64 received = counters_of(server)->bytes_received_inline;
	u32 sent;

	KUNIT_EXPECT_EQ(test, 0, sum(counters_of(server)->calls, RPCRDMA_SHAPES));

	/* Act */
	exchange_answer(x);
	sent = fake_last_wr(server->qp)->sge[0].length;

	/* Assert */
	KUNIT_EXPECT_EQ(test, 1, counters_of(server)->calls[c->expected]);
	KUNIT_EXPECT_EQ(test, 1, sum(counters_of(server)->calls, RPCRDMA_SHAPES));
	KUNIT_EXPECT_EQ(test, 1, sum(counters_of(server)->latency, RPCRDMA_LATENCIES));
	KUNIT_EXPECT_EQ(test, c->written, counters_of(server)->bytes_written);
	KUNIT_EXPECT_EQ(test, sent, counters_of(server)->bytes_sent_inline);
	KUNIT_EXPECT_EQ(test, received, counters_of(server)->bytes_received_inline);
	KUNIT_EXPECT_EQ(test, 0, counters_of(server)->bytes_read + counters_of(server)->bad_messages +
			counters_of(server)->errors_sent_chunk + counters_of(server)->errors_sent_vers);
	server_expect_at_rest(server);
}

/* The second reply has the Send context of the first one. */
static void statistics_replies_count_once(struct kunit *test)
{
	static const struct reply_case c = {
		"", { { 3, { 4000, 100, 5000 } } }, 1, .head = 128, .pages = 8195, .tail = 24,
		.payloads = { { 128, 8195 } }, .written = { 8195 },
	};
	struct server *server = server_of(test);
	int i;

	for (i = 1; i <= 2; i++) {
		exchange_start(server, &c);
		KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
		server_done(server);
		server_settle(server);
		KUNIT_EXPECT_EQ(test, i * 8195, counters_of(server)->bytes_written);
	}
	KUNIT_EXPECT_EQ(test, 1, list_count_nodes(&server->transport->st_send.all));
	server_expect_at_rest(server);
}

/* Until the client says that it has it, nothing has been read. */
static void statistics_exposed_reply(struct kunit *test)
{
	static const struct reply_case c = { "", .head = 128, .pages = 20000 };
	struct rpcrdma_header done = {
		.xid = EXCHANGE_XID, .vers = 1, .credits = 32, .proc = RPCRDMA_DONE,
	};
	struct server *server = server_of(test);
	struct exchange *x = exchange_start(server, &c);
	u8 message[64] = {};

	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);
	exchange_decode(x);
	server_settle(server);
	KUNIT_EXPECT_EQ(test, 1, counters_of(server)->calls[RPCRDMA_SHAPE_EXPOSED]);
	KUNIT_EXPECT_EQ(test, 1, sum(counters_of(server)->calls, RPCRDMA_SHAPES));
	KUNIT_EXPECT_EQ(test, x->lists.nr_segments, counters_of(server)->regions_registered);
	KUNIT_EXPECT_EQ(test, 0, counters_of(server)->bytes_read);
	KUNIT_EXPECT_EQ(test, 0, counters_of(server)->regions_invalidated_locally);

	rpcrdma_header_encode(&done, NULL, message, sizeof(message));
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, message, done.size));
	fake_run_all(server->qp);
	KUNIT_EXPECT_EQ(test, x->length, counters_of(server)->bytes_read);
	KUNIT_EXPECT_EQ(test, counters_of(server)->regions_registered,
			counters_of(server)->regions_invalidated_locally);
}

static void statistics_read_chunk(struct kunit *test)
{
	static const struct call_case c = { "", 64 + 2000, .items = { { 64, 2000, 3 } } };
	struct server *server = server_of(test);

	call_deliver(server, &c);
	KUNIT_EXPECT_EQ(test, 0, counters_of(server)->bytes_read);
	KUNIT_ASSERT_GT(test, server_receive_all(server), 0);
	KUNIT_EXPECT_EQ(test, 2000, counters_of(server)->bytes_read);
	KUNIT_EXPECT_EQ(test, 0, counters_of(server)->bytes_written);
	server_done(server);
}

/* A message in use is a credit in use, from the Receive on. */
static void statistics_credits(struct kunit *test)
{
	struct server *server = server_of(test);
	const struct svcrdma_transport *t = server->transport;

	server_deliver(server, CALL_PLAIN);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&t->st_recv.used));
	KUNIT_ASSERT_GT(test, server_recvfrom(server), 0);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&t->st_recv.used));
	server_done(server);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&t->st_recv.used));
	KUNIT_EXPECT_EQ(test, 1, lines_number(read_block(test), "credits_highest"));
	KUNIT_EXPECT_EQ(test, 0, lines_number(read_block(test), "credits_in_use"));
}

struct bad_case {
	const char	*desc;
	u32		vers;
	u32		length;
	u64		vers_errors, chunk_errors, dropped;
};

static const struct bad_case bad_cases[] = {
	{ "version", 2, 64, 1, 0, 0 },
	{ "no call in it", 1, RPCRDMA_MIN_HEADER_SIZE, 0, 1, 0 },
	{ "runt", 1, 8, 0, 0, 1 },
};

KUNIT_ARRAY_PARAM_DESC(bad, bad_cases, desc);

static void statistics_bad_message(struct kunit *test)
{
	struct rpcrdma_header header = { .xid = 1, .vers = 1, .credits = 32 };
	const struct bad_case *c = test->param_value;
	struct server *server = server_of(test);
	u8 message[256] = {};

	rpcrdma_header_encode(&header, NULL, message, sizeof(message));
	put_unaligned_be32(c->vers, message + 4);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, message, c->length));
	KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));
	KUNIT_EXPECT_EQ(test, c->vers_errors, counters_of(server)->errors_sent_vers);
	KUNIT_EXPECT_EQ(test, c->chunk_errors, counters_of(server)->errors_sent_chunk);
	KUNIT_EXPECT_EQ(test, c->dropped, counters_of(server)->bad_messages);
	KUNIT_EXPECT_EQ(test, c->length, counters_of(server)->bytes_received_inline);
	KUNIT_EXPECT_EQ(test, 0, sum(counters_of(server)->calls, RPCRDMA_SHAPES));
}

static void statistics_files(struct kunit *test)
{
	static const char * const names[] = {
		"peer", "local", "inline_send", "inline_receive", "remote_invalidation",
		"credits_in_use", "credits_highest", "waiting_for_region", "waiting_for_pages",
		"waiting_for_send_queue", NULL
	};
	struct server *server = server_of(test);
	struct lines *lines = read_block(test);

	lines_expect_format(test, lines);
	lines_expect_names(test, lines, names);
	KUNIT_EXPECT_TRUE(test, lines_has(lines, "side", "server"));
	KUNIT_EXPECT_TRUE(test, lines_has(lines, "state", "established"));
	KUNIT_EXPECT_TRUE(test, lines_has(lines, "reliable_reply", "yes"));
	KUNIT_EXPECT_EQ(test, server->transport->st_credits,
			lines_number(lines, "credits_granted"));
	KUNIT_EXPECT_NULL(test, lines_value(lines, "reconnects"));
	lines = read_totals(test);
	lines_expect_format(test, lines);
	KUNIT_EXPECT_EQ(test, 1, lines_number(lines, "connections"));
	KUNIT_EXPECT_NULL(test, lines_value(lines, "peer"));
	KUNIT_EXPECT_NULL(test, strchr(lines->text, '.'));
}

/* The CM keeps the interface beside the addresses. */
static void statistics_scope(struct kunit *test)
{
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(20049),
		.sin6_addr.s6_addr = { 0xfe, 0x80, [15] = 1 },
	};
	struct rdma_addr *address = &server_of(test)->transport->st_id->route.addr;
	struct lines *lines;

	memcpy(&address->src_addr, &in6, sizeof(in6));
	in6.sin6_addr.s6_addr[15] = 2;
	memcpy(&address->dst_addr, &in6, sizeof(in6));
	address->dev_addr.bound_dev_if = 3;
	lines = read_block(test);
	KUNIT_EXPECT_TRUE_MSG(test, lines_has(lines, "local", "[fe80::1%3]:20049"), "%s",
			      lines->text);
	KUNIT_EXPECT_TRUE_MSG(test, lines_has(lines, "peer", "[fe80::2%3]:20049"), "%s",
			      lines->text);
}

struct end_case {
	const char	*desc;
	void		(*lose)(struct server *server);
	const char	*name;
};

static void lose_nothing(struct server *server)
{
}

static void lose_idle(struct server *server)
{
	set_bit(XPT_OLD, &server->transport->st_xprt.xpt_flags);
}

static void lose_by_event(struct server *server)
{
	fake_cm_event(server->id, RDMA_CM_EVENT_DISCONNECTED);
}

static void lose_by_receive(struct server *server)
{
	fake_recv_fail(server->qp, IB_WC_RETRY_EXC_ERR);
}

static void lose_by_flush(struct server *server)
{
	fake_recv_fail(server->qp, IB_WC_WR_FLUSH_ERR);
}

static void lose_by_rkey(struct server *server)
{
	u8 message[64] = {};

	fake_deliver_invalidate(server->qp, message, sizeof(message), 0x1234);
}

static void lose_by_rkey_and_event(struct server *server)
{
	lose_by_rkey(server);
	lose_by_event(server);
}

static void send_reply(struct server *server, const struct reply_case *c)
{
	exchange_start(server, c);
	KUNIT_ASSERT_EQ(server->test, 0, svcrdma_sendto(server->rqst));
	server_done(server);
}

static void lose_by_send(struct server *server)
{
	static const struct reply_case c = { "", .head = 128 };

	send_reply(server, &c);
	KUNIT_ASSERT_EQ(server->test, IB_WR_SEND, fake_last_wr(server->qp)->opcode);
	fake_fail(server->qp, IB_WC_RETRY_EXC_ERR);
}

static void lose_by_fence(struct server *server)
{
	static const struct reply_case c = { "", .head = 128, .pages = 20000 };
	struct rpcrdma_header done = {
		.xid = EXCHANGE_XID, .vers = 1, .credits = 32, .proc = RPCRDMA_DONE,
	};
	u8 message[64] = {};

	send_reply(server, &c);
	fake_run_all(server->qp);
	rpcrdma_header_encode(&done, NULL, message, sizeof(message));
	KUNIT_ASSERT_TRUE(server->test, fake_deliver(server->qp, message, done.size));
	KUNIT_ASSERT_EQ(server->test, IB_WR_LOCAL_INV, fake_last_wr(server->qp)->opcode);
	fake_fail(server->qp, IB_WC_RETRY_EXC_ERR);
}

static const struct end_case end_cases[] = {
	{ "nfsd", lose_nothing, "ended_closed" },
	{ "idle", lose_idle, "ended_idle" },
	{ "peer", lose_by_event, "ended_peer_disconnected" },
	{ "flush", lose_by_flush, "ended_peer_disconnected" },
	{ "Receive", lose_by_receive, "ended_receive_failed" },
	{ "Send", lose_by_send, "ended_send_failed" },
	{ "fence", lose_by_fence, "ended_fence_failed" },
	{ "R_key", lose_by_rkey, "ended_bad_message" },
	{ "the first of two", lose_by_rkey_and_event, "ended_bad_message" },
};

KUNIT_ARRAY_PARAM_DESC(end, end_cases, desc);

static u64 all_ends(const struct lines *lines)
{
	const char *at = lines->text;
	u64 all = 0;

	while ((at = strstr(at, "\nended_"))) {
		at = strchr(at + 1, ' ');
		all += simple_strtoull(at + 1, NULL, 10);
	}
	return all;
}

static void statistics_end(struct kunit *test)
{
	const struct end_case *c = test->param_value;
	struct server *server = server_of(test);
	struct lines *before = read_totals(test), *after;

	c->lose(server);
	server_disconnect(server);
	after = read_totals(test);
	KUNIT_EXPECT_EQ(test, lines_number(before, c->name) + 1, lines_number(after, c->name));
	KUNIT_EXPECT_EQ(test, all_ends(before) + 1, all_ends(after));
	KUNIT_EXPECT_EQ(test, 0, lines_number(after, "connections"));
	KUNIT_EXPECT_EQ(test, lines_number(before, "connections_total"),
			lines_number(after, "connections_total"));
}

/* Newer kernels have a macro for it, and count no reference to the first namespaces. */
static refcount_t *net_count(struct net *net)
{
#ifdef ns_ref_read
	net->ns.ns_id = U64_MAX;
	return &net->ns.__ns_ref;
#else
	return &net->ns.count;
#endif
}

/* SUNRPC drops its reference to the namespace, perhaps the last one, before it frees a transport. */
static void statistics_keep_the_namespace(struct kunit *test)
{
	struct svcrdma_transport *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct net *net = kunit_kzalloc(test, sizeof(*net), GFP_KERNEL);

	KUNIT_ASSERT_TRUE(test, t && net);
	/* The test has one, SUNRPC the other; the totals are those of the first namespace. */
	refcount_set(net_count(net), 2);
	rcu_assign_pointer(net->gen, rcu_access_pointer(init_net.gen));
	t->st_xprt.xpt_net = net;

	svcrdma_connection_add(t);
	put_net(net);
	KUNIT_EXPECT_EQ(test, 2, refcount_read(net_count(net)));
	svcrdma_connection_remove(t);
	KUNIT_EXPECT_EQ(test, 1, refcount_read(net_count(net)));
}

static struct kunit_case statistics_cases[] = {
	KUNIT_CASE_PARAM(statistics_reply_has_one_shape, shape_gen_params),
	KUNIT_CASE(statistics_replies_count_once),
	KUNIT_CASE(statistics_exposed_reply),
	KUNIT_CASE(statistics_read_chunk),
	KUNIT_CASE(statistics_credits),
	KUNIT_CASE_PARAM(statistics_bad_message, bad_gen_params),
	KUNIT_CASE(statistics_files),
	KUNIT_CASE(statistics_scope),
	KUNIT_CASE(statistics_keep_the_namespace),
	KUNIT_CASE_PARAM(statistics_end, end_gen_params),
	{}
};

static struct kunit_suite statistics_suite = {
	.name = "svcrdma_statistics",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = statistics_init,
	.test_cases = statistics_cases,
};

kunit_test_suite(statistics_suite);
