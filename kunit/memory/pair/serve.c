// SPDX-License-Identifier: GPL-2.0
/* Client and server over the provider in memory: the nfsd thread. */
#include <linux/unaligned.h>

#include "pair.h"

/*
 * A reference to each page of nfsd is kept until the end of the test, so that those which
 * the transport forgets are found out.
 */
static struct page *page_get(void *data)
{
	struct page *page = alloc_page(GFP_KERNEL);
	struct pair *pair = data;

	if (page && pair->nr_pages < PAIR_PAGES) {
		get_page(page);
		pair->pages[pair->nr_pages++] = page;
	}
	return page;
}

/* pair_pages_put - the end of nfsd: all of its pages are its own again */
void pair_pages_put(struct pair *pair)
{
	unsigned int forgotten = 0;
	u32 i;

	if (pair->rqst)
		fake_thread_put_pages(pair->rqst);
	for (i = 0; i < pair->nr_pages; i++) {
		forgotten += page_ref_count(pair->pages[i]) != 1;
		put_page(pair->pages[i]);
	}
	if (forgotten)
		kunit_fail_current_test("%u pages were left", forgotten);
}

/* As svc_recv(): once. */
static int recvfrom(struct pair *pair)
{
	KUNIT_ASSERT_TRUE(pair->test,
			  fake_thread_begin(pair->rqst, &pair->serv, &pair->server->st_xprt,
					    page_get, pair));
	return svcrdma_recvfrom(pair->rqst);
}

static void done(struct pair *pair)
{
	void *ctxt = pair->rqst->rq_xprt_ctxt;

	pair->rqst->rq_xprt_ctxt = NULL;
	svcrdma_release_ctxt(&pair->server->st_xprt, ctxt);
}

/* Bytes of the pages; @first: what the first one stands for. */
static void fill_pages(struct page **pages, u32 length, u32 first)
{
	u32 i;

	for (i = 0; i < length; i++)
		((u8 *)page_address(pages[i >> PAGE_SHIFT]))[offset_in_page(i)] =
			fake_byte(first + i);
	for (; i % 4; i++)
		((u8 *)page_address(pages[i >> PAGE_SHIFT]))[offset_in_page(i)] = 0;
}

static void set_word(u8 *to, u32 word)
{
	put_unaligned_be32(word, to);
}

/* As nfsd encodes: the head in a page, the item in those behind it. */
static void encode(struct pair *pair, u32 xid)
{
	const struct pair_answer *answer = &pair->answer;
	struct svc_rqst *rqst = pair->rqst;
	struct xdr_buf *res = &rqst->rq_res;
	u32 i, pages = PFN_UP(answer->item);
	u8 *head = page_address(rqst->rq_respages[0]);

	memset(res, 0, sizeof(*res));
	for (i = 0; i < answer->head + answer->tail; i++)
		head[i] = fake_byte(i);
	set_word(head, xid);
	set_word(head + 4, RPCRDMA_RPC_REPLY);
	rqst->rq_next_page = rqst->rq_respages + 1 + pages;
	res->head[0].iov_base = head;
	res->head[0].iov_len = answer->head;
	res->pages = rqst->rq_respages + 1;
	res->page_len = xdr_align_size(answer->item);
	fill_pages(res->pages, answer->item, 0);
	res->tail[0].iov_base = head + answer->head;
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

/**
 * pair_serve - one round of an nfsd thread
 * @pair: with a server
 *
 * Return: true when a call was answered, if only by an attempt.
 */
int pair_serve(struct pair *pair)
{
	int length;

	if (!pair->server || svcrdma_transport_closing(pair->server))
		return false;
	length = recvfrom(pair);
	if (length <= 0)
		return false;
	keep_call(pair, length);
	encode(pair, get_unaligned_be32(pair->arg));
	svcrdma_sendto(pair->rqst);
	done(pair);
	pair->answers++;
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
		if (pair->server && svcrdma_transport_closing(pair->server))
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
