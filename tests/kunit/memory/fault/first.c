// SPDX-License-Identifier: GPL-2.0-only
/* Linked in front of all sites. */
#include <linux/compiler.h>

#include "section.h"

struct fault_site *const fault_sites_first __used __section("fault_sites") = NULL;
