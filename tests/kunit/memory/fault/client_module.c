// SPDX-License-Identifier: GPL-2.0-only
/* xprtrdma/module.c, for the sweep. */
#include "reload.h"

#define module_init(function)	int fault_client_init(void) { return function(); }
#define module_exit(function)	void fault_client_exit(void) { function(); }

#include "../../../xprtrdma/module.c"
