// SPDX-License-Identifier: GPL-2.0-only
/* Replies that our client has to drop, and the good ones behind them. */
#ifndef PEER_BAD_REPLY_HH
#define PEER_BAD_REPLY_HH

#include <unistd.h>

#include "proxy/bench.hh"

namespace peer::bad_reply
{

/*
 * @make makes a bad message from one whose header is good and whose data are not those of
 * the file, inline or in the Write chunk. It goes out first; if it were taken for the
 * reply, READ would fail, come again, or have these data.
 */
using Make = std::function<Bytes(const Call &, Bytes message)>;

inline void expect_dropped(Bench &bench, u32 size, const Make &make,
			   u32 times = 1)
{
	auto sent = std::make_shared<std::atomic<u32>>(0);

	bench.proxy.on_call(only(NFS3_READ, [=](Proxy &proxy,
						const Call &call) {
		Bytes rpc = proxy.serve(call);
		Bytes bad =
			make(call, proxy.build_reply(call, spoilt(call, rpc)));

		for (u32 i = 0; i < times; i++) {
			proxy.send(bad);
			++*sent;
			if (i % 8 == 7)
				usleep(2000);
		}
		usleep(30000);
		proxy.reply(call, rpc);
	}));
	bench.expect_read(size);
	bench.proxy.on_call(nullptr);
	check(*sent >= times, "no bad message was sent");
	bench.mount.expect_works();
	bench.expect_same_connection();
}

struct Prepared : Bench {
	Prepared()
	{
		mount.file(small);
		mount.file(large);
	}
};

/* The good one with another word */
inline Make with_word(size_t at, u32 value)
{
	return [=](const Call &, Bytes good) {
		good.set_word(at, value);
		return good;
	};
}

inline Make cut_to(size_t size)
{
	return [=](const Call &, Bytes good) {
		good.resize(size);
		return good;
	};
}

} /* namespace peer::bad_reply */

#endif /* PEER_BAD_REPLY_HH */
