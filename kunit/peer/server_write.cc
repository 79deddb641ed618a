// SPDX-License-Identifier: GPL-2.0
/*
 * Our server against Write lists and Reply chunks: RFC 8166 sections 3.4.6, 3.5.3,
 * 4.3.2 and 4.3.3, RFC 8267 section 6.4.
 */
#include "failure.hh"
#include "scenario.hh"
#include "session.hh"

namespace peer
{

namespace
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
u32 skip_to_data(ReplyReader &reader, u32 xid)
{
	check_equal(reader.nfs_status(xid), 0u, "status of READ");
	reader.skip_post_op_attributes();
	u32 count = reader.read_u32();

	reader.skip(4); /* eof */
	check_equal(reader.read_u32(), count, "length of the data");
	return count;
}

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

/* ---- several items ---- */

Bytes make_link(Fixture &fixture, const std::string &target)
{
	Session &session = fixture.session;
	u32 xid = next_xid();
	std::string name = text("link", xid);
	Reply reply = session.call_inline(
		nfs3_call(xid, NFS3_SYMLINK,
			  symlink_arguments(session.root(), name, target)));
	ReplyReader reader(reply.rpc);

	check_equal(reader.nfs_status(xid), 0u, "status of SYMLINK");
	check_equal(reader.read_u32(), 1u, "handle_follows");
	return reader.opaque();
}

std::string link_text(u32 length)
{
	std::string target(length, 'a');

	for (u32 i = 0; i < length; i++)
		target[i] = char('a' + (length + i) % 26);
	return target;
}

/*
 * PUTFH and READLINK of links of these lengths, in one NFSv4.0 COMPOUND. Links, since
 * nfsd gives wrong data for the second READ of a COMPOUND, over TCP as well.
 */
Bytes links_call(Fixture &fixture, const Header &header,
		 const std::vector<u32> &lengths)
{
	std::vector<Bytes> operations;

	for (u32 length : lengths) {
		operations.push_back(
			op_putfh(make_link(fixture, link_text(length))));
		operations.push_back(op_readlink());
	}
	return nfs4_call(header.xid, operations);
}

/*
 * The replies of links_call(): those that are not inline have a length and nothing
 * behind it.
 */
void expect_links(const Reply &reply, const std::vector<u32> &lengths,
		  const std::vector<bool> &reduced)
{
	ReplyReader reader(reply.rpc);

	check_equal(reader.nfs_status(reply.header.header.xid), 0u,
		    "status of COMPOUND");
	reader.opaque();
	check_equal(reader.read_u32(), lengths.size() * 2, "operations");
	for (size_t i = 0; i < lengths.size(); i++) {
		reader.skip(16); /* PUTFH, READLINK, each with its status */
		if (reduced[i])
			check_equal(reader.read_u32(), lengths[i],
				    "length of a reduced link");
		else
			check(reader.opaque() == Bytes(link_text(lengths[i])),
			      "link ", i, " is not inline");
	}
	check(!reader.failed() && !reader.remaining(),
	      "the reply is too short or too long");
}

/* The @n-th Write chunk, whose first segment is at @offset, has the text. */
void expect_link_chunk(Fixture &fixture, const Reply &reply, size_t n,
		       size_t offset, u32 length)
{
	check_equal(chunk_length(reply.header.write.at(n)), u64(length),
		    "length of a chunk");
	fixture.expect_memory(offset, Bytes(link_text(length)), "chunk");
	check_equal(fixture.memory->data()[offset + length], untouched,
		    "byte behind the link");
}

void two_chunks()
{
	Fixture fixture;
	Header header = fixture.header();

	header.write = { fixture.chunk(0, 900, 3), fixture.chunk(10000, 500) };
	Reply reply = fixture.session.call(header, links_call(fixture, header,
							      { 899, 499 }));

	expect_links(reply, { 899, 499 }, { true, true });
	expect_link_chunk(fixture, reply, 0, 0, 899);
	expect_link_chunk(fixture, reply, 1, 10000, 499);
}

void more_items_than_chunks()
{
	Fixture fixture;
	Header header = fixture.header();

	header.write = { fixture.chunk(0, 900, 3) };
	Reply reply = fixture.session.call(header, links_call(fixture, header,
							      { 899, 499, 3 }));

	expect_links(reply, { 899, 499, 3 }, { true, false, false });
	expect_link_chunk(fixture, reply, 0, 0, 899);
}

/* RFC 8267 section 6.4.1: the empty chunk is the first item's. */
void empty_then_full()
{
	Fixture fixture;
	Header header = fixture.header();

	header.write = { {}, fixture.chunk(0, 900, 2) };
	Reply reply = fixture.session.call(header, links_call(fixture, header,
							      { 101, 899 }));

	expect_links(reply, { 101, 899 }, { false, true });
	check(reply.header.write.at(0).empty(), "chunk is not empty");
	expect_link_chunk(fixture, reply, 1, 0, 899);
}

/* The first READ fails: its chunk is unused, and so is the second's. */
void failed_item()
{
	Fixture fixture;
	Header header = fixture.header();
	Bytes root = fixture.session.root();

	header.write = { fixture.chunk(0, 100, 2), fixture.chunk(200, 100) };
	Bytes call = nfs4_call(header.xid, { op_putfh(root), op_read(0, 100) });
	Reply reply = fixture.session.call(header, call);
	ReplyReader reader(reply.rpc);

	check_equal(reader.nfs_status(header.xid), 21u, "status, not ISDIR");
	check_equal(reply.header.write.size(), size_t(2), "Write chunks");
	check_equal(reply.header.write[0].size(), size_t(2), "segments");
	check_equal(chunk_length(reply.header.write[0]) +
			    chunk_length(reply.header.write[1]),
		    u64(0), "length of the unused chunks");
}

/* ---- READLINK ---- */

void links()
{
	Fixture fixture;

	for (u32 length : { 1u, 2u, 3u, 4u, 100u, 1021u }) {
		std::string target = link_text(length);
		Bytes link = make_link(fixture, target);
		for (bool v4 : { false, true }) {
			Header header = fixture.header();
			Bytes call =
				v4 ? nfs4_call(header.xid, { op_putfh(link),
							     op_readlink() }) :
				     nfs3_call(header.xid, NFS3_READLINK,
					       file_argument(link));

			header.write = { fixture.chunk(0, 2000, 2) };
			fixture.memory->fill(untouched);
			Reply reply = fixture.session.call(header, call);
			check_equal(chunk_length(reply.header.write.at(0)),
				    u64(length), "length of the chunk");
			fixture.expect_memory(0, Bytes(target), "chunk");
			check_equal(fixture.memory->data()[length], untouched,
				    "byte behind the link");
		}
	}
}

/* ---- Reply chunks ---- */

void expect_long_reply(Fixture &fixture, u32 size, u32 pieces)
{
	Header header = fixture.header();

	header.reply = fixture.chunk(tail, size + 1000, pieces);
	Reply reply = fixture.session.call(
		header, fixture.read_call(header, size), &*fixture.memory);
	ReplyReader reader(reply.rpc);

	check_equal(reply.header.header.proc, u32(RPCRDMA_NOMSG), "rdma_proc");
	check_equal(reply.header.reply->size(), size_t(pieces), "segments");
	Chunk wanted =
		written(*header.reply, u32(chunk_length(*reply.header.reply)));

	for (size_t i = 0; i < wanted.size(); i++)
		check_equal((*reply.header.reply)[i].length, wanted[i].length,
			    "segment's length");
	check_equal(skip_to_data(reader, header.xid), size, "count");
	check(Bytes(reply.rpc.view(reader.position(), size)) ==
		      Bytes(fixture.data.view(0, size)),
	      "the Reply chunk has other data");
	/* Section 3.5.3: with its padding */
	check_equal(reply.rpc.size() % 4, size_t(0), "bytes over");
}

void reply_chunk()
{
	Fixture fixture;

	for (u32 size : { 5000u, 5001u, 9999u, 65537u, 131071u })
		for (u32 pieces : { 1, 3, 16 })
			expect_long_reply(fixture, size, pieces);
}

/* A directory cannot be reduced: Reply chunk */
void readdir()
{
	Fixture fixture;

	for (u32 i = 0; i < 120; i++)
		fixture.session.create(text("a-name-that-is-rather-long-", i));
	for (u32 pieces : { 1, 16 }) {
		Header header = fixture.header();

		header.write = { fixture.chunk(0, 8192) };
		header.reply = fixture.chunk(tail, 20000, pieces);
		Reply reply = fixture.session.call(
			header,
			nfs3_call(header.xid, NFS3_READDIR,
				  readdir_arguments(fixture.session.root(),
						    16384)),
			&*fixture.memory);
		ReplyReader reader(reply.rpc);

		check_equal(reply.header.header.proc, u32(RPCRDMA_NOMSG),
			    "rdma_proc");
		check_equal(reader.nfs_status(header.xid), 0u,
			    "status of READDIR");
		check_equal(chunk_length(reply.header.write.at(0)), u64(0),
			    "length of the unused Write chunk");
	}
}

/* Write chunk and Reply chunk: the item leaves first, the rest fits inline. */
void write_and_reply()
{
	Fixture fixture;
	Header header = fixture.header();

	header.write = { fixture.chunk(0, 100001, 5) };
	header.reply = fixture.chunk(tail, 2000, 2);
	Reply reply =
		fixture.session.call(header, fixture.read_call(header, 100001));

	check_equal(reply.header.header.proc, u32(RPCRDMA_MSG), "rdma_proc");
	check_equal(chunk_length(reply.header.write.at(0)), u64(100001),
		    "Write chunk");
	check(reply.header.reply && chunk_length(*reply.header.reply) == 0,
	      "the Reply chunk is not returned as unused");
	fixture.expect_memory(0, Bytes(fixture.data.view(0, 100001)), "chunk");
}

/* One item reduced, and what is left too large for inline: Write and Reply chunk */
void reduced_long_reply()
{
	Fixture fixture;
	Header header = fixture.header();
	std::vector<u32> lengths = { 1001, 1002, 1003, 1000, 999, 998 };

	header.write = { fixture.chunk(0, 2000, 5) };
	header.reply = fixture.chunk(tail, 30000, 2);
	Reply reply = fixture.session.call(
		header, links_call(fixture, header, lengths), &*fixture.memory);

	check_equal(reply.header.header.proc, u32(RPCRDMA_NOMSG), "rdma_proc");
	expect_links(reply, lengths,
		     { true, false, false, false, false, false });
	expect_link_chunk(fixture, reply, 0, 0, 1001);
}

void no_room_for_reply()
{
	Fixture fixture;
	Header absent = fixture.header();

	fixture.session.send(
		absent.encode(fixture.read_call(absent, 5000).view()));
	fixture.session.expect_error(absent.xid, RPCRDMA_ERR_CHUNK);

	for (u32 room : { 0, 1, 1000, 4999 }) {
		Header header = fixture.header();

		header.reply = fixture.chunk(tail, room, 2);
		fixture.session.send(
			header.encode(fixture.read_call(header, 5000).view()));
		fixture.session.expect_error(header.xid, RPCRDMA_ERR_CHUNK);
		check_equal(fixture.memory->data()[tail], untouched,
			    "first byte");
	}
	fixture.session.expect_works();
}

void dead_rkey()
{
	for (bool reply_chunk : { false, true }) {
		Fixture fixture;
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
	{ "write-end-of-file", "server", "8166-29 8166-47", "chunk of length 0",
	  end_of_file },
	{ "write-empty-chunk", "server", "8166-52 8166-103",
	  "inline, empty chunk returned", empty_chunk },
	{ "write-unused", "server", "8166-50 8166-57",
	  "returned with lengths of 0", unused_chunks },
	{ "write-many-chunks", "server", "8166-47",
	  "returned with lengths of 0", many_chunks },
	{ "write-too-small", "server", "8166-97 8166-66", "ERR_CHUNK",
	  too_small },
	{ "write-two-chunks", "server", "8166-49 8166-102",
	  "each READ in its chunk", two_chunks },
	{ "write-more-items", "server", "8166-49 8166-103", "the rest inline",
	  more_items_than_chunks },
	{ "write-empty-then-full", "server", "8166-103 8166-52",
	  "first inline, second in its chunk", empty_then_full },
	{ "write-failed-item", "server", "8166-50 8166-104",
	  "unused chunks returned", failed_item },
	{ "write-links", "server", "8166-94 8166-44 8166-48",
	  "text in the chunk", links },
	{ "reply-chunk", "server", "8166-56 8166-57 8166-54",
	  "the reply in the chunk", reply_chunk },
	{ "reply-readdir", "server", "8166-56 8166-57 8166-26",
	  "the reply in the chunk", readdir },
	{ "reply-unused", "server", "8166-56 8166-57",
	  "inline, Reply chunk of length 0", write_and_reply },
	{ "reply-reduced", "server", "8166-56 L2",
	  "one item in the Write chunk, the rest in the Reply chunk",
	  reduced_long_reply },
	{ "reply-no-room", "server", "8166-66 8166-97 L4 L13", "ERR_CHUNK",
	  no_room_for_reply },
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
