// SPDX-License-Identifier: GPL-2.0-only
/* RPCs whose replies the server exposes, for the suites that test these replies. */
#include "pull.h"

const struct pull_case pull_8k = PULL_8K;
const struct pull_case pull_60k = PULL_60K;

struct client_call *pull_begin(struct pair *pair, const struct pull_case *c)
{
	struct client_call *call = client_call_create(&pair->client, &c->shape);

	pair->answer = c->answer;
	KUNIT_ASSERT_EQ(pair->test, 0, client_call_send(call));
	return call;
}

struct client_call *pull_exchange(struct pair *pair, const struct pull_case *c)
{
	struct client_call *call = pull_begin(pair, c);

	pair_pump(pair);
	client_call_expect_reply(call, c->answer.head, c->answer.item, c->answer.tail);
	return call;
}

/* What has been learned so far is forgotten. */
void pull_forget(struct pair *pair)
{
	memset(&pair->client.transport->xt_history, 0,
	       sizeof(pair->client.transport->xt_history));
}

void pull_expect_nothing_exposed(struct pair *pair)
{
	pair_expect_at_rest(pair);
	KUNIT_EXPECT_EQ(pair->test, 0, pair->server->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	KUNIT_EXPECT_EQ(pair->test, 0, atomic_long_read(&pair->server->st_expose.bytes));
	KUNIT_EXPECT_EQ(pair->test, 0, memory_valid_keys(pair->server_device));
}
