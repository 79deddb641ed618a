// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Files about the client's connections: /sys/kernel/debug/xprtrdma/connections has a block for
 * each transport, and /proc/net/xprtrdma has the sums of a network namespace.
 *
 * A transport is listed from setup to destroy, with a connection or without. The connection is
 * read under cs_lock, and xt_conn is changed under that lock by xprtrdma_connection_set(). So the
 * teardown of a connection waits until no reader of these files uses the connection.
 *
 * Events that mountstats counts are not counted a second time: see sum_up().
 */
#include "connection.h"

static struct xprtrdma_transport *transport_of(const struct rpcrdma_connection *connection)
{
	return container_of(connection, struct xprtrdma_transport, xt_connection);
}

static const char *state_of(const struct xprtrdma_transport *transport)
{
	if (transport->xt_conn && xprtrdma_conn_established(transport->xt_conn))
		return "established";
	if (transport->xt_conn)
		return "closing";
	return test_bit(XPRT_CONNECTING, &transport->xt_xprt.state) ? "connecting" : "disconnected";
}

/*
 * Returns the resource for want of which SUNRPC holds tasks back: the resource that we have told
 * SUNRPC to wait for, or a credit if the window is closed. If there is none, tasks wait only for
 * the write lock.
 */
static enum xprtrdma_wait lack_of(const struct xprtrdma_conn *conn)
{
	const struct rpcrdma_window *window = &conn->xc_window;

	if (test_bit(XPRT_WRITE_SPACE, &conn->xc_transport->xt_xprt.state))
		return READ_ONCE(conn->xc_wait);
	return window->in_flight < rpcrdma_window_size(window) ?
		XPRTRDMA_WAIT_NONE : XPRTRDMA_WAIT_CREDIT;
}

static void show_conn(struct seq_file *seq, const struct xprtrdma_transport *transport)
{
	struct xprtrdma_conn *conn = transport->xt_conn;
	const struct rdma_addr *address = &conn->xc_id->route.addr;
	const struct rpcrdma_window *window = &conn->xc_window;
	u32 held_back = transport->xt_xprt.sending.qlen;
	enum xprtrdma_wait lack = lack_of(conn);

	rpcrdma_show_address(seq, "local", (const struct sockaddr *)&address->src_addr,
			     address->dev_addr.bound_dev_if);
	rpcrdma_show_agreed(seq, conn->xc_id->device, conn->xc_id->port_num,
			    conn->xc_inline.inline_send, &conn->xc_inline);
	rpcrdma_show_number(seq, "credits_granted", rpcrdma_window_size(window));
	rpcrdma_show_number(seq, "credits_in_use", window->in_flight);
	rpcrdma_show_number(seq, "credits_highest", window->highest);
	rpcrdma_show_number(seq, "waiting_for_credit",
			    lack == XPRTRDMA_WAIT_CREDIT ? held_back : 0);
	rpcrdma_show_number(seq, "waiting_for_send_queue",
			    lack == XPRTRDMA_WAIT_SEND_QUEUE ? held_back : 0);
	rpcrdma_show_number(seq, "waiting_for_region",
			    lack == XPRTRDMA_WAIT_REGIONS ? held_back : 0);
	xprtrdma_pulls_show(seq, conn);
}

static void show(struct seq_file *seq, const struct rpcrdma_connection *connection)
{
	const struct xprtrdma_transport *transport = transport_of(connection);

	rpcrdma_show_address(seq, "peer", (const struct sockaddr *)&transport->xt_xprt.addr, 0);
	rpcrdma_show_text(seq, "state", state_of(transport));
	if (transport->xt_conn)
		show_conn(seq, transport);
}

static void sum_up(const struct rpcrdma_connection *connection, struct rpcrdma_counters *sum)
{
	const struct xprtrdma_transport *transport = transport_of(connection);
	const struct xprtrdma_stats *stats = &transport->xt_stats;
	const struct rpc_xprt *xprt = &transport->xt_xprt;

	rpcrdma_counters_add(sum, &transport->xt_counters);
	sum->bytes_read += stats->total_rdma_request;
	sum->regions_invalidated_locally += stats->local_inv_needed;
	sum->send_queue_waits += stats->empty_sendctx_q;
	sum->bad_messages += stats->bad_reply_count;
	if (xprt->stat.connect_count)
		sum->reconnects += xprt->stat.connect_count - 1;
}

static int net_begin(struct net *net)
{
	return rpcrdma_net_begin(&xprtrdma_connections, net);
}

static void net_end(struct net *net)
{
	rpcrdma_net_end(&xprtrdma_connections, net);
}

struct rpcrdma_connections xprtrdma_connections = {
	.cs_side	= "client",
	.cs_name	= "xprtrdma",
	.cs_is_client	= true,
	.cs_show	= show,
	.cs_sum		= sum_up,
	.cs_net_operations = {
		.init	= net_begin,
		.exit	= net_end,
		.id	= &xprtrdma_connections.cs_net_id,
		.size	= sizeof(struct rpcrdma_net),
	},
};

/**
 * xprtrdma_connection_set - set the connection of a transport
 * @transport: the transport
 * @conn: an established connection, or NULL
 *
 * When this returns no reader of statistics uses the previous connection, nor does a task that has
 * ended without a reply: see note_lost().
 *
 * Context: process, the transport's write lock is held.
 */
void xprtrdma_connection_set(struct xprtrdma_transport *transport, struct xprtrdma_conn *conn)
{
	mutex_lock(&xprtrdma_connections.cs_lock);
	spin_lock(&transport->xt_xprt.transport_lock);
	transport->xt_conn = conn;
	spin_unlock(&transport->xt_xprt.transport_lock);
	transport->xt_connection.cn_since = get_jiffies_64();
	mutex_unlock(&xprtrdma_connections.cs_lock);
}

/*
 * Is SUNRPC closing this connection because it is idle? Then the idle timer has expired, and no
 * call awaits a reply.
 */
static bool is_idle(const struct rpc_xprt *xprt)
{
	return xprt->idle_timeout && !timer_pending(&xprt->timer) &&
	       RB_EMPTY_ROOT(&xprt->recv_queue);
}

/**
 * xprtrdma_connection_ended - count the end of a connection by its reason
 * @conn: a connection that was established, and is about to be taken down
 * @closed: the transport ends, and needs no connection any more
 *
 * The first failure has noted its reason. If no reason is noted, but the connection is not
 * established, work requests were only flushed, since the peer has ended the connection.
 *
 * Context: process, the transport's write lock is held.
 */
void xprtrdma_connection_ended(struct xprtrdma_conn *conn, bool closed)
{
	struct xprtrdma_transport *transport = conn->xc_transport;
	enum rpcrdma_end end = READ_ONCE(conn->xc_end);

	if (!end && !xprtrdma_conn_established(conn))
		end = RPCRDMA_END_PEER_DISCONNECTED;
	else if (!end && closed)
		end = RPCRDMA_END_CLOSED;
	else if (!end && READ_ONCE(transport->xt_overdue))
		end = RPCRDMA_END_STALLED;
	else if (!end)
		end = is_idle(&transport->xt_xprt) ? RPCRDMA_END_IDLE : RPCRDMA_END_OTHER;
	RPCRDMA_COUNT(transport->xt_counters.ended[end], 1);
}
