// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Knobs under /proc/sys/sunrpc and the line in mountstats. Scripts and nfs-utils use those of the
 * in-tree transport. So each knob of that transport is here under the same name, and takes at least
 * the same values; and the line has the same values in the same order.
 */
#include <linux/seq_file.h>

#include <common/sysctl.h>

#include "xprtrdma.h"

unsigned int xprtrdma_slot_table_entries = 128;
unsigned int xprtrdma_max_inline_read = RPCRDMA_INLINE_USUAL;
unsigned int xprtrdma_max_inline_write = RPCRDMA_INLINE_USUAL;
unsigned int xprtrdma_reliable_reply = 1;
unsigned int xprtrdma_ask_config;

/*
 * Counters of all mounts: calls that offered no memory for a large reply, and replies that were
 * then read from the server (Documentation/reliable-reply.rst). A lost increment is accepted.
 */
unsigned long xprtrdma_replies_open;
unsigned long xprtrdma_replies_pulled;

/* Knobs that can be read and written, but have no effect, as in the in-tree transport. */
static unsigned int write_padding;
static unsigned int memreg_strategy = 5;	/* fast registration */
static int pad_optimize;

static struct ctl_table_header *table_header;

#define KNOB(name, variable, low, high)	\
	RPCRDMA_SYSCTL_RANGE(name, variable, proc_douintvec_minmax, low, high)

#define COUNTER(name, counter)	RPCRDMA_SYSCTL(name, counter, proc_doulongvec_minmax)

static struct ctl_table knobs[] = {
	KNOB("rdma_slot_table_entries", xprtrdma_slot_table_entries, 4, 16384),
	KNOB("rdma_max_inline_read", xprtrdma_max_inline_read,
	     RPCRDMA_INLINE_MIN, RPCRDMA_INLINE_MAX),
	KNOB("rdma_max_inline_write", xprtrdma_max_inline_write,
	     RPCRDMA_INLINE_MIN, RPCRDMA_INLINE_MAX),
	KNOB("rdma_inline_write_padding", write_padding, 0, PAGE_SIZE),
	KNOB("rdma_memreg_strategy", memreg_strategy, 0, 6),
	RPCRDMA_SYSCTL("rdma_pad_optimize", pad_optimize, proc_dointvec),
	KNOB("rdma_reliable_reply", xprtrdma_reliable_reply, 0, 1),
	KNOB("rdma_ask_config", xprtrdma_ask_config, 0, 1),
	COUNTER("rdma_replies_open", xprtrdma_replies_open),
	COUNTER("rdma_replies_pulled", xprtrdma_replies_pulled),
};

/**
 * xprtrdma_sysctl_register - make the knobs appear
 *
 * Context: module init.
 * Return: 0; or -EEXIST when another module has files of these names, or memory is short.
 */
int xprtrdma_sysctl_register(void)
{
	table_header = register_sysctl("sunrpc", knobs);
	return table_header ? 0 : -EEXIST;
}

/**
 * xprtrdma_sysctl_unregister - make the knobs disappear
 *
 * Context: module exit.
 */
void xprtrdma_sysctl_unregister(void)
{
	unregister_sysctl_table(table_header);
}

/**
 * xprtrdma_stats_print - ->print_stats: write the transport's line of mountstats
 * @xprt: the transport
 * @seq: file to be written to
 *
 * The line has 27 values. The first value is a local port, which RDMA does not have. The last one
 * counts replies that waited for the end of a Send, which no reply does here. Both are 0.
 *
 * Context: process.
 */
void xprtrdma_stats_print(struct rpc_xprt *xprt, struct seq_file *seq)
{
	const struct xprtrdma_stats *st = &xprtrdma_transport_of(xprt)->xt_stats;
	long idle = 0;

	/* KCSAN would report the counters, and last_used, which others write without a lock. */
	kcsan_disable_current();
	if (xprt_connected(xprt))
		idle = (long)(jiffies - xprt->last_used) / HZ;

	seq_puts(seq, "\txprt:\trdma ");
	seq_printf(seq, "%u %lu %lu %lu %ld %lu %lu %lu %llu %llu ",
		   0, xprt->stat.bind_count, xprt->stat.connect_count,
		   xprt->stat.connect_time / HZ, idle, xprt->stat.sends,
		   xprt->stat.recvs, xprt->stat.bad_xids, xprt->stat.req_u,
		   xprt->stat.bklog_u);
	seq_printf(seq, "%lu %lu %lu %llu %llu %llu %llu %lu %lu %lu %lu ",
		   st->read_chunk_count, st->write_chunk_count,
		   st->reply_chunk_count, st->total_rdma_request,
		   st->total_rdma_reply, st->pullup_copy_count,
		   st->fixup_copy_count, st->hardway_register_count,
		   st->failed_marshal_count, st->bad_reply_count,
		   st->nomsg_call_count);
	seq_printf(seq, "%lu %lu %lu %lu %lu %lu\n", st->mrs_recycled,
		   st->mrs_orphaned, st->mrs_allocated, st->local_inv_needed,
		   st->empty_sendctx_q, 0UL);
	kcsan_enable_current();
}
