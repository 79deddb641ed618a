// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our client asks for a server's configuration: RFC 5666 section 6. The size of the largest message
 * that it sends shows how it has understood the answer.
 */
#include "proxy/bench.hh"
#include "knob.hh"
#include "scenario.hh"

namespace peer
{

namespace
{

constexpr u32 write_size = 3500; /* inline at a threshold of 4096 */

bool is_question(const Call &call)
{
	return call.program() == RPCRDMA_CONFIG_PROGRAM;
}

Bytes answer_rpc(const Call &call, u32 max_call)
{
	Bytes rpc;

	rpc.word(call.xid()).word(RPCRDMA_RPC_REPLY).word(0);
	return rpc.word(0).word(0).word(0).word(max_call).word(4).word(16);
}

/* The question gets what @make says, if it says anything; all else is served. */
struct Configured {
	using Make = std::function<void(Proxy &, const Call &)>;

	explicit Configured(Make make)
	{
		proxy.on_connect([this](Proxy &) { first = true; });
		proxy.on_call([this, make](Proxy &proxy, const Call &call) {
			if (is_question(call)) {
				questions++;
				/* The one credit of a new connection */
				check(first, "the question is not the first");
				check_question(call);
				make(proxy, call);
			} else {
				proxy.answer(call);
			}
			first = false;
		});
		mount = std::make_unique<Mount>(proxy.port());
	}
	~Configured()
	{
		mount.reset();
		proxy.on_call(nullptr);
	}

	static void check_question(const Call &call)
	{
		check_equal(call.rpc.size(), size_t(RPCRDMA_CONFIG_CALL_SIZE),
			    "size of the question");
		check_equal(call.rpc.word_at(20), 1u, "procedure");
		check(call.rpc.word_at(40) <= 4096, "maxcall_sendsize");
		check(call.rpc.word_at(44) <= 4096, "maxreply_sendsize");
		check(call.header.read.empty() && call.header.write.empty() &&
			      !call.header.reply,
		      "a question with chunks");
	}

	/* The client works, and a WRITE of 3500 bytes is inline or not. */
	void expect_limit(u32 limit)
	{
		mount->expect_works(30);
		mount->file(write_size);
		check(proxy.largest_call <= limit, "a message of ",
		      proxy.largest_call.load(), " bytes");
		check((proxy.largest_call > write_size) == (limit == 4096),
		      "largest message has ", proxy.largest_call.load(),
		      " bytes");
		proxy.check_thread();
	}

	std::atomic<u32> questions = 0;
	std::atomic<bool> first = false;
	Proxy proxy;
	std::unique_ptr<Mount> mount;
};

void expect_answered(u32 limit, const Configured::Make &make)
{
	Knob knob("rdma_ask_config", 1);
	Configured bench(make);

	bench.expect_limit(limit);
	check_equal(bench.questions.load(), bench.proxy.connections.load(),
		    "questions");
}

void right_answer()
{
	for (auto [said, limit] :
	     { std::pair(4096u, 4096u), std::pair(2048u, 2048u) })
		expect_answered(limit, [said](Proxy &proxy, const Call &call) {
			proxy.reply(call, answer_rpc(call, said));
		});
}

void odd_values()
{
	for (auto [said, limit] :
	     { std::pair(0u, 1024u), std::pair(1u, 1024u),
	       std::pair(100000u, 4096u), std::pair(0xffffffffu, 4096u) })
		expect_answered(limit, [said](Proxy &proxy, const Call &call) {
			Bytes rpc = answer_rpc(call, said);

			rpc.set_word(28, said);
			rpc.set_word(32, said);
			proxy.reply(call, rpc);
		});
}

/* nfsd itself says PROG_UNAVAIL, over TCP; then other ways to say no. */
void refused()
{
	expect_answered(4096, [](Proxy &proxy, const Call &call) {
		Bytes rpc = proxy.serve(call);

		check_equal(rpc.word_at(20), 1u, "accept_stat of nfsd");
		proxy.reply(call, rpc);
	});
	for (u32 error : { RPCRDMA_ERR_CHUNK, RPCRDMA_ERR_VERS })
		expect_answered(4096, [error](Proxy &proxy, const Call &call) {
			proxy.send(encode_error(call.xid(), error));
		});
}

/* An RPC reply in form, and nothing else right */
void rubbish()
{
	for (size_t size : { 8, 12, 20, 24, 28, 32, 40, 900 })
		expect_answered(4096, [size](Proxy &proxy, const Call &call) {
			Bytes rpc = answer_rpc(call, 1024);

			rpc.resize(size);
			proxy.reply(call, rpc);
		});
}

/* No answer, or none that can be seen as one; the connection may end, too. */
void expect_silent(const Configured::Make &make)
{
	Knob knob("rdma_ask_config", 1);
	Configured bench(make);

	bench.expect_limit(4096);
	check_equal(bench.questions.load(), 1u, "questions");
	check(bench.proxy.connections > 1, "no second connection");
}

void silence()
{
	expect_silent([](Proxy &, const Call &) {});
}

void not_an_answer()
{
	expect_silent([](Proxy &proxy, const Call &call) {
		Header header = { .xid = call.xid() + 1 };
		Bytes rpc = answer_rpc(call, 1024);

		rpc.set_word(0, header.xid);
		proxy.send(header.encode(rpc.view()));
		header.xid = call.xid();
		proxy.send(header.encode(rpc.view()));
		header.vers = 2;
		proxy.send(header.encode(answer_rpc(call, 1024).view()));
		proxy.send(header.encode_fixed());
	});
}

void connection_ends()
{
	expect_silent([](Proxy &proxy, const Call &) { proxy.drop(); });
}

void off()
{
	Configured bench([](Proxy &, const Call &) {});

	bench.expect_limit(4096);
	check_equal(bench.questions.load(), 0u, "questions");
}

const Scenario table[] = {
	{ "c-config-off", "client", "O40", "no question", off },
	{ "c-config", "client", "O40",
	  "the first call; the server's size is kept", right_answer },
	{ "c-config-values", "client", "O40",
	  "never above private data, nor below 1024", odd_values },
	{ "c-config-refused", "client", "O40", "nothing changes", refused },
	{ "c-config-rubbish", "client", "O40", "nothing changes", rubbish },
	{ "c-config-silence", "client", "O40",
	  "another connection, without a question", silence },
	{ "c-config-no-answer", "client", "O40",
	  "another connection, without a question", not_an_answer },
	{ "c-config-lost", "client", "O40",
	  "another connection, without a question", connection_ends },
};

} /* namespace */

Table client_config_table()
{
	return table;
}

} /* namespace peer */
