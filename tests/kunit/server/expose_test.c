// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replies that the server exposes: their memory is the HCA's until a LOCAL_INV of ours has
 * completed, or the queue pair is gone, whatever the client says. Documentation/reliable-reply.rst.
 */
#include <linux/unaligned.h>

#include "exchange.h"
#include "sq.h"

/**
 * struct exposure - a reply that is exposed
 * @x: it
 * @page: one of its pages, with a reference of the test's own
 * @handles: of the chunk
 * @nr_handles: their number
 * @xs: the server's part of it
 */
struct exposure {
	struct exchange	*x;
	struct page	*page;
	u32		handles[8];
	u32		nr_handles;
	struct svcrdma_exposure *xs;
};

static void put_page_action(void *page)
{
	put_page(page);
}

/* As the client sees it: the registrations have taken effect, the message has come. */
static struct exposure *exposure_create(struct kunit *test)
{
	static const struct reply_case c = { "", .head = 128, .pages = 20000 };
	struct exposure *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	struct server *server = server_of(test);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, e);
	e->x = exchange_start(server, &c);
	e->page = server->rqst->rq_respages[1];
	get_page(e->page);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, put_page_action, e->page));
	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);
	exchange_decode(e->x);
	server_settle(server);

	KUNIT_ASSERT_EQ(test, RPCRDMA_NOMSG, e->x->header.proc);
	KUNIT_ASSERT_EQ(test, 1, e->x->lists.nr_read);
	e->nr_handles = e->x->lists.nr_segments;
	KUNIT_ASSERT_LE(test, 2, e->nr_handles);
	KUNIT_ASSERT_LE(test, e->nr_handles, ARRAY_SIZE(e->handles));
	for (i = 0; i < e->nr_handles; i++)
		e->handles[i] = e->x->segments[i].handle;
	KUNIT_ASSERT_EQ(test, 2, page_ref_count(e->page));
	e->xs = list_last_entry(&server->transport->st_region.exposures,
				struct svcrdma_exposure, xs_list);
	fake_mark(server->qp);
	return e;
}

static int exposure_init(struct kunit *test)
{
	struct server *server = server_create(test);

	server->client.extensions = RPCRDMA_EXT_TAKES_READ_CHUNKS;
	server->fake->ib.attrs.max_fast_reg_page_list_len = 2;
	server_connect(server);
	return 0;
}

/* Sixteen octets, or with chunk lists as of old, which nfsd's thread takes. */
static u32 done_message(u8 message[64], bool lists)
{
	struct rpcrdma_header header = {
		.xid = EXCHANGE_XID, .vers = 1, .credits = 32, .proc = RPCRDMA_DONE,
	};

	memset(message, 0, 64);
	rpcrdma_header_encode(&header, NULL, message, 64);
	return header.size + (lists ? 12 : 0);
}

/* Pages, mappings, regions and their share of the bounds are still there. */
static void expect_kept(struct kunit *test, const struct exposure *e)
{
	struct svcrdma_transport *t = server_of(test)->transport;

	KUNIT_EXPECT_EQ(test, 2, page_ref_count(e->page));
	KUNIT_EXPECT_EQ(test, 1, t->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->st_region.free));
}

struct done_case {
	const char	*desc;
	bool		lists;
};

static const struct done_case done_cases[] = {
	{ "sixteen octets", false },
	{ "with chunk lists", true },
};

KUNIT_ARRAY_PARAM_DESC(done, done_cases, desc);

static void local_inv_ends_the_exposure(struct kunit *test)
{
	const struct done_case *c = test->param_value;
	struct exposure *e = exposure_create(test);
	struct server *server = server_of(test);
	u8 message[64];
	u32 i;

	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, message,
					     done_message(message, c->lists)));
	if (c->lists)
		KUNIT_ASSERT_EQ(test, 0, server_recvfrom(server));
	/* One for each handle, and the last one alone says that all are done. */
	KUNIT_ASSERT_EQ(test, e->nr_handles, fake_posted(server->qp));
	for (i = 0; i < e->nr_handles; i++) {
		KUNIT_EXPECT_EQ(test, IB_WR_LOCAL_INV, fake_wr(server->qp, i)->opcode);
		KUNIT_EXPECT_EQ(test, i == e->nr_handles - 1,
				!!(fake_wr(server->qp, i)->flags & IB_SEND_SIGNALED));
		expect_kept(test, e);
		fake_run(server->qp, 1);
	}
	for (i = 0; i < e->nr_handles; i++)
		KUNIT_EXPECT_FALSE(test, fake_rkey_valid(server->fake, e->handles[i]));
	KUNIT_EXPECT_EQ(test, 1, page_ref_count(e->page));
	KUNIT_EXPECT_EQ(test, 0, server->transport->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	KUNIT_EXPECT_EQ(test, e->nr_handles,
			list_count_nodes(&server->transport->st_region.free));
	server_expect_at_rest(server);
}

struct short_case {
	const char	*desc;
	u32		vers;
	u32		proc;
};

static const struct short_case short_cases[] = {
	{ "RDMA_MSG", 1, RPCRDMA_MSG },
	{ "RDMA_ERROR", 1, RPCRDMA_ERROR },
	{ "no procedure", 1, 9 },
	{ "RDMA_DONE of version 2", 2, RPCRDMA_DONE },
};

KUNIT_ARRAY_PARAM_DESC(short, short_cases, desc);

/* Sixteen octets are no message but an RDMA_DONE: RFC 8166 section 4.5. */
static void sixteen_octets_that_are_no_done(struct kunit *test)
{
	const struct short_case *c = test->param_value;
	struct exposure *e = exposure_create(test);
	struct server *server = server_of(test);
	u8 message[64];

	done_message(message, false);
	put_unaligned_be32(c->vers, message + 4);
	put_unaligned_be32(c->proc, message + 12);

	/* Act */
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, message, 16));
	expect_kept(test, e);
	KUNIT_EXPECT_TRUE(test, server_is_ready(server));
	KUNIT_EXPECT_EQ(test, 0, server_receive_all(server));

	/* Assert: not a word, and the client still has the reply. */
	expect_kept(test, e);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&server->transport->st_unexpected));
	KUNIT_EXPECT_FALSE(test, READ_ONCE(server->transport->st_closing));
}

/**
 * struct invalidate_case - a message that invalidates
 * @desc: which
 * @done: an RDMA_DONE, else a call
 * @lists: with chunk lists
 * @handle: which one; beyond the last: none of ours
 */
struct invalidate_case {
	const char	*desc;
	bool		done;
	bool		lists;
	u32		handle;
};

static const struct invalidate_case invalidate_cases[] = {
	{ "RDMA_DONE, the first handle", true, false, 0 },
	{ "RDMA_DONE, the second handle", true, false, 1 },
	{ "RDMA_DONE, a handle that is none", true, false, 99 },
	{ "RDMA_DONE with chunk lists", true, true, 0 },
	{ "a call", false, false, 0 },
	{ "a call, a handle that is none", false, false, 99 },
};

KUNIT_ARRAY_PARAM_DESC(invalidate, invalidate_cases, desc);

/* The handle may not be used in a LOCAL_INV any more: the queue pair ends the exposure. */
static void client_that_invalidates_is_disconnected(struct kunit *test)
{
	const struct invalidate_case *c = test->param_value;
	struct exposure *e = exposure_create(test);
	struct server *server = server_of(test);
	u32 length, rkey = 0xbad;
	u8 message[64];

	if (c->handle < e->nr_handles)
		rkey = e->handles[c->handle];
	length = done_message(message, c->lists);
	if (!c->done) {
		put_unaligned_be32(RPCRDMA_MSG, message + 12);
		length = sizeof(message);
	}

	/* Act */
	KUNIT_ASSERT_TRUE(test, fake_deliver_invalidate(server->qp, message, length, rkey));

	/* Assert */
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	expect_kept(test, e);
	server_receive_all(server);
	expect_kept(test, e);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	server_disconnect(server);
	KUNIT_EXPECT_EQ(test, 1, page_ref_count(e->page));
}

/* A client that says nothing, and one that has said it already. */
static void time_ends_the_exposure_by_local_inv(struct kunit *test)
{
	struct exposure *e = exposure_create(test);
	struct server *server = server_of(test);
	u8 message[64];

	e->xs->xs_deadline = 0;
	run_delayed(&server->transport->st_region.work);
	KUNIT_EXPECT_EQ(test, e->nr_handles, fake_posted(server->qp));
	expect_kept(test, e);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, message,
					     done_message(message, false)));
	KUNIT_EXPECT_EQ(test, e->nr_handles, fake_posted(server->qp));
	expect_kept(test, e);
	server_settle(server);
	KUNIT_EXPECT_EQ(test, 1, page_ref_count(e->page));
	server_expect_at_rest(server);
}

static void expect_fenced(struct kunit *test, const struct exposure *e)
{
	struct server *server = server_of(test);
	u32 i;

	KUNIT_ASSERT_EQ(test, e->nr_handles, fake_posted(server->qp));
	for (i = 0; i < e->nr_handles; i++) {
		const struct fake_wr *wr = fake_wr(server->qp, e->nr_handles - 1 - i);

		KUNIT_EXPECT_EQ(test, IB_WR_LOCAL_INV, wr->opcode);
		KUNIT_EXPECT_EQ(test, e->handles[i], wr->rkey);
	}
	fake_mark(server->qp);
}

/* The time of the second reply is over before that of the first. */
static void time_ends_only_what_is_over(struct kunit *test)
{
	struct exposure *first = exposure_create(test), *second = exposure_create(test);
	struct server *server = server_of(test);

	run_delayed(&server->transport->st_region.work);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	second->xs->xs_deadline = get_jiffies_64();
	run_delayed(&server->transport->st_region.work);
	expect_fenced(test, second);
	KUNIT_EXPECT_EQ(test, 1, server->transport->st_expose.expired);
	first->xs->xs_deadline = 0;
	run_delayed(&server->transport->st_region.work);
	expect_fenced(test, first);
	server_settle(server);
	KUNIT_EXPECT_EQ(test, 0, server->transport->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	server_expect_at_rest(server);
}

/* A client that repeats a call on a connection gets the reply twice, and reads it in order. */
static void same_xid_twice(struct kunit *test)
{
	struct exposure *first = exposure_create(test), *second = exposure_create(test);
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;

	svcrdma_exposed_done(t, EXCHANGE_XID + 1);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	svcrdma_exposed_done(t, EXCHANGE_XID);
	expect_fenced(test, first);
	svcrdma_exposed_done(t, EXCHANGE_XID);
	expect_fenced(test, second);
	svcrdma_exposed_done(t, EXCHANGE_XID);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	KUNIT_EXPECT_EQ(test, 1, t->st_expose.dones_unknown);
	server_settle(server);
	KUNIT_EXPECT_EQ(test, 0, t->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	KUNIT_EXPECT_EQ(test, 0, atomic_long_read(&t->st_expose.bytes));
	server_expect_at_rest(server);
}

/* A notification, or time, must not free what the HCA has not got yet. */
static void hidden_until_posted(struct kunit *test)
{
	static const struct reply_case c = { "", .head = 128, .pages = 20000 };
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	u32 depth = t->st_sq_depth;

	exchange_start(server, &c);
	sq_take(server, depth);
	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);
	KUNIT_ASSERT_EQ(test, 1, t->st_region.count[SVCRDMA_EXPOSED_REPLY]);

	/* Act */
	svcrdma_exposed_done(t, EXCHANGE_XID);
	run_delayed(&t->st_region.work);

	/* Assert */
	KUNIT_EXPECT_EQ(test, 1, t->st_expose.dones_unknown);
	KUNIT_EXPECT_EQ(test, 0, fake_posted(server->qp));
	svcrdma_sq_put(t, depth);
	KUNIT_EXPECT_LT(test, 0, fake_posted(server->qp));
	server_settle(server);
	fake_mark(server->qp);
	KUNIT_EXPECT_EQ(test, 1, t->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	svcrdma_exposed_done(t, EXCHANGE_XID);
	KUNIT_EXPECT_LT(test, 0, fake_posted(server->qp));
	server_settle(server);
	KUNIT_EXPECT_EQ(test, 0, t->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	server_expect_at_rest(server);
}

/* One reply more than the bounds allow */
static void expect_refused(struct kunit *test)
{
	static const struct reply_case c = { "", .head = 128, .pages = 20000 };
	struct server *server = server_of(test);

	exchange_start(server, &c);
	fake_mark(server->qp);
	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);
	server_expect_error(server, EXCHANGE_XID, RPCRDMA_ERR_CHUNK);
	server_settle(server);
}

/* One for each credit that is granted, and some more */
static void bounded_in_number(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t;
	u32 others;

	server_disconnect(server);
	server_connect_small(server);
	t = server->transport;
	KUNIT_ASSERT_LT(test, t->st_grant, t->st_credits);
	others = t->st_grant + SVCRDMA_SPARE_EXPOSURES - 1;
	t->st_region.count[SVCRDMA_EXPOSED_REPLY] = others;
	exposure_create(test);
	expect_refused(test);
	KUNIT_EXPECT_EQ(test, others + 1, t->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	/* A larger grant, or the end of an exposure, makes room. */
	KUNIT_ASSERT_EQ(test, 0, svcrdma_grant_grow(t, t->st_grant + 1, GFP_KERNEL));
	exposure_create(test);
	expect_refused(test);
	svcrdma_exposed_done(t, EXCHANGE_XID);
	server_settle(server);
	exposure_create(test);
	t->st_region.count[SVCRDMA_EXPOSED_REPLY] -= others;
	KUNIT_EXPECT_EQ(test, 2, t->st_region.count[SVCRDMA_EXPOSED_REPLY]);
}

static void bounded_in_bytes(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	u64 others;

	exposure_create(test);
	others = (16 << 20) - 2 * atomic_long_read(&t->st_expose.bytes);
	atomic_long_add(others + 1, &t->st_expose.bytes);
	expect_refused(test);
	KUNIT_EXPECT_EQ(test, 1, t->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	atomic_long_dec(&t->st_expose.bytes);
	exposure_create(test);
	KUNIT_EXPECT_EQ(test, 16 << 20, atomic_long_read(&t->st_expose.bytes));
	expect_refused(test);
	svcrdma_exposed_done(t, EXCHANGE_XID);
	server_settle(server);
	exposure_create(test);
	atomic_long_sub(others, &t->st_expose.bytes);
	KUNIT_EXPECT_EQ(test, 2, t->st_region.count[SVCRDMA_EXPOSED_REPLY]);
}

/* Who still has the transport keeps its memory, and no timer. */
static void no_time_runs_after_the_end(struct kunit *test)
{
	struct exposure *e = exposure_create(test);
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;

	KUNIT_ASSERT_TRUE(test, delayed_work_pending(&t->st_region.work));
	svc_xprt_get(&t->st_xprt);
	server_disconnect(server);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&t->st_region.work));
	KUNIT_EXPECT_EQ(test, 2, page_ref_count(e->page));
	svc_xprt_put(&t->st_xprt);
	KUNIT_EXPECT_EQ(test, 1, page_ref_count(e->page));
}

/* The completion alone says so: what was posted behind it need not have been flushed yet. */
static void failed_registration_ends_the_connection(struct kunit *test)
{
	static const struct reply_case c = { "", .head = 128, .pages = 20000 };
	struct server *server = server_of(test);

	exchange_start(server, &c);
	fake_mark(server->qp);
	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);
	KUNIT_ASSERT_EQ(test, IB_WR_REG_MR, fake_wr(server->qp, 0)->opcode);
	KUNIT_ASSERT_FALSE(test, READ_ONCE(server->transport->st_closing));
	fake_fail(server->qp, IB_WC_LOC_PROT_ERR);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
}

/* And the memory stays the HCA's until there is no queue pair. */
static void failed_local_inv_ends_the_connection(struct kunit *test)
{
	struct exposure *e = exposure_create(test);
	struct server *server = server_of(test);
	u8 message[64];

	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, message,
					     done_message(message, false)));
	KUNIT_ASSERT_EQ(test, IB_WR_LOCAL_INV, fake_wr(server->qp, 0)->opcode);
	fake_fail(server->qp, IB_WC_LOC_PROT_ERR);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	expect_kept(test, e);
	server_disconnect(server);
	KUNIT_EXPECT_EQ(test, 1, page_ref_count(e->page));
}

/* RFC 8166 section 3.4.6: Write chunks with what was written, a Reply chunk that was no use. */
static void exposed_reply_returns_the_chunks_of_the_call(struct kunit *test)
{
	static const struct reply_case c = {
		"", { { 2, { 4000, 5000 } } }, 1, { 2, { 100, 200 } }, .head = 3040,
		.pages = 8191, .tail = 1000, .payloads = { { 3040, 5000 } },
		.written = { 5000 },
	};
	static const u32 lengths[] = { 4000, 1000, 0, 0 };
	struct server *server = server_of(test);
	struct exchange *x = exchange_start(server, &c);
	struct page *page = server->rqst->rq_respages[1];
	const struct rpcrdma_chunk *write, *reply;
	u32 i;

	get_page(page);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, put_page_action, page));

	/* Act */
	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);
	exchange_decode(x);
	server_settle(server);

	/* Assert */
	KUNIT_EXPECT_EQ(test, RPCRDMA_NOMSG, x->header.proc);
	KUNIT_EXPECT_EQ(test, 1, x->lists.nr_read);
	write = rpcrdma_write_chunk(&x->lists, 0);
	reply = rpcrdma_reply_chunk(&x->lists);
	KUNIT_ASSERT_TRUE(test, write && reply);
	KUNIT_ASSERT_EQ(test, 2, write->count);
	KUNIT_ASSERT_EQ(test, 2, reply->count);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		KUNIT_EXPECT_EQ(test, x->first_key + i,
				x->segments[write->first + i].handle);
		KUNIT_EXPECT_EQ(test, lengths[i], x->segments[write->first + i].length);
	}
	KUNIT_EXPECT_EQ(test, 0, memcmp(x->memory, x->stream + 3040, 5000));

	/* The exposure keeps the pages, from which the Writes were made, too. */
	KUNIT_EXPECT_EQ(test, 2, page_ref_count(page));
	svcrdma_exposed_done(server->transport, EXCHANGE_XID);
	server_settle(server);
	KUNIT_EXPECT_EQ(test, 1, page_ref_count(page));
}

/* The lists alone are larger than a message may be: refused, and nothing stays exposed. */
static void exposed_reply_with_lists_that_do_not_fit(struct kunit *test)
{
	static const struct reply_case c = {
		"", { { 3, { 2000, 2000, 5000 } } }, 1, { 2, { 100, 200 } }, .head = 3040,
		.pages = 8191, .tail = 1000, .payloads = { { 3040, 8191 } },
		.written = { 8191 },
	};
	struct server *server = server_of(test);

	exchange_start(server, &c);
	/* Room for an RDMA_ERROR, and not for five segments of the client's and ours */
	server->transport->st_inline_send = 128;

	/* Act */
	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	server_done(server);

	/* Assert */
	server_expect_error(server, EXCHANGE_XID, RPCRDMA_ERR_CHUNK);
	server_settle(server);
	KUNIT_EXPECT_EQ(test, 0, server->transport->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	KUNIT_EXPECT_EQ(test, 0, fake_valid_rkeys(server->fake));
	server_expect_at_rest(server);
}

/* ---- Receives for RDMA_DONEs ---- */

static void expect_dones(struct server *server, u32 dones)
{
	struct svcrdma_transport *t = server->transport;
	struct kunit *test = server->test;

	KUNIT_EXPECT_EQ(test, dones, t->st_credit.dones);
	KUNIT_EXPECT_EQ(test, t->st_grant + SVCRDMA_REVERSE_CREDITS + RPCRDMA_RECEIVE_BATCH + 2 +
			dones, t->st_recv.target);
	server_expect_at_rest(server);
}

/* No connection has them before it needs them; the one of a reply is there before the reply. */
static void done_has_a_receive(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;
	struct exposure *e;
	u8 message[64];

	expect_dones(server, 0);
	e = exposure_create(test);
	KUNIT_EXPECT_EQ(test, 8, t->st_credit.dones);
	KUNIT_EXPECT_GT(test, t->st_recv.posted - t->st_recv.gone, t->st_recv.target - 14);
	KUNIT_ASSERT_TRUE(test, fake_deliver(server->qp, message, done_message(message, false)));
	fake_run(server->qp, e->nr_handles);
	expect_dones(server, 8);
}

static void dones_by_eights(struct kunit *test)
{
	struct server *server = server_of(test);
	struct svcrdma_transport *t = server->transport;

	KUNIT_EXPECT_EQ(test, 0, svcrdma_grant_dones(t, 1));
	expect_dones(server, 8);
	KUNIT_EXPECT_EQ(test, 0, svcrdma_grant_dones(t, 8));
	expect_dones(server, 8);
	KUNIT_EXPECT_EQ(test, 0, svcrdma_grant_dones(t, 9));
	expect_dones(server, 16);
	t->st_spare_exposures--;
	KUNIT_EXPECT_EQ(test, 0, svcrdma_grant_dones(t, t->st_credits + 7));
	expect_dones(server, t->st_credits + 7);
	t->st_spare_exposures++;
}

/* A thread that exposes a reply */
struct exposer {
	struct work_struct		work;
	struct completion		done;
	struct svcrdma_transport	*transport;
	int				ret;
};

static void exposer_work(struct work_struct *work)
{
	struct exposer *exposer = container_of(work, struct exposer, work);

	exposer->ret = svcrdma_grant_dones(exposer->transport, 1);
	complete(&exposer->done);
}

/* Two threads expose the first replies at the same time: there are Receives for both, once. */
static void dones_of_two_threads(struct kunit *test)
{
	struct server *server = server_of(test);
	struct exposer exposer = { .transport = server->transport };
	struct mutex *lock = &server->transport->st_credit.dones_lock;

	INIT_WORK_ONSTACK(&exposer.work, exposer_work);
	init_completion(&exposer.done);
	mutex_lock(lock);
	queue_work(system_unbound_wq, &exposer.work);
	KUNIT_EXPECT_FALSE(test, wait_for_completion_timeout(&exposer.done,
							     msecs_to_jiffies(20)));
	expect_dones(server, 0);
	mutex_unlock(lock);
	KUNIT_EXPECT_EQ(test, 0, svcrdma_grant_dones(server->transport, 2));
	flush_work(&exposer.work);
	destroy_work_on_stack(&exposer.work);
	KUNIT_EXPECT_EQ(test, 0, exposer.ret);
	expect_dones(server, 8);
}

static void dones_without_memory(struct kunit *test)
{
	struct server *server = server_of(test);
	int i;

	for (i = 0; i < 16; i++) {
		fake_alloc_fail(i);
		KUNIT_EXPECT_EQ(test, -ENOMEM, svcrdma_grant_dones(server->transport, 1));
		KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
		expect_dones(server, 0);
	}
	KUNIT_EXPECT_EQ(test, 0, svcrdma_grant_dones(server->transport, 1));
	expect_dones(server, 8);
}

/* Then the reply is not exposed: ERR_CHUNK, and nothing stays. */
static void reply_whose_done_has_no_receive(struct kunit *test)
{
	static const struct reply_case c = { "", .head = 128, .pages = 20000 };
	struct server *server = server_of(test);

	exchange_start(server, &c);
	/* Send context and its buffer; the exposure, tried twice; the first Receive context */
	fake_alloc_fail(4);
	KUNIT_ASSERT_EQ(test, 0, svcrdma_sendto(server->rqst));
	KUNIT_EXPECT_TRUE(test, fake_alloc_failed());
	server_done(server);
	server_expect_error(server, EXCHANGE_XID, RPCRDMA_ERR_CHUNK);
	server_settle(server);
	KUNIT_EXPECT_EQ(test, 0, server->transport->st_region.count[SVCRDMA_EXPOSED_REPLY]);
	KUNIT_EXPECT_EQ(test, 0, fake_valid_rkeys(server->fake));
	expect_dones(server, 0);
}

static void dones_whose_receives_are_refused(struct kunit *test)
{
	struct server *server = server_of(test);

	server->qp->recv_accept = 3;
	KUNIT_EXPECT_EQ(test, -EIO, svcrdma_grant_dones(server->transport, 1));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(server->transport->st_closing));
	server->qp->recv_accept = -1;
}

static struct kunit_case expose_cases[] = {
	KUNIT_CASE_PARAM(local_inv_ends_the_exposure, done_gen_params),
	KUNIT_CASE_PARAM(sixteen_octets_that_are_no_done, short_gen_params),
	KUNIT_CASE_PARAM(client_that_invalidates_is_disconnected, invalidate_gen_params),
	KUNIT_CASE(time_ends_the_exposure_by_local_inv),
	KUNIT_CASE(time_ends_only_what_is_over),
	KUNIT_CASE(same_xid_twice),
	KUNIT_CASE(hidden_until_posted),
	KUNIT_CASE(bounded_in_number),
	KUNIT_CASE(bounded_in_bytes),
	KUNIT_CASE(no_time_runs_after_the_end),
	KUNIT_CASE(failed_registration_ends_the_connection),
	KUNIT_CASE(failed_local_inv_ends_the_connection),
	KUNIT_CASE(exposed_reply_returns_the_chunks_of_the_call),
	KUNIT_CASE(exposed_reply_with_lists_that_do_not_fit),
	KUNIT_CASE(done_has_a_receive),
	KUNIT_CASE(dones_by_eights),
	KUNIT_CASE(dones_of_two_threads),
	KUNIT_CASE(dones_without_memory),
	KUNIT_CASE(reply_whose_done_has_no_receive),
	KUNIT_CASE(dones_whose_receives_are_refused),
	{}
};

static struct kunit_suite expose_suite = {
	.name = "svcrdma_expose",
	.suite_init = server_suite_init,
	.suite_exit = server_suite_exit,
	.init = exposure_init,
	.test_cases = expose_cases,
};

kunit_test_suite(expose_suite);
