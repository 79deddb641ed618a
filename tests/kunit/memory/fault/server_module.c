// SPDX-License-Identifier: GPL-2.0-only
/* svcrdma/module.c, for the sweep. No connection of these tests belongs to its transport class. */
#include "reload.h"

#define module_init(function)	int fault_server_init(void) { return function(); }
#define module_exit(function)	void fault_server_exit(void) { function(); }
#define svcrdma_class		fault_svcrdma_class

#include "../../../svcrdma/module.c"
