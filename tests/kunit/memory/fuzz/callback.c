// SPDX-License-Identifier: GPL-2.0-only
/*
 * nfsd's callbacks, and the NFS client's replies. SUNRPC's own tasks send the callbacks, in its
 * work items: a step is over when each task sleeps.
 */
#include <linux/delay.h>
#include <linux/sunrpc/sched.h>

#include "fuzz.h"

/**
 * struct kind - a callback
 * @words: words of the arguments
 * @answer: words of the result
 * @procedure: how large SUNRPC thinks that call and reply may be
 */
struct kind {
	u32			words;
	u32			answer;
	enum callback_procedure	procedure;
};

static const struct kind kinds[] = {
	{ 20, 1, CB_SHORT },
	{ 20, 1, CB_LONG_REPLY },
	{ 2048, 1, CB_LONG_CALL },
	{ 16384, 1, CB_LONG_CALL },
	{ 20, 768, CB_LONG_REPLY },
	{ 2048, (PAGE_SIZE - CB_REPLY_HEADER) / 4, CB_LONG_REPLY },
};

/* fuzz_callback_send - nfsd calls back, over the first connection that it has for that */
void fuzz_callback_send(struct fuzz *fuzz)
{
	const struct kind *kind = &kinds[fuzz_byte(fuzz) % ARRAY_SIZE(kinds)];
	struct reverse *reverse = fuzz->reverse;

	if (!fuzz->pair->server || reverse->nr_calls == FUZZ_CALLBACKS)
		return;
	if (!reverse->xprt)
		reverse_attach(reverse);
	if (reverse->clnt)
		reverse_call(reverse, kind->words, kind->answer, kind->procedure);
}

/* fuzz_callback_answer - the NFS client's service takes a call, and answers it or not */
void fuzz_callback_answer(struct fuzz *fuzz)
{
	u8 how = fuzz_byte(fuzz);
	struct rpc_rqst *rqst = fake_callbacks_take(fuzz->pair->client.xprt);
	u32 length;

	if (!rqst)
		return;
	length = rqst->rq_rcv_buf.len;
	/* The peer of a message that was made up may call with any bytes. */
	if (fuzz->clean && length >= CB_CALL_HEADER)
		reverse_expect_call(fuzz->reverse, rqst, (length - CB_CALL_HEADER) / 4);
	if (how & 128)
		xprtrdma_bc_free_rqst(rqst);
	else
		reverse_answer(fuzz->reverse, rqst, kinds[how % ARRAY_SIZE(kinds)].answer);
}

/* fuzz_callback_kill - nfsd waits for no answer any more */
void fuzz_callback_kill(struct fuzz *fuzz)
{
	if (fuzz->reverse->clnt)
		rpc_killall_tasks(fuzz->reverse->clnt);
}

/* fuzz_callbacks_run - does a task run that has not begun to wait? It has had a moment, then. */
bool fuzz_callbacks_run(const struct fuzz *fuzz)
{
	struct rpc_clnt *clnt = fuzz->reverse->clnt;
	const struct rpc_task *task;
	bool runs = false;

	if (!clnt)
		return false;
	spin_lock(&clnt->cl_lock);
	list_for_each_entry(task, &clnt->cl_tasks, tk_task)
		runs |= !RPC_IS_QUEUED(task);
	spin_unlock(&clnt->cl_lock);
	if (runs)
		usleep_range(50, 100);
	return runs;
}

/* fuzz_callbacks_end - nfsd lets go of the connection; each callback has come to its end, once */
void fuzz_callbacks_end(struct fuzz *fuzz)
{
	struct reverse *reverse = fuzz->reverse;
	struct rpc_rqst *rqst;
	unsigned int i;

	while ((rqst = fake_callbacks_take(fuzz->pair->client.xprt)))
		xprtrdma_bc_free_rqst(rqst);
	reverse_drop_clnt(reverse);
	for (i = 0; i < reverse->nr_calls; i++)
		KUNIT_EXPECT_NE(fuzz->test, 0,
				wait_for_completion_timeout(&reverse->calls[i].done, 5 * HZ));
	reverse->nr_calls = 0;
}
