// SPDX-License-Identifier: GPL-2.0-only
/* See mutate.hh. */
#include "hostile/mutate.hh"

namespace peer
{

u32 Random::word()
{
	return u32(engine_());
}

u32 Random::odd_word()
{
	static const u32 odd[] = {
		0,	    1,		2,	    3,		4,
		5,	    16,		17,	    28,		64,
		255,	    256,	1023,	    1024,	4095,
		4096,	    4097,	65536,	    1u << 20,	1u << 24,
		0x7ffffffc, 0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffffc,
		0xffffffff
	};

	return odd[below(sizeof(odd) / sizeof(odd[0]))];
}

/* ---- the header as a structure ---- */

static u32 changed_length(Random &random, u32 length)
{
	switch (random.below(5)) {
	case 0:
		return random.below(length + 1);
	case 1:
		return length ? length - 1 : 0;
	case 2:
		return 0;
	case 3:
		return length + 1 + random.below(8);
	default:
		return random.odd_word();
	}
}

static void mutate_segment(Random &random, rpcrdma_segment &segment, bool wild)
{
	if (!wild || random.chance(50)) {
		/* Shorter ones only: longer ones reach beyond the memory. */
		segment.length = wild ? changed_length(random, segment.length) :
					random.below(segment.length + 1);
		return;
	}
	switch (random.below(4)) {
	case 0:
		segment.handle = random.word();
		break;
	case 1:
		segment.handle ^= 1u << random.below(32);
		break;
	case 2:
		segment.offset ^= 1ull << random.below(64);
		break;
	default:
		segment.offset = ~0ull - random.below(4096);
	}
}

static void mutate_chunk(Random &random, Chunk &chunk, bool wild)
{
	if (chunk.empty()) {
		if (wild)
			chunk.push_back({ random.word(), 100, 0 });
		return;
	}
	u32 at = random.below(u32(chunk.size()));

	switch (random.below(5)) {
	case 0:
		chunk.erase(chunk.begin() + at);
		break;
	case 1:
		for (u32 n = random.below(20); n; n--)
			chunk.push_back(chunk[at]);
		break;
	case 2:
		std::swap(chunk[at], chunk[0]);
		break;
	default:
		mutate_segment(random, chunk[at], wild);
	}
}

static void mutate_read_list(Random &random, Header &header, bool wild)
{
	if (header.read.empty()) {
		header.add_read(random.odd_word(), { random.word(), 0, 0 });
		return;
	}
	u32 at = random.below(u32(header.read.size()));
	ReadSegment &item = header.read[at];

	switch (random.below(7)) {
	case 0:
		header.read.erase(header.read.begin() + at);
		break;
	case 1:
		for (u32 n = random.below(40); n; n--)
			header.read.push_back(ReadSegment(header.read[at]));
		break;
	case 2:
		std::swap(item, header.read[0]);
		break;
	case 3:
		item.position += 4 * random.below(8) - 16;
		break;
	case 4:
		item.position = random.odd_word();
		break;
	case 5:
		item.position = 0;
		break;
	default:
		mutate_segment(random, item.segment, wild);
	}
}

static void mutate_write_list(Random &random, Header &header, bool wild)
{
	if (header.write.empty() || random.chance(15)) {
		header.write.push_back(header.reply ? *header.reply : Chunk());
		return;
	}
	u32 at = random.below(u32(header.write.size()));

	if (random.chance(15))
		for (u32 n = random.below(40); n; n--)
			header.write.push_back(Chunk(header.write[at]));
	else if (random.chance(15))
		header.write.erase(header.write.begin() + at);
	else
		mutate_chunk(random, header.write[at], wild);
}

static void mutate_reply_chunk(Random &random, Header &header, bool wild)
{
	if (!header.reply)
		header.reply = header.write.empty() ? Chunk() : header.write[0];
	else if (random.chance(25))
		header.reply.reset();
	else
		mutate_chunk(random, *header.reply, wild);
}

void mutate_header(Random &random, Header &header, bool wild)
{
	switch (random.below(9)) {
	case 0:
		header.proc = random.chance(80) ? random.below(6) :
						  random.word();
		break;
	case 1:
		header.vers = random.odd_word();
		break;
	case 2:
		header.credits = random.odd_word();
		break;
	case 3:
		header.xid ^= 1u << random.below(32);
		break;
	case 4:
	case 5:
		mutate_read_list(random, header, wild);
		break;
	case 6:
	case 7:
		mutate_write_list(random, header, wild);
		break;
	default:
		mutate_reply_chunk(random, header, wild);
	}
}

/* ---- the message as bytes ---- */

static void flip_bits(Random &random, Bytes &message, size_t from, size_t to)
{
	for (u32 n = 1 + random.below(6); n; n--) {
		size_t at = random.below(u32(message.size()));

		if (at < from || at >= to)
			message[at] ^= u8(1u << random.below(8));
	}
}

static void change_words(Random &random, Bytes &message, size_t from, size_t to)
{
	size_t words = message.size() / 4;
	size_t at = random.below(u32(words)) * 4;
	size_t other = random.below(u32(words)) * 4;

	if ((at >= from && at < to) || (other >= from && other < to))
		return;
	if (random.chance(50)) {
		message.set_word(at, random.odd_word());
		return;
	}
	u32 word = message.word_at(at);

	message.set_word(at, message.word_at(other));
	message.set_word(other, word);
}

void mutate_bytes(Random &random, Bytes &message, size_t spare_from,
		  size_t spare_to)
{
	if (message.size() < 8)
		return;
	switch (random.below(8)) {
	case 0:
		message.resize(random.below(u32(message.size())));
		break;
	case 1:
		message.resize(random.below(64));
		break;
	case 2:
		for (u32 n = random.below(64); n; n--)
			message.word(random.odd_word());
		break;
	case 3:
	case 4:
	case 5:
		flip_bits(random, message, spare_from, spare_to);
		break;
	default:
		change_words(random, message, spare_from, spare_to);
	}
}

Bytes mutate_message(Random &random, Header header, const Bytes &rpc, bool wild)
{
	if (random.chance(60))
		for (u32 n = 1 + random.below(3); n; n--)
			mutate_header(random, header, wild);
	size_t lists = header.encode().size();
	Bytes message = header.encode(rpc.view());

	if (lists == RPCRDMA_MIN_HEADER_SIZE || wild)
		lists = 16;
	if (random.chance(60))
		mutate_bytes(random, message, 16, lists);
	return message;
}

} /* namespace peer */
