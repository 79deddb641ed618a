/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Rows of a table of sysctls; tests/doc/test_reference.py reads the tables of both sides. */
#ifndef RPCRDMA_SYSCTL_H
#define RPCRDMA_SYSCTL_H

#include <linux/sysctl.h>

/* A row for a variable that @handler reads and writes, and further members of the row */
#define RPCRDMA_SYSCTL(name, variable, handler, ...)	\
	{						\
		.procname	= name,			\
		.data		= &(variable),		\
		.maxlen		= sizeof(variable),	\
		.mode		= 0644,			\
		.proc_handler	= handler,		\
		__VA_ARGS__				\
	}

/* A row for an unsigned int whose values are from @low to @high */
#define RPCRDMA_SYSCTL_RANGE(name, variable, handler, low, high)	\
	RPCRDMA_SYSCTL(name, variable, handler,				\
		       .extra1 = &(unsigned int){ low }, .extra2 = &(unsigned int){ high })

#endif /* RPCRDMA_SYSCTL_H */
