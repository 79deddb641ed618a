/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the server's suites share: a connection over the provider for tests, a service
 * without threads, and a client that is the test itself.
 */
#ifndef KUNIT_SERVER_H
#define KUNIT_SERVER_H

#include "../../svcrdma/listener.h"
#include "../../svcrdma/recv_ctxt.h"
#include "../../svcrdma/send_ctxt.h"
#include "../../svcrdma/svcrdma.h"
#include "../../svcrdma/sysctl.h"
#include "../fake/alloc.h"
#include "../fake/bytes.h"
#include "../fake/queues.h"
#include "../fake/service.h"
#include "module.h"

enum {
	SERVER_MESSAGE	= RPCRDMA_INLINE_USUAL,	/* Receive and Send buffers */
	SERVER_PAYLOAD	= 1 << 20,
	SERVER_WAITERS	= 24,
};

/**
 * struct server_waiter - somebody who waits for Send Queue entries
 * @sq: for the code under test
 * @served: it has them
 */
struct server_waiter {
	struct svcrdma_sq_waiter	sq;
	bool				served;
};

/**
 * struct server - a connection
 * @test: whose
 * @fake: the device
 * @qp: its queue pair
 * @serv: the service
 * @pool: its only pool; has no thread
 * @id: the connection's id
 * @transport: the connection
 * @rqst: the thread's state, as an nfsd thread has it
 * @client: private data of the client; not present: it has none
 * @read_depth: Reads that the client takes
 * @pull_depth: Reads that the client offers to do
 * @waiters: here, since they may outlive a test that fails
 */
struct server {
	struct kunit			*test;
	struct fake_device		*fake;
	struct fake_qp			*qp;
	struct svc_serv			serv;
	struct svc_pool			pool;
	struct rdma_cm_id		*id;
	struct svcrdma_transport	*transport;
	struct svc_rqst			*rqst;
	struct rpcrdma_cm_private	client;
	u8				read_depth;
	u8				pull_depth;
	u32				asks;	/* credits, each call of server_deliver() */
	struct server_waiter		waiters[SERVER_WAITERS];
};

/* Simple calls; the chunk is server_peer_memory. */
enum server_call { CALL_PLAIN, CALL_READ, CALL_WRITE };

/* server.c */
extern u8 server_peer_memory[256];
void server_keep_total(struct kunit *test);
int server_suite_init(struct kunit_suite *suite);
void server_suite_exit(struct kunit_suite *suite);
struct server *server_create(struct kunit *test);
void server_request(struct server *server);
void server_connect_small(struct server *server);
void server_connect(struct server *server);
void server_disconnect(struct server *server);
bool server_is_ready(struct server *server);
void server_deliver(struct server *server, enum server_call kind);
int server_recvfrom(struct server *server);
int server_receive_all(struct server *server);
void server_done(struct server *server);
void server_settle(struct server *server);
unsigned int server_spare(struct server *server);
void server_expect_at_rest(struct server *server);
void server_decode_reply(struct server *server, struct rpcrdma_header *header,
			 struct rpcrdma_chunk_lists *lists);
void server_expect_error(struct server *server, u32 xid, enum rpcrdma_errcode error);
static inline struct server *server_of(struct kunit *test)
{
	return test->priv;
}

#endif /* KUNIT_SERVER_H */
