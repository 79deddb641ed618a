/* SPDX-License-Identifier: GPL-2.0 */
/* The server's module, in a kernel whose SUNRPC does not know it. */
#ifndef KUNIT_SERVER_MODULE_H
#define KUNIT_SERVER_MODULE_H

int server_module_init(void);
void server_module_exit(void);

#endif /* KUNIT_SERVER_MODULE_H */
