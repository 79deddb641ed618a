// SPDX-License-Identifier: GPL-2.0-only
/* See session41.hh. */
#include "nfs/session41.hh"

#include "failure.hh"

namespace peer
{

/* Operations of RFC 8881 */
enum {
	OP_EXCHANGE_ID = 42,
	OP_CREATE_SESSION = 43,
	OP_SEQUENCE = 53,
};

static void put_channel(Bytes &to, u32 message, u32 slots)
{
	/* Padding, largest call and reply, reply that is kept, operations, slots, IRD */
	to.word(0).word(message).word(message).word(4096);
	to.word(16).word(slots).word(0);
}

Session41::Session41(Session &session, u32 minor, u32 flags)
	: session_(session)
	, minor_(minor)
{
	exchange_id();
	create_session(flags);
}

/* The reader stands at the results, behind the status of the whole. */
ReplyReader Session41::succeed(u32 xid, const Bytes &rpc, const char *what)
{
	reply_ = session_.call_among_callbacks(rpc).rpc;
	ReplyReader reader(reply_);
	u32 status = reader.nfs_status(xid);

	check(!status, what, " says ", status);
	reader.opaque();
	reader.skip(4);
	return reader;
}

Bytes Session41::call(u32 xid, std::vector<Bytes> operations, bool kept)
{
	Bytes sequence;

	sequence.word(OP_SEQUENCE).raw(id_.view());
	sequence.word(++sequence_).word(0).word(0).word(kept);
	operations.insert(operations.begin(), sequence);
	return nfs4_call(xid, operations, minor_);
}

ReplyReader Session41::compound(const std::vector<Bytes> &operations,
				const char *what)
{
	u32 xid = next_xid();

	return succeed(xid, call(xid, operations), what);
}

void Session41::exchange_id()
{
	Bytes operation;
	u32 xid = next_xid();

	operation.word(OP_EXCHANGE_ID).word(next_xid()).word(next_xid());
	operation.string(text("peer-", xid));
	operation.word(0x10000).word(0).word(0); /* no pNFS, SP4_NONE */
	ReplyReader reader = succeed(xid, nfs4_call(xid, { operation }, minor_),
				     "EXCHANGE_ID");

	client_id_ = Bytes(reply_.view(reader.position() + 8, 8));
	reader.skip(16);
	sequence_ = reader.read_u32();
}

void Session41::create_session(u32 flags)
{
	Bytes operation;
	u32 xid = next_xid();

	operation.word(OP_CREATE_SESSION).raw(client_id_.view());
	operation.word(sequence_).word(flags);
	put_channel(operation, 1 << 17, 1);
	put_channel(operation, 4096, 4);
	operation.word(callback_program).word(1).word(0); /* AUTH_NONE */
	ReplyReader reader = succeed(xid, nfs4_call(xid, { operation }, minor_),
				     "CREATE_SESSION");

	id_ = Bytes(reply_.view(reader.position() + 8, 16));
	sequence_ = 0;
}

} /* namespace peer */
