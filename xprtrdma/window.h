/* SPDX-License-Identifier: GPL-2.0 */
/* The credit window, and buffers that follow use. window.c */
#ifndef XPRTRDMA_WINDOW_H
#define XPRTRDMA_WINDOW_H

#include <linux/workqueue.h>

#include "rpcrdma/header.h"

struct xprtrdma_conn;

enum {
	XPRTRDMA_FIRST_CREDITS	= 8,	/* with buffers, until a call waits for more */
	XPRTRDMA_FIRST_SENDS	= 4,	/* until none is left */
	XPRTRDMA_BC_FIRST_SLOTS	= 4,	/* until the server calls */
};

/**
 * enum xprtrdma_want - what there may be too few of
 * @XPRTRDMA_WANTS_CREDITS: Receives for the replies to calls
 * @XPRTRDMA_WANTS_SENDS: Send buffers
 * @XPRTRDMA_WANTS_REVERSE: Receives for the server's calls
 */
enum xprtrdma_want {
	XPRTRDMA_WANTS_CREDITS,
	XPRTRDMA_WANTS_SENDS,
	XPRTRDMA_WANTS_REVERSE,
};

/**
 * struct xprtrdma_growth - buffers, as they are used
 * @reverse: calls of the server's that have a Receive: credits that we grant
 * @sends: Send buffers, if the calls of both directions need as many
 * @wants: by enum xprtrdma_want; under xc_lock
 * @ask: what calls ask for: as many credits as the window has; 0: one had to wait, and they ask
 *	for more. Changed under xc_lock
 * @worker: makes them; changes what is above, and the window. Others read without a lock
 */
struct xprtrdma_growth {
	u32			reverse;
	unsigned int		sends;
	unsigned long		wants;
	u32			ask;
	struct work_struct	worker;
};

void xprtrdma_window_init(struct xprtrdma_conn *conn);
int xprtrdma_window_create(struct xprtrdma_conn *conn);
void xprtrdma_window_begin(struct xprtrdma_conn *conn);
void xprtrdma_window_grant(struct xprtrdma_conn *conn, const struct rpcrdma_header *header);
int xprtrdma_window_grow(struct xprtrdma_conn *conn, u32 credits, u32 reverse, unsigned int sends);
void xprtrdma_window_request_buffers(struct xprtrdma_conn *conn, enum xprtrdma_want want);
void xprtrdma_window_request_credits(struct xprtrdma_conn *conn);
u32 xprtrdma_window_ask(struct xprtrdma_conn *conn);
bool xprtrdma_window_is_open(const struct xprtrdma_conn *conn);
void xprtrdma_window_stop(struct xprtrdma_conn *conn);

#endif /* XPRTRDMA_WINDOW_H */
