/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* RDMA Reads of replies that the server exposes, and of its calls with Read chunks. pull.c */
#ifndef XPRTRDMA_PULL_H
#define XPRTRDMA_PULL_H

#include <linux/seq_file.h>
#include <linux/workqueue.h>

#include <common/verbs.h>

struct xprtrdma_conn;
struct xprtrdma_receive;
struct xprtrdma_send;

enum {
	XPRTRDMA_PULLS		= 4,	/* messages that are read at the same time */
	XPRTRDMA_PULL_WRS	= 64,	/* RDMA Reads of all these messages together */
};

/**
 * struct xprtrdma_pull - a reply that the server exposes, or a call with Read chunks
 * @pl_list: link in the list of waiting messages of xc_pull; under xc_lock
 * @pl_cqe: completion of the last RDMA Read
 * @pl_reads: RDMA Reads of this message; private to pull.c
 * @pl_wrs: number of @pl_reads
 * @pl_length: bytes of the message, as far as its buffer takes them
 * @pl_bytes: bytes that @pl_reads move together
 * @pl_done: Send buffer for the RDMA_DONE of a reply, reserved before the first Read; or NULL
 */
struct xprtrdma_pull {
	struct list_head	pl_list;
	struct ib_cqe		pl_cqe;
	struct rpcrdma_transfer	*pl_reads;
	unsigned int		pl_wrs;
	unsigned int		pl_length;
	unsigned int		pl_bytes;
	struct xprtrdma_send	*pl_done;
};

/**
 * struct xprtrdma_puller - messages that a connection reads from the server; under xc_lock
 * @waiting: replies and calls that wait to be read, or for the teardown, as their reading failed
 * @active: number of replies and calls that are being read
 * @wrs: number of Send Queue entries that are free for RDMA Reads
 * @worker: work item that starts to read the messages in @waiting
 */
struct xprtrdma_puller {
	struct list_head	waiting;
	unsigned int		active;
	unsigned int		wrs;
	struct delayed_work	worker;
};

void xprtrdma_pulls_init(struct xprtrdma_conn *conn);
void xprtrdma_pulls_show(struct seq_file *seq, struct xprtrdma_conn *conn);
void xprtrdma_pull(struct xprtrdma_receive *receive);
void xprtrdma_pull_invalidated(struct xprtrdma_receive *receive, bool ok);
void xprtrdma_pulls_stop(struct xprtrdma_conn *conn);
void xprtrdma_pulls_abort(struct xprtrdma_conn *conn);

#endif /* XPRTRDMA_PULL_H */
