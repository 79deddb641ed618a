// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of replies in Read chunks, and what a client can make the server keep:
 *
 *	latency of a READ whose data come in a Reply chunk, and of one that is exposed,
 *	read and ended, by turns on one connection;
 *	bytes exposed when the server says ERR_CHUNK;
 *	time from a disconnect to the end of the queue pair, which outlives every page
 *	that was exposed on it.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "failure.hh"
#include "rpcrdma/protocol.h"
#include "scenario.hh"
#include "nfs/session.hh"
#include "wire/resources.hh"

namespace peer
{

namespace
{

using Clock = std::chrono::steady_clock;

constexpr u32 largest = 1 << 20; /* bytes of a READ; nfsd's default */
constexpr u32 room = largest + 4096;

double microseconds(Clock::time_point begin)
{
	return std::chrono::duration<double, std::micro>(Clock::now() - begin)
		.count();
}

struct Figures {
	Figures()
		: session(Options().announce(RPCRDMA_EXT_TAKES_READ_CHUNKS))
	{
		Bytes data = Bytes::pattern(largest, 5);

		session.write_file(handle, data);
	}
	Header ask(u32 count, bool reply_chunk)
	{
		Header call = { .xid = next_xid() };

		if (reply_chunk)
			call.reply = Chunk{ memory->segment(0, room) };
		session.send(
			call.encode(nfs3_call(call.xid, NFS3_READ,
					      read_arguments(handle, 0, count))
					    .view()));
		return call;
	}
	Decoded answer()
	{
		auto message = session.wire().receive(10000);

		check(message.has_value(), "no answer");
		return decode(message->bytes.view());
	}
	/* All of it is in @memory in the end, either way. */
	double one(u32 count, bool reply_chunk)
	{
		Clock::time_point begin = Clock::now();
		Header call = ask(count, reply_chunk);
		Decoded got = answer();

		check_equal(got.header.proc, u32(RPCRDMA_NOMSG), "rdma_proc");
		check_equal(got.read.empty(), reply_chunk, "the way it came");
		if (!reply_chunk)
			pull(got.read[0].second);
		double took = microseconds(begin);

		if (!reply_chunk)
			session.send(
				Header{ .xid = call.xid, .proc = RPCRDMA_DONE }
					.encode_fixed());
		return took;
	}
	void pull(const Chunk &chunk)
	{
		size_t at = 0;

		for (const rpcrdma_segment &segment : chunk) {
			check(session.wire().rdma_read(*memory, at, segment),
			      "RDMA Read");
			at += segment.length;
		}
	}

	Session session;
	Bytes handle = session.create("peer-figures");
	std::unique_ptr<Memory> memory = session.memory(room);
};

double median(std::vector<double> values)
{
	std::sort(values.begin(), values.end());
	return values[values.size() / 2];
}

void latency()
{
	Figures figures;

	/* With the rest of the reply, and an XDR word: not more than a Reply chunk has */
	for (u32 count : { 8192u, 65536u, largest }) {
		std::vector<double> chunk, read;

		for (u32 i = 0; i < 100; i++) {
			chunk.push_back(figures.one(count, true));
			read.push_back(figures.one(count, false));
		}
		printf("READ of %u bytes, without a Write chunk: in the Reply chunk %.0f us, read from the server %.0f us (medians of 100)\n",
		       count, median(chunk), median(read));
	}
}

void bound()
{
	Resources before = count_resources();
	u64 bytes = 0;
	u32 replies = 0;
	Clock::time_point begin;
	{
		Figures figures;

		for (;; replies++) {
			figures.ask(largest, false);
			Decoded got = figures.answer();

			if (got.header.proc == RPCRDMA_ERROR)
				break;
			bytes += chunk_length(got.read[0].second);
		}
		begin = Clock::now();
		figures.session.wire().disconnect();
		/* Ours go with the connection. */
		figures.memory.reset();
	}
	while (count_resources()["qp"] > before["qp"])
		check(microseconds(begin) < 10e6, "the queue pair stays");
	printf("exposed at the bound: %u replies, %llu bytes; all is released %.0f ms after the disconnect\n",
	       replies, (unsigned long long)bytes, microseconds(begin) / 1000);
}

} /* namespace */

int figures_main()
{
	try {
		latency();
		bound();
		return 0;
	} catch (const std::exception &error) {
		printf("figures: %s\n", error.what());
		return 1;
	}
}

} /* namespace peer */
