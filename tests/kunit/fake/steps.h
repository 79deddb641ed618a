/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the entries of trees and lists that a file looks at. kbuild/Kbuild.kunit includes this
 * header before the file's first line.
 */
#ifndef KUNIT_FAKE_STEPS_H
#define KUNIT_FAKE_STEPS_H

#include <linux/list.h>
#include <linux/rbtree.h>

extern unsigned long fake_steps;

#undef rb_entry
#define rb_entry(node, type, member)	(fake_steps++, container_of(node, type, member))
#undef list_entry
#define list_entry(node, type, member)	(fake_steps++, container_of(node, type, member))

#endif /* KUNIT_FAKE_STEPS_H */
