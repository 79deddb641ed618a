// SPDX-License-Identifier: GPL-2.0-only
/*
 * The steps of an input. A step is a byte that selects an action, and bytes with its arguments;
 * behind the end of the input there are zeros. A step that lacks what it needs does nothing.
 */
#include <linux/delay.h>
#include <linux/unaligned.h>

#include "fuzz.h"

enum { LATE_STEPS = 240 };

static struct client_call *some_call(struct fuzz *fuzz, u8 *slot)
{
	*slot = fuzz_byte(fuzz) % FUZZ_CALLS;
	return fuzz->calls[*slot];
}

static void send(struct fuzz *fuzz, struct client_call *call)
{
	if (fuzz->pair->client.conn && !client_call_done(call))
		client_call_send(call);
}

static void step_call(struct fuzz *fuzz)
{
	const struct transfer_case *c = &transfer_cases[fuzz_byte(fuzz) % TRANSFERS];
	struct client_call *call;
	u8 slot;

	for (slot = 0; slot < FUZZ_CALLS && fuzz->calls[slot]; slot++)
		;
	if (slot == FUZZ_CALLS)
		return;
	call = client_call_make(&fuzz->pair->client, &c->shape);
	if (!call)
		return;
	client_call_enqueue(call);
	fuzz->calls[slot] = call;
	fuzz->cases[slot] = c;
	send(fuzz, call);
}

static void step_send(struct fuzz *fuzz)
{
	struct client_call *call;
	u8 slot;

	call = some_call(fuzz, &slot);
	if (call)
		send(fuzz, call);
}

/* Before whatever waits for completions */
static void release_all(struct fuzz *fuzz)
{
	struct pair *pair = fuzz->pair;
	int i;

	for (i = 0; i < PAIR_CQS; i++)
		if (pair_cq(pair, i))
			memory_release_cq(pair_cq(pair, i));
	if (pair->server)
		memory_release(pair->server->st_qp);
	if (pair->client.conn)
		memory_release(pair->client.conn->xc_id->qp);
}

/*
 * SUNRPC's worker closes a failed connection while the task that ends waits for it. Everything else
 * is done by one thread.
 */
static void close_work_run(struct work_struct *work)
{
	struct fuzz *fuzz = container_of(work, struct fuzz, close_work.work);

	if (pair_client_failed(fuzz->pair))
		pair_disconnect_client(fuzz->pair);
	else
		queue_delayed_work(system_unbound_wq, &fuzz->close_work, 1);
}

/* As xprt_release(), which first waits until a reply that is being processed has let go */
static void destroy_call(struct fuzz *fuzz, struct client_call *call)
{
	int i;

	INIT_DELAYED_WORK(&fuzz->close_work, close_work_run);
	queue_delayed_work(system_unbound_wq, &fuzz->close_work, 1);
	for (i = 0; i < 500 && atomic_read(&call->rqst.rq_pin); i++)
		msleep(20);
	client_call_destroy(call);
	cancel_delayed_work_sync(&fuzz->close_work);
}

/* A call that was answered has what nfsd has said. */
static void end_call(struct fuzz *fuzz, u8 slot)
{
	const struct pair_answer *answer = &fuzz->cases[slot]->answer;
	struct client_call *call = fuzz->calls[slot];

	fuzz->calls[slot] = NULL;
	if (client_call_done(call) && fuzz->clean)
		client_call_expect_reply(call, answer->head, answer->item, answer->tail);
	if (atomic_read(&call->rqst.rq_pin) ||
	    xprtrdma_request_of(&call->rqst)->rq_registered.ml_conn)
		destroy_call(fuzz, call);
	else
		client_call_destroy(call);
}

/* A task that is killed, or has its answer. It waits for completions: none is held back then. */
static void step_end(struct fuzz *fuzz)
{
	struct client_call *call;
	u8 slot;

	call = some_call(fuzz, &slot);
	if (!call)
		return;
	release_all(fuzz);
	pair_settle(fuzz->pair);
	end_call(fuzz, slot);
}

static const struct pair_answer error_answer = { .head = 28 };

/*
 * nfsd answers a call of ours as its kind wants, and any other with an error, as it does where the
 * call has left no pages for more.
 */
static const struct pair_answer *answer_to(struct fuzz *fuzz, u32 xid)
{
	struct svc_rqst *rqst = fuzz->pair->rqst;
	long pages = rqst->rq_page_end - rqst->rq_respages;
	u8 slot;

	for (slot = 0; slot < FUZZ_CALLS; slot++) {
		if (!fuzz->calls[slot] || be32_to_cpu(fuzz->calls[slot]->rqst.rq_xid) != xid)
			continue;
		if (pages > 2 + (long)PFN_UP(fuzz->cases[slot]->answer.item))
			return &fuzz->cases[slot]->answer;
		fuzz->clean = false;
	}
	return &error_answer;
}

/* As an nfsd thread that is woken for a transport, up to the call that it gets */
static void step_receive(struct fuzz *fuzz)
{
	struct pair *pair = fuzz->pair;
	struct svc_xprt *xprt;

	if (fuzz->served)
		return;
	xprt = lwq_dequeue(&pair->pool.sp_xprts, struct svc_xprt, xpt_ready);
	if (!xprt)
		return;
	/* XPT_BUSY is ours. */
	if (test_bit(XPT_CLOSE, &xprt->xpt_flags)) {
		release_all(fuzz);
		pair_disconnect_server(pair);
		return;
	}
	KUNIT_ASSERT_TRUE(fuzz->test, pair_rqst_prepare(pair, pair->rqst, xprt));
	if (svcrdma_recvfrom(pair->rqst) <= 0)
		return;
	svc_xprt_get(xprt);
	fuzz->served = xprt;
}

/* It has its answer; the connection may be gone, and the transport is, with the last reference. */
static void step_answer(struct fuzz *fuzz)
{
	struct pair *pair = fuzz->pair;
	struct svc_rqst *rqst = pair->rqst;
	struct svc_xprt *xprt = fuzz->served;
	__be32 xid = 0;

	if (!xprt)
		return;
	fuzz->served = NULL;
	read_bytes_from_xdr_buf(&rqst->rq_arg, 0, &xid, sizeof(xid));
	pair_encode(rqst, answer_to(fuzz, be32_to_cpu(xid)), be32_to_cpu(xid), 0);
	svcrdma_sendto(rqst);
	pair_done(rqst);
	svc_xprt_put(xprt);
}

static void step_serve(struct fuzz *fuzz)
{
	step_receive(fuzz);
	step_answer(fuzz);
}

static struct ib_qp *some_qp(struct fuzz *fuzz, u8 side)
{
	struct pair *pair = fuzz->pair;

	if (side & 1)
		return pair->server ? pair->server->st_qp : NULL;
	return pair->client.conn ? pair->client.conn->xc_id->qp : NULL;
}

/* Completions come late, queues stand still, or go on by some work requests. */
static void step_hold(struct fuzz *fuzz)
{
	u8 what = fuzz_byte(fuzz);
	struct ib_cq *cq = pair_cq(fuzz->pair, what >> 2 & 3);
	struct ib_qp *qp = some_qp(fuzz, what >> 2);

	switch (what & 3) {
	case 0:
		if (cq)
			memory_hold_cq(cq);
		break;
	case 1:
		if (cq)
			memory_release_cq(cq);
		break;
	case 2:
		if (qp)
			memory_hold(qp);
		break;
	case 3:
		if (qp && what & 128)
			memory_release(qp);
		else if (qp)
			memory_run(qp, what >> 3 & 15);
		break;
	}
}

static const enum ib_wc_status statuses[] = {
	IB_WC_LOC_LEN_ERR, IB_WC_LOC_PROT_ERR, IB_WC_REM_ACCESS_ERR, IB_WC_RNR_RETRY_EXC_ERR,
	IB_WC_RETRY_EXC_ERR, MEMORY_LOST, MEMORY_FALSE,
};

/* Not of posts: ib_core warns of one that fails while it drains a queue. step_refuse() has ours. */
static const enum memory_step faulty[] = {
	MEMORY_EXECUTE, MEMORY_RECEIVE, MEMORY_EXECUTE, MEMORY_RECEIVE,
	MEMORY_ALLOC_MR, MEMORY_MAP_MR, MEMORY_CREATE_CQ, MEMORY_CREATE_QP,
};

static void step_fault(struct fuzz *fuzz)
{
	u8 what = fuzz_byte(fuzz), at = fuzz_byte(fuzz);
	struct memory_device *device = pair_device(fuzz->pair, what & 1);
	enum memory_step step = faulty[what >> 1 & 7];
	enum ib_wc_status status = statuses[(what >> 4) % ARRAY_SIZE(statuses)];

	/* What is fixed by the step has no status; a Read that lies is one of rxe's. */
	fuzz->clean &= status != MEMORY_FALSE;
	memory_fault(device, step, memory_seen(device, step) + 1 + at % 32, status);
}

static void step_refuse(struct fuzz *fuzz)
{
	struct fault_plan plan = {};

	plan.site = fault_site(fuzz_byte(fuzz) % fault_sites());
	plan.at = 1 + fuzz_byte(fuzz) % 16;
	plan.burst = fuzz_byte(fuzz) % 4;
	fault_begin(&plan);
}

static void step_lose(struct fuzz *fuzz)
{
	struct ib_qp *qp = some_qp(fuzz, fuzz_byte(fuzz));

	if (qp)
		memory_lose(qp);
}

/* SUNRPC and nfsd close for reasons of their own, too. */
static void step_close(struct fuzz *fuzz)
{
	release_all(fuzz);
	if (fuzz_byte(fuzz) & 1)
		pair_disconnect_server(fuzz->pair);
	else
		pair_disconnect_client(fuzz->pair);
}

/* The server closes what it has of the connection before it has another. */
static void step_connect(struct fuzz *fuzz)
{
	if (fuzz->pair->client.conn)
		return;
	release_all(fuzz);
	fuzz_callbacks_end(fuzz);
	pair_disconnect_server(fuzz->pair);
	pair_connect(fuzz->pair);
}

static void step_message(struct fuzz *fuzz)
{
	u8 side = fuzz_byte(fuzz) & 1;

	/* The server may say anything in reply to a call, and the bytes are its own. */
	fuzz->clean = false;
	fuzz_message(fuzz, side);
}

static void step_grant(struct fuzz *fuzz)
{
	struct svcrdma_transport *t = fuzz->pair->server;
	u8 credits = fuzz_byte(fuzz);

	if (t && !READ_ONCE(t->st_closing) && t->st_grant < t->st_credits)
		svcrdma_grant_grow(t, min_t(u32, t->st_grant + credits, t->st_credits), GFP_KERNEL);
}

static void step_remove(struct fuzz *fuzz)
{
	struct memory_device *device = pair_device(fuzz->pair, fuzz_byte(fuzz) & 1);

	if (fuzz->removed)
		return;
	fuzz->removed = device;
	release_all(fuzz);
	pair_device_remove(device);
}

static void step_settle(struct fuzz *fuzz)
{
}

static void (*const steps[])(struct fuzz *fuzz) = {
	step_settle, step_call, step_call, step_serve, step_serve, step_send, step_end, step_hold,
	step_hold, step_fault, step_refuse, step_lose, step_close, step_connect, step_message,
	step_message, step_grant, step_remove, step_receive, step_answer,
};

static void (*const late_steps[])(struct fuzz *fuzz) = {
	fuzz_callback_send, fuzz_callback_send, fuzz_callback_answer, fuzz_callback_answer,
	fuzz_callback_kill, fuzz_knob,
};

/* The numbers of the first steps stay what they were when the first inputs were found. */
static void step(struct fuzz *fuzz)
{
	u8 what = fuzz_byte(fuzz);

	if (what < LATE_STEPS)
		steps[what % ARRAY_SIZE(steps)](fuzz);
	else
		late_steps[what % ARRAY_SIZE(late_steps)](fuzz);
}

static void settle(struct fuzz *fuzz)
{
	int patience = 1000;

	do {
		pair_settle(fuzz->pair);
	} while (fuzz_callbacks_run(fuzz) && patience--);
}

/* What was begun comes to its end; nothing is left of it, and the next connection works. */
static void finish(struct fuzz *fuzz)
{
	struct pair *pair = fuzz->pair;
	u8 slot;

	fault_end();
	pair_script(pair);
	release_all(fuzz);
	step_answer(fuzz);
	pair_settle(pair);
	fuzz_callbacks_end(fuzz);
	for (slot = 0; slot < FUZZ_CALLS; slot++)
		if (fuzz->calls[slot])
			end_call(fuzz, slot);
	if (fuzz->removed) {
		pair_disconnect(pair);
		pair_device_removed();
	} else {
		/* What was left unserved */
		pair->answer = error_answer;
		pair_pump(pair);
		pair->answer = pair_answer;
		pair_expect_healthy(pair);
		fuzz_callbacks_end(fuzz);
		pair_disconnect(pair);
	}
	pair_expect_nothing_left(pair);
}

/**
 * fuzz_run - one run, from a connection to its end
 * @fuzz: the pair has no connection
 * @input: steps
 * @length: size of @input in bytes
 *
 * Context: process, the thread of KUnit.
 * Return: false: a device has gone, and the pair is not to be used again.
 */
bool fuzz_run(struct fuzz *fuzz, const u8 *input, u32 length)
{
	u32 count;

	fuzz->at = input;
	fuzz->left = length;
	fuzz->clean = true;
	fuzz->reverse = fuzz->sides[fuzz_byte(fuzz) & 1];
	fuzz->pair = fuzz->reverse->pair;
	fuzz_knobs_begin();
	pair_wire_begin(fuzz->pair);
	fuzz->pair->client.next_xid = 0x50000001;
	fault_turn_first();
	pair_script(fuzz->pair);
	KUNIT_ASSERT_EQ(fuzz->test, 0, pair_connect(fuzz->pair));
	for (count = 0; fuzz->left && count < FUZZ_STEPS; count++) {
		step(fuzz);
		settle(fuzz);
	}
	finish(fuzz);
	fuzz_knobs_end();
	return !fuzz->removed;
}
