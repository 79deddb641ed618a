// SPDX-License-Identifier: GPL-2.0
/*
 * Reverse direction (RFC 8167): the server calls, we answer. Here is what SUNRPC knows of it,
 * and the memory: an rpc_rqst for each call, made for the purpose, with pages for the call and
 * its reply.
 *
 * A call is copied out of its Receive buffer into these pages and handed to the NFS client's
 * callback service (bc_receive.c). The service's reply comes back through ->send_request
 * (bc_reply.c).
 *
 * Credits are counted apart from those of the forward direction: at most XPRTRDMA_BC_SLOTS
 * calls, each of which has a Receive and a Send of its own in the queue sizes. The first replies
 * grant fewer (window.c). The server has a credit back when the reply is sent, and we have the
 * request back a little later, so there may be more of those, up to BC_REQUESTS.
 */
#include <linux/delay.h>
#include <linux/sunrpc/bc_xprt.h>

#include "bc.h"

enum {
	BC_REQUESTS	= 2 * XPRTRDMA_BC_SLOTS,
	BC_STOP_SECONDS	= 2,
};

static void bc_request_free(struct xprtrdma_bc_request *request)
{
	free_page((unsigned long)request->call);
	free_page((unsigned long)request->reply);
	kfree(request);
}

static struct xprtrdma_bc_request *bc_request_alloc(struct rpc_xprt *xprt, gfp_t gfp)
{
	struct xprtrdma_bc_request *request = kzalloc(sizeof(*request), gfp);
	unsigned int i;

	if (!request)
		return NULL;
	request->call = (void *)__get_free_page(gfp);
	request->reply = (void *)__get_free_page(gfp);
	if (!request->call || !request->reply) {
		bc_request_free(request);
		return NULL;
	}
	for (i = 0; i < XPRTRDMA_BC_REPLY_PAGES; i++)
		request->overflow_pages[i] = virt_to_page(request->reply);
	xprtrdma_mr_list_init(&request->registered);
	request->rqst.rq_xprt = xprt;
	INIT_LIST_HEAD(&request->rqst.rq_bc_pa_list);
	__set_bit(RPC_BC_PA_IN_USE, &request->rqst.rq_bc_pa_state);
	return request;
}

/* Read without the lock by xprtrdma_bc_destroy(). */
static void bc_count(struct xprtrdma_transport *transport, int more)
{
	lockdep_assert_held(&transport->xt_xprt.bc_pa_lock);
	WRITE_ONCE(transport->xt_bc_count, transport->xt_bc_count + more);
}

/* One more, idle. False: there are as many as there are credits, or memory is short. */
static bool bc_request_add(struct xprtrdma_transport *transport)
{
	struct rpc_xprt *xprt = &transport->xt_xprt;
	struct xprtrdma_bc_request *request = bc_request_alloc(xprt, GFP_NOFS);
	bool added;

	if (!request)
		return false;
	spin_lock(&xprt->bc_pa_lock);
	added = transport->xt_bc_count < XPRTRDMA_BC_SLOTS;
	if (added) {
		list_add_tail(&request->rqst.rq_bc_pa_list, &xprt->bc_pa_list);
		bc_count(transport, 1);
	}
	spin_unlock(&xprt->bc_pa_lock);
	if (!added)
		bc_request_free(request);
	return added;
}

/**
 * xprtrdma_bc_setup - ->bc_setup: the consumer wants to be called
 * @xprt: the transport
 * @min_reqs: calls at a time for which there has to be memory
 *
 * There is memory for a call with each credit that we grant, if it can be had: a recall may
 * come just when memory is short, and a handler of completions must not wait for it.
 *
 * From here on the connection is not ended for being idle: the server could not make
 * another one (RFC 8167 section 5.4).
 *
 * Context: process.
 * Return: 0 or -ENOMEM; xprtrdma_bc_destroy() in any case.
 */
int xprtrdma_bc_setup(struct rpc_xprt *xprt, unsigned int min_reqs)
{
	while (bc_request_add(xprtrdma_transport_of(xprt)))
		;
	spin_lock(&xprt->bc_pa_lock);
	if (xprtrdma_transport_of(xprt)->xt_bc_count < clamp(min_reqs, 1U,
							     (u32)XPRTRDMA_BC_SLOTS)) {
		spin_unlock(&xprt->bc_pa_lock);
		return -ENOMEM;
	}
	WRITE_ONCE(xprtrdma_transport_of(xprt)->xt_bc_ready, true);
	xprt->idle_timeout = 0;
	spin_unlock(&xprt->bc_pa_lock);
	return 0;
}

/**
 * xprtrdma_bc_max_payload - ->bc_maxpayload: largest call and reply, bytes
 * @xprt: the transport
 *
 * Return: what was negotiated on the last connection, or what any connection allows.
 */
size_t xprtrdma_bc_max_payload(struct rpc_xprt *xprt)
{
	unsigned int max = READ_ONCE(xprtrdma_transport_of(xprt)->xt_bc_max_payload);

	return max ? max : RPCRDMA_INLINE_DEFAULT - RPCRDMA_MIN_HEADER_SIZE;
}

/**
 * xprtrdma_bc_connected - there is a new connection
 * @conn: the connection
 *
 * RFC 8167 section 4.2: the same buffers serve both directions. RFC 8267 section 6.5.2: more
 * than fits them is announced only to a server that uses chunks for it. A reply is
 * encoded into a page.
 *
 * Context: the connect worker.
 */
void xprtrdma_bc_connected(const struct xprtrdma_conn *conn)
{
	unsigned int max = min(conn->xc_inline.inline_send, conn->xc_inline.inline_recv);

	max = min_t(unsigned int, max, PAGE_SIZE) - RPCRDMA_MIN_HEADER_SIZE;
	if (conn->xc_inline.reverse_chunks && conn->xc_read_depth)
		max = XPRTRDMA_BC_MAX_CALL;
	WRITE_ONCE(conn->xc_transport->xt_bc_max_payload, max);
}

/**
 * xprtrdma_bc_num_slots - ->bc_num_slots: calls at a time
 * @xprt: the transport
 */
unsigned int xprtrdma_bc_num_slots(struct rpc_xprt *xprt)
{
	return XPRTRDMA_BC_SLOTS;
}

/**
 * xprtrdma_bc_request_get - an idle request for a call that has come
 * @transport: the transport
 *
 * Context: the Receive CQ handler; does not wait for memory.
 * Return: the request, which goes back by xprtrdma_bc_request_put(); or NULL: the server has
 * overrun its credits, or memory is short.
 */
struct xprtrdma_bc_request *xprtrdma_bc_request_get(struct xprtrdma_transport *transport)
{
	struct rpc_xprt *xprt = &transport->xt_xprt;
	struct xprtrdma_bc_request *request;
	struct rpc_rqst *rqst;
	bool full = false;

	spin_lock(&xprt->bc_pa_lock);
	rqst = list_first_entry_or_null(&xprt->bc_pa_list, struct rpc_rqst,
					rq_bc_pa_list);
	if (rqst)
		list_del_init(&rqst->rq_bc_pa_list);
	else if (transport->xt_bc_count == BC_REQUESTS)
		full = true;
	else
		bc_count(transport, 1);
	spin_unlock(&xprt->bc_pa_lock);

	if (rqst)
		return xprtrdma_bc_request_of(rqst);
	if (full)
		return NULL;
	/* Its answer is still on its way while the server has the credit back. */
	request = bc_request_alloc(xprt, GFP_NOWAIT | __GFP_NOWARN);
	if (!request) {
		spin_lock(&xprt->bc_pa_lock);
		bc_count(transport, -1);
		spin_unlock(&xprt->bc_pa_lock);
	}
	return request;
}

/**
 * xprtrdma_bc_request_put - a call is over
 * @request: the call; idle from now on, with its pages
 *
 * Context: process, or a CQ handler.
 */
void xprtrdma_bc_request_put(struct xprtrdma_bc_request *request)
{
	struct rpc_xprt *xprt = request->rqst.rq_xprt;

	while (request->nr_pages)
		__free_page(request->pages[--request->nr_pages]);
	spin_lock(&xprt->bc_pa_lock);
	list_add_tail(&request->rqst.rq_bc_pa_list, &xprt->bc_pa_list);
	spin_unlock(&xprt->bc_pa_lock);
}

/**
 * xprtrdma_bc_free_rqst - ->bc_free_rqst: a call has been answered, or given up
 * @rqst: the call; the reference on the transport taken for it is dropped
 */
void xprtrdma_bc_free_rqst(struct rpc_rqst *rqst)
{
	struct rpc_xprt *xprt = rqst->rq_xprt;

	xprtrdma_bc_request_put(xprtrdma_bc_request_of(rqst));
	xprt_put(xprt);
}

/* What is left of xt_bc_count is in use, and has a reference on the transport. */
static void free_idle(struct xprtrdma_transport *transport)
{
	struct rpc_xprt *xprt = &transport->xt_xprt;
	struct rpc_rqst *rqst, *next;
	LIST_HEAD(idle);

	spin_lock(&xprt->bc_pa_lock);
	list_for_each_entry(rqst, &xprt->bc_pa_list, rq_bc_pa_list)
		bc_count(transport, -1);
	list_splice_init(&xprt->bc_pa_list, &idle);
	spin_unlock(&xprt->bc_pa_lock);
	list_for_each_entry_safe(rqst, next, &idle, rq_bc_pa_list)
		bc_request_free(xprtrdma_bc_request_of(rqst));
}

/**
 * xprtrdma_bc_stop - no more calls
 * @transport: the transport
 *
 * Requests that are in use come back to the list, and are freed with the transport.
 *
 * Context: process.
 */
void xprtrdma_bc_stop(struct xprtrdma_transport *transport)
{
	struct rpc_xprt *xprt = &transport->xt_xprt;

	spin_lock(&xprt->bc_pa_lock);
	WRITE_ONCE(transport->xt_bc_ready, false);
	xprt->idle_timeout = transport->xt_idle_timeout;
	spin_unlock(&xprt->bc_pa_lock);
	free_idle(transport);
}

/**
 * xprtrdma_bc_destroy - ->bc_destroy: no more calls for the consumer
 * @xprt: the transport
 * @reqs: ignored
 *
 * The NFS client calls this before it stops its callback service, and the service may be
 * freed any time after. A service that is told to stop leaves its calls where they are, with
 * their references on the transport; until then it takes them. SUNRPC calls this once more
 * when there is no reference, and perhaps no service.
 *
 * Context: process; waits for calls that have come, for some seconds at most.
 */
void xprtrdma_bc_destroy(struct rpc_xprt *xprt, unsigned int reqs)
{
	struct xprtrdma_transport *transport = xprtrdma_transport_of(xprt);
	unsigned long end = jiffies + BC_STOP_SECONDS * HZ;

	xprtrdma_bc_stop(transport);
	while (READ_ONCE(transport->xt_bc_count) && time_before(jiffies, end)) {
		msleep(20);
		free_idle(transport);
	}
}
