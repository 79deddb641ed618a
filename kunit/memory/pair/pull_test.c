// SPDX-License-Identifier: GPL-2.0
/*
 * Client and server over the provider in memory: replies that the server exposes and the
 * client reads, byte for byte, and what becomes of those that are not read. Reliable-reply
 * draft, section 4.
 */
#include "pair.h"

/**
 * struct pull_case - an RPC whose reply is larger than a message
 * @desc: name
 * @shape: what the client encodes, and has room for
 * @answer: what nfsd answers
 */
struct pull_case {
	const char		*desc;
	struct client_shape	shape;
	struct pair_answer	answer;
};

#define PLAIN(n)	.head = 136, .reply_head = 128, .reply_pages = (n), \
			.reply_tail = 64
#define ITEM(n)		PLAIN(n), .read = true

static const struct pull_case pull_cases[] = {
	{ "head only", { .head = 64, .reply_head = 9000 }, { 2000, 0, 2090 } },
	{ "head and pages", { PLAIN(8192) }, { 128, 8192 } },
	{ "head, pages and tail", { PLAIN(8192) }, { 128, 8192, 40 } },
	{ "odd length", { PLAIN(8195) }, { 128, 8193, 40 } },
	{ "odd offset", { PLAIN(9001), .reply_base = 1025 }, { 128, 9001 } },
	{ "one byte more than a message", { PLAIN(8192) }, { 128, 3944 } },
	{ "60 KiB", { PLAIN(61440) }, { 128, 61440, 4 } },
	{ "1 MiB", { PLAIN(1 << 20) }, { 128, 1 << 20 } },
	{ "1 MiB at an odd offset", { PLAIN(1 << 20), .reply_base = 77 }, { 128, 1 << 20 } },
	{ "an item that might have been small", { ITEM(8188) }, { 128, 8188, 40 } },
};

KUNIT_ARRAY_PARAM_DESC(pull, pull_cases, desc);

static struct client_call *begin(struct pair *pair, const struct pull_case *c)
{
	struct client_call *call = client_call_create(&pair->client, &c->shape);

	pair->answer = c->answer;
	KUNIT_ASSERT_EQ(pair->test, 0, client_call_send(call));
	return call;
}

static struct client_call *exchange(struct pair *pair, const struct pull_case *c)
{
	struct client_call *call = begin(pair, c);

	pair_pump(pair);
	client_call_expect_reply(call, c->answer.head, c->answer.item, c->answer.tail);
	return call;
}

/* What has been learned so far is forgotten. */
static void forget(struct pair *pair)
{
	memset(&pair->client.transport->xt_history, 0,
	       sizeof(pair->client.transport->xt_history));
}

static void expect_nothing_exposed(struct pair *pair)
{
	pair_expect_at_rest(pair);
	KUNIT_EXPECT_EQ(pair->test, 0, pair->server->st_exposures.used);
	KUNIT_EXPECT_EQ(pair->test, 0, pair->server->st_exposures.bytes);
	KUNIT_EXPECT_EQ(pair->test, 0, memory_valid_keys(pair->server_device));
}

static void check_pull(struct kunit *test, bool iwarp)
{
	unsigned long before = xprtrdma_replies_pulled;
	struct pair *pair = pair_create(test, iwarp);
	int i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	for (i = 0; i < 3; i++) {
		exchange(pair, test->param_value);
		expect_nothing_exposed(pair);
		forget(pair);
	}
	KUNIT_EXPECT_EQ(test, before + 3, xprtrdma_replies_pulled);
	KUNIT_EXPECT_EQ(test, 0, pair->client.transport->xt_stats.reply_chunk_count);
	KUNIT_EXPECT_EQ(test, 0, pair->client.transport->xt_stats.write_chunk_count);
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

/* Draft section 4.1.2. */
static void pull_on_infiniband(struct kunit *test)
{
	check_pull(test, false);
}

static void pull_on_iwarp(struct kunit *test)
{
	check_pull(test, true);
}

/* Draft section 5.3.1: the second time memory is offered, and used. */
static void next_call_offers_memory(struct kunit *test)
{
	unsigned long before = xprtrdma_replies_pulled;
	struct pair *pair = pair_create(test, false);

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	exchange(pair, &pull_cases[2]);
	KUNIT_EXPECT_EQ(test, 0, pair->client.transport->xt_stats.reply_chunk_count);
	exchange(pair, &pull_cases[2]);
	KUNIT_EXPECT_NE(test, 0, pair->client.transport->xt_stats.reply_chunk_count);
	KUNIT_EXPECT_EQ(test, before + 1, xprtrdma_replies_pulled);
	expect_nothing_exposed(pair);
}

/* Small replies cost nothing, and teach that. */
static void small_replies_register_nothing(struct kunit *test)
{
	static const struct pull_case small = { "", { PLAIN(61440) }, { 128, 100 } };
	struct pair *pair = pair_create(test, false);
	int i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	for (i = 0; i < 20; i++)
		exchange(pair, &small);
	KUNIT_EXPECT_EQ(test, 0, pair->client.transport->xt_stats.reply_chunk_count);
	KUNIT_EXPECT_EQ(test, 0, memory_seen(pair->client_device, MEMORY_MAP_MR));
}

/* A Reply chunk that is too small, since the consumer was wrong about its reply. */
static void more_than_the_consumer_has_room_for(struct kunit *test)
{
	static const struct pull_case c = { "", { PLAIN(6000) }, { 128, 20000 } };
	struct pair *pair = pair_create(test, false);
	struct client_call *call;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	call = begin(pair, &c);
	pair_pump(pair);
	KUNIT_EXPECT_TRUE(test, client_call_done(call));
	KUNIT_EXPECT_EQ(test, 128 + 6000 + 64, call->rqst.rq_reply_bytes_recvd);
	expect_nothing_exposed(pair);
}

static void switched_off(struct kunit *test, unsigned int *knob)
{
	unsigned long before = xprtrdma_replies_pulled;
	struct pair *pair = pair_create(test, false);

	*knob = 0;
	KUNIT_EXPECT_EQ(test, 0, pair_connect(pair));
	*knob = 1;
	exchange(pair, &pull_cases[2]);
	KUNIT_EXPECT_FALSE(test, pair->client.conn->xc_inline.read_chunk_replies);
	KUNIT_EXPECT_FALSE(test, pair->server->st_agreed.read_chunk_replies);
	KUNIT_EXPECT_NE(test, 0, pair->client.transport->xt_stats.reply_chunk_count);
	KUNIT_EXPECT_EQ(test, before, xprtrdma_replies_pulled);
}

static void client_switched_off(struct kunit *test)
{
	switched_off(test, &xprtrdma_reliable_reply);
}

static void server_switched_off(struct kunit *test)
{
	switched_off(test, &svcrdma_reliable_reply);
}

/* Draft section 4.1.3: a killed RPC's reply is not read, but the server is told. */
static void nobody_waits_for_the_reply(struct kunit *test)
{
	unsigned long before = xprtrdma_replies_pulled;
	struct pair *pair = pair_create(test, false);

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	exchange(pair, &pull_cases[2]);
	forget(pair);
	client_call_destroy(begin(pair, &pull_cases[6]));
	pair_pump(pair);
	KUNIT_EXPECT_EQ(test, before + 1, xprtrdma_replies_pulled);
	expect_nothing_exposed(pair);
	exchange(pair, &pull_cases[2]);
}

/*
 * Beyond the bound of the server: ERR_CHUNK for that call, and nothing worse. It goes out
 * once more, with memory for the reply, whether its task slept already or not.
 */
static void bound_of_the_server(struct kunit *test)
{
	unsigned int limit = svcrdma_max_exposed_bytes;
	struct pair *pair = pair_create(test, false);
	struct client_call *call;
	int i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	for (i = 0; i < 2; i++) {
		exchange(pair, &pull_cases[2]);
		forget(pair);
		call = begin(pair, &pull_cases[6]);
		if (i)
			client_call_wait(call);
		svcrdma_max_exposed_bytes = 40960;
		pair_pump(pair);
		if (!i)
			client_call_wait(call);
		KUNIT_EXPECT_FALSE(test, client_call_done(call));
		KUNIT_EXPECT_EQ(test, -ENOTCONN, call->task.tk_status);
		call->task.tk_status = 0;
		forget(pair);
		KUNIT_ASSERT_EQ(test, 0, client_call_send(call));
		client_call_wait(call);
		pair_pump(pair);
		client_call_expect_reply(call, 128, 61440, 4);
		KUNIT_EXPECT_NE(test, 0, pair->client.transport->xt_stats.reply_chunk_count);
		svcrdma_max_exposed_bytes = limit;
		forget(pair);
	}
	expect_nothing_exposed(pair);
}

/* A second refusal is final: RFC 8166 section 4.5. */
static void refused_twice(struct kunit *test)
{
	unsigned int limit = svcrdma_max_exposed_bytes;
	struct pair *pair = pair_create(test, false);
	struct client_call *call;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	exchange(pair, &pull_cases[2]);
	forget(pair);
	call = begin(pair, &pull_cases[6]);
	xprtrdma_request_of(&call->rqst)->rq_again = true;
	svcrdma_max_exposed_bytes = 40960;
	pair_pump(pair);
	svcrdma_max_exposed_bytes = limit;
	client_call_expect_error(call, -EIO);
	expect_nothing_exposed(pair);
}

/* As many as there are credits, all at once; the client reads a few at a time. */
static void many_at_once(struct kunit *test)
{
	struct pair *pair = pair_create(test, true);
	struct client_call *calls[16];
	int i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	exchange(pair, &pull_cases[2]);
	forget(pair);
	for (i = 0; i < 16; i++)
		calls[i] = begin(pair, &pull_cases[6]);
	pair_pump(pair);
	for (i = 0; i < 16; i++)
		client_call_expect_reply(calls[i], 128, 61440, 4);
	expect_nothing_exposed(pair);
}

/* One that is exposed and not read, because the client's worker is not let. */
static struct client_call *expose_one(struct pair *pair)
{
	struct client_call *call;

	KUNIT_ASSERT_EQ(pair->test, 0, pair_connect(pair));
	exchange(pair, &pull_cases[2]);
	forget(pair);
	pair->client.conn->xc_pulls = XPRTRDMA_PULLS;
	call = begin(pair, &pull_cases[6]);
	pair_pump(pair);
	KUNIT_ASSERT_EQ(pair->test, 1, pair->server->st_exposures.used);
	return call;
}

static void read_after_all(struct pair *pair)
{
	pair->client.conn->xc_pulls = 0;
	queue_work(xprtrdma_wq, &pair->client.conn->xc_pull_worker);
	pair_pump(pair);
}

static void read_late(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct client_call *call = expose_one(pair);

	/* What counts is the memory that it keeps. */
	KUNIT_EXPECT_EQ(test, 61440 + PAGE_SIZE, pair->server->st_exposures.bytes);
	KUNIT_EXPECT_FALSE(test, client_call_done(call));
	read_after_all(pair);
	client_call_expect_reply(call, 128, 61440, 4);
	expect_nothing_exposed(pair);
}

/* Nobody else gives up, not even when the task is killed. LOCAL_INVs go on meanwhile. */
static void read_that_cannot_begin(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct client_call *call = expose_one(pair);
	struct xprtrdma_conn *conn = pair->client.conn;

	KUNIT_EXPECT_EQ(test, 1, conn->xc_held);
	client_look_at_held(&pair->client);
	KUNIT_EXPECT_FALSE(test, pair_client_failed(pair));

	conn->xc_held_since -= XPRTRDMA_HELD_TIMEOUT;
	spin_lock(&conn->xc_lock);
	xprtrdma_conn_hold(conn);
	xprtrdma_conn_unhold(conn, false);
	spin_unlock(&conn->xc_lock);
	client_look_at_held(&pair->client);
	KUNIT_EXPECT_TRUE(test, pair_client_failed(pair));
	pair_disconnect(pair);
	client_call_expect_waiting(call);
	pair_expect_nothing_left(pair);
}

/* nfsd may have no thread for the RDMA_DONE. */
static void read_while_nfsd_is_busy(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct client_call *call = expose_one(pair);

	pair->client.conn->xc_pulls = 0;
	queue_work(xprtrdma_wq, &pair->client.conn->xc_pull_worker);
	pair_settle(pair);
	client_call_expect_reply(call, 128, 61440, 4);
	KUNIT_EXPECT_EQ(test, 0, pair->server->st_exposures.used);
	expect_nothing_exposed(pair);
}

/* What was read is another reply: this RPC fails, and the server may forget it. */
static void read_another_reply(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct client_call *call = expose_one(pair);

	call->rqst.rq_xid ^= cpu_to_be32(1);
	read_after_all(pair);
	client_call_expect_error(call, -EIO);
	KUNIT_EXPECT_FALSE(test, pair_client_failed(pair));
	expect_nothing_exposed(pair);
}

/* Tasks that are killed: the server is told of each, when there are Sends for it. */
static void many_that_nobody_waits_for(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct xprtrdma_send *send, *next;
	struct client_call *calls[12];
	struct xprtrdma_conn *conn;
	LIST_HEAD(taken);
	int i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	exchange(pair, &pull_cases[2]);
	forget(pair);
	conn = pair->client.conn;
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		calls[i] = begin(pair, &pull_cases[6]);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		client_call_destroy(calls[i]);
	conn->xc_pulls = XPRTRDMA_PULLS;
	pair_pump(pair);
	while ((send = xprtrdma_send_get(conn)))
		list_add(&send->sd_list, &taken);
	read_after_all(pair);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(calls), pair->server->st_exposures.used);
	KUNIT_EXPECT_FALSE(test, pair_client_failed(pair));

	list_for_each_entry_safe(send, next, &taken, sd_list) {
		list_del(&send->sd_list);
		xprtrdma_send_put(send);
	}
	queue_work(xprtrdma_wq, &conn->xc_pull_worker);
	pair_pump(pair);
	expect_nothing_exposed(pair);
	KUNIT_EXPECT_EQ(test, 0, conn->xc_window.in_flight);
	exchange(pair, &pull_cases[2]);
}

/* Draft section 4.1.3: a client that reads too late loses its connection, no more. */
static void exposure_ends_by_time(struct kunit *test)
{
	unsigned int seconds = svcrdma_expose_timeout;
	struct pair *pair = pair_create(test, false);
	struct client_call *call;

	svcrdma_expose_timeout = 0;
	call = expose_one(pair);
	svcrdma_expose_timeout = seconds;
	svcrdma_expose_work(&pair->server->st_expose_work.work);
	pair_settle(pair);
	KUNIT_EXPECT_EQ(test, 0, pair->server->st_exposures.used);
	KUNIT_EXPECT_EQ(test, 0, memory_valid_keys(pair->server_device));

	read_after_all(pair);
	KUNIT_EXPECT_TRUE(test, pair_client_failed(pair));
	pair_disconnect(pair);
	client_call_expect_waiting(call);
	pair_expect_nothing_left(pair);
}

/* A queue pair that stands still keeps nothing for ever: it is closed. */
static void invalidation_takes_too_long(struct kunit *test)
{
	unsigned long timeout = svcrdma_inv_timeout;
	struct pair *pair = pair_create(test, false);
	struct client_call *call = expose_one(pair);
	struct delayed_work *work = &pair->server->st_expose_work;

	memory_hold(pair->server->st_qp);
	svcrdma_exposed_done(pair->server, be32_to_cpu(call->rqst.rq_xid), NULL);
	svcrdma_expose_work(&work->work);
	KUNIT_EXPECT_FALSE(test, svcrdma_transport_closing(pair->server));
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(work));

	memory_release(pair->server->st_qp);
	pair_settle(pair);
	call = begin(pair, &pull_cases[6]);
	pair_pump(pair);
	memory_hold(pair->server->st_qp);
	svcrdma_inv_timeout = 0;
	svcrdma_exposed_done(pair->server, be32_to_cpu(call->rqst.rq_xid), NULL);
	svcrdma_inv_timeout = timeout;
	msleep(20);
	svcrdma_expose_work(&work->work);
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(pair->server));
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

/*
 * A handle says that its registration took effect, but not that the queue is done with it:
 * the flush may still tell of it.
 */
static void invalidated_before_its_registration_is_done(struct kunit *test)
{
	static const struct pull_case c = { "", { .head = 64, .reply_head = 3000 }, { 3000 } };
	struct pair *pair = pair_create(test, false);
	struct client_call *call;
	struct memory_queue *sq;
	u32 rkey;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	pair->server->st_inline_send = 1024;
	memory_hold(pair->server->st_qp);
	call = begin(pair, &c);
	pair_pump(pair);
	KUNIT_ASSERT_EQ(test, 1, pair->server->st_exposures.used);
	sq = &memory_qp_of(pair->server->st_qp)->sq;
	KUNIT_ASSERT_EQ(test, 2, sq->posted - sq->done);
	KUNIT_ASSERT_EQ(test, IB_WR_REG_MR, sq->wrs[sq->done % sq->size].opcode);
	rkey = sq->wrs[sq->done % sq->size].key;

	svcrdma_exposed_done(pair->server, be32_to_cpu(call->rqst.rq_xid), &rkey);
	KUNIT_EXPECT_EQ(test, 0, pair->server->st_exposures.used);
	KUNIT_EXPECT_EQ(test, 0, pair->server->st_exposures.bytes);
	pair_disconnect(pair);
	client_call_expect_waiting(call);
	pair_expect_nothing_left(pair);
}

/* The connection ends while a reply is exposed. */
static void connection_ends_with_an_exposure(struct kunit *test)
{
	struct pair *pair = pair_create(test, true);
	struct client_call *call = expose_one(pair);

	pair_disconnect(pair);
	client_call_expect_waiting(call);
	pair_expect_nothing_left(pair);
}

/* A device goes while a reply is exposed on it, or while it is about to be read by it. */
static void device_goes_with_an_exposure(struct kunit *test)
{
	enum pair_side side;

	for (side = PAIR_CLIENT; side <= PAIR_SERVER; side++) {
		struct pair *pair = pair_create(test, true);
		struct memory_device *device = pair_device(pair, side);
		struct client_call *call = expose_one(pair);

		pair_device_remove(device);
		pair_settle(pair);
		pair_disconnect(pair);
		pair_device_removed();
		KUNIT_EXPECT_FALSE(test, device->registered);
		client_call_expect_waiting(call);
		pair_expect_nothing_left(pair);
	}
}

/* Draft section 4.1.3: dropped in silence; but nobody needs that many. */
static void flood_of_notifications(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct svcrdma_transport *t;
	u32 i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	t = pair->server;
	for (i = 0; i < t->st_exposures.size; i++)
		svcrdma_exposed_done(t, i, NULL);
	KUNIT_EXPECT_FALSE(test, svcrdma_transport_closing(t));
	svcrdma_exposed_done(t, i, NULL);
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(t));
}

/* A handle that belongs to another reply, or none, is not the client's to invalidate. */
static void notification_with_a_foreign_handle(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct client_call *call = expose_one(pair);
	u32 rkey = 0x12345678;

	svcrdma_exposed_done(pair->server, be32_to_cpu(call->rqst.rq_xid), &rkey);
	KUNIT_EXPECT_TRUE(test, svcrdma_transport_closing(pair->server));
	pair_pump(pair);
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

/* A second notification for the same reply is one for nothing. */
static void notified_twice(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct client_call *call = expose_one(pair);
	u32 xid = be32_to_cpu(call->rqst.rq_xid);

	svcrdma_exposed_done(pair->server, xid, NULL);
	svcrdma_exposed_done(pair->server, xid, NULL);
	pair_settle(pair);
	KUNIT_EXPECT_FALSE(test, svcrdma_transport_closing(pair->server));
	KUNIT_EXPECT_EQ(test, 0, pair->server->st_exposures.used);
	KUNIT_EXPECT_EQ(test, 0, memory_valid_keys(pair->server_device));
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

static struct kunit_case pull_test_cases[] = {
	KUNIT_CASE_PARAM(pull_on_infiniband, pull_gen_params),
	KUNIT_CASE_PARAM(pull_on_iwarp, pull_gen_params),
	KUNIT_CASE(next_call_offers_memory),
	KUNIT_CASE(small_replies_register_nothing),
	KUNIT_CASE(more_than_the_consumer_has_room_for),
	KUNIT_CASE(client_switched_off),
	KUNIT_CASE(server_switched_off),
	KUNIT_CASE(nobody_waits_for_the_reply),
	KUNIT_CASE(bound_of_the_server),
	KUNIT_CASE(refused_twice),
	KUNIT_CASE(many_at_once),
	KUNIT_CASE(read_late),
	KUNIT_CASE(read_that_cannot_begin),
	KUNIT_CASE(read_while_nfsd_is_busy),
	KUNIT_CASE(read_another_reply),
	KUNIT_CASE(many_that_nobody_waits_for),
	KUNIT_CASE(exposure_ends_by_time),
	KUNIT_CASE(invalidation_takes_too_long),
	KUNIT_CASE(invalidated_before_its_registration_is_done),
	KUNIT_CASE(connection_ends_with_an_exposure),
	KUNIT_CASE(device_goes_with_an_exposure),
	KUNIT_CASE(flood_of_notifications),
	KUNIT_CASE(notification_with_a_foreign_handle),
	KUNIT_CASE(notified_twice),
	{}
};

static struct kunit_suite pull_suite = {
	.name = "memory_pull",
	.suite_init = pair_suite_init,
	.suite_exit = pair_suite_exit,
	.test_cases = pull_test_cases,
};

kunit_test_suite(pull_suite);
