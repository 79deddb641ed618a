/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* Memory that the client may access (region.c), and exposed replies (exposed_reply.c) */
#ifndef SVCRDMA_EXPOSE_H
#define SVCRDMA_EXPOSE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/scatterlist.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include <rpcrdma/chunk_list.h>

struct svcrdma_exposure;
struct svcrdma_send_ctxt;
struct svcrdma_stream;
struct svcrdma_transport;

enum {
	SVCRDMA_SPARE_EXPOSURES = 8,	/* replies beyond one per credit that wait for RDMA_DONE */
	/* Runs of bytes beyond one for each page of a reply: for head, tail, and around holes */
	SVCRDMA_EXPOSED_SPARE_RUNS = 8,
};

/* States of memory that the client may access; region.c has the table of changes. */
enum svcrdma_exposure_state {
	SVCRDMA_EXPOSURE_NEW,		/* not posted: the client does not know of it */
	SVCRDMA_EXPOSURE_ARMED,		/* posted: the client may read or write the memory */
	SVCRDMA_EXPOSURE_FENCING,	/* LOCAL_INVs are to end the client's access */
	SVCRDMA_EXPOSURE_GIVEN_UP,	/* the exposure was given up before it was posted */
};

enum svcrdma_exposure_kind {
	SVCRDMA_EXPOSED_REPLY,		/* exposed_reply.c */
	SVCRDMA_LONG_CALL,		/* a callback with chunks: bc_chunks.c */
	SVCRDMA_EXPOSURE_KINDS
};

/**
 * struct svcrdma_exposure_ops - what exposed replies and callbacks with chunks do differently
 * @kind: exposed reply or callback
 * @posted: function that is called under st_expose_lock as soon as the exposure is ARMED; or NULL.
 *	It may set xs_deadline
 * @expired: function that is called under st_expose_lock when the exposure becomes FENCING because
 *	it was ARMED at its deadline; needed only if @posted sets one
 * @fenced: function that is called when the LOCAL_INVs are complete, before @free; or NULL
 * @free: function that frees the object that contains the exposure, and the memory that was exposed
 */
struct svcrdma_exposure_ops {
	enum svcrdma_exposure_kind kind;
	void			(*posted)(struct svcrdma_exposure *xs);
	void			(*expired)(struct svcrdma_exposure *xs);
	void			(*fenced)(struct svcrdma_exposure *xs);
	void			(*free)(struct svcrdma_exposure *xs);
};

/**
 * struct svcrdma_exposure - memory that the client may access; part of an exposed reply or callback
 * @xs_ops: functions of the object that contains the exposure; constant
 * @xs_transport: connection of the exposure; constant
 * @xs_xid: XID of the reply or of the callback; constant
 * @xs_list: entry of st_region.exposures, under st_expose_lock
 * @xs_state: state, under st_expose_lock; only svcrdma_exposure_advance() changes it
 * @xs_deadline: time in jiffies at which an ARMED exposure ends, U64_MAX if it does not end by
 *	time; or at which the LOCAL_INVs of a FENCING exposure have to be complete, since otherwise
 *	the queue pair stands still. Under st_expose_lock
 * @xs_regions: list of struct rpcrdma_region by rg_list, in the order of the chunks' segments
 * @xs_nr_regions: number of entries of @xs_regions
 * @xs_sq_held: number of Send Queue entries for the LOCAL_INVs
 * @xs_inv_cqe: completion of the last LOCAL_INV
 */
struct svcrdma_exposure {
	const struct svcrdma_exposure_ops *xs_ops;
	struct svcrdma_transport *xs_transport;
	u32			xs_xid;
	struct list_head	xs_list;
	enum svcrdma_exposure_state xs_state;
	u64			xs_deadline;
	struct list_head	xs_regions;
	u32			xs_nr_regions;
	u32			xs_sq_held;
	struct ib_cqe		xs_inv_cqe;
};

extern unsigned long svcrdma_inv_timeout;

/**
 * struct svcrdma_region_pool - region.c: memory regions and exposures of a connection
 * @type: type of the regions; constant
 * @depth: largest number of pages in one region; constant
 * @free: list of the regions that are not in use; under st_expose_lock
 * @exposures: list of all struct svcrdma_exposure by xs_list, those that were posted in the order
 *	of their posts; under st_expose_lock
 * @count: number of entries of @exposures of each kind; under st_expose_lock
 * @work: work item that ends exposures whose time is over, and the connection if LOCAL_INVs are
 *	not complete by their deadline
 */
struct svcrdma_region_pool {
	enum ib_mr_type		type;
	u32			depth;
	struct list_head	free;
	struct list_head	exposures;
	u32			count[SVCRDMA_EXPOSURE_KINDS];
	struct delayed_work	work;
};

/**
 * struct svcrdma_exposer - exposed_reply.c: replies that the client reads
 * @bytes: bytes of memory that these replies keep
 * @dones_unknown: number of RDMA_DONEs for no exposed reply; each RDMA_DONE for an exposed reply
 *	takes one off. Under st_expose_lock
 * @expired: number of exposures that ended because their time was over; under st_expose_lock
 */
struct svcrdma_exposer {
	atomic_long_t		bytes;
	u64			dones_unknown;
	u64			expired;
};

/* region.c */
void svcrdma_regions_setup(struct svcrdma_transport *t);
void svcrdma_regions_create(struct svcrdma_transport *t);
u32 svcrdma_exposure_begin(struct svcrdma_exposure *xs, struct svcrdma_transport *t, u32 xid,
			   const struct svcrdma_exposure_ops *ops, u32 most);
struct svcrdma_exposure *svcrdma_exposure_find(struct svcrdma_transport *t, u32 xid,
					       enum svcrdma_exposure_kind kind,
					       enum svcrdma_exposure_state state);
int svcrdma_exposure_map(struct svcrdma_exposure *xs, struct scatterlist *sg, u32 count,
			 int access, struct rpcrdma_chunk_lists *lists);
void svcrdma_exposure_unmap(struct svcrdma_exposure *xs);
void svcrdma_exposure_free(struct svcrdma_exposure *xs);
void svcrdma_exposure_advance(struct svcrdma_exposure *xs, enum svcrdma_exposure_state state);
int svcrdma_exposure_post(struct svcrdma_exposure *xs, struct ib_send_wr *message);
void svcrdma_exposure_fence(struct svcrdma_exposure *xs);
void svcrdma_exposures_stop(struct svcrdma_transport *t);
void svcrdma_exposures_destroy(struct svcrdma_transport *t);
u32 svcrdma_region_pages(const struct svcrdma_transport *t);

/* exposed_reply.c */
bool svcrdma_expose(struct svcrdma_send_ctxt *sc, u32 xid, struct svcrdma_stream *stream,
		    u32 length, u32 held, struct rpcrdma_chunk_lists *lists);
void svcrdma_exposed_take_pages(struct svcrdma_exposure *xs, struct page **pages, u32 count);
void svcrdma_exposed_done(struct svcrdma_transport *t, u32 xid);

#endif /* SVCRDMA_EXPOSE_H */
