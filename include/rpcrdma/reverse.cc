// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Calls in the reverse direction with chunks: RFC 8167 section 5.3. The server is the requester,
 * and the client is the responder. No item of a callback is DDP-eligible, so our server uses chunks
 * only for messages that are too large to go inline.
 */
#include "plan.h"
#include "chunk_list.hh"

using namespace rpcrdma;

/* ---- the responder ---- */

/*
 * A Position Zero Read chunk holds the whole call, so no other Read chunk and no inline part goes
 * with it. Without one, Read chunks may be at any Position. An empty chunk has no use.
 */
static bool acceptable_reads(const rpcrdma_chunk_lists &lists, u32 inline_length)
{
	for (const rpcrdma_chunk &chunk : read_chunks(lists))
		if (!chunk.length)
			return false;
	if (!rpcrdma_position_zero_chunk(&lists))
		return true;
	return lists.nr_read == 1 && !inline_length;
}

static bool acceptable_writes(const rpcrdma_chunk_lists &lists,
			      const rpcrdma_reverse_bounds &bounds)
{
	const rpcrdma_chunk *reply = rpcrdma_reply_chunk(&lists);

	if (lists.nr_write)
		return false;
	return !reply || (bounds.may_write && reply->count <= RPCRDMA_MAX_SEGMENTS_SENT);
}

enum rpcrdma_reverse_call rpcrdma_plan_reverse_call(const struct rpcrdma_chunk_lists *lists,
						    u32 inline_length,
						    const struct rpcrdma_reverse_bounds *bounds,
						    u32 *length)
{
	u32 whole;

	*length = 0;
	/* RFC 5531 section 9: an XID and a direction. */
	if (!rpcrdma_pieces_measure(lists, inline_length, bounds->max_call, &whole) ||
	    whole < 2 * RPCRDMA_XDR_UNIT || !acceptable_reads(*lists, inline_length) ||
	    !acceptable_writes(*lists, *bounds) || (lists->nr_read && !bounds->may_read))
		return RPCRDMA_REVERSE_REFUSE;
	*length = whole;
	return lists->nr_read ? RPCRDMA_REVERSE_READ : RPCRDMA_REVERSE_SHORT;
}

/* Returned Reply chunks are empty: reliable-reply draft, section 4.1.1. */
bool rpcrdma_is_pulled_reply(const struct rpcrdma_chunk_lists *lists)
{
	const rpcrdma_chunk *reply = rpcrdma_reply_chunk(lists);

	return lists->nr_read == 1 && rpcrdma_position_zero_chunk(lists) &&
	       (!reply || !reply->length);
}

/* ---- the requester ---- */

/*
 * A callback is planned as any call whose reply cannot be left open. If replies may come as
 * Position Zero Read chunks, a Long call must not look like such a reply, so it always has a Reply
 * chunk.
 */
bool rpcrdma_plan_callback(const struct rpcrdma_call_shape *shape, bool replies_are_pulled,
			   struct rpcrdma_call_plan *plan)
{
	if (!rpcrdma_plan_call(shape, plan))
		return false;
	if (!plan->position_zero || plan->reply_chunk || !replies_are_pulled)
		return true;
	plan->reply_chunk = true;
	plan->header_size += u32(reply_chunk_size(shape->reply_segments));
	return sendable_chunk(shape->reply_segments) &&
	       plan->header_size <= min(shape->inline_send, shape->inline_recv);
}
