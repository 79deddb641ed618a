// SPDX-License-Identifier: GPL-2.0-only
/* A mount with a back channel, and the calls that come over it. */
#ifndef PEER_REVERSE_BENCH_HH
#define PEER_REVERSE_BENCH_HH

#include <unistd.h>

#include <map>

#include "proxy/bench.hh"

namespace peer
{

inline Bytes cb_null(u32 xid, u32 credits)
{
	Header header = { .xid = xid, .credits = credits };
	Bytes rpc;

	rpc.word(xid).word(RPCRDMA_RPC_CALL).word(2);
	rpc.word(0x40000000).word(1).word(0).zeros(16);
	return header.encode(rpc.view());
}

constexpr const char *v41 = "vers=4.1";

/*
 * What the client sends of its own accord in the reverse direction: replies and errors with
 * these XIDs. They reach the proxy where calls are expected.
 */
struct Reverse {
	std::mutex lock;
	std::map<u32, Decoded> answers;

	std::optional<Decoded> wait(u32 xid, int milliseconds)
	{
		for (; milliseconds > 0; milliseconds -= 5) {
			{
				std::lock_guard guard(lock);
				auto found = answers.find(xid);

				if (found != answers.end())
					return found->second;
			}
			usleep(5000);
		}
		return std::nullopt;
	}
};

struct ReverseBench : Bench {
	explicit ReverseBench(const Options &options = Proxy::default_options())
		: Bench(options, v41)
	{
		auto reverse = this->reverse;

		proxy.on_reverse([reverse](Proxy &, const Decoded &message) {
			std::lock_guard guard(reverse->lock);

			reverse->answers[message.header.xid] = message;
		});
		mount.expect_works();
	}
	/* Sends it from the proxy's thread. */
	void send(const Bytes &message)
	{
		proxy.later([message](Proxy &proxy) { proxy.send(message); });
	}
	void expect_null_reply(u32 xid)
	{
		auto answer = reverse->wait(xid, 5000);

		check(answer.has_value(), "no reply to CB_NULL");
		check_equal(answer->header.vers, 1u, "rdma_vers");
		check_equal(answer->header.proc, u32(RPCRDMA_MSG), "rdma_proc");
		check(answer->header.credits > 0, "a grant of 0");
		check_equal(ReplyReader(answer->payload).accept_status(xid), 0u,
			    "accept_stat");
	}

	std::shared_ptr<Reverse> reverse = std::make_shared<Reverse>();
};

} /* namespace peer */

#endif /* PEER_REVERSE_BENCH_HH */
