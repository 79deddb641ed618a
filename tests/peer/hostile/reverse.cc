// SPDX-License-Identifier: GPL-2.0-only
/* Sends mutated messages of the reverse direction: calls to our client, replies to our server. */
#include <cstdio>

#include <deque>

#include "nfs/callback_client.hh"
#include "hostile/exposed.hh"
#include "hostile/hostile.hh"
#include "hostile/invalidate.hh"
#include "hostile/mutate.hh"
#include "proxy/reverse_bench.hh"
#include "hostile/watch.hh"
#include "wire/resources.hh"

namespace peer
{

namespace
{

/* Behind what the proxy itself uses of its memory */
constexpr u32 memory_offset = 2 << 20;
constexpr u32 memory_size = 70000;
constexpr u32 batch = 4;
constexpr u32 patience = 200; /* ticks of the proxy */

/* Whose R_keys callbacks invalidate */
enum Kind { OF_A_CALL, DEAD, NOBODYS };

const std::vector<const char *> kinds = { "of a call", "that is dead",
					  "that is nobody's" };

/*
 * Calls to the client: some bad ones and a good one, whose reply starts the next such
 * batch. Lives in the proxy's thread.
 */
class Callbacks {
    public:
	Callbacks(const Hostility &hostility)
		: random_(hostility.seed)
		, count_(hostility.count)
		, invalidations_(hostility.count, kinds)
	{
	}

	/* A call of the client's; answered well */
	void take_call(Proxy &proxy, const Call &call);
	void send_batch(Proxy &proxy);
	/* Again, when nothing has come for two seconds */
	void tick(Proxy &proxy);
	void take_answer(Proxy &proxy, const Decoded &answer)
	{
		(answer.header.proc == RPCRDMA_ERROR ? refused : answered)++;
		if (answer.header.xid == waited_for_)
			send_batch(proxy);
	}

	std::atomic<u32> sent = 0;
	std::atomic<u32> answered = 0;
	std::atomic<u32> refused = 0;
	const Invalidations &invalidations() const
	{
		return invalidations_;
	}

    private:
	bool invalidate(Proxy &proxy, u32 kind, u32 rkey);
	Bytes next(Memory &memory);
	Header valid(Memory &memory, Bytes &rpc);
	rpcrdma_segment piece(Memory &memory, u32 length);

	Random random_;
	u32 count_;
	Invalidations invalidations_;
	std::deque<u32> dead_; /* R_keys of calls that have been answered */
	u32 xid_ = 0x100;
	u32 waited_for_ = 0;
	u32 ticks_ = patience;
};

rpcrdma_segment Callbacks::piece(Memory &memory, u32 length)
{
	return memory.segment(memory_offset + random_.below(64), length);
}

/* CB_NULL; what is behind its arguments the client does not look at. */
Header Callbacks::valid(Memory &memory, Bytes &rpc)
{
	Header header = { .xid = ++xid_, .credits = 4 };
	u32 size = 40 + 4 * random_.below(random_.chance(20) ? 17000 : 700);

	rpc = Bytes(cb_null(header.xid, 4).view(28, 40));
	switch (random_.below(5)) {
	case 0:
		rpc.zeros(size - 40);
		memory.put(memory_offset, rpc.view());
		header.proc = RPCRDMA_NOMSG;
		for (u32 done = 0; done < size;) {
			u32 some = rpcrdma::min(size - done,
						1 + random_.below(size));

			header.add_read(0, memory.segment(memory_offset + done,
							  some));
			done += some;
		}
		rpc = Bytes();
		break;
	case 1:
		header.add_read(40, piece(memory, random_.below(65000)));
		break;
	case 2:
		header.reply = Chunk{ piece(memory, 4000), piece(memory, 100) };
		break;
	case 3:
		rpc.zeros(4 * random_.below(800));
		break;
	default:
		break;
	}
	return header;
}

Bytes Callbacks::next(Memory &memory)
{
	Bytes rpc;
	Header header = valid(memory, rpc);

	if (random_.chance(5))
		return encode_error(random_.chance(50) ? header.xid :
							 random_.word(),
				    random_.below(4), random_.odd_word(),
				    random_.odd_word());
	Bytes message = mutate_message(random_, header, rpc, random_.chance(1));

	if (message.size() > 4096)
		message.resize(4096);
	return message;
}

/* If it is the turn of this kind */
bool Callbacks::invalidate(Proxy &proxy, u32 kind, u32 rkey)
{
	if (sent >= count_ || !invalidations_.due(sent) ||
	    invalidations_.turn() != kind ||
	    !proxy.wire().send_with_invalidate(next(proxy.staging()).view(),
					       rkey))
		return false;
	invalidations_.count(kind, sent);
	sent++;
	return true;
}

void Callbacks::take_call(Proxy &proxy, const Call &call)
{
	std::vector<u32> rkeys = call.rkeys();

	if (rkeys.size())
		invalidate(proxy, OF_A_CALL,
			   rkeys[random_.below(u32(rkeys.size()))]);
	proxy.answer(call);
	dead_.insert(dead_.end(), rkeys.begin(), rkeys.end());
	while (dead_.size() > 64)
		dead_.pop_front();
}

void Callbacks::send_batch(Proxy &proxy)
{
	waited_for_ = 0;
	ticks_ = 0;
	for (u32 n = 1 + random_.below(batch); n && sent < count_; n--) {
		if (dead_.size() &&
		    invalidate(proxy, DEAD,
			       dead_[random_.below(u32(dead_.size()))]))
			continue;
		if (invalidate(proxy, NOBODYS, random_.word()))
			continue;
		proxy.send(next(proxy.staging()));
		sent++;
	}
	waited_for_ = ++xid_;
	proxy.send(cb_null(waited_for_, 4));
	if (random_.below(5000) == 0)
		proxy.drop();
}

void Callbacks::tick(Proxy &proxy)
{
	if (sent < count_ && ++ticks_ > patience)
		send_batch(proxy);
}

/* Replies to the server: most are to no call of its, others to the one that waits. */
Bytes bad_reply(Random &random, const Bytes &good, u32 xid)
{
	Decoded message = decode(good.view());
	Header header = { .xid = message.header.xid, .credits = 4 };
	Bytes rpc = message.payload;

	if (random.chance(5))
		return encode_error(random.chance(5) ? header.xid : xid,
				    random.below(4), random.odd_word(),
				    random.odd_word());
	if (!random.chance(2)) {
		header.xid = xid;
		if (random.chance(80))
			rpc.set_word(0, xid);
	}
	if (random.chance(70))
		for (u32 n = 1 + random.below(3); n; n--)
			mutate_header(random, header, true);
	Bytes bytes = header.encode(rpc.view());

	if (random.chance(50))
		mutate_bytes(random, bytes, 0, random.chance(5) ? 0 : 4);
	if (bytes.size() > 4096)
		bytes.resize(4096);
	return bytes;
}

/* What the last answer to a callback invalidates */
enum ReplyKind { EXPOSED_HERE, EXPOSED_ELSEWHERE, NOBODYS_AT_ALL };

const std::vector<const char *> reply_kinds = { "that is exposed",
						"that is exposed to another",
						"that is nobody's" };

class Answers {
    public:
	Answers(const Hostility &hostility);

	/* One callback, and thousands of answers to it */
	u32 round(u32 most);
	void finish() const
	{
		invalidations_.expect_each();
	}

    private:
	u32 answer_badly(Session &session, const Bytes &good, u32 most);
	void invalidate(Session &session, const Bytes &answer);

	Random random_;
	Invalidations invalidations_;
	Bytes file_;
	u32 total_ = 0;
	u32 at_a_time_; /* messages of a connection */
};

Answers::Answers(const Hostility &hostility)
	: random_(hostility.seed)
	, invalidations_(hostility.count, reply_kinds)
	, at_a_time_(rpcrdma::clamp(hostility.count / 10, 1u, 1440u))
{
	Session setup;

	file_ = setup.create("peer-reverse");
	setup.write_file(file_, Bytes::pattern(20000, 3));
}

u32 Answers::answer_badly(Session &session, const Bytes &good, u32 most)
{
	constexpr u32 at_once = 24;
	u32 sent = 0;

	while (sent < most) {
		for (u32 i = 0; i < at_once && sent < most; i++) {
			if (!session.wire().send(
				    bad_reply(random_, good, random_.word())
					    .view()))
				return sent;
			sent++;
		}
		if (!session.works())
			return sent;
	}
	return sent;
}

/* The connection ends with it, even if it is the right answer. RR10 of reliable-reply.rst. */
void Answers::invalidate(Session &session, const Bytes &answer)
{
	u32 kind = invalidations_.turn();
	Session other(Exposed::options());
	u32 rkey = random_.word();

	if (kind == EXPOSED_HERE)
		rkey = Exposed(session, file_).rkey();
	else if (kind == EXPOSED_ELSEWHERE)
		rkey = Exposed(other, file_).rkey();
	if (!session.wire().send_with_invalidate(answer.view(), rkey))
		return;
	invalidations_.count(kind, total_);
	check(session.wire().ends_within(60000),
	      "the server lets go on who has invalidated an R_key ",
	      reply_kinds[kind]);
}

u32 Answers::round(u32 most)
{
	Recalled recalled(Exposed::options());
	Session &session = recalled.client.session();
	Bytes good = Client41::good_reply(recalled.callback);
	u32 sent = answer_badly(session, good, rpcrdma::min(most, at_a_time_));

	if (!session.wire().lost())
		invalidate(session, good);
	total_ += sent;
	return sent;
}

} /* namespace */

void be_hostile_to_server_in_reverse(const Hostility &hostility)
{
	Watch watch;
	Resources before = count_resources();
	Answers answers(hostility);
	u32 sent = 0, connections = 0;

	while (sent < hostility.count) {
		sent += answers.round(hostility.count - sent);
		connections++;
		watch.check(hostility.longest_wait);
		watch.report(sent, connections);
	}
	answers.finish();
	Session().expect_works();
	watch.check(hostility.longest_wait);
	watch.expect_share();
	expect_resources(before);
}

void be_hostile_to_client_in_reverse(const Hostility &hostility)
{
	Watch watch;
	Resources before = count_resources();
	{
		auto callbacks = std::make_shared<Callbacks>(hostility);
		ReverseBench bench;
		u32 idle = 0, last = 0;

		bench.proxy.on_reverse(
			[callbacks](Proxy &proxy, const Decoded &answer) {
				callbacks->take_answer(proxy, answer);
			});
		bench.proxy.on_call(
			[callbacks](Proxy &proxy, const Call &call) {
				callbacks->take_call(proxy, call);
			});
		bench.proxy.on_tick(
			[callbacks](Proxy &proxy) { callbacks->tick(proxy); });
		while (callbacks->sent < hostility.count) {
			/* Its own calls are answered as they should be. */
			usleep(20000);
			bench.mount.expect_works(60);
			watch.check(hostility.longest_wait);
			idle = callbacks->sent == last ? idle + 1 : 0;
			last = callbacks->sent;
			check(idle < 500, "no callback is answered any more");
			watch.report(last, bench.proxy.connections);
		}
		bench.mount.expect_works(60);
		printf("%u callbacks answered, %u refused\n",
		       callbacks->answered.load(), callbacks->refused.load());
		callbacks->invalidations().expect_each();
	}
	watch.check(hostility.longest_wait);
	expect_resources(before);
}

} /* namespace peer */
