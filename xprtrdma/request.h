/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* The transport's part of an RPC: from its buffers to the wait for its reply. */
#ifndef XPRTRDMA_REQUEST_H
#define XPRTRDMA_REQUEST_H

#include <linux/sunrpc/xprt.h>

#include <common/refusal.h>

#include "mr.h"

struct xprtrdma_conn;
struct xprtrdma_send;
struct xprtrdma_transport;

/**
 * struct xprtrdma_request - the transport's part of an rpc_rqst; from buf_alloc to buf_free
 * @rq_registered: memory regions that are registered for this RPC
 * @rq_sent_on: xc_serial of the connection of the last Send; 0: there was no Send, or no reply
 *	to it is accepted. Set under xc_lock of that connection when the Send has been posted,
 *	and read without that lock; cleared under queue_lock
 * @rq_answered: a reply to the last Send was taken, so that Send has no credit any more. Set under
 *	queue_lock; read and cleared by the sender
 * @rq_timer: SUNRPC's own callback for a task that has stopped waiting
 * @rq_refused: refusal that the task has yet to learn of; changed under queue_lock
 * @rq_shape: means by which call and reply are moved; only for the owner of the RPC, which is the
 *	sender, or the handler that has pinned the RPC
 * @rq_again: the server has refused the call once, for want of memory for a large reply; set
 *	under queue_lock, read by the sender
 * @rq_write_capacity: bytes of the Write chunk that was offered
 * @rq_reply_capacity: bytes of the Reply chunk that was offered
 * @rq_procedure: number of the procedure in xt_history; valid if @rq_by_history
 * @rq_by_history: rpcrdma_expect_large() has decided whether the call offers memory for its reply
 * @rq_left_open: the call offers no memory, although its reply may be too large to go inline
 * @rq_reserved: the memory of this request came from xt_reserve; constant
 * @rq_reply: reply buffer if it has memory of its own, else NULL; constant
 * @rq_data: call buffer, followed by the reply buffer if @rq_reply is NULL
 */
struct xprtrdma_request {
	struct xprtrdma_mr_list	rq_registered;
	unsigned long		rq_sent_on;
	void			(*rq_timer)(struct rpc_task *task);
	enum rpcrdma_refusal	rq_refused;
	bool			rq_answered;
	bool			rq_again;
	bool			rq_by_history;
	bool			rq_left_open;
	u8			rq_shape;	/* enum rpcrdma_shape */
	u32			rq_write_capacity;
	u32			rq_reply_capacity;
	u32			rq_procedure;
	bool			rq_reserved;
	void			*rq_reply;
	u8			rq_data[] ____cacheline_aligned;
};

static inline struct xprtrdma_request *
xprtrdma_request_of(const struct rpc_rqst *rqst)
{
	return container_of(rqst->rq_buffer, struct xprtrdma_request, rq_data[0]);
}

/* request.c */
int xprtrdma_requests_init(struct xprtrdma_transport *transport);
void xprtrdma_requests_exit(struct xprtrdma_transport *transport);
int xprtrdma_request_alloc(struct rpc_task *task);
void xprtrdma_request_free(struct rpc_task *task);
int xprtrdma_request_send(struct rpc_rqst *rqst);
void xprtrdma_reply_wait(struct rpc_task *task);

/* marshal.c */
int xprtrdma_marshal_call(struct xprtrdma_send *send, struct rpc_rqst *rqst,
			  struct xprtrdma_request *request);

#endif /* XPRTRDMA_REQUEST_H */
