// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Callbacks of NFSv4.1 and later: calls from the server to the client over the client's connection,
 * RFC 8167. A callback has chunks only if call or reply may not fit inline, and the client has
 * announced that it takes chunks; see bc_chunks.c.
 *
 * nfsd makes an rpc_clnt whose rpc_xprt shares the svc_xprt. The rpc_xprt cannot connect: when the
 * connection is gone, calls fail with -ENOTCONN, and nfsd waits for the client to come back.
 *
 * References: the svc_xprt has a reference to the rpc_xprt (xpt_bc_xprt), which SUNRPC drops when
 * the svc_xprt is freed. The rpc_xprt has no reference to the svc_xprt: nfsd has one for as long as
 * its rpc_clnt lives.
 *
 * The end of an rpc_xprt: SUNRPC calls backchannel_destroy() from a work item of its own on a queue
 * of the system, and unloading this module does not wait for that work item. So the module
 * reference of the rpc_xprt is dropped by backchannel_free_work(), which first waits for SUNRPC's
 * work item. Afterwards only the end of backchannel_free_work() still runs in this module, and
 * module exit waits for it, as it destroys the work queue.
 *
 * A call is copied, to a Send context or to pages of its own (bc_chunks.c), so the request's buffer
 * may be freed, or sent again, at any time.
 */
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sunrpc/bc_xprt.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/sched.h>
#include <common/addresses.h>
#include <common/refusal.h>

#include "recv_ctxt.h"
#include "send_ctxt.h"
#include "svcrdma.h"
#include "trace.h"

/**
 * struct bc_buffer - buffer into which SUNRPC encodes a call, and from which it decodes the reply
 * @refused: whether the RPC is to fail, since the client has refused the call, or the call cannot
 *	be sent; under queue_lock
 * @timer: SUNRPC's own callback for a task that has stopped waiting
 * @data: bytes of the call, and behind them bytes for the reply
 */
struct bc_buffer {
	enum rpcrdma_refusal	refused;
	void			(*timer)(struct rpc_task *task);
	u8			data[] __aligned(8);
};

static struct bc_buffer *bc_buffer_of(const struct rpc_rqst *rqst)
{
	return container_of(rqst->rq_buffer, struct bc_buffer, data[0]);
}

/* ---- replies ---- */

/* RFC 8167 section 4.1: the credits for callbacks are apart from those for the client's calls. */
static void backchannel_set_window(struct rpc_xprt *xprt, u32 credits)
{
	credits = clamp_t(u32, credits, 1, SVCRDMA_REVERSE_CREDITS);
	spin_lock(&xprt->transport_lock);
	xprt->cwnd = credits << RPC_CWNDSHIFT;
	spin_unlock(&xprt->transport_lock);
}

static void backchannel_refuse(struct rpc_rqst *rqst)
{
	bc_buffer_of(rqst)->refused = RPCRDMA_REFUSED;
	rpcrdma_refusal_tell(rqst);
}

static void backchannel_wait_ended(struct rpc_task *task)
{
	struct bc_buffer *buffer = bc_buffer_of(task->tk_rqstp);

	if (!rpcrdma_refusal_heed(task, &buffer->refused))
		buffer->timer(task);
}

/* The caller holds queue_lock. */
static void backchannel_wait_for_reply(struct rpc_task *task)
{
	struct bc_buffer *buffer = bc_buffer_of(task->tk_rqstp);

	rpcrdma_refusal_wait(task, &buffer->refused, &buffer->timer, backchannel_wait_ended);
}

/* Copy an inline reply. Return: its bytes, or -EMSGSIZE: it is too large for the head of @rqst. */
static int backchannel_copy(struct rpc_rqst *rqst, const struct svcrdma_recv_ctxt *rc)
{
	struct kvec *head = &rqst->rq_private_buf.head[0];

	memcpy(&rqst->rq_private_buf, &rqst->rq_rcv_buf, sizeof(rqst->rq_private_buf));
	if (rc->rc_inline_size > head->iov_len)
		return -EMSGSIZE;
	memcpy(head->iov_base, rc->rc_inline, rc->rc_inline_size);
	return rc->rc_inline_size;
}

/* Check and copy a reply in the pages of a Reply chunk. Return: its bytes, or -EIO. */
static int backchannel_copy_pages(struct rpc_rqst *rqst, struct scatterlist *sg, u32 length)
{
	struct xdr_buf *reply = &rqst->rq_private_buf;
	const void *first = sg_virt(sg);
	u32 n, at;

	memcpy(reply, &rqst->rq_rcv_buf, sizeof(*reply));
	/* RFC 8167 section 5.2: the XID and the direction have to be those of a reply to @rqst. */
	if (length > reply->buflen ||
	    *(__be32 *)first != rqst->rq_xid ||
	    rpcrdma_message_direction(first, min_t(u32, length, PAGE_SIZE)) !=
	    RPCRDMA_RPC_REPLY)
		return -EIO;
	for (at = 0; at < length; at += n, sg++) {
		n = min_t(u32, length - at, PAGE_SIZE);
		if (write_bytes_to_xdr_buf(reply, at, sg_virt(sg), n))
			return -EIO;
	}
	return length;
}

/**
 * svcrdma_backchannel_answer - complete the callback whose reply has come in its Reply chunk
 * @t: transport
 * @xid: XID of the call
 * @sg: scatterlist of the pages with the reply
 * @length: size of the reply in bytes, not 0
 *
 * Context: process.
 */
void svcrdma_backchannel_answer(struct svcrdma_transport *t, u32 xid,
				struct scatterlist *sg, u32 length)
{
	struct rpc_xprt *xprt = READ_ONCE(t->st_xprt.xpt_bc_xprt);
	struct rpc_rqst *rqst;
	int ret;

	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(xid));
	if (rqst) {
		ret = backchannel_copy_pages(rqst, sg, length);
		if (ret < 0)
			backchannel_refuse(rqst);
		else
			xprt_complete_rqst(rqst->rq_task, ret);
	}
	spin_unlock(&xprt->queue_lock);
}

/*
 * End the callback to which an inline reply or an RDMA_ERROR belongs. Return: 0 or more; -ENOENT:
 * there is no such callback; -EMSGSIZE: the reply is too large, and the callback waits on.
 */
static int backchannel_complete(struct rpc_xprt *xprt,
				const struct svcrdma_recv_ctxt *rc)
{
	struct rpc_rqst *rqst;
	int ret = -ENOENT;

	spin_lock(&xprt->queue_lock);
	rqst = xprt_lookup_rqst(xprt, cpu_to_be32(rc->rc_header.xid));
	if (rqst && rc->rc_header.proc == RPCRDMA_ERROR) {
		backchannel_refuse(rqst);
		ret = 0;
	} else if (rqst) {
		ret = backchannel_copy(rqst, rc);
		if (ret >= 0)
			xprt_complete_rqst(rqst->rq_task, ret);
	}
	spin_unlock(&xprt->queue_lock);
	return ret;
}

static void count_error(struct svcrdma_transport *t, u32 error)
{
	if (error == RPCRDMA_ERR_VERS)
		this_cpu_inc(t->st_counters->errors_received_vers);
	else
		this_cpu_inc(t->st_counters->errors_received_chunk);
}

/**
 * svcrdma_backchannel_reply - handle a client's reply, or RDMA_ERROR, to a callback
 * @t: transport
 * @rc: context of the decoded message; stays the caller's
 *
 * A message that belongs to no callback is dropped; so is a reply with chunks that its callback has
 * not offered (RFC 8166 section 4.5).
 *
 * Context: process.
 * Return: false: the message was dropped.
 */
bool svcrdma_backchannel_reply(struct svcrdma_transport *t,
			       struct svcrdma_recv_ctxt *rc)
{
	struct rpc_xprt *xprt = READ_ONCE(t->st_xprt.xpt_bc_xprt);
	const struct rpcrdma_chunk_lists *lists = &rc->rc_lists;
	const struct rpcrdma_chunk *reply = rpcrdma_reply_chunk(lists);
	u32 xid = rc->rc_header.xid;
	int ret = -EINVAL;

	if (!xprt || lists->nr_read || lists->nr_write)
		goto out_drop;
	if (reply && !svcrdma_long_call_offered(t, xid, reply->length))
		goto out_drop;
	if (rc->rc_header.proc == RPCRDMA_NOMSG) {
		if (!reply || !reply->length)
			goto out_drop;
		svcrdma_long_call_end(t, xid, reply->length);
	} else {
		ret = backchannel_complete(xprt, rc);
		if (ret < 0)
			goto out_drop;
		if (rc->rc_header.proc == RPCRDMA_ERROR)
			count_error(t, rc->rc_header.error);
	}
	/* RDMA_ERROR does not show its direction, so its credits may not be for callbacks. */
	if (rc->rc_header.proc != RPCRDMA_ERROR)
		backchannel_set_window(xprt, rc->rc_header.credits);
	return true;

out_drop:
	this_cpu_inc(t->st_counters->bad_messages);
	trace_svcrdma_backchannel_dropped(t, rc->rc_header.xid, ret);
	return false;
}

/* ---- calls ---- */

static struct svcrdma_transport *backchannel_transport(struct rpc_xprt *xprt)
{
	return svcrdma_transport_of(xprt->bc_xprt);
}

static int backchannel_buf_alloc(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;
	struct bc_buffer *buffer;

	buffer = kmalloc(struct_size(buffer, data, rqst->rq_callsize + rqst->rq_rcvsize),
			 rpc_task_gfp_mask());
	if (!buffer)
		return -ENOMEM;
	buffer->refused = RPCRDMA_NOT_REFUSED;
	rqst->rq_buffer = buffer->data;
	rqst->rq_rbuffer = rqst->rq_buffer + rqst->rq_callsize;
	return 0;
}

static void backchannel_buf_free(struct rpc_task *task)
{
	kfree(bc_buffer_of(task->tk_rqstp));
}

/* Return: number of regions that @length bytes need, or 0 if @length is too large. */
static u32 backchannel_segments(const struct svcrdma_transport *t, u32 length)
{
	if (length > SVCRDMA_MAX_CALLBACK)
		return 0;
	return DIV_ROUND_UP(PFN_UP(length), svcrdma_region_pages(t));
}

static int backchannel_plan(const struct svcrdma_transport *t, const struct rpc_rqst *rqst,
			    struct rpcrdma_call_plan *plan)
{
	struct rpcrdma_call_shape shape = {
		.call_length	= rqst->rq_snd_buf.len,
		.inline_send	= t->st_agreed.inline_send,
		.inline_recv	= t->st_agreed.inline_recv,
	};

	/*
	 * Without chunks the call has to be inline. reply_length stays 0 then: buflen is only an
	 * upper bound, and the callback must not fail because its reply might not fit inline.
	 */
	if (t->st_agreed.reverse_chunks) {
		shape.call_segments = backchannel_segments(t, shape.call_length);
		shape.reply_length = rqst->rq_rcv_buf.buflen;
		shape.reply_segments = backchannel_segments(t, shape.reply_length);
	}
	return rpcrdma_plan_callback(&shape, t->st_agreed.read_chunk_replies, plan) ? 0 : -EMSGSIZE;
}

static int backchannel_encode(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc,
			      struct rpc_rqst *rqst, bool is_long,
			      const struct rpcrdma_chunk_lists *lists)
{
	struct rpcrdma_header header = {
		.xid		= be32_to_cpu(rqst->rq_xid),
		.vers		= RPCRDMA_VERSION,
		.credits	= SVCRDMA_REVERSE_CREDITS,
		.proc		= is_long ? RPCRDMA_NOMSG : RPCRDMA_MSG,
	};
	u32 room = t->st_agreed.inline_send;
	u32 length = is_long ? 0 : rqst->rq_snd_buf.len;

	if (rpcrdma_header_encode(&header, lists, sc->sc_buffer.bf_data, room) != RPCRDMA_OK ||
	    length > room - header.size)
		return -EMSGSIZE;
	if (read_bytes_from_xdr_buf(&rqst->rq_snd_buf, 0, sc->sc_buffer.bf_data + header.size,
				    length))
		return -EIO;
	sc->sc_buffer.bf_sge.length = header.size + length;
	sc->sc_wr.opcode = IB_WR_SEND;
	return 0;
}

/*
 * Post a callback. rpciod must not sleep for Send Queue entries, so the message may wait in
 * st_sq.waiters. The message is a copy, and so is the memory that it exposes. If the RPC has ended
 * when there are entries, an inline call is sent all the same, and its reply is dropped; a call
 * with chunks is not sent, since its exposure has ended with the RPC. Consumes @sc.
 */
static int backchannel_post(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc,
			    struct rpc_rqst *rqst)
{
	int ret;

	rqst->rq_xtime = ktime_get();
	ret = svcrdma_send_message(t, sc);
	if (!ret) {
		this_cpu_inc(t->st_counters->calls_reverse);
		return 0;
	}
	if (ret == -E2BIG)
		return -EMSGSIZE;
	svcrdma_transport_close(t, RPCRDMA_END_SEND_FAILED);
	return -ENOTCONN;
}

/* Build a callback in @sc and post it. Consumes @sc. */
static int backchannel_send(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc,
			    struct rpc_rqst *rqst)
{
	struct rpcrdma_segment segments[2 * RPCRDMA_MAX_SEGMENTS_SENT];
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_chunk chunks[2];
	struct rpcrdma_call_plan plan;
	int ret;

	rpcrdma_lists_init(&lists, segments, ARRAY_SIZE(segments), chunks,
			   ARRAY_SIZE(chunks));
	ret = backchannel_plan(t, rqst, &plan);
	if (ret)
		goto out_put;
	if (plan.position_zero || plan.reply_chunk) {
		/* SUNRPC sends a call again if it cannot decode the reply: end the old exposure. */
		svcrdma_long_call_end(t, be32_to_cpu(rqst->rq_xid), 0);
		ret = svcrdma_long_call_create(sc, rqst, &plan, &lists);
		if (ret)
			goto out_put;
	}
	ret = backchannel_encode(t, sc, rqst, plan.position_zero, &lists);
	if (!ret)
		return backchannel_post(t, sc, rqst);
out_put:
	svcrdma_send_ctxt_put(t, sc);
	return ret;
}

/*
 * Send a callback. Return: 0 or a negative errno. After -EBADSLT, SUNRPC lets the callback wait
 * until another callback has given its credit back.
 */
static int backchannel_send_request(struct rpc_rqst *rqst)
{
	struct svcrdma_transport *t = backchannel_transport(rqst->rq_xprt);
	struct svcrdma_send_ctxt *sc;
	int ret = -ENOBUFS;

	if (READ_ONCE(t->st_closing)) {
		/*
		 * Tell SUNRPC that the connection is gone. Otherwise only backchannel_close() would
		 * tell it, once a thread of nfsd ends the svc_xprt, and until then SUNRPC would
		 * send the call again without a pause.
		 */
		xprt_disconnect_done(rqst->rq_xprt);
		ret = -ENOTCONN;
		goto out_err;
	}
	if (!xprt_request_get_cong(rqst->rq_xprt, rqst))
		return -EBADSLT;
	sc = svcrdma_send_ctxt_get(t, rpc_task_gfp_mask());
	if (sc)
		ret = backchannel_send(t, sc, rqst);
	if (!ret)
		return 0;
out_err:
	trace_svcrdma_backchannel_send_err(t, be32_to_cpu(rqst->rq_xid), ret);
	if (ret != -EMSGSIZE && ret != -EIO)
		return ret;
	/*
	 * Return 0, since an error would end the task that sends, which may be another one than the
	 * task of @rqst. That task finds the refusal when it waits for the reply.
	 */
	spin_lock(&rqst->rq_xprt->queue_lock);
	bc_buffer_of(rqst)->refused = RPCRDMA_REFUSED;
	spin_unlock(&rqst->rq_xprt->queue_lock);
	return 0;
}

/* End the exposure of a call for whose reply no task waits any more, answered or not. */
static void backchannel_release_request(struct rpc_task *task)
{
	struct rpc_rqst *rqst = task->tk_rqstp;

	svcrdma_long_call_end(backchannel_transport(rqst->rq_xprt),
			      be32_to_cpu(rqst->rq_xid), 0);
	xprt_release_rqst_cong(task);
}

/* ---- the rpc_xprt ---- */

/* SUNRPC calls this from the teardown of the svc_xprt: the connection is gone. */
static void backchannel_close(struct rpc_xprt *xprt)
{
	xprt_disconnect_done(xprt);
	/* Use the function that takes the lock: a thread may handle an earlier reply just now. */
	backchannel_set_window(xprt, 1);
}

/* Fail all tasks that want a connection, since only the client can connect. */
static void backchannel_connect(struct rpc_xprt *xprt, struct rpc_task *task)
{
	clear_bit_unlock(XPRT_CONNECTING, &xprt->state);
	xprt_wake_pending_tasks(xprt, -ENOTCONN);
}

static void backchannel_print_stats(struct rpc_xprt *xprt, struct seq_file *seq)
{
	seq_printf(seq, "\txprt:\trdma 0 %lu %lu %lu 0 %lu %lu %lu %llu %llu",
		   xprt->stat.bind_count, xprt->stat.connect_count,
		   xprt->stat.connect_time / HZ, xprt->stat.sends, xprt->stat.recvs,
		   xprt->stat.bad_xids, xprt->stat.req_u, xprt->stat.bklog_u);
	/* mountstats has 17 more numbers of an RDMA transport, which are 0 for callbacks. */
	seq_puts(seq, " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
}

/**
 * struct bc_xprt - an rpc_xprt for callbacks
 * @bx_rpc: SUNRPC's part, which has to come first, since SUNRPC frees the struct by its address
 * @bx_free_work: work item that frees the struct
 */
struct bc_xprt {
	struct rpc_xprt		bx_rpc;
	struct work_struct	bx_free_work;
};

static void backchannel_free(struct rpc_xprt *xprt)
{
	rpcrdma_addresses_exit(xprt);
	xprt_free(xprt);
}

/* Free an rpc_xprt, and drop its module reference, which may be the last one. */
static void backchannel_free_work(struct work_struct *work)
{
	struct bc_xprt *bx = container_of(work, struct bc_xprt, bx_free_work);

	/* SUNRPC's work item, which has called backchannel_destroy(), may still run. */
	flush_work(&bx->bx_rpc.task_cleanup);
	backchannel_free(&bx->bx_rpc);
	module_put(THIS_MODULE);
}

static void backchannel_destroy(struct rpc_xprt *xprt)
{
	struct bc_xprt *bx = container_of(xprt, struct bc_xprt, bx_rpc);

	queue_work(svcrdma_wq, &bx->bx_free_work);
}

static void backchannel_inject_disconnect(struct rpc_xprt *xprt)
{
	svcrdma_transport_close(backchannel_transport(xprt), RPCRDMA_END_OTHER);
}

static const struct rpc_xprt_ops backchannel_ops = {
	.reserve_xprt		= xprt_reserve_xprt_cong,
	.release_xprt		= xprt_release_xprt_cong,
	.alloc_slot		= xprt_alloc_slot,
	.free_slot		= xprt_free_slot,
	.connect		= backchannel_connect,
	.buf_alloc		= backchannel_buf_alloc,
	.buf_free		= backchannel_buf_free,
	.send_request		= backchannel_send_request,
	.wait_for_reply_request	= backchannel_wait_for_reply,
	.release_request	= backchannel_release_request,
	.close			= backchannel_close,
	.destroy		= backchannel_destroy,
	.print_stats		= backchannel_print_stats,
	.inject_disconnect	= backchannel_inject_disconnect,
};

/* Nominal values, since nfsd's own timers decide when a callback takes too long. */
static const struct rpc_timeout backchannel_timeout = {
	.to_initval	= 60 * HZ,
	.to_maxval	= 60 * HZ,
};

static struct rpc_xprt *backchannel_alloc(const struct xprt_create *args)
{
	struct rpc_xprt *xprt;
	struct bc_xprt *bx;

	xprt = xprt_alloc(args->net, sizeof(*bx), SVCRDMA_REVERSE_CREDITS,
			  SVCRDMA_REVERSE_CREDITS);
	if (!xprt)
		return NULL;
	bx = container_of(xprt, struct bc_xprt, bx_rpc);
	INIT_WORK(&bx->bx_free_work, backchannel_free_work);
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	xprt->addrlen = args->addrlen;
	if (rpcrdma_addresses_init(xprt)) {
		xprt_free(xprt);
		return NULL;
	}
	return xprt;
}

static struct rpc_xprt *backchannel_setup(struct xprt_create *args)
{
	struct svcrdma_transport *t = svcrdma_transport_of(args->bc_xprt);
	struct rpc_xprt *xprt;

	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	xprt = backchannel_alloc(args);
	if (!xprt)
		return ERR_PTR(-ENOMEM);

	xprt->ops = &backchannel_ops;
	/* SUNRPC's sysfs files use xprt_class without a test for NULL. */
	xprt->xprt_class = &svcrdma_backchannel_class;
	xprt->prot = XPRT_TRANSPORT_BC_RDMA;
	xprt->timeout = &backchannel_timeout;
	xprt->max_payload = t->st_agreed.inline_send;
	xprt_set_bound(xprt);
	xprt_set_connected(xprt);

	xprt->bc_xprt = args->bc_xprt;
	/* Two sessions on one connection may set up their callbacks at the same time. */
	if (cmpxchg(&args->bc_xprt->xpt_bc_xprt, NULL, xprt)) {
		backchannel_free(xprt);
		return ERR_PTR(-EBUSY);
	}
	/*
	 * backchannel_free_work() drops this reference. SUNRPC has a reference of its own only
	 * while this function runs.
	 */
	__module_get(THIS_MODULE);
	xprt_get(xprt);
	return xprt;
}

struct xprt_class svcrdma_backchannel_class = {
	.list	= LIST_HEAD_INIT(svcrdma_backchannel_class.list),
	.name	= "rdma backchannel",
	.owner	= THIS_MODULE,
	.ident	= XPRT_TRANSPORT_BC_RDMA,
	.setup	= backchannel_setup,
	/* SUNRPC finds this class by its identifier only, but the list of names needs an end. */
	.netid	= { "" },
};
