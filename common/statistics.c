// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The connections of a module, and the files that show them: one in debugfs, and one with sums for
 * each network namespace in /proc/net. A line of these files is a name, a space, and a value.
 * Documentation/statistics.rst explains each name, and scripts/check makes sure that none is
 * missing there.
 *
 * The position in the file in debugfs is the number of an entry. A reader that goes on finds the
 * entry with that number, or the next one, in a tree. So the time to read the file grows with the
 * number of connections only, and a connection may end between two reads. The lock is held while a
 * buffer is filled, usually of one page, and not while the buffer is copied to the program.
 *
 * An entry exists from rpcrdma_connection_add() to rpcrdma_connection_remove(). The latter takes
 * the lock, so no reader uses the transport afterwards. An entry has a reference to its network
 * namespace, since SUNRPC drops the server's before it frees the transport.
 */
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/proc_fs.h>
#include <linux/seq_file_net.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>

#include "statistics.h"

/* ---- the lines ---- */

#define MEMBER(member)	{ #member, offsetof(struct rpcrdma_counters, member) }
#define CALLS(member, shape)	\
	{ #member, offsetof(struct rpcrdma_counters, calls[RPCRDMA_SHAPE_##shape]) }

static const struct {
	const char	*name;
	size_t		offset;
} members[] = {
	CALLS(calls_inline, INLINE),
	CALLS(calls_read, READ),
	CALLS(calls_write, WRITE),
	CALLS(calls_reply_chunk, REPLY_CHUNK),
	CALLS(calls_long, LONG),
	CALLS(calls_exposed, EXPOSED),
	MEMBER(calls_reverse),
	MEMBER(bytes_sent_inline),
	MEMBER(bytes_received_inline),
	MEMBER(bytes_read),
	MEMBER(bytes_written),
	MEMBER(regions_registered),
	MEMBER(regions_invalidated_locally),
	MEMBER(regions_invalidated_remotely),
	MEMBER(send_queue_waits),
	MEMBER(errors_sent_vers),
	MEMBER(errors_sent_chunk),
	MEMBER(errors_received_vers),
	MEMBER(errors_received_chunk),
	MEMBER(bad_messages),
};

static const char *const ended[RPCRDMA_ENDS] = {
	[RPCRDMA_END_PEER_DISCONNECTED]	= "ended_peer_disconnected",
	[RPCRDMA_END_IDLE]		= "ended_idle",
	[RPCRDMA_END_STALLED]		= "ended_stalled",
	[RPCRDMA_END_DEVICE_REMOVED]	= "ended_device_removed",
	[RPCRDMA_END_SEND_FAILED]	= "ended_send_failed",
	[RPCRDMA_END_RECEIVE_FAILED]	= "ended_receive_failed",
	[RPCRDMA_END_BAD_MESSAGE]	= "ended_bad_message",
	[RPCRDMA_END_CONNECT_REFUSED]	= "ended_connect_refused",
	[RPCRDMA_END_CONNECT_FAILED]	= "ended_connect_failed",
	[RPCRDMA_END_CLOSED]		= "ended_closed",
	[RPCRDMA_END_FENCE_FAILED]	= "ended_fence_failed",
	[RPCRDMA_END_OTHER]		= "ended_other",
};

/**
 * rpcrdma_counters_add - add counters to a sum
 * @sum: the sum
 * @more: the counters, which may change at the same time
 *
 * Context: any.
 */
void rpcrdma_counters_add(struct rpcrdma_counters *sum, const struct rpcrdma_counters *more)
{
	const u64 *from = (const u64 *)more;
	u64 *to = (u64 *)sum;
	size_t i;

	for (i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += data_race(from[i]);	/* An event may be counted meanwhile. */
}

/**
 * rpcrdma_show_number - print a line with a number
 * @seq: the file
 * @name: name of the line
 * @value: the number
 *
 * Context: process.
 */
void rpcrdma_show_number(struct seq_file *seq, const char *name, u64 value)
{
	seq_printf(seq, "%s %llu\n", name, value);
}

/**
 * rpcrdma_show_text - print a line with a word
 * @seq: the file
 * @name: name of the line
 * @value: the word
 *
 * Context: process.
 */
void rpcrdma_show_text(struct seq_file *seq, const char *name, const char *value)
{
	seq_printf(seq, "%s %s\n", name, value);
}

/* A link-local address needs its scope, which the CM keeps outside of the address. */
static u32 scope_of(const struct sockaddr *address, int ifindex)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;

	if (address->sa_family != AF_INET6 ||
	    !(ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL))
		return 0;
	return in6->sin6_scope_id ?: ifindex;
}

/**
 * rpcrdma_show_address - print a line with an address and a port
 * @seq: the file
 * @name: name of the line
 * @address: an IPv4 or IPv6 address
 * @ifindex: index of the interface, for a link-local address without a scope
 *
 * Context: process.
 */
void rpcrdma_show_address(struct seq_file *seq, const char *name, const struct sockaddr *address,
			  int ifindex)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
	u32 scope = scope_of(address, ifindex);

	if (scope)
		seq_printf(seq, "%s [%pI6c%%%u]:%u\n", name, &in6->sin6_addr, scope,
			   ntohs(in6->sin6_port));
	else
		seq_printf(seq, "%s %pISpc\n", name, address);
}

/**
 * rpcrdma_show_agreed - print the lines of a device, and of what both peers have agreed on
 * @seq: the file
 * @device: the device
 * @port: number of its port
 * @inline_send: largest message in bytes that is sent now
 * @agreed: what both peers have agreed on
 *
 * Context: process.
 */
void rpcrdma_show_agreed(struct seq_file *seq, const struct ib_device *device, u32 port,
			 u32 inline_send, const struct rpcrdma_negotiated *agreed)
{
	rpcrdma_show_text(seq, "device", device->name);
	rpcrdma_show_number(seq, "port", port);
	rpcrdma_show_number(seq, "inline_send", inline_send);
	rpcrdma_show_number(seq, "inline_receive", agreed->inline_recv);
	rpcrdma_show_text(seq, "remote_invalidation", agreed->remote_invalidation ? "yes" : "no");
	rpcrdma_show_text(seq, "reliable_reply", agreed->read_chunk_replies ? "yes" : "no");
}

static void show_latencies(struct seq_file *seq, const u64 *latency)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < RPCRDMA_LATENCIES; i++) {
		if (!latency[i])
			continue;
		if (!any)
			seq_puts(seq, "latency_ns");
		any = true;
		seq_printf(seq, " %llu:%llu", 1ULL << i, latency[i]);
	}
	if (any)
		seq_putc(seq, '\n');
}

static void show_counters(const struct rpcrdma_connections *connections, struct seq_file *seq,
			  const struct rpcrdma_counters *sum)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(members); i++)
		rpcrdma_show_number(seq, members[i].name,
				    *(const u64 *)((const u8 *)sum + members[i].offset));
	if (connections->cs_is_client)
		rpcrdma_show_number(seq, "reconnects", sum->reconnects);
	for (i = 0; i < RPCRDMA_ENDS; i++)
		if (ended[i] && sum->ended[i])
			rpcrdma_show_number(seq, ended[i], sum->ended[i]);
	show_latencies(seq, sum->latency);
}

static void show_age(struct seq_file *seq, const struct rpcrdma_connection *connection)
{
	u64 age = jiffies64_to_msecs(get_jiffies_64() - connection->cn_since);
	u32 rest = do_div(age, 1000);

	seq_printf(seq, "%s %llu.%u\n", "age_seconds", age, rest / 100);
}

/* ---- the connections, and their files ---- */

static struct rpcrdma_connection *entry_of(const struct rb_node *node)
{
	return rb_entry(node, struct rpcrdma_connection, cn_node);
}

static bool is_less(struct rb_node *node, const struct rb_node *other)
{
	return entry_of(node)->cn_number < entry_of(other)->cn_number;
}

/* For rb_find_first(): an entry matches, by 0, if its number is at least @least. */
static int is_too_small(const void *least, const struct rb_node *node)
{
	return entry_of(node)->cn_number < *(const u64 *)least;
}

/* Returns the entry of @node, and sets @pos to its number. Returns NULL if @node is NULL. */
static void *file_at(const struct rb_node *node, loff_t *pos)
{
	if (!node)
		return NULL;
	*pos = entry_of(node)->cn_number;
	return entry_of(node);
}

static void *file_start(struct seq_file *seq, loff_t *pos)
{
	struct rpcrdma_connections *connections = seq->private;
	u64 least = *pos;

	mutex_lock(&connections->cs_lock);
	return file_at(rb_find_first(&least, &connections->cs_tree, is_too_small), pos);
}

static void *file_next(struct seq_file *seq, void *entry, loff_t *pos)
{
	struct rpcrdma_connection *connection = entry;

	*pos = connection->cn_number + 1;
	return file_at(rb_next(&connection->cn_node), pos);
}

static void file_stop(struct seq_file *seq, void *entry)
{
	struct rpcrdma_connections *connections = seq->private;

	mutex_unlock(&connections->cs_lock);
}

/* Prints the block of lines of a connection, under cs_lock. */
static int file_show(struct seq_file *seq, void *entry)
{
	struct rpcrdma_connections *connections = seq->private;
	struct rpcrdma_connection *connection = entry;
	struct rpcrdma_counters sum = {};

	/* KCSAN would report the counters, which may change while they are printed. */
	kcsan_disable_current();
	rpcrdma_show_number(seq, "connection", connection->cn_number);
	rpcrdma_show_text(seq, "side", connections->cs_side);
	rpcrdma_show_number(seq, "netns", connection->cn_net->ns.inum);
	show_age(seq, connection);
	connections->cs_show(seq, connection);
	connections->cs_sum(connection, &sum);
	show_counters(connections, seq, &sum);
	seq_putc(seq, '\n');
	kcsan_enable_current();
	return 0;
}

const struct seq_operations rpcrdma_connections_sops = {
	.start	= file_start,
	.next	= file_next,
	.stop	= file_stop,
	.show	= file_show,
};

DEFINE_SEQ_ATTRIBUTE(rpcrdma_connections);

/**
 * rpcrdma_show_totals - print the file of a network namespace
 * @connections: connections of the module
 * @seq: the file
 * @net: the network namespace
 *
 * Context: process.
 * Return: 0.
 */
int rpcrdma_show_totals(struct rpcrdma_connections *connections, struct seq_file *seq,
			struct net *net)
{
	struct rpcrdma_net *totals = net_generic(net, connections->cs_net_id);
	struct rpcrdma_connection *connection;
	struct rpcrdma_counters sum;
	struct rb_node *node;

	mutex_lock(&connections->cs_lock);
	kcsan_disable_current();
	sum = totals->nt_ended;
	/* A namespace without connections does not pay for those of others. */
	node = totals->nt_now ? rb_first(&connections->cs_tree) : NULL;
	for (; node; node = rb_next(node)) {
		connection = entry_of(node);
		if (connection->cn_net == net)
			connections->cs_sum(connection, &sum);
	}
	rpcrdma_show_number(seq, "connections", totals->nt_now);
	rpcrdma_show_number(seq, "connections_total", totals->nt_total);
	kcsan_enable_current();
	mutex_unlock(&connections->cs_lock);
	show_counters(connections, seq, &sum);
	return 0;
}

static int totals_show(struct seq_file *seq, void *unused)
{
	return rpcrdma_show_totals(pde_data(file_inode(seq->file)), seq, seq_file_single_net(seq));
}

/**
 * rpcrdma_net_begin - create the file of a new network namespace in /proc/net
 * @connections: connections of the module
 * @net: the network namespace
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int rpcrdma_net_begin(struct rpcrdma_connections *connections, struct net *net)
{
	return proc_create_net_single(connections->cs_name, 0444, net->proc_net, totals_show,
				      connections) ? 0 : -ENOMEM;
}

/**
 * rpcrdma_net_end - remove the file of a network namespace, and wait for its readers
 * @connections: connections of the module
 * @net: the network namespace
 *
 * Context: process.
 */
void rpcrdma_net_end(struct rpcrdma_connections *connections, struct net *net)
{
	remove_proc_entry(connections->cs_name, net->proc_net);
}

/**
 * rpcrdma_connections_init - create the files about connections
 * @connections: connections of the module
 *
 * A kernel without debugfs has no file there, and a kernel that is locked down may refuse to open
 * that file.
 *
 * Context: module init; there is no connection.
 * Return: 0 or a negative errno.
 */
int rpcrdma_connections_init(struct rpcrdma_connections *connections)
{
	int ret;

	mutex_init(&connections->cs_lock);
	ret = register_pernet_subsys(&connections->cs_net_operations);
	if (ret)
		return ret;
	connections->cs_folder = debugfs_create_dir(connections->cs_name, NULL);
	debugfs_create_file("connections", 0400, connections->cs_folder, connections,
			    &rpcrdma_connections_fops);
	return 0;
}

/**
 * rpcrdma_connections_exit - remove the files about connections, and wait for their readers
 * @connections: connections of the module
 *
 * Context: module exit; there is no connection.
 */
void rpcrdma_connections_exit(struct rpcrdma_connections *connections)
{
	debugfs_remove(connections->cs_folder);
	unregister_pernet_subsys(&connections->cs_net_operations);
}

/**
 * rpcrdma_connection_add - let the files show a connection
 * @connections: connections of the module
 * @connection: its zeroed entry
 * @net: its network namespace, of which a reference is taken
 *
 * Context: process.
 */
void rpcrdma_connection_add(struct rpcrdma_connections *connections,
			    struct rpcrdma_connection *connection, struct net *net)
{
	struct rpcrdma_net *totals = net_generic(net, connections->cs_net_id);

	mutex_lock(&connections->cs_lock);
	connection->cn_net = get_net(net);
	connection->cn_number = ++connections->cs_last;
	connection->cn_since = get_jiffies_64();
	rb_add(&connection->cn_node, &connections->cs_tree, is_less);
	totals->nt_now++;
	totals->nt_total++;
	mutex_unlock(&connections->cs_lock);
}

/**
 * rpcrdma_connection_remove - remove a connection, and keep its counters in the totals
 * @connections: connections of the module
 * @connection: its entry, in which nobody counts any more; it may never have been added
 *
 * Context: process.
 */
void rpcrdma_connection_remove(struct rpcrdma_connections *connections,
			       struct rpcrdma_connection *connection)
{
	struct rpcrdma_net *totals;

	if (!connection->cn_number)
		return;
	totals = net_generic(connection->cn_net, connections->cs_net_id);
	mutex_lock(&connections->cs_lock);
	rb_erase(&connection->cn_node, &connections->cs_tree);
	totals->nt_now--;
	connections->cs_sum(connection, &totals->nt_ended);
	connection->cn_number = 0;
	mutex_unlock(&connections->cs_lock);
	put_net(connection->cn_net);
}
