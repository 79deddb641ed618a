// SPDX-License-Identifier: GPL-2.0-only
/* See callback_client.hh. */
#include "nfs/callback_client.hh"

#include <unistd.h>

#include "failure.hh"

namespace peer
{

enum {
	OP_OPEN = 18,
	OP_RECLAIM_COMPLETE = 58,
	CB_RECALL = 4,
	CB_SEQUENCE = 11,
	OPEN_DELEGATE_READ = 1,
};

Client41::Client41(const Options &options)
	: session_(options)
	, nfs_(session_, 1, Session41::with_back_channel)
{
	nfs_.compound({ Bytes().word(OP_RECLAIM_COMPLETE).word(0) },
		      "RECLAIM_COMPLETE");
}

bool Client41::open(const std::string &name)
{
	Bytes operation;

	operation.word(OP_OPEN).word(0);
	operation.word(1 | 0x100).word(0); /* READ, with a delegation */
	operation.raw(nfs_.client_id().view()).string("owner");
	operation.word(0).word(0).string(name); /* NOCREATE, CLAIM_NULL */
	ReplyReader results =
		nfs_.compound({ op_putrootfh(), operation }, "OPEN");

	/* SEQUENCE: 44 bytes; PUTFH: 8; of OPEN: 8, stateid, change_info, rflags */
	results.skip(44 + 8 + 8 + 16 + 20 + 4);
	results.skip(results.read_u32() * RPCRDMA_XDR_UNIT); /* attributes */
	return results.read_u32() == OPEN_DELEGATE_READ;
}

bool Client41::expect_callback(int milliseconds, Decoded &callback)
{
	auto message = session_.wire().receive(milliseconds);

	if (!message)
		return false;
	callback = decode(message->bytes.view());
	const rpcrdma_header &header = callback.header;

	check_equal(callback.status, RPCRDMA_OK, "status of the decoder");
	check_equal(header.vers, u32(RPCRDMA_VERSION), "rdma_vers");
	check_equal(header.proc, u32(RPCRDMA_MSG), "rdma_proc");
	check(header.credits > 0, "it asks for 0 credits");
	check(callback.read.empty() && callback.write.empty() &&
		      !callback.reply,
	      "a callback with chunks");
	check(message->bytes.size() <= 4096, "a callback of ",
	      message->bytes.size(), " bytes");
	check_equal(callback.payload.word_at(4), u32(RPCRDMA_RPC_CALL),
		    "msg_type");
	check_equal(callback.payload.word_at(12), Session41::callback_program,
		    "program");
	check_equal(callback.payload.word_at(20), 1u, "procedure");
	return true;
}

Bytes Client41::good_reply(const Decoded &callback, u32 credits)
{
	Header header = { .xid = callback.header.xid, .credits = credits };
	ReplyReader call(callback.payload);
	Bytes rpc;

	call.skip(24);
	for (u32 i = 0; i < 2; i++) { /* credential, verifier */
		call.skip(4);
		call.opaque();
	}
	call.opaque(); /* tag */
	call.skip(12); /* minor version, ident, operations */
	check_equal(call.read_u32(), u32(CB_SEQUENCE), "first operation");
	size_t at = call.position();

	rpc.word(header.xid).word(RPCRDMA_RPC_REPLY).zeros(16);
	rpc.word(0).word(0).word(2);
	/* Session, sequence and slot as they came, highest slots 0 */
	rpc.word(CB_SEQUENCE).word(0).raw(callback.payload.view(at, 24));
	rpc.word(0).word(0);
	rpc.word(CB_RECALL).word(0);
	return header.encode(rpc.view());
}

Recalled::Recalled(const Options &options)
	: client(options)
{
	for (u32 tries = 0; tries < 60; tries++) {
		if (open_and_remove() &&
		    client.expect_callback(10000, callback))
			return;
		usleep(500000);
	}
	fail("no callback");
}

bool Recalled::open_and_remove()
{
	Session other;
	std::string name = text("deleg-", next_xid());
	u32 xid = next_xid();

	other.create(name);
	bool delegated = client.open(name);

	other.call_inline(nfs3_call(xid, NFS3_REMOVE,
				    lookup_arguments(other.root(), name)));
	return delegated;
}

} /* namespace peer */
