// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Bytes of messages: ranges of them, big-endian words in them, and how they are read and written */
#ifndef RPCRDMA_BYTES_HH
#define RPCRDMA_BYTES_HH

#include "types.h"

namespace rpcrdma
{

/*
 * A pointer with a length. The <span> of libstdc++ cannot be used, since it needs functions that a
 * kernel module cannot link.
 */
template <typename T> class Span {
    public:
	constexpr Span() = default;
	constexpr Span(T *data, size_t size)
		: data_(data)
		, size_(size)
	{
	}

	constexpr T *data() const
	{
		return data_;
	}
	constexpr size_t size() const
	{
		return size_;
	}
	constexpr T *begin() const
	{
		return data_;
	}
	constexpr T *end() const
	{
		return data_ + size_;
	}

	/*
	 * A part of the span, or an empty one if the range is not inside. The test has no sum that
	 * could wrap around.
	 */
	constexpr Span subspan(size_t offset, size_t length) const
	{
		bool inside = length <= size_ && offset <= size_ - length;

		return inside ? Span(data_ + offset, length) : Span();
	}

    private:
	T *data_ = nullptr;
	size_t size_ = 0;
};

/*
 * Big-endian words in byte arrays of any alignment (RFC 4506 section 3). A word is copied, and then
 * its bytes are swapped. The compiler would make the same code of shifts of single bytes, but not
 * in a loop.
 */
constexpr u32 swap_be(u32 word)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? word : __builtin_bswap32(word);
}

constexpr u64 swap_be(u64 word)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? word : __builtin_bswap64(word);
}

template <typename T> T load_be(const u8 *from)
{
	T word;

	__builtin_memcpy(&word, from, sizeof(word));
	return swap_be(word);
}

template <typename T> void store_be(u8 *to, T value)
{
	T word = swap_be(value);

	__builtin_memcpy(to, &word, sizeof(word));
}

/* A position inside of a buffer. After the first step beyond the end, every step fails. */
template <typename T> class Cursor {
    public:
	constexpr Cursor(T *bytes, size_t length)
		: buffer_(bytes, length)
	{
	}

	constexpr bool failed() const
	{
		return failed_;
	}
	constexpr size_t position() const
	{
		return position_;
	}
	constexpr size_t remaining() const
	{
		return buffer_.size() - position_;
	}

    protected:
	constexpr void fail()
	{
		failed_ = true;
		position_ = buffer_.size();
	}

	/* The start of the next @bytes bytes, or null if there are fewer */
	constexpr T *advance(size_t bytes)
	{
		if (failed_ || bytes > remaining()) {
			fail();
			return nullptr;
		}
		position_ += bytes;
		return buffer_.data() + (position_ - bytes);
	}

    private:
	Span<T> buffer_;
	size_t position_ = 0;
	bool failed_ = false;
};

/*
 * A cursor over received bytes; the core takes the bytes of a message in no other way. A read that
 * fails gives zero. So a parser may read a whole structure, and look at failed() once.
 */
class Reader : public Cursor<const u8> {
    public:
	Reader(const void *bytes, size_t length)
		: Cursor(static_cast<const u8 *>(bytes), length)
	{
	}

	/* Has a read failed because a word was no XDR boolean? */
	constexpr bool bad_bool() const
	{
		return bad_bool_;
	}

	constexpr u8 read_u8()
	{
		const u8 *at = advance(1);

		return at ? *at : 0;
	}

	constexpr u32 read_u32()
	{
		const u8 *at = advance(4);

		return at ? load_be<u32>(at) : 0;
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
	bool bad_bool_ = false;
};

/*
 * A cursor that writes a message. A value that does not fit is not written, and neither is any
 * value after it.
 */
class Writer : public Cursor<u8> {
    public:
	Writer(void *bytes, size_t length)
		: Cursor(static_cast<u8 *>(bytes), length)
	{
	}

	constexpr void write_u8(u8 value)
	{
		if (u8 *at = advance(1))
			*at = value;
	}

	constexpr void write_u32(u32 value)
	{
		if (u8 *at = advance(4))
			store_be(at, value);
	}

	constexpr void write_u64(u64 value)
	{
		if (u8 *at = advance(8))
			store_be(at, value);
	}
};

} /* namespace rpcrdma */

#endif /* RPCRDMA_BYTES_HH */
