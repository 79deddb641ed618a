// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The connections of a module, and the file in debugfs that shows them.
 *
 * The position in the file is the number of an entry. A reader that goes on finds the entry with
 * that number, or the next one, in a tree. So the time to read the file grows with the number of
 * connections only, and a connection may end between two reads. The lock is held while a buffer is
 * filled, usually of one page, and not while it is copied to the program.
 *
 * An entry exists from rpcrdma_connection_add() to rpcrdma_connection_remove(). The latter takes
 * the lock, so no reader uses the transport afterwards. An entry has a reference to its network
 * namespace, since SUNRPC drops the server's before it frees the transport.
 */
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <net/netns/generic.h>

#include "statistics.h"

/* The entry with the smallest number that is at least @number */
static struct rpcrdma_connection *find(const struct rpcrdma_connections *connections, u64 number)
{
	struct rb_node *node = connections->cs_tree.rb_node;
	struct rpcrdma_connection *connection, *found = NULL;

	while (node) {
		connection = rb_entry(node, struct rpcrdma_connection, cn_node);
		if (connection->cn_number < number) {
			node = node->rb_right;
		} else {
			found = connection;
			node = node->rb_left;
		}
	}
	return found;
}

static void *file_start(struct seq_file *seq, loff_t *pos)
{
	struct rpcrdma_connections *connections = seq->private;
	struct rpcrdma_connection *connection;

	mutex_lock(&connections->cs_lock);
	connection = find(connections, *pos);
	if (connection)
		*pos = connection->cn_number;
	return connection;
}

static void *file_next(struct seq_file *seq, void *entry, loff_t *pos)
{
	struct rpcrdma_connection *connection = entry;
	struct rb_node *node = rb_next(&connection->cn_node);

	*pos = connection->cn_number + 1;
	if (!node)
		return NULL;
	connection = rb_entry(node, struct rpcrdma_connection, cn_node);
	*pos = connection->cn_number;
	return connection;
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

/**
 * rpcrdma_connections_file - create the file in debugfs
 * @connections: connections of the module
 *
 * There is no file in a kernel without debugfs, or in one that is locked down.
 *
 * Context: module init.
 */
void rpcrdma_connections_file(struct rpcrdma_connections *connections)
{
	connections->cs_folder = debugfs_create_dir(connections->cs_name, NULL);
	debugfs_create_file("connections", 0400, connections->cs_folder, connections,
			    &rpcrdma_connections_fops);
}

/**
 * rpcrdma_connections_remove_file - remove the file, and wait for its readers
 * @connections: connections of the module
 *
 * Context: module exit.
 */
void rpcrdma_connections_remove_file(struct rpcrdma_connections *connections)
{
	debugfs_remove(connections->cs_folder);
}

/**
 * rpcrdma_net_init - initialize the totals of a new network namespace
 * @totals: the zeroed totals
 *
 * Context: process.
 */
void rpcrdma_net_init(struct rpcrdma_net *totals)
{
	INIT_LIST_HEAD(&totals->nt_connections);
}

/* The entry has the largest number of all. */
static void insert_last(struct rb_root *tree, struct rpcrdma_connection *connection)
{
	struct rb_node **link = &tree->rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = &parent->rb_right;
	}
	rb_link_node(&connection->cn_node, parent, link);
	rb_insert_color(&connection->cn_node, tree);
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
	insert_last(&connections->cs_tree, connection);
	list_add_tail(&connection->cn_list, &totals->nt_connections);
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
	list_del(&connection->cn_list);
	totals->nt_now--;
	connections->cs_sum(connection, &totals->nt_ended);
	connection->cn_number = 0;
	mutex_unlock(&connections->cs_lock);
	put_net(connection->cn_net);
}
