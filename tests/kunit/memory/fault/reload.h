/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included in front of a module.c that is a part of another module: its init becomes a plain
 * function.
 */
#include <linux/init.h>
#include <linux/module.h>

#include "modules.h"

#undef __init
#define __init
#undef __exit
#define __exit
#undef MODULE_ALIAS
#define MODULE_ALIAS(name)
#undef MODULE_AUTHOR
#define MODULE_AUTHOR(text)
#undef MODULE_DESCRIPTION
#define MODULE_DESCRIPTION(text)
#undef MODULE_LICENSE
#define MODULE_LICENSE(text)
#undef MODULE_VERSION
#define MODULE_VERSION(text)
#undef module_init
#undef module_exit
