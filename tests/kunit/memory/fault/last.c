// SPDX-License-Identifier: GPL-2.0-only
/* The end of the list of sites: the linker puts this file behind all of them. */
#include <linux/compiler.h>

#include "section.h"

struct fault_site *const fault_sites_last __used __section("fault_sites") = NULL;
