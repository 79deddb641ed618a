/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * Connection Configuration Protocol, RFC 5666 section 6: an RPC program in which a client says
 * which sizes it uses, and the server answers with its own.
 */
#ifndef RPCRDMA_CCP_H
#define RPCRDMA_CCP_H

#include "protocol.h"

/**
 * struct rpcrdma_config_request - the client's arguments
 * @max_call: largest message that the client sends, in bytes
 * @max_reply: largest message that the client receives, in bytes
 * @max_reads: number of RDMA Reads that the client serves at the same time
 */
struct rpcrdma_config_request {
	u32 max_call;
	u32 max_reply;
	u32 max_reads;
};

/**
 * struct rpcrdma_config_call - a call of this program, as a server decodes it
 * @xid: XID of the call
 * @procedure: its procedure number
 * @status: accept_stat of the reply (RFC 5531 section 9)
 * @request: the arguments; all zero unless @status is %RPCRDMA_SUCCESS and the procedure has any
 */
struct rpcrdma_config_call {
	u32 xid;
	u32 procedure;
	enum rpcrdma_accept_stat status;
	struct rpcrdma_config_request request;
};

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_config_call_encode - write the client's RPC call
 * @xid: XID of the call
 * @request: its arguments
 * @buffer: room for %RPCRDMA_CONFIG_CALL_SIZE bytes
 *
 * Return: number of bytes written, which is %RPCRDMA_CONFIG_CALL_SIZE.
 */
u32 rpcrdma_config_call_encode(u32 xid, const struct rpcrdma_config_request *request, void *buffer);

/**
 * rpcrdma_config_call_decode - is an RPC call one that the transport answers?
 * @message: an RPC call that came from the client
 * @length: its size in bytes
 * @call: gets the call, and the status to answer it with
 *
 * Return: false when SUNRPC has to answer the call: because it belongs to another program, has an
 * RPC version other than 2, or a credential other than AUTH_NONE and AUTH_SYS, or because its RPC
 * header is malformed. @call has no meaning then.
 */
bool rpcrdma_config_call_decode(const void *message, u32 length, struct rpcrdma_config_call *call);

/**
 * rpcrdma_config_reply_encode - write the server's RPC reply
 * @call: the call, from rpcrdma_config_call_decode()
 * @inline_recv: largest message that the server receives, in bytes
 * @read_depth: largest number of RDMA Reads that the server has in flight at the same time
 * @buffer: room for %RPCRDMA_CONFIG_REPLY_SIZE bytes
 *
 * Return: number of bytes written.
 */
u32 rpcrdma_config_reply_encode(const struct rpcrdma_config_call *call, u32 inline_recv,
				u32 read_depth, void *buffer);

/**
 * rpcrdma_config_reply_decode - read the server's RPC reply
 * @message: an RPC reply that came from the server
 * @length: its size in bytes
 * @xid: XID of our call
 * @max_call: gets the largest message that the server receives, in bytes. The client has no use for
 *	the other results: an alignment, and the number of RDMA Reads that the server has in flight.
 *
 * Return: true when the reply is a successful one with complete results; else @max_call is
 * unchanged.
 */
bool rpcrdma_config_reply_decode(const void *message, u32 length, u32 xid, u32 *max_call);

/**
 * rpcrdma_config_lower - the size that holds after the peer has named one
 * @agreed: size that both peers agreed on before, in bytes
 * @said: size that the peer names now, in bytes
 *
 * Return: the smaller of the two sizes, but at least 1024 bytes, which every peer can use.
 */
u32 rpcrdma_config_lower(u32 agreed, u32 said);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_CCP_H */
