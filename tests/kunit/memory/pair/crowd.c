// SPDX-License-Identifier: GPL-2.0-only
/* Many clients of one server: connects and disconnects them, and makes their calls. */
#include <linux/slab.h>

#include "crowd.h"

/* Inline in both directions */
static const struct client_shape shape = { .head = 64, .reply_head = 256 };
static const struct pair_answer answer = { 200 };

static void crowd_free(void *data)
{
	struct crowd *crowd = data;
	unsigned int i;

	crowd_disconnect(crowd);
	for (i = 0; i < crowd->count; i++)
		client_exit(&crowd->members[i].client);
	kvfree(crowd->members);
}

/* crowd_create - a server, and nobody yet */
struct crowd *crowd_create(struct kunit *test, unsigned int most)
{
	struct crowd *crowd = kunit_kzalloc(test, sizeof(*crowd), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, crowd);
	crowd->pair = pair_create(test, false);
	crowd->pair->answer = answer;
	crowd->members = kvcalloc(most, sizeof(*crowd->members), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, crowd->members);
	crowd->most = most;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, crowd_free, crowd));
	return crowd;
}

/**
 * crowd_connect - another one comes
 * @crowd: with room for it
 * @address: from where, IPv4
 */
struct crowd_member *crowd_connect(struct crowd *crowd, u32 address)
{
	struct crowd_member *member = &crowd->members[crowd->count];
	struct pair *pair = crowd->pair;

	KUNIT_ASSERT_LT(pair->test, crowd->count, crowd->most);
	client_init(&member->client, pair->test, 0x60000000 + (crowd->count << 8));
	crowd->count++;
	member->address = address;
	fake_cm.client = htonl(address);
	KUNIT_ASSERT_EQ(pair->test, 0, pair_connect_client(pair, &member->client));
	member->server = pair->server;
	pair->server = NULL;
	return member;
}

static struct ib_cq *cq_of(const struct crowd_member *member, unsigned int n)
{
	return pair_cq_of(member->client.conn, member->server, n);
}

/* Completions that nobody has polled */
static unsigned int completions(const struct crowd *crowd)
{
	unsigned int i, count = 0;
	struct ib_cq *cq;

	for (i = 0; i < PAIR_CQS * crowd->count; i++) {
		cq = cq_of(&crowd->members[i / PAIR_CQS], i % PAIR_CQS);
		if (cq)
			count += memory_cq_waiting(cq);
	}
	return count;
}

static void flush_member(struct crowd_member *member)
{
	struct svcrdma_transport *t = member->server;
	struct ib_cq *cq;
	int n;

	for (n = 0; n < PAIR_CQS; n++) {
		cq = cq_of(member, n);
		if (cq)
			pair_cq_flush(cq, t);
	}
	if (!t)
		return;
	flush_work(&t->st_credit.work);
}

/* Where there is no Send buffer there are more soon. */
static int send_patiently(struct crowd_member *member, struct client_call *call)
{
	int rc = client_call_send(call);

	if (rc != -EAGAIN)
		return rc;
	flush_work(&member->client.conn->xc_growth.worker);
	flush_member(member);
	return client_call_send(call);
}

/* crowd_send - so many calls of a client at once, each of which finds a credit */
void crowd_send(struct crowd *crowd, struct crowd_member *member, unsigned int calls)
{
	struct client_call *call;

	for (; calls; calls--) {
		call = client_call_create(&member->client, &shape);
		KUNIT_ASSERT_EQ(crowd->pair->test, 0, send_patiently(member, call));
		crowd->sent++;
	}
}

static void flush_all(struct crowd *crowd)
{
	unsigned int i;

	for (i = 0; i < crowd->count; i++)
		flush_member(&crowd->members[i]);
	flush_workqueue(xprtrdma_wq);
	fake_cm_flush();
}

/* crowd_settle - whatever happens by itself has happened, as in pair_settle() */
void crowd_settle(struct crowd *crowd)
{
	int rounds = 100;

	do
		flush_all(crowd);
	while (completions(crowd) && rounds--);
	flush_all(crowd);
	KUNIT_EXPECT_GT_MSG(crowd->pair->test, rounds, 0, "completions that nobody polls");
}

/* crowd_serve - nfsd works until there is nothing to do, and closes what is to be closed */
void crowd_serve(struct crowd *crowd)
{
	int rounds = 100;
	bool served;

	do {
		crowd_settle(crowd);
		for (served = false; pair_serve_any(crowd->pair); served = true)
			;
	} while (served && rounds--);
	KUNIT_EXPECT_GT_MSG(crowd->pair->test, rounds, 0, "nfsd has no end of work");
}

/* crowd_expect_answers - all calls of a client have theirs; they are gone then */
void crowd_expect_answers(struct crowd_member *member)
{
	struct client_call *call, *next;

	list_for_each_entry_safe(call, next, &member->client.calls, list) {
		KUNIT_EXPECT_TRUE(member->client.test, client_call_done(call));
		client_call_expect_reply(call, answer.head, answer.item, answer.tail);
		client_call_destroy(call);
	}
}

static void let_go(struct crowd_member *member)
{
	struct svc_xprt *xprt = &member->server->st_xprt;

	member->server = NULL;
	/* Where a test has ended early */
	clear_bit(XPT_BUSY, &xprt->xpt_flags);
	svc_xprt_close(xprt);
	svc_xprt_put(xprt);
}

/* crowd_disconnect - all clients go; nfsd notices it by itself */
void crowd_disconnect(struct crowd *crowd)
{
	unsigned int i, stay = 0;

	for (i = 0; i < crowd->count; i++)
		client_disconnect(&crowd->members[i].client);
	crowd_serve(crowd);
	for (i = 0; i < crowd->count; i++) {
		if (!crowd->members[i].server)
			continue;
		stay += !test_bit(XPT_DEAD, &crowd->members[i].server->st_xprt.xpt_flags);
		let_go(&crowd->members[i]);
	}
	fake_cm_flush();
	KUNIT_EXPECT_EQ_MSG(crowd->pair->test, 0, stay, "connections that nfsd has not closed");
}
