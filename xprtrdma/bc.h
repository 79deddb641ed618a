/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Reverse direction: calls of the server (backchannel.c), and our replies (bc_reply.c). */
#ifndef XPRTRDMA_BC_H
#define XPRTRDMA_BC_H

#include <linux/sunrpc/xprt.h>

#include "mr.h"

struct bc_write;
struct xprtrdma_conn;
struct xprtrdma_receive;
struct xprtrdma_send;
struct xprtrdma_transport;

enum {
	XPRTRDMA_BC_SLOTS	= 16,	/* reverse-direction credits that we grant */
	XPRTRDMA_BC_MAX_CALL	= 68 << 10,	/* bytes of a reverse-direction call */
	XPRTRDMA_BC_WRITES	= 4 * RPCRDMA_MAX_SEGMENTS_SENT, /* RDMA Writes of four replies */
	/* Pages of a call behind its first page. */
	XPRTRDMA_BC_PAGES	= (XPRTRDMA_BC_MAX_CALL - 1) / PAGE_SIZE,
	/*
	 * Only the length of a call bounds the reply that the callback service encodes: no
	 * operation's result is ten times as long as its arguments.
	 */
	XPRTRDMA_BC_REPLY_PAGES	= 10 * (XPRTRDMA_BC_PAGES + 1),
};

/**
 * struct xprtrdma_bc_writer - replies that go into Reply chunks; under xc_lock
 * @wrs: number of RDMA Writes that have been posted and are not complete
 * @failed: reply whose post has failed, or NULL; there is one at most, as the connection ends
 */
struct xprtrdma_bc_writer {
	unsigned int		wrs;
	struct bc_write		*failed;
};

/**
 * struct xprtrdma_bc_request - a reverse-direction call
 * @rqst: SUNRPC's part of the call, which the callback service gets
 * @serial: xc_serial of the connection that the call came on
 * @call: first page of the call
 * @reply: page that the reply is encoded into
 * @overflow_pages: pages of the encoder's buffer behind @reply. Every element is the page @reply
 *	itself, which the encoder may overwrite, since a reply of more than one page is not sent
 * @nr_pages: number of @pages; 0 while the request is idle
 * @pages: pages of the call behind @call
 * @registered: list of the regions that the call is read into
 * @lists: lists of the reply, with the Reply chunk of the call if it has one; the sender of the
 *	reply sets the lengths that were written
 * @segments: storage of @lists
 * @chunk: storage of @lists, for the Reply chunk
 */
struct xprtrdma_bc_request {
	struct rpc_rqst		rqst;
	unsigned long		serial;
	void			*call;
	void			*reply;
	struct page		*overflow_pages[XPRTRDMA_BC_REPLY_PAGES];
	u32			nr_pages;
	struct page		*pages[XPRTRDMA_BC_PAGES];
	struct xprtrdma_mr_list	registered;
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_segment	segments[RPCRDMA_MAX_SEGMENTS_SENT];
	struct rpcrdma_chunk	chunk;
};

static inline struct xprtrdma_bc_request *xprtrdma_bc_request_of(struct rpc_rqst *rqst)
{
	return container_of(rqst, struct xprtrdma_bc_request, rqst);
}

/* backchannel.c */
int xprtrdma_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs);
size_t xprtrdma_bc_max_payload(struct rpc_xprt *xprt);
void xprtrdma_bc_connected(const struct xprtrdma_conn *conn);
unsigned int xprtrdma_bc_num_slots(struct rpc_xprt *xprt);
void xprtrdma_bc_free_rqst(struct rpc_rqst *rqst);
void xprtrdma_bc_stop(struct xprtrdma_transport *transport);
void xprtrdma_bc_destroy(struct rpc_xprt *xprt, unsigned int reqs);
void xprtrdma_bc_receive(struct xprtrdma_receive *receive);
void xprtrdma_bc_pulled(struct xprtrdma_receive *receive, int status);

/* bc_reply.c */
int xprtrdma_bc_send(struct xprtrdma_conn *conn, struct rpc_rqst *rqst);
int xprtrdma_bc_send_error(struct xprtrdma_send *send, u32 xid);
void xprtrdma_bc_write_abort(struct xprtrdma_conn *conn);

#endif /* XPRTRDMA_BC_H */
