// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * How a requester sends a call, and which memory it offers for the reply: RFC 8166 sections 3.5 and
 * 4.3.
 *
 * The reply is planned first, since chunks for the reply make the call's header longer. All sums
 * are of u32 values and done in 64 bits.
 */
#include "plan.h"
#include "chunk_list.hh"

using namespace rpcrdma;

/* Section 3.4.4.4: an item is removed together with its padding. */
static constexpr u64 without_item(u32 length, u32 item_length)
{
	u64 gone = xdr_padded(item_length);

	return gone < length ? length - gone : 0;
}

/* Section 8.2.2.3: nothing is reduced under GSS integrity or privacy. */
static bool result_reducible(const rpcrdma_call_shape &shape)
{
	return shape.may_reduce && shape.reply_item_length &&
	       sendable_chunk(shape.reply_item_segments);
}

/* Section 3.4.5: Position is a multiple of four, inside the message. */
static bool argument_reducible(const rpcrdma_call_shape &shape)
{
	return shape.may_reduce && shape.call_item_length && shape.call_position &&
	       shape.call_position % RPCRDMA_XDR_UNIT == 0 &&
	       sendable_chunk(shape.call_item_segments) &&
	       shape.call_position + xdr_padded(shape.call_item_length) <= shape.call_length;
}

/* Size of the reply's header; also that of the call's header without the Read list */
static u64 header_for_reply(const rpcrdma_call_shape &shape, const rpcrdma_call_plan &plan)
{
	u64 size = RPCRDMA_MIN_HEADER_SIZE;

	if (plan.write_chunk)
		size += write_chunk_size(shape.reply_item_segments);
	if (plan.reply_chunk)
		size += reply_chunk_size(shape.reply_segments);
	return size;
}

/*
 * Reliable-reply draft, section 5.3.1: may the requester offer no memory for the reply, since the
 * responder can expose it? Not if the result item may be twice as large as a message: such a reply
 * is surely large, unless the call fails.
 */
static bool may_stay_open(const rpcrdma_call_shape &shape)
{
	return shape.reply_pullable && shape.reply_item_length / 2 < shape.inline_recv;
}

/*
 * Section 4.3.3: a Reply chunk is offered whenever the largest reply, less what goes in the Write
 * chunk, exceeds the threshold, unless the responder can expose the reply and a small one is
 * expected.
 */
static bool plan_reply_memory(const rpcrdma_call_shape &shape, rpcrdma_call_plan &plan)
{
	u64 rest = shape.reply_length;

	if (header_for_reply(shape, plan) + rest <= shape.inline_recv)
		return true;
	plan.by_history = may_stay_open(shape);
	plan.left_open = plan.by_history && !shape.expect_large;
	if (plan.left_open)
		return true;
	if (result_reducible(shape)) {
		plan.write_chunk = true;
		rest = without_item(shape.reply_length, shape.reply_item_length);
	}
	if (header_for_reply(shape, plan) + rest <= shape.inline_recv)
		return true;
	plan.reply_chunk = true;
	return sendable_chunk(shape.reply_segments) &&
	       header_for_reply(shape, plan) <= shape.inline_recv;
}

/* Section 4.2.4: header and payload have to be within the threshold. */
static bool set_message(const rpcrdma_call_shape &shape, rpcrdma_call_plan &plan, u64 header,
			u64 payload)
{
	if (header + payload > shape.inline_send)
		return false;
	plan.header_size = u32(header);
	plan.inline_length = u32(payload);
	return true;
}

/* Section 3.5: first a Short message, then one with the argument reduced, then a Long one. */
static bool plan_call_message(const rpcrdma_call_shape &shape, rpcrdma_call_plan &plan)
{
	u64 header = header_for_reply(shape, plan);

	if (set_message(shape, plan, header, shape.call_length))
		return true;
	if (argument_reducible(shape) &&
	    set_message(shape, plan, header + read_chunk_size(shape.call_item_segments),
			without_item(shape.call_length, shape.call_item_length))) {
		plan.read_chunk = true;
		return true;
	}
	plan.position_zero = true;
	return sendable_chunk(shape.call_segments) &&
	       set_message(shape, plan, header + read_chunk_size(shape.call_segments), 0);
}

bool rpcrdma_plan_short(const struct rpcrdma_call_shape *shape, struct rpcrdma_call_plan *plan)
{
	u64 header = RPCRDMA_MIN_HEADER_SIZE;

	*plan = {};
	plan->header_size = u32(header);
	plan->inline_length = shape->call_length;
	return header + shape->call_length <= shape->inline_send &&
	       header + shape->reply_length <= shape->inline_recv;
}

bool rpcrdma_plan_call(const struct rpcrdma_call_shape *shape, struct rpcrdma_call_plan *plan)
{
	*plan = {};
	return plan_reply_memory(*shape, *plan) && plan_call_message(*shape, *plan);
}
