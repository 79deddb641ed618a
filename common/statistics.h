/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * Statistics of connections: the counters of client and server, and the files that show them.
 * Documentation/statistics.rst explains their names. Each module contains a copy of this code, and
 * has one struct rpcrdma_connections. The module itself keeps the counters of a connection, and
 * prints the lines that only one side has.
 *
 * Counting needs no lock. On the server each processor counts in its own copy of a connection's
 * counters. On the client RPCRDMA_COUNT() is for events that one context at a time sees,
 * rpcrdma_count_shared() for events that several contexts see at the same time. A reader may miss
 * an event that is being counted.
 */
#ifndef RPCRDMA_STATISTICS_H
#define RPCRDMA_STATISTICS_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/seq_file.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

#include <rpcrdma/cm_private.h>

/* The means by which an RPC and its reply were moved; if several apply, the last one counts. */
enum rpcrdma_shape {
	RPCRDMA_SHAPE_INLINE,
	RPCRDMA_SHAPE_READ,		/* the call has an item in a Read chunk */
	RPCRDMA_SHAPE_WRITE,		/* the reply used a Write chunk */
	RPCRDMA_SHAPE_REPLY_CHUNK,	/* the reply went into the Reply chunk */
	RPCRDMA_SHAPE_LONG,		/* the call is an RDMA_NOMSG */
	RPCRDMA_SHAPE_EXPOSED,		/* the reply was exposed, and read */
	RPCRDMA_SHAPES
};

/* The reason why a connection has ended: the first one that was noted. */
enum rpcrdma_end {
	RPCRDMA_END_UNKNOWN,		/* no reason has been noted */
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

enum { RPCRDMA_LATENCIES = 64 };	/* buckets: powers of two nanoseconds */

/**
 * struct rpcrdma_counters - counters of one connection, or sums over several; all are u64
 * @calls: RPCs that were answered, by enum rpcrdma_shape
 * @calls_reverse: calls in the reverse direction
 * @bytes_sent_inline: bytes of messages that were sent
 * @bytes_received_inline: bytes of messages that were received
 * @bytes_read: bytes of RDMA Reads, by either peer
 * @bytes_written: bytes of RDMA Writes, by either peer
 * @regions_registered: registrations of memory regions
 * @regions_invalidated_locally: regions that a LOCAL_INV invalidated
 * @regions_invalidated_remotely: regions that the peer's Send With Invalidate invalidated
 * @send_queue_waits: times that something had to wait for Send Queue entries
 * @errors_sent_vers: ERR_VERS messages that were sent
 * @errors_sent_chunk: ERR_CHUNK messages that were sent
 * @errors_received_vers: ERR_VERS messages that were received
 * @errors_received_chunk: ERR_CHUNK messages that were received
 * @bad_messages: messages that were dropped
 * @reconnects: connections that the client made after its first one
 * @ended: connections that have ended, by enum rpcrdma_end
 * @latency: RPCs that were answered, by the binary logarithm of their duration in nanoseconds
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

/*
 * Counts an event that one context at a time sees, such as a CQ handler or the holder of a lock; or
 * an event for which a lost increment is accepted.
 */
#define RPCRDMA_COUNT(counter, n)	((void)data_race((counter) += (n)))

/**
 * rpcrdma_count_shared - count an event that several contexts see at the same time
 * @counter: member of struct rpcrdma_counters that is never counted by RPCRDMA_COUNT()
 * @n: number to add
 *
 * Context: any.
 */
static inline void rpcrdma_count_shared(u64 *counter, u64 n)
{
	BUILD_BUG_ON(sizeof(*counter) != sizeof(atomic64_t));
	atomic64_add(n, (atomic64_t *)counter);
}

/**
 * rpcrdma_end_of - the reason for the end of a connection with a failed work request
 * @wc: completion of the work request
 * @end: reason to give for a request that was not just flushed
 *
 * Context: any.
 * Return: @end, or RPCRDMA_END_UNKNOWN for a request that was flushed after another failure.
 */
static inline enum rpcrdma_end rpcrdma_end_of(const struct ib_wc *wc, enum rpcrdma_end end)
{
	return wc->status == IB_WC_WR_FLUSH_ERR ? RPCRDMA_END_UNKNOWN : end;
}

/**
 * rpcrdma_latency - the place of a duration in the histogram
 * @time: the duration
 *
 * Context: any.
 * Return: index into latency[], the binary logarithm of @time in nanoseconds.
 */
static inline unsigned long rpcrdma_latency(ktime_t time)
{
	return IS_ENABLED(CONFIG_64BIT) ? __fls(time | 1) : ilog2((u64)time | 1);
}

/**
 * struct rpcrdma_connection - an entry of the files, which is part of a transport
 * @cn_node: node in cs_tree
 * @cn_net: its network namespace, with a reference
 * @cn_number: number that no other entry of this module ever had; 0 while the entry is not added
 * @cn_since: begin of the connection's age, in jiffies: the time at which the entry was added. The
 *	client sets it anew, under cs_lock, whenever it replaces the transport's connection.
 */
struct rpcrdma_connection {
	struct rb_node		cn_node;
	struct net		*cn_net;
	u64			cn_number;
	u64			cn_since;
};

/**
 * struct rpcrdma_net - totals of a network namespace, from net_generic(); guarded by cs_lock
 * @nt_now: number of entries of the namespace
 * @nt_total: number of entries that were ever added
 * @nt_ended: sum of the counters of entries that were removed
 */
struct rpcrdma_net {
	u64			nt_now;
	u64			nt_total;
	struct rpcrdma_counters	nt_ended;
};

/**
 * struct rpcrdma_connections - all connections of a module
 * @cs_side: "client" or "server"
 * @cs_name: name of the folder in debugfs, and of the file in /proc/net
 * @cs_is_client: the module is the client, whose files have a line for reconnects
 * @cs_show: prints the lines that only this module knows, without counters; called under @cs_lock
 * @cs_sum: adds the counters of an entry to a sum; called under @cs_lock
 * @cs_net_operations: operations with rpcrdma_net_begin() and rpcrdma_net_end(), for @cs_net_id and
 *	struct rpcrdma_net
 * @cs_net_id: argument of net_generic(), set by register_pernet_subsys()
 * @cs_lock: guards @cs_tree, @cs_last, every struct rpcrdma_net, and whatever else the module puts
 *	under it. It is taken in process context. Its holder neither allocates nor waits.
 * @cs_tree: tree of struct rpcrdma_connection by cn_number
 * @cs_last: the last number that was used
 * @cs_folder: folder in debugfs
 */
struct rpcrdma_connections {
	const char		*cs_side;
	const char		*cs_name;
	bool			cs_is_client;
	void			(*cs_show)(struct seq_file *seq,
					   const struct rpcrdma_connection *connection);
	void			(*cs_sum)(const struct rpcrdma_connection *connection,
					  struct rpcrdma_counters *sum);
	struct pernet_operations cs_net_operations;
	unsigned int		cs_net_id;
	struct mutex		cs_lock;	/* see above */
	struct rb_root		cs_tree;
	u64			cs_last;
	struct dentry		*cs_folder;
};

/* statistics.c */
void rpcrdma_counters_add(struct rpcrdma_counters *sum, const struct rpcrdma_counters *more);
void rpcrdma_show_number(struct seq_file *seq, const char *name, u64 value);
void rpcrdma_show_text(struct seq_file *seq, const char *name, const char *value);
void rpcrdma_show_address(struct seq_file *seq, const char *name, const struct sockaddr *address,
			  int ifindex);
void rpcrdma_show_agreed(struct seq_file *seq, const struct ib_device *device, u32 port,
			 u32 inline_send, const struct rpcrdma_negotiated *agreed);
int rpcrdma_show_totals(struct rpcrdma_connections *connections, struct seq_file *seq,
			struct net *net);
extern const struct seq_operations rpcrdma_connections_sops;
int rpcrdma_net_begin(struct rpcrdma_connections *connections, struct net *net);
void rpcrdma_net_end(struct rpcrdma_connections *connections, struct net *net);
int rpcrdma_connections_init(struct rpcrdma_connections *connections);
void rpcrdma_connections_exit(struct rpcrdma_connections *connections);
void rpcrdma_connection_add(struct rpcrdma_connections *connections,
			    struct rpcrdma_connection *connection, struct net *net);
void rpcrdma_connection_remove(struct rpcrdma_connections *connections,
			       struct rpcrdma_connection *connection);

#endif /* RPCRDMA_STATISTICS_H */
