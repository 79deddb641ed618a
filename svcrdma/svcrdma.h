/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * Private to svcrdma.ko, the server transport for RPC-over-RDMA version 1.
 *
 * Objects:
 *	listener	a port; hands new connections to accept
 *	transport	one connection; embeds the svc_xprt that nfsd knows
 *	recv_ctxt	one Receive buffer, and the state of the call in it
 *	send_ctxt	one Send buffer, and the memory that its Send and Writes use
 *	rw		one RDMA Read or Write of one segment
 *	exposed		one reply that the client is to pull; private to exposed_reply.c
 *	long call	one callback with chunks; private to bc_chunks.c
 *	exposure	memory that the client may access; part of an exposed or a long call
 *
 * Lifetime: each object of a connection belongs to the connection's transport. It is freed by
 * svcrdma_transport_free() at the latest, when the last reference to the svc_xprt is gone and the
 * queue pair has drained. A context that is abandoned after an error is still on the transport's
 * list of all contexts, through which svcrdma_transport_free() finds it.
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
#include <rpcrdma/header.h>
#include <rpcrdma/plan.h>
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
 * Members that are constant from accept until free, except @st_inline_send and @st_inline_most:
 * @st_id: connection id; destroyed last
 * @st_pd: protection domain of this connection alone
 * @st_send_cq: completions of all work requests but Receives
 * @st_recv_cq: completions of Receives
 * @st_qp: queue pair; NULL until accept has made it and all members above
 * @st_part_cqe: completion of a work request that has failed and is not the last of its chain: a
 *	Read, a Write or a registration, whose owner may be freed before a flush comes
 * @st_port: port number on the device
 * @st_peer: properties of the client, from its RDMA-CM private data
 * @st_agreed: properties that both peers have agreed on
 * @st_inline_send: largest message that a reply may be sent in, in bytes: that of @st_agreed, or
 *	less if the client has asked for less since; see ccp.c. Each user reads or writes it once
 * @st_inline_most: largest message that is tried before a reply is refused, in bytes: as
 *	@st_inline_send, or more for a client that does not announce the size of its Receives
 * @st_recv_size: size of a Receive buffer in bytes
 * @st_credits: largest grant
 * @st_read_depth: number of our Reads that may be in flight: as many as the client, the device and
 *	the administrator allow; may be 0
 * @st_pull_depth: number of Reads that the client may have in flight; 0 unless replies or callbacks
 *	may be exposed
 * @st_spare_exposures: number of replies that may be exposed beyond one for each credit; 0 if no
 *	reply may be exposed
 * @st_sq_depth: number of Send Queue entries that are counted in @st_sq, whether they are free or
 *	not; without those for the drain and for unsignalled Sends
 * @st_max_chunks: number of chunks for which rc_many has room
 * @st_max_pages: largest number of pages of a call, and of a reply
 * @st_answer_config: whether calls of RFC 5666 section 6 are answered
 * @st_serve_msgp: whether an RDMA_MSGP to which no padding applies is served
 *
 * @st_xprt: transport that nfsd knows
 * @st_pending: entry of the listener's li_pending; under pending_lock of listener.c
 * @st_listener: listener whose li_pending has this transport, or NULL; under the same lock
 * @st_close_work: work item that closes outside of the CM handler; holds a reference while queued
 * @st_close_list: entry of the list of transports whose @st_close_work is queued or runs; under
 *	closing_lock of connection.c
 * @st_close_for: listener or svc_serv that has to stay until @st_close_work is done; under the same
 *	lock
 *
 * @st_recv_lock: spinlock that guards changes of @st_state and @st_grant, @st_read, most of
 *	@st_credit, and the members of @st_recv that struct svcrdma_receiver names
 * @st_state: state of the connection; nfsd is told of messages only while it is ESTABLISHED. Read
 *	without the lock
 * @st_grant: credits that each reply grants; see recv_ctxt.c. Read without the lock
 * @st_recv: Receive contexts
 * @st_poll: polling of @st_recv_cq
 * @st_credit: changes of the grant
 * @st_read: calls with Read chunks
 *
 * @st_sq: Send Queue entries
 * @st_closing: whether nothing may be posted any more; never cleared. Set under st_sq.lock, and
 *	read without it as a hint
 *
 * @st_send: Send contexts
 *
 * @st_host: client host in budget.c, or NULL while the connection has no credits
 * @st_budgeted: credits of the connection that budget.c counts, under budget_lock
 *
 * @st_counters: counters that debugfs.c shows, one copy for each processor; allocated from accept,
 *	before the first message, until nothing is counted any more
 * @st_end: reason why the connection ends; set once
 * @st_connection: entry of debugfs.c
 *
 * @st_unexpected: number of unexpected messages since the last good call; see recv_unexpected()
 *
 * @st_expose_lock: spinlock that guards @st_region and @st_expose. Taken by completion handlers on
 *	a work queue and in process context
 * @st_region: memory regions and exposures
 * @st_expose: replies that the client reads
 */
struct svcrdma_transport {
	struct svc_xprt		st_xprt;

	struct rdma_cm_id	*st_id;
	struct ib_pd		*st_pd;
	struct ib_cq		*st_send_cq;
	struct ib_cq		*st_recv_cq;
	struct ib_qp		*st_qp;
	struct ib_cqe		st_part_cqe;
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
	u32			st_sq_depth;
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

	struct rpcrdma_counters __percpu *st_counters;
	enum rpcrdma_end	st_end;
	struct rpcrdma_connection st_connection;

	atomic_t		st_unexpected;

	spinlock_t		st_expose_lock;	/* see above */
	struct svcrdma_region_pool st_region;
	struct svcrdma_exposer	st_expose;
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

/* Move pages from one array to another; SUNRPC fills the gaps in its own arrays again. */
static inline void svcrdma_pages_move(struct page **to, struct page **from, u32 count)
{
	memcpy(to, from, count * sizeof(*to));
	memset(from, 0, count * sizeof(*from));
}

/* module.c */
extern struct svc_xprt_class svcrdma_class;

/* work.c */
extern struct workqueue_struct *svcrdma_poll_wq;
extern struct workqueue_struct *svcrdma_wq;
extern struct workqueue_struct *svcrdma_close_wq;

int svcrdma_work_init(void);
void svcrdma_work_exit(void);

#endif /* SVCRDMA_H */
