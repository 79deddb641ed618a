/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* The credit window, and the buffers, whose number grows as they are used. window.c */
#ifndef XPRTRDMA_WINDOW_H
#define XPRTRDMA_WINDOW_H

#include <linux/workqueue.h>

#include "rpcrdma/header.h"

struct xprtrdma_conn;

enum {
	XPRTRDMA_FIRST_CREDITS	= 8,	/* calls with buffers until a call waits for a credit */
	XPRTRDMA_FIRST_SENDS	= 4,	/* Send buffers until none is left */
	XPRTRDMA_BC_FIRST_SLOTS	= 4,	/* Receives for the server's calls until it calls */
};

/**
 * enum xprtrdma_want - kind of buffers of which there may be too few
 * @XPRTRDMA_WANTS_CREDITS: buffers for more calls of ours
 * @XPRTRDMA_WANTS_SENDS: Send buffers
 * @XPRTRDMA_WANTS_REVERSE: Receives for the server's calls
 */
enum xprtrdma_want {
	XPRTRDMA_WANTS_CREDITS,
	XPRTRDMA_WANTS_SENDS,
	XPRTRDMA_WANTS_REVERSE,
};

/**
 * struct xprtrdma_growth - numbers of buffers, which grow as they are used
 * @reverse: number of Receives for the server's calls, and so of the credits that we grant;
 *	changed by @worker, and read without a lock
 * @sends: number of Send buffers, unless the calls need fewer; changed by @worker
 * @wants: kinds of buffers that @worker is to make, one bit for each enum xprtrdma_want; under
 *	xc_lock
 * @worker: work item that makes more buffers
 */
struct xprtrdma_growth {
	u32			reverse;
	unsigned int		sends;
	unsigned long		wants;
	struct work_struct	worker;
};

void xprtrdma_window_init(struct xprtrdma_conn *conn);
int xprtrdma_window_create(struct xprtrdma_conn *conn);
void xprtrdma_window_begin(struct xprtrdma_conn *conn);
void xprtrdma_window_grant(struct xprtrdma_conn *conn, const struct rpcrdma_header *header);
int xprtrdma_window_grow(struct xprtrdma_conn *conn, u32 credits, u32 reverse, unsigned int sends);
void xprtrdma_window_request_buffers(struct xprtrdma_conn *conn, enum xprtrdma_want want);
void xprtrdma_window_request_credits(struct xprtrdma_conn *conn);
bool xprtrdma_window_is_open(const struct xprtrdma_conn *conn);
void xprtrdma_window_stop(struct xprtrdma_conn *conn);

#endif /* XPRTRDMA_WINDOW_H */
