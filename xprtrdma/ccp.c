// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Connection Configuration Protocol, RFC 5666 section 6: the client's part.
 *
 * Operation: if the administrator wants that, the connect worker asks the server for its limits on
 * each new connection, before SUNRPC is told of the connection. So the question has the only
 * credit that there is until the first grant, and calls of SUNRPC wait for the answer. The
 * question is a call of the transport's own, without an rpc_rqst, and exposes no memory. The
 * Receive CQ handler recognizes the answer by its XID.
 *
 * The answer can lower inline_send, and changes nothing else. If the server refuses, or if it
 * answers with an RDMA_ERROR or an RPC reply that cannot be decoded, the connection keeps the sizes
 * that were negotiated by private data.
 *
 * If no answer comes, the credit of the question is lost. Then the connect worker gives the
 * connection up, and the transport does not ask this server on later connections.
 */
#include <linux/random.h>

#include "connection.h"
#include "trace.h"

/* Encodes the question, for which any Send buffer has room. Returns its length in bytes. */
static unsigned int ccp_encode(const struct xprtrdma_conn *conn, struct xprtrdma_send *send)
{
	struct rpcrdma_header header = {
		.xid		= conn->xc_ccp.xid,
		.vers		= RPCRDMA_VERSION,
		.credits	= conn->xc_window.requested,
		.proc		= RPCRDMA_MSG,
	};
	const struct rpcrdma_config_request request = {
		.max_call	= conn->xc_inline.inline_send,
		.max_reply	= conn->xc_inline.inline_recv,
		.max_reads	= min_t(int, U8_MAX, conn->xc_id->device->attrs.max_qp_rd_atom),
	};

	rpcrdma_header_encode(&header, NULL, send->sd_buffer.bf_data, RPCRDMA_MIN_HEADER_SIZE);
	return header.size + rpcrdma_config_call_encode(header.xid, &request,
							send->sd_buffer.bf_data + header.size);
}

/* Sends the question. As the first message of a connection it finds a credit and a buffer. */
static int ccp_send(struct xprtrdma_conn *conn)
{
	struct xprtrdma_send *send = xprtrdma_send_get(conn);
	bool open;

	if (!send)
		return -ENOBUFS;
	conn->xc_ccp.xid = get_random_u32();
	spin_lock(&conn->xc_lock);
	open = rpcrdma_window_take(&conn->xc_window);
	conn->xc_ccp.asked = open;
	spin_unlock(&conn->xc_lock);
	if (!open) {
		xprtrdma_send_put(send);
		return -ENOBUFS;
	}
	return xprtrdma_send_post(send, ccp_encode(conn, send));
}

/**
 * xprtrdma_ccp_ask - ask the server for its limits, and apply them
 * @conn: an established connection on which no other call is sent
 *
 * Context: the connect worker. The function sleeps for xt_ccp_timeout at most.
 * Return: 0 when there was an answer, whatever it said. Otherwise @conn is of no use:
 *	%-ENOBUFS when the question could not be sent,
 *	%-ETIMEDOUT when there was no answer,
 *	%-ENOTCONN when the connection was lost, and its close has been asked for.
 */
int xprtrdma_ccp_ask(struct xprtrdma_conn *conn)
{
	struct rpc_xprt *xprt = &conn->xc_transport->xt_xprt;
	u32 agreed = conn->xc_inline.inline_send;
	int ret;

	ret = ccp_send(conn);
	if (!ret)
		wait_for_completion_timeout(&conn->xc_wake, conn->xc_transport->xt_ccp_timeout);
	spin_lock(&conn->xc_lock);
	if (conn->xc_state != RPCRDMA_CONN_ESTABLISHED)
		ret = -ENOTCONN;
	else if (!ret && conn->xc_ccp.asked)
		ret = -ETIMEDOUT;
	conn->xc_ccp.asked = false;
	if (!ret && conn->xc_ccp.answered)
		conn->xc_inline.inline_send = rpcrdma_config_lower(agreed, conn->xc_ccp.max_call);
	spin_unlock(&conn->xc_lock);
	trace_xprtrdma_config(xprt, ret ? ret : conn->xc_inline.inline_send);
	return ret;
}

/**
 * xprtrdma_ccp_receive - is a message the answer to our question?
 * @receive: a reply, before any reply to a call of SUNRPC's; the caller still owns it
 *
 * Context: the Receive CQ handler.
 * Return: true when the message was the answer, upon which the caller gives the credit back, and
 * then completes xc_wake.
 */
bool xprtrdma_ccp_receive(const struct xprtrdma_receive *receive)
{
	const struct rpcrdma_header *header = &receive->rv_header;
	struct xprtrdma_conn *conn = receive->rv_conn;
	bool ours;

	if (header->proc == RPCRDMA_NOMSG)
		return false;
	spin_lock(&conn->xc_lock);
	ours = conn->xc_ccp.asked && header->xid == conn->xc_ccp.xid;
	if (ours) {
		conn->xc_ccp.asked = false;
		conn->xc_ccp.answered = header->proc == RPCRDMA_MSG &&
			rpcrdma_config_reply_decode(receive->rv_buffer.bf_data + header->size,
						    receive->rv_length - header->size,
						    header->xid, &conn->xc_ccp.max_call);
	}
	spin_unlock(&conn->xc_lock);
	return ours;
}
