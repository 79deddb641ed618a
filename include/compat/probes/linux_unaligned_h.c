// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Linux 6.12, 5f60d5f6bbc1 ("move asm/unaligned.h to linux/unaligned.h"). */
#include <linux/unaligned.h>

u32 probe(const void *p);
u32 probe(const void *p)
{
	return get_unaligned_be32(p);
}
