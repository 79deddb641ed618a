// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Settings and counters in /proc/sys/sunrpc/svc_rdma, under the names that scripts and nfs-utils
 * use. A setting takes effect for connections that are made afterwards, but max_credits_total,
 * exposed_reply_seconds and max_exposed_bytes take effect at once.
 */
#include <common/sysctl.h>
#include <rpcrdma/protocol.h>

#include "sysctl.h"

unsigned int svcrdma_max_requests = 128;
unsigned int svcrdma_max_credits_total;		/* 0: as memory allows, see budget.c */
unsigned int svcrdma_max_req_size = RPCRDMA_INLINE_USUAL;
unsigned int svcrdma_ord = 16;
unsigned int svcrdma_reliable_reply = 1;
unsigned int svcrdma_serve_msgp;
unsigned int svcrdma_answer_config;
unsigned int svcrdma_expose_timeout = 30;	/* seconds */
unsigned int svcrdma_max_exposed_bytes = 64 << 20;

DEFINE_PER_CPU(struct svcrdma_stats, svcrdma_stats);
/* Sums of the counters at the last write to each file; counter_handler() subtracts them. */
static struct svcrdma_stats at_last_write;

static unsigned int stat_unused;

/* Return: @cpu's copy of a row's counter. The row's data is the counter's offset in the struct. */
static unsigned long *counter_of(const struct ctl_table *row, int cpu)
{
	return (void *)per_cpu_ptr(&svcrdma_stats, cpu) + (uintptr_t)row->data;
}

/*
 * A read gives the sum over all processors, less the sum at the last write. A write does not clear
 * the copies: this_cpu_inc() is not atomic for other processors, so only the processor itself may
 * change its copy.
 */
static int counter_handler(compat_ctl_table *table, int write, void *buffer,
			   size_t *lenp, loff_t *ppos)
{
	unsigned long *begin = (void *)&at_last_write + (uintptr_t)table->data, value = 0;
	struct ctl_table sum = {
		.data	= &value,
		.maxlen	= sizeof(value),
		.mode	= table->mode,
	};
	int cpu;

	for_each_possible_cpu(cpu)
		value += READ_ONCE(*counter_of(table, cpu));
	if (write) {
		WRITE_ONCE(*begin, value);
		*ppos += *lenp;
		return 0;
	}
	value -= READ_ONCE(*begin);
	return proc_doulongvec_minmax(&sum, 0, buffer, lenp, ppos);
}

#define KNOB(name, variable, low, high)	\
	RPCRDMA_SYSCTL_RANGE(name, variable, proc_dointvec_minmax, low, high)

#define COUNTER(name, member)							\
	{									\
		.procname	= name,						\
		.data		= (void *)offsetof(struct svcrdma_stats, member), \
		.mode		= 0644,						\
		.proc_handler	= counter_handler,				\
	}

/* A counter that nothing changes; it is kept because scripts read and reset it. */
#define DEAD_COUNTER(name)	KNOB(name, stat_unused, 0, 0)

static struct ctl_table svcrdma_table[] = {
	KNOB("max_requests", svcrdma_max_requests, SVCRDMA_MIN_REQUESTS, 16384),
	KNOB("max_credits_total", svcrdma_max_credits_total, 0, INT_MAX),
	KNOB("max_req_size", svcrdma_max_req_size, SVCRDMA_MIN_REQ_SIZE, 65536),
	KNOB("max_outbound_read_requests", svcrdma_ord, 1, 255),
	KNOB("reliable_reply", svcrdma_reliable_reply, 0, 1),
	KNOB("exposed_reply_seconds", svcrdma_expose_timeout, 1, 3600),
	KNOB("max_exposed_bytes", svcrdma_max_exposed_bytes, 0, INT_MAX),
	KNOB("serve_msgp", svcrdma_serve_msgp, 0, 1),
	KNOB("answer_config", svcrdma_answer_config, 0, 1),
	COUNTER("rdma_stat_read", read),
	COUNTER("rdma_stat_recv", recv),
	COUNTER("rdma_stat_write", write),
	COUNTER("rdma_stat_sq_starve", sq_starve),
	COUNTER("rdma_stat_exposed", exposed),
	COUNTER("rdma_stat_exposed_expired", exposed_expired),
	COUNTER("rdma_stat_exposed_refused", exposed_refused),
	DEAD_COUNTER("rdma_stat_rq_starve"),
	DEAD_COUNTER("rdma_stat_rq_poll"),
	DEAD_COUNTER("rdma_stat_rq_prod"),
	DEAD_COUNTER("rdma_stat_sq_poll"),
	DEAD_COUNTER("rdma_stat_sq_prod"),
};

static struct ctl_table_header *table_header;

/**
 * svcrdma_sysctl_init - create the files
 *
 * Context: process.
 * Return: 0, or -EEXIST: another module has files of these names, or else memory is short.
 */
int svcrdma_sysctl_init(void)
{
	table_header = register_sysctl("sunrpc/svc_rdma", svcrdma_table);
	return table_header ? 0 : -EEXIST;
}

/**
 * svcrdma_sysctl_exit - remove the files, and wait for their readers
 *
 * Context: process.
 */
void svcrdma_sysctl_exit(void)
{
	unregister_sysctl_table(table_header);
}
