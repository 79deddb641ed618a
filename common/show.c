// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The lines of the files: a name, a space, a value. Documentation/statistics.rst explains each
 * name, and scripts/check makes sure that none is missing there.
 */
#include <linux/jiffies.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>

#include "statistics.h"

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
		to[i] += data_race(from[i]);	/* It may change meanwhile. */
}

/**
 * rpcrdma_show_number - print a line with a number
 * @seq: the file
 * @name: name of the line
 * @value: the number
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
 */
void rpcrdma_show_text(struct seq_file *seq, const char *name, const char *value)
{
	seq_printf(seq, "%s %s\n", name, value);
}

/**
 * rpcrdma_show_bool - print a line with "yes" or "no"
 * @seq: the file
 * @name: name of the line
 * @value: true for "yes"
 */
void rpcrdma_show_bool(struct seq_file *seq, const char *name, bool value)
{
	rpcrdma_show_text(seq, name, value ? "yes" : "no");
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
 */
void rpcrdma_show_agreed(struct seq_file *seq, const struct ib_device *device, u32 port,
			 u32 inline_send, const struct rpcrdma_negotiated *agreed)
{
	rpcrdma_show_text(seq, "device", device->name);
	rpcrdma_show_number(seq, "port", port);
	rpcrdma_show_number(seq, "inline_send", inline_send);
	rpcrdma_show_number(seq, "inline_receive", agreed->inline_recv);
	rpcrdma_show_bool(seq, "remote_invalidation", agreed->remote_invalidation);
	rpcrdma_show_bool(seq, "reliable_reply", agreed->read_chunk_replies);
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

/**
 * rpcrdma_show_connection - print the block of lines of a connection
 * @connections: connections of the module
 * @seq: the file
 * @connection: entry of the connection
 *
 * Context: process; the caller holds cs_lock.
 */
void rpcrdma_show_connection(struct rpcrdma_connections *connections, struct seq_file *seq,
			     const struct rpcrdma_connection *connection)
{
	struct rpcrdma_counters sum = {};

	lockdep_assert_held(&connections->cs_lock);
	/* What is printed may change meanwhile. */
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
}

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
		connection = rb_entry(node, struct rpcrdma_connection, cn_node);
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
