/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Send buffers, and the entries of the Send Queue. send.c */
#ifndef XPRTRDMA_SEND_H
#define XPRTRDMA_SEND_H

#include <common/verbs.h>

struct xprtrdma_conn;
struct xprtrdma_request;

/**
 * struct xprtrdma_send - one outgoing message
 *
 * It holds the whole message, so nothing that belongs to an RPC is tied to the life of a Send.
 *
 * @sd_next: next Send in free or posted of xc_send; under xc_lock
 * @sd_conn: owner
 * @sd_cqe: completion of the Send, if the Send is signalled
 * @sd_wr: work request of the Send
 * @sd_regs: value of regs_posted of xc_send when the Send was posted
 * @sd_buffer: buffer of xc_send_size bytes; its bf_sge is the message
 */
struct xprtrdma_send {
	struct xprtrdma_send	*sd_next;
	struct xprtrdma_conn	*sd_conn;
	struct ib_cqe		sd_cqe;
	struct ib_send_wr	sd_wr;
	u32			sd_regs;
	struct rpcrdma_buffer	sd_buffer;
};

/**
 * struct xprtrdma_send_pool - Send buffers, under xc_lock where nothing else is said
 * @free: unused buffers; a stack, linked by sd_next
 * @posted: posted buffers in posting order; a queue, linked by sd_next
 * @end: link at the end of @posted
 * @next: buffer reserved for the next call, or NULL; for the holder of the transport's write lock
 * @probe: buffer whose Send Queue entry the last probe has, until the probe is complete; or NULL
 * @count: number of all buffers; only for the function that makes them
 * @unsignalled: number of Sends posted since the last signalled one
 * @reg_wrs: number of Send Queue entries that are free for registrations of calls; the holder of
 *	the write lock reads it without xc_lock, since only that holder takes entries
 * @regs_posted: number of registrations of calls that were posted so far; wraps around
 * @regs_done: value of @regs_posted up to which the entries are free again
 */
struct xprtrdma_send_pool {
	struct xprtrdma_send	*free;
	struct xprtrdma_send	*posted;
	struct xprtrdma_send	**end;
	struct xprtrdma_send	*next;
	struct xprtrdma_send	*probe;
	unsigned int		count;
	unsigned int		unsignalled;
	u32			reg_wrs;
	u32			regs_posted;
	u32			regs_done;
};

void xprtrdma_sends_init(struct xprtrdma_conn *conn);
int xprtrdma_sends_create(struct xprtrdma_conn *conn, unsigned int count);
void xprtrdma_sends_destroy(struct xprtrdma_conn *conn);
struct xprtrdma_send *xprtrdma_send_get(struct xprtrdma_conn *conn);
void xprtrdma_send_put(struct xprtrdma_send *send);
int xprtrdma_send_post(struct xprtrdma_send *send, unsigned int length);
void xprtrdma_send_probe(struct xprtrdma_conn *conn);
struct xprtrdma_send *xprtrdma_send_reserve(struct xprtrdma_conn *conn);
int xprtrdma_send_call(struct xprtrdma_send *send, unsigned int length,
		       struct xprtrdma_request *request);

#endif /* XPRTRDMA_SEND_H */
