/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that the client may access: regions (region.c) and exposed replies (exposed_reply.c) */
#ifndef SVCRDMA_EXPOSE_H
#define SVCRDMA_EXPOSE_H

#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/scatterlist.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include <rpcrdma/chunk_list.h>
#include <rpcrdma/exposures.h>

struct svcrdma_exposed;
struct svcrdma_send_ctxt;
struct svcrdma_stream;
struct svcrdma_transport;

enum {
	SVCRDMA_SPARE_EXPOSURES = 8,	/* replies beyond one per credit that wait for RDMA_DONE */
	/* Runs beyond one for each page of a reply: for its head, its tail, and around holes */
	SVCRDMA_EXPOSED_SPARE_RUNS = 8,
};

/* States of memory that the client may access; region.c has the table of changes. */
enum svcrdma_exposure_state {
	SVCRDMA_EXPOSURE_NEW,		/* not posted: the client does not know of it */
	SVCRDMA_EXPOSURE_ARMED,		/* posted: the client may read or write the memory */
	SVCRDMA_EXPOSURE_FENCING,	/* LOCAL_INVs are to end the client's access */
	SVCRDMA_EXPOSURE_GIVEN_UP,	/* the exposure was given up before it was posted */
};

/**
 * struct svcrdma_exposure - the progress of an exposure; under st_expose_lock
 * @xs_state: state of the exposure; only svcrdma_exposure_advance() changes it
 * @xs_deadline: time in jiffies, set when the state becomes FENCING. If the LOCAL_INVs are not
 *	complete by then, the queue pair stands still
 */
struct svcrdma_exposure {
	enum svcrdma_exposure_state xs_state;
	u64			xs_deadline;
};

extern unsigned long svcrdma_inv_timeout;

/**
 * struct svcrdma_region_pool - region.c: memory regions of a connection
 * @type: type of the regions; constant
 * @depth: largest number of pages in one region; constant
 * @reg_cqe: completion of a registration that failed. It is a member of the connection and not of
 *	the exposed reply or callback, which may be freed before the flush comes
 * @free: list of the regions that are not in use; under st_expose_lock
 */
struct svcrdma_region_pool {
	enum ib_mr_type		type;
	u32			depth;
	struct ib_cqe		reg_cqe;
	struct list_head	free;
};

/**
 * struct svcrdma_regions - the memory regions of one chunk that the client may access
 * @rs_list: list of struct rpcrdma_region by rg_list, in the order of the chunk's segments
 * @rs_count: number of entries of @rs_list
 * @rs_inv_cqe: completion of the LOCAL_INVs of the regions
 */
struct svcrdma_regions {
	struct list_head	rs_list;
	u32			rs_count;
	struct ib_cqe		*rs_inv_cqe;
};

/**
 * struct svcrdma_exposer - exposed_reply.c: replies that the client reads, under st_expose_lock
 * @table: table of all exposed replies, each slot owned by a struct svcrdma_exposed; the table has
 *	no slots if the client takes no exposed replies
 * @dones_unknown: number of RDMA_DONEs that belonged to no exposed reply
 * @expired: number of exposures that ended because their time was over
 * @work: work item that ends exposures whose time is over, and the connection if LOCAL_INVs are
 *	not complete by their deadline
 */
struct svcrdma_exposer {
	struct rpcrdma_exposures table;
	u64			dones_unknown;
	u64			expired;
	struct delayed_work	work;
};

/* region.c */
void svcrdma_regions_setup(struct svcrdma_transport *t);
void svcrdma_regions_create(struct svcrdma_transport *t);
void svcrdma_regions_destroy(struct svcrdma_transport *t);
void svcrdma_regions_init(struct svcrdma_regions *regions, struct ib_cqe *inv_cqe);
int svcrdma_regions_map(struct svcrdma_transport *t, struct svcrdma_regions *regions,
			struct scatterlist *sg, u32 count, int access,
			struct rpcrdma_chunk_lists *lists);
void svcrdma_regions_put(struct svcrdma_transport *t, struct svcrdma_regions *regions);
void svcrdma_exposure_advance(struct svcrdma_exposure *exposure,
			      enum svcrdma_exposure_state state);
bool svcrdma_exposure_is_stuck(const struct svcrdma_exposure *exposure, u64 now);
bool svcrdma_regions_invalidate(struct svcrdma_transport *t, struct ib_send_wr *first);
u32 svcrdma_region_pages(const struct svcrdma_transport *t);

/* exposed_reply.c */
void svcrdma_expose_setup(struct svcrdma_transport *t);
int svcrdma_expose_init(struct svcrdma_transport *t, u32 count);
u32 svcrdma_expose_limit(const struct svcrdma_transport *t);
void svcrdma_expose_watch(struct svcrdma_transport *t);
void svcrdma_expose_stop(struct svcrdma_transport *t);
void svcrdma_exposed_destroy_all(struct svcrdma_transport *t);
int svcrdma_expose(struct svcrdma_send_ctxt *sc, u32 xid, struct svcrdma_stream *stream,
		   u32 length, u32 held, struct rpcrdma_chunk_lists *lists);
void svcrdma_exposed_free(struct svcrdma_exposed *ex);
void svcrdma_exposed_take_pages(struct svcrdma_exposed *ex, struct page **pages, u32 count);
int svcrdma_exposed_post(struct svcrdma_exposed *ex, struct ib_send_wr *message);
void svcrdma_exposed_done(struct svcrdma_transport *t, u32 xid);

#endif /* SVCRDMA_EXPOSE_H */
