/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * Trace events of the traffic on the wire, which rpcrdma wire --live draws. Both sides have them:
 * the trace.h of each side says RPCRDMA_MESSAGE_EVENT() and RPCRDMA_TRANSFER_EVENT(). Nothing is
 * copied unless the events are switched on, which needs root.
 *
 * <side>_message - a message was received, or is posted now
 * @connection: number of the connection in the file connections
 * @peer: address of the peer
 * @sent: the message is sent, and was not received
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
 */
#ifndef RPCRDMA_VERBS_TRACE_H
#define RPCRDMA_VERBS_TRACE_H

#include <rdma/ib_verbs.h>

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
	TP_PROTO(u64 connection, const char *peer, bool write, u32 rkey, u64 offset,	\
		 u32 length),								\
	TP_ARGS(connection, peer, write, rkey, offset, length),				\
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
		__entry->write = write;							\
		__entry->rkey = rkey;							\
		__entry->offset = offset;						\
		__entry->length = length;						\
	),										\
	TP_printk("connection=%llu peer=%s write=%d rkey=0x%08x offset=0x%llx length=%u", \
		  __entry->connection, __get_str(peer), __entry->write, __entry->rkey,	\
		  __entry->offset, __entry->length)					\
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
