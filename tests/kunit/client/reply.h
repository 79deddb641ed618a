/* SPDX-License-Identifier: GPL-2.0-only */
/* Shapes of RPCs that want replies: for struct client_shape and struct client_reply. */
#ifndef KUNIT_CLIENT_REPLY_H
#define KUNIT_CLIENT_REPLY_H

#include "client.h"

/* READ in NFSv3: the item is all of the pages, or a part of them. */
#define READS(n)	.head = 136, .reply_head = 128, .reply_pages = (n), \
			.reply_tail = 64, .read = true
/* A reply chunk beside a Write chunk: head and tail do not fit inline. */
#define BOTH(n)		.head = 136, .reply_head = 3000, .reply_pages = (n), \
			.reply_tail = 3000, .read = true
#define PLAIN(n)	.head = 136, .reply_head = 128, .reply_pages = (n), \
			.reply_tail = 64
#define INTO_CHUNK	.proc = RPCRDMA_NOMSG

#endif /* KUNIT_CLIENT_REPLY_H */
