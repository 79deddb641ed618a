/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Memory regions: the pool of a connection, and those that are registered for a call. frwr.c */
#ifndef XPRTRDMA_MR_H
#define XPRTRDMA_MR_H

#include <linux/mutex.h>
#include <linux/sunrpc/xdr.h>
#include <linux/workqueue.h>

#include "rpcrdma/chunk_list.h"
#include "rpcrdma/sizing.h"
#include <common/verbs.h>

struct xprtrdma_conn;
struct xprtrdma_receive;

/* Parts of an xdr_buf. */
enum xprtrdma_parts {
	XPRTRDMA_PAGES	= 1,
	XPRTRDMA_KVECS	= 2,	/* head and tail */
	XPRTRDMA_ALL	= XPRTRDMA_PAGES | XPRTRDMA_KVECS,
};

/* A place in a walk over an xdr_buf, from the head through the pages to the tail. */
struct xprtrdma_cursor {
	const struct xdr_buf	*buf;
	unsigned int		part;	/* 0 head, 1 pages, 2 tail, 3 end */
	unsigned int		done;	/* bytes of this part that the walk has passed */
	unsigned int		parts;	/* enum xprtrdma_parts: parts that are walked over */
	unsigned int		left;	/* bytes that the walk has still to pass, at most */
};

/**
 * struct xprtrdma_mr_pool - the memory regions of a connection; the lists under xc_lock
 * @type: type of all regions, plain or with gaps; constant
 * @free: regions that are in no struct xprtrdma_mr_list
 * @all: all regions
 * @count: number of all regions
 * @taking: held by a task that ends without a reply while it unmaps its regions, and by the
 *	teardown while it unmaps all regions
 * @worker: work item that allocates more regions
 */
struct xprtrdma_mr_pool {
	enum ib_mr_type		type;
	struct list_head	free;
	struct list_head	all;
	unsigned int		count;
	struct mutex		taking;	/* see above */
	struct work_struct	worker;
};

/**
 * struct xprtrdma_mr_list - the memory regions of an RPC, or of a call of the server's
 * @ml_conn: connection that @ml_mrs belong to, with a reference; NULL while the list holds no
 *	reference
 * @ml_mrs: the regions, linked by rg_list, and changed under xc_lock of @ml_conn. The owner of the
 *	list walks it without that lock: only xprtrdma_mrs_release() takes regions from the list of
 *	another owner, and it does not run at the same time as the owner. The list of an RPC
 *	belongs to the sender, to the handler or worker of the reply that has pinned the RPC, or
 *	to the task that ends without a reply; that of a call of the server's to the handler or
 *	worker that reads the call
 * @ml_fenced: completion that xprtrdma_frwr_unmap_sync() waits for, or NULL for
 *	xprtrdma_frwr_unmap_async(); valid while a LOCAL_INV is posted
 * @ml_receive: for an RPC, the reply that is being processed, or NULL; changed under queue_lock.
 *	For a call of the server's, the message that has brought the call
 */
struct xprtrdma_mr_list {
	struct xprtrdma_conn	*ml_conn;
	struct list_head	ml_mrs;
	struct completion	*ml_fenced;
	struct xprtrdma_receive	*ml_receive;
};

void xprtrdma_mrs_init(struct xprtrdma_conn *conn);
int xprtrdma_frwr_query(struct xprtrdma_conn *conn, struct rpcrdma_device_limits *limits);
int xprtrdma_mrs_create(struct xprtrdma_conn *conn, unsigned int count);
void xprtrdma_mrs_release(struct xprtrdma_conn *conn);
void xprtrdma_mrs_destroy(struct xprtrdma_conn *conn);
void xprtrdma_mrs_grow(struct xprtrdma_conn *conn);
u32 xprtrdma_frwr_segments(const struct xprtrdma_conn *conn,
			   const struct xdr_buf *buf, enum xprtrdma_parts parts);
int xprtrdma_frwr_map(struct xprtrdma_conn *conn, struct xprtrdma_mr_list *mrs,
		      struct xprtrdma_cursor *cursor, int access);
int xprtrdma_frwr_map_chunk(struct xprtrdma_conn *conn, struct xprtrdma_mr_list *mrs,
			    const struct xdr_buf *buf, enum xprtrdma_parts parts,
			    bool writable, struct rpcrdma_chunk_lists *lists);
struct ib_send_wr *xprtrdma_frwr_chain(struct xprtrdma_mr_list *mrs, struct ib_send_wr *next,
				       u32 *registrations);
void xprtrdma_frwr_recycle(struct xprtrdma_mr_list *mrs);
bool xprtrdma_frwr_reminv(struct xprtrdma_mr_list *mrs, u32 rkey);
void xprtrdma_frwr_unmap_async(struct xprtrdma_mr_list *mrs);
void xprtrdma_frwr_unmap_sync(struct xprtrdma_mr_list *mrs);

#endif /* XPRTRDMA_MR_H */
