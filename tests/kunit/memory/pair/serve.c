// SPDX-License-Identifier: GPL-2.0-only
/* Client and server over the provider in memory: plays the nfsd thread. */
#include <linux/unaligned.h>

#include "pair.h"

/*
 * A reference to each page of nfsd is kept until the end of the test, so that those which
 * the transport forgets are found out. When there are many, those come again that nobody
 * else has. Under pages_lock.
 */
static struct page *page_again(struct pair *pair)
{
	struct page *page;
	unsigned int i;

	for (i = 0; i < PAIR_PAGES; i++) {
		page = pair->pages[pair->next_page++ % PAIR_PAGES];
		if (page_ref_count(page) != 1)
			continue;
		get_page(page);
		return page;
	}
	return NULL;
}

static struct page *page_get(void *data)
{
	struct page *page = NULL, *fresh = NULL;
	struct pair *pair = data;

	if (READ_ONCE(pair->nr_pages) < PAIR_PAGES)
		fresh = alloc_page(GFP_KERNEL);
	spin_lock(&pair->pages_lock);
	if (pair->nr_pages == PAIR_PAGES) {
		page = page_again(pair);
	} else if (fresh) {
		get_page(fresh);
		swap(page, fresh);
		pair->pages[pair->nr_pages++] = page;
	}
	spin_unlock(&pair->pages_lock);
	if (fresh)
		__free_page(fresh);
	return page;
}

/* pair_pages_put - the end of nfsd: all of its pages are its own again */
void pair_pages_put(struct pair *pair)
{
	unsigned int forgotten = 0;
	u32 i;

	for (i = 0; i < pair->nr_pages; i++) {
		forgotten += page_ref_count(pair->pages[i]) != 1;
		put_page(pair->pages[i]);
	}
	if (forgotten)
		kunit_fail_current_test("%u pages were left", forgotten);
}

/**
 * pair_rqst_prepare - as svc_alloc_arg()
 * @pair: the pair
 * @rqst: of an nfsd thread
 * @xprt: from which it is to receive
 *
 * Context: process, any thread.
 * Return: false when there are no pages.
 */
bool pair_rqst_prepare(struct pair *pair, struct svc_rqst *rqst, struct svc_xprt *xprt)
{
	return fake_thread_prepare(rqst, &pair->serv, xprt, page_get, pair);
}

/* As svc_recv(): once. */
static int recvfrom(struct pair *pair)
{
	KUNIT_ASSERT_TRUE(pair->test,
			  fake_thread_begin(pair->rqst, &pair->serv, &pair->server->st_xprt,
					    page_get, pair));
	return svcrdma_recvfrom(pair->rqst);
}

/* pair_done - as svc_xprt_release(): what the call has had is given back */
void pair_done(struct svc_rqst *rqst)
{
	void *ctxt = rqst->rq_xprt_ctxt;

	rqst->rq_xprt_ctxt = NULL;
	svcrdma_release_ctxt(rqst->rq_xprt, ctxt);
}

/* Bytes from fake_byte(@position) on, each of them combined with @key */
static void fill(u8 *to, u32 position, u32 length, u8 key)
{
	u32 i;

	fake_fill_from(to, position, length);
	for (i = 0; key && i < length; i++)
		to[i] ^= key;
}

static void fill_pages(struct page **pages, u32 length, u8 key)
{
	u32 at, count, pad = xdr_pad_size(length);

	for (at = 0; at < length; at += count) {
		count = min_t(u32, length - at, PAGE_SIZE);
		fill(page_address(pages[at >> PAGE_SHIFT]), at, count, key);
	}
	if (pad)
		memset(page_address(pages[length >> PAGE_SHIFT]) + offset_in_page(length), 0, pad);
}

/* Behind the head, or in a page of its own if there is no room for it */
static u8 *place_tail(struct svc_rqst *rqst, const struct pair_answer *answer)
{
	if (answer->head + answer->tail <= PAGE_SIZE)
		return page_address(rqst->rq_respages[0]) + answer->head;
	return page_address(*rqst->rq_next_page++);
}

/**
 * pair_encode - as nfsd encodes: the head in a page, the item in those behind it
 * @rqst: of the nfsd thread; has received a call
 * @answer: what it says
 * @xid: to which call
 * @key: all bytes but XID and direction are fake_byte() ^ this
 */
void pair_encode(struct svc_rqst *rqst, const struct pair_answer *answer, u32 xid, u8 key)
{
	struct xdr_buf *res = &rqst->rq_res;
	u32 pages = PFN_UP(answer->item);
	u8 *head = page_address(rqst->rq_respages[0]), *tail;

	memset(res, 0, sizeof(*res));
	rqst->rq_next_page = rqst->rq_respages + 1 + pages;
	tail = place_tail(rqst, answer);
	fill(head, 0, answer->head, key);
	fill(tail, answer->head, answer->tail, key);
	put_unaligned_be32(xid, head);
	put_unaligned_be32(RPCRDMA_RPC_REPLY, head + 4);
	res->head[0].iov_base = head;
	res->head[0].iov_len = answer->head;
	res->pages = rqst->rq_respages + 1;
	res->page_len = xdr_align_size(answer->item);
	fill_pages(res->pages, answer->item, key);
	res->tail[0].iov_base = tail;
	res->tail[0].iov_len = answer->tail;
	res->len = answer->head + res->page_len + answer->tail;
	res->buflen = res->len;
	if (answer->item)
		svcrdma_result_payload(rqst, answer->head, answer->item);
}

static void keep_call(struct pair *pair, int length)
{
	pair->arg_length = length;
	KUNIT_ASSERT_LE(pair->test, length, 2 * PAIR_PAYLOAD);
	KUNIT_EXPECT_EQ(pair->test, 0,
			read_bytes_from_xdr_buf(&pair->rqst->rq_arg, 0, pair->arg, length));
}

static void answer(struct pair *pair, int length)
{
	keep_call(pair, length);
	KUNIT_ASSERT_LE(pair->test, pair->answer.head, PAGE_SIZE);
	KUNIT_ASSERT_LE(pair->test, pair->answer.tail, PAGE_SIZE);
	pair_encode(pair->rqst, &pair->answer, get_unaligned_be32(pair->arg), 0);
	svcrdma_sendto(pair->rqst);
	pair_done(pair->rqst);
	pair->answers++;
}

/**
 * pair_serve - one round of an nfsd thread
 * @pair: with a server
 *
 * Return: true when a call was answered, if only by an attempt.
 */
int pair_serve(struct pair *pair)
{
	int length;

	if (!pair->server || READ_ONCE(pair->server->st_closing))
		return false;
	length = recvfrom(pair);
	if (length <= 0)
		return false;
	answer(pair, length);
	return true;
}

/**
 * pair_serve_any - one round of an nfsd thread, with the transport that has waited longest
 * @pair: whoever has the transports keeps a reference to each
 *
 * Return: false when none waits.
 */
bool pair_serve_any(struct pair *pair)
{
	struct svc_xprt *xprt = lwq_dequeue(&pair->pool.sp_xprts, struct svc_xprt, xpt_ready);
	int length;

	if (!xprt)
		return false;
	/* XPT_BUSY is ours. */
	if (test_bit(XPT_CLOSE, &xprt->xpt_flags)) {
		clear_bit(XPT_BUSY, &xprt->xpt_flags);
		svc_xprt_close(xprt);
		return true;
	}
	KUNIT_ASSERT_TRUE(pair->test, pair_rqst_prepare(pair, pair->rqst, xprt));
	length = svcrdma_recvfrom(pair->rqst);
	if (length > 0)
		answer(pair, length);
	return true;
}

/**
 * pair_pump - nfsd works until there is nothing to do
 * @pair: the pair
 *
 * A server whose connection is to be closed closes it.
 */
void pair_pump(struct pair *pair)
{
	int rounds = 100;

	do {
		pair_settle(pair);
		pair_serve(pair);
		pair_settle(pair);
		if (pair->server && READ_ONCE(pair->server->st_closing))
			pair_disconnect_server(pair);
	} while (pair->server && rounds-- &&
		 test_bit(XPT_DATA, &pair->server->st_xprt.xpt_flags));
	KUNIT_EXPECT_GT(pair->test, rounds, 0);
}

/* nfsd has seen the call as the RPC client encoded it. */
void pair_expect_call(struct pair *pair, struct client_call *call)
{
	KUNIT_ASSERT_EQ(pair->test, call->length, pair->arg_length);
	KUNIT_EXPECT_EQ(pair->test, 0, memcmp(call->message, pair->arg, call->length));
}
