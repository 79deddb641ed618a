// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our client against reverse-direction calls with chunks, if its knob allows them: RFC 8167 section
 * 5.3.
 */

#include "knob.hh"
#include "proxy/reverse_bench.hh"
#include "scenario.hh"

namespace peer
{

namespace
{

/* Behind what the proxy itself uses of its memory */
constexpr u32 offset = 2 << 20;

/* CB_NULL; what comes behind its arguments is not looked at. */
Bytes padded_null(u32 xid, u32 size)
{
	Bytes rpc;

	rpc.word(xid).word(RPCRDMA_RPC_CALL).word(2);
	rpc.word(0x40000000).word(1).word(0).zeros(16);
	return rpc.zeros(size - rpc.size());
}

/* The knob is there before the mount, and goes after it. */
struct WithKnob {
	Knob knob{ "rdma_reliable_reply", 1 };
};

struct ChunkBench : WithKnob, ReverseBench {
	using ReverseBench::ReverseBench;

	/* The header is built in the proxy's thread, with memory of the connection. */
	void call(u32 xid, const Bytes &rpc,
		  std::function<void(Header &, Memory &)> chunks)
	{
		proxy.later([=](Proxy &proxy) {
			Header header = { .xid = xid };

			proxy.staging().put(offset, rpc.view());
			chunks(header, proxy.staging());
			proxy.send(header.encode(header.proc == RPCRDMA_MSG ?
							 rpc.view(0, 40) :
							 View()));
		});
	}
	void call_long(u32 xid, const Bytes &rpc, u32 pieces = 1)
	{
		call(xid, rpc, [=](Header &header, Memory &memory) {
			u32 done = 0, size = u32(rpc.size());

			header.proc = RPCRDMA_NOMSG;
			for (u32 i = 1; i <= pieces; i++) {
				u32 n = i < pieces ? (size - done) / 3 :
						     size - done;

				header.add_read(0, memory.segment(offset + done,
								  n));
				done += n;
			}
		});
	}
	Decoded expect_answer(u32 xid, u32 proc)
	{
		auto answer = reverse->wait(xid, 10000);

		check(answer.has_value(), "no answer");
		check_equal(answer->header.proc, proc, "rdma_proc");
		return *answer;
	}
	void expect_refused(u32 xid)
	{
		check_equal(expect_answer(xid, RPCRDMA_ERROR).header.error,
			    u32(RPCRDMA_ERR_CHUNK), "rdma_err");
	}
	void expect_unharmed()
	{
		mount.expect_works();
		expect_same_connection();
	}
};

void long_calls()
{
	ChunkBench bench;
	u32 xid = 0x5000;

	for (u32 size : { 40u, 3072u, 8192u, 65576u, 69632u })
		for (u32 pieces : { 1u, 2u, 5u }) {
			xid++;
			bench.call_long(xid, padded_null(xid, size), pieces);
			bench.expect_null_reply(xid);
		}
	bench.expect_unharmed();
}

void chunk_at_a_position()
{
	ChunkBench bench;
	u32 xid = 0x5100;

	for (u32 size : { 1u, 4u, 4097u, 60000u }) {
		xid++;
		bench.call(xid, padded_null(xid, 40),
			   [=](Header &header, Memory &memory) {
				   header.add_read(40, memory.segment(offset,
								      size));
			   });
		bench.expect_null_reply(xid);
	}
	bench.expect_unharmed();
}

/* RFC 8166 section 4.3.3: it goes back, used or not. */
void reply_chunk()
{
	ChunkBench bench;
	u32 xid = 0x5200;

	bench.call(xid, padded_null(xid, 40),
		   [](Header &header, Memory &memory) {
			   header.reply =
				   Chunk{ memory.segment(offset + 4096, 4000),
					  memory.segment(offset + 8192, 100) };
		   });
	Decoded answer = bench.expect_answer(xid, RPCRDMA_MSG);
	check_equal(ReplyReader(answer.payload).accept_status(xid), 0u,
		    "accept_stat");
	check(answer.reply && answer.reply->size() == 2, "no Reply chunk");
	check_equal(chunk_length(*answer.reply), u64(0), "bytes of it");
	check(answer.read.empty() && answer.write.empty(), "other chunks");
	bench.expect_unharmed();
}

/* Longer than announced, or than a chunk can be put together */
void bad_calls()
{
	ChunkBench bench;
	u32 xid = 0x5300;

	xid++;
	bench.call_long(xid, padded_null(xid, 69636));
	bench.expect_refused(xid);
	xid++;
	bench.call(xid, padded_null(xid, 40),
		   [](Header &header, Memory &memory) {
			   header.add_read(60, memory.segment(offset, 100));
		   });
	bench.expect_refused(xid);
	xid++;
	bench.call(xid, padded_null(xid, 40),
		   [](Header &header, Memory &memory) {
			   header.add_read(40, memory.segment(offset, 0));
		   });
	bench.expect_refused(xid);
	xid++;
	bench.call(xid, padded_null(xid, 40),
		   [](Header &header, Memory &memory) {
			   header.write = { { memory.segment(offset, 100) } };
		   });
	bench.expect_refused(xid);
	/* Another XID than the header's, and no call */
	xid++;
	bench.call_long(xid, padded_null(xid + 1, 5000));
	bench.expect_refused(xid);
	xid++;
	bench.call_long(xid,
			Bytes().word(xid).word(RPCRDMA_RPC_REPLY).zeros(4000));
	bench.expect_refused(xid);
	bench.expect_unharmed();
}

/* RFC 8166 section 4.5.4: the client loses its connection, and no more. */
void dead_rkey()
{
	ChunkBench bench;
	u32 before = bench.proxy.connections;
	u32 xid = 0x5400;

	bench.call(
		xid, padded_null(xid, 40), [](Header &header, Memory &memory) {
			rpcrdma_segment segment = memory.segment(offset, 5000);

			segment.handle ^= 0x5a5a00;
			header.proc = RPCRDMA_NOMSG;
			header.add_read(0, segment);
		});
	bench.mount.expect_works(40);
	check(bench.proxy.reached(bench.proxy.connections, before + 1, 20000),
	      "still the same connection");
	bench.mount.expect_works(40);
	check(!bench.reverse->wait(xid, 100), "it was answered");
}

void dropped()
{
	ChunkBench bench;

	for (u32 xid = 0x5500; xid < 0x5505; xid++) {
		bench.call_long(xid, padded_null(xid, 65536), 5);
		bench.proxy.later([](Proxy &proxy) { proxy.drop(); });
		bench.mount.expect_works(40);
	}
}

/* Nothing can be read from a server that takes no RDMA Reads. */
void no_reads()
{
	Options options = Proxy::default_options();
	u32 xid = 0x5600;

	if (provider_is("siw"))
		throw Skipped("siw does not say how many it takes");
	options.reads_served = 0;
	ChunkBench bench(options);
	bench.call_long(xid, padded_null(xid, 5000));
	bench.expect_refused(xid);
	bench.expect_unharmed();
}

/* More at once than were granted: the client may end the connection. */
void flood()
{
	ChunkBench bench;

	for (u32 xid = 0x5700; xid < 0x5740; xid++)
		bench.call_long(xid, padded_null(xid, 65536));
	bench.mount.expect_works(40);
	bench.mount.expect_works(40);
}

const Scenario table[] = {
	{ "c-callback-long", "client", "8166-89 8166-90", "read and answered",
	  long_calls },
	{ "c-callback-position", "client", "8166-90", "read and answered",
	  chunk_at_a_position },
	{ "c-callback-reply-chunk", "client", "8166-90", "returned unused",
	  reply_chunk },
	{ "c-callback-bad-chunks", "client", "8166-90", "ERR_CHUNK",
	  bad_calls },
	{ "c-callback-dead-rkey", "client", "8166-90",
	  "the connection is lost, I/O goes on", dead_rkey },
	{ "c-callback-dropped", "client", "8166-90", "I/O goes on", dropped },
	{ "c-callback-no-reads", "client", "8166-90", "ERR_CHUNK", no_reads },
	{ "c-callback-long-flood", "client", "8166-82", "I/O goes on", flood },
};

} /* namespace */

Table client_callback_chunk_table()
{
	return table;
}

} /* namespace peer */
