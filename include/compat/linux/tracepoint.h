/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
#ifndef COMPAT_TRACEPOINT_H
#define COMPAT_TRACEPOINT_H

/*
 * Linux 6.10 took the second argument of __assign_str() away, 2c92ca849fcc
 * ("tracing/treewide: Remove second parameter of __assign_str()").
 *
 * Trace headers say COMPAT_ASSIGN_STR(field, source).
 */
#include_next <linux/tracepoint.h>
#include <compat_config.h>

#ifdef COMPAT_HAVE_ASSIGN_STR_ONE
#define COMPAT_ASSIGN_STR(field, source) __assign_str(field)
#else
#define COMPAT_ASSIGN_STR(field, source) __assign_str(field, source)
#endif

#endif /* COMPAT_TRACEPOINT_H */
