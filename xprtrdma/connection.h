/* SPDX-License-Identifier: GPL-2.0 */
/* One connection. What it consists of is in the header of each component. connection.c */
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
 * enum xprtrdma_wait - what a message waits for
 * @XPRTRDMA_WAIT_NONE: nothing
 * @XPRTRDMA_WAIT_CREDIT: a credit
 * @XPRTRDMA_WAIT_SEND_QUEUE: a Send buffer, or work requests for what a callback's reply writes
 * @XPRTRDMA_WAIT_REGIONS: memory regions
 * @XPRTRDMA_WAIT_READS: work requests of XPRTRDMA_PULL_WRS; in pull.c alone
 */
enum xprtrdma_wait {
	XPRTRDMA_WAIT_NONE,
	XPRTRDMA_WAIT_CREDIT,
	XPRTRDMA_WAIT_SEND_QUEUE,
	XPRTRDMA_WAIT_REGIONS,
	XPRTRDMA_WAIT_READS,
};

/**
 * struct xprtrdma_conn - one connection
 * @xc_kref: the transport holds one; each request with memory regions holds one
 * @xc_transport: whose connection this is
 * @xc_serial: differs from that of every earlier connection
 * @xc_id: the cm_id; destroyed after everything that uses its device
 * @xc_pd: protection domain of this connection alone (RFC 8166 section 8.1.1)
 * @xc_send_cq: completions of Sends, registrations and invalidations
 * @xc_recv_cq: completions of Receives
 * @xc_queues: sizes, fixed at creation
 * @xc_inline: thresholds and remote invalidation, fixed when SUNRPC is told of the
 *	connection
 * @xc_recv_size: bytes in each Receive buffer
 * @xc_send_size: bytes in each Send buffer
 * @xc_may_pull: we take replies that the server exposes, if it provides any, and calls
 *	with chunks
 * @xc_read_depth: RDMA Reads in flight that the server takes; fixed when established
 * @xc_step: what the connect worker is at, for messages
 * @xc_cm_done: the connect worker waits on it for each CM event
 * @xc_cm_status: errno of the last CM event; written by the CM handler, and read without a
 *	lock by the connect worker, which another event may have woken
 * @xc_released: every memory region has been taken back; see
 *	xprtrdma_conn_destroy()
 * @xc_part_cqe: completion of RDMA Reads and Writes that are not the last of their chain, and
 *	have failed
 * @xc_useful: a valid reply has arrived; written by the Receive CQ handler, read by close
 * @xc_wait: changed by xprtrdma_conn_waits() alone, by the holder of the transport's write lock,
 *	and read without a lock for statistics
 * @xc_lock: guards the members below it where they say so, and the rg_list of every region
 * @xc_end: why it ends, as whoever saw it first says
 * @xc_state: changed only through conn_advance(), and read without the lock as a hint
 * @xc_window: credits of the forward direction
 * @xc_replies: messages that have given a credit back, so far
 * @xc_growth: buffers, as they are used
 * @xc_send: Send buffers
 * @xc_recv: Receive buffers
 * @xc_mr: memory regions
 * @xc_pull: what is read from the server
 * @xc_bc: calls from the server
 * @xc_bc_write: replies to these that do not fit inline
 * @xc_watch: is the server alive?
 * @xc_ccp: its configuration
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
	struct completion		xc_cm_done;
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
	struct xprtrdma_bc_conn		xc_bc;
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
 * What SUNRPC has been told to wait for (XPRT_WRITE_SPACE): the reason of the task that was held
 * back last, so any may follow any other. For statistics.
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

/* trace.c: out of line, and called only if somebody listens */
void xprtrdma_trace_message(const struct xprtrdma_conn *conn, const void *message, u32 length,
			    const struct ib_wc *wc);
void xprtrdma_trace_transfers(const struct xprtrdma_conn *conn, const struct ib_send_wr *wr);

#endif /* XPRTRDMA_CONNECTION_H */
