/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
#ifndef COMPAT_SYSCTL_H
#define COMPAT_SYSCTL_H

/*
 * Linux 6.6 made register_sysctl() take the size from the array instead of
 * looking for an empty last entry, 9edbfe92a0a1 ("sysctl: Add size to
 * register_sysctl"), and 6.11 refuses the empty entry. Tables here have none:
 * before 6.6 the kernel is given a copy that has one.
 *
 * Linux 6.11 made the table argument of proc handlers const, 78eb4ea25cd5
 * ("sysctl: treewide: constify the ctl_table argument of proc_handlers").
 * Handlers declare it as compat_ctl_table.
 */
#include_next <linux/sysctl.h>
#include <compat_config.h>

#ifdef COMPAT_HAVE_CONST_CTL_TABLE
typedef const struct ctl_table compat_ctl_table;
#else
typedef struct ctl_table compat_ctl_table;
#endif

#ifndef COMPAT_HAVE_REGISTER_SYSCTL_SIZED
#include <linux/slab.h>

static inline struct ctl_table_header *
compat_register_sysctl_sz(const char *path, const struct ctl_table *table,
			  size_t count)
{
	struct ctl_table_header *header;
	struct ctl_table *copy;

	copy = kcalloc(count + 1, sizeof(*copy), GFP_KERNEL);
	if (!copy)
		return NULL;
	memcpy(copy, table, count * sizeof(*copy));

	header = register_sysctl(path, copy);
	if (!header)
		kfree(copy);
	return header;
}

static inline void compat_unregister_sysctl_table(struct ctl_table_header *header)
{
	struct ctl_table *copy;

	if (!header)
		return;
	copy = header->ctl_table_arg;
	unregister_sysctl_table(header);
	kfree(copy);
}

#define register_sysctl_sz(path, table, count) \
	compat_register_sysctl_sz(path, table, count)
#define register_sysctl(path, table) \
	compat_register_sysctl_sz(path, table, ARRAY_SIZE(table))
#define unregister_sysctl_table(header) compat_unregister_sysctl_table(header)
#endif /* !COMPAT_HAVE_REGISTER_SYSCTL_SIZED */

#endif /* COMPAT_SYSCTL_H */
