/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/*
 * Integer types for the core, which is C++ in the kernel and in user space, and for the C of the
 * kernel that calls it.
 */
#ifndef RPCRDMA_TYPES_H
#define RPCRDMA_TYPES_H

#ifdef __cplusplus
#include <stddef.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#else
#include <linux/build_bug.h>
#include <linux/types.h>
#endif

/*
 * These two macros stand around the declarations of the core's functions. All of these functions
 * only compute with plain values and bytes: they allocate nothing, take no lock, read no clock, and
 * keep nothing after they return. The caller passes the storage, and holds the lock that
 * protects it. The functions may be called in any context.
 */
#ifdef __cplusplus
#define RPCRDMA_BEGIN_C_ABI extern "C" {
#define RPCRDMA_END_C_ABI }
#else
#define RPCRDMA_BEGIN_C_ABI
#define RPCRDMA_END_C_ABI
#endif

#endif /* RPCRDMA_TYPES_H */
