/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Receive buffers (receive.c), and the replies in them (reply.c). */
#ifndef XPRTRDMA_RECEIVE_H
#define XPRTRDMA_RECEIVE_H

#include "rpcrdma/header.h"
#include <common/verbs.h>

#include "pull.h"

struct rpc_rqst;
struct xprtrdma_mr_list;
struct xprtrdma_request;

enum {
	XPRTRDMA_REPLY_SEGMENTS	= 64,	/* of all chunks of a message; a reply returns 32 at most */
	XPRTRDMA_REPLY_CHUNKS	= 8,
};

/**
 * enum xprtrdma_message_state - state of a Receive buffer and its message
 * @XPRTRDMA_MESSAGE_NONE: there is no message; the buffer is posted, or waits to be posted
 * @XPRTRDMA_MESSAGE_HANDLED: a completion handler, the pull worker or the teardown handles the
 *	message
 * @XPRTRDMA_MESSAGE_INVALIDATING: the message waits for LOCAL_INVs of the regions of its call
 * @XPRTRDMA_MESSAGE_READING: the message waits until its RDMA Reads are posted and complete
 * @XPRTRDMA_MESSAGE_READ_INVALIDATING: the message waits for LOCAL_INVs of the regions that its
 *	RDMA Reads have filled
 */
enum xprtrdma_message_state {
	XPRTRDMA_MESSAGE_NONE,
	XPRTRDMA_MESSAGE_HANDLED,
	XPRTRDMA_MESSAGE_INVALIDATING,
	XPRTRDMA_MESSAGE_READING,
	XPRTRDMA_MESSAGE_READ_INVALIDATING,
};

/**
 * struct xprtrdma_receive - a Receive buffer, and the message in it
 * @rv_next: next buffer in the list of all buffers of xc_recv
 * @rv_conn: owner
 * @rv_cqe: completion of the Receive
 * @rv_wr: work request of the Receive
 * @rv_buffer: buffer of xc_recv_size bytes
 * @rv_state: state of the message; changed only by xprtrdma_receive_advance()
 * @rv_exposed: the message is a reply that the server exposes; false for a call with Read chunks
 * @rv_length: bytes received
 * @rv_rqst: the pinned RPC that this message is the reply to, or the reverse-direction call
 *	that it brings, while the Read chunks of that call are read; else NULL
 * @rv_request: the transport's part of @rv_rqst; valid if that is a pinned RPC
 * @rv_registered: list of the regions of @rv_rqst; NULL if @rv_rqst is NULL
 * @rv_pull: RDMA Reads of the message
 * @rv_header: decoded header
 * @rv_lists: decoded chunk lists, which use @rv_segments and @rv_chunks
 * @rv_segments: storage of @rv_lists
 * @rv_chunks: storage of @rv_lists
 */
struct xprtrdma_receive {
	struct xprtrdma_receive		*rv_next;
	struct xprtrdma_conn		*rv_conn;
	struct ib_cqe			rv_cqe;
	struct ib_recv_wr		rv_wr;
	struct rpcrdma_buffer		rv_buffer;
	enum xprtrdma_message_state	rv_state;
	bool				rv_exposed;
	unsigned int			rv_length;
	struct rpc_rqst			*rv_rqst;
	struct xprtrdma_request		*rv_request;
	struct xprtrdma_mr_list		*rv_registered;
	struct xprtrdma_pull		rv_pull;
	struct rpcrdma_header		rv_header;
	struct rpcrdma_chunk_lists	rv_lists;
	struct rpcrdma_segment		rv_segments[XPRTRDMA_REPLY_SEGMENTS];
	struct rpcrdma_chunk		rv_chunks[XPRTRDMA_REPLY_CHUNKS];
};

/**
 * struct xprtrdma_recv_pool - Receive buffers
 * @all: all buffers, linked by rv_next; only for the functions that make and free them
 * @count: number of all buffers; only for the function that makes them
 * @idle: chain of the buffers that are to be posted in one batch; under xc_lock
 * @nr_idle: number of buffers in @idle; under xc_lock
 */
struct xprtrdma_recv_pool {
	struct xprtrdma_receive	*all;
	unsigned int		count;
	struct ib_recv_wr	*idle;
	unsigned int		nr_idle;
};

/* receive.c */
int xprtrdma_receives_create(struct xprtrdma_conn *conn, unsigned int count);
void xprtrdma_receives_destroy(struct xprtrdma_conn *conn);
int xprtrdma_receives_post(struct xprtrdma_conn *conn);
void xprtrdma_receive_put(struct xprtrdma_receive *receive);
int xprtrdma_receive_return(struct xprtrdma_receive *receive);
void xprtrdma_receive_advance(struct xprtrdma_receive *receive, enum xprtrdma_message_state state);

/* reply.c */
void xprtrdma_reply_wc(struct ib_cq *cq, struct ib_wc *wc);
void xprtrdma_reply_invalidated(struct xprtrdma_receive *receive, bool ok);
void xprtrdma_reply_pulled(struct xprtrdma_receive *receive, int status);

#endif /* XPRTRDMA_RECEIVE_H */
