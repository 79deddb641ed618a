/* SPDX-License-Identifier: GPL-2.0-only */
/* A service that listens, for the listener's suites. */
#ifndef KUNIT_SERVER_LISTENING_H
#define KUNIT_SERVER_LISTENING_H

#include "server.h"

/**
 * struct listening - a service that listens
 * @server: the service; its connection is not used
 * @xprt: the listener, with a reference of the test's own; or NULL
 * @li: the same
 * @modules: references to this module before the test
 * @nets: references to the network namespace; each svc_xprt has one
 */
struct listening {
	struct server		*server;
	struct svc_xprt		*xprt;
	struct svcrdma_listener	*li;
	int			modules;
	unsigned int		nets;
};

extern struct listening *listening;

int listening_init(struct kunit *test);
void listening_close(void);
void listening_delete(struct svc_xprt *xprt);
int listening_try(sa_family_t family, u16 port);
void listening_start(struct kunit *test);
struct rdma_cm_id *listening_id(void);
int listening_request(struct rdma_cm_id **id, const void *private, u8 length);
struct svcrdma_transport *listening_accept(struct kunit *test);
void listening_disconnect(struct svcrdma_transport *t);
void listening_expect_to_accept(struct kunit *test);

#endif /* KUNIT_SERVER_LISTENING_H */
