// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The life of a connection, from its request until its memory is freed.
 *
 * Birth: the CM handler of the listener makes a transport that has an id and no other verbs object.
 * Accept, in an nfsd thread, adds all other verbs objects or none, posts Receives, and accepts.
 * Receives may complete before the ESTABLISHED event, when the queue pair cannot send yet. So nfsd
 * is told of them only while the state is ESTABLISHED.
 *
 * Close: svcrdma_transport_close() may be called in any context, any number of times. It stops new
 * posts, takes the contexts that wait for Send Queue entries off their list, and has nfsd run
 * detach. Two kinds of connections are closed without a thread of nfsd: a connection whose device
 * is removed, since the removal waits for the connection's id, and a connection that is lost before
 * accept.
 *
 * Teardown has two functions, the first for the connection, and the second for its memory:
 *
 * transport_quiesce(), called once: by detach, or by svcrdma_transport_discard() if nfsd does not
 * know the connection. The caller may sleep. It is no completion handler, and is a CM handler only
 * if the transport has no id:
 * 1. st_closing is set under st_sq.lock. No waiter is added afterwards, and only a context that
 *    has already seen st_closing clear may still post.
 * 2. The worker polls the Receive completions from now on, and threads do not. After
 *    rdma_disconnect() and ib_drain_qp(), completion handlers that saw st_closing clear have
 *    returned, since a queue's completions are handled in order, and that of the drain is the last.
 * 3. Three work items end, which watch the exposures, watch the Send Queue, and make the grant
 *    larger. Only the one for the exposures may be started again. None of them posts once it sees
 *    st_closing set; one that saw st_closing clear may have posted behind the drain.
 * 4. The handler lock is taken and released, after which CM handlers that saw st_closing clear have
 *    returned. No handler closes the connection or wakes nfsd from here on. (A completion event may
 *    be late, and see an old state, but it finds XPT_BUSY set, which is never cleared again.)
 *
 * svcrdma_transport_free(), called as xpo_free when the last reference is gone. Threads, and the
 * work items of step 3, that saw st_closing clear may have posted after the drain of
 * transport_quiesce(), but have returned now:
 * 1. The work item of the exposures is stopped again, since a thread that posted may have started
 *    it, and the queue pair is drained again. The HCA owns no context any more, and no work item
 *    or thread uses the queue pair.
 * 2. Contexts and exposures are unmapped and freed, in whatever state they are. The queue
 *    pair must still exist, as its pool takes memory regions back. The credits go back to the
 *    budget after the Receive contexts are freed; no handler or work item uses st_host any more.
 * 3. Queue pair, completion queues and protection domain are destroyed before the id, since the
 *    removal of a device goes on as soon as the last id is destroyed.
 * 4. rdma_destroy_id() waits for the CM handler, which is the last user of the transport.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>

#include "listener.h"
#include "rw.h"
#include "svcrdma.h"
#include "sysctl.h"
#include "trace.h"

enum {
	/* A client without private data may receive as many bytes as the in-tree server sends. */
	LARGEST_GUESS = SZ_8K,
	SEND_SGES = 16,		/* scatter/gather entries of one RDMA Write; a Send needs one */
};

static void transport_state_event(struct svcrdma_transport *t,
				  enum rpcrdma_conn_event event)
{
	spin_lock(&t->st_recv_lock);
	WRITE_ONCE(t->st_state, rpcrdma_conn_next(t->st_state, event));
	spin_unlock(&t->st_recv_lock);
}

static void transport_established(struct svcrdma_transport *t)
{
	transport_state_event(t, RPCRDMA_EVENT_ESTABLISHED);
	/*
	 * Either the handler of a message that comes now sees the state, or the thread that is
	 * woken here sees the message: pairs with llist_add() of svcrdma_recv_taken().
	 */
	smp_mb();
	svcrdma_transport_data(t);
}

static void transport_quiesce(struct svcrdma_transport *t)
{
	svcrdma_connection_note_quiesce(t);
	/* 1 */
	svcrdma_sq_close(t);
	transport_state_event(t, RPCRDMA_EVENT_FAILED);
	/* 2 */
	if (t->st_qp) {
		svcrdma_poll_stop(t);
		rdma_disconnect(t->st_id);
		ib_drain_qp(t->st_qp);
	}
	transport_state_event(t, RPCRDMA_EVENT_DRAINED);
	/* 3 */
	svcrdma_exposures_stop(t);
	svcrdma_sq_stop(t);
	svcrdma_grant_stop(t);
	/* 4 */
	if (t->st_id) {
		rdma_lock_handler(t->st_id);
		rdma_unlock_handler(t->st_id);
	}
}

/*
 * Transports that are being closed without a thread of nfsd, by st_close_list. The listener or the
 * svc_serv in their st_close_for has to stay until they are closed.
 */
static DEFINE_SPINLOCK(closing_lock);	/* guards the list and st_close_for */
static LIST_HEAD(closing);
static DECLARE_WAIT_QUEUE_HEAD(closing_over);

static bool is_waited_for(const struct svc_serv *serv, const struct svcrdma_listener *li)
{
	const struct svcrdma_transport *t;
	bool found = false;

	spin_lock(&closing_lock);
	list_for_each_entry(t, &closing, st_close_list)
		found |= t->st_close_for == serv || t->st_close_for == li;
	spin_unlock(&closing_lock);
	return found;
}

/**
 * svcrdma_transports_wait - wait until no connection is being closed that uses a svc_serv
 * @serv: svc_serv of connections that nfsd has accepted
 * @li: listener of @serv at which connections have waited for accept. No more requests come to it,
 *	and none is pending
 *
 * A connection that was lost before accept, or whose device is removed, is closed by a work item
 * and not by a thread of nfsd. So its closing may not be over when nfsd's threads have ended, and
 * the svc_serv has to stay until then. SUNRPC does not know of connections that were lost before
 * accept, and may not know of those whose device is removed, since svc_age_temp_xprts_now() takes
 * connections off its lists.
 *
 * This does not wait for connections of another svc_serv, whose device may not answer. It does not
 * wait for connections that waited for accept at another listener, either, since clients may come
 * to that listener without end: the other listener is closed before the svc_serv goes, too, and
 * waits for its connections then.
 *
 * Context: process.
 */
void svcrdma_transports_wait(const struct svc_serv *serv, const struct svcrdma_listener *li)
{
	wait_event(closing_over, !is_waited_for(serv, li));
}

/*
 * Close a connection without waiting for a thread of nfsd, which may have no thread just now, or
 * may not know of the connection yet. If a thread has XPT_BUSY, svc_xprt_close() only sets
 * XPT_CLOSE, and that thread closes the connection.
 */
static void transport_close_work(struct work_struct *work)
{
	struct svcrdma_transport *t =
		container_of(work, struct svcrdma_transport, st_close_work);

	if (svcrdma_listener_forget(t))
		svcrdma_transport_discard(t);
	else
		svc_xprt_close(&t->st_xprt);
	spin_lock(&closing_lock);
	list_del(&t->st_close_list);
	spin_unlock(&closing_lock);
	/* The svc_serv may be gone from here on. */
	wake_up_all(&closing_over);
	svc_xprt_put(&t->st_xprt);
}

/*
 * Have the work item close a connection. Context: a CM handler of the connection, which holds the
 * handler lock. The listener does not miss a connection that this function adds to the list while
 * the connection is on li_pending: whoever takes the connection off li_pending then takes the
 * handler lock, too (in transport_quiesce(), or for rdma_accept()), and the listener waits in
 * svcrdma_transports_wait() only after that.
 */
static void transport_close_without_nfsd(struct svcrdma_transport *t)
{
	const struct svcrdma_listener *li = READ_ONCE(t->st_listener);

	/* If st_closing was set before, the connection is being closed already. */
	if (!svcrdma_sq_close(t))
		return;
	trace_svcrdma_closing(t, 0);
	svc_xprt_get(&t->st_xprt);
	spin_lock(&closing_lock);
	t->st_close_for = li ? (const void *)li : t->st_xprt.xpt_server;
	list_add_tail(&t->st_close_list, &closing);
	spin_unlock(&closing_lock);
	/* The work item is not queued yet, since st_closing is set only once. */
	queue_work(svcrdma_close_wq, &t->st_close_work);
}

static enum rpcrdma_end end_of_event(const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return RPCRDMA_END_DEVICE_REMOVED;
	case RDMA_CM_EVENT_DISCONNECTED:
		return RPCRDMA_END_PEER_DISCONNECTED;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		return RPCRDMA_END_OTHER;
	default:
		return RPCRDMA_END_CONNECT_FAILED;
	}
}

/* Return: always 0, so that the CM does not destroy the id: svcrdma_transport_free() does that. */
static int transport_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct svcrdma_transport *t = id->context;

	trace_svcrdma_cm_event(SVCRDMA_PEER(t), id, event);
	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		transport_established(t);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DISCONNECTED:
		/*
		 * Note the reason, even if the connection was closed before: the handler of a
		 * flushed work request closes it without a reason.
		 */
		svcrdma_connection_note_end(t, end_of_event(event));
		transport_state_event(t, RPCRDMA_EVENT_FAILED);
		/*
		 * nfsd closes a connection that accept has taken, unless the device is removed: the
		 * removal waits for the connection's id, and must not wait for nfsd.
		 */
		if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL || READ_ONCE(t->st_listener))
			transport_close_without_nfsd(t);
		else
			svcrdma_transport_close(t, RPCRDMA_END_UNKNOWN);
		break;
	default:
		break;
	}
	return 0;
}

/*
 * Handle an event of the queue pair. Context: any. Errors need no action, since a queue pair in the
 * error state flushes its work requests, and their completions close the connection. COMM_EST tells
 * the CM that the connection is established even if the RTU message was lost.
 */
static void transport_qp_event(struct ib_event *event, void *context)
{
	struct svcrdma_transport *t = context;

	trace_svcrdma_qp_event(t, event->event);
	if (event->event == IB_EVENT_COMM_EST)
		rdma_notify(t->st_id, event->event);
}

/**
 * svcrdma_transport_create - a transport for a connection request
 * @serv: svc_serv that serves the connection
 * @net: network namespace
 * @id: id of the new connection; its events go to the transport from now on
 * @param: connection parameters of the client's request
 *
 * Context: the CM handler of @id's listener, which holds @id's handler lock.
 * Return: a transport that is to be given to svcrdma_transport_accept() or
 * svcrdma_transport_discard(), or an ERR_PTR with @id unchanged.
 */
struct svcrdma_transport *svcrdma_transport_create(struct svc_serv *serv,
						   struct net *net,
						   struct rdma_cm_id *id,
						   const struct rdma_conn_param *param)
{
	struct sockaddr *local = (struct sockaddr *)&id->route.addr.src_addr;
	struct sockaddr *remote = (struct sockaddr *)&id->route.addr.dst_addr;
	struct svcrdma_transport *t;

	if ((local->sa_family != AF_INET && local->sa_family != AF_INET6) ||
	    local->sa_family != remote->sa_family)
		return ERR_PTR(-EAFNOSUPPORT);
	t = kzalloc(sizeof(*t), GFP_KERNEL);
	if (!t)
		return ERR_PTR(-ENOMEM);
	svc_xprt_init(net, &svcrdma_class, &t->st_xprt, serv);
	t->st_xprt.xpt_ops = &svcrdma_transport_ops;
	set_bit(XPT_CONG_CTRL, &t->st_xprt.xpt_flags);
	svc_xprt_set_local(&t->st_xprt, local, svc_addr_len(local));
	svc_xprt_set_remote(&t->st_xprt, remote, svc_addr_len(remote));
	/* Each connection comes from another port, and nfsd's reply cache compares addresses. */
	rpc_set_port((struct sockaddr *)&t->st_xprt.xpt_remote, 0);

	spin_lock_init(&t->st_recv_lock);
	spin_lock_init(&t->st_expose_lock);
	t->st_part_cqe.done = svcrdma_part_wc;
	INIT_LIST_HEAD(&t->st_pending);
	svcrdma_recv_setup(t);
	svcrdma_reads_setup(t);
	svcrdma_sq_setup(t);
	svcrdma_send_setup(t);
	svcrdma_regions_setup(t);
	INIT_WORK(&t->st_close_work, transport_close_work);

	rpcrdma_cm_private_decode(param->private_data, param->private_data_len,
				  &t->st_peer);
	/* The CM has swapped the two depths: this is the number of Reads that the client allows. */
	t->st_read_depth = param->initiator_depth;
	t->st_pull_depth = param->responder_resources;
	t->st_id = id;
	id->context = t;
	id->event_handler = transport_cm_handler;
	return t;
}

/* Decide what the server announces, and what both peers agree on. RFC 8797: in units of 1024. */
static void transport_negotiate(struct svcrdma_transport *t,
				struct rpcrdma_cm_private *local)
{
	struct ib_device *device = svcrdma_transport_device(t);
	u32 size = round_down(READ_ONCE(svcrdma_max_req_size), 1024);

	local->send_size = size;
	local->recv_size = size;
	local->remote_invalidation = device->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS;
	local->present = true;
	t->st_pull_depth = min_t(u32, t->st_pull_depth,
				 max(device->attrs.max_qp_rd_atom, 0));
	/* Answer only extensions that the client has announced, and only if it may do Reads. */
	if (READ_ONCE(svcrdma_reliable_reply) && local->remote_invalidation &&
	    t->st_pull_depth)
		local->extensions = rpcrdma_extensions_answer(t->st_peer.extensions);
	/* Without an extension we expose no memory, so the client has no use for Reads. */
	if (!local->extensions)
		t->st_pull_depth = 0;
	rpcrdma_cm_negotiate(local, &t->st_peer, &t->st_agreed);

	t->st_recv_size = size;
	t->st_inline_send = t->st_agreed.inline_send;
	t->st_inline_most = t->st_peer.present ? t->st_inline_send : LARGEST_GUESS;
	t->st_serve_msgp = READ_ONCE(svcrdma_serve_msgp);
	t->st_answer_config = READ_ONCE(svcrdma_answer_config);
	t->st_max_pages = svc_serv_maxpages(t->st_xprt.xpt_server);
	t->st_max_chunks = size / (2 * RPCRDMA_SEGMENT_SIZE);
	t->st_read_depth = min3(t->st_read_depth, READ_ONCE(svcrdma_ord),
				(u32)max(device->attrs.max_qp_init_rd_atom, 0));
}

static int transport_size(struct svcrdma_transport *t,
			  struct rpcrdma_server_queues *queues)
{
	struct ib_device *device = svcrdma_transport_device(t);
	const struct ib_device_attr *attrs = &device->attrs;
	struct rpcrdma_device_limits limits = {
		.max_qp_wr = max(attrs->max_qp_wr, 1) - 1,	/* one is for the drain */
		.max_cqe = max(attrs->max_cqe, 1) - 1,
		.max_send_sge = attrs->max_send_sge,
		.max_fast_reg_pages = attrs->max_fast_reg_page_list_len,
	};

	t->st_spare_exposures = t->st_agreed.read_chunk_replies ? SVCRDMA_SPARE_EXPOSURES : 0;
	if (!rpcrdma_size_server(&limits, READ_ONCE(svcrdma_max_requests),
				 SVCRDMA_REVERSE_CREDITS, t->st_spare_exposures,
				 rdma_rw_mr_factor(device, t->st_port, t->st_max_pages),
				 queues))
		return -ENOSPC;
	t->st_credits = queues->credits;
	return 0;
}

/* The queues have room for all work requests, since an error completes even unsignalled ones. */
static int transport_cqs_create(struct svcrdma_transport *t,
				const struct rpcrdma_server_queues *queues)
{
	struct ib_device *device = svcrdma_transport_device(t);
	u32 send = queues->send_wrs + 3 * queues->rw_contexts + 1;
	int ret;

	send = min_t(u32, send, device->attrs.max_cqe);
	t->st_send_cq = ib_alloc_cq_any(device, t, send, IB_POLL_WORKQUEUE);
	if (IS_ERR(t->st_send_cq))
		return PTR_ERR(t->st_send_cq);
	ret = svcrdma_poll_begin(t, queues->recv_wrs + 1);
	if (ret)
		ib_free_cq(t->st_send_cq);
	return ret;
}

static void transport_cqs_destroy(struct svcrdma_transport *t)
{
	svcrdma_poll_end(t);
	ib_free_cq(t->st_send_cq);
}

static int transport_qp_create(struct svcrdma_transport *t,
			       const struct rpcrdma_server_queues *queues)
{
	struct ib_device *device = svcrdma_transport_device(t);
	struct ib_qp_init_attr attr = {
		.event_handler	= transport_qp_event,
		.qp_context	= t,
		.send_cq	= t->st_send_cq,
		.recv_cq	= t->st_recv_cq,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.port_num	= t->st_port,
		.cap = {
			.max_send_wr	= queues->send_wrs + 1,
			.max_recv_wr	= queues->recv_wrs + 1,
			.max_rdma_ctxs	= queues->rw_contexts,
			.max_send_sge	= min_t(u32, device->attrs.max_send_sge,
						SEND_SGES),
			.max_recv_sge	= 1,
		},
	};
	int ret;

	ret = rdma_create_qp(t->st_id, t->st_pd, &attr);
	if (ret)
		return ret;
	t->st_qp = t->st_id->qp;
	/*
	 * ib_core has added entries for rdma_rw. One entry is for the drain, and some are for
	 * unsignalled Sends. Devices round up, but each entry needs room in the completion queue.
	 */
	t->st_sq_depth = min_t(u32, attr.cap.max_send_wr, t->st_send_cq->cqe) - 1 -
			 RPCRDMA_UNSIGNALLED_SENDS;
	return 0;
}

/* Create all verbs objects or none; st_qp is NULL if there are none. */
static int transport_verbs_create(struct svcrdma_transport *t)
{
	struct rpcrdma_server_queues queues;
	int ret;

	ret = transport_size(t, &queues);
	if (ret)
		return ret;
	t->st_pd = ib_alloc_pd(svcrdma_transport_device(t), 0);
	if (IS_ERR(t->st_pd))
		return PTR_ERR(t->st_pd);
	ret = transport_cqs_create(t, &queues);
	if (ret)
		goto out_pd;
	ret = transport_qp_create(t, &queues);
	if (ret)
		goto out_cqs;
	return 0;

out_cqs:
	transport_cqs_destroy(t);
out_pd:
	ib_dealloc_pd(t->st_pd);
	return ret;
}

/*
 * When a message finds no Receive, the client's device waits for the time of the RNR timer and
 * tries again, RNR_RETRIES times. That is about half a second, in which a thread of nfsd gives a
 * Receive back. A client that keeps to its credits never waits; a client that exceeds them is
 * slowed down, and need not connect again. The CM's defaults are 0.66 s and no retry.
 */
enum { RNR_TIMER = IB_RNR_TIMER_081_92, RNR_RETRIES = 6 };

static int transport_reply_to_client(struct svcrdma_transport *t,
				     const struct rpcrdma_cm_private *local)
{
	u8 private_data[RPCRDMA_CM_MAX_SIZE];
	struct rdma_conn_param param = {
		.private_data		= private_data,
		.private_data_len	= rpcrdma_cm_private_encode(local, private_data),
		.initiator_depth	= t->st_read_depth,
		.responder_resources	= t->st_pull_depth,
		.rnr_retry_count	= RNR_RETRIES,
	};
	int ret;

	/* ESTABLISHED may come before rdma_accept() returns. */
	transport_state_event(t, RPCRDMA_EVENT_ACCEPT);
	rdma_set_min_rnr_timer(t->st_id, RNR_TIMER);
	svcrdma_rxe_begin(t);
	rdma_lock_handler(t->st_id);
	ret = rdma_accept(t->st_id, &param);
	rdma_unlock_handler(t->st_id);
	return ret;
}

/**
 * svcrdma_transport_accept - accept a connection
 * @t: transport from svcrdma_transport_create()
 *
 * Context: process.
 * Return: 0, or a negative errno, after which @t has to be discarded.
 */
int svcrdma_transport_accept(struct svcrdma_transport *t)
{
	struct rpcrdma_cm_private local = {};
	int ret = -ENOTCONN;

	if (READ_ONCE(t->st_closing))
		goto out_err;
	t->st_port = t->st_id->port_num;
	transport_negotiate(t, &local);
	ret = transport_verbs_create(t);
	if (ret)
		goto out_err;
	svcrdma_regions_create(t);
	ret = svcrdma_grant_begin(t);
	if (ret)
		goto out_err;
	ret = svcrdma_connection_add(t);
	if (ret)
		goto out_err;
	ret = transport_reply_to_client(t, &local);
	if (ret)
		goto out_err;
	trace_svcrdma_accepted(t, 0);
	return 0;

out_err:
	svcrdma_connection_note_end(t, RPCRDMA_END_CONNECT_FAILED);
	trace_svcrdma_accept_err(t, ret);
	return ret;
}

/**
 * svcrdma_transport_discard - end a transport that nfsd does not know
 * @t: transport that was not accepted; st_id is NULL if the CM destroys the id
 *
 * Context: process; a CM handler only if st_id is NULL.
 */
void svcrdma_transport_discard(struct svcrdma_transport *t)
{
	transport_quiesce(t);
	/* svc_xprt_put() drops a module reference that was not taken for this transport yet. */
	__module_get(svcrdma_class.xcl_owner);
	svc_xprt_put(&t->st_xprt);
}

static void svcrdma_transport_detach(struct svc_xprt *xprt)
{
	transport_quiesce(svcrdma_transport_of(xprt));
}

static void svcrdma_transport_free(struct svc_xprt *xprt)
{
	struct svcrdma_transport *t = svcrdma_transport_of(xprt);

	trace_svcrdma_freed(t, 0);
	if (t->st_qp) {
		/* 1 */
		svcrdma_exposures_stop(t);
		ib_drain_qp(t->st_qp);
		svcrdma_connection_remove(t);
		/* 2 */
		svcrdma_recv_ctxts_destroy(t);
		svcrdma_budget_leave(t);
		svcrdma_send_ctxts_destroy(t);
		svcrdma_exposures_destroy(t);
		/* 3 */
		rdma_destroy_qp(t->st_id);
		transport_cqs_destroy(t);
		ib_dealloc_pd(t->st_pd);
	}
	/* 4 */
	if (t->st_id)
		rdma_destroy_id(t->st_id);
	kfree(t);
}

/* There is room for a reply: svcrdma_recvfrom() takes no call while the Send Queue is congested. */
static int svcrdma_transport_has_wspace(struct svc_xprt *xprt)
{
	return 1;
}

static void transport_kill_temp_xprt(struct svc_xprt *xprt)
{
}

const struct svc_xprt_ops svcrdma_transport_ops = {
	.xpo_has_wspace		= svcrdma_transport_has_wspace,
	.xpo_recvfrom		= svcrdma_recvfrom,
	.xpo_sendto		= svcrdma_sendto,
	.xpo_result_payload	= svcrdma_result_payload,
	.xpo_release_ctxt	= svcrdma_release_ctxt,
	.xpo_detach		= svcrdma_transport_detach,
	.xpo_free		= svcrdma_transport_free,
	.xpo_kill_temp_xprt	= transport_kill_temp_xprt,
	COMPAT_SVC_XPRT_OPS
};
