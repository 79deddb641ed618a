/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * Integer types for code that is compiled in the kernel (C and C++) and in
 * user space. This is the only file that may test __KERNEL__.
 */
#ifndef RPCRDMA_TYPES_H
#define RPCRDMA_TYPES_H

#if defined(__KERNEL__) && !defined(__cplusplus)
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#endif

/*
 * These two macros stand around the declarations of the core's functions. All of these functions
 * are pure: they compute with plain values and bytes, allocate nothing, take no lock, read no
 * clock, and keep nothing after they return. The caller passes the storage, and holds the lock that
 * protects it. The functions may be called in any context.
 */
#ifdef __cplusplus
#define RPCRDMA_BEGIN_C_ABI extern "C" {
#define RPCRDMA_END_C_ABI }
#define RPCRDMA_ASSERT_SIZE(type, bytes) static_assert(sizeof(type) == (bytes))
#else
#define RPCRDMA_BEGIN_C_ABI
#define RPCRDMA_END_C_ABI
#define RPCRDMA_ASSERT_SIZE(type, bytes) \
	_Static_assert(sizeof(type) == (bytes), #type)
#endif

#endif /* RPCRDMA_TYPES_H */
