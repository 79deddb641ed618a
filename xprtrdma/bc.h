/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A call of the server: its memory is backchannel.c's, what is in it bc_receive.c's, and its
 * reply's way bc_reply.c's.
 */
#ifndef XPRTRDMA_BC_H
#define XPRTRDMA_BC_H

#include "xprtrdma.h"

enum {
	/* Of a call, behind the first one. */
	XPRTRDMA_BC_PAGES	= (XPRTRDMA_BC_MAX_CALL - 1) / PAGE_SIZE,
	/*
	 * The callback service encodes a reply without a bound but the call's: no
	 * operation's result is ten times as long as its arguments.
	 */
	XPRTRDMA_BC_REPLY_PAGES	= 10 * (XPRTRDMA_BC_PAGES + 1),
};

/**
 * struct xprtrdma_bc_request - a reverse-direction call
 * @rqst: what the callback service sees
 * @serial: xc_serial of the connection that it came on
 * @call: first page of the call
 * @reply: a page
 * @overflow_pages: the same page, time and again: a reply that does not fit is not sent
 * @nr_pages: entries of @pages; none while it is idle
 * @pages: rest of the call
 * @registered: takes the regions while the call is being read
 * @has_reply_chunk: the call came with a Reply chunk
 * @nr_segments: of the Reply chunk
 * @segments: the same
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
	bool			has_reply_chunk;
	u32			nr_segments;
	struct rpcrdma_segment	segments[RPCRDMA_MAX_SEGMENTS_SENT];
};

static inline struct xprtrdma_bc_request *xprtrdma_bc_request_of(struct rpc_rqst *rqst)
{
	return container_of(rqst, struct xprtrdma_bc_request, rqst);
}

/* backchannel.c */
struct xprtrdma_bc_request *xprtrdma_bc_request_get(struct xprtrdma_transport *transport);
void xprtrdma_bc_request_put(struct xprtrdma_bc_request *request);

/* bc_reply.c */
int xprtrdma_bc_send_error(struct xprtrdma_send *send, u32 xid);

#endif /* XPRTRDMA_BC_H */
