/* SPDX-License-Identifier: GPL-2.0-only */
/* The ends of the section that lists the sites: ld puts it together in the order of the files. */
#ifndef KUNIT_MEMORY_FAULT_SECTION_H
#define KUNIT_MEMORY_FAULT_SECTION_H

#include "site.h"

extern struct fault_site *const fault_sites_first;
extern struct fault_site *const fault_sites_last;

#endif /* KUNIT_MEMORY_FAULT_SECTION_H */
