// SPDX-License-Identifier: GPL-2.0-only
/* A table of the ways in which a call and its reply can travel. */
#include "transfer.h"

#define WRITES(n)	.head = 160, .pages = (n), .tail = 40, .write = true, \
			.reply_head = 200

enum { LARGEST = RPCRDMA_INLINE_USUAL - RPCRDMA_MIN_HEADER_SIZE };

const struct transfer_case transfer_cases[TRANSFERS] = {
	{ "inline", { .head = 64, .reply_head = 256 }, { 200 } },
	{ "inline, smallest", { .head = 40, .reply_head = 64 }, { 24 } },
	{ "inline, call fills the buffer", { .head = LARGEST, .reply_head = 64 }, { 24 } },
	{ "inline, reply fills the buffer", { .head = 64, .reply_head = LARGEST },
	  { 128, LARGEST - 128 } },
	{ "Read chunk, 0", { WRITES(8192) }, { 200 } },
	{ "Read chunk, 1", { WRITES(8193) }, { 200 } },
	{ "Read chunk, 2", { WRITES(8194) }, { 200 } },
	{ "Read chunk, 3", { WRITES(8195) }, { 200 } },
	{ "Read chunk at an odd offset", { WRITES(9001), .base = 4001 }, { 200 } },
	{ "Read chunk of 1 MiB", { WRITES(1 << 20) }, { 200 } },
	{ "Read chunk of 1 MiB at an odd offset", { WRITES(1 << 20), .base = 77 }, { 200 } },
	{ "Position Zero Read chunk", { .head = 160, .pages = 20000, .tail = 40,
	  .reply_head = 200 }, { 200 } },
	{ "Position Zero Read chunk, long head", { .head = 9000, .reply_head = 200 }, { 200 } },
	{ "Write chunk, 0", { READS(12288) }, { 128, 12288 } },
	{ "Write chunk, 1", { READS(12289) }, { 128, 12289 } },
	{ "Write chunk, 2", { READS(12290) }, { 128, 12290 } },
	{ "Write chunk, 3", { READS(12291) }, { 128, 12291 } },
	{ "Write chunk and tail", { READS(12291) }, { 128, 12291, 40 } },
	{ "Write chunk, short", { READS(12288) }, { 128, 5001, 40 } },
	{ "Write chunk at an odd offset", { READS(13000), .reply_base = 2049 },
	  { 128, 13000, 4 } },
	{ "Write chunk of 1 MiB", { READS(1 << 20) }, { 128, 1 << 20 } },
	{ "Write chunk of 1 MiB at an odd offset", { READS(1 << 20), .reply_base = 77 },
	  { 128, 1 << 20 } },
	{ "Write chunk that is not used", { READS(12288) }, { 100 } },
	{ "Reply chunk", { PLAIN(8192) }, { 128, 8192, 40 } },
	{ "Reply chunk at an odd offset", { PLAIN(9001), .reply_base = 1025 },
	  { 128, 9001 } },
	{ "Reply chunk that is not used", { PLAIN(8192) }, { 100 } },
	{ "Read chunk and Write chunk", { .head = 160, .pages = 8195, .tail = 40,
	  .write = true, .reply_head = 128, .reply_pages = 13001, .reply_tail = 64,
	  .read = true }, { 128, 13001, 20 } },
	{ "Read chunk and Reply chunk", { .head = 160, .pages = 8195, .tail = 40,
	  .write = true, .reply_head = 128, .reply_pages = 9001, .reply_tail = 64 },
	  { 128, 9001, 20 } },
	{ "Position Zero Read chunk and Reply chunk", { .head = 160, .pages = 8195,
	  .tail = 40, .reply_head = 128, .reply_pages = 9001, .reply_tail = 64 },
	  { 128, 9001, 20 } },
	{ "Write chunk and Reply chunk", { .head = 136, .reply_head = 3000,
	  .reply_pages = 12288, .reply_tail = 3000, .read = true }, { 3000, 12288, 2024 } },
	{ "512 KiB there and back", { .head = 160, .pages = 1 << 19, .write = true,
	  .reply_head = 128, .reply_pages = 1 << 19, .reply_tail = 64, .read = true },
	  { 128, 1 << 19 } },
	{ "inline, with an item of a call", { WRITES(4096) }, { 200 } },
	{ "inline, with an item of a reply", { READS(4096) }, { 128, 4096 } },
};

/* One RPC, byte for byte. The call is gone when the test ends, or client_call_destroy(). */
struct client_call *transfer_exchange(struct pair *pair, const struct transfer_case *c)
{
	struct client_call *call = client_call_create(&pair->client, &c->shape);

	pair->answer = c->answer;
	KUNIT_ASSERT_EQ(pair->test, 0, pair_send(pair, call));
	pair_pump(pair);
	pair_expect_call(pair, call);
	client_call_expect_reply(call, c->answer.head, c->answer.item, c->answer.tail);
	return call;
}
