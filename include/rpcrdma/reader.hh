// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * A cursor over received bytes, which cannot leave its buffer; the core reads a message in no other
 * way. After the first read beyond the end each read fails and gives zero. So a parser may read a
 * whole structure, and look at failed() once.
 */
#ifndef RPCRDMA_READER_HH
#define RPCRDMA_READER_HH

#include "endian.hh"
#include "span.hh"

namespace rpcrdma
{

class Reader {
    public:
	Reader(const void *bytes, size_t length)
		: buffer_(static_cast<const u8 *>(bytes), length)
	{
	}

	constexpr bool failed() const
	{
		return failed_;
	}
	/* Has a read failed because a word was no XDR boolean? */
	constexpr bool bad_bool() const
	{
		return bad_bool_;
	}
	constexpr size_t position() const
	{
		return position_;
	}
	constexpr size_t remaining() const
	{
		return buffer_.size() - position_;
	}

	constexpr u8 read_u8()
	{
		const u8 *at = advance(1);

		return at ? *at : 0;
	}

	constexpr u32 read_u32()
	{
		const u8 *at = advance(4);

		return at ? load_be32(at) : 0;
	}

	constexpr u64 read_u64()
	{
		const u8 *at = advance(8);

		return at ? load_be64(at) : 0;
	}

	/* RFC 4506 section 4.4: a boolean is 0 or 1. Optional data begins with a boolean. */
	constexpr bool read_bool()
	{
		u32 word = read_u32();

		if (word > 1) {
			bad_bool_ = true;
			fail();
		}
		return word == 1;
	}

	constexpr void skip(size_t bytes)
	{
		advance(bytes);
	}

	/* The next @bytes bytes, or an empty range if there are fewer */
	constexpr Span<const u8> take(size_t bytes)
	{
		const u8 *at = advance(bytes);

		return at ? Span<const u8>(at, bytes) : Span<const u8>();
	}

    private:
	constexpr void fail()
	{
		failed_ = true;
		position_ = buffer_.size();
	}

	/* The start of the next @bytes bytes, or null if there are fewer */
	constexpr const u8 *advance(size_t bytes)
	{
		if (failed_ || bytes > remaining()) {
			fail();
			return nullptr;
		}
		position_ += bytes;
		return buffer_.data() + (position_ - bytes);
	}

	Span<const u8> buffer_;
	size_t position_ = 0;
	bool failed_ = false;
	bool bad_bool_ = false;
};

} /* namespace rpcrdma */

#endif /* RPCRDMA_READER_HH */
