/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* One connection. Each of its components has a header of its own. connection.c */
#ifndef XPRTRDMA_CONNECTION_H
#define XPRTRDMA_CONNECTION_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "bc.h"
#include "ccp.h"
#include "mr.h"
#include "pull.h"
#include "receive.h"
#include "send.h"
#include "watch.h"
#include "window.h"
#include "xprtrdma.h"

/**
 * enum xprtrdma_wait - the resource that a sender waits for
 * @XPRTRDMA_WAIT_NONE: none
 * @XPRTRDMA_WAIT_CREDIT: a credit
 * @XPRTRDMA_WAIT_SEND_QUEUE: a Send buffer; or entries of the Send Queue, for registrations or for
 *	the RDMA Writes of a callback's reply
 * @XPRTRDMA_WAIT_REGIONS: memory regions
 */
enum xprtrdma_wait {
	XPRTRDMA_WAIT_NONE,
	XPRTRDMA_WAIT_CREDIT,
	XPRTRDMA_WAIT_SEND_QUEUE,
	XPRTRDMA_WAIT_REGIONS,
};

/**
 * struct xprtrdma_conn - one connection
 * @xc_kref: references. The transport holds one, and so does each MR list whose ml_conn is this
 *	connection; wait_for_fence() takes one for a short time
 * @xc_transport: owner
 * @xc_serial: number of the connection, larger than that of every earlier one
 * @xc_id: the cm_id; destroyed after everything that uses its device
 * @xc_pd: protection domain of this connection alone (RFC 8166 section 8.1.1)
 * @xc_send_cq: completions of all work requests but Receives
 * @xc_recv_cq: completions of Receives
 * @xc_queues: sizes of the queues, fixed at creation
 * @xc_inline: results of the negotiation, fixed when SUNRPC is told of the connection
 * @xc_recv_size: bytes in each Receive buffer
 * @xc_send_size: bytes in each Send buffer
 * @xc_may_pull: this client reads replies that the server exposes, and reads and writes the chunks
 *	of the server's calls
 * @xc_read_depth: number of RDMA Reads in flight that the server takes; fixed when the
 *	connection is established
 * @xc_step: step that the connect worker is at, for messages
 * @xc_wake: completed by each CM event, by the answer to the question of ccp.c, and by the failure
 *	of an established connection; the connect worker waits for it
 * @xc_cm_status: errno of the last CM event that has ended the connection, or 0; written by the
 *	CM handler, and read without a lock by the connect worker, which another event may have
 *	woken
 * @xc_released: completed when every memory region has been taken back; see
 *	xprtrdma_conn_destroy()
 * @xc_part_cqe: completion of each RDMA Read or Write that is not the last of its chain; it is
 *	called only if the Read or Write has failed
 * @xc_useful: a reply to a call has arrived; written by the Receive CQ handler, and read by it and
 *	by close
 * @xc_wait: resource that a message has waited for last; changed only by xprtrdma_conn_waits(),
 *	whose caller holds the transport's write lock, and read without a lock for statistics
 * @xc_lock: guards the members below it where nothing else is said, and the rg_list of each region
 * @xc_end: the first reason that was noted for the end of the connection
 * @xc_state: changed only through conn_advance(), and read without the lock as a hint
 * @xc_window: credits of the forward direction
 * @xc_replies: number of messages that have given a credit back so far
 * @xc_growth: numbers of buffers, which grow as they are used
 * @xc_send: Send buffers
 * @xc_recv: Receive buffers
 * @xc_mr: memory regions
 * @xc_pull: replies and calls that are read from the server
 * @xc_bc_write: replies that go into Reply chunks of the server's calls
 * @xc_watch: a timer that finds out whether the server is alive
 * @xc_ccp: our question for the server's limits, and the answer
 */
struct xprtrdma_conn {
	struct kref			xc_kref;
	struct xprtrdma_transport	*xc_transport;
	unsigned long			xc_serial;
	struct rdma_cm_id		*xc_id;
	struct ib_pd			*xc_pd;
	struct ib_cq			*xc_send_cq;
	struct ib_cq			*xc_recv_cq;
	struct rpcrdma_client_queues	xc_queues;
	struct rpcrdma_negotiated	xc_inline;
	unsigned int			xc_recv_size;
	unsigned int			xc_send_size;
	bool				xc_may_pull;
	unsigned int			xc_read_depth;
	const char			*xc_step;
	struct completion		xc_wake;
	int				xc_cm_status;
	struct completion		xc_released;
	struct ib_cqe			xc_part_cqe;
	bool				xc_useful;
	enum xprtrdma_wait		xc_wait;

	spinlock_t			xc_lock;	/* guards the members below */
	enum rpcrdma_end		xc_end;
	enum rpcrdma_conn_state		xc_state;
	struct rpcrdma_window		xc_window;
	u64				xc_replies;
	struct xprtrdma_growth		xc_growth;
	struct xprtrdma_send_pool	xc_send;
	struct xprtrdma_recv_pool	xc_recv;
	struct xprtrdma_mr_pool		xc_mr;
	struct xprtrdma_puller		xc_pull;
	struct xprtrdma_bc_writer	xc_bc_write;
	struct xprtrdma_watch		xc_watch;
	struct xprtrdma_ccp		xc_ccp;
};

static inline struct ib_device *xprtrdma_conn_device(struct xprtrdma_conn *conn)
{
	return conn->xc_id->device;
}

/* May messages be posted? The answer can be outdated at once, except under xc_lock. */
static inline bool xprtrdma_conn_established(const struct xprtrdma_conn *conn)
{
	return READ_ONCE(conn->xc_state) == RPCRDMA_CONN_ESTABLISHED;
}

/*
 * Notes, for statistics, why SUNRPC has been told to wait (XPRT_WRITE_SPACE). The reason is that
 * of the task that was held back last, so any reason may follow any other.
 */
static inline void xprtrdma_conn_waits(struct xprtrdma_conn *conn, enum xprtrdma_wait reason)
{
	WRITE_ONCE(conn->xc_wait, reason);
}

/* connection.c */
struct xprtrdma_conn *xprtrdma_conn_create(struct xprtrdma_transport *transport);
void xprtrdma_conn_destroy(struct xprtrdma_conn *conn);

/* conn_state.c */
void xprtrdma_conn_event(struct xprtrdma_conn *conn, enum rpcrdma_conn_event event);
void xprtrdma_conn_note_end(struct xprtrdma_conn *conn, enum rpcrdma_end why);
void xprtrdma_conn_get(struct xprtrdma_conn *conn);
void xprtrdma_conn_put(struct xprtrdma_conn *conn);
void xprtrdma_conn_fail(struct xprtrdma_conn *conn, enum rpcrdma_end why);
void xprtrdma_conn_fail_wc(struct xprtrdma_conn *conn, const char *what, const struct ib_wc *wc,
			   enum rpcrdma_end why);

/* failure.c */
extern unsigned long xprtrdma_failure_silence;
bool xprtrdma_failure_note(const struct rpc_xprt *xprt, const char *step, int error);
bool xprtrdma_failure_forget(const struct rpc_xprt *xprt);

/* trace.c: functions out of line, which are called only while their tracepoint is enabled */
void xprtrdma_trace_message(const struct xprtrdma_conn *conn, const void *message, u32 length,
			    const struct ib_wc *wc);
void xprtrdma_trace_transfers(const struct xprtrdma_conn *conn, const struct ib_send_wr *wr);

#endif /* XPRTRDMA_CONNECTION_H */
