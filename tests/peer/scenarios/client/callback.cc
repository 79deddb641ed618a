// SPDX-License-Identifier: GPL-2.0-only
/* Our client against reverse-direction calls: RFC 8167. */
#include <unistd.h>

#include "knob.hh"
#include "proxy/reverse_bench.hh"
#include "scenario.hh"

namespace peer
{

namespace
{

constexpr u32 medium = 2048;

void callbacks()
{
	ReverseBench bench;

	for (u32 xid = 0x100; xid < 0x140; xid++) {
		bench.send(cb_null(xid, 1));
		bench.expect_null_reply(xid);
	}
	bench.mount.expect_works();
	bench.expect_same_connection();
}

/* Section 5.3 of RFC 8167: chunks that the client cannot take */
void callback_with_chunks()
{
	Knob knob("rdma_reliable_reply", 0);
	ReverseBench bench;
	Bytes payload = Bytes(cb_null(0x200, 8).view(28, 40));

	for (u32 list = 0; list < 3; list++) {
		Header header = { .xid = 0x200 + list };
		Bytes rpc = payload;

		rpc.set_word(0, header.xid);
		if (list == 0)
			header.add_read(40, { 1, 4, 0 });
		else if (list == 1)
			header.write = { { { 1, 4, 0 } } };
		else
			header.reply = Chunk{ { 1, 4, 0 } };
		bench.send(header.encode(rpc.view()));
		auto answer = bench.reverse->wait(header.xid, 5000);
		check(answer.has_value(), "no answer");
		check_equal(answer->header.proc, u32(RPCRDMA_ERROR),
			    "rdma_proc");
		check_equal(answer->header.error, u32(RPCRDMA_ERR_CHUNK),
			    "rdma_err");
	}
	bench.mount.expect_works();
	bench.expect_same_connection();
}

/* Section 2.4.1: a call with the XID of a forward call that is under way */
void same_xid()
{
	ReverseBench bench;
	auto turns = std::make_shared<std::atomic<u32>>(0);

	bench.proxy.on_call([turns](Proxy &proxy, const Call &call) {
		Bytes good = proxy.build_reply(call, proxy.serve(call));

		if (++*turns <= 20)
			proxy.send(cb_null(call.xid(), 4));
		usleep(5000);
		proxy.send(good);
	});
	bench.mount.expect_works();
	bench.proxy.on_call(nullptr);
	check(*turns > 0, "no calls");
	for (int i = 0; i < 500; i++) {
		std::lock_guard guard(bench.reverse->lock);

		if (bench.reverse->answers.size() >=
		    rpcrdma::min(turns->load(), 20u))
			break;
		usleep(10000);
	}
	check(bench.reverse->answers.size() >= rpcrdma::min(turns->load(), 20u),
	      "only ", bench.reverse->answers.size(), " callbacks answered");
	bench.mount.expect_works();
	bench.expect_same_connection();
}

/* Eight processes read at a time: more than one of their calls is in flight. */
void expect_window_open(Bench &bench)
{
	auto held = std::make_shared<std::vector<Call>>();
	auto most = std::make_shared<std::atomic<size_t>>(0);
	auto waited = std::make_shared<u32>(0);

	bench.proxy.on_call([=](Proxy &, const Call &call) {
		held->push_back(call);
		if (held->size() > *most)
			*most = held->size();
	});
	bench.proxy.on_tick([=](Proxy &proxy) {
		/* A busy machine takes its time to send several. */
		if (held->size() && *most < 3 && ++*waited < 100)
			return;
		*waited = 0;
		for (const Call &call : *held)
			proxy.answer(call);
		held->clear();
	});
	bench.expect_load(8, 5, medium);
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works();
	bench.proxy.on_tick(nullptr);
	check(*most >= 3 && *most <= 64, most->load(), " calls in flight");
}

/* Section 4.1: credits of one direction are not those of the other. */
void separate_credits()
{
	ReverseBench bench;

	bench.proxy.credits = 64;
	bench.mount.file(medium);
	for (u32 credits : { 0u, 1u, ~0u }) {
		static u32 xid = 0x300;

		bench.send(cb_null(++xid, credits));
		bench.expect_null_reply(xid);
		expect_window_open(bench);
	}
}

/* More at once than the client has slots for: it may end the connection. */
void callback_flood()
{
	ReverseBench bench;

	bench.proxy.later([](Proxy &proxy) {
		for (u32 i = 0; i < 300; i++)
			proxy.send(cb_null(0x1000 + i, 32));
	});
	bench.mount.expect_works(40);
	bench.proxy.later([](Proxy &proxy) {
		for (u32 i = 0; i < 300; i++)
			proxy.send(cb_null(0x2000 + i, 32));
	});
	bench.mount.expect_works(40);
}

/* Without a back channel: NFSv3 */
void unexpected_callbacks()
{
	Bench bench;

	for (u32 i = 0; i < 300; i++) {
		bench.proxy.later([i](Proxy &proxy) {
			proxy.send(cb_null(0x400 + i, 32));
		});
		if (i % 10 == 9)
			bench.mount.expect_works();
	}
	bench.mount.expect_works();
	bench.expect_same_connection();
}

const Scenario table[] = {
	{ "c-callbacks", "client", "8166-85 8166-86 8166-87 8166-88",
	  "answered", callbacks },
	{ "c-callback-chunks", "client", "8166-90 8166-89", "ERR_CHUNK",
	  callback_with_chunks },
	{ "c-callback-same-xid", "client", "8166-81", "both are answered",
	  same_xid },
	{ "c-callback-credits", "client", "8166-82", "the forward window stays",
	  separate_credits },
	{ "c-callback-flood", "client", "8166-82 8166-85", "I/O goes on",
	  callback_flood },
	{ "c-callback-unexpected", "client", "8166-92",
	  "dropped, no Receive is lost", unexpected_callbacks },
};

} /* namespace */

Table client_callback_table()
{
	return table;
}

} /* namespace peer */
