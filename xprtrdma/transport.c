// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The "rdma" transport class, which joins the RPC client's rpc_xprt and the current
 * connection.
 *
 * A mount creates a transport, which lives until the last rpc_clnt that uses it is gone,
 * while its connections come and go. A function that changes xt_conn runs under the
 * rpc_xprt's write lock (XPRT_LOCKED): the connect worker inherits that lock from the task
 * that asked for a connection, and SUNRPC's autoclose worker takes it before ->close.
 *
 * The end of a transport: SUNRPC calls ->destroy from a work item of its own on a workqueue of
 * the system, and unloading this module does not wait for that item. So a work item of this
 * module waits until SUNRPC's has returned, and then drops the reference on the module. Module
 * exit destroys the workqueue of that item, and so waits for the last instructions of the item.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sunrpc/addr.h>

#include <common/addresses.h>

#include "connection.h"
#include "request.h"
#include "trace.h"

#define BIND_TIMEOUT		(60U * HZ)
/*
 * Delays between connect attempts. Each delay is twice the last one, from REESTABLISH_FIRST to
 * REESTABLISH_MAX, or to a smaller maximum that the NFS client has set. A restarted server may have
 * to wait for its clients for the longest delay. REESTABLISH_MIN bounds only RPC timeouts.
 */
#define REESTABLISH_FIRST	(1U * HZ)
#define REESTABLISH_MIN		(5U * HZ)
#define REESTABLISH_MAX		(10U * HZ)
#define IDLE_TIMEOUT		(5U * 60 * HZ)
/* A server that takes longer to answer the question for its limits is not asked again. */
#define CCP_TIMEOUT		(5U * HZ)

static struct xprt_class xprtrdma_class;

/*
 * Workqueue of the work items that the teardown of a connection waits for. It has a rescuer, since
 * reclaim may wait for these items, too.
 */
struct workqueue_struct *xprtrdma_wq;

/*
 * Workqueue that frees transports. It has no rescuer, since free_worker() waits for a work item on
 * a workqueue that has none.
 */
static struct workqueue_struct *free_wq;

/*
 * Takes down the current connection, if any. Called by close, destroy and the connect worker, which
 * hold the write lock. @closed: the transport ends, and needs no connection any more.
 */
static void disconnect(struct xprtrdma_transport *transport, bool closed)
{
	struct xprtrdma_conn *conn = transport->xt_conn;

	if (!conn)
		return;
	xprtrdma_connection_ended(conn, closed);
	xprtrdma_connection_set(transport, NULL);
	xprtrdma_conn_destroy(conn);
	/* Tasks that sleep in wait_for_fence() go on: the server cannot reach their memory now. */
	rpc_wake_up(&transport->xt_fenced);
}

/*
 * Makes a connection, and asks for the server's limits if the administrator wants that. Once a
 * server has failed to answer, the transport does not ask again.
 */
static struct xprtrdma_conn *create_and_ask(struct xprtrdma_transport *transport)
{
	struct xprtrdma_conn *conn = xprtrdma_conn_create(transport);
	int ret;

	if (IS_ERR(conn) || !READ_ONCE(xprtrdma_ask_config) || transport->xt_ccp_silent)
		return conn;
	ret = xprtrdma_ccp_ask(conn);
	if (!ret)
		return conn;
	transport->xt_ccp_silent = true;
	xprtrdma_conn_destroy(conn);
	/* No second try: a close that was requested for this connection would hit the next one. */
	return ERR_PTR(ret);
}

/*
 * Changes the connect cookie under the write lock, as SUNRPC does. SUNRPC reads the cookie under
 * transport_lock alone (xprt_conditional_disconnect()), and also without any lock.
 */
static void next_cookie(struct rpc_xprt *xprt)
{
	spin_lock(&xprt->transport_lock);
	WRITE_ONCE(xprt->connect_cookie, xprt->connect_cookie + 1);
	spin_unlock(&xprt->transport_lock);
}

static int establish(struct xprtrdma_transport *transport)
{
	struct xprtrdma_conn *conn;

	disconnect(transport, false);
	conn = create_and_ask(transport);
	if (IS_ERR(conn))
		return PTR_ERR(conn);

	xprtrdma_window_begin(conn);
	WRITE_ONCE(transport->xt_overdue, false);
	xprtrdma_bc_connected(conn);
	transport->xt_was_connected = true;
	xprtrdma_connection_set(transport, conn);
	return 0;
}

/*
 * Returns the errno of a failed connect for SUNRPC, which would end an RPC for good on an errno
 * that it does not expect, even on a hard mount. Such an errno is replaced by one on which SUNRPC
 * tries again.
 *
 * If no RDMA device is on the route to the server a new mount fails at once: mount(8) gives up on
 * EPROTO, but would try for two minutes on EHOSTUNREACH. A transport that has had a connection goes
 * on trying, as the device may come back. So does a call of a hard mount whose transport has had
 * no connection.
 */
static int connect_status(const struct xprtrdma_transport *transport, int ret)
{
	switch (ret) {
	case -ENODEV:
		return transport->xt_was_connected ? -EHOSTUNREACH : -EPROTO;
	case -ECONNREFUSED:
	case -ECONNRESET:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -ENOTCONN:
	case -EAGAIN:
	case -ETIMEDOUT:
		return ret;
	case -ENOMEM:
		return -ENOBUFS;
	default:
		return -EHOSTUNREACH;
	}
}

static void connect_worker(struct work_struct *work)
{
	struct xprtrdma_transport *transport =
		container_of(work, struct xprtrdma_transport, xt_connect_worker.work);
	struct rpc_xprt *xprt = &transport->xt_xprt;
	unsigned int flags = xprtrdma_memalloc_save(xprt);
	enum rpcrdma_end end;
	int ret;

	ret = establish(transport);
	trace_xprtrdma_connect(xprt, ret);
	/*
	 * The cookie changes even after a failure: a task that learns of the failure asks for a
	 * disconnect with the old cookie, which must not end a later connection.
	 */
	next_cookie(xprt);
	xprt_clear_connecting(xprt);
	if (!ret) {
		xprt->stat.connect_count++;
		xprt->stat.connect_time += (long)jiffies - xprt->stat.connect_start;
		xprt_set_connected(xprt);
		ret = -EAGAIN;
	} else {
		/* A failed attempt is counted as a connection that has ended at once. */
		end = ret == -ECONNREFUSED ? RPCRDMA_END_CONNECT_REFUSED :
		      RPCRDMA_END_CONNECT_FAILED;
		RPCRDMA_COUNT(transport->xt_counters.ended[end], 1);
		/* The server has not seen this attempt, and a longer delay would not spare it. */
		if (ret == -EHOSTUNREACH || ret == -ENODEV)
			xprt->reestablish_timeout = REESTABLISH_FIRST;
		ret = connect_status(transport, ret);
	}
	/* Wake before the unlock: tasks that wait from then on wait for a reply or an attempt. */
	xprt_wake_pending_tasks(xprt, ret);
	xprt_unlock_connect(xprt, transport);

	xprtrdma_memalloc_restore(flags);
}

/*
 * ->connect: the caller holds the write lock, and hands it to the worker. The first
 * attempt, and the first one after a useful connection, begin at once. Each further attempt
 * has a longer delay, except while there is no way to the server with an RDMA device.
 */
static void transport_connect(struct rpc_xprt *xprt, struct rpc_task *task)
{
	struct xprtrdma_transport *transport = xprtrdma_transport_of(xprt);
	unsigned long delay = 0;

	WARN_ON_ONCE(!xprt_lock_connect(xprt, task, transport));

	if (xprt->reestablish_timeout) {
		delay = xprt_reconnect_delay(xprt);
		xprt_reconnect_backoff(xprt, REESTABLISH_FIRST);
	} else {
		xprt->reestablish_timeout = REESTABLISH_FIRST;
	}
	queue_delayed_work(system_long_wq, &transport->xt_connect_worker, delay);
}

/* ->close: the caller holds the write lock. */
static void transport_close(struct rpc_xprt *xprt)
{
	struct xprtrdma_transport *transport = xprtrdma_transport_of(xprt);
	const struct xprtrdma_conn *conn = transport->xt_conn;

	trace_xprtrdma_close(xprt, conn ? READ_ONCE(conn->xc_end) : RPCRDMA_END_UNKNOWN);
	/* A connection that never brought a reply counts as a failed attempt. */
	if (conn && READ_ONCE(conn->xc_useful))
		xprt->reestablish_timeout = 0;
	disconnect(transport, false);
	next_cookie(xprt);
	xprt_disconnect_done(xprt);
}

/* Frees a transport, and drops its reference on the module, which may be the last one. */
static void free_worker(struct work_struct *work)
{
	struct xprtrdma_transport *transport =
		container_of(work, struct xprtrdma_transport, xt_free_worker);
	struct rpc_xprt *xprt = &transport->xt_xprt;

	/* Wait for the work item that has called transport_destroy(). */
	flush_work(&xprt->task_cleanup);
	xprtrdma_requests_exit(transport);
	rpcrdma_addresses_exit(xprt);
	xprt_free(xprt);
	module_put(THIS_MODULE);
}

/* ->destroy: the last reference on the transport is gone. */
static void transport_destroy(struct rpc_xprt *xprt)
{
	struct xprtrdma_transport *transport = xprtrdma_transport_of(xprt);

	cancel_delayed_work_sync(&transport->xt_connect_worker);
	disconnect(transport, true);
	rpcrdma_connection_remove(&xprtrdma_connections, &transport->xt_connection);
	xprtrdma_bc_stop(transport);
	queue_work(free_wq, &transport->xt_free_worker);
}

static void transport_set_port(struct rpc_xprt *xprt, unsigned short port)
{
	rpc_set_port((struct sockaddr *)&xprt->addr, port);
	rpcrdma_addresses_set_port(xprt, port);
}

/*
 * ->timer: a reply is overdue. A server that does not answer, while its HCA acknowledges the probes
 * of watch.c, is noticed here. So the connection is closed, and SUNRPC sends all calls again on the
 * next one.
 */
static void transport_timer(struct rpc_xprt *xprt, struct rpc_task *task)
{
	const struct rpc_rqst *rqst = task->tk_rqstp;

	trace_xprtrdma_timeout(xprt, be32_to_cpu(rqst->rq_xid), rqst->rq_timeout / HZ);
	WRITE_ONCE(xprtrdma_transport_of(xprt)->xt_overdue, true);
	xprt_force_disconnect(xprt);
}

/*
 * ->set_connect_timeout: the NFSv4 client passes its lease time as @connect_timeout, and half of
 * that as @reconnect_timeout, both in jiffies.
 */
static void transport_set_connect_timeout(struct rpc_xprt *xprt,
					  unsigned long connect_timeout,
					  unsigned long reconnect_timeout)
{
	struct xprtrdma_transport *transport = xprtrdma_transport_of(xprt);

	WRITE_ONCE(transport->xt_lease, connect_timeout);
	spin_lock(&xprt->transport_lock);
	if (reconnect_timeout < xprt->max_reconnect_timeout)
		xprt->max_reconnect_timeout = reconnect_timeout;
	if (connect_timeout < xprt->connect_timeout) {
		struct rpc_timeout to = *xprt->timeout;

		to.to_initval = max_t(unsigned long, connect_timeout, 2 * REESTABLISH_MIN);
		to.to_maxval = to.to_initval;
		transport->xt_timeout = to;
		xprt->timeout = &transport->xt_timeout;
		xprt->connect_timeout = connect_timeout;
	}
	spin_unlock(&xprt->transport_lock);
}

/* ->enable_swap: from now on, work for this transport may use the memory reserves. */
static int transport_enable_swap(struct rpc_xprt *xprt)
{
	atomic_inc(&xprt->swapper);
	return 0;
}

static void transport_disable_swap(struct rpc_xprt *xprt)
{
	atomic_dec(&xprt->swapper);
}

static const struct rpc_xprt_ops xprtrdma_ops = {
	.reserve_xprt		= xprt_reserve_xprt_cong,
	.release_xprt		= xprt_release_xprt_cong,
	.alloc_slot		= xprt_alloc_slot,
	.free_slot		= xprt_free_slot,
	.rpcbind		= rpcb_getport_async,
	.set_port		= transport_set_port,
	.connect		= transport_connect,
	.buf_alloc		= xprtrdma_request_alloc,
	.buf_free		= xprtrdma_request_free,
	.send_request		= xprtrdma_request_send,
	.wait_for_reply_request	= xprtrdma_reply_wait,
	.timer			= transport_timer,
	.release_request	= xprt_release_rqst_cong,
	.close			= transport_close,
	.destroy		= transport_destroy,
	.set_connect_timeout	= transport_set_connect_timeout,
	.print_stats		= xprtrdma_stats_print,
	.enable_swap		= transport_enable_swap,
	.disable_swap		= transport_disable_swap,
	/* SUNRPC does not always hold the write lock here, so this only asks for a close. */
	.inject_disconnect	= xprt_force_disconnect,
	.bc_setup		= xprtrdma_bc_setup,
	.bc_maxpayload		= xprtrdma_bc_max_payload,
	.bc_num_slots		= xprtrdma_bc_num_slots,
	.bc_free_rqst		= xprtrdma_bc_free_rqst,
	.bc_destroy		= xprtrdma_bc_destroy,
};

/* 60 s without retransmission: a reliable connection does not lose replies. */
static const struct rpc_timeout default_timeout = {
	.to_initval = 60 * HZ,
	.to_maxval = 60 * HZ,
};

static void transport_init(struct xprtrdma_transport *transport, const struct xprt_create *args)
{
	struct rpc_xprt *xprt = &transport->xt_xprt;

	xprt->ops = &xprtrdma_ops;
	xprt->xprt_class = &xprtrdma_class;
	/* The protocol tells readers of the address that it is an IP address with a port. */
	xprt->prot = IPPROTO_TCP;
	xprt->resvport = 0;
	xprt->addrlen = args->addrlen;
	memcpy(&xprt->addr, args->dstaddr, args->addrlen);
	if (rpc_get_port(args->dstaddr))
		xprt_set_bound(xprt);
	if (args->srcaddr && args->srcaddr->sa_family == args->dstaddr->sa_family)
		memcpy(&transport->xt_srcaddr, args->srcaddr, args->addrlen);

	xprt->timeout = &default_timeout;
	xprt->connect_timeout = default_timeout.to_initval;
	xprt->max_reconnect_timeout = REESTABLISH_MAX;
	xprt->bind_timeout = BIND_TIMEOUT;
	xprt->idle_timeout = IDLE_TIMEOUT;
	if (args->flags & XPRT_CREATE_NO_IDLE_TIMEOUT)
		xprt->idle_timeout = 0;
	transport->xt_idle_timeout = xprt->idle_timeout;
	xprt->max_payload = XPRTRDMA_MAX_PAGES << PAGE_SHIFT;
	transport->xt_ccp_timeout = CCP_TIMEOUT;
	INIT_DELAYED_WORK(&transport->xt_connect_worker, connect_worker);
	INIT_WORK(&transport->xt_free_worker, free_worker);
}

/*
 * ->setup: called by xprt_create_transport(), which holds a reference on the module
 * for the time of the call only; the transport takes one of its own.
 */
static struct rpc_xprt *transport_setup(struct xprt_create *args)
{
	unsigned int slots = READ_ONCE(xprtrdma_slot_table_entries);
	struct xprtrdma_transport *transport;
	struct rpc_xprt *xprt;
	int ret;

	if (args->addrlen > sizeof(xprt->addr))
		return ERR_PTR(-EBADF);
	if (!try_module_get(THIS_MODULE))
		return ERR_PTR(-EIO);

	ret = -ENOMEM;
	/* SUNRPC makes more slots as it needs them; xprtrdma_window_grow() lets it keep them. */
	xprt = xprt_alloc(args->net, sizeof(struct xprtrdma_transport),
			  min_t(unsigned int, slots, XPRTRDMA_FIRST_CREDITS), slots);
	if (!xprt)
		goto out_module;
	transport = xprtrdma_transport_of(xprt);
	transport_init(transport, args);
	ret = xprtrdma_requests_init(transport);
	if (!ret)
		ret = rpcrdma_addresses_init(xprt);
	if (ret)
		goto out_free;
	rpcrdma_connection_add(&xprtrdma_connections, &transport->xt_connection, args->net);
	return xprt;

out_free:
	xprtrdma_requests_exit(transport);
	xprt_free(xprt);
out_module:
	module_put(THIS_MODULE);
	return ERR_PTR(ret);
}

static struct xprt_class xprtrdma_class = {
	.list	= LIST_HEAD_INIT(xprtrdma_class.list),
	.name	= "rdma",
	.owner	= THIS_MODULE,
	.ident	= XPRT_TRANSPORT_RDMA,
	.setup	= transport_setup,
	.netid	= { RPCBIND_NETID_RDMA, RPCBIND_NETID_RDMA6, "" },
};

/**
 * xprtrdma_transport_register - offer the transport to the RPC client
 *
 * The transport is offered last: a mount that uses it holds a reference on the module, but that
 * does not keep a module in memory whose init fails.
 *
 * Context: module init; nothing that may fail comes after it.
 * Return: 0; -EEXIST when another transport has the same identifier; or another negative errno.
 */
int xprtrdma_transport_register(void)
{
	int ret = -ENOMEM;

	xprtrdma_wq = alloc_workqueue("xprtrdma", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!xprtrdma_wq)
		return ret;
	free_wq = alloc_workqueue("xprtrdma_free", WQ_UNBOUND, 0);
	if (!free_wq)
		goto out_wq;
	ret = rpcrdma_buffers_start("xprtrdma_buffer");
	if (ret)
		goto out_free_wq;
	ret = rpcrdma_connections_init(&xprtrdma_connections);
	if (ret)
		goto out_buffers;
	ret = xprt_register_transport(&xprtrdma_class);
	if (ret)
		goto out_connections;
	return 0;

out_connections:
	rpcrdma_connections_exit(&xprtrdma_connections);
out_buffers:
	rpcrdma_buffers_stop();
out_free_wq:
	destroy_workqueue(free_wq);
out_wq:
	destroy_workqueue(xprtrdma_wq);
	return ret;
}

/**
 * xprtrdma_transport_unregister - withdraw the transport from the RPC client
 *
 * Context: module exit; no transport exists, since each holds a reference on the module. Only
 *	the last instructions of work items may still run.
 */
void xprtrdma_transport_unregister(void)
{
	xprt_unregister_transport(&xprtrdma_class);
	destroy_workqueue(free_wq);
	rpcrdma_connections_exit(&xprtrdma_connections);
	rpcrdma_buffers_stop();
	destroy_workqueue(xprtrdma_wq);
}
