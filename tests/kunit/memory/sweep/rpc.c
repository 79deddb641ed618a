// SPDX-License-Identifier: GPL-2.0-only
/* The sweep: plays SUNRPC's part of an RPC, when something fails. */
#include <linux/delay.h>

#include "sweep.h"

enum { ATTEMPTS = 12 };

/* sweep_make - an RPC that is encoded; SUNRPC asks again for its buffers */
struct client_call *sweep_make(struct sweep *sweep, const struct client_shape *shape)
{
	struct client_call *call = NULL;
	int attempts;

	for (attempts = 0; !call && attempts < ATTEMPTS; attempts++) {
		call = client_call_make(&sweep->pair->client, shape);
		if (!call)
			sweep_note(sweep, FAULT_RETRIED);
	}
	KUNIT_ASSERT_NOT_NULL(sweep->test, call);
	return call;
}

/* The connection is as good as gone, for one of the two at least. */
static void take_down(struct sweep *sweep)
{
	struct pair *pair = sweep->pair;

	/* Nobody waits on a connection that looks well. */
	KUNIT_ASSERT_TRUE(sweep->test, pair_client_failed(pair) || !pair->server);
	sweep_note(sweep, FAULT_LOST);
	pair_disconnect(pair);
	pair_expect_nothing_left(pair);
}

static enum rpcrdma_refusal refusal(const struct client_call *call)
{
	return READ_ONCE(xprtrdma_request_of(&call->rqst)->rq_refused);
}

/* The server could not expose the reply: the task is told when it waits, and calls again. */
static void call_again(struct sweep *sweep, struct client_call *call)
{
	client_call_wait(call);
	KUNIT_EXPECT_EQ(sweep->test, -ENOTCONN, call->task.tk_status);
	call->task.tk_status = 0;
	sweep_note(sweep, FAULT_RETRIED);
}

/* What is short is waited for by workers of the client's, which wake each other. */
static bool has_ended(struct sweep *sweep, struct client_call *call)
{
	struct pair *pair = sweep->pair;

	pair_pump(pair);
	return client_call_done(call) || refusal(call) ||
	       pair_client_failed(pair) || !pair->server;
}

/**
 * sweep_finish - a call is sent until there is an answer
 * @sweep: the sweep
 * @call: the call, sent or not
 *
 * Return: false: it ended with EIO.
 */
bool sweep_finish(struct sweep *sweep, struct client_call *call)
{
	struct pair *pair = sweep->pair;
	int attempts, rc;

	for (attempts = 0; attempts < ATTEMPTS; attempts++) {
		if (!pair->client.conn && !sweep_connect(sweep))
			continue;
		rc = client_call_send(call);
		if (rc)
			pair_pump(pair);
		else if (!eventually(has_ended(sweep, call)))
			break;
		if (client_call_done(call))
			return true;
		if (refusal(call) == RPCRDMA_REFUSED) {
			client_call_expect_error(call, -EIO);
			sweep_note(sweep, FAULT_ENDED);
			return false;
		}
		if (refusal(call) == RPCRDMA_REFUSED_ONCE)
			call_again(sweep, call);
		else if (rc == -EAGAIN || rc == -ENOBUFS)
			sweep_note(sweep, FAULT_RETRIED);
		else
			take_down(sweep);
	}
	KUNIT_FAIL(sweep->test, "not answered in attempt %d", attempts);
	return false;
}
