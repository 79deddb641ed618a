// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The connections of a module, and the files that show them: one in debugfs, and one with sums for
 * each network namespace in /proc/net.
 *
 * The position in the file in debugfs is the number of an entry. A reader that goes on finds the
 * entry with that number, or the next one, in a tree. So the time to read the file grows with the
 * number of connections only, and a connection may end between two reads. The lock is held while a
 * buffer is filled, usually of one page, and not while it is copied to the program.
 *
 * An entry exists from rpcrdma_connection_add() to rpcrdma_connection_remove(). The latter takes
 * the lock, so no reader uses the transport afterwards. An entry has a reference to its network
 * namespace, since SUNRPC drops the server's before it frees the transport.
 */
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/proc_fs.h>
#include <linux/seq_file_net.h>
#include <net/netns/generic.h>

#include "statistics.h"

static struct rpcrdma_connection *entry_of(const struct rb_node *node)
{
	return rb_entry(node, struct rpcrdma_connection, cn_node);
}

static bool is_less(struct rb_node *node, const struct rb_node *other)
{
	return entry_of(node)->cn_number < entry_of(other)->cn_number;
}

/* For rb_find_first(): the numbers that are at least @least match it, the smaller ones are left. */
static int is_too_small(const void *least, const struct rb_node *node)
{
	return entry_of(node)->cn_number < *(const u64 *)least;
}

/* Returns the entry of @node, and sets @pos to its number; NULL: there is none. */
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

static int file_show(struct seq_file *seq, void *entry)
{
	rpcrdma_show_connection(seq->private, seq, entry);
	return 0;
}

const struct seq_operations rpcrdma_connections_sops = {
	.start	= file_start,
	.next	= file_next,
	.stop	= file_stop,
	.show	= file_show,
};

DEFINE_SEQ_ATTRIBUTE(rpcrdma_connections);

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
 * There is no file in debugfs in a kernel without it, or in one that is locked down.
 *
 * Context: module init; there is no connection.
 * Return: 0 or a negative errno.
 */
int rpcrdma_connections_init(struct rpcrdma_connections *connections)
{
	int ret = register_pernet_subsys(&connections->cs_net_operations);

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
