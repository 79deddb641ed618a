// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our client against servers with odd credits, late or missing replies, and connections
 * that end: RFC 8166 section 3.3.
 */
#include <unistd.h>

#include <chrono>

#include "proxy/bench.hh"
#include "scenario.hh"
#include "traced.hh"

namespace peer
{

namespace
{

/* ---- credits ---- */

/*
 * Section 3.3.3: on a new connection one call, until the reply to it. The connection
 * is dropped under a load, so that many calls wait to be sent again.
 */
void one_until_the_grant()
{
	Loaded bench;
	auto calls = std::make_shared<std::atomic<u32>>(0);
	auto early = std::make_shared<std::atomic<u32>>(0);
	auto held = bench.held;
	auto waited = std::make_shared<int>(0);

	bench.proxy.on_connect([=](Proxy &) {
		*calls = 0;
		*waited = 0;
		held->calls.clear();
	});
	bench.proxy.on_call([=](Proxy &proxy, const Call &call) {
		if (++*calls == 40) {
			proxy.drop();
			return;
		}
		if (*calls > 1 && *waited < 20)
			++*early;
		held->add(call);
	});
	bench.proxy.on_tick([=](Proxy &proxy) {
		if (*calls && ++*waited >= 20)
			held->answer_all(proxy);
	});
	bench.proxy.drop();
	Work load([&bench] {
		bench.expect_load(16, 30, small, 60);
		return 0;
	});
	check(bench.proxy.reached(bench.proxy.connections, 4, 40000),
	      "the client does not connect again");
	bench.proxy.on_call(nullptr);
	bench.proxy.on_tick([held](Proxy &proxy) { held->answer_all(proxy); });
	load.result(60);
	check_equal(early->load(), 0u, "calls before the first grant");
}

/*
 * Never more in flight than @grant, once replies with it have come. No reply goes out before the
 * window was full: a busy machine takes its time to begin with so many calls.
 */
void expect_window(Loaded &bench, u32 grant, u32 window)
{
	auto ticks = std::make_shared<std::atomic<u32>>(0);
	auto held = bench.held;
	u32 used = rpcrdma::min(window, 16u);

	bench.proxy.credits = grant;
	bench.mount.expect_works();
	held->most = 0;
	bench.hold([ticks, held, used] {
		return ++*ticks % 4 == 0 &&
		       (held->most >= used || *ticks > 1000);
	});
	bench.expect_load(24, 6, small, 60);
	check(held->most <= window, held->most.load(),
	      " calls in flight, the grant is ", grant);
	/* The window is there to be used: or this would be no test. */
	check(held->most >= used, "only ", held->most.load(),
	      " calls in flight of ", grant);
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works();
}

void windows()
{
	Loaded bench;

	for (u32 grant : { 4u, 1u, 16u, 2u, 64u })
		expect_window(bench, grant, grant);
	bench.expect_same_connection();
}

/* Replies that are dropped do not give credits back: their calls are still under way. */
void dropped_replies()
{
	Loaded bench;
	auto held = bench.held;

	bench.proxy.credits = 2;
	bench.mount.expect_works();
	held->most = 0;
	bench.proxy.on_call(
		only(NFS3_READ, [held](Proxy &proxy, const Call &call) {
			Header bad = { .xid = call.xid() };

			bad.write = { call.header.write.at(0) };
			bad.write[0][0].length += 4;
			for (u32 i = 0; i < 4; i++)
				proxy.send(bad.encode(Bytes().word(call.xid())
							      .word(1)
							      .zeros(64)
							      .view()));
			held->add(call);
		}));
	bench.proxy.on_tick([held](Proxy &proxy) { held->answer_all(proxy); });
	bench.expect_load(16, 6, large, 60);
	check(held->most <= 2, held->most.load(),
	      " calls in flight, the grant is 2");
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works();
	bench.expect_same_connection();
}

/* 0 is against the rules, and must not stop anything; huge ones change nothing. */
void odd_grants()
{
	Loaded bench;

	expect_window(bench, 0, 1);
	expect_window(bench, ~0u, 128);
	expect_window(bench, 0x80000000u, 128);
	expect_window(bench, 0, 1);
	bench.expect_same_connection();
}

/* Up and down with each reply, under load */
void changing_grants()
{
	Loaded bench;
	auto number = std::make_shared<u32>(0);

	bench.proxy.on_call([number](Proxy &proxy, const Call &call) {
		static const u32 grants[] = { 32, 1, 64, 0, 3, 128, 2, ~0u };

		proxy.credits = grants[++*number % 8];
		proxy.answer(call);
	});
	for (u32 i = 0; i < 4; i++) {
		bench.expect_load(16, 20, i % 2 ? large : small);
		bench.mount.expect_works();
	}
	bench.expect_same_connection();
}

/* ---- replies that come late, or not at all ---- */

void late_replies()
{
	Loaded bench;
	auto ticks = std::make_shared<std::atomic<u32>>(0);

	bench.hold([ticks] { return ++*ticks > 200; });
	bench.expect_load(4, 1, large);
	bench.expect_same_connection();
}

/* Its machine is there, and says so: the client asks twice, and waits on. */
void slow_answer()
{
	Loaded bench(Proxy::default_options(), "timeo=3000");
	Traced trace("xprtrdma/xprtrdma_probe");
	auto answer = std::make_shared<std::atomic<bool>>(false);

	bench.hold([answer] { return answer->load(); });
	Work load([&bench] {
		bench.expect_load(4, 1, large, 200);
		return 0;
	});
	trace.expect("xprtrdma_probe: .* value=4(.|\n)*xprtrdma_probe: ", 100);
	check(!load.ready(), "an answer came early");
	*answer = true;
	load.result(60);
	bench.expect_same_connection();
}

/* Sent again, but on another connection: RFC 8166 section 3.3.1, one credit a call */
void missing_replies()
{
	Loaded bench(Proxy::default_options(), "timeo=20,retrans=3");
	auto missing = std::make_shared<std::atomic<u32>>(0);

	bench.proxy.on_call(
		only(NFS3_READ, [missing](Proxy &proxy, const Call &call) {
			if (++*missing > 1)
				proxy.answer(call);
		}));
	bench.expect_read(large, 0, 30);
	check(*missing >= 2, "the call was not sent again");
	check_equal(bench.proxy.repeated.load(), 0u,
		    "calls sent twice on a connection");
	check(bench.proxy.connections >= 2, "no new connection");
	bench.mount.expect_works();
}

void drops_under_load()
{
	Loaded bench;
	auto count = std::make_shared<u32>(0);

	bench.proxy.on_call([count](Proxy &proxy, const Call &call) {
		if (++*count % 50 == 0)
			proxy.drop(); /* this call gets no answer */
		else
			proxy.answer(call);
	});
	bench.expect_load(8, 30, large, 120);
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works(30);
	check(bench.proxy.connections >= 3, "no new connections");
	check_equal(bench.proxy.repeated.load(), 0u,
		    "calls sent twice on a connection");
}

/* Ended as soon as they are there; the client comes back, at its own pace. */
void early_disconnects()
{
	Loaded bench;
	u32 before = bench.proxy.connections;

	bench.proxy.refuse(true);
	bench.proxy.drop();
	Work load([&bench] {
		bench.expect_read(small, 0, 60);
		return 0;
	});
	bench.proxy.reached(bench.proxy.connections, before + 3, 30000);
	check(bench.proxy.connections <= before + 20,
	      "it connects too often: ", bench.proxy.connections - before);
	bench.proxy.refuse(false);
	load.result(60);
	bench.mount.expect_works();
}

/*
 * A connection takes longer to come back than a call has until its major timeout, which is
 * over when it is sent; and the server takes a while.
 */
void short_timeouts()
{
	Loaded bench(Proxy::default_options(), "timeo=5,retrans=1");
	auto ticks = std::make_shared<std::atomic<u32>>(0);
	u32 before = bench.proxy.connections;

	bench.hold([ticks] { return ++*ticks % 10 == 0; });
	bench.proxy.refuse(true);
	bench.proxy.drop();
	Work load([&bench] {
		bench.expect_read(small, 0, 60);
		return 0;
	});
	check(bench.proxy.reached(bench.proxy.connections, before + 3, 30000),
	      "the client does not connect again");
	bench.proxy.refuse(false);
	load.result(60);
	check(bench.proxy.connections <= before + 6,
	      "it connects too often: ", bench.proxy.connections - before);
}

const Scenario table[] = {
	{ "c-one-until-grant", "client", "8166-9 O39",
	  "one call before the first reply", one_until_the_grant },
	{ "c-windows", "client", "8166-1 8166-2 8166-4 8166-8 O5 O27",
	  "never more in flight than granted", windows },
	{ "c-dropped-replies", "client", "8166-1 8166-60",
	  "never more in flight than granted", dropped_replies },
	{ "c-odd-grants", "client", "8166-2 8166-3 O4 O7",
	  "0 is taken for 1, huge ones are limited", odd_grants },
	{ "c-changing-grants", "client", "8166-4 O3", "I/O goes on",
	  changing_grants },
	{ "c-late-replies", "client", "", "I/O goes on", late_replies },
	{ "c-slow-answer", "client", "", "the connection stays, and is probed",
	  slow_answer },
	{ "c-missing-replies", "client", "8166-1 8166-110",
	  "sent again on a new connection", missing_replies },
	{ "c-drops-under-load", "client", "8166-110 8166-93",
	  "I/O goes on, data are right", drops_under_load },
	{ "c-early-disconnects", "client", "8166-110",
	  "it comes back, not too often", early_disconnects },
	{ "c-short-timeouts", "client", "8166-110",
	  "what is sent has time to be answered", short_timeouts },
};

} /* namespace */

Table client_flow_table()
{
	return table;
}

} /* namespace peer */
