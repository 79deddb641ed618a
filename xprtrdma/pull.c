// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * RDMA Reads of two kinds of messages: replies that the server exposes in a Read chunk, if both
 * peers have agreed on that (Documentation/reliable-reply.rst); and reverse-direction calls with
 * Read chunks (backchannel.c), for which no RDMA_DONE is sent.
 *
 * Operation: reply.c has found and pinned the RPC, and fenced the memory that its call exposed.
 * The worker takes a Send buffer for the RDMA_DONE, maps the RPC's reply buffer into regions, as
 * for a Reply chunk, and posts their registrations together with RDMA Reads. Each Read moves a
 * piece of the reply that lies in one of our regions and in one of the server's segments. When the
 * last Read has completed, RDMA_DONE is sent, our regions are invalidated, and reply.c goes on with
 * the reply. The buffer is mapped only once, so that no two mappings share a cache line.
 *
 * A reply for which no RPC waits is not read; an RDMA_DONE tells the server so.
 *
 * Bounds: XPRTRDMA_PULLS messages are read at a time, by XPRTRDMA_PULL_WRS Reads; further messages
 * wait, in order. A message that lacks a Send buffer, regions, memory or some of these Reads waits,
 * too; the worker tries again after PULL_RETRY. A call keeps its credit until its reply is read.
 *
 * Errors: if a Read fails, or takes too long, the connection is failed. The message then waits for
 * the teardown to take the regions back, as the HCA may use its pages until then; the RPC of a
 * reply is sent again on the next connection. A message that cannot be the reply to the RPC ends
 * the RPC with EIO; RDMA_DONE tells the server that it may free that reply, too (reliable-reply
 * draft, section 4.1.2).
 */
#include <linux/sched/mm.h>

#include "connection.h"
#include "trace.h"

/*
 * The smallest reply to an accepted call (RFC 5531 section 9) has six words: XID, direction, reply
 * status, flavor and length of a verifier without a body, and accept status.
 */
enum { RPC_REPLY_MIN = 6 * RPCRDMA_XDR_UNIT };

/* Pause after which a message that lacked a resource is tried again, jiffies */
#define PULL_RETRY	msecs_to_jiffies(10)

static const struct rpcrdma_chunk *pull_chunk(const struct xprtrdma_receive *receive)
{
	return &receive->rv_lists.chunks[0];
}

/* ---- RDMA_DONE ---- */

/* Sends the RDMA_DONE of a reply, unless it was sent before. A call has none. */
static void done_send(struct xprtrdma_receive *receive)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct xprtrdma_send *send = receive->rv_pull.pl_done;
	struct rpcrdma_header header = {
		.xid		= receive->rv_header.xid,
		.vers		= RPCRDMA_VERSION,
		.credits	= READ_ONCE(conn->xc_window.requested),
		.proc		= RPCRDMA_DONE,
	};

	if (!send)
		return;
	receive->rv_pull.pl_done = NULL;
	/* A header without chunks always fits. */
	rpcrdma_header_encode(&header, NULL, send->sd_buffer.bf_data, conn->xc_send_size);
	/* This Send never invalidates an R_key: RR10 of Documentation/reliable-reply.rst. */
	xprtrdma_send_post(send, header.size);
}

/* ---- building the Reads ---- */

/* Frees the Reads of a message, which were not posted, or are complete. */
static void reads_free(struct xprtrdma_receive *receive)
{
	kfree(receive->rv_pull.pl_reads);
	receive->rv_pull.pl_reads = NULL;
}

/*
 * Adds to the @count elements of @reads those that read @chunk into the buffer, from the Position
 * of @chunk on. The Positions of a call were checked when the call came; a reply has Position 0.
 * Returns the new number of elements, or -EMSGSIZE when it would be above @max.
 */
static int reads_fill_chunk(struct xprtrdma_receive *receive,
			    struct rpcrdma_transfer *reads, int count, int max,
			    const struct rpcrdma_chunk *chunk)
{
	const struct rpcrdma_segment *segment = &receive->rv_lists.segments[chunk->first];
	u32 left = min(chunk->length, receive->rv_pull.pl_length);
	u32 n, from = 0, to = chunk->position;
	struct rpcrdma_region *region;
	struct ib_sge sink;

	receive->rv_pull.pl_bytes += left;
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

/* Makes the Reads of all Read chunks. Returns their number, or -EMSGSIZE when @max is too small. */
static int reads_fill(struct xprtrdma_receive *receive, struct rpcrdma_transfer *reads, int max)
{
	const struct rpcrdma_chunk *chunk = pull_chunk(receive);
	int count = 0;
	u32 i;

	for (i = 0; i < receive->rv_lists.nr_read && count >= 0; i++)
		count = reads_fill_chunk(receive, reads, count, max, &chunk[i]);
	return count;
}

/* Makes one chain of the registrations and, behind them, the Reads; the last Read is signalled. */
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
 * Sets @cursor to the memory that a message is read into: the RPC's buffer, without its pages if
 * the server has written an item there by the Write chunk. A reply longer than the buffer is cut
 * off; the consumer's decoder reports an error.
 */
static void pull_target(const struct xprtrdma_receive *receive, struct xprtrdma_cursor *cursor)
{
	const struct rpcrdma_chunk *write = rpcrdma_write_chunk(&receive->rv_lists, 0);
	const struct xdr_buf *buf = &receive->rv_rqst->rq_rcv_buf;
	u32 room = buf->head[0].iov_len + buf->page_len + buf->tail[0].iov_len;

	*cursor = (struct xprtrdma_cursor) {
		.buf = buf, .parts = XPRTRDMA_ALL, .left = room,
	};
	/* A call is mapped whole, once; its inline part is filled in after the Reads. */
	if (!receive->rv_exposed)
		return;
	if (write && write->length) {
		cursor->parts = XPRTRDMA_KVECS;
		room -= buf->page_len;
	}
	cursor->left = min(room, pull_chunk(receive)->length);
}

/* Rights of the regions that Reads fill. On iWARP the peer writes the data of an RDMA Read. */
static int sink_access(struct xprtrdma_conn *conn)
{
	bool iwarp = rdma_protocol_iwarp(xprtrdma_conn_device(conn), conn->xc_id->port_num);

	return IB_ACCESS_LOCAL_WRITE | (iwarp ? IB_ACCESS_REMOTE_WRITE : 0);
}

/*
 * Maps the buffer and makes the Reads. Returns 0; -EAGAIN when there are too few regions; -EMSGSIZE
 * when the message can never be read; or another errno.
 */
static int reads_build(struct xprtrdma_receive *receive)
{
	struct xprtrdma_pull *pull = &receive->rv_pull;
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct xprtrdma_cursor cursor;
	int ret, max;

	pull_target(receive, &cursor);
	if (cursor.left < RPC_REPLY_MIN && receive->rv_exposed)
		return -EMSGSIZE;
	pull->pl_length = cursor.left;
	pull->pl_bytes = 0;
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

static void pull_deliver(struct xprtrdma_receive *receive, int status)
{
	xprtrdma_receive_advance(receive, XPRTRDMA_MESSAGE_HANDLED);
	if (receive->rv_exposed)
		xprtrdma_reply_pulled(receive, status);
	else
		xprtrdma_bc_pulled(receive, status);
}

/*
 * Hands a message on when it has been read, or cannot be read, and lets the next message be read.
 * @status: bytes of the message that its buffer has taken, or -EMSGSIZE when it was not read.
 */
static void pull_finish(struct xprtrdma_receive *receive, int status)
{
	struct xprtrdma_conn *conn = receive->rv_conn;

	done_send(receive);
	pull_deliver(receive, status);

	spin_lock(&conn->xc_lock);
	conn->xc_pull.active--;
	xprtrdma_watch_hca_end(conn, true);
	if (!list_empty(&conn->xc_pull.waiting))
		mod_delayed_work(xprtrdma_wq, &conn->xc_pull.worker, 0);
	spin_unlock(&conn->xc_lock);
}

/* Puts a message back, either until it is tried again, or until the teardown ends it. */
static void pull_put_back(struct xprtrdma_receive *receive)
{
	struct xprtrdma_conn *conn = receive->rv_conn;

	spin_lock(&conn->xc_lock);
	conn->xc_pull.active--;
	list_add(&receive->rv_pull.pl_list, &conn->xc_pull.waiting);
	spin_unlock(&conn->xc_lock);
}

static void pull_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprtrdma_receive *receive =
		container_of(wc->wr_cqe, struct xprtrdma_receive, rv_pull.pl_cqe);
	struct xprtrdma_conn *conn = receive->rv_conn;
	bool ok = wc->status == IB_WC_SUCCESS;

	spin_lock(&conn->xc_lock);
	conn->xc_pull.wrs += receive->rv_pull.pl_wrs;
	spin_unlock(&conn->xc_lock);
	if (ok)
		RPCRDMA_COUNT(conn->xc_transport->xt_counters.bytes_read,
			      receive->rv_pull.pl_bytes);
	/* After the lock was taken: reads_post() holds it until the provider has used the Reads. */
	reads_free(receive);
	if (!ok) {
		xprtrdma_conn_fail_wc(conn, "pull", wc, RPCRDMA_END_SEND_FAILED);
		pull_put_back(receive);
		return;
	}
	/* The server can free the reply now, before the regions are invalidated. */
	done_send(receive);
	xprtrdma_receive_advance(receive, XPRTRDMA_MESSAGE_READ_INVALIDATING);
	xprtrdma_frwr_unmap_async(receive->rv_registered);
}

/**
 * xprtrdma_pull_invalidated - the LOCAL_INVs of the regions that were read into are done
 * @receive: the message whose Read chunks have been read
 * @ok: false when the LOCAL_INVs failed or were flushed
 *
 * Context: the Send CQ handler.
 */
void xprtrdma_pull_invalidated(struct xprtrdma_receive *receive, bool ok)
{
	if (!ok) {
		pull_put_back(receive);
		return;
	}
	xprtrdma_frwr_recycle(receive->rv_registered);
	pull_finish(receive, receive->rv_pull.pl_length);
}

/*
 * Posts the Reads of a message. After 0 the caller does not own the Reads any more, and pull_wc()
 * frees them. A failed post returns 0, too: the device may have some of the Reads, though not the
 * last one, which alone is signalled. So xprtrdma_pulls_abort() frees them after the drain. After
 * an errno the caller still owns the Reads: -EBUSY when too many entries of the Send Queue are in
 * use for other messages, or -ENOTCONN when the connection has failed.
 *
 * The post is under the lock, since nothing is posted in the state BROKEN, see
 * xprtrdma_conn_destroy(). pull_wc() gives back the entries that are taken here.
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

/*
 * Starts to read a message, or hands it on if it can never be read. Returns false when neither is
 * possible now; then the caller puts the message back.
 */
static bool pull_start(struct xprtrdma_receive *receive)
{
	struct xprtrdma_pull *pull = &receive->rv_pull;
	struct xprtrdma_conn *conn = receive->rv_conn;
	int ret;

	if (receive->rv_exposed && !pull->pl_done)
		pull->pl_done = xprtrdma_send_get(conn);
	if (receive->rv_exposed && !pull->pl_done)
		return false;
	if (!receive->rv_rqst || !conn->xc_read_depth) {
		pull_finish(receive, -EMSGSIZE);
		return true;
	}
	ret = reads_build(receive);
	if (!ret) {
		ret = reads_post(receive);
		if (!ret)
			return true;
		reads_free(receive);
		xprtrdma_frwr_recycle(receive->rv_registered);
	}
	if (ret == -EMSGSIZE) {
		pull_finish(receive, ret);
		return true;
	}
	if (ret == -EIO)
		xprtrdma_conn_fail(conn, RPCRDMA_END_OTHER);
	else if (ret == -EAGAIN)
		xprtrdma_mrs_grow(conn);
	return false;
}

static struct xprtrdma_receive *pull_next(struct xprtrdma_conn *conn)
{
	struct xprtrdma_receive *receive = NULL;

	spin_lock(&conn->xc_lock);
	if (conn->xc_state == RPCRDMA_CONN_ESTABLISHED && conn->xc_pull.active < XPRTRDMA_PULLS)
		receive = list_first_entry_or_null(&conn->xc_pull.waiting,
						   struct xprtrdma_receive, rv_pull.pl_list);
	if (receive) {
		list_del(&receive->rv_pull.pl_list);
		conn->xc_pull.active++;
	}
	spin_unlock(&conn->xc_lock);
	return receive;
}

/* Starts to read the messages that wait, up to the first one that lacks a resource. */
static void pull_worker(struct work_struct *work)
{
	struct xprtrdma_conn *conn = container_of(work, struct xprtrdma_conn, xc_pull.worker.work);
	unsigned int flags = xprtrdma_memalloc_save(&conn->xc_transport->xt_xprt);
	struct xprtrdma_receive *receive = pull_next(conn);

	while (receive && pull_start(receive))
		receive = pull_next(conn);
	if (receive) {
		pull_put_back(receive);
		queue_delayed_work(xprtrdma_wq, &conn->xc_pull.worker, PULL_RETRY);
	}
	xprtrdma_memalloc_restore(flags);
}

/**
 * xprtrdma_pulls_init - set the puller of a connection up, without messages
 * @conn: connection whose xc_pull is all zeros
 *
 * Context: any.
 */
void xprtrdma_pulls_init(struct xprtrdma_conn *conn)
{
	INIT_LIST_HEAD(&conn->xc_pull.waiting);
	INIT_DELAYED_WORK(&conn->xc_pull.worker, pull_worker);
	conn->xc_pull.wrs = XPRTRDMA_PULL_WRS;
}

/**
 * xprtrdma_pulls_show - show the number of messages that wait to be read; for debugfs.c
 * @seq: file to be written to
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
 * xprtrdma_pull - read a message from the server
 * @receive: the message, which has Read chunks
 *
 * The message is one of these:
 * - a reply that the server exposes; its RPC is pinned, and the memory of that RPC is fenced;
 * - a reply that the server exposes, but for which no RPC waits. rv_rqst is NULL. The reply is not
 *   read, but RDMA_DONE is sent;
 * - a reverse-direction call. rv_rqst has a rq_rcv_buf for the whole call, rv_registered takes the
 *   regions, and the ml_receive of that list is @receive.
 *
 * xprtrdma_reply_pulled() or xprtrdma_bc_pulled() is called exactly once, whatever happens.
 *
 * Context: CQ handlers.
 */
void xprtrdma_pull(struct xprtrdma_receive *receive)
{
	struct xprtrdma_conn *conn = receive->rv_conn;
	struct xprtrdma_pull *pull = &receive->rv_pull;

	if (receive->rv_exposed && receive->rv_rqst) {
		RPCRDMA_COUNT(xprtrdma_replies_pulled, 1);
		trace_xprtrdma_pull(&conn->xc_transport->xt_xprt, receive->rv_header.xid,
				    pull_chunk(receive)->length);
	}
	*pull = (struct xprtrdma_pull) { .pl_cqe.done = pull_wc };
	xprtrdma_receive_advance(receive, XPRTRDMA_MESSAGE_READING);
	spin_lock(&conn->xc_lock);
	list_add_tail(&pull->pl_list, &conn->xc_pull.waiting);
	xprtrdma_watch_hca_begin(conn);
	spin_unlock(&conn->xc_lock);
	queue_delayed_work(xprtrdma_wq, &conn->xc_pull.worker, 0);
}

/**
 * xprtrdma_pulls_stop - stop the worker, so that it starts to read no more messages
 * @conn: a connection whose queue pair is drained, as CQ handlers queue the worker in any state
 *
 * Context: process.
 */
void xprtrdma_pulls_stop(struct xprtrdma_conn *conn)
{
	cancel_delayed_work_sync(&conn->xc_pull.worker);
}

/**
 * xprtrdma_pulls_abort - give up the messages that wait to be read, or whose reading has failed
 * @conn: a connection whose queue pair is drained, and whose regions were taken back
 *
 * Context: process, the transport's write lock is held.
 */
void xprtrdma_pulls_abort(struct xprtrdma_conn *conn)
{
	struct xprtrdma_receive *receive, *next;

	/* Without the lock: no handler and no worker is left that changes the list. */
	list_for_each_entry_safe(receive, next, &conn->xc_pull.waiting, rv_pull.pl_list) {
		list_del(&receive->rv_pull.pl_list);
		reads_free(receive);
		if (receive->rv_pull.pl_done)
			xprtrdma_send_put(receive->rv_pull.pl_done);
		pull_deliver(receive, -ENOTCONN);
	}
}
