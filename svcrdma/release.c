// SPDX-License-Identifier: GPL-2.0
/*
 * Send contexts, and giving back what they hold.
 *
 * A context whose Send had no Writes goes straight back to the free list. One with
 * Writes holds mappings and pages, which are freed by a work item of the
 * connection; the completion handler only puts it on a list.
 *
 * Bounds: a context in flight, or on its way to be released, holds Send Queue
 * entries, so that there are not more of these than the queue has entries; what is
 * under construction belongs to an nfsd thread each; free ones beyond
 * st_send_cache are freed.
 */
#include <linux/slab.h>

#include "svcrdma.h"
#include "trace.h"

/*
 * Releases may be what memory reclaim waits for, when client and server are one
 * machine. Closing waits for others' work queues, which give no such promise.
 */
static struct workqueue_struct *release_wq;
static struct workqueue_struct *close_wq;

/**
 * svcrdma_release_init - create the module's work queues
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int svcrdma_release_init(void)
{
	release_wq = alloc_workqueue("svcrdma_release", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!release_wq)
		return -ENOMEM;
	close_wq = alloc_workqueue("svcrdma_close", WQ_UNBOUND, 0);
	if (!close_wq) {
		destroy_workqueue(release_wq);
		return -ENOMEM;
	}
	return 0;
}

/**
 * svcrdma_release_exit - wait for all work items, and destroy the queues
 *
 * Context: process; there are no transports left.
 */
void svcrdma_release_exit(void)
{
	destroy_workqueue(close_wq);
	destroy_workqueue(release_wq);
}

/**
 * svcrdma_work_queue - run something that may not run in a CM handler
 * @work: work item
 *
 * Context: any.
 * Return: false when it was queued already.
 */
bool svcrdma_work_queue(struct work_struct *work)
{
	return queue_work(close_wq, work);
}

/* ---- Send contexts ---- */

static void send_ctxt_free(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	ib_dma_unmap_single(svcrdma_transport_device(t), sc->sc_sge.addr,
			    t->st_agreed.inline_send, DMA_TO_DEVICE);
	kfree(sc->sc_buffer);
	kfree(sc);
}

/* A Send that failed, or was flushed, is as complete as one that did not. */
static void send_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct svcrdma_send_ctxt *sc =
		container_of(wc->wr_cqe, struct svcrdma_send_ctxt, sc_cqe);
	struct svcrdma_transport *t = sc->sc_transport;

	if (wc->status != IB_WC_SUCCESS) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			trace_svcrdma_wc_err(t, "send", wc);
		svcrdma_transport_close(t);
	}
	if (list_empty(&sc->sc_writes) && !sc->sc_nr_pages) {
		svcrdma_send_ctxt_put(t, sc);
		return;
	}
	if (llist_add(&sc->sc_release, &t->st_release))
		queue_work(release_wq, &t->st_release_work);
}

static int send_ctxt_map(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	struct ib_device *device = svcrdma_transport_device(t);

	sc->sc_sge.addr = ib_dma_map_single(device, sc->sc_buffer,
					    t->st_agreed.inline_send, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(device, sc->sc_sge.addr))
		return -EIO;
	sc->sc_sge.lkey = t->st_pd->local_dma_lkey;
	return 0;
}

static struct svcrdma_send_ctxt *send_ctxt_alloc(struct svcrdma_transport *t, gfp_t gfp)
{
	int node = ibdev_to_node(svcrdma_transport_device(t));
	struct svcrdma_send_ctxt *sc;

	sc = kzalloc_node(sizeof(*sc), gfp, node);
	if (!sc)
		return NULL;
	sc->sc_buffer = kmalloc_node(t->st_agreed.inline_send, gfp, node);
	if (!sc->sc_buffer)
		goto out_free;
	if (send_ctxt_map(t, sc))
		goto out_free;

	sc->sc_transport = t;
	sc->sc_cqe.done = send_wc;
	sc->sc_wr.wr_cqe = &sc->sc_cqe;
	sc->sc_wr.sg_list = &sc->sc_sge;
	sc->sc_wr.num_sge = 1;
	sc->sc_wr.send_flags = IB_SEND_SIGNALED;
	INIT_LIST_HEAD(&sc->sc_writes);

	spin_lock(&t->st_send_lock);
	list_add(&sc->sc_all, &t->st_send_all);
	spin_unlock(&t->st_send_lock);
	return sc;

out_free:
	kfree(sc->sc_buffer);
	kfree(sc);
	return NULL;
}

/**
 * svcrdma_send_ctxt_get - a Send context that holds nothing
 * @t: transport
 * @gfp: how to allocate one
 *
 * Context: as @gfp says.
 * Return: a context, or NULL.
 */
struct svcrdma_send_ctxt *svcrdma_send_ctxt_get(struct svcrdma_transport *t, gfp_t gfp)
{
	struct svcrdma_send_ctxt *sc;

	spin_lock(&t->st_send_lock);
	sc = list_first_entry_or_null(&t->st_send_free, struct svcrdma_send_ctxt,
				      sc_list);
	if (sc) {
		list_del(&sc->sc_list);
		t->st_send_nr_free--;
	}
	spin_unlock(&t->st_send_lock);

	if (!sc)
		sc = send_ctxt_alloc(t, gfp);
	if (!sc)
		trace_svcrdma_send_alloc_err(t, -ENOMEM);
	return sc;
}

/**
 * svcrdma_send_ctxt_clear - free what a context holds, but for queue entries
 * @t: transport
 * @sc: context that the HCA is done with
 *
 * Context: process.
 */
void svcrdma_send_ctxt_clear(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	svcrdma_rw_list_free(t, &sc->sc_writes, DMA_TO_DEVICE);
	sc->sc_write_wrs = 0;
	while (sc->sc_nr_pages)
		put_page(sc->sc_pages[--sc->sc_nr_pages]);
}

/**
 * svcrdma_send_ctxt_put - the context is not needed any more
 * @t: transport
 * @sc: context that the HCA is done with; not the caller's any more
 *
 * Context: process or completion handler on a work queue.
 */
void svcrdma_send_ctxt_put(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	u32 held = sc->sc_sq_held;

	svcrdma_send_ctxt_clear(t, sc);
	sc->sc_sq_held = 0;

	spin_lock(&t->st_send_lock);
	if (t->st_send_nr_free < t->st_send_cache) {
		list_add(&sc->sc_list, &t->st_send_free);
		t->st_send_nr_free++;
		sc = NULL;
	} else {
		list_del(&sc->sc_all);
	}
	spin_unlock(&t->st_send_lock);

	if (sc)
		send_ctxt_free(t, sc);
	if (held)
		svcrdma_sq_put(t, held);
}

/**
 * svcrdma_send_ctxts_destroy - free all Send contexts, in whatever state
 * @t: transport that nobody uses, its queue pair drained
 *
 * Context: process.
 */
void svcrdma_send_ctxts_destroy(struct svcrdma_transport *t)
{
	struct svcrdma_send_ctxt *sc, *next;

	list_for_each_entry_safe(sc, next, &t->st_send_all, sc_all) {
		svcrdma_send_ctxt_clear(t, sc);
		send_ctxt_free(t, sc);
	}
}

/**
 * svcrdma_release_work - release contexts whose Writes and Send are complete
 * @work: st_release_work
 *
 * Context: process.
 */
void svcrdma_release_work(struct work_struct *work)
{
	struct svcrdma_transport *t =
		container_of(work, struct svcrdma_transport, st_release_work);
	struct svcrdma_send_ctxt *sc, *next;
	struct llist_node *list;

	list = llist_del_all(&t->st_release);
	llist_for_each_entry_safe(sc, next, list, sc_release)
		svcrdma_send_ctxt_put(t, sc);
}
