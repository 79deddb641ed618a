// SPDX-License-Identifier: GPL-2.0-only
/* What most scenarios against our client have: a proxy and a mount through it. */
#ifndef PEER_BENCH_HH
#define PEER_BENCH_HH

#include <unistd.h>

#include <cstring>
#include <deque>

#include "failure.hh"
#include "proxy/mount.hh"
#include "nfs/nfs.hh"
#include "proxy/proxy.hh"

namespace peer
{

/* Calls of this procedure to @hook, all others are answered. */
inline Proxy::Hook only(u32 procedure, Proxy::Hook hook)
{
	return [procedure, hook](Proxy &proxy, const Call &call) {
		if (call.procedure() == procedure)
			hook(proxy, call);
		else
			proxy.answer(call);
	};
}

constexpr u32 small = 512; /* comes inline */
constexpr u32 large = 65536; /* comes by a Write chunk */

struct Bench {
	explicit Bench(const Options &options = Proxy::default_options(),
		       const std::string &mount_options = "")
		: proxy(options)
		, mount(proxy.port(), mount_options)
	{
	}
	/* The mount is taken down while the proxy does what is right. */
	~Bench()
	{
		proxy.on_call(nullptr);
		proxy.on_tick(nullptr);
		proxy.on_connect(nullptr);
		proxy.refuse(false);
		proxy.credits = 32;
	}

	/* One READ of @size bytes; the errno it is expected to have */
	void expect_read(u32 size, int wanted = 0, double seconds = 20)
	{
		std::string path = mount.path(text("file-", size));
		auto data = std::make_shared<Bytes>();
		Work work([path, size, data] {
			return read_file(path, size, data.get());
		});
		int error = work.result(seconds);

		check(error == wanted, "read() says ", strerror(error),
		      ", not ", strerror(wanted));
		if (!wanted)
			check(*data == Bytes::pattern(size, size),
			      "read() gives wrong data");
	}
	void expect_same_connection()
	{
		check_equal(proxy.connections.load(), 1u, "connections");
		check_equal(proxy.repeated.load(), 0u,
			    "calls sent twice on a connection");
		proxy.check_thread();
	}
	/* @count readers at a time, @rounds reads of @size bytes by each */
	void expect_load(u32 count, u32 rounds, u32 size, double seconds = 30)
	{
		std::string path = mount.path(text("file-", size));
		std::vector<Work> readers;

		for (u32 i = 0; i < count; i++)
			readers.emplace_back([path, size, rounds] {
				int error = 0;
				Bytes data;

				for (u32 n = 0; n < rounds && !error; n++) {
					error = read_file(path, size, &data);
					if (!error &&
					    !(data ==
					      Bytes::pattern(size, size)))
						error = EILSEQ;
				}
				return error;
			});
		for (Work &reader : readers) {
			int error = reader.result(seconds);

			check(!error, "reader: ", strerror(error));
		}
	}

	Proxy proxy;
	Mount mount;
};

/* Calls that were taken and not answered yet; only the proxy's thread has them. */
struct Held {
	std::deque<Call> calls;
	std::atomic<u32> most = 0;

	void add(const Call &call)
	{
		calls.push_back(call);
		if (calls.size() > most)
			most = u32(calls.size());
	}
	void answer_all(Proxy &proxy)
	{
		for (; !calls.empty(); calls.pop_front())
			proxy.answer(calls.front());
	}
};

struct Loaded : Bench {
	explicit Loaded(const Options &options = Proxy::default_options(),
			const std::string &mount_options = "")
		: Bench(options, mount_options)
	{
		mount.file(small);
		mount.file(large);
	}
	~Loaded()
	{
		proxy.on_call(nullptr);
		proxy.on_tick([held = held](Proxy &proxy) {
			held->answer_all(proxy);
		});
		usleep(50000);
	}
	/* READs are held until the tick that comes when @ready says so. */
	void hold(std::function<bool()> ready)
	{
		auto held = this->held;

		proxy.on_call(
			only(NFS3_READ, [held](Proxy &, const Call &call) {
				held->add(call);
			}));
		proxy.on_tick([held, ready](Proxy &proxy) {
			if (ready())
				held->answer_all(proxy);
		});
	}

	std::shared_ptr<Held> held = std::make_shared<Held>();
};

} /* namespace peer */

#endif /* PEER_BENCH_HH */
