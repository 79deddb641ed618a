// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * One connection, from rdma_resolve_addr() to the last reference.
 *
 * Normal operation: the connect worker of a transport calls xprtrdma_conn_create(),
 * which goes through the steps of rdma_cm one after the other. It returns an established
 * connection with its Receives posted, or an error and no connection.
 *
 * Loss: a function that finds that the connection is of no more use calls xprtrdma_conn_fail().
 * The reason may be a CM event, a failed completion or post, a protocol violation, or a timeout.
 * The first such call for an established connection moves the state to BROKEN and asks SUNRPC to
 * close the transport; the close calls xprtrdma_conn_destroy(). In the state BROKEN no further
 * event asks for a close, so a late event cannot end the next connection.
 *
 * Device removal is reported by a CM event, too. rdma_cm delays the removal until the
 * cm_id is destroyed, so the cm_id is destroyed last, after everything that was made on
 * the device.
 */
#include "connection.h"
#include "trace.h"

enum {
	RESOLVE_MS	= 5000,
	FIRST_MRS	= 4,	/* memory regions until a call needs more */
	READ_DEPTH	= 16,	/* RDMA Reads in flight, at most */
};

/* Longer than the CM tries: it repeats a request every four seconds, fifteen times. */
#define CM_TIMEOUT	(120U * HZ)

/* Fills in the private data that describes this client to the server. */
static void conn_describe(const struct xprtrdma_conn *conn, struct rpcrdma_cm_private *local)
{
	*local = (struct rpcrdma_cm_private) {
		.send_size		= conn->xc_send_size,
		.recv_size		= conn->xc_recv_size,
		.remote_invalidation	= true,
		.extensions		= conn->xc_may_pull ?
			RPCRDMA_EXT_TAKES_READ_CHUNKS | RPCRDMA_EXT_REVERSE_CHUNKS : 0,
	};
}

/*
 * Number of RDMA Reads in flight that the server takes. The providers of iWARP do not agree on
 * which of the two values belongs to which peer, so the smaller one is used there.
 */
static unsigned int conn_reads_taken(struct xprtrdma_conn *conn,
				     const struct rdma_conn_param *param)
{
	if (rdma_protocol_iwarp(xprtrdma_conn_device(conn), conn->xc_id->port_num))
		return min(param->initiator_depth, param->responder_resources);
	return param->initiator_depth;
}

static void conn_negotiate(struct xprtrdma_conn *conn, const struct rdma_conn_param *param)
{
	struct rpcrdma_cm_private local, peer;

	conn_describe(conn, &local);
	rpcrdma_cm_private_decode(param->private_data, param->private_data_len, &peer);
	rpcrdma_cm_negotiate(&local, &peer, &conn->xc_inline);
	conn->xc_read_depth = min(conn->xc_read_depth, conn_reads_taken(conn, param));
	trace_xprtrdma_established(&conn->xc_transport->xt_xprt,
				   conn->xc_inline.inline_send,
				   conn->xc_inline.inline_recv,
				   conn->xc_inline.remote_invalidation);
}

/* The connection cannot be made, or has ended. @status: errno for the connect worker */
static void conn_cm_failed(struct xprtrdma_conn *conn, int status, enum rpcrdma_end why)
{
	/* conn_wait(), which an earlier event may have woken, reads this without a lock. */
	WRITE_ONCE(conn->xc_cm_status, status);
	xprtrdma_conn_fail(conn, why);
	/* Flushed completions, which give no reason, may have come before this event. */
	xprtrdma_conn_note_end(conn, why);
}

static int conn_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct xprtrdma_conn *conn = id->context;

	trace_xprtrdma_cm_event(XPRTRDMA_PEER(&conn->xc_transport->xt_xprt), id, event);
	switch (event->event) {
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		xprtrdma_conn_event(conn, RPCRDMA_EVENT_ADDR_RESOLVED);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		xprtrdma_conn_event(conn, RPCRDMA_EVENT_ROUTE_RESOLVED);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		conn_negotiate(conn, &event->param.conn);
		xprtrdma_conn_event(conn, RPCRDMA_EVENT_ESTABLISHED);
		break;
	case RDMA_CM_EVENT_REJECTED:
		/* The peer still has a queue pair with our number, and drops it: try again. */
		conn_cm_failed(conn, event->status == IB_CM_REJ_STALE_CONN ?
			       -EAGAIN : -ECONNREFUSED, RPCRDMA_END_OTHER);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		/* The route to this address uses an interface without an RDMA device. */
		conn_cm_failed(conn, event->status == -ENODEV ? -ENODEV : -EHOSTUNREACH,
			       RPCRDMA_END_OTHER);
		break;
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		conn_cm_failed(conn, -ENETUNREACH, RPCRDMA_END_OTHER);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		conn_cm_failed(conn, -ENOTCONN, RPCRDMA_END_DEVICE_REMOVED);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		conn_cm_failed(conn, -ENOTCONN, RPCRDMA_END_PEER_DISCONNECTED);
		break;
	default:
		/* These are address changes and connect errors. */
		conn_cm_failed(conn, -ENOTCONN, RPCRDMA_END_OTHER);
	}
	complete(&conn->xc_wake);
	return 0;
}

/* Waits for one step of connecting. @started: result of the rdma_cm call that started the step. */
static int conn_wait(struct xprtrdma_conn *conn, int started, enum rpcrdma_conn_state expected)
{
	if (started)
		return started;
	/* rdma_cm has time limits of its own; this one is for a provider that has a bug. */
	if (!wait_for_completion_timeout(&conn->xc_wake, CM_TIMEOUT))
		return -ETIMEDOUT;
	if (READ_ONCE(conn->xc_state) == expected)
		return 0;
	return READ_ONCE(conn->xc_cm_status) ?: -ENOTCONN;
}

static int conn_resolve(struct xprtrdma_conn *conn)
{
	struct xprtrdma_transport *transport = conn->xc_transport;
	struct rpc_xprt *xprt = &transport->xt_xprt;
	struct sockaddr *source = NULL;
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(xprt->xprt_net, conn_cm_handler, conn, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	conn->xc_id = id;

	if (transport->xt_srcaddr.ss_family)
		source = (struct sockaddr *)&transport->xt_srcaddr;
	xprtrdma_conn_event(conn, RPCRDMA_EVENT_START);
	conn->xc_step = "address";
	ret = rdma_resolve_addr(id, source, (struct sockaddr *)&xprt->addr, RESOLVE_MS);
	ret = conn_wait(conn, ret, RPCRDMA_CONN_RESOLVING_ROUTE);
	if (ret)
		return ret;

	conn->xc_step = "route";
	ret = rdma_resolve_route(id, RESOLVE_MS);
	return conn_wait(conn, ret, RPCRDMA_CONN_CONNECTING);
}

static void conn_qp_event(struct ib_event *event, void *context)
{
	struct xprtrdma_conn *conn = context;

	trace_xprtrdma_qp_event(&conn->xc_transport->xt_xprt, event->event);
}

static void conn_free_cqs(struct xprtrdma_conn *conn)
{
	if (conn->xc_recv_cq)
		ib_free_cq(conn->xc_recv_cq);
	if (conn->xc_send_cq)
		ib_free_cq(conn->xc_send_cq);
	conn->xc_recv_cq = NULL;
	conn->xc_send_cq = NULL;
}

/*
 * Number of Send Queue entries for RDMA Reads and Writes. The regions that are read into need no
 * more entries: each region has one, which is used by one registration or LOCAL_INV at a time. See
 * the comment at the start of send.c.
 */
static unsigned int conn_pull_entries(const struct xprtrdma_conn *conn)
{
	return conn->xc_may_pull ? XPRTRDMA_PULL_WRS + XPRTRDMA_BC_WRITES : 0;
}

static int conn_create_cq(struct xprtrdma_conn *conn, unsigned int entries, struct ib_cq **created)
{
	struct ib_cq *cq = ib_alloc_cq_any(xprtrdma_conn_device(conn), conn, entries,
					   IB_POLL_WORKQUEUE);

	if (IS_ERR(cq))
		return PTR_ERR(cq);
	*created = cq;
	return 0;
}

static int conn_create_qp(struct xprtrdma_conn *conn)
{
	const struct rpcrdma_client_queues *queues = &conn->xc_queues;
	unsigned int send_wrs = queues->send_wrs + conn_pull_entries(conn);
	struct ib_qp_init_attr attr = {
		.event_handler	= conn_qp_event,
		.qp_context	= conn,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.port_num	= conn->xc_id->port_num,
		.cap = {
			.max_send_wr	= send_wrs,
			.max_recv_wr	= queues->recv_wrs,
			.max_send_sge	= 1,
			.max_recv_sge	= 1,
		},
	};

	int ret;

	ret = conn_create_cq(conn, send_wrs, &conn->xc_send_cq);
	if (!ret)
		ret = conn_create_cq(conn, queues->recv_wrs, &conn->xc_recv_cq);
	if (ret)
		return ret;
	attr.send_cq = conn->xc_send_cq;
	attr.recv_cq = conn->xc_recv_cq;
	return rdma_create_qp(conn->xc_id, conn->xc_pd, &attr);
}

/*
 * The limits that a device reports are upper bounds; the size of its entries decides how long a
 * queue can be. So this function tries with fewer calls until the device makes the queues.
 */
static int conn_create_queues(struct xprtrdma_conn *conn,
			      const struct rpcrdma_device_limits *limits)
{
	u32 slots = conn->xc_transport->xt_xprt.max_reqs;
	u32 beside = XPRTRDMA_BC_SLOTS + (conn->xc_may_pull ? XPRTRDMA_PULLS : 0);
	int ret;

	do {
		if (!rpcrdma_size_client(limits, slots, beside,
					 XPRTRDMA_MAX_PAGES, &conn->xc_queues))
			return -ENOMEM;
		ret = conn_create_qp(conn);
		if (!ret)
			return 0;
		conn_free_cqs(conn);
		slots = conn->xc_queues.credits * 3 / 4;
	} while (slots && (ret == -ENOMEM || ret == -EINVAL));
	return ret;
}

/*
 * A mount derives its rsize and wsize from xprt->max_payload, which the first connection sets. On a
 * later connection whose device can only carry smaller payloads, calls would end with EIO, which a
 * hard mount must not get. So such a connection is refused.
 */
static int conn_check_payload(struct xprtrdma_conn *conn)
{
	struct xprtrdma_transport *transport = conn->xc_transport;
	struct rpc_xprt *xprt = &transport->xt_xprt;
	size_t payload = (size_t)conn->xc_queues.payload_pages << PAGE_SHIFT;

	if (payload >= xprt->max_payload)
		return 0;
	if (transport->xt_was_connected) {
		conn->xc_step = "largest payload";
		return -EOPNOTSUPP;
	}
	xprt->max_payload = payload;
	return 0;
}

static int conn_create_resources(struct xprtrdma_conn *conn)
{
	struct rpcrdma_device_limits limits;
	struct ib_pd *pd;
	int ret;

	conn->xc_step = "fast registration";
	ret = xprtrdma_frwr_query(conn, &limits);
	if (ret)
		return ret;
	conn->xc_step = "queues and memory";
	if (xprtrdma_conn_device(conn)->attrs.max_qp_init_rd_atom < 1)
		conn->xc_may_pull = false;
	pd = ib_alloc_pd(xprtrdma_conn_device(conn), 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	conn->xc_pd = pd;
	limits.max_qp_wr -= min(limits.max_qp_wr, conn_pull_entries(conn));
	limits.max_cqe -= min(limits.max_cqe, conn_pull_entries(conn));
	ret = conn_create_queues(conn, &limits);
	if (ret)
		return ret;
	ret = conn_check_payload(conn);
	if (ret)
		return ret;
	ret = xprtrdma_window_create(conn);
	if (ret)
		return ret;
	/* This succeeds if it makes one region: a work item makes more when calls need them. */
	ret = xprtrdma_mrs_create(conn, min_t(unsigned int, FIRST_MRS, conn->xc_queues.credits));
	if (ret)
		return ret;
	/* RFC 8166 section 3.3.1: Receives are posted before the server can send anything. */
	return xprtrdma_receives_post(conn);
}

static int conn_connect(struct xprtrdma_conn *conn)
{
	const struct ib_device_attr *attrs = &xprtrdma_conn_device(conn)->attrs;
	struct rpcrdma_cm_private local;
	u8 private[RPCRDMA_CM_MAX_SIZE];
	struct rdma_conn_param param = {
		.private_data		= private,
		.responder_resources	= min_t(int, U8_MAX, attrs->max_qp_rd_atom),
		/* For RDMA Reads of replies that the server exposes, and of its calls. */
		.initiator_depth	= conn->xc_may_pull ?
			clamp_t(int, attrs->max_qp_init_rd_atom, 0, READ_DEPTH) : 0,
		/* An RNR retry count of 7 means "for ever"; with rxe so does a retry count of 7. */
		.retry_count		= 6,
		.rnr_retry_count	= 6,
	};
	int ret;

	conn->xc_read_depth = param.initiator_depth;
	conn_describe(conn, &local);
	param.private_data_len = rpcrdma_cm_private_encode(&local, private);
	conn->xc_step = "connection request";
	ret = rdma_connect(conn->xc_id, &param);
	return conn_wait(conn, ret, RPCRDMA_CONN_ESTABLISHED);
}

/* Only the work request that fails first is traced, as those behind it are merely flushed. */
static void conn_wc_part(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprtrdma_conn *conn = container_of(wc->wr_cqe, struct xprtrdma_conn, xc_part_cqe);

	if (wc->status == IB_WC_SUCCESS)
		return;
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		trace_xprtrdma_wc(&conn->xc_transport->xt_xprt, "rdma", wc);
	xprtrdma_conn_fail(conn, rpcrdma_end_of(wc, RPCRDMA_END_SEND_FAILED));
}

static atomic_long_t last_serial;

static struct xprtrdma_conn *conn_alloc(struct xprtrdma_transport *transport)
{
	struct xprtrdma_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	kref_init(&conn->xc_kref);
	conn->xc_transport = transport;
	conn->xc_step = "cm_id";
	conn->xc_serial = atomic_long_inc_return(&last_serial);
	conn->xc_send_size = rounddown(READ_ONCE(xprtrdma_max_inline_write), 1024);
	conn->xc_recv_size = rounddown(READ_ONCE(xprtrdma_max_inline_read), 1024);
	conn->xc_may_pull = READ_ONCE(xprtrdma_reliable_reply);
	init_completion(&conn->xc_wake);
	init_completion(&conn->xc_released);
	conn->xc_part_cqe.done = conn_wc_part;
	spin_lock_init(&conn->xc_lock);
	conn->xc_state = RPCRDMA_CONN_IDLE;
	xprtrdma_window_init(conn);
	xprtrdma_sends_init(conn);
	xprtrdma_mrs_init(conn);
	xprtrdma_pulls_init(conn);
	xprtrdma_watch_init(conn);
	return conn;
}

/**
 * xprtrdma_conn_create - connect to the transport's server
 * @transport: the transport
 *
 * Context: process, the transport's write lock is held. The function may sleep for over a minute.
 * Return: an established connection with one reference, to be given to
 * xprtrdma_conn_destroy(); or an ERR_PTR.
 */
struct xprtrdma_conn *xprtrdma_conn_create(struct xprtrdma_transport *transport)
{
	const struct rpc_xprt *xprt = &transport->xt_xprt;
	struct xprtrdma_conn *conn;
	int ret;

	conn = conn_alloc(transport);
	if (!conn)
		return ERR_PTR(-ENOMEM);
	ret = conn_resolve(conn);
	if (!ret)
		ret = conn_create_resources(conn);
	if (!ret)
		ret = conn_connect(conn);
	if (ret) {
		trace_xprtrdma_connect_failed(xprt, conn->xc_step, ret);
		xprtrdma_failure_note(xprt, conn->xc_step, ret);
		xprtrdma_conn_destroy(conn);
		return ERR_PTR(ret);
	}
	xprtrdma_failure_forget(xprt);
	return conn;
}

/* Steps 2 to 4 of xprtrdma_conn_destroy(). */
static void conn_quiesce(struct xprtrdma_conn *conn)
{
	/* 2. Tell the peer. On iWARP the peer can still read and write our memory after that. */
	rdma_disconnect(conn->xc_id);
	/*
	 * 3. Move the queue pair to the error state, after which the peer cannot reach our
	 *    memory, and drain the Receive Queue. After that its handler does not run any more.
	 *    Since step 1 nothing is posted to the Send Queue: each function that posts there
	 *    looks at the state under xc_lock first. So the drain of step 4 misses nothing.
	 */
	ib_drain_rq(conn->xc_id->qp);
	/*
	 * 4. Every work request completes now, if only as flushed. A flushed LOCAL_INV unpins
	 *    the RPC that waited for it, without completing the RPC. An RPC whose reply was being
	 *    read from the server stays pinned until step 5.
	 */
	ib_drain_sq(conn->xc_id->qp);
}

/**
 * xprtrdma_conn_destroy - take a connection down, in any state of its construction
 * @conn: the connection; the caller's reference is consumed
 *
 * Context: process, the transport's write lock is held, not in a CQ or CM handler.
 */
void xprtrdma_conn_destroy(struct xprtrdma_conn *conn)
{
	/* 1. From now on nothing new is posted, and no event asks for a close. */
	xprtrdma_conn_event(conn, RPCRDMA_EVENT_FAILED);

	if (conn->xc_id && conn->xc_id->qp)
		conn_quiesce(conn);
	xprtrdma_conn_event(conn, RPCRDMA_EVENT_DRAINED);

	xprtrdma_window_stop(conn);
	xprtrdma_pulls_stop(conn);
	xprtrdma_watch_stop(conn);
	xprtrdma_bc_write_abort(conn);
	/*
	 * 5. The device uses no memory region any more. Take back the regions that RPCs hold, and
	 *    unmap them. Give up the messages that were to be read; the calls of such replies are
	 *    sent again. Wake the tasks that wait in xprtrdma_frwr_unmap_sync().
	 */
	xprtrdma_mrs_release(conn);
	xprtrdma_pulls_abort(conn);
	complete_all(&conn->xc_released);

	/* 6. Destroy the verbs objects, each one before those that it uses, and the cm_id last. */
	if (conn->xc_id && conn->xc_id->qp)
		rdma_destroy_qp(conn->xc_id);
	xprtrdma_mrs_destroy(conn);
	xprtrdma_receives_destroy(conn);
	xprtrdma_sends_destroy(conn);
	conn_free_cqs(conn);
	if (conn->xc_pd)
		ib_dealloc_pd(conn->xc_pd);
	/* The CM handler has run for the last time when this returns. */
	if (conn->xc_id)
		rdma_destroy_id(conn->xc_id);
	conn->xc_id = NULL;

	/* 7. Holders of other references may still use xc_state, xc_lock and xc_released. */
	xprtrdma_conn_put(conn);
}
