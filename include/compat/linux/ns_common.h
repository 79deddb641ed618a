/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
#ifndef COMPAT_LINUX_NS_COMMON_H
#define COMPAT_LINUX_NS_COMMON_H

/* Since Linux 6.18 functions read the references to a namespace. Only tests need them. */
#include_next <linux/ns_common.h>
#include <compat_config.h>

#ifndef COMPAT_HAVE_NS_REF_READ
#define __ns_ref_read(ns) refcount_read(&(ns)->count)
#endif

#endif /* COMPAT_LINUX_NS_COMMON_H */
