// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Big-endian words in byte arrays of any alignment (RFC 4506 section 3). A word is copied, and then
 * its bytes are swapped. The compiler would make the same code of shifts of single bytes, but not
 * in a loop.
 */
#ifndef RPCRDMA_ENDIAN_HH
#define RPCRDMA_ENDIAN_HH

#include "types.h"

namespace rpcrdma
{

constexpr u32 swap_be32(u32 word)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? word : __builtin_bswap32(word);
}

constexpr u64 swap_be64(u64 word)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? word : __builtin_bswap64(word);
}

inline u32 load_be32(const u8 *from)
{
	u32 word;

	__builtin_memcpy(&word, from, sizeof(word));
	return swap_be32(word);
}

inline u64 load_be64(const u8 *from)
{
	u64 word;

	__builtin_memcpy(&word, from, sizeof(word));
	return swap_be64(word);
}

inline void store_be32(u8 *to, u32 value)
{
	u32 word = swap_be32(value);

	__builtin_memcpy(to, &word, sizeof(word));
}

inline void store_be64(u8 *to, u64 value)
{
	u64 word = swap_be64(value);

	__builtin_memcpy(to, &word, sizeof(word));
}

} /* namespace rpcrdma */

#endif /* RPCRDMA_ENDIAN_HH */
