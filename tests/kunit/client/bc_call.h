/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of the server with chunks. */
#ifndef KUNIT_CLIENT_BC_CALL_H
#define KUNIT_CLIENT_BC_CALL_H

#include "bc.h"

enum {
	BC_XID		= 0x4711,
	BC_CALL_RKEY	= 0x1000,	/* and those that follow: one for each segment */
	BC_REPLY_RKEY	= 0x2000,
	BC_REPLY_SIZE	= 8192,
	BC_ADDRESS	= 0x7000,
};

/**
 * struct bc_call - a call of the server
 * @client: whom it calls
 * @message: the RPC call as a stream
 * @length: its size in bytes
 * @reads: Read chunks: Position and length of each, up to a length of 0
 * @segment: bytes of a segment, 0: all
 * @reply: sizes of the Reply chunk's segments, up to one of 0
 * @memory: for the Reply chunk
 * @invalidate: it is a Send With Invalidate of this R_key; 0: a plain Send
 */
struct bc_call {
	struct client	*client;
	u8		*message;
	u32		length;
	struct {
		u32	position;
		u32	length;
	} reads[4];
	u32		segment;
	u32		reply[4];
	u8		*memory;
	u32		invalidate;
};

struct bc_call *bc_call_create(struct client *client, u32 length);
struct bc_call *bc_call_create_long(struct client *client, u32 length);
void bc_call_deliver(struct bc_call *cb);
struct rpc_rqst *bc_call_expect(struct bc_call *cb);
void bc_run(struct client *client);
void bc_expect_nothing_left(struct client *client);

#endif /* KUNIT_CLIENT_BC_CALL_H */
