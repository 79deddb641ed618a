// SPDX-License-Identifier: GPL-2.0-only
/* Traffic from several threads: an nfsd thread. */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/unaligned.h>

#include "threads.h"

/* All but the RPC header, which is 40 bytes, and the padding. */
static void check_call(struct traffic_thread *thread, u32 xid, u32 length)
{
	const struct client_shape *shape = &traffic_kind(xid)->shape;
	u32 pad = xdr_pad_size(shape->pages);
	u32 end = shape->head + shape->pages;
	u8 expected;
	u32 i;

	if (length != end + pad + shape->tail) {
		traffic_wrong(thread, "call %x: %u bytes of %u", xid, length,
			      end + pad + shape->tail);
		return;
	}
	for (i = 40; i < length; i++) {
		expected = i >= end && i < end + pad ? 0 :
			fake_byte(i) ^ traffic_key(xid);
		if (thread->bytes[i] == expected)
			continue;
		traffic_wrong(thread, "call %x: byte %u is %x and not %x", xid, i,
			      thread->bytes[i], expected);
		return;
	}
}

static void serve(struct traffic_thread *thread, u32 length)
{
	struct svc_rqst *rqst = thread->rqst;
	u32 xid;

	if (length > PAIR_PAYLOAD ||
	    read_bytes_from_xdr_buf(&rqst->rq_arg, 0, thread->bytes, length)) {
		traffic_wrong(thread, "a call of %u bytes cannot be read", length);
		return;
	}
	xid = get_unaligned_be32(thread->bytes);
	check_call(thread, xid, length);
	pair_encode(rqst, &traffic_kind(xid)->answer, xid, traffic_key(xid));
	svcrdma_sendto(rqst);
}

/* As svc_handle_xprt(): XPT_BUSY is ours. */
static void handle(struct traffic_thread *thread, struct svc_xprt *xprt)
{
	int length;

	if (test_bit(XPT_CLOSE, &xprt->xpt_flags)) {
		/* As svc_delete_xprt(), or another thread does. */
		clear_bit(XPT_BUSY, &xprt->xpt_flags);
		svc_xprt_close(xprt);
		return;
	}
	if (!pair_rqst_prepare(thread->traffic->pair, thread->rqst, xprt)) {
		traffic_wrong(thread, "no pages");
		svc_xprt_received(xprt);
		return;
	}
	length = svcrdma_recvfrom(thread->rqst);
	if (length > 0)
		serve(thread, length);
	if (thread->rqst->rq_xprt_ctxt)
		pair_done(thread->rqst);
}

/* An nfsd thread; as svc_recv(), again and again. */
int traffic_nfsd(void *data)
{
	struct traffic_thread *thread = data;
	struct traffic *traffic = thread->traffic;
	struct svc_xprt *xprt;

	while (true) {
		xprt = lwq_dequeue(&traffic->pair->pool.sp_xprts, struct svc_xprt, xpt_ready);
		if (xprt) {
			svc_xprt_get(xprt);
			handle(thread, xprt);
			svc_xprt_put(xprt);
			cond_resched();
			continue;
		}
		if (READ_ONCE(traffic->stop))
			break;
		usleep_range(20, 50);
	}
	/* Once it is seen to have ended, its text may go. */
	kthread_complete_and_exit(&thread->ended, 0);
}
