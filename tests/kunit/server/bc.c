// SPDX-License-Identifier: GPL-2.0-only
/* nfsd's side of callbacks, and a client, for the suites that test callbacks. */
#include <linux/module.h>
#include <linux/unaligned.h>

#include "bc.h"

/* ---- nfsd ---- */

struct callback *bc_call_procedure(struct kunit *test, u32 words,
				   enum callback_procedure procedure)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = &bc->calls[bc->nr_calls++];

	KUNIT_ASSERT_LE(test, bc->nr_calls, ARRAY_SIZE(bc->calls));
	*cb = (struct callback) { .words = words, .results = 1 };
	callback_start(test, cb, bc->clnt, procedure);
	return cb;
}

struct callback *bc_call(struct kunit *test, u32 words)
{
	return bc_call_procedure(test, words, CB_SHORT);
}

bool bc_ended(struct callback *cb)
{
	return eventually(completion_done(&cb->done));
}

/* The connection is lost, and a thread of nfsd sees to it. */
void bc_lose(struct backchannel *bc)
{
	if (!bc->server->transport)
		return;
	bc->server->transport = NULL;
	server_is_ready(bc->server);
	__module_get(THIS_MODULE);
	clear_bit(XPT_BUSY, &bc->xprt->xpt_flags);
	svc_xprt_close(bc->xprt);
}

void bc_shut_down(struct backchannel *bc)
{
	if (bc->clnt)
		rpc_shutdown_client(bc->clnt);
	bc->clnt = NULL;
}

static void backchannel_exit(void *data)
{
	struct backchannel *bc = data;

	bc_lose(bc);
	bc_shut_down(bc);
	if (kref_read(&bc->xprt->xpt_ref) != 1)
		kunit_fail_current_test("%u references to the connection are left",
					kref_read(&bc->xprt->xpt_ref) - 1);
	svc_xprt_put(bc->xprt);
	/* The rpc_xprt goes in a work item. */
	if (!eventually(module_refcount(THIS_MODULE) == bc->modules))
		kunit_fail_current_test("%d references to the module were there, %d are left",
					bc->modules, module_refcount(THIS_MODULE));
}

/* The client announces @extensions. */
struct backchannel *bc_create_extended(struct kunit *test, u32 client_receives,
				       u16 extensions)
{
	struct server *server = server_create(test);
	struct backchannel *bc = kunit_kzalloc(test, sizeof(*bc), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bc);
	bc->server = server;
	bc->modules = module_refcount(THIS_MODULE);
	server->client.recv_size = client_receives;
	server->client.extensions = extensions;
	server_connect(server);
	bc->xprt = &server->transport->st_xprt;
	svc_xprt_get(bc->xprt);
	test->priv = bc;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, backchannel_exit, bc));
	bc->clnt = callback_client(bc->xprt);
	KUNIT_ASSERT_NOT_NULL(test, bc->clnt);
	bc->rpc = rcu_access_pointer(bc->clnt->cl_xprt);
	return bc;
}

struct backchannel *bc_create(struct kunit *test, u32 client_receives)
{
	return bc_create_extended(test, client_receives, 0);
}

int bc_init(struct kunit *test)
{
	bc_create(test, SERVER_MESSAGE);
	return 0;
}

/* SUNRPC finds the class by its identifier. */
int bc_suite_init(struct kunit_suite *suite)
{
	int ret = server_suite_init(suite);

	if (ret)
		return ret;
	ret = xprt_register_transport(&svcrdma_backchannel_class);
	if (ret)
		server_suite_exit(suite);
	return ret;
}

void bc_suite_exit(struct kunit_suite *suite)
{
	xprt_unregister_transport(&svcrdma_backchannel_class);
	server_suite_exit(suite);
}

/* ---- the client ---- */

/* Has the server sent @count messages? */
bool bc_sent(struct backchannel *bc, unsigned int count)
{
	struct fake_qp *qp = bc->server->qp;

	return eventually(READ_ONCE(qp->posted) - qp->mark >= count);
}

u32 bc_xid(struct backchannel *bc, unsigned int n)
{
	return get_unaligned_be32(fake_message(fake_wr(bc->server->qp, n)));
}

static bool send_seen(struct fake_qp *qp)
{
	return fake_posted(qp) && fake_last_wr(qp)->opcode == IB_WR_SEND;
}

/* The client has the message, and reads what it is to read. */
struct bc_message *bc_message(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct bc_message *sent = kunit_kzalloc(test, sizeof(*sent), GFP_KERNEL);
	const struct rpcrdma_chunk *chunk;
	struct fake_wr *wr;
	u32 i, at = 0;

	KUNIT_ASSERT_NOT_NULL(test, sent);
	KUNIT_ASSERT_TRUE(test, eventually(send_seen(bc->server->qp)));
	fake_run_all(bc->server->qp);
	wr = fake_last_wr(bc->server->qp);
	rpcrdma_lists_init(&sent->lists, sent->segments, ARRAY_SIZE(sent->segments),
			   sent->chunks, ARRAY_SIZE(sent->chunks));
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK,
			rpcrdma_header_decode(fake_message(wr), wr->sge[0].length,
					      &sent->header, &sent->lists, false));
	chunk = rpcrdma_position_zero_chunk(&sent->lists);
	sent->length = chunk ? chunk->length : wr->sge[0].length - sent->header.size;
	sent->call = kunit_kzalloc(test, sent->length, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sent->call);
	if (!chunk)
		memcpy(sent->call, fake_message(wr) + sent->header.size, sent->length);
	for (i = 0; chunk && i < chunk->count; i++) {
		struct rpcrdma_segment *segment = &sent->segments[chunk->first + i];

		KUNIT_EXPECT_FALSE(test, fake_write(bc->server->fake, segment->handle,
						    segment->offset, sent->call, 1));
		KUNIT_ASSERT_TRUE(test, fake_read(bc->server->fake, segment->handle,
						  segment->offset, sent->call + at,
						  segment->length));
		at += segment->length;
	}
	return sent;
}

u32 bc_header(struct kunit *test, const struct bc_answer *answer, u32 xid, u8 *message)
{
	struct rpcrdma_segment storage[3], segment = { .handle = 1, .length = 100 };
	struct rpcrdma_chunk chunks[3];
	struct rpcrdma_chunk_lists lists;
	struct rpcrdma_header header = {
		.xid = xid, .vers = RPCRDMA_VERSION, .credits = answer->credits,
		.proc = answer->proc, .error = RPCRDMA_ERR_CHUNK,
	};

	rpcrdma_lists_init(&lists, storage, 3, chunks, 3);
	if (answer->read && rpcrdma_lists_begin_read(&lists, 40))
		rpcrdma_lists_add_segment(&lists, segment);
	if (answer->write && rpcrdma_lists_begin_write(&lists))
		rpcrdma_lists_add_segment(&lists, segment);
	if (answer->reply && rpcrdma_lists_begin_reply(&lists))
		rpcrdma_lists_add_segment(&lists, segment);
	KUNIT_ASSERT_EQ(test, RPCRDMA_OK, rpcrdma_header_encode(&header, &lists, message,
								SERVER_MESSAGE));
	return header.size;
}

/* The client answers XID @xid. */
void bc_reply(struct kunit *test, u32 xid, const struct bc_answer *answer)
{
	struct backchannel *bc = test->priv;
	u8 *message = kunit_kzalloc(test, SERVER_MESSAGE, GFP_KERNEL);
	u32 length = answer->length ?: CB_REPLY_HEADER + 4, size;

	KUNIT_ASSERT_NOT_NULL(test, message);
	size = bc_header(test, answer, xid, message);
	if (answer->proc == RPCRDMA_MSG) {
		put_unaligned_be32(xid, message + size);
		put_unaligned_be32(RPCRDMA_RPC_REPLY, message + size + 4);
		put_unaligned_be32(answer->accept, message + size + CB_REPLY_HEADER - 4);
		put_unaligned_be32(CB_RESULT, message + size + CB_REPLY_HEADER);
		size += length;
	}
	KUNIT_ASSERT_TRUE(test, fake_deliver(bc->server->qp, message, size));
	KUNIT_EXPECT_EQ(test, 0, server_recvfrom(bc->server));
	kunit_kfree(test, message);
}

void bc_reply_well(struct kunit *test, u32 xid, u32 credits)
{
	struct bc_answer answer = { .proc = RPCRDMA_MSG, .credits = credits };

	bc_reply(test, xid, &answer);
}

void bc_expect_answered(struct kunit *test, struct callback *cb)
{
	KUNIT_ASSERT_TRUE(test, bc_ended(cb));
	KUNIT_EXPECT_EQ(test, 0, cb->status);
}

/* SUNRPC would still take a reply to the call that was sent first. */
void bc_expect_waiting(struct kunit *test)
{
	struct backchannel *bc = test->priv;
	struct rpc_rqst *rqst;

	spin_lock(&bc->rpc->queue_lock);
	rqst = xprt_lookup_rqst(bc->rpc, cpu_to_be32(bc_xid(bc, 0)));
	spin_unlock(&bc->rpc->queue_lock);
	KUNIT_EXPECT_NOT_NULL(test, rqst);
}

void bc_expect_at_rest(struct backchannel *bc)
{
	server_expect_at_rest(bc->server);
	KUNIT_EXPECT_EQ(bc->server->test, 0, bc->rpc->cong);
}
