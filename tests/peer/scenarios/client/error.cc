// SPDX-License-Identifier: GPL-2.0-only
/* Our client against RDMA_ERROR, and odd reduction: RFC 8166 sections 4.5 and 6.1. */
#include "scenarios/client/bad_reply.hh"
#include "scenario.hh"

namespace peer
{

using namespace bad_reply;

namespace
{

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
	bench.expect_same_connection();
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

/*
 * The credits in an error say nothing. While @grant calls are in flight one of them gets an
 * error with other credits: its own comes back, so that one more call comes, and no more.
 */
void expect_grant_unchanged(u32 grant, u32 credits)
{
	constexpr u32 readers = 24;
	Loaded bench;
	auto held = bench.held;
	auto came = std::make_shared<std::atomic<u32>>(0);
	std::string path = bench.mount.path(text("file-", small));
	std::vector<Work> works;
	u32 failed = 0;

	bench.proxy.credits = grant;
	bench.mount.expect_works();
	bench.proxy.on_call(only(NFS3_READ, [=](Proxy &, const Call &call) {
		held->add(call);
		++*came;
	}));
	for (u32 i = 0; i < readers; i++)
		works.emplace_back([path] { return read_file(path, small); });
	check(bench.proxy.reached(*came, grant, 10000), "only ", came->load(),
	      " calls in flight of ", grant);
	bench.proxy.later([=](Proxy &proxy) {
		Call call = held->calls.front();

		held->calls.pop_front();
		proxy.send(encode_error(call.xid(), RPCRDMA_ERR_CHUNK, 1,
					credits));
	});
	check(bench.proxy.reached(*came, grant + 1, 5000),
	      "no call came behind an error with ", credits, " credits");
	usleep(300000);
	check_equal(came->load(), grant + 1, "calls");
	bench.proxy.on_call(nullptr);
	bench.proxy.on_tick([held](Proxy &proxy) { held->answer_all(proxy); });
	for (Work &work : works)
		failed += work.result(30) == EIO;
	check_equal(failed, 1u, "READs with EIO");
	bench.mount.expect_works();
	bench.expect_same_connection();
}

void err_with_credits()
{
	expect_grant_unchanged(4, 64);
	expect_grant_unchanged(4, ~0u);
	expect_grant_unchanged(8, 1);
	expect_grant_unchanged(8, 0);
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

/*
 * Section 6.6: the session slot of a COMPOUND that ended with RDMA_ERROR is used again, whether
 * the server has seen its sequence number or not.
 */
void err_on_session()
{
	for (bool served : { true, false }) {
		Bench bench(Proxy::default_options(), "vers=4.1");
		std::atomic<u32> refused = 0;

		bench.mount.file(large);
		bench.proxy.on_call([&](Proxy &proxy, const Call &call) {
			if (call.header.write.empty() || refused) {
				proxy.answer(call);
				return;
			}
			if (served)
				proxy.serve(call);
			refused++;
			proxy.send(encode_error(call.xid(), RPCRDMA_ERR_CHUNK));
		});
		bench.expect_read(large, EIO);
		check_equal(refused.load(), 1u, "READs refused");
		for (u32 i = 0; i < 20; i++)
			bench.expect_read(large);
		bench.expect_load(4, 10, large);
		bench.proxy.on_call(nullptr);
		bench.mount.expect_works();
		check_equal(bench.proxy.connections.load(), 1u, "connections");
	}
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

/*
 * The attributes are in the chunk, and the data where the attributes were: an error, or what
 * the file has, but nothing else.
 */
void wrong_item()
{
	constexpr size_t at = 32, length = 84;
	Prepared bench;

	bench.proxy.on_call(only(NFS3_READ, [](Proxy &proxy, const Call &call) {
		Bytes rpc = proxy.serve(call), rest;
		Header header = { .xid = call.xid() };
		rpcrdma_segment segment = call.header.write.at(0).at(0);

		proxy.staging().put(0, rpc.view(at, length));
		segment.length = length;
		proxy.wire().rdma_write(proxy.staging(), 0, segment);
		rest.raw(rpc.view(0, at))
			.raw(rpc.view(at + length, rpc.size() - at - length));
		header.write = { written(call.header.write[0], length) };
		proxy.send(header.encode(rest.view()));
	}));
	std::string path = bench.mount.path(text("file-", small));
	auto data = std::make_shared<Bytes>();
	Work work([path, data] { return read_file(path, large, data.get()); });
	int error = work.result(20);

	check(error || *data == Bytes::pattern(small, small),
	      "read() gives wrong data");
	bench.proxy.on_call(nullptr);
	bench.mount.expect_works();
}

const Scenario table[] = {
	{ "c-err-chunk", "client", "8166-65 8166-106 O32",
	  "EIO, not sent again", err_chunk },
	{ "c-err-vers", "client", "8166-65 8166-80", "EIO, not sent again",
	  err_vers },
	{ "c-err-on-session", "client", "8166-108", "the slot works again",
	  err_on_session },
	{ "c-err-credits", "client", "8166-83", "EIO, the window is as before",
	  err_with_credits },
	{ "c-err-dropped", "client", "8166-65 O33", "dropped", err_dropped },
	{ "c-not-reduced", "client", "8166-29", "EIO", not_reduced },
	{ "c-wrong-item", "client", "8166-28", "an error or the right data",
	  wrong_item },
	{ "c-short-chunk", "client", "8166-28 8166-51",
	  "an error or the right data", short_chunk },
};

} /* namespace */

Table client_error_table()
{
	return table;
}

} /* namespace peer */
