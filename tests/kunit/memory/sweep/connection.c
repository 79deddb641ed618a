// SPDX-License-Identifier: GPL-2.0-only
/* The sweep: sets up a connection, and takes it down until nothing of it is left. */
#include "sweep.h"

enum { CREDITS = 4 };

static void restore(void *data)
{
	svcrdma_max_requests = (unsigned long)data;
	xprtrdma_reliable_reply = 1;
}

/* sweep_limit - this pair; few buffers, as these take time */
void sweep_limit(struct sweep *sweep, struct pair *pair)
{
	void *requests = (void *)(unsigned long)svcrdma_max_requests;

	sweep->pair = pair;
	KUNIT_ASSERT_EQ(sweep->test, 0, kunit_add_action_or_reset(sweep->test, restore, requests));
	svcrdma_max_requests = CREDITS;
	pair->client.xprt->max_reqs = CREDITS;
}

/* sweep_drop - nothing is there */
void sweep_drop(struct sweep *sweep)
{
	pair_disconnect(sweep->pair);
	pair_expect_nothing_left(sweep->pair);
	pair_script(sweep->pair);
}

/* sweep_fresh - a connection on which nothing has been sent */
void sweep_fresh(struct sweep *sweep)
{
	struct pair *pair = sweep->pair;

	sweep_drop(sweep);
	pull_forget(pair);
	xprtrdma_reliable_reply = !sweep->op->plain;
	KUNIT_ASSERT_EQ(sweep->test, 0, pair_connect(pair));
	pair->answer = sweep->op->answer;
}

/* sweep_connect - all or nothing: a connection works, or there is nothing of it */
bool sweep_connect(struct sweep *sweep)
{
	if (!pair_connect(sweep->pair))
		return true;
	sweep_note(sweep, FAULT_REFUSED);
	pair_expect_nothing_left(sweep->pair);
	return false;
}

/* sweep_check_pair - the next call works, and then the next connection begins with nothing */
void sweep_check_pair(struct sweep *sweep)
{
	sweep->pair->answer = pair_answer;
	pair_expect_healthy(sweep->pair);
	sweep_drop(sweep);
}
