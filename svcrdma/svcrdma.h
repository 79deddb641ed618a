/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private to svcrdma.ko, the server transport for RPC-over-RDMA version 1.
 *
 * Objects:
 *	listener	a port; hands new connections to accept
 *	transport	one connection; embeds the svc_xprt that nfsd knows
 *	recv_ctxt	one Receive buffer, and what is known of the call in it
 *	send_ctxt	one Send buffer, and what its Send and Writes hold on to
 *	rw		one RDMA Read or Write of one segment
 *	exposed		one reply that the client is to pull; private to exposed_reply.c
 *	callback	one call with chunks to the client; private to bc_chunks.c
 *
 * Lifetime: everything of a connection belongs to its transport, and is freed
 * by svcrdma_transport_free(), when the last reference to the svc_xprt is gone
 * and the queue pair has drained. Contexts that are abandoned after an
 * error are on the transport's lists of all contexts, and are freed there.
 */
#ifndef SVCRDMA_H
#define SVCRDMA_H

#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include <rpcrdma/ccp.h>
#include <rpcrdma/cm_private.h>
#include <rpcrdma/conn_state.h>
#include <rpcrdma/credits.h>
#include <rpcrdma/exposures.h>
#include <rpcrdma/header.h>
#include <rpcrdma/pieces.h>
#include <rpcrdma/reply_plan.h>
#include <rpcrdma/reverse.h>
#include <rpcrdma/rpc_message.h>
#include <rpcrdma/sizing.h>
#include <common/statistics.h>

#include "backchannel.h"
#include "connection.h"
#include "credit.h"
#include "expose.h"
#include "read.h"
#include "recv.h"
#include "send.h"
#include "sq.h"

struct svcrdma_host;
struct svcrdma_listener;

/**
 * struct svcrdma_transport - one connection
 *
 * Constant from accept until free:
 * @st_id: connection id; destroyed last
 * @st_pd: protection domain of this connection alone
 * @st_send_cq: completions of Sends, Reads and Writes
 * @st_recv_cq: completions of Receives
 * @st_qp: NULL until accept, and then not without all of the above
 * @st_rw_cqe: completion of Reads and Writes that are not the last of their chain, and have
 *	failed
 * @st_port: port number on the device
 * @st_peer: what the client says of itself
 * @st_agreed: what holds for both
 * @st_inline_send: largest reply that goes inline: that of @st_agreed, or less, if the
 *	client has said so since; see ccp.c. Read and written once
 * @st_inline_most: largest reply that goes inline before it is refused: that of @st_agreed, or
 *	more for a client that does not say how much it receives
 * @st_recv_size: size of a Receive buffer
 * @st_credits: the largest grant
 * @st_read_depth: Reads in flight that the client takes; may be 0
 * @st_pull_depth: Reads in flight that the client may have; 0 unless something is exposed
 * @st_spare_exposures: replies to be exposed beyond one for each credit; 0: none at all
 * @st_max_chunks: entries of rc_chunks
 * @st_max_pages: of a call, and of a reply
 * @st_answer_config: calls of RFC 5666 section 6 are answered
 * @st_serve_msgp: an RDMA_MSGP to which no padding applies is served
 *
 * @st_xprt: what nfsd knows
 * @st_pending: entry of li_pending
 * @st_listener: whose li_pending; NULL: not there. Both under the lock of listener.c
 * @st_close_work: closes outside of the CM handler; holds a reference while queued
 * @st_close_list: entry of those for which it is queued, or runs; under the lock of connection.c
 * @st_close_for: the listener or the svc_serv that has to stay for so long; as @st_close_list
 *
 * @st_recv_lock: guards changes of @st_state and @st_grant, @st_read, @st_credit, and what @st_recv
 *	says
 * @st_state: Receives are shown to nfsd only while ESTABLISHED. Read without the lock
 * @st_grant: credits in each reply; see grant.c. Read without the lock
 * @st_recv: receive contexts
 * @st_poll: who polls @st_recv_cq
 * @st_credit: how the grant changes
 * @st_read: calls with Read chunks
 *
 * @st_sq: Send Queue entries
 * @st_closing: no more posts. Never cleared; under @st_sq's lock, read without it as a hint
 *
 * @st_send: send contexts
 *
 * @st_host: whose connection it is; NULL: it has no credits. Constant while it has
 * @st_budgeted: credits that budget.c counts, under its lock
 *
 * @st_counters: that debugfs.c shows, but for those in @st_tally
 * @st_tally: the rest of it; there from accept on, until nothing is counted any more
 * @st_end: why it ends; set once
 * @st_connection: entry of debugfs.c
 *
 * @st_unexpected: messages since the last call that were neither calls nor wanted
 *
 * @st_expose_lock: guards @st_region, @st_expose and @st_long. Completion handlers on a work
 *	queue and process context
 * @st_region: memory regions
 * @st_expose: replies that the client reads
 * @st_long: callbacks with chunks
 */
struct svcrdma_transport {
	struct svc_xprt		st_xprt;

	struct rdma_cm_id	*st_id;
	struct ib_pd		*st_pd;
	struct ib_cq		*st_send_cq;
	struct ib_cq		*st_recv_cq;
	struct ib_qp		*st_qp;
	struct ib_cqe		st_rw_cqe;
	u32			st_port;
	struct rpcrdma_cm_private st_peer;
	struct rpcrdma_negotiated st_agreed;
	u32			st_inline_send;
	u32			st_inline_most;
	u32			st_recv_size;
	u32			st_credits;
	u32			st_read_depth;
	u32			st_pull_depth;
	u32			st_spare_exposures;
	u32			st_max_chunks;
	u32			st_max_pages;
	bool			st_answer_config;
	bool			st_serve_msgp;

	struct list_head	st_pending;
	struct svcrdma_listener	*st_listener;
	struct work_struct	st_close_work;
	struct list_head	st_close_list;
	const void		*st_close_for;

	spinlock_t		st_recv_lock ____cacheline_aligned_in_smp;
	enum rpcrdma_conn_state	st_state;
	u32			st_grant;
	struct svcrdma_receiver	st_recv;
	struct svcrdma_poller	st_poll;
	struct svcrdma_granter	st_credit;
	struct svcrdma_reader	st_read;

	struct svcrdma_send_queue st_sq ____cacheline_aligned_in_smp;
	bool			st_closing;

	struct svcrdma_sender	st_send ____cacheline_aligned_in_smp;

	struct svcrdma_host	*st_host;
	u32			st_budgeted;

	struct rpcrdma_counters	st_counters;
	struct svcrdma_tally __percpu *st_tally;
	enum rpcrdma_end	st_end;
	struct rpcrdma_connection st_connection;

	atomic_t		st_unexpected;

	spinlock_t		st_expose_lock;	/* see above */
	struct svcrdma_region_pool st_region;
	struct svcrdma_exposer	st_expose;
	struct svcrdma_long_caller st_long;
};

static inline struct svcrdma_transport *svcrdma_transport_of(struct svc_xprt *xprt)
{
	return container_of(xprt, struct svcrdma_transport, st_xprt);
}

static inline struct ib_device *
svcrdma_transport_device(const struct svcrdma_transport *t)
{
	return t->st_id->device;
}

static inline bool svcrdma_transport_closing(const struct svcrdma_transport *t)
{
	return READ_ONCE(t->st_closing);
}

/* Pages change hands. SUNRPC fills the gaps in its arrays again. */
static inline void svcrdma_pages_move(struct page **to, struct page **from, u32 count)
{
	memcpy(to, from, count * sizeof(*to));
	memset(from, 0, count * sizeof(*from));
}

/* module.c */
extern struct svc_xprt_class svcrdma_class;

/* work.c */
extern struct workqueue_struct *svcrdma_poll_wq;
extern struct workqueue_struct *svcrdma_release_wq;
extern struct workqueue_struct *svcrdma_wq;
extern struct workqueue_struct *svcrdma_close_wq;

int svcrdma_work_init(void);
void svcrdma_work_exit(void);

#endif /* SVCRDMA_H */
