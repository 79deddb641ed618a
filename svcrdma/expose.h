/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that the client reaches: regions, region.c, and exposed replies, exposed_reply.c */
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
	SVCRDMA_SPARE_EXPOSURES = 8,	/* beyond one for each call: RDMA_DONE is on its way */
	/* Beyond one for each page of a reply: head and tail in one page, and holes */
	SVCRDMA_EXPOSED_SPARE_RUNS = 8,
};

/* Of memory that the client reaches; region.c has the table of changes. */
enum svcrdma_exposure_state {
	SVCRDMA_EXPOSURE_NEW,		/* not posted: the client does not know of it */
	SVCRDMA_EXPOSURE_ARMED,		/* posted: the client may read or write the memory */
	SVCRDMA_EXPOSURE_FENCING,	/* LOCAL_INVs are to end that */
	SVCRDMA_EXPOSURE_GIVEN_UP,	/* before it was posted */
};

/**
 * struct svcrdma_exposure - how far an exposure is; under st_expose_lock
 * @xs_state: changed by svcrdma_exposure_advance()
 * @xs_deadline: the LOCAL_INVs complete before that, or the queue pair stands still; jiffies, set
 *	when they are due
 */
struct svcrdma_exposure {
	enum svcrdma_exposure_state xs_state;
	u64			xs_deadline;
};

extern unsigned long svcrdma_inv_timeout;

/**
 * struct svcrdma_region_pool - region.c: memory regions
 * @type: constant
 * @depth: pages in one of them; constant
 * @reg_cqe: completion of a registration that failed. Not of what was registered: a
 *	flush may come when that is gone
 * @free: those that are not in use; under st_expose_lock
 */
struct svcrdma_region_pool {
	enum ib_mr_type		type;
	u32			depth;
	struct ib_cqe		reg_cqe;
	struct list_head	free;
};

/**
 * struct svcrdma_regions - memory that the client reaches, as one chunk
 * @rs_list: struct rpcrdma_region by rg_list, in the order of the chunk's segments
 * @rs_count: their number
 * @rs_inv_cqe: completion of their LOCAL_INVs
 */
struct svcrdma_regions {
	struct list_head	rs_list;
	u32			rs_count;
	struct ib_cqe		*rs_inv_cqe;
};

/**
 * struct svcrdma_exposer - exposed_reply.c: replies that the client reads, under st_expose_lock
 * @table: all struct svcrdma_exposed, as owners; without slots where the client
 *	does not take any
 * @dones_unknown: RDMA_DONEs that fitted none
 * @expired: exposures that ended by time
 * @work: ends replies whose time is over, and a connection whose LOCAL_INVs are
 *	not done in theirs
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
