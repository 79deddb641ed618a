// SPDX-License-Identifier: GPL-2.0-only
/*
 * The provider in memory: bytes move from one end to the other.
 *
 * All that can be wrong is looked at before the first byte is moved, so an operation that
 * is refused has touched nothing (RFC 4296 section 3).
 */
#include "memory.h"

/* Memory at one end, in the order of its bytes. */
struct stream {
	struct memory_qp	*qp;
	const struct ib_sge	*sge;
	int			count;
	int			access;
	int			index;
	u32			at;
};

static bool stream_allowed(const struct stream *s)
{
	int i;

	for (i = 0; i < s->count; i++)
		if (!memory_allowed(s->qp, &s->sge[i], s->access))
			return false;
	return true;
}

static u32 stream_length(const struct stream *s)
{
	u32 length = 0;
	int i;

	for (i = 0; i < s->count; i++)
		length += s->sge[i].length;
	return length;
}

static void *stream_run(struct stream *s, u32 *run)
{
	while (s->at == s->sge[s->index].length) {
		s->index++;
		s->at = 0;
	}
	return memory_locate(s->qp, &s->sge[s->index], s->at, s->access, run);
}

/*
 * Where the bytes are moved, under a name of its own: whoever counts what a device without cost
 * leaves to the processor can take it off.
 */
static noinline __noclone void memory_copy(void *to, const void *from, u32 length)
{
#if defined(CONFIG_X86_64) && !defined(CONFIG_KASAN)
	unsigned long left = length;

	asm volatile("rep movsb" : "+D" (to), "+S" (from), "+c" (left) : : "memory");
#else
	memcpy(to, from, length);
#endif
}

/* Fails only on memory that is not mapped. */
static bool copy(struct stream *to, struct stream *from, u32 length)
{
	u32 n, run;
	void *dst, *src;

	for (; length; length -= n) {
		dst = stream_run(to, &n);
		src = stream_run(from, &run);
		if (!dst || !src)
			return false;
		n = min3(n, run, length);
		memory_copy(dst, src, n);
		to->at += n;
		from->at += n;
	}
	return true;
}

/* Nobody looks at what lies behind a message. */
static bool poison(struct stream *s, u32 length)
{
	void *at;
	u32 n;

	for (; length; length -= n) {
		at = stream_run(s, &n);
		if (!at)
			return false;
		n = min(n, length);
		memset(at, MEMORY_POISON, n);
		s->at += n;
	}
	return true;
}

static bool is_iwarp(const struct memory_qp *qp)
{
	return memory_device_of(qp->ib.device)->iwarp;
}

static bool connected(const struct memory_qp *qp)
{
	return qp->peer && qp->peer->state == IB_QPS_RTS;
}

/* The peer has found an error in what we asked for, and ends the connection. */
static enum ib_wc_status refuse(struct memory_qp *qp, enum ib_wc_status status)
{
	memory_error(qp->peer, IB_EVENT_QP_ACCESS_ERR);
	return status;
}

/* ---- Send ---- */

/* The Receive completes with an error, the Send as well. */
static enum ib_wc_status recv_fail(struct memory_qp *qp, enum ib_wc_status ours,
				   enum ib_wc_status theirs)
{
	struct ib_wc wc = { .status = theirs };

	memory_complete_recv(qp->peer, &wc);
	return refuse(qp, ours);
}

static enum ib_wc_status deliver(struct memory_qp *qp, const struct memory_wr *wr,
				 struct stream *from)
{
	struct memory_queue *rq = &qp->peer->rq;
	const struct memory_wr *recv = &rq->wrs[rq->done % rq->size];
	struct stream to = {
		qp->peer, recv->sge, recv->nr_sge, IB_ACCESS_LOCAL_WRITE
	};
	struct ib_wc wc = { .byte_len = stream_length(from) };
	u32 room = stream_length(&to);

	if (!stream_allowed(&to))
		return recv_fail(qp, IB_WC_REM_OP_ERR, IB_WC_LOC_PROT_ERR);
	if (wc.byte_len > room)
		return recv_fail(qp, IB_WC_REM_INV_REQ_ERR, IB_WC_LOC_LEN_ERR);
	if (!copy(&to, from, wc.byte_len) ||
	    (memory_device_of(qp->ib.device)->poison && !poison(&to, room - wc.byte_len)))
		return recv_fail(qp, IB_WC_REM_OP_ERR, IB_WC_LOC_PROT_ERR);
	if (wr->opcode == IB_WR_SEND_WITH_INV) {
		memory_invalidate(qp->peer, wr->key);
		wc.wc_flags = IB_WC_WITH_INVALIDATE;
		wc.ex.invalidate_rkey = wr->key;
	}
	memory_complete_recv(qp->peer, &wc);
	return IB_WC_SUCCESS;
}

/**
 * memory_send - Send, or Send With Invalidate
 * @qp: whose
 * @wr: the work request
 * @wait: set if it has to wait for a Receive
 */
enum ib_wc_status memory_send(struct memory_qp *qp, const struct memory_wr *wr, bool *wait)
{
	struct stream from = { qp, wr->sge, wr->nr_sge, 0 };
	enum ib_wc_status fault;

	if (!stream_allowed(&from))
		return IB_WC_LOC_PROT_ERR;
	if (!connected(qp))
		return IB_WC_RETRY_EXC_ERR;
	if (qp->peer->rq.done == qp->peer->rq.posted) {
		*wait = qp->rnr_retries < 0;
		return *wait ? IB_WC_SUCCESS : IB_WC_RNR_RETRY_EXC_ERR;
	}
	/* Before delivery: RFC 5040 section 7.2. */
	if (wr->opcode == IB_WR_SEND_WITH_INV && !memory_can_invalidate(qp->peer, wr->key))
		return refuse(qp, IB_WC_REM_ACCESS_ERR);
	if (!memory_step(memory_device_of(qp->peer->ib.device), MEMORY_RECEIVE, &fault)) {
		if (fault == MEMORY_LOST)
			return fault;
		return recv_fail(qp, IB_WC_REM_OP_ERR, fault);
	}
	return deliver(qp, wr, &from);
}

/* ---- RDMA Write and RDMA Read ---- */

/* memory_write - an RDMA Write */
enum ib_wc_status memory_write(struct memory_qp *qp, const struct memory_wr *wr)
{
	struct stream from = { qp, wr->sge, wr->nr_sge, 0 };
	struct stream to = { qp->peer, &wr->remote, 1, IB_ACCESS_REMOTE_WRITE };

	if (!stream_allowed(&from))
		return IB_WC_LOC_PROT_ERR;
	if (!connected(qp))
		return IB_WC_RETRY_EXC_ERR;
	/* InfiniBand C9-88: no byte, no R_key */
	if (!wr->remote.length)
		return IB_WC_SUCCESS;
	if (!stream_allowed(&to))
		return refuse(qp, IB_WC_REM_ACCESS_ERR);
	return copy(&to, &from, wr->remote.length) ? IB_WC_SUCCESS :
		refuse(qp, IB_WC_REM_OP_ERR);
}

/* On iWARP the answer to a Read comes in like a Write of the peer. */
static int sink_access(const struct memory_qp *qp)
{
	return IB_ACCESS_LOCAL_WRITE | (is_iwarp(qp) ? IB_ACCESS_REMOTE_WRITE : 0);
}

/* Before its completion the sink of a Read may have anything. */
static enum ib_wc_status read_late(struct memory_wr *wr, struct stream *to)
{
	wr->late = true;
	return poison(to, wr->remote.length) ? IB_WC_SUCCESS : IB_WC_LOC_PROT_ERR;
}

static enum ib_wc_status read_as(struct memory_qp *qp, struct memory_wr *wr, bool late)
{
	struct stream to = { qp, wr->sge, wr->nr_sge, sink_access(qp) };
	struct stream from = { qp->peer, &wr->remote, 1, IB_ACCESS_REMOTE_READ };

	if (!stream_allowed(&to))
		return IB_WC_LOC_PROT_ERR;
	if (!connected(qp))
		return IB_WC_RETRY_EXC_ERR;
	if (!stream_allowed(&from))
		return refuse(qp, IB_WC_REM_ACCESS_ERR);
	if (late)
		return read_late(wr, &to);
	if (!copy(&to, &from, wr->remote.length))
		return IB_WC_LOC_PROT_ERR;
	if (wr->opcode == IB_WR_RDMA_READ_WITH_INV && !memory_invalidate(qp, wr->key))
		return IB_WC_LOC_QP_OP_ERR;
	return IB_WC_SUCCESS;
}

/* memory_read - an RDMA Read, with invalidation of its sink or without */
enum ib_wc_status memory_read(struct memory_qp *qp, struct memory_wr *wr)
{
	if (is_iwarp(qp) && wr->nr_sge > 1)
		return IB_WC_LOC_QP_OP_ERR;
	return read_as(qp, wr, memory_device_of(qp->ib.device)->late_reads);
}

/*
 * memory_read_falsely - an RDMA Read that succeeds, and does not bring its last byte. The others
 * stand for what was there before.
 */
enum ib_wc_status memory_read_falsely(struct memory_qp *qp, const struct memory_wr *wr)
{
	struct stream to = { qp, wr->sge, wr->nr_sge, sink_access(qp) };

	return poison(&to, wr->remote.length - 1) ? IB_WC_SUCCESS : IB_WC_LOC_PROT_ERR;
}

/**
 * memory_place_reads - the bytes of late RDMA Reads are placed
 * @qp: whose
 * @end: number of the work request behind the last one
 *
 * Return: how the first of them fails that does; the sink, and what is read, are as they
 * are now.
 */
enum ib_wc_status memory_place_reads(struct memory_qp *qp, u32 end)
{
	enum ib_wc_status status = IB_WC_SUCCESS;
	struct memory_queue *sq = &qp->sq;
	u32 n;

	for (n = sq->freed; n != end && status == IB_WC_SUCCESS; n++) {
		struct memory_wr *wr = &sq->wrs[n % sq->size];

		if (wr->late)
			status = read_as(qp, wr, false);
		wr->late = false;
	}
	return status;
}
