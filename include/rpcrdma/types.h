/* SPDX-License-Identifier: GPL-2.0 */
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
 * Around the functions of the core. All of them are pure functions over plain values and bytes: no
 * allocation, no lock, no clock, nothing kept after the return. The caller passes the storage, and
 * holds whatever lock protects it. Any context.
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
