// SPDX-License-Identifier: GPL-2.0
/*
 * Which connections there are, and the file that goes through them.
 *
 * Operation. The file's position is a number: whoever reads on looks for the entry with that
 * number or the next one, in a tree, so that a thousand connections take a thousand times what one
 * takes, and one that ends meanwhile does no harm. The lock is held while a buffer is
 * filled, a page as a rule, and not while a program is given it: a reader keeps nobody for long.
 *
 * An entry is there from rpcrdma_connection_add() to rpcrdma_connection_remove(), which waits for
 * the lock: after that nobody looks at the transport that it is a part of. It has a reference to
 * its network namespace: SUNRPC drops a server's before it frees the transport.
 */
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <net/netns/generic.h>

#include "statistics.h"

/* The first entry with @number or a greater one. */
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
 * rpcrdma_connections_file - make the file in debugfs
 * @connections: all of a side
 *
 * A kernel without debugfs, or one that is locked down, has none.
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
 * rpcrdma_connections_no_file - remove it, and wait for those who read
 * @connections: all of a side
 *
 * Context: module exit.
 */
void rpcrdma_connections_no_file(struct rpcrdma_connections *connections)
{
	debugfs_remove(connections->cs_folder);
}

/**
 * rpcrdma_net_init - a network namespace has no connections yet
 * @totals: of the namespace
 *
 * Context: process.
 */
void rpcrdma_net_init(struct rpcrdma_net *totals)
{
	INIT_LIST_HEAD(&totals->nt_connections);
}

/* Numbers only grow. */
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
 * rpcrdma_connection_add - from now on the files have it
 * @connections: all of a side
 * @connection: all zeros
 * @net: its network namespace; a reference is taken
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
 * rpcrdma_connection_remove - it has gone; what was counted of it stays
 * @connections: all of a side
 * @connection: that was added, or was not; nobody counts any more
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
