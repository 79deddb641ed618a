// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Connection Configuration Protocol, RFC 5666 section 6: the server's part.
 *
 * Operation. If the administrator has set answer_config, a call of program 100417 is answered by
 * the thread that has received it, before nfsd sees it. Otherwise nfsd answers that there is no
 * such program. The answer is an ordinary RPC reply: it goes through svcrdma_sendto(), with the
 * grant, and with the chunks of the call if there were any.
 *
 * The client is not authenticated yet. It can change only the size of the replies that it gets
 * inline on this connection, up to the size that its private data allows.
 *
 * The number of RDMA Reads that the client says it allows is ignored, since the CM has negotiated
 * that number, and the queue pair keeps to it.
 */
#include "svcrdma.h"
#include "trace.h"

/*
 * Apply the size of inline replies that a client asks for. A thread that is sending a reply at the
 * same time may use the old size, which was right when its call came.
 */
static void config_apply(struct svcrdma_transport *t,
			 const struct rpcrdma_config_request *request)
{
	u32 size = rpcrdma_config_lower(t->st_agreed.inline_send, request->max_reply);

	WRITE_ONCE(t->st_inline_send, size);
	WRITE_ONCE(t->st_inline_most, size);
}

/* Build the reply in the first page that nfsd would use for one. */
static void config_build_reply(struct svc_rqst *rqstp, struct svcrdma_transport *t,
			       const struct rpcrdma_config_call *call)
{
	struct xdr_buf *res = &rqstp->rq_res;

	memset(res, 0, sizeof(*res));
	res->head[0].iov_base = page_address(rqstp->rq_respages[0]);
	res->head[0].iov_len = rpcrdma_config_reply_encode(call, t->st_agreed.inline_recv,
							   t->st_read_depth,
							   res->head[0].iov_base);
	res->pages = rqstp->rq_respages + 1;
	res->len = res->head[0].iov_len;
	res->buflen = PAGE_SIZE;
	rqstp->rq_next_page = rqstp->rq_respages + 1;
}

/**
 * svcrdma_config_answer - answer a call if it is for the Connection Configuration Protocol
 * @rqstp: nfsd thread with the call in rq_arg and its Receive context in rq_xprt_ctxt
 *
 * Context: process.
 * Return: true: the call was answered, or the connection ends, and the Receive context was put.
 * false: the call is for nfsd.
 */
bool svcrdma_config_answer(struct svc_rqst *rqstp)
{
	struct svcrdma_transport *t = svcrdma_transport_of(rqstp->rq_xprt);
	const struct kvec *head = &rqstp->rq_arg.head[0];
	struct rpcrdma_config_call call;

	/* No item of such a call may be in a chunk, so the whole call is in the head. */
	if (!rpcrdma_config_call_decode(head->iov_base, head->iov_len, &call))
		return false;
	if (call.status == RPCRDMA_SUCCESS && call.procedure == RPCRDMA_CONFIG_RDMA)
		config_apply(t, &call.request);
	trace_svcrdma_config(t, call.xid, call.status);

	rqstp->rq_xid = cpu_to_be32(call.xid);
	config_build_reply(rqstp, t, &call);
	svcrdma_sendto(rqstp);

	svcrdma_recv_ctxt_put(t, rqstp->rq_xprt_ctxt);
	rqstp->rq_xprt_ctxt = NULL;
	/* recvfrom returns 0, so SUNRPC is to release nothing. */
	compat_rqst_reply_taken(rqstp);
	memset(&rqstp->rq_res, 0, sizeof(rqstp->rq_res));
	return true;
}
