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

struct percpu_counter svcrdma_stat_read;
struct percpu_counter svcrdma_stat_recv;
struct percpu_counter svcrdma_stat_write;
struct percpu_counter svcrdma_stat_sq_starve;
struct percpu_counter svcrdma_stat_expose;
struct percpu_counter svcrdma_stat_expose_expired;
struct percpu_counter svcrdma_stat_expose_refused;

static unsigned int stat_unused;

/* Reading a counter gives its sum over all processors; writing any value sets it to zero. */
static int counter_handler(compat_ctl_table *table, int write, void *buffer,
			   size_t *lenp, loff_t *ppos)
{
	struct percpu_counter *counter = table->data;
	unsigned long value;
	struct ctl_table sum = {
		.data	= &value,
		.maxlen	= sizeof(value),
		.mode	= table->mode,
	};

	if (write) {
		percpu_counter_set(counter, 0);
		*ppos += *lenp;
		return 0;
	}
	value = percpu_counter_sum_positive(counter);
	return proc_doulongvec_minmax(&sum, 0, buffer, lenp, ppos);
}

#define KNOB(name, variable, low, high)	\
	RPCRDMA_SYSCTL_RANGE(name, variable, proc_dointvec_minmax, low, high)

#define COUNTER(name, counter)	RPCRDMA_SYSCTL(name, counter, counter_handler)

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
	COUNTER("rdma_stat_read", svcrdma_stat_read),
	COUNTER("rdma_stat_recv", svcrdma_stat_recv),
	COUNTER("rdma_stat_write", svcrdma_stat_write),
	COUNTER("rdma_stat_sq_starve", svcrdma_stat_sq_starve),
	COUNTER("rdma_stat_exposed", svcrdma_stat_expose),
	COUNTER("rdma_stat_exposed_expired", svcrdma_stat_expose_expired),
	COUNTER("rdma_stat_exposed_refused", svcrdma_stat_expose_refused),
	DEAD_COUNTER("rdma_stat_rq_starve"),
	DEAD_COUNTER("rdma_stat_rq_poll"),
	DEAD_COUNTER("rdma_stat_rq_prod"),
	DEAD_COUNTER("rdma_stat_sq_poll"),
	DEAD_COUNTER("rdma_stat_sq_prod"),
};

static struct ctl_table_header *table_header;

/**
 * svcrdma_counters_init - allocate the counters
 *
 * Context: process.
 * Return: 0 or a negative errno, with nothing left allocated.
 */
int svcrdma_counters_init(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(svcrdma_table); i++) {
		if (svcrdma_table[i].proc_handler != counter_handler)
			continue;
		ret = percpu_counter_init(svcrdma_table[i].data, 0, GFP_KERNEL);
		if (ret) {
			svcrdma_counters_exit();
			return ret;
		}
	}
	return 0;
}

/**
 * svcrdma_counters_exit - free the counters, of which some may never have been allocated
 *
 * Context: process; nothing is counted any more.
 */
void svcrdma_counters_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(svcrdma_table); i++)
		if (svcrdma_table[i].proc_handler == counter_handler)
			percpu_counter_destroy(svcrdma_table[i].data);
}

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
