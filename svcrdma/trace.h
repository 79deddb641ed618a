/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * Each failure has a tracepoint, and so has each step of a connection. The trace system is not
 * "rpcrdma", as that name belongs to the in-tree module.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM svcrdma

#if !defined(SVCRDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SVCRDMA_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
/* This header has the names of events and statuses; each pass of define_trace.h reads it, too. */
#include <trace/misc/rdma.h>

#include <common/trace.h>

#define SVCRDMA_PEER(t) ((t)->st_xprt.xpt_remotebuf)

RPCRDMA_VALUE_CLASSES(svcrdma, struct svcrdma_transport, SVCRDMA_PEER, addr, status);

/* An event of a connection; @status is a negative errno, 0, or what the event's line below says. */
#define TRANSPORT_EVENT(name)						\
	DEFINE_EVENT(svcrdma_value, svcrdma_##name,			\
		     TP_PROTO(const struct svcrdma_transport *transport, int status), \
		     TP_ARGS(transport, status))

TRANSPORT_EVENT(accepted);
TRANSPORT_EVENT(accept_err);
TRANSPORT_EVENT(closing);
TRANSPORT_EVENT(freed);
TRANSPORT_EVENT(post_recv_err);
TRANSPORT_EVENT(post_read_err);
TRANSPORT_EVENT(post_send_err);
TRANSPORT_EVENT(read_build_err);
TRANSPORT_EVENT(read_retry);
TRANSPORT_EVENT(read_pages_err);
TRANSPORT_EVENT(read_unproven);	/* status: enum ib_wc_status of the verifying Read */
TRANSPORT_EVENT(recv_alloc_err);
TRANSPORT_EVENT(send_alloc_err);
TRANSPORT_EVENT(sq_full);
TRANSPORT_EVENT(grant);		/* status: the new grant, or a negative errno */
TRANSPORT_EVENT(overrun);	/* status: messages under way, more than there are Receives for */
TRANSPORT_EVENT(sq_timeout);
TRANSPORT_EVENT(probe);
TRANSPORT_EVENT(sq_too_small);
TRANSPORT_EVENT(noise);		/* status: unexpected messages; the connection is ended */

/* An asynchronous event of the queue pair; @status is an enum ib_event_type. */
DEFINE_EVENT_PRINT(svcrdma_value, svcrdma_qp_event,
	TP_PROTO(const struct svcrdma_transport *transport, int status),
	TP_ARGS(transport, status),
	TP_printk("addr=%s event=%s", __get_str(addr),
		  rdma_show_ib_event(__entry->status))
);

/* An event of one call, reply or callback, which @xid names; @status as for TRANSPORT_EVENT() */
#define CALL_EVENT(name)						\
	DEFINE_EVENT(svcrdma_xid_value, svcrdma_##name,			\
		     TP_PROTO(const struct svcrdma_transport *transport, u32 xid, int status), \
		     TP_ARGS(transport, xid, status))

CALL_EVENT(call_dropped);	/* status: enum rpcrdma_status */
CALL_EVENT(call_bad);		/* status: enum rpcrdma_status */
CALL_EVENT(call_bad_reads);	/* the call and its Read list make no message for nfsd */
CALL_EVENT(config);		/* status: enum rpcrdma_accept_stat */
CALL_EVENT(call_without_credit);	/* the connection is ended */
CALL_EVENT(reply_too_large);
CALL_EVENT(reply_exposed);	/* status: bytes of the reply */
CALL_EVENT(reply_pulled);	/* an RDMA_DONE; status: -ENOENT: no reply of @xid is exposed */
CALL_EVENT(bad_done);		/* the connection is ended */
CALL_EVENT(expose_expired);
CALL_EVENT(reply_err);
CALL_EVENT(error_sent);		/* status: enum rpcrdma_errcode */
CALL_EVENT(backchannel_dropped);
CALL_EVENT(backchannel_send_err);

/* A message has invalidated an R_key, which no client may; the connection is ended. */
TRACE_EVENT(svcrdma_bad_rkey,
	TP_PROTO(const struct svcrdma_transport *t, u32 rkey),
	TP_ARGS(t, rkey),
	TP_STRUCT__entry(
		__field(u32, rkey)
		__string(addr, SVCRDMA_PEER(t))
	),
	TP_fast_assign(
		__entry->rkey = rkey;
		COMPAT_ASSIGN_STR(addr, SVCRDMA_PEER(t));
	),
	TP_printk("addr=%s rkey=0x%08x", __get_str(addr), __entry->rkey)
);

/* A work request has failed; one that is only flushed is not traced. */
RPCRDMA_WC_EVENT(svcrdma_wc_err, struct svcrdma_transport, SVCRDMA_PEER, addr);

RPCRDMA_CM_EVENT(svcrdma);

TRACE_EVENT(svcrdma_listener_err,
	TP_PROTO(const char *step, int status),
	TP_ARGS(step, status),
	TP_STRUCT__entry(
		__field(int, status)
		__string(step, step)
	),
	TP_fast_assign(
		__entry->status = status;
		COMPAT_ASSIGN_STR(step, step);
	),
	TP_printk("step=%s status=%d", __get_str(step), __entry->status)
);

RPCRDMA_MESSAGE_EVENT(svcrdma);
RPCRDMA_TRANSFER_EVENT(svcrdma);

#endif /* SVCRDMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
