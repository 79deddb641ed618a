// SPDX-License-Identifier: GPL-2.0
/*
 * Big-endian words in byte arrays of any alignment (RFC 4506 section 3). Written
 * with shifts: the compiler makes a load and a byte swap of them.
 */
#ifndef RPCRDMA_ENDIAN_HH
#define RPCRDMA_ENDIAN_HH

#include "types.h"

namespace rpcrdma
{

constexpr u32 load_be32(const u8 *from)
{
	return u32(from[0]) << 24 | u32(from[1]) << 16 | u32(from[2]) << 8 |
	       u32(from[3]);
}

constexpr u64 load_be64(const u8 *from)
{
	return u64(load_be32(from)) << 32 | load_be32(from + 4);
}

constexpr void store_be32(u8 *to, u32 value)
{
	to[0] = u8(value >> 24);
	to[1] = u8(value >> 16);
	to[2] = u8(value >> 8);
	to[3] = u8(value);
}

constexpr void store_be64(u8 *to, u64 value)
{
	store_be32(to, u32(value >> 32));
	store_be32(to + 4, u32(value));
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_ENDIAN_HH */
