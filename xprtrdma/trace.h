/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * Tracepoints of the client. The trace system is not called "rpcrdma": that is the
 * in-tree transport's.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM xprtrdma

#if !defined(XPRTRDMA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define XPRTRDMA_TRACE_H

#include <linux/sunrpc/xprt.h>
#include <linux/tracepoint.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
/* The names of events and statuses. Each pass over this file has to read that header, too. */
#include <trace/misc/rdma.h>

#include "rpcrdma/header.h"
#include <common/trace.h>

#define XPRTRDMA_PEER(xprt) ((xprt)->address_strings[RPC_DISPLAY_ADDR])

RPCRDMA_VALUE_CLASSES(xprtrdma, struct rpc_xprt, XPRTRDMA_PEER, peer, value);

#define VALUE_EVENT(name)						\
	DEFINE_EVENT(xprtrdma_value, xprtrdma_##name,			\
		     TP_PROTO(const struct rpc_xprt *transport, int value), \
		     TP_ARGS(transport, value))

/* The comment of an event says what its value is. A negative value is an errno. */
VALUE_EVENT(config);		/* bytes to send inline, after the question for limits */
VALUE_EVENT(window);		/* calls that have buffers now */
/* The connection is given up; the larger of the numbers of calls and of messages that wait */
VALUE_EVENT(stalled);
VALUE_EVENT(probe);		/* calls in flight while an acknowledgment is asked for */
VALUE_EVENT(connect);		/* the result of a connect attempt */
VALUE_EVENT(post_failed);	/* the result of a post */
VALUE_EVENT(close);		/* SUNRPC closes the connection; the reason, an enum rpcrdma_end */

/* An asynchronous event of the queue pair, which is an enum ib_event_type */
DEFINE_EVENT_PRINT(xprtrdma_value, xprtrdma_qp_event,
	TP_PROTO(const struct rpc_xprt *transport, int value), TP_ARGS(transport, value),
	TP_printk("peer=%s event=%s", __get_str(peer),
		  rdma_show_ib_event(__entry->value))
);

/* A connect attempt has failed in @step, for example "address" or "connection request". */
TRACE_EVENT(xprtrdma_connect_failed,
	TP_PROTO(const struct rpc_xprt *xprt, const char *step, int error),
	TP_ARGS(xprt, step, error),
	TP_STRUCT__entry(
		__string(peer, XPRTRDMA_PEER(xprt))
		__string(step, step)
		__field(int, error)
	),
	TP_fast_assign(
		COMPAT_ASSIGN_STR(peer, XPRTRDMA_PEER(xprt));
		COMPAT_ASSIGN_STR(step, step);
		__entry->error = error;
	),
	TP_printk("peer=%s step=%s error=%d", __get_str(peer), __get_str(step),
		  __entry->error)
);

RPCRDMA_CM_EVENT(xprtrdma);

TRACE_EVENT(xprtrdma_established,
	TP_PROTO(const struct rpc_xprt *xprt, u32 inline_send, u32 inline_recv,
		 bool remote_invalidation),
	TP_ARGS(xprt, inline_send, inline_recv, remote_invalidation),
	TP_STRUCT__entry(
		__string(peer, XPRTRDMA_PEER(xprt))
		__field(u32, inline_send)
		__field(u32, inline_recv)
		__field(bool, remote_invalidation)
	),
	TP_fast_assign(
		COMPAT_ASSIGN_STR(peer, XPRTRDMA_PEER(xprt));
		__entry->inline_send = inline_send;
		__entry->inline_recv = inline_recv;
		__entry->remote_invalidation = remote_invalidation;
	),
	TP_printk("peer=%s inline_send=%u inline_recv=%u remote_invalidation=%d",
		  __get_str(peer), __entry->inline_send, __entry->inline_recv,
		  __entry->remote_invalidation)
);

/*
 * A work request has failed, or was flushed. The first failure of a connection, if any, is why the
 * connection ends. Not every flushed Read or Write is traced.
 */
RPCRDMA_WC_EVENT(xprtrdma_wc, struct rpc_xprt, XPRTRDMA_PEER, peer);

#define XID_VALUE_EVENT(name)						\
	DEFINE_EVENT(xprtrdma_xid_value, xprtrdma_##name,		\
		     TP_PROTO(const struct rpc_xprt *transport, u32 xid, int value), \
		     TP_ARGS(transport, xid, value))

XID_VALUE_EVENT(timeout);	/* a reply is overdue; the timeout of its call in seconds */
/* A task ends without a reply, and its memory is fenced; the errno with which the task ends */
XID_VALUE_EVENT(fence);
XID_VALUE_EVENT(unknown_xid);	/* no RPC waits for this message; the bytes of the message */
XID_VALUE_EVENT(marshal_failed);	/* a call can never be sent; an errno */
XID_VALUE_EVENT(bad_rkey);	/* a message has invalidated an R_key not of its RPC; the R_key */
/* Bytes of a message */
XID_VALUE_EVENT(bc_call);
XID_VALUE_EVENT(bc_reply);
XID_VALUE_EVENT(pull);
XID_VALUE_EVENT(bc_overflow);

TRACE_EVENT(xprtrdma_marshal,
	TP_PROTO(const struct rpc_xprt *xprt, const struct rpcrdma_header *header,
		 int inline_length, const struct rpcrdma_chunk_lists *lists),
	TP_ARGS(xprt, header, inline_length, lists),
	TP_STRUCT__entry(
		__string(peer, XPRTRDMA_PEER(xprt))
		__field(u32, xid)
		__field(u32, proc)
		__field(int, inline_length)
		__field(u32, nr_read)
		__field(u32, nr_write)
		__field(u32, nr_reply)
		__field(u32, nr_segments)
	),
	TP_fast_assign(
		COMPAT_ASSIGN_STR(peer, XPRTRDMA_PEER(xprt));
		__entry->xid = header->xid;
		__entry->proc = header->proc;
		__entry->inline_length = inline_length;
		__entry->nr_read = lists->nr_read;
		__entry->nr_write = lists->nr_write;
		__entry->nr_reply = lists->nr_reply;
		__entry->nr_segments = lists->nr_segments;
	),
	TP_printk("peer=%s xid=0x%08x proc=%u inline=%d read=%u write=%u reply=%u segments=%u",
		  __get_str(peer), __entry->xid, __entry->proc,
		  __entry->inline_length, __entry->nr_read, __entry->nr_write,
		  __entry->nr_reply, __entry->nr_segments)
);

TRACE_EVENT(xprtrdma_bad_reply,
	TP_PROTO(const struct rpc_xprt *xprt, const struct rpcrdma_header *header,
		 u32 length, int status),
	TP_ARGS(xprt, header, length, status),
	TP_STRUCT__entry(
		__string(peer, XPRTRDMA_PEER(xprt))
		__field(u32, xid)
		__field(u32, vers)
		__field(u32, proc)
		__field(u32, length)
		__field(int, status)
	),
	TP_fast_assign(
		COMPAT_ASSIGN_STR(peer, XPRTRDMA_PEER(xprt));
		__entry->xid = header->xid;
		__entry->vers = header->vers;
		__entry->proc = header->proc;
		__entry->length = length;
		__entry->status = status;
	),
	TP_printk("peer=%s xid=0x%08x vers=%u proc=%u length=%u status=%d",
		  __get_str(peer), __entry->xid, __entry->vers, __entry->proc,
		  __entry->length, __entry->status)
);

TRACE_EVENT(xprtrdma_error,
	TP_PROTO(const struct rpc_xprt *xprt, const struct rpcrdma_header *header),
	TP_ARGS(xprt, header),
	TP_STRUCT__entry(
		__string(peer, XPRTRDMA_PEER(xprt))
		__field(u32, xid)
		__field(u32, error)
		__field(u32, low)
		__field(u32, high)
	),
	TP_fast_assign(
		COMPAT_ASSIGN_STR(peer, XPRTRDMA_PEER(xprt));
		__entry->xid = header->xid;
		__entry->error = header->error;
		__entry->low = header->vers_low;
		__entry->high = header->vers_high;
	),
	TP_printk("peer=%s xid=0x%08x error=%u versions=%u-%u", __get_str(peer),
		  __entry->xid, __entry->error, __entry->low, __entry->high)
);

RPCRDMA_MESSAGE_EVENT(xprtrdma);
RPCRDMA_TRANSFER_EVENT(xprtrdma);

#endif /* XPRTRDMA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
