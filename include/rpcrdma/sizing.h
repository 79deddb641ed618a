/* SPDX-License-Identifier: GPL-2.0 */
/* Queue sizes from the limits of a device */
#ifndef RPCRDMA_SIZING_H
#define RPCRDMA_SIZING_H

#include "protocol.h"

struct rpcrdma_device_limits {
	u32 max_qp_wr;
	u32 max_cqe;
	u32 max_send_sge;
	u32 max_fast_reg_pages;	/* max_fast_reg_page_list_len; client only */
};

/* Receives that are posted in one post. Both queues have room for so many beyond the credits. */
enum { RPCRDMA_RECEIVE_BATCH = 14 };

/* Unsignalled Sends of the server that are not known to be complete, at most */
enum { RPCRDMA_UNSIGNALLED_SENDS = 16 };

struct rpcrdma_client_queues {
	u32 credits;		/* largest number of calls in flight */
	u32 mr_pages;		/* pages in one memory region */
	u32 mrs_per_call;	/* upper bound for one call */
	u32 payload_pages;	/* of the largest call or reply: it fits one chunk */
	u32 regions;		/* memory regions of the connection, at most */
	u32 reg_wrs;		/* registrations of calls on the Send Queue, at most */
	u32 send_slots;		/* entries of the send ring */
	u32 signal_every;	/* one signalled Send in so many */
	u32 send_wrs;		/* Send Queue depth, one entry for the drain included */
	u32 recv_wrs;		/* Receive Queue depth, one for the drain included */
};

struct rpcrdma_server_queues {
	u32 credits;		/* the grant */
	u32 recv_wrs;		/* receives posted; drain not included */
	u32 send_wrs;		/* without what rdma_rw adds for its contexts */
	u32 rw_contexts;	/* number of rdma_rw contexts to ask for */
	u32 exposures;		/* replies exposed at a time; each has a receive */
};

RPCRDMA_BEGIN_C_ABI

/*
 * @slots: calls that the administrator wants in flight
 * @reverse: receives and Sends of the reverse direction
 * @max_pages: pages of the largest payload, alignment included
 * Returns false when the device cannot carry a single call.
 */
bool rpcrdma_size_client(const struct rpcrdma_device_limits *limits, u32 slots,
			 u32 reverse, u32 max_pages,
			 struct rpcrdma_client_queues *queues);

/*
 * @spare: replies to be exposed beyond one for each credit; 0: none at all. The
 * RDMA_DONE that ends one has a receive of its own: reliable-reply draft, section 5.2.3
 * @mr_factor: rdma_rw_mr_factor() of the largest payload; each context may take
 * up to rdma_rw_mr_factor work requests triples
 */
bool rpcrdma_size_server(const struct rpcrdma_device_limits *limits, u32 credits,
			 u32 reverse, u32 spare, u32 mr_factor,
			 struct rpcrdma_server_queues *queues);

/*
 * Receives that are posted for @credits. What a grant promises has to be posted before the client
 * hears of it: RFC 8166 section 3.3.1. The RDMA_DONEs of replies that are exposed have more of
 * them, and all together are at most those of rpcrdma_size_server().
 */
u32 rpcrdma_server_receives(u32 credits, u32 reverse);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_SIZING_H */
