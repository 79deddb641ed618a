/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* The sizes of queues and pools of a connection, from the limits of its device */
#ifndef RPCRDMA_SIZING_H
#define RPCRDMA_SIZING_H

#include "protocol.h"

/**
 * struct rpcrdma_device_limits - limits of a device, under the names of struct ib_device_attr
 * @max_qp_wr: entries of a Send Queue or a Receive Queue
 * @max_cqe: entries of a completion queue
 * @max_send_sge: elements of a Send's gather list
 * @max_fast_reg_pages: max_fast_reg_page_list_len, pages of one region; used by the client only
 */
struct rpcrdma_device_limits {
	u32 max_qp_wr;
	u32 max_cqe;
	u32 max_send_sge;
	u32 max_fast_reg_pages;
};

/*
 * Receives are posted in batches of this size. Each Receive Queue has room for one batch beyond the
 * credits.
 */
enum { RPCRDMA_RECEIVE_BATCH = 14 };

/* The server has at most this number of unsignalled Sends that are not known to be complete. */
enum { RPCRDMA_UNSIGNALLED_SENDS = 16 };

/**
 * struct rpcrdma_client_queues - sizes of the client's connection
 * @credits: largest number of calls in flight
 * @mr_pages: pages of one region
 * @mrs_per_call: largest number of regions that one call uses
 * @payload_pages: pages of the largest argument or result that fits into one chunk
 * @regions: largest number of regions that the connection has
 * @reg_wrs: largest number of registrations of calls on the Send Queue
 * @send_slots: entries of the Send Queue for Sends
 * @signal_every: one Send in this number is signalled
 * @send_wrs: entries of the Send Queue, with one for the drain
 * @recv_wrs: entries of the Receive Queue, with one for the drain
 */
struct rpcrdma_client_queues {
	u32 credits;
	u32 mr_pages;
	u32 mrs_per_call;
	u32 payload_pages;
	u32 regions;
	u32 reg_wrs;
	u32 send_slots;
	u32 signal_every;
	u32 send_wrs;
	u32 recv_wrs;
};

/**
 * struct rpcrdma_server_queues - sizes of the server's connection
 * @credits: the grant
 * @recv_wrs: largest number of Receives that are posted; the drain needs one entry more
 * @send_wrs: entries of the Send Queue, without those that rdma_rw adds for its contexts
 * @rw_contexts: number of rdma_rw contexts to ask for
 * @exposures: largest number of replies that are exposed at the same time. Each has a Receive.
 */
struct rpcrdma_server_queues {
	u32 credits;
	u32 recv_wrs;
	u32 send_wrs;
	u32 rw_contexts;
	u32 exposures;
};

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_size_client - sizes of a client's connection
 * @limits: limits of its device
 * @slots: calls in flight that the administrator wants
 * @reverse: Receives and Sends of the reverse direction
 * @max_pages: pages of the largest argument or result, wherever in a page it begins
 * @queues: gets the sizes
 *
 * Return: false when the device cannot carry a single call.
 */
bool rpcrdma_size_client(const struct rpcrdma_device_limits *limits, u32 slots,
			 u32 reverse, u32 max_pages,
			 struct rpcrdma_client_queues *queues);

/**
 * rpcrdma_size_server - sizes of a server's connection
 * @limits: limits of its device
 * @credits: credits that the administrator wants to grant
 * @reverse: Receives and Sends of the reverse direction
 * @spare: replies that may be exposed beyond one for each credit, or 0 when none is ever exposed.
 *	The RDMA_DONE that ends an exposure needs a Receive (reliable-reply draft, section 5.2.3).
 * @mr_factor: rdma_rw_mr_factor() of the largest payload: contexts that one payload may take
 * @queues: gets the sizes
 *
 * Return: false when the device cannot carry a single call.
 */
bool rpcrdma_size_server(const struct rpcrdma_device_limits *limits, u32 credits,
			 u32 reverse, u32 spare, u32 mr_factor,
			 struct rpcrdma_server_queues *queues);

/**
 * rpcrdma_server_receives - Receives that a server has to post for a grant
 * @credits: the grant
 * @reverse: Receives of the reverse direction
 *
 * They are posted before the client hears of the grant (RFC 8166 section 3.3.1). Receives for
 * RDMA_DONE are not among them; with these, recv_wrs of rpcrdma_size_server() is the bound.
 *
 * Return: number of Receives.
 */
u32 rpcrdma_server_receives(u32 credits, u32 reverse);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_SIZING_H */
