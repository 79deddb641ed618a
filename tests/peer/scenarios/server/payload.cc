// SPDX-License-Identifier: GPL-2.0-only
/*
 * The largest payload that the server announces (FSINFO: rtmax and wtmax), in each way in which
 * it can travel. Linux from 6.16 on has 4 MiB, and no Linux client asks for more than 1 MiB.
 */
#include "failure.hh"
#include "nfs/session.hh"
#include "scenario.hh"

namespace peer
{

namespace
{

constexpr u32 extra = 4096; /* room for what is around the data */

struct Fixture {
	explicit Fixture(const Options &options = {})
		: session(options)
	{
		ask_sizes();
		memory = session.memory(std::max(reads, writes) + extra);
		data = Bytes::pattern(writes, 7);
	}

	/* FSINFO3resok */
	void ask_sizes()
	{
		u32 xid = next_xid();
		Reply reply = session.call_inline(nfs3_call(
			xid, NFS3_FSINFO, file_argument(session.root())));
		ReplyReader reader(reply.rpc);

		check_equal(reader.nfs_status(xid), 0u, "status of FSINFO");
		reader.skip_post_op_attributes();
		reads = reader.read_u32();
		reader.skip(8); /* rtpref, rtmult */
		writes = reader.read_u32();
		check(reads >= 1 << 20, "rtmax is ", reads);
		check_equal(writes, reads, "wtmax");
	}
	/* As many segments as a chunk may have, RFC 8267 section 6.4.2 */
	Chunk chunk(u32 size) const
	{
		Chunk result;
		u32 done = 0;

		for (u32 i = 0; i < 16; i++) {
			u32 length = i == 15 ? size - done : size / 16 - 1;

			result.push_back(memory->segment(done, length));
			done += length;
		}
		return result;
	}
	Bytes write_call(u32 xid) const
	{
		return nfs3_call(xid, NFS3_WRITE,
				 write_arguments(handle, 0, writes));
	}
	Bytes read_call(u32 xid) const
	{
		return nfs3_call(xid, NFS3_READ,
				 read_arguments(handle, 0, reads));
	}
	void expect_written(u32 xid)
	{
		Reply reply = session.expect_reply(xid);
		ReplyReader reader(reply.rpc);

		check_equal(reader.nfs_status(xid), 0u, "status of WRITE");
		reader.skip_wcc_data();
		check_equal(reader.read_u32(), writes, "count of WRITE");
		check(session.read_file(handle, writes) == data,
		      "the file is not what was written");
	}
	/* READ3res, with the data or without them; returns what is behind their length */
	Bytes expect_read(u32 xid, const Bytes &rpc)
	{
		ReplyReader reader(rpc);

		check_equal(reader.nfs_status(xid), 0u, "status of READ");
		reader.skip_post_op_attributes();
		check_equal(reader.read_u32(), reads, "count of READ");
		reader.skip(4); /* eof */
		check_equal(reader.read_u32(), reads, "length of the data");
		return Bytes(rpc.view(reader.position(), reader.remaining()));
	}
	void make_file()
	{
		session.write_file(handle, data);
	}

	Session session;
	u32 reads = 0;
	u32 writes = 0;
	std::unique_ptr<Memory> memory;
	Bytes handle = session.create("peer-payload");
	Bytes data;
};

void by_read_chunk()
{
	Fixture f;
	Header header = { .xid = next_xid() };
	Bytes rpc = f.write_call(header.xid);

	f.memory->put(0, f.data.view());
	for (const rpcrdma_segment &segment : f.chunk(f.writes))
		header.add_read(u32(rpc.size()), segment);
	f.session.send(header.encode(rpc.view()));
	f.expect_written(header.xid);
}

/* The whole call by Position Zero: more than the payload */
void by_long_call()
{
	Fixture f;
	Header header = { .xid = next_xid(), .proc = RPCRDMA_NOMSG };
	Bytes rpc = f.write_call(header.xid);

	rpc.raw(f.data.view());
	f.memory->put(0, rpc.view());
	for (const rpcrdma_segment &segment : f.chunk(u32(rpc.size())))
		header.add_read(0, segment);
	f.session.send(header.encode());
	f.expect_written(header.xid);
}

void by_write_chunk()
{
	Fixture f;
	Header header = { .xid = next_xid() };

	f.make_file();
	header.write = { f.chunk(f.reads) };
	Reply reply = f.session.call(header, f.read_call(header.xid));
	check_equal(f.expect_read(header.xid, reply.rpc).size(), size_t(0),
		    "inline bytes behind reduced data");
	check_equal(chunk_length(reply.header.write.at(0)), u64(f.reads),
		    "length of the chunk");
	check(Bytes(f.memory->view(0, f.reads)) == f.data,
	      "what was read is not what the file has");
}

void by_reply_chunk()
{
	Fixture f;
	Header header = { .xid = next_xid() };

	f.make_file();
	header.reply = f.chunk(f.reads + extra);
	Reply reply =
		f.session.call(header, f.read_call(header.xid), f.memory.get());
	check_equal(reply.header.header.proc, u32(RPCRDMA_NOMSG), "rdma_proc");
	check(f.expect_read(header.xid, reply.rpc) == f.data,
	      "what was read is not what the file has");
}

/* No memory is offered: the server exposes the reply, Documentation/reliable-reply.rst. */
void by_exposed_reply()
{
	Fixture f(Options().announce(RPCRDMA_EXT_TAKES_READ_CHUNKS));
	Header header = { .xid = next_xid() };

	f.make_file();
	f.session.send(header.encode(f.read_call(header.xid).view()));
	auto message = f.session.wire().receive(60000);
	check(message.has_value(), "no answer");
	Decoded got = decode(message->bytes.view());

	check_equal(got.status, RPCRDMA_OK, "status of the decoder");
	check_equal(got.header.xid, header.xid, "rdma_xid");
	check_equal(got.read.size(), size_t(1), "number of Read chunks");
	Bytes rpc = f.session.pull(got.read[0].second);
	Header done = { .xid = header.xid, .proc = RPCRDMA_DONE };

	f.session.send(done.encode_fixed());
	check(f.expect_read(header.xid, rpc) == f.data,
	      "what was pulled is not what the file has");
	f.session.expect_works();
}

const Scenario table[] = {
	{ "payload-read-chunk", "server", "8166-38",
	  "the file is what was sent", by_read_chunk },
	{ "payload-long-call", "server", "8166-53", "the file is what was sent",
	  by_long_call },
	{ "payload-write-chunk", "server", "8166-46", "the data",
	  by_write_chunk },
	{ "payload-reply-chunk", "server", "8166-56", "the data",
	  by_reply_chunk },
	{ "payload-exposed", "server", "RR3", "the data", by_exposed_reply },
};

} /* namespace */

Table server_payload_table()
{
	return table;
}

} /* namespace peer */
