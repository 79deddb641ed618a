// SPDX-License-Identifier: GPL-2.0
/*
 * Receive contexts: a buffer, and what a call in it needs.
 *
 * All are made at accept. Posted ones that complete are replaced from the spare ones, a batch at a
 * time, in one post: until then those still posted are enough for all that the client may send
 * (RFC 8166 section 3.3.1).
 */
#include <linux/slab.h>

#include "svcrdma.h"
#include "trace.h"

static void recv_ctxt_free(struct svcrdma_recv_ctxt *rc)
{
	rpcrdma_buffer_exit(&rc->rc_buffer);
	kvfree(rc->rc_pages);
	kfree(rc->rc_payloads);
	kfree(rc->rc_chunks);
	kfree(rc->rc_segments);
	kfree(rc);
}

static struct svcrdma_recv_ctxt *recv_ctxt_alloc(struct svcrdma_transport *t)
{
	int node = ibdev_to_node(svcrdma_transport_device(t));
	u32 segments = t->st_recv_size / RPCRDMA_SEGMENT_SIZE;
	struct svcrdma_recv_ctxt *rc;

	rc = kzalloc_node(sizeof(*rc), GFP_KERNEL, node);
	if (!rc)
		return NULL;
	rc->rc_segments = kmalloc_array_node(segments, sizeof(*rc->rc_segments),
					     GFP_KERNEL, node);
	rc->rc_chunks = kmalloc_array_node(t->st_max_chunks, sizeof(*rc->rc_chunks),
					   GFP_KERNEL, node);
	rc->rc_payloads = kmalloc_array_node(t->st_max_chunks,
					     sizeof(*rc->rc_payloads),
					     GFP_KERNEL, node);
	if (!rc->rc_segments || !rc->rc_chunks || !rc->rc_payloads ||
	    rpcrdma_buffer_init(&rc->rc_buffer, t->st_pd, t->st_recv_size,
				DMA_FROM_DEVICE, GFP_KERNEL)) {
		recv_ctxt_free(rc);
		return NULL;
	}

	rc->rc_transport = t;
	rc->rc_cqe.done = svcrdma_recv_wc;
	rc->rc_recv_wr.wr_cqe = &rc->rc_cqe;
	rc->rc_recv_wr.sg_list = &rc->rc_buffer.bf_sge;
	rc->rc_recv_wr.num_sge = 1;
	rc->rc_read_cqe.done = svcrdma_read_wc;
	INIT_LIST_HEAD(&rc->rc_reads);
	INIT_LIST_HEAD(&rc->rc_sq.sw_list);
	rc->rc_sq.sw_granted = svcrdma_read_granted;
	rpcrdma_lists_init(&rc->rc_lists, rc->rc_segments, segments,
			   rc->rc_chunks, t->st_max_chunks);
	return rc;
}

/**
 * svcrdma_recv_setup - no contexts yet
 * @t: all zeros
 *
 * Context: any.
 */
void svcrdma_recv_setup(struct svcrdma_transport *t)
{
	INIT_LIST_HEAD(&t->st_recv.all);
	INIT_LIST_HEAD(&t->st_recv.spare);
	INIT_LIST_HEAD(&t->st_recv.ready);
}

/**
 * svcrdma_recv_show - credits in use, for connections.c
 * @seq: where to
 * @t: transport
 */
void svcrdma_recv_show(struct seq_file *seq, const struct svcrdma_transport *t)
{
	rpcrdma_show_number(seq, "credits_in_use", t->st_recv.used);
	rpcrdma_show_number(seq, "credits_highest", t->st_recv.highest);
}

/**
 * svcrdma_recv_ctxts_create - allocate the Receive contexts of a connection
 * @t: transport with its verbs objects
 *
 * There are contexts for all Receives that are kept posted, and for each call that
 * the client may have outstanding.
 *
 * Context: process.
 * Return: 0 or -ENOMEM; svcrdma_recv_ctxts_destroy() frees what is there.
 */
int svcrdma_recv_ctxts_create(struct svcrdma_transport *t)
{
	u32 count = t->st_recv_target + t->st_credits;
	struct svcrdma_recv_ctxt *rc;

	while (count--) {
		rc = recv_ctxt_alloc(t);
		if (!rc)
			return -ENOMEM;
		list_add(&rc->rc_all, &t->st_recv.all);
		list_add(&rc->rc_list, &t->st_recv.spare);
	}
	return 0;
}

/**
 * svcrdma_recv_ctxt_make_room - a call with Read chunks is going to have pages
 * @t: transport
 * @rc: context
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int svcrdma_recv_ctxt_make_room(const struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	if (!rc->rc_pages)
		rc->rc_pages = kvcalloc(t->st_max_pages, sizeof(*rc->rc_pages), GFP_KERNEL);
	return rc->rc_pages ? 0 : -ENOMEM;
}

/**
 * svcrdma_recv_ctxt_drop_pages - drop what a call has pulled
 * @rc: context
 *
 * Context: any.
 */
void svcrdma_recv_ctxt_drop_pages(struct svcrdma_recv_ctxt *rc)
{
	if (rc->rc_nr_pages)
		release_pages(rc->rc_pages, rc->rc_nr_pages);
	rc->rc_nr_pages = 0;
}

/**
 * svcrdma_recv_ctxts_destroy - free all Receive contexts, in whatever state
 * @t: transport that nobody uses, its queue pair drained
 *
 * Context: process.
 */
void svcrdma_recv_ctxts_destroy(struct svcrdma_transport *t)
{
	struct svcrdma_recv_ctxt *rc, *next;

	list_for_each_entry_safe(rc, next, &t->st_recv.all, rc_all) {
		svcrdma_rw_list_free(t, &rc->rc_reads, DMA_FROM_DEVICE);
		svcrdma_recv_ctxt_drop_pages(rc);
		recv_ctxt_free(rc);
	}
}

/* All that are missing, in one post. */
static noinline int post_missing(struct svcrdma_transport *t)
{
	struct ib_recv_wr *first = NULL;
	struct svcrdma_recv_ctxt *rc;

	lockdep_assert_held(&t->st_recv_lock);
	if (svcrdma_transport_closing(t))
		return 0;
	while (t->st_recv.posted < t->st_recv_target) {
		rc = svcrdma_recv_pop(&t->st_recv.spare);
		if (!rc)
			break;
		rpcrdma_buffer_to_device(&rc->rc_buffer, rc->rc_buffer.bf_size);
		rc->rc_recv_wr.next = first;
		first = &rc->rc_recv_wr;
		t->st_recv.posted++;
	}
	return first ? ib_post_recv(t->st_qp, first, NULL) : 0;
}

/* Once they are a batch */
static int fill(struct svcrdma_transport *t)
{
	if (t->st_recv_target - t->st_recv.posted < SVCRDMA_RECEIVE_BATCH)
		return 0;
	return post_missing(t);
}

static int note_fill(const struct svcrdma_transport *t, int ret)
{
	if (ret)
		trace_svcrdma_post_recv_err(t, ret);
	return ret;
}

/**
 * svcrdma_recv_fill - post spare Receives until the target is reached
 * @t: transport
 *
 * A client that sends more calls than its credits allow uses the spare ones up;
 * it is the one that runs into a Receive Queue that is empty. With Read chunks it is
 * disconnected before, see reads.c.
 *
 * Context: process or completion handler.
 * Return: 0, or a negative errno when a post failed; then the connection is to be ended.
 */
int svcrdma_recv_fill(struct svcrdma_transport *t)
{
	int ret;

	spin_lock(&t->st_recv_lock);
	ret = fill(t);
	spin_unlock(&t->st_recv_lock);
	return note_fill(t, ret);
}

/**
 * svcrdma_recv_taken - a Receive is complete; others are posted in its place
 * @t: transport
 * @rc: its context: the caller's, or nfsd's to find
 * @ready: it is nfsd's
 *
 * Context: completion handler.
 * Return: as svcrdma_recv_fill().
 */
int svcrdma_recv_taken(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc, bool ready)
{
	int ret;

	spin_lock(&t->st_recv_lock);
	t->st_recv.posted--;
	if (++t->st_recv.used > t->st_recv.highest)
		t->st_recv.highest = t->st_recv.used;
	if (ready)
		list_add_tail(&rc->rc_list, &t->st_recv.ready);
	ret = fill(t);
	spin_unlock(&t->st_recv_lock);
	return note_fill(t, ret);
}

/**
 * svcrdma_recv_ctxt_put - the call in a context is done with
 * @t: transport
 * @rc: context; not the caller's any more
 *
 * Context: process.
 */
void svcrdma_recv_ctxt_put(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc)
{
	int ret;

	svcrdma_recv_ctxt_drop_pages(rc);
	rc->rc_nr_payloads = 0;
	spin_lock(&t->st_recv_lock);
	list_add(&rc->rc_list, &t->st_recv.spare);
	t->st_recv.used--;
	ret = fill(t);
	spin_unlock(&t->st_recv_lock);
	if (note_fill(t, ret))
		svcrdma_transport_close(t, RPCRDMA_END_RECEIVE_FAILED);
}

/**
 * svcrdma_release_ctxt - xpo_release_ctxt: nfsd is done with a call
 * @xprt: the connection
 * @ctxt: its Receive context, or NULL
 *
 * Context: process.
 */
void svcrdma_release_ctxt(struct svc_xprt *xprt, void *ctxt)
{
	if (ctxt)
		svcrdma_recv_ctxt_put(svcrdma_transport_of(xprt), ctxt);
}
