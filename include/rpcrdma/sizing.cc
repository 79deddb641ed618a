// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/*
 * Queue depths from device limits. RFC 8166 section 3.3.1 leaves them to the implementation, but a
 * peer that grants credits, or asks for some, has to post as many Receives.
 *
 * If the device of a client cannot hold as many credits as are wanted, the client has as many as
 * the device can hold. A server halves the number of credits until the device can hold them, and
 * the contexts for the RDMA Reads and Writes of one payload. All sums are in 64 bits.
 */
#include "sizing.h"
#include "math.hh"

using namespace rpcrdma;

constexpr u32 drain_entries = 1; /* work requests that ib_drain_qp() posts to each queue */
constexpr u32 server_slack = RPCRDMA_RECEIVE_BATCH + 2; /* server: Receives to be posted again */
constexpr u32 server_send_spare = 2;
constexpr u32 rw_context_wrs = 3; /* register, transfer, invalidate */
constexpr u32 payloads_at_a_time = 16; /* server: payloads of the largest size that move at once */
constexpr u32 signal_every_max = 32;

/* Each queue has its own completion queue. Both together stay within the limit of one. */
static constexpr bool queues_fit(const rpcrdma_device_limits &limits, u64 send, u64 recv)
{
	return send <= limits.max_qp_wr && recv <= limits.max_qp_wr &&
	       send + recv <= limits.max_cqe;
}

/* ---- client ---- */

/*
 * A call of NFS has a payload in its argument or in its reply, but not in both. The payload, its
 * head and its tail have regions of their own, and so has the message of the other direction.
 */
static constexpr u32 regions_per_call(u32 max_pages, u32 mr_pages)
{
	return u32(
		min<u64>(u64(divide_up(max_pages, mr_pages)) + 5, 2 * RPCRDMA_MAX_SEGMENTS_SENT));
}

/* Pages of one chunk without head and tail. The payload may begin anywhere in a page. */
static constexpr u32 payload_per_chunk(u32 max_pages, u32 mr_pages)
{
	return u32(min<u64>(max_pages, u64(RPCRDMA_MAX_SEGMENTS_SENT - 2) * mr_pages - 1));
}

/*
 * The number of regions: one for each call, since nearly all calls need at most one, and for eight
 * calls as many more as a call can use. A call that finds no region waits.
 */
static constexpr u32 regions_at_most(u32 credits, u32 mrs_per_call)
{
	return saturate_u32(min(u64(credits) * mrs_per_call, u64(credits) + 8 * u64(mrs_per_call)));
}

/* Largest number of registrations on the Send Queue whose Sends are not known to be complete */
static constexpr u32 registrations_at_most(u32 credits, u32 mrs_per_call)
{
	return credits / 2 + 2 * mrs_per_call;
}

/*
 * Sets the depths for queues.credits. Returns false if the device does not allow them. Each region
 * has an entry for its invalidation.
 */
static bool try_client_credits(const rpcrdma_device_limits &limits, u32 reverse,
			       rpcrdma_client_queues &queues)
{
	queues.signal_every = clamp<u32>(queues.credits / 8, 1, signal_every_max);
	queues.regions = regions_at_most(queues.credits, queues.mrs_per_call);
	queues.reg_wrs = registrations_at_most(queues.credits, queues.mrs_per_call);

	u64 slots = u64(queues.credits) + reverse + queues.signal_every;
	u64 send = slots + queues.reg_wrs + queues.regions + drain_entries;
	u64 recv = u64(queues.credits) + reverse + RPCRDMA_RECEIVE_BATCH + drain_entries;

	queues.send_slots = u32(slots);
	queues.send_wrs = u32(send);
	queues.recv_wrs = u32(recv);
	return queues_fit(limits, send, recv);
}

bool rpcrdma_size_client(const struct rpcrdma_device_limits *limits, u32 slots, u32 reverse,
			 u32 max_pages, struct rpcrdma_client_queues *queues)
{
	u32 low = 0, high = max<u32>(slots, 1);

	*queues = {};
	queues->mr_pages = min(limits->max_fast_reg_pages, max<u32>(max_pages, 1));
	if (!queues->mr_pages || !limits->max_send_sge)
		return false;
	queues->mrs_per_call = regions_per_call(max_pages, queues->mr_pages);
	queues->payload_pages = payload_per_chunk(max_pages, queues->mr_pages);
	/* Finds the largest number of credits that fits. Each smaller number fits, too. */
	while (low < high) {
		queues->credits = high - (high - low) / 2;
		if (try_client_credits(*limits, reverse, *queues))
			low = queues->credits;
		else
			high = queues->credits - 1;
	}
	queues->credits = low;
	return low && try_client_credits(*limits, reverse, *queues);
}

/* ---- server ---- */

u32 rpcrdma_server_receives(u32 credits, u32 reverse)
{
	return saturate_u32(u64(credits) + reverse + server_slack);
}

/*
 * Sets the depths for queues.credits. Returns false if the device does not allow them, or if they
 * leave too few contexts for one payload.
 */
static bool try_server_credits(const rpcrdma_device_limits &limits, u32 reverse, u32 spare,
			       u32 mr_factor, rpcrdma_server_queues &queues)
{
	u64 exposures = spare ? u64(queues.credits) + spare : 0;
	u64 recv = rpcrdma_server_receives(queues.credits, reverse) + exposures;
	u64 send = recv + queues.credits + server_send_spare + RPCRDMA_UNSIGNALLED_SENDS;
	u64 contexts = max<u64>(queues.credits, u64(payloads_at_a_time) * mr_factor);

	if (!queues_fit(limits, send, recv + drain_entries))
		return false;
	/* The contexts of rdma_rw get the entries of the Send Queue that are left. */
	u64 room = min<u64>(limits.max_qp_wr, limits.max_cqe - recv - drain_entries) - send;

	queues.recv_wrs = u32(recv);
	queues.send_wrs = u32(send);
	queues.rw_contexts = saturate_u32(min(contexts, room / rw_context_wrs));
	queues.exposures = u32(exposures);
	return queues.rw_contexts >= mr_factor;
}

bool rpcrdma_size_server(const struct rpcrdma_device_limits *limits, u32 credits, u32 reverse,
			 u32 spare, u32 mr_factor, struct rpcrdma_server_queues *queues)
{
	*queues = {};
	mr_factor = max<u32>(mr_factor, 1);
	for (queues->credits = max<u32>(credits, 1); queues->credits; queues->credits /= 2)
		if (try_server_credits(*limits, reverse, spare, mr_factor, *queues))
			return true;
	return false;
}
