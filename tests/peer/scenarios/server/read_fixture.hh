// SPDX-License-Identifier: GPL-2.0-only
/* NFSv3 WRITEs for the scenarios about Read lists. */
#ifndef PEER_READ_FIXTURE_HH
#define PEER_READ_FIXTURE_HH

#include "failure.hh"
#include "nfs/session.hh"

namespace peer::read_fixture
{

constexpr u32 memory_size = 1 << 20;

/* An NFSv3 WRITE under construction, its data in memory that nfsd may read */
struct WriteCall {
	WriteCall(Session &session, const Bytes &handle, Memory &memory,
		  const Bytes &data, size_t offset = 0)
		: session(session)
		, memory(memory)
		, handle(handle)
		, data(data)
		, offset(offset)
		, rpc(nfs3_call(header.xid, NFS3_WRITE,
				write_arguments(handle, 0, size())))
	{
		memory.fill(0x55);
		memory.put(offset, data.view());
	}

	u32 size() const
	{
		return u32(data.size());
	}
	u32 position() const
	{
		return u32(rpc.size());
	}
	/* @pieces segments, of lengths that are no multiples of anything */
	void add_segments(u32 at, u32 pieces)
	{
		u32 done = 0;

		for (u32 i = 0; i < pieces; i++) {
			u32 rest = size() - done;
			u32 length = i + 1 == pieces ? rest : rest / 3;

			header.add_read(at,
					memory.segment(offset + done, length));
			done += length;
		}
	}
	void send()
	{
		session.send(header.encode(
			header.proc == RPCRDMA_MSG ? rpc.view() : View()));
	}
	void expect_written()
	{
		Reply reply = session.expect_reply(header.xid);
		ReplyReader reader(reply.rpc);

		check_equal(reader.nfs_status(header.xid), 0u,
			    "status of WRITE");
		reader.skip_wcc_data();
		check_equal(reader.read_u32(), size(), "count of WRITE");
		check(session.read_file(handle, size()) == data,
		      "the file is not what was written");
	}

	Session &session;
	Memory &memory;
	Bytes handle;
	Bytes data;
	size_t offset;
	Header header = { .xid = next_xid() };
	Bytes rpc;
};

struct Fixture {
	Session session;
	std::unique_ptr<Memory> memory = session.memory(memory_size);
	Bytes handle = session.create("peer-read");
	u32 seed = 0;

	WriteCall call(u32 size, size_t offset = 0)
	{
		return WriteCall(session, handle, *memory,
				 Bytes::pattern(size, ++seed), offset);
	}
	/* A call whose Read list is bad, answered so */
	void expect_bad(const WriteCall &call)
	{
		session.send(call.header.encode(
			call.header.proc == RPCRDMA_MSG ? call.rpc.view() :
							  View()));
		session.expect_error(call.header.xid, RPCRDMA_ERR_CHUNK);
		session.expect_works();
	}
	rpcrdma_segment segment(u32 length)
	{
		return memory->segment(0, length);
	}
};

} /* namespace peer::read_fixture */

#endif /* PEER_READ_FIXTURE_HH */
