// SPDX-License-Identifier: GPL-2.0
/*
 * The pieces of a call with Read chunks (RFC 8166 section 3.4.5).
 *
 * Positions count in the unreduced message. Its base is the inline part of an RDMA_MSG or
 * the Position Zero chunk of an RDMA_NOMSG. A walk goes over the pieces in order: base up
 * to the first Position, chunk, padding, base up to the next Position, and so on.
 */
#include "svcrdma.h"

/**
 * svcrdma_message_start - begin a walk over a call
 * @m: the walk
 * @rc: the call, with its header decoded
 * @limit: bytes that it may have
 *
 * Context: any.
 */
void svcrdma_message_start(struct svcrdma_message *m, const struct svcrdma_recv_ctxt *rc,
			   u32 limit)
{
	const struct rpcrdma_chunk *zero = rpcrdma_position_zero_chunk(&rc->rc_lists);

	*m = (struct svcrdma_message) {
		.lists		= &rc->rc_lists,
		.base		= zero,
		.base_size	= zero ? zero->length : svcrdma_recv_inline_size(rc),
		.next		= zero ? 1 : 0,
		.limit		= limit,
	};
}

static void piece_from_base(struct svcrdma_message *m, struct svcrdma_piece *piece,
			    u32 length)
{
	piece->source = SVCRDMA_PIECE_BASE;
	piece->from = m->base_used;
	piece->length = length;
	m->base_used += length;
}

static void piece_from_chunk(struct svcrdma_message *m, struct svcrdma_piece *piece,
			     const struct rpcrdma_chunk *chunk)
{
	piece->source = SVCRDMA_PIECE_CHUNK;
	piece->chunk = chunk;
	piece->from = 0;
	piece->length = chunk->length;
	m->pad = -chunk->length % RPCRDMA_XDR_UNIT;
	m->next++;
}

/* Which piece comes next: 1, at the end 0. -EINVAL: not a message. */
static int piece_choose(struct svcrdma_message *m, struct svcrdma_piece *piece)
{
	const struct rpcrdma_chunk *chunk;
	u32 base_left = m->base_size - m->base_used;

	if (m->pad) {
		piece->source = SVCRDMA_PIECE_PAD;
		piece->length = m->pad;
		m->pad = 0;
		return 1;
	}
	if (m->next >= m->lists->nr_read) {
		piece_from_base(m, piece, base_left);
		return base_left ? 1 : 0;
	}
	chunk = &m->lists->chunks[m->next];
	if (chunk->position < m->size || chunk->position - m->size > base_left)
		return -EINVAL;
	if (chunk->position > m->size)
		piece_from_base(m, piece, chunk->position - m->size);
	else
		piece_from_chunk(m, piece, chunk);
	return 1;
}

/**
 * svcrdma_message_next - the next piece of a call
 * @m: the walk
 * @piece: what it is
 *
 * Context: any.
 * Return: 1; 0 at the end; -EINVAL: the pieces do not fit together, or not in the limit.
 */
int svcrdma_message_next(struct svcrdma_message *m, struct svcrdma_piece *piece)
{
	int ret = piece_choose(m, piece);

	if (ret <= 0)
		return ret;
	if (piece->length > m->limit - m->size)
		return -EINVAL;
	piece->to = m->size;
	m->size += piece->length;
	return 1;
}

/**
 * svcrdma_message_measure - how long a call is
 * @rc: the call, with its header decoded
 * @limit: bytes that it may have
 *
 * Context: any.
 * Return: bytes, or -EINVAL: it does not fit together, or not in @limit.
 */
int svcrdma_message_measure(const struct svcrdma_recv_ctxt *rc, u32 limit)
{
	struct svcrdma_message m;
	struct svcrdma_piece piece;
	int ret;

	svcrdma_message_start(&m, rc, limit);
	do {
		ret = svcrdma_message_next(&m, &piece);
	} while (ret > 0);
	return ret ?: m.size;
}

/**
 * svcrdma_message_is_simple - is it an inline message with one chunk?
 * @rc: the call, with its header decoded
 *
 * Not if the chunk is empty: to the svc_defer() of 6.1, a message without pages is one piece.
 *
 * Context: any.
 */
bool svcrdma_message_is_simple(const struct svcrdma_recv_ctxt *rc)
{
	return rc->rc_lists.nr_read == 1 &&
	       !rpcrdma_position_zero_chunk(&rc->rc_lists) &&
	       rc->rc_lists.chunks[0].length;
}

/**
 * svcrdma_message_inline_head - how much of it stays in the Receive buffer, as the head
 * @rc: the call, with its header decoded
 *
 * Context: any.
 * Return: bytes.
 */
u32 svcrdma_message_inline_head(const struct svcrdma_recv_ctxt *rc)
{
	return svcrdma_message_is_simple(rc) ? rc->rc_lists.chunks[0].position : 0;
}
