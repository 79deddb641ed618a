/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Settings of the administrator, and counters (sysctl.c) */
#ifndef SVCRDMA_SYSCTL_H
#define SVCRDMA_SYSCTL_H

#include <linux/percpu_counter.h>

enum {
	SVCRDMA_MIN_REQUESTS = 4,	/* least max_requests, credits of a connection */
	SVCRDMA_MIN_REQ_SIZE = 4096,	/* least max_req_size, bytes of a message */
};

extern unsigned int svcrdma_max_requests;
extern unsigned int svcrdma_max_credits_total;
extern unsigned int svcrdma_max_req_size;
extern unsigned int svcrdma_ord;
extern unsigned int svcrdma_reliable_reply;
extern unsigned int svcrdma_serve_msgp;
extern unsigned int svcrdma_answer_config;
extern unsigned int svcrdma_expose_timeout;
extern unsigned int svcrdma_max_exposed_bytes;
extern struct percpu_counter svcrdma_stat_expose;
extern struct percpu_counter svcrdma_stat_expose_expired;
extern struct percpu_counter svcrdma_stat_expose_refused;
extern struct percpu_counter svcrdma_stat_read;
extern struct percpu_counter svcrdma_stat_recv;
extern struct percpu_counter svcrdma_stat_write;
extern struct percpu_counter svcrdma_stat_sq_starve;

int svcrdma_counters_init(void);
void svcrdma_counters_exit(void);
int svcrdma_sysctl_init(void);
void svcrdma_sysctl_exit(void);

#endif /* SVCRDMA_SYSCTL_H */
