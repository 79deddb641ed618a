/* SPDX-License-Identifier: GPL-2.0 */
/* What the transport has to know of the RPC message that it carries */
#ifndef RPCRDMA_RPC_MESSAGE_H
#define RPCRDMA_RPC_MESSAGE_H

#include "protocol.h"

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_call_reducible_from - from where on may an RPC call be reduced?
 * @call: the RPC message
 * @length: bytes of it that lie together; its header has to be among them
 * @known: set if the binding of its program is known: RFC 8267
 *
 * Return: the lowest Position, in bytes, that a Read chunk may have, but for 0; or 0 if none
 * may: RFC 8166 sections 6.1 and 8.2.2.
 */
u32 rpcrdma_call_reducible_from(const void *call, u32 length, bool *known);

/**
 * rpcrdma_chunk_is_item - is a Read chunk one argument of a known binding?
 * @count: the word in front of its Position
 * @chunk_length: bytes, with or without the padding of the item
 */
bool rpcrdma_chunk_is_item(u32 count, u32 chunk_length);

/**
 * rpcrdma_message_direction - is an RDMA_MSG payload a call or a reply?
 * @payload: the RPC message
 * @length: its size in bytes
 *
 * Return: %RPCRDMA_RPC_CALL, %RPCRDMA_RPC_REPLY, or -1 where it cannot be told
 * (RFC 8167 section 4.1).
 */
int rpcrdma_message_direction(const void *payload, u32 length);

/**
 * rpcrdma_reply_verifier - how much of an RPC reply is its verifier?
 * @reply: the RPC message, or the beginning of it
 * @length: its size in bytes
 *
 * Return: bytes with flavor and length, at most what RFC 5531 section 8.2 allows; 0 for a reply
 * that was not accepted, or one that is too short to tell.
 */
u32 rpcrdma_reply_verifier(const void *reply, u32 length);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_RPC_MESSAGE_H */
