/* SPDX-License-Identifier: GPL-2.0 */
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
 * @sd_next: in free or posted of xc_send; under xc_lock
 * @sd_conn: owner
 * @sd_cqe: completion, if signalled
 * @sd_wr: the Send
 * @sd_regs: regs_posted of xc_send, when it was posted
 * @sd_buffer: xc_send_size bytes; its bf_sge is the message
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
 * @free: unused; a stack, by sd_next
 * @posted: in posting order; a queue, by sd_next
 * @end: where the next one that is posted is put
 * @next: for the next call, or NULL; for the holder of the transport's write lock
 * @probe: what xprtrdma_send_probe() has posted last, until that is complete, or NULL
 * @count: all of them; changed by the one who makes them, read by others without a lock
 * @unsignalled: Sends posted since the last signalled one
 * @reg_wrs: entries of the Send Queue that are free for registrations of calls; the holder of the
 *	write lock reads it without xc_lock, as nobody else takes any
 * @regs_posted: registrations of calls, so far; wraps around
 * @regs_done: of these, those whose entries are free again
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
unsigned int xprtrdma_sends_count(const struct xprtrdma_conn *conn);
bool xprtrdma_sends_left(const struct xprtrdma_conn *conn);
struct xprtrdma_send *xprtrdma_send_get(struct xprtrdma_conn *conn);
void xprtrdma_send_put(struct xprtrdma_send *send);
int xprtrdma_send_post(struct xprtrdma_send *send, unsigned int length);
void xprtrdma_send_probe(struct xprtrdma_conn *conn);
struct xprtrdma_send *xprtrdma_send_reserve(struct xprtrdma_conn *conn);
int xprtrdma_send_call(struct xprtrdma_send *send, unsigned int length,
		       struct xprtrdma_request *request);

#endif /* XPRTRDMA_SEND_H */
