// SPDX-License-Identifier: GPL-2.0
/*
 * Replies that the server exposes, and we read: responder-provided Read chunks, from
 * servers that have announced them. Documentation/reliable-reply.rst.
 *
 * Operation: reply.c has found and pinned the RPC, and fenced what the call exposed. The
 * worker takes a Send buffer for the RDMA_DONE, and posts an RDMA Read for each segment of
 * the Position Zero Read chunk, into the RPC's own reply buffer. When the last one has
 * completed, RDMA_DONE goes out, with the invalidation of one of the segments, and reply.c
 * goes on with a reply that is complete.
 *
 * The core's rdma_rw registers the sink where the device needs it (iWARP).
 *
 * Bounds: XPRTRDMA_PULLS at a time, XPRTRDMA_PULL_WRS work requests; the others wait, in
 * order. A call keeps its credit until its reply has been read.
 *
 * Errors: a Read that fails, or takes too long, takes the connection with it, and the RPC is
 * sent again on the next. What cannot be a reply, or not of this RPC, ends the RPC; the
 * server is told that it may forget it in any case (draft section 4.1.2).
 */
#include <linux/sched/mm.h>
#include <rdma/rw.h>

#include "xprtrdma.h"
#include "trace.h"

/* A part of a segment: @nents pieces of the reply buffer to be filled from it. */
struct pull_read {
	struct list_head	list;
	struct rdma_rw_ctx	ctx;
	unsigned int		nents;
	struct scatterlist	sgl[];
};

/* RFC 5531 section 9: XID, direction, status, verifier without a body, accept status. */
enum { RPC_REPLY_MIN = 6 * RPCRDMA_XDR_UNIT };

static struct xprtrdma_receive *receive_of(struct xprtrdma_pull *pull)
{
	return container_of(pull, struct xprtrdma_receive, rv_pull);
}

static const struct rpcrdma_chunk *pull_chunk(const struct xprtrdma_receive *receive)
{
	return &receive->rv_lists.chunks[0];
}

/**
 * xprtrdma_is_pull - is a message a reply that is to be read from the server?
 * @receive: decoded message
 *
 * On a connection where both have agreed on it, that is what an RDMA_NOMSG with nothing but
 * a Position Zero Read chunk in its Read list means.
 *
 * Context: any.
 */
bool xprtrdma_is_pull(const struct xprtrdma_receive *receive)
{
	const struct rpcrdma_chunk_lists *lists = &receive->rv_lists;

	return receive->rv_conn->xc_inline.read_chunk_replies &&
	       receive->rv_header.proc == RPCRDMA_NOMSG && lists->nr_read == 1 &&
	       rpcrdma_position_zero_chunk(lists);
}

/* ---- RDMA_DONE ---- */

/* Consumes @send. */
static void done_post(const struct xprtrdma_receive *receive, struct xprtrdma_send *send)
{
	const struct rpcrdma_chunk *chunk = pull_chunk(receive);
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct rpcrdma_header header = {
		.xid		= receive->rv_header.xid,
		.vers		= RPCRDMA_VERSION,
		.credits	= conn->xc_queues.credits,
		.proc		= RPCRDMA_DONE,
	};

	/* It always fits. */
	rpcrdma_header_encode(&header, NULL, send->sd_buffer, conn->xc_send_size);
	/* Draft section 4.1.4. Not on iWARP: Documentation/reliable-reply.rst. */
	if (conn->xc_inline.remote_invalidation && chunk->count &&
	    !rdma_protocol_iwarp(xprtrdma_conn_device(conn), conn->xc_id->port_num)) {
		send->sd_wr.opcode = IB_WR_SEND_WITH_INV;
		send->sd_wr.ex.invalidate_rkey =
			receive->rv_lists.segments[chunk->first].handle;
	}
	xprtrdma_send_post(send, header.size, NULL);
}

/**
 * xprtrdma_pull_refuse - tell the server that a reply will not be read
 * @receive: the message; stays the caller's
 *
 * Context: the Receive CQ handler.
 */
void xprtrdma_pull_refuse(struct xprtrdma_receive *receive)
{
	struct xprtrdma_send *send = xprtrdma_send_get(receive->rv_conn);

	/* RFC 8166 section 4.5.4: no answer can be sent, so no connection. */
	if (!send)
		xprtrdma_conn_fail(receive->rv_conn);
	else
		done_post(receive, send);
}

/* ---- building the Reads ---- */

static void reads_free(struct xprtrdma_receive *receive)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct rdma_cm_id *id = conn->xc_id;
	struct pull_read *read, *next;

	list_for_each_entry_safe(read, next, &receive->rv_pull.pl_reads, list) {
		list_del(&read->list);
		rdma_rw_ctx_destroy(&read->ctx, id->qp, id->port_num, read->sgl,
				    read->nents, DMA_FROM_DEVICE);
		kfree(read);
	}
}

/* Where the sink is registered, only its first and last piece may end within a page. */
static bool read_takes(const struct pull_read *read, const struct xprtrdma_extent *extent)
{
	const struct scatterlist *last;

	if (!read->nents)
		return true;
	last = &read->sgl[read->nents - 1];
	return !extent->offset && last->offset + last->length == PAGE_SIZE;
}

/* At most @length of the next bytes of the buffer; @taken says how many. */
static struct pull_read *read_alloc(struct xprtrdma_cursor *cursor, u32 length, u32 *taken)
{
	struct xprtrdma_cursor next = *cursor;
	unsigned int most = PFN_UP(length) + 1;
	struct xprtrdma_extent extent;
	struct pull_read *read;

	read = kmalloc(struct_size(read, sgl, most), GFP_KERNEL);
	if (!read)
		return NULL;
	memset(&read->ctx, 0, sizeof(read->ctx));
	read->nents = 0;
	sg_init_table(read->sgl, most);
	*taken = 0;
	while (*taken < length && xprtrdma_next_extent(&next, length - *taken, &extent) &&
	       read_takes(read, &extent)) {
		sg_set_page(&read->sgl[read->nents++], extent.page, extent.length,
			    extent.offset);
		*taken += extent.length;
		*cursor = next;
	}
	return read;
}

/* Returns the bytes that it reads, at most @length, or a negative errno. */
static int read_add(struct xprtrdma_receive *receive, struct xprtrdma_cursor *cursor,
		    const struct rpcrdma_segment *segment, u32 from, u32 length)
{
	struct rdma_cm_id *id = receive->rv_conn->xc_id;
	struct pull_read *read;
	u32 taken;
	int wrs;

	read = read_alloc(cursor, length, &taken);
	if (!read)
		return -ENOMEM;
	if (!taken) {
		kfree(read);
		return 0;
	}
	wrs = rdma_rw_ctx_init(&read->ctx, id->qp, id->port_num, read->sgl, read->nents, 0,
			       segment->offset + from, segment->handle, DMA_FROM_DEVICE);
	if (wrs < 0) {
		kfree(read);
		return wrs;
	}
	list_add_tail(&read->list, &receive->rv_pull.pl_reads);
	receive->rv_pull.pl_wrs += wrs;
	return taken;
}

static int read_add_segment(struct xprtrdma_receive *receive,
			    struct xprtrdma_cursor *cursor,
			    const struct rpcrdma_segment *segment, u32 length)
{
	u32 from = 0;
	int rc;

	while (from < length) {
		rc = read_add(receive, cursor, segment, from, length - from);
		if (rc <= 0)
			return rc ?: -EMSGSIZE;
		from += rc;
	}
	return 0;
}

/*
 * Where the reply goes: the RPC's buffer, without its pages if these hold an item that came
 * by the Write chunk. More than the consumer can take is its decoder's problem.
 */
static u32 pull_target(const struct xprtrdma_receive *receive,
		       struct xprtrdma_cursor *cursor)
{
	const struct rpcrdma_chunk *write = rpcrdma_write_chunk(&receive->rv_lists, 0);
	const struct xdr_buf *buf = &receive->rv_rqst->rq_rcv_buf;
	u32 room = buf->head[0].iov_len + buf->page_len + buf->tail[0].iov_len;

	*cursor = (struct xprtrdma_cursor) { .buf = buf, .parts = XPRTRDMA_ALL };
	if (write && write->length) {
		cursor->parts = XPRTRDMA_KVECS;
		room -= buf->page_len;
	}
	return min(room, pull_chunk(receive)->length);
}

static int reads_build(struct xprtrdma_receive *receive)
{
	const struct rpcrdma_chunk *chunk = pull_chunk(receive);
	const struct rpcrdma_segment *segment = &receive->rv_lists.segments[chunk->first];
	struct xprtrdma_pull *pull = &receive->rv_pull;
	struct xprtrdma_cursor cursor;
	u32 n, left;
	int rc = 0;

	pull->pl_wrs = 0;
	left = pull_target(receive, &cursor);
	if (left < RPC_REPLY_MIN)
		return -EMSGSIZE;
	pull->pl_length = left;
	for (; left && !rc; segment++) {
		n = min(left, segment->length);
		rc = read_add_segment(receive, &cursor, segment, n);
		left -= n;
	}
	if (!rc && pull->pl_wrs > XPRTRDMA_PULL_WRS)
		rc = -EMSGSIZE;
	if (rc)
		reads_free(receive);
	return rc;
}

/* ---- reading ---- */

/* The worker has it no more, nor has the HCA. */
static void pull_finish(struct xprtrdma_receive *receive, int status)
{
	struct xprtrdma_pull *pull = &receive->rv_pull;
	struct xprtrdma_conn *conn = receive->rv_conn;
	bool waiting;

	if (pull->pl_done && status == -ENOTCONN)
		xprtrdma_send_put(pull->pl_done);
	else if (pull->pl_done)
		done_post(receive, pull->pl_done);
	pull->pl_done = NULL;
	xprtrdma_reply_pulled(receive, status);

	spin_lock(&conn->xc_lock);
	conn->xc_pulls--;
	conn->xc_pulls_ended++;
	waiting = !list_empty(&conn->xc_pulls_waiting);
	spin_unlock(&conn->xc_lock);
	if (waiting)
		queue_work(xprtrdma_wq, &conn->xc_pull_worker);
}

static void pull_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprtrdma_pull *pull = container_of(wc->wr_cqe, struct xprtrdma_pull, pl_cqe);
	struct xprtrdma_receive *receive = receive_of(pull);
	struct xprtrdma_conn *conn = receive->rv_conn;
	bool ok = wc->status == IB_WC_SUCCESS;

	if (!ok) {
		trace_xprtrdma_wc(&conn->xc_transport->xt_xprt, "pull", wc->status,
				  wc->vendor_err);
		xprtrdma_conn_fail(conn);
	}
	reads_free(receive);
	spin_lock(&conn->xc_lock);
	conn->xc_pull_wrs += pull->pl_wrs;
	spin_unlock(&conn->xc_lock);
	pull_finish(receive, ok ? pull->pl_length : -ENOTCONN);
}

/*
 * Under the lock: after BROKEN nobody posts, see xprtrdma_conn_destroy(). What was counted
 * is given back by pull_wc().
 */
static int reads_post(struct xprtrdma_receive *receive)
{
	struct xprtrdma_pull *pull = &receive->rv_pull;
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct rdma_cm_id *id = conn->xc_id;
	struct ib_cqe *cqe = &pull->pl_cqe;
	struct ib_send_wr *first = NULL;
	struct pull_read *read;
	int rc = -ENOTCONN;

	spin_lock(&conn->xc_lock);
	if (conn->xc_state != RPCRDMA_CONN_ESTABLISHED)
		goto out_unlock;
	rc = -EAGAIN;
	if (pull->pl_wrs > conn->xc_pull_wrs)
		goto out_unlock;
	list_for_each_entry_reverse(read, &pull->pl_reads, list) {
		first = rdma_rw_ctx_wrs(&read->ctx, id->qp, id->port_num, cqe, first);
		cqe = NULL;
	}
	conn->xc_pull_wrs -= pull->pl_wrs;
	rc = ib_post_send(id->qp, first, NULL);
	/* The last one, if it was not posted, has no completion: hands off, until the drain. */
	if (rc)
		list_add(&pull->pl_list, &conn->xc_pulls_waiting);
out_unlock:
	spin_unlock(&conn->xc_lock);
	return rc == -ENOTCONN || rc == -EAGAIN ? rc : rc ? -EINPROGRESS : 0;
}

/* 0: it has started, or ended. -EAGAIN: it has to wait for others. -ENOBUFS: for a Send. */
static int pull_start(struct xprtrdma_receive *receive, bool alone)
{
	struct xprtrdma_pull *pull = &receive->rv_pull;
	struct xprtrdma_conn *conn = receive->rv_conn;
	int rc;

	if (!pull->pl_done)
		pull->pl_done = xprtrdma_send_get(conn);
	if (!pull->pl_done)
		return -ENOBUFS;
	rc = reads_build(receive);
	if (!rc) {
		rc = reads_post(receive);
		if (rc == -EAGAIN || rc == -ENOTCONN)
			reads_free(receive);
	}
	switch (rc) {
	case 0:
		return 0;
	case -EINPROGRESS:
		xprtrdma_conn_fail(conn);
		return 0;
	case -EAGAIN:
		/* Others give back what is missing, if there were any. */
		if (!alone)
			return -EAGAIN;
		fallthrough;
	case -ENOMEM:
	case -ENOTCONN:
		xprtrdma_conn_fail(conn);
		rc = -ENOTCONN;
		break;
	}
	pull_finish(receive, rc);
	return 0;
}

static struct xprtrdma_receive *pull_next(struct xprtrdma_conn *conn, bool *alone)
{
	struct xprtrdma_pull *pull = NULL;

	spin_lock(&conn->xc_lock);
	if (conn->xc_state == RPCRDMA_CONN_ESTABLISHED && conn->xc_pulls < XPRTRDMA_PULLS)
		pull = list_first_entry_or_null(&conn->xc_pulls_waiting,
						struct xprtrdma_pull, pl_list);
	if (pull) {
		list_del(&pull->pl_list);
		*alone = !conn->xc_pulls++;
		if (!delayed_work_pending(&conn->xc_pull_watch))
			conn->xc_pulls_mark = conn->xc_pulls_ended;
	}
	spin_unlock(&conn->xc_lock);
	if (pull)
		queue_delayed_work(xprtrdma_wq, &conn->xc_pull_watch,
				   XPRTRDMA_PULL_TIMEOUT);
	return pull ? receive_of(pull) : NULL;
}

/*
 * The end of another pull wakes the worker, and so does the completion of a Send, unless
 * they came while this one was not on the list.
 */
static void pull_wait_again(struct xprtrdma_receive *receive, int why)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	bool again;

	spin_lock(&conn->xc_lock);
	conn->xc_pulls--;
	list_add(&receive->rv_pull.pl_list, &conn->xc_pulls_waiting);
	again = why == -ENOBUFS ? !list_empty(&conn->xc_sends_free) : !conn->xc_pulls;
	spin_unlock(&conn->xc_lock);
	if (again)
		queue_work(xprtrdma_wq, &conn->xc_pull_worker);
}

/**
 * xprtrdma_pull_worker - start to read the replies that wait for it
 * @work: xc_pull_worker
 */
void xprtrdma_pull_worker(struct work_struct *work)
{
	struct xprtrdma_conn *conn = container_of(work, struct xprtrdma_conn,
						  xc_pull_worker);
	unsigned int nofs = memalloc_nofs_save();
	struct xprtrdma_receive *receive;
	bool alone = false;
	int rc = 0;

	while (!rc && (receive = pull_next(conn, &alone))) {
		rc = pull_start(receive, alone);
		if (rc)
			pull_wait_again(receive, rc);
	}
	memalloc_nofs_restore(nofs);
}

/**
 * xprtrdma_pull_watch - has reading come to a stand?
 * @work: xc_pull_watch
 *
 * The RPC is pinned meanwhile: nobody else would give up, not even when it is killed.
 */
void xprtrdma_pull_watch(struct work_struct *work)
{
	struct xprtrdma_conn *conn = container_of(work, struct xprtrdma_conn,
						  xc_pull_watch.work);
	bool reading, stalled;

	spin_lock(&conn->xc_lock);
	reading = conn->xc_pulls && conn->xc_state == RPCRDMA_CONN_ESTABLISHED;
	stalled = reading && conn->xc_pulls_mark == conn->xc_pulls_ended;
	conn->xc_pulls_mark = conn->xc_pulls_ended;
	spin_unlock(&conn->xc_lock);
	if (stalled) {
		trace_xprtrdma_stalled(&conn->xc_transport->xt_xprt, conn->xc_pulls);
		xprtrdma_conn_fail(conn);
	} else if (reading) {
		queue_delayed_work(xprtrdma_wq, &conn->xc_pull_watch,
				   XPRTRDMA_PULL_TIMEOUT);
	}
}

/**
 * xprtrdma_pull - read a reply from the server
 * @receive: the message, its RPC pinned, the RPC's memory fenced
 *
 * xprtrdma_reply_pulled() is called once, whatever happens.
 *
 * Context: CQ handlers.
 */
void xprtrdma_pull(struct xprtrdma_receive *receive)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct xprtrdma_pull *pull = &receive->rv_pull;

	pull->pl_cqe.done = pull_wc;
	INIT_LIST_HEAD(&pull->pl_reads);
	pull->pl_done = NULL;
	xprtrdma_replies_pulled++;
	trace_xprtrdma_pull(&conn->xc_transport->xt_xprt, receive->rv_header.xid,
			    pull_chunk(receive)->length);

	spin_lock(&conn->xc_lock);
	list_add_tail(&pull->pl_list, &conn->xc_pulls_waiting);
	spin_unlock(&conn->xc_lock);
	queue_work(xprtrdma_wq, &conn->xc_pull_worker);
}

/**
 * xprtrdma_pulls_abort - let those go that were not read
 * @conn: a connection whose queue pair is drained
 *
 * Context: process, the transport's write lock is held.
 */
void xprtrdma_pulls_abort(struct xprtrdma_conn *conn)
{
	struct xprtrdma_pull *pull, *next;
	LIST_HEAD(pulls);

	cancel_work_sync(&conn->xc_pull_worker);
	cancel_delayed_work_sync(&conn->xc_pull_watch);
	spin_lock(&conn->xc_lock);
	list_splice_init(&conn->xc_pulls_waiting, &pulls);
	spin_unlock(&conn->xc_lock);
	list_for_each_entry_safe(pull, next, &pulls, pl_list) {
		list_del(&pull->pl_list);
		reads_free(receive_of(pull));
		if (pull->pl_done)
			xprtrdma_send_put(pull->pl_done);
		pull->pl_done = NULL;
		xprtrdma_reply_pulled(receive_of(pull), -ENOTCONN);
	}
}
