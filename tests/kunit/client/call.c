// SPDX-License-Identifier: GPL-2.0-only
/*
 * RPCs for the client's suites, and the server's side of them.
 *
 * Byte n of each RPC message is fake_byte(n), but for the XID and the direction;
 * byte n of an item in a Write chunk is fake_byte(n), too.
 */
#include <linux/slab.h>

#include "client.h"

static void set_word(u8 *to, u32 word)
{
	to[0] = word >> 24;
	to[1] = word >> 16;
	to[2] = word >> 8;
	to[3] = word;
}

static bool alloc_pages_for(struct page **pages, u32 length)
{
	u32 i;

	if (PFN_UP(length) > CLIENT_PAGES)
		return false;
	for (i = 0; i < PFN_UP(length); i++) {
		pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!pages[i])
			return false;
	}
	return true;
}

static void free_pages_of(struct page **pages)
{
	u32 i;

	for (i = 0; i < CLIENT_PAGES; i++)
		if (pages[i])
			__free_page(pages[i]);
}

/* As call_encode() leaves it. */
static bool build_call(struct client_call *call, const struct client_shape *shape)
{
	struct xdr_buf *buf = &call->rqst.rq_snd_buf;
	u32 pad = xdr_pad_size(shape->pages);
	u8 *at = call->rqst.rq_buffer;

	if (!alloc_pages_for(call->pages, shape->base + shape->pages))
		return false;
	xdr_buf_init(buf, at, call->rqst.rq_callsize);
	buf->head[0].iov_len = shape->head;
	buf->pages = call->pages;
	buf->page_base = shape->base;
	buf->page_len = shape->pages;
	buf->tail[0].iov_base = at + shape->head;
	buf->tail[0].iov_len = pad + shape->tail;
	buf->len = shape->head + shape->pages + pad + shape->tail;
	buf->flags = shape->write ? XDRBUF_WRITE : 0;

	call->length = buf->len;
	call->message = kvmalloc(call->length, GFP_KERNEL);
	if (!call->message)
		return false;
	fake_fill(call->message, call->length);
	set_word(call->message, be32_to_cpu(call->rqst.rq_xid));
	set_word(call->message + 4, RPCRDMA_RPC_CALL);
	/* AUTH_NONE, twice */
	if (call->length >= 40)
		memset(call->message + 24, 0, 16);
	memset(call->message + shape->head + shape->pages, 0, pad);
	return !write_bytes_to_xdr_buf(buf, 0, call->message, call->length);
}

/* As rpc_xdr_encode() and rpc_prepare_reply_pages() leave it. */
static bool build_reply(struct client_call *call, const struct client_shape *shape)
{
	struct xdr_buf *buf = &call->rqst.rq_rcv_buf;
	u32 pages = shape->reply_base + shape->reply_pages;

	xdr_buf_init(buf, call->rqst.rq_rbuffer, call->rqst.rq_rcvsize);
	if (!shape->reply_pages)
		return true;
	if (!shape->sparse && !alloc_pages_for(call->reply_pages, pages))
		return false;
	xdr_inline_pages(buf, shape->reply_head, call->reply_pages, shape->reply_base,
			 shape->reply_pages);
	if (shape->read)
		buf->flags |= XDRBUF_READ;
	if (shape->sparse)
		buf->flags |= XDRBUF_SPARSE_PAGES;
	return true;
}

static void prepare_rqst(struct client_call *call)
{
	struct rpc_rqst *rqst = &call->rqst;

	call->task.tk_runstate = BIT(RPC_TASK_ACTIVE);
	rqst->rq_timeout = 60 * HZ;
	rqst->rq_majortimeo = jiffies + 60 * HZ;
	call->task.tk_rqstp = rqst;
	call->task.tk_xprt = call->client->xprt;
	call->task.tk_msg.rpc_proc = &call->client->proc;
	rqst->rq_task = &call->task;
	rqst->rq_xprt = call->client->xprt;
	rqst->rq_cred = &call->client->cred;
	rqst->rq_xid = cpu_to_be32(call->client->next_xid++);
	rqst->rq_connect_cookie = call->client->xprt->connect_cookie - 1;
	INIT_LIST_HEAD(&rqst->rq_xmit);
	RB_CLEAR_NODE(&rqst->rq_recv);
}

/**
 * client_call_make - an RPC that has been encoded
 * @client: whose; its calls are those of one thread
 * @shape: its sizes; the head holds XID and direction, so it has 8 bytes at least
 *
 * Context: process, any thread.
 * Return: an RPC for client_call_destroy(), or NULL.
 */
struct client_call *client_call_make(struct client *client, const struct client_shape *shape)
{
	struct client_call *call = kvzalloc(sizeof(*call), GFP_KERNEL);
	struct rpc_rqst *rqst;

	if (!call)
		return NULL;
	list_add_tail(&call->list, &client->calls);
	call->client = client;
	prepare_rqst(call);
	rqst = &call->rqst;
	rqst->rq_callsize = shape->head + 4 + shape->tail;
	rqst->rq_rcvsize = shape->reply_head + shape->reply_tail;
	if (!xprtrdma_request_alloc(&call->task) && build_call(call, shape) &&
	    build_reply(call, shape))
		return call;
	client_call_destroy(call);
	return NULL;
}

/* client_call_make() for the test's thread; without memory the test ends. */
struct client_call *client_call_create(struct client *client,
				       const struct client_shape *shape)
{
	struct client_call *call = client_call_make(client, shape);

	KUNIT_ASSERT_NOT_NULL(client->test, call);
	return call;
}

static void dequeue(struct client_call *call)
{
	struct rpc_xprt *xprt = call->client->xprt;

	spin_lock(&xprt->queue_lock);
	if (test_and_clear_bit(RPC_TASK_NEED_RECV, &call->task.tk_runstate))
		rb_erase(&call->rqst.rq_recv, &xprt->recv_queue);
	call->queued = false;
	spin_unlock(&xprt->queue_lock);
	rpc_wake_up_queued_task(&xprt->pending, &call->task);
}

/* As xprt_release(). SUNRPC's count of calls under way has no other guard. */
void client_call_destroy(struct client_call *call)
{
	struct rpc_xprt *xprt = call->client->xprt;

	dequeue(call);
	if (atomic_read(&call->rqst.rq_pin))
		kunit_fail_current_test("an RPC that is pinned is released");
	list_del(&call->list);
	spin_lock(&xprt->transport_lock);
	xprt_release_rqst_cong(&call->task);
	spin_unlock(&xprt->transport_lock);
	if (call->rqst.rq_buffer)
		xprtrdma_request_free(&call->task);
	free_pages_of(call->pages);
	free_pages_of(call->reply_pages);
	kvfree(call->message);
	kvfree(call);
}

/* As xprt_request_enqueue_receive(). */
void client_call_enqueue(struct client_call *call)
{
	struct rpc_xprt *xprt = call->client->xprt;
	struct rb_node **link = &xprt->recv_queue.rb_node, *parent = NULL;
	struct rpc_rqst *other;

	spin_lock(&xprt->queue_lock);
	while (*link) {
		parent = *link;
		other = rb_entry(parent, struct rpc_rqst, rq_recv);
		link = (__force u32)call->rqst.rq_xid < (__force u32)other->rq_xid ?
			&parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&call->rqst.rq_recv, parent, link);
	rb_insert_color(&call->rqst.rq_recv, &xprt->recv_queue);
	memcpy(&call->rqst.rq_private_buf, &call->rqst.rq_rcv_buf,
	       sizeof(call->rqst.rq_private_buf));
	call->rqst.rq_reply_bytes_recvd = 0;
	set_bit(RPC_TASK_NEED_RECV, &call->task.tk_runstate);
	call->queued = true;
	spin_unlock(&xprt->queue_lock);
}

/* As call_transmit(): into the receive queue, then to the transport. */
int client_call_send(struct client_call *call)
{
	int rc;

	if (!call->queued)
		client_call_enqueue(call);
	rc = xprtrdma_request_send(&call->rqst);
	if (!rc)
		call->rqst.rq_connect_cookie = call->client->xprt->connect_cookie;
	return rc;
}

/**
 * client_call_decode - read what the client has sent last
 * @call: into which; the peer may use its memory after this
 */
void client_call_decode(struct client_call *call)
{
	struct kunit *test = call->client->test;
	struct fake_wr *wr = fake_last_wr(call->client->qp);
	const u8 *message = fake_message(wr);

	KUNIT_ASSERT_EQ(test, IB_WR_SEND, wr->opcode);
	KUNIT_ASSERT_EQ(test, 1, wr->nr_sge);
	fake_run_all(call->client->qp);
	rpcrdma_lists_init(&call->lists, call->segments, CLIENT_SEGMENTS, call->chunks,
			   CLIENT_CHUNKS);
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK,
			rpcrdma_header_decode(message, wr->sge[0].length, &call->header,
					      &call->lists, false));
	call->payload = message + call->header.size;
	call->payload_length = wr->sge[0].length - call->header.size;
}

/* A call that the server has seen. */
struct client_call *client_sent(struct client *client, const struct client_shape *shape)
{
	struct client_call *call = client_call_create(client, shape);

	KUNIT_ASSERT_EQ(client->test, 0, client_call_send(call));
	client_call_decode(call);
	return call;
}

/* Reads chunk @chunk by RDMA Read into @to. */
static void pull(struct client_call *call, const struct rpcrdma_chunk *chunk, u8 *to)
{
	struct kunit *test = call->client->test;
	u32 i;

	for (i = chunk->first; i < chunk->first + chunk->count; i++) {
		struct rpcrdma_segment *segment = &call->segments[i];

		KUNIT_EXPECT_FALSE(test, fake_write(call->client->fake, segment->handle,
						    segment->offset, to, 1));
		KUNIT_ASSERT_TRUE(test, fake_read(call->client->fake, segment->handle,
						  segment->offset, to,
						  segment->length));
		to += segment->length;
	}
}

/**
 * client_call_expect_message - the server sees the RPC call as it was encoded
 * @call: decoded
 */
void client_call_expect_message(struct client_call *call)
{
	struct kunit *test = call->client->test;
	const struct rpcrdma_chunk *chunk = call->lists.nr_read ? call->chunks : NULL;
	u32 item = chunk ? chunk->length : 0;
	u32 padded = chunk && chunk->position ? xdr_align_size(item) : item;
	u32 before = chunk ? chunk->position : call->payload_length;
	u8 *seen;

	KUNIT_ASSERT_LE(test, call->lists.nr_read, 1U);
	KUNIT_ASSERT_LE(test, before, call->payload_length);
	KUNIT_EXPECT_EQ(test, call->length, call->payload_length + padded);
	seen = kvzalloc(call->payload_length + padded, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	memcpy(seen, call->payload, before);
	if (chunk)
		pull(call, chunk, seen + before);
	memcpy(seen + before + padded, call->payload + before,
	       call->payload_length - before);
	if (call->length == call->payload_length + padded)
		KUNIT_EXPECT_EQ(test, 0, memcmp(seen, call->message, call->length));
	kvfree(seen);
}

/* True when the RPC client has got its answer. */
bool client_call_done(struct client_call *call)
{
	return !test_bit(RPC_TASK_NEED_RECV, &call->task.tk_runstate);
}

/* As __rpc_execute(): what a task does that was woken, before all else */
void client_call_woken(struct client_call *call)
{
	void (*callback)(struct rpc_task *task) = call->task.tk_callback;

	KUNIT_ASSERT_FALSE(call->client->test, RPC_IS_QUEUED(&call->task));
	KUNIT_ASSERT_NOT_NULL(call->client->test, callback);
	call->task.tk_callback = NULL;
	callback(&call->task);
}

/* A task that is refused does not sleep on. */
static void heed_refusal(struct client_call *call)
{
	if (READ_ONCE(xprtrdma_request_of(&call->rqst)->rq_refused) && call->task.tk_callback)
		client_call_woken(call);
}

/* As xprt_request_wait_receive(): the task sleeps until there is a reply, or it is refused. */
void client_call_wait(struct client_call *call)
{
	struct rpc_xprt *xprt = call->client->xprt;

	heed_refusal(call);
	if (call->task.tk_status < 0)
		return;
	/* SUNRPC has called the one of an earlier sleep. */
	if (!RPC_IS_QUEUED(&call->task))
		call->task.tk_callback = NULL;
	spin_lock(&xprt->queue_lock);
	if (!client_call_done(call) && !RPC_IS_QUEUED(&call->task))
		xprtrdma_reply_wait(&call->task);
	spin_unlock(&xprt->queue_lock);
	heed_refusal(call);
}

/* Ready to wait for another answer, with buffers as they were in the beginning. */
void client_call_reset(struct client_call *call)
{
	dequeue(call);
	call->task.tk_status = 0;
}

/* Writes @length bytes into @chunk, by RDMA Write. */
static void push(struct client_call *call, struct rpcrdma_chunk *chunk, const u8 *from,
		 u32 length)
{
	struct kunit *test = call->client->test;
	u32 i, part, left = length;

	KUNIT_ASSERT_LE(test, length, chunk->length);
	for (i = chunk->first; left; i++, left -= part, from += part) {
		struct rpcrdma_segment *segment = &call->segments[i];

		part = min(left, segment->length);
		KUNIT_ASSERT_TRUE(test, fake_write(call->client->fake, segment->handle,
						   segment->offset, from, part));
	}
	KUNIT_ASSERT_TRUE(test, rpcrdma_chunk_set_written(&call->lists, chunk, length));
}

/**
 * client_reply_encode - what the server sends; RDMA Writes are done meanwhile
 * @call: decoded
 * @reply: what
 * @message: CLIENT_MESSAGE bytes
 *
 * Return: bytes in @message.
 */
u32 client_reply_encode(struct client_call *call, const struct client_reply *reply,
			u8 *message)
{
	struct kunit *test = call->client->test;
	struct rpcrdma_header header = {
		.xid = reply->xid ? reply->xid : be32_to_cpu(call->rqst.rq_xid),
		.vers = RPCRDMA_VERSION,
		.credits = reply->credits ? reply->credits : 32,
		.proc = reply->proc,
		.error = RPCRDMA_ERR_CHUNK,
	};
	struct rpcrdma_chunk_lists lists = call->lists;
	u32 room = max(reply->item, reply->length) + 8;
	u8 *bytes = kunit_kmalloc(test, room, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	fake_fill(bytes, room);
	if (rpcrdma_write_chunk(&lists, 0))
		push(call, rpcrdma_write_chunk(&lists, 0), bytes, reply->item);
	set_word(bytes, header.xid);
	set_word(bytes + 4, RPCRDMA_RPC_REPLY);
	if (rpcrdma_reply_chunk(&lists))
		push(call, rpcrdma_reply_chunk(&lists), bytes,
		     reply->proc == RPCRDMA_NOMSG ? reply->length : 0);

	/* The Read list is not returned: RFC 8166 section 4.3.1. */
	lists.chunks += lists.nr_read;
	lists.nr_read = 0;
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK,
			rpcrdma_header_encode(&header, &lists, message, CLIENT_MESSAGE));
	if (reply->proc == RPCRDMA_MSG) {
		KUNIT_ASSERT_LE(test, header.size + reply->length, (u32)CLIENT_MESSAGE);
		memcpy(message + header.size, bytes, reply->length);
		header.size += reply->length;
	}
	kunit_kfree(test, bytes);
	return header.size;
}

/**
 * client_reply_send - the server answers
 * @call: decoded
 * @reply: how
 *
 * Return: false when no Receive was posted.
 */
bool client_reply_send(struct client_call *call, const struct client_reply *reply)
{
	struct kunit *test = call->client->test;
	u8 *message = kunit_kzalloc(test, CLIENT_MESSAGE, GFP_KERNEL);
	u32 length;
	bool posted;

	KUNIT_ASSERT_NOT_NULL(test, message);
	length = client_reply_encode(call, reply, message);
	if (reply->invalidate)
		posted = fake_deliver_invalidate(call->client->qp, message, length,
						 reply->invalidate);
	else
		posted = fake_deliver(call->client->qp, message, length);
	kunit_kfree(test, message);
	return posted;
}

static void expect_bytes(struct client_call *call, u32 at, u32 count, u32 first)
{
	struct kunit *test = call->client->test;
	u8 *seen = kvmalloc(count + 1, GFP_KERNEL);
	/* XID and direction */
	u32 i = at || first >= 8 ? 0 : min(8 - first, count);

	KUNIT_ASSERT_NOT_NULL(test, seen);
	KUNIT_EXPECT_EQ(test, 0, read_bytes_from_xdr_buf(&call->rqst.rq_private_buf, at,
							 seen, count));
	i += fake_difference(seen + i, first + i, count - i);
	if (i < count)
		KUNIT_EXPECT_EQ_MSG(test, fake_byte(first + i), seen[i],
				    "byte %u of the reply", at + i);
	kvfree(seen);
}

/**
 * client_call_expect_reply - the RPC client sees this reply
 * @call: the call
 * @head: bytes of it before the item
 * @item: bytes of the item; 0: none
 * @tail: bytes of it after the item and its padding
 */
void client_call_expect_reply(struct client_call *call, u32 head, u32 item, u32 tail)
{
	struct kunit *test = call->client->test;
	u32 padded = xdr_align_size(item);

	KUNIT_EXPECT_TRUE(test, client_call_done(call));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&call->rqst.rq_pin));
	KUNIT_EXPECT_EQ(test, 0, call->task.tk_status);
	KUNIT_EXPECT_EQ(test, head + padded + tail, call->rqst.rq_reply_bytes_recvd);
	KUNIT_EXPECT_EQ(test, head + padded + tail, call->rqst.rq_private_buf.len);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&call->rqst.rq_private_buf.head,
					&call->rqst.rq_rcv_buf.head,
					sizeof(struct kvec)));
	expect_bytes(call, 0, head, 0);
	expect_bytes(call, head, item, 0);
	expect_bytes(call, head + padded, tail, head);
}

/* The RPC ends with an error, of which its task learns when it waits. */
void client_call_expect_error(struct client_call *call, int status)
{
	struct kunit *test = call->client->test;

	client_call_wait(call);
	KUNIT_EXPECT_TRUE(test, client_call_done(call));
	KUNIT_EXPECT_FALSE(test, RPC_IS_QUEUED(&call->task));
	KUNIT_EXPECT_EQ(test, status, call->task.tk_status);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&call->rqst.rq_pin));
}

/* A second is over, for the timer that looks at what waits. */
void client_second(struct client *client)
{
	mod_delayed_work(xprtrdma_wq, &client->conn->xc_watch.worker, 0);
	flush_work(&client->conn->xc_watch.worker.work);
}

/* No answer: the RPC waits on, and nobody looks at it. */
void client_call_expect_waiting(struct client_call *call)
{
	struct kunit *test = call->client->test;

	KUNIT_EXPECT_FALSE(test, client_call_done(call));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&call->rqst.rq_pin));
	KUNIT_EXPECT_PTR_EQ(test, NULL, xprtrdma_request_of(&call->rqst)->rq_registered.ml_receive);
}
