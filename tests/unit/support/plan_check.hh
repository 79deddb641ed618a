// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a call plan promises, tried out: the planned header is built and encoded,
 * and the largest reply is laid out as a responder would. Null, or what is wrong.
 */
#ifndef UNIT_PLAN_CHECK_HH
#define UNIT_PLAN_CHECK_HH

#include <rpcrdma/plan.h>
#include <rpcrdma/header.h>

#include "decoded.hh"

inline u64 padded(u64 length)
{
	return (length + 3) & ~u64(3);
}

inline void add_segments(Lists &lists, u32 count)
{
	for (u32 i = 0; i < count; i++)
		rpcrdma_lists_add_segment(&lists.lists, { i, 16, 0 });
}

/* The lists of the call or, for the responder, of the reply */
inline void build_planned(const rpcrdma_call_shape &shape,
			  const rpcrdma_call_plan &plan, bool call,
			  Lists &lists)
{
	if (call && plan.position_zero) {
		rpcrdma_lists_begin_read(&lists.lists, 0);
		add_segments(lists, shape.call_segments);
	}
	if (call && plan.read_chunk) {
		rpcrdma_lists_begin_read(&lists.lists, shape.call_position);
		add_segments(lists, shape.call_item_segments);
	}
	if (plan.write_chunk) {
		rpcrdma_lists_begin_write(&lists.lists);
		add_segments(lists, shape.reply_item_segments);
	}
	if (plan.reply_chunk) {
		rpcrdma_lists_begin_reply(&lists.lists);
		add_segments(lists, shape.reply_segments);
	}
}

inline u64 planned_header(const rpcrdma_call_shape &shape,
			  const rpcrdma_call_plan &plan, bool call)
{
	rpcrdma_header header = { 1, 1, 1, RPCRDMA_MSG, 0, 0, 0, 0, 0 };
	Lists lists(64, 4);

	build_planned(shape, plan, call, lists);
	return encoded(header, &lists.lists).size();
}

/* Requirements 15, 45, 53, 55: the call fits, and so will the reply. */
inline const char *check_sizes(const rpcrdma_call_shape &shape,
			       const rpcrdma_call_plan &plan)
{
	u64 item = padded(shape.call_item_length);
	u64 payload = plan.position_zero ? 0 :
					   u64(shape.call_length) -
						   (plan.read_chunk ? item : 0);
	u64 reply_item = plan.write_chunk ? padded(shape.reply_item_length) : 0;
	u64 rest = reply_item < shape.reply_length ?
			   shape.reply_length - reply_item :
			   0;
	u64 reply_header = planned_header(shape, plan, false);

	if (planned_header(shape, plan, true) != plan.header_size)
		return "header has another size than planned";
	if (payload != plan.inline_length)
		return "another payload than planned";
	if (plan.header_size + payload > shape.inline_send)
		return "call exceeds the threshold";
	if (!plan.reply_chunk && !plan.left_open &&
	    reply_header + rest > shape.inline_recv)
		return "reply exceeds the threshold";
	if (plan.reply_chunk && reply_header > shape.inline_recv)
		return "header of a Long reply exceeds the threshold";
	return nullptr;
}

/* Requirements 35 and 39; and nothing that responders need not take (105). */
inline const char *check_allowed(const rpcrdma_call_shape &shape,
				 const rpcrdma_call_plan &plan)
{
	auto refused = [](bool used, u32 segments) {
		return used && (segments == 0 || segments > 16);
	};

	if (!shape.may_reduce && (plan.read_chunk || plan.write_chunk))
		return "reduced although it must not be";
	if (plan.position_zero && plan.read_chunk)
		return "argument moved twice";
	if (plan.read_chunk &&
	    (!shape.call_item_length || !shape.call_position ||
	     shape.call_position % 4))
		return "Read chunk without an argument";
	if (plan.write_chunk && !shape.reply_item_length)
		return "Write chunk without a result";
	if (refused(plan.position_zero, shape.call_segments) ||
	    refused(plan.read_chunk, shape.call_item_segments) ||
	    refused(plan.write_chunk, shape.reply_item_segments) ||
	    refused(plan.reply_chunk, shape.reply_segments))
		return "chunk with a number of segments that cannot be sent";
	return nullptr;
}

/* Reliable-reply draft, section 5.3.1: left open only where the peer agreed to it. */
inline const char *check_open(const rpcrdma_call_shape &shape,
			      const rpcrdma_call_plan &plan)
{
	if (plan.by_history && plan.left_open == shape.expect_large)
		return "history does not decide";
	if (!plan.left_open)
		return nullptr;
	if (!shape.reply_pullable || shape.expect_large)
		return "left open without leave";
	if (shape.reply_item_length / 2 >= shape.inline_recv)
		return "left open although it is surely large";
	if (plan.write_chunk || plan.reply_chunk)
		return "left open, and memory offered all the same";
	return nullptr;
}

/* Memory is registered only where bytes do not fit without. */
inline const char *check_frugal(const rpcrdma_call_shape &shape,
				const rpcrdma_call_plan &plan)
{
	rpcrdma_call_plan less = plan;
	u64 header;

	if ((plan.write_chunk || plan.reply_chunk) &&
	    28 + u64(shape.reply_length) <= shape.inline_recv)
		return "reply would fit inline";
	less.read_chunk = less.position_zero = false;
	header = planned_header(shape, less, true);
	if ((plan.read_chunk || plan.position_zero) &&
	    header + shape.call_length <= shape.inline_send)
		return "call would fit inline";
	return nullptr;
}

/* With thresholds of 1024 at least, only segments can be the reason to refuse. */
inline const char *check_refusal(const rpcrdma_call_shape &shape)
{
	auto sendable = [](u32 segments) { return segments && segments <= 16; };

	if (shape.inline_send < 1024 || shape.inline_recv < 1024)
		return nullptr;
	if (sendable(shape.call_segments) && sendable(shape.reply_segments))
		return "refused for no reason";
	return nullptr;
}

/* Of two Short Messages nothing else of the call matters. */
inline const char *check_short(const rpcrdma_call_shape &shape,
			       const rpcrdma_call_plan &plan)
{
	rpcrdma_call_plan quick;
	bool fits = 28 + u64(shape.call_length) <= shape.inline_send &&
		    28 + u64(shape.reply_length) <= shape.inline_recv;

	if (rpcrdma_plan_short(&shape, &quick) != fits)
		return "wrong choice of Short Messages";
	if (fits && (planned_header(shape, plan, true) != 28 ||
		     plan.position_zero || plan.by_history || plan.left_open ||
		     plan.header_size != quick.header_size ||
		     plan.inline_length != quick.inline_length))
		return "two Short Messages are planned in two ways";
	return nullptr;
}

inline const char *check_plan(const rpcrdma_call_shape &shape)
{
	rpcrdma_call_plan plan;
	const char *wrong;

	if (!rpcrdma_plan_call(&shape, &plan))
		return check_refusal(shape);
	wrong = check_short(shape, plan);
	if (wrong)
		return wrong;
	wrong = check_allowed(shape, plan);
	if (!wrong)
		wrong = check_open(shape, plan);
	if (!wrong)
		wrong = check_sizes(shape, plan);
	return wrong ? wrong : check_frugal(shape, plan);
}

#endif /* UNIT_PLAN_CHECK_HH */
