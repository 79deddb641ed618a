// SPDX-License-Identifier: GPL-2.0-only
/* Client and server over the provider in memory: an RPC from its call to its end. */
#include "pair.h"

/* A Read chunk and a Write chunk: nothing else has more steps. */
static const struct client_shape shape = {
	.head = 160, .pages = 9001, .tail = 40, .write = true,
	.reply_head = 128, .reply_pages = 13001, .reply_tail = 64, .read = true,
};

const struct pair_answer pair_answer = { 128, 12999, 20 };

struct memory_device *pair_device(struct pair *pair, enum pair_side side)
{
	return side == PAIR_CLIENT ? pair->client_device : pair->server_device;
}

/* No faults, on either side. */
void pair_script(struct pair *pair)
{
	memory_script(pair->client_device);
	memory_script(pair->server_device);
}

struct client_call *pair_call(struct pair *pair)
{
	return client_call_create(&pair->client, &shape);
}

/* To pair_call(), if it was the last one that was answered. */
void pair_expect_answer(struct pair *pair, struct client_call *call)
{
	pair_expect_call(pair, call);
	client_call_expect_reply(call, pair_answer.head, pair_answer.item, pair_answer.tail);
}

/* As SUNRPC: a call for which regions are short goes out again when there are more. */
int pair_send(struct pair *pair, struct client_call *call)
{
	int attempts, rc = -EAGAIN;

	for (attempts = 0; attempts < 8 && rc == -EAGAIN; attempts++) {
		rc = client_call_send(call);
		pair_settle(pair);
	}
	return rc;
}

/*
 * SUNRPC: a call that cannot be sent now, or whose connection is lost, goes out again on
 * the next one. True when it was answered, false when it ended with an error.
 */
bool pair_run_call(struct pair *pair, struct client_call *call)
{
	int attempts, rc;

	for (attempts = 0; attempts < 4; attempts++) {
		if (!pair->client.conn)
			KUNIT_ASSERT_EQ(pair->test, 0, pair_connect(pair));
		rc = client_call_send(call);
		if (xprtrdma_request_of(&call->rqst)->rq_refused) {
			client_call_expect_error(call, -EIO);
			return false;
		}
		pair_pump(pair);
		if (client_call_done(call))
			return true;
		/* Something was short: SUNRPC has been woken. */
		if (rc == -EAGAIN)
			continue;
		/* Nobody waits on a connection that looks well. */
		KUNIT_ASSERT_TRUE(pair->test, pair_client_failed(pair) || !pair->server);
		pair_disconnect(pair);
		pair_expect_nothing_left(pair);
		pair_script(pair);
	}
	KUNIT_FAIL(pair->test, "not answered on the fourth connection");
	return false;
}

/* The connection that a fault has hurt may need a push to notice it. */
void pair_expect_healthy(struct pair *pair)
{
	struct client_call *call;

	pair_pump(pair);
	if (pair_client_failed(pair) || !pair->server)
		pair_disconnect(pair);
	pair_script(pair);
	call = pair_call(pair);
	KUNIT_EXPECT_TRUE(pair->test, pair_run_call(pair, call));
	pair_expect_answer(pair, call);
	client_call_destroy(call);
	pair_expect_at_rest(pair);
}
