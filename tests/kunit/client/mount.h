/* SPDX-License-Identifier: GPL-2.0-only */
/* The rpc_xprt of a mount, and a task that connects it, for the transport's suites. */
#ifndef KUNIT_CLIENT_MOUNT_H
#define KUNIT_CLIENT_MOUNT_H

#include <linux/sunrpc/clnt.h>

#include "../fake/service.h"
#include "client.h"

/**
 * struct mount - what a mount has
 * @test: whose
 * @fake: the device
 * @clnt: its rpc_clnt, or NULL
 * @xprt: its rpc_xprt
 * @transport: the same
 * @task: waits for the connection
 * @modules: references to this module before the test
 */
struct mount {
	struct kunit			*test;
	struct fake_device		*fake;
	struct rpc_clnt			*clnt;
	struct rpc_xprt			*xprt;
	struct xprtrdma_transport	*transport;
	struct rpc_task			task;
	int				modules;
};

struct rpc_clnt *mount_client(const struct sockaddr *to, size_t length,
			      struct sockaddr *from, unsigned long flags);
int mount_suite_init(struct kunit_suite *suite);
void mount_suite_exit(struct kunit_suite *suite);
void mount_shut_down(struct mount *mount);
bool mount_gone(struct mount *mount);
void mount_from(struct mount *mount, struct sockaddr *from, unsigned long flags);
struct mount *mount_create(struct kunit *test);
int mount_init(struct kunit *test);
unsigned int mount_start(struct mount *mount);
int mount_connected(struct mount *mount);
int mount_connect(struct mount *mount);
void mount_disconnect(struct mount *mount);
struct rdma_cm_id *mount_hold(struct mount *mount, enum fake_cm_call call);
void mount_expect_connected(struct mount *mount);
void mount_expect_nothing(struct mount *mount);

#endif /* KUNIT_CLIENT_MOUNT_H */
