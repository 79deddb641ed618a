// SPDX-License-Identifier: GPL-2.0
/* Mutated replies to our client. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "proxy/bench.hh"
#include "hostile/hostile.hh"
#include "hostile/mutate.hh"
#include "hostile/watch.hh"
#include "wire/resources.hh"

namespace peer
{

namespace
{

class Attack {
    public:
	Attack(const Hostility &hostility)
		: random_(hostility.seed)
		, count_(hostility.count)
	{
	}

	void answer(Proxy &proxy, const Call &call);
	u32 sent() const
	{
		return sent_;
	}

    private:
	Bytes next(const Call &call, const Bytes &good);
	Header header_of(const Call &call, const Bytes &good, Bytes &rest);

	Random random_;
	u32 count_;
	std::atomic<u32> sent_ = 0;
};

/* A good reply taken apart */
Header Attack::header_of(const Call &call, const Bytes &good, Bytes &rest)
{
	Decoded message = decode(good.view());
	Header header = { .xid = call.xid(),
			  .credits = message.header.credits,
			  .proc = message.header.proc };

	header.write = message.write;
	header.reply = message.reply;
	rest = message.payload;
	return header;
}

Bytes Attack::next(const Call &call, const Bytes &good)
{
	Bytes rest;

	if (random_.chance(5)) {
		Bytes error = encode_error(
			call.xid(), random_.below(4),
			random_.chance(50) ? 1 : random_.odd_word(),
			random_.odd_word());

		if (random_.chance(30))
			mutate_bytes(random_, error, 0, 0);
		return error;
	}
	Header header = header_of(call, good, rest);

	if (random_.chance(70))
		for (u32 n = 1 + random_.below(3); n; n--)
			mutate_header(random_, header, true);
	Bytes message = header.encode(rest.view());

	/* A call of the other direction, without a session to belong to */
	if (random_.chance(5) && rest.size() > 8)
		message.set_word(message.size() - rest.size() + 4, 0);
	/*
	 * Of what is behind the transport header, little: decoders of NFS are not what
	 * is tested here.
	 */
	if (random_.chance(50))
		mutate_bytes(random_, message, header.encode().size(),
			     random_.chance(95) ? message.size() : 0);
	if (message.size() > 4096)
		message.resize(4096);
	return message;
}

/* Mutants first, then mostly the good one. A late good one has the XID of nobody. */
void Attack::answer(Proxy &proxy, const Call &call)
{
	Bytes rpc = proxy.serve(call);
	Bytes good = proxy.build_reply(call, rpc);

	for (u32 n = 1 + random_.below(6); n && sent_ < count_; n--) {
		Bytes bad = next(call, good);
		std::vector<u32> handles;

		for (const Chunk &chunk : call.header.write)
			for (const rpcrdma_segment &segment : chunk)
				handles.push_back(segment.handle);
		/* An R_key of this call, or now and then any */
		bool foreign = random_.below(2000) == 0;

		if ((handles.size() && random_.chance(10)) || foreign) {
			if (!proxy.wire().send_with_invalidate(
				    bad.view(),
				    foreign ? random_.word() : handles[0]))
				proxy.send(bad);
		} else {
			proxy.send(bad);
		}
		sent_++;
	}
	if (random_.below(4000) == 0)
		proxy.drop();
	else if (!random_.chance(1) || random_.chance(90))
		proxy.send(good);
}

/* Whatever it says, there is more of it. */
int busy(const std::string &directory, u32 seed,
	 std::shared_ptr<std::atomic<bool>> stop)
{
	Random random(seed);
	struct stat status;
	Bytes data;

	while (!*stop) {
		std::string path = text(directory, "/busy-", random.below(4));
		u32 size = 512u << random.below(8);
		int error;

		switch (random.below(6)) {
		case 0:
			error = write_file(path, Bytes::pattern(size, seed));
			break;
		case 1:
			error = list_directory(directory);
			break;
		case 2:
			error = stat(path.c_str(), &status);
			break;
		default:
			error = read_file(path, size, &data);
		}
		if (error)
			usleep(1000);
	}
	return 0;
}

} /* namespace */

void be_hostile_to_client(const Hostility &hostility)
{
	Watch watch;
	Resources before = count_resources();
	{
		auto stop = std::make_shared<std::atomic<bool>>(false);
		auto attack = std::make_shared<Attack>(hostility);
		Bench bench(Proxy::default_options(),
			    "soft,timeo=20,retrans=2");
		std::vector<Work> works;
		u32 idle = 0, last = 0;

		bench.proxy.on_call([attack](Proxy &proxy, const Call &call) {
			attack->answer(proxy, call);
		});
		for (u32 i = 0; i < 6; i++)
			works.emplace_back(
				[directory = bench.mount.directory(), i, stop] {
					return busy(directory, i, stop);
				});
		while (attack->sent() < hostility.count) {
			usleep(50000);
			watch.check(hostility.longest_wait);
			idle = attack->sent() == last ? idle + 1 : 0;
			last = attack->sent();
			check(idle < 2400, "no calls for two minutes");
			watch.report(last, bench.proxy.connections);
		}
		bench.proxy.on_call(nullptr);
		*stop = true;
		for (Work &work : works)
			work.result(120);
	}
	/*
	 * The mount itself may be of no more use: the client believes what it was told, such
	 * as that the root is gone. Another one has to work.
	 */
	Bench().mount.expect_works(60);
	watch.check(hostility.longest_wait);
	expect_resources(before);
}

} /* namespace peer */
