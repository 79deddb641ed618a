// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our server against a client that works with the in-tree server and does not keep to RFC 8166:
 * it sends no private data, has Receives of 8192 bytes, asks for one credit in each call, sends all
 * that it has to send as soon as there is a connection, and offers no Reply chunk for a reply
 * that fits into a Receive.
 */
#include "failure.hh"
#include "scenario.hh"
#include "nfs/session.hh"

namespace peer
{

namespace
{

constexpr u32 receive_size = 8192;
constexpr u32 file_size = 70000;

Options stranger()
{
	Options options;

	options.private_data = Bytes();
	options.receive_size = receive_size;
	options.rnr_retry = 4;
	return options;
}

/* Made by a client as ours is */
Bytes file_of(Session &session)
{
	Bytes handle = session.create("peer-stranger");

	session.write_file(handle, Bytes::pattern(file_size, 7));
	return handle;
}

void send_read(Session &session, const Bytes &handle, Memory &memory, u32 xid)
{
	Header header = { .xid = xid, .credits = 1 };

	header.reply = Chunk{ memory.segment(0, u32(memory.size())) };
	session.send(header.encode(
		nfs3_call(xid, NFS3_READ, read_arguments(handle, 0, file_size))
			.view()));
}

/* All are answered, and no connection is lost, whatever the order of the replies is. */
void burst_of(const Bytes &handle, u32 calls)
{
	Session session(stranger());
	auto memory = session.memory(1 << 17);

	for (u32 i = 0; i < calls; i++)
		send_read(session, handle, *memory, next_xid());
	for (u32 i = 0; i < calls; i++) {
		auto message = session.wire().receive(60000);

		check(message.has_value(), "reply ", i, " of ", calls,
		      " is missing");
		check_equal(decode(message->bytes.view()).header.proc,
			    u32(RPCRDMA_NOMSG), "type of the reply");
	}
	session.expect_works();
}

void burst()
{
	Session session;
	Bytes handle = file_of(session);

	for (u32 calls : { 8u, 16u, 32u, 64u, 100u })
		burst_of(handle, calls);
	session.expect_works();
}

/* A READ whose reply is inline, and has its data */
void expect_inline(Session &session, const Bytes &handle, u32 count)
{
	u32 xid = next_xid();
	Reply reply = session.call_inline(
		nfs3_call(xid, NFS3_READ, read_arguments(handle, 0, count)));
	ReplyReader reader(reply.rpc);

	check_equal(reader.nfs_status(xid), 0u, "status of READ");
	reader.skip_post_op_attributes();
	check_equal(reader.read_u32(), count, "count of READ");
	reader.read_u32();
	Bytes data = Bytes::pattern(file_size, 7);
	data.resize(count);
	check(reader.opaque() == data, "other bytes than were written");
}

void large_replies()
{
	Session ours;
	Bytes handle = file_of(ours);
	Session session(stranger());

	for (u32 count : { 1000u, 1025u, 3000u, 4096u, 8000u })
		expect_inline(session, handle, count);
	/* What does not fit is refused as ever, and so is what a Reply chunk is too small for. */
	u32 xid = next_xid();
	session.send_inline(
		nfs3_call(xid, NFS3_READ, read_arguments(handle, 0, 9000)));
	session.expect_error(xid, RPCRDMA_ERR_CHUNK);
	auto memory = session.memory(1024);
	Header header = { .xid = next_xid() };
	header.reply = Chunk{ memory->segment(0, 1024) };
	session.send(header.encode(nfs3_call(header.xid, NFS3_READ,
					     read_arguments(handle, 0, 3000))
					   .view()));
	session.expect_error(header.xid, RPCRDMA_ERR_CHUNK);
	session.expect_works();
}

const Scenario table[] = {
	{ "stranger-burst", "server", "8166-11",
	  "each of 100 calls without a credit is answered", burst },
	{ "stranger-large-replies", "server", "8166-14 8166-15",
	  "inline, as from the in-tree server", large_replies },
};

} /* namespace */

Table server_stranger_table()
{
	return table;
}

} /* namespace peer */
