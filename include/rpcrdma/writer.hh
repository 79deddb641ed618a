// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * The counterpart of Reader: a cursor that writes a message. A value that does not fit is not
 * written, and neither is any value after it.
 */
#ifndef RPCRDMA_WRITER_HH
#define RPCRDMA_WRITER_HH

#include "endian.hh"
#include "span.hh"

namespace rpcrdma
{

class Writer {
    public:
	Writer(void *bytes, size_t length)
		: buffer_(static_cast<u8 *>(bytes), length)
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

	constexpr void write_u8(u8 value)
	{
		if (u8 *at = advance(1))
			*at = value;
	}

	constexpr void write_u32(u32 value)
	{
		if (u8 *at = advance(4))
			store_be32(at, value);
	}

	constexpr void write_u64(u64 value)
	{
		if (u8 *at = advance(8))
			store_be64(at, value);
	}

	/* Called for a value that has no encoding */
	constexpr void fail()
	{
		failed_ = true;
	}

    private:
	constexpr u8 *advance(size_t bytes)
	{
		if (failed_ || bytes > buffer_.size() - position_) {
			failed_ = true;
			return nullptr;
		}
		position_ += bytes;
		return buffer_.data() + (position_ - bytes);
	}

	Span<u8> buffer_;
	size_t position_ = 0;
	bool failed_ = false;
};

} /* namespace rpcrdma */

#endif /* RPCRDMA_WRITER_HH */
