/* SPDX-License-Identifier: GPL-2.0-only */
/* A double of nfsd's callbacks: a program whose calls and results have any size. */
#ifndef KUNIT_FAKE_CALLBACK_H
#define KUNIT_FAKE_CALLBACK_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/svc_xprt.h>

enum {
	CB_WORDS	= 17500,	/* of the arguments */
	CB_WORDS_SHORT	= 1500,
	CB_RESULTS	= 3000,		/* words of a large result */
	CB_RESULT	= 4711,		/* the first of them; the next is 4712 */
	CB_CALL_HEADER	= 40,		/* without credential and verifier */
	CB_REPLY_HEADER	= 24,
};

/* How much SUNRPC thinks that there might be */
enum callback_procedure {
	CB_NULL,
	CB_SHORT,
	CB_LONG_CALL,
	CB_LONG_REPLY,
};

/**
 * struct callback - one call
 * @words: its arguments
 * @results: words of the result that are looked at
 * @exact: and there are no others
 * @status: how it ended
 * @done: SUNRPC has forgotten it
 */
struct callback {
	u32			words;
	u32			results;
	bool			exact;
	int			status;
	struct completion	done;
};

struct rpc_clnt *callback_client(struct svc_xprt *xprt);
void callback_start(struct kunit *test, struct callback *cb, struct rpc_clnt *clnt,
		    enum callback_procedure procedure);

#endif /* KUNIT_FAKE_CALLBACK_H */
