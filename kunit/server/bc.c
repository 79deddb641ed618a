// SPDX-License-Identifier: GPL-2.0
/* What the suites for callbacks share: nfsd's side, and a client. */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/unaligned.h>

#include "bc.h"

/* ---- nfsd ---- */

static void encode(struct rpc_rqst *rqst, struct xdr_stream *xdr, const void *data)
{
	const struct callback *cb = data;
	__be32 *p = xdr_reserve_space(xdr, cb->words * 4);
	u32 i;

	for (i = 0; p && i < cb->words; i++)
		p[i] = cpu_to_be32(i);
}

static int decode(struct rpc_rqst *rqst, struct xdr_stream *xdr, void *data)
{
	struct callback *cb = data;

	return xdr_stream_decode_u32(xdr, &cb->answer) < 0 ? -EIO : 0;
}

static const struct rpc_procinfo procedures[] = {
	{ .p_proc = 0, .p_name = "NULL" },
	{ .p_proc = 1, .p_encode = encode, .p_decode = decode, .p_arglen = BC_WORDS_MAX,
	  .p_replen = 8, .p_statidx = 1, .p_name = "CALLBACK" },
	{ .p_proc = 2, .p_encode = encode, .p_decode = decode, .p_arglen = BC_LARGE,
	  .p_replen = 8, .p_statidx = 2, .p_name = "LARGE CALL" },
	{ .p_proc = 3, .p_encode = encode, .p_decode = decode, .p_arglen = BC_LARGE,
	  .p_replen = BC_LARGE_REPLY, .p_statidx = 3, .p_name = "LARGE REPLY" },
};

static unsigned int counts[ARRAY_SIZE(procedures)];

static const struct rpc_version version = {
	.number = 1, .nrprocs = ARRAY_SIZE(procedures), .procs = procedures,
	.counts = counts,
};

static const struct rpc_version *versions[] = { NULL, &version };
static struct rpc_stat statistics;

static const struct rpc_program program = {
	.name = "callback", .number = 0x40000000, .nrvers = ARRAY_SIZE(versions),
	.version = versions, .stats = &statistics,
};

/* As setup_callback_client(). */
struct rpc_clnt *bc_client(struct svc_xprt *xprt)
{
	struct rpc_create_args args = {
		.net		= &init_net,
		.protocol	= XPRT_TRANSPORT_BC_RDMA,
		.address	= (struct sockaddr *)&xprt->xpt_remote,
		.addrsize	= xprt->xpt_remotelen,
		.program	= &program,
		.version	= 1,
		.authflavor	= RPC_AUTH_NULL,
		.flags		= RPC_CLNT_CREATE_NOPING | RPC_CLNT_CREATE_QUIET,
		.bc_xprt	= xprt,
		.cred		= current_cred(),
	};

	return rpc_create(&args);
}

static void callback_done(struct rpc_task *task, void *data)
{
	struct callback *cb = data;

	cb->status = task->tk_status;
}

static void callback_release(void *data)
{
	struct callback *cb = data;

	complete(&cb->done);
}

static const struct rpc_call_ops callback_ops = {
	.rpc_call_done = callback_done,
	.rpc_release = callback_release,
};

/* As nfsd4_run_cb_work(), for a client with a session. */
struct callback *bc_call_procedure(struct kunit *test, u32 words, u32 procedure)
{
	struct backchannel *bc = test->priv;
	struct callback *cb = &bc->calls[bc->nr_calls++];
	struct rpc_task_setup setup = {
		.rpc_client = bc->clnt,
		.callback_ops = &callback_ops,
		.callback_data = cb,
		.flags = RPC_TASK_ASYNC | RPC_TASK_SOFT | RPC_TASK_NOCONNECT,
	};
	struct rpc_message message = {
		.rpc_proc = &procedures[procedure], .rpc_argp = cb, .rpc_resp = cb,
	};
	struct rpc_task *task;

	KUNIT_ASSERT_LE(test, bc->nr_calls, ARRAY_SIZE(bc->calls));
	cb->words = words;
	cb->status = 1;
	init_completion(&cb->done);
	setup.rpc_message = &message;
	task = rpc_run_task(&setup);
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	rpc_put_task(task);
	return cb;
}

struct callback *bc_call(struct kunit *test, u32 words)
{
	return bc_call_procedure(test, words, 1);
}

bool bc_ended(struct callback *cb)
{
	return wait_for_completion_timeout(&cb->done, 10 * HZ);
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
	bc->clnt = bc_client(bc->xprt);
	if (IS_ERR(bc->clnt)) {
		bc->clnt = NULL;
		KUNIT_ASSERT_TRUE_MSG(test, false, "no rpc_clnt");
	}
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

/* The client answers XID @xid. The result is 4711. */
void bc_reply(struct kunit *test, u32 xid, const struct bc_answer *answer)
{
	struct backchannel *bc = test->priv;
	u8 *message = kunit_kzalloc(test, SERVER_MESSAGE, GFP_KERNEL);
	u32 length = answer->length ?: BC_REPLY_HEADER + 4, size;

	KUNIT_ASSERT_NOT_NULL(test, message);
	size = bc_header(test, answer, xid, message);
	if (answer->proc == RPCRDMA_MSG) {
		put_unaligned_be32(xid, message + size);
		put_unaligned_be32(RPCRDMA_RPC_REPLY, message + size + 4);
		put_unaligned_be32(answer->accept, message + size + BC_REPLY_HEADER - 4);
		put_unaligned_be32(4711, message + size + BC_REPLY_HEADER);
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
	KUNIT_EXPECT_EQ(test, 4711, cb->answer);
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
