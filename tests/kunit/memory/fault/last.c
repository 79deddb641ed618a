// SPDX-License-Identifier: GPL-2.0-only
/* Linked behind all sites. */
#include <linux/compiler.h>

#include "section.h"

struct fault_site *const fault_sites_last __used __section("fault_sites") = NULL;
