// SPDX-License-Identifier: GPL-2.0-only
/* Makes good messages of each kind, and damages them; see bad_input.h. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "bad_input.h"

#define XID		0x20000001
#define CREDITS		32
#define CALL		XID, RPCRDMA_RPC_CALL, 2, 100003, 3, 6, 0, 0, 0, 0
#define REPLY		XID, RPCRDMA_RPC_REPLY, 0, 0, 0, 0
#define NO_CHUNKS	0, 0, 0
#define SEGMENT(n)	0x1000 + (n), 4096, 0x11, 0x22000000 + ((n) << 12)

/* RFC 8166 section 4: fixed header, Read list, Write list, Reply chunk, payload */
const struct sample samples[] = {
	{ "RDMA_MSG without chunks",
	  { XID, 1, CREDITS, RPCRDMA_MSG, NO_CHUNKS, CALL }, 17, 7 },
	{ "RDMA_MSG with a Read chunk",
	  { XID, 1, CREDITS, RPCRDMA_MSG,
	    1, 40, SEGMENT(0), 1, 40, SEGMENT(1), 0, 0, 0, CALL }, 29, 19 },
	{ "RDMA_MSG with a Write chunk",
	  { XID, 1, CREDITS, RPCRDMA_MSG,
	    0, 1, 2, SEGMENT(0), SEGMENT(1), 0, 0, REPLY }, 23, 17 },
	{ "RDMA_MSG with all lists",
	  { XID, 1, CREDITS, RPCRDMA_MSG,
	    1, 8, SEGMENT(0), 1, 16, SEGMENT(1), 0,
	    1, 1, SEGMENT(2), 1, 2, SEGMENT(3), SEGMENT(4), 0,
	    1, 2, SEGMENT(5), SEGMENT(6), CALL }, 54, 44 },
	{ "RDMA_NOMSG with a Position Zero Read chunk",
	  { XID, 1, CREDITS, RPCRDMA_NOMSG,
	    1, 0, SEGMENT(0), 1, 0, SEGMENT(1), 1, 64, SEGMENT(2), 0, 0, 0 }, 25, 25 },
	{ "RDMA_NOMSG with a Reply chunk",
	  { XID, 1, CREDITS, RPCRDMA_NOMSG, 0, 0, 1, 2, SEGMENT(0), SEGMENT(1) }, 16, 16 },
	{ "RDMA_MSGP", { XID, 1, CREDITS, RPCRDMA_MSGP, 64, 1024, NO_CHUNKS, CALL }, 19, 4,
	  RPCRDMA_BAD_PROC },
	{ "RDMA_DONE", { XID, 1, CREDITS, RPCRDMA_DONE }, 7, 4 },
	{ "RDMA_ERROR, ERR_VERS",
	  { XID, 2, CREDITS, RPCRDMA_ERROR, RPCRDMA_ERR_VERS, 1, 1 }, 7, 7 },
	{ "RDMA_ERROR, ERR_CHUNK",
	  { XID, 1, CREDITS, RPCRDMA_ERROR, RPCRDMA_ERR_CHUNK }, 5, 5 },
};
EXPORT_SYMBOL_GPL(samples);

COMPAT_GEN_PARAMS(sample_params, prev, desc)
{
	const struct sample *next = prev ? (const struct sample *)prev + 1 : samples;

	if (next == samples + ARRAY_SIZE(samples))
		return NULL;
	strscpy(desc, next->desc, KUNIT_PARAM_DESC_SIZE);
	return next;
}
EXPORT_SYMBOL_GPL(sample_params);

/* As on the wire; lives as long as the test. */
u8 *sample_bytes(struct kunit *test, const struct sample *sample)
{
	u8 *bytes = kunit_kzalloc(test, sample->count * 4, GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	for (i = 0; i < sample->count; i++)
		put_unaligned_be32(sample->words[i], bytes + 4 * i);
	return bytes;
}
EXPORT_SYMBOL_GPL(sample_bytes);

static void with_copy(struct kunit *test, const u8 *message, u32 length, bad_input_fn fn,
		      void *context)
{
	u8 *copy = kmemdup(message, length, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	fn(context, copy, length);
	kfree(copy);
}

static void corrupt_word(struct kunit *test, u8 *message, u32 length, u32 at,
			 bad_input_fn fn, void *context)
{
	static const u32 values[] = {
		0, 1, 2, 3, 4, 5, 7, 15, 16, 17, 255, 4095, 4096, 65536, 0x7fffffff,
		0x80000000, 0xfffffffb, 0xfffffffc, 0xffffffff,
	};
	u32 word = get_unaligned_be32(message + at), i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		put_unaligned_be32(values[i], message + at);
		with_copy(test, message, length, fn, context);
	}
	for (i = 0; i < 32; i++) {
		put_unaligned_be32(word ^ BIT(i), message + at);
		with_copy(test, message, length, fn, context);
	}
	put_unaligned_be32(word + 1, message + at);
	with_copy(test, message, length, fn, context);
	put_unaligned_be32(word - 1, message + at);
	with_copy(test, message, length, fn, context);
	put_unaligned_be32(word, message + at);
}

void bad_input_each(struct kunit *test, const u8 *message, u32 length, bad_input_fn fn,
		    void *context)
{
	u8 *scratch = kmemdup(message, length, GFP_KERNEL);
	u32 at;

	KUNIT_ASSERT_NOT_NULL(test, scratch);
	for (at = 0; at < length; at++)
		with_copy(test, message, at, fn, context);
	for (at = 0; at + 4 <= length; at += 4)
		corrupt_word(test, scratch, length, at, fn, context);
	kfree(scratch);
}
EXPORT_SYMBOL_GPL(bad_input_each);
