// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our client and replies in Read chunks, from servers that expose rubbish, too much, or not enough,
 * or that die meanwhile. Documentation/reliable-reply.rst, and sections 4.1 and 7 of the draft.
 */

#include <unistd.h>

#include "proxy/bench.hh"
#include "rpcrdma/protocol.h"
#include "scenario.hh"

namespace peer
{

namespace
{

Options providing(u32 capabilities = RPCRDMA_EXT_PROVIDES_READ_CHUNKS)
{
	return Proxy::default_options().announce(capabilities);
}

/* Where the proxy's own memory is not in use */
constexpr size_t exposed_at = 2 << 20;

/* @rpc is exposed in @pieces segments of odd lengths. */
Header expose(Proxy &proxy, u32 xid, const Bytes &rpc, u32 pieces = 1)
{
	Header header = { .xid = xid, .proc = RPCRDMA_NOMSG };
	u32 done = 0, size = u32(rpc.size());

	proxy.staging().put(exposed_at, rpc.view());
	for (u32 i = 0; i < pieces; i++) {
		u32 n = i + 1 == pieces ? size - done : size / pieces | 1;

		header.add_read(0,
				proxy.staging().segment(exposed_at + done, n));
		done += n;
	}
	return header;
}

struct Exposing : Bench {
	explicit Exposing(const Options &options = providing())
		: Bench(options)
	{
		mount.file(small);
	}

	using Answer = std::function<void(Proxy &, const Call &, Bytes rpc)>;

	/* The next READ of a small file is answered so; what read() is to say */
	void read_once(const Answer &answer, int wanted)
	{
		auto turn = std::make_shared<std::atomic<bool>>(true);

		proxy.on_call(
			only(NFS3_READ, [=](Proxy &proxy, const Call &call) {
				if (turn->exchange(false))
					answer(proxy, call, proxy.serve(call));
				else
					proxy.answer(call);
			}));
		expect_read(small, wanted, 40);
		proxy.on_call(nullptr);
	}
	void expect_dones(u32 wanted)
	{
		check(proxy.reached(proxy.dones, wanted, 30000),
		      "no RDMA_DONE");
		usleep(20000);
		check_equal(proxy.dones.load(), wanted, "RDMA_DONEs");
	}
	/*
	 * A call may have gone out twice: the proxy exposes nothing by itself, and
	 * refuses the list of a large directory until there is memory for it.
	 */
	void expect_well()
	{
		mount.expect_works(30);
		check_equal(proxy.connections.load(), 1u, "connections");
		proxy.check_thread();
	}
};

void pieces()
{
	Exposing bench;
	u32 n = 0;

	for (u32 pieces : { 1u, 2u, 3u, 7u, 31u }) {
		bench.read_once(
			[pieces](Proxy &proxy, const Call &call, Bytes rpc) {
				check(proxy.staging().address() >> 32,
				      "the memory is not high");
				proxy.send(
					expose(proxy, call.xid(), rpc, pieces)
						.encode());
			},
			0);
		bench.expect_dones(++n);
	}
	bench.expect_well();
}

/* RR10: R changes nothing, the RDMA_DONE is a plain Send. The proxy looks at that. */
Options invalidating()
{
	Options options = Proxy::default_options();

	options.private_data =
		Options::private_block(4096, 4096, RPCRDMA_CM_FLAG_R);
	return options.announce(RPCRDMA_EXT_PROVIDES_READ_CHUNKS);
}

/* Every reply of a mount, large ones too, but those that go to a Write chunk */
void everything()
{
	Exposing bench(invalidating());

	bench.proxy.on_call([](Proxy &proxy, const Call &call) {
		Bytes rpc = proxy.serve(call);

		if (call.header.reply || !call.header.write.empty())
			proxy.reply(call, rpc);
		else
			proxy.send(expose(proxy, call.xid(), rpc, 2).encode());
	});
	for (u32 i = 0; i < 10; i++)
		bench.mount.expect_works();
	check(bench.proxy.dones > 30, "only ", bench.proxy.dones.load(),
	      " RDMA_DONEs");
	bench.proxy.on_call(nullptr);
	bench.expect_well();
}

/* One READ fails, and the server may forget its reply. */
void expect_failure(
	const std::function<Header(Proxy &, const Call &, Bytes)> &make)
{
	Exposing bench;

	bench.read_once(
		[make](Proxy &proxy, const Call &call, Bytes rpc) {
			proxy.send(make(proxy, call, rpc).encode());
		},
		EIO);
	bench.expect_dones(1);
	bench.expect_well();
}

void rubbish()
{
	expect_failure([](Proxy &proxy, const Call &call, Bytes rpc) {
		return expose(proxy, call.xid(),
			      Bytes::pattern(u32(rpc.size()), 99));
	});
}

void another_reply()
{
	expect_failure([](Proxy &proxy, const Call &call, Bytes rpc) {
		rpc.set_word(0, call.xid() + 1);
		return expose(proxy, call.xid(), rpc);
	});
}

void another_call()
{
	expect_failure([](Proxy &proxy, const Call &call, Bytes) {
		return expose(proxy, call.xid(), call.rpc);
	});
}

void nothing()
{
	expect_failure([](Proxy &proxy, const Call &call, Bytes) {
		return expose(proxy, call.xid(), Bytes());
	});
}

void too_short()
{
	for (u32 size : { 4u, 20u, 24u, 100u })
		expect_failure(
			[size](Proxy &proxy, const Call &call, Bytes rpc) {
				return expose(proxy, call.xid(),
					      Bytes(rpc.view(0, size)));
			});
}

/* More than the RPC has room for: the rest is not for it. */
void too_long()
{
	Exposing bench;

	bench.read_once(
		[](Proxy &proxy, const Call &call, Bytes rpc) {
			rpc.raw(Bytes::pattern(300000, 5).view());
			proxy.send(expose(proxy, call.xid(), rpc, 3).encode());
		},
		0);
	bench.expect_dones(1);
	bench.expect_well();
}

/* The Read fails: the connection ends, and the call goes out on the next. */
void dead_handle()
{
	Exposing bench;

	bench.read_once(
		[](Proxy &proxy, const Call &call, Bytes rpc) {
			Header header = expose(proxy, call.xid(), rpc, 2);

			header.read.at(1).segment.handle ^= 0x00ffff00;
			proxy.send(header.encode());
		},
		0);
	check(bench.proxy.connections >= 2, "the connection did not end");
	bench.mount.expect_works(30);
}

void beyond_the_end()
{
	Exposing bench;

	bench.read_once(
		[](Proxy &proxy, const Call &call, Bytes rpc) {
			Header header = expose(proxy, call.xid(), rpc);

			header.read.at(0).segment.offset =
				proxy.staging().address(
					proxy.staging().size()) -
				100;
			proxy.send(header.encode());
		},
		0);
	check(bench.proxy.connections >= 2, "the connection did not end");
	bench.mount.expect_works(30);
}

void dies()
{
	for (u32 i = 0; i < 3; i++) {
		Exposing bench;

		bench.read_once(
			[](Proxy &proxy, const Call &call, Bytes rpc) {
				proxy.send(expose(proxy, call.xid(), rpc, 30)
						   .encode());
				proxy.drop();
			},
			0);
		bench.mount.expect_works(30);
	}
}

/* Nobody waits for it: the server is told all the same (section 4.1.3). */
void unknown_xid()
{
	Exposing bench;

	bench.read_once(
		[](Proxy &proxy, const Call &call, Bytes rpc) {
			proxy.send(expose(proxy, 0x77777777, spoilt(call, rpc))
					   .encode());
			proxy.answer(call);
		},
		0);
	bench.expect_dones(1);
	check_equal(bench.proxy.done_xid.load(), 0x77777777u,
		    "XID of RDMA_DONE");
	bench.expect_well();
}

/*
 * What is no reply is taken for a Long call in the reverse direction. The client refuses
 * those that it cannot take, and is silent on others, as NFSv3 has no callbacks (RFC
 * 8167 sections 5.3 and 6). Its own call waits on.
 */
void expect_no_reply(
	Exposing &bench, u32 refusals,
	const std::function<Header(Proxy &, const Call &, Bytes)> &make)
{
	auto errors = std::make_shared<std::atomic<u32>>(0);

	bench.proxy.on_reverse([errors](Proxy &, const Decoded &answer) {
		check_equal(answer.header.proc, u32(RPCRDMA_ERROR),
			    "rdma_proc");
		check_equal(answer.header.error, u32(RPCRDMA_ERR_CHUNK),
			    "rdma_err");
		++*errors;
	});
	bench.read_once(
		[make](Proxy &proxy, const Call &call, Bytes rpc) {
			proxy.send(
				make(proxy, call, spoilt(call, rpc)).encode());
			usleep(30000);
			proxy.answer(call);
		},
		0);
	bench.expect_dones(0);
	check(bench.proxy.reached(*errors, refusals, 30000), "no ERR_CHUNK");
	check_equal(errors->load(), refusals, "ERR_CHUNKs");
	bench.expect_well();
}

/* RFC 8166 section 4.3.1: no reply, where it was not agreed on. */
void not_announced()
{
	for (u32 capabilities : { 0u, u32(RPCRDMA_EXT_TAKES_READ_CHUNKS) }) {
		Exposing bench(providing(capabilities));

		expect_no_reply(bench, 0,
				[](Proxy &proxy, const Call &call, Bytes rpc) {
					return expose(proxy, call.xid(), rpc);
				});
	}
}

/* Elsewhere than in place of the message, or in two of them: no reply */
void other_positions()
{
	for (u32 position : { 4u, 28u }) {
		Exposing bench;

		expect_no_reply(
			bench, 1,
			[position](Proxy &proxy, const Call &call, Bytes rpc) {
				Header header =
					expose(proxy, call.xid(), rpc, 2);

				header.read.at(1).position = position;
				return header;
			});
	}
}

/*
 * From a server that takes no RDMA Reads: what it exposes is not read, which would cost the
 * connection, and there is memory for a reply that would be left open otherwise.
 */
void no_reads()
{
	constexpr u32 size = 6000;
	Options options = providing();
	auto offered = std::make_shared<std::atomic<u32>>(0);
	auto open = std::make_shared<std::atomic<u32>>(0);

	if (provider_is("siw"))
		throw Skipped("siw does not say how many it takes");
	options.reads_served = 0;
	Exposing bench(options);

	bench.mount.file(size);
	bench.read_once(
		[](Proxy &proxy, const Call &call, Bytes rpc) {
			proxy.send(expose(proxy, call.xid(), rpc).encode());
		},
		EIO);
	bench.expect_dones(1);
	bench.proxy.on_call(
		only(NFS3_READ, [=](Proxy &proxy, const Call &call) {
			++*(call.header.write.empty() ? open : offered);
			proxy.answer(call);
		}));
	bench.expect_read(size);
	bench.proxy.on_call(nullptr);
	check_equal(open->load(), 0u, "READs that were left open");
	check_equal(offered->load(), 1u, "READs with a Write chunk");
	bench.expect_well();
}

const Scenario table[] = {
	{ "c-pull-pieces", "client", "8166-25 8166-42 O1 L5 L6 L11 RR1 RR3 RR9",
	  "read, RDMA_DONE", pieces },
	{ "c-pull-everything", "client", "L5 RR9 RR10", "read, RDMA_DONE",
	  everything },
	{ "c-pull-rubbish", "client", "L5 L9 RR9", "EIO, RDMA_DONE", rubbish },
	{ "c-pull-another-reply", "client", "RR9", "EIO, RDMA_DONE",
	  another_reply },
	{ "c-pull-a-call", "client", "RR9", "EIO, RDMA_DONE", another_call },
	{ "c-pull-nothing", "client", "RR9", "EIO, RDMA_DONE", nothing },
	{ "c-pull-too-short", "client", "RR9", "EIO, RDMA_DONE", too_short },
	{ "c-pull-too-long", "client", "L5 RR9", "the reply, RDMA_DONE",
	  too_long },
	{ "c-pull-dead-handle", "client", "L5 RR13",
	  "sent again on a new connection", dead_handle },
	{ "c-pull-beyond-the-end", "client", "RR13",
	  "sent again on a new connection", beyond_the_end },
	{ "c-pull-dies", "client", "RR13", "sent again on a new connection",
	  dies },
	{ "c-pull-unknown-xid", "client", "L6 L7 RR9", "RDMA_DONE",
	  unknown_xid },
	{ "c-pull-not-announced", "client", "8166-25 8166-42 L9 L12 RR3",
	  "silence", not_announced },
	{ "c-pull-no-reads", "client", "RR7", "EIO, RDMA_DONE", no_reads },
	{ "c-pull-other-positions", "client", "RR12", "ERR_CHUNK",
	  other_positions },
};

} /* namespace */

Table client_pull_table()
{
	return table;
}

} /* namespace peer */
