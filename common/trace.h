/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * Trace events that both sides have: the trace.h of each side uses each of these macros. rpcrdma
 * wire --live draws the events of the traffic on the wire, <side>_message and <side>_transfer.
 * Nothing is copied unless the events are switched on, which needs root.
 *
 * <side>_message - a message was received, or is posted now
 * @connection: number of the connection in the file connections
 * @peer: address of the peer
 * @sent: true for a message that is posted, false for one that was received
 * @message: bytes of the message, of which the first RPCRDMA_TRACED_BYTES are kept
 * @length: size of the message in bytes
 * @invalidates: the message is a Send With Invalidate
 * @rkey: R_key that this Send invalidates
 *
 * <side>_transfer - an RDMA Read or Write of ours is posted now
 * @write: the transfer is an RDMA Write, and not a Read
 * @rkey: R_key of the peer's memory
 * @offset: offset in that memory
 * @length: size of the transfer in bytes
 *
 * <side>_cm_event - the connection manager reports an event
 * @peer: address of the peer; empty for an event of a listener, or before accept
 * @id: the struct rdma_cm_id, which tells connections apart that have no peer yet
 * @event: an enum rdma_cm_event_type
 * @status: a negative errno, or the number of the reason
 * @reason: why the peer has rejected the connection, in words
 *
 * Two fields have another name on each side. These names are documented, so the macros below take
 * them as arguments: @who is the field with the peer's address, and @value the number of an event
 * with one number. @peer_of is a macro that gives the peer's address from a @type.
 */
#ifndef RPCRDMA_VERBS_TRACE_H
#define RPCRDMA_VERBS_TRACE_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define RPCRDMA_TRACED_BYTES 512

#define RPCRDMA_MESSAGE_EVENT(side)							\
TRACE_EVENT(side##_message,								\
	TP_PROTO(u64 connection, const char *peer, bool sent, const void *message,	\
		 u32 length, bool invalidates, u32 rkey),				\
	TP_ARGS(connection, peer, sent, message, length, invalidates, rkey),		\
	TP_STRUCT__entry(								\
		__field(u64, connection)						\
		__string(peer, peer)							\
		__field(bool, sent)							\
		__field(u32, length)							\
		__field(bool, invalidates)						\
		__field(u32, rkey)							\
		__dynamic_array(u8, head, min_t(u32, length, RPCRDMA_TRACED_BYTES))	\
	),										\
	TP_fast_assign(									\
		__entry->connection = connection;					\
		COMPAT_ASSIGN_STR(peer, peer);						\
		__entry->sent = sent;							\
		__entry->length = length;						\
		__entry->invalidates = invalidates;					\
		__entry->rkey = rkey;							\
		memcpy(__get_dynamic_array(head), message,				\
		       __get_dynamic_array_len(head));					\
	),										\
	TP_printk("connection=%llu peer=%s sent=%d length=%u invalidates=%d rkey=0x%08x head=%s", \
		  __entry->connection, __get_str(peer), __entry->sent, __entry->length,	\
		  __entry->invalidates, __entry->rkey,					\
		  __print_hex_str(__get_dynamic_array(head),				\
				  __get_dynamic_array_len(head)))			\
)

#define RPCRDMA_TRANSFER_EVENT(side)							\
TRACE_EVENT(side##_transfer,								\
	TP_PROTO(u64 connection, const char *peer, const struct ib_send_wr *wr),	\
	TP_ARGS(connection, peer, wr),							\
	TP_STRUCT__entry(								\
		__field(u64, connection)						\
		__string(peer, peer)							\
		__field(bool, write)							\
		__field(u32, rkey)							\
		__field(u64, offset)							\
		__field(u32, length)							\
	),										\
	TP_fast_assign(									\
		__entry->connection = connection;					\
		COMPAT_ASSIGN_STR(peer, peer);						\
		__entry->write = wr->opcode == IB_WR_RDMA_WRITE;			\
		__entry->rkey = rdma_wr(wr)->rkey;					\
		__entry->offset = rdma_wr(wr)->remote_addr;				\
		__entry->length = rpcrdma_wr_length(wr);				\
	),										\
	TP_printk("connection=%llu peer=%s write=%d rkey=0x%08x offset=0x%llx length=%u", \
		  __entry->connection, __get_str(peer), __entry->write, __entry->rkey,	\
		  __entry->offset, __entry->length)					\
)

/* Why the peer has rejected a connection; the text depends on the kind of network */
#define RPCRDMA_CM_REASON(id, event)					\
	((event)->event == RDMA_CM_EVENT_REJECTED ?			\
	 rdma_reject_msg(id, (event)->status) : "")

#define RPCRDMA_CM_EVENT(side)								\
TRACE_EVENT(side##_cm_event,								\
	TP_PROTO(const char *peer, struct rdma_cm_id *id,				\
		 const struct rdma_cm_event *event),					\
	TP_ARGS(peer, id, event),							\
	TP_STRUCT__entry(								\
		__string(peer, peer)							\
		__field(const void *, id)						\
		__field(int, event)							\
		__field(int, status)							\
		__string(reason, RPCRDMA_CM_REASON(id, event))				\
	),										\
	TP_fast_assign(									\
		COMPAT_ASSIGN_STR(peer, peer);						\
		__entry->id = id;							\
		__entry->event = event->event;						\
		__entry->status = event->status;					\
		COMPAT_ASSIGN_STR(reason, RPCRDMA_CM_REASON(id, event));		\
	),										\
	TP_printk("peer=%s id=%p event=%s status=%d reason=%s", __get_str(peer),	\
		  __entry->id, rdma_show_cm_event(__entry->event), __entry->status,	\
		  __get_str(reason))							\
)

/* A work request has failed; @what says which kind. */
#define RPCRDMA_WC_EVENT(name, type, peer_of, who)					\
TRACE_EVENT(name,									\
	TP_PROTO(const type *transport, const char *what, const struct ib_wc *wc),	\
	TP_ARGS(transport, what, wc),							\
	TP_STRUCT__entry(								\
		__string(who, peer_of(transport))					\
		__string(what, what)							\
		__field(int, status)							\
		__field(u32, vendor_err)						\
	),										\
	TP_fast_assign(									\
		COMPAT_ASSIGN_STR(who, peer_of(transport));				\
		COMPAT_ASSIGN_STR(what, what);						\
		__entry->status = wc->status;						\
		__entry->vendor_err = wc->vendor_err;					\
	),										\
	TP_printk(#who "=%s %s status=%s vendor_err=0x%x", __get_str(who),		\
		  __get_str(what), rdma_show_wc_status(__entry->status),		\
		  __entry->vendor_err)							\
)

/* A class of events with one number, and a class of events with the XID of an RPC and a number */
#define RPCRDMA_VALUE_CLASSES(side, type, peer_of, who, value)				\
DECLARE_EVENT_CLASS(side##_value,							\
	TP_PROTO(const type *transport, int value),					\
	TP_ARGS(transport, value),							\
	TP_STRUCT__entry(								\
		__string(who, peer_of(transport))					\
		__field(int, value)							\
	),										\
	TP_fast_assign(									\
		COMPAT_ASSIGN_STR(who, peer_of(transport));				\
		__entry->value = value;							\
	),										\
	TP_printk(#who "=%s " #value "=%d", __get_str(who), __entry->value)		\
);											\
DECLARE_EVENT_CLASS(side##_xid_value,							\
	TP_PROTO(const type *transport, u32 xid, int value),				\
	TP_ARGS(transport, xid, value),							\
	TP_STRUCT__entry(								\
		__string(who, peer_of(transport))					\
		__field(u32, xid)							\
		__field(int, value)							\
	),										\
	TP_fast_assign(									\
		COMPAT_ASSIGN_STR(who, peer_of(transport));				\
		__entry->xid = xid;							\
		__entry->value = value;							\
	),										\
	TP_printk(#who "=%s xid=0x%08x " #value "=%d", __get_str(who), __entry->xid,	\
		  __entry->value)							\
)

/**
 * rpcrdma_wr_is_transfer - is a work request an RDMA Read or Write?
 * @wr: any
 *
 * Context: any.
 */
static inline bool rpcrdma_wr_is_transfer(const struct ib_send_wr *wr)
{
	return wr->opcode == IB_WR_RDMA_WRITE || wr->opcode == IB_WR_RDMA_READ ||
	       wr->opcode == IB_WR_RDMA_READ_WITH_INV;
}

/**
 * rpcrdma_wr_length - how much a work request moves
 * @wr: an RDMA Read or Write
 *
 * Context: any.
 * Return: bytes.
 */
static inline u32 rpcrdma_wr_length(const struct ib_send_wr *wr)
{
	u32 length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	return length;
}

#endif /* RPCRDMA_VERBS_TRACE_H */
