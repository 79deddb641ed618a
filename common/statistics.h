/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics of connections: what client and server count, and the files that show it. Compiled
 * into each module, as all of common/ is. Documentation/statistics.rst has the names.
 *
 * It knows nothing of either side's structures, and keeps nothing: a side has one struct
 * rpcrdma_connections, says what a connection's lines are, and counts for itself.
 *
 * Who counts does so without a lock: RPCRDMA_COUNT() where one context at a time sees the event,
 * rpcrdma_count_shared() where several do. Readers take what they find.
 */
#ifndef RPCRDMA_STATISTICS_H
#define RPCRDMA_STATISTICS_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/seq_file.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

/* What an RPC needed, with its reply: the last one of these that holds. */
enum rpcrdma_shape {
	RPCRDMA_SHAPE_INLINE,
	RPCRDMA_SHAPE_READ,		/* the call has an item in a Read chunk */
	RPCRDMA_SHAPE_WRITE,		/* the reply used a Write chunk */
	RPCRDMA_SHAPE_REPLY_CHUNK,	/* the reply went into the Reply chunk */
	RPCRDMA_SHAPE_LONG,		/* the call is an RDMA_NOMSG */
	RPCRDMA_SHAPE_EXPOSED,		/* the reply was exposed, and read */
	RPCRDMA_SHAPES
};

/* Why a connection has ended: the first that was noted. */
enum rpcrdma_end {
	RPCRDMA_END_UNKNOWN,		/* as yet; nothing is noted by it */
	RPCRDMA_END_PEER_DISCONNECTED,
	RPCRDMA_END_IDLE,
	RPCRDMA_END_STALLED,
	RPCRDMA_END_DEVICE_REMOVED,
	RPCRDMA_END_SEND_FAILED,
	RPCRDMA_END_RECEIVE_FAILED,
	RPCRDMA_END_BAD_MESSAGE,
	RPCRDMA_END_CONNECT_REFUSED,
	RPCRDMA_END_CONNECT_FAILED,
	RPCRDMA_END_CLOSED,
	RPCRDMA_END_FENCE_FAILED,
	RPCRDMA_END_OTHER,
	RPCRDMA_ENDS
};

enum { RPCRDMA_LATENCIES = 64 };	/* powers of two, nanoseconds */

/**
 * struct rpcrdma_counters - what is counted of a connection, or of several; all are u64
 * @calls: RPCs that were answered, by shape
 * @calls_reverse: calls in the reverse direction
 * @bytes_sent_inline: of messages
 * @bytes_received_inline: of messages
 * @bytes_read: by RDMA Read, whoever did it
 * @bytes_written: by RDMA Write, whoever did it
 * @regions_registered: memory regions
 * @regions_invalidated_locally: by LOCAL_INV
 * @regions_invalidated_remotely: by the peer's Send With Invalidate
 * @send_queue_waits: how often something waited for the Send Queue
 * @errors_sent_vers: ERR_VERS
 * @errors_sent_chunk: ERR_CHUNK
 * @errors_received_vers: ERR_VERS
 * @errors_received_chunk: ERR_CHUNK
 * @bad_messages: that were dropped
 * @reconnects: of the client
 * @ended: connections that have ended, by enum rpcrdma_end
 * @latency: answered RPCs, by the logarithm of the time that it took
 */
struct rpcrdma_counters {
	u64	calls[RPCRDMA_SHAPES];
	u64	calls_reverse;
	u64	bytes_sent_inline;
	u64	bytes_received_inline;
	u64	bytes_read;
	u64	bytes_written;
	u64	regions_registered;
	u64	regions_invalidated_locally;
	u64	regions_invalidated_remotely;
	u64	send_queue_waits;
	u64	errors_sent_vers;
	u64	errors_sent_chunk;
	u64	errors_received_vers;
	u64	errors_received_chunk;
	u64	bad_messages;
	u64	reconnects;
	u64	ended[RPCRDMA_ENDS];
	u64	latency[RPCRDMA_LATENCIES];
} __aligned(8);

/* For events that one context at a time sees: a CQ handler, or who has a lock. */
#define RPCRDMA_COUNT(counter, n)	((void)data_race((counter) += (n)))

/**
 * rpcrdma_count_shared - count what several contexts see at a time
 * @counter: of a struct rpcrdma_counters; nobody counts it by RPCRDMA_COUNT()
 * @n: how much
 *
 * Context: any.
 */
static inline void rpcrdma_count_shared(u64 *counter, u64 n)
{
	BUILD_BUG_ON(sizeof(*counter) != sizeof(atomic64_t));
	atomic64_add(n, (atomic64_t *)counter);
}

/**
 * rpcrdma_end_of - why a connection ends whose work request has failed
 * @wc: its completion
 * @end: if it was the first
 *
 * Context: any.
 * Return: @end; or RPCRDMA_END_UNKNOWN: it was flushed, so something else was first.
 */
static inline enum rpcrdma_end rpcrdma_end_of(const struct ib_wc *wc, enum rpcrdma_end end)
{
	return wc->status == IB_WC_WR_FLUSH_ERR ? RPCRDMA_END_UNKNOWN : end;
}

/**
 * rpcrdma_latency - where a time belongs in the histogram
 * @time: what it took
 *
 * Context: any.
 * Return: index into latency[]: its logarithm in nanoseconds.
 */
static inline unsigned long rpcrdma_latency(ktime_t time)
{
	return IS_ENABLED(CONFIG_64BIT) ? __fls(time | 1) : ilog2((u64)time | 1);
}

/**
 * struct rpcrdma_connection - an entry of the files; part of a side's transport
 * @cn_node: in cs_tree
 * @cn_list: in nt_connections of its namespace
 * @cn_net: the namespace, a reference
 * @cn_number: which no other entry of this side ever had; 0: there is none
 * @cn_since: when it was added, jiffies; a side may change it under cs_lock
 */
struct rpcrdma_connection {
	struct rb_node		cn_node;
	struct list_head	cn_list;
	struct net		*cn_net;
	u64			cn_number;
	u64			cn_since;
};

/**
 * struct rpcrdma_net - totals of a network namespace; net_generic() has it. Under cs_lock
 * @nt_connections: struct rpcrdma_connection by cn_list
 * @nt_now: their number
 * @nt_total: entries that ever were
 * @nt_ended: what was counted of those that have gone
 */
struct rpcrdma_net {
	struct list_head	nt_connections;
	u64			nt_now;
	u64			nt_total;
	struct rpcrdma_counters	nt_ended;
};

/**
 * struct rpcrdma_connections - all connections of a side
 * @cs_side: "client" or "server"
 * @cs_name: of the folder in debugfs, and of the file in /proc/net
 * @cs_is_client: reconnects are counted
 * @cs_show: prints the lines that only this side knows, but for counters. Under cs_lock
 * @cs_sum: adds what is counted of an entry. Under cs_lock
 * @cs_net_id: for net_generic(); set by register_pernet_subsys()
 * @cs_lock: guards @cs_tree, @cs_last, all struct rpcrdma_net, and whatever of its own a side
 *	puts under it. Taken in process context; who has it does not allocate, nor wait
 * @cs_tree: struct rpcrdma_connection by cn_number
 * @cs_last: the last number
 * @cs_folder: in debugfs
 */
struct rpcrdma_connections {
	const char		*cs_side;
	const char		*cs_name;
	bool			cs_is_client;
	void			(*cs_show)(struct seq_file *seq,
					   const struct rpcrdma_connection *connection);
	void			(*cs_sum)(const struct rpcrdma_connection *connection,
					  struct rpcrdma_counters *sum);
	unsigned int		cs_net_id;
	struct mutex		cs_lock;	/* see above */
	struct rb_root		cs_tree;
	u64			cs_last;
	struct dentry		*cs_folder;
};

/* debugfs.c */
extern const struct seq_operations rpcrdma_connections_sops;
void rpcrdma_connections_file(struct rpcrdma_connections *connections);
void rpcrdma_connections_no_file(struct rpcrdma_connections *connections);
void rpcrdma_net_init(struct rpcrdma_net *totals);
void rpcrdma_connection_add(struct rpcrdma_connections *connections,
			    struct rpcrdma_connection *connection, struct net *net);
void rpcrdma_connection_remove(struct rpcrdma_connections *connections,
			       struct rpcrdma_connection *connection);

/* show.c */
void rpcrdma_counters_add(struct rpcrdma_counters *sum, const struct rpcrdma_counters *more);
void rpcrdma_show_number(struct seq_file *seq, const char *name, u64 value);
void rpcrdma_show_text(struct seq_file *seq, const char *name, const char *value);
void rpcrdma_show_truth(struct seq_file *seq, const char *name, bool value);
void rpcrdma_show_address(struct seq_file *seq, const char *name, const struct sockaddr *address,
			  int ifindex);
void rpcrdma_show_device(struct seq_file *seq, const struct ib_device *device, u32 port);
void rpcrdma_show_connection(struct rpcrdma_connections *connections, struct seq_file *seq,
			     const struct rpcrdma_connection *connection);
int rpcrdma_show_totals(struct rpcrdma_connections *connections, struct seq_file *seq,
			struct net *net);

#endif /* RPCRDMA_STATISTICS_H */
