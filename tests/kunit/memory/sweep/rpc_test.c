// SPDX-License-Identifier: GPL-2.0-only
/* The sweep: a connection, and each way in which a call and its reply can travel. */
#include <linux/delay.h>
#include <linux/unaligned.h>

#include "sweep.h"

/* ---- a connection ---- */

static void connect_run(struct sweep *sweep)
{
	sweep_connect(sweep);
}

/* Its end, whoever begins it; nobody may be told. */
static void disconnect_run(struct sweep *sweep)
{
	struct pair *pair = sweep->pair;

	pair_disconnect_client(pair);
	pair_settle(pair);
	pair_disconnect_server(pair);
}

static void server_disconnect_run(struct sweep *sweep)
{
	struct pair *pair = sweep->pair;

	pair_disconnect_server(pair);
	pair_settle(pair);
	pair_disconnect_client(pair);
}

/* An RTU was lost; the first message says that the connection is there. */
static void established_run(struct sweep *sweep)
{
	struct svcrdma_transport *t = sweep->pair->server;
	struct ib_event event = {
		.device = t->st_qp->device, .element.qp = t->st_qp, .event = IB_EVENT_COMM_EST,
	};

	t->st_qp->event_handler(&event, t->st_qp->qp_context);
}

/* ---- an RPC ---- */

static void expect_answer(struct sweep *sweep, struct client_call *call)
{
	const struct pair_answer *answer = &sweep->op->answer;

	pair_expect_call(sweep->pair, call);
	client_call_expect_reply(call, answer->head, answer->item, answer->tail);
}

/* The server knows where WRITE of NFSv3 has its item: behind its length. */
static void be_write(struct sweep *sweep, struct client_call *call)
{
	static const u32 header[] = { 2, 100003, 3, 7 };
	const struct client_shape *shape = &sweep->op->shape;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(header); i++)
		put_unaligned_be32(header[i], call->message + 8 + 4 * i);
	put_unaligned_be32(shape->pages, call->message + shape->head - 4);
	KUNIT_ASSERT_EQ(sweep->test, 0,
			write_bytes_to_xdr_buf(&call->rqst.rq_snd_buf, 0, call->message,
					       call->length));
}

/* What the server reads ends as what was not read. */
static void end_unread(struct sweep *sweep, struct client_call *call)
{
	const struct client_shape *shape = &sweep->op->shape;
	u32 at = shape->head + shape->pages - 1;

	call->message[at] = SVCRDMA_READ_SENTINEL;
	KUNIT_ASSERT_EQ(sweep->test, 0,
			write_bytes_to_xdr_buf(&call->rqst.rq_snd_buf, at, &call->message[at], 1));
}

static void rpc_run(struct sweep *sweep)
{
	struct client_call *call = sweep_make(sweep, &sweep->op->shape);

	if (sweep->op->nfs)
		be_write(sweep, call);
	if (sweep->op->unread)
		end_unread(sweep, call);
	if (sweep_finish(sweep, call))
		expect_answer(sweep, call);
	client_call_destroy(call);
}

/* One whose answer is an error even when nothing fails */
static void refused_run(struct sweep *sweep)
{
	struct client_call *call = sweep_make(sweep, &sweep->op->shape);

	KUNIT_EXPECT_FALSE(sweep->test, sweep_finish(sweep, call));
	client_call_destroy(call);
	if (sweep->outcome == FAULT_ENDED && !fault_happened())
		sweep->outcome = FAULT_NOTHING;
}

/* The buffers are SUNRPC's to ask for, for a task that memory may be waiting for. */
static void buffers_run(struct sweep *sweep)
{
	struct client *client = &sweep->pair->client;
	struct rpc_rqst rqst = { .rq_xprt = client->xprt, .rq_callsize = 64, .rq_rcvsize = 64 };
	struct rpc_task task = { .tk_rqstp = &rqst, .tk_xprt = client->xprt,
				 .tk_flags = RPC_TASK_ASYNC };
	int attempts;

	rqst.rq_task = &task;
	for (attempts = 0; !rqst.rq_buffer && attempts < 12; attempts++)
		if (xprtrdma_request_alloc(&task))
			sweep_note(sweep, FAULT_RETRIED);
	KUNIT_ASSERT_NOT_NULL(sweep->test, rqst.rq_buffer);
	xprtrdma_request_free(&task);
}

/* ---- with calls outstanding ---- */

static const struct client_shape shapes[] = {
	{ .head = 160, .pages = 9001, .tail = 40, .write = true, .reply_head = 200 },
	{ READS(12291) },
	{ .head = 160, .pages = 20000, .tail = 40, .reply_head = 200 },
};

static const struct pair_answer answers[] = { { 200 }, { 128, 12291, 40 }, { 200 } };

/* As SUNRPC, which is woken when there are more regions. */
static void send(struct sweep *sweep, struct client_call *call)
{
	int rc = client_call_send(call);

	if (rc == -EAGAIN) {
		pair_settle(sweep->pair);
		rc = client_call_send(call);
	}
	KUNIT_ASSERT_EQ(sweep->test, 0, rc);
}

/* The server has not looked at them. */
static void outstanding_prepare(struct sweep *sweep)
{
	struct pair *pair = sweep->pair;
	struct client_call *first;
	int i;

	sweep_fresh(sweep);
	/* The first grant */
	first = pair_call(pair);
	pair->answer = pair_answer;
	KUNIT_ASSERT_TRUE(sweep->test, pair_run_call(pair, first));
	client_call_destroy(first);
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		sweep->calls[i] = client_call_create(&pair->client, &shapes[i]);
		send(sweep, sweep->calls[i]);
	}
	pair_settle(pair);
}

static void reconnect_run(struct sweep *sweep)
{
	struct pair *pair = sweep->pair;
	struct client_call *call;
	int i;

	if (pair->client.conn)
		memory_lose(pair->client.conn->xc_id->qp);
	pair_settle(pair);
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		call = sweep->calls[i];
		pair->answer = answers[i];
		if (sweep_finish(sweep, call)) {
			pair_expect_call(pair, call);
			client_call_expect_reply(call, answers[i].head, answers[i].item,
						 answers[i].tail);
		}
		client_call_destroy(call);
	}
}

/* The calls are answered on the next connection. */
static void outstanding_check(struct sweep *sweep)
{
	reconnect_run(sweep);
	sweep->outcome = fault_happened() ? FAULT_LOST : FAULT_NOTHING;
	sweep_check_pair(sweep);
}

/* ---- the server asks for Sends that were unsignalled ---- */

static void probe_prepare(struct sweep *sweep)
{
	struct pair *pair = sweep->pair;
	struct client_call *call;
	int i;

	sweep_fresh(sweep);
	for (i = 0; i < 2; i++) {
		call = client_call_create(&pair->client, &sweep->op->shape);
		KUNIT_ASSERT_TRUE(sweep->test, pair_run_call(pair, call));
		client_call_destroy(call);
	}
	KUNIT_ASSERT_TRUE(sweep->test, atomic_read(&pair->server->st_sq.unsignalled));
}

static void probe_run(struct sweep *sweep)
{
	struct pair *pair = sweep->pair;
	int attempts;

	for (attempts = 0; atomic_read(&pair->server->st_sq.unsignalled) && attempts < 12;
	     attempts++) {
		if (attempts)
			sweep_note(sweep, FAULT_RETRIED);
		flush_delayed_work(&pair->server->st_sq.worker);
		pair_settle(pair);
		if (!READ_ONCE(pair->server->st_closing))
			continue;
		sweep_note(sweep, FAULT_LOST);
		pair_disconnect(pair);
		pair_expect_nothing_left(pair);
		return;
	}
	KUNIT_EXPECT_FALSE(sweep->test, atomic_read(&pair->server->st_sq.unsignalled));
}

/* ---- a task is killed ---- */

struct kill {
	struct work_struct	work;
	struct client_call	*call;
	bool			done;
};

static void kill_work(struct work_struct *work)
{
	struct kill *kill = container_of(work, struct kill, work);

	client_call_destroy(kill->call);
	smp_store_release(&kill->done, true);	/* pairs with kill_run() */
}

/* Its reply is on its way into its memory. */
static void kill_prepare(struct sweep *sweep)
{
	struct pair *pair = sweep->pair;

	sweep_fresh(sweep);
	sweep->call = client_call_create(&pair->client, &sweep->op->shape);
	KUNIT_ASSERT_EQ(sweep->test, 0, client_call_send(sweep->call));
	pair_settle(pair);
	memory_hold(pair->server->st_qp);
	KUNIT_EXPECT_TRUE(sweep->test, pair_serve(pair));
	KUNIT_EXPECT_EQ(sweep->test, 1, memory_valid_keys(pair->client_device));
}

/* The task waits until its memory is its own; the connection may have to end for that. */
static void kill_run(struct sweep *sweep)
{
	struct kill kill = { .call = sweep->call };
	struct pair *pair = sweep->pair;

	INIT_WORK_ONSTACK(&kill.work, kill_work);
	queue_work(system_unbound_wq, &kill.work);
	while (!smp_load_acquire(&kill.done)) {	/* pairs with kill_work() */
		usleep_range(50, 100);
		if (!pair_client_failed(pair) || !pair->client.conn)
			continue;
		sweep_note(sweep, FAULT_LOST);
		pair_disconnect_client(pair);
	}
	flush_work(&kill.work);
	destroy_work_on_stack(&kill.work);
	KUNIT_EXPECT_EQ(sweep->test, 0, memory_valid_keys(pair->client_device));
	if (pair->server)
		memory_release(pair->server->st_qp);
	pair_pump(pair);
}

/* ---- a device goes ---- */

static void replace_device(struct sweep *sweep, struct memory_device **device)
{
	if (!(*device)->registered)
		*device = memory_device_create(sweep->test, (*device)->iwarp);
}

/* While the client reads what the server exposes */
static void removal_prepare(struct sweep *sweep)
{
	struct pair *pair = sweep->pair;

	replace_device(sweep, &pair->client_device);
	replace_device(sweep, &pair->server_device);
	sweep_fresh(sweep);
	sweep->call = client_call_create(&pair->client, &sweep->op->shape);
	KUNIT_ASSERT_EQ(sweep->test, 0, client_call_send(sweep->call));
	pair_settle(pair);
	KUNIT_EXPECT_TRUE(sweep->test, pair_serve(pair));
}

static void removal_run(struct sweep *sweep)
{
	struct memory_device *device = pair_device(sweep->pair, sweep->op->side);
	struct pair *pair = sweep->pair;

	pair_device_remove(device);
	pair_settle(pair);
	pair_disconnect(pair);
	pair_device_removed();
	KUNIT_EXPECT_FALSE(sweep->test, device->registered);
}

static void removal_check(struct sweep *sweep)
{
	pair_expect_nothing_left(sweep->pair);
	client_call_destroy(sweep->call);
}

/* ---- cases ---- */

#define RPC		.prepare = sweep_fresh, .run = rpc_run, .check = sweep_check_pair
#define WRITES(n)	.head = 160, .pages = (n), .tail = 40, .write = true, \
			.reply_head = 200

static const struct sweep_op ops[] = {
	{ "connect", sweep_drop, connect_run, sweep_check_pair },
	{ "disconnect", outstanding_prepare, disconnect_run, outstanding_check },
	{ "disconnect by the server", outstanding_prepare, server_disconnect_run,
	  outstanding_check },
	{ "reconnect with calls outstanding", outstanding_prepare, reconnect_run,
	  sweep_check_pair },
	{ "communication established", sweep_fresh, established_run, sweep_check_pair },
	{ "buffers", sweep_fresh, buffers_run, sweep_check_pair },
	{ "inline", RPC, .shape = { .head = 64, .reply_head = 256 }, .answer = { 200 } },
	{ "inline READ", RPC, .shape = { READS(300) }, .answer = { 128 + 300 } },
	{ "inline WRITE", RPC, .shape = { WRITES(300) }, .answer = { 200 } },
	{ "READ", RPC, .shape = { READS(12291) }, .answer = { 128, 12291, 40 } },
	{ "WRITE", RPC, .shape = { WRITES(8195) }, .answer = { 200 } },
	{ "WRITE of NFSv3", RPC, .shape = { WRITES(8195) }, .answer = { 200 }, .nfs = true },
	{ "WRITE and READ", RPC, .shape = { .head = 160, .pages = 8195, .tail = 40,
	  .write = true, .reply_head = 128, .reply_pages = 13001, .reply_tail = 64,
	  .read = true }, .answer = { 128, 12999, 20 } },
	{ "long call", RPC, .shape = { .head = 160, .pages = 20000, .tail = 40,
	  .reply_head = 200 }, .answer = { 200 } },
	{ "long call, long head", RPC, .shape = { .head = 9000, .reply_head = 200 },
	  .answer = { 200 } },
	{ "Reply chunk", RPC, .shape = { PLAIN(8192) }, .answer = { 128, 8192, 40 },
	  .plain = true },
	/* More regions than there are at first */
	{ "long call and Reply chunk", RPC, .shape = { .head = 160, .pages = 8195,
	  .tail = 40, .reply_head = 128, .reply_pages = 9001, .reply_tail = 64 },
	  .answer = { 128, 9001, 20 }, .plain = true },
	/* More segments than a Receive context of the server has room for */
	{ "long call and Reply chunk of many segments", RPC, .shape = { .head = 160,
	  .base = 4000, .pages = 524000, .tail = 40, .reply_head = 128, .reply_base = 4000,
	  .reply_pages = 524000, .reply_tail = 64 }, .answer = { 128, 524000, 20 },
	  .plain = true },
	{ "Reply chunk and Write chunk", RPC, .shape = { .head = 136, .reply_head = 3000,
	  .reply_pages = 12288, .reply_tail = 3000, .read = true },
	  .answer = { 3000, 12288, 2024 }, .plain = true },
	{ "Reply chunk, pages are missing", RPC, .shape = { .head = 136, .reply_head = 128,
	  .reply_pages = 8192, .reply_tail = 64, .sparse = true },
	  .answer = { 128, 8192, 40 }, .plain = true },
	{ "Reply chunk is too small", sweep_fresh, refused_run, sweep_check_pair,
	  .shape = { PLAIN(6000) }, .answer = { 128, 20000 }, .plain = true },
	{ "exposed reply", RPC, .shape = { PLAIN(61440) }, .answer = { 128, 61440, 4 } },
	{ "exposed reply and Write chunk", RPC, .shape = { .head = 136, .reply_head = 3000,
	  .reply_pages = 12288, .reply_tail = 3000, .read = true },
	  .answer = { 3000, 12288, 2116 } },
	{ "replies that nobody has heard of", probe_prepare, probe_run, sweep_check_pair,
	  .shape = { .head = 64, .reply_head = 256 }, .answer = { 200 } },
	{ "a task is killed", kill_prepare, kill_run, sweep_check_pair,
	  .shape = { READS(12291) }, .answer = { 128, 12291, 40 } },
	{ "removal, client", removal_prepare, removal_run, removal_check,
	  .shape = { PLAIN(61440) }, .answer = { 128, 61440, 4 }, .side = PAIR_CLIENT },
	{ "removal, server", removal_prepare, removal_run, removal_check,
	  .shape = { PLAIN(61440) }, .answer = { 128, 61440, 4 }, .side = PAIR_SERVER },
};

KUNIT_ARRAY_PARAM_DESC(op, ops, desc);

static void sweep_it(struct kunit *test, bool iwarp)
{
	struct sweep *sweep = sweep_create(test);

	sweep->again = iwarp;
	sweep_limit(sweep, pair_create(test, iwarp));
	sweep_all(sweep, test->param_value);
}

/* RFC 4296 section 3.2 (A11), and everything that is not the device */
static void each_site_on_infiniband(struct kunit *test)
{
	sweep_it(test, false);
}

static void each_site_on_iwarp(struct kunit *test)
{
	sweep_it(test, true);
}

/* There a Read may not be done when it is complete. */
static void each_site_on_rxe(struct kunit *test)
{
	static const struct sweep_op op = {
		"WRITE, rxe", RPC, .shape = { WRITES(8195) }, .answer = { 200 }, .unread = true,
	};
	struct sweep *sweep = sweep_create(test);

	sweep->again = true;
	sweep_limit(sweep, pair_create_as(test, memory_shape_of(RDMA_DRIVER_RXE)));
	sweep_all(sweep, &op);
}

static struct kunit_case rpc_cases[] = {
	KUNIT_CASE_PARAM(each_site_on_infiniband, op_gen_params),
	KUNIT_CASE_PARAM(each_site_on_iwarp, op_gen_params),
	KUNIT_CASE(each_site_on_rxe),
	{}
};

static struct kunit_suite rpc_suite = {
	.name = "memory_sweep_rpc",
	.suite_init = pair_suite_init,
	.suite_exit = pair_suite_exit,
	.test_cases = rpc_cases,
};

kunit_test_suite(rpc_suite);
