// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Arithmetic on numbers that a peer or an administrator chose. */
#ifndef RPCRDMA_MATH_HH
#define RPCRDMA_MATH_HH

#include "protocol.h"

namespace rpcrdma
{

constexpr u32 u32_max = ~u32(0);
constexpr u64 u64_max = ~u64(0);

template <typename T> constexpr T min(T a, T b)
{
	return a < b ? a : b;
}

template <typename T> constexpr T max(T a, T b)
{
	return a < b ? b : a;
}

template <typename T> constexpr T clamp(T value, T low, T high)
{
	return value < low ? low : min(value, high);
}

constexpr u64 divide_up(u64 value, u32 by)
{
	return value / by + (value % by != 0);
}

/* Length of an XDR item with its roundup padding, RFC 4506 section 3 */
constexpr u64 xdr_padded(u64 length)
{
	return divide_up(length, RPCRDMA_XDR_UNIT) * RPCRDMA_XDR_UNIT;
}

constexpr u32 saturate_u32(u64 value)
{
	return u32(min<u64>(value, u32_max));
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_MATH_HH */
