/* SPDX-License-Identifier: GPL-2.0-only */
/* What the two modules do when they are loaded and unloaded; as often as one likes. */
#ifndef KUNIT_MEMORY_FAULT_MODULES_H
#define KUNIT_MEMORY_FAULT_MODULES_H

int fault_client_init(void);
void fault_client_exit(void);
int fault_server_init(void);
void fault_server_exit(void);

#endif /* KUNIT_MEMORY_FAULT_MODULES_H */
