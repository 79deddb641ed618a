// SPDX-License-Identifier: GPL-2.0
/*
 * Our server as requester in the reverse direction: RFC 8167. A client of NFSv4.1 opens
 * a file, gets a delegation, and somebody else removes the file: CB_RECALL.
 */
#include "failure.hh"
#include "scenario.hh"
#include "session.hh"

namespace peer
{

namespace
{

constexpr u32 callback_program = 0x40001234;

/* Operations of RFC 8881 that this needs */
enum {
	OP_OPEN = 18,
	OP_EXCHANGE_ID = 42,
	OP_CREATE_SESSION = 43,
	OP_SEQUENCE = 53,
	OP_RECLAIM_COMPLETE = 58,
	CB_RECALL = 4,
	CB_SEQUENCE = 11,
};

void put_channel(Bytes &to)
{
	/* Padding, largest call and reply, cached replies, operations, slots, IRD */
	to.word(0).word(4096).word(4096).word(1024).word(16).word(4).word(0);
}

class Client41 {
    public:
	Client41()
	{
		exchange_id();
		create_session();
		compound({ Bytes().word(OP_RECLAIM_COMPLETE).word(0) },
			 "RECLAIM_COMPLETE");
	}

	Session &session()
	{
		return session_;
	}
	void open(const std::string &name);
	/* The next message, which has to be a callback; false when there is none */
	bool expect_callback(int milliseconds, Decoded &callback);
	/* What a client answers to CB_SEQUENCE and CB_RECALL */
	static Bytes good_reply(const Decoded &callback, u32 credits = 4);
	/* A NULL call is answered, whatever comes between. */
	void expect_works();

    private:
	void exchange_id();
	void create_session();
	ReplyReader call(const std::vector<Bytes> &operations,
			 const char *what);
	void compound(std::vector<Bytes> operations, const char *what);

	Session session_;
	Bytes reply_;
	Bytes client_id_;
	Bytes session_id_;
	u32 sequence_ = 0;
};

/* One COMPOUND; the reader stands at the results, behind the status of the whole. */
ReplyReader Client41::call(const std::vector<Bytes> &operations,
			   const char *what)
{
	u32 xid = next_xid();

	reply_ = session_.call_inline(nfs4_call(xid, operations, 1)).rpc;
	ReplyReader reader(reply_);
	u32 status = reader.nfs_status(xid);
	check(!status, what, " says ", status);
	reader.opaque();
	reader.skip(4);
	return reader;
}

void Client41::compound(std::vector<Bytes> operations, const char *what)
{
	Bytes sequence;

	sequence.word(OP_SEQUENCE).raw(session_id_.view());
	sequence.word(++sequence_).word(0).word(3).word(0);
	operations.insert(operations.begin(), sequence);
	call(operations, what);
}

void Client41::exchange_id()
{
	Bytes operation;

	operation.word(OP_EXCHANGE_ID).word(next_xid()).word(next_xid());
	operation.string(text("peer-", next_xid()));
	operation.word(0x10000).word(0).word(0); /* no pNFS, SP4_NONE */
	ReplyReader reader = call({ operation }, "EXCHANGE_ID");

	client_id_ = Bytes(reply_.view(reader.position() + 8, 8));
	reader.skip(16);
	sequence_ = reader.read_u32();
}

void Client41::create_session()
{
	Bytes operation;

	operation.word(OP_CREATE_SESSION).raw(client_id_.view());
	operation.word(sequence_).word(2); /* CONN_BACK_CHAN */
	put_channel(operation);
	put_channel(operation);
	operation.word(callback_program).word(1).word(0); /* AUTH_NONE */
	ReplyReader reader = call({ operation }, "CREATE_SESSION");

	session_id_ = Bytes(reply_.view(reader.position() + 8, 16));
	sequence_ = 0;
}

void Client41::open(const std::string &name)
{
	Bytes operation;

	operation.word(OP_OPEN).word(0);
	operation.word(1 | 0x100).word(0); /* READ, with a delegation */
	operation.raw(client_id_.view()).string("owner");
	operation.word(0).word(0).string(name); /* NOCREATE, CLAIM_NULL */
	compound({ op_putrootfh(), operation }, "OPEN");
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
	check_equal(callback.payload.word_at(12), callback_program, "program");
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

void Client41::expect_works()
{
	u32 xid = next_xid();

	session_.send_inline(null_call(xid));
	for (;;) {
		auto message = session_.wire().receive(10000);

		check(message.has_value(), "no reply to NULL");
		Decoded got = decode(message->bytes.view());

		if (got.header.xid == xid && got.payload.size() > 8 &&
		    got.payload.word_at(4) == RPCRDMA_RPC_REPLY)
			return;
	}
}

/* A client with a delegation that has just been recalled */
struct Recalled {
	/* nfsd delegates nothing while its grace period lasts. */
	Recalled()
	{
		for (u32 tries = 0; tries < 20; tries++) {
			open_and_remove();
			if (client.expect_callback(1500, callback))
				return;
		}
		fail("no callback");
	}

	void open_and_remove()
	{
		Session other;
		std::string name = text("deleg-", next_xid());
		u32 xid = next_xid();

		other.create(name);
		client.open(name);
		other.call_inline(
			nfs3_call(xid, NFS3_REMOVE,
				  lookup_arguments(other.root(), name)));
	}

	Client41 client;
	Decoded callback;
};

void recall()
{
	Recalled recalled;

	recalled.client.session().send(Client41::good_reply(recalled.callback));
	recalled.client.expect_works();
}

/* What belongs to no callback, or is no reply, and then the good one */
void bad_replies()
{
	Recalled recalled;
	Session &session = recalled.client.session();
	u32 xid = recalled.callback.header.xid;
	Bytes good = Client41::good_reply(recalled.callback);
	Bytes payload = Bytes(good.view(28, good.size() - 28));
	Header chunks = { .xid = xid };
	Bytes other = good;

	chunks.write = { { { 1, 8, 0 } } };
	other.set_word(0, xid + 77);
	other.set_word(28, xid + 77);
	for (const Bytes &bad : {
		     Bytes(good.view(0, 20)),
		     Bytes(good.view(0, 27)),
		     other,
		     chunks.encode(payload.view()),
		     encode_error(xid + 77, RPCRDMA_ERR_CHUNK),
		     encode_error(xid, 3),
	     }) {
		session.send(bad);
		recalled.client.expect_works();
	}
	session.send(good);
	session.send(good);
	recalled.client.expect_works();
}

/* Section 5.3: a client that cannot take it says so. */
void refused()
{
	for (u32 error : { RPCRDMA_ERR_CHUNK, RPCRDMA_ERR_VERS }) {
		Recalled recalled;

		recalled.client.session().send(
			encode_error(recalled.callback.header.xid, error));
		recalled.client.expect_works();
	}
}

/* Section 2.4.1: a forward call with the XID of the callback */
void same_xid()
{
	Recalled recalled;
	Session &session = recalled.client.session();
	u32 xid = recalled.callback.header.xid;
	Reply reply = session.call_inline(null_call(xid));

	check_equal(ReplyReader(reply.rpc).accept_status(xid), 0u,
		    "accept_stat of NULL");
	session.send(Client41::good_reply(recalled.callback));
	recalled.client.expect_works();
}

/* Section 4.1: what a client grants to callbacks is not what it asks for calls. */
void credits()
{
	for (u32 credits : { 0u, 1u, ~0u }) {
		Recalled recalled;
		Session &session = recalled.client.session();

		session.send(Client41::good_reply(recalled.callback, credits));
		recalled.client.expect_works();
		u32 xid = next_xid();
		Reply reply = session.call_inline(null_call(xid));
		check(reply.header.header.credits >= 4, "a grant of ",
		      reply.header.header.credits);
	}
}

/* No answer, and the connection goes */
void unanswered()
{
	Session other;

	for (u32 i = 0; i < 3; i++) {
		Recalled recalled;

		recalled.client.expect_works();
		recalled.client.session().wire().disconnect();
		other.expect_works();
	}
}

const Scenario table[] = {
	{ "callback", "server",
	  "8166-86 8166-87 8166-88 8166-92 8166-107 8166-84", "a Short call",
	  recall },
	{ "callback-bad-replies", "server", "8166-81 8166-60 8166-59",
	  "dropped, the good one is taken", bad_replies },
	{ "callback-refused", "server", "8166-90 8166-65 8166-23",
	  "the connection goes on", refused },
	{ "callback-same-xid", "server", "8166-81", "both are answered",
	  same_xid },
	{ "callback-credits", "server", "8166-82 8166-83",
	  "the forward grant stays", credits },
	{ "callback-unanswered", "server", "8166-93 8166-91",
	  "others are served", unanswered },
};

} /* namespace */

Table server_callback_table()
{
	return table;
}

} /* namespace peer */
