// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Files about the server's connections: /sys/kernel/debug/svcrdma/connections has a block for each
 * connection, and /proc/net/svcrdma has the sums over a network namespace.
 *
 * A connection is in these files from its accept until nothing can be counted any more, which is
 * before its memory is freed. A connection that still waits for accept is not.
 *
 * Each processor has its own copy of a connection's counters, as threads of nfsd change some of
 * these for each reply. If all of them changed the same cache line, each would have to wait for
 * it.
 */
#include "svcrdma.h"

static struct svcrdma_transport *transport_of(const struct rpcrdma_connection *connection)
{
	return container_of(connection, struct svcrdma_transport, st_connection);
}

static const char *state_of(const struct svcrdma_transport *t)
{
	if (READ_ONCE(t->st_closing))
		return "closing";
	return t->st_state == RPCRDMA_CONN_ESTABLISHED ? "established" : "connecting";
}

static void connection_show(struct seq_file *seq, const struct rpcrdma_connection *connection)
{
	struct svcrdma_transport *t = transport_of(connection);
	const struct rdma_addr *address = &t->st_id->route.addr;
	int ifindex = address->dev_addr.bound_dev_if;

	rpcrdma_show_address(seq, "peer", (const struct sockaddr *)&address->dst_addr, ifindex);
	rpcrdma_show_address(seq, "local", (const struct sockaddr *)&address->src_addr, ifindex);
	rpcrdma_show_text(seq, "state", state_of(t));
	rpcrdma_show_agreed(seq, t->st_id->device, t->st_port, t->st_inline_send, &t->st_agreed);
	svcrdma_grant_show(seq, t);
	svcrdma_sq_show(seq, t);
	svcrdma_reads_show(seq, t);
}

static void connection_sum(const struct rpcrdma_connection *connection,
			   struct rpcrdma_counters *sum)
{
	const struct svcrdma_transport *t = transport_of(connection);
	int cpu;

	for_each_possible_cpu(cpu)
		rpcrdma_counters_add(sum, per_cpu_ptr(t->st_counters, cpu));
}

static int net_begin(struct net *net)
{
	return rpcrdma_net_begin(&svcrdma_connections, net);
}

static void net_end(struct net *net)
{
	rpcrdma_net_end(&svcrdma_connections, net);
}

struct rpcrdma_connections svcrdma_connections = {
	.cs_side	= "server",
	.cs_name	= "svcrdma",
	.cs_show	= connection_show,
	.cs_sum		= connection_sum,
	.cs_net_operations = {
		.init	= net_begin,
		.exit	= net_end,
		.id	= &svcrdma_connections.cs_net_id,
		.size	= sizeof(struct rpcrdma_net),
	},
};

/**
 * svcrdma_connection_add - show a connection in the files, and allocate its counters
 * @t: transport that is about to be accepted, with all verbs objects and credits
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int svcrdma_connection_add(struct svcrdma_transport *t)
{
	t->st_counters = alloc_percpu(struct rpcrdma_counters);
	if (!t->st_counters)
		return -ENOMEM;
	rpcrdma_connection_add(&svcrdma_connections, &t->st_connection, t->st_xprt.xpt_net);
	return 0;
}

/**
 * svcrdma_connection_remove - remove a connection from the files before it is freed
 * @t: transport whose queue pair is drained, and which may or may not have been added
 *
 * Context: process.
 */
void svcrdma_connection_remove(struct svcrdma_transport *t)
{
	if (!t->st_counters)
		return;
	this_cpu_inc(t->st_counters->ended[READ_ONCE(t->st_end)]);
	rpcrdma_connection_remove(&svcrdma_connections, &t->st_connection);
	free_percpu(t->st_counters);
}

/**
 * svcrdma_connection_note_quiesce - note a reason for the end of a connection, if there is none yet
 * @t: transport
 *
 * If the connection is closing and no reason was noted, work requests were flushed, since the peer
 * is gone. Otherwise nfsd closes the connection: because it was not used for some minutes, or
 * because nfsd stops.
 *
 * Context: process; before svcrdma_sq_close().
 */
void svcrdma_connection_note_quiesce(struct svcrdma_transport *t)
{
	enum rpcrdma_end why = RPCRDMA_END_CLOSED;

	if (READ_ONCE(t->st_closing))
		why = RPCRDMA_END_PEER_DISCONNECTED;
	else if (test_bit(XPT_OLD, &t->st_xprt.xpt_flags))
		why = RPCRDMA_END_IDLE;
	svcrdma_connection_note_end(t, why);
}
