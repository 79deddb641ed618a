// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our server against calls with several items, and with Reply chunks: RFC 8166 sections
 * 3.5.3, 4.3.2 and 4.3.3, RFC 8267 section 6.4.
 */
#include "nfs/session41.hh"
#include "scenario.hh"
#include "scenarios/server/write_fixture.hh"

namespace peer
{

using namespace write_fixture;

namespace
{

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

/* ---- what nfsd repeats ---- */

Options small_receives()
{
	Options options;

	options.private_data = Options::private_block(4096, 1024, 0);
	return options;
}

/*
 * RFC 8881 section 2.10.6.2: a call that comes once more is answered with the reply that was
 * kept (the file has other data by then), by the chunks that came with it, and by no others.
 */
void replayed()
{
	constexpr u32 kept = 1500; /* nfsd's slots keep 2048 */
	Fixture fixture(small_receives());
	Session41 nfs(fixture.session, 2);
	Header header = fixture.header();
	Bytes rpc = nfs.call(header.xid,
			     { op_putfh(fixture.handle), op_read(0, kept) },
			     true);

	header.reply = fixture.chunk(tail, 3000);
	Reply first = fixture.session.call(header, rpc, &*fixture.memory);
	check_equal(first.header.header.proc, u32(RPCRDMA_NOMSG), "rdma_proc");
	Session().write_file(fixture.handle, Bytes::pattern(kept, 5));
	fixture.memory->fill(untouched);

	header.reply = fixture.chunk(tail + 10000, 2999, 3);
	Reply second = fixture.session.call(header, rpc, &*fixture.memory);
	check_equal(second.header.reply->size(), size_t(3), "segments");
	check_equal(second.rpc.size(), first.rpc.size(), "size of the reply");
	check(Bytes(second.rpc.view(second.rpc.size() - kept, kept)) ==
		      Bytes(fixture.data.view(0, kept)),
	      "that is not the reply that was kept");
	check_equal(fixture.memory->data()[tail], untouched,
		    "byte of the first call's chunk");

	header.reply.reset();
	fixture.session.send(header.encode(rpc.view()));
	fixture.session.expect_error(header.xid, RPCRDMA_ERR_CHUNK);
	check_equal(fixture.memory->data()[tail], untouched,
		    "byte of the first call's chunk");
	fixture.session.expect_works();
}

const Scenario table[] = {
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
	{ "reply-replayed", "server", "D7",
	  "the reply that was kept, by the new chunks", replayed },
	{ "reply-no-room", "server", "8166-66 8166-97 L4 L13", "ERR_CHUNK",
	  no_room_for_reply },
};

} /* namespace */

Table server_reply_table()
{
	return table;
}

} /* namespace peer */
