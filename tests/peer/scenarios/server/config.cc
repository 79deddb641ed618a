// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our server and the Connection Configuration Protocol: RFC 5666 section 6. Private data
 * says 4096 both ways, unless a scenario says something else.
 */
#include "failure.hh"
#include "knob.hh"
#include "scenario.hh"
#include "nfs/session.hh"

namespace peer
{

namespace
{

constexpr u32 largest = 0xffffffff;

Bytes request(u32 call, u32 reply, u32 reads)
{
	return Bytes().word(call).word(reply).word(reads);
}

/* Status of the RPC reply to this call, with what is behind it */
struct Answer {
	Answer(Session &session, u32 version, u32 procedure,
	       const Bytes &arguments)
	{
		u32 xid = next_xid();
		Reply reply = session.call_inline(
			rpc_call(xid, RPCRDMA_CONFIG_PROGRAM, version,
				 procedure, arguments));

		rpc = reply.rpc;
		status = ReplyReader(rpc).accept_status(xid);
		check_equal(reply.header.header.proc, u32(RPCRDMA_MSG),
			    "rdma_proc");
	}
	u32 word(u32 n) const
	{
		return rpc.word_at(24 + 4 * n);
	}
	Bytes rpc;
	u32 status;
};

/* What the server takes, for what the client says */
void expect_values(Session &session, u32 said, u32 taken)
{
	Answer answer(session, 1, RPCRDMA_CONFIG_RDMA, request(said, 4096, 16));

	check_equal(answer.status, 0u, "accept_stat");
	check_equal(answer.rpc.size(), size_t(36), "size of the reply");
	check_equal(answer.word(0), taken, "maxcall_sendsize");
	check(answer.word(2) <= 16, "maxrdmaread ", answer.word(2));
}

void off()
{
	Session session;

	for (u32 procedure : { 0u, 1u, 2u })
		check_equal(Answer(session, 1, procedure,
				   request(1024, 1024, 1))
				    .status,
			    1u, "accept_stat");
	session.expect_works();
}

void values()
{
	Knob knob("svc_rdma/answer_config", 1);
	Session session;

	expect_values(session, 4096, 4096);
	expect_values(session, 2048, 2048);
	expect_values(session, 0, 1024);
	expect_values(session, 8192, 4096);
	expect_values(session, largest, 4096);
	session.expect_works();

	Options options;

	options.private_data = Options::private_block(2048, 4096, 0);
	Session smaller(options);

	expect_values(smaller, largest, 2048);
	options.private_data = Bytes();
	Session none(options);

	expect_values(none, largest, 1024);
	none.expect_works();
}

void statuses()
{
	Knob knob("svc_rdma/answer_config", 1);
	Session session;
	Bytes good = request(4096, 4096, 16);

	check_equal(Answer(session, 1, 0, Bytes()).status, 0u, "NULL");
	for (u32 version : { 0u, 2u, largest }) {
		Answer answer(session, version, 1, good);

		check_equal(answer.status, 2u, "PROG_MISMATCH");
		check_equal(answer.word(0), 1u, "lowest version");
		check_equal(answer.word(1), 1u, "highest version");
	}
	for (u32 procedure : { 2u, 100u, largest })
		check_equal(Answer(session, 1, procedure, good).status, 3u,
			    "PROC_UNAVAIL");
	for (u32 size = 0; size < 20; size += 4) {
		Bytes arguments = Bytes().zeros(size);

		check_equal(Answer(session, 1, 1, arguments).status,
			    size == 12 ? 0u : 4u, "GARBAGE_ARGS");
	}
	/* One of many programs: the others are as they were. */
	check_equal(
		ReplyReader(session.call_inline(rpc_call(1, 400000, 1, 0)).rpc)
			.accept_status(1),
		1u, "another program");
	session.expect_works();
}

/* Each word of the call replaced: an answer, a refusal, or the end; never a hang. */
void rubbish()
{
	Knob knob("svc_rdma/answer_config", 1);
	Session session;

	for (size_t at = 4; at < 60; at += 4)
		for (u32 value : { 0u, 1u, 400u, 401u, largest }) {
			u32 xid = next_xid();
			Bytes rpc = rpc_call(xid, RPCRDMA_CONFIG_PROGRAM, 1, 1,
					     request(1024, 4096, 1));

			rpc.set_word(at, value);
			session.send(Header{ .xid = xid }.encode(rpc.view()));
			session.wire().receive(100);
			session.expect_works_or_end();
			if (session.wire().lost())
				session.reconnect();
		}
	/* Late answers may come first. */
	check(session.works(), "the connection has ended");
	session.expect_works();
}

/* maxreply_sendsize: what does not fit in it goes through the Reply chunk. */
void smaller_replies()
{
	Knob knob("svc_rdma/answer_config", 1);
	Session session;
	Bytes handle = session.create("peer-config");
	auto memory = session.memory(8192);

	session.write_file(handle, Bytes::pattern(4096, 3));
	for (auto [said, proc] :
	     { std::pair(4096u, RPCRDMA_MSG), std::pair(1024u, RPCRDMA_NOMSG),
	       std::pair(0u, RPCRDMA_NOMSG),
	       std::pair(largest, RPCRDMA_MSG) }) {
		Header header = { .xid = next_xid() };

		Answer(session, 1, 1, request(4096, said, 16));
		header.reply = Chunk{ memory->segment(0, 8192) };
		Reply reply =
			session.call(header,
				     nfs3_call(header.xid, NFS3_READ,
					       read_arguments(handle, 0, 2000)),
				     memory.get());

		check(reply.header.header.proc == u32(proc), "rdma_proc ",
		      reply.header.header.proc, " at ", said);
		check_equal(ReplyReader(reply.rpc).nfs_status(header.xid), 0u,
			    "status of READ");
	}
}

/* As many as there are credits, and again: no buffer is lost. */
void many()
{
	Knob knob("svc_rdma/answer_config", 1);
	Session session;

	for (u32 round = 0; round < 40; round++) {
		std::vector<u32> xids;

		for (u32 i = 0; i < 16; i++) {
			u32 xid = next_xid();

			session.send_inline(
				rpc_call(xid, RPCRDMA_CONFIG_PROGRAM, 1, 1,
					 request(4096, 4096, 16)));
			xids.push_back(xid);
		}
		for (u32 i = 0; i < 16; i++)
			check(session.wire().receive(60000).has_value(),
			      "no answer");
	}
	session.expect_works();
}

const Scenario table[] = {
	{ "config-off", "server", "O40", "PROG_UNAVAIL", off },
	{ "config-values", "server", "O40",
	  "the smaller of what is said and of private data", values },
	{ "config-statuses", "server", "O40",
	  "the accept_stat of RFC 5531 for each kind of wrong call", statuses },
	{ "config-rubbish", "server", "O40", "no hang", rubbish },
	{ "config-replies", "server", "O40",
	  "replies inline up to what the client says", smaller_replies },
	{ "config-many", "server", "O40", "an answer to each", many },
};

} /* namespace */

Table server_config_table()
{
	return table;
}

} /* namespace peer */
