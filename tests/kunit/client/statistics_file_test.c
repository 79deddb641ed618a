// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client's statistics files, read while connections come and go, with the reasons of their end.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "../fake/lines.h"
#include "../fake/steps.h"
#include "between.h"
#include "mount.h"

static struct mount *mount_of(struct kunit *test)
{
	return test->priv;
}

static struct lines *read_block(struct kunit *test)
{
	return lines_of_block(test, &xprtrdma_connections,
			      mount_of(test)->transport->xt_connection.cn_number);
}

static struct lines *read_totals(struct kunit *test)
{
	return lines_of_totals(test, &xprtrdma_connections);
}

static void file_shows_a_connection(struct kunit *test)
{
	static const char * const names[] = {
		"peer", "local", "device", "port", "inline_receive", "remote_invalidation",
		"reliable_reply", "credits_in_use", "credits_highest", "waiting_for_credit",
		"waiting_for_send_queue", "waiting_for_region", "waiting_for_read", NULL
	};
	struct mount *mount = mount_of(test);
	struct lines *lines;

	mount_expect_connected(mount);
	lines = read_block(test);
	lines_expect_format(test, lines);
	KUNIT_EXPECT_TRUE(test, lines_has(lines, "side", "client"));
	KUNIT_EXPECT_TRUE(test, lines_has(lines, "state", "established"));
	KUNIT_EXPECT_EQ(test, init_net.ns.inum, lines_number(lines, "netns"));
	KUNIT_EXPECT_EQ(test, mount->transport->xt_conn->xc_inline.inline_send,
			lines_number(lines, "inline_send"));
	KUNIT_EXPECT_EQ(test, 1, lines_number(lines, "credits_granted"));
	lines_expect_names(test, lines, names);
	KUNIT_EXPECT_NULL(test, lines_value(lines, "latency_ns"));
}

static void file_shows_a_connection_that_ends(struct kunit *test)
{
	struct mount *mount = mount_of(test);

	mount_expect_connected(mount);
	KUNIT_ASSERT_FALSE(test, test_and_set_bit(XPRT_LOCKED, &mount->xprt->state));
	xprtrdma_conn_fail(mount->transport->xt_conn, RPCRDMA_END_BAD_MESSAGE);
	KUNIT_EXPECT_TRUE(test, lines_has(read_block(test), "state", "closing"));
	clear_bit_unlock(XPRT_LOCKED, &mount->xprt->state);
}

/* What mountstats has of a transport is in the totals, too. */
static void file_totals_have_all_that_is_counted(struct kunit *test)
{
	struct mount *mount = mount_of(test);
	struct lines *before = read_totals(test), *after;

	mount->xprt->stat.connect_count = 4;
	mount->transport->xt_stats.total_rdma_request += 1000;
	mount->transport->xt_stats.local_inv_needed += 200;
	mount->transport->xt_stats.empty_sendctx_q += 30;
	mount->transport->xt_stats.bad_reply_count += 4;
	after = read_totals(test);
	KUNIT_EXPECT_EQ(test, lines_number(before, "bytes_read") + 1000,
			lines_number(after, "bytes_read"));
	KUNIT_EXPECT_EQ(test, lines_number(before, "regions_invalidated_locally") + 200,
			lines_number(after, "regions_invalidated_locally"));
	KUNIT_EXPECT_EQ(test, lines_number(before, "send_queue_waits") + 30,
			lines_number(after, "send_queue_waits"));
	KUNIT_EXPECT_EQ(test, lines_number(before, "bad_messages") + 4,
			lines_number(after, "bad_messages"));
	KUNIT_EXPECT_EQ(test, lines_number(before, "reconnects") + 3,
			lines_number(after, "reconnects"));
}

static void file_shows_a_transport_without_a_connection(struct kunit *test)
{
	struct lines *lines = read_block(test);

	lines_expect_format(test, lines);
	KUNIT_EXPECT_TRUE(test, lines_has(lines, "state", "disconnected"));
	KUNIT_EXPECT_NULL(test, lines_value(lines, "device"));
}

/* Nothing of a peer, nor of memory, is in what everybody may read. */
static void file_totals_have_no_address(struct kunit *test)
{
	struct lines *lines;

	mount_expect_connected(mount_of(test));
	lines = read_totals(test);
	lines_expect_format(test, lines);
	KUNIT_EXPECT_EQ(test, 1, lines_number(lines, "connections"));
	KUNIT_EXPECT_NULL(test, lines_value(lines, "peer"));
	KUNIT_EXPECT_NULL(test, lines_value(lines, "local"));
	KUNIT_EXPECT_NULL(test, strchr(lines->text, '.'));
}

#define IN6(...)	{ .s6_addr = { __VA_ARGS__ } }

struct address_case {
	const char		*desc;
	struct sockaddr_in6	in6;
	int			ifindex;
	const char		*text;
};

/* Two hosts, each on a link of its own, may have the same link-local address. */
static const struct address_case address_cases[] = {
	{ "with a scope", { .sin6_addr = IN6(0xfe, 0x80, [15] = 1), .sin6_scope_id = 7 }, 2,
	  "[fe80::1%7]:20049" },
	{ "without, over an interface", { .sin6_addr = IN6(0xfe, 0x80, [15] = 1) }, 2,
	  "[fe80::1%2]:20049" },
	{ "without, over none", { .sin6_addr = IN6(0xfe, 0x80, [15] = 1) }, 0,
	  "[fe80::1]:20049" },
	{ "not of a link", { .sin6_addr = IN6(0xfd, 9, [15] = 1), .sin6_scope_id = 7 }, 2,
	  "[fd09::1]:20049" },
};

KUNIT_ARRAY_PARAM_DESC(address, address_cases, desc);

static void file_shows_the_scope_of_an_address(struct kunit *test)
{
	const struct address_case *c = test->param_value;
	struct xprtrdma_transport *transport = mount_of(test)->transport;
	struct sockaddr_in6 in6 = c->in6;
	struct lines *lines = lines_create(test);

	in6.sin6_family = AF_INET6;
	in6.sin6_port = htons(20049);
	rpcrdma_show_address(&lines->seq, "peer", (struct sockaddr *)&in6, c->ifindex);
	KUNIT_EXPECT_TRUE_MSG(test, lines_has(lines, "peer", c->text), "%s", lines->text);

	/* The CM keeps the interface of our own address. */
	mount_expect_connected(mount_of(test));
	memcpy(&transport->xt_conn->xc_id->route.addr.src_addr, &in6, sizeof(in6));
	transport->xt_conn->xc_id->route.addr.dev_addr.bound_dev_if = c->ifindex;
	lines = read_block(test);
	KUNIT_EXPECT_TRUE_MSG(test, lines_has(lines, "local", c->text), "%s", lines->text);
}

struct end_case {
	const char	*desc;
	void		(*lose)(struct mount *mount);
	const char	*name;
};

static void lose_by_event(struct mount *mount)
{
	fake_cm_event(mount->transport->xt_conn->xc_id, RDMA_CM_EVENT_DISCONNECTED);
}

static void lose_by_removal(struct mount *mount)
{
	fake_cm_event(mount->transport->xt_conn->xc_id, RDMA_CM_EVENT_DEVICE_REMOVAL);
}

static void lose_by_receive(struct mount *mount)
{
	fake_recv_fail(&mount->fake->qp, IB_WC_RETRY_EXC_ERR);
}

static void lose_by_flush(struct mount *mount)
{
	fake_recv_fail(&mount->fake->qp, IB_WC_WR_FLUSH_ERR);
}

/* The flush is heard of before the removal that has made it. */
static void lose_by_flush_and_removal(struct mount *mount)
{
	lose_by_flush(mount);
	xprtrdma_conn_fail(mount->transport->xt_conn, RPCRDMA_END_SEND_FAILED);
	lose_by_removal(mount);
}

static void lose_by_two(struct mount *mount)
{
	xprtrdma_conn_fail(mount->transport->xt_conn, RPCRDMA_END_BAD_MESSAGE);
	lose_by_event(mount);
}

static void lose_by_timer(struct mount *mount)
{
	struct rpc_rqst rqst = { .rq_xid = cpu_to_be32(1) };
	struct rpc_task task = { .tk_rqstp = &rqst };

	mount->xprt->ops->timer(mount->xprt, &task);
}

static void lose_by_injection(struct mount *mount)
{
	mod_timer(&mount->xprt->timer, jiffies + 100 * HZ);
	mount->xprt->ops->inject_disconnect(mount->xprt);
}

/* What SUNRPC has left when its timer has run out */
static void lose_by_idling(struct mount *mount)
{
	timer_delete_sync(&mount->xprt->timer);
}

static const struct end_case end_cases[] = {
	{ "peer", lose_by_event, "ended_peer_disconnected" },
	{ "flush", lose_by_flush, "ended_peer_disconnected" },
	{ "device", lose_by_removal, "ended_device_removed" },
	{ "flush, then device", lose_by_flush_and_removal, "ended_device_removed" },
	{ "Receive", lose_by_receive, "ended_receive_failed" },
	{ "the first of two", lose_by_two, "ended_bad_message" },
	{ "no reply", lose_by_timer, "ended_stalled" },
	{ "idle", lose_by_idling, "ended_idle" },
	{ "injected", lose_by_injection, "ended_other" },
};

KUNIT_ARRAY_PARAM_DESC(end, end_cases, desc);

/* How often connections ended, for whatever reason */
static u64 all_ends(const struct mount *mount)
{
	const struct rpcrdma_counters *counters = &mount->transport->xt_counters;
	u64 all = 0;
	int i;

	for (i = 0; i < RPCRDMA_ENDS; i++)
		all += counters->ended[i];
	return all;
}

static void file_says_why_a_connection_ended(struct kunit *test)
{
	const struct end_case *c = test->param_value;
	struct mount *mount = mount_of(test);

	mount_expect_connected(mount);
	KUNIT_EXPECT_EQ(test, 0, all_ends(mount));

	/* Act: nobody closes it in between. */
	KUNIT_ASSERT_FALSE(test, test_and_set_bit(XPRT_LOCKED, &mount->xprt->state));
	c->lose(mount);
	clear_bit(XPRT_CLOSE_WAIT, &mount->xprt->state);
	clear_bit_unlock(XPRT_LOCKED, &mount->xprt->state);
	mount_disconnect(mount);

	/* Assert */
	KUNIT_EXPECT_EQ(test, 1, lines_number(read_block(test), c->name));
	KUNIT_EXPECT_EQ(test, 1, all_ends(mount));
	KUNIT_EXPECT_TRUE(test, lines_has(read_block(test), "state", "disconnected"));
}

static void file_counts_a_refused_attempt(struct kunit *test)
{
	struct mount *mount = mount_of(test);

	fake_cm.plan[FAKE_CM_CONNECT].event = RDMA_CM_EVENT_REJECTED;
	mount_connect(mount);
	KUNIT_EXPECT_EQ(test, 1, lines_number(read_block(test), "ended_connect_refused"));
	KUNIT_EXPECT_EQ(test, 1, all_ends(mount));
}

static void file_keeps_what_has_gone(struct kunit *test)
{
	u64 before = lines_number(read_totals(test), "ended_closed");
	struct mount *mount = mount_of(test);

	mount_expect_connected(mount);
	mount_shut_down(mount);
	KUNIT_ASSERT_TRUE(test, mount_gone(mount));
	KUNIT_EXPECT_EQ(test, before + 1, lines_number(read_totals(test), "ended_closed"));
	KUNIT_EXPECT_EQ(test, 0, lines_number(read_totals(test), "connections"));
}

static struct mount *read_of;

/* The autoclose worker has come to what changes the connection, and waits for the reader. */
static void close_meanwhile(struct client *nobody)
{
	struct xprtrdma_conn *conn = read_of->transport->xt_conn;

	xprt_force_disconnect(read_of->xprt);
	KUNIT_EXPECT_TRUE(read_of->test, eventually(all_ends(read_of) == 1));
	usleep_range(20000, 30000);
	KUNIT_EXPECT_PTR_EQ(read_of->test, conn, READ_ONCE(read_of->transport->xt_conn));
}

/* Nothing that a reader looks at is freed. */
static void file_is_read_while_its_connection_ends(struct kunit *test)
{
	read_of = mount_of(test);
	mount_expect_connected(read_of);
	client_between(AFTER_PULLS_SHOW, close_meanwhile, NULL);
	KUNIT_EXPECT_TRUE(test, lines_has(read_block(test), "state", "established"));
	KUNIT_EXPECT_TRUE(test, client_between_happened());
	flush_work(&read_of->xprt->task_cleanup);
	mount_expect_nothing(read_of);
	KUNIT_EXPECT_TRUE(test, lines_has(read_block(test), "state", "disconnected"));
}

/* ---- many of them ---- */

enum { MANY = 1000 };

static void sum_nothing(const struct rpcrdma_connection *connection, struct rpcrdma_counters *sum)
{
	sum->bad_messages++;
}

/* A side of its own, in the same namespace. */
static struct rpcrdma_connection *many_create(struct kunit *test,
					      struct rpcrdma_connections *side)
{
	struct rpcrdma_connection *many = kunit_kcalloc(test, MANY, sizeof(*many), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, many);
	mutex_init(&side->cs_lock);
	side->cs_sum = sum_nothing;
	side->cs_net_id = xprtrdma_connections.cs_net_id;
	for (i = 0; i < MANY; i++)
		rpcrdma_connection_add(side, &many[i], &init_net);
	return many;
}

/* How far is it from the root of the tree? */
static unsigned int depth_of(const struct rpcrdma_connection *connection)
{
	const struct rb_node *node = &connection->cn_node;
	unsigned int depth = 0;

	while ((node = rb_parent(node)))
		depth++;
	return depth;
}

/*
 * A reader whose buffer takes one entry has to find its place a thousand times. Half of them go
 * meanwhile, each just before it is read.
 */
static void file_reads_on_while_connections_end(struct kunit *test)
{
	struct rpcrdma_connections side = {};
	struct rpcrdma_connection *many = many_create(test, &side), *found;
	struct seq_file seq = { .private = &side };
	unsigned int seen = 0, i;
	loff_t pos = 0;

	for (;;) {
		found = rpcrdma_connections_sops.start(&seq, &pos);
		if (!found) {
			rpcrdma_connections_sops.stop(&seq, NULL);
			break;
		}
		seen++;
		KUNIT_EXPECT_PTR_EQ(test, found, &many[pos - 1]);
		KUNIT_EXPECT_LE(test, depth_of(found), 2 * ilog2(MANY) + 2);
		rpcrdma_connections_sops.next(&seq, found, &pos);
		rpcrdma_connections_sops.stop(&seq, found);
		/* The one that would be the next. */
		if (pos <= MANY)
			rpcrdma_connection_remove(&side, &many[pos - 1]);
	}
	KUNIT_EXPECT_EQ(test, MANY / 2, seen);
	for (i = 0; i < MANY; i++)
		rpcrdma_connection_remove(&side, &many[i]);
	KUNIT_EXPECT_TRUE(test, RB_EMPTY_ROOT(&side.cs_tree));
}

/* The file as a program has it that reads @piece bytes at a time */
struct reading {
	struct file	file;
	struct kiocb	kiocb;
	char		*buffer;
	size_t		piece;
	unsigned int	pieces, blocks;
	char		last;
};

static unsigned int blocks_made;

static void show_nothing(struct seq_file *seq, const struct rpcrdma_connection *connection)
{
	blocks_made++;
}

static struct reading *reading_start(struct kunit *test, struct rpcrdma_connections *side,
				     size_t piece)
{
	struct reading *reading = kunit_kzalloc(test, sizeof(*reading), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, reading);
	reading->buffer = kunit_kzalloc(test, piece, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, reading->buffer);
	reading->piece = piece;
	reading->kiocb.ki_filp = &reading->file;
	KUNIT_ASSERT_EQ(test, 0, seq_open(&reading->file, &rpcrdma_connections_sops));
	((struct seq_file *)reading->file.private_data)->private = side;
	return reading;
}

/* Returns false at the end. A block ends with an empty line. */
static bool read_piece(struct reading *reading)
{
	struct kvec memory = { reading->buffer, reading->piece };
	struct iov_iter to;
	ssize_t length, i;

	iov_iter_kvec(&to, ITER_DEST, &memory, 1, reading->piece);
	length = seq_read_iter(&reading->kiocb, &to);
	for (i = 0; i < length; i++) {
		if (reading->buffer[i] == '\n' && reading->last == '\n')
			reading->blocks++;
		reading->last = reading->buffer[i];
	}
	reading->pieces++;
	return length > 0;
}

struct piece_case {
	const char	*desc;
	size_t		size;
};

static const struct piece_case piece_cases[] = {
	{ "a page", PAGE_SIZE },
	{ "100 bytes", 100 },
};

KUNIT_ARRAY_PARAM_DESC(piece, piece_cases, desc);

unsigned long fake_steps;

/*
 * Each block is made once, or twice if it did not fit into the rest of a buffer; and who reads on
 * finds his place by way of the tree, not by way of all that he has read.
 */
static void file_takes_few_steps(struct kunit *test)
{
	const struct piece_case *c = test->param_value;
	struct rpcrdma_connections side = { .cs_side = "test", .cs_show = show_nothing };
	struct rpcrdma_connection *many = many_create(test, &side);
	struct reading *reading = reading_start(test, &side, c->size);
	unsigned int i;

	blocks_made = 0;
	fake_steps = 0;

	/* Act */
	while (read_piece(reading))
		;

	/* Assert */
	seq_release(NULL, &reading->file);
	KUNIT_EXPECT_EQ(test, MANY, reading->blocks);
	KUNIT_EXPECT_GT(test, reading->pieces, 100);
	KUNIT_EXPECT_LE(test, blocks_made, 2 * MANY);
	KUNIT_EXPECT_GE(test, fake_steps, MANY);
	KUNIT_EXPECT_LE(test, fake_steps, MANY * (2 * ilog2(MANY) + 4));
	for (i = 0; i < MANY; i++)
		rpcrdma_connection_remove(&side, &many[i]);
}

static struct kunit_case file_cases[] = {
	KUNIT_CASE(file_shows_a_connection),
	KUNIT_CASE(file_shows_a_connection_that_ends),
	KUNIT_CASE_PARAM(file_shows_the_scope_of_an_address, address_gen_params),
	KUNIT_CASE(file_totals_have_all_that_is_counted),
	KUNIT_CASE(file_shows_a_transport_without_a_connection),
	KUNIT_CASE(file_totals_have_no_address),
	KUNIT_CASE_PARAM(file_says_why_a_connection_ended, end_gen_params),
	KUNIT_CASE(file_counts_a_refused_attempt),
	KUNIT_CASE(file_keeps_what_has_gone),
	KUNIT_CASE(file_is_read_while_its_connection_ends),
	KUNIT_CASE(file_reads_on_while_connections_end),
	KUNIT_CASE_PARAM(file_takes_few_steps, piece_gen_params),
	{}
};

static struct kunit_suite file_suite = {
	.name = "xprtrdma_statistics_file",
	.suite_init = mount_suite_init,
	.suite_exit = mount_suite_exit,
	.init = mount_init,
	.test_cases = file_cases,
};

kunit_test_suite(file_suite);
