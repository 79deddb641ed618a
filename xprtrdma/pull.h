/* SPDX-License-Identifier: GPL-2.0 */
/* What is read from the server: replies that it exposes, and its calls with Read chunks. pull.c */
#ifndef XPRTRDMA_PULL_H
#define XPRTRDMA_PULL_H

#include <linux/seq_file.h>
#include <linux/workqueue.h>

#include <common/verbs.h>

struct xprtrdma_conn;
struct xprtrdma_receive;
struct xprtrdma_send;

enum {
	XPRTRDMA_PULLS		= 4,	/* messages that are being read at a time */
	XPRTRDMA_PULL_WRS	= 64,	/* RDMA Reads of all of them */
};

/**
 * struct xprtrdma_pull - a reply that the server exposes, or a call with Read chunks
 * @pl_call: it is a call
 * @pl_list: waiting in xc_pull
 * @pl_cqe: completion of the last RDMA Read
 * @pl_reads: RDMA Reads; private to pull.c
 * @pl_wrs: their number
 * @pl_length: bytes of the reply, as far as its buffer takes them
 * @pl_done: the message that ends it, reserved before the first Read; not of a call
 */
struct xprtrdma_pull {
	bool			pl_call;
	struct list_head	pl_list;
	struct ib_cqe		pl_cqe;
	struct rpcrdma_transfer	*pl_reads;
	unsigned int		pl_wrs;
	unsigned int		pl_length;
	struct xprtrdma_send	*pl_done;
};

/**
 * struct xprtrdma_puller - what a connection reads from the server, all under xc_lock
 * @waiting: replies and calls that are to be read
 * @active: number of those that are being read
 * @wrs: work requests that Reads may still take
 * @worker: starts to read those that wait
 */
struct xprtrdma_puller {
	struct list_head	waiting;
	unsigned int		active;
	unsigned int		wrs;
	struct work_struct	worker;
};

void xprtrdma_pulls_init(struct xprtrdma_conn *conn);
bool xprtrdma_pulls_wait(const struct xprtrdma_conn *conn);
void xprtrdma_pulls_show(struct seq_file *seq, struct xprtrdma_conn *conn);
void xprtrdma_pulls_continue(struct xprtrdma_conn *conn);
void xprtrdma_pull(struct xprtrdma_receive *receive);
void xprtrdma_pull_call(struct xprtrdma_receive *receive);
void xprtrdma_pull_refuse(struct xprtrdma_receive *receive);
void xprtrdma_pull_invalidated(struct xprtrdma_receive *receive, bool ok);
void xprtrdma_pulls_abort(struct xprtrdma_conn *conn);

#endif /* XPRTRDMA_PULL_H */
