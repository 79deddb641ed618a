// SPDX-License-Identifier: GPL-2.0-only
/* Traffic from several threads: a task that makes calls. */
#include <linux/delay.h>
#include <linux/kthread.h>

#include "threads.h"

static const struct traffic_kind kinds[] = {
	/* inline */
	{ { .head = 64, .reply_head = 256 }, { 200 } },
	/* Read chunk */
	{ { .head = 160, .pages = 9001, .tail = 40, .write = true, .reply_head = 200 },
	  { 200 } },
	/* Write chunk */
	{ { .head = 136, .reply_head = 128, .reply_pages = 12291, .reply_tail = 64,
	    .read = true }, { 128, 12291, 40 } },
	/* long call */
	{ { .head = 160, .pages = 20000, .tail = 40, .reply_head = 200 }, { 200 } },
	/* Reply chunk, or a reply that is exposed */
	{ { .head = 136, .reply_head = 128, .reply_pages = 9001, .reply_tail = 64 },
	  { 128, 9001, 40 } },
	/* memory for a long reply to which there is a small one, with which guesses change */
	{ { .head = 136, .reply_head = 128, .reply_pages = 9001, .reply_tail = 64 }, { 100 } },
	{ { .head = 136, .reply_head = 128, .reply_pages = 9001, .reply_tail = 64 }, { 100 } },
	/* Read chunk and Write chunk */
	{ { .head = 160, .pages = 9001, .tail = 40, .write = true, .reply_head = 128,
	    .reply_pages = 13001, .reply_tail = 64, .read = true }, { 128, 12999, 20 } },
};

/* The kind of a call is in its XID. */
const struct traffic_kind *traffic_kind(u32 xid)
{
	return &kinds[xid % ARRAY_SIZE(kinds)];
}

/* The call has bytes of its own; the RPC header and the padding stay as they were. */
static bool mark(struct client_call *call, const struct client_shape *shape, u8 key)
{
	u32 pad = xdr_pad_size(shape->pages);
	u32 i, end = shape->head + shape->pages;

	for (i = 40; i < call->length; i++)
		if (i < end || i >= end + pad)
			call->message[i] ^= key;
	return !write_bytes_to_xdr_buf(&call->rqst.rq_snd_buf, 0, call->message, call->length);
}

static u8 reply_byte(const struct pair_answer *answer, u32 at)
{
	u32 behind = answer->head + xdr_align_size(answer->item);

	if (at < answer->head)
		return fake_byte(at);
	return fake_byte(at < behind ? at - answer->head : at - behind + answer->head);
}

static void check_reply(struct traffic_thread *thread, struct client_call *call, u32 xid)
{
	const struct pair_answer *answer = &traffic_kind(xid)->answer;
	u32 behind = answer->head + xdr_align_size(answer->item);
	u32 i, length = behind + answer->tail;

	if (call->task.tk_status || call->rqst.rq_reply_bytes_recvd != length ||
	    call->rqst.rq_private_buf.len != length ||
	    read_bytes_from_xdr_buf(&call->rqst.rq_private_buf, 0, thread->bytes, length)) {
		traffic_wrong(thread, "reply %x: status %d, %zu bytes of %u", xid,
			      call->task.tk_status, call->rqst.rq_reply_bytes_recvd, length);
		return;
	}
	for (i = 8; i < length; i++) {
		if (i >= answer->head + answer->item && i < behind)
			continue;
		if (thread->bytes[i] == (reply_byte(answer, i) ^ traffic_key(xid)))
			continue;
		traffic_wrong(thread, "reply %x: byte %u is %x and not %x", xid, i,
			      thread->bytes[i], reply_byte(answer, i) ^ traffic_key(xid));
		return;
	}
}

/* As xprt_request_dequeue_xprt(): nobody looks at the call any more. */
static void let_go(struct client_call *call)
{
	struct rpc_rqst *rqst = &call->rqst;
	struct rpc_xprt *xprt = rqst->rq_xprt;

	spin_lock(&xprt->queue_lock);
	while (atomic_read(&rqst->rq_pin)) {
		set_bit(RPC_TASK_MSG_PIN_WAIT, &call->task.tk_runstate);
		spin_unlock(&xprt->queue_lock);
		wait_var_event(&rqst->rq_pin, !atomic_read(&rqst->rq_pin));
		spin_lock(&xprt->queue_lock);
		clear_bit(RPC_TASK_MSG_PIN_WAIT, &call->task.tk_runstate);
	}
	if (test_and_clear_bit(RPC_TASK_NEED_RECV, &call->task.tk_runstate))
		rb_erase(&rqst->rq_recv, &xprt->recv_queue);
	spin_unlock(&xprt->queue_lock);
}

/* It has been sent once, and nobody waits for a reply. */
static bool has_ended(struct client_call *call)
{
	return call->queued && client_call_done(call);
}

enum outcome { UNDER_WAY, ANSWERED, KILLED, GIVEN_UP };

/* As call_transmit(), with what goes before it. The write lock is held. */
static enum outcome transmit(struct traffic_thread *thread, struct client_call *call)
{
	struct traffic *traffic = thread->traffic;

	if (pair_client_failed(traffic->pair) || !traffic->pair->client.conn) {
		traffic_disconnect(traffic);
		traffic_connect(traffic);
	}
	if (traffic->gone)
		return GIVEN_UP;
	if (has_ended(call) ||
	    call->rqst.rq_connect_cookie == call->rqst.rq_xprt->connect_cookie)
		return UNDER_WAY;
	/* What is amiss passes: no credit, no memory region, no connection. */
	client_call_send(call);
	return UNDER_WAY;
}

/* Does it have to go out, for the first time or on another connection? */
static bool is_to_be_sent(struct traffic *traffic, const struct client_call *call)
{
	return pair_client_failed(traffic->pair) ||
	       call->rqst.rq_connect_cookie != READ_ONCE(call->rqst.rq_xprt->connect_cookie);
}

/*
 * Until the call has ended. @patience: how often it is looked at before the task is killed;
 * 0: that does not happen.
 */
static enum outcome converse(struct traffic_thread *thread, struct client_call *call,
			     unsigned int patience)
{
	struct traffic *traffic = thread->traffic;
	enum outcome outcome = UNDER_WAY;
	struct patience limit;

	patience_begin(&limit, TRAFFIC_SECONDS * HZ);
	while (outcome == UNDER_WAY) {
		if (has_ended(call))
			return ANSWERED;
		if (xprtrdma_request_of(&call->rqst)->rq_refused) {
			client_call_wait(call);
			call->task.tk_status = 0;
		}
		if (is_to_be_sent(traffic, call)) {
			mutex_lock(&traffic->write_lock);
			outcome = transmit(thread, call);
			mutex_unlock(&traffic->write_lock);
		}
		if (patience && !--patience)
			return KILLED;
		if (!patience_lasts(&limit)) {
			traffic_wrong(thread, "call %x: no reply in %u s",
				      be32_to_cpu(call->rqst.rq_xid), TRAFFIC_SECONDS);
			return GIVEN_UP;
		}
		usleep_range(20, 50);
	}
	return outcome;
}

/* One call; false when there are to be no more. */
static bool run(struct traffic_thread *thread, unsigned int serial)
{
	struct traffic *traffic = thread->traffic;
	u32 xid = (thread->number + 1) << 24 | serial << 8 | serial % ARRAY_SIZE(kinds);
	bool killed = traffic->kills && serial % 9 == thread->number;
	const struct client_shape *shape = &traffic_kind(xid)->shape;
	struct client_call *call;
	enum outcome outcome;

	thread->client.next_xid = xid;
	call = client_call_make(&thread->client, shape);
	if (!call || !mark(call, shape, traffic_key(xid))) {
		traffic_wrong(thread, "no memory");
		return false;
	}
	outcome = converse(thread, call, killed ? 1 + serial / 9 : 0);
	let_go(call);
	if (outcome == ANSWERED) {
		check_reply(thread, call, xid);
		atomic_inc(&traffic->answered);
	} else {
		atomic_inc(&traffic->killed);
	}
	client_call_destroy(call);
	return outcome != GIVEN_UP;
}

/* A thread that makes one call after the other. */
int traffic_task(void *data)
{
	struct traffic_thread *thread = data;
	unsigned int i;

	for (i = 0; i < thread->traffic->calls && !thread->why[0]; i++) {
		while (traffic_ended(thread->traffic) >= READ_ONCE(thread->traffic->hold))
			usleep_range(20, 50);
		if (!run(thread, i))
			break;
	}
	/* Once it is seen to have ended, its text may go. */
	kthread_complete_and_exit(&thread->ended, 0);
}
