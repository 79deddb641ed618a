/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Settings of the administrator, and counters (sysctl.c) */
#ifndef SVCRDMA_SYSCTL_H
#define SVCRDMA_SYSCTL_H

#include <linux/percpu.h>

enum {
	SVCRDMA_MIN_REQUESTS = 4,	/* smallest max_requests: credits of a connection */
	SVCRDMA_MIN_REQ_SIZE = 4096,	/* smallest max_req_size: bytes of a message */
};

/* The counters rdma_stat_*, one copy for each processor; counted by this_cpu_inc() */
struct svcrdma_stats {
	unsigned long	read;
	unsigned long	recv;
	unsigned long	write;
	unsigned long	sq_starve;
	unsigned long	exposed;
	unsigned long	exposed_expired;
	unsigned long	exposed_refused;
};

DECLARE_PER_CPU(struct svcrdma_stats, svcrdma_stats);

extern unsigned int svcrdma_max_requests;
extern unsigned int svcrdma_max_credits_total;
extern unsigned int svcrdma_max_req_size;
extern unsigned int svcrdma_ord;
extern unsigned int svcrdma_reliable_reply;
extern unsigned int svcrdma_serve_msgp;
extern unsigned int svcrdma_answer_config;
extern unsigned int svcrdma_expose_timeout;
extern unsigned int svcrdma_max_exposed_bytes;

int svcrdma_sysctl_init(void);
void svcrdma_sysctl_exit(void);

#endif /* SVCRDMA_SYSCTL_H */
