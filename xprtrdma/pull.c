// SPDX-License-Identifier: GPL-2.0
/*
 * Replies that the server exposes, and we read: responder-provided Read chunks, from
 * servers that have announced them. Documentation/reliable-reply.rst. And reverse-direction
 * calls with Read chunks, which have no RDMA_DONE: see backchannel.c.
 *
 * Operation: reply.c has found and pinned the RPC, and fenced what the call exposed. The
 * worker takes a Send buffer for the RDMA_DONE, maps the RPC's reply buffer into regions,
 * as for a Reply chunk, and posts their registrations together with RDMA Reads: one for each
 * piece that is in one region here and in one segment there. When the last one has completed,
 * RDMA_DONE goes out; our own regions are invalidated, and reply.c goes on with a reply that
 * is complete. The buffer is mapped once, so that no two mappings share a cache line.
 *
 * A reply that nobody waits for is not read; the server is told so by the same means.
 *
 * Bounds: XPRTRDMA_PULLS at a time, XPRTRDMA_PULL_WRS Reads; the others wait, in
 * order. A call keeps its credit until its reply has been read.
 *
 * Errors: a Read that fails, or takes too long, takes the connection with it, and the RPC is
 * sent again on the next. What cannot be a reply, or not of this RPC, ends the RPC; the
 * server is told that it may forget it in any case (draft section 4.1.2).
 */
#include <linux/sched/mm.h>

#include "connection.h"
#include "trace.h"

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

/* ---- RDMA_DONE ---- */

/* Consumes @send. */
static void done_post(const struct xprtrdma_receive *receive, struct xprtrdma_send *send)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct rpcrdma_header header = {
		.xid		= receive->rv_header.xid,
		.vers		= RPCRDMA_VERSION,
		.credits	= xprtrdma_window_ask(conn),
		.proc		= RPCRDMA_DONE,
	};

	/* It always fits. */
	rpcrdma_header_encode(&header, NULL, send->sd_buffer.bf_data, conn->xc_send_size);
	/* Never with an invalidation: RR10 of Documentation/reliable-reply.rst. */
	xprtrdma_send_post(send, header.size);
}

/* ---- building the Reads ---- */

/* The regions, if there are any, are not the HCA's: never posted, or invalidated. */
static void reads_free(struct xprtrdma_receive *receive)
{
	kfree(receive->rv_pull.pl_reads);
	receive->rv_pull.pl_reads = NULL;
}

/*
 * The first @left bytes of @chunk, to byte @to of the buffer. There are @count Reads already.
 * Returns the number of Reads, or -EMSGSIZE when there is no room for them.
 */
static int reads_fill_chunk(struct xprtrdma_receive *receive,
			    struct rpcrdma_transfer *reads, int count, int max,
			    const struct rpcrdma_chunk *chunk, u32 to, u32 left)
{
	const struct rpcrdma_segment *segment = &receive->rv_lists.segments[chunk->first];
	struct rpcrdma_region *region;
	struct ib_sge sink;
	u32 n, from = 0;

	region = list_first_entry(&receive->rv_registered->ml_mrs, struct rpcrdma_region, rg_list);
	for (; to >= region->rg_mr->length; region = list_next_entry(region, rg_list))
		to -= region->rg_mr->length;
	for (; left; left -= n) {
		n = min3(left, segment->length - from, (u32)region->rg_mr->length - to);
		if (n && count == max)
			return -EMSGSIZE;
		sink = (struct ib_sge) {
			.addr = region->rg_mr->iova + to, .length = n, .lkey = region->rg_mr->lkey,
		};
		if (n)
			rpcrdma_transfer_init(&reads[count++], IB_WR_RDMA_READ, &sink, segment,
					      from);
		from += n;
		to += n;
		if (to == region->rg_mr->length) {
			region = list_next_entry(region, rg_list);
			to = 0;
		}
		if (from == segment->length) {
			segment++;
			from = 0;
		}
	}
	return count;
}

/* As reads_fill_chunk(). The chunks of a call, each to its Position, which was checked. */
static int reads_fill(struct xprtrdma_receive *receive, struct rpcrdma_transfer *reads, int max)
{
	const struct rpcrdma_chunk *chunk = pull_chunk(receive);
	int count = 0;
	u32 i;

	if (!receive->rv_pull.pl_call)
		return reads_fill_chunk(receive, reads, 0, max, chunk, 0,
					receive->rv_pull.pl_length);
	for (i = 0; i < receive->rv_lists.nr_read && count >= 0; i++, chunk++)
		count = reads_fill_chunk(receive, reads, count, max, chunk, chunk->position,
					 chunk->length);
	return count;
}

/* One chain: registrations, then Reads, the last of which is signalled. */
static struct ib_send_wr *reads_chain(struct xprtrdma_receive *receive)
{
	struct xprtrdma_pull *pull = &receive->rv_pull;
	struct ib_send_wr *first;
	u32 registrations;

	first = rpcrdma_transfers_chain(pull->pl_reads, pull->pl_wrs,
					&receive->rv_conn->xc_part_cqe, &pull->pl_cqe);
	if (trace_xprtrdma_transfer_enabled())
		xprtrdma_trace_transfers(receive->rv_conn, first);
	first = xprtrdma_frwr_chain(receive->rv_registered, first, &registrations);
	rpcrdma_count_shared(&receive->rv_conn->xc_transport->xt_counters.regions_registered,
			     registrations);
	return first;
}

/*
 * Where the reply goes: the RPC's buffer, without its pages if these hold an item that came
 * by the Write chunk. More than the consumer can take is its decoder's problem.
 */
static void pull_target(const struct xprtrdma_receive *receive,
			struct xprtrdma_cursor *cursor)
{
	const struct rpcrdma_chunk *write = rpcrdma_write_chunk(&receive->rv_lists, 0);
	const struct xdr_buf *buf = &receive->rv_rqst->rq_rcv_buf;
	u32 room = buf->head[0].iov_len + buf->page_len + buf->tail[0].iov_len;

	*cursor = (struct xprtrdma_cursor) {
		.buf = buf, .parts = XPRTRDMA_ALL, .left = room,
	};
	/* All of a call, that it be mapped once; what came inline is filled in behind. */
	if (receive->rv_pull.pl_call)
		return;
	if (write && write->length) {
		cursor->parts = XPRTRDMA_KVECS;
		room -= buf->page_len;
	}
	cursor->left = min(room, pull_chunk(receive)->length);
}

/* An RDMA Read on iWARP is a write by the peer. */
static int sink_access(struct xprtrdma_conn *conn)
{
	bool iwarp = rdma_protocol_iwarp(xprtrdma_conn_device(conn), conn->xc_id->port_num);

	return IB_ACCESS_LOCAL_WRITE | (iwarp ? IB_ACCESS_REMOTE_WRITE : 0);
}

/* Returns 0, -EAGAIN when regions are short, or another errno. */
static int reads_build(struct xprtrdma_receive *receive)
{
	struct xprtrdma_pull *pull = &receive->rv_pull;
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct xprtrdma_cursor cursor;
	int ret, max;

	pull_target(receive, &cursor);
	if (cursor.left < RPC_REPLY_MIN && !pull->pl_call)
		return -EMSGSIZE;
	pull->pl_length = cursor.left;
	ret = xprtrdma_frwr_map(conn, receive->rv_registered, &cursor, sink_access(conn));
	if (ret < 0)
		goto out_recycle;

	max = min_t(int, ret + receive->rv_lists.nr_segments, XPRTRDMA_PULL_WRS);
	pull->pl_reads = kmalloc_array(max, sizeof(*pull->pl_reads), GFP_KERNEL);
	ret = -ENOMEM;
	if (!pull->pl_reads)
		goto out_recycle;
	ret = reads_fill(receive, pull->pl_reads, max);
	if (ret < 0)
		goto out_free;
	pull->pl_wrs = ret;
	return 0;

out_free:
	reads_free(receive);
out_recycle:
	xprtrdma_frwr_recycle(receive->rv_registered);
	return ret;
}

/* ---- reading ---- */

static void count_read(const struct xprtrdma_receive *receive)
{
	const struct xprtrdma_pull *pull = &receive->rv_pull;
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < pull->pl_wrs; i++)
		bytes += pull->pl_reads[i].tr_sge.length;
	RPCRDMA_COUNT(receive->rv_conn->xc_transport->xt_counters.bytes_read, bytes);
}

static void pull_deliver(struct xprtrdma_receive *receive, int status)
{
	xprtrdma_receive_advance(receive, XPRTRDMA_MESSAGE_HANDLED);
	if (receive->rv_pull.pl_call)
		xprtrdma_bc_pulled(receive, status);
	else
		xprtrdma_reply_pulled(receive, status);
}

/* The HCA reads no more. The message goes on, and another one can be read. */
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
	pull_deliver(receive, status);

	spin_lock(&conn->xc_lock);
	conn->xc_pull.active--;
	xprtrdma_watch_hca_end(conn, true);
	waiting = !list_empty(&conn->xc_pull.waiting);
	spin_unlock(&conn->xc_lock);
	if (waiting)
		queue_work(xprtrdma_wq, &conn->xc_pull.worker);
}

static void pull_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprtrdma_pull *pull = container_of(wc->wr_cqe, struct xprtrdma_pull, pl_cqe);
	struct xprtrdma_receive *receive = receive_of(pull);
	struct xprtrdma_conn *conn = receive->rv_conn;
	bool ok = wc->status == IB_WC_SUCCESS;

	spin_lock(&conn->xc_lock);
	conn->xc_pull.wrs += pull->pl_wrs;
	spin_unlock(&conn->xc_lock);
	if (ok)
		count_read(receive);
	/* Not before: reads_post() holds the lock until the provider is through with them. */
	reads_free(receive);
	if (!ok) {
		xprtrdma_conn_fail_wc(conn, "pull", wc, RPCRDMA_END_SEND_FAILED);
		pull_finish(receive, -ENOTCONN);
		return;
	}
	/* The server can free the reply now, before the regions are invalidated. */
	if (pull->pl_done)
		done_post(receive, pull->pl_done);
	pull->pl_done = NULL;
	xprtrdma_receive_advance(receive, XPRTRDMA_MESSAGE_READ_INVALIDATING);
	xprtrdma_frwr_unmap_async(receive->rv_registered);
}

/**
 * xprtrdma_pull_invalidated - the LOCAL_INVs behind an RDMA Read are done
 * @receive: the message that said what to read
 * @ok: false when they failed or were flushed
 *
 * Context: the Send CQ handler.
 */
void xprtrdma_pull_invalidated(struct xprtrdma_receive *receive, bool ok)
{
	if (ok)
		xprtrdma_frwr_recycle(receive->rv_registered);
	pull_finish(receive, ok ? receive->rv_pull.pl_length : -ENOTCONN);
}

/*
 * Returns 0: the Reads are the queue pair's, and pull_wc() ends them; or the drain's, where the
 * post failed on its way, and the last one has no completion. Else they are the caller's:
 * -EBUSY: others give back the entries that they need; -ENOTCONN.
 *
 * Under the lock: after BROKEN nobody posts, see xprtrdma_conn_destroy(). What was counted
 * is given back by pull_wc().
 */
static int reads_post(struct xprtrdma_receive *receive)
{
	struct xprtrdma_pull *pull = &receive->rv_pull;
	struct xprtrdma_conn *conn = receive->rv_conn;
	bool failed = false;
	int ret = 0;

	spin_lock(&conn->xc_lock);
	if (conn->xc_state != RPCRDMA_CONN_ESTABLISHED) {
		ret = -ENOTCONN;
	} else if (pull->pl_wrs > conn->xc_pull.wrs) {
		ret = -EBUSY;
	} else {
		conn->xc_pull.wrs -= pull->pl_wrs;
		failed = ib_post_send(conn->xc_id->qp, reads_chain(receive), NULL);
		if (failed)
			list_add(&pull->pl_list, &conn->xc_pull.waiting);
	}
	spin_unlock(&conn->xc_lock);
	if (failed)
		xprtrdma_conn_fail(conn, RPCRDMA_END_SEND_FAILED);
	return ret;
}

/* It has started, or ended, unless it has to wait for what is returned. */
static enum xprtrdma_wait pull_start(struct xprtrdma_receive *receive)
{
	struct xprtrdma_pull *pull = &receive->rv_pull;
	struct xprtrdma_conn *conn = receive->rv_conn;
	int ret;

	if (!pull->pl_done && !pull->pl_call)
		pull->pl_done = xprtrdma_send_get(conn);
	if (!pull->pl_done && !pull->pl_call)
		return XPRTRDMA_WAIT_SEND_QUEUE;
	if (!receive->rv_rqst || !conn->xc_read_depth) {
		pull_finish(receive, -EMSGSIZE);
		return XPRTRDMA_WAIT_NONE;
	}
	ret = reads_build(receive);
	if (!ret) {
		ret = reads_post(receive);
		if (!ret)
			return XPRTRDMA_WAIT_NONE;
		reads_free(receive);
		xprtrdma_frwr_recycle(receive->rv_registered);
	}
	switch (ret) {
	case -EAGAIN:
	case -ENOBUFS:
		return XPRTRDMA_WAIT_REGIONS;
	case -EBUSY:
		/* A message that is read alone has all of XPRTRDMA_PULL_WRS: it never waits. */
		return XPRTRDMA_WAIT_READS;
	case -ENOMEM:
	case -EIO:
		xprtrdma_conn_fail(conn, RPCRDMA_END_OTHER);
		break;
	}
	pull_finish(receive, ret == -EMSGSIZE ? ret : -ENOTCONN);
	return XPRTRDMA_WAIT_NONE;
}

static struct xprtrdma_receive *pull_next(struct xprtrdma_conn *conn)
{
	struct xprtrdma_pull *pull = NULL;

	spin_lock(&conn->xc_lock);
	if (conn->xc_state == RPCRDMA_CONN_ESTABLISHED && conn->xc_pull.active < XPRTRDMA_PULLS)
		pull = list_first_entry_or_null(&conn->xc_pull.waiting,
						struct xprtrdma_pull, pl_list);
	if (pull) {
		list_del(&pull->pl_list);
		conn->xc_pull.active++;
	}
	spin_unlock(&conn->xc_lock);
	return pull ? receive_of(pull) : NULL;
}

/*
 * What the message waits for wakes the worker when it comes back, unless it has come back while
 * the message was not on the list.
 */
static void pull_wait_again(struct xprtrdma_receive *receive, enum xprtrdma_wait reason)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	bool again = false;

	spin_lock(&conn->xc_lock);
	conn->xc_pull.active--;
	list_add(&receive->rv_pull.pl_list, &conn->xc_pull.waiting);
	if (reason == XPRTRDMA_WAIT_SEND_QUEUE)
		again = xprtrdma_sends_left(conn);
	else if (reason == XPRTRDMA_WAIT_READS)
		again = !conn->xc_pull.active;
	spin_unlock(&conn->xc_lock);
	if (again)
		queue_work(xprtrdma_wq, &conn->xc_pull.worker);
	/* Its worker wakes ours. */
	if (reason == XPRTRDMA_WAIT_REGIONS)
		xprtrdma_mrs_grow(conn);
}

/* Starts to read those that wait for it. */
static void pull_worker(struct work_struct *work)
{
	struct xprtrdma_conn *conn = container_of(work, struct xprtrdma_conn,
						  xc_pull.worker);
	unsigned int flags = xprtrdma_memalloc_save(&conn->xc_transport->xt_xprt);
	enum xprtrdma_wait reason = XPRTRDMA_WAIT_NONE;
	struct xprtrdma_receive *receive;

	while (!reason && (receive = pull_next(conn))) {
		reason = pull_start(receive);
		if (reason)
			pull_wait_again(receive, reason);
	}
	xprtrdma_memalloc_restore(flags);
}

/**
 * xprtrdma_pulls_init - nothing is to be read yet
 * @conn: all zeros
 *
 * Context: any.
 */
void xprtrdma_pulls_init(struct xprtrdma_conn *conn)
{
	INIT_LIST_HEAD(&conn->xc_pull.waiting);
	INIT_WORK(&conn->xc_pull.worker, pull_worker);
	conn->xc_pull.wrs = XPRTRDMA_PULL_WRS;
}

/**
 * xprtrdma_pulls_wait - does any message wait to be read?
 * @conn: the connection
 *
 * Context: any; the caller holds xc_lock.
 */
bool xprtrdma_pulls_wait(const struct xprtrdma_conn *conn)
{
	lockdep_assert_held(&conn->xc_lock);
	return !list_empty(&conn->xc_pull.waiting);
}

/**
 * xprtrdma_pulls_show - what is to be read, and has to wait; for debugfs.c
 * @seq: where to
 * @conn: the connection
 *
 * Context: process.
 */
void xprtrdma_pulls_show(struct seq_file *seq, struct xprtrdma_conn *conn)
{
	const struct xprtrdma_pull *pull;
	u32 waiting = 0;

	spin_lock(&conn->xc_lock);
	list_for_each_entry(pull, &conn->xc_pull.waiting, pl_list)
		waiting++;
	spin_unlock(&conn->xc_lock);
	rpcrdma_show_number(seq, "waiting_for_read", waiting);
}

/**
 * xprtrdma_pulls_continue - a Send buffer, or regions, can be had again
 * @conn: the connection
 *
 * Context: any; the caller holds xc_lock.
 */
void xprtrdma_pulls_continue(struct xprtrdma_conn *conn)
{
	if (conn->xc_state == RPCRDMA_CONN_ESTABLISHED && xprtrdma_pulls_wait(conn))
		queue_work(xprtrdma_wq, &conn->xc_pull.worker);
}

static void pull_queue(struct xprtrdma_receive *receive, bool call)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct xprtrdma_pull *pull = &receive->rv_pull;

	*pull = (struct xprtrdma_pull) { .pl_cqe.done = pull_wc, .pl_call = call };
	xprtrdma_receive_advance(receive, XPRTRDMA_MESSAGE_READING);
	spin_lock(&conn->xc_lock);
	list_add_tail(&pull->pl_list, &conn->xc_pull.waiting);
	xprtrdma_watch_hca_begin(conn);
	spin_unlock(&conn->xc_lock);
	queue_work(xprtrdma_wq, &conn->xc_pull.worker);
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
	RPCRDMA_COUNT(xprtrdma_replies_pulled, 1);
	trace_xprtrdma_pull(&receive->rv_conn->xc_transport->xt_xprt, receive->rv_header.xid,
			    pull_chunk(receive)->length);
	pull_queue(receive, false);
}

/**
 * xprtrdma_pull_call - read the Read chunks of a reverse-direction call
 * @receive: the message; rv_rqst has a rq_rcv_buf for the whole call; rv_registered takes the
 *	regions, and its ml_receive is @receive
 *
 * xprtrdma_bc_pulled() is called once, whatever happens.
 *
 * Context: the Receive CQ handler.
 */
void xprtrdma_pull_call(struct xprtrdma_receive *receive)
{
	pull_queue(receive, true);
}

/**
 * xprtrdma_pull_refuse - tell the server that a reply will not be read
 * @receive: the message, no RPC's
 *
 * xprtrdma_reply_pulled() is called once, whatever happens.
 *
 * Context: the Receive CQ handler.
 */
void xprtrdma_pull_refuse(struct xprtrdma_receive *receive)
{
	pull_queue(receive, false);
}

/**
 * xprtrdma_pulls_abort - give the messages up that still wait to be read
 * @conn: a connection whose queue pair is drained
 *
 * Context: process, the transport's write lock is held.
 */
void xprtrdma_pulls_abort(struct xprtrdma_conn *conn)
{
	struct xprtrdma_pull *pull, *next;
	LIST_HEAD(pulls);

	cancel_work_sync(&conn->xc_pull.worker);
	spin_lock(&conn->xc_lock);
	list_splice_init(&conn->xc_pull.waiting, &pulls);
	spin_unlock(&conn->xc_lock);
	list_for_each_entry_safe(pull, next, &pulls, pl_list) {
		list_del(&pull->pl_list);
		reads_free(receive_of(pull));
		if (pull->pl_done)
			xprtrdma_send_put(pull->pl_done);
		pull->pl_done = NULL;
		pull_deliver(receive_of(pull), -ENOTCONN);
	}
}
