// SPDX-License-Identifier: GPL-2.0-only
/* A file and memory for the scenarios about Write lists and Reply chunks. */
#ifndef PEER_WRITE_FIXTURE_HH
#define PEER_WRITE_FIXTURE_HH

#include "failure.hh"
#include "nfs/session.hh"

namespace peer::write_fixture
{

constexpr u32 file_size = 200003;
constexpr u8 untouched = 0xee;
constexpr u32 tail = 600000; /* where Reply chunks are */

struct Fixture {
	explicit Fixture(const Options &options = {})
		: session(options)
	{
		session.write_file(handle, data);
		memory->fill(untouched);
	}

	Header header(u32 proc = RPCRDMA_MSG)
	{
		return { .xid = next_xid(), .proc = proc };
	}
	/* @length bytes at @offset in @pieces segments of odd lengths */
	Chunk chunk(size_t offset, u32 length, u32 pieces = 1)
	{
		Chunk result;
		u32 done = 0;

		for (u32 i = 0; i < pieces; i++) {
			u32 rest = length - done;
			u32 n = i + 1 == pieces ? rest : rest / 3;

			result.push_back(memory->segment(offset + done, n));
			done += n;
		}
		return result;
	}
	Bytes read_call(const Header &header, u32 count, u64 from = 0)
	{
		return nfs3_call(header.xid, NFS3_READ,
				 read_arguments(handle, from, count));
	}
	void expect_memory(size_t at, const Bytes &wanted, const char *what)
	{
		check(Bytes(memory->view(at, wanted.size())) == wanted, what,
		      " is not what the file has");
	}

	Session session;
	Bytes handle = session.create("peer-write");
	Bytes data = Bytes::pattern(file_size, 77);
	std::unique_ptr<Memory> memory = session.memory(1 << 20);
};

/* READ3resok up to the data; returns the count. */
inline u32 skip_to_data(ReplyReader &reader, u32 xid)
{
	check_equal(reader.nfs_status(xid), 0u, "status of READ");
	reader.skip_post_op_attributes();
	u32 count = reader.read_u32();

	reader.skip(4); /* eof */
	check_equal(reader.read_u32(), count, "length of the data");
	return count;
}

} /* namespace peer::write_fixture */

#endif /* PEER_WRITE_FIXTURE_HH */
