// SPDX-License-Identifier: GPL-2.0
/*
 * Our client against replies that are wrong: RFC 8166 sections 4.2 to 4.6. What cannot
 * be a reply is dropped, and the good one that comes behind it is taken.
 */
#include <unistd.h>

#include "bench.hh"
#include "scenario.hh"

namespace peer
{

namespace
{

constexpr u32 small = 512; /* comes inline */
constexpr u32 large = 65536; /* comes by a Write chunk */

void proxied()
{
	Bench bench;

	bench.mount.expect_works();
	bench.mount.file(small);
	bench.expect_read(small);
	bench.expect_same_connection();
}

/*
 * @make makes a bad message from a good one. It goes out first; if it were taken for the
 * reply, READ would fail or have other data.
 */
using Make = std::function<Bytes(const Call &, Bytes good)>;

void expect_dropped(Bench &bench, u32 size, const Make &make, u32 times = 1)
{
	bench.proxy.on_call(
		only(NFS3_READ, [=](Proxy &proxy, const Call &call) {
			Bytes good = proxy.build_reply(call, proxy.serve(call));
			Bytes bad = make(call, good);

			for (u32 i = 0; i < times; i++) {
				proxy.send(bad);
				if (i % 8 == 7)
					usleep(2000);
			}
			usleep(30000);
			proxy.send(good);
		}));
	bench.expect_read(size);
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works();
	bench.expect_same_connection();
}

struct Prepared : Bench {
	Prepared()
	{
		mount.file(small);
		mount.file(large);
	}
};

/* The good one with another word */
Make with_word(size_t at, u32 value)
{
	return [=](const Call &, Bytes good) {
		good.set_word(at, value);
		return good;
	};
}

Make cut_to(size_t size)
{
	return [=](const Call &, Bytes good) {
		good.resize(size);
		return good;
	};
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

/* ---- RDMA_ERROR ---- */

/* Section 4.5: permanent. The RPC ends with EIO, and is not sent again. */
void expect_permanent(Bench &bench, u32 size, const Make &make)
{
	std::atomic<u32> reads = 0;

	bench.proxy.on_call(
		only(NFS3_READ, [&](Proxy &proxy, const Call &call) {
			reads++;
			proxy.send(make(call, Bytes()));
		}));
	bench.expect_read(size, EIO, 10);
	bench.proxy.on_call(nullptr);
	check_equal(reads.load(), 1u, "READs that came");
	bench.mount.expect_works();
	bench.expect_same_connection();
}

void err_chunk()
{
	Prepared bench;

	for (u32 size : { small, large })
		expect_permanent(bench, size, [](const Call &call, Bytes) {
			return encode_error(call.xid(), RPCRDMA_ERR_CHUNK);
		});
}

void err_vers()
{
	Prepared bench;

	for (u32 vers : { 1u, 2u, 0u, ~0u })
		expect_permanent(bench, small, [vers](const Call &call, Bytes) {
			return encode_error(call.xid(), RPCRDMA_ERR_VERS, vers);
		});
}

/* The credits in an error say nothing: 0 must not stop the connection. */
void err_with_credits()
{
	Prepared bench;

	for (u32 credits : { 0u, 1u, ~0u })
		expect_permanent(bench, small,
				 [credits](const Call &call, Bytes) {
					 return encode_error(call.xid(),
							     RPCRDMA_ERR_CHUNK,
							     1, credits);
				 });
	bench.expect_load(8, 20, large);
}

/* What cannot be decoded, and what belongs to no call */
void err_dropped()
{
	Prepared bench;

	for (u32 error : { 0u, 3u, ~0u })
		expect_dropped(bench, small, [error](const Call &call, Bytes) {
			return encode_error(call.xid(), error);
		});
	for (size_t size : { 16, 17, 19, 20, 24, 27 })
		expect_dropped(bench, small, [size](const Call &call, Bytes) {
			Bytes error =
				encode_error(call.xid(), RPCRDMA_ERR_VERS);

			error.resize(size);
			return error;
		});
	/* ERR_CHUNK is an error of version 1. */
	expect_dropped(bench, small, [](const Call &call, Bytes) {
		return encode_error(call.xid(), RPCRDMA_ERR_CHUNK, 2);
	});
	for (u32 error : { RPCRDMA_ERR_VERS, RPCRDMA_ERR_CHUNK })
		expect_dropped(
			bench, small,
			[error](const Call &call, Bytes) {
				return encode_error(call.xid() + 999, error);
			},
			600);
}

/* ---- reduction ---- */

/* Section 6.1: an eligible result that is inline although there was a Write chunk */
void not_reduced()
{
	constexpr u32 size = 3584;
	/* The server says that it sends 1024, so that there is a chunk for so little. */
	Options options = Proxy::default_options();

	options.private_data = Options::private_block(1024, 4096, 0);
	Bench bench(options);

	bench.mount.file(size);
	bench.proxy.on_call(only(NFS3_READ, [](Proxy &proxy, const Call &call) {
		Header header = { .xid = call.xid() };

		check(!call.header.write.empty(), "no Write chunk");
		header.write = { written(call.header.write[0], 0) };
		proxy.send(header.encode(proxy.serve(call).view()));
	}));
	bench.expect_read(size, EIO);
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works();
}

/* A count that is more than what is in the chunk: never other people's bytes */
void short_chunk()
{
	Prepared bench;

	bench.proxy.on_call(only(NFS3_READ, [](Proxy &proxy, const Call &call) {
		Bytes rpc = proxy.serve(call);
		Bytes good = proxy.build_reply(call, rpc);
		Header header = { .xid = call.xid() };
		size_t size = decode(good.view()).payload.size();

		header.write = { written(call.header.write.at(0), 4096) };
		proxy.send(header.encode(good.view(good.size() - size, size)));
	}));
	std::string path = bench.mount.path(text("file-", large));
	auto data = std::make_shared<Bytes>();
	Work work([path, data] { return read_file(path, large, data.get()); });
	int error = work.result(20);

	if (!error) {
		Bytes wanted = Bytes::pattern(large, large);

		check(data->size() <= large, "too many bytes");
		check(Bytes(data->view(0, data->size())) ==
			      Bytes(wanted.view(0, data->size())),
		      "read() gives wrong data");
	}
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works();
}

const Scenario table[] = {
	{ "c-proxied", "client", "8166-21 8166-44 8166-54 8166-55",
	  "I/O through the proxy", proxied },
	{ "c-runts", "client", "8166-59", "dropped", runts },
	{ "c-runt-flood", "client", "8166-59 8166-6",
	  "dropped, no Receive is lost", runt_flood },
	{ "c-bad-headers", "client", "8166-60 8166-19 8166-18 8166-83",
	  "dropped", bad_headers },
	{ "c-truncated-lists", "client", "8166-60", "dropped",
	  truncated_lists },
	{ "c-msgp-and-done", "client", "8166-24 8166-25 L6", "dropped",
	  msgp_and_done },
	{ "c-read-list", "client", "8166-42 8166-60 L1 L9 O11", "dropped",
	  read_list },
	{ "c-unknown-xid", "client", "8166-60", "dropped", unknown_xid },
	{ "c-nomsg", "client", "8166-22 8166-60", "dropped", nomsg },
	{ "c-long-write-chunk", "client", "8166-60 8166-47 8166-72", "dropped",
	  long_write_chunk },
	{ "c-long-reply-chunk", "client", "8166-60 8166-57 8166-72", "dropped",
	  long_reply_chunk },
	{ "c-duplicates", "client", "8166-60", "dropped", duplicates },
	{ "c-err-chunk", "client", "8166-65 8166-106 O32",
	  "EIO, not sent again", err_chunk },
	{ "c-err-vers", "client", "8166-65 8166-61 8166-80",
	  "EIO, not sent again", err_vers },
	{ "c-err-credits", "client", "8166-83 8166-3", "EIO, credits unchanged",
	  err_with_credits },
	{ "c-err-dropped", "client", "8166-65 O33", "dropped", err_dropped },
	{ "c-not-reduced", "client", "8166-29", "EIO", not_reduced },
	{ "c-short-chunk", "client", "8166-28 8166-51",
	  "an error or the right data", short_chunk },
};

} /* namespace */

Table client_reply_table()
{
	return table;
}

} /* namespace peer */
