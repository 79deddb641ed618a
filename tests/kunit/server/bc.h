/* SPDX-License-Identifier: GPL-2.0-only */
/* The server as requester: a connection, nfsd's rpc_clnt, and the client that answers. */
#ifndef KUNIT_SERVER_BC_H
#define KUNIT_SERVER_BC_H

#include "../fake/callback.h"
#include "server.h"

enum { BC_HEADER = RPCRDMA_MIN_HEADER_SIZE };

/**
 * struct backchannel - the connection, and nfsd's side of the reverse direction
 * @server: the connection
 * @xprt: the connection's svc_xprt, with nfsd's reference
 * @clnt: nfsd's rpc_clnt
 * @rpc: its rpc_xprt
 * @modules: references to this module before the test
 * @calls: they may outlive a test that fails
 * @nr_calls: their number
 */
struct backchannel {
	struct server	*server;
	struct svc_xprt	*xprt;
	struct rpc_clnt	*clnt;
	struct rpc_xprt	*rpc;
	int		modules;
	struct callback	calls[8];
	unsigned int	nr_calls;
};

/**
 * struct bc_answer - a message of the client
 * @proc: of the header
 * @credits: its grant
 * @length: bytes of the RPC reply; 0: CB_REPLY_HEADER and a word
 * @accept: accept_stat of the RPC reply
 * @read: it has a Read chunk
 * @write: it has a Write chunk
 * @reply: it has a Reply chunk
 */
struct bc_answer {
	enum rpcrdma_proc	proc;
	u32			credits;
	u32			length;
	u32			accept;
	bool			read, write, reply;
};

/**
 * struct bc_message - the last message of the server
 * @header: its header
 * @lists: its chunk lists
 * @segments: storage
 * @chunks: storage
 * @call: the RPC call, inline or read by the client
 * @length: its size in bytes
 */
struct bc_message {
	struct rpcrdma_header		header;
	struct rpcrdma_chunk_lists	lists;
	struct rpcrdma_segment		segments[8];
	struct rpcrdma_chunk		chunks[4];
	u8				*call;
	u32				length;
};

int bc_suite_init(struct kunit_suite *suite);
void bc_suite_exit(struct kunit_suite *suite);
struct backchannel *bc_create(struct kunit *test, u32 client_receives);
struct backchannel *bc_create_extended(struct kunit *test, u32 client_receives,
				       u16 extensions);
int bc_init(struct kunit *test);
struct callback *bc_call(struct kunit *test, u32 words);
struct callback *bc_call_procedure(struct kunit *test, u32 words,
				   enum callback_procedure procedure);
bool bc_ended(struct callback *cb);
void bc_lose(struct backchannel *bc);
void bc_shut_down(struct backchannel *bc);
bool bc_sent(struct backchannel *bc, unsigned int count);
u32 bc_xid(struct backchannel *bc, unsigned int n);
struct bc_message *bc_message(struct kunit *test);
u32 bc_header(struct kunit *test, const struct bc_answer *answer, u32 xid, u8 *message);
void bc_reply(struct kunit *test, u32 xid, const struct bc_answer *answer);
void bc_reply_well(struct kunit *test, u32 xid, u32 credits);
void bc_expect_answered(struct kunit *test, struct callback *cb);
void bc_expect_waiting(struct kunit *test);
void bc_expect_at_rest(struct backchannel *bc);

#endif /* KUNIT_SERVER_BC_H */
