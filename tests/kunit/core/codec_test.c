// SPDX-License-Identifier: GPL-2.0-only
/*
 * The codec in the kernel, compiled with the kernel's flags and checkers. The unit tests in user
 * space (unit/) check at length what the bytes mean; this suite has each kind of message, every
 * fault that a message can have, and every buffer that is too small.
 */
#include <linux/slab.h>
#include <linux/unaligned.h>

#include "../fake/bad_input.h"
#include "rpcrdma/header.h"

enum { ROOM = 64 };

/**
 * struct decoded - a message, decoded
 * @status: of the decode
 * @header: of the message
 * @lists: over the storage below
 * @segments: storage
 * @chunks: storage
 */
struct decoded {
	enum rpcrdma_status		status;
	struct rpcrdma_header		header;
	struct rpcrdma_chunk_lists	lists;
	struct rpcrdma_segment		segments[ROOM];
	struct rpcrdma_chunk		chunks[ROOM];
};

/**
 * struct codec - one test
 * @test: the test
 * @sample: what is varied
 * @first: result
 * @second: result of the round trip
 * @seen: inputs so far
 */
struct codec {
	struct kunit		*test;
	const struct sample	*sample;
	struct decoded		first;
	struct decoded		second;
	unsigned int		seen;
};

static int codec_init(struct kunit *test)
{
	struct codec *codec = kunit_kzalloc(test, sizeof(*codec), GFP_KERNEL);

	if (!codec)
		return -ENOMEM;
	codec->test = test;
	codec->sample = test->param_value;
	test->priv = codec;
	return 0;
}

static void decode(struct decoded *d, const void *message, u32 length, u32 segments,
		   u32 chunks)
{
	rpcrdma_lists_init(&d->lists, d->segments, segments, d->chunks, chunks);
	d->status = rpcrdma_header_decode(message, length, &d->header, &d->lists, false);
}

static u32 nr_chunks(const struct decoded *d)
{
	return d->lists.nr_read + d->lists.nr_write + d->lists.nr_reply;
}

static bool same(const struct decoded *a, const struct decoded *b)
{
	return a->status == b->status && !memcmp(&a->header, &b->header, sizeof(a->header)) &&
	       a->lists.nr_read == b->lists.nr_read &&
	       a->lists.nr_write == b->lists.nr_write &&
	       a->lists.nr_reply == b->lists.nr_reply &&
	       a->lists.nr_segments == b->lists.nr_segments &&
	       !memcmp(a->chunks, b->chunks, nr_chunks(a) * sizeof(a->chunks[0])) &&
	       !memcmp(a->segments, b->segments,
		       a->lists.nr_segments * sizeof(a->segments[0]));
}

/* Chunks share the segments out among them, in order; sums are right. */
static void expect_sound_lists(struct codec *codec)
{
	const struct decoded *d = &codec->first;
	struct kunit *test = codec->test;
	u32 i, k, next = 0;
	u64 sum;

	for (i = 0; i < nr_chunks(d); i++) {
		const struct rpcrdma_chunk *chunk = &d->chunks[i];

		KUNIT_ASSERT_EQ(test, next, chunk->first);
		KUNIT_ASSERT_LE(test, (u64)next + chunk->count, (u64)d->lists.nr_segments);
		for (sum = 0, k = 0; k < chunk->count; k++)
			sum += d->segments[next++].length;
		KUNIT_EXPECT_EQ(test, sum, (u64)chunk->length);
		KUNIT_EXPECT_EQ(test, 0, chunk->position % 4);
		if (i >= d->lists.nr_read)
			KUNIT_EXPECT_EQ(test, 0, chunk->position);
		else if (i)
			KUNIT_EXPECT_GT(test, chunk->position, d->chunks[i - 1].position);
	}
	KUNIT_EXPECT_EQ(test, next, d->lists.nr_segments);
}

/* Encode and decode again: the same. */
static void expect_round_trip(struct codec *codec)
{
	struct decoded *first = &codec->first, *second = &codec->second;
	struct rpcrdma_header header = first->header;
	struct kunit *test = codec->test;
	u32 size = header.size;
	u8 *bytes;

	if (header.proc == RPCRDMA_MSG || header.proc == RPCRDMA_NOMSG)
		KUNIT_ASSERT_EQ(test, size, rpcrdma_header_size(&first->lists));
	bytes = kzalloc(size + 8, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bytes);
	KUNIT_EXPECT_EQ(test, RPCRDMA_OK,
			rpcrdma_header_encode(&header, &first->lists, bytes, size));
	/* RDMA_MSG wants a payload with the same XID, and has the direction from there. */
	memcpy(bytes + size, bytes, 4);
	put_unaligned_be32(header.direction, bytes + size + 4);
	decode(second, bytes, header.proc == RPCRDMA_MSG ? size + 8 : size, ROOM, ROOM);
	KUNIT_EXPECT_TRUE(test, same(first, second));
	kfree(bytes);
}

/* What holds whatever the bytes are. */
static void check_any(void *context, const u8 *message, u32 length)
{
	struct codec *codec = context;
	struct kunit *test = codec->test;

	codec->seen++;
	decode(&codec->first, message, length, ROOM, ROOM);
	if (codec->first.status != RPCRDMA_OK) {
		KUNIT_EXPECT_EQ(test, 0, nr_chunks(&codec->first));
		KUNIT_EXPECT_EQ(test, 0, codec->first.lists.nr_segments);
		return;
	}
	KUNIT_EXPECT_LE(test, codec->first.header.size, length);
	expect_sound_lists(codec);
	expect_round_trip(codec);
}

static void codec_every_truncation_and_corruption(struct kunit *test)
{
	struct codec *codec = test->priv;
	u8 *message = sample_bytes(test, codec->sample);

	bad_input_each(test, message, codec->sample->count * 4, check_any, codec);
	KUNIT_EXPECT_GT(test, codec->seen, codec->sample->count * 50);
}

static void codec_sample_is_good(struct kunit *test)
{
	struct codec *codec = test->priv;
	const struct sample *sample = codec->sample;
	struct rpcrdma_header header;
	u8 *message = sample_bytes(test, sample);
	u8 encoded[SAMPLE_WORDS * 4];

	/* Act */
	decode(&codec->first, message, sample->count * 4, ROOM, ROOM);

	/* Assert */
	header = codec->first.header;
	KUNIT_ASSERT_EQ(test, sample->status, codec->first.status);
	KUNIT_EXPECT_EQ(test, sample->words[0], header.xid);
	KUNIT_EXPECT_EQ(test, sample->words[1], header.vers);
	KUNIT_EXPECT_EQ(test, sample->words[2], header.credits);
	KUNIT_EXPECT_EQ(test, sample->words[3], header.proc);
	if (sample->status != RPCRDMA_OK)
		return;
	expect_sound_lists(codec);
	expect_round_trip(codec);
	KUNIT_EXPECT_EQ(test, sample->header * 4, header.size);
	KUNIT_EXPECT_EQ(test, RPCRDMA_OK,
			rpcrdma_header_encode(&header, &codec->first.lists, encoded,
					      sizeof(encoded)));
	KUNIT_EXPECT_EQ(test, 0, memcmp(encoded, message, header.size));
}

/* No prefix of a header is a header; nor of an RDMA_MSG without an XID behind it. */
static void codec_truncated_header_is_refused(struct kunit *test)
{
	struct codec *codec = test->priv;
	const struct sample *sample = codec->sample;
	u8 *message = sample_bytes(test, sample);
	u32 least = sample->header * 4, length;

	if (sample->words[3] == RPCRDMA_MSG)
		least += 4;
	for (length = 0; length < least; length++) {
		u8 *copy = kmemdup(message, length, GFP_KERNEL);

		decode(&codec->first, copy, length, ROOM, ROOM);
		KUNIT_EXPECT_NE_MSG(test, RPCRDMA_OK, codec->first.status, "%u bytes", length);
		kfree(copy);
	}
}

/* Little storage: the same result or TOO_MANY, and nothing written beyond. */
static void codec_small_storage(struct kunit *test)
{
	struct codec *codec = test->priv;
	const struct sample *sample = codec->sample;
	u8 *message = sample_bytes(test, sample);
	u32 length = sample->count * 4, segments, chunks;

	decode(&codec->first, message, length, ROOM, ROOM);
	for (segments = 0; segments < 8; segments++) {
		for (chunks = 0; chunks < 8; chunks++) {
			bool fits = codec->first.lists.nr_segments <= segments &&
				    nr_chunks(&codec->first) <= chunks;

			memset(&codec->second, 0xa5, sizeof(codec->second));
			decode(&codec->second, message, length, segments, chunks);
			KUNIT_EXPECT_EQ(test, fits ? sample->status : RPCRDMA_TOO_MANY,
					codec->second.status);
			KUNIT_EXPECT_NULL(test, memchr_inv(&codec->second.segments[segments],
							   0xa5, sizeof(struct rpcrdma_segment) *
							   (ROOM - segments)));
			KUNIT_EXPECT_NULL(test, memchr_inv(&codec->second.chunks[chunks],
							   0xa5, sizeof(struct rpcrdma_chunk) *
							   (ROOM - chunks)));
		}
	}
}

/* Every capacity that is too small; the buffer has exactly that size. */
static void codec_small_buffer(struct kunit *test)
{
	struct codec *codec = test->priv;
	const struct sample *sample = codec->sample;
	u8 *message = sample_bytes(test, sample);
	struct rpcrdma_header header;
	u32 size;

	decode(&codec->first, message, sample->count * 4, ROOM, ROOM);
	header = codec->first.header;
	if (header.proc == RPCRDMA_MSGP) {
		KUNIT_EXPECT_EQ(test, RPCRDMA_BAD_PROC,
				rpcrdma_header_encode(&header, &codec->first.lists, message,
						      sample->count * 4));
		return;
	}
	for (size = 0; size < sample->header * 4; size++) {
		u8 *buffer = kmalloc(size, GFP_KERNEL);

		KUNIT_EXPECT_EQ(test, RPCRDMA_NO_SPACE,
				rpcrdma_header_encode(&header, &codec->first.lists, buffer,
						      size));
		kfree(buffer);
	}
}

/* One word of samples[@sample], and what it is found to be. */
struct wrong_word {
	const char		*desc;
	u32			sample;
	u32			word;
	u32			value;
	enum rpcrdma_status	status;
};

enum { NO_CHUNKS = 0, ALL_LISTS = 3, POSITION_ZERO = 4, ERR_VERS = 8 };

/* RFC 8166 section 4 */
static const struct wrong_word wrong_words[] = {
	{ "version 0", NO_CHUNKS, 1, 0, RPCRDMA_BAD_VERSION },
	{ "version 2", ALL_LISTS, 1, 2, RPCRDMA_BAD_VERSION },
	{ "procedure 5", NO_CHUNKS, 3, 5, RPCRDMA_BAD_PROC },
	{ "Read list discriminator 2", ALL_LISTS, 4, 2, RPCRDMA_BAD_DISCRIMINATOR },
	{ "second Read discriminator 2", ALL_LISTS, 10, 2, RPCRDMA_BAD_DISCRIMINATOR },
	{ "Write list discriminator 2", ALL_LISTS, 17, 2, RPCRDMA_BAD_DISCRIMINATOR },
	{ "end of the Write list -1", ALL_LISTS, 33, 0xffffffff, RPCRDMA_BAD_DISCRIMINATOR },
	{ "Reply chunk discriminator 2", ALL_LISTS, 34, 2, RPCRDMA_BAD_DISCRIMINATOR },
	{ "Position 6", ALL_LISTS, 5, 6, RPCRDMA_BAD_POSITION },
	{ "segment count beyond the end", ALL_LISTS, 24, 9, RPCRDMA_TRUNCATED },
	{ "segment count that wraps", ALL_LISTS, 35, 0x10000001, RPCRDMA_TRUNCATED },
	{ "lengths that add up to 2^32", ALL_LISTS, 26, 0xfffff000, RPCRDMA_OVERFLOW },
	{ "Position Zero chunk of 2^32", POSITION_ZERO, 7, 0xfffff000, RPCRDMA_OVERFLOW },
	{ "XID of the payload", ALL_LISTS, 44, 1, RPCRDMA_XID_MISMATCH },
	{ "RDMA_ERROR of no kind", ERR_VERS, 4, 3, RPCRDMA_BAD_ERROR },
};

KUNIT_ARRAY_PARAM_DESC(wrong_word, wrong_words, desc);

static void codec_names_what_is_wrong(struct kunit *test)
{
	const struct wrong_word *c = test->param_value;
	const struct sample *sample = &samples[c->sample];
	struct codec *codec = test->priv;
	u8 *message = sample_bytes(test, sample);

	put_unaligned_be32(c->value, message + 4 * c->word);
	decode(&codec->first, message, sample->count * 4, ROOM, ROOM);
	KUNIT_EXPECT_EQ(test, c->status, codec->first.status);
}

static struct kunit_case codec_cases[] = {
	KUNIT_CASE_PARAM(codec_sample_is_good, sample_params),
	KUNIT_CASE_PARAM(codec_truncated_header_is_refused, sample_params),
	KUNIT_CASE_PARAM(codec_names_what_is_wrong, wrong_word_gen_params),
	KUNIT_CASE_PARAM(codec_every_truncation_and_corruption, sample_params),
	KUNIT_CASE_PARAM(codec_small_storage, sample_params),
	KUNIT_CASE_PARAM(codec_small_buffer, sample_params),
	{}
};

static struct kunit_suite codec_suite = {
	.name = "rpcrdma_codec",
	.init = codec_init,
	.test_cases = codec_cases,
};

kunit_test_suite(codec_suite);
