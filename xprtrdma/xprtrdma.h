/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RPC-over-RDMA client: private structures.
 *
 * Objects, and what they own:
 *
 *   transport (xt_)  one for each mount point's rpc_xprt. Lives as long as the
 *                    rpc_xprt does.
 *   conn (xc_)       one for each connect attempt; owns every verbs object and
 *                    every memory region. Never reused.
 *   mr (mr_)         one fast-register memory region, owned by its conn, lent to
 *                    a request while the request is exposed.
 *   send (sd_)       one DMA-mapped buffer for an outgoing message, owned by its
 *                    conn. It holds the whole message, so nothing that belongs to
 *                    an RPC is tied to the life of a Send.
 *   receive (rv_)    one DMA-mapped buffer for an incoming message.
 *   pull (pl_)       one reply that the server exposes and we read, or call with Read
 *                    chunks; part of its receive.
 *   MR list (ml_)   the memory regions that a request, or a call of the server's, has
 *                    on one connection; part of either.
 *   request (rq_)    what the transport adds to an rpc_rqst; lives from buf_alloc
 *                    to buf_free.
 *
 * Documentation/locking.rst numbers the rules of ownership.
 */
#ifndef XPRTRDMA_H
#define XPRTRDMA_H

#include <linux/mempool.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "rpcrdma/logic.h"
#include <common/statistics.h>
#include <common/refusal.h>
#include <common/verbs.h>

#include "rooms.h"

enum {
	XPRTRDMA_BC_SLOTS	= 16,	/* reverse-direction credits that we grant */
	XPRTRDMA_MAX_PAGES	= (1 << 20) / PAGE_SIZE + 1,	/* NFS_MAX_FILE_IO_SIZE, anywhere */
	XPRTRDMA_RESOLVE_MS	= 5000,
	XPRTRDMA_FIRST_CREDITS	= 8,	/* with buffers, until a call waits for more */
	XPRTRDMA_FIRST_SENDS	= 4,	/* until none is left */
	XPRTRDMA_BC_FIRST_SLOTS	= 4,	/* until the server calls */
	XPRTRDMA_MR_INITIAL	= 4,
	XPRTRDMA_REPLY_SEGMENTS	= 64,	/* storage to decode a reply: two full lists */
	XPRTRDMA_REPLY_CHUNKS	= 8,
	XPRTRDMA_PULLS		= 4,	/* replies that are being read at a time */
	XPRTRDMA_PULL_WRS	= 64,	/* RDMA Reads of all of them */
	XPRTRDMA_READ_DEPTH	= 16,	/* RDMA Reads in flight */
	XPRTRDMA_BC_MAX_CALL	= 68 << 10,	/* bytes of a reverse-direction call */
	XPRTRDMA_BC_WRITES	= 4 * RPCRDMA_MAX_SEGMENTS_SENT, /* for four replies at a time */
};

#define XPRTRDMA_BIND_TIMEOUT		(60U * HZ)
/*
 * Between attempts, twice as long each time; the mount may want a lower bound. Ours is how long a
 * server that is back may have to wait for its clients.
 */
#define XPRTRDMA_REESTABLISH_FIRST	(1U * HZ)
#define XPRTRDMA_REESTABLISH_MIN	(5U * HZ)
#define XPRTRDMA_REESTABLISH_MAX	(10U * HZ)
/* More than the CM needs to give up: it repeats a request each four seconds, fifteen times. */
#define XPRTRDMA_CM_TIMEOUT		(120U * HZ)
#define XPRTRDMA_IDLE_TIMEOUT		(5U * 60 * HZ)
/* Where a call does not say how long it waits for a reply */
#define XPRTRDMA_STALL_TIMEOUT		(60U * HZ)
/* Of several replies that wait for the HCA, one is complete within that time. */
#define XPRTRDMA_HCA_TIMEOUT		(30U * HZ)
/* Calls wait that long, then the peer's HCA is asked to acknowledge something. */
#define XPRTRDMA_PROBE_INTERVAL		(5U * HZ)
/* A LOCAL_INV that takes longer waits for a peer that does not take our Sends. */
#define XPRTRDMA_FENCE_TIMEOUT		(10U * HZ)
/* A server that takes longer to say what its limits are is not asked again. */
#define XPRTRDMA_CONFIG_TIMEOUT		(5U * HZ)

/* Parts of an xdr_buf. */
enum xprtrdma_parts {
	XPRTRDMA_PAGES	= 1,
	XPRTRDMA_KVECS	= 2,	/* head and tail */
	XPRTRDMA_ALL	= XPRTRDMA_PAGES | XPRTRDMA_KVECS,
};

/* What the peer may do. RFC 5042 section 6.3.5: either direction, never both. */
enum {
	XPRTRDMA_ACCESS_READ	= IB_ACCESS_REMOTE_READ,
	XPRTRDMA_ACCESS_WRITE	= IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE,
};

/* A piece of memory within one page. */
struct xprtrdma_extent {
	struct page	*page;
	unsigned int	offset;
	unsigned int	length;
};

/* Walks an xdr_buf: head, pages, tail. */
struct xprtrdma_cursor {
	const struct xdr_buf	*buf;
	unsigned int		part;	/* 0 head, 1 pages, 2 tail, 3 end */
	unsigned int		done;	/* bytes of this part */
	unsigned int		parts;	/* enum xprtrdma_parts */
	unsigned int		left;	/* bytes to be walked over */
};

struct xprtrdma_conn;
struct xprtrdma_mr_list;
struct xprtrdma_request;

/*
 * What mountstats shows. Written without a lock by the one context that sees the
 * event, by RPCRDMA_COUNT(); a lost increment is accepted, as for all counters of that file.
 */
struct xprtrdma_stats {
	unsigned long		read_chunk_count;
	unsigned long		write_chunk_count;
	unsigned long		reply_chunk_count;
	unsigned long long	total_rdma_request;	/* bytes */
	unsigned long long	total_rdma_reply;	/* bytes */
	unsigned long long	pullup_copy_count;	/* bytes */
	unsigned long long	fixup_copy_count;	/* bytes */
	unsigned long		hardway_register_count;	/* bytes */
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
 * @xt_xprt: what the RPC client sees
 * @xt_conn: the current connection or NULL; changed only by the holder of the
 *	rpc_xprt's write lock, through xprtrdma_connection_set()
 * @xt_connect_worker: establishes a connection
 * @xt_free_worker: frees the transport, and lets go of the module
 * @xt_was_connected: so the largest payload is what it is
 * @xt_told_failure: the log says that there is no connection; only for the connect worker
 * @xt_timeout: RPC timeouts set by xprtrdma_transport_set_connect_timeout()
 * @xt_lease: NFSv4's lease, jiffies; 0: none, or not known
 * @xt_ccp_timeout: how long an answer of ccp.c is waited for
 * @xt_ccp_silent: there was none; only for the connect worker
 * @xt_overdue: a reply was, since there is this connection; a hint
 * @xt_lost_on: xc_serial of the connection that @xt_lost is about; under transport_lock
 * @xt_lost: calls that ended, by a signal or in time, before they were answered on it
 * @xt_lost_since: when the first of them ended, or a reply to one of them came last, jiffies
 * @xt_lost_timeout: how long their tasks would have waited for a reply, jiffies
 * @xt_fenced: tasks that may not encode their calls again yet; see wait.c
 * @xt_reserve: requests for asynchronous tasks when memory is short
 * @xt_srcaddr: local address to bind to; ss_family is 0 for any
 * @xt_bc_max_payload: largest reverse-direction message, bytes; set at connect
 * @xt_bc_count: reverse-direction rpc_rqsts that exist; changed under bc_pa_lock
 * @xt_bc_ready: the consumer's callback service may be given calls; changed under bc_pa_lock
 * @xt_idle_timeout: xprt.idle_timeout while there is no such service
 * @xt_history: how large replies have been; for the Receive CQ handler, and read by
 *	senders, without a lock
 * @xt_stats: mountstats
 * @xt_counters: what debugfs.c shows and mountstats does not
 * @xt_connection: entry of debugfs.c
 */
struct xprtrdma_transport {
	struct rpc_xprt		xt_xprt;
	struct xprtrdma_conn	*xt_conn;
	struct delayed_work	xt_connect_worker;
	struct work_struct	xt_free_worker;
	bool			xt_was_connected;
	bool			xt_told_failure;
	struct rpc_timeout	xt_timeout;
	unsigned long		xt_lease;
	unsigned long		xt_ccp_timeout;
	bool			xt_ccp_silent;
	bool			xt_overdue;
	unsigned long		xt_lost_on;
	unsigned int		xt_lost;
	unsigned long		xt_lost_since;
	unsigned long		xt_lost_timeout;
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

/**
 * enum xprtrdma_wait - what is short, when SUNRPC is told to send nothing (XPRT_WRITE_SPACE)?
 * @XPRTRDMA_WAIT_CREDIT: a credit
 * @XPRTRDMA_WAIT_SEND_QUEUE: a Send buffer, or work requests for what a callback's reply writes
 * @XPRTRDMA_WAIT_REGIONS: memory regions
 */
enum xprtrdma_wait {
	XPRTRDMA_WAIT_CREDIT,
	XPRTRDMA_WAIT_SEND_QUEUE,
	XPRTRDMA_WAIT_REGIONS,
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
 * @xc_wait: why SUNRPC waits, if it does; for the holder of the transport's write lock, and
 *	read without a lock for statistics
 * @xc_lock: guards the members below it where they say so, and the rg_list of every region
 * @xc_end: why it ends, as whoever saw it first says
 * @xc_state: changed only through conn_advance(), and read without the lock as a hint
 * @xc_window: credits of the forward direction
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

/**
 * struct xprtrdma_mr - a memory region of the pool
 * @mr_region: the region; rg_list: free in xc_mr, or in ml_mrs, under xc_lock
 * @mr_all: all of xc_mr; under xc_lock
 * @mr_conn: owner
 * @mr_holder: whose it is for now; valid while a LOCAL_INV is posted
 * @mr_reg_cqe: completion of the registration; only seen when it failed
 * @mr_inv_cqe: completion of the LOCAL_INV
 */
struct xprtrdma_mr {
	struct rpcrdma_region	mr_region;
	struct list_head	mr_all;
	struct xprtrdma_conn	*mr_conn;
	struct xprtrdma_mr_list	*mr_holder;
	struct ib_cqe		mr_reg_cqe;
	struct ib_cqe		mr_inv_cqe;
};

/**
 * struct xprtrdma_send - one outgoing message
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
 * struct xprtrdma_pull - a reply that the server exposes, or a call with Read chunks
 * @pl_call: it is a call
 * @pl_list: waiting in xc_pull
 * @pl_cqe: completion of the last RDMA Read
 * @pl_reads: RDMA Reads; private to pull.c
 * @pl_wrs: their number
 * @pl_reading: they were posted, and reply.c has not been told of the end
 * @pl_length: bytes of the reply, as far as its buffer takes them
 * @pl_done: the message that ends it, reserved before the first Read; not of a call
 */
struct xprtrdma_pull {
	bool			pl_call;
	struct list_head	pl_list;
	struct ib_cqe		pl_cqe;
	struct rpcrdma_transfer	*pl_reads;
	unsigned int		pl_wrs;
	bool			pl_reading;
	unsigned int		pl_length;
	struct xprtrdma_send	*pl_done;
};

/**
 * struct xprtrdma_receive - one incoming message
 * @rv_all: all of xc_recv
 * @rv_conn: owner
 * @rv_cqe: completion
 * @rv_wr: the Receive
 * @rv_buffer: xc_recv_size bytes
 * @rv_length: bytes received
 * @rv_rqst: the RPC that this message ends, pinned, or the reverse-direction call that it
 *	is, while that is being read; NULL while there is none
 * @rv_registered: the regions of @rv_rqst; NULL with it
 * @rv_pull: the reply or call is to be read from the server
 * @rv_header: decoded header
 * @rv_lists: decoded chunk lists, over @rv_segments and @rv_chunks
 * @rv_segments: storage
 * @rv_chunks: storage
 */
struct xprtrdma_receive {
	struct list_head		rv_all;
	struct xprtrdma_conn		*rv_conn;
	struct ib_cqe			rv_cqe;
	struct ib_recv_wr		rv_wr;
	struct rpcrdma_buffer		rv_buffer;
	unsigned int			rv_length;
	struct rpc_rqst			*rv_rqst;
	struct xprtrdma_mr_list		*rv_registered;
	struct xprtrdma_pull		rv_pull;
	struct rpcrdma_header		rv_header;
	struct rpcrdma_chunk_lists	rv_lists;
	struct rpcrdma_segment		rv_segments[XPRTRDMA_REPLY_SEGMENTS];
	struct rpcrdma_chunk		rv_chunks[XPRTRDMA_REPLY_CHUNKS];
};

/**
 * struct xprtrdma_mr_list - memory regions of the pool that somebody has
 * @ml_conn: connection that @ml_mrs belong to, with a reference; NULL if there were none.
 *	An RPC's is written under the transport's write lock or by the task's release.
 * @ml_mrs: the regions, by rg_list. They come and go under xc_lock of @ml_conn. Who has the
 *	mrs (the sender, or who has pinned the RPC) walks the list without it: others take
 *	regions off in xprtrdma_mrs_release() alone, which none of these runs beside
 * @ml_fenced: for xprtrdma_frwr_unmap_sync(); valid while a LOCAL_INV is posted
 * @ml_receive: the reply or call that is being processed; only for the Receive CQ handler
 *	and the completion of the LOCAL_INV that it posts
 */
struct xprtrdma_mr_list {
	struct xprtrdma_conn	*ml_conn;
	struct list_head	ml_mrs;
	struct completion	*ml_fenced;
	struct xprtrdma_receive	*ml_receive;
};

/**
 * struct xprtrdma_request - the transport's part of an rpc_rqst
 * @rq_registered: memory regions lent to this RPC
 * @rq_sent_on: xc_serial of the connection of the last Send; 0: none, or no reply to it is
 *	taken. Set under xc_lock of that connection, when the Send has been posted, and read
 *	without it; cleared under queue_lock
 * @rq_answered: a reply to the last Send was taken, so that Send has no credit any more. Set under
 *	queue_lock; for whoever sends
 * @rq_timer: SUNRPC's own callback for a task that has stopped waiting; private to wait.c
 * @rq_refused: what the task is to be told; under queue_lock
 * @rq_shape: what call and reply need; for whoever has the RPC
 * @rq_again: refused for want of memory before; the task or the one that refuses it
 * @rq_write_capacity: bytes of the Write chunk that was offered
 * @rq_reply_capacity: bytes of the Reply chunk that was offered
 * @rq_procedure: index into xt_history, if @rq_by_history
 * @rq_by_history: whether the call offers memory for a large reply was a guess
 * @rq_left_open: the guess was that none is needed
 * @rq_reserved: its memory is of xt_reserve; constant
 * @rq_reply: reply buffer, if that has memory of its own; or NULL. Constant
 * @rq_data: call buffer, then, without @rq_reply, reply buffer
 */
struct xprtrdma_request {
	struct xprtrdma_mr_list	rq_registered;
	unsigned long		rq_sent_on;
	void			(*rq_timer)(struct rpc_task *task);
	enum rpcrdma_refusal	rq_refused;
	bool			rq_answered;
	bool			rq_again;
	bool			rq_by_history;
	bool			rq_left_open;
	u8			rq_shape;	/* enum rpcrdma_shape */
	u32			rq_write_capacity;
	u32			rq_reply_capacity;
	u32			rq_procedure;
	bool			rq_reserved;
	void			*rq_reply;
	u8			rq_data[] ____cacheline_aligned;
};

static inline struct xprtrdma_transport *
xprtrdma_transport_of(struct rpc_xprt *xprt)
{
	return container_of(xprt, struct xprtrdma_transport, xt_xprt);
}

static inline struct xprtrdma_request *
xprtrdma_request_of(const struct rpc_rqst *rqst)
{
	return container_of(rqst->rq_buffer, struct xprtrdma_request, rq_data[0]);
}

static inline struct ib_device *xprtrdma_conn_device(struct xprtrdma_conn *conn)
{
	return conn->xc_id->device;
}

/*
 * Until xprtrdma_memalloc_restore() takes what this returns: reclaim may wait for the
 * transport, and a swapper's may use the reserves. Only a task itself changes its flags; the
 * scheduler reads others of them meanwhile, without a lock, which KCSAN reports.
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
int xprtrdma_connections_init(void);
void xprtrdma_connections_exit(void);
void xprtrdma_connection_add(struct xprtrdma_transport *transport);
void xprtrdma_connection_remove(struct xprtrdma_transport *transport);
void xprtrdma_connection_set(struct xprtrdma_transport *transport, struct xprtrdma_conn *conn);
void xprtrdma_connection_ended(struct xprtrdma_conn *conn, bool closed);

/* connection.c */
struct xprtrdma_conn *xprtrdma_conn_create(struct xprtrdma_transport *transport);
void xprtrdma_conn_destroy(struct xprtrdma_conn *conn);
void xprtrdma_conn_get(struct xprtrdma_conn *conn);
void xprtrdma_conn_put(struct xprtrdma_conn *conn);
void xprtrdma_conn_fail(struct xprtrdma_conn *conn, enum rpcrdma_end why);
bool xprtrdma_conn_established(struct xprtrdma_conn *conn);
extern unsigned long xprtrdma_failure_silence;
bool xprtrdma_failure_note(const struct rpc_xprt *xprt, const char *step, int error);
bool xprtrdma_failure_forget(const struct rpc_xprt *xprt);

/* trace.c: out of line, and asked only if somebody listens */
void xprtrdma_trace_message(const struct xprtrdma_conn *conn, const void *message, u32 length,
			    const struct ib_wc *wc);
void xprtrdma_trace_transfers(const struct xprtrdma_conn *conn, const struct ib_send_wr *wr);

/* watch.c */
void xprtrdma_watch_init(struct xprtrdma_conn *conn);
void xprtrdma_watch_stop(struct xprtrdma_conn *conn);
void xprtrdma_watch_replied(struct xprtrdma_conn *conn);
void xprtrdma_watch_call(struct xprtrdma_conn *conn);
void xprtrdma_watch_stalled(struct xprtrdma_conn *conn, const struct rpc_rqst *rqst);
void xprtrdma_watch_hca_begin(struct xprtrdma_conn *conn);
void xprtrdma_watch_hca_end(struct xprtrdma_conn *conn, bool read);

/* ccp.c */
void xprtrdma_ccp_init(struct xprtrdma_conn *conn);
int xprtrdma_ccp_ask(struct xprtrdma_conn *conn);
bool xprtrdma_ccp_receive(const struct xprtrdma_receive *receive);
void xprtrdma_ccp_done(struct xprtrdma_conn *conn);

/* Is an answer to be expected? Nearly never. Set before the question is posted. */
static inline bool xprtrdma_ccp_asked(const struct xprtrdma_conn *conn)
{
	return READ_ONCE(conn->xc_ccp.asked);
}

/* request.c */
int xprtrdma_requests_init(struct xprtrdma_transport *transport);
void xprtrdma_requests_exit(struct xprtrdma_transport *transport);
int xprtrdma_request_alloc(struct rpc_task *task);
void xprtrdma_request_free(struct rpc_task *task);
int xprtrdma_request_send(struct rpc_rqst *rqst);

/* window.c */
void xprtrdma_window_init(struct xprtrdma_conn *conn);
int xprtrdma_window_create(struct xprtrdma_conn *conn);
void xprtrdma_window_begin(struct xprtrdma_conn *conn);
void xprtrdma_window_grant(struct xprtrdma_conn *conn, const struct rpcrdma_header *header);
int xprtrdma_window_grow(struct xprtrdma_conn *conn, u32 credits, u32 reverse, unsigned int sends);
void xprtrdma_window_request_buffers(struct xprtrdma_conn *conn, enum xprtrdma_want want);
void xprtrdma_window_request_credits(struct xprtrdma_conn *conn);
u32 xprtrdma_window_ask_more(struct xprtrdma_conn *conn);
bool xprtrdma_window_is_open(const struct xprtrdma_conn *conn);
void xprtrdma_window_stop(struct xprtrdma_conn *conn);

/* The credits that a call asks for: RFC 8166 section 3.3.1. Who sends one. */
static inline u32 xprtrdma_window_ask(struct xprtrdma_conn *conn)
{
	u32 ask = READ_ONCE(conn->xc_growth.ask);

	return likely(ask) ? ask : xprtrdma_window_ask_more(conn);
}

/* send.c */
void xprtrdma_sends_init(struct xprtrdma_conn *conn);
int xprtrdma_sends_create(struct xprtrdma_conn *conn, unsigned int count);
void xprtrdma_sends_destroy(struct xprtrdma_conn *conn);
unsigned int xprtrdma_sends_count(const struct xprtrdma_conn *conn);
bool xprtrdma_sends_left(const struct xprtrdma_conn *conn);
struct xprtrdma_send *xprtrdma_send_get(struct xprtrdma_conn *conn);
void xprtrdma_send_put(struct xprtrdma_send *send);
int xprtrdma_send_post(struct xprtrdma_send *send, unsigned int length);
void xprtrdma_send_probe(struct xprtrdma_conn *conn);
struct xprtrdma_send *xprtrdma_send_for_call(struct xprtrdma_conn *conn);
int xprtrdma_send_call(struct xprtrdma_conn *conn, unsigned int length,
		       struct xprtrdma_request *request);

/* receive.c */
void xprtrdma_receives_init(struct xprtrdma_conn *conn);
int xprtrdma_receives_create(struct xprtrdma_conn *conn, unsigned int count);
void xprtrdma_receives_destroy(struct xprtrdma_conn *conn);
int xprtrdma_receives_post(struct xprtrdma_conn *conn);
void xprtrdma_receive_put(struct xprtrdma_receive *receive);
int xprtrdma_receive_return(struct xprtrdma_receive *receive);

/* frwr.c */
void xprtrdma_mrs_init(struct xprtrdma_conn *conn);
int xprtrdma_frwr_query(struct xprtrdma_conn *conn, struct rpcrdma_device_limits *limits);
int xprtrdma_mrs_create(struct xprtrdma_conn *conn, unsigned int count);
void xprtrdma_mrs_release(struct xprtrdma_conn *conn);
void xprtrdma_mrs_destroy(struct xprtrdma_conn *conn);
void xprtrdma_mrs_grow(struct xprtrdma_conn *conn);
u32 xprtrdma_frwr_segments(const struct xprtrdma_conn *conn,
			   const struct xdr_buf *buf, enum xprtrdma_parts parts);
void xprtrdma_mr_list_init(struct xprtrdma_mr_list *mrs);
int xprtrdma_frwr_map(struct xprtrdma_conn *conn, struct xprtrdma_mr_list *mrs,
		      struct xprtrdma_cursor *cursor, int access);
int xprtrdma_frwr_map_chunk(struct xprtrdma_conn *conn, struct xprtrdma_mr_list *mrs,
			    const struct xdr_buf *buf, enum xprtrdma_parts parts,
			    bool writable, struct rpcrdma_chunk_lists *lists);
struct ib_send_wr *xprtrdma_frwr_chain(struct xprtrdma_mr_list *mrs, struct ib_send_wr *next,
				       u32 *registrations);
void xprtrdma_frwr_count(struct xprtrdma_conn *conn, u32 registrations);
void xprtrdma_frwr_recycle(struct xprtrdma_mr_list *mrs);
bool xprtrdma_frwr_reminv(struct xprtrdma_mr_list *mrs, u32 rkey);
bool xprtrdma_frwr_unmap_async(struct xprtrdma_mr_list *mrs);
void xprtrdma_frwr_unmap_sync(struct xprtrdma_mr_list *mrs);

/* marshal.c */
int xprtrdma_marshal_call(struct xprtrdma_conn *conn, struct rpc_rqst *rqst,
			  struct xprtrdma_send *send);

/* reply.c */
void xprtrdma_reply_receive(struct xprtrdma_receive *receive, bool invalidated,
			    u32 rkey);
void xprtrdma_reply_invalidated(struct xprtrdma_receive *receive, bool ok);
void xprtrdma_reply_pulled(struct xprtrdma_receive *receive, int status);

/* wait.c */
void xprtrdma_reply_wait(struct rpc_task *task);
void xprtrdma_fence_wake(struct xprtrdma_transport *transport);

/* pull.c */
void xprtrdma_pulls_init(struct xprtrdma_conn *conn);
bool xprtrdma_pulls_wait(const struct xprtrdma_conn *conn);
void xprtrdma_pulls_show(struct seq_file *seq, struct xprtrdma_conn *conn);
void xprtrdma_pulls_continue(struct xprtrdma_conn *conn);
void xprtrdma_pull(struct xprtrdma_receive *receive);
void xprtrdma_pull_call(struct xprtrdma_receive *receive);
void xprtrdma_pull_refuse(struct xprtrdma_receive *receive);
void xprtrdma_pull_invalidated(struct xprtrdma_receive *receive, bool ok);
void xprtrdma_pulls_abort(struct xprtrdma_conn *conn);

/* Whose it is, for trace events. */
static inline struct rpc_xprt *xprtrdma_receive_xprt(const struct xprtrdma_receive *receive)
{
	return &receive->rv_conn->xc_transport->xt_xprt;
}

/*
 * Is a message, decoded, a reply that is to be read from the server? On a connection where both
 * have agreed on it, that is what an RDMA_NOMSG with nothing but a Position Zero Read chunk in its
 * Read list means, unless it wants a reply.
 */
static inline bool xprtrdma_is_pull(const struct xprtrdma_receive *receive)
{
	return receive->rv_header.proc == RPCRDMA_NOMSG &&
	       receive->rv_conn->xc_inline.read_chunk_replies &&
	       rpcrdma_is_pulled_reply(&receive->rv_lists);
}

/* backchannel.c */
int xprtrdma_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs);
size_t xprtrdma_bc_max_payload(struct rpc_xprt *xprt);
void xprtrdma_bc_connected(const struct xprtrdma_conn *conn);
unsigned int xprtrdma_bc_num_slots(struct rpc_xprt *xprt);
void xprtrdma_bc_free_rqst(struct rpc_rqst *rqst);
void xprtrdma_bc_stop(struct xprtrdma_transport *transport);
void xprtrdma_bc_destroy(struct rpc_xprt *xprt, unsigned int reqs);

/* bc_receive.c */
void xprtrdma_bc_init(struct xprtrdma_conn *conn);
void xprtrdma_bc_receive(struct xprtrdma_receive *receive);
void xprtrdma_bc_pulled(struct xprtrdma_receive *receive, int status);
void xprtrdma_bc_released(struct xprtrdma_conn *conn);

/* bc_reply.c */
int xprtrdma_bc_send(struct xprtrdma_conn *conn, struct rpc_rqst *rqst);

/* bc_write.c */
struct xprtrdma_bc_write;
void xprtrdma_bc_writes_init(struct xprtrdma_conn *conn);
struct xprtrdma_bc_write *xprtrdma_bc_write_alloc(struct xprtrdma_conn *conn,
						  const struct xdr_buf *reply,
						  const struct rpcrdma_chunk_lists *lists);
int xprtrdma_bc_write_post(struct xprtrdma_bc_write *write);
void xprtrdma_bc_write_free(struct xprtrdma_bc_write *write);
void xprtrdma_bc_writes_abort(struct xprtrdma_conn *conn);

#endif /* XPRTRDMA_H */
