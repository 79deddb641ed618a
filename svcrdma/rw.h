/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 The rpcrdma-oot project */
/* RDMA Read and RDMA Write: rw.c */
#ifndef SVCRDMA_RW_H
#define SVCRDMA_RW_H

#include <linux/dma-direction.h>
#include <linux/list.h>
#include <linux/sunrpc/xdr.h>
#include <rdma/ib_verbs.h>
#include <rdma/rw.h>

#include <rpcrdma/chunk_list.h>

struct svcrdma_recv_ctxt;
struct svcrdma_send_ctxt;
struct svcrdma_transport;

/* A result payload in rq_res: @length bytes at @offset, without padding. */
struct svcrdma_payload {
	u32			offset;
	u32			length;
};

/* A position in an xdr_buf, from which bytes are taken in order, without those of @holes. */
struct svcrdma_stream {
	const struct xdr_buf		*buf;
	const struct svcrdma_payload	*holes;	/* in ascending order; lengths include padding */
	u32				nr_holes;
	u32				pos;
};

/**
 * struct svcrdma_rw - one RDMA Read or Write of one segment
 * @rw_list: entry of the list of a struct svcrdma_rws
 * @rw_ctx: state of rdma_rw in ib_core
 * @rw_runs: local memory, which a Read fills, and from which a Write takes its data
 */
struct svcrdma_rw {
	struct list_head	rw_list;
	struct rdma_rw_ctx	rw_ctx;
	struct compat_runs	rw_runs;
};

/**
 * struct svcrdma_rws - the Reads of a call, or the Writes of a reply; part of the call's or the
 *	reply's context, whose owner owns them
 * @list: list of struct svcrdma_rw by rw_list, in the order in which they are to be done
 * @first: storage for the first entry of @list, if that has few pages
 */
struct svcrdma_rws {
	struct list_head	list;
	struct svcrdma_rw	first;
};

void svcrdma_rws_free(struct svcrdma_transport *t, struct svcrdma_rws *rws,
		      enum dma_data_direction dir);
struct ib_send_wr *svcrdma_rws_chain(struct svcrdma_transport *t, struct svcrdma_rws *rws,
				     struct ib_cqe *cqe, struct ib_send_wr *tail);
void svcrdma_part_wc(struct ib_cq *cq, struct ib_wc *wc);
int svcrdma_read_add(struct svcrdma_transport *t, struct svcrdma_recv_ctxt *rc,
		     const struct rpcrdma_chunk *chunk, u32 from, u32 length,
		     u32 sink);
u32 svcrdma_stream_run(struct svcrdma_stream *stream, u32 max,
		       struct page **page, u32 *offset);
int svcrdma_write_add(struct svcrdma_transport *t, struct svcrdma_send_ctxt *sc,
		      const struct rpcrdma_chunk_lists *lists,
		      const struct rpcrdma_chunk *chunk,
		      struct svcrdma_stream *stream, u32 length);
void svcrdma_trace_transfers(const struct svcrdma_transport *t, const struct ib_send_wr *wr,
			     const struct ib_send_wr *end);

#endif /* SVCRDMA_RW_H */
