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
 *	long_call	one callback with chunks; private to bc_chunks.c
 *
 * Lifetime: everything of a connection belongs to its transport, and is freed
 * by svcrdma_transport_free(), when the last reference to the svc_xprt is gone
 * and the queue pair has drained. Contexts that are abandoned after an
 * error are on the transport's lists of all contexts, and are freed there.
 */
#ifndef SVCRDMA_H
#define SVCRDMA_H

#include <linux/jump_label.h>
#include <linux/llist.h>
#include <linux/percpu_counter.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/sunrpc/svc.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include <rdma/rw.h>

#include <rpcrdma/logic.h>
#include <common/statistics.h>
#include <common/verbs.h>

#include "rooms.h"

enum {
	SVCRDMA_MIN_REQUESTS = 4,
	SVCRDMA_MAX_REQUESTS = 16384,
	SVCRDMA_DEFAULT_REQUESTS = 128,
	SVCRDMA_MIN_REQ_SIZE = 4096,
	SVCRDMA_MAX_REQ_SIZE = 65536,
	SVCRDMA_MIN_ORD = 1,
	SVCRDMA_MAX_ORD = 255,
	SVCRDMA_DEFAULT_ORD = 16,

	SVCRDMA_BACKLOG = 128,		/* connections that wait for accept */
	SVCRDMA_MAX_NOISE = 1024,	/* messages in a row that are no calls */
	SVCRDMA_REVERSE_CREDITS = 2,	/* callbacks in flight */
	/* Of a call of 1 MiB, where the client's device registers 30 pages at a time, or 32 */
	SVCRDMA_FEW_SEGMENTS = 9,
	/* Of a small call: 16 KiB, and what is behind */
	SVCRDMA_FEW_PAGES = DIV_ROUND_UP(SZ_16K, PAGE_SIZE) + 1,
	/* Of these, by a context from call to call: 8 KiB, or one; none of 64 KiB, see rq_arg.c */
	SVCRDMA_KEPT_PAGES = DIV_ROUND_UP(SZ_16K / PAGE_SIZE, 2),
	SVCRDMA_UNREAD = 0xa5,		/* a byte that a Read is to replace: rxe.c */
	SVCRDMA_SEND_SGES = 16,		/* of one RDMA Write; a Send has one */
	SVCRDMA_UNSIGNALLED_ROW = 4,	/* Sends without a completion, then one with it */
	SVCRDMA_MAX_SQ_WAITERS = 8,	/* with so many, no further calls are taken */
	SVCRDMA_MAX_PULLS = 8,		/* largest calls of which a connection may have the pages */
	SVCRDMA_FIRST_CREDITS = 8,	/* of a connection, until the client uses them */
	/* Within which a client uses its grant; and before what was refused is asked for again */
	SVCRDMA_GRANT_PAUSE = HZ,
	SVCRDMA_SPARE_EXPOSURES = 8,	/* beyond one for each call: RDMA_DONE is on its way */
	/* What the in-tree server sends inline, other peers without private data receive. */
	SVCRDMA_LARGEST_GUESS = SZ_8K,
	SVCRDMA_DONE_RECEIVES = 8,	/* that are posted at once, for RDMA_DONEs */
	SVCRDMA_MAX_EXPOSED = 16 << 20,	/* bytes, of one connection */
	/* Beyond one for each page of a reply: head and tail in one page, and holes */
	SVCRDMA_EXPOSED_SPARE_RUNS = 8,
	SVCRDMA_MAX_CALLBACK = 68 << 10,	/* bytes of a callback in chunks, each way */
	/* Half of them at their end. */
	SVCRDMA_MAX_LONG_CALLS = 2 * SVCRDMA_REVERSE_CREDITS,
	/* A listener that cannot listen tries again after that, and twice that, and so on. */
	SVCRDMA_REBIND_MIN = HZ,
	SVCRDMA_REBIND_MAX = 60 * HZ,
	SVCRDMA_SQ_LOOK = 10 * HZ,	/* how often the Send Queue is looked at */
	/* A peer that lets us wait longer is dead, and the HCA does not say so: sq.c */
	SVCRDMA_SQ_TIMEOUT = 70 * HZ,
	/* When nothing was out for so long, the peer is asked whether it is there. */
	SVCRDMA_IDLE_TIMEOUT = 60 * HZ,
};

struct svcrdma_transport;
struct svcrdma_exposed;
struct svcrdma_host;

/**
 * struct svcrdma_listener - a port on which connections are accepted
 * @li_xprt: what nfsd knows; first reference belongs to SUNRPC
 * @li_id: the listening id, or NULL: it cannot listen just now. Changed under @li_mutex, and
 *	by detach, which has stopped the others
 * @li_mutex: see @li_id; never taken in the CM handler
 * @li_stale: the device of @li_id goes, or does not have its address any more. Set by the
 *	CM handler, cleared under @li_mutex when @li_id is gone
 * @li_pending: transports that wait for accept, by st_pending; under the lock of listener.c,
 *	as is @li_nr_pending
 * @li_nr_pending: their number, at most SVCRDMA_BACKLOG
 * @li_list: of those that hear of devices and addresses; under the lock of listener.c
 * @li_work: destroys an @li_id that is stale, and listens again; detach cancels it
 * @li_delay: before the next try, if one fails; jiffies
 * @li_lost: the log says so. Under @li_mutex
 */
struct svcrdma_listener {
	struct svc_xprt		li_xprt;
	struct rdma_cm_id	*li_id;
	struct mutex		li_mutex;	/* li_id, li_lost */
	bool			li_stale;
	struct list_head	li_pending;
	unsigned int		li_nr_pending;
	struct list_head	li_list;
	struct delayed_work	li_work;
	unsigned long		li_delay;
	bool			li_lost;
};

/**
 * struct svcrdma_sq_waiter - what waits for Send Queue entries; part of a context
 * @sw_list: entry of st_sq.waiters, under its lock
 * @sw_granted: called with the entries, in any context; constant
 * @sw_need: entries wanted
 */
struct svcrdma_sq_waiter {
	struct list_head	sw_list;
	void			(*sw_granted)(struct svcrdma_transport *t,
					      struct svcrdma_sq_waiter *waiter);
	u32			sw_need;
};

/* Where in rq_res a result payload lies; @length bytes without padding. */
struct svcrdma_payload {
	u32			offset;
	u32			length;
};

/**
 * struct svcrdma_rw - one RDMA Read or Write of one segment
 * @rw_list: entry of the list of a struct svcrdma_rws
 * @rw_ctx: the core's state
 * @rw_runs: local memory
 */
struct svcrdma_rw {
	struct list_head	rw_list;
	struct rdma_rw_ctx	rw_ctx;
	struct compat_runs	rw_runs;
};

/**
 * struct svcrdma_rws - Reads of a call, or Writes of a reply; belong to the context's owner
 * @list: of struct svcrdma_rw, in the order in which they are to be done
 * @first: the first one of @list, if that has few pages
 */
struct svcrdma_rws {
	struct list_head	list;
	struct svcrdma_rw	first;
};

/* Nearly all calls have one chunk. */
struct svcrdma_few_chunks {
	struct rpcrdma_segment	segments[SVCRDMA_FEW_SEGMENTS];
	struct rpcrdma_chunk	chunks[2];
	struct svcrdma_payload	payloads[2];
};

/**
 * struct svcrdma_recv_ctxt - a Receive buffer and the call in it
 *
 * Owned, in turn, by: the spare list, the HCA, the ready list, the thread in
 * recvfrom, (with Read chunks: those that wait in st_read, a Send Queue waiter,
 * the HCA, the ready list again, another thread in recvfrom,) and the svc_rqst, until
 * xpo_release_ctxt. A small call with a Read chunk goes from the HCA to the waiter.
 * The owner may touch every member without a lock.
 *
 * @rc_node: entry of st_recv.spare, st_recv.ready or st_recv.taken
 * @rc_list: entry of st_read.wait, under st_recv_lock
 * @rc_all: entry of st_recv.all, under st_recv_lock
 * @rc_transport: constant
 * @rc_cqe: Receive completion
 * @rc_recv_wr: the Receive
 * @rc_read_cqe: completion of the last Read
 * @rc_buffer: for the message
 * @rc_byte_len: bytes received
 * @rc_since: when it had come
 * @rc_header: decoded header
 * @rc_lists: decoded chunks, over @rc_segments and @rc_chunks
 * @rc_segments: storage: that of @rc_few, or of @rc_many
 * @rc_chunks: storage
 * @rc_payloads: result payload n is to go to Write chunk n
 * @rc_few: room for the chunks that most calls have
 * @rc_many: room for those of any call; NULL but while a call needs it
 * @rc_nr_payloads: number of result payloads seen so far
 * @rc_reads: this call's Reads
 * @rc_sq: Send Queue entries of the Reads
 * @rc_alone: number of the attempt to build its Reads, if nobody else had regions; or 0
 * @rc_refused: the device cannot do these Reads
 * @rc_pulled: the Reads are done, and no thread has seen that
 * @rc_stream_length: bytes of the call that go to @rc_pages; see read_chunks.c
 * @rc_nr_pages: entries of @rc_pages that are this call's
 * @rc_nr_few: entries of @rc_few_pages, each a reference
 * @rc_few_pages: of a small call; see rq_arg.c
 * @rc_many_pages: of any other call: an array for them; else NULL
 * @rc_pages: sink of the Reads: @rc_few_pages or @rc_many_pages; or NULL
 */
struct svcrdma_recv_ctxt {
	struct llist_node	rc_node;
	struct list_head	rc_list;
	struct list_head	rc_all;
	struct svcrdma_transport *rc_transport;
	struct ib_cqe		rc_cqe;
	struct ib_recv_wr	rc_recv_wr;
	struct ib_cqe		rc_read_cqe;
	struct rpcrdma_buffer	rc_buffer;
	u32			rc_byte_len;
	ktime_t			rc_since;
	struct rpcrdma_header	rc_header;
	struct rpcrdma_chunk_lists rc_lists;
	struct rpcrdma_segment	*rc_segments;
	struct rpcrdma_chunk	*rc_chunks;
	struct svcrdma_payload	*rc_payloads;
	struct svcrdma_few_chunks rc_few;
	void			*rc_many;
	u32			rc_nr_payloads;
	struct svcrdma_rws	rc_reads;
	struct svcrdma_sq_waiter rc_sq;
	u32			rc_alone;
	bool			rc_refused;
	bool			rc_pulled;
	u32			rc_stream_length;
	u32			rc_nr_pages;
	u32			rc_nr_few;
	struct page		*rc_few_pages[SVCRDMA_FEW_PAGES];
	struct page		**rc_many_pages;
	struct page		**rc_pages;
};

/**
 * struct svcrdma_send_ctxt - a Send buffer and what its Send holds on to
 *
 * Owned by the free list, by the thread that builds a message, by st_sq_waiters, by the
 * HCA from post to completion (of what is behind it, if its Send is unsignalled), or by the
 * release list.
 *
 * @sc_node: entry of st_send.free, st_send.unsignalled, @sc_ahead or st_send.release
 * @sc_all: entry of st_send.all, under its lock
 * @sc_transport: constant
 * @sc_extra: there are enough without it: it is freed after its use. Constant
 * @sc_cqe: Send completion
 * @sc_wr: the Send; the Writes are chained before it. Signalled, but from the post of an
 *	unsignalled one until what is behind it is complete
 * @sc_buffer: for the message, which its bf_sge is
 * @sc_writes: this reply's Writes
 * @sc_write_wrs: work requests of @sc_writes
 * @sc_written: bytes of @sc_writes
 * @sc_ahead: unsignalled ones that were posted ahead of it, and are complete when it is
 * @sc_sq: waits for Send Queue entries
 * @sc_exposed: the reply that this Send tells the client to pull; until it is posted
 * @sc_long: what this Send, a callback, exposes; until it is posted
 * @sc_sq_held: Send Queue entries taken, given back when the context is put
 * @sc_nr_pages: entries of @sc_pages, each a reference
 * @sc_pages: source of the Writes; NULL until there is one, then an array of st_max_pages
 */
struct svcrdma_send_ctxt {
	struct llist_node	sc_node;
	struct list_head	sc_all;
	struct svcrdma_transport *sc_transport;
	bool			sc_extra;
	struct ib_cqe		sc_cqe;
	struct ib_send_wr	sc_wr;
	struct rpcrdma_buffer	sc_buffer;
	struct svcrdma_rws	sc_writes;
	u32			sc_write_wrs;
	u32			sc_written;
	struct llist_node	*sc_ahead;
	struct svcrdma_sq_waiter sc_sq;
	struct svcrdma_exposed	*sc_exposed;
	struct svcrdma_long_call *sc_long;
	u32			sc_sq_held;
	u32			sc_nr_pages;
	struct page		**sc_pages;
};

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
 *	more for a client that does not say what it receives
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
 * @st_counters: what debugfs.c shows, but for what is in @st_tally
 * @st_tally: the rest of it; there from accept on, until nothing is counted any more
 * @st_end: why it ends; set once
 * @st_connection: entry of debugfs.c
 *
 * @st_noise: messages since the last call that were neither calls nor wanted
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

	atomic_t		st_noise;

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

/* module.c */
extern struct svc_xprt_class svcrdma_class;

/* listener.c */
extern const struct svc_xprt_ops svcrdma_listener_ops;

struct svc_xprt *svcrdma_listener_create(struct svc_serv *serv, struct net *net,
					 struct sockaddr *sa, int salen, int flags);
bool svcrdma_listener_forget(struct svcrdma_transport *t);
int svcrdma_listener_init(void);
void svcrdma_listener_exit(void);
void svcrdma_listener_rebind_all(void);

/* debugfs.c */
extern struct rpcrdma_connections svcrdma_connections;
int svcrdma_connections_init(void);
void svcrdma_connections_exit(void);
int svcrdma_connection_add(struct svcrdma_transport *t);
void svcrdma_connection_remove(struct svcrdma_transport *t);
void svcrdma_connection_note_end(struct svcrdma_transport *t, enum rpcrdma_end why);
void svcrdma_connection_note_quiesce(struct svcrdma_transport *t);

/* connection.c */
extern const struct svc_xprt_ops svcrdma_transport_ops;

struct svcrdma_transport *svcrdma_transport_create(struct svc_serv *serv,
						   struct net *net,
						   struct rdma_cm_id *id,
						   const struct rdma_conn_param *param);
int svcrdma_transport_accept(struct svcrdma_transport *t);
void svcrdma_transport_close(struct svcrdma_transport *t, enum rpcrdma_end why);
void svcrdma_wc_ends(struct svcrdma_transport *t, const char *what, const struct ib_wc *wc);
void svcrdma_transports_wait(const struct svc_serv *serv, const struct svcrdma_listener *li);
void svcrdma_transport_discard(struct svcrdma_transport *t);
bool svcrdma_transport_data(struct svcrdma_transport *t);

/* Has it failed? Then the connection ends. Context: completion handlers. */
static inline bool svcrdma_wc_failed(struct svcrdma_transport *t, const char *what,
				     const struct ib_wc *wc)
{
	if (likely(wc->status == IB_WC_SUCCESS))
		return false;
	svcrdma_wc_ends(t, what, wc);
	return true;
}

/* recvfrom.c */
void svcrdma_recv_wc(struct ib_cq *cq, struct ib_wc *wc);
int svcrdma_recvfrom(struct svc_rqst *rqstp);
void svcrdma_recv_noise(struct svcrdma_transport *t);

static inline u32 svcrdma_recv_inline_size(const struct svcrdma_recv_ctxt *rc)
{
	return rc->rc_byte_len - rc->rc_header.size;
}

static inline void *svcrdma_recv_inline(const struct svcrdma_recv_ctxt *rc)
{
	return rc->rc_buffer.bf_data + rc->rc_header.size;
}

/*
 * Is it an inline message with one chunk? Not if the chunk is empty: to the svc_defer() of 6.1, a
 * message without pages is one piece. Nor if more than a page is before it, which is the head.
 */
static inline bool svcrdma_recv_is_simple(const struct svcrdma_recv_ctxt *rc)
{
	return rc->rc_lists.nr_read == 1 && !rpcrdma_position_zero_chunk(&rc->rc_lists) &&
	       rc->rc_lists.chunks[0].length && rc->rc_lists.chunks[0].position <= PAGE_SIZE;
}

/* Its pieces fit together: svcrdma_reads_begin() has seen to that. */
static inline void svcrdma_recv_pieces(struct rpcrdma_pieces *walk,
				       const struct svcrdma_recv_ctxt *rc)
{
	rpcrdma_pieces_start(walk, &rc->rc_lists, svcrdma_recv_inline_size(rc), U32_MAX);
}

/* read_chunks.c */
void svcrdma_reads_setup(struct svcrdma_transport *t);
void svcrdma_reads_show(struct seq_file *seq, struct svcrdma_transport *t);
bool svcrdma_reads_claim(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
void svcrdma_reads_start(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
int svcrdma_reads_begin(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			struct svcrdma_recv_ctxt *rc);
void svcrdma_reads_end(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
struct svcrdma_recv_ctxt *svcrdma_reads_next(struct svcrdma_transport *t);
bool svcrdma_reads_pending(const struct svcrdma_transport *t);
void svcrdma_reads_retry(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			 struct svcrdma_recv_ctxt *rc);
void svcrdma_read_granted(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter);
void svcrdma_read_wc(struct ib_cq *cq, struct ib_wc *wc);
void svcrdma_reads_proven(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);

/* rxe.c */
DECLARE_STATIC_KEY_FALSE(svcrdma_rxe);
void svcrdma_rxe_begin(const struct svcrdma_transport *t);
u32 svcrdma_rxe_mark_last(const struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
bool svcrdma_rxe_prove_last(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);

/*
 * A call's Reads are going to be made; it has its pages, which are not mapped yet. Any context.
 * Returns the Send Queue entries that svcrdma_rxe_prove() may need.
 */
static inline u32 svcrdma_rxe_mark(const struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	return static_branch_unlikely(&svcrdma_rxe) ? svcrdma_rxe_mark_last(t, rc) : 0;
}

/*
 * A call's Reads are complete; have they succeeded? false: @rc is not the caller's any more, and
 * svcrdma_reads_proven() has it, unless the connection ends before. In a completion handler on a
 * work queue.
 */
static inline bool svcrdma_rxe_prove(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	return !static_branch_unlikely(&svcrdma_rxe) || svcrdma_rxe_prove_last(t, rc);
}

void svcrdma_proof_wc(struct ib_cq *cq, struct ib_wc *wc);

/*
 * SUNRPC looks into the head for some of that without asking for its size. Nothing of it is ever in
 * a chunk of its own.
 */
enum { SVCRDMA_CALL_HEADER_MIN = RPCRDMA_RPC_MIN_CALL };

u32 svcrdma_call_pages(const struct svcrdma_recv_ctxt *rc);
bool svcrdma_pages_find(struct svcrdma_recv_ctxt *rc);
int svcrdma_pages_make_room(struct svcrdma_recv_ctxt *rc);
void svcrdma_pages_take(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc);
void svcrdma_pages_drop(struct svcrdma_recv_ctxt *rc);
void svcrdma_pages_free(struct svcrdma_recv_ctxt *rc);

/* rq_arg.c */
u32 svcrdma_arg_page_limit(const struct svc_rqst *rqstp);
void svcrdma_arg_inline(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc);
int svcrdma_arg_long_inline(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc);
int svcrdma_arg_pages(struct svc_rqst *rqstp, struct svcrdma_recv_ctxt *rc);
bool svcrdma_arg_is_right(const struct svc_rqst *rqstp, const struct svcrdma_recv_ctxt *rc);

/* ccp.c */
bool svcrdma_config_answer(struct svc_rqst *rqstp);

/* rw.c */
void svcrdma_rws_free(struct svcrdma_transport *t, struct svcrdma_rws *rws,
		      enum dma_data_direction dir);
struct ib_send_wr *svcrdma_rws_chain(struct svcrdma_transport *t, struct svcrdma_rws *rws,
				     struct ib_cqe *cqe, struct ib_send_wr *tail);
void svcrdma_rw_wc(struct ib_cq *cq, struct ib_wc *wc);
int svcrdma_read_add(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
		     const struct rpcrdma_chunk *chunk, u32 from, u32 length,
		     u32 sink);

/* A place in an xdr_buf. Bytes from @holes are left out. */
struct svcrdma_stream {
	const struct xdr_buf		*buf;
	const struct svcrdma_payload	*holes;	/* ascending, padding included */
	u32				nr_holes;
	u32				pos;
};

u32 svcrdma_stream_run(struct svcrdma_stream *stream, u32 max,
		       struct page **page, u32 *offset);
int svcrdma_write_add(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc,
		      const struct rpcrdma_chunk_lists *lists,
		      const struct rpcrdma_chunk *chunk,
		      struct svcrdma_stream *stream, u32 length);

/**
 * struct svcrdma_regions - memory that the client reaches, as one chunk
 * @rs_list: struct rpcrdma_region by rg_list, in the order of the chunk's segments
 * @rs_count: their number
 * @rs_inv_cqe: completion of their LOCAL_INVs
 */
struct svcrdma_regions {
	struct list_head	rs_list;
	u32			rs_count;
	struct ib_cqe		*rs_inv_cqe;
};

/* region.c */
void svcrdma_regions_init(struct svcrdma_regions *regions, struct ib_cqe *inv_cqe);
int svcrdma_regions_map(struct svcrdma_transport *t, struct svcrdma_regions *regions,
			struct scatterlist *sg, u32 count, int access,
			struct rpcrdma_chunk_lists *lists);
void svcrdma_regions_put(struct svcrdma_transport *t, struct svcrdma_regions *regions);
void svcrdma_regions_setup(struct svcrdma_transport *t);
void svcrdma_regions_create(struct svcrdma_transport *t);
u32 svcrdma_region_pages(const struct svcrdma_transport *t);
void svcrdma_regions_destroy(struct svcrdma_transport *t);

/* exposed_reply.c */
struct svcrdma_exposed *svcrdma_expose(struct svcrdma_transport *t, u32 xid,
				       struct svcrdma_stream *stream, u32 length,
				       u32 held, struct rpcrdma_chunk_lists *lists);
u32 svcrdma_exposed_regions(const struct svcrdma_exposed *ex);
void svcrdma_exposed_take_page(struct svcrdma_exposed *ex, struct page *page);
void svcrdma_exposed_drop(struct svcrdma_exposed *ex);
struct ib_send_wr *svcrdma_exposed_chain(struct svcrdma_exposed *ex,
					 struct ib_send_wr *send);
int svcrdma_exposed_post(struct svcrdma_exposed *ex, struct ib_send_wr *first);
void svcrdma_exposed_done(struct svcrdma_transport *t, u32 xid);
void svcrdma_expose_watch(struct svcrdma_transport *t);
void svcrdma_expose_setup(struct svcrdma_transport *t);
void svcrdma_expose_limit(struct svcrdma_transport *t, u32 count);
void svcrdma_expose_stop(struct svcrdma_transport *t);
int svcrdma_expose_init(struct svcrdma_transport *t, u32 count);
void svcrdma_exposed_destroy_all(struct svcrdma_transport *t);

/* bc_chunks.c */
struct svcrdma_long_call;
void svcrdma_long_calls_setup(struct svcrdma_transport *t);
struct svcrdma_long_call *svcrdma_long_call_create(struct svcrdma_transport *t,
						   const struct rpc_rqst *rqst,
						   const struct rpcrdma_call_plan *plan,
						   struct rpcrdma_chunk_lists *lists);
void svcrdma_long_call_drop(struct svcrdma_long_call *lc);
u32 svcrdma_long_call_regions(const struct svcrdma_long_call *lc);
int svcrdma_long_call_post(struct svcrdma_long_call *lc, struct ib_send_wr *send);
u32 svcrdma_long_call_offered(struct svcrdma_transport *t, u32 xid);
void svcrdma_long_call_end(struct svcrdma_transport *t, u32 xid, u32 answer);
bool svcrdma_long_calls_stuck(struct svcrdma_transport *t, bool *waiting);
void svcrdma_long_calls_destroy(struct svcrdma_transport *t);

/* sq.c */
int svcrdma_sq_reserve(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter);
void svcrdma_sq_put(struct svcrdma_transport *t, u32 count);
void svcrdma_sq_hold(struct svcrdma_transport *t, u32 count);
void svcrdma_sq_put_held(struct svcrdma_transport *t, u32 count);
bool svcrdma_sq_watched(const struct svcrdma_transport *t);
void svcrdma_sq_keep_watch(struct svcrdma_transport *t);
bool svcrdma_sq_close(struct svcrdma_transport *t);
void svcrdma_sq_setup(struct svcrdma_transport *t);
void svcrdma_sq_open(struct svcrdma_transport *t, u32 depth);
void svcrdma_sq_stop(struct svcrdma_transport *t);
u32 svcrdma_sq_depth(const struct svcrdma_transport *t);
bool svcrdma_sq_crowded(const struct svcrdma_transport *t);
void svcrdma_sq_show(struct seq_file *seq, const struct svcrdma_transport *t);

bool svcrdma_send_fits(const struct svcrdma_transport *t, const struct svcrdma_send_ctxt *sc);
int svcrdma_send_post(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc);
void svcrdma_send_probe(struct svcrdma_transport *t);
int svcrdma_send_submit(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc);
int svcrdma_send_submit_reply(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc);

/* sendto.c */
void svcrdma_error_send(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
			enum rpcrdma_errcode error);
int svcrdma_sendto(struct svc_rqst *rqstp);
int svcrdma_result_payload(struct svc_rqst *rqstp, unsigned int offset,
			   unsigned int length);

/* work.c */
int svcrdma_work_init(void);
void svcrdma_work_exit(void);
extern struct workqueue_struct *svcrdma_poll_wq;
extern struct workqueue_struct *svcrdma_release_wq;
extern struct workqueue_struct *svcrdma_wq;
extern struct workqueue_struct *svcrdma_close_wq;

/* Pages change hands. SUNRPC fills the gaps in its arrays again. */
static inline void svcrdma_pages_move(struct page **to, struct page **from, u32 count)
{
	memcpy(to, from, count * sizeof(*to));
	memset(from, 0, count * sizeof(*from));
}

/* recv_ctxt.c */
void svcrdma_recv_setup(struct svcrdma_transport *t);
int svcrdma_recv_ctxts_alloc(struct svcrdma_transport *t, u32 count, gfp_t gfp,
			     struct list_head *list);
void svcrdma_recv_ctxts_add(struct svcrdma_transport *t, struct list_head *list);
int svcrdma_recv_post_missing(struct svcrdma_transport *t);
void svcrdma_recv_set_target(struct svcrdma_transport *t, u32 posted);
u32 svcrdma_recv_used(const struct svcrdma_transport *t);
void svcrdma_recv_ctxts_destroy(struct svcrdma_transport *t);
void svcrdma_recv_ready(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
void svcrdma_recv_taken(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc, bool ready);
int svcrdma_recv_ctxt_many_chunks(const struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
void svcrdma_recv_ctxt_put(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc);
void svcrdma_release_ctxt(struct svc_xprt *xprt, void *ctxt);

int svcrdma_poll_begin(struct svcrdma_transport *t, u32 size);
void svcrdma_poll_stop(struct svcrdma_transport *t);
void svcrdma_poll_end(struct svcrdma_transport *t);
void svcrdma_poll(struct svcrdma_transport *t);
bool svcrdma_poll_arm(struct svcrdma_transport *t);

/* send_ctxt.c */
struct svcrdma_send_ctxt *svcrdma_send_ctxt_get(struct svcrdma_transport *t, gfp_t gfp);
void svcrdma_send_ctxt_put(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc);
bool svcrdma_send_ctxts_unsignalled(const struct svcrdma_transport *t);
int svcrdma_send_ctxt_make_room(const struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc);
void svcrdma_send_ctxt_clear(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc);
void svcrdma_send_ctxts_destroy(struct svcrdma_transport *t);
void svcrdma_send_setup(struct svcrdma_transport *t);
void svcrdma_send_keep(struct svcrdma_transport *t, u32 count);
void svcrdma_send_flush(struct svcrdma_transport *t);

/* backchannel.c */
extern struct xprt_class svcrdma_backchannel_class;

void svcrdma_backchannel_reply(struct svcrdma_transport *t,
			       struct svcrdma_recv_ctxt *rc);
void svcrdma_backchannel_answer(struct svcrdma_transport *t, u32 xid,
				struct page **pages, u32 length);

/* trace.c: out of line, and asked only if somebody listens */
void svcrdma_trace_received(const struct svcrdma_transport *t, const struct svcrdma_recv_ctxt *rc);
void svcrdma_trace_sent(const struct svcrdma_transport *t, const struct svcrdma_send_ctxt *sc);
void svcrdma_trace_transfers(const struct svcrdma_transport *t, const struct ib_send_wr *wr,
			     const struct ib_send_wr *end);

/* sysctl.c */
extern unsigned int svcrdma_max_requests;
extern unsigned int svcrdma_max_credits_total;
extern unsigned int svcrdma_max_req_size;
extern unsigned int svcrdma_ord;
extern unsigned int svcrdma_reliable_reply;
extern unsigned int svcrdma_serve_msgp;
extern unsigned int svcrdma_answer_config;
extern unsigned int svcrdma_expose_timeout;
extern unsigned long svcrdma_inv_timeout;
extern unsigned int svcrdma_max_exposed_bytes;
extern struct percpu_counter svcrdma_stat_expose;
extern struct percpu_counter svcrdma_stat_expose_expired;
extern struct percpu_counter svcrdma_stat_expose_refused;
extern struct percpu_counter svcrdma_stat_read;
extern struct percpu_counter svcrdma_stat_recv;
extern struct percpu_counter svcrdma_stat_write;
extern struct percpu_counter svcrdma_stat_sq_starve;

int svcrdma_counters_init(void);
void svcrdma_counters_exit(void);
int svcrdma_sysctl_init(void);
void svcrdma_sysctl_exit(void);

/* Functions that look into a connection */
#include "grant.h"

#endif /* SVCRDMA_H */
