/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * RPC-over-RDMA client: the transport, and the variables that the whole module shares.
 *
 * The objects of the client, and who owns each of them:
 *
 *   transport (xt_)  contains one rpc_xprt, and lives as long; mounts may share it, and
 *                    a mount with nconnect has several.
 *   conn (xc_)       one for each connect attempt; owns every verbs object and
 *                    every memory region. Never reused. connection.h
 *   mr (mr_)         one fast-register memory region, owned by its conn.
 *   MR list (ml_)    the memory regions that one RPC has on one connection; part of a
 *                    request, or of a reverse-direction call. mr.h
 *   send (sd_)       one DMA-mapped buffer for an outgoing message, owned by its conn.
 *   receive (rv_)    one DMA-mapped buffer for an incoming message, owned by its conn.
 *   pull (pl_)       one message that we read from the server: a reply that it exposes,
 *                    or a reverse-direction call with Read chunks; part of its receive.
 *   request (rq_)    the transport's part of an rpc_rqst; lives from buf_alloc
 *                    to buf_free.
 *
 * Documentation/locking.rst numbers the rules of ownership.
 */
#ifndef XPRTRDMA_H
#define XPRTRDMA_H

#include <linux/mempool.h>
#include <linux/sched/mm.h>
#include <linux/sunrpc/xprt.h>
#include <linux/workqueue.h>

#include "rpcrdma/ccp.h"
#include "rpcrdma/cm_private.h"
#include "rpcrdma/conn_state.h"
#include "rpcrdma/credits.h"
#include "rpcrdma/header.h"
#include "rpcrdma/plan.h"
#include "rpcrdma/rpc_message.h"
#include "rpcrdma/sizing.h"
#include <common/statistics.h>

struct seq_file;
struct xprtrdma_conn;

enum {
	/* Pages of NFS_MAX_FILE_IO_SIZE bytes that may begin anywhere in a page */
	XPRTRDMA_MAX_PAGES	= (1 << 20) / PAGE_SIZE + 1,
};

/*
 * The counters that mountstats shows. The context that sees an event counts it by
 * RPCRDMA_COUNT(), without a lock. A lost increment is accepted.
 */
struct xprtrdma_stats {
	unsigned long		read_chunk_count;
	unsigned long		write_chunk_count;
	unsigned long		reply_chunk_count;
	unsigned long long	total_rdma_request;	/* bytes */
	unsigned long long	total_rdma_reply;	/* bytes */
	unsigned long long	pullup_copy_count;	/* bytes */
	unsigned long long	fixup_copy_count;	/* bytes */
	unsigned long		hardway_register_count;	/* always 0 */
	unsigned long		failed_marshal_count;
	unsigned long		bad_reply_count;
	unsigned long		nomsg_call_count;
	unsigned long		mrs_recycled;
	unsigned long		mrs_orphaned;
	unsigned long		mrs_allocated;
	unsigned long		local_inv_needed;
	unsigned long		empty_sendctx_q;
};

/**
 * struct xprtrdma_transport - one rpc_xprt
 * @xt_xprt: SUNRPC's part of the transport
 * @xt_conn: the current connection or NULL; changed only by the holder of the
 *	rpc_xprt's write lock, through xprtrdma_connection_set(), which also takes
 *	transport_lock and cs_lock
 * @xt_connect_worker: establishes a connection
 * @xt_free_worker: frees the transport, and lets go of the module
 * @xt_was_connected: there has been a connection; later ones must take payloads as large as it did
 * @xt_timeout: RPC timeouts set by transport_set_connect_timeout()
 * @xt_lease: lease time of NFSv4, jiffies; 0: there is no lease, or its time is not known
 * @xt_ccp_timeout: longest wait for the answer to the question of ccp.c, jiffies
 * @xt_ccp_silent: the server has not answered that question; only for the connect worker
 * @xt_overdue: a reply has been overdue since the last connection was established; a hint
 * @xt_fenced: tasks that may not encode their calls again yet; see request.c
 * @xt_reserve: memory for the requests of asynchronous tasks when kmalloc() fails
 * @xt_srcaddr: local address to bind to; ss_family is 0 for any
 * @xt_bc_max_payload: largest reverse-direction message, bytes; set at connect
 * @xt_bc_count: reverse-direction rpc_rqsts that exist; under bc_pa_lock
 * @xt_bc_ready: the consumer's callback service may be given calls; changed under bc_pa_lock
 * @xt_idle_timeout: idle timeout of @xt_xprt while @xt_bc_ready is false, jiffies
 * @xt_history: sizes of earlier replies; changed by the CQ handlers, and read by senders, both
 *	without a lock
 * @xt_stats: counters of mountstats
 * @xt_counters: counters that debugfs.c shows and mountstats does not
 * @xt_connection: entry of this transport in the list of debugfs.c
 */
struct xprtrdma_transport {
	struct rpc_xprt		xt_xprt;
	struct xprtrdma_conn	*xt_conn;
	struct delayed_work	xt_connect_worker;
	struct work_struct	xt_free_worker;
	bool			xt_was_connected;
	struct rpc_timeout	xt_timeout;
	unsigned long		xt_lease;
	unsigned long		xt_ccp_timeout;
	bool			xt_ccp_silent;
	bool			xt_overdue;
	struct rpc_wait_queue	xt_fenced;
	mempool_t		xt_reserve;
	struct sockaddr_storage	xt_srcaddr;
	unsigned int		xt_bc_max_payload;
	unsigned int		xt_bc_count;
	bool			xt_bc_ready;
	unsigned long		xt_idle_timeout;
	struct rpcrdma_reply_history xt_history;
	struct xprtrdma_stats	xt_stats;
	struct rpcrdma_counters	xt_counters;
	struct rpcrdma_connection xt_connection;
};

static inline struct xprtrdma_transport *
xprtrdma_transport_of(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct xprtrdma_transport, xt_xprt);
}

/*
 * Allocations between this function and xprtrdma_memalloc_restore(), which takes the result of this
 * one, do not enter a file system, since reclaim may wait for the transport. If swap space is on
 * this transport, the allocations may use the memory reserves. Only the task itself changes its
 * flags. The scheduler reads other bits of the same word without a lock, which KCSAN would report.
 */
static inline unsigned int xprtrdma_memalloc_save(const struct rpc_xprt *xprt)
{
	unsigned int flags = current->flags;

	kcsan_disable_current();
	memalloc_nofs_save();
	if (atomic_read(&xprt->swapper))
		memalloc_noreclaim_save();
	kcsan_enable_current();
	return flags;
}

static inline void xprtrdma_memalloc_restore(unsigned int flags)
{
	kcsan_disable_current();
	current_restore_flags(flags, PF_MEMALLOC_NOFS | PF_MEMALLOC);
	kcsan_enable_current();
}

/* sysctl.c */
extern unsigned int xprtrdma_slot_table_entries;
extern unsigned int xprtrdma_max_inline_read;
extern unsigned int xprtrdma_max_inline_write;
extern unsigned int xprtrdma_reliable_reply;
extern unsigned int xprtrdma_ask_config;
extern unsigned long xprtrdma_replies_open;
extern unsigned long xprtrdma_replies_pulled;
int xprtrdma_sysctl_register(void);
void xprtrdma_sysctl_unregister(void);
void xprtrdma_stats_print(struct rpc_xprt *xprt, struct seq_file *seq);

/* transport.c */
extern struct workqueue_struct *xprtrdma_wq;
int xprtrdma_transport_register(void);
void xprtrdma_transport_unregister(void);

/* debugfs.c */
extern struct rpcrdma_connections xprtrdma_connections;
void xprtrdma_connection_set(struct xprtrdma_transport *transport, struct xprtrdma_conn *conn);
void xprtrdma_connection_ended(struct xprtrdma_conn *conn, bool closed);

#endif /* XPRTRDMA_H */
