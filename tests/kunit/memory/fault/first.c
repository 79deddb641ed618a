// SPDX-License-Identifier: GPL-2.0-only
/* The beginning of the list of sites: the linker puts this file in front of all of them. */
#include <linux/compiler.h>

#include "section.h"

struct fault_site *const fault_sites_first __used __section("fault_sites") = NULL;
