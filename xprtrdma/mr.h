/* SPDX-License-Identifier: GPL-2.0 */
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

/* Walks over an xdr_buf: head, pages, tail. */
struct xprtrdma_cursor {
	const struct xdr_buf	*buf;
	unsigned int		part;	/* 0 head, 1 pages, 2 tail, 3 end */
	unsigned int		done;	/* bytes of this part */
	unsigned int		parts;	/* enum xprtrdma_parts */
	unsigned int		left;	/* bytes to be walked over */
};

/**
 * struct xprtrdma_mr_pool - the memory regions of a connection; the lists under xc_lock
 * @type: plain or with gaps; constant
 * @free: those that are in no struct xprtrdma_mr_list
 * @all: every one
 * @count: their number
 * @taking: a mutex: a task that ends without a reply unmaps its regions, or the teardown all
 * @worker: allocates more
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
 * @ml_conn: connection that @ml_mrs belong to, with a reference; NULL if there were none.
 *	An RPC's is written under the transport's write lock or by the task's release.
 * @ml_mrs: the regions, by rg_list. They come and go under xc_lock of @ml_conn. The owner of the
 *	list (the sender, or the handler that has pinned the RPC) walks it without the lock: others
 *	take regions off in xprtrdma_mrs_release() alone, which does not run beside the owner
 * @ml_fenced: for xprtrdma_frwr_unmap_sync(); valid while a LOCAL_INV is posted
 * @ml_receive: the reply or call that is being processed; only for the Receive CQ handler
 *	and the completion of the LOCAL_INV that it posts
 */
struct xprtrdma_mr_list {
	struct xprtrdma_conn	*ml_conn;
	struct list_head	ml_mrs;
	struct completion	*ml_fenced;
	struct xprtrdma_receive	*ml_receive;
};

/* No region is registered yet. */
static inline void xprtrdma_mr_list_init(struct xprtrdma_mr_list *mrs)
{
	mrs->ml_conn = NULL;
	INIT_LIST_HEAD(&mrs->ml_mrs);
	mrs->ml_receive = NULL;
}

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
