/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* libstdc++ includes this header of the C library, which a module has not. */
#define __GLIBC_PREREQ(major, minor) 0
