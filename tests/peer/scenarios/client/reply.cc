// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our client against replies that are wrong: RFC 8166 sections 4.2 to 4.6. It has to drop a message
 * that cannot be a reply, and to take the good one behind it.
 */
#include "scenarios/client/bad_reply.hh"
#include "scenario.hh"

namespace peer
{

using namespace bad_reply;

namespace
{

void proxied()
{
	Bench bench;

	bench.mount.expect_works();
	bench.mount.file(small);
	bench.expect_read(small);
	bench.expect_same_connection();
}

void runts()
{
	Prepared bench;

	for (u32 size = 0; size < RPCRDMA_MIN_HEADER_SIZE; size++)
		expect_dropped(bench, small, cut_to(size));
}

void runt_flood()
{
	Prepared bench;

	for (u32 size : { 0, 4, 16, 20, 27 })
		expect_dropped(bench, small, cut_to(size), 600);
}

void bad_headers()
{
	Prepared bench;

	expect_dropped(bench, small, with_word(4, 2)); /* rdma_vers */
	expect_dropped(bench, small, with_word(4, 0));
	expect_dropped(bench, small, with_word(12, 5)); /* rdma_proc */
	expect_dropped(bench, small, with_word(12, ~0u));
	for (size_t at : { 16, 20, 24 })
		for (u32 word : { 1u, 2u, ~0u })
			expect_dropped(bench, small, with_word(at, word));
	/* XID of the RPC message: RFC 8166 section 4.2.1 */
	expect_dropped(bench, small, with_word(28, 1));
	/* Neither call nor reply */
	expect_dropped(bench, small, with_word(32, 2));
}

/* Every cut through the lists of a reply with a Write chunk */
void truncated_lists()
{
	Prepared bench;

	for (size_t size = RPCRDMA_MIN_HEADER_SIZE; size < 52; size += 4)
		expect_dropped(bench, large, cut_to(size));
}

void msgp_and_done()
{
	Prepared bench;

	for (u32 proc : { RPCRDMA_MSGP, RPCRDMA_DONE }) {
		expect_dropped(bench, small, with_word(12, proc));
		expect_dropped(bench, small, [proc](const Call &call, Bytes) {
			Header header = { .xid = call.xid(), .proc = proc };

			return header.encode_fixed();
		});
		expect_dropped(bench, small, with_word(12, proc), 600);
	}
}

/* Section 4.3.1: no Read list in a reply, also with a length of zero */
void read_list()
{
	Prepared bench;

	for (u32 length : { 0u, 100u })
		for (u32 position : { 0u, 40u })
			expect_dropped(bench, small, [=](const Call &call, Bytes good) {
				Header header = { .xid = call.xid() };

				header.add_read(position, { 1, length, 0 });
				return header.encode(
					good.view(28, good.size() - 28));
			});
}

void unknown_xid()
{
	Prepared bench;

	auto other = [](const Call &call, Bytes good) {
		good.set_word(0, call.xid() + 0x10000);
		good.set_word(28, call.xid() + 0x10000);
		return good;
	};
	expect_dropped(bench, small, other);
	expect_dropped(bench, small, other, 600);
}

/* RDMA_NOMSG without the Reply chunk that it would be in */
void nomsg()
{
	Prepared bench;

	expect_dropped(bench, small, with_word(12, RPCRDMA_NOMSG));
	for (u32 length : { 0u, 100u })
		expect_dropped(bench, small, [=](const Call &call, Bytes) {
			Header header = { .xid = call.xid(),
					  .proc = RPCRDMA_NOMSG };

			header.reply = Chunk{ { 7, length, 0 } };
			return header.encode();
		});
}

/* More bytes than the chunk has, and more chunks than the call */
void long_write_chunk()
{
	Prepared bench;

	for (u32 more : { 1u, 4u, 0x10000u, 0x7fffffffu }) {
		expect_dropped(bench, large, [=](const Call &call, Bytes) {
			Header header = { .xid = call.xid() };
			Chunk chunk = call.header.write.at(0);

			chunk[0].length += more;
			header.write = { chunk };
			return header.encode(Bytes().word(call.xid())
						     .word(1)
						     .zeros(120)
						     .view());
		});
	}
	expect_dropped(bench, large, [](const Call &call, Bytes) {
		Header header = { .xid = call.xid() };

		header.write = { call.header.write.at(0),
				 call.header.write.at(0) };
		return header.encode(
			Bytes().word(call.xid()).word(1).zeros(120).view());
	});
}

/* A Reply chunk that returns more than was offered; READDIR has one. */
void long_reply_chunk()
{
	Prepared bench;
	std::atomic<u32> bad = 0;

	for (u32 more : { 1u, 0x10000u, 0x7fffffffu }) {
		bench.proxy.on_call([&, more](Proxy &proxy, const Call &call) {
			Bytes good = proxy.build_reply(call, proxy.serve(call));

			if (call.header.reply) {
				Header header = { .xid = call.xid(),
						  .proc = RPCRDMA_NOMSG };

				header.reply = call.header.reply;
				header.reply->back().length += more;
				proxy.send(header.encode());
				bad++;
				usleep(20000);
			}
			proxy.send(good);
		});
		/* A directory that has not changed would not be read again. */
		bench.mount.file(1024 + more % 1024);
		check(!list_directory(bench.mount.directory()),
		      "cannot list the directory");
		check(bad.exchange(0) > 0, "no Reply chunk was offered");
	}
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works();
	bench.expect_same_connection();
}

/* All replies twice: the second has the XID of nobody. */
void duplicates()
{
	Prepared bench;

	bench.proxy.on_call([](Proxy &proxy, const Call &call) {
		Bytes good = proxy.build_reply(call, proxy.serve(call));

		proxy.send(good);
		proxy.send(good);
	});
	for (u32 i = 0; i < 5; i++)
		bench.mount.expect_works();
	bench.expect_load(8, 20, large);
	bench.expect_same_connection();
}

const Scenario table[] = {
	{ "c-proxied", "client", "8166-21 8166-54 8166-55 8166-37 8166-39",
	  "I/O through the proxy", proxied },
	{ "c-runts", "client", "8166-59", "dropped", runts },
	{ "c-runt-flood", "client", "8166-59 8166-6",
	  "dropped, no Receive is lost", runt_flood },
	{ "c-bad-headers", "client", "8166-60 8166-19 8166-18 8166-83",
	  "dropped", bad_headers },
	{ "c-truncated-lists", "client", "8166-60", "dropped",
	  truncated_lists },
	{ "c-msgp-and-done", "client", "8166-24 8166-25", "dropped",
	  msgp_and_done },
	{ "c-read-list", "client", "8166-42 8166-60 L9 O11", "dropped",
	  read_list },
	{ "c-unknown-xid", "client", "8166-60", "dropped", unknown_xid },
	{ "c-nomsg", "client", "8166-22 8166-60", "dropped", nomsg },
	{ "c-long-write-chunk", "client", "8166-60 8166-72", "dropped",
	  long_write_chunk },
	{ "c-long-reply-chunk", "client", "8166-60 8166-72", "dropped",
	  long_reply_chunk },
	{ "c-duplicates", "client", "8166-60", "dropped", duplicates },
};

} /* namespace */

Table client_reply_table()
{
	return table;
}

} /* namespace peer */
