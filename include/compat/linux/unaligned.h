/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
#ifndef COMPAT_UNALIGNED_H
#define COMPAT_UNALIGNED_H

/*
 * Linux 6.12 moved asm/unaligned.h here, 5f60d5f6bbc1
 * ("move asm/unaligned.h to linux/unaligned.h").
 */
#include <compat_config.h>

#ifdef COMPAT_HAVE_LINUX_UNALIGNED_H
#include_next <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* COMPAT_UNALIGNED_H */
