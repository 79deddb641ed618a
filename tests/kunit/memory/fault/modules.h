/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs the code that loads and unloads the two modules, as often as a test likes. */
#ifndef KUNIT_MEMORY_FAULT_MODULES_H
#define KUNIT_MEMORY_FAULT_MODULES_H

int fault_client_init(void);
void fault_client_exit(void);
int fault_server_init(void);
void fault_server_exit(void);

#endif /* KUNIT_MEMORY_FAULT_MODULES_H */
