// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * A pointer with a length. The <span> of libstdc++ cannot be used, since it needs functions that a
 * kernel module cannot link.
 */
#ifndef RPCRDMA_SPAN_HH
#define RPCRDMA_SPAN_HH

#include "types.h"

namespace rpcrdma
{

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

	/* Does the range lie inside? The test has no sum that could wrap around. */
	constexpr bool contains(size_t offset, size_t length) const
	{
		return length <= size_ && offset <= size_ - length;
	}

	/* A part of the span, or an empty one if the range is not inside */
	constexpr Span subspan(size_t offset, size_t length) const
	{
		return contains(offset, length) ? Span(data_ + offset, length) : Span();
	}

    private:
	T *data_ = nullptr;
	size_t size_ = 0;
};

} /* namespace rpcrdma */

#endif /* RPCRDMA_SPAN_HH */
