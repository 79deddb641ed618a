/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Client and server over the provider in memory: our rpc_xprt's transport on one device, our
 * svc_xprt's on another, and between them only our code and the double of the connection manager
 * (tests/kunit/fake/cm.c, wire.c).
 *
 * The test is SUNRPC on the client's side, and an nfsd thread on the server's. It runs both in
 * turn, and waits for completion handlers in between, so the order of events is the same each time.
 */
#ifndef KUNIT_MEMORY_PAIR_H
#define KUNIT_MEMORY_PAIR_H

#include "../../client/client.h"
#include "../../../svcrdma/listener.h"
#include "../../../svcrdma/recv_ctxt.h"
#include "../../../svcrdma/send_ctxt.h"
#include "../../../svcrdma/svcrdma.h"
#include "../../../svcrdma/sysctl.h"
#include "../../fake/service.h"
#include "../../server/module.h"
#include "../provider/provider.h"

enum {
	PAIR_PAYLOAD	= 1 << 20,
	PAIR_PAGES	= 8192,	/* of nfsd, that are watched */
	PAIR_CQS	= 4,
};

/**
 * struct pair_answer - what nfsd answers to any call
 * @head: bytes before the item
 * @item: bytes of the item; nfsd says that it is one
 * @tail: bytes behind the item and its padding
 */
struct pair_answer {
	u32	head;
	u32	item;
	u32	tail;
};

enum pair_side { PAIR_CLIENT, PAIR_SERVER };

/**
 * struct pair - a client and a server
 * @test: whose
 * @client_device: one device
 * @server_device: the other
 * @client: as tests/kunit/client/call.c knows it; its fake device is NULL
 * @serv: the service
 * @pool: its only pool; has no thread
 * @server: the connection, or NULL
 * @rqst: the state of the test as an nfsd thread
 * @pages_lock: guards the next three
 * @pages: that nfsd was given
 * @nr_pages: their number
 * @next_page: one that may be free again
 * @answer: what it says
 * @arg: the last call, as nfsd saw it
 * @arg_length: its size in bytes
 * @answers: calls that were answered
 * @accepting: time that the server has taken to accept connections
 */
struct pair {
	struct kunit			*test;
	struct memory_device		*client_device;
	struct memory_device		*server_device;
	struct client			client;
	struct svc_serv			serv;
	struct svc_pool			pool;
	struct svcrdma_transport	*server;
	struct svc_rqst			*rqst;
	spinlock_t			pages_lock;	/* guards the next three */
	struct page			**pages;
	unsigned int			nr_pages;
	unsigned int			next_page;
	struct pair_answer		answer;
	u8				*arg;
	u32				arg_length;
	unsigned int			answers;
	ktime_t				accepting;
};

/* pair.c */
int pair_suite_init(struct kunit_suite *suite);
void pair_suite_exit(struct kunit_suite *suite);
struct pair *pair_create(struct kunit *test, bool iwarp);
struct pair *pair_create_as(struct kunit *test, const struct memory_shape *shape);
COMPAT_GEN_PARAMS(pair_shape_params, before, desc);
int pair_connect(struct pair *pair);
int pair_connect_client(struct pair *pair, struct client *client);
void pair_grow(struct pair *pair);
void pair_disconnect_client(struct pair *pair);
void pair_disconnect_server(struct pair *pair);
void pair_disconnect(struct pair *pair);
bool pair_client_failed(struct pair *pair);
struct ib_cq *pair_cq(struct pair *pair, unsigned int n);
void pair_cq_flush(struct ib_cq *cq, struct svcrdma_transport *t);
struct ib_cq *pair_cq_of(const struct xprtrdma_conn *conn, const struct svcrdma_transport *t,
			 unsigned int n);
void pair_settle(struct pair *pair);
void pair_expect_at_rest(struct pair *pair);
void pair_expect_nothing_left(struct pair *pair);

/* serve.c */
int pair_serve(struct pair *pair);
bool pair_serve_any(struct pair *pair);
void pair_pages_put(struct pair *pair);
void pair_pump(struct pair *pair);
void pair_expect_call(struct pair *pair, struct client_call *call);

/* serve.c, for nfsd threads other than the test */
bool pair_rqst_prepare(struct pair *pair, struct svc_rqst *rqst, struct svc_xprt *xprt);
void pair_encode(struct svc_rqst *rqst, const struct pair_answer *answer, u32 xid, u8 key);
void pair_done(struct svc_rqst *rqst);

/* rpc.c */
extern const struct pair_answer pair_answer;
struct memory_device *pair_device(struct pair *pair, enum pair_side side);
void pair_script(struct pair *pair);
struct client_call *pair_call(struct pair *pair);
int pair_send(struct pair *pair, struct client_call *call);
bool pair_run_call(struct pair *pair, struct client_call *call);
void pair_expect_answer(struct pair *pair, struct client_call *call);
void pair_expect_healthy(struct pair *pair);

/* wire.c */
int pair_wire_init(void);
void pair_wire_exit(void);
void pair_wire_begin(struct pair *pair);
void pair_device_remove(struct memory_device *device);
void pair_device_removed(void);

/* pair.c, for wire.c: nfsd's part of a connection request. */
int pair_server_accept(struct pair *pair, struct svcrdma_transport *t);

static inline struct pair *pair_of(struct kunit *test)
{
	return test->priv;
}

#endif /* KUNIT_MEMORY_PAIR_H */
