/* SPDX-License-Identifier: GPL-2.0-only */
/* The reverse direction: declarations that the client's suites for it share. */
#ifndef KUNIT_CLIENT_BC_H
#define KUNIT_CLIENT_BC_H

#include "../fake/service.h"
#include "client.h"

void client_bc_connect_without_chunks(struct client *client);
int client_bc_init(struct kunit *test);
void client_bc_expect_failed_by(struct client *client, int status);
void client_bc_expect_err_chunk(struct client *client, u32 xid);

#endif /* KUNIT_CLIENT_BC_H */
