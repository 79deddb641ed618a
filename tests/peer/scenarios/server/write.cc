// SPDX-License-Identifier: GPL-2.0-only
/* Our server against Write lists: RFC 8166 sections 3.4.6 and 4.3.2. */
#include "scenario.hh"
#include "traced.hh"
#include "scenarios/server/write_fixture.hh"

namespace peer
{

using namespace write_fixture;

namespace
{

/* READ by a Write chunk that is exactly as long as what is asked for */
void expect_read(Fixture &fixture, u32 size, const Chunk &chunk)
{
	Header header = fixture.header();

	header.write = { chunk };
	Reply reply =
		fixture.session.call(header, fixture.read_call(header, size));
	ReplyReader reader(reply.rpc);

	check_equal(skip_to_data(reader, header.xid), size, "count");
	check_equal(reader.remaining(), size_t(0),
		    "inline bytes behind reduced data");
	check(reply.header.write.size() == 1 &&
		      reply.header.write[0].size() == chunk.size(),
	      "the Write list is not the one of the call");
	Chunk wanted = written(chunk, size);

	for (size_t i = 0; i < chunk.size(); i++) {
		const rpcrdma_segment &got = reply.header.write[0][i];

		check_equal(got.length, wanted[i].length, "segment's length");
		check(got.handle == wanted[i].handle &&
			      got.offset == wanted[i].offset,
		      "handle or offset of segment ", i, " changed");
	}
	fixture.expect_memory(0, Bytes(fixture.data.view(0, size)), "chunk");
}

const u32 sizes[] = { 1,    2,	  3,	4,     5,     7,      100,	1000,
		      4095, 4096, 4097, 10001, 65535, 131072, file_size };

void sizes_and_segments()
{
	Fixture fixture;

	for (u32 size : sizes)
		for (u32 pieces : { 1, 2, 5, 16 }) {
			fixture.memory->fill(untouched);
			expect_read(fixture, size,
				    fixture.chunk(0, size, pieces));
			check_equal(fixture.memory->data()[size], untouched,
				    "byte behind the chunk");
		}
}

/* Section 3.4.6.2: room for padding is not used for it. */
void no_padding()
{
	Fixture fixture;

	for (u32 size : { 1u, 2u, 3u, 5u, 101u, 4099u }) {
		fixture.memory->fill(untouched);
		expect_read(fixture, size, fixture.chunk(0, size + 3));
		for (u32 i = 0; i < 3; i++)
			check_equal(fixture.memory->data()[size + i], untouched,
				    "byte of padding");
	}
}

/* Section 3.4.6: all segments come back, also those that were not needed. */
void one_byte_of_sixteen()
{
	Fixture fixture;
	Chunk chunk;

	for (u32 i = 0; i < 16; i++)
		chunk.push_back(fixture.memory->segment(i * 4096, 4096));
	expect_read(fixture, 1, chunk);
	check_equal(fixture.memory->data()[1], untouched, "second byte");
	/* A segment of no bytes is passed over. */
	chunk[0].length = 0;
	chunk[1] = fixture.memory->segment(0, 4096);
	expect_read(fixture, 100, chunk);
}

/* READ at the end of the file: no data, and the chunk says so. */
void end_of_file()
{
	Fixture fixture;
	Header header = fixture.header();

	header.write = { fixture.chunk(0, 4096, 3) };
	Reply reply = fixture.session.call(
		header, fixture.read_call(header, 4096, file_size));
	ReplyReader reader(reply.rpc);

	check_equal(skip_to_data(reader, header.xid), 0u, "count");
	check_equal(reply.header.write.size(), size_t(1), "Write chunks");
	check_equal(reply.header.write[0].size(), size_t(3), "segments");
	check_equal(chunk_length(reply.header.write[0]), u64(0), "length");
}

/* Section 4.3.2.3: a chunk without segments asks for the item inline. */
void empty_chunk()
{
	Fixture fixture;
	Header header = fixture.header();

	header.write = { {} };
	Reply reply =
		fixture.session.call(header, fixture.read_call(header, 100));
	ReplyReader reader(reply.rpc);

	check_equal(skip_to_data(reader, header.xid), 100u, "count");
	check_equal(reader.remaining(), size_t(100), "inline data");
	check(reply.header.write.size() == 1 && reply.header.write[0].empty(),
	      "the empty chunk is not returned");
}

/* Sections 4.3.2.2 and 4.3.3: NULL has nothing for any of them. */
void unused_chunks()
{
	Fixture fixture;
	Header header = fixture.header();

	header.write = { fixture.chunk(0, 100, 2), fixture.chunk(200, 10) };
	header.reply = fixture.chunk(tail, 2000, 3);
	Reply reply = fixture.session.call(header, null_call(header.xid));

	check_equal(reply.header.header.proc, u32(RPCRDMA_MSG), "rdma_proc");
	check(reply.header.write.size() == 2 &&
		      reply.header.write[0].size() == 2 &&
		      reply.header.write[1].size() == 1,
	      "the Write list is not the one of the call");
	check_equal(chunk_length(reply.header.write[0]) +
			    chunk_length(reply.header.write[1]),
		    u64(0), "length of the unused Write chunks");
	check(reply.header.reply && reply.header.reply->size() == 3,
	      "the Reply chunk is not returned");
	check_equal(chunk_length(*reply.header.reply), u64(0),
		    "length of the unused Reply chunk");
}

void many_chunks()
{
	Fixture fixture;
	Header header = fixture.header();

	for (u32 i = 0; i < 60; i++)
		header.write.push_back(fixture.chunk(i * 64, 64, 2));
	Reply reply = fixture.session.call(header, null_call(header.xid));

	check_equal(reply.header.write.size(), size_t(60), "Write chunks");
}

void too_small()
{
	Fixture fixture;
	Header header = fixture.header();

	header.write = { fixture.chunk(0, 50, 2) };
	fixture.session.send(
		header.encode(fixture.read_call(header, 51).view()));
	fixture.session.expect_error(header.xid, RPCRDMA_ERR_CHUNK);
	check_equal(fixture.memory->data()[0], untouched, "first byte");
	fixture.session.expect_works();
}

/* The server's trace names the status that the device gives. */
void dead_rkey()
{
	for (bool reply_chunk : { false, true }) {
		Fixture fixture;
		Traced trace("svcrdma/svcrdma_wc_err");
		Header header = fixture.header();
		Chunk chunk = fixture.chunk(0, 20000);

		if (reply_chunk)
			header.reply = chunk;
		else
			header.write = { chunk };
		fixture.memory->revoke();
		fixture.session.send(
			header.encode(fixture.read_call(header, 9000).view()));
		fixture.memory.reset();
		fixture.session.expect_end();
		/* siw says only that the connection has ended. */
		if (provider_is("rxe"))
			trace.expect(
				"addr=[0-9.:]+ rdma status=REM_ACCESS_ERR");
	}
}

/* The server may reach what the segment says, and not a byte more. */
void beyond_region()
{
	Fixture fixture;
	Header header = fixture.header();
	rpcrdma_segment segment =
		fixture.memory->segment(fixture.memory->size() - 4096, 4096);

	segment.length = 8192;
	header.write = { { segment } };
	fixture.session.send(
		header.encode(fixture.read_call(header, 8192).view()));
	fixture.memory.reset();
	fixture.session.expect_end();
}

const Scenario table[] = {
	{ "write-sizes", "server", "8166-44 8166-46 8166-47 8166-33 8166-48 A6",
	  "data in the chunk, in order, nothing behind", sizes_and_segments },
	{ "write-no-padding", "server", "8166-48 O21", "no padding",
	  no_padding },
	{ "write-one-of-sixteen", "server", "8166-47", "all segments returned",
	  one_byte_of_sixteen },
	{ "write-end-of-file", "server", "8166-47 8166-50", "chunk of length 0",
	  end_of_file },
	{ "write-empty-chunk", "server", "8166-52 8166-103",
	  "inline, empty chunk returned", empty_chunk },
	{ "write-unused", "server", "8166-50 8166-57",
	  "returned with lengths of 0", unused_chunks },
	{ "write-many-chunks", "server", "8166-47",
	  "returned with lengths of 0", many_chunks },
	{ "write-too-small", "server", "8166-97 8166-66", "ERR_CHUNK",
	  too_small },
	{ "write-dead-rkey", "server", "8166-66 8166-68",
	  "the connection ends, a new one works", dead_rkey },
	{ "write-beyond-region", "server", "8166-72 A6",
	  "the connection ends, a new one works", beyond_region },
};

} /* namespace */

Table server_write_table()
{
	return table;
}

} /* namespace peer */
