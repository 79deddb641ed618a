// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Fast-register memory regions.
 *
 * Normal operation: xprtrdma_frwr_map_chunk() takes regions from the connection's pool, maps
 * parts of an xdr_buf into them, and adds them to the list of the request. The registrations
 * are posted in one chain with the Send that carries their R_keys, so the regions are valid
 * before the peer can use them. When the reply has come, the region that the peer invalidated
 * leaves the list, and xprtrdma_frwr_unmap_async() invalidates the other regions; then the RPC
 * completes. So no consumer sees memory that the peer can still write (RFC 8166 sections 4.4.1
 * and 8.1.3).
 *
 * A task that ends without a reply gets its memory back by xprtrdma_frwr_unmap_sync().
 *
 * Errors: the connection is failed when a registration or an invalidation fails.
 * xprtrdma_mrs_release() takes back the regions of a lost connection when the queue pair is
 * drained, and they are never used again.
 */
#include <linux/delay.h>
#include <linux/sched/mm.h>

#include "connection.h"
#include "trace.h"

/*
 * A LOCAL_INV that takes longer than this probably waits behind Sends that the peer does not take,
 * and that the HCA may retry for longer (svcrdma/sq.c). Meanwhile the task that waits for it cannot
 * be killed. So the client connects again, which makes no operation fail.
 */
#define FENCE_TIMEOUT	(10U * HZ)

/* Rights of the peer. RFC 5042 section 6.3.5: the peer may read or write a region, never both. */
enum {
	ACCESS_READ	= IB_ACCESS_REMOTE_READ,
	ACCESS_WRITE	= IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE,
};

/**
 * struct xprtrdma_mr - a memory region of the pool
 * @mr_region: the region; its rg_list is in the free list of xc_mr or in an ml_mrs, and in neither
 *	after xprtrdma_mrs_release(); under xc_lock
 * @mr_all: link in the list of all regions of xc_mr; under xc_lock
 * @mr_conn: owner
 * @mr_holder: MR list that the region was taken for last; valid while a LOCAL_INV is posted
 * @mr_reg_cqe: completion of the registration; called only when the registration has failed
 * @mr_inv_cqe: completion of the LOCAL_INV
 */
struct xprtrdma_mr {
	struct rpcrdma_region	mr_region;
	struct list_head	mr_all;
	struct xprtrdma_conn	*mr_conn;
	struct xprtrdma_mr_list	*mr_holder;
	struct ib_cqe		mr_reg_cqe;
	struct ib_cqe		mr_inv_cqe;
};

/* A piece of memory within one page. */
struct extent {
	struct page	*page;
	unsigned int	offset;
	unsigned int	length;
};

static unsigned int part_length(const struct xprtrdma_cursor *cursor)
{
	const struct xdr_buf *buf = cursor->buf;

	if (cursor->part == 1)
		return cursor->parts & XPRTRDMA_PAGES ? buf->page_len : 0;
	if (!(cursor->parts & XPRTRDMA_KVECS))
		return 0;
	return cursor->part ? buf->tail[0].iov_len : buf->head[0].iov_len;
}

/* Gets the next bytes of a buffer that lie in one page. Returns false at the end of the buffer. */
static bool next_extent(struct xprtrdma_cursor *cursor, struct extent *extent)
{
	const struct xdr_buf *buf = cursor->buf;
	unsigned int length = 0;
	unsigned long position;
	void *base;

	for (; cursor->part < 3; cursor->part++, cursor->done = 0) {
		length = part_length(cursor);
		if (cursor->done != length)
			break;
	}
	if (cursor->part == 3 || !cursor->left)
		return false;

	if (cursor->part == 1) {
		position = buf->page_base + cursor->done;
		extent->page = buf->pages[position >> PAGE_SHIFT];
	} else {
		base = cursor->part ? buf->tail[0].iov_base : buf->head[0].iov_base;
		position = (unsigned long)base + cursor->done;
		extent->page = virt_to_page((void *)position);
	}
	extent->offset = offset_in_page(position);
	extent->length = min3((unsigned int)PAGE_SIZE - extent->offset,
			      length - cursor->done, cursor->left);
	cursor->done += extent->length;
	cursor->left -= extent->length;
	return true;
}

/**
 * xprtrdma_frwr_segments - how many regions does a buffer need at most?
 * @conn: connection whose mr_pages is the size of a region
 * @buf: the buffer
 * @parts: parts of @buf that are counted
 *
 * The buffer needs more regions only if the device maps fewer pages into a region than mr_pages.
 *
 * Context: any.
 */
u32 xprtrdma_frwr_segments(const struct xprtrdma_conn *conn,
			   const struct xdr_buf *buf, enum xprtrdma_parts parts)
{
	const struct kvec *const kvecs[] = { &buf->head[0], &buf->tail[0] };
	const unsigned int depth = conn->xc_queues.mr_pages;
	u32 i, count = 0;

	if (buf->page_len && parts & XPRTRDMA_PAGES)
		count = DIV_ROUND_UP(PFN_UP(offset_in_page(buf->page_base) + buf->page_len), depth);
	for (i = 0; parts & XPRTRDMA_KVECS && i < ARRAY_SIZE(kvecs); i++)
		if (kvecs[i]->iov_len)
			count += DIV_ROUND_UP(PFN_UP(offset_in_page(kvecs[i]->iov_base) +
						     kvecs[i]->iov_len), depth);
	return count;
}

/**
 * xprtrdma_frwr_query - find out whether a device can be used, and its limits
 * @conn: connection with a device; gets the type of its regions
 * @limits: gets the limits of the device
 *
 * Context: any.
 * Return: 0, or -ENODEV for a device without fast registration.
 */
int xprtrdma_frwr_query(struct xprtrdma_conn *conn, struct rpcrdma_device_limits *limits)
{
	struct ib_device *device = xprtrdma_conn_device(conn);
	const struct ib_device_attr *attrs = &device->attrs;

	limits->max_fast_reg_pages = rpcrdma_region_query(device, &conn->xc_mr.type);
	if (!limits->max_fast_reg_pages)
		return -ENODEV;
	limits->max_qp_wr = attrs->max_qp_wr;
	limits->max_cqe = attrs->max_cqe;
	limits->max_send_sge = attrs->max_send_sge;
	/*
	 * Some devices register only a limited number of pages fast; larger registrations are slow,
	 * or fail. Their providers report this number as max_sge_rd, and it is above 16. A
	 * max_sge_rd up to 16 only says how many SGEs an RDMA Read may have.
	 */
	if (attrs->max_sge_rd > 16)
		limits->max_fast_reg_pages = min_t(u32, attrs->max_sge_rd,
						   limits->max_fast_reg_pages);
	return 0;
}

static void mr_wc_reg(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprtrdma_mr *mr = container_of(wc->wr_cqe, struct xprtrdma_mr, mr_reg_cqe);

	/* A registration is unsignalled: it completes only if it has failed or was flushed. */
	if (wc->status != IB_WC_SUCCESS)
		xprtrdma_conn_fail_wc(mr->mr_conn, "reg", wc, RPCRDMA_END_SEND_FAILED);
}

/*
 * Completion of a LOCAL_INV. Only the last one of a chain is signalled. If an earlier one fails, it
 * completes, too, and the last one is flushed.
 */
static void mr_wc_inv(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprtrdma_mr *mr = container_of(wc->wr_cqe, struct xprtrdma_mr, mr_inv_cqe);
	bool last = mr->mr_region.rg_inv.send_flags & IB_SEND_SIGNALED;
	bool ok = wc->status == IB_WC_SUCCESS;

	if (!ok)
		xprtrdma_conn_fail_wc(mr->mr_conn, "inv", wc, RPCRDMA_END_FENCE_FAILED);
	if (!last)
		return;
	if (mr->mr_holder->ml_fenced) {
		complete(mr->mr_holder->ml_fenced);
		return;
	}
	spin_lock(&mr->mr_conn->xc_lock);
	xprtrdma_watch_hca_end(mr->mr_conn, false);
	spin_unlock(&mr->mr_conn->xc_lock);
	xprtrdma_reply_invalidated(mr->mr_holder->ml_receive, ok);
}

static struct xprtrdma_mr *mr_alloc(struct xprtrdma_conn *conn)
{
	const unsigned int depth = conn->xc_queues.mr_pages;
	const int node = ibdev_to_node(xprtrdma_conn_device(conn));
	struct rpcrdma_region *region;
	struct xprtrdma_mr *mr;

	mr = kzalloc_node(sizeof(*mr), GFP_KERNEL, node);
	if (!mr)
		return NULL;
	region = &mr->mr_region;
	region->rg_sg = kvmalloc_node(array_size(depth, sizeof(*region->rg_sg)), GFP_KERNEL, node);
	if (!region->rg_sg)
		goto out_free;
	sg_init_table(region->rg_sg, depth);
	if (rpcrdma_region_init(region, conn->xc_pd, conn->xc_mr.type, depth))
		goto out_free;
	region->rg_reg.wr.wr_cqe = &mr->mr_reg_cqe;
	region->rg_inv.wr_cqe = &mr->mr_inv_cqe;
	mr->mr_conn = conn;
	mr->mr_reg_cqe.done = mr_wc_reg;
	mr->mr_inv_cqe.done = mr_wc_inv;
	return mr;

out_free:
	kvfree(region->rg_sg);
	kfree(mr);
	return NULL;
}

/**
 * xprtrdma_mrs_create - add memory regions to the pool
 * @conn: owner
 * @count: number of regions to be added
 *
 * Context: process.
 * Return: 0, also when fewer regions than @count were added; or -ENOMEM when the pool has none.
 */
int xprtrdma_mrs_create(struct xprtrdma_conn *conn, unsigned int count)
{
	struct xprtrdma_mr *mr;

	while (count--) {
		mr = mr_alloc(conn);
		if (!mr)
			return conn->xc_mr.count ? 0 : -ENOMEM;
		spin_lock(&conn->xc_lock);
		list_add(&mr->mr_region.rg_list, &conn->xc_mr.free);
		list_add(&mr->mr_all, &conn->xc_mr.all);
		conn->xc_mr.count++;
		spin_unlock(&conn->xc_lock);
		RPCRDMA_COUNT(conn->xc_transport->xt_stats.mrs_allocated, 1);
	}
	return 0;
}

/*
 * Makes a pool that has run dry twice as large, up to the number of regions that the Send Queue has
 * entries for, and wakes the senders.
 */
static void mr_worker(struct work_struct *work)
{
	struct xprtrdma_conn *conn = container_of(work, struct xprtrdma_conn, xc_mr.worker);
	unsigned int limit = conn->xc_queues.regions;
	unsigned int flags = xprtrdma_memalloc_save(&conn->xc_transport->xt_xprt);
	unsigned int before = conn->xc_mr.count;

	if (before < limit)
		xprtrdma_mrs_create(conn, min(max(before, 1U), limit - before));
	xprtrdma_memalloc_restore(flags);
	/* Without a pause the senders would find no region, and queue this work at once. */
	if (conn->xc_mr.count == before)
		msleep(100);
	xprt_write_space(&conn->xc_transport->xt_xprt);
}

/**
 * xprtrdma_mrs_grow - make more regions for a pool that has too few
 * @conn: the connection
 *
 * A work item makes the regions, pauses if it could not make any, and then wakes the senders.
 *
 * Context: any.
 */
void xprtrdma_mrs_grow(struct xprtrdma_conn *conn)
{
	queue_work(xprtrdma_wq, &conn->xc_mr.worker);
}

/**
 * xprtrdma_mrs_init - set the pool of a connection up, without regions
 * @conn: all zeros
 *
 * Context: any.
 */
void xprtrdma_mrs_init(struct xprtrdma_conn *conn)
{
	INIT_LIST_HEAD(&conn->xc_mr.free);
	INIT_LIST_HEAD(&conn->xc_mr.all);
	mutex_init(&conn->xc_mr.taking);
	INIT_WORK(&conn->xc_mr.worker, mr_worker);
}

/**
 * xprtrdma_mrs_release - take all memory regions off the MR lists, and unmap them
 * @conn: a connection whose queue pair is drained
 *
 * Context: process.
 */
void xprtrdma_mrs_release(struct xprtrdma_conn *conn)
{
	struct xprtrdma_mr *mr;

	cancel_work_sync(&conn->xc_mr.worker);
	mutex_lock(&conn->xc_mr.taking);
	spin_lock(&conn->xc_lock);
	list_for_each_entry(mr, &conn->xc_mr.all, mr_all)
		list_del_init(&mr->mr_region.rg_list);
	spin_unlock(&conn->xc_lock);
	/* Without the lock: only the worker adds regions, and it has been stopped. */
	list_for_each_entry(mr, &conn->xc_mr.all, mr_all) {
		if (mr->mr_region.rg_nents)
			RPCRDMA_COUNT(conn->xc_transport->xt_stats.mrs_orphaned, 1);
		rpcrdma_region_unmap(&mr->mr_region);
	}
	mutex_unlock(&conn->xc_mr.taking);
}

/**
 * xprtrdma_mrs_destroy - free all memory regions
 * @conn: a connection whose regions were released, or that never had any
 */
void xprtrdma_mrs_destroy(struct xprtrdma_conn *conn)
{
	struct xprtrdma_mr *mr, *next;

	list_for_each_entry_safe(mr, next, &conn->xc_mr.all, mr_all) {
		ib_dereg_mr(mr->mr_region.rg_mr);
		kvfree(mr->mr_region.rg_sg);
		kfree(mr);
	}
}

static struct xprtrdma_mr *mr_get(struct xprtrdma_conn *conn, struct xprtrdma_mr_list *mrs)
{
	struct xprtrdma_mr *mr;

	spin_lock(&conn->xc_lock);
	mr = list_first_entry_or_null(&conn->xc_mr.free, struct xprtrdma_mr, mr_region.rg_list);
	if (mr)
		list_move_tail(&mr->mr_region.rg_list, &mrs->ml_mrs);
	spin_unlock(&conn->xc_lock);
	if (mr)
		mr->mr_holder = mrs;
	return mr;
}

/*
 * Fills the scatterlist of @region, from @extent on. Returns the number of its elements. If an
 * extent has no room in @region, @more is true, and @extent is the first such extent.
 */
static u32 mr_fill(struct rpcrdma_region *region, struct xprtrdma_cursor *cursor,
		   struct extent *extent, bool *more)
{
	u32 n = 0;

	do {
		sg_set_page(&region->rg_sg[n++], extent->page, extent->length, extent->offset);
		*more = next_extent(cursor, extent);
	} while (*more && rpcrdma_region_takes(region, n, extent->offset));
	return n;
}

/*
 * Maps into one region as much of the buffer as it takes, from @extent on. @extent and @more are
 * as for mr_fill(). If the device maps fewer elements than the scatterlist has, the walk goes back
 * to the first element that was not mapped.
 */
static int mr_map(struct rpcrdma_region *region, struct xprtrdma_cursor *cursor,
		  struct extent *extent, bool *more, int access)
{
	const struct xprtrdma_cursor at = *cursor;
	const struct extent first = *extent;
	u32 n = mr_fill(region, cursor, extent, more);
	int ret = rpcrdma_region_map(region, n, access);

	if (ret || region->rg_nents == n)
		return ret;
	*cursor = at;
	*extent = first;
	for (n = 0; n < region->rg_nents; n++)
		*more = next_extent(cursor, extent);
	return 0;
}

/**
 * xprtrdma_frwr_map - map a buffer into regions
 * @conn: the connection
 * @mrs: list that the regions are added to; gets a reference on @conn if it has none
 * @cursor: the part of the buffer that is to be mapped; moves to the end of that part
 * @access: rights of the regions; with IB_ACCESS_LOCAL_WRITE the buffer is written
 *
 * The regions can be used once the chain made by xprtrdma_frwr_chain() is posted. On failure
 * the regions stay in @mrs, until xprtrdma_frwr_recycle() takes them back.
 *
 * Context: process; the caller owns @mrs, see ml_mrs.
 * Return: number of regions; -EAGAIN when the pool is empty; -ENOBUFS when there is no DMA
 * mapping now; -EMSGSIZE when more than RPCRDMA_MAX_SEGMENTS_SENT regions are needed; or -EIO
 * when the device has refused.
 */
int xprtrdma_frwr_map(struct xprtrdma_conn *conn, struct xprtrdma_mr_list *mrs,
		      struct xprtrdma_cursor *cursor, int access)
{
	struct extent extent;
	struct xprtrdma_mr *mr;
	int count = 0, ret;
	bool more;

	if (!mrs->ml_conn) {
		xprtrdma_conn_get(conn);
		mrs->ml_conn = conn;
	}
	more = next_extent(cursor, &extent);
	while (more) {
		if (count++ == RPCRDMA_MAX_SEGMENTS_SENT)
			return -EMSGSIZE;
		mr = mr_get(conn, mrs);
		if (!mr)
			return -EAGAIN;
		ret = mr_map(&mr->mr_region, cursor, &extent, &more, access);
		if (ret) {
			RPCRDMA_COUNT(conn->xc_transport->xt_stats.mrs_recycled, 1);
			return ret;
		}
	}
	return count;
}

/**
 * xprtrdma_frwr_chain - put registrations in front of the work requests that need them
 * @mrs: list of the regions, which are all mapped
 * @next: first of the work requests that follow the registrations
 * @registrations: gets the number of registrations
 *
 * Context: any.
 * Return: the first registration.
 */
struct ib_send_wr *xprtrdma_frwr_chain(struct xprtrdma_mr_list *mrs, struct ib_send_wr *next,
				       u32 *registrations)
{
	struct ib_send_wr *first = rpcrdma_regions_reg(&mrs->ml_mrs, next), *wr;
	u32 count = 0;

	for (wr = first; wr != next; wr = wr->next)
		count++;
	*registrations = count;
	return first;
}

/**
 * xprtrdma_frwr_map_chunk - expose a buffer to the peer, as one chunk
 * @conn: the connection
 * @mrs: list that the regions are added to; gets a reference on @conn if it has none
 * @buf: the buffer
 * @parts: parts of @buf that are exposed
 * @writable: the peer writes the buffer, and otherwise reads it
 * @lists: gets a segment for each region; the caller has begun the chunk
 *
 * Context: process, the transport's write lock is held.
 * Return: number of segments, or an errno: see xprtrdma_frwr_map().
 */
int xprtrdma_frwr_map_chunk(struct xprtrdma_conn *conn, struct xprtrdma_mr_list *mrs,
			    const struct xdr_buf *buf, enum xprtrdma_parts parts,
			    bool writable, struct rpcrdma_chunk_lists *lists)
{
	struct xprtrdma_cursor cursor = { .buf = buf, .parts = parts, .left = UINT_MAX };
	struct list_head *before = mrs->ml_mrs.prev;
	struct rpcrdma_region *region;
	int count;

	count = xprtrdma_frwr_map(conn, mrs, &cursor, writable ? ACCESS_WRITE : ACCESS_READ);
	if (count < 0)
		return count;
	region = list_entry(before, struct rpcrdma_region, rg_list);
	list_for_each_entry_continue(region, &mrs->ml_mrs, rg_list)
		if (!rpcrdma_lists_add_segment(lists, rpcrdma_region_segment(region)))
			return -EMSGSIZE;
	return count;
}

static void mr_list_put_conn(struct xprtrdma_mr_list *mrs)
{
	struct xprtrdma_conn *conn = mrs->ml_conn;

	mrs->ml_conn = NULL;
	xprtrdma_conn_put(conn);
}

/*
 * Unmaps without the lock, since each unmapping waits for the hardware where the IOMMU is strict.
 * No other function takes regions off the list at the same time; see ml_mrs.
 */
static void mrs_recycle(struct xprtrdma_mr_list *mrs)
{
	struct xprtrdma_conn *conn = mrs->ml_conn;
	struct rpcrdma_region *region;

	list_for_each_entry(region, &mrs->ml_mrs, rg_list)
		rpcrdma_region_unmap(region);
	spin_lock(&conn->xc_lock);
	list_splice_init(&mrs->ml_mrs, &conn->xc_mr.free);
	spin_unlock(&conn->xc_lock);
}

/**
 * xprtrdma_frwr_recycle - give regions that the peer cannot reach back to the pool
 * @mrs: list of regions that were never posted, or have been invalidated; its reference on the
 *	connection is dropped, if it has one
 *
 * Context: process, or a CQ handler; the caller owns @mrs, see ml_mrs.
 */
void xprtrdma_frwr_recycle(struct xprtrdma_mr_list *mrs)
{
	if (!mrs->ml_conn)
		return;
	if (!list_empty(&mrs->ml_mrs))
		mrs_recycle(mrs);
	mr_list_put_conn(mrs);
}

/**
 * xprtrdma_frwr_reminv - give a region that the peer has invalidated back to the pool
 * @mrs: regions of the RPC whose reply has invalidated the region
 * @rkey: R_key of the region
 *
 * Context: the Receive CQ handler; the RPC is pinned.
 * Return: false if no region of this RPC has that R_key.
 */
bool xprtrdma_frwr_reminv(struct xprtrdma_mr_list *mrs, u32 rkey)
{
	struct xprtrdma_conn *conn = mrs->ml_conn;
	struct rpcrdma_region *region;

	if (!conn)
		return false;
	/* Without the lock: see mrs_recycle(). */
	list_for_each_entry(region, &mrs->ml_mrs, rg_list) {
		if (region->rg_mr->rkey != rkey)
			continue;
		rpcrdma_region_unmap(region);
		spin_lock(&conn->xc_lock);
		list_move(&region->rg_list, &conn->xc_mr.free);
		RPCRDMA_COUNT(conn->xc_transport->xt_counters.regions_invalidated_remotely, 1);
		spin_unlock(&conn->xc_lock);
		return true;
	}
	return false;
}

/*
 * Posts LOCAL_INVs of all regions. @done: completed by the last LOCAL_INV, or NULL. Returns 0;
 * -ENOENT when there is nothing to be invalidated; or another errno.
 */
static int inv_post(struct xprtrdma_mr_list *mrs, struct completion *done)
{
	struct xprtrdma_conn *conn = mrs->ml_conn;
	const struct ib_send_wr *bad;
	struct ib_send_wr *first, *wr;
	int ret = -ENOTCONN;

	/* With the lock: in the state BROKEN nothing is posted, see xprtrdma_conn_destroy(). */
	spin_lock(&conn->xc_lock);
	mrs->ml_fenced = done;
	first = rpcrdma_regions_inv(&mrs->ml_mrs, NULL);
	for (wr = first; wr; wr = wr->next)
		RPCRDMA_COUNT(conn->xc_transport->xt_stats.local_inv_needed, 1);
	if (!first)
		ret = -ENOENT;
	else if (conn->xc_state == RPCRDMA_CONN_ESTABLISHED)
		ret = ib_post_send(conn->xc_id->qp, first, &bad);
	/* No watch is needed for a task that waits for @done: it has a timeout of its own. */
	if (!ret && !done)
		xprtrdma_watch_hca_begin(conn);
	spin_unlock(&conn->xc_lock);
	return ret;
}

/**
 * xprtrdma_frwr_unmap_async - fence the memory of a call, then go on with the message
 * @mrs: at least one region of a pinned RPC, or of a call of the server's that was read;
 *	ml_receive is the message
 *
 * xprtrdma_reply_invalidated() is called exactly once, also when the post fails.
 *
 * Context: the CQ handlers.
 */
void xprtrdma_frwr_unmap_async(struct xprtrdma_mr_list *mrs)
{
	if (!inv_post(mrs, NULL))
		return;
	xprtrdma_conn_fail(mrs->ml_conn, RPCRDMA_END_FENCE_FAILED);
	/* The last LOCAL_INV, the signalled one, was not posted, so no handler does this. */
	xprtrdma_reply_invalidated(mrs->ml_receive, false);
}

/**
 * xprtrdma_frwr_unmap_sync - fence the memory of an RPC that ends without a reply
 * @mrs: regions of the RPC; ml_conn is not NULL
 *
 * Context: process; the RPC is not pinned and cannot be found by its XID any more. The function
 * sleeps until the peer cannot reach the memory.
 */
void xprtrdma_frwr_unmap_sync(struct xprtrdma_mr_list *mrs)
{
	struct xprtrdma_conn *conn = mrs->ml_conn;
	DECLARE_COMPLETION_ONSTACK(done);
	int ret = inv_post(mrs, &done);

	if (ret && ret != -ENOENT) {
		xprtrdma_conn_fail(conn, RPCRDMA_END_FENCE_FAILED);
	} else if (!ret && !wait_for_completion_timeout(&done, FENCE_TIMEOUT)) {
		/* The teardown drains the queue pair, which flushes the LOCAL_INVs. */
		xprtrdma_conn_fail(conn, RPCRDMA_END_FENCE_FAILED);
		wait_for_completion(&done);
	}

	if (xprtrdma_conn_established(conn)) {
		mutex_lock(&conn->xc_mr.taking);
		mrs_recycle(mrs);
		mutex_unlock(&conn->xc_mr.taking);
	} else {
		wait_for_completion(&conn->xc_released);
	}
	mr_list_put_conn(mrs);
}
