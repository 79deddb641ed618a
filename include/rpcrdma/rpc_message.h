/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* What the transport has to know of the RPC message that it carries */
#ifndef RPCRDMA_RPC_MESSAGE_H
#define RPCRDMA_RPC_MESSAGE_H

#include "protocol.h"

RPCRDMA_BEGIN_C_ABI

/**
 * rpcrdma_call_reducible_from - the part of an RPC call that Read chunks may carry
 * @call: the RPC message
 * @length: bytes of it that are contiguous; they have to hold the whole RPC header
 * @known: gets whether this file knows the binding of the program (RFC 8267)
 *
 * Return: lowest Position in bytes, other than 0, that a Read chunk may have, or 0 when none may
 * have such a Position (RFC 8166 sections 6.1 and 8.2.2).
 */
u32 rpcrdma_call_reducible_from(const void *call, u32 length, bool *known);

/**
 * rpcrdma_chunk_is_item - does a Read chunk carry one argument of a known binding?
 * @count: the word of the message that precedes the Position: the size of the argument in bytes
 * @chunk_length: size of the chunk in bytes, with or without the padding of the argument
 */
bool rpcrdma_chunk_is_item(u32 count, u32 chunk_length);

/**
 * rpcrdma_message_direction - is an RPC message a call or a reply?
 * @payload: the RPC message
 * @length: its size in bytes
 *
 * Return: %RPCRDMA_RPC_CALL, %RPCRDMA_RPC_REPLY, or -1 for a message that is neither
 * (RFC 8167 section 4.1).
 */
int rpcrdma_message_direction(const void *payload, u32 length);

/**
 * rpcrdma_reply_verifier - size of the verifier of an RPC reply
 * @reply: the RPC message, or the beginning of it
 * @length: size of @reply in bytes
 *
 * Return: bytes of the verifier with its flavor and length, at most what RFC 5531 section 8.2
 * allows; 0 for a reply that was not accepted, and for one that is too short.
 */
u32 rpcrdma_reply_verifier(const void *reply, u32 length);

RPCRDMA_END_C_ABI

#endif /* RPCRDMA_RPC_MESSAGE_H */
