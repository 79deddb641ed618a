// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our client against CM private data of servers: RFC 8797. Chunks of calls and replies of 2 KiB
 * show how it has understood them.
 */
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "nfs/session.hh"
#include "proxy/bench.hh"
#include "scenario.hh"
#include "wire/trace.hh"

namespace peer
{

namespace
{

constexpr u32 usual = RPCRDMA_INLINE_USUAL;
constexpr u32 medium =
	2048; /* inline at a threshold of 4096 or more, not at 1024 */

struct Seen {
	std::atomic<int> read_chunk = -1;
	std::atomic<int> write_chunk = -1;
};

/* Looks at WRITE and READ of 2 KiB. */
Proxy::Hook looking(std::shared_ptr<Seen> seen)
{
	return [seen](Proxy &proxy, const Call &call) {
		if (call.procedure() == NFS3_WRITE)
			seen->read_chunk = !call.header.read.empty();
		if (call.procedure() == NFS3_READ)
			seen->write_chunk = !call.header.write.empty();
		proxy.answer(call);
	};
}

Options with_private(const Bytes &bytes)
{
	Options options = Proxy::default_options();

	options.private_data = bytes;
	return options;
}

void expect_seen(Bench &bench, u32 call_threshold, u32 reply_threshold)
{
	auto seen = std::make_shared<Seen>();

	bench.proxy.on_call(looking(seen));
	bench.mount.file(medium);
	bench.expect_read(medium);
	check_equal(seen->read_chunk.load(), int(call_threshold < medium + 200),
		    "Read chunk for 2 KiB");
	check_equal(seen->write_chunk.load(),
		    int(reply_threshold < medium + 200),
		    "Write chunk for 2 KiB");
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works();
	check(bench.proxy.largest_call <= call_threshold, "a message of ",
	      bench.proxy.largest_call.load(), " bytes");
	bench.expect_same_connection();
}

/* Our client's own sizes are RPCRDMA_INLINE_USUAL. */
void expect_thresholds(const Bytes &private_data, u32 call, u32 reply)
{
	Bench bench(with_private(private_data));

	expect_seen(bench, rpcrdma::min(call, usual),
		    rpcrdma::min(reply, usual));
}

void none()
{
	expect_thresholds(Bytes(), 1024, 1024);
}

/* A server sends what its send size says, and receives what its receive size says. */
void sizes()
{
	for (u32 size : { 1024u, 2048u, 3072u, 4096u, 5120u, 6144u, 262144u }) {
		expect_thresholds(Options::private_block(4096, size, 0), size,
				  4096);
		expect_thresholds(Options::private_block(size, 4096, 0), 4096,
				  size);
	}
}

void every_offset()
{
	Bytes block = Options::private_block(4096, 4096, 0);

	for (u32 offset = 0; offset <= 48; offset += offset < 9 ? 1 : 13) {
		Bytes bytes;

		for (u32 i = 0; i < offset; i++)
			bytes.raw(block.view(i % 3, 1));
		expect_thresholds(bytes.raw(block.view()), 4096, 4096);
	}
}

void cut_short()
{
	Bytes block = Options::private_block(4096, 4096, 0);

	for (u32 length = 0; length < 6; length++)
		expect_thresholds(Bytes(block.view(0, length)), 1024, 1024);
	for (u32 length : { 1, 3, 4, 6, 7 }) {
		Bytes bytes;

		bytes.zeros(196 - length).raw(block.view(0, length));
		expect_thresholds(bytes, 1024, 1024);
	}
}

void other_versions()
{
	for (u8 version : { 0, 2, 0xff }) {
		Bytes block = Options::private_block(4096, 4096, 1);

		block[4] = version;
		expect_thresholds(block, 1024, 1024);
		/* And a good one behind it */
		expect_thresholds(
			block.raw(Options::private_block(4096, 4096, 0).view()),
			4096, 4096);
	}
}

void flags()
{
	for (u8 flags : { 0x01, 0x02, 0x80, 0xfe, 0xff })
		expect_thresholds(Options::private_block(4096, 1024, flags),
				  1024, 4096);
}

/* Other sizes on each reconnect: of one mount, under its feet */
void changes_on_reconnect()
{
	Bench bench(with_private(Options::private_block(4096, 4096, 0)));
	u32 connections = 1;

	expect_seen(bench, 4096, 4096);
	for (u32 size : { 1024u, 4096u, 1024u }) {
		auto seen = std::make_shared<Seen>();

		bench.proxy.set_options(with_private(
			size == 1024 ? Bytes() :
				       Options::private_block(size, size, 0)));
		bench.proxy.drop();
		bench.proxy.on_call(looking(seen));
		bench.mount.expect_works(30);
		check(bench.proxy.connections > connections,
		      "no new connection");
		connections = bench.proxy.connections;
		bench.mount.file(medium);
		bench.expect_read(medium);
		check_equal(seen->read_chunk.load(), int(size < 4096),
			    "Read chunk for 2 KiB");
		check_equal(seen->write_chunk.load(), int(size < 4096),
			    "Write chunk for 2 KiB");
	}
}

/* What our client sends: RFC 8797 section 4 */
void sent_by_client()
{
	auto got = std::make_shared<Bytes>();
	Proxy proxy;

	proxy.on_connect(
		[got](Proxy &proxy) { *got = proxy.wire().peer_private(); });
	{
		Mount mount(proxy.port());

		mount.expect_works();
	}
	check(got->size() >= 8, "private data of ", got->size(), " bytes");
	check_equal(got->word_at(0), u32(RPCRDMA_CM_FORMAT_ID), "identifier");
	check_equal(u32((*got)[4]), 1u, "version");
	check_equal(u32((*got)[5]) & 0xfe, 0u, "reserved bits");
	check_equal((u32((*got)[6]) + 1) * 1024, usual, "send size");
	check_equal((u32((*got)[7]) + 1) * 1024, usual, "receive size");
}

/* The names of what rpcrdma check finds on this machine, with a space behind each */
std::string findings()
{
	const char *top = getenv("TOP");
	std::string command = text(top ? top : ".", "/tools/rpcrdma check ",
				   the_server().address);
	std::unique_ptr<FILE, int (*)(FILE *)> said(popen(command.c_str(), "r"),
						    pclose);
	std::string names;
	char line[1000];

	check(said != nullptr, "cannot run ", command);
	while (fgets(line, sizeof(line), said.get())) {
		const char *colon = strchr(line, ':');

		line[strcspn(line, "\n")] = 0;
		trace_line(line);
		if (line[0] != ' ' && colon &&
		    strncmp(line, "not looked at", 13) &&
		    strncmp(line, "note: ", 6))
			names += std::string(line, size_t(colon - line)) + " ";
	}
	return names;
}

/* What was unmounted goes from the statistics a moment later. */
void expect_findings(const std::string &wanted)
{
	std::string got = findings();

	for (u32 i = 0; i < 50 && got != wanted; i++) {
		usleep(100000);
		got = findings();
	}
	check_equal(got, wanted, "findings");
}

/* What an administrator is told of a server that sends none, and of one that does */
void told_by_check()
{
	{
		Bench bench(with_private(Bytes()));

		bench.mount.expect_works();
		expect_findings("peer-no-private-data ");
	}
	Bench bench(with_private(Options::private_block(4096, 4096, 0)));

	bench.mount.expect_works();
	expect_findings("nothing wrong found ");
}

const Scenario table[] = {
	{ "c-private-none", "client", "8166-14 8166-115 P13 P14 P16 I10 O39",
	  "thresholds of 1024", none },
	{ "c-private-sizes", "client",
	  "8166-12 8166-13 8166-114 8166-55 P11 P12",
	  "the smaller of both sizes", sizes },
	{ "c-private-offsets", "client", "8166-116 P15", "found",
	  every_offset },
	{ "c-private-cut", "client", "8166-116 P17", "thresholds of 1024",
	  cut_short },
	{ "c-private-versions", "client", "8166-116 P17 P18",
	  "thresholds of 1024", other_versions },
	{ "c-private-flags", "client", "8166-111 P7",
	  "reserved bits change nothing", flags },
	{ "c-private-reconnect", "client", "8166-112 P5",
	  "each connection has its own", changes_on_reconnect },
	{ "c-private-sent", "client", "8166-111 P4 P7 P11",
	  "a block with the default sizes", sent_by_client },
	{ "c-private-told", "client", "", "rpcrdma check names it",
	  told_by_check },
};

} /* namespace */

Table client_private_table()
{
	return table;
}

} /* namespace peer */
