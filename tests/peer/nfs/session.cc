// SPDX-License-Identifier: GPL-2.0-only
/* See session.hh. */
#include "nfs/session.hh"

#include <unistd.h>

#include <atomic>
#include <ctime>

#include "failure.hh"

namespace peer
{

constexpr int reply_timeout = 60000; /* milliseconds */
constexpr int silence = 150;

Server &the_server()
{
	static Server server;

	return server;
}

u32 next_xid()
{
	static std::atomic<u32> xid =
		u32(time(nullptr)) * 2654435761u + u32(getpid()) * 40503u;

	return ++xid;
}

Session::Session(const Options &options)
	: options_(options)
{
	reconnect();
}

void Session::reconnect()
{
	wire_.reset();
	wire_ = Endpoint::connect(the_server().address, the_server().port,
				  options_);
}

void Session::send(const Bytes &message)
{
	if (!wire_->send(message.view()))
		fail("cannot send: the connection is lost");
}

void Session::send_inline(const Bytes &rpc)
{
	Header header;

	header.xid = rpc.word_at(0);
	send(header.encode(rpc.view()));
}

/* What the server wrote into the Reply chunk, whose segments follow each other */
static Bytes chunk_contents(const Chunk &chunk, Memory &memory)
{
	Bytes bytes;

	for (const rpcrdma_segment &segment : chunk)
		bytes.raw(memory.view(size_t(segment.offset - memory.address()),
				      segment.length));
	return bytes;
}

static Reply open_reply(const Message &message, u32 xid, Memory *reply_memory)
{
	Reply reply;

	reply.header = decode(message.bytes.view());
	reply.invalidated = message.invalidated;
	reply.rkey = message.rkey;
	reply.size = message.bytes.size();
	check_equal(reply.header.status, RPCRDMA_OK, "status of the decoder");
	const rpcrdma_header &header = reply.header.header;

	check_equal(header.xid, xid, "rdma_xid");
	check_equal(header.vers, u32(RPCRDMA_VERSION), "rdma_vers");
	check(header.credits > 0, "a grant of 0"); /* RFC 8166 3.3.1 */
	check(header.proc != RPCRDMA_ERROR, "RDMA_ERROR ", header.error,
	      " instead of a reply");
	check(reply.header.read.empty(), "a Read list in a reply");
	reply.rpc = reply.header.payload;
	if (header.proc == RPCRDMA_NOMSG) {
		check(reply.header.reply && reply_memory,
		      "RDMA_NOMSG without a Reply chunk");
		reply.rpc = chunk_contents(*reply.header.reply, *reply_memory);
		check_equal(reply.rpc.word_at(0), xid, "XID in the chunk");
	}
	return reply;
}

Reply Session::expect_reply(u32 xid, Memory *reply_memory)
{
	auto message = wire_->receive(reply_timeout);

	if (!message)
		fail(wire_->lost() ? "the connection ended" : "no answer",
		     " instead of a reply");
	return open_reply(*message, xid, reply_memory);
}

Reply Session::call(const Header &header, const Bytes &rpc,
		    Memory *reply_memory)
{
	send(header.encode(rpc.view()));
	return expect_reply(header.xid, reply_memory);
}

Reply Session::call_inline(const Bytes &rpc)
{
	send_inline(rpc);
	return expect_reply(rpc.word_at(0));
}

Reply Session::call_among_callbacks(const Bytes &rpc)
{
	send_inline(rpc);
	for (;;) {
		auto message = wire_->receive(reply_timeout);

		if (!message)
			fail("no reply among callbacks");
		Decoded got = decode(message->bytes.view());

		if (got.payload.size() <= 8 ||
		    got.payload.word_at(4) != RPCRDMA_RPC_CALL)
			return open_reply(*message, rpc.word_at(0), nullptr);
	}
}

Bytes Session::pull(const Chunk &chunk)
{
	auto sink = memory(chunk_length(chunk));
	size_t done = 0;

	for (const rpcrdma_segment &segment : chunk) {
		check(wire_->rdma_read(*sink, done, segment),
		      "an RDMA Read failed");
		done += segment.length;
	}
	return Bytes(sink->view(0, done));
}

/* RFC 8166 section 4.5: XID and version of the call */
void Session::expect_error(u32 xid, u32 error, u32 vers)
{
	auto message = wire_->receive(reply_timeout);

	if (!message)
		fail(wire_->lost() ? "the connection ended" : "no answer",
		     " instead of an RDMA_ERROR");
	Decoded got = decode(message->bytes.view());
	const rpcrdma_header &header = got.header;

	check_equal(got.status, RPCRDMA_OK, "status of the decoder");
	check_equal(header.proc, u32(RPCRDMA_ERROR), "rdma_proc");
	check_equal(header.xid, xid, "rdma_xid of the error");
	check_equal(header.vers, vers, "rdma_vers of the error");
	check(header.credits > 0, "a grant of 0");
	check_equal(header.error, error, "rdma_err");
	check_equal(message->bytes.size(),
		    size_t(error == RPCRDMA_ERR_VERS ? RPCRDMA_ERR_VERS_SIZE :
						       RPCRDMA_ERR_CHUNK_SIZE),
		    "size of the error");
	if (error == RPCRDMA_ERR_VERS) {
		check_equal(header.vers_low, 1u, "lowest version");
		check_equal(header.vers_high, 1u, "highest version");
	}
}

void Session::expect_silence()
{
	auto message = wire_->receive(silence);

	check(!message, "an answer where none is allowed");
	check(!wire_->lost(), "the connection ended");
	expect_works();
}

/* RFC 8166 section 4.5.2: header faults ERR_CHUNK, faults of arguments GARBAGE_ARGS */
void Session::expect_refusal(u32 xid)
{
	auto message = wire_->receive(reply_timeout);

	check(message.has_value(), "no answer instead of a refusal");
	Decoded got = decode(message->bytes.view());

	check_equal(got.status, RPCRDMA_OK, "status of the decoder");
	check_equal(got.header.xid, xid, "rdma_xid");
	if (got.header.proc == RPCRDMA_ERROR) {
		check_equal(got.header.error, u32(RPCRDMA_ERR_CHUNK),
			    "rdma_err");
		return;
	}
	ReplyReader reader(got.payload);
	check_equal(reader.accept_status(xid), 4u, "accept_stat");
}

void Session::expect_works()
{
	u32 xid = next_xid();
	Reply reply = call_inline(null_call(xid));
	ReplyReader reader(reply.rpc);

	check_equal(reader.accept_status(xid), 0u, "accept_stat of NULL");
	check(reply.header.write.empty() && !reply.header.reply,
	      "chunks in the reply to a call without any");
}

void Session::expect_end()
{
	check(wire_->ends_within(reply_timeout), "the connection does not end");
	reconnect();
	expect_works();
}

bool Session::works()
{
	u32 xid = next_xid();

	if (!wire_->send(
		    Header{ .xid = xid }.encode(null_call(xid).view()).view()))
		return false;
	for (;;) {
		auto message = wire_->receive(reply_timeout);

		if (!message) {
			check(wire_->lost(), "no reply to NULL");
			return false;
		}
		Decoded got = decode(message->bytes.view());

		if (got.header.xid == xid && got.payload.size() > 8 &&
		    got.payload.word_at(4) == RPCRDMA_RPC_REPLY)
			return true;
	}
}

void Session::expect_works_or_end()
{
	if (!wire_->ends_within(silence) && works())
		return;
	reconnect();
	expect_works();
}

/* ---- files ---- */

/* The pseudo root of NFSv4 is the export, and nfsd takes its handle for v3 as well. */
const Bytes &Session::root()
{
	if (root_.size())
		return root_;
	u32 xid = next_xid();
	Reply reply =
		call_inline(nfs4_call(xid, { op_putrootfh(), op_getfh() }));
	ReplyReader reader(reply.rpc);

	check_equal(reader.nfs_status(xid), 0u, "status of GETFH");
	reader.opaque();
	reader.skip(5 * RPCRDMA_XDR_UNIT);
	root_ = reader.opaque();
	return root_;
}

Bytes Session::create(std::string_view name)
{
	const Bytes &directory = root();
	u32 xid = next_xid();
	Reply reply = call_inline(
		nfs3_call(xid, NFS3_CREATE, create_arguments(directory, name)));
	ReplyReader reader(reply.rpc);

	check_equal(reader.nfs_status(xid), 0u, "status of CREATE");
	check_equal(reader.read_u32(), 1u, "handle_follows");
	return reader.opaque();
}

void Session::write_file(const Bytes &handle, const Bytes &data)
{
	auto memory = wire_->memory(data.size() + 1);
	Header header = { .xid = next_xid() };
	Bytes rpc = nfs3_call(header.xid, NFS3_WRITE,
			      write_arguments(handle, 0, u32(data.size())));

	memory->put(0, data.view());
	header.add_read(u32(rpc.size()), memory->segment(0, u32(data.size())));
	Reply reply = call(header, rpc);
	ReplyReader reader(reply.rpc);

	check_equal(reader.nfs_status(header.xid), 0u, "status of WRITE");
	reader.skip_wcc_data();
	check_equal(reader.read_u32(), data.size(), "count of WRITE");
}

Bytes Session::read_file(const Bytes &handle, u32 size)
{
	auto memory = wire_->memory(size + 1);
	Header header = { .xid = next_xid() };

	header.write.push_back({ memory->segment(0, size) });
	Reply reply = call(header, nfs3_call(header.xid, NFS3_READ,
					     read_arguments(handle, 0, size)));
	ReplyReader reader(reply.rpc);

	check_equal(reader.nfs_status(header.xid), 0u, "status of READ");
	check_equal(reply.header.write.size(), 1u, "number of Write chunks");
	return Bytes(memory->view(0, chunk_length(reply.header.write[0])));
}

} /* namespace peer */
