// SPDX-License-Identifier: GPL-2.0
/*
 * From a Send context to the Send Queue: its RDMA Writes, registrations and Send are one chain,
 * which is posted when there are entries for all of it.
 */
#include "svcrdma.h"
#include "trace.h"

/* Memory regions that are registered with it, and invalidated after it. */
static u32 send_regions(const struct svcrdma_send_ctxt *sc)
{
	if (sc->sc_long)
		return svcrdma_long_call_regions(sc->sc_long);
	return sc->sc_exposed ? svcrdma_exposed_regions(sc->sc_exposed) : 0;
}

/**
 * svcrdma_send_fits - can the work requests of a context be posted at all?
 * @t: transport
 * @sc: context with its Writes
 *
 * Context: any.
 * Return: false: they are more than the Send Queue has entries.
 */
bool svcrdma_send_fits(const struct svcrdma_transport *t, const struct svcrdma_send_ctxt *sc)
{
	return sc->sc_write_wrs + 2 * send_regions(sc) < svcrdma_sq_depth(t);
}

/* Behind its Writes */
static void trace_message(const struct svcrdma_transport *t, const struct svcrdma_send_ctxt *sc)
{
	if (trace_svcrdma_message_enabled())
		svcrdma_trace_sent(t, sc);
}

static void message_to_device(struct svcrdma_transport *t, const struct svcrdma_send_ctxt *sc)
{
	this_cpu_add(t->st_tally->bytes_sent_inline, sc->sc_buffer.bf_sge.length);
	rpcrdma_buffer_to_device(&sc->sc_buffer, sc->sc_buffer.bf_sge.length);
}

static int exposed_post(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	struct svcrdma_exposed *ex = sc->sc_exposed;
	struct ib_send_wr *first;

	first = svcrdma_exposed_chain(ex, &sc->sc_wr);
	first = svcrdma_rws_chain(t, &sc->sc_writes, NULL, first);
	sc->sc_exposed = NULL;
	trace_message(t, sc);
	return svcrdma_exposed_post(ex, first);
}

/* A callback with chunks. One that has been given up while it waited is not sent. */
static int long_call_post(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	struct svcrdma_long_call *lc = sc->sc_long;
	int ret;

	sc->sc_long = NULL;
	trace_message(t, sc);
	ret = svcrdma_long_call_post(lc, &sc->sc_wr);
	if (ret != -ECANCELED)
		return ret;
	svcrdma_long_call_drop(lc);
	svcrdma_send_ctxt_put(t, sc);
	return 0;
}

/* Its Writes, if any, and its Send */
static int message_post(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	struct ib_send_wr *first;

	first = svcrdma_rws_chain(t, &sc->sc_writes, NULL, &sc->sc_wr);
	svcrdma_send_ctxt_go_ahead(t, sc);
	trace_message(t, sc);
	return ib_post_send(t->st_qp, first, NULL);
}

/* Its Send, which has a Send Queue entry */
static int unsignalled_post(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	int ret;

	message_to_device(t, sc);
	trace_message(t, sc);
	ret = ib_post_send(t->st_qp, &sc->sc_wr, NULL);
	if (ret)
		trace_svcrdma_post_send_err(t, ret);
	else
		svcrdma_send_ctxt_unsignalled(t, sc);
	return ret;
}

/**
 * svcrdma_send_post - post a context's Writes and Send
 * @t: transport
 * @sc: context with its message and sc_sq_held entries; not the caller's any more
 *
 * Context: any that may free what @sc holds.
 * Return: 0: the completion puts @sc. Negative errno: a part may have been posted;
 * @sc is left for the teardown, and the connection is to be ended.
 */
int svcrdma_send_post(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	int ret;

	message_to_device(t, sc);
	if (sc->sc_exposed)
		ret = exposed_post(t, sc);
	else if (sc->sc_long)
		ret = long_call_post(t, sc);
	else
		ret = message_post(t, sc);
	if (ret)
		trace_svcrdma_post_send_err(t, ret);
	return ret;
}

/**
 * svcrdma_send_granted - there are entries for a context that has waited for them
 * @t: transport
 * @waiter: sc_sq of the context; not the caller's any more
 *
 * Context: any.
 */
void svcrdma_send_granted(struct svcrdma_transport *t, struct svcrdma_sq_waiter *waiter)
{
	struct svcrdma_send_ctxt *sc =
		container_of(waiter, struct svcrdma_send_ctxt, sc_sq);

	sc->sc_sq_held = waiter->sw_need - send_regions(sc);
	if (svcrdma_send_post(t, sc))
		svcrdma_transport_close(t, RPCRDMA_END_SEND_FAILED);
}

/**
 * svcrdma_send_submit - svcrdma_send_post(), now or when there are Send Queue entries
 * @t: transport
 * @sc: context with all that it needs; not the caller's any more
 *
 * What has to wait does so in the order of arrival, without the caller.
 *
 * Context: any that may free what @sc holds.
 * Return: 0; -E2BIG: the Send Queue never has so many entries; or another negative errno:
 * the connection is to be ended.
 */
int svcrdma_send_submit(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	u32 regions = send_regions(sc);
	int ret;

	/* What exposes memory keeps as many as it registers, for the end. */
	sc->sc_sq.sw_need = sc->sc_write_wrs + 2 * regions + 1;
	ret = svcrdma_sq_reserve(t, &sc->sc_sq);
	if (ret == -EINPROGRESS)
		return 0;
	if (ret) {
		svcrdma_send_ctxt_put(t, sc);
		return ret;
	}
	sc->sc_sq_held = sc->sc_sq.sw_need - regions;
	return svcrdma_send_post(t, sc);
}

/**
 * svcrdma_send_submit_reply - svcrdma_send_submit() of a reply
 * @t: transport
 * @sc: as there
 *
 * One without Writes, of which nothing is exposed, may be unsignalled.
 *
 * Context: process; the caller has a reference to @t.
 * Return: as svcrdma_send_submit().
 */
int svcrdma_send_submit_reply(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc)
{
	if (!sc->sc_write_wrs && !sc->sc_exposed && svcrdma_sq_watched(t) &&
	    svcrdma_send_ctxt_unsignal(t, sc)) {
		svcrdma_sq_keep_watch(t);
		return unsignalled_post(t, sc);
	}
	return svcrdma_send_submit(t, sc);
}

/**
 * svcrdma_send_probe - learn whether the peer is there, and unsignalled Sends are complete
 * @t: transport of which the caller has taken a Send Queue entry; not the caller's any more
 *
 * Context: process.
 */
void svcrdma_send_probe(struct svcrdma_transport *t)
{
	struct svcrdma_send_ctxt *sc = svcrdma_send_ctxt_get(t, GFP_KERNEL);
	const struct ib_send_wr *bad;
	struct ib_rdma_wr probe;
	int ret;

	if (!sc) {
		/* The watch goes on, and there is another one. */
		svcrdma_sq_put(t, 1);
		return;
	}
	sc->sc_sq_held = 1;
	rpcrdma_probe_init(&probe, &sc->sc_cqe);
	svcrdma_send_ctxt_go_ahead(t, sc);
	trace_svcrdma_probe(t, 0);
	ret = ib_post_send(t->st_qp, &probe.wr, &bad);
	if (ret) {
		trace_svcrdma_post_send_err(t, ret);
		svcrdma_transport_close(t, RPCRDMA_END_SEND_FAILED);
	}
}
