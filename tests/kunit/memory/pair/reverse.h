/* SPDX-License-Identifier: GPL-2.0-only */
/* A pair whose server calls back. */
#ifndef KUNIT_MEMORY_REVERSE_H
#define KUNIT_MEMORY_REVERSE_H

#include "../../fake/callback.h"
#include "pair.h"

/**
 * struct reverse - both sides of the reverse direction
 * @pair: the connection
 * @callbacks: the NFS client's service
 * @xprt: the connection's svc_xprt, with nfsd's reference
 * @clnt: nfsd's rpc_clnt
 * @calls: they may outlive a test that fails
 * @nr_calls: their number
 */
struct reverse {
	struct pair		*pair;
	struct fake_callbacks	callbacks;
	struct svc_xprt		*xprt;
	struct rpc_clnt		*clnt;
	struct callback		calls[8];
	unsigned int		nr_calls;
};

struct callback *reverse_call(struct reverse *reverse, u32 words, u32 answer,
			      enum callback_procedure procedure);
struct rpc_rqst *reverse_called(struct reverse *reverse);
void reverse_expect_call(struct reverse *reverse, const struct rpc_rqst *rqst, u32 words);
void reverse_encode(struct rpc_rqst *rqst, u32 words);
int reverse_answer(struct reverse *reverse, struct rpc_rqst *rqst, u32 words);
void reverse_exchange(struct reverse *reverse, u32 words, u32 answer,
		      enum callback_procedure procedure);
bool reverse_ended(struct reverse *reverse, struct callback *cb);
void reverse_drop_clnt(struct reverse *reverse);
bool reverse_attach(struct reverse *reverse);
void reverse_connect(struct reverse *reverse);
struct reverse *reverse_prepare(struct kunit *test, const struct memory_shape *shape);
struct reverse *reverse_create(struct kunit *test, bool iwarp);
struct reverse *reverse_create_as(struct kunit *test, const struct memory_shape *shape);
void reverse_expect_at_rest(struct reverse *reverse);
int reverse_suite_init(struct kunit_suite *suite);
void reverse_suite_exit(struct kunit_suite *suite);

#endif /* KUNIT_MEMORY_REVERSE_H */
