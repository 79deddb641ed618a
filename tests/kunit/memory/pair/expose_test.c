// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replies that the server exposes, and that the client reads late, or not at all. Reliable-reply
 * draft, section 4.
 */
#include "pull.h"

/* One that is exposed and not read, because the client's worker is not let. */
static struct client_call *expose_one(struct pair *pair)
{
	struct client_call *call;

	KUNIT_ASSERT_EQ(pair->test, 0, pair_connect(pair));
	pull_exchange(pair, &pull_8k);
	pull_forget(pair);
	pair->client.conn->xc_pull.active = XPRTRDMA_PULLS;
	call = pull_begin(pair, &pull_60k);
	pair_pump(pair);
	KUNIT_ASSERT_EQ(pair->test, 1, pair->server->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	return call;
}

static void read_after_all(struct pair *pair)
{
	pair->client.conn->xc_pull.active = 0;
	mod_delayed_work(xprtrdma_wq, &pair->client.conn->xc_pull.worker, 0);
	pair_pump(pair);
}

static void read_late(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct client_call *call = expose_one(pair);
	const struct rpcrdma_window *window = &pair->client.conn->xc_window;

	/* What counts is the memory that it keeps. */
	KUNIT_EXPECT_EQ(test, 61440 + PAGE_SIZE, atomic_long_read(&pair->server->st_expose.bytes));
	KUNIT_EXPECT_FALSE(test, client_call_done(call));
	/* RR11: the credit comes back with what is read. */
	KUNIT_EXPECT_EQ(test, 1, window->in_flight);
	read_after_all(pair);
	client_call_expect_reply(call, 128, 61440, 4);
	KUNIT_EXPECT_EQ(test, 0, window->in_flight);
	pull_expect_nothing_exposed(pair);
}

/* Nobody else gives up, not even when the task is killed. LOCAL_INVs go on meanwhile. */
static void read_that_cannot_begin(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct client_call *call = expose_one(pair);
	struct xprtrdma_conn *conn = pair->client.conn;

	KUNIT_EXPECT_EQ(test, 1, conn->xc_watch.hca.waiting);
	client_second(&pair->client);
	KUNIT_EXPECT_FALSE(test, pair_client_failed(pair));

	conn->xc_watch.hca.seconds = XPRTRDMA_HCA_TIMEOUT;
	spin_lock(&conn->xc_lock);
	xprtrdma_watch_hca_begin(conn);
	xprtrdma_watch_hca_end(conn, false);
	spin_unlock(&conn->xc_lock);
	client_second(&pair->client);
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

	pair->client.conn->xc_pull.active = 0;
	mod_delayed_work(xprtrdma_wq, &pair->client.conn->xc_pull.worker, 0);
	pair_settle(pair);
	client_call_expect_reply(call, 128, 61440, 4);
	KUNIT_EXPECT_EQ(test, 0, pair->server->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	pull_expect_nothing_exposed(pair);
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
	pull_expect_nothing_exposed(pair);
}

/* Tasks that are killed: the server is told of each, when there are Sends for it. */
static void many_that_nobody_waits_for(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct xprtrdma_send *send, *taken = NULL;
	struct client_call *calls[12];
	struct xprtrdma_conn *conn;
	int i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	pair_grow(pair);
	pull_exchange(pair, &pull_8k);
	pull_forget(pair);
	conn = pair->client.conn;
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		calls[i] = pull_begin(pair, &pull_60k);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		client_call_destroy(calls[i]);
	conn->xc_pull.active = XPRTRDMA_PULLS;
	pair_pump(pair);
	while ((send = xprtrdma_send_get(conn))) {
		send->sd_next = taken;
		taken = send;
	}
	read_after_all(pair);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(calls), pair->server->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	KUNIT_EXPECT_FALSE(test, pair_client_failed(pair));

	while ((send = taken)) {
		taken = send->sd_next;
		xprtrdma_send_put(send);
	}
	mod_delayed_work(xprtrdma_wq, &conn->xc_pull.worker, 0);
	pair_pump(pair);
	pull_expect_nothing_exposed(pair);
	KUNIT_EXPECT_EQ(test, 0, conn->xc_window.in_flight);
	pull_exchange(pair, &pull_8k);
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
	run_delayed(&pair->server->st_region.work);
	pair_settle(pair);
	KUNIT_EXPECT_EQ(test, 0, pair->server->st_region.count[SVCRDMA_EXPOSED_REPLY]);
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
	struct delayed_work *work = &pair->server->st_region.work;

	memory_hold(pair->server->st_qp);
	svcrdma_exposed_done(pair->server, be32_to_cpu(call->rqst.rq_xid));
	run_delayed(work);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(pair->server->st_closing));
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(work));

	/* Whichever it is: the one before it may wait to be read. */
	memory_release(pair->server->st_qp);
	pair_settle(pair);
	pull_begin(pair, &pull_60k);
	call = pull_begin(pair, &pull_60k);
	pair_pump(pair);
	KUNIT_ASSERT_EQ(test, 2, pair->server->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	memory_hold(pair->server->st_qp);
	svcrdma_inv_timeout = 0;
	svcrdma_exposed_done(pair->server, be32_to_cpu(call->rqst.rq_xid));
	svcrdma_inv_timeout = timeout;
	msleep(20);
	run_delayed(work);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(pair->server->st_closing));
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

/* A client that guesses: what is not even registered is not let go, either. */
static void done_before_its_registration_is_done(struct kunit *test)
{
	static const struct pull_case c = { "", { .head = 64, .reply_head = 3000 }, { 3000 } };
	struct pair *pair = pair_create(test, false);
	struct client_call *call;
	struct memory_queue *sq;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	pair->server->st_inline_send = 1024;
	memory_hold(pair->server->st_qp);
	call = pull_begin(pair, &c);
	pair_pump(pair);
	KUNIT_ASSERT_EQ(test, 1, pair->server->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	sq = &memory_qp_of(pair->server->st_qp)->sq;
	KUNIT_ASSERT_EQ(test, 2, sq->posted - sq->done);
	KUNIT_ASSERT_EQ(test, IB_WR_REG_MR, sq->wrs[sq->done % sq->size].opcode);

	svcrdma_exposed_done(pair->server, be32_to_cpu(call->rqst.rq_xid));
	KUNIT_ASSERT_EQ(test, 3, sq->posted - sq->done);
	KUNIT_EXPECT_EQ(test, IB_WR_LOCAL_INV,
			sq->wrs[(sq->done + 2) % sq->size].opcode);
	pair_settle(pair);
	KUNIT_EXPECT_EQ(test, 1, pair->server->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	KUNIT_EXPECT_NE(test, 0, atomic_long_read(&pair->server->st_expose.bytes));
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

/* How many replies may be exposed at a time */
static u32 most(const struct svcrdma_transport *t)
{
	return t->st_credits + t->st_spare_exposures;
}

/* Draft section 4.1.3: dropped in silence; but nobody needs that many. */
static void flood_of_notifications(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct svcrdma_transport *t;
	u32 i;

	KUNIT_ASSERT_EQ(test, 0, pair_connect(pair));
	t = pair->server;
	for (i = 0; i < most(t); i++)
		svcrdma_exposed_done(t, i);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(t->st_closing));
	svcrdma_exposed_done(t, i);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(t->st_closing));
}

/* A second notification for the same reply is one for nothing. */
static void notified_twice(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct client_call *call = expose_one(pair);
	u32 xid = be32_to_cpu(call->rqst.rq_xid);

	svcrdma_exposed_done(pair->server, xid);
	svcrdma_exposed_done(pair->server, xid);
	pair_settle(pair);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(pair->server->st_closing));
	KUNIT_EXPECT_EQ(test, 0, pair->server->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	KUNIT_EXPECT_EQ(test, 0, memory_valid_keys(pair->server_device));
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

/* XIDs that no call has; true when the connection has ended after @count of them. */
static bool ends_after(struct svcrdma_transport *t, u32 count)
{
	static u32 xid = 0x40000000;

	while (count-- && !READ_ONCE(t->st_closing))
		svcrdma_exposed_done(t, xid++);
	return READ_ONCE(t->st_closing);
}

/* One that is for something makes up for one that is not: what counts is the difference. */
static void notifications_that_were_right(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct client_call *call = expose_one(pair);
	struct svcrdma_transport *t = pair->server;

	KUNIT_EXPECT_FALSE(test, ends_after(t, most(t)));
	svcrdma_exposed_done(t, be32_to_cpu(call->rqst.rq_xid));
	KUNIT_EXPECT_FALSE(test, ends_after(t, 1));
	KUNIT_EXPECT_TRUE(test, ends_after(t, 1));
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

/* Those before the first that is not are forgotten. */
static void right_notifications_are_not_saved_up(struct kunit *test)
{
	struct pair *pair = pair_create(test, false);
	struct client_call *call = expose_one(pair);
	struct svcrdma_transport *t = pair->server;

	svcrdma_exposed_done(t, be32_to_cpu(call->rqst.rq_xid));
	KUNIT_EXPECT_FALSE(test, ends_after(t, most(t)));
	KUNIT_EXPECT_TRUE(test, ends_after(t, 1));
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

/* The client may read a reply, and say so, when its time was over just before. */
static void notification_of_an_exposure_that_ended_by_time(struct kunit *test)
{
	unsigned int seconds = svcrdma_expose_timeout;
	struct pair *pair = pair_create(test, false);
	struct svcrdma_transport *t;

	svcrdma_expose_timeout = 0;
	expose_one(pair);
	svcrdma_expose_timeout = seconds;
	t = pair->server;
	run_delayed(&t->st_region.work);
	pair_settle(pair);
	KUNIT_EXPECT_EQ(test, 0, t->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	KUNIT_EXPECT_FALSE(test, ends_after(t, most(t) + 1));
	KUNIT_EXPECT_TRUE(test, ends_after(t, 1));
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

static struct kunit_case expose_cases[] = {
	KUNIT_CASE(read_late),
	KUNIT_CASE(read_that_cannot_begin),
	KUNIT_CASE(read_while_nfsd_is_busy),
	KUNIT_CASE(read_another_reply),
	KUNIT_CASE(many_that_nobody_waits_for),
	KUNIT_CASE(exposure_ends_by_time),
	KUNIT_CASE(invalidation_takes_too_long),
	KUNIT_CASE(done_before_its_registration_is_done),
	KUNIT_CASE(connection_ends_with_an_exposure),
	KUNIT_CASE(device_goes_with_an_exposure),
	KUNIT_CASE(flood_of_notifications),
	KUNIT_CASE(notified_twice),
	KUNIT_CASE(notifications_that_were_right),
	KUNIT_CASE(right_notifications_are_not_saved_up),
	KUNIT_CASE(notification_of_an_exposure_that_ended_by_time),
	{}
};

static struct kunit_suite expose_suite = {
	.name = "memory_expose",
	.suite_init = pair_suite_init,
	.suite_exit = pair_suite_exit,
	.test_cases = expose_cases,
};

kunit_test_suite(expose_suite);
