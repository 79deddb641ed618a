// SPDX-License-Identifier: GPL-2.0-only
/* Sends mutated replies to our client. */
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>

#include "proxy/bench.hh"
#include "hostile/hostile.hh"
#include "hostile/invalidate.hh"
#include "hostile/mutate.hh"
#include "hostile/watch.hh"
#include "wire/resources.hh"

namespace peer
{

namespace
{

using Clock = std::chrono::steady_clock;

/* Whose R_keys are invalidated */
enum Kind { OF_THE_CALL, OF_ANOTHER_CALL, DEAD, NOBODYS, OF_ANOTHER_MOUNT };

const std::vector<const char *> kinds = { "of the call", "of another call",
					  "that is dead", "that is nobody's",
					  "of another mount" };

class Attack {
    public:
	Attack(const Hostility &hostility)
		: random_(hostility.seed)
		, count_(hostility.count)
		, invalidations_(hostility.count, kinds)
	{
	}

	/* A call of the mount that is attacked, a new connection of its, a tick */
	void answer(Proxy &proxy, const Call &call);
	void connect();
	void tick(Proxy &proxy);
	/* A call of the other mount, all of whose calls are answered well */
	void answer_neighbour(Proxy &proxy, const Call &call);

	u32 sent() const
	{
		return sent_;
	}
	const Invalidations &invalidations() const
	{
		return invalidations_;
	}

    private:
	Bytes next(const Call &call, const Bytes &good);
	Header header_of(const Call &call, const Bytes &good, Bytes &rest);
	void send(Proxy &proxy, const Call &call, const Bytes &bad);
	std::optional<u32> rkey(u32 kind, const Call &call);
	bool wanted(u32 kind) const
	{
		return invalidations_.due(sent_) &&
		       invalidations_.turn() == kind;
	}
	void let_go(Proxy &proxy);

	Random random_;
	u32 count_;
	std::atomic<u32> sent_ = 0;
	Invalidations invalidations_;
	/* Waits for its answer until another call has been answered, or until then */
	std::optional<Call> held_;
	Clock::time_point held_until_;
	std::deque<u32> dead_; /* R_keys of calls that have been answered */
	/* R_key that is good just now, or 0 */
	std::atomic<u32> neighbours_ = 0;
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

/* An R_key of this kind, if there is one now */
std::optional<u32> Attack::rkey(u32 kind, const Call &call)
{
	std::vector<u32> all;

	if (kind == NOBODYS)
		return random_.word();
	if (kind == OF_THE_CALL)
		all = call.rkeys();
	if (kind == OF_ANOTHER_CALL && held_)
		all = held_->rkeys();
	if (kind == DEAD)
		all.assign(dead_.begin(), dead_.end());
	if (kind == OF_ANOTHER_MOUNT && neighbours_)
		all = { neighbours_ };
	if (all.empty())
		return std::nullopt;
	return all[random_.below(u32(all.size()))];
}

/* Right R_keys cost nothing, so there are many of them. */
void Attack::send(Proxy &proxy, const Call &call, const Bytes &bad)
{
	bool due = invalidations_.due(sent_);
	u32 kind = due ? invalidations_.turn() : u32(OF_THE_CALL);
	std::optional<u32> victim;

	if (due || random_.chance(10))
		victim = rkey(kind, call);
	if (!victim ||
	    !proxy.wire().send_with_invalidate(bad.view(), *victim)) {
		proxy.send(bad);
		return;
	}
	invalidations_.count(kind, sent_);
	if (kind == OF_ANOTHER_MOUNT) {
		usleep(2000); /* so that it is still good when this arrives */
		neighbours_ = 0;
	}
}

/* Mutants first, then mostly the good one. A late good one has the XID of nobody. */
void Attack::answer(Proxy &proxy, const Call &call)
{
	/* Else hardly a file would be opened, and nothing be read or written. */
	if (call.rkeys().empty() && random_.chance(80)) {
		proxy.answer(call);
		return;
	}
	if (!held_ && call.rkeys().size() &&
	    (wanted(OF_ANOTHER_CALL) || random_.chance(5))) {
		held_ = call;
		held_until_ = Clock::now() + std::chrono::milliseconds(50);
		return;
	}
	Bytes rpc = proxy.serve(call);
	Bytes good = proxy.build_reply(call, rpc);

	for (u32 n = 1 + random_.below(6); n && sent_ < count_; n--) {
		send(proxy, call, next(call, good));
		sent_++;
	}
	if (random_.below(4000) == 0)
		proxy.drop();
	else if (!random_.chance(1) || random_.chance(90))
		proxy.send(good);
	for (u32 rkey : call.rkeys())
		dead_.push_back(rkey);
	while (dead_.size() > 64)
		dead_.pop_front();
	let_go(proxy);
}

void Attack::connect()
{
	held_.reset();
}

void Attack::let_go(Proxy &proxy)
{
	if (held_)
		proxy.answer(*held_);
	held_.reset();
}

void Attack::tick(Proxy &proxy)
{
	if (Clock::now() > held_until_)
		let_go(proxy);
}

/* What has an R_key is held while somebody may go for that. */
void Attack::answer_neighbour(Proxy &proxy, const Call &call)
{
	std::vector<u32> rkeys = call.rkeys();

	if (rkeys.size()) {
		neighbours_ = rkeys[0];
		for (u32 i = 0; i < 100 && neighbours_; i++)
			usleep(1000);
		neighbours_ = 0;
	}
	proxy.answer(call);
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

/* It is served well, and reads what it has written, whatever it costs. */
int be_neighbour(const std::string &directory,
		 std::shared_ptr<std::atomic<bool>> stop)
{
	std::string path = directory + "/neighbour";
	int error = 0;

	for (u32 round = 0; !*stop && !error; round++) {
		Bytes data = Bytes::pattern(65536, round);
		Bytes got;

		error = write_file(path, data);
		if (!error)
			error = read_file(path, u32(data.size()), &got);
		if (!error && !(got == data))
			error = EILSEQ;
	}
	return error;
}

/* The mount that is attacked, and another one, with work on both */
struct Flood {
	explicit Flood(const Hostility &hostility);
	~Flood()
	{
		*stop = true;
	}
	/* All there is to say until the last message is sent */
	void watch_over(Watch &watch, const Hostility &hostility);
	void end();

	std::shared_ptr<Attack> attack;
	std::shared_ptr<std::atomic<bool>> stop =
		std::make_shared<std::atomic<bool>>(false);
	Bench bench{ Proxy::default_options(), "soft,timeo=20,retrans=2" };
	Bench neighbour;
	std::vector<Work> works;
};

Flood::Flood(const Hostility &hostility)
	: attack(std::make_shared<Attack>(hostility))
{
	auto attack = this->attack;

	bench.proxy.on_connect([attack](Proxy &) { attack->connect(); });
	bench.proxy.on_tick([attack](Proxy &proxy) { attack->tick(proxy); });
	bench.proxy.on_call([attack](Proxy &proxy, const Call &call) {
		attack->answer(proxy, call);
	});
	neighbour.proxy.on_call([attack](Proxy &proxy, const Call &call) {
		attack->answer_neighbour(proxy, call);
	});
	for (u32 i = 0; i < 6; i++)
		works.emplace_back(
			[directory = bench.mount.directory(), i, stop = stop] {
				return busy(directory, i, stop);
			});
	works.emplace_back(
		[directory = neighbour.mount.directory(), stop = stop] {
			return be_neighbour(directory, stop);
		});
}

void Flood::watch_over(Watch &watch, const Hostility &hostility)
{
	u32 idle = 0, last = 0;

	while (attack->sent() < hostility.count) {
		usleep(50000);
		watch.check(hostility.longest_wait);
		idle = attack->sent() == last ? idle + 1 : 0;
		last = attack->sent();
		check(idle < 2400, "no calls for two minutes");
		watch.report(last, bench.proxy.connections);
	}
}

void Flood::end()
{
	bench.proxy.on_call(nullptr);
	*stop = true;
	for (Work &work : works) {
		int error = work.result(120);

		check(!error, "the neighbour: ", strerror(error));
	}
}

} /* namespace */

void be_hostile_to_client(const Hostility &hostility)
{
	Watch watch;
	Resources before = count_resources();
	{
		Flood flood(hostility);

		flood.watch_over(watch, hostility);
		flood.end();
		flood.attack->invalidations().expect_each();
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
