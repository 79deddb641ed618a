// SPDX-License-Identifier: GPL-2.0-only
/* Client and server over the provider in memory: makes, connects and removes them. */
#include <linux/module.h>
#include <linux/slab.h>

#include "pair.h"

int pair_suite_init(struct kunit_suite *suite)
{
	int ret = server_module_init();

	if (ret)
		return ret;
	ret = pair_wire_init();
	if (ret)
		goto out_server;
	/* As xprtrdma_transport_register(). */
	xprtrdma_wq = alloc_workqueue("xprtrdma_kunit", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	ret = -ENOMEM;
	if (!xprtrdma_wq)
		goto out_wire;
	ret = rpcrdma_buffers_start("rpcrdma_kunit");
	if (!ret)
		return 0;
	destroy_workqueue(xprtrdma_wq);
out_wire:
	pair_wire_exit();
out_server:
	server_module_exit();
	return ret;
}

void pair_suite_exit(struct kunit_suite *suite)
{
	rpcrdma_buffers_stop();
	destroy_workqueue(xprtrdma_wq);
	pair_wire_exit();
	server_module_exit();
}

/* ---- the server ---- */

static void service_exit(struct pair *pair)
{
	fake_thread_free(pair->rqst);
	pair_pages_put(pair);
	kvfree(pair->pages);
	fake_nfsd_exit(&pair->pool);
}

/*
 * As svc_handle_xprt() with what the listener has. The reference is the test's: the
 * transport may be deleted by others, when its device goes.
 */
int pair_server_accept(struct pair *pair, struct svcrdma_transport *t)
{
	struct svc_serv *serv = &pair->serv;
	ktime_t begin = ktime_get();
	int ret = svcrdma_transport_accept(t);

	pair->accepting += ktime_get() - begin;
	if (ret) {
		svcrdma_transport_discard(t);
		return ret;
	}
	__module_get(svcrdma_class.xcl_owner);
	svc_xprt_get(&t->st_xprt);
	set_bit(XPT_TEMP, &t->st_xprt.xpt_flags);
	spin_lock_bh(&serv->sv_lock);
	list_add(&t->st_xprt.xpt_list, &serv->sv_tempsocks);
	serv->sv_tmpcnt++;
	spin_unlock_bh(&serv->sv_lock);
	pair->server = t;
	svc_xprt_received(&t->st_xprt);
	return 0;
}

/* As an nfsd thread that finds XPT_CLOSE. */
void pair_disconnect_server(struct pair *pair)
{
	struct svcrdma_transport *t = pair->server;

	if (!t)
		return;
	pair->server = NULL;
	fake_nfsd_ready(&pair->pool);
	clear_bit(XPT_BUSY, &t->st_xprt.xpt_flags);
	svc_xprt_close(&t->st_xprt);
	if (fake_nfsd_ready(&pair->pool))
		kunit_fail_current_test("a transport is queued that is being freed");
	svc_xprt_put(&t->st_xprt);
	fake_cm_flush();
}

/* ---- the client ---- */

/**
 * pair_connect_client - as the connect worker
 * @pair: its server
 * @client: any client of it, not connected
 *
 * Return: 0 or what the worker would see.
 */
int pair_connect_client(struct pair *pair, struct client *client)
{
	struct xprtrdma_conn *conn;

	client_begin(client);
	conn = xprtrdma_conn_create(client->transport);
	if (IS_ERR(conn)) {
		fake_cm_flush();
		pair_disconnect_server(pair);
		return PTR_ERR(conn);
	}
	client_take(client, conn);
	return 0;
}

int pair_connect(struct pair *pair)
{
	return pair_connect_client(pair, &pair->client);
}

/* Once more calls have been made than a connection begins with */
void pair_grow(struct pair *pair)
{
	struct xprtrdma_conn *conn = pair->client.conn;
	struct svcrdma_transport *t = pair->server;

	if (t->st_grant < t->st_credits)
		KUNIT_ASSERT_EQ(pair->test, 0,
				svcrdma_grant_grow(t, t->st_credits, GFP_KERNEL));
	KUNIT_ASSERT_EQ(pair->test, 0, client_make_all(conn));
	KUNIT_ASSERT_EQ(pair->test, 0, xprtrdma_mrs_create(conn, 28));
}

/* As ->close. */
void pair_disconnect_client(struct pair *pair)
{
	client_disconnect(&pair->client);
	fake_cm_flush();
}

void pair_disconnect(struct pair *pair)
{
	pair_disconnect_client(pair);
	pair_disconnect_server(pair);
}

/* SUNRPC has been asked to close. */
bool pair_client_failed(struct pair *pair)
{
	return test_bit(XPRT_CLOSE_WAIT, &pair->client.xprt->state);
}

/* ---- both ---- */

static void pair_destroy_action(void *data)
{
	struct pair *pair = data;

	pair_disconnect(pair);
	client_exit(&pair->client);
	if (fake_cm.ids)
		kunit_fail_current_test("%d cm_ids were left", fake_cm.ids);
	service_exit(pair);
	kvfree(pair->arg);
}

/* Two devices of this shape, an address and a service; no connection. */
struct pair *pair_create_as(struct kunit *test, const struct memory_shape *shape)
{
	struct pair *pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pair);
	pair->test = test;
	pair->client_device = memory_device_create_as(test, shape);
	pair->server_device = memory_device_create_as(test, shape);
	spin_lock_init(&pair->pages_lock);
	KUNIT_ASSERT_EQ(test, 0, fake_nfsd_init(&pair->serv, &pair->pool, PAIR_PAYLOAD));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, pair_destroy_action, pair));
	pair->rqst = fake_thread_create(&pair->serv);
	KUNIT_ASSERT_NOT_NULL(test, pair->rqst);
	pair->pages = kvcalloc(PAIR_PAGES, sizeof(*pair->pages), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pair->pages);
	pair->arg = kvmalloc(2 * PAIR_PAYLOAD, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pair->arg);
	client_init(&pair->client, test, 0x50000001);
	pair_wire_begin(pair);
	test->priv = pair;
	return pair;
}

/* Each shape of a real device */
COMPAT_GEN_PARAMS(pair_shape_params, before, desc)
{
	const struct memory_shape *shape = before;

	shape = shape ? shape + 1 : memory_shapes;
	if (!shape->name)
		return NULL;
	strscpy(desc, shape->name, KUNIT_PARAM_DESC_SIZE);
	return shape;
}

struct pair *pair_create(struct kunit *test, bool iwarp)
{
	return pair_create_as(test, &memory_plain[iwarp]);
}

/* The n-th completion queue of these two ends; NULL if it does not exist. */
struct ib_cq *pair_cq_of(const struct xprtrdma_conn *conn, const struct svcrdma_transport *t,
			 unsigned int n)
{
	switch (n) {
	case 0:
		return conn ? conn->xc_send_cq : NULL;
	case 1:
		return conn ? conn->xc_recv_cq : NULL;
	case 2:
		return t ? t->st_send_cq : NULL;
	default:
		return t ? t->st_recv_cq : NULL;
	}
}

struct ib_cq *pair_cq(struct pair *pair, unsigned int n)
{
	return pair_cq_of(pair->client.conn, pair->server, n);
}

/**
 * pair_cq_flush - whoever polls a completion queue has done so
 * @cq: the queue
 * @t: the server, or NULL. No thread has it, and nobody closes it
 */
void pair_cq_flush(struct ib_cq *cq, struct svcrdma_transport *t)
{
	if (!t || cq != t->st_recv_cq) {
		flush_work(&cq->work);
		return;
	}
	if (t->st_poll.by_worker) {
		flush_work(&t->st_poll.work);
		return;
	}
	/* As a thread of nfsd that takes no call. */
	svcrdma_poll(t);
	svcrdma_poll_arm(t);
}

/* Completions ever, and those that nobody has polled. */
static u32 count_completions(struct pair *pair, u32 *waiting)
{
	struct ib_cq *cq;
	u32 count = 0;
	int i;

	*waiting = 0;
	for (i = 0; i < PAIR_CQS; i++) {
		cq = pair_cq(pair, i);
		if (!cq)
			continue;
		count += READ_ONCE(memory_cq_of(cq)->put);
		if (!memory_cq_of(cq)->held)
			*waiting += memory_cq_waiting(cq);
	}
	return count;
}

static void flush_all(struct pair *pair)
{
	struct ib_cq *cq;
	int i;

	/* One whose device goes is closed by a work item of its own. */
	svcrdma_transports_wait(&pair->serv, NULL);
	for (i = 0; i < PAIR_CQS; i++) {
		cq = pair_cq(pair, i);
		if (cq && !memory_cq_of(cq)->held)
			pair_cq_flush(cq, pair->server);
	}
	if (pair->client.conn)
		flush_delayed_work(&pair->client.conn->xc_pull.worker);
	flush_workqueue(xprtrdma_wq);
	fake_cm_flush();
}

/* Work items that queue each other: what is to be read needs regions, and more are made for it. */
static bool work_goes_on(const struct pair *pair)
{
	struct xprtrdma_conn *conn = pair->client.conn;

	return conn && (work_busy(&conn->xc_mr.worker) || work_busy(&conn->xc_pull.worker.work));
}

/*
 * Whatever happens by itself has happened: all work items were waited for, and none of
 * them has caused a completion meanwhile, whose handler may run still. Where there are no more
 * regions they go on queueing each other: not for ever.
 */
void pair_settle(struct pair *pair)
{
	int rounds = 1000, turns = 12;
	u32 before, after, waiting;

	do {
		before = count_completions(pair, &waiting);
		flush_all(pair);
		after = count_completions(pair, &waiting);
	} while (((work_goes_on(pair) && turns--) || before != after || waiting) && rounds--);
	KUNIT_EXPECT_GT_MSG(pair->test, rounds, 0, "completions that nobody polls");
}

static void expect_client_at_rest(struct pair *pair)
{
	struct xprtrdma_conn *conn = pair->client.conn;
	struct kunit *test = pair->test;

	client_expect_idle(&pair->client, memory_receives(conn->xc_id->qp));
	KUNIT_EXPECT_EQ(test, 0, memory_valid_keys(pair->client_device));
	KUNIT_EXPECT_EQ(test, conn->xc_send.count,
			client_free_sends(&pair->client) + client_posted_sends(&pair->client));
	KUNIT_EXPECT_EQ(test, 0, memory_sends(conn->xc_id->qp));
	KUNIT_EXPECT_EQ(test, 0, conn->xc_window.in_flight);
}

static void expect_server_at_rest(struct pair *pair)
{
	struct svcrdma_transport *t = pair->server;

	server_expect_idle(pair->test, t, memory_receives(t->st_qp));
	KUNIT_EXPECT_EQ(pair->test, 0, t->st_qp->mrs_used);
}

/* Nothing is lent out, nothing is exposed, no buffer and no queue entry is lost. */
void pair_expect_at_rest(struct pair *pair)
{
	pair_settle(pair);
	KUNIT_ASSERT_NOT_NULL(pair->test, pair->client.conn);
	KUNIT_ASSERT_NOT_NULL(pair->test, pair->server);
	expect_client_at_rest(pair);
	expect_server_at_rest(pair);
}

/* Without a connection there is nothing of one: no verbs object, no mapping, no page. */
void pair_expect_nothing_left(struct pair *pair)
{
	struct kunit *test = pair->test;

	memory_device_expect_empty(pair->client_device);
	memory_device_expect_empty(pair->server_device);
	KUNIT_EXPECT_EQ(test, 0, pair->client_device->nr_mappings);
	KUNIT_EXPECT_EQ(test, 0, pair->server_device->nr_mappings);
	KUNIT_EXPECT_EQ(test, 0, fake_cm.ids);
	KUNIT_EXPECT_EQ(test, 0, pair->serv.sv_tmpcnt);
}
