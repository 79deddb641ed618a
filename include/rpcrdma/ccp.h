/* SPDX-License-Identifier: GPL-2.0 */
/* Connection Configuration Protocol: RFC 5666 section 6 */
#ifndef RPCRDMA_CCP_H
#define RPCRDMA_CCP_H

#include "protocol.h"

/* The client's question. Sizes in bytes. */
struct rpcrdma_config_request {
	u32 max_call;		/* largest that it sends inline */
	u32 max_reply;		/* largest that it takes inline */
	u32 max_reads;		/* RDMA Reads that it takes at a time */
};

/* The server's answer. */
struct rpcrdma_config_reply {
	u32 max_call;		/* largest that it takes inline */
	u32 align;
	u32 max_reads;		/* RDMA Reads that it does at a time */
};

/* A call as the server has it. @request is set if there is one, and it is right. */
struct rpcrdma_config_call {
	u32 xid;
	u32 procedure;
	enum rpcrdma_accept_stat status;	/* to be answered */
	struct rpcrdma_config_request request;
};

RPCRDMA_BEGIN_C_ABI

/* @buffer has RPCRDMA_CONFIG_CALL_SIZE bytes. Returns how many were written: all. */
u32 rpcrdma_config_call_encode(u32 xid, const struct rpcrdma_config_request *request,
			       void *buffer);

/*
 * @message: an RPC call. Returns false, and @call is of no meaning, when the call is not
 * for the transport to answer.
 */
bool rpcrdma_config_call_decode(const void *message, u32 length,
				struct rpcrdma_config_call *call);

/*
 * @inline_recv: largest message that the client may send, by private data
 * @read_depth: RDMA Reads that the server does at a time
 * @buffer has RPCRDMA_CONFIG_REPLY_SIZE bytes. Returns how many were written.
 */
u32 rpcrdma_config_reply_encode(const struct rpcrdma_config_call *call, u32 inline_recv,
				u32 read_depth, void *buffer);

/* @message: an RPC reply. Returns true when it answers the question, with @reply set. */
bool rpcrdma_config_reply_decode(const void *message, u32 length, u32 xid,
				 struct rpcrdma_config_reply *reply);

/* A size that both have agreed on, after the peer has @said another. */
u32 rpcrdma_config_lower(u32 agreed, u32 said);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_CCP_H */
