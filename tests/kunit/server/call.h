/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls that a client has taken apart into chunks. */
#ifndef KUNIT_SERVER_CALL_H
#define KUNIT_SERVER_CALL_H

#include "server.h"

enum { CALL_XID = 0x30000001, CALL_ITEMS = 3 };

/**
 * struct call_item - a part of the call that goes in a Read chunk
 * @position: where it stands in the call
 * @length: bytes, without padding
 * @segments: in so many pieces
 */
struct call_item {
	u32	position;
	u32	length;
	u32	segments;
};

/**
 * struct call_case - a call
 * @desc: which kind
 * @length: of the whole call; padding of the items included
 * @zero: segments of the Position Zero chunk; 0 for an RDMA_MSG
 * @items: by Position
 */
struct call_case {
	const char	*desc;
	u32		length;
	u32		zero;
	struct call_item	items[CALL_ITEMS];
};

/**
 * struct call - a call, taken apart by the client
 * @stream: as nfsd is to see it
 * @base: what goes inline, or into the Position Zero chunk
 * @base_length: its size in bytes
 * @message: what is sent
 * @size: its size in bytes
 */
struct call {
	u8	*stream;
	u8	*base;
	u32	base_length;
	u8	*message;
	u32	size;
};

int call_init(struct kunit *test);
void call_build(struct server *server, struct call *call, const struct call_case *c);
void call_deliver(struct server *server, const struct call_case *c);
void call_expect_arg(struct server *server, const u8 *stream, u32 length);

#endif /* KUNIT_SERVER_CALL_H */
