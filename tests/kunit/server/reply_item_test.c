// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replies of random shape, most of which have one item in their pages and are offered one segment.
 * However a reply is built, the client has to get what nfsd has encoded, in the right place.
 */
#include <linux/prandom.h>

#include "exchange.h"

enum { ROUNDS = 400 };

static u32 below(struct rnd_state *random, u32 end)
{
	return prandom_u32_state(random) % end;
}

/* Segments for @length bytes, or a few more */
static void random_offer(struct rnd_state *random, struct offer *offer, u32 length)
{
	u32 room = length + (below(random, 2) ? below(random, 5000) : 0);

	offer->segments = 1;
	offer->length[0] = room;
	if (below(random, 4) || !length)
		return;
	offer->segments = 2;
	offer->length[0] = below(random, length);
	offer->length[1] = room - offer->length[0];
}

/* False: whether it fits in a message takes a closer look. */
static bool random_case(struct rnd_state *random, struct reply_case *c)
{
	u32 payload, rest;

	*c = (struct reply_case) {
		.head		= 64 + below(random, 20) * 4,
		.base		= below(random, 2) ? below(random, PAGE_SIZE) : 0,
		.pages		= below(random, 8) ? below(random, 3 * PAGE_SIZE) : below(random, 2),
		.tail		= below(random, 2) ? below(random, 30) * 4 : 0,
		.no_length	= !below(random, 4),
		.nr_write	= below(random, 8) ? 1 : below(random, 3),
	};
	/* A last page that is full, or that the item begins with the last byte of a page */
	if (!below(random, 4))
		c->pages -= min(c->pages, offset_in_page(c->base + c->pages));
	if (!below(random, 8))
		c->base = PAGE_SIZE - 1;
	payload = below(random, 8) ? c->pages : below(random, c->pages / 4 + 1) * 4;
	c->payloads[0] = (struct svcrdma_payload) { c->head, payload };
	c->at_length = payload && !c->no_length && !below(random, 8);
	/* Not all of the pages, and a part of the tail */
	if (payload == c->pages && payload % 4 == 0 && c->tail && !below(random, 8))
		c->payloads[0].offset += 4;
	c->empty_reply = !below(random, 8);
	if (c->nr_write) {
		random_offer(random, &c->write[0], max(c->pages, 1U));
		c->written[0] = payload;
	}
	if (c->nr_write > 1)
		random_offer(random, &c->write[1], 100);
	rest = c->head + ALIGN(c->pages, 4) + c->tail - ALIGN(c->written[0], 4);
	if (rest > SERVER_MESSAGE || !below(random, 8))
		c->reply = (struct offer) { 1, { 20000 } };
	if (rest > SERVER_MESSAGE) {
		c->proc = RPCRDMA_NOMSG;
		c->reply_written = c->head + c->pages + (c->pages ?
			xdr_pad_size(c->pages) + c->tail : 0) - ALIGN(c->written[0], 4);
	}
	return rest < SERVER_MESSAGE - 200 || rest > SERVER_MESSAGE + 200;
}

static unsigned long writes_counted(void)
{
	unsigned long writes = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		writes += per_cpu(svcrdma_stats.write, cpu);
	return writes;
}

static void item_any_reply_is_seen_by_the_client(struct kunit *test)
{
	struct server *server = server_create(test);
	u32 i, items = 0, others = 0;
	struct rnd_state random;
	struct reply_case c;
	struct exchange *x = NULL;
	unsigned long writes;

	server_connect(server);
	prandom_seed_state(&random, 8166);
	for (i = 0; i < ROUNDS; i++) {
		if (!random_case(&random, &c))
			continue;
		if (x)
			exchange_again(x, &c);
		else
			x = exchange_start(server, &c);
		writes = writes_counted();
		exchange_answer(x);
		writes += c.written[0] || (c.nr_write > 1 && c.written[1]) || c.reply_written;
		KUNIT_EXPECT_EQ(test, writes, writes_counted());
		if (c.written[0] == c.pages && c.write[0].segments == 1 && !c.reply.segments)
			items++;
		else
			others++;
		fake_mark(server->qp);
	}
	server_expect_at_rest(server);
	KUNIT_EXPECT_GT(test, items, ROUNDS / 8);
	KUNIT_EXPECT_GT(test, others, ROUNDS / 8);
}

/* There are not as many entries as the Writes need, ever. */
static void item_is_too_large_for_the_queue(struct kunit *test)
{
	static const struct reply_case c = {
		"", { { 1, { 8192 } } }, 1, .head = 128, .pages = 8192, .payloads = { { 128, 8192 } },
	};
	struct server *server = server_create(test);
	u32 depth;

	server_connect(server);
	exchange_start(server, &c);
	depth = server->transport->st_sq_depth;
	server->transport->st_sq_depth = 1;
	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server->transport->st_sq_depth = depth;
	server_done(server);
	server_expect_error(server, EXCHANGE_XID, RPCRDMA_ERR_CHUNK);
	server_expect_at_rest(server);
}

static struct kunit_case reply_item_cases[] = {
	KUNIT_CASE(item_is_too_large_for_the_queue),
	KUNIT_CASE(item_any_reply_is_seen_by_the_client),
	{}
};

static struct kunit_suite reply_item_suite = {
	.name = "svcrdma_reply_item",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.test_cases = reply_item_cases,
};

kunit_test_suite(reply_item_suite);
