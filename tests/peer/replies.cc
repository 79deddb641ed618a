// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asks a server for replies that fit neither inline nor in the memory that came with the call, and
 * prints what it does with them: ours has to deliver each. tests/guest/replies.py prepares the
 * files.
 */
#include <cstdio>

#include "failure.hh"
#include "rpcrdma/protocol.h"
#include "scenario.hh"
#include "nfs/session41.hh"

namespace peer
{

namespace
{

enum { BITMAP_ACL = 1 << 12, GETATTR = 9, GETXATTR = 72 };

Bytes readdir_call(Session &session, u32 xid)
{
	u32 lookup = next_xid();
	Reply reply = session.call_inline(
		nfs3_call(lookup, NFS3_LOOKUP,
			  lookup_arguments(session.root(), "large-directory")));
	ReplyReader reader(reply.rpc);

	check_equal(reader.nfs_status(lookup), 0u, "status of LOOKUP");
	return nfs3_call(xid, NFS3_READDIR,
			 readdir_arguments(reader.opaque(), 65536));
}

Bytes acl_call(Session &, u32 xid)
{
	return nfs4_call(xid,
			 { op_putrootfh(), op_lookup("large-acl"),
			   Bytes().word(GETATTR).word(1).word(BITMAP_ACL) });
}

Bytes xattr_call(Session &session, u32 xid)
{
	Session41 minor(session, 2);

	return minor.call(xid, { op_putrootfh(), op_lookup("large-xattr"),
				 Bytes().word(GETXATTR).string("large") });
}

struct Operation {
	const char *name;
	Bytes (*call)(Session &session, u32 xid);
	u32 least; /* bytes of the reply */
};

const Operation operations[] = {
	{ "READDIR of 1,500 entries", readdir_call, 60000 },
	{ "GETATTR of an ACL", acl_call, 6000 },
	{ "GETXATTR of 60 KiB", xattr_call, 61440 },
};

/* What came of a call: bytes of the reply, and how they came; 0: how it failed */
struct Outcome {
	size_t size = 0;
	std::string how;
};

Outcome take(Session &session, u32 xid, Memory &memory)
{
	auto message = session.wire().receive(20000);

	if (!message)
		return { 0, session.wire().lost() ? "the connection ends" :
						    "no answer" };
	Decoded got = decode(message->bytes.view());
	Bytes rpc = got.payload;
	std::string how = "inline";

	if (got.header.proc == RPCRDMA_ERROR)
		return { 0, "RDMA_ERROR" };
	if (got.header.proc == RPCRDMA_NOMSG && !got.read.empty()) {
		Header done = { .xid = xid, .proc = RPCRDMA_DONE };

		rpc = session.pull(got.read[0].second);
		session.send(done.encode_fixed());
		how = "read from the server";
	} else if (got.header.proc == RPCRDMA_NOMSG && got.reply) {
		rpc = Bytes(memory.view(0, chunk_length(*got.reply)));
		how = "in the Reply chunk";
	}
	ReplyReader reader(rpc);
	u32 status = reader.accept_status(xid);

	if (!status)
		status = reader.read_u32();
	if (status)
		return { 0, text("status ", status, ", ", how) };
	return { rpc.size(), how };
}

/* @room: bytes of the Reply chunk; 0: there is none */
Outcome ask(const Operation &operation, u32 room)
{
	Options options;

	options.announce(RPCRDMA_EXT_TAKES_READ_CHUNKS);
	Session session(options);
	auto memory = session.memory(4096);
	Header header = { .xid = next_xid() };
	Bytes rpc = operation.call(session, header.xid);

	if (room)
		header.reply = { memory->segment(0, room) };
	session.send(header.encode(rpc.view()));
	return take(session, header.xid, *memory);
}

} /* namespace */

/* For people, and for tests/guest/replies.py */
int replies_main()
{
	int failed = 0;

	for (const Operation &operation : operations)
		for (u32 room : { 0u, 1024u }) {
			Outcome outcome;

			try {
				outcome = ask(operation, room);
			} catch (const std::exception &error) {
				outcome.how = error.what();
			}
			printf("%s\t%s\t%zu\t%s\n", operation.name,
			       room ? "Reply chunk of 1 KiB" : "no Reply chunk",
			       outcome.size, outcome.how.c_str());
			failed += outcome.size < operation.least;
		}
	return failed != 0;
}

} /* namespace peer */
