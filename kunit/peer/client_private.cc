// SPDX-License-Identifier: GPL-2.0
/*
 * Our client against CM private data of servers: RFC 8797. What it made of them is seen
 * in whether calls and replies of 2 KiB have chunks. And reverse-direction calls,
 * RFC 8167.
 */
#include <unistd.h>

#include <map>

#include "bench.hh"
#include "scenario.hh"

namespace peer
{

namespace
{

constexpr u32 medium = 2048; /* inline at a threshold of 4096, not at 1024 */

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

/* Our client's own sizes are 4096. */
void expect_thresholds(const Bytes &private_data, u32 call, u32 reply)
{
	Bench bench(with_private(private_data));

	expect_seen(bench, rpcrdma::min(call, 4096u),
		    rpcrdma::min(reply, 4096u));
}

void none()
{
	expect_thresholds(Bytes(), 1024, 1024);
}

/* A server sends what its send size says, and receives what its receive size says. */
void sizes()
{
	for (u32 size : { 1024u, 2048u, 3072u, 4096u, 5120u, 262144u }) {
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
	check_equal(u32((*got)[6]), 3u, "send size");
	check_equal(u32((*got)[7]), 3u, "receive size");
}

/* ---- reverse direction, on a mount of NFSv4.1 ---- */

Bytes cb_null(u32 xid, u32 credits)
{
	Header header = { .xid = xid, .credits = credits };
	Bytes rpc;

	rpc.word(xid).word(RPCRDMA_RPC_CALL).word(2);
	rpc.word(0x40000000).word(1).word(0).zeros(16);
	return header.encode(rpc.view());
}

constexpr const char *v41 = "vers=4.1";

/*
 * What the client sends of its own accord in the reverse direction: replies and errors with
 * these XIDs. They reach the proxy where calls are expected.
 */
struct Reverse {
	std::mutex lock;
	std::map<u32, Decoded> answers;

	std::optional<Decoded> wait(u32 xid, int milliseconds)
	{
		for (; milliseconds > 0; milliseconds -= 5) {
			{
				std::lock_guard guard(lock);
				auto found = answers.find(xid);

				if (found != answers.end())
					return found->second;
			}
			usleep(5000);
		}
		return std::nullopt;
	}
};

struct ReverseBench : Bench {
	ReverseBench()
		: Bench(Proxy::default_options(), v41)
	{
		auto reverse = this->reverse;

		proxy.on_reverse([reverse](Proxy &, const Decoded &message) {
			std::lock_guard guard(reverse->lock);

			reverse->answers[message.header.xid] = message;
		});
		mount.expect_works();
	}
	/* Sends it from the proxy's thread. */
	void send(const Bytes &message)
	{
		proxy.later([message](Proxy &proxy) { proxy.send(message); });
	}
	void expect_null_reply(u32 xid)
	{
		auto answer = reverse->wait(xid, 5000);

		check(answer.has_value(), "no reply to CB_NULL");
		check_equal(answer->header.vers, 1u, "rdma_vers");
		check_equal(answer->header.proc, u32(RPCRDMA_MSG), "rdma_proc");
		check(answer->header.credits > 0, "a grant of 0");
		check_equal(ReplyReader(answer->payload).accept_status(xid), 0u,
			    "accept_stat");
	}

	std::shared_ptr<Reverse> reverse = std::make_shared<Reverse>();
};

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

	bench.proxy.on_call([=](Proxy &, const Call &call) {
		held->push_back(call);
		if (held->size() > *most)
			*most = held->size();
	});
	bench.proxy.on_tick([=](Proxy &proxy) {
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

Table client_private_table()
{
	return table;
}

} /* namespace peer */
