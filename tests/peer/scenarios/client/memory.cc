// SPDX-License-Identifier: GPL-2.0
/*
 * Our client against servers that go for its memory, or invalidate R_keys that are not
 * theirs: RFC 8166 sections 4.4 and 8.1, RFC 8797 section 4.1.
 */
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "proxy/bench.hh"
#include "scenario.hh"

namespace peer
{

namespace
{

/* ---- memory ---- */

/*
 * Over iWARP an RDMA Write is done when it was sent: that it was refused is seen from the
 * end of the connection.
 */
bool refused(Proxy &proxy, bool write, const rpcrdma_segment &segment)
{
	bool done =
		write ? proxy.wire().rdma_write(proxy.staging(), 0, segment) :
			proxy.wire().rdma_read(proxy.staging(), 0, segment);

	if (done && !proxy.wire().ends_within(10000))
		return false;
	proxy.drop();
	return true;
}

/* Is the R_key dead for a peer that has just answered? It loses its connection. */
void expect_dead(Bench &bench, bool by_write)
{
	auto dead = std::make_shared<std::atomic<int>>(-1);

	bench.proxy.on_call(
		only(by_write ? NFS3_READ : NFS3_WRITE, [=](Proxy &proxy,
							    const Call &call) {
			if (*dead >= 0) {
				proxy.answer(call);
				return;
			}
			rpcrdma_segment segment =
				by_write ? call.header.write.at(0).at(0) :
					   call.header.read.at(0).second.at(0);

			segment.length = 16;
			proxy.answer(call);
			sleep(1); /* it is fenced before it is over */
			*dead = refused(proxy, by_write, segment);
		}));
	if (by_write)
		bench.expect_read(large, 0, 30);
	else
		bench.mount.file(large);
	for (u32 i = 0; i < 2000 && *dead < 0; i++)
		usleep(10000);
	check_equal(dead->load(), 1,
		    "R_key dead after the reply (1), or alive (0)");
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works(30);
}

void fenced()
{
	Loaded bench;

	expect_dead(bench, true);
	expect_dead(bench, false);
}

bool provider_is(const char *name)
{
	const char *provider = getenv("PROVIDER");

	return provider && !strcmp(provider, name);
}

/* RFC 5042 section 6.3.5: what is for the peer to write it cannot read; exact bounds */
void rights()
{
	Loaded bench;

	/* 0: Read of a Write chunk, 1: Write to a Read chunk, 2 and 3: beyond the end */
	for (u32 what = 0; what < 4; what++) {
		/* siw does not look whether a region may be read. */
		if (what == 0 && provider_is("siw"))
			continue;
		auto was_refused = std::make_shared<std::atomic<int>>(-1);

		bench.proxy.on_call(only(
			what % 2 ? NFS3_WRITE : NFS3_READ,
			[=](Proxy &proxy, const Call &call) {
				if (*was_refused >= 0) {
					proxy.answer(call);
					return;
				}
				rpcrdma_segment segment =
					what % 2 ?
						call.header.read.at(0).second.at(
							0) :
						call.header.write.at(0).at(0);
				bool write = what == 1 || what == 2;

				segment.length = what < 2 ? 16 :
							    segment.length + 1;
				*was_refused = refused(proxy, write, segment);
			}));
		if (what % 2)
			bench.mount.file(large);
		else
			bench.expect_read(large, 0, 30);
		check_equal(was_refused->load(), 1, "access refused");
		bench.proxy.on_call(nullptr);
		bench.mount.expect_works(30);
	}
}

/*
 * Section 8.1.3: memory of a killed process is fenced before it is given back. A READ would
 * go on without its process; READDIR is over with it.
 */
void killed()
{
	Loaded bench;
	auto segment = std::make_shared<rpcrdma_segment>();
	auto state = std::make_shared<std::atomic<u32>>(0);

	/* 0 nothing yet, 1 taken, 2 killed, 3 found dead, 4 found alive */
	bench.proxy.on_call([=](Proxy &proxy, const Call &call) {
		if (!call.header.reply || *state) {
			proxy.answer(call);
			return;
		}
		*segment = call.header.reply->at(0);
		segment->length = 16;
		*state = 1;
	});
	bench.proxy.on_tick([=](Proxy &proxy) {
		if (*state == 2)
			*state = refused(proxy, true, *segment) ? 3 : 4;
	});
	pid_t ls = start_program({ "ls", "-f", bench.mount.directory() });

	for (u32 i = 0; i < 2000 && !*state; i++)
		usleep(10000);
	kill(ls, SIGKILL);
	wait_program(ls, 20);
	check_equal(state->load(), 1u, "READDIR taken");
	sleep(1);
	*state = 2;
	for (u32 i = 0; i < 2000 && *state == 2; i++)
		usleep(10000);
	check_equal(state->load(), 3u,
		    "R_key of a killed process: dead (3), or alive (4)");
	bench.proxy.on_tick(nullptr);
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works(30);
}

/* ---- Send With Invalidate ---- */

Options invalidating(u8 flags)
{
	Options options = Proxy::default_options();

	options.private_data = Options::private_block(4096, 4096, flags);
	return options;
}

std::vector<u32> rkeys_of(const Call &call)
{
	std::vector<u32> rkeys;

	for (const auto &[position, chunk] : call.header.read)
		for (const rpcrdma_segment &segment : chunk)
			rkeys.push_back(segment.handle);
	for (const Chunk &chunk : call.header.write)
		for (const rpcrdma_segment &segment : chunk)
			rkeys.push_back(segment.handle);
	if (call.header.reply)
		for (const rpcrdma_segment &segment : *call.header.reply)
			rkeys.push_back(segment.handle);
	return rkeys;
}

/* Any one of the R_keys of the call, also from a server that did not set R */
void expect_invalidation(u8 flags)
{
	Loaded bench(invalidating(flags));
	auto turn = std::make_shared<u32>(0);
	auto can = std::make_shared<std::atomic<bool>>(true);

	bench.proxy.on_call([=](Proxy &proxy, const Call &call) {
		std::vector<u32> rkeys = rkeys_of(call);
		Bytes good = proxy.build_reply(call, proxy.serve(call));

		if (rkeys.empty() || ++*turn % 4 == 0 || !*can) {
			proxy.send(good);
			return;
		}
		*can = proxy.wire().send_with_invalidate(
			good.view(), rkeys[*turn % rkeys.size()]);
		if (!*can)
			proxy.send(good);
	});
	for (u32 i = 0; i < 5; i++) {
		bench.mount.expect_works();
		if (!*can)
			throw Skipped(
				"no Send With Invalidate from user space");
		bench.expect_load(8, 10, large);
	}
	bench.expect_same_connection();
}

void invalidation()
{
	expect_invalidation(RPCRDMA_CM_FLAG_R);
	expect_invalidation(0);
}

/* The number of lines of the trace that have @what in them */
u32 traced(const std::string &what)
{
	std::ifstream trace("/sys/kernel/tracing/trace");
	std::string line;
	u32 count = 0;

	while (std::getline(trace, line))
		count += line.find(what) != std::string::npos;
	return count;
}

class Tracing {
    public:
	explicit Tracing(const std::string &event)
		: enable_("/sys/kernel/tracing/events/xprtrdma/" + event +
			  "/enable")
	{
		std::ofstream(enable_) << 1 << std::endl;
	}
	~Tracing()
	{
		std::ofstream(enable_) << 0 << std::endl;
	}
	bool possible() const
	{
		return std::ifstream(enable_).good();
	}

    private:
	std::string enable_;
};

/*
 * Two READs in flight; the reply to one invalidates the other's region. The connection
 * has to end, and both are read again on the next.
 */
void foreign_rkey()
{
	Tracing tracing("xprtrdma_bad_rkey");
	Loaded bench(invalidating(RPCRDMA_CM_FLAG_R));
	u32 before = traced("xprtrdma_bad_rkey");
	auto held = bench.held;
	auto state = std::make_shared<std::atomic<u32>>(0);

	bench.proxy.on_call(only(NFS3_READ, [=](Proxy &proxy,
						const Call &call) {
		if (*state) {
			proxy.answer(call);
			return;
		}
		held->add(call);
		if (held->calls.size() < 2)
			return;
		*state = 1;
		Call first = held->calls[0];
		u32 foreign = rkeys_of(held->calls[1]).at(0);
		Bytes good = proxy.build_reply(first, proxy.serve(first));

		held->calls.clear();
		if (!proxy.wire().send_with_invalidate(good.view(), foreign))
			*state = 2;
	}));
	bench.expect_load(2, 1, large, 30);
	if (*state == 2)
		throw Skipped("no Send With Invalidate from user space");
	check(bench.proxy.connections >= 2, "the connection did not end");
	if (tracing.possible())
		check(traced("xprtrdma_bad_rkey") > before, "no event");
	bench.mount.expect_works();
}

/* An R_key that is nobody's: the client's device refuses it. */
void made_up_rkey()
{
	Loaded bench(invalidating(RPCRDMA_CM_FLAG_R));
	auto done = std::make_shared<std::atomic<u32>>(0);

	bench.proxy.on_call(only(NFS3_READ, [=](Proxy &proxy,
						const Call &call) {
		Bytes good = proxy.build_reply(call, proxy.serve(call));

		if ((*done)++ ||
		    !proxy.wire().send_with_invalidate(good.view(), 0xbadbad))
			proxy.send(good);
	}));
	bench.expect_read(large, 0, 30);
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works(30);
}

/* With the XID of nobody it invalidates a region of a READ that is under way. */
void foreign_xid()
{
	Loaded bench(invalidating(RPCRDMA_CM_FLAG_R));
	auto done = std::make_shared<std::atomic<u32>>(0);

	bench.proxy.on_call(only(NFS3_READ, [=](Proxy &proxy,
						const Call &call) {
		if ((*done)++) {
			proxy.answer(call);
			return;
		}
		Bytes good = proxy.build_reply(call, proxy.serve(call));
		Bytes other = good;

		other.set_word(0, call.xid() + 12345);
		size_t at = good.size() - decode(good.view()).payload.size();
		other.set_word(at, call.xid() + 12345);
		if (proxy.wire().send_with_invalidate(other.view(),
						      rkeys_of(call).at(0)))
			usleep(30000);
		proxy.send(good);
	}));
	bench.expect_read(large, 0, 30);
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works(30);
}

const Scenario table[] = {
	{ "c-fenced", "client", "8166-70 8166-71 I1 A8",
	  "R_keys are dead after the reply", fenced },
	{ "c-rights", "client", "8166-74 8166-76 A6 A7",
	  "no other access than is needed", rights },
	{ "c-killed", "client", "8166-70 8166-71 L13",
	  "R_keys of a killed process are dead", killed },
	{ "c-invalidation", "client", "8166-113 P8 I5 I8",
	  "any R_key of the call, or none", invalidation },
	{ "c-foreign-rkey", "client", "8166-113 P9",
	  "the connection ends, I/O goes on", foreign_rkey },
	{ "c-made-up-rkey", "client", "8166-113 P9",
	  "the connection ends, I/O goes on", made_up_rkey },
	{ "c-foreign-xid", "client", "8166-113 P9", "I/O goes on",
	  foreign_xid },
};

} /* namespace */

Table client_memory_table()
{
	return table;
}

} /* namespace peer */
