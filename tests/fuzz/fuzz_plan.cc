// SPDX-License-Identifier: GPL-2.0-only
/* Plans any shape of a call, any reply, and any device: the plan has to fit. */
#include <rpcrdma/plan.h>
#include <rpcrdma/sizing.h>

#include "input.hh"
#include "support/plan_check.hh"

static void fuzz_call(Input input)
{
	rpcrdma_call_shape shape;

	shape.call_length = input.read_u32();
	shape.call_position = input.read_u32();
	shape.call_item_length = input.read_u32();
	shape.reply_length = input.read_u32();
	shape.reply_item_length = input.read_u32();
	shape.inline_send = input.read_u32();
	shape.inline_recv = input.read_u32();
	shape.call_item_segments = input.read_u8() % 20;
	shape.call_segments = input.read_u8() % 20;
	shape.reply_item_segments = input.read_u8() % 20;
	shape.reply_segments = input.read_u8() % 20;
	u8 bits = input.read_u8();
	shape.may_reduce = bits & 1;
	shape.reply_pullable = bits & 2;
	shape.expect_large = bits & 4;
	report(check_plan(shape));
}

static void fuzz_reply(Input input)
{
	u64 header = input.read_u32(), length = input.read_u32();
	u64 threshold = input.read_u32();
	rpcrdma_chunk chunk = { 0, 0, 1, input.read_u32() };
	bool offered = input.read_u8() & 1;
	auto path = rpcrdma_plan_reply(u32(header), u32(length), u32(threshold),
				       offered ? &chunk : nullptr);
	bool fits = header + length <= threshold;
	bool fits_chunk = offered && length <= chunk.length &&
			  header <= threshold;

	if (fits != (path == RPCRDMA_REPLY_INLINE) ||
	    (!fits && fits_chunk) != (path == RPCRDMA_REPLY_CHUNK))
		report("reply path");
}

static void fuzz_client(Input input)
{
	rpcrdma_device_limits limits;
	rpcrdma_client_queues q;

	limits.max_qp_wr = input.read_u32();
	limits.max_cqe = input.read_u32();
	limits.max_fast_reg_pages = input.read_u32();
	limits.max_send_sge = input.read_u8();

	u32 slots = input.read_u32(), reverse = input.read_u32();
	u32 pages = input.read_u32();

	if (!rpcrdma_size_client(&limits, slots, reverse, pages, &q))
		return;
	if (!q.credits || q.credits > (slots ? slots : 1) || !q.mr_pages ||
	    q.mr_pages > limits.max_fast_reg_pages)
		report("client queues promise too much");
	if (q.send_wrs > limits.max_qp_wr || q.recv_wrs > limits.max_qp_wr ||
	    u64(q.send_wrs) + q.recv_wrs > limits.max_cqe)
		report("client queues do not fit");
	if (q.recv_wrs < u64(q.credits) + reverse ||
	    q.send_slots < u64(q.credits) + reverse ||
	    q.send_wrs <= u64(q.send_slots) + q.reg_wrs + q.regions ||
	    q.reg_wrs < q.mrs_per_call || q.regions < q.mrs_per_call ||
	    q.regions < q.credits)
		report("client queues are too small");
}

static void fuzz_server(Input input)
{
	rpcrdma_device_limits limits = {};
	rpcrdma_server_queues q;

	limits.max_qp_wr = input.read_u32();
	limits.max_cqe = input.read_u32();

	u32 credits = input.read_u32(), reverse = input.read_u32();
	u32 factor = input.read_u32(), spare = input.read_u32();

	if (!rpcrdma_size_server(&limits, credits, reverse, spare, factor, &q))
		return;
	u64 send = q.send_wrs + 3 * u64(q.rw_contexts);

	if (!q.credits || q.credits > (credits ? credits : 1))
		report("server queues promise too much");
	if (send > limits.max_qp_wr || q.recv_wrs >= limits.max_qp_wr ||
	    send + q.recv_wrs >= limits.max_cqe)
		report("server queues do not fit");
	if (q.exposures != (spare ? u64(q.credits) + spare : 0))
		report("another number of exposed replies than there are receives for");
	if (q.recv_wrs < u64(q.credits) + reverse + q.exposures ||
	    q.rw_contexts < factor)
		report("server queues are too small");
}

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	Input input = input_of(data, size);
	u8 what = input.read_u8() % 4;

	if (what == 0)
		fuzz_call(input);
	else if (what == 1)
		fuzz_reply(input);
	else if (what == 2)
		fuzz_client(input);
	else
		fuzz_server(input);
	return 0;
}
