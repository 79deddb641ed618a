/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the client's suites share: a transport with a connection over the provider for
 * tests, RPCs of any shape, and a server that is the test itself.
 */
#ifndef KUNIT_CLIENT_H
#define KUNIT_CLIENT_H

#include "../../xprtrdma/connection.h"
#include "../../xprtrdma/request.h"
#include "../fake/alloc.h"
#include "../fake/bytes.h"
#include "../fake/queues.h"

enum {
	CLIENT_SEGMENTS	= 64,
	CLIENT_CHUNKS	= 8,
	CLIENT_MESSAGE	= 4096,	/* largest inline message of these tests */
	CLIENT_PAGES	= 260,	/* of one direction of a call */
};

/**
 * struct client - a transport
 * @test: whose
 * @fake: the device
 * @qp: its queue pair
 * @transport: the transport; its write lock is held by the test
 * @xprt: the same
 * @conn: its connection or NULL
 * @auth: flavour of all RPCs
 * @cred: of all RPCs
 * @proc: of all RPCs
 * @calls: those that exist
 * @next_xid: XID of the next call
 */
struct client {
	struct kunit			*test;
	struct fake_device		*fake;
	struct fake_qp			*qp;
	struct xprtrdma_transport	*transport;
	struct rpc_xprt			*xprt;
	struct xprtrdma_conn		*conn;
	struct rpc_auth			auth;
	struct rpc_cred			cred;
	struct rpc_procinfo		proc;
	struct list_head		calls;
	u32				next_xid;
};

/* transport.c */
void client_init(struct client *client, struct kunit *test, u32 xid);
void client_exit(struct client *client);
void client_begin(struct client *client);
void client_take(struct client *client, struct xprtrdma_conn *conn);
void client_disconnect(struct client *client);
void client_expect_idle(struct client *client, unsigned int posted);

/* client.c */
struct client *client_create(struct kunit *test);
int client_open_init(struct kunit *test);
void client_private(u32 send_size, u32 recv_size, bool remote_invalidation);
void client_server_takes(u8 reads);
void client_connect_small(struct client *client);
void client_connect(struct client *client);

/* All buffers that a connection can have */
static inline int client_make_all(struct xprtrdma_conn *conn)
{
	return xprtrdma_window_grow(conn, conn->xc_queues.credits, XPRTRDMA_BC_SLOTS,
				    conn->xc_queues.send_slots);
}

void client_open_window(struct client *client, u32 credits);
unsigned int client_free_mrs(struct client *client);
unsigned int client_free_sends(struct client *client);
unsigned int client_posted_sends(struct client *client);
struct xprtrdma_send *client_take_send(struct client *client);
void client_post_all_sends(struct client *client);
unsigned int client_idle_receives(struct client *client);
void client_expect_at_rest(struct client *client);
void client_expect_failed(struct client *client);
void client_second(struct client *client);
static inline struct client *client_of(struct kunit *test)
{
	return test->priv;
}

/**
 * struct client_shape - sizes of an RPC, in bytes
 * @head: of the call
 * @base: where its pages start
 * @pages: of the call
 * @tail: behind the padding of the pages
 * @write: the pages may be reduced (XDRBUF_WRITE)
 * @reply_head: of the reply's largest form, as the consumer expects it
 * @reply_base: where its pages start
 * @reply_pages: of the reply
 * @reply_tail: of the reply, padding included
 * @read: the pages may be reduced (XDRBUF_READ)
 * @sparse: the reply's pages are not there
 */
struct client_shape {
	u32	head;
	u32	base;
	u32	pages;
	u32	tail;
	bool	write;
	u32	reply_head;
	u32	reply_base;
	u32	reply_pages;
	u32	reply_tail;
	bool	read;
	bool	sparse;
};

/**
 * struct client_call - an RPC
 * @list: in the client's calls
 * @client: whose
 * @rqst: as the transport sees it
 * @task: as the transport sees it
 * @queued: it waits for a reply
 * @message: the RPC call as a stream
 * @length: its size in bytes
 * @pages: of the call
 * @reply_pages: of the reply
 * @header: decoded from the message that was sent
 * @lists: decoded
 * @segments: storage
 * @chunks: storage
 * @payload: inline part of the message
 * @payload_length: its size in bytes
 */
struct client_call {
	struct list_head		list;
	struct client			*client;
	struct rpc_rqst			rqst;
	struct rpc_task			task;
	bool				queued;
	u8				*message;
	u32				length;
	struct page			*pages[CLIENT_PAGES];
	struct page			*reply_pages[CLIENT_PAGES];
	struct rpcrdma_header		header;
	struct rpcrdma_chunk_lists	lists;
	struct rpcrdma_segment		segments[CLIENT_SEGMENTS];
	struct rpcrdma_chunk		chunks[CLIENT_CHUNKS];
	const u8			*payload;
	u32				payload_length;
};

/**
 * struct client_reply - what the server answers
 * @proc: of the header
 * @credits: grant; 0: 32
 * @item: bytes that go into the Write chunk
 * @length: bytes of the RPC reply without the item; inline or into the Reply chunk
 * @invalidate: it is a Send With Invalidate of this R_key; 0: a plain Send
 * @xid: if it is not that of the call
 */
struct client_reply {
	enum rpcrdma_proc	proc;
	u32			credits;
	u32			item;
	u32			length;
	u32			invalidate;
	u32			xid;
};

/* call.c */
struct client_call *client_call_make(struct client *client, const struct client_shape *shape);
struct client_call *client_call_create(struct client *client,
				       const struct client_shape *shape);
void client_call_destroy(struct client_call *call);
void client_call_enqueue(struct client_call *call);
int client_call_send(struct client_call *call);
struct client_call *client_sent(struct client *client, const struct client_shape *shape);
void client_call_decode(struct client_call *call);
void client_call_expect_message(struct client_call *call);
bool client_call_done(struct client_call *call);
void client_call_wait(struct client_call *call);
void client_call_woken(struct client_call *call);
void client_call_reset(struct client_call *call);
u32 client_reply_encode(struct client_call *call, const struct client_reply *reply,
			u8 *message);
bool client_reply_send(struct client_call *call, const struct client_reply *reply);
void client_call_expect_reply(struct client_call *call, u32 head, u32 item, u32 tail);
void client_call_expect_error(struct client_call *call, int status);
void client_call_expect_waiting(struct client_call *call);

#endif /* KUNIT_CLIENT_H */
