// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our client against servers that access its memory without permission, or invalidate R_keys that
 * are not theirs: RFC 8166 sections 4.4 and 8.1, RFC 8797 section 4.1.
 */
#include <signal.h>
#include <unistd.h>

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

	if (done && !proxy.wire().ends_within(60000))
		return false;
	proxy.drop();
	return true;
}

/* Is the R_key dead when who read or wrote goes on? The peer loses its connection. */
void expect_dead(Bench &bench, bool by_write)
{
	auto segment = std::make_shared<rpcrdma_segment>();
	/* 0 nothing yet, 1 answered, 2 it is over, 3 found dead, 4 found alive */
	auto state = std::make_shared<std::atomic<u32>>(0);

	bench.proxy.on_call(
		only(by_write ? NFS3_READ : NFS3_WRITE, [=](Proxy &proxy,
							    const Call &call) {
			if (!*state) {
				*segment =
					by_write ?
						call.header.write.at(0).at(0) :
						call.header.read.at(0).second.at(
							0);
				segment->length = 16;
				*state = 1;
			}
			proxy.answer(call);
		}));
	bench.proxy.on_tick([=](Proxy &proxy) {
		if (*state == 2)
			*state = refused(proxy, by_write, *segment) ? 3 : 4;
	});
	if (by_write)
		bench.expect_read(large, 0, 30);
	else
		bench.mount.file(large);
	check_equal(state->load(), 1u, "calls that were answered");
	*state = 2;
	for (u32 i = 0; i < 2000 && *state == 2; i++)
		usleep(10000);
	check_equal(state->load(), 3u,
		    "R_key after the reply: dead (3), or alive (4)");
	bench.proxy.on_tick(nullptr);
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works(30);
}

void fenced()
{
	Loaded bench;

	expect_dead(bench, true);
	expect_dead(bench, false);
}

/* What a server may try with the memory of a call that it has not answered */
enum Attempt {
	READ_OF_A_WRITE_CHUNK,
	WRITE_TO_A_READ_CHUNK,
	WRITE_BEYOND_THE_END,
	READ_BEYOND_THE_END,
};

void expect_refused(Attempt attempt)
{
	Loaded bench;
	bool of_a_read_chunk = attempt == WRITE_TO_A_READ_CHUNK ||
			       attempt == READ_BEYOND_THE_END;
	bool write = attempt == WRITE_TO_A_READ_CHUNK ||
		     attempt == WRITE_BEYOND_THE_END;
	bool beyond = attempt == WRITE_BEYOND_THE_END ||
		      attempt == READ_BEYOND_THE_END;
	auto was_refused = std::make_shared<std::atomic<int>>(-1);

	bench.proxy.on_call(only(
		of_a_read_chunk ? NFS3_WRITE : NFS3_READ,
		[=](Proxy &proxy, const Call &call) {
			if (*was_refused >= 0) {
				proxy.answer(call);
				return;
			}
			rpcrdma_segment segment =
				of_a_read_chunk ?
					call.header.read.at(0).second.at(0) :
					call.header.write.at(0).at(0);

			segment.length = beyond ? segment.length + 1 : 16;
			*was_refused = refused(proxy, write, segment);
			if (!*was_refused)
				proxy.answer(call);
		}));
	if (of_a_read_chunk)
		bench.mount.file(large);
	else
		bench.expect_read(large, 0, 30);
	check_equal(was_refused->load(), 1, "access refused");
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works(30);
}

/* RFC 5042 section 6.3.5: what the peer may read it cannot write; exact bounds */
void rights()
{
	expect_refused(WRITE_TO_A_READ_CHUNK);
	expect_refused(WRITE_BEYOND_THE_END);
	expect_refused(READ_BEYOND_THE_END);
}

void rights_of_reading()
{
	if (provider_is("siw"))
		throw Skipped("siw does not look whether a region may be read");
	expect_refused(READ_OF_A_WRITE_CHUNK);
}

/*
 * RFC 5042 section 6.1.1: an R_key of one connection, used on another one of the same
 * client. Only that other one ends.
 */
void other_connection()
{
	if (provider_is("siw"))
		throw Skipped("siw does not look at protection domains");
	Loaded victim;
	Loaded thief;
	auto segment = std::make_shared<rpcrdma_segment>();
	/* 0 nothing yet, 1 the R_key is known, 2 refused, 3 taken */
	auto state = std::make_shared<std::atomic<u32>>(0);

	victim.proxy.on_call(
		only(NFS3_READ, [=](Proxy &proxy, const Call &call) {
			if (!*state) {
				*segment = call.header.write.at(0).at(0);
				segment->length = 16;
				*state = 1;
				for (u32 i = 0; i < 1000 && *state == 1; i++)
					usleep(10000);
			}
			proxy.answer(call);
		}));
	thief.proxy.on_tick([=](Proxy &proxy) {
		if (*state == 1)
			*state = refused(proxy, true, *segment) ? 2 : 3;
	});
	victim.expect_read(large, 0, 30);
	check_equal(state->load(), 2u,
		    "R_key on another connection: refused (2), or good (3)");
	victim.expect_same_connection();
	thief.proxy.on_tick(nullptr);
	thief.mount.expect_works(30);
}

/* The same of a connection that has been lost, on the next one to the same server */
void lost_connection()
{
	Loaded bench;
	auto segment = std::make_shared<rpcrdma_segment>();
	/* 0 nothing yet, 1 lost, 2 refused, 3 taken */
	auto state = std::make_shared<std::atomic<u32>>(0);

	bench.proxy.on_call(
		only(NFS3_READ, [=](Proxy &proxy, const Call &call) {
			if (*state == 0) {
				*segment = call.header.write.at(0).at(0);
				segment->length = 16;
				*state = 1;
				proxy.drop();
				return;
			}
			if (*state == 1 && refused(proxy, true, *segment)) {
				*state = 2;
				return;
			}
			if (*state == 1)
				*state = 3;
			proxy.answer(call);
		}));
	bench.expect_read(large, 0, 60);
	check_equal(state->load(), 2u,
		    "R_key of a lost connection: refused (2), or good (3)");
	check(bench.proxy.connections >= 3, "the connection did not end");
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works(30);
}

/* RFC 8166 section 4.3.2.2: a Write chunk has room for all that was asked for. */
void room()
{
	Bench bench;
	auto reads = std::make_shared<std::atomic<u32>>(0);
	const u32 sizes[] = { 4096, 4097, 8191, 65535, 65536, 100001 };

	for (u32 size : sizes)
		bench.mount.file(size);
	bench.proxy.on_call(only(NFS3_READ, [reads](Proxy &proxy,
						    const Call &call) {
		/* READ3args: handle, offset, count */
		u32 count = call.rpc.word_at(call.rpc.size() - 4);

		check_equal(call.header.write.size(), size_t(1),
			    "Write chunks");
		check(chunk_length(call.header.write[0]) >= count, "room for ",
		      chunk_length(call.header.write[0]), " bytes of ", count);
		++*reads;
		proxy.answer(call);
	}));
	for (u32 size : sizes)
		bench.expect_read(size);
	check(*reads >= std::size(sizes), "only ", reads->load(), " READs");
	bench.proxy.on_call(nullptr);
	bench.expect_same_connection();
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

/* Any one of the R_keys of the call, also from a server that did not set R */
void expect_invalidation(u8 flags)
{
	Loaded bench(invalidating(flags));
	auto turn = std::make_shared<u32>(0);
	auto can = std::make_shared<std::atomic<bool>>(true);

	bench.proxy.on_call([=](Proxy &proxy, const Call &call) {
		std::vector<u32> rkeys = call.rkeys();
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

/* In mountstats: bad_reply_count */
constexpr u32 bad_replies = 20;

/*
 * Two READs in flight; the reply to one invalidates the other's region. The connection
 * has to end, and both are read again on the next.
 */
void foreign_rkey()
{
	Loaded bench(invalidating(RPCRDMA_CM_FLAG_R));
	u64 before = bench.mount.statistic(bad_replies);
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
		u32 foreign = held->calls[1].rkeys().at(0);
		Bytes bad = proxy.build_reply(
			first, spoilt(first, proxy.serve(first)));

		held->calls.clear();
		if (!proxy.wire().send_with_invalidate(bad.view(), foreign))
			*state = 2;
	}));
	bench.expect_load(2, 1, large, 30);
	if (*state == 2)
		throw Skipped("no Send With Invalidate from user space");
	check(bench.proxy.connections >= 2, "the connection did not end");
	check_equal(bench.mount.statistic(bad_replies), before + 1,
		    "bad replies in mountstats");
	bench.mount.expect_works();
}

/*
 * An R_key that is nobody's: the client's device refuses it, and the message with it. The
 * data are those of another file, so that they are not taken for an answer.
 */
void made_up_rkey()
{
	Loaded bench(invalidating(RPCRDMA_CM_FLAG_R));
	/* 0 nothing yet, 1 sent, 2 it cannot be sent */
	auto state = std::make_shared<std::atomic<u32>>(0);

	bench.proxy.on_call(only(NFS3_READ, [=](Proxy &proxy,
						const Call &call) {
		Bytes rpc = proxy.serve(call);

		if (*state) {
			proxy.reply(call, rpc);
			return;
		}
		Bytes bad = proxy.build_reply(call, spoilt(call, rpc));

		*state = 1;
		if (!proxy.wire().send_with_invalidate(bad.view(), 0xbadbad) &&
		    !proxy.wire().lost()) {
			*state = 2;
			proxy.reply(call, rpc);
		}
	}));
	bench.expect_read(large, 0, 30);
	if (*state == 2)
		throw Skipped("no Send With Invalidate from user space");
	check_equal(state->load(), 1u, "attacks");
	check(bench.proxy.connections >= 2, "the connection did not end");
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works(30);
}

/*
 * With the XID of nobody it invalidates a region of a READ that is under way. That READ
 * waits on: what comes then finds no region, and the call goes out again.
 */
void foreign_xid()
{
	Loaded bench(invalidating(RPCRDMA_CM_FLAG_R));
	/* 0 nothing yet, 1 the R_key is dead, 2 alive, 3 it cannot be sent */
	auto state = std::make_shared<std::atomic<u32>>(0);

	bench.proxy.on_call(only(NFS3_READ, [=](Proxy &proxy,
						const Call &call) {
		Bytes rpc = proxy.serve(call);

		if (*state) {
			proxy.reply(call, rpc);
			return;
		}
		Bytes other = proxy.build_reply(call, spoilt(call, rpc));
		size_t at = other.size() - decode(other.view()).payload.size();
		rpcrdma_segment segment = call.header.write.at(0).at(0);

		segment.length = 16;
		other.set_word(0, call.xid() + 12345);
		other.set_word(at, call.xid() + 12345);
		if (!proxy.wire().send_with_invalidate(other.view(),
						       segment.handle)) {
			*state = 3;
			proxy.reply(call, rpc);
			return;
		}
		usleep(30000);
		*state = refused(proxy, true, segment) ? 1 : 2;
		if (*state == 2)
			proxy.reply(call, rpc);
	}));
	bench.expect_read(large, 0, 30);
	if (*state == 3)
		throw Skipped("no Send With Invalidate from user space");
	check_equal(state->load(), 1u, "R_key dead (1), or alive (2)");
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works(30);
}

const Scenario table[] = {
	{ "c-fenced", "client", "8166-70 8166-71 I1 A8",
	  "R_keys are dead after the reply", fenced },
	{ "c-rights", "client", "8166-74 8166-76 A6 A7",
	  "no other access than is needed", rights },
	{ "c-rights-of-reading", "client", "8166-74 A7",
	  "what is to be written cannot be read", rights_of_reading },
	{ "c-other-connection", "client", "8166-73 8166-75 8166-77",
	  "R_keys are dead on another connection", other_connection },
	{ "c-lost-connection", "client", "8166-77",
	  "R_keys are dead on the next connection", lost_connection },
	{ "c-room", "client", "8166-45", "Write chunks have room for all",
	  room },
	{ "c-killed", "client", "8166-70 8166-71 L13",
	  "R_keys of a killed process are dead", killed },
	{ "c-invalidation", "client", "I5 I8", "any R_key of the call, or none",
	  invalidation },
	{ "c-foreign-rkey", "client", "I8", "the connection ends, I/O goes on",
	  foreign_rkey },
	{ "c-made-up-rkey", "client", "I8", "the connection ends, I/O goes on",
	  made_up_rkey },
	{ "c-foreign-xid", "client", "I8", "the READ waits on, I/O goes on",
	  foreign_xid },
};

} /* namespace */

Table client_memory_table()
{
	return table;
}

} /* namespace peer */
