// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our server against Read lists: RFC 8166 sections 3.4.5, 3.5.3 and 4.3.1. The scenarios read the
 * file back to check the data that the server has read.
 */
#include "scenarios/server/read_fixture.hh"
#include "scenario.hh"

namespace peer
{

using namespace read_fixture;

namespace
{

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

/* Addresses of 64 bits, all of which the server needs, both ways */
void high_addresses()
{
	Fixture fixture;
	WriteCall call = fixture.call(10001);

	check(fixture.memory->address() >> 32, "the memory is not high");
	call.add_segments(call.position(), 3);
	call.send();
	call.expect_written(); /* and read back, by a Write chunk */
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

const Scenario table[] = {
	{ "read-sizes", "server", "8166-34 8166-38 8166-40 8166-30",
	  "the file is what was sent", sizes_and_segments },
	{ "read-padding", "server", "8166-40 O14", "padding is taken off",
	  padding_in_chunk },
	{ "read-empty", "server", "8166-38", "a reply", empty_chunk },
	{ "high-addresses", "server", "O1", "the file is what was sent",
	  high_addresses },
	{ "long-null", "server", "8166-53 8166-54", "a reply", long_null },
	{ "long-write", "server", "8166-53 8166-54",
	  "the file is what was sent", long_write },
	{ "long-and-reduced", "server", "8166-58 8166-105",
	  "the file is what was sent", long_call_with_chunk },
	{ "sixteen-in-each", "server", "8166-105 8166-57",
	  "served, chunks returned", sixteen_in_each },
	{ "read-interleaved", "server", "8166-38", "the file is what was sent",
	  interleaved },
};

} /* namespace */

Table server_read_table()
{
	return table;
}

} /* namespace peer */
