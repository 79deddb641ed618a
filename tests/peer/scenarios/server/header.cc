// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our server against headers, good and bad: RFC 8166 sections 4.2, 4.5 and 4.6. Most scenarios call
 * the NULL procedure, since the bytes behind the header do not matter.
 */
#include "failure.hh"
#include "knob.hh"
#include "scenario.hh"
#include "nfs/session.hh"

namespace peer
{

namespace
{

/* A call that is right but for what the caller changes in it */
struct Call {
	Header header = { .xid = next_xid() };
	Bytes rpc = null_call(header.xid);

	Bytes bytes() const
	{
		return header.encode(rpc.view());
	}
};

void null_is_answered()
{
	Session session;

	session.expect_works();
}

/* ---- section 4.5: too short to be looked at ---- */

void runts()
{
	Session session;
	Bytes whole = Call().bytes();

	for (u32 size = 0; size < RPCRDMA_MIN_HEADER_SIZE; size++) {
		session.send(Bytes(whole.view(0, size)));
		session.expect_silence();
	}
}

/*
 * @count messages that take a Receive each and get no answer. No more at a time than the first
 * grant, with the call behind them: each has a Receive.
 */
void flood(Session &session, const Bytes &message, u32 count)
{
	constexpr u32 at_a_time = 6;

	for (u32 i = 0; i < count; i++) {
		session.send(message);
		if (i % at_a_time == at_a_time - 1)
			session.expect_works();
	}
	session.expect_silence();
}

void runt_flood()
{
	Session session;
	Bytes whole = Call().bytes();

	for (u32 size : { 0, 4, 16, 24, 27 })
		flood(session, Bytes(whole.view(0, size)), 400);
}

/*
 * Six runts, and a message of another version. The RDMA_ERROR that answers that one says that all of
 * them were taken, so no more are on their way than the first grant has Receives for, however slow
 * the server is: a Receive Queue that is empty ends the connection as well.
 */
bool survives_noise(Session &session)
{
	Bytes runt(Call().bytes().view(0, 24));
	Call newer;

	newer.header.vers = 2;
	for (u32 i = 0; i < 6; i++)
		if (!session.wire().send(runt.view()))
			return false;
	if (!session.wire().send(newer.bytes().view()))
		return false;
	auto answer = session.wire().receive(60000);

	check(answer || session.wire().lost(), "no answer to version 2");
	if (!answer)
		return false;
	rpcrdma_header header = decode(answer->bytes.view()).header;

	check_equal(header.proc, u32(RPCRDMA_ERROR), "rdma_proc");
	check_equal(header.error, u32(RPCRDMA_ERR_VERS), "rdma_err");
	return true;
}

/* Without a call in between: it costs the connection, and nobody else's. */
void noise()
{
	Session healthy;
	Session session;
	u32 sent = 0;

	while (sent < 4096 && survives_noise(session)) {
		sent += 7;
		healthy.expect_works();
	}
	session.expect_end();
	check(sent >= 1000, "the connection ended after ", sent, " messages");
	check(sent < 4096, "the connection did not end");
	healthy.expect_works();
}

/* ---- section 4.5.1: versions ---- */

void versions()
{
	Session session;

	for (u32 vers : { 0u, 2u, 3u, 0x01000000u, 0xffffffffu }) {
		Call call;

		call.header.vers = vers;
		session.send(call.bytes());
		session.expect_error(call.header.xid, RPCRDMA_ERR_VERS, vers);
	}
	session.expect_works();
}

/* Behind the four words, another version may have anything. */
void version_with_other_body()
{
	Session session;
	Call call;

	call.header.vers = 2;
	call.header.proc = 77;
	session.send(
		call.header.encode_fixed().raw(Bytes::pattern(500, 1).view()));
	session.expect_error(call.header.xid, RPCRDMA_ERR_VERS, 2);
	session.expect_works();
}

/* ---- section 4.5.2: what is no header ---- */

void unknown_procs()
{
	Session session;

	for (u32 proc : { 5u, 6u, 0x100u, 0xffffffffu }) {
		Call call;

		call.header.proc = proc;
		session.send(call.bytes());
		session.expect_error(call.header.xid, RPCRDMA_ERR_CHUNK);
	}
	session.expect_works();
}

void nomsg_without_lists()
{
	Session session;
	Call call;

	call.header.proc = RPCRDMA_NOMSG;
	session.send(call.header.encode());
	session.expect_error(call.header.xid, RPCRDMA_ERR_CHUNK);
	session.expect_works();
}

void xid_mismatch()
{
	Session session;
	Call call;

	call.rpc.set_word(0, call.header.xid + 1);
	session.send(call.bytes());
	session.expect_error(call.header.xid, RPCRDMA_ERR_CHUNK);
	session.expect_works();
}

void bad_discriminators()
{
	Session session;

	/* First word of the Read list, the Write list and the Reply chunk */
	for (size_t at : { 16, 20, 24 })
		for (u32 value : { 2u, 0x100u, 0xffffffffu }) {
			Call call;
			Bytes bytes = call.bytes();

			bytes.set_word(at, value);
			session.send(bytes);
			session.expect_error(call.header.xid,
					     RPCRDMA_ERR_CHUNK);
		}
	session.expect_works();
}

void bad_counts()
{
	Session session;

	for (size_t at : { 20, 24 })
		for (u32 count :
		     { 1u, 5u, 1000u, 0x10000000u, 0x10000001u, 0xffffffffu }) {
			Call call;
			Bytes bytes = call.header.encode();

			bytes.set_word(at, 1);
			bytes.resize(at + 4);
			bytes.word(count).zeros(12);
			session.send(bytes);
			session.expect_error(call.header.xid,
					     RPCRDMA_ERR_CHUNK);
		}
	session.expect_works();
}

Header with_all_lists(u32 xid)
{
	Header header = { .xid = xid };
	rpcrdma_segment segment = { 0x1234, 8, 0x1000 };

	header.add_read(40, segment).add_read(40, segment);
	header.write = { { segment, segment }, { segment } };
	header.reply = { segment };
	return header;
}

/* Cut anywhere behind the 28 bytes, it is a call with a bad header. */
void truncated_lists()
{
	Session session;
	size_t whole = with_all_lists(1).encode().size();

	for (size_t size = RPCRDMA_MIN_HEADER_SIZE; size < whole; size++) {
		u32 xid = next_xid();
		Bytes bytes = with_all_lists(xid).encode();

		bytes.resize(size);
		session.send(bytes);
		session.expect_error(xid, RPCRDMA_ERR_CHUNK);
	}
	session.expect_works();
}

/* MSG_ACCEPTED and SUCCESS: RFC 5531 section 9 */
bool is_success(const Bytes &rpc)
{
	if (rpc.size() < 24 || rpc.word_at(8))
		return false;
	size_t at = 20 + rpcrdma::xdr_padded(rpc.word_at(16));

	return rpc.size() >= at + 4 && !rpc.word_at(at);
}

/* RDMA_MSG whose RPC message ends early: never an answer that says success */
void truncated_rpc()
{
	Session session;
	size_t whole = Call().rpc.size();

	for (size_t size = 0; size < whole; size += 4) {
		Call call;

		call.rpc.resize(size);
		session.send(call.bytes());
		if (size < 40) {
			session.expect_error(call.header.xid,
					     RPCRDMA_ERR_CHUNK);
			continue;
		}
		auto message = session.wire().receive(300);

		if (message)
			check(!is_success(
				      decode(message->bytes.view()).payload),
			      "a call of ", size, " bytes is a success");
	}
	/* Answers may be late; none of them says success. */
	u32 xid = next_xid();

	session.send_inline(null_call(xid));
	for (bool over = false; !over;) {
		auto message = session.wire().receive(60000);

		check(message.has_value(), "no reply to NULL");
		Decoded got = decode(message->bytes.view());

		over = got.header.xid == xid;
		check_equal(is_success(got.payload), over,
			    over ? "NULL succeeds" :
				   "a call that ends early succeeds");
	}
}

void garbage_arguments()
{
	Session session;

	u32 xid = next_xid();
	Bytes rpc = nfs3_call(xid, NFS3_GETATTR, Bytes().word(64).zeros(8));
	Reply reply = session.call_inline(rpc);
	ReplyReader reader(reply.rpc);

	check_equal(reader.accept_status(xid), 4u, "accept_stat");
	session.expect_works();
}

void unknown_program()
{
	Session session;

	u32 xid = next_xid();
	Reply reply = session.call_inline(rpc_call(xid, 400000, 1, 0));
	ReplyReader reader(reply.rpc);

	check_equal(reader.accept_status(xid), 1u, "accept_stat");
	session.expect_works();
}

/* RPC version 3: MSG_DENIED, RPC_MISMATCH; not an RDMA_ERROR */
void rpc_mismatch()
{
	Session session;
	Call call;

	call.rpc.set_word(8, 3);
	Reply reply = session.call(call.header, call.rpc);

	check_equal(reply.rpc.word_at(8), 1u, "reply_stat");
	check_equal(reply.rpc.word_at(12), 0u, "reject_stat");
	session.expect_works();
}

/* ---- section 4.6 and RDMA_ERROR ---- */

/* RFC 5666 section 4.3: rdma_align and rdma_thresh come before the lists. */
Bytes as_msgp(const Call &call, u32 align, u32 thresh)
{
	Bytes plain = call.bytes();
	Bytes bytes(plain.view(0, 12));

	bytes.word(RPCRDMA_MSGP).word(align).word(thresh);
	return bytes.raw(plain.view(16, plain.size() - 16));
}

/* ERR_CHUNK, also where no padding applies */
void msgp()
{
	Session session;

	for (u32 align : { 0u, 4u, 64u })
		for (u32 thresh : { 0u, 1024u }) {
			Call call;

			session.send(as_msgp(call, align, thresh));
			session.expect_error(call.header.xid,
					     RPCRDMA_ERR_CHUNK);
		}
	session.expect_works();
}

constexpr u32 largest = 0xffffffff;

void msgp_served()
{
	Knob knob("svc_rdma/serve_msgp", 1);
	Session session;
	u32 size = u32(Call().rpc.size());
	const std::pair<u32, u32> unpadded[] = {
		{ 0, 0 },
		{ 1, 0 },
		{ 4, 0 },
		{ 4, largest },
		{ 64, size },
		{ 64, 4096 },
		{ largest, largest },
	};

	for (auto [align, thresh] : unpadded) {
		Call call;

		session.send(as_msgp(call, align, thresh));
		Reply reply = session.expect_reply(call.header.xid);

		check_equal(
			ReplyReader(reply.rpc).accept_status(call.header.xid),
			0u, "accept_stat");
		check_equal(reply.header.header.proc, u32(RPCRDMA_MSG),
			    "rdma_proc of the reply");
	}
	session.expect_works();
}

/* NFSv3 WRITE, whose data are in a Read chunk: what is read back is what was written. */
void msgp_with_read_chunk()
{
	Knob knob("svc_rdma/serve_msgp", 1);
	Session session;
	Bytes handle = session.create("peer-msgp");
	Bytes data = Bytes::pattern(9000, 7);
	std::unique_ptr<Memory> memory = session.memory(data.size());

	memory->put(0, data.view());
	for (u32 thresh : { 9000u, 65536u }) {
		Call call;

		call.rpc = nfs3_call(call.header.xid, NFS3_WRITE,
				     write_arguments(handle, 0, 9000));
		call.header.add_read(u32(call.rpc.size()),
				     memory->segment(0, 9000));
		session.send(as_msgp(call, 64, thresh));
		if (thresh == 9000) { /* the item has as many */
			session.expect_error(call.header.xid,
					     RPCRDMA_ERR_CHUNK);
			continue;
		}
		Reply reply = session.expect_reply(call.header.xid);

		check_equal(ReplyReader(reply.rpc).nfs_status(call.header.xid),
			    0u, "status of WRITE");
	}
	check(session.read_file(handle, 9000) == data, "other data read");
}

/* With the knob on, padding may still apply; and what is malformed stays so. */
void msgp_padded()
{
	Knob knob("svc_rdma/serve_msgp", 1);
	Session session;
	u32 less = u32(Call().rpc.size()) - 1;
	const std::pair<u32, u32> padded[] = {
		{ 8, 0 },	{ 64, 0 },	   { 64, less },
		{ 3, 0 },	{ 5, less },	   { 0x80000000, 1 },
		{ largest, 0 }, { largest, less },
	};

	for (auto [align, thresh] : padded) {
		Call call;

		session.send(as_msgp(call, align, thresh));
		session.expect_error(call.header.xid, RPCRDMA_ERR_CHUNK);
	}
	for (size_t size = RPCRDMA_MIN_HEADER_SIZE; size < 76; size += 4) {
		Call call;
		Bytes bytes = as_msgp(call, 0, 0);

		bytes.resize(size);
		session.send(bytes);
		session.expect_error(call.header.xid, RPCRDMA_ERR_CHUNK);
	}
	session.expect_works();
}

void done()
{
	Session session;
	Call call;

	call.header.proc = RPCRDMA_DONE;
	session.send(call.header.encode());
	session.expect_silence();
	/* As RFC 5666 had it: nothing behind the four words */
	session.send(call.header.encode_fixed());
	session.expect_silence();
	flood(session, call.header.encode(), 600);
}

void error_messages()
{
	Session session;
	u32 xid = next_xid();
	std::vector<Bytes> errors = {
		encode_error(xid, RPCRDMA_ERR_CHUNK),
		encode_error(xid, RPCRDMA_ERR_VERS),
		encode_error(xid, RPCRDMA_ERR_VERS, 2),
		encode_error(xid, 3),
		encode_error(xid, RPCRDMA_ERR_CHUNK).zeros(64),
		Bytes(encode_error(xid, RPCRDMA_ERR_VERS).view(0, 24)),
	};

	for (const Bytes &error : errors) {
		session.send(error);
		session.expect_silence();
	}
	for (const Bytes &error : errors)
		flood(session, error, 200);
}

/* A reply to a callback that was never made */
void unexpected_reply()
{
	Session session;
	Call call;

	call.rpc.set_word(4, RPCRDMA_RPC_REPLY);
	session.send(call.bytes());
	session.expect_silence();
	flood(session, call.bytes(), 400);
}

u32 grant_of(Session &session)
{
	return session.call_inline(null_call(next_xid())).header.header.credits;
}

/* Neither call nor reply: no answer, and its credit word says nothing. */
void bad_msg_type()
{
	Session session;
	u32 grant = grant_of(session);

	for (u32 type : { 2u, 0x01000000u, 0xffffffffu })
		for (u32 credits : { 0u, 1u, 0xffffffffu }) {
			Call call;

			call.header.credits = credits;
			call.rpc.set_word(4, type);
			session.send(call.bytes());
			session.expect_silence();
			flood(session, call.bytes(), 100);
			/* More for a client that uses it, and never less */
			check(grant_of(session) >= grant, "the grant shrinks");
		}
}

const Scenario table[] = {
	{ "null", "server", "8166-21 8166-18 8166-10",
	  "a reply without chunks, a grant", null_is_answered },
	{ "runts", "server", "8166-59", "silence", runts },
	{ "runt-flood", "server", "8166-59", "silence, no Receive is lost",
	  runt_flood },
	{ "noise", "server", "8166-59", "the connection ends, after a thousand",
	  noise },
	{ "versions", "server", "8166-62 8166-61 8166-19 O31",
	  "ERR_VERS 1 to 1, with the version of the call", versions },
	{ "version-other-body", "server", "8166-62 8166-80", "ERR_VERS",
	  version_with_other_body },
	{ "unknown-procs", "server", "8166-63 8166-60", "ERR_CHUNK",
	  unknown_procs },
	{ "nomsg-without-lists", "server", "8166-63 8166-22", "ERR_CHUNK",
	  nomsg_without_lists },
	{ "xid-mismatch", "server", "8166-63 8166-18", "ERR_CHUNK",
	  xid_mismatch },
	{ "bad-discriminators", "server", "8166-63 8166-17", "ERR_CHUNK",
	  bad_discriminators },
	{ "bad-counts", "server", "8166-63", "ERR_CHUNK", bad_counts },
	{ "truncated-lists", "server", "8166-63 8166-60", "ERR_CHUNK",
	  truncated_lists },
	{ "truncated-rpc", "server", "8166-63",
	  "ERR_CHUNK without an RPC header", truncated_rpc },
	{ "garbage-arguments", "server", "8166-64 8166-120", "GARBAGE_ARGS",
	  garbage_arguments },
	{ "unknown-program", "server", "8166-21", "PROG_UNAVAIL",
	  unknown_program },
	{ "rpc-mismatch", "server", "8166-21", "RPC_MISMATCH", rpc_mismatch },
	{ "msgp", "server", "8166-24 O23", "ERR_CHUNK", msgp },
	{ "msgp-served", "server", "8166-24 O23",
	  "with the knob on, a reply where no padding applies", msgp_served },
	{ "msgp-read-chunk", "server", "8166-24 O23",
	  "with the knob on, the item counts for the threshold",
	  msgp_with_read_chunk },
	{ "msgp-padded", "server", "8166-24 O23",
	  "with the knob on, ERR_CHUNK where padding may apply", msgp_padded },
	{ "done", "server", "8166-25 O46 L8", "silence, no Receive is lost",
	  done },
	{ "error-messages", "server", "8166-23 D5",
	  "silence, no Receive is lost", error_messages },
	{ "unexpected-reply", "server", "8166-81", "silence",
	  unexpected_reply },
	{ "bad-msg-type", "server", "8166-81 8166-83",
	  "silence, the grant stays, no Receive is lost", bad_msg_type },
};

} /* namespace */

Table server_header_table()
{
	return table;
}

} /* namespace peer */
