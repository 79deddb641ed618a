// SPDX-License-Identifier: GPL-2.0-only
/* A double of nfsd's callbacks; linked into the module that uses it. */
#include "callback.h"
#include "handover.h"

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
	u32 i, word;

	for (i = 0; i < cb->results; i++) {
		if (xdr_stream_decode_u32(xdr, &word) < 0)
			return -EIO;
		if (word != CB_RESULT + i)
			return -EBADMSG;
	}
	return cb->exact && xdr_stream_remaining(xdr) ? -E2BIG : 0;
}

static const struct rpc_procinfo procedures[] = {
	[CB_NULL] = { .p_proc = CB_NULL, .p_name = "NULL" },
	[CB_SHORT] = {
		.p_proc = CB_SHORT, .p_encode = encode, .p_decode = decode,
		.p_arglen = CB_WORDS_SHORT, .p_replen = 8,
		.p_statidx = CB_SHORT, .p_name = "SHORT",
	},
	[CB_LONG_CALL] = {
		.p_proc = CB_LONG_CALL, .p_encode = encode, .p_decode = decode,
		.p_arglen = CB_WORDS, .p_replen = 8,
		.p_statidx = CB_LONG_CALL, .p_name = "LONG CALL",
	},
	[CB_LONG_REPLY] = {
		.p_proc = CB_LONG_REPLY, .p_encode = encode, .p_decode = decode,
		.p_arglen = CB_WORDS, .p_replen = CB_RESULTS,
		.p_statidx = CB_LONG_REPLY, .p_name = "LONG REPLY",
	},
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

/* callback_client - as setup_callback_client(); NULL when there is none */
struct rpc_clnt *callback_client(struct svc_xprt *xprt)
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
	struct rpc_clnt *clnt = rpc_create(&args);

	return IS_ERR(clnt) ? NULL : clnt;
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
	fake_handover();
}

static const struct rpc_call_ops callback_ops = {
	.rpc_call_done = callback_done,
	.rpc_release = callback_release,
};

/**
 * callback_start - as nfsd4_run_cb_work(), for a client with a session
 * @test: the test
 * @cb: what is called; outlives a test that fails
 * @clnt: nfsd's
 * @procedure: which one
 */
void callback_start(struct kunit *test, struct callback *cb, struct rpc_clnt *clnt,
		    enum callback_procedure procedure)
{
	struct rpc_message message = {
		.rpc_proc = &procedures[procedure], .rpc_argp = cb, .rpc_resp = cb,
	};
	struct rpc_task_setup setup = {
		.rpc_client = clnt,
		.rpc_message = &message,
		.callback_ops = &callback_ops,
		.callback_data = cb,
		.flags = RPC_TASK_ASYNC | RPC_TASK_SOFT | RPC_TASK_NOCONNECT,
	};
	struct rpc_task *task;

	cb->status = 1;
	init_completion(&cb->done);
	task = rpc_run_task(&setup);
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	rpc_put_task(task);
}
