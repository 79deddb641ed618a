/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The server's module, in a kernel whose SUNRPC does not know it; and a connection of that module.
 */
#ifndef KUNIT_SERVER_MODULE_H
#define KUNIT_SERVER_MODULE_H

#include <kunit/test.h>

#include "../../svcrdma/listener.h"
#include "../../svcrdma/recv_ctxt.h"
#include "../../svcrdma/send_ctxt.h"
#include "../../svcrdma/svcrdma.h"
#include "../../svcrdma/sysctl.h"

int server_module_init(void);
void server_module_exit(void);
u32 server_sq_free(const struct svcrdma_transport *t);
unsigned int server_count(const struct llist_head *list);
void server_expect_idle(struct kunit *test, struct svcrdma_transport *t, unsigned int posted);

#endif /* KUNIT_SERVER_MODULE_H */
