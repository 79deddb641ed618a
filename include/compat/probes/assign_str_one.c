// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* Linux 6.10, 2c92ca849fcc ("tracing/treewide: Remove second parameter"). */
#include <linux/stringify.h>
#include <linux/types.h>
#include <trace/stages/stage6_event_callback.h>

extern const char probe[];
const char probe[] = __stringify(__assign_str(name));
