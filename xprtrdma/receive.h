/* SPDX-License-Identifier: GPL-2.0 */
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
	XPRTRDMA_REPLY_SEGMENTS	= 64,	/* storage to decode a reply: two full lists */
	XPRTRDMA_REPLY_CHUNKS	= 8,
};

/**
 * enum xprtrdma_message_state - where is an incoming message?
 * @XPRTRDMA_MESSAGE_NONE: the buffer is posted, or waits for that
 * @XPRTRDMA_MESSAGE_HANDLED: with a completion handler, or with the teardown
 * @XPRTRDMA_MESSAGE_INVALIDATING: waits for LOCAL_INVs of what its call has exposed
 * @XPRTRDMA_MESSAGE_READING: waits for RDMA Reads, or to be able to post them
 * @XPRTRDMA_MESSAGE_READ_INVALIDATING: waits for LOCAL_INVs of what was read into
 */
enum xprtrdma_message_state {
	XPRTRDMA_MESSAGE_NONE,
	XPRTRDMA_MESSAGE_HANDLED,
	XPRTRDMA_MESSAGE_INVALIDATING,
	XPRTRDMA_MESSAGE_READING,
	XPRTRDMA_MESSAGE_READ_INVALIDATING,
};

/**
 * struct xprtrdma_receive - one incoming message
 * @rv_all: all of xc_recv
 * @rv_conn: owner
 * @rv_cqe: completion
 * @rv_wr: the Receive
 * @rv_buffer: xc_recv_size bytes
 * @rv_state: changed by xprtrdma_receive_advance() alone
 * @rv_exposed: it is a reply that the server exposes
 * @rv_length: bytes received
 * @rv_rqst: the RPC that this message ends, pinned, or the reverse-direction call that it
 *	is, while that is being read; NULL while there is none
 * @rv_request: the transport's part of @rv_rqst, if that is an RPC of ours; valid with it
 * @rv_registered: the regions of @rv_rqst; NULL with it
 * @rv_pull: the reply or call is to be read from the server
 * @rv_header: decoded header
 * @rv_lists: decoded chunk lists, over @rv_segments and @rv_chunks
 * @rv_segments: storage
 * @rv_chunks: storage
 */
struct xprtrdma_receive {
	struct list_head		rv_all;
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
 * @all: every one; under xc_lock
 * @count: their number; for the one who makes them
 * @idle: to be posted, and in a chain for that; under xc_lock
 * @nr_idle: their number; under xc_lock
 */
struct xprtrdma_recv_pool {
	struct list_head	all;
	unsigned int		count;
	struct ib_recv_wr	*idle;
	unsigned int		nr_idle;
};

/* receive.c */
void xprtrdma_receives_init(struct xprtrdma_conn *conn);
int xprtrdma_receives_create(struct xprtrdma_conn *conn, unsigned int count);
void xprtrdma_receives_destroy(struct xprtrdma_conn *conn);
int xprtrdma_receives_post(struct xprtrdma_conn *conn);
void xprtrdma_receive_put(struct xprtrdma_receive *receive);
int xprtrdma_receive_return(struct xprtrdma_receive *receive);
void xprtrdma_receive_advance(struct xprtrdma_receive *receive,
			      enum xprtrdma_message_state state);

/* reply.c */
void xprtrdma_reply_wc(struct ib_cq *cq, struct ib_wc *wc);
void xprtrdma_reply_invalidated(struct xprtrdma_receive *receive, bool ok);
void xprtrdma_reply_pulled(struct xprtrdma_receive *receive, int status);

#endif /* XPRTRDMA_RECEIVE_H */
