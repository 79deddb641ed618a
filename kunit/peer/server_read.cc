// SPDX-License-Identifier: GPL-2.0
/*
 * Our server against Read lists: RFC 8166 sections 3.4.5, 3.5.3 and 4.3.1. What it
 * pulled is checked by reading the file back.
 */
#include "failure.hh"
#include "scenario.hh"
#include "session.hh"

namespace peer
{

namespace
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

const u32 sizes[] = { 1,    2,	  3,	4,     5,     7,     100,    1000,
		      4095, 4096, 4097, 10001, 65535, 65536, 262143, 262144 };

void sizes_and_segments()
{
	Fixture fixture;

	for (u32 size : sizes)
		for (u32 pieces : { 1, 2, 5, 16 }) {
			WriteCall call = fixture.call(size, 13);

			call.add_segments(call.position(), pieces);
			call.send();
			call.expect_written();
		}
}

/* Section 3.4.5.2: the padding in the chunk, as a longer or as a further segment */
void padding_in_chunk()
{
	Fixture fixture;

	for (u32 size : sizes) {
		u32 padded = u32(rpcrdma::xdr_padded(size));
		WriteCall longer = fixture.call(size);

		longer.header.add_read(longer.position(),
				       fixture.segment(padded));
		longer.send();
		longer.expect_written();
		if (padded == size)
			continue;
		WriteCall further = fixture.call(size);

		further.add_segments(further.position(), 1);
		further.header.add_read(further.position(),
					fixture.memory->segment(500000,
								padded - size));
		further.send();
		further.expect_written();
	}
}

void empty_chunk()
{
	Fixture fixture;
	WriteCall call = fixture.call(0);

	call.header.add_read(call.position(), fixture.segment(0));
	call.send();
	Reply reply = fixture.session.expect_reply(call.header.xid);
	ReplyReader reader(reply.rpc);

	check_equal(reader.nfs_status(call.header.xid), 0u, "status of WRITE");
	fixture.session.expect_works();
}

/* ---- Position Zero ---- */

void long_null()
{
	Fixture fixture;

	for (u32 cut : { 0, 1, 7, 40 }) {
		Header header = { .xid = next_xid(), .proc = RPCRDMA_NOMSG };
		Bytes rpc = null_call(header.xid);

		fixture.memory->put(100, rpc.view());
		if (cut)
			header.add_read(0, fixture.memory->segment(100, cut));
		header.add_read(0, fixture.memory->segment(
					   100 + cut, u32(rpc.size()) - cut));
		fixture.session.send(header.encode());
		Reply reply = fixture.session.expect_reply(header.xid);
		check_equal(ReplyReader(reply.rpc).accept_status(header.xid),
			    0u, "accept_stat");
	}
}

/* The whole WRITE in the Position Zero chunk */
void long_write()
{
	Fixture fixture;

	for (u32 size : { 1u, 1000u, 4096u, 10001u, 200003u }) {
		WriteCall call = fixture.call(size);
		Bytes rpc = call.rpc;

		rpc.raw(call.data.view()).pad();
		fixture.memory->put(3, rpc.view());
		call.header.proc = RPCRDMA_NOMSG;
		call.header.add_read(0, fixture.memory->segment(3, 61));
		call.header.add_read(
			0, fixture.memory->segment(64, u32(rpc.size()) - 61));
		call.send();
		call.expect_written();
	}
}

/* Section 4.3.1: Position Zero chunk with the rest of the call, data reduced from it */
void long_and_reduced(u32 size, u32 pieces)
{
	Fixture fixture;
	WriteCall call = fixture.call(size);
	u32 done = 0;

	call.header.proc = RPCRDMA_NOMSG;
	fixture.memory->put(500000, call.rpc.view());
	for (u32 i = 0; i < pieces; i++) {
		u32 rest = call.position() - done;
		u32 length = i + 1 == pieces ? rest : rest / pieces + 1;

		call.header.add_read(0, fixture.memory->segment(500000 + done,
								length));
		done += length;
	}
	call.add_segments(call.position(), pieces);
	call.send();
	call.expect_written();
}

void long_call_with_chunk()
{
	for (u32 size : { 1u, 2u, 3u, 1000u, 4097u, 100003u })
		long_and_reduced(size, 2);
}

/* RFC 8267 section 6.4.2: 16 segments in each chunk that there can be */
void sixteen_in_each()
{
	Fixture fixture;
	WriteCall call = fixture.call(50001);
	Chunk chunk;

	call.header.proc = RPCRDMA_NOMSG;
	fixture.memory->put(500000, call.rpc.view());
	for (u32 i = 0; i < 16; i++) {
		u32 from = i * 5;
		u32 length = i == 15 ? call.position() - from : 5;

		call.header.add_read(0, fixture.memory->segment(500000 + from,
								length));
		chunk.push_back(fixture.memory->segment(600000 + i * 64, 64));
	}
	call.add_segments(call.position(), 16);
	call.header.write.push_back(chunk);
	call.header.reply = chunk;
	call.send();
	Reply reply =
		fixture.session.expect_reply(call.header.xid, &*fixture.memory);
	ReplyReader reader(reply.rpc);

	check_equal(reader.nfs_status(call.header.xid), 0u, "status of WRITE");
	check(reply.header.write.size() == 1 &&
		      reply.header.write[0].size() == 16 &&
		      chunk_length(reply.header.write[0]) == 0,
	      "the unused Write chunk is not returned as such");
	check(reply.header.reply && reply.header.reply->size() == 16,
	      "the Reply chunk is not returned");
	check(fixture.session.read_file(fixture.handle, 50001) == call.data,
	      "the file is not what was written");
}

/* ---- order of segments ---- */

/* Segments of the Position Zero chunk and of the data take turns in the list. */
void interleaved()
{
	Fixture fixture;
	WriteCall call = fixture.call(30001);
	u32 half = call.position() / 2;

	call.header.proc = RPCRDMA_NOMSG;
	fixture.memory->put(500000, call.rpc.view());
	u32 at = call.position();
	call.header.add_read(at, fixture.memory->segment(0, 10000));
	call.header.add_read(0, fixture.memory->segment(500000, half));
	call.header.add_read(at, fixture.memory->segment(10000, 20001));
	call.header.add_read(0,
			     fixture.memory->segment(500000 + half, at - half));
	call.send();
	call.expect_written();
}

/* ---- what cannot be put together ---- */

void bad_positions()
{
	Fixture fixture;

	for (u32 position : { 1u, 6u, 41u, 0x80000002u, 0xffffffffu }) {
		WriteCall call = fixture.call(100);

		call.add_segments(position, 1);
		fixture.expect_bad(call);
	}
	for (u32 position : { 1000u, 100000u, 0x7ffffffcu, 0xfffffffcu }) {
		WriteCall call = fixture.call(100);

		call.add_segments(position, 1);
		fixture.expect_bad(call);
	}
	WriteCall beyond = fixture.call(100);

	beyond.add_segments(beyond.position() + 4, 1);
	fixture.expect_bad(beyond);
}

void wrong_base()
{
	Fixture fixture;
	WriteCall zero = fixture.call(100);

	/* RDMA_MSG has its base inline, RDMA_NOMSG has none there. */
	zero.add_segments(0, 1);
	fixture.expect_bad(zero);
	WriteCall none = fixture.call(100);

	none.header.proc = RPCRDMA_NOMSG;
	none.add_segments(40, 1);
	fixture.expect_bad(none);
}

void overlapping()
{
	Fixture fixture;
	WriteCall call = fixture.call(1000);

	call.header.add_read(call.position() - 4, fixture.segment(100));
	call.header.add_read(call.position(), fixture.segment(1000));
	fixture.expect_bad(call);
}

void huge_chunks()
{
	Fixture fixture;

	for (u32 length :
	     { 0x7fffffffu, 0xfffffffcu, 0xffffffffu, u32(16 << 20) }) {
		WriteCall call = fixture.call(100);

		call.header.add_read(call.position(),
				     { fixture.memory->rkey(), length, 0 });
		fixture.expect_bad(call);
		WriteCall zero = fixture.call(100);

		zero.header.proc = RPCRDMA_NOMSG;
		zero.header.add_read(0, { fixture.memory->rkey(), length, 0 });
		fixture.expect_bad(zero);
	}
	/* The sum is more than 32 bits. */
	WriteCall sum = fixture.call(100);

	for (u32 i = 0; i < 3; i++)
		sum.header.add_read(sum.position(),
				    { fixture.memory->rkey(), 0x80000000u, 0 });
	fixture.expect_bad(sum);
	/* The last byte has no address. */
	WriteCall wrap = fixture.call(100);

	wrap.header.add_read(wrap.position(),
			     { fixture.memory->rkey(), 100, ~0ull - 10 });
	fixture.expect_bad(wrap);
}

void short_position_zero()
{
	Fixture fixture;

	for (u32 length : { 0, 1, 3, 4, 20, 36, 39 }) {
		Header header = { .xid = next_xid(), .proc = RPCRDMA_NOMSG };

		fixture.memory->put(0, null_call(header.xid).view());
		header.add_read(0, fixture.segment(length));
		fixture.session.send(header.encode());
		fixture.session.expect_error(header.xid, RPCRDMA_ERR_CHUNK);
	}
	fixture.session.expect_works();
}

void long_xid_mismatch()
{
	Fixture fixture;
	Header header = { .xid = next_xid(), .proc = RPCRDMA_NOMSG };
	Bytes rpc = null_call(next_xid());

	fixture.memory->put(0, rpc.view());
	header.add_read(0, fixture.segment(u32(rpc.size())));
	fixture.session.send(header.encode());
	fixture.session.expect_error(header.xid, RPCRDMA_ERR_CHUNK);
	fixture.session.expect_works();
}

/* Section 6.1: the file handle of GETATTR is not eligible. */
void not_eligible()
{
	Fixture fixture;
	Header header = { .xid = next_xid() };
	Bytes rpc = nfs3_call(header.xid, NFS3_GETATTR,
			      Bytes().word(u32(fixture.handle.size())));

	fixture.memory->put(0, fixture.handle.view());
	header.add_read(u32(rpc.size()),
			fixture.segment(u32(fixture.handle.size())));
	fixture.session.send(header.encode(rpc.view()));
	fixture.session.expect_refusal(header.xid);
	fixture.session.expect_works();
}

/* A chunk shorter than the count in front of it: an argument that cannot be parsed */
void short_data()
{
	Fixture fixture;
	WriteCall call = fixture.call(5000);

	call.header.add_read(call.position(), fixture.segment(1000));
	fixture.session.send(call.header.encode(call.rpc.view()));
	fixture.session.expect_refusal(call.header.xid);
	fixture.session.expect_works();
}

/* ---- memory that is not there ---- */

void dead_rkey()
{
	Fixture fixture;

	for (u32 i = 0; i < 3; i++) {
		Session session;
		auto memory = session.memory(8192);
		WriteCall call = fixture.call(5000);

		rpcrdma_segment segment = memory->segment(0, 5000);
		memory->revoke();
		call.header.add_read(call.position(), segment);
		session.send(call.header.encode(call.rpc.view()));
		memory.reset();
		session.expect_end();
	}
	fixture.session.expect_works();
}

/* Section 3.4.5.1: once the reply is there the memory is the requester's. */
void revoked_after_reply()
{
	Fixture fixture;

	for (u32 i = 0; i < 50; i++) {
		auto memory = fixture.session.memory(70000);
		WriteCall call(fixture.session, fixture.handle, *memory,
			       Bytes::pattern(65537, i));

		call.add_segments(call.position(), 3);
		call.send();
		Reply reply = fixture.session.expect_reply(call.header.xid);
		memory.reset();
		check_equal(ReplyReader(reply.rpc).nfs_status(call.header.xid),
			    0u, "status of WRITE");
	}
	fixture.session.expect_works();
}

/* A client that takes no RDMA Reads offers a Read chunk. */
void no_read_depth()
{
	Fixture fixture;
	Options options;

	options.reads_served = 0;
	Session session(options);
	auto memory = session.memory(8192);
	WriteCall call(session, fixture.handle, *memory,
		       Bytes::pattern(3000, 1));

	call.add_segments(call.position(), 1);
	call.send();
	session.expect_error(call.header.xid, RPCRDMA_ERR_CHUNK);
	session.expect_works();
}

const Scenario table[] = {
	{ "read-sizes", "server", "8166-34 8166-37 8166-38 8166-40 8166-30",
	  "the file is what was sent", sizes_and_segments },
	{ "read-padding", "server", "8166-40 O14", "padding is taken off",
	  padding_in_chunk },
	{ "read-empty", "server", "8166-38", "a reply", empty_chunk },
	{ "long-null", "server", "8166-53 8166-54", "a reply", long_null },
	{ "long-write", "server", "8166-53 8166-54",
	  "the file is what was sent", long_write },
	{ "long-and-reduced", "server", "8166-58 8166-105",
	  "the file is what was sent", long_call_with_chunk },
	{ "sixteen-in-each", "server", "8166-105 8166-57",
	  "served, chunks returned", sixteen_in_each },
	{ "read-interleaved", "server", "8166-38", "the file is what was sent",
	  interleaved },
	{ "read-bad-positions", "server", "8166-39 8166-63", "ERR_CHUNK",
	  bad_positions },
	{ "read-wrong-base", "server", "8166-22 8166-54", "ERR_CHUNK",
	  wrong_base },
	{ "read-overlapping", "server", "8166-37 8166-106", "ERR_CHUNK",
	  overlapping },
	{ "read-huge", "server", "8166-43 8166-72", "ERR_CHUNK", huge_chunks },
	{ "long-too-short", "server", "8166-63", "ERR_CHUNK",
	  short_position_zero },
	{ "long-xid-mismatch", "server", "8166-63 8166-18", "ERR_CHUNK",
	  long_xid_mismatch },
	{ "read-not-eligible", "server", "8166-27 8166-94",
	  "ERR_CHUNK or GARBAGE_ARGS", not_eligible,
	  "svcrdma does not know what is eligible in which program" },
	{ "read-short-data", "server", "8166-64", "ERR_CHUNK or GARBAGE_ARGS",
	  short_data },
	{ "read-dead-rkey", "server", "8166-66 8166-72",
	  "the connection ends, a new one works", dead_rkey },
	{ "read-revoked-after-reply", "server", "8166-41",
	  "no Read after the reply", revoked_after_reply },
	{ "read-no-depth", "server", "8166-7", "ERR_CHUNK", no_read_depth },
};

} /* namespace */

Table server_read_table()
{
	return table;
}

} /* namespace peer */
